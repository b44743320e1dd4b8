/*
** algebra.c - the rest of the algebra of layouts in Lua.
** SPDX-License-Identifier: MIT
**
** Most functions are rows LMT_LAYOUTOP of operations.def: one function serves each
** signature, the row is its upvalue. What picks a part of a layout returns a layout and
** the offset where it begins; of a tensor it returns a view.
*/
#include <string.h>

#include "binding/listed.h"
#include "binding/said.h"
#include "binding/view.h"

enum {
  EXTENTS = LMT_SHAPE | LMT_LAYOUTS | LMT_COMPOSED,
  LAYOUT = LMT_LAYOUTS,
  COMPOSED = LMT_LAYOUTS | LMT_COMPOSED,
  SWIZZLED = LMT_LAYOUTS | LMT_SWIZZLES,
  OPTIONAL = 1 << 16,
  BLOCK = 1 << 17,
  PROFILE = LMT_COORD | OPTIONAL,
  MAXVALUES = 2
};

typedef const mt_node *node;
typedef enum outcome { NEW, VIEW } outcome;

typedef struct operation {
  lmt_operation row;
  outcome outcome;
  int kinds[MAXVALUES];
  union {
    mt_status (*I_V)(int64_t *out, node a, mt_err *err);
    mt_status (*I_VV)(int64_t *out, node a, node b, mt_err *err);
    mt_status (*V_V)(mt_layout *out, node a, mt_err *err);
    mt_status (*V_VV)(mt_layout *out, node a, node b, mt_err *err);
    mt_status (*V_VI)(mt_layout *out, node a, int64_t i, mt_err *err);
    mt_status (*V_T)(mt_layout *out, node a, mt_err *err);
    mt_status (*V_VT)(mt_layout *out, node a, node t, mt_err *err);
  } f;
} operation;

/* ---------------------------------------------------------------- arguments, results */

/* The value at `i`; NULL for an optional one that is absent. */
static node value (lua_State *L, const char *op, int i, int kinds, mt_layout *buf) {
  if ((kinds & OPTIONAL) && lua_isnoneornil(L, i)) return NULL;
  if (kinds == LAYOUT) return lmt_tolayout(L, i);
  if (kinds == BLOCK) return lmt_toblock(L, i, op, buf);
  if (kinds == COMPOSED) return lmt_tocomposed(L, i);
  return lmt_tovalue(L, i, kinds & ~OPTIONAL, i == 1 ? "#1" : "#2", buf);
}

typedef struct result {
  mt_layout v;
  int64_t i;
} result;

static int serve_V_VT (lua_State *L);

static int push_value (lua_State *L, const operation *o, const result *r) {
  mt_layout tiler;
  if (o->outcome != VIEW) return lmt_pushvalue(L, r->v.node);
  if (o->row.f != serve_V_VT) return lmt_pushlike(L, 1, r->v.node, 0);
  node a = lmt_tocomposed(L, 1);
  return lmt_pushdivided(L, 1, a, lmt_totiler(L, 2, &tiler), r->v.node);
}
static int push_int (lua_State *L, const operation *o, const result *r) {
  (void)o;
  lua_pushinteger(L, r->i);
  return 1;
}

/* ---------------------------------------------------------------- signatures */

static int failed (lua_State *L, const char *name, const mt_err *err) {
  return lmt_undolisted(L, name, NULL) ? 1 : lmt_raise(L, err);
}

/* name     result      the call */
#define SIGNATURES(X)                                                                    \
  X(I_V, push_int, o->f.I_V(&r.i, V(1), &err))                                           \
  X(I_VV, push_int, o->f.I_VV(&r.i, V(1), V(2), &err))                                   \
  X(V_V, push_value, o->f.V_V(&r.v, V(1), &err))                                         \
  X(V_VV, push_value, o->f.V_VV(&r.v, V(1), V(2), &err))                                 \
  X(V_VI, push_value, o->f.V_VI(&r.v, V(1), luaL_checkinteger(L, 2), &err))              \
  X(V_T, push_value, o->f.V_T(&r.v, lmt_totiler(L, 1, &v[0]), &err))                     \
  X(V_VT, push_value, o->f.V_VT(&r.v, V(1), lmt_totiler(L, 2, &v[1]), &err))

#define V(n) value(L, o->row.name, n, o->kinds[(n)-1], &v[(n)-1])
#define SERVE(signature, push, call)                                                     \
  static int serve_##signature(lua_State *L) {                                           \
    const operation *o = lua_touserdata(L, lua_upvalueindex(1));                         \
    mt_layout v[MAXVALUES];                                                              \
    result r;                                                                            \
    LMT_NOERR(err);                                                                      \
    LMT_COUNT(L, MOST_##signature, o->row.name, o->row.takes);                           \
    return (call) ? failed(L, o->row.name, &err) : push(L, o, &r);                       \
  }
