/*
** kernel.h - private to the binding: kernels as values.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_BINDING_KERNEL_H
#define MT_BINDING_KERNEL_H

#include "binding/lmt.h"

const mt_gemm_spec *lmt_tokernel (lua_State *L, int i);
bool lmt_iskernel (lua_State *L, int i);
/* The option `epilogue` of the table at 1. */
void lmt_kernelepilogue (lua_State *L, mt_gemm_spec *k);
/* Pushes precompiled kernel i; list: room for what completes it. */
mt_gemm_spec *lmt_pushrow (lua_State *L, int i, mt_candidate *list);
/* kernels{ arch = 90 [, A = dtype] [, epilogue =] } -> kernels, their names, a
** lua_CFunction. */
int lmt_gemmrows (lua_State *L);
/* gemm(kernel, A, B, C [, { bias =, residual =, seed = }]), a lua_CFunction. */
int lmt_gemmkernel (lua_State *L);
/* verify(kernel [, A, B, C [, { bias =, residual = }]]), a lua_CFunction. */
int lmt_verifykernel (lua_State *L);
/* The function verify of the module. */
int lmt_verify (lua_State *L);

#endif
