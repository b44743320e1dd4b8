/*
** tensor_data.c - what is in a tensor: filling, reading as a table, moving to another
** device.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "binding/lmt.h"
#include "binding/plan.h"
#include "binding/host.h"
#include "binding/view.h"
#include "plan/device.h"

/* Pushes the device of the tensor at `i`. */
static void push_device_of (lua_State *L, int i) {
  lua_getiuservalue(L, i, 1);
  lua_getiuservalue(L, -1, 1);
  lua_remove(L, -2);
}

static mt_device *device_of (const lmt_tensor *t) { return t->buffer->device->d; }
static bool is_host (const lmt_tensor *t) { return mt_device_is_host(device_of(t)); }

/* ---------------------------------------------------------------- tables */

char *lmt_onhost (lua_State *L, int i, int64_t lo, int64_t hi) {
  const lmt_tensor *t = lmt_totensor(L, i);
  size_t bytes = (size_t)(hi - lo) * mt_dtype_size(t->dtype);
  LMT_NOERR(err);
  lmt_checkidle(L, t->buffer->device, "access to elements");
  if (mt_device_is_host(device_of(t))) {
    lua_pushnil(L);
    return lmt_address(t, lo);
  }
  i = lua_absindex(L, i);
  char *copy = lua_newuserdatauv(L, bytes, 0);
  t = lmt_totensor(L, i);
  if (bytes && mt_download(device_of(t), copy, lmt_address(t, lo), bytes, &err))
    lmt_raise(L, &err);
  return copy;
}

enum { MOSTELEMENTS = 1 << 22 }; /* of a table, which Lua makes at once */

static void check_count (lua_State *L, const lmt_tensor *t) {
  if (mt_size(t->layout) <= MOSTELEMENTS) return;
  lmt_pushtext(L, t->layout);
  luaL_error(L,
             "T:totable: %s has %I elements, at most %d become a table\n"
             "take a part of it: a slice, or a tile",
             lua_tostring(L, -1), (LUAI_UACINT)mt_size(t->layout), (int)MOSTELEMENTS);
}

int64_t lmt_placeof (lua_State *L, const lmt_tensor *t, const lmt_real *real, int64_t i,
                     int64_t lo, int64_t hi, mt_err *err) {
  int64_t at;
  if (real && !lmt_isreal(real, i)) return -1;
  if (mt_at(&at, t->layout, i, err)) lmt_raise(L, err);
  if (at < lo || at >= hi)
    luaL_error(L, "tensor: element %I lies outside of its buffer", (LUAI_UACINT)i);
  return at - lo;
}

/* T:totable(): the elements T(0), T(1), ... in one sequence; nil for those that are not
** real. */
static int l_totable (lua_State *L) {
  int64_t lo, hi, at;
  LMT_NOERR(err);
  const lmt_tensor *t = lmt_totensor(L, 1);
  int64_t n = mt_size(t->layout), size = (int64_t)mt_dtype_size(t->dtype);
  lmt_range(L, t, &lo, &hi);
  lmt_checkwork(L, "totable", lmt_times((uint64_t)n, LMT_VALUEWORK));
  check_count(L, t);
  lua_settop(L, 1);
  lua_createtable(L, (int)n, 0);
  const lmt_real *real = lmt_pushreal(L, 1);
  const char *base = lmt_onhost(L, 1, lo, hi);
  for (int64_t i = 0; i < n; i++) {
    if (LMT_ENDS(i, &err, "T:totable")) return lmt_raise(L, &err);
    if ((at = lmt_placeof(L, t, real, i, lo, hi, &err)) < 0) continue;
    lmt_pushnumber(L, t->dtype, mt_load_element(t->dtype, base + at * size));
    lua_rawseti(L, 2, i + 1);
  }
  lua_settop(L, 2);
  return 1;
}

