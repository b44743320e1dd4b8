/*
** table.c - the library of tables, in steps that are counted.
** SPDX-License-Identifier: MIT
**
** Elements are read and written with metamethods, as Lua's own functions do: each of
** them may be a function in C, which no hook sees. So every element is a step.
*/
#include <lualib.h>

#include "vm/vm.h"

enum { MOST_UNPACKED = 100000 };

static void need_table (lua_State *L, int i) {
  if (lua_type(L, i) == LUA_TTABLE) return;
  if (luaL_getmetafield(L, i, "__index") == LUA_TNIL) luaL_checktype(L, i, LUA_TTABLE);
  else lua_pop(L, 1);
}

/* t[to] = t[from], in the table at 1 */
static void move_one (lua_State *L, mt_vm *v, lua_Integer from, lua_Integer to) {
  vm_tick(L, v, 2);
  lua_geti(L, 1, from);
  lua_seti(L, 1, to);
}

static int l_insert (lua_State *L) {
  mt_vm *v = vm_of(L);
  need_table(L, 1);
  lua_Integer n = luaL_len(L, 1);
  int count = lua_gettop(L) > 3 ? 4 : lua_gettop(L);
  if (count == 2) return lua_seti(L, 1, n + 1), 0;
  luaL_argcheck(L, count == 3, count, "wrong number of arguments to 'insert'");
  lua_Integer at = luaL_checkinteger(L, 2);
  luaL_argcheck(L, at >= 1 && at - 1 <= n, 2, "position out of bounds");
  lua_settop(L, 3);
  for (lua_Integer i = n; i >= at; i--) move_one(L, v, i, i + 1);
  lua_seti(L, 1, at);
  return 0;
}

static int l_remove (lua_State *L) {
  mt_vm *v = vm_of(L);
  need_table(L, 1);
  lua_Integer n = luaL_len(L, 1), at = luaL_optinteger(L, 2, n);
  if (!lua_isnoneornil(L, 2))
    luaL_argcheck(L, (at >= 1 && at - 1 <= n) || (n == 0 && at == 0), 2,
                  "position out of bounds");
  lua_settop(L, 1);
  lua_geti(L, 1, at);
  for (; at < n; at++) move_one(L, v, at + 1, at);
  lua_pushnil(L);
  lua_seti(L, 1, at);
  return 1;
}

/* move(from, f, e, t [, to]) */
static int l_move (lua_State *L) {
  mt_vm *v = vm_of(L);
  lua_Integer f = luaL_checkinteger(L, 2), e = luaL_checkinteger(L, 3);
  lua_Integer t = luaL_checkinteger(L, 4);
  int to = lua_isnoneornil(L, 5) ? 1 : 5;
  need_table(L, 1);
  need_table(L, to);
  if (e < f) return lua_pushvalue(L, to), 1;
  luaL_argcheck(L, f > 0 || e < LUA_MAXINTEGER + f, 3, "too many elements to move");
  lua_Integer n = e - f + 1;
  luaL_argcheck(L, t <= LUA_MAXINTEGER - n + 1, 4, "destination wrap around");
  bool up = t > e || t <= f || (to != 1 && !lua_compare(L, 1, to, LUA_OPEQ));
  for (lua_Integer k = 0; k < n; k++) {
    lua_Integer i = up ? k : n - 1 - k;
    vm_tick(L, v, 2);
    lua_geti(L, 1, f + i);
    lua_seti(L, to, t + i);
  }
  lua_pushvalue(L, to);
  return 1;
}

static void add_element (lua_State *L, luaL_Buffer *b, lua_Integer i) {
  lua_geti(L, 1, i);
  if (!lua_isstring(L, -1))
    luaL_error(L, "invalid value (at index %I) in table for 'concat'", (LUAI_UACINT)i);
  luaL_addvalue(b);
}

