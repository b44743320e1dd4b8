/*
** fragment.h - private to the binding: products of fragments.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_BINDING_FRAGMENT_H
#define MT_BINDING_FRAGMENT_H

#include "binding/lmt.h"

/* Whether the arguments of gemm are fragments: of a thread's slice of a tiled MMA, or in
** tables behind a tiled MMA. */
bool lmt_hasfragments (lua_State *L);
/* gemm(slice | mma, [D,] A, B, C), a lua_CFunction. */
int lmt_gemmfragments (lua_State *L);

#endif
