/*
** swizzle.c - swizzles, swizzled layouts and shared-memory atoms in Lua.
** SPDX-License-Identifier: MIT
**
** A swizzle is a function of integers, w(i), and composes with layouts and swizzles, w *
** A.
*/
#include <string.h>

#include "algebra/composed.h"
#include "binding/lmt.h"

static const mt_node *swizzle_or_layout (lua_State *L, int i, mt_layout *buf) {
  return lmt_tovalue(L, i, LMT_SWIZZLES | LMT_LAYOUTS, i == 1 ? "#1" : "#2", buf);
}

/* swizzle(B, M [, S]): Sw<B,M,S>; S is B if it is absent. */
static int l_swizzle (lua_State *L) {
  mt_layout out;
  LMT_NOERR(err);
  mt_layout said;
  if (lmt_isstring(L, 1) && lua_isnoneornil(L, 2)) /* "Swizzle<3,4,3>" */
    return lmt_pushvalue(L, lmt_tovalue(L, 1, LMT_SWIZZLES, "swizzle", &said));
  lua_Integer bits = luaL_checkinteger(L, 1), base = luaL_checkinteger(L, 2);
  if (mt_swizzle_bits(&out, bits, base, luaL_optinteger(L, 3, bits), &err))
    return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}

/* make_swizzle(Y, Z): the swizzle with these masks; with a third number what swizzle
** makes of the three, as in CuTe's DSL. */
static int l_make_swizzle (lua_State *L) {
  if (!lua_isnoneornil(L, 3)) return l_swizzle(L);
  mt_layout out;
  LMT_NOERR(err);
  if (mt_make_swizzle(&out, luaL_checkinteger(L, 1), luaL_checkinteger(L, 2), &err))
    return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}

/* w(i); _(i) is i, for `_` as a layout is the identity. */
static int l_call (lua_State *L) {
  mt_layout room, i;
  int64_t v;
  LMT_NOERR(err);
  const mt_node *w = lmt_tovalue(L, 1, LMT_SWIZZLES | LMT_WILD, "call", &room);
  lmt_tovalue(L, 2, LMT_INT, w->tag == MT_WILD ? "_" : "swizzle", &i);
  if (w->tag == MT_WILD) return lmt_pushvalue(L, i.node);
  if (mt_swizzle_at(&v, w, i.node[0].shape, &err)) return lmt_raise(L, &err);
  lua_pushinteger(L, v);
  return 1;
}

/* "NAME<half_t>" at 1 as NAME, "half_t" at 1 and 2. */
static void split_name (lua_State *L) {
  const char *name = luaL_checkstring(L, 1), *open = strchr(name, '<');
  size_t n = strlen(name);
  if (open == NULL || name[n - 1] != '>' || !lua_isnoneornil(L, 2)) return;
  lua_settop(L, 1);
  lua_pushlstring(L, open + 1, (size_t)(name + n - open - 2));
  lua_pushlstring(L, name, (size_t)(open - name));
  lua_replace(L, 1);
}

/* smem_atom(name, bits), smem_atom(name, dtype) */
static int l_smem_atom (lua_State *L) {
  mt_layout out;
  LMT_NOERR(err);
  split_name(L);
  const char *name = luaL_checkstring(L, 1);
  if (mt_smem_atom(&out, name, lmt_tobits(L, 2, NULL), &err)) return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}

/* smem_atoms(): the names. */
static int l_smem_atoms (lua_State *L) {
  const char *name;
  lua_newtable(L);
  for (int i = 0; (name = mt_smem_atom_name(i)) != NULL; i++) {
    lua_pushstring(L, name);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* extent(A): max - min + 1 over the values. */
static int l_extent (lua_State *L) {
  int64_t n;
  LMT_NOERR(err);
  if (mt_extent(&n, lmt_tocomposed(L, 1), &err)) return lmt_raise(L, &err);
  lua_pushinteger(L, n);
  return 1;
}

/* A:min(): the smallest value. */
static int m_min (lua_State *L) {
  int64_t n, lo;
  LMT_NOERR(err);
  if (mt_footprint(&lo, &n, lmt_tocomposed(L, 1), &err)) return lmt_raise(L, &err);
  lua_pushinteger(L, lo);
  return 1;
}

static int l_is_swizzled (lua_State *L) {
  const mt_node *a = lmt_tocomposed(L, 1);
  lua_pushboolean(L, a->tag == MT_SWIZZLE && a->arity == 1);
  return 1;
}

static int l_is_composed (lua_State *L) {
  lua_pushboolean(L, lmt_tocomposed(L, 1)->tag == MT_COMPOSED);
  return 1;
}

/* relink(A, B): what is above the base of A, over B */
static int l_relink (lua_State *L) {
  mt_layout out;
  LMT_NOERR(err);
  if (mt_relink(&out, "einsum", lmt_tocomposed(L, 1), NULL, lmt_tocomposed(L, 2), &err))
    return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}

/* with_offset(A, coordinate): coordinate + A(i) */
static LMT_APART int with_origin (lua_State *L) {
  mt_layout buf, out;
  LMT_NOERR(err);
  const mt_node *origin = lmt_tovalue(L, 2, LMT_SHAPE, "with_offset: offset", &buf);
  if (mt_with_origin(&out, lmt_tolayout(L, 1), origin, &err)) return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}

/* with_offset(A, n): n + A(i) */
static int l_with_offset (lua_State *L) {
  mt_layout out;
  LMT_NOERR(err);
  if (lmt_istable(L, 2)) return with_origin(L);
  if (mt_with_offset(&out, lmt_tocomposed(L, 1), luaL_checkinteger(L, 2), &err))
    return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}

/* make_composed_layout(swizzle | layout, offset, A) */
static int l_make_composed_layout (lua_State *L) {
  mt_layout buf, out;
  LMT_NOERR(err);
  const mt_node *f =
      lmt_tovalue(L, 1, LMT_SWIZZLES | LMT_LAYOUTS | LMT_COMPOSED, "function", &buf);
  if (mt_make_composed_layout(&out, f, luaL_checkinteger(L, 2), lmt_tocomposed(L, 3),
                              &err))
    return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}

/* part                   of */
#define PARTS(X)                                                                         \
  X(get_swizzle_portion, swizzle_or_layout(L, 1, &buf))                                  \
  X(get_nonswizzle_portion, lmt_tocomposed(L, 1))

#define PART(name, of)                                                                   \
  static int l_##name(lua_State *L) {                                                    \
    mt_layout buf, out;                                                                  \
    LMT_NOERR(err);                                                                      \
    (void)buf;                                                                           \
    if (mt_##name(&out, of, &err)) return lmt_raise(L, &err);                            \
    return lmt_pushvalue(L, out.node);                                                   \
  }
PARTS(PART)
#undef PART

#define ROWS_SWIZZLE
#include "binding/rows.h"

void lmt_open_swizzle (lua_State *L) { lmt_addrows(L, rows); }
