/*
** query.c - what is asked of layouts, tuples and tensors, or of one of their modes.
** SPDX-License-Identifier: MIT
**
** Mode numbers count from 1: A:size(1, 2) is CuTe's size<0,1>(A), the size of the second
** mode of the first one.
*/
#include "binding/lmt.h"
#include "binding/plan.h"

/* The mode of t that the arguments from 2 on lead to, in `buf`. */
static const mt_node *mode_at (lua_State *L, const char *op, const mt_node *t,
                               mt_layout *buf) {
  int path[MT_MAXNODES], top = lua_gettop(L);
  LMT_NOERR(err);
  while (top > 1 && lua_isnil(L, top)) top--;
  lua_settop(L, top); /* nil behind all is absent */
  int n = lmt_tomodes(L, 2, path);
  if (mt_get(buf, t, n, path, &err)) lmt_raiseas(L, "get", op, &err);
  return buf->node;
}

/* The same; t itself where no mode is asked. */
static inline const mt_node *mode_of (lua_State *L, const char *op, const mt_node *t,
                                      mt_layout *buf) {
  return lua_gettop(L) < 2 ? t : mode_at(L, op, t, buf);
}

/* The value at 1, which is t if it is a layout, or its mode. */
static const mt_node *asked_of (lua_State *L, const char *op, const mt_node *t, int kinds,
                                mt_layout *value, mt_layout *mode) {
  const char *what = kinds == LMT_ANY ? "#1" : "shape";
  if (t == NULL || !lmt_islayout(t)) t = lmt_tovalue(L, 1, kinds, what, value);
  return mode_of(L, op, t, mode);
}

static const mt_node *asked (lua_State *L, const char *op, int kinds, mt_layout *value,
                             mt_layout *mode) {
  return asked_of(L, op, lmt_nodeat(L, 1), kinds, value, mode);
}

static int l_rank (lua_State *L) {
  mt_layout value, mode;
  lua_pushinteger(L, mt_rank(asked(L, "rank", LMT_ANY, &value, &mode)));
  return 1;
}

static int l_depth (lua_State *L) {
  mt_layout value, mode;
  lua_pushinteger(L, mt_depth(asked(L, "depth", LMT_ANY, &value, &mode)));
  return 1;
}

/* Of a tuple: the size of the layouts with this shape, checked. `_`, of which nothing is
** known, counts as 1. */
static int64_t size_of (lua_State *L, const mt_node *t) {
  mt_layout out;
  LMT_NOERR(err);
  if (t->tag == MT_WILD) return 1;
  if (mt_layout_left(&out, t, &err)) lmt_raise(L, &err);
  return mt_size(out.node);
}

/* Threads, as CuTe's size(tiled_mma). */
static int size_of_tiled (lua_State *L) {
  lua_getfield(L, 1, "size");
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

static int l_size (lua_State *L) {
  enum { KINDS = LMT_SHAPE | LMT_LAYOUTS | LMT_COMPOSED | LMT_WILD };
  mt_layout value, mode;
  const mt_node *t = lmt_nodeat(L, 1);
  if (t == NULL && (lmt_istiledmma(L, 1) || lmt_istiledcopy(L, 1)))
    return size_of_tiled(L);
  t = asked_of(L, "size", t, KINDS, &value, &mode);
  lua_pushinteger(L, lmt_islayout(t) ? mt_size(t) : size_of(L, t));
  return 1;
}

static int l_cosize (lua_State *L) {
  int64_t n;
  mt_layout mode;
  LMT_NOERR(err);
  const mt_node *a = mode_of(L, "cosize", lmt_tocomposed(L, 1), &mode);
  if (mt_cosize(&n, a, &err)) return lmt_raise(L, &err);
  lua_pushinteger(L, n);
  return 1;
}

/* The least and the largest offset; of an empty layout 0 and -1. */
static int l_footprint (lua_State *L) {
  int64_t lo, end;
  mt_layout mode;
  LMT_NOERR(err);
  const mt_node *a = mode_of(L, "footprint", lmt_tocomposed(L, 1), &mode);
  if (mt_footprint(&lo, &end, a, &err)) return lmt_raise(L, &err);
  lua_pushinteger(L, lo);
  lua_pushinteger(L, end - 1);
  return 2;
}

static int of_layout (lua_State *L, const char *op,
                      mt_status (*f)(mt_layout *, const mt_node *, mt_err *)) {
  mt_layout mode, out;
  LMT_NOERR(err);
  if (f(&out, mode_of(L, op, lmt_tocomposed(L, 1), &mode), &err))
    return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}
static int l_shape (lua_State *L) {
  lmt_tocomposed(L, 1);
  return of_layout(L, "shape", mt_shape);
}
static int l_stride (lua_State *L) {
  lmt_tolayout(L, 1);
  return of_layout(L, "stride", mt_stride);
}
static int l_coshape (lua_State *L) {
  lmt_tolayout(L, 1);
  return of_layout(L, "coshape", mt_coshape);
}

#define ROWS_QUERY
#include "binding/rows.h"

void lmt_open_query (lua_State *L) { lmt_addrows(L, rows); }