/* Pushes a block of the n elements that the table at 2 has, before any is written: the
** table may be one that answers with a function of a script. What is not real may be nil,
** at the end, too. */
static const char *read_values (lua_State *L, mt_dtype dtype, int64_t n) {
  size_t size = mt_dtype_size(dtype), bytes = 0;
  LMT_NOERR(err);
  const lmt_real *real = lmt_pushreal(L, 1);
  lua_Integer given = luaL_len(L, 2);
  if ((real ? given > n : given != n) || __builtin_mul_overflow((size_t)n, size, &bytes))
    luaL_error(L, "fill: %I values expected, got %I", (LUAI_UACINT)n, (LUAI_UACINT)given);
  lmt_checkwork(L, "fill", lmt_times((uint64_t)n, LMT_VALUEWORK));
  char *block = lua_newuserdatauv(L, bytes, 0);
  for (int64_t i = 0; i < n; i++, lua_pop(L, 1)) {
    lua_geti(L, 2, i + 1);
    if (real && !lmt_isreal(real, i)) continue;
    if (mt_store_element(dtype, block + (size_t)i * size, lmt_tonumber(L, -1), &err) ||
        LMT_ENDS(i, &err, "fill"))
      lmt_raise(L, &err);
  }
  return block;
}

/* The elements of the tensor at 1 in order, from those at `from`, `step` bytes apart: for
** layouts that no copy takes, too. */
static int scatter (lua_State *L, const char *from, size_t step) {
  int64_t lo, hi, at;
  LMT_NOERR(err);
  const lmt_tensor *t = lmt_totensor(L, 1);
  int64_t n = mt_size(t->layout), size = (int64_t)mt_dtype_size(t->dtype);
  lmt_range(L, t, &lo, &hi);
  lmt_checkwork(L, "fill", (uint64_t)n);
  const lmt_real *real = lmt_pushreal(L, 1);
  char *base = lmt_onhost(L, 1, lo, hi);
  t = lmt_totensor(L, 1);
  for (int64_t i = 0; i < n; i++, from += step) {
    if (LMT_ENDS(i, &err, "fill")) return lmt_raise(L, &err);
    if ((at = lmt_placeof(L, t, real, i, lo, hi, &err)) >= 0)
      memcpy(base + at * size, from, (size_t)size);
  }
  if (!mt_device_is_host(device_of(t)) && hi > lo &&
      mt_upload(device_of(t), lmt_address(t, lo), base, (size_t)((hi - lo) * size), &err))
    return lmt_raise(L, &err);
  lua_settop(L, 1);
  return 1;
}

/* ---------------------------------------------------------------- fill */

/* The layout with the shape of a and all strides 0. */
static void broadcast (mt_layout *out, const mt_node *a) {
  mt_copy_value(out, a);
  for (mt_node *p = out->node; p < mt_next(out->node); p++) p->stride = 0;
}

/* Copies `from` of the tensor at 4 to `to`, `offset` elements on, of the tensor at 1. */
static mt_status put (lua_State *L, const mt_node *from, const mt_node *to,
                      int64_t offset, mt_err *err) {
  lmt_pushview(L, 4, from, 0);
  lmt_pushview(L, 1, to, offset);
  mt_status s = lmt_copynow(L, lua_gettop(L) - 1, lua_gettop(L), err);
  lua_pop(L, 2);
  return s;
}

/* n elements that lie together, v at a time, and the rest. */
static mt_status put_run (lua_State *L, int64_t n, int64_t v, mt_err *err) {
  const mt_node rest = {.tag = MT_LEAF, .span = 1, .shape = n % v, .stride = 1};
  mt_layout shape, from, to;
  mt_status s = mt_ints(&shape, 2, (const int64_t[]){v, n / v}, err);
  if (s == MT_OK) s = mt_layout_left(&from, shape.node, err); /* (v,n/v):(1,v) */
  if (s != MT_OK) return s;
  mt_copy_value(&to, from.node);
  from.node[2].stride = 0;
  s = put(L, from.node, to.node, 0, err);
  return s != MT_OK || n % v == 0 ? s : put(L, &rest, &rest, n - n % v, err);
}

/* One value into the tensor at 1, which is ragged or swizzled. */
static mt_status put_real (lua_State *L, mt_err *err) {
  mt_layout a;
  const mt_node *t = lmt_totensor(L, 1)->layout;
  broadcast(&a, lmt_base(t));
  lmt_pushview(L, 4, a.node, 0);
  mt_status s = lmt_copynow(L, lua_gettop(L), 1, err);
  lua_pop(L, 1);
  return s;
}

/* One value into the tensor at 1: where its elements lie together, 16 bytes at a time. */
static mt_status put_value (lua_State *L, int64_t v, mt_err *err) {
  mt_layout a;
  const lmt_tensor *t = lmt_totensor(L, 1);
  if (t->bounded || lmt_isrooted(t->layout)) return put_real(L, err);
  mt_status s = mt_coalesce(&a, t->layout, NULL, err);
  if (s != MT_OK) return s;
  if (a.node->tag == MT_LEAF && a.node->stride == 1 && a.node->shape >= 2 * v)
    return put_run(L, a.node->shape, v, err);
  broadcast(&a, t->layout);
  return put(L, a.node, t->layout, 0, err);
}

