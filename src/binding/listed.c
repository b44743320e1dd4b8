/*
** listed.c - functions of coordinates by the list of their values: whose memory that is.
** SPDX-License-Identifier: MIT
**
** The values lie in a userdata. Whatever has a node that points to them - a layout, a
** tensor, in this state - keeps it: the state has a table, weak in its keys, from what
** has the node to what has the values. A pointer finds the userdata in a second table,
** weak in its values; from there it is known to be of this state, and alive.
*/
#include <string.h>

#include "binding/listed.h"

#include "moontile/algebra.h"
#include "algebra/composed.h"
#include "algebra/f2.h"
#include "algebra/onto.h"

/* User values of the state: by address, weak, what has the values of lists; by what needs
** them, weak, these. */
enum { LMT_LISTS = LMT_RAISED + 1, LMT_LISTED };

/* The list that a node points to, before what is to have the node is made: pushes it. */
static void push_list (lua_State *L, const mt_node *p) {
  luaL_checkstack(L, 4, NULL);
  lmt_pushstate(L);
  lua_getiuservalue(L, -1, LMT_LISTS);
  if (lua_isnil(L, -1)) lua_newtable(L), lua_replace(L, -2);
  lua_rawgetp(L, -1, mt_list_values(p));
  if (lua_isnil(L, -1))
    luaL_error(L, "a list of %I values is not of this state: function_layout makes one",
               (LUAI_UACINT)p->shape);
  lua_replace(L, -3);
  lua_pop(L, 1);
}

bool lmt_findlist (const mt_node *t) {
  for (const mt_node *p = t; p < mt_next(t); p++)
    if (p->tag == MT_LIST) return true;
  return false;
}

void lmt_pushlists (lua_State *L, int count, const mt_node *const *t) {
  lua_Integer n = 0;
  lua_pushnil(L);
  for (int k = 0; k < count; k++) {
    if (!lmt_haslist(t[k])) continue;
    if (n == 0) lua_newtable(L), lua_replace(L, -2);
    for (const mt_node *p = t[k]; p < mt_next(t[k]); p++) {
      if (p->tag != MT_LIST) continue;
      push_list(L, p);
      lua_rawseti(L, -2, ++n);
    }
  }
}

void lmt_keeplists (lua_State *L, int i, int lists) {
  i = lua_absindex(L, i);
  lists = lua_absindex(L, lists);
  if (lua_isnil(L, lists)) return;
  luaL_checkstack(L, 4, NULL);
  lmt_pushstate(L);
  lua_getiuservalue(L, -1, LMT_LISTED);
  lua_pushvalue(L, i);
  lua_pushvalue(L, lists);
  lua_rawset(L, -3);
  lua_pop(L, 2);
}

void lmt_pushkept (lua_State *L, const mt_node *t) {
  lmt_pushlists(L, 1, &t);
  memcpy(lua_newuserdatauv(L, t->span * sizeof *t, 0), t, t->span * sizeof *t);
  lmt_keeplists(L, -1, -2);
  lua_remove(L, -2);
}

/* A table of the state that is weak, at user value k. */
static void push_weak (lua_State *L, int k, const char *mode) {
  lmt_pushstate(L);
  if (lua_getiuservalue(L, -1, k) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushstring(L, mode);
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, -3, k);
  }
  lua_remove(L, -2);
}

/* The integers of the sequence at 2, n of them, and room for as many. */
static int64_t *push_values (lua_State *L, lua_Integer n) {
  int64_t *v = lua_newuserdatauv(L, 2 * (size_t)n * sizeof *v, 0);
  for (lua_Integer i = 0; i < n; i++) {
    lua_rawgeti(L, 2, i + 1);
    v[i] = luaL_checkinteger(L, -1);
    lua_pop(L, 1);
  }
  return v;
}

