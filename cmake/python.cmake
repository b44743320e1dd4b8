# python.cmake: what the Python package calls: the core, the binding and a shim in one library,
# beside a copy of Lua's. No part of it needs Python's headers.
# SPDX-License-Identifier: MIT

if(NOT MOONTILE_LUA OR NOT PROJECT_IS_TOP_LEVEL OR MOONTILE_PYTHON STREQUAL OFF
   OR MOONTILE_MODULE_ONLY OR MOONTILE_SANITIZE)
  return()
endif()

# A shared Lua: the archive of Debian cannot go into a library.
find_library(MOONTILE_LUA_SHARED NAMES lua${MOONTILE_LUA_VERSION}
             lua-${MOONTILE_LUA_VERSION} lua${MOONTILE_LUA_DIGITS} lua HINTS ${LUA_LIBDIR})
mark_as_advanced(MOONTILE_LUA_SHARED)
if(NOT MOONTILE_LUA_SHARED MATCHES "[.]so")
  if(MOONTILE_PYTHON STREQUAL ON)
    message(FATAL_ERROR "moontile: MOONTILE_PYTHON needs a shared library of Lua ${MOONTILE_LUA_VERSION}")
  endif()
  message(STATUS "moontile: no shared library of Lua; the Python package is not built")
  return()
endif()

set(MOONTILE_PYTHON_DIR ${PROJECT_BINARY_DIR}/python/moontile)
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/*.c)
# How calls are ended in their middle is the console's.
add_library(moontile_python MODULE ${sources} ${SRC}/console/running.c
            $<TARGET_OBJECTS:moontile_core> $<TARGET_OBJECTS:moontile_binding>)
moontile_target(moontile_python)
target_include_directories(moontile_python PRIVATE ${MOONTILE_INCLUDES})
target_include_directories(moontile_python SYSTEM PRIVATE ${MOONTILE_LUA_INCLUDE_DIR})
target_link_libraries(moontile_python PRIVATE ${MOONTILE_LUA_SHARED} Threads::Threads m ${CMAKE_DL_LIBS})
set_target_properties(moontile_python PROPERTIES OUTPUT_NAME moontile_python
  LIBRARY_OUTPUT_DIRECTORY ${MOONTILE_PYTHON_DIR} BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN"
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/python.map)
target_link_options(moontile_python PRIVATE
  "LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/python.map")

# The package lies beside its library in the build folder as it does where it is installed.
file(REAL_PATH ${MOONTILE_LUA_SHARED} lua)
execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${lua} OUTPUT_VARIABLE dynamic ERROR_QUIET)
string(REGEX MATCH "SONAME +([^ \n]+)" found "${dynamic}")
set(soname ${CMAKE_MATCH_1})
if(NOT found)
  get_filename_component(soname ${lua} NAME)
endif()
configure_file(${lua} ${MOONTILE_PYTHON_DIR}/${soname} COPYONLY)
file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/moontile/*.py)
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME)
  configure_file(${file} ${MOONTILE_PYTHON_DIR}/${name} COPYONLY)
endforeach()

# Lua's licence is the end of its header.
file(READ ${MOONTILE_LUA_INCLUDE_DIR}/lua.h licence)
string(REGEX MATCH "/[*]+\n[*] Copyright .*DEALINGS IN THE SOFTWARE[^/]*/" licence "${licence}")
file(WRITE ${MOONTILE_PYTHON_DIR}/LICENSE.lua "${licence}\n")

if(SKBUILD)
  install(FILES ${MOONTILE_PYTHON_DIR}/LICENSE.lua DESTINATION moontile COMPONENT python)
  install(TARGETS moontile_python LIBRARY DESTINATION moontile COMPONENT python)
  install(FILES ${MOONTILE_PYTHON_DIR}/${soname} DESTINATION moontile COMPONENT python)
endif()
