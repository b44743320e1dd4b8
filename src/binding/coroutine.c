/*
** coroutine.c - coroutine.wrap where resuming is one's own: the VM's, the console's.
** SPDX-License-Identifier: MIT
*/
#include <lauxlib.h>

#include "binding/coroutine.h"

int lmt_wrap (lua_State *L, lua_CFunction call) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_State *co = lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  lua_pushcclosure(L, call, 1);
  return 1;
}

int lmt_callwrapped (lua_State *L, lmt_resumer *resume, lmt_closer *close) {
  lua_State *co = lua_tothread(L, lua_upvalueindex(1));
  int n = resume(L, co, lua_gettop(L));
  if (n >= 0) return n;
  int status = lua_status(co);
  if (status != LUA_OK && status != LUA_YIELD) { /* it died: close its variables */
    status = close(L, co);
    lua_xmove(co, L, 1); /* its error, which a __close may have replaced */
  }
  if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}
