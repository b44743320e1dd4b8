# pack.cmake: `cpack -G DEB` and `cpack -G TGZ` in the build folder make packages of what is installed.
# SPDX-License-Identifier: MIT

set(CPACK_PACKAGE_NAME moontile)
set(CPACK_PACKAGE_VENDOR moontile)
set(CPACK_PACKAGE_CONTACT "The moontile developers <moontile@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR TGZ)
set(CPACK_VERBATIM_VARIABLES ON)

# Of shared libraries it needs the C library alone: Lua is inside the program. The console takes
# libedit where it is.
execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE libc
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE unknown)
string(REGEX MATCH "[0-9]+\\.[0-9]+$" libc "${libc}")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
if(libc)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= ${libc})")
endif()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libedit2)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "lua5.4, liblua5.4-dev")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/triggers)
include(CPack)
