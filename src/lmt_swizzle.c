/*
** lmt_swizzle.c - swizzles and shared-memory atoms in Lua.
** SPDX-License-Identifier: MIT
*/
#include "lmt.h"

void lmt_open_swizzle (lua_State *L) {
  (void)L;
}