/* concat(t [, separator [, i [, j]]]) */
static int l_concat (lua_State *L) {
  mt_vm *v = vm_of(L);
  luaL_Buffer b;
  size_t gap;
  need_table(L, 1);
  lua_Integer last = luaL_len(L, 1);
  const char *between = luaL_optlstring(L, 2, "", &gap);
  lua_Integer i = luaL_optinteger(L, 3, 1);
  last = luaL_optinteger(L, 4, last);
  lua_settop(L, 4);
  luaL_buffinit(L, &b);
  for (; i < last; i++) {
    vm_tick(L, v, 4 + gap / 64);
    add_element(L, &b, i);
    luaL_addlstring(&b, between, gap);
  }
  if (i == last) add_element(L, &b, i);
  luaL_pushresult(&b);
  return 1;
}

static int l_unpack (lua_State *L) {
  mt_vm *v = vm_of(L);
  lua_Integer i = luaL_optinteger(L, 2, 1);
  lua_Integer e = lua_isnoneornil(L, 3) ? luaL_len(L, 1) : luaL_checkinteger(L, 3);
  if (i > e) return 0;
  lua_Unsigned n = (lua_Unsigned)e - (lua_Unsigned)i;
  if (n >= MOST_UNPACKED || !lua_checkstack(L, (int)n + 1))
    return luaL_error(L, "too many results to unpack");
  for (; i < e; i++) {
    vm_tick(L, v, 1);
    lua_geti(L, 1, i);
  }
  lua_geti(L, 1, e);
  return (int)n + 1;
}

/* ---------------------------------------------------------------- sorting
**
** A heap: n log n comparisons whatever the order function answers. */

/* Whether the value at `a` comes before that at `b`. */
static bool precedes (lua_State *L, mt_vm *v, int a, int b) {
  size_t n = lua_type(L, a) == LUA_TSTRING ? lua_rawlen(L, a) : 0;
  vm_tick(L, v, 4 + n / 64);
  if (lua_isnil(L, 2)) return lua_compare(L, a, b, LUA_OPLT);
  lua_pushvalue(L, 2);
  lua_pushvalue(L, a);
  lua_pushvalue(L, b);
  lua_call(L, 2, 1);
  bool before = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return before;
}

/* The value at stack index 3 sinks from element i of a heap of n, to its place. */
static void sink (lua_State *L, mt_vm *v, lua_Integer i, lua_Integer n) {
  for (lua_Integer child; i <= n / 2; i = child) {
    child = 2 * i;
    lua_geti(L, 1, child);
    if (child < n) {
      lua_geti(L, 1, child + 1);
      if (precedes(L, v, 4, 5)) child++, lua_replace(L, 4);
      else lua_pop(L, 1);
    }
    if (!precedes(L, v, 3, 4)) {
      lua_pop(L, 1);
      break;
    }
    lua_seti(L, 1, i);
  }
  lua_seti(L, 1, i);
}

static int l_sort (lua_State *L) {
  mt_vm *v = vm_of(L);
  need_table(L, 1);
  lua_Integer n = luaL_len(L, 1);
  luaL_argcheck(L, n < INT32_MAX, 1, "array too big");
  if (!lua_isnoneornil(L, 2)) luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  for (lua_Integer i = n / 2; i >= 1; i--) {
    lua_geti(L, 1, i);
    sink(L, v, i, n);
  }
  for (; n > 1; n--) {
    lua_geti(L, 1, n);
    lua_geti(L, 1, 1);
    lua_seti(L, 1, n);
    sink(L, v, 1, n - 1);
  }
  return 0;
}

void vm_opentable (lua_State *L) {
  static const char *const kept[] = {"pack", NULL};
  static const luaL_Reg own[] = {{"insert", l_insert}, {"remove", l_remove},
                                 {"move", l_move},     {"concat", l_concat},
                                 {"unpack", l_unpack}, {"sort", l_sort},
                                 {NULL, NULL}};
  vm_require(L, LUA_TABLIBNAME, luaopen_table, kept);
  luaL_setfuncs(L, own, 0);
  lua_pop(L, 1);
}