SIGNATURES(SERVE)
#undef SERVE
#undef V

/* ---------------------------------------------------------------- yes, or no and why */

typedef mt_status (*question)(bool *, node, mt_err *);

static bool is_so (lua_State *L, question f) {
  bool is;
  LMT_NOERR(err);
  if (f(&is, lmt_tocomposed(L, 1), &err)) lmt_raise(L, &err);
  lua_pushboolean(L, is);
  return is;
}

/* Two elements that meet, if they are found. */
static int push_collision (lua_State *L) {
  int64_t i, j;
  LMT_NOERR(err);
  if (mt_collision(&i, &j, lmt_tocomposed(L, 1), &err) || i < 0) return 1;
  lua_pushinteger(L, i);
  lua_pushinteger(L, j);
  return 3;
}

/* An offset that is left out, if it is found; *gap: whether there may be one. */
static int push_gap (lua_State *L, bool *gap) {
  int64_t offset;
  LMT_NOERR(err);
  bool failed = mt_first_gap(gap, &offset, lmt_tocomposed(L, 1), &err) != MT_OK;
  if (failed) *gap = true;
  if (failed || !*gap) return 1;
  lua_pushinteger(L, offset);
  return 2;
}

/* is_injective(A): true; or false, i, j: A(i) = A(j) */
static int l_is_injective (lua_State *L) {
  return is_so(L, mt_is_injective) ? 1 : push_collision(L);
}

/* is_surjective(A): true; or false, an offset that A has not */
static int l_is_surjective (lua_State *L) {
  bool gap;
  return is_so(L, mt_is_surjective) ? 1 : push_gap(L, &gap);
}

/* is_bijective(A): true; or false and what those give */
static int l_is_bijective (lua_State *L) {
  bool gap;
  if (is_so(L, mt_is_bijective)) return 1;
  int n = push_gap(L, &gap);
  return gap ? n : push_collision(L);
}

/* is_contiguous(A): true; or false, the first i with A(i) != A(0) + i */
static int l_is_contiguous (lua_State *L) {
  int64_t n;
  LMT_NOERR(err);
  if (is_so(L, mt_is_contiguous)) return 1;
  if (mt_contiguity(&n, lmt_tocomposed(L, 1), &err)) return lmt_raise(L, &err);
  lua_pushinteger(L, n);
  return 2;
}

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
  if (lua_isnoneornil(L, 2)) {
    if (mt_make_ordered_layout(&out, shape, NULL, &err)) return lmt_raise(L, &err);
  } else if (lmt_isstring(L, 2)) {
    lua_settop(L, 2);
    if (order_of(L, 2, mt_rank(shape), &order) ? mt_layout_right(&out, shape, &err) :
                                                 mt_layout_left(&out, shape, &err))
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
  node a = lmt_tocomposed(L, 1), shape = lmt_tovalue(L, 2, EXTENTS, "shape", &buf);
  if (mt_tile_to_shape(&out, a, shape, order_of(L, 3, mt_rank(shape), &order), &err))
    return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}

/* with_shape(A, shape), with_shape(A, m, n, ...): A o shape:left. */
static int l_with_shape (lua_State *L) {
  mt_layout buf, out;
  LMT_NOERR(err);
  node a = lmt_tocomposed(L, 1);
  if (lua_gettop(L) > 2) {
    int n = lua_gettop(L) - 1;
    lua_createtable(L, n, 0);
    lua_insert(L, 2);
    for (int i = n; i > 0; i--) lua_rawseti(L, 2, i);
  }
  if (mt_with_shape(&out, a, lmt_tovalue(L, 2, EXTENTS, "shape", &buf), &err))
    return lmt_raise(L, &err);
  const mt_node run = {.tag = MT_LEAF,
                       .span = 1,
                       .stride = 1,
                       .shape = mt_size(out.node)};
  return lmt_pushcomposed(L, 1, a, &run, out.node);
}

/* filter_zeros(A [, profile]); filter_zeros(profile, shape): the extents that a 0 stands
** for become 1. */
static int l_filter_zeros (lua_State *L) {
  mt_layout buf, other, out;
  LMT_NOERR(err);
  node a = lmt_tovalue(L, 1, EXTENTS, "#1", &buf), b = NULL;
  bool layout = lmt_islayout(a);
  if (!lua_isnoneornil(L, 2)) b = lmt_tovalue(L, 2, EXTENTS, "#2", &other);
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
  node a = lmt_tocomposed(L, 1), bound = NULL;
  if (!lua_isnoneornil(L, 2)) bound = lmt_tovalue(L, 2, EXTENTS, "bound", &buf);
  if (mt_complement_shape(&out, &fills, a, bound, &err)) return lmt_raise(L, &err);
  lmt_pushnew(L, 1, a, out.node);
  lua_pushboolean(L, fills);
  return 2;
}

