rockspec_format = "3.0"
package = "moontile"
version = "dev-1"
source = { url = "git+file://." }
description = {
  summary = "A language for tiling",
  detailed = "CuTe's layouts as values: composed, divided, proven; copies and products that they "
             .. "describe, on CPUs and GPUs.",
  license = "MIT",
}
supported_platforms = { "linux" }
dependencies = { "lua >= 5.4, < 5.6" }
build = {
  type = "cmake",
  variables = {
    CMAKE_BUILD_TYPE = "Release",
    CMAKE_INSTALL_PREFIX = "$(PREFIX)",
    LUA_INCDIR = "$(LUA_INCDIR)",
    MOONTILE_LUA_CMOD_DIR = "$(LIBDIR)",
    MOONTILE_MODULE_ONLY = "ON", MOONTILE_TESTS = "OFF",
  },
}
