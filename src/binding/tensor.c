/*
** tensor.c - tensors in Lua: a dtype, a layout, and a window on a buffer.
** SPDX-License-Identifier: MIT
**
** A view shares the buffer and keeps it alive. T:free() on the tensor that made the
** buffer frees it, and every view of it raises from then on; on a view it ends the view
** only. Each element that is read or written lies inside the layout's domain and inside
** the buffer, else an error.
*/
#include <string.h>

#include "binding/instead.h"
#include "binding/listed.h"
#include "binding/plan.h"
#include "binding/view.h"
#include "types/dtype.h"

/* ---------------------------------------------------------------- making */

/* A copy of the value at `to`, which moves behind it. */
static const mt_node *put (mt_node **to, const mt_node *t) {
  mt_node *p = *to;
  memcpy(p, t, t->span * sizeof *t);
  *to += t->span;
  return p;
}

/* The bounds follow the layout: all nodes are one block. */
static void put_all (lmt_tensor *t, const mt_node *layout, const mt_bounds *b) {
  mt_node *to = t->layout;
  put(&to, layout);
  if (b == NULL) return;
  mt_bounds own = {put(&to, b->coord), NULL, NULL};
  own.base = put(&to, b->base);
  own.extent = put(&to, b->extent);
  memcpy(to, &own, sizeof own);
}

/* Whether there are lists in it; then what keeps them is pushed. */
static bool has_lists (lua_State *L, const mt_node *layout, const mt_bounds *b) {
  const mt_node *t[] = {layout, b ? b->coord : layout};
  if (layout->tag != MT_COMPOSED && t[1]->tag != MT_COMPOSED) return false;
  if (!lmt_haslist(layout) && !lmt_haslist(t[1])) return false;
  return lmt_pushlists(L, b ? 2 : 1, t), true;
}

static lmt_tensor *push_tensor (lua_State *L, int buffer, mt_dtype dtype,
                                const mt_node *layout, int64_t offset,
                                const mt_bounds *b) {
  size_t n = layout->span, more = b ? sizeof *b : 0;
  if (b) n += (size_t)b->coord->span + b->base->span + b->extent->span;
  buffer = lua_absindex(L, buffer);
  bool listed = has_lists(L, layout, b);
  lmt_tensor *t = lua_newuserdatauv(L, sizeof *t + n * sizeof *layout + more, 1);
  t->buffer = lua_touserdata(L, buffer);
  t->offset = offset;
  t->dtype = dtype;
  t->view = t->freed = false;
  t->bounded = b ? (uint16_t)n : 0;
  put_all(t, layout, b);
  luaL_setmetatable(L, LMT_TENSOR);
  lua_pushvalue(L, buffer);
  lua_setiuservalue(L, -2, 1);
  if (listed) lmt_keeplists(L, -1, -2), lua_remove(L, -2);
  return t;
}

lmt_tensor *lmt_pushtensor (lua_State *L, int buffer, mt_dtype dtype,
                            const mt_node *layout, int64_t offset) {
  return push_tensor(L, buffer, dtype, layout, offset, NULL);
}

/* Raises unless element `at`, and with bounds all that the layout reaches from there, is
** within 64 bits as a number of bytes: what is not real may lie anywhere else. */
static void check_offset (lua_State *L, int64_t at, mt_dtype dtype, const mt_node *layout,
                          const mt_bounds *bounds) {
  int64_t size = (int64_t)mt_dtype_size(dtype), lo = 0, hi = 0;
  LMT_NOERR(err);
  if (bounds && mt_footprint(&lo, &hi, layout, &err)) lmt_raise(L, &err);
  if (at == INT64_MIN || __builtin_add_overflow(at, lo < 0 ? lo : 0, &lo) ||
      __builtin_add_overflow(at, hi > 0 ? hi : 0, &hi) ||
      __builtin_mul_overflow(lo, size, &lo) || __builtin_mul_overflow(hi, size, &hi))
    luaL_error(L, "the offset of a view leaves 64 bits");
}

