/*
** lmt_algebra.c - the rest of the algebra of layouts in Lua.
** SPDX-License-Identifier: MIT
**
** Most functions are rows of lmt_algebra.def: one function serves each signature, the row
** is its upvalue. What picks a part of a layout returns a layout and the offset where it
** begins; of a tensor it returns a view.
*/
#include <string.h>

#include "lmt.h"

enum {
  EXTENTS = LMT_SHAPE | LMT_LAYOUTS,
  LAYOUT = LMT_LAYOUTS,
  SWIZZLED = LMT_LAYOUTS | LMT_SWIZZLES,
  OPTIONAL = 1 << 16,
  PROFILE = LMT_COORD | OPTIONAL,
  MAXVALUES = 2
};

typedef const mt_node *node;
typedef enum self { NONE, FIRST } self;
typedef enum outcome { NEW, VIEW } outcome;

typedef struct operation {
  const char *name;
  lua_CFunction serve;
  self method;
  outcome outcome;
  int kinds[MAXVALUES];
  union {
    mt_status (*I_V) (int64_t *out, node a, mt_err *err);
    mt_status (*I_VV) (int64_t *out, node a, node b, mt_err *err);
    mt_status (*V_V) (mt_layout *out, node a, mt_err *err);
    mt_status (*V_VV) (mt_layout *out, node a, node b, mt_err *err);
    mt_status (*V_VI) (mt_layout *out, node a, int64_t i, mt_err *err);
    mt_status (*V_T) (mt_layout *out, node a, mt_err *err);
    mt_status (*V_VT) (mt_layout *out, node a, node t, mt_err *err);
  } f;
} operation;

/* ---------------------------------------------------------------- arguments, results */

/* The value at `i`; NULL for an optional one that is absent. */
static node value (lua_State *L, int i, int kinds, mt_layout *buf) {
  if ((kinds & OPTIONAL) && lua_isnoneornil(L, i)) return NULL;
  if (kinds == LAYOUT) return lmt_tolayout(L, i);
  return lmt_tovalue(L, i, kinds & ~OPTIONAL, i == 1 ? "argument 1" : "argument 2", buf);
}

typedef struct result {
  mt_layout v;
  int64_t i;
} result;

static int push_value (lua_State *L, const operation *o, const result *r) {
  return o->outcome == VIEW ? lmt_pushlike(L, 1, r->v.node, 0)
                            : lmt_pushvalue(L, r->v.node);
}
static int push_int (lua_State *L, const operation *o, const result *r) {
  (void)o;
  lua_pushinteger(L, r->i);
  return 1;
}

/* ---------------------------------------------------------------- signatures */

/* name     result      the call */
#define SIGNATURES(X)                                                                    \
  X(I_V,    push_int,   o->f.I_V(&r.i, V(1), &err))                                      \
  X(I_VV,   push_int,   o->f.I_VV(&r.i, V(1), V(2), &err))                               \
  X(V_V,    push_value, o->f.V_V(&r.v, V(1), &err))                                      \
  X(V_VV,   push_value, o->f.V_VV(&r.v, V(1), V(2), &err))                               \
  X(V_VI,   push_value, o->f.V_VI(&r.v, V(1), luaL_checkinteger(L, 2), &err))            \
  X(V_T,    push_value, o->f.V_T(&r.v, lmt_totiler(L, 1, &v[0]), &err))                  \
  X(V_VT,   push_value, o->f.V_VT(&r.v, V(1), lmt_totiler(L, 2, &v[1]), &err))

#define V(n) value(L, n, o->kinds[(n) - 1], &v[(n) - 1])
#define SERVE(signature, push, call)                                                     \
  static int serve_##signature (lua_State *L) {                                          \
    const operation *o = lua_touserdata(L, lua_upvalueindex(1));                         \
    mt_layout v[MAXVALUES];                                                              \
    result r;                                                                            \
    LMT_NOERR(err);                                                                      \
    return (call) ? lmt_raise(L, &err) : push(L, o, &r);                                 \
  }
SIGNATURES(SERVE)
#undef SERVE
#undef V

/* ---------------------------------------------------------------- what is no row */

/* The order at `i` of n modes: a tuple, "left" (NULL) or "right", also as LayoutLeft,
** LayoutRight. */
static node order_of (lua_State *L, int i, int n, mt_layout *buf) {
  int64_t k[MT_MAXNODES];
  LMT_NOERR(err);
  if (lua_isnoneornil(L, i)) return NULL;
  if (!lmt_isstring(L, i)) return lmt_tovalue(L, i, LMT_SHAPE, "order", buf);
  const char *s = lua_tostring(L, i);
  if (strcmp(s, "left") == 0 || strcmp(s, "LayoutLeft") == 0) return NULL;
  if (strcmp(s, "right") != 0 && strcmp(s, "LayoutRight") != 0)
    luaL_error(L, "order: a tuple, \"left\" or \"right\" expected, got \"%s\"", s);
  for (int j = 0; j < n; j++) k[j] = n - j;
  if (mt_ints(buf, n, k, &err)) lmt_raise(L, &err);
  return buf->node;
}

