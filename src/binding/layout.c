/*
** layout.c - layouts in Lua: each function is a function of the module and a method.
** SPDX-License-Identifier: MIT
**
** Functions keep CuTe's order of arguments; where the layout is not the first of them,
** the method has a row of its own (m_...). A tensor stands for its layout; what selects
** or regroups its elements gives a view of it.
*/
#include <string.h>

#include "binding/atom.h"
#include "binding/instead.h"
#include "binding/listed.h"
#include "binding/said.h"
#include "binding/lmt.h"
#include "binding/view.h"

/* ---------------------------------------------------------------- building */

/* With the order or the stride at `i`. */
static mt_status build (mt_layout *out, lua_State *L, const mt_node *shape, int i,
                        mt_err *err) {
  mt_layout buf;
  const mt_node *stride = NULL;
  switch (lmt_toorder(L, i, &buf, &stride)) {
    case LMT_RIGHT: return mt_layout_right(out, shape, err);
    case LMT_GIVEN: return mt_make_layout(out, shape, stride, err);
    default: return mt_layout_left(out, shape, err);
  }
}

static int layout_of_swizzle (lua_State *L) {
  mt_layout buf, out;
  LMT_NOERR(err);
  const mt_node *w = lmt_tovalue(L, 1, LMT_SHAPE | LMT_SWIZZLES, "shape", &buf);
  luaL_argcheck(L, lua_isnoneornil(L, 2), 2, "a swizzle has no strides");
  if (mt_swizzle_layout(&out, w, &err)) return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}

/* layout(shape [, stride | "left" | "right"]); layout "text"; layout(swizzle). */
static int l_layout (lua_State *L) {
  mt_layout buf, out;
  LMT_NOERR(err);
  if (lmt_marked(L, 1, LMT_VALUES)) return layout_of_swizzle(L);
  const mt_node *shape = lmt_toshape(L, 1, &buf);
  if (lmt_islayout(shape)) {
    luaL_argcheck(L, lua_isnoneornil(L, 2), 2, "the text has strides already");
    return lmt_pushvalue(L, shape);
  }
  if (build(&out, L, shape, 2, &err))
    return lmt_raiseas(L, "layout", lmt_calledas(L, "make_layout", "layout"), &err);
  return lmt_pushvalue(L, out.node);
}

/* parse(text [, atom | integers for each `?`]): the value that a text form stands for;
** LayoutLeft and LayoutRight are orders, which are texts in Lua. */
static int l_parse (lua_State *L) {
  size_t n;
  mt_layout out;
  LMT_NOERR(err);
  luaL_checktype(L, 1, LUA_TSTRING);
  lmt_fillmarks(L);
  LMT_COUNT(L, 2, "parse", "text [, atom]");
  const char *text = lua_tolstring(L, 1, &n);
  if (strcmp(text, "LayoutLeft") == 0 || strcmp(text, "LayoutRight") == 0)
    return lua_pushvalue(L, 1), 1;
  if (lmt_readtiled(L, text)) return 1;
  if (mt_parse(&out, text, n, &err)) return lmt_unread(L, text, &err);
  return lmt_pushvalue(L, out.node);
}

/* An integer, or a table that begins with one or with a table. */
static bool is_shape (lua_State *L, int i) {
  if (!lmt_istable(L, i)) return lua_isinteger(L, i);
  lua_rawgeti(L, i, 1);
  bool is = lua_isinteger(L, -1) || lmt_istable(L, -1);
  lua_pop(L, 1);
  return is;
}

/* The sum of modes that are swizzled or composed: what has its values. */
static int sum_of (lua_State *L, int n, const mt_node *const *modes, const mt_err *err) {
  int at[MT_MAXNODES], top = lua_gettop(L);
  bool rooted = false;
  for (int k = 0; k < n; k++) rooted = rooted || modes[k]->tag >= MT_SWIZZLE;
  if (!rooted || top > MT_MAXNODES) return lmt_raise(L, err);
  for (int k = 0; k < top; k++) at[k] = k + 1;
  return lmt_byvalues(L, "make_layout", top, at);
}

/* make_layout(A, B, ...) or of a table: (A, B, ...); make_layout(shape [, stride]). */
static int l_make_layout (lua_State *L) {
  const mt_node *modes[MT_MAXNODES];
  mt_layout out;
  LMT_NOERR(err);
  if (is_shape(L, 1)) {
    LMT_COUNT(L, 2, "make_layout", "shape [, stride]");
    return l_layout(L);
  }
  int n = lmt_tolayouts(L, 1, modes);
  if (mt_concat(&out, n, modes, &err)) return sum_of(L, n, modes, &err);
  return lmt_pushvalue(L, out.node);
}

