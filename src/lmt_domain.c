/*
** lmt_domain.c - the lattice of shapes, sums of layouts, explanations in Lua.
** SPDX-License-Identifier: MIT
*/
#include "lmt.h"

void lmt_open_domain (lua_State *L) {
  (void)L;
}
