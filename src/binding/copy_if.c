/*
** copy_if.c - copies of the elements that a predicate lets pass; the options of a copy.
** SPDX-License-Identifier: MIT
**
** The copy as a whole is proven as any copy, by its plan. Then the elements move one by
** one through the host's memory: what is left out keeps its value.
*/
#include <string.h>

#include "binding/instead.h"
#include "binding/host.h"
#include "binding/plan.h"
#include "binding/view.h"

/* ---------------------------------------------------------------- the predicate */

/* A block of n bytes on the top of the stack: which elements pass. */
static char *push_mask (lua_State *L, int64_t n) {
  lmt_checkwork(L, "copy_if", lmt_times((uint64_t)n, LMT_VALUEWORK));
  char *mask = lua_newuserdatauv(L, (size_t)n, 0);
  memset(mask, 0, (size_t)n);
  return mask;
}

/* By the elements of the tensor at `i`, in order: what is not 0 passes. */
static void mask_of_tensor (lua_State *L, int i, int64_t n) {
  int64_t lo, hi, at;
  LMT_NOERR(err);
  const lmt_tensor *t = lmt_totensor(L, i);
  if (mt_size(t->layout) != n)
    luaL_error(L, "copy_if: the predicate has %I elements, the tensors have %I",
               (LUAI_UACINT)mt_size(t->layout), (LUAI_UACINT)n);
  lmt_range(L, t, &lo, &hi);
  char *mask = push_mask(L, n);
  const lmt_real *real = lmt_pushreal(L, i);
  const char *base = lmt_onhost(L, i, lo, hi);
  t = lmt_totensor(L, i);
  size_t size = mt_dtype_size(t->dtype);
  for (int64_t k = 0; k < n; k++) {
    if (LMT_ENDS(k, &err, "copy_if")) lmt_raise(L, &err);
    if ((at = lmt_placeof(L, t, real, k, lo, hi, &err)) < 0) continue;
    mt_number x = mt_load_element(t->dtype, base + at * (int64_t)size);
    mask[k] = x.isint ? x.i != 0 : x.f != 0;
  }
  lua_pop(L, 2);
}

/* By a function of the index. */
static void mask_of_function (lua_State *L, int i, int64_t n) {
  char *mask = push_mask(L, n);
  LMT_NOERR(err);
  for (int64_t k = 0; k < n; k++) {
    if (LMT_ENDS(k, &err, "copy_if")) lmt_raise(L, &err);
    lua_pushvalue(L, i);
    lua_pushinteger(L, k);
    lua_call(L, 1, 1);
    mask[k] = (char)lua_toboolean(L, -1);
    lua_pop(L, 1);
  }
}

static void push_mask_of (lua_State *L, int i, int64_t n) {
  if (lua_isfunction(L, i)) mask_of_function(L, i, n);
  else if (lmt_isclass(L, i, LMT_TENSOR)) mask_of_tensor(L, i, n);
  else
    luaL_error(L, "copy_if: pred: a tensor or a function of the index expected, got %s",
               lmt_kindname(L, i));
}

/* ---------------------------------------------------------------- the copy */

/* Raises unless the copy of [tiled copy,] src, dst, the arguments from `first` to `last`,
** is legal. */
static void prove (lua_State *L, int first, int last) {
  luaL_checkstack(L, 8, NULL);
  int base = lua_gettop(L);
  lua_pushcfunction(L, lmt_plan);
  for (int i = first; i <= last; i++) lua_pushvalue(L, i);
  if (lua_pcall(L, last - first + 1, 2, 0) != LUA_OK) {
    if (!lmt_isstring(L, -1)) lua_error(L);
    luaL_error(L, "%s", lua_tostring(L, -1));
  }
  if (lua_isnil(L, base + 1)) luaL_error(L, "%s", lua_tostring(L, base + 2));
  lmt_freeplan(L, base + 1);
  lua_settop(L, base);
}

/* Where element lo of the tensor at `i` lies, after lmt_onhost left what is at `copy`. */
static char *base_of (lua_State *L, int i, int copy, int64_t lo) {
  const lmt_tensor *t = lmt_totensor(L, i);
  return lua_isnil(L, copy) ? lmt_address(t, lo) : lua_touserdata(L, copy);
}

/* The elements of the tensor at src, from lo on, to that behind it, from `low` on, whose
** copies in host memory are at the index `copies` and behind it. */
static void move_each (lua_State *L, int src, const char *mask, int copies) {
  int64_t lo, hi, low, high, from, to;
  LMT_NOERR(err);
  const lmt_real *rs = lmt_pushreal(L, src), *rd = lmt_pushreal(L, src + 1);
  const lmt_tensor *s = lmt_totensor(L, src), *d = lmt_totensor(L, src + 1);
  int64_t n = mt_size(d->layout), size = (int64_t)mt_dtype_size(d->dtype);
  lmt_range(L, s, &lo, &hi);
  lmt_range(L, d, &low, &high);
  const char *a = base_of(L, src, copies, lo);
  char *b = base_of(L, src + 1, copies + 1, low);
  for (int64_t i = 0; i < n; i++) {
    if (LMT_ENDS(i, &err, "copy_if")) lmt_raise(L, &err);
    if (!mask[i]) continue;
    from = lmt_placeof(L, s, rs, i, lo, hi, &err);
    to = lmt_placeof(L, d, rd, i, low, high, &err);
    if (from >= 0 && to >= 0) memcpy(b + to * size, a + from * size, (size_t)size);
  }
  mt_device *device = d->buffer->device->d;
  if (!mt_device_is_host(device) && high > low &&
      mt_upload(device, lmt_address(d, low), b, (size_t)((high - low) * size), &err))
    lmt_raise(L, &err);
}