static int l_make_identity_layout (lua_State *L) {
  mt_layout buf, out;
  LMT_NOERR(err);
  const mt_node *shape = lmt_tovalue(L, 1, LMT_SHAPE, "shape", &buf);
  if (mt_make_identity_layout(&out, shape, &err))
    return lmt_raiseas(L, "make_identity_layout",
                       lmt_calledas(L, "make_identity_tensor", "make_identity_layout"),
                       &err);
  return lmt_pushvalue(L, out.node);
}

static int l_make_layout_like (lua_State *L) {
  mt_layout out;
  LMT_NOERR(err);
  if (mt_make_layout_like(&out, lmt_tocomposed(L, 1), &err)) return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}

/* ---------------------------------------------------------------- queries */

static const mt_node *any (lua_State *L, int i, mt_layout *buf) {
  return lmt_tovalue(L, i, LMT_ANY, i == 1 ? "#1" : "#2", buf);
}

/* Layouts, tuples (also with plain tables), other values; never an error between kinds.
** */
static int l_eq (lua_State *L) {
  mt_layout a, b;
  bool comparable = lmt_isplain(L, 1) && lmt_isplain(L, 2);
  lua_pushboolean(L, comparable && mt_equal(any(L, 1, &a), any(L, 2, &b)));
  return 1;
}

static int l_tostring (lua_State *L) {
  mt_layout buf;
  return lmt_pushtext(L, any(L, 1, &buf));
}

/* ---------------------------------------------------------------- evaluation */

static int eval (lua_State *L, const char *op, const mt_node *c, const mt_node *a) {
  mt_layout out;
  LMT_NOERR(err);
  if (mt_eval(&out, c, a, &err)) return lmt_raiseas(L, "crd2idx", op, &err);
  return lmt_pushvalue(L, out.node);
}

bool lmt_haswild (const mt_node *t) {
  for (const mt_node *p = t; p < mt_next(t); p++)
    if (p->tag == MT_WILD) return true;
  return false;
}

/* The slice of the value at stack index `i`, whose layout is `a`. */
int lmt_slice (lua_State *L, int i, const char *op, const mt_node *c, const mt_node *a) {
  mt_layout out;
  int64_t offset = 0;
  LMT_NOERR(err);
  bool tensor = lmt_marked(L, i, LMT_TENSORS);
  if (tensor) lmt_checkinside(L, c, a);
  if (mt_slice(&out, &offset, c, a, &err)) return lmt_raiseas(L, "slice", op, &err);
  return tensor ? lmt_pushsliced(L, i, out.node, offset, c) :
                  lmt_pushlike(L, i, out.node, offset);
}

/* atom:layout_A() calls the layout in atom.layout_A with the atom. */
static bool is_atom (lua_State *L, int i) {
  return lua_gettop(L) == i && lua_type(L, i) == LUA_TUSERDATA &&
         (lmt_isclass(L, i, LMT_MMAATOM) || lmt_isclass(L, i, LMT_COPYATOM));
}

/* A(i), A(i, j), A{i, j}: the offset (of a coordinate layout: the coordinate); with _ a
** slice. */
static int l_call (lua_State *L) {
  mt_layout buf;
  if (is_atom(L, 2)) return lua_settop(L, 1), 1;
  const mt_node *a = lmt_tocomposed(L, 1), *c = lmt_tocoord(L, 2, a, &buf);
  return lmt_haswild(c) ? lmt_slice(L, 1, NULL, c, a) : eval(L, NULL, c, a);
}

/* A:at(i, j): as A(i, j), inside the domain only. */
static int l_at (lua_State *L) {
  mt_layout buf;
  const mt_node *a = lmt_tocomposed(L, 1), *c = lmt_tocoord(L, 2, a, &buf);
  lmt_checkinside(L, c, a);
  return eval(L, "at", c, a);
}

/* The layout at `i`, or the one that a shape at `i` and a stride at `i + 1` make, in
** `buf`. */
static const mt_node *made_layout (lua_State *L, int i, mt_layout *buf) {
  mt_layout shape;
  LMT_NOERR(err);
  const mt_node *t =
      lmt_tovalue(L, i, LMT_SHAPE | LMT_LAYOUTS | LMT_COMPOSED, "shape", buf);
  if (lmt_islayout(t)) return t;
  mt_copy_value(&shape, t);
  if (build(buf, L, shape.node, i + 1, &err)) lmt_raise(L, &err);
  return buf->node;
}

