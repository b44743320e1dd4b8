/*
** gemm.c - products in Lua: C = alpha A B + beta C and an epilogue, as a plan or at once.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>
#include <string.h>

#include "binding/instead.h"
#include "binding/fragment.h"
#include "binding/kernel.h"
#include "binding/plan.h"
#include "binding/host.h"

/* The precompiled kernels that are a described one: they differ in the type of C. */
enum { ROWS = 8 };
typedef struct own_rows {
  int n;    /* 0: none is */
  int near; /* there are so many to compare it with */
  mt_near_row row[ROWS];
} own_rows;

/* What a product is besides its tensors; mma NULL: one is chosen, of the rows if there
** are some. */
typedef struct product {
  const mt_tiled_mma *mma;
  const mt_gemm_spec *kernel; /* NULL, or: it is described */
  own_rows rows;
  mt_gemm_options options; /* but family, memory, and the epilogue */
  lmt_ending_options finish;
  char family[16]; /* "": any */
  int first;       /* where A lies, then B, C, bias and residual, if there are such */
  const lmt_state *state;
} product;

/* The first of the rows that takes these tensors: not all write D in every way. */
static mt_status take_row (mt_plan *p, const product *x, mt_err *err) {
  const size_t left = lmt_bytesleft(x->state);
  mt_status s = MT_OK;
  for (int i = 0; i < x->rows.n; i++) {
    s = mt_plan_take(p, mt_gemm_row_name(x->rows.row[i].row), 1, left > 0 ? left : 1,
                     err);
    if (s != MT_EUNSUPPORTED) return s;
  }
  return s;
}

/* By a kernel that is not precompiled. */
static mt_status plan_kernel (mt_plan **out, mt_device *d, const product *x,
                              const mt_tensor *t, size_t memory, mt_err *err) {
  const int bias = x->finish.bias;
  const mt_tensor *const all[] = {&t[0], &t[1], &t[2], bias ? &t[3] : NULL,
                                  x->finish.residual ? &t[3 + bias] : NULL};
  return mt_plan_kernel(out, d, x->kernel, all, memory,
                        x->rows.near > 0 ? x->rows.row : NULL, err);
}

/* What it may pack is what is left now: nothing of Lua runs from here to its memory. */
static mt_status plan_product (mt_plan **out, mt_device *d, const void *what,
                               const mt_tensor *t, mt_err *err) {
  const product *x = what;
  const size_t left = lmt_bytesleft(x->state);
  mt_gemm_options o = x->options;
  o.epilogue = x->finish.epilogue;
  if (x->finish.bias) o.epilogue.bias = &t[3];
  if (x->finish.residual) o.epilogue.residual = &t[3 + x->finish.bias];
  o.memory = left > 0 ? left : 1; /* 0 stands for any */
  if (x->kernel && x->rows.n == 0) return plan_kernel(out, d, x, t, o.memory, err);
  if (x->family[0]) o.family = x->family;
  mt_status s = mt_plan_gemm(out, d, x->mma, &t[0], &t[1], &t[2], &o, err);
  if (s != MT_OK || x->rows.n == 0) return s;
  s = take_row(*out, x, err);
  if (s == MT_OK) return s;
  mt_plan_free(*out);
  return s == MT_EUNSUPPORTED ? plan_kernel(out, d, x, t, o.memory, err) : s;
}

/* All of A, for each column of B. */
static uint64_t product_work (const mt_tensor *t) {
  const mt_node *n = mt_mode(t[1].layout, 0);
  return lmt_times((uint64_t)mt_size(t[0].layout), n ? (uint64_t)mt_size(n) : 1);
}

/* By whether there are a bias and a residual. */
static const char *const names[][LMT_PLANTENSORS] = {{"A", "B", "C", "residual"},
                                                     {"A", "B", "C", "bias", "residual"}};
#define PLANNER(bias, n)                                                                 \
  { "gemm", false, n, names[bias], plan_product, product_work }
static const lmt_planner products[2][2] = {{PLANNER(0, 3), PLANNER(0, 4)},
                                           {PLANNER(1, 4), PLANNER(1, 5)}};
#undef PLANNER

/* Where A lies among the arguments: behind a tiled MMA or a kernel, if there is one. */
static int first_tensor (lua_State *L) {
  if (lmt_marked(L, 1, LMT_TENSORS)) return 1;
  if (lmt_istiledmma(L, 1) || lmt_iskernel(L, 1)) return 2;
  return luaL_typeerror(L, 1, "tiled MMA, kernel or tensor");
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
      luaL_error(L, "gemm: family: a name expected, got %s", lmt_kindname(L, -1));
    snprintf(out, size, "%s", lua_tostring(L, -1));
  }
  lua_pop(L, 1);
}

/* ---------------------------------------------------------------- described kernels */

