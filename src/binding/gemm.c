/*
** gemm.c - products in Lua: C = alpha A B + beta C, as a plan or at once.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>
#include <string.h>

#include "binding/fragment.h"
#include "binding/kernel.h"
#include "binding/plan.h"
#include "binding/host.h"

/* What a product is besides its tensors; mma NULL: one is chosen. */
typedef struct product {
  const mt_tiled_mma *mma;
  mt_gemm_options options; /* but family and memory */
  char family[16];         /* "": any */
  const lmt_state *state;
} product;

/* What it may pack is what is left now: nothing of Lua runs from here to its memory. */
static mt_status plan_product (mt_plan **out, mt_device *d, const void *what,
                               const mt_tensor *t, mt_err *err) {
  const product *x = what;
  const size_t left = lmt_bytesleft(x->state);
  mt_gemm_options o = x->options;
  o.memory = left > 0 ? left : 1; /* 0 stands for any */
  if (x->family[0]) o.family = x->family;
  return mt_plan_gemm(out, d, x->mma, &t[0], &t[1], &t[2], &o, err);
}

/* All of A, for each column of B. */
static uint64_t product_work (const mt_tensor *t) {
  const mt_node *n = mt_mode(t[1].layout, 0);
  return lmt_times((uint64_t)mt_size(t[0].layout), n ? (uint64_t)mt_size(n) : 1);
}

static const char *const names[] = {"A", "B", "C"};
static const lmt_planner products = {"gemm", false, 3, names, plan_product, product_work};

/* Where A lies among the arguments: behind a tiled MMA, if there is one. */
static int first_tensor (lua_State *L) {
  if (lmt_istiledmma(L, 1)) return 2;
  if (!lmt_isclass(L, 1, LMT_TENSOR)) luaL_typeerror(L, 1, "tiled MMA or tensor");
  return 1;
}

/* The number in the option `key` of the table at i. */
static double factor (lua_State *L, int i, const char *key, double otherwise) {
  lua_getfield(L, i, key);
  mt_number v = {.f = otherwise};
  if (!lua_isnil(L, -1)) {
    if (!lua_isnumber(L, -1) || lmt_isstring(L, -1))
      luaL_error(L, "gemm: %s: a number expected", key);
    v = lmt_tonumber(L, -1);
  }
  lua_pop(L, 1);
  if (v.isint && (v.i > INT64_C(1) << 53 || v.i < -(INT64_C(1) << 53)))
    luaL_error(L, "gemm: %s is %I: at most 53 bits", key, (LUAI_UACINT)v.i);
  return v.isint ? (double)v.i : v.f;
}

/* The option `precision` of the table at i. */
static mt_precision precision (lua_State *L, int i) {
  static const char *const readings[] = {"full", "tf32", "3xtf32"}; /* by mt_precision */
  int x = MT_PRECISION_FULL;
  lua_getfield(L, i, "precision");
  if (!lua_isnil(L, -1)) {
    const char *name = lmt_isstring(L, -1) ? lua_tostring(L, -1) : "";
    while (x <= MT_PRECISION_3XTF32 && strcmp(readings[x], name) != 0) x++;
    if (x > MT_PRECISION_3XTF32)
      luaL_error(L, "gemm: precision: \"full\", \"tf32\" or \"3xtf32\" expected, got %s",
                 luaL_tolstring(L, -1, NULL));
  }
  lua_settop(L, i);
  return (mt_precision)x;
}

/* The option `family` of the table at i: a copy, a finalizer may change the table. */
static void family (lua_State *L, int i, char *out, size_t size) {
  lua_getfield(L, i, "family");
  if (!lua_isnil(L, -1)) {
    if (!lmt_isstring(L, -1))
      luaL_error(L, "gemm: family: a name expected, got %s", luaL_typename(L, -1));
    snprintf(out, size, "%s", lua_tostring(L, -1));
  }
  lua_pop(L, 1);
}

/* What the arguments say; options, where there are some, lie behind the tensors. */
static product described (lua_State *L, const char *what, const char *const *keys) {
  int first = first_tensor(L), options = first + 3;
  product x = {.mma = first == 2 ? lmt_totiledmma(L, 1) : NULL, .options.alpha = 1};
  x.state = lmt_pushstate(L);
  lua_pop(L, 1);
  for (int i = 0; i < 3; i++) lmt_totensor(L, first + i);
  LMT_COUNT(L, options, what,
            first == 2 ? "tiled_mma, A, B, C [, options]" : "A, B, C [, options]");
  lua_settop(L, options);
  if (lua_isnil(L, options)) return x;
  lmt_checkkeys(L, options, what, keys);
  x.options.alpha = factor(L, options, "alpha", 1);
  x.options.beta = factor(L, options, "beta", 0);
  x.options.precision = precision(L, options);
  family(L, options, x.family, sizeof x.family);
  return x;
}

/* Pushes the plan, by the kernel that was measured to be the fastest, if one was. */
static bool push_product (lua_State *L, int first, const product *x, mt_err *err) {
  if (!lmt_pushplan(L, first, &products, x, err)) return false;
  if (x->mma == NULL) lmt_cached(L);
  return true;
}

/* plan_gemm([tiled_mma,] A, B, C [, { alpha =, beta =, family =, precision = }]) -> a
** plan | nil, message, code */
int lmt_plangemm (lua_State *L) {
  static const char *const keys[] = {"alpha", "beta", "family", "precision", NULL};
  LMT_NOERR(err);
  product x = described(L, "plan", keys);
  if (!push_product(L, first_tensor(L), &x, &err)) return lmt_fail(L, &err);
  return 1;
}

/* Pushes the option `stream` of the table at i, and returns where it is; 0: no table. */
static int stream_option (lua_State *L, int i, int tensor) {
  if (lua_isnil(L, i)) return 0;
  lua_getfield(L, i, "stream");
  if (!lua_isnil(L, -1) && !lmt_isclass(L, -1, LMT_STREAM))
    luaL_error(L, "gemm: stream: a stream expected, got %s", luaL_typename(L, -1));
  lmt_optstream(L, -1, lmt_totensor(L, tensor)->buffer->device);
  return lua_gettop(L);
}

/* gemm([tiled_mma,] A, B, C [, { alpha =, beta =, family =, precision =, stream = }]): on
** a GPU it may still run when this returns; gemm(kernel, A, B, C [, { seed = }]);
** gemm(mma | slice, [D,] A, B, C) of fragments. */
static int l_gemm (lua_State *L) {
  if (lmt_hasfragments(L)) return lmt_gemmfragments(L);
  if (lmt_iskernel(L, 1)) return lmt_gemmkernel(L);
  static const char *const keys[] = {"alpha",     "beta",   "family",
                                     "precision", "stream", NULL};
  LMT_NOERR(err);
  product x = described(L, "gemm", keys);
  int first = first_tensor(L), stream = stream_option(L, first + 3, first);
  if (!push_product(L, first, &x, &err)) return lmt_raise(L, &err);
  return lmt_runplan(L, stream, &err) == MT_OK ? 0 : lmt_raise(L, &err);
}

#define ROWS_GEMM
#include "binding/rows.h"

void lmt_open_gemm (lua_State *L) { lmt_addrows(L, rows); }
