/*
** tuple.c - integer tuples and the modes of tuples and layouts in Lua.
** SPDX-License-Identifier: MIT
**
** Most functions are rows LMT_TUPLEOP of operations.def: one function serves each
** signature, the row is its upvalue.
*/
#include "binding/lmt.h"

enum {
  INTS = LMT_SHAPE,
  EXTENTS = LMT_SHAPE | LMT_LAYOUTS | LMT_COMPOSED,
  COORD = LMT_COORD,
  LAYOUT = LMT_LAYOUTS,
  INDEX = LMT_COORD | LMT_BASIS,
  VALUE = LMT_ANY,
  OPTIONAL = 1 << 16,
  MAXVALUES = 3
};

typedef const mt_node *node;

typedef struct operation {
  lmt_operation row;
  int kinds[MAXVALUES];
  union {
    mt_status (*I_V)(int64_t *out, node a, mt_err *err);
    mt_status (*I_VV)(int64_t *out, node a, node b, mt_err *err);
    mt_status (*I_VI)(int64_t *out, node a, int64_t i, mt_err *err);
    mt_status (*V_V)(mt_layout *out, node a, mt_err *err);
    mt_status (*V_VV)(mt_layout *out, node a, node b, mt_err *err);
    mt_status (*V_VVV)(mt_layout *out, node a, node b, node c, mt_err *err);
    mt_status (*V_VI)(mt_layout *out, node a, int64_t i, mt_err *err);
    mt_status (*V_VM)(mt_layout *out, node a, int i, mt_err *err);
    mt_status (*V_VMV)(mt_layout *out, node a, int i, node b, mt_err *err);
    mt_status (*B_VV)(bool *out, node a, node b, mt_err *err);
  } f;
} operation;

/* ---------------------------------------------------------------- arguments, results */

/* The value at `i`; NULL for an optional one that is absent. */
static node value (lua_State *L, int i, int kinds, mt_layout *buf) {
  static const char *const names[] = {"#1", "#2", "#3"};
  if ((kinds & OPTIONAL) && lua_isnoneornil(L, i)) return NULL;
  return lmt_tovalue(L, i, kinds & ~OPTIONAL, i <= MAXVALUES ? names[i - 1] : "value",
                     buf);
}

/* A mode number of Lua, from 1 on, as one of C. */
static int mode (lua_State *L, int i) {
  lua_Integer m = luaL_checkinteger(L, i);
  if (m < 1) luaL_error(L, "mode numbers count from 1, got %I", (LUAI_UACINT)m);
  return (int)(m <= MT_MAXNODES ? m : MT_MAXNODES + 1) - 1;
}

/* A number of modes. */
static int count (lua_State *L, int i) {
  lua_Integer n = luaL_checkinteger(L, i);
  luaL_argcheck(L, n >= 0, i, "a number of modes expected");
  return (int)(n <= MT_MAXNODES ? n : MT_MAXNODES + 1);
}

typedef struct result {
  mt_layout v;
  int64_t i;
  bool b;
} result;

static int push_value (lua_State *L, const result *r) {
  return lmt_pushvalue(L, r->v.node);
}
static int push_int (lua_State *L, const result *r) {
  lua_pushinteger(L, r->i);
  return 1;
}
static int push_bool (lua_State *L, const result *r) {
  lua_pushboolean(L, r->b);
  return 1;
}

/* ---------------------------------------------------------------- signatures */

/* name     result      the call */
#define SIGNATURES(X)                                                                    \
  X(I_V, push_int, o->f.I_V(&r.i, V(1), &err))                                           \
  X(I_VV, push_int, o->f.I_VV(&r.i, V(1), V(2), &err))                                   \
  X(I_VI, push_int, o->f.I_VI(&r.i, V(1), luaL_checkinteger(L, 2), &err))                \
  X(V_V, push_value, o->f.V_V(&r.v, V(1), &err))                                         \
  X(V_VV, push_value, o->f.V_VV(&r.v, V(1), V(2), &err))                                 \
  X(V_VVV, push_value, o->f.V_VVV(&r.v, V(1), V(2), V(3), &err))                         \
  X(V_VI, push_value, o->f.V_VI(&r.v, V(1), luaL_checkinteger(L, 2), &err))              \
  X(V_VM, push_value, o->f.V_VM(&r.v, V(1), mode(L, 2), &err))                           \
  X(V_VMV, push_value, o->f.V_VMV(&r.v, V(1), mode(L, 2), V(3), &err))                   \
  X(B_VV, push_bool, o->f.B_VV(&r.b, V(1), V(2), &err))

#define V(n) value(L, n, o->kinds[(n)-1], &v[(n)-1])
#define SERVE(signature, push, call)                                                     \
  static int serve_##signature(lua_State *L) {                                           \
    const operation *o = lua_touserdata(L, lua_upvalueindex(1));                         \
    mt_layout v[MAXVALUES];                                                              \
    result r;                                                                            \
    LMT_NOERR(err);                                                                      \
    LMT_COUNT(L, MOST_##signature, o->row.name, o->row.takes);                           \
    return (call) ? lmt_raise(L, &err) : push(L, &r);                                    \
  }
SIGNATURES(SERVE)
#undef SERVE
#undef V

/* ---------------------------------------------------------------- what is no row */

/* slice(c, t): the modes of a layout or a tuple that c has _ for. */
int lmt_slicetuple (lua_State *L) {
  mt_layout cbuf, tbuf, out;
  LMT_NOERR(err);
  lua_settop(L, 2);
  node t = value(L, 2, EXTENTS, &tbuf);
  if (lmt_islayout(t)) {
    lua_rotate(L, 1, 1);
    return lmt_method_slice(L);
  }
  if (mt_slice_tuple(&out, value(L, 1, COORD, &cbuf), t, &err)) return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}