/* Whether no copy is legal for the layout, and not that the world has no room for it. */
static bool is_refusal (mt_status s) {
  return s == MT_EINJECTIVE || s == MT_EINEXACT || s == MT_EUNSUPPORTED ||
         s == MT_ETOOBIG || s == MT_EALIGN;
}

/* Whether the argument at 3 asks for rows: "right", as of layouts, or "left". */
static bool by_rows (lua_State *L) {
  if (lua_isnoneornil(L, 3)) return false;
  const char *order = lmt_isstring(L, 3) ? lua_tostring(L, 3) : "";
  bool right = strcmp(order, "right") == 0;
  if (!right && strcmp(order, "left") != 0)
    luaL_error(L, "fill: order: \"left\" or \"right\" expected, got %s",
               luaL_tolstring(L, 3, NULL));
  return right;
}

/* The same of the tensor with its modes, flattened, from the last to the first. */
static int fill_rows (lua_State *L) {
  lua_settop(L, 2);
  lua_getfield(L, 1, "flatten");
  lua_pushvalue(L, 1);
  lua_call(L, 1, 1);
  int n = mt_rank(lmt_totensor(L, 3)->layout);
  luaL_checkstack(L, n + 4, NULL);
  lua_getfield(L, 3, "select");
  lua_pushvalue(L, 3);
  for (int i = n; i > 0; i--) lua_pushinteger(L, i);
  lua_call(L, n + 1, 1);
  lua_getfield(L, 4, "fill");
  lua_pushvalue(L, 4);
  lua_pushvalue(L, 2);
  lua_call(L, 2, 0);
  lua_settop(L, 1);
  return 1;
}

/* A mode that goes on where `run` elements end; NULL: there is none. */
static const mt_node *next_of_run (const mt_node *a, int64_t run) {
  for (const mt_node *p = a; p < mt_next(a); p++)
    if (p->tag == MT_LEAF && p->ring == MT_Z && p->shape > 1 && p->stride == run)
      return p;
  return NULL;
}

/* Whether the n elements lie together, in whatever order, in the buffer. */
static bool is_run (const lmt_tensor *t, int64_t n) {
  const int64_t have = (int64_t)(t->buffer->bytes / mt_dtype_size(t->dtype));
  int64_t run = 1;
  if (t->bounded || lmt_isrooted(t->layout)) return false;
  for (const mt_node *p; run < n && (p = next_of_run(t->layout, run));) run *= p->shape;
  return run == n && t->offset >= 0 && n <= have && t->offset <= have - n;
}

/* What lies together a GPU may fill without a kernel; MT_EUNSUPPORTED, and no error is
** told: it is none, or does not. */
static mt_status fill_run (lua_State *L, const char raw[16], mt_err *err) {
  const lmt_tensor *t = lmt_totensor(L, 1);
  lmt_device *device = t->buffer->device;
  const int64_t n = mt_size(t->layout);
  if (is_host(t) || device->recording || !is_run(t, n)) return MT_EUNSUPPORTED;
  lmt_checkwork(L, "copy", (uint64_t)n);
  lmt_listen(err, device->state);
  mt_status s = lmt_permitlaunches(device->state, 1, err);
  if (s != MT_OK) return s;
  s = mt_device_repeat(device->d, lmt_address(t, 0), raw,
                       (size_t)n * mt_dtype_size(t->dtype), err);
  if (s == MT_EUNSUPPORTED) device->state->launches--;
  return s == MT_OK ? mt_wait_own(device->d, err) : s;
}

