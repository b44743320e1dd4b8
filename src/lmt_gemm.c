/*
** lmt_gemm.c - products in Lua: C = alpha A B + beta C, as a plan or at once.
** SPDX-License-Identifier: MIT
*/
#include "lmt.h"

/* What a product is besides its tensors; mma NULL: one is chosen. */
typedef struct product {
  const mt_tiled_mma *mma;
  double alpha, beta;
} product;

static mt_status plan_product (mt_plan **out, mt_device *d, const void *what,
                               const mt_tensor *t, mt_err *err) {
  const product *x = what;
  return mt_plan_gemm(out, d, x->mma, &t[0], &t[1], &t[2], x->alpha, x->beta, err);
}

static const char *const names[] = { "A", "B", "C" };
static const lmt_planner products = { "gemm", false, 3, names, plan_product };

/* Where A lies among the arguments: behind a tiled MMA, if there is one. */
static int first_tensor (lua_State *L) {
  if (lmt_istiledmma(L, 1)) return 2;
  if (!lmt_isclass(L, 1, LMT_TENSOR)) luaL_typeerror(L, 1, "tiled MMA or tensor");
  return 1;
}

/* The number in the option `key` of the table at i. */
static double factor (lua_State *L, int i, const char *key, double otherwise) {
  lua_getfield(L, i, key);
  mt_number v = { .f = otherwise };
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

/* What the arguments say; options, where there are some, lie behind the tensors. */
static product described (lua_State *L, const char *what, const char *const *keys) {
  int first = first_tensor(L), options = first + 3;
  product x = { .mma = first == 2 ? lmt_totiledmma(L, 1) : NULL, .alpha = 1 };
  for (int i = 0; i < 3; i++) lmt_totensor(L, first + i);
  lua_settop(L, options);
  if (lua_isnil(L, options)) return x;
  lmt_checkkeys(L, options, what, keys);
  x.alpha = factor(L, options, "alpha", 1);
  x.beta = factor(L, options, "beta", 0);
  return x;
}

/* plan_gemm([tiled_mma,] A, B, C [, { alpha =, beta = }]) -> a plan | nil, message, code
** */
int lmt_plangemm (lua_State *L) {
  static const char *const keys[] = { "alpha", "beta", NULL };
  LMT_NOERR(err);
  product x = described(L, "plan", keys);
  if (!lmt_pushplan(L, first_tensor(L), &products, &x, &err)) return lmt_fail(L, &err);
  return 1;
}

/* The stream on the top. */
static mt_stream *stream_option (lua_State *L, const lmt_device *d) {
  if (!lua_isnil(L, -1) && !lmt_isclass(L, -1, LMT_STREAM))
    luaL_error(L, "gemm: stream: a stream expected, got %s", luaL_typename(L, -1));
  return lmt_optstream(L, -1, d);
}

/* gemm([tiled_mma,] A, B, C [, { alpha =, beta =, stream = }]): on a GPU it may still run
** when this returns. */
static int l_gemm (lua_State *L) {
  static const char *const keys[] = { "alpha", "beta", "stream", NULL };
  LMT_NOERR(err);
  mt_stream *stream = NULL;
  product x = described(L, "gemm", keys);
  int first = first_tensor(L);
  if (!lua_isnil(L, first + 3)) {
    lua_getfield(L, first + 3, "stream");
    stream = stream_option(L, lmt_totensor(L, first)->buffer->device);
  }
  if (!lmt_pushplan(L, first, &products, &x, &err)) return lmt_raise(L, &err);
  return lmt_runplan(L, stream, &err) == MT_OK ? 0 : lmt_raise(L, &err);
}

static const luaL_Reg functions[] = {
  { "gemm", l_gemm }, { "plan_gemm", lmt_plangemm }, { NULL, NULL }
};

void lmt_open_gemm (lua_State *L) { luaL_setfuncs(L, functions, 0); }