/* equivalent(A, B): whether they are one function; if not, also the first index where
** they differ, nothing if their sizes do. */
static int l_equivalent (lua_State *L) {
  bool same;
  int64_t at;
  LMT_NOERR(err);
  if (mt_equivalent(&same, &at, lmt_tocomposed(L, 1), lmt_tocomposed(L, 2), &err))
    return lmt_raise(L, &err);
  lua_pushboolean(L, same);
  if (at < 0) return 1;
  lua_pushinteger(L, at);
  return 2;
}

static bool is_composed (lua_State *L, int i) {
  if (lmt_isstring(L, i)) lmt_saidlayout(L, i, LMT_LAYOUTS | LMT_COMPOSED);
  node a = lmt_nodeat(L, i);
  return a && a->tag == MT_COMPOSED;
}

typedef mt_status (*casting)(mt_layout *out, node a, int64_t n, mt_err *err);

/* upcast(A, n), downcast(A, n) */
static int cast_layout (lua_State *L, const char *op, casting f) {
  mt_layout buf, out;
  LMT_NOERR(err);
  if (is_composed(L, 1)) return lmt_byvalues(L, op, 2, (const int[]){1, 2});
  if (f(&out, lmt_tovalue(L, 1, SWIZZLED, "#1", &buf), luaL_checkinteger(L, 2), &err))
    return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}
static int l_upcast (lua_State *L) { return cast_layout(L, "upcast", mt_upcast); }
static int l_downcast (lua_State *L) { return cast_layout(L, "downcast", mt_downcast); }

/* Any number of bits, or those of a dtype. */
static int64_t recast_bits (lua_State *L, int i) {
  return lmt_isstring(L, i) ? lmt_tobits(L, i, "recast_layout") : luaL_checkinteger(L, i);
}

static int recast_layout (lua_State *L, int old_bits, int new_bits, int layout) {
  mt_layout buf, out;
  const int at[] = {layout, old_bits, new_bits};
  LMT_NOERR(err);
  if (is_composed(L, layout)) return lmt_byvalues(L, "recast_layout", 3, at);
  node a = lmt_tovalue(L, layout, SWIZZLED, "layout", &buf);
  if (mt_recast_layout(&out, recast_bits(L, old_bits), recast_bits(L, new_bits), a, &err))
    return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}
/* A layout comes last, as in CuTe, or first, as of the method. */
static int l_recast_layout (lua_State *L) {
  bool first = lmt_nodeat(L, 1) != NULL && lmt_nodeat(L, 3) == NULL;
  return first ? recast_layout(L, 2, 3, 1) : recast_layout(L, 1, 2, 3);
}
static int m_recast_layout (lua_State *L) { return recast_layout(L, 2, 3, 1); }

/* ------------------------------------------------------- parts of layouts and tensors */

/* f(A, tiler, coordinate) */
static int partition (lua_State *L, const char *name,
                      mt_status (*f)(mt_layout *out, mt_layout *offset, node a, node t,
                                     node c, mt_err *err)) {
  mt_layout t, c, out, offset;
  LMT_NOERR(err);
  node a = lmt_tocomposed(L, 1), tiler = lmt_totiler(L, 2, &t);
  if (f(&out, &offset, a, tiler, lmt_tovalue(L, 3, LMT_COORD, "coordinate", &c), &err))
    return lmt_raiseas(L, "slice", name, &err);
  return lmt_pushpart(L, 1, out.node, offset.node, tiler);
}
static int l_inner_partition (lua_State *L) {
  return partition(L, "inner_partition", mt_inner_partition);
}
static int l_outer_partition (lua_State *L) {
  return partition(L, "outer_partition", mt_outer_partition);
}

/* The projection at `i`: a tuple, with _ for the modes that are dropped. */
static node projection (lua_State *L, int i, mt_layout *buf) {
  return lua_isnoneornil(L, i) ? NULL : lmt_tovalue(L, i, LMT_COORD, "projection", buf);
}

/* Returns the tiler of the modes that are tiled, in t or on the stack. */
static LMT_APART node local_tile (lua_State *L, mt_layout *out, mt_layout *offset,
                                  mt_layout *t) {
  mt_layout c, p;
  LMT_NOERR(err);
  node a = lmt_tocomposed(L, 1), tiler = lmt_totiler(L, 2, t);
  node coord = lmt_tovalue(L, 3, LMT_COORD, "coordinate", &c);
  node proj = projection(L, 4, &p);
  if (mt_local_tile(out, offset, a, tiler, coord, proj, &err))
    lmt_raiseas(L, "slice", "local_tile", &err);
  if (proj == NULL || mt_dice(&c, proj, tiler, &err) != MT_OK) return tiler;
  *t = c;
  return t->node;
}

