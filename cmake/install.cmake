# install.cmake: headers, libraries, the CMake package, pkg-config, the module, the program.
# SPDX-License-Identifier: MIT
#
# Everything that is installed finds the rest by its own place: the tree can be moved.

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
include(CMakePackageConfigHelpers)

set(MOONTILE_LUA_CMOD_DIR ${CMAKE_INSTALL_LIBDIR}/lua/${MOONTILE_LUA_VERSION} CACHE STRING
    "Where the Lua module moontile.so is installed")
set(MOONTILE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/moontile)

set(MOONTILE_INSTALLED moontile_shared moontile_static)
install(FILES include/moontile.h TYPE INCLUDE)
install(DIRECTORY include/moontile TYPE INCLUDE PATTERN lua.h EXCLUDE)
if(MOONTILE_LUA)
  list(APPEND MOONTILE_INSTALLED moontile_lua)
  install(FILES include/moontile/lua.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/moontile)
  install(TARGETS moontile_module LIBRARY DESTINATION ${MOONTILE_LUA_CMOD_DIR})
  # What the Lua language server reads.
  install(DIRECTORY lua/moontile/meta/ DESTINATION ${CMAKE_INSTALL_DATADIR}/moontile/luals)
endif()
if(TARGET moontile_program)
  install(TARGETS moontile_program)
  install(FILES docs/moontile.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
install(TARGETS ${MOONTILE_INSTALLED} EXPORT moontile)

install(EXPORT moontile NAMESPACE moontile:: FILE moontileTargets.cmake
        DESTINATION ${MOONTILE_CMAKE_DIR})
configure_package_config_file(cmake/moontileConfig.cmake.in moontileConfig.cmake
  INSTALL_DESTINATION ${MOONTILE_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(moontileConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/moontileConfig.cmake
              ${PROJECT_BINARY_DIR}/moontileConfigVersion.cmake DESTINATION ${MOONTILE_CMAKE_DIR})

file(RELATIVE_PATH MOONTILE_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" MOONTILE_PC_PREFIX "${MOONTILE_PC_PREFIX}")
configure_file(cmake/moontile.pc.in moontile.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/moontile.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
