/*
** lattice.c - the lattice of shapes, sums of layouts, explanations in Lua.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "binding/kernel.h"
#include "binding/field.h"
#include "binding/listed.h"
#include "binding/lmt.h"

typedef mt_status (*operation)(mt_layout *, const mt_node *, const mt_node *, mt_err *);

/* f(S, T) of two shapes, or layouts as such. */
static int of_shapes (lua_State *L, operation f) {
  mt_layout s, t, out;
  LMT_NOERR(err);
  const mt_node *a = lmt_tovalue(L, 1, LMT_SHAPE | LMT_LAYOUTS | LMT_COMPOSED, "#1", &s);
  const mt_node *b = lmt_tovalue(L, 2, LMT_SHAPE | LMT_LAYOUTS | LMT_COMPOSED, "#2", &t);
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
  const mt_node *a = lmt_tocomposed(L, 1), *b = lmt_tocomposed(L, 2);
  if (a->tag == MT_COMPOSED || b->tag == MT_COMPOSED)
    return lmt_byvalues(L, "layout_add", 2, (const int[]){1, 2});
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

/* Row i of the matrix: bit i of the columns. */
static void push_row (lua_State *L, int i, const int64_t *column, int columns) {
  lua_createtable(L, columns, 0);
  for (int j = 0; j < columns; j++) {
    lua_pushinteger(L, column[j] >> i & 1);
    lua_rawseti(L, -2, j + 1);
  }
}

/* to_f2_matrix(A): the rows, and the value at 0, which is in the field `constant`, too,
** if it is not 0 */
static int l_to_f2_matrix (lua_State *L) {
  int64_t column[64], constant;
  int rows, columns;
  LMT_NOERR(err);
  if (mt_to_f2_matrix(&rows, &columns, column, &constant, lmt_tocomposed(L, 1), &err))
    return lmt_raise(L, &err);
  lua_createtable(L, rows, 0);
  for (int i = 0; i < rows; i++) {
    push_row(L, i, column, columns);
    lua_rawseti(L, -2, i + 1);
  }
  if (constant != 0) lmt_setint(L, "constant", constant);
  lua_pushinteger(L, constant);
  return 2;
}

/* Adds the bits of row i, the table on top of the stack, to n columns; takes it away. */
static void read_row (lua_State *L, int i, int64_t *column, int n) {
  if (!lua_istable(L, -1) || (int)lua_rawlen(L, -1) != n)
    luaL_error(L, "from_f2_matrix: row %d is no list of %d bits, as row 1 is", i + 1, n);
  for (int j = 0; j < n; j++) {
    lua_rawgeti(L, -1, j + 1);
    lua_Integer bit = lua_tointeger(L, -1);
    if (!lua_isinteger(L, -1) || (bit != 0 && bit != 1))
      luaL_error(L, "from_f2_matrix: row %d, column %d: 0 or 1 expected, got %s", i + 1,
                 j + 1, luaL_tolstring(L, -1, NULL));
    column[j] |= (int64_t)bit << i;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* The columns of the matrix at 1. */
static int read_matrix (lua_State *L, int64_t *column) {
  luaL_argexpected(L, lua_istable(L, 1), 1, "table of rows of 0 and 1");
  lua_settop(L, 3);
  lua_Unsigned rows = lua_rawlen(L, 1), n = 0;
  if (rows > 0 && lua_rawgeti(L, 1, 1) == LUA_TTABLE) n = lua_rawlen(L, -1);
  if (rows > 62 || n > 62) luaL_error(L, "from_f2_matrix: more than 62 rows or columns");
  for (int j = 0; j < (int)n; j++) column[j] = 0;
  for (int i = 0; i < (int)rows; i++) {
    lua_rawgeti(L, 1, i + 1);
    read_row(L, i, column, (int)n);
  }
  return (int)n;
}

/* The constant at 3, else that of the matrix. In from_f2_matrix(to_f2_matrix(A)) it is in
** the place of the shape, which is taken away. */
static lua_Integer read_constant (lua_State *L) {
  if (!lua_isnoneornil(L, 3)) return luaL_checkinteger(L, 3);
  lua_getfield(L, 1, "constant");
  lua_Integer constant = luaL_optinteger(L, -1, 0);
  lua_pop(L, 1);
  if (lua_isinteger(L, 2) && lua_tointeger(L, 2) == constant) {
    lua_pushnil(L);
    lua_replace(L, 2);
  }
  return constant;
}

/* from_f2_matrix(M [, shape [, constant]]) */
static int l_from_f2_matrix (lua_State *L) {
  mt_layout buf, out;
  int64_t column[64];
  LMT_NOERR(err);
  int n = read_matrix(L, column);
  lua_Integer constant = read_constant(L);
  const mt_node *shape =
      lua_isnoneornil(L, 2) ? NULL : lmt_tovalue(L, 2, LMT_SHAPE, "shape", &buf);
  if (mt_from_f2_matrix(&out, n, column, constant, shape, &err))
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

/* explain("verify", ...): the proof as text, or why there is none. */
static int explain_verify (lua_State *L) {
  lua_pushcfunction(L, lmt_verify);
  lua_replace(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  luaL_tolstring(L, -1, NULL);
  return 1;
}

/* explain(op, A [, B]) and A:explain(op [, B]): the derivation as text. */
static int explain (lua_State *L, int op, int layout) {
  mt_layout buf, first;
  luaL_Buffer text;
  size_t n;
  LMT_NOERR(err);
  const char *name = luaL_checkstring(L, op);
  if (op == 1 && strcmp(name, "verify") == 0) return explain_verify(L);
  if (lua_gettop(L) > 3) return luaL_error(L, "explain: %s: 2 operands at most", name);
  int kinds = LMT_COORD | LMT_LAYOUTS | LMT_COMPOSED | LMT_SWIZZLES;
  const mt_node *a = lmt_tovalue(L, layout, kinds, "operand", &first), *b = NULL;
  if (!lua_isnoneornil(L, 3))
    b = lmt_tovalue(L, 3, LMT_COORD | LMT_LAYOUTS | LMT_COMPOSED, "operand", &buf);
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