static int crd2idx (lua_State *L, int c, int a) {
  mt_layout cbuf, abuf;
  const mt_node *layout = made_layout(L, a, &abuf);
  return eval(L, "crd2idx", lmt_tocoord1(L, c, layout, &cbuf), layout);
}
/* crd2idx(c, A), crd2idx(c, shape [, stride]) */
static int l_crd2idx (lua_State *L) {
  const mt_node *a = lmt_nodeat(L, 2);
  luaL_argcheck(L, a == NULL || !lmt_islayout(a) || lua_isnoneornil(L, 3), 3,
                "a layout has its strides");
  return crd2idx(L, 1, 2);
}
static int m_crd2idx (lua_State *L) { return crd2idx(L, 2, 1); }

int lmt_method_slice (lua_State *L) {
  mt_layout buf;
  const mt_node *a = lmt_tocomposed(L, 1);
  return lmt_slice(L, 1, "slice", lmt_tocoord1(L, 2, a, &buf), a);
}

/* Where a slice of a composed layout begins lies inside of it. */
static bool is_integral (const mt_node *a) {
  if (a->tag == MT_COMPOSED) return true;
  for (const mt_node *p = a; p < mt_next(a); p++)
    if (p->ring != MT_Z) return false;
  return true;
}

int lmt_pushslice (lua_State *L, const char *op, const mt_node *c, const mt_node *a) {
  mt_layout out, corner;
  int64_t offset = 0;
  LMT_NOERR(err);
  bool integral = is_integral(a);
  if (mt_slice(&out, integral ? &offset : NULL, c, a, &err))
    return lmt_raiseas(L, "slice", op, &err);
  lmt_pushvalue(L, out.node);
  if (integral) {
    lua_pushinteger(L, offset);
    return 2;
  }
  mt_copy_value(&corner, c);
  for (mt_node *p = corner.node; p < mt_next(corner.node); p++)
    if (p->tag == MT_WILD) p->tag = MT_INT;
  return 1 + eval(L, op, corner.node, a);
}

static int slice_and_offset (lua_State *L, int i, int layout) {
  mt_layout buf;
  const mt_node *a = lmt_tocomposed(L, layout);
  return lmt_pushslice(L, "slice_and_offset", lmt_tocoord1(L, i, a, &buf), a);
}
static int l_slice_and_offset (lua_State *L) { return slice_and_offset(L, 1, 2); }
static int m_slice_and_offset (lua_State *L) { return slice_and_offset(L, 2, 1); }

/* ---------------------------------------------------------------- structure */

static int l_flatten (lua_State *L) {
  mt_layout buf, out;
  LMT_NOERR(err);
  if (mt_flatten(&out, any(L, 1, &buf), &err)) return lmt_raise(L, &err);
  return lmt_pushlike(L, 1, out.node, 0);
}

/* get(t, i, j, ...), get(t, {i, j}): mode j of mode i. */
static int l_get (lua_State *L) {
  mt_layout buf, out;
  LMT_NOERR(err);
  int path[MT_MAXNODES], n = lmt_tomodes(L, 2, path);
  if (mt_get(&out, any(L, 1, &buf), n, path, &err)) return lmt_raise(L, &err);
  return lmt_pushlike(L, 1, out.node, 0);
}

/* select(t, i, j, ...): these modes, in this order. */
static int l_select (lua_State *L) {
  mt_layout buf, out;
  LMT_NOERR(err);
  int modes[MT_MAXNODES], n = lmt_tomodes(L, 2, modes);
  if (mt_select(&out, any(L, 1, &buf), n, modes, &err)) return lmt_raise(L, &err);
  return lmt_pushlike(L, 1, out.node, 0);
}

/* The arguments 2 and 3 as modes of t, counted from 0: first .. last - 1, or none. */
static void mode_range (lua_State *L, const char *op, const mt_node *t, int *first,
                        int *last) {
  lua_Integer i = luaL_checkinteger(L, 2), j = luaL_checkinteger(L, 3);
  if (i < 1 || j < i - 1 || j > mt_rank(t)) lmt_nomodes(L, op, t, i, j);
  *first = (int)i - 1;
  *last = (int)j;
}

/* take(t, first, last): the modes first .. last. */
static int l_take (lua_State *L) {
  mt_layout buf, out;
  LMT_NOERR(err);
  int first, last, modes[MT_MAXNODES], n = 0;
  const mt_node *t = any(L, 1, &buf);
  mode_range(L, "take", t, &first, &last);
  if (first == last) lmt_nomodes(L, "take", t, first + 1, last);
  for (int i = first; i < last; i++) modes[n++] = i;
  if (mt_select(&out, t, n, modes, &err)) return lmt_raise(L, &err);
  return lmt_pushlike(L, 1, out.node, 0);
}

