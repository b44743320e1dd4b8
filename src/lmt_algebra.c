/*
** lmt_algebra.c - the rest of the algebra of layouts in Lua.
** SPDX-License-Identifier: MIT
*/
#include "lmt.h"

void lmt_open_algebra (lua_State *L) {
  (void)L;
}