/* make_ordered_layout(shape, order): the part with the smallest number fastest. */
static int l_make_ordered_layout (lua_State *L) {
  mt_layout buf, order, out;
  LMT_NOERR(err);
  node shape = lmt_tovalue(L, 1, EXTENTS, "shape", &buf);
  if (lmt_isstring(L, 2)) {
    lua_settop(L, 2);
    if (order_of(L, 2, mt_rank(shape), &order) ? mt_layout_right(&out, shape, &err)
                                               : mt_layout_left(&out, shape, &err))
      return lmt_raise(L, &err);
  } else if (mt_make_ordered_layout(&out, shape,
                                    lmt_tovalue(L, 2, LMT_SHAPE, "order", &order),
                                    &err)) {
    return lmt_raise(L, &err);
  }
  return lmt_pushvalue(L, out.node);
}

/* tile_to_shape(A, shape [, order]) */
static int l_tile_to_shape (lua_State *L) {
  mt_layout buf, order, out;
  LMT_NOERR(err);
  node a = lmt_tolayout(L, 1), shape = lmt_tovalue(L, 2, EXTENTS, "shape", &buf);
  if (mt_tile_to_shape(&out, a, shape, order_of(L, 3, mt_rank(shape), &order), &err))
    return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}

/* with_shape(A, shape), with_shape(A, m, n, ...): A o shape:left. */
static int l_with_shape (lua_State *L) {
  mt_layout buf, out;
  LMT_NOERR(err);
  node a = lmt_tolayout(L, 1);
  if (lua_gettop(L) > 2) {
    int n = lua_gettop(L) - 1;
    lua_createtable(L, n, 0);
    lua_insert(L, 2);
    for (int i = n; i > 0; i--) lua_rawseti(L, 2, i);
  }
  if (mt_with_shape(&out, a, lmt_tovalue(L, 2, EXTENTS, "shape", &buf), &err))
    return lmt_raise(L, &err);
  return lmt_pushlike(L, 1, out.node, 0);
}

/* filter_zeros(A [, profile]); filter_zeros(profile, shape): the extents that a 0 stands
** for become 1. */
static int l_filter_zeros (lua_State *L) {
  mt_layout buf, other, out;
  LMT_NOERR(err);
  node a = lmt_tovalue(L, 1, EXTENTS, "argument 1", &buf), b = NULL;
  bool layout = lmt_islayout(a);
  if (!lua_isnoneornil(L, 2)) b = lmt_tovalue(L, 2, EXTENTS, "argument 2", &other);
  if ((layout ? mt_filter_zeros : mt_filter_zeros_tuple)(&out, a, b, &err))
    return lmt_raise(L, &err);
  return lmt_pushlike(L, 1, out.node, 0);
}

/* complement(A [, bound]): without a bound, up to the end of A; a bound that is a shape
** is divided mode by mode. Second result: whether (A, complement) fills the bound. */
static int l_complement (lua_State *L) {
  mt_layout buf, out;
  bool fills;
  LMT_NOERR(err);
  node a = lmt_tolayout(L, 1), bound = NULL;
  if (!lua_isnoneornil(L, 2)) bound = lmt_tovalue(L, 2, EXTENTS, "bound", &buf);
  if (mt_complement_shape(&out, &fills, a, bound, &err)) return lmt_raise(L, &err);
  lmt_pushnew(L, 1, a, out.node);
  lua_pushboolean(L, fills);
  return 2;
}

static int recast_layout (lua_State *L, int old_bits, int new_bits, int layout) {
  mt_layout buf, out;
  LMT_NOERR(err);
  node a = lmt_tovalue(L, layout, SWIZZLED, "layout", &buf);
  if (mt_recast_layout(&out, luaL_checkinteger(L, old_bits),
                       luaL_checkinteger(L, new_bits), a, &err))
    return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}
static int l_recast_layout (lua_State *L) { return recast_layout(L, 1, 2, 3); }
static int m_recast_layout (lua_State *L) { return recast_layout(L, 2, 3, 1); }

/* ------------------------------------------------------- parts of layouts and tensors */

/* The result of the value at stack index `i`: of a tensor a view, else the layout and its
** offset. */
static int push_part (lua_State *L, int i, const mt_layout *out,
                      const mt_layout *offset) {
  if (lmt_isclass(L, i, LMT_TENSOR))
    return lmt_pushlike(L, i, out->node, offset->node[0].shape);
  lmt_pushvalue(L, out->node);
  return 1 + lmt_pushvalue(L, offset->node);
}

