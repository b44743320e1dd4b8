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
if(MOONTILE_MODULE_ONLY)
  install(TARGETS moontile_module LIBRARY DESTINATION ${MOONTILE_LUA_CMOD_DIR})
  return()
endif()

set(MOONTILE_INSTALLED moontile_shared moontile_static)
install(FILES include/moontile.h TYPE INCLUDE)
install(DIRECTORY include/moontile TYPE INCLUDE PATTERN lua.h EXCLUDE
        PATTERN vm.h EXCLUDE)
if(MOONTILE_LUA)
  list(APPEND MOONTILE_INSTALLED moontile_lua)
  install(FILES include/moontile/lua.h include/moontile/vm.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/moontile)
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
if(MOONTILE_LUA AND MOONTILE_LUA_LIBRARY)
  # By the name that this system has for this Lua, else by its place.
  set(MOONTILE_PC_LUA "")
  find_program(PKG_CONFIG pkg-config)
  foreach(name lua${MOONTILE_LUA_VERSION} lua-${MOONTILE_LUA_VERSION} lua${MOONTILE_LUA_DIGITS})
    if(PKG_CONFIG AND NOT MOONTILE_PC_LUA)
      execute_process(COMMAND ${PKG_CONFIG} --exists ${name} RESULT_VARIABLE absent)
      if(absent EQUAL 0)
        set(MOONTILE_PC_LUA ${name})
      endif()
    endif()
  endforeach()
  if(NOT MOONTILE_PC_LUA)
    set(MOONTILE_PC_LUA_CFLAGS -I${MOONTILE_LUA_INCLUDE_DIR})
    set(MOONTILE_PC_LUA_LIBS ${MOONTILE_LUA_LIBRARY})
  endif()
  configure_file(cmake/moontile-lua.pc.in moontile-lua.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/moontile-lua.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# What kernels of a host's own are compiled against (moontile/extend.h).
install(DIRECTORY kernels DESTINATION ${CMAKE_INSTALL_DATADIR}/moontile/cuda
        FILES_MATCHING PATTERN *.cuh PATTERN *.def)
install(DIRECTORY src/desc src/types DESTINATION ${CMAKE_INSTALL_DATADIR}/moontile/cuda
        FILES_MATCHING PATTERN *_desc.h PATTERN algos.def PATTERN convert.h)

# What people read, and what they run.
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN *.md PATTERN *.svg PATTERN *.html)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/moontile)
include(cmake/pack.cmake)