/* The rows that are the kernel at 1, which never changes: they are kept with it. The
** comparison with all that there are takes milliseconds. */
static const own_rows *kept_rows (lua_State *L) {
  lua_getiuservalue(L, 1, 1);
  if (lua_getfield(L, -1, "rows") == LUA_TUSERDATA) return lua_touserdata(L, -1);
  own_rows *r = lua_newuserdatauv(L, sizeof *r, 0);
  mt_gemm_spec *scratch = lua_newuserdatauv(L, sizeof *scratch, 0);
  mt_candidate *list = lua_newuserdatauv(L, MT_MAXCANDIDATES * sizeof *list, 0);
  r->near = mt_gemm_near(r->row, ROWS, lmt_tokernel(L, 1), scratch, list);
  for (r->n = 0; r->n < r->near && r->row[r->n].differs == 0;) r->n++;
  lua_pushvalue(L, -3);
  lua_setfield(L, -6, "rows");
  return r;
}

static void take_kernel (lua_State *L, product *x) {
  const int top = lua_gettop(L);
  x->rows = *kept_rows(L);
  const mt_gemm_spec *k = x->kernel = lmt_tokernel(L, 1);
  x->options.columns = mt_kernel_columns(k);
  x->options.alpha = k->ending.alpha;
  x->options.beta = k->ending.beta;
  if (k->mma.atom.op.operand[MT_OPERAND_A].element == MT_ELEMENT_tf32)
    x->options.precision = MT_PRECISION_TF32;
  if (x->rows.n > 0)
    snprintf(x->family, sizeof x->family, "%s",
             mt_gemm_row_arch(x->rows.row[0].row) == 90 ? "hopper" : "ampere");
  lua_settop(L, top);
}

/* Raises where C at i is not of the type that the kernel at 1 says. */
static void check_result (lua_State *L, int i) {
  const mt_gemm_spec *k = lmt_tokernel(L, 1);
  const mt_dtype c = lmt_totensor(L, i)->dtype;
  if ((k->given & MT_GIVEN_C) && c != k->ending.type)
    luaL_error(
        L, "gemm: C is %s, the epilogue's dtype is %s\ngive such a C, or leave dtype out",
        mt_dtype_name(c), mt_dtype_name(k->ending.type));
}

/* ---------------------------------------------------------------- arguments */

/* What the arguments say; options, where there are some, lie behind the tensors. */
static product described (lua_State *L, const char *what, const char *const *keys) {
  static const char *const of_kernels[] = {"bias", "residual", "stream", NULL};
  int first = first_tensor(L), options = first + 3;
  const bool kernel = first == 2 && lmt_iskernel(L, 1);
  product x = {.mma = first == 2 && !kernel ? lmt_totiledmma(L, 1) : NULL,
               .first = first};
  x.options = (mt_gemm_options){.size = sizeof x.options, .alpha = 1};
  x.state = lmt_pushstate(L);
  lua_pop(L, 1);
  for (int i = 0; i < 3; i++) lmt_totensor(L, first + i);
  LMT_COUNT(L, options, what,
            first == 2 ? "tiled_mma, A, B, C [, options]" : "A, B, C [, options]");
  lua_settop(L, options);
  if (lua_isnil(L, options) && !kernel) return x;
  if (lua_isnil(L, options)) lua_newtable(L), lua_replace(L, options);
  lmt_checkkeys(L, options, what, kernel ? of_kernels : keys);
  if (kernel) {
    take_kernel(L, &x);
    lmt_kernelending(L, options, true, &x.finish, &x.first);
    check_result(L, x.first + 2);
    return x;
  }
  x.options.alpha = factor(L, options, "alpha", 1);
  x.options.beta = factor(L, options, "beta", 0);
  x.options.precision = precision(L, options);
  family(L, options, x.family, sizeof x.family);
  lmt_epilogue(L, options, &x.finish, &x.first);
  return x;
}

/* Pushes the plan, by the kernel that was measured to be the fastest, if one was. */
static bool push_product (lua_State *L, const product *x, mt_err *err) {
  const lmt_planner *how = &products[x->finish.bias][x->finish.residual];
  if (!lmt_pushplan(L, x->first, how, x, err)) return false;
  if (x->mma == NULL && x->kernel == NULL) lmt_cached(L);
  return true;
}

/* Whether the arguments are a kernel and tensors of the host. */
static bool is_executed (lua_State *L) {
  return lmt_iskernel(L, 1) && mt_device_is_host(lmt_totensor(L, 2)->buffer->device->d);
}

/* plan_gemm([tiled_mma | kernel,] A, B, C [, { alpha =, beta =, family =, precision =,
** activation =, bias =, residual = }]) -> a plan | nil, message, code */
int lmt_plangemm (lua_State *L) {
  static const char *const keys[] = {"alpha",      "beta", "family",   "precision",
                                     "activation", "bias", "residual", NULL};
  LMT_NOERR(err);
  if (is_executed(L))
    return luaL_error(L,
                      "plan: a kernel is executed on the host by gemm, without a plan");
  product x = described(L, "plan", keys);
  if (!push_product(L, &x, &err)) return lmt_fail(L, &err);
  return 1;
}