/* Pushes a tensor of the 16 bytes, on the device at 3: what a GPU has for that; or memory
** of its own, where a graph is to find it again. *unit: which one of the GPU's it is.
** NULL: `err`. */
static lmt_tensor *push_source (lua_State *L, mt_dtype dtype, const char raw[16],
                                size_t *unit, mt_err *err) {
  int tries = 0;
  void *at = NULL;
  mt_status s;
  const bool records = lmt_todevice(L, 3)->recording != NULL;
  const mt_node some = {.tag = MT_LEAF,
                        .span = 1,
                        .shape = (int64_t)(16 / mt_dtype_size(dtype)),
                        .stride = 1};
  lmt_listen(err, lmt_todevice(L, 3)->state);
  do {
    mt_device *d = lmt_todevice(L, 3)->d;
    s = records ? MT_EUNSUPPORTED : mt_device_unit(d, &at, raw, err);
    *unit = d->units;
  } while (lmt_again(L, s, &tries, err));
  if (s == MT_OK) {
    lmt_lendbuffer(L, 3, at, 16);
    lmt_tensor *lent = lmt_pushtensor(L, -1, dtype, &some, 0);
    return lua_remove(L, -2), lent;
  }
  lmt_tensor *own = s == MT_EUNSUPPORTED ? lmt_newtensor(L, 3, dtype, &some, err) : NULL;
  if (own && mt_graph_upload(device_of(own), lmt_address(own, 0), raw, 16, err))
    return NULL;
  return own;
}

/* One value into the tensor at 1, whose device is at 3: a copy from a tensor of 16 bytes,
** again and again, so that it runs where T lies. What a finalizer fills in between takes
** the GPU's unit: then it is done once more. */
static mt_status fill_value (lua_State *L, const char raw[16], mt_err *err) {
  const mt_dtype dtype = lmt_totensor(L, 1)->dtype;
  size_t unit;
  mt_status s = fill_run(L, raw, err);
  if (s != MT_EUNSUPPORTED || err->status != MT_OK) return s;
  do {
    lua_settop(L, 3);
    lmt_tensor *src = push_source(L, dtype, raw, &unit, err);
    if (src == NULL) return err->status;
    s = put_value(L, (int64_t)(16 / mt_dtype_size(dtype)), err);
    if (!lmt_totensor(L, 1)->buffer->device->recording) lmt_freebuffer(src->buffer);
  } while (s == MT_OK && lmt_todevice(L, 3)->d->units != unit);
  return s;
}

/* T:fill(value), T:fill({ T(0), T(1), ... } [, "right"]): returns T. */
static int l_fill (lua_State *L) {
  char raw[16];
  LMT_NOERR(err);
  if (by_rows(L)) return fill_rows(L);
  const lmt_tensor *t = lmt_totensor(L, 1);
  size_t size = mt_dtype_size(t->dtype);
  lua_settop(L, 2);
  if (lmt_istable(L, 2))
    return scatter(L, read_values(L, t->dtype, mt_size(t->layout)), size);
  if (mt_store_element(t->dtype, raw, lmt_tonumber(L, 2), &err))
    return lmt_raise(L, &err);
  if (mt_size(t->layout) == 0) return lua_settop(L, 1), 1;
  push_device_of(L, 1);
  for (size_t i = size; i < sizeof raw; i++) raw[i] = raw[i - size];
  mt_status s = fill_value(L, raw, &err);
  t = lmt_totensor(L, 1);
  if (lmt_isrooted(t->layout) && is_refusal(s)) return scatter(L, raw, 0);
  if (s != MT_OK) return lmt_raise(L, &err);
  lua_settop(L, 1);
  return 1;
}

/* ---------------------------------------------------------------- to */

enum { PIECE = 1 << 20 };

/* Between two devices of which neither is the host: through a piece of host memory. */
static mt_status transfer_staged (mt_device *to, char *dst, mt_device *from,
                                  const char *src, size_t bytes, void *piece,
                                  mt_err *err) {
  mt_status s = MT_OK;
  mt_stint stint;
  mt_stint_begin(&stint, "copy", "bytes", (double)bytes, err);
  while (s == MT_OK && bytes > 0) {
    size_t n = bytes < PIECE ? bytes : PIECE;
    s = mt_download(from, piece, src, n, err);
    if (s == MT_OK) s = mt_upload(to, dst, piece, n, err);
    src += n, dst += n, bytes -= n;
    stint.done += (double)n;
  }
  mt_stint_end(&stint, err);
  return s;
}

/* Between the host and another device: as bytes. */
static mt_status transfer_run (mt_device *to, void *dst, mt_device *from, void *src,
                               size_t bytes, mt_err *err) {
  mt_plan *p;
  const mt_node run = {.tag = MT_LEAF, .span = 1, .shape = (int64_t)bytes, .stride = 1};
  const mt_tensor here = {.layout = &run, .dtype = MT_u8, .data = src, .bytes = bytes};
  mt_tensor there = here;
  there.data = dst;
  mt_status s = mt_plan_transfer(&p, from, &here, to, &there, err);
  if (s == MT_OK) s = mt_plan_launch(p, NULL, err);
  mt_plan_free(p);
  return s;
}

