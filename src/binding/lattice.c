/*
** lattice.c - the lattice of shapes, sums of layouts, explanations in Lua.
** SPDX-License-Identifier: MIT
*/
#include "binding/lmt.h"

typedef mt_status (*operation)(mt_layout *, const mt_node *, const mt_node *, mt_err *);

/* f(S, T) of two shapes, or layouts as such. */
static int of_shapes (lua_State *L, operation f) {
  mt_layout s, t, out;
  LMT_NOERR(err);
  const mt_node *a = lmt_tovalue(L, 1, LMT_SHAPE | LMT_LAYOUTS, "shape", &s);
  const mt_node *b = lmt_tovalue(L, 2, LMT_SHAPE | LMT_LAYOUTS, "shape", &t);
  if (f(&out, a, b, &err)) return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}

static int l_common_refinement (lua_State *L) {
  return of_shapes(L, mt_common_refinement);
}
static int l_common_coarsening (lua_State *L) {
  return of_shapes(L, mt_common_coarsening);
}
static int l_greatest_common_domain (lua_State *L) {
  return of_shapes(L, mt_greatest_common_domain);
}

static int l_layout_add (lua_State *L) {
  mt_layout out;
  LMT_NOERR(err);
  if (mt_layout_add(&out, lmt_tolayout(L, 1), lmt_tolayout(L, 2), &err))
    return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}

/* swizzle_to_f2(Sw, offset, A) */
static int l_swizzle_to_f2 (lua_State *L) {
  mt_layout buf, out;
  LMT_NOERR(err);
  const mt_node *w = lmt_tovalue(L, 1, LMT_SWIZZLES, "swizzle", &buf);
  if (mt_swizzle_to_f2(&out, w, luaL_checkinteger(L, 2), lmt_tolayout(L, 3), &err))
    return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}

/* F9 + F5 is F12. */
static int value_add (lua_State *L) {
  mt_layout a, b, out;
  LMT_NOERR(err);
  const mt_node *x = lmt_tovalue(L, 1, LMT_INT | LMT_BASIS, "operand", &a);
  if (mt_f2_add(&out, x, lmt_tovalue(L, 2, LMT_INT | LMT_BASIS, "operand", &b), &err))
    return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}

/* explain(op, A [, B]) and A:explain(op [, B]): the derivation as text. */
static int explain (lua_State *L, int op, int layout) {
  mt_layout buf;
  luaL_Buffer text;
  size_t n;
  LMT_NOERR(err);
  const char *name = luaL_checkstring(L, op);
  const mt_node *a = lmt_tolayout(L, layout), *b = NULL;
  if (!lua_isnoneornil(L, 3))
    b = lmt_tovalue(L, 3, LMT_COORD | LMT_LAYOUTS, "operand", &buf);
  if (mt_explanation(&n, NULL, 0, name, a, b, &err)) return lmt_raise(L, &err);
  char *p = luaL_buffinitsize(L, &text, n + 1);
  mt_explanation(&n, p, n + 1, name, a, b, &err);
  luaL_pushresultsize(&text, n);
  return 1;
}
static int l_explain (lua_State *L) { return explain(L, 1, 2); }
static int m_explain (lua_State *L) { return explain(L, 2, 1); }

#define ROWS_DOMAIN
#include "binding/rows.h"

static const luaL_Reg value_meta[] = {{"__add", value_add}, {NULL, NULL}};

void lmt_open_domain (lua_State *L) {
  lmt_setmeta(L, LMT_VALUE, value_meta);
  lmt_addrows(L, rows);
}