static lmt_tensor *push_view (lua_State *L, int i, const lmt_tensor *base,
                              const mt_node *layout, int64_t offset,
                              const mt_bounds *bounds) {
  int64_t at;
  if (__builtin_add_overflow(base->offset, offset, &at))
    luaL_error(L, "the offset of a view leaves 64 bits");
  check_offset(L, at, base->dtype, layout, bounds);
  lua_getiuservalue(L, i, 1);
  lmt_tensor *t = push_tensor(L, -1, base->dtype, layout, at, bounds);
  t->view = true;
  lua_remove(L, -2);
  return t;
}

lmt_tensor *lmt_pushbounded (lua_State *L, int i, const mt_node *layout, int64_t offset,
                             const mt_bounds *bounds) {
  return push_view(L, i, lmt_totensor(L, i), layout, offset, bounds);
}

lmt_tensor *lmt_pushwhole (lua_State *L, int i, const lmt_tensor *base,
                           const mt_node *layout, int64_t offset) {
  return push_view(L, i, base, layout, offset, NULL);
}

lmt_tensor *lmt_pushview (lua_State *L, int i, const mt_node *layout, int64_t offset) {
  return lmt_pushbounded(L, i, layout, offset, NULL);
}

/* The bytes of a buffer for all that `layout` reaches, and the elements before coordinate
** 0. */
static mt_status extent (size_t *bytes, int64_t *before, mt_dtype dtype,
                         const mt_node *layout, mt_err *err) {
  int64_t lo, hi, n;
  mt_status s = mt_footprint(&lo, &hi, layout, err);
  if (s != MT_OK) return s;
  if (__builtin_sub_overflow(hi, lo, &n) ||
      __builtin_mul_overflow(n, (int64_t)mt_dtype_size(dtype), &n))
    return lmt_set(err, MT_EOVERFLOW,
                   "tensor: the layout reaches more than 2^63-1 bytes");
  if (__builtin_sub_overflow((int64_t)0, lo, before))
    return lmt_set(err, MT_EOVERFLOW, "tensor: the layout begins 2^63 elements below 0");
  return *bytes = (size_t)n, MT_OK;
}

static lmt_tensor *new_tensor (lua_State *L, int device, int lock, mt_dtype dtype,
                               const mt_node *layout, mt_err *err) {
  size_t bytes = 0;
  int64_t before = 0;
  if (extent(&bytes, &before, dtype, layout, err)) return NULL;
  if (lmt_newbuffer(L, device, lock, bytes, err) == NULL) return NULL;
  lmt_tensor *t = lmt_pushtensor(L, -1, dtype, layout, before);
  lua_remove(L, -2);
  return t;
}

lmt_tensor *lmt_newtensor (lua_State *L, int device, mt_dtype dtype,
                           const mt_node *layout, mt_err *err) {
  return new_tensor(L, device, 0, dtype, layout, err);
}

/* Where a tensor is to be, at 3: a device; { device }; { gpu, locked = true }, on the
** host in pages that the GPU's driver locks. Then *lock is where the GPU is, else 0.
** Pushes the tensor's device; NULL: `err`. */
static lmt_device *place_of (lua_State *L, int *lock, mt_err *err) {
  static const char *const keys[] = {"1", "locked", NULL};
  *lock = 0;
  if (!lmt_istable(L, 3)) return lmt_optdevice(L, 3, err);
  lmt_checkkeys(L, 3, "tensor", keys);
  lua_getfield(L, 3, "locked");
  if (!lua_isnil(L, -1) && !lua_isboolean(L, -1))
    luaL_error(L, "tensor: locked: true or false expected, got %s", lmt_kindname(L, -1));
  bool locked = lua_toboolean(L, -1);
  if (lua_geti(L, 3, 1) == LUA_TNIL && locked)
    luaL_error(L, "tensor: locked: which GPU is to lock it? { \"cuda\", locked = true }");
  lmt_device *d = lmt_optdevice(L, lua_gettop(L), err);
  if (!locked || d == NULL) return d;
  *lock = lua_gettop(L);
  return lmt_optdevice(L, *lock + 1, err);
}