/* group(t, first, last): the modes first .. last become one. */
static int l_group (lua_State *L) {
  mt_layout buf, out;
  LMT_NOERR(err);
  int first, last;
  const mt_node *t = any(L, 1, &buf);
  const char *name = lmt_calledas(L, "group_modes", "group");
  mode_range(L, name, t, &first, &last);
  if (mt_group(&out, t, first, last, &err)) return lmt_raiseas(L, "group", name, &err);
  return lmt_pushlike(L, 1, out.node, 0);
}

/* ---------------------------------------------------------------- algebra */

/* coalesce(A [, profile]) */
static int l_coalesce (lua_State *L) {
  mt_layout buf, out;
  LMT_NOERR(err);
  const mt_node *a = lmt_tocomposed(L, 1), *profile = NULL;
  if (!lua_isnoneornil(L, 2)) profile = lmt_tovalue(L, 2, LMT_COORD, "profile", &buf);
  if (mt_coalesce(&out, a, profile, &err)) return lmt_raise(L, &err);
  return lmt_pushfrom(L, 1, a, out.node);
}

/* What undoes the links one by one may end before the function does. */
static int l_right_inverse (lua_State *L) {
  mt_layout out;
  LMT_NOERR(err);
  const mt_node *a = lmt_tocomposed(L, 1);
  mt_status s = mt_right_inverse(&out, a, &err);
  bool whole = s == MT_OK && (a->tag < MT_SWIZZLE || mt_size(out.node) >= mt_size(a));
  if (!whole && lmt_undolisted(L, "right_inverse", s == MT_OK ? out.node : NULL))
    return 1;
  return s == MT_OK ? lmt_pushvalue(L, out.node) : lmt_raise(L, &err);
}

static int push_product (lua_State *L, int i, const mt_node *a, const mt_node *b,
                         const mt_node *t) {
  (void)b;
  return lmt_pushnew(L, i, a, t);
}

/* Of a product: a layout, a shape, which stands for its compact layout, or an integer. */
const mt_node *lmt_toblock (lua_State *L, int i, const char *op, mt_layout *buf) {
  const mt_node *t = lmt_nodeat(L, i);
  if (t && lmt_islayout(t)) return t;
  if (!lua_isinteger(L, i) && !lmt_istable(L, i)) return lmt_tocomposed(L, i);
  return lmt_toshaped(L, i, lua_pushfstring(L, "%s: %s", op, i == 1 ? "block" : "tiler"),
                      buf);
}

/* operation         operands           result */
#define OPERATIONS(X)                                                                    \
  X(composition, FUNCTION, TILER, lmt_pushcomposed)                                      \
  X(logical_divide, FUNCTION, TILER, lmt_pushdivided)                                    \
  X(zipped_divide, FUNCTION, TILER, lmt_pushdivided)                                     \
  X(tiled_divide, FUNCTION, TILER, lmt_pushdivided)                                      \
  X(flat_divide, FUNCTION, TILER, lmt_pushdivided)                                       \
  X(logical_product, BLOCK(1), TILER, push_product)                                      \
  X(blocked_product, BLOCK(1), BLOCK(2), push_product)                                   \
  X(raked_product, BLOCK(1), BLOCK(2), push_product)

#define FUNCTION lmt_tofunction(L, 1, &left)
#define TILER lmt_totiler(L, 2, &right)
#define BLOCK(i) lmt_toblock(L, i, name, (i) == 1 ? &left : &right)

#define OPERATION(op, first, second, result)                                             \
  static int l_##op(lua_State *L) {                                                      \
    const char *name = #op;                                                              \
    mt_layout left, right, out;                                                          \
    LMT_NOERR(err);                                                                      \
    (void)name;                                                                          \
    const mt_node *a = first, *b = second;                                               \
    if (mt_##op(&out, a, b, &err)) return lmt_raise(L, &err);                            \
    return result(L, 1, a, b, out.node);                                                 \
  }
OPERATIONS(OPERATION)
#undef OPERATION
#undef OPERATIONS
#undef FUNCTION
#undef TILER
#undef BLOCK