/* From the tensor at src to that behind it, where the mask on the top lets pass. */
static void move (lua_State *L, int src) {
  int64_t lo, hi;
  int mask = lua_gettop(L);
  for (int i = src; i <= src + 1; i++) {
    lmt_range(L, lmt_totensor(L, i), &lo, &hi);
    lmt_onhost(L, i, lo, hi);
  }
  move_each(L, src, lua_touserdata(L, mask), mask + 1);
}

/* copy_if([tiled_copy,] pred, src, dst) */
int lmt_copyif (lua_State *L) {
  int pred = lmt_istiledcopy(L, 1) ? 2 : 1, src = pred + 1;
  LMT_COUNT(L, src + 1, "copy_if",
            pred == 2 ? "tiled_copy, pred, src, dst" : "pred, src, dst");
  lua_settop(L, src + 1);
  const lmt_tensor *s = lmt_totensor(L, src), *d = lmt_totensor(L, src + 1);
  if (s->dtype != d->dtype)
    luaL_error(L, "copy_if: src has the type %s, dst %s: it converts nothing",
               mt_dtype_name(s->dtype), mt_dtype_name(d->dtype));
  int64_t n = mt_size(d->layout);
  if (pred == 2) { /* src and dst behind the tiled copy */
    lua_pushvalue(L, 1);
    lua_pushvalue(L, src);
    lua_pushvalue(L, src + 1);
    prove(L, src + 2, src + 4);
  } else {
    prove(L, src, src + 1);
  }
  push_mask_of(L, pred, n);
  move(L, src);
  return 0;
}

/* ---------------------------------------------------------------- options */

static void push_side (lua_State *L, const char *op, const char *key) {
  lua_getfield(L, 1, key);
  if (!lmt_isclass(L, -1, LMT_TENSOR))
    luaL_error(L, "%s: %s: a tensor expected, got %s", op, key, lmt_kindname(L, -1));
}

/* The option `rounding`. */
static mt_rounding rounding_option (lua_State *L, const char *op) {
  int r = MT_ROUND_NEAREST;
  lua_getfield(L, 1, "rounding");
  if (!lua_isnil(L, -1)) {
    const char *name = lmt_isstring(L, -1) ? lua_tostring(L, -1) : "";
    while (r <= MT_ROUND_UP && strcmp(mt_rounding_name((mt_rounding)r), name) != 0) r++;
    if (r > MT_ROUND_UP)
      luaL_error(L,
                 "%s: rounding: \"nearest\", \"zero\", \"down\" or \"up\" expected, "
                 "got %s",
                 op, luaL_tolstring(L, -1, NULL));
  }
  lua_pop(L, 1);
  return (mt_rounding)r;
}

/* op{ [copy =,] src =, dst = [, rounding =] }, of a copy also pred or stream: the
** arguments of one of the two on the stack; true: of copy_if. */
bool lmt_copyoptions (lua_State *L, const char *op, mt_rounding *rounding) {
  static const char *const keys[] = {"copy", "src",    "dst", "rounding",
                                     "pred", "stream", NULL};
  static const char *const plan_keys[] = {"copy", "src", "dst", "rounding", NULL};
  LMT_COUNT(L, 1, op, "options");
  lmt_checkkeys(L, 1, op, strcmp(op, "plan") == 0 ? plan_keys : keys);
  *rounding = rounding_option(L, op);
  lua_getfield(L, 1, "copy");
  bool tiled = !lua_isnil(L, -1);
  if (tiled && !lmt_istiledcopy(L, -1))
    luaL_error(L, "%s: copy: a tiled copy expected, got %s", op, lmt_kindname(L, -1));
  if (!tiled) lua_pop(L, 1);
  bool chosen = lua_getfield(L, 1, "pred") != LUA_TNIL;
  if (!chosen) lua_pop(L, 1);
  push_side(L, op, "src");
  push_side(L, op, "dst");
  if (lua_getfield(L, 1, "stream") == LUA_TNIL) lua_pop(L, 1);
  else if (chosen) luaL_error(L, "copy: pred and stream: a copy by a predicate waits");
  lua_remove(L, 1);
  return chosen;
}

/* T:predicate(): 1 where T is real, in the shape of T, on its device | nil, message,
** code */
static int l_predicate (lua_State *L) {
  mt_layout shape, layout;
  int64_t low, high;
  LMT_NOERR(err);
  lua_settop(L, 1);
  const lmt_tensor *t = lmt_totensor(L, 1);
  if (mt_shape(&shape, t->layout, &err) || mt_layout_left(&layout, shape.node, &err))
    return lmt_raise(L, &err);
  lua_getiuservalue(L, 1, 1);
  lua_getiuservalue(L, 2, 1);
  if (lmt_newtensor(L, 3, MT_u8, layout.node, &err) == NULL) return lmt_fail(L, &err);
  int64_t n = mt_size(layout.node);
  lmt_checkwork(L, "predicate", (uint64_t)n);
  const lmt_real *real = lmt_pushreal(L, 1);
  const lmt_tensor *p = lmt_totensor(L, 4);
  lmt_range(L, p, &low, &high);
  char *bits = lmt_onhost(L, 4, low, high);
  for (int64_t i = 0; i < n; i++) bits[i] = real == NULL || lmt_isreal(real, i);
  p = lmt_totensor(L, 4);
  mt_device *device = p->buffer->device->d;
  if (!mt_device_is_host(device) && n > 0 &&
      mt_upload(device, lmt_address(p, 0), bits, (size_t)n, &err))
    return lmt_raise(L, &err);
  lua_settop(L, 4);
  return 1;
}

#define ROWS_COPYIF
#include "binding/rows.h"

void lmt_open_copyif (lua_State *L) { lmt_addrows(L, rows); }