/* tensor(dtype, layout [, device | { device [, locked =] }]) -> a zeroed tensor | nil,
** message, code */
static int l_tensor (lua_State *L) {
  LMT_NOERR(err);
  int lock;
  mt_dtype dtype = lmt_todtype(L, 1);
  const mt_node *layout = lmt_tocomposed(L, 2);
  if (place_of(L, &lock, &err) == NULL) return lmt_fail(L, &err);
  if (new_tensor(L, -1, lock, dtype, layout, &err) == NULL) return lmt_fail(L, &err);
  return 1;
}

/* ---------------------------------------------------------------- using */

lmt_tensor *lmt_livetensor (lua_State *L, lmt_tensor *t) {
  if (t->freed || !t->buffer->live || !t->buffer->device->d)
    luaL_error(L, "this tensor was freed");
  lmt_checkuse(L, t->buffer->device->state);
  return t;
}

lmt_tensor *lmt_tensorat (lua_State *L, int i) {
  lmt_tensor *t = lmt_marked(L, i, LMT_TENSORS);
  return t ? lmt_livetensor(L, t) : NULL;
}

lmt_tensor *lmt_totensor (lua_State *L, int i) {
  lmt_tensor *t = lmt_tensorat(L, i);
  if (t == NULL) lmt_notensor(L, i);
  return t;
}

mt_tensor lmt_ctensor (const lmt_tensor *t) {
  return (mt_tensor){.layout = t->layout,
                     .dtype = t->dtype,
                     .data = t->buffer->data,
                     .bytes = t->buffer->bytes,
                     .offset = t->offset,
                     .bounds = lmt_boundsof(t)};
}

const mt_bounds *lmt_bounds (lua_State *L, int i) {
  return lmt_boundsof(lmt_totensor(L, i));
}

void *lmt_address (const lmt_tensor *t, int64_t element) {
  if (t->buffer->data == NULL) return NULL;
  int64_t size = (int64_t)mt_dtype_size(t->dtype);
  return (char *)t->buffer->data + (t->offset + element) * size;
}

/* Raises unless the elements from `first` to `last`, counted from the tensor's offset,
** lie in its buffer. */
static void check_reach (lua_State *L, const lmt_tensor *t, int64_t first, int64_t last) {
  int64_t n = (int64_t)(t->buffer->bytes / mt_dtype_size(t->dtype));
  int64_t end = t->offset < 0 ? INT64_MIN : INT64_MAX; /* of what leaves 64 bits */
  if (__builtin_add_overflow(first, t->offset, &first)) first = end;
  if (__builtin_add_overflow(last, t->offset, &last)) last = end;
  if (first >= 0 && last < n) return;
  lmt_pushtext(L, t->layout);
  luaL_error(L, "tensor: %s reaches elements %I to %I of a buffer of %I elements",
             lua_tostring(L, -1), (LUAI_UACINT)first, (LUAI_UACINT)last, (LUAI_UACINT)n);
}

/* The part of [lo, hi) that lies in the buffer: what is not real may lie outside. */
static void clip_range (const lmt_tensor *t, int64_t *lo, int64_t *hi) {
  int64_t n = (int64_t)(t->buffer->bytes / mt_dtype_size(t->dtype)), end;
  if (__builtin_sub_overflow(n, t->offset, &end)) end = *hi;
  if (*lo < -t->offset) *lo = -t->offset;
  if (*hi > end) *hi = end;
}

void lmt_range (lua_State *L, const lmt_tensor *t, int64_t *lo, int64_t *hi) {
  LMT_NOERR(err);
  if (mt_footprint(lo, hi, t->layout, &err)) lmt_raise(L, &err);
  if (t->bounded) clip_range(t, lo, hi);
  else if (*lo < *hi) check_reach(L, t, *lo, *hi - 1);
  if (*lo >= *hi) *lo = *hi = -t->offset; /* nothing, where the buffer begins */
}