/* A * B and A / T: on the left is no tiler, but a number n at 1 is n:1. */
static LMT_APART void number_as_layout (lua_State *L) {
  mt_layout n;
  LMT_NOERR(err);
  if (mt_layout_left(&n, lmt_tovalue(L, 1, LMT_INT, "A", &n), &err)) lmt_raise(L, &err);
  lmt_pushvalue(L, n.node);
  lua_replace(L, 1);
}
static int l_mul (lua_State *L) {
  if (lmt_isstring(L, 1)) return lmt_oftext(L, l_mul);
  if (lua_isinteger(L, 1)) number_as_layout(L);
  if (!lmt_marked(L, 1, LMT_VALUES)) lmt_tocomposed(L, 1);
  return l_composition(L);
}
static int l_div (lua_State *L) {
  if (lmt_isstring(L, 1)) return lmt_oftext(L, l_div);
  if (lua_isinteger(L, 1)) number_as_layout(L);
  if (!lua_isuserdata(L, 1)) lmt_tocomposed(L, 1); /* other values have a `/` */
  return l_logical_divide(L);
}

/* ---------------------------------------------------------------- registration */

static int l_len (lua_State *L) {
  lua_pushinteger(L, mt_rank(lmt_tocomposed(L, 1)));
  return 1;
}

#define ROWS_LAYOUT
#include "binding/rows.h"

const luaL_Reg lmt_operators[] = {{"__len", l_len},
                                  {"__mul", l_mul},
                                  {"__div", l_div},
                                  {NULL, NULL}};

static const luaL_Reg meta[] = {{"__eq", l_eq}, {"__tostring", l_tostring}, {NULL, NULL}};

static const luaL_Reg value_meta[] = {{"__eq", l_eq},
                                      {"__mul", l_mul},
                                      {"__tostring", l_tostring},
                                      {NULL, NULL}};

/* Coordinates: c + d, c - d; c < shape and c <= d of each integer. */
static int coordinates (lua_State *L, mt_status (*f)(mt_layout *, const mt_node *,
                                                     const mt_node *, mt_err *)) {
  mt_layout a, b, out;
  LMT_NOERR(err);
  const mt_node *x = lmt_tovalue(L, 1, LMT_SHAPE, "coordinate", &a);
  if (f(&out, x, lmt_tovalue(L, 2, LMT_SHAPE, "coordinate", &b), &err))
    return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}
static int tuple_add (lua_State *L) { return coordinates(L, mt_coord_add); }
static int tuple_sub (lua_State *L) { return coordinates(L, mt_coord_sub); }

static int compared (lua_State *L,
                     mt_status (*f)(bool *, const mt_node *, const mt_node *, mt_err *)) {
  mt_layout a, b;
  bool yes;
  LMT_NOERR(err);
  const mt_node *x = lmt_tovalue(L, 1, LMT_SHAPE, "coordinate", &a);
  if (f(&yes, x, lmt_tovalue(L, 2, LMT_SHAPE, "coordinate", &b), &err))
    return lmt_raise(L, &err);
  lua_pushboolean(L, yes);
  return 1;
}
static int tuple_lt (lua_State *L) { return compared(L, mt_elem_less); }
static int tuple_le (lua_State *L) { return compared(L, mt_elem_leq); }

/* atom:shape_MNK(), as of layouts. */
static int tuple_call (lua_State *L) {
  if (is_atom(L, 2)) return lua_settop(L, 1), 1;
  return luaL_error(L, "attempt to call a moontile.Tuple value");
}

static const luaL_Reg tuple_meta[] = {{"__eq", l_eq},         {"__tostring", l_tostring},
                                      {"__add", tuple_add},   {"__sub", tuple_sub},
                                      {"__lt", tuple_lt},     {"__le", tuple_le},
                                      {"__call", tuple_call}, {NULL, NULL}};

/* The one `_`, as tile._ and in the state. */
static void open_wildcard (lua_State *L) {
  mt_node *t = lua_newuserdatauv(L, sizeof *t, 0);
  memset(t, 0, sizeof *t);
  t->tag = MT_WILD;
  t->span = 1;
  luaL_setmetatable(L, LMT_VALUE);
  lmt_pushstate(L);
  lua_pushvalue(L, -2);
  lua_setiuservalue(L, -2, LMT_WILDCARD);
  lua_pop(L, 1);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "X"); /* as CuTe says it in a Step */
  lua_setfield(L, -2, "_");
}

void lmt_open_layout (lua_State *L) {
  lmt_setmeta(L, LMT_LAYOUT, meta);
  lmt_setmeta(L, LMT_LAYOUT, lmt_operators);
  lmt_setmeta(L, LMT_VALUE, value_meta);
  lmt_mark(L, LMT_TUPLES, LMT_TUPLE);
  lmt_setmeta(L, LMT_TUPLE, tuple_meta);
  lmt_addrows(L, rows);
  open_wildcard(L);
  lmt_openorders(L);
}
