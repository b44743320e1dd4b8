/*
** boxes.c - what Lua's buffers need for long texts.
** SPDX-License-Identifier: MIT
**
** Lua makes the metatable of their boxes with the first long text. Without memory in the
** midst of that it lacks __close ever after, and no text can be made that is as long.
*/
#include <lauxlib.h>

#include "binding/boxes.h"

static const char boxes[] = "_UBOX*"; /* the name that Lua has for it */

/* Whether it is there and whole; what is not whole is taken away. */
static bool are_open (lua_State *L) {
  int type = luaL_getmetatable(L, boxes);
  bool whole = type == LUA_TTABLE && lua_getfield(L, -1, "__close") != LUA_TNIL;
  lua_pop(L, type == LUA_TTABLE ? 2 : 1);
  if (type != LUA_TTABLE || whole) return whole;
  lua_pushnil(L);
  lua_setfield(L, LUA_REGISTRYINDEX, boxes);
  return false;
}

void lmt_openboxes (lua_State *L) {
  luaL_Buffer b;
  if (are_open(L)) return;
  luaL_buffinitsize(L, &b, 2 * LUAL_BUFFERSIZE);
  luaL_pushresultsize(&b, 0);
  lua_pop(L, 1);
}