/* f(A, tiler, coordinate) */
static int partition (lua_State *L, mt_status (*f)(mt_layout *out, mt_layout *offset,
                                                   node a, node t, node c, mt_err *err)) {
  mt_layout t, c, out, offset;
  LMT_NOERR(err);
  node a = lmt_tolayout(L, 1), tiler = lmt_totiler(L, 2, &t);
  if (f(&out, &offset, a, tiler, lmt_tovalue(L, 3, LMT_COORD, "coordinate", &c), &err))
    return lmt_raise(L, &err);
  return push_part(L, 1, &out, &offset);
}
static int l_inner_partition (lua_State *L) { return partition(L, mt_inner_partition); }
static int l_outer_partition (lua_State *L) { return partition(L, mt_outer_partition); }

/* The projection at `i`: a tuple, with _ for the modes that are dropped. */
static node projection (lua_State *L, int i, mt_layout *buf) {
  return lua_isnoneornil(L, i) ? NULL : lmt_tovalue(L, i, LMT_COORD, "projection", buf);
}

/* local_tile(A, tiler, coordinate [, projection]) */
static int l_local_tile (lua_State *L) {
  mt_layout t, c, p, out, offset;
  LMT_NOERR(err);
  node a = lmt_tolayout(L, 1), tiler = lmt_totiler(L, 2, &t);
  node coord = lmt_tovalue(L, 3, LMT_COORD, "coordinate", &c);
  if (mt_local_tile(&out, &offset, a, tiler, coord, projection(L, 4, &p), &err))
    return lmt_raise(L, &err);
  return push_part(L, 1, &out, &offset);
}

/* local_partition(A, threads, index [, projection]) */
static int l_local_partition (lua_State *L) {
  mt_layout p, out, offset;
  LMT_NOERR(err);
  node a = lmt_tolayout(L, 1), thr = lmt_tolayout(L, 2);
  if (mt_local_partition(&out, &offset, a, thr, luaL_checkinteger(L, 3),
                         projection(L, 4, &p), &err))
    return lmt_raise(L, &err);
  return push_part(L, 1, &out, &offset);
}

/* Whether the value at `i` is a layout or a tensor. */
static bool has_layout (lua_State *L, int i) {
  mt_layout buf;
  return !lua_isnoneornil(L, i) &&
         lmt_islayout(lmt_tovalue(L, i, LMT_ANY, "argument", &buf));
}

/* domain_offset(c, A), domain_offset(A, c): A seen from c on. */
static int l_domain_offset (lua_State *L) {
  mt_layout c, out, offset;
  LMT_NOERR(err);
  int at = has_layout(L, 1) ? 1 : 2;
  node a = lmt_tolayout(L, at);
  if (mt_domain_offset(&out, &offset, lmt_tocoord1(L, 3 - at, a, &c), a, &err))
    return lmt_raise(L, &err);
  return push_part(L, at, &out, &offset);
}

/* slice(A, c): as slice_and_offset; slice(c, t) is the upvalue. */
static int l_slice (lua_State *L) {
  mt_layout c;
  if (has_layout(L, 1)) {
    node a = lmt_tolayout(L, 1), coord = lmt_tocoord1(L, 2, a, &c);
    return lmt_isclass(L, 1, LMT_TENSOR) ? lmt_slice(L, 1, coord, a)
                                         : lmt_pushslice(L, coord, a);
  }
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

/* ---------------------------------------------------------------- registration */

static const operation operations[] = {
#define LMT_OP(name, signature, method, outcome, ...)                                    \
  {#name, serve_##signature, method, outcome, {__VA_ARGS__}, {.signature = mt_##name}},
#include "lmt_algebra.def"
#undef LMT_OP
};

#define ROW(f) { #f, l_##f }

static const luaL_Reg both[] = {
  ROW(tile_to_shape), ROW(with_shape), ROW(filter_zeros), ROW(complement),
  ROW(inner_partition), ROW(outer_partition), ROW(local_tile), ROW(local_partition),
  ROW(domain_offset), { NULL, NULL }
};

static const luaL_Reg functions[] = {
  ROW(make_ordered_layout), ROW(recast_layout), { NULL, NULL }
};

static const luaL_Reg methods[] = {{"recast_layout", m_recast_layout}, {NULL, NULL}};

static void set_row (lua_State *L, const operation *o) {
  lua_pushlightuserdata(L, (void *)(uintptr_t)o);
  lua_pushcclosure(L, o->serve, 1);
  lua_setfield(L, -2, o->name);
}

void lmt_open_algebra (lua_State *L) {
  const operation *end = operations + sizeof operations / sizeof *operations;
  for (const operation *o = operations; o < end; o++) set_row(L, o);
  luaL_setfuncs(L, both, 0);
  luaL_setfuncs(L, functions, 0);
  lua_getfield(L, -1, "slice");
  lua_pushcclosure(L, l_slice, 1);
  lua_setfield(L, -2, "slice");
  lua_getfield(L, -1, "_methods");
  lua_getfield(L, -1, "Layout");
  for (const operation *o = operations; o < end; o++)
    if (o->method == FIRST) set_row(L, o);
  luaL_setfuncs(L, both, 0);
  luaL_setfuncs(L, methods, 0);
  lua_pop(L, 2);
}