/* Pushes the option `stream` of the table at i, and returns where it is; 0: no table. */
static int stream_option (lua_State *L, int i, int tensor) {
  if (lua_isnil(L, i)) return 0;
  lua_getfield(L, i, "stream");
  if (!lua_isnil(L, -1) && !lmt_isclass(L, -1, LMT_STREAM))
    luaL_error(L, "gemm: stream: a stream expected, got %s", lmt_kindname(L, -1));
  lmt_optstream(L, -1, lmt_totensor(L, tensor)->buffer->device);
  return lua_gettop(L);
}

/* ---------------------------------------------------------------- products again */

/* What its key has besides the tensors. */
typedef struct key_options {
  uint64_t operation;
  double alpha, beta;
  uint32_t precision, activation, along, beside;
  char family[16];
} key_options;

static bool make_key (lua_State *L, lmt_plankey *k, const product *x) {
  _Static_assert(sizeof(key_options) == 56, "no padding");
  const lmt_ending_options *e = &x->finish;
  key_options o = {.operation = LMT_KEYGEMM,
                   .alpha = x->options.alpha,
                   .beta = x->options.beta,
                   .precision = (uint32_t)x->options.precision,
                   .activation = (uint32_t)e->epilogue.activation,
                   .along = (uint32_t)e->epilogue.along,
                   .beside = (uint32_t)(e->bias + 2 * e->residual)};
  memcpy(o.family, x->family, sizeof o.family);
  return lmt_makekey(L, k, x->first, 3 + e->bias + e->residual, &o, sizeof o);
}

static mt_status gemm_anew (lua_State *L, const product *x, int stream, mt_err *err) {
  if (!push_product(L, x, err)) return err->status;
  return lmt_runplan(L, stream, err);
}

/* By a plan that is made, and remembered. One that has memory of its own is for launches
** one behind the other, on the device's own stream; `aside`: this one is on another. */
static mt_status gemm_first (lua_State *L, lmt_device *d, const product *x,
                             const lmt_plankey *key, int stream, bool aside,
                             mt_err *err) {
  if (!push_product(L, x, err)) return err->status;
  const bool own = aside && mt_plan_memory(lmt_toplan(L, -1, true)) > 0;
  mt_plan *p = own ? NULL : lmt_keepplan(L, d, key);
  if (p == NULL) return lmt_runplan(L, stream, err);
  lmt_listen(err, d->state);
  return lmt_launchplan(p, d, aside ? lmt_optstream(L, stream, d) : NULL, err);
}

/* By the plan that is remembered, if there is one. */
static mt_status gemm_again (lua_State *L, lmt_device *d, const product *x, int stream,
                             mt_err *err) {
  const bool aside = stream && !lua_isnil(L, stream);
  lmt_plankey key;
  if (!make_key(L, &key, x)) return gemm_anew(L, x, stream, err);
  mt_plan *p = lmt_cachedplan(L, d, &key);
  if (p == NULL) return gemm_first(L, d, x, &key, stream, aside, err);
  if (aside && mt_plan_memory(p) > 0) return gemm_anew(L, x, stream, err);
  lmt_listen(err, d->state);
  return lmt_launchplan(p, d, aside ? lmt_optstream(L, stream, d) : NULL, err);
}

/* Whether plans of it are remembered: those of the host would keep its memory. */
static bool is_remembered (const lmt_device *d, const product *x) {
  return x->mma == NULL && x->kernel == NULL && !d->recording && !mt_device_is_host(d->d);
}

/* gemm([tiled_mma,] A, B, C [, the same and stream =]): on a GPU it may still run when
** this returns; gemm(kernel, A, B, C [, { seed = }]);
** gemm(mma | slice, [D,] A, B, C) of fragments. */
static int l_gemm (lua_State *L) {
  const bool plain = lmt_marked(L, 1, LMT_TENSORS);
  if (!plain && lmt_hasfragments(L)) return lmt_gemmfragments(L);
  if (!plain && is_executed(L)) return lmt_gemmkernel(L);
  static const char *const keys[] = {"alpha",     "beta",     "family",
                                     "precision", "stream",   "activation",
                                     "bias",      "residual", NULL};
  LMT_NOERR(err);
  product x = described(L, "gemm", keys);
  int first = first_tensor(L), stream = stream_option(L, first + 3, first);
  lmt_device *d = lmt_totensor(L, first)->buffer->device;
  const mt_status s = is_remembered(d, &x) ? gemm_again(L, d, &x, stream, &err) :
                                             gemm_anew(L, &x, stream, &err);
  return s == MT_OK ? 0 : lmt_raise(L, &err);
}

#define ROWS_GEMM
#include "binding/rows.h"

void lmt_open_gemm (lua_State *L) { lmt_addrows(L, rows); }
