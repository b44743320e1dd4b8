/*
** field.h - private to the binding: fields of the table on the top.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_BINDING_FIELD_H
#define MT_BINDING_FIELD_H

#include "binding/lmt.h"

static inline void lmt_setint (lua_State *L, const char *key, int64_t n) {
  lua_pushinteger(L, n);
  lua_setfield(L, -2, key);
}

static inline void lmt_setnumber (lua_State *L, const char *key, double x) {
  lua_pushnumber(L, x);
  lua_setfield(L, -2, key);
}

static inline void lmt_setbool (lua_State *L, const char *key, bool b) {
  lua_pushboolean(L, b);
  lua_setfield(L, -2, key);
}

static inline void lmt_settext (lua_State *L, const char *key, const char *text) {
  lua_pushstring(L, text);
  lua_setfield(L, -2, key);
}

#endif