/* listed(shape, { values }): the layout that has them, by index */
static int l_listed (lua_State *L) {
  mt_layout buf, out;
  LMT_NOERR(err);
  const mt_node *shape = lmt_toshape(L, 1, &buf);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_Integer n = (lua_Integer)lua_rawlen(L, 2);
  luaL_argcheck(L, n >= 1 && n == mt_size(shape), 2, "a value for each");
  push_weak(L, LMT_LISTED, "k");
  push_weak(L, LMT_LISTS, "v");
  int64_t *v = push_values(L, n);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, -3, v);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, -3, v + n);
  if (mt_make_numbering(&out, shape, v, &err) == MT_OK) return lmt_pushvalue(L, out.node);
  err = (mt_err)MT_NOERR;
  if (mt_make_list(&out, shape, v, &err)) return lmt_raise(L, &err);
  return lmt_pushvalue(L, out.node);
}

/* values(A, op): its numbers by index, of one over F2 their words; `op` asks. */
static int l_values (lua_State *L) {
  enum { MT_ATATIME = 1 << 12 };
  mt_flat flat;
  int64_t v;
  LMT_NOERR(err);
  const char *op = luaL_checkstring(L, 2);
  const int64_t n = mt_size(lmt_tocomposed(L, 1));
  luaL_argcheck(L, n <= INT32_MAX, 1, "fewer values");
  lua_createtable(L, (int)n, 0);
  const mt_node *a = lmt_tocomposed(L, 1);
  const mt_flat *f2 = !mt_is_composed(a) && mt_is_f2(a) ? &flat : NULL;
  if (f2) mt_flatten_extended(&flat, a);
  for (int64_t i = 0; i < n; i++) {
    if (i % MT_ATATIME == 0 && lmt_ends(&err, op)) return lmt_raise(L, &err);
    if (mt_value_of(&v, a, f2, i, &err)) return lmt_raise(L, &err);
    lua_pushinteger(L, v);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

bool lmt_undolisted (lua_State *L, const char *name, const mt_node *found) {
  const mt_node *a = lmt_nodeat(L, 1);
  if (a == NULL || a->tag < MT_SWIZZLE || strstr(name, "_inverse") == NULL) return false;
  lmt_pushinner(L);
  lua_getfield(L, -1, "undo_listed");
  lua_pushstring(L, name);
  lua_pushvalue(L, 1);
  lua_pushinteger(L, found ? mt_size(found) : 0);
  lmt_callplaced(L, 3);
  return !lua_isnil(L, -1);
}

int lmt_byvalues (lua_State *L, const char *name, int n, const int *at) {
  luaL_checkstack(L, n + 4, NULL);
  lmt_pushinner(L);
  lua_getfield(L, -1, "by_values");
  lua_pushstring(L, name);
  for (int k = 0; k < n; k++) lua_pushvalue(L, at[k]);
  lmt_callplaced(L, n + 1);
  return 1;
}

/* A whole inverse is found, or there is none: two values are one, or one lies outside. */
static bool is_decided (const mt_node *a) {
  mt_layout inverse;
  bool one = true;
  int64_t lo, end;
  mt_err err = MT_NOERR;
  if (mt_right_inverse(&inverse, a, &err) == MT_OK && mt_size(inverse.node) == mt_size(a))
    return true;
  err = (mt_err)MT_NOERR;
  return mt_size(a) > 1 << 16 || mt_number_range(&lo, &end, "", a, &err) || lo != 0 ||
         end != mt_size(a) || mt_is_injective(&one, a, &err) || !one;
}

const mt_node *lmt_tonumbering (lua_State *L, const mt_node *a, mt_layout *buf) {
  if (!mt_is_more(a) || is_decided(a)) return a;
  lmt_pushvalue(L, a);
  const int at[] = {lua_gettop(L)};
  lmt_byvalues(L, "numbering", 1, at);
  const mt_node *listed = lmt_nodeat(L, -1);
  mt_copy_value(buf, listed);
  return buf->node;
}

void lmt_keepall (lua_State *L, int i, int count, const mt_node *const *t) {
  i = lua_absindex(L, i);
  lmt_pushlists(L, count, t);
  lmt_keeplists(L, i, -1);
  lua_pop(L, 1);
}

#define ROWS_LISTED
#include "binding/rows.h"

void lmt_open_listed (lua_State *L) { lmt_addrows(L, rows); }