/* The offset of coordinate c, which is inside. op: who is called, or NULL. */
static int64_t element_at (lua_State *L, const lmt_tensor *t, const char *op,
                           const mt_node *c) {
  int64_t at;
  LMT_NOERR(err);
  lmt_checkinside(L, c, t->layout);
  if (t->bounded) lmt_checkreal(L, t, c);
  if (mt_crd2idx(&at, c, t->layout, &err)) lmt_raiseas(L, "crd2idx", op, &err);
  check_reach(L, t, at, at);
  return at;
}

/* T(i, j), T{i, j}: the element; with _ a view. */
int lmt_element (lua_State *L) {
  mt_layout buf;
  char raw[16];
  LMT_NOERR(err);
  const lmt_tensor *t = lmt_totensor(L, 1);
  const mt_node *c = lmt_tocoord(L, 2, t->layout, &buf);
  if (lmt_haswild(c)) return lmt_slice(L, 1, NULL, c, t->layout);
  lmt_checkidle(L, t->buffer->device, "access to elements");
  const void *p = lmt_address(t, element_at(L, t, NULL, c));
  if (!mt_device_is_host(t->buffer->device->d)) {
    if (mt_download(t->buffer->device->d, raw, p, mt_dtype_size(t->dtype), &err))
      return lmt_raise(L, &err);
    p = raw;
  }
  return lmt_pushnumber(L, t->dtype, mt_load_element(t->dtype, p));
}

static int write_element (lua_State *L, const lmt_tensor *t, const char *op,
                          const mt_node *c, int value) {
  char raw[16];
  LMT_NOERR(err);
  mt_device *d = t->buffer->device->d;
  lmt_checkidle(L, t->buffer->device, "access to elements");
  if (lmt_haswild(c))
    return luaL_error(L, "_ is no coordinate of an element; T(_, j):fill(v)?");
  int64_t at = element_at(L, t, op, c);
  if (mt_store_element(t->dtype, raw, lmt_tonumber(L, value), &err))
    return lmt_raise(L, &err);
  if (mt_device_is_host(d)) memcpy(lmt_address(t, at), raw, mt_dtype_size(t->dtype));
  else if (mt_upload(d, lmt_address(t, at), raw, mt_dtype_size(t->dtype), &err))
    return lmt_raise(L, &err);
  return 0;
}

/* T:set(value, i, j) */
static int tensor_set (lua_State *L) {
  mt_layout buf;
  const lmt_tensor *t = lmt_totensor(L, 1);
  return write_element(L, t, "set", lmt_tocoord(L, 3, t->layout, &buf), 2);
}

/* T[{i, j}] = value */
static int tensor_newindex (lua_State *L) {
  mt_layout buf;
  const lmt_tensor *t = lmt_totensor(L, 1);
  if (!lmt_istable(L, 2))
    return luaL_error(L, "tensor: elements are written by T[{i, j}] = v or "
                         "T:set(v, i, j)");
  return write_element(L, t, NULL, lmt_tocoord1(L, 2, t->layout, &buf), 3);
}

/* ---------------------------------------------------------------- asking */

static int tensor_layout (lua_State *L) {
  return lmt_pushvalue(L, lmt_totensor(L, 1)->layout);
}

static int tensor_dtype (lua_State *L) {
  lua_pushstring(L, mt_dtype_name(lmt_totensor(L, 1)->dtype));
  return 1;
}

static int tensor_itemsize (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)mt_dtype_size(lmt_totensor(L, 1)->dtype));
  return 1;
}

/* Where coordinate 0 lies in the buffer, in elements. */
static int tensor_offset (lua_State *L) {
  lua_pushinteger(L, lmt_totensor(L, 1)->offset);
  return 1;
}

