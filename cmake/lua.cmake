# lua.cmake: finds Lua 5.4 or 5.5: headers for the binding, a library for the program.
# SPDX-License-Identifier: MIT
#
# LUA_INCDIR, LUA_LIBDIR (hints, as LuaRocks passes them) come before the system's places.
# The archive comes before the shared library: the program then needs no Lua installed.

if(NOT MOONTILE_LUA)
  return()
endif()

find_path(MOONTILE_LUA_INCLUDE_DIR lua.h HINTS ${LUA_INCDIR} ${LUA_INCLUDE_DIR}
          PATH_SUFFIXES lua5.4 lua-5.4 lua54 lua lua5.5 lua-5.5 lua55)
set(names liblua5.4.a lua5.4 lua-5.4 lua54 liblua.a lua liblua5.5.a lua5.5 lua-5.5 lua55)
if(LUA_LIBDIR)                 # any of them there comes before all elsewhere
  find_library(MOONTILE_LUA_LIBRARY NAMES ${names} PATHS ${LUA_LIBDIR} NO_DEFAULT_PATH)
endif()
find_library(MOONTILE_LUA_LIBRARY NAMES ${names})
mark_as_advanced(MOONTILE_LUA_INCLUDE_DIR MOONTILE_LUA_LIBRARY)
if(NOT MOONTILE_LUA_INCLUDE_DIR)
  message(FATAL_ERROR "moontile: no lua.h of Lua 5.4 or 5.5 was found (Debian: liblua5.4-dev). "
                      "Set LUA_INCDIR, or build the core alone with -DMOONTILE_LUA=OFF.")
endif()
file(STRINGS ${MOONTILE_LUA_INCLUDE_DIR}/lua.h MOONTILE_LUA_VERSION_LINES
     REGEX "^#define[ \t]+LUA_VERSION_(MAJOR|MINOR)(_N)?[ \t]+\"?[0-9]")
string(REGEX REPLACE "[^0-9;]" "" MOONTILE_LUA_VERSION "${MOONTILE_LUA_VERSION_LINES}")
list(GET MOONTILE_LUA_VERSION 0 MOONTILE_LUA_MAJOR)
list(GET MOONTILE_LUA_VERSION 1 MOONTILE_LUA_MINOR)
set(MOONTILE_LUA_VERSION ${MOONTILE_LUA_MAJOR}.${MOONTILE_LUA_MINOR})
set(MOONTILE_LUA_DIGITS ${MOONTILE_LUA_MAJOR}${MOONTILE_LUA_MINOR})
if(NOT MOONTILE_LUA_VERSION MATCHES "^5\\.[45]$")
  message(FATAL_ERROR "moontile: ${MOONTILE_LUA_INCLUDE_DIR}/lua.h is Lua ${MOONTILE_LUA_VERSION}; "
                      "5.4 or 5.5 is needed. Set LUA_INCDIR.")
endif()

# For our own programs: a Lua to link with. Extensions written in C may be loaded into them.
add_library(moontile_liblua INTERFACE)
target_include_directories(moontile_liblua SYSTEM INTERFACE ${MOONTILE_LUA_INCLUDE_DIR})
if(MOONTILE_LUA_LIBRARY)
  target_link_libraries(moontile_liblua INTERFACE ${MOONTILE_LUA_LIBRARY} m ${CMAKE_DL_LIBS})
endif()
