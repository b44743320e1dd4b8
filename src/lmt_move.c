/*
** lmt_move.c - what is in a tensor: filling, reading as a table, moving to another
** device.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "lmt.h"

/* Pushes the device of the tensor at `i`. */
static void push_device_of (lua_State *L, int i) {
  lua_getiuservalue(L, i, 1);
  lua_getiuservalue(L, -1, 1);
  lua_remove(L, -2);
}

static mt_device *device_of (const lmt_tensor *t) { return t->buffer->device->d; }

/* ---------------------------------------------------------------- tables */

char *lmt_onhost (lua_State *L, const lmt_tensor *t, int64_t lo, int64_t hi) {
  size_t size = mt_dtype_size(t->dtype), bytes = (size_t)(hi - lo) * size;
  LMT_NOERR(err);
  lmt_checkidle(L, t->buffer->device, "access to elements");
  if (mt_device_is_host(device_of(t))) {
    lua_pushnil(L);
    return lmt_address(t, lo);
  }
  char *copy = lua_newuserdatauv(L, bytes, 0);
  if (bytes && mt_download(device_of(t), copy, lmt_address(t, lo), bytes, &err))
    lmt_raise(L, &err);
  return copy;
}

/* T:totable(): the elements T(0), T(1), ... in one sequence. */
static int l_totable (lua_State *L) {
  int64_t lo, hi, at;
  LMT_NOERR(err);
  const lmt_tensor *t = lmt_totensor(L, 1);
  int64_t n = mt_size(t->layout), size = (int64_t)mt_dtype_size(t->dtype);
  lmt_range(L, t, &lo, &hi);
  const char *base = lmt_onhost(L, t, lo, hi);
  lua_createtable(L, n < INT32_MAX ? (int)n : INT32_MAX, 0);
  for (int64_t i = 0; i < n; i++) {
    if (mt_at(&at, t->layout, i, &err)) return lmt_raise(L, &err);
    lmt_pushnumber(L, t->dtype, mt_load_element(t->dtype, base + (at - lo) * size));
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* The elements from the table at 2, or all from one value: for layouts that no copy
** takes, too. */
static int fill_each (lua_State *L, const lmt_tensor *t) {
  int64_t lo, hi, at;
  LMT_NOERR(err);
  int64_t n = mt_size(t->layout), size = (int64_t)mt_dtype_size(t->dtype);
  bool table = lmt_istable(L, 2);
  if (table && luaL_len(L, 2) != n)
    return luaL_error(L, "fill: %I values expected, got %I", (LUAI_UACINT)n,
                      (LUAI_UACINT)luaL_len(L, 2));
  lmt_range(L, t, &lo, &hi);
  char *base = lmt_onhost(L, t, lo, hi);
  for (int64_t i = 0; i < n; i++, lua_pop(L, 1)) {
    if (table) lua_geti(L, 2, i + 1);
    else lua_pushvalue(L, 2);
    if (mt_at(&at, t->layout, i, &err) ||
        mt_store_element(t->dtype, base + (at - lo) * size, lmt_tonumber(L, -1), &err))
      return lmt_raise(L, &err);
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
  const mt_node rest = { .tag = MT_LEAF, .span = 1, .shape = n % v, .stride = 1 };
  mt_layout shape, from, to;
  mt_status s = mt_ints(&shape, 2, (const int64_t[]){ v, n / v }, err);
  if (s == MT_OK) s = mt_layout_left(&from, shape.node, err);         /* (v,n/v):(1,v) */
  if (s != MT_OK) return s;
  mt_copy_value(&to, from.node);
  from.node[2].stride = 0;
  s = put(L, from.node, to.node, 0, err);
  return s != MT_OK || n % v == 0 ? s : put(L, &rest, &rest, n - n % v, err);
}

/* One value into the tensor at 1: where its elements lie together, 16 bytes at a time. */
static mt_status put_value (lua_State *L, int64_t v, mt_err *err) {
  mt_layout a;
  const lmt_tensor *t = lmt_totensor(L, 1);
  mt_status s = mt_coalesce(&a, t->layout, NULL, err);
  if (s != MT_OK) return s;
  if (a.node->tag == MT_LEAF && a.node->stride == 1 && a.node->shape >= 2 * v)
    return put_run(L, a.node->shape, v, err);
  broadcast(&a, t->layout);
  return put(L, a.node, t->layout, 0, err);
}

/* T:fill(value), T:fill{ T(0), T(1), ... }: returns T. One value is a copy from a tensor
** of 16 bytes, again and again, so that it runs where T lies. */
static int l_fill (lua_State *L) {
  char raw[16];
  LMT_NOERR(err);
  const lmt_tensor *t = lmt_totensor(L, 1);
  lua_settop(L, 2);
  if (lmt_istable(L, 2) || t->layout->tag == MT_SWIZZLE) return fill_each(L, t);
  if (mt_store_element(t->dtype, raw, lmt_tonumber(L, 2), &err))
    return lmt_raise(L, &err);
  if (mt_size(t->layout) == 0) return lua_settop(L, 1), 1;
  push_device_of(L, 1);
  size_t size = mt_dtype_size(t->dtype);
  for (size_t i = size; i < sizeof raw; i++) raw[i] = raw[i - size];
  const mt_node some = { .tag = MT_LEAF, .span = 1, .shape = (int64_t)(16 / size),
                         .stride = 1 };
  lmt_tensor *src = lmt_newtensor(L, 3, t->dtype, &some, &err);
  if (src == NULL) return lmt_raise(L, &err);
  mt_status s = mt_graph_upload(device_of(t), lmt_address(src, 0), raw, sizeof raw, &err);
  if (s == MT_OK) s = put_value(L, some.shape, &err);
  if (!t->buffer->device->recording) lmt_freebuffer(src->buffer);
  if (s != MT_OK) return lmt_raise(L, &err);
  lua_settop(L, 1);
  return 1;
}

/* ---------------------------------------------------------------- to */

/* Between two devices of which neither is the host: through a piece of host memory. */
static mt_status transfer_staged (lua_State *L, mt_device *to, char *dst, mt_device *from,
                                  const char *src, size_t bytes, mt_err *err) {
  enum { PIECE = 1 << 20 };
  mt_status s = MT_OK;
  void *piece = lua_newuserdatauv(L, bytes < PIECE ? bytes : PIECE, 0);
  while (s == MT_OK && bytes > 0) {
    size_t n = bytes < PIECE ? bytes : PIECE;
    s = mt_download(from, piece, src, n, err);
    if (s == MT_OK) s = mt_upload(to, dst, piece, n, err);
    src += n, dst += n, bytes -= n;
  }
  lua_pop(L, 1);
  return s;
}

/* Between the host and another device: as bytes. */
static mt_status transfer_run (mt_device *to, void *dst, mt_device *from, void *src,
                               size_t bytes, mt_err *err) {
  mt_plan *p;
  const mt_node run = { .tag = MT_LEAF, .span = 1, .shape = (int64_t)bytes, .stride = 1 };
  const mt_tensor here = { .layout = &run, .dtype = MT_u8, .data = src, .bytes = bytes };
  mt_tensor there = here;
  there.data = dst;
  mt_status s = mt_plan_transfer(&p, from, &here, to, &there, err);
  if (s == MT_OK) s = mt_plan_launch(p, NULL, err);
  mt_plan_free(p);
  return s;
}

static mt_status transfer (lua_State *L, mt_device *to, void *dst, mt_device *from,
                           void *src, size_t bytes, mt_err *err) {
  if (bytes == 0) return MT_OK;
  if (mt_device_is_host(from) != mt_device_is_host(to))
    return transfer_run(to, dst, from, src, bytes, err);
  if (mt_device_is_host(from)) return mt_upload(to, dst, src, bytes, err);
  return transfer_staged(L, to, dst, from, src, bytes, err);
}

/* A compact copy of the tensor at 1 on the device at 3, pushed, or, if both are the host
** or neither is, on its own device; NULL: `err`. */
static lmt_tensor *pack (lua_State *L, mt_device *to, mt_err *err) {
  mt_layout shape, left;
  const lmt_tensor *t = lmt_totensor(L, 1);
  if (mt_shape(&shape, t->layout, err) || mt_layout_left(&left, shape.node, err))
    return NULL;
  if (mt_device_is_host(to) != mt_device_is_host(device_of(t))) lua_pushvalue(L, 3);
  else push_device_of(L, 1);
  lmt_tensor *packed = lmt_newtensor(L, -1, t->dtype, left.node, err);
  if (packed == NULL || lmt_copynow(L, 1, lua_gettop(L), err)) return NULL;
  return packed;
}

/* T:to(device) -> a tensor with the same elements there; T itself if it is there already;
** nil, message, code. The layout stays, unless it reaches more than twice its size: then
** the elements are packed, the first mode fastest. */
static int l_to (lua_State *L) {
  int64_t lo, hi;
  LMT_NOERR(err);
  const lmt_tensor *t = lmt_totensor(L, 1);
  lua_settop(L, 2);
  lmt_device *to = lmt_optdevice(L, 2, &err);                    /* at 3 */
  if (to == NULL) return lmt_fail(L, &err);
  if (to == t->buffer->device) return lua_settop(L, 1), 1;
  lmt_checkidle(L, t->buffer->device, "T:to");
  lmt_checkidle(L, to, "T:to");
  lmt_range(L, t, &lo, &hi);
  if ((hi - lo) / 2 > mt_size(t->layout)) {
    t = pack(L, to->d, &err);
    if (t == NULL) return lmt_fail(L, &err);
    if (t->buffer->device == to) return 1;
    lmt_range(L, t, &lo, &hi);
  }
  size_t bytes = (size_t)(hi - lo) * mt_dtype_size(t->dtype);
  lmt_buffer *b = lmt_newbuffer(L, 3, bytes, &err);
  if (b == NULL) return lmt_fail(L, &err);
  lmt_pushtensor(L, -1, t->dtype, t->layout, -lo);
  mt_status s = transfer(L, to->d, b->data, device_of(t), lmt_address(t, lo), bytes,
                         &err);
  if (t != lua_touserdata(L, 1)) lmt_freebuffer(t->buffer);
  return s == MT_OK ? 1 : lmt_fail(L, &err);
}

const luaL_Reg lmt_moves[] = {
  { "fill", l_fill }, { "to", l_to }, { "totable", l_totable }, { NULL, NULL }
};
