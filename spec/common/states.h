/*
** states.h - a state of Lua with an allocator of one's own: 5.5 wants a seed, too.
** SPDX-License-Identifier: MIT
*/
#ifndef STATES_H
#define STATES_H

#include <lauxlib.h>
#include <lua.h>

static inline lua_State *new_state (lua_Alloc f, void *ud) {
#if LUA_VERSION_NUM >= 505
  return lua_newstate(f, ud, luaL_makeseed(NULL));
#else
  return lua_newstate(f, ud);
#endif
}

#endif