static int tensor_device (lua_State *L) {
  lmt_totensor(L, 1);
  lua_getiuservalue(L, 1, 1);
  lua_getiuservalue(L, -1, 1);
  return 1;
}

static void push_bounds_text (lua_State *L, const mt_bounds *bounds) {
  luaL_Buffer b;
  size_t n = mt_bounds_format(NULL, 0, bounds);
  mt_bounds_format(luaL_buffinitsize(L, &b, n + 1), n + 1, bounds);
  luaL_pushresultsize(&b, n);
}

static int tensor_tostring (lua_State *L) {
  const lmt_tensor *t = luaL_checkudata(L, 1, LMT_TENSOR);
  const char *state = t->freed || !t->buffer->live ? " (freed)" : "";
  lmt_pushtext(L, t->layout);
  lua_pushfstring(L, "tensor %s %s %s%s", mt_dtype_name(t->dtype), lua_tostring(L, -1),
                  lmt_devicename(t->buffer->device), state);
  if (!t->bounded) return 1;
  push_bounds_text(L, lmt_boundsof(t));
  lua_pushfstring(L, "%s, ragged: %s", lua_tostring(L, -2), lua_tostring(L, -1));
  return 1;
}

/* T:bounds() -> the layout of its coordinates, the coordinate of its first element, the
** extents below which an element is real; nil if all of it is. */
static int tensor_bounds (lua_State *L) {
  const lmt_tensor *t = lmt_totensor(L, 1);
  const mt_bounds *b = lmt_boundsof(t);
  if (b == NULL) return lua_pushnil(L), 1;
  lmt_pushvalue(L, b->coord);
  lmt_pushvalue(L, b->base);
  return 2 + lmt_pushvalue(L, b->extent);
}

/* What arguments i, i + 1, ... say: coordinates, base, extents; false: there are none. */
static bool bounds_at (lua_State *L, int i, mt_bounds *b, mt_layout buf[2]) {
  if (lua_isnoneornil(L, i)) return false;
  b->coord = lmt_tolayout(L, i);
  b->base = lmt_tovalue(L, i + 1, LMT_SHAPE, "base", &buf[0]);
  b->extent = lmt_tovalue(L, i + 2, LMT_SHAPE, "extents", &buf[1]);
  return true;
}

/* T:view(layout [, offset [, coordinates, base, extents]]): this layout, `offset`
** elements after coordinate 0 of T. All of it lies inside the buffer; of what is ragged,
** whoever uses it asks. */
static int tensor_view (lua_State *L) {
  int64_t lo, hi;
  mt_layout buf[2];
  mt_bounds b;
  lmt_totensor(L, 1);
  const mt_node *layout = lmt_tocomposed(L, 2);
  int64_t offset = luaL_optinteger(L, 3, 0);
  if (bounds_at(L, 4, &b, buf)) {
    lmt_pushknown(L, 1, layout, offset, &b);
    lmt_range(L, lmt_totensor(L, -1), &lo, &hi);
    return 1;
  }
  if (lmt_bounds(L, 1))
    return luaL_error(L, "view: the tensor is ragged: which elements of the view are "
                         "real is to be said\nlocal X, base, extents = T:bounds(); "
                         "T:view(layout, offset, f(X), base, extents)");
  lmt_range(L, lmt_pushview(L, 1, layout, offset), &lo, &hi);
  return 1;
}

/* T:free(), and what <close> does. */
static int tensor_free (lua_State *L) {
  lmt_tensor *t = luaL_checkudata(L, 1, LMT_TENSOR);
  lmt_checkasking(L, t->buffer->device->state);
  if (!t->view && t->buffer->pins)
    return luaL_error(L, "T:free: the host uses the memory of this tensor");
  t->freed = true;
  if (!t->view) lmt_freebuffer(t->buffer);
  return 0;
}

