/*
** lmt_tuple.c - integer tuples and tuple tools in Lua.
** SPDX-License-Identifier: MIT
*/
#include "lmt.h"

void lmt_open_tuple (lua_State *L) {
  (void)L;
}