typedef mt_status (*extend)(mt_layout *out, node t, node x, mt_err *err);
typedef mt_status (*extend_n)(mt_layout *out, node t, int n, node x, mt_err *err);

/* (t, x), (t, n, x); of a layout also (t, n): filled with 1:0. */
static int beside (lua_State *L, extend one, extend_n many) {
  mt_layout tbuf, xbuf, out;
  LMT_NOERR(err);
  mt_status s;
  node t = value(L, 1, VALUE, &tbuf);
  node x = value(L, 3, VALUE | OPTIONAL, &xbuf);
  if (x == NULL) {
    x = value(L, 2, VALUE, &xbuf);
    if (!lmt_islayout(t) || lmt_islayout(x)) s = one(&out, t, x, &err);
    else s = many(&out, t, count(L, 2), NULL, &err);
  } else {
    s = many(&out, t, count(L, 2), x, &err);
  }
  if (s) return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}
static int l_append (lua_State *L) { return beside(L, mt_append, mt_append_n); }
static int l_prepend (lua_State *L) { return beside(L, mt_prepend, mt_prepend_n); }

/* zip(t), zip(a, b, ...): the transpose of t or of (a, b, ...). */
static int l_zip (lua_State *L) {
  node t[MT_MAXNODES];
  mt_layout out;
  LMT_NOERR(err);
  int n = lua_gettop(L);
  if (n > MT_MAXNODES) return luaL_error(L, "zip: more than %d values", (int)MT_MAXNODES);
  mt_layout *buf = lua_newuserdatauv(L, (size_t)(n + 1) * sizeof *buf, 0);
  for (int i = 0; i < n; i++) t[i] = value(L, i + 1, VALUE, &buf[i]);
  if (mt_zip(&out, n, t, &err)) return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}

/* A:idx2crd(index), A:dice(c): self is the last argument of the function. */
static int m_idx2crd (lua_State *L) {
  mt_layout index, buf, out;
  LMT_NOERR(err);
  node a = value(L, 1, EXTENTS, &buf);
  if (mt_idx2crd_stride(&out, value(L, 2, INDEX, &index), a, NULL, &err))
    return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}
static int m_dice (lua_State *L) {
  mt_layout c, buf, out;
  LMT_NOERR(err);
  node a = value(L, 1, VALUE, &buf);
  if (mt_dice(&out, value(L, 2, COORD, &c), a, &err)) return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}

/* compatible(A, B): true; or false, and where they part */
static int related (lua_State *L, mt_relation r, int kinds) {
  mt_layout abuf, bbuf;
  LMT_NOERR(err);
  node a = value(L, 1, kinds, &abuf);
  mt_status s = mt_check_relation(r, a, value(L, 2, kinds, &bbuf), &err);
  lua_pushboolean(L, s == MT_OK);
  if (s == MT_OK) return 1;
  lua_pushstring(L, err.text);
  return 2;
}
#define RELATED(name, r, kinds)                                                          \
  static int l_##name(lua_State *L) { return related(L, r, kinds); }
RELATED(congruent, MT_CONGRUENT, VALUE)
RELATED(weakly_congruent, MT_WEAKLY_CONGRUENT, EXTENTS)
RELATED(compatible, MT_COMPATIBLE, EXTENTS)
RELATED(weakly_compatible, MT_WEAKLY_COMPATIBLE, EXTENTS)
#undef RELATED

/* tile["repeat"](n, x): (x, ..., x); of n = 1: x. */
static int l_repeat (lua_State *L) {
  mt_layout buf, out;
  LMT_NOERR(err);
  if (mt_repeat(&out, count(L, 1), value(L, 2, VALUE, &buf), &err))
    return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}

/* make_shape(x, y, ...): (x,y,...), as CuTe has it. */
static int make (lua_State *L, int kinds, const char *what) {
  mt_layout out;
  int n = lua_gettop(L);
  lua_createtable(L, n, 0);
  lua_insert(L, 1);
  for (int i = n; i > 0; i--) lua_rawseti(L, 1, i);
  return lmt_pushvalue(L, lmt_tovalue(L, 1, kinds, what, &out));
}

static int l_make_shape (lua_State *L) { return make(L, LMT_SHAPE, "make_shape"); }
static int l_make_stride (lua_State *L) { return make(L, LMT_STRIDE, "make_stride"); }
static int l_make_coord (lua_State *L) { return make(L, LMT_COORD, "make_coord"); }
static int l_make_tile (lua_State *L) {
  return make(L, LMT_COORD | LMT_LAYOUTS, "make_tile");
}

/* ---------------------------------------------------------------- registration */

static const operation operations[] = {
#define LMT_OP(...)
#define LMT_TUPLEOP(name, function, signature, of, takes, ...)                           \
  {{#name, serve_##signature, of, MOST_##signature, takes},                              \
   {__VA_ARGS__},                                                                        \
   {.signature = mt_##function}},
#define ROWS_TUPLE
#include "binding/operations.def"
};
#undef LMT_OP
#undef LMT_TUPLEOP

#include "binding/rows.h"

void lmt_open_tuple (lua_State *L) {
  const operation *end = operations + sizeof operations / sizeof *operations;
  for (const operation *o = operations; o < end; o++) lmt_addserved(L, &o->row, o);
  lmt_addrows(L, rows);
}