/* dtypes() -> the names of the data types */
static int l_dtypes (lua_State *L) {
  lua_createtable(L, MT_NDTYPE, 0);
  for (int d = 0; d < MT_NDTYPE; d++) {
    lua_pushstring(L, mt_dtype_name((mt_dtype)d));
    lua_rawseti(L, -2, d + 1);
  }
  return 1;
}

/* dtype_ranks() -> by name, of a contraction: rank, the type of its sums */
static int l_dtype_ranks (lua_State *L) {
  lua_createtable(L, 0, MT_NDTYPE);
  lua_createtable(L, 0, MT_NDTYPE);
  for (int d = 0; d < MT_NDTYPE; d++) {
    lua_pushinteger(L, mt_dtype_rank((mt_dtype)d));
    lua_setfield(L, -3, mt_dtype_name((mt_dtype)d));
    lua_pushstring(L, mt_dtype_name(mt_dtype_sum((mt_dtype)d)));
    lua_setfield(L, -2, mt_dtype_name((mt_dtype)d));
  }
  return 2;
}

/* ---------------------------------------------------------------- for the host */

MT_API void mt_lua_pushlayout (lua_State *L, const mt_node *t) { lmt_pushvalue(L, t); }

MT_API const mt_node *mt_lua_tolayout (lua_State *L, int index) {
  return lmt_tolayout(L, index);
}

MT_API void mt_lua_pushtensor (lua_State *L, mt_dtype dtype, const mt_node *layout,
                               void *data, size_t bytes) {
  mt_lua_pushdevicetensor(L, "cpu", dtype, layout, data, bytes);
}

MT_API void mt_lua_pushdevicetensor (lua_State *L, const char *device, mt_dtype dtype,
                                     const mt_node *layout, void *data, size_t bytes) {
  int64_t lo, hi;
  LMT_NOERR(err);
  if ((unsigned)dtype >= MT_NDTYPE)
    luaL_error(L, "tensor: %d is no dtype: there are 0 to %d", (int)dtype, MT_NDTYPE - 1);
  if (layout == NULL) luaL_error(L, "tensor: layout is NULL");
  if (data == NULL && bytes > 0)
    luaL_error(L, "tensor: data is NULL, and %I bytes long", (LUAI_UACINT)bytes);
  if (lmt_pushdevice(L, device, &err) == NULL) lmt_raise(L, &err);
  lmt_lendbuffer(L, -1, data, bytes);
  lmt_range(L, lmt_pushtensor(L, -1, dtype, layout, 0), &lo, &hi);
  lua_replace(L, -3);
  lua_pop(L, 1);
}

MT_API void mt_lua_revoke (lua_State *L, int index) {
  lmt_tensor *t = luaL_checkudata(L, index, LMT_TENSOR);
  lmt_checkasking(L, t->buffer->device->state);
  t->freed = true;
  lmt_freebuffer(t->buffer);
}

MT_API void mt_lua_pin (lua_State *L, int index) {
  lmt_totensor(L, index)->buffer->pins++;
}

MT_API void mt_lua_unpin (lua_State *L, int index) {
  lmt_tensor *t = luaL_checkudata(L, index, LMT_TENSOR);
  if (t->buffer->pins == 0) luaL_error(L, "unpin: this tensor is not pinned");
  t->buffer->pins--;
}

MT_API void mt_lua_totensor (lua_State *L, int index, mt_tensor *out) {
  *out = lmt_ctensor(lmt_totensor(L, index));
  lmt_sharebuffer(lmt_totensor(L, index)->buffer);
}

/* ---------------------------------------------------------------- registration */

#define ROWS_TENSOR
#include "binding/rows.h"

static const luaL_Reg meta[] = {{"__newindex", tensor_newindex},
                                {"__close", tensor_free},
                                {"__tostring", tensor_tostring},
                                {NULL, NULL}};

void lmt_open_tensor (lua_State *L) {
  lmt_setmeta(L, LMT_TENSOR, meta);
  lmt_setmeta(L, LMT_TENSOR, lmt_operators);
  lmt_addrows(L, rows);
}
