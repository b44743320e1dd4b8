/*
** epilogue.c - the options of a product's epilogue in Lua: activation, bias, residual.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "binding/instead.h"
#include "binding/host.h"
#include "binding/kernel.h"
#include "binding/plan.h"

/* "relu", "gelu", ... or "tanh" */
static const char *push_activations (lua_State *L) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (int a = 0; a < MT_NACTIVATION; a++) {
    if (a > 0) luaL_addstring(&b, a + 1 < MT_NACTIVATION ? ", " : " or ");
    luaL_addchar(&b, '"');
    luaL_addstring(&b, mt_activation_name((mt_activation)a));
    luaL_addchar(&b, '"');
  }
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

/* The option `activation` of the table at i. */
static mt_activation activation (lua_State *L, int i) {
  int a = MT_ACTIVATION_NONE;
  lua_getfield(L, i, "activation");
  if (!lua_isnil(L, -1)) {
    const char *name = lmt_isstring(L, -1) ? lua_tostring(L, -1) : "";
    while (a < MT_NACTIVATION && strcmp(mt_activation_name((mt_activation)a), name) != 0)
      a++;
    if (a == MT_NACTIVATION) {
      const char *got = luaL_tolstring(L, -1, NULL);
      luaL_error(L, "gemm: activation: %s expected, got %s", push_activations(L), got);
    }
  }
  lua_settop(L, i);
  return (mt_activation)a;
}

/* Pushes the bias that the table on the top has, and takes the table: { row = T } or
** { column = T }. */
static mt_along bias_along (lua_State *L) {
  static const char *const keys[] = {"row", "column", NULL};
  lmt_checkkeys(L, lua_gettop(L), "gemm: bias", keys);
  lua_getfield(L, -1, "row");
  lua_getfield(L, -2, "column");
  const bool row = !lua_isnil(L, -2), column = !lua_isnil(L, -1);
  if (row == column)
    luaL_error(L,
               "gemm: bias: row or column expected, got %s: bias = { row = T } "
               "or bias = { column = T }",
               row ? "both" : "neither");
  if (row) lua_pop(L, 1);
  else lua_remove(L, -2);
  lua_remove(L, -2);
  return row ? MT_ALONG_ROW : MT_ALONG_COLUMN;
}

/* Pushes the tensor in the option `key` of the table at i; false: there is none, nothing
** is pushed. */
static bool push_beside (lua_State *L, int i, const char *key, mt_along *along) {
  lua_getfield(L, i, key);
  if (lua_isnil(L, -1)) return lua_pop(L, 1), false;
  if (along && lua_istable(L, -1)) *along = bias_along(L);
  if (!lmt_isclass(L, -1, LMT_TENSOR))
    luaL_error(L, "gemm: %s: a tensor expected%s, got %s", key,
               along ? ", { row = T } or { column = T }" : "", lmt_kindname(L, -1));
  return true;
}

void lmt_epilogue (lua_State *L, int options, lmt_ending_options *x, int *first) {
  x->epilogue.activation = activation(L, options);
  for (int i = 0; i < 3; i++) lua_pushvalue(L, *first + i);
  *first = options + 1;
  x->bias = push_beside(L, options, "bias", &x->epilogue.along);
  x->residual = push_beside(L, options, "residual", NULL);
  for (int i = 0; i < 3 + x->bias + x->residual; i++) lmt_totensor(L, *first + i);
}

/* ---------------------------------------------------------------- kernels */

/* Raises where a tensor is given and not described, or described and not given. */
static void check_given (lua_State *L, const char *key, bool said, bool given,
                         bool whole) {
  const bool bias = *key == 'b';
  if (given && !said)
    luaL_error(L, "gemm: %s: the kernel adds none\ndescribe it: epilogue = { %s = %s }",
               key, key, bias ? "\"row\" } or { bias = \"column\"" : "true");
  if (whole && said && !given)
    luaL_error(L,
               "gemm: the kernel adds a %s, and none is given\n"
               "tile.gemm(kernel, A, B, C, { %s = T })",
               key, key);
}

void lmt_kernelending (lua_State *L, int options, bool whole, lmt_ending_options *x,
                       int *first) {
  static const char *const names[] = {"row", "column"};
  const mt_gemm_ending *e = &lmt_tokernel(L, 1)->ending;
  *first = 2;
  lmt_epilogue(L, options, x, first);
  check_given(L, "bias", e->bias != MT_ALONG_AUTO, x->bias, whole);
  check_given(L, "residual", e->residual, x->residual, whole);
  if (x->bias && x->epilogue.along != MT_ALONG_AUTO && x->epilogue.along != e->bias)
    luaL_error(L, "gemm: bias: the kernel's lies along a %s, not a %s",
               names[e->bias - MT_ALONG_ROW], names[x->epilogue.along - MT_ALONG_ROW]);
  x->epilogue.activation = e->activation;
  x->epilogue.along = e->bias;
}