/* local_tile(A, tiler, coordinate [, projection]) */
static int l_local_tile (lua_State *L) {
  mt_layout t, out, offset;
  node tiler = local_tile(L, &out, &offset, &t);
  return lmt_pushpart(L, 1, out.node, offset.node, tiler);
}

static LMT_APART void local_partition (lua_State *L, mt_layout *out, mt_layout *offset,
                                       mt_layout *tile) {
  mt_layout p, diced;
  LMT_NOERR(err);
  node a = lmt_tocomposed(L, 1), thr = lmt_tolayout(L, 2), proj = projection(L, 4, &p);
  if (mt_local_partition(out, offset, a, thr, luaL_checkinteger(L, 3), proj, &err))
    lmt_raiseas(L, "slice", "local_partition", &err);
  if (proj && mt_dice(&diced, proj, thr, &err) == MT_OK) thr = diced.node;
  if (mt_product_each(tile, thr, &err)) lmt_raise(L, &err);
}

/* local_partition(A, threads, index [, projection]) */
static int l_local_partition (lua_State *L) {
  mt_layout tile, out, offset;
  local_partition(L, &out, &offset, &tile);
  return lmt_pushpart(L, 1, out.node, offset.node, tile.node);
}

/* Whether the value at `i` is a layout or a tensor. */
static bool has_layout (lua_State *L, int i) {
  mt_layout buf;
  return !lua_isnoneornil(L, i) &&
         lmt_islayout(lmt_tovalue(L, i, LMT_ANY, i == 1 ? "#1" : "#2", &buf));
}

/* Of the modes that c moves: a tiler that is larger than each of their leaves, or as
** large as one can be; others stay as they are. c NULL: of all. */
static void past_moved (mt_node **to, node a, node c) {
  mt_node *p = (*to)++;
  bool all = c == NULL || (c->tag == MT_INT && c->shape > 0);
  *p = (mt_node){.tag = MT_WILD, .span = 1};
  if (a->tag == MT_LEAF && all)
    *p = (mt_node){.tag = MT_LEAF,
                   .span = 1,
                   .stride = 1,
                   .shape = a->shape + (a->shape < INT64_MAX)};
  if (a->tag != MT_MODES || (!all && c->tag != MT_TUPLE)) return;
  p->tag = MT_TILER;
  p->arity = a->arity;
  node k = all ? NULL : mt_child(c);
  for (node m = mt_child(a); m < mt_next(a); m = mt_next(m), k = k ? mt_next(k) : NULL)
    past_moved(to, m, k);
  p->span = (uint32_t)(*to - p);
}

/* domain_offset(c, A), domain_offset(A, c): A seen from c on. */
static int l_domain_offset (lua_State *L) {
  mt_layout c, out, offset, tiler;
  LMT_NOERR(err);
  int at = has_layout(L, 1) ? 1 : 2;
  node a = lmt_tocomposed(L, at), crd = lmt_tocoord1(L, 3 - at, a, &c);
  mt_node *to = tiler.node;
  if (mt_domain_offset(&out, &offset, crd, a, &err)) return lmt_raise(L, &err);
  past_moved(&to, lmt_base(a), crd);
  return lmt_pushcutpart(L, at, out.node, offset.node, &(lmt_cut){.tiler = tiler.node});
}

/* slice(c, t); slice(A, c): as slice_and_offset. */
static int l_slice (lua_State *L) {
  mt_layout c;
  if (has_layout(L, 1)) {
    node a = lmt_tocomposed(L, 1), coord = lmt_tocoord1(L, 2, a, &c);
    return lmt_isclass(L, 1, LMT_TENSOR) ? lmt_slice(L, 1, "slice", coord, a) :
                                           lmt_pushslice(L, "slice", coord, a);
  }
  return lmt_slicetuple(L);
}

/* ---------------------------------------------------------------- registration */

static const operation operations[] = {
#define LMT_OP(...)
#define LMT_LAYOUTOP(name, signature, of, outcome, takes, ...)                           \
  {{#name, serve_##signature, of, MOST_##signature, takes},                              \
   outcome,                                                                              \
   {__VA_ARGS__},                                                                        \
   {.signature = mt_##name}},
#define ROWS_ALGEBRA
#include "binding/operations.def"
};
#undef LMT_OP
#undef LMT_LAYOUTOP

#include "binding/rows.h"

void lmt_open_algebra (lua_State *L) {
  const operation *end = operations + sizeof operations / sizeof *operations;
  for (const operation *o = operations; o < end; o++) lmt_addserved(L, &o->row, o);
  lmt_addrows(L, rows);
}
