/*
** versions.h - what Lua 5.4.4 to 5.5 have each in their own way.
** SPDX-License-Identifier: MIT
*/
#ifndef BINDING_VERSIONS_H
#define BINDING_VERSIONS_H

#include <lauxlib.h>
#include <lua.h>

/* A new state. */
static inline lua_State *lmt_newstate (lua_Alloc f, void *ud) {
#if LUA_VERSION_NUM >= 505
  return lua_newstate(f, ud, luaL_makeseed(NULL));
#else
  return lua_newstate(f, ud);
#endif
}

/* Closes the variables of the coroutine `co`, for L. */
static inline int lmt_closethread (lua_State *L, lua_State *co) {
#if LUA_VERSION_RELEASE_NUM >= 50406
  return lua_closethread(co, L);
#elif LUA_VERSION_RELEASE_NUM == 50405
  return lua_resetthread(co, L);
#else
  return (void)L, lua_resetthread(co);
#endif
}

/* The collector goes on as if so many KiB had been asked for; 0: a step. */
static inline int lmt_gcstep (lua_State *L, size_t kilobytes) {
#if LUA_VERSION_NUM >= 505
  return lua_gc(L, LUA_GCSTEP, kilobytes << 10);
#else
  return lua_gc(L, LUA_GCSTEP, kilobytes < (1u << 20) ? (int)kilobytes : 1 << 20);
#endif
}

#endif