/* All that the tensor at `to` has, from the one at `from`, element lo on. */
static mt_status transfer (lua_State *L, int from, int64_t lo, int to, mt_err *err) {
  void *piece = NULL;
  const lmt_tensor *src = lmt_totensor(L, from), *dst = lmt_totensor(L, to);
  bool staged = !is_host(src) && !is_host(dst);
  size_t bytes = dst->buffer->bytes;
  if (bytes == 0) return MT_OK;
  if (staged) piece = lua_newuserdatauv(L, bytes < PIECE ? bytes : PIECE, 0);
  src = lmt_totensor(L, from);
  dst = lmt_totensor(L, to);
  mt_device *here = device_of(src), *there = device_of(dst);
  void *p = lmt_address(src, lo), *q = dst->buffer->data;
  lmt_listen(err, src->buffer->device->state);
  if (staged) return transfer_staged(there, q, here, p, bytes, piece, err);
  if (is_host(src) && is_host(dst)) return mt_upload(there, q, p, bytes, err);
  return transfer_run(there, q, here, p, bytes, err);
}

/* A compact copy of the tensor at 1 on the device at 3, pushed, or, if both are the host
** or neither is, on its own device; NULL: `err`. */
static LMT_APART lmt_tensor *pack (lua_State *L, const lmt_device *to, mt_err *err) {
  mt_layout shape, left;
  const lmt_tensor *t = lmt_totensor(L, 1);
  if (mt_shape(&shape, t->layout, err) || mt_layout_left(&left, shape.node, err))
    return NULL;
  if (mt_device_is_host(to->d) != is_host(t)) lua_pushvalue(L, 3);
  else push_device_of(L, 1);
  lmt_tensor *packed = lmt_newtensor(L, -1, t->dtype, left.node, err);
  if (packed == NULL || lmt_copynow(L, 1, lua_gettop(L), err)) return NULL;
  return packed;
}

/* The tensor on the top gets the bounds of the one at 1. */
static void keep_bounds (lua_State *L) {
  const mt_bounds *b = lmt_bounds(L, 1);
  if (b == NULL) return;
  lmt_pushbounded(L, -1, lmt_totensor(L, -1)->layout, 0, b)->view = false;
  lua_remove(L, -2);
}

/* T:to(device) -> a tensor with the same elements there; T itself if it is there already;
** nil, message, code. The layout stays, unless it reaches more than twice its size: then
** the elements are packed, the first mode fastest. What is not real stays so. */
static int l_to (lua_State *L) {
  int64_t lo, hi;
  int from = 1;
  LMT_NOERR(err);
  const lmt_tensor *t = lmt_totensor(L, 1);
  lua_settop(L, 2);
  lmt_device *to = lmt_optdevice(L, 2, &err); /* at 3 */
  if (to == NULL) return lmt_fail(L, &err);
  if (to == t->buffer->device) return lua_settop(L, 1), 1;
  lmt_checkidle(L, t->buffer->device, "T:to");
  lmt_checkidle(L, to, "T:to");
  lmt_range(L, t, &lo, &hi);
  if ((hi - lo) / 2 > mt_size(t->layout)) {
    t = pack(L, to, &err);
    if (t == NULL) return lmt_fail(L, &err);
    if (t->buffer->device == to) return keep_bounds(L), 1;
    from = lua_gettop(L);
    lmt_range(L, t, &lo, &hi);
  }
  size_t bytes = (size_t)(hi - lo) * mt_dtype_size(t->dtype);
  if (lmt_newbuffer(L, 3, 0, bytes, &err) == NULL) return lmt_fail(L, &err);
  lmt_pushtensor(L, -1, t->dtype, t->layout, -lo);
  int made = lua_gettop(L);
  mt_status s = transfer(L, from, lo, made, &err);
  if (from != 1) lmt_freebuffer(t->buffer);
  lua_settop(L, made);
  keep_bounds(L);
  return s == MT_OK ? 1 : lmt_fail(L, &err);
}

#define ROWS_MOVE
#include "binding/rows.h"

void lmt_open_move (lua_State *L) { lmt_addrows(L, rows); }
