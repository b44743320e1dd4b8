/*
** text.c - the libraries of strings and of UTF-8, without what takes for ever.
** SPDX-License-Identifier: MIT
*/
#include <lualib.h>
#include <string.h>

#include "vm/vm.h"

/* Upvalue 1, whose time grows with the length of its first argument. It has no upvalues,
** and runs in this call, so that its errors tell its name. */
static int linear (lua_State *L) {
  mt_vm *v = vm_of(L);
  if (lua_type(L, 1) == LUA_TSTRING) vm_tick(L, v, 1 + lua_rawlen(L, 1) / 8);
  return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/* Replaces the functions of the table on the top by such. */
static void count_lengths (lua_State *L, const char *const *names) {
  for (; *names; names++) {
    lua_getfield(L, -1, *names);
    lua_pushcclosure(L, linear, 1);
    lua_setfield(L, -2, *names);
  }
}

/* rep(s, n [, separator]) */
static int l_rep (lua_State *L) {
  mt_vm *v = vm_of(L);
  size_t size, gap = 0;
  const char *s = luaL_checklstring(L, 1, &size);
  lua_Integer n = luaL_checkinteger(L, 2);
  const char *between = luaL_optlstring(L, 3, "", &gap);
  if (n <= 0 || size + gap == 0) return lua_pushliteral(L, ""), 1;
  if (size > v->o.text || gap > v->o.text ||
      (lua_Unsigned)n > (v->o.text + gap) / (size + gap))
    return luaL_error(L, "the text would have more than %I bytes",
                      (LUAI_UACINT)v->o.text);
  size_t total = size * (size_t)n + gap * (size_t)(n - 1);
  vm_tick(L, v, total / 64 + (uint64_t)n);
  luaL_Buffer b;
  char *to = luaL_buffinitsize(L, &b, total), *end = to + total;
  for (char *at = to; at < end; at += gap) {
    memcpy(at, s, size);
    at += size;
    if (at < end) memcpy(at, between, gap);
  }
  luaL_pushresultsize(&b, total);
  return 1;
}

/* The metatable of strings is out of reach: their methods are those that stand here. */
static void protect_strings (lua_State *L) {
  lua_pushliteral(L, "");
  if (lua_getmetatable(L, -1)) {
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

void vm_openstring (lua_State *L) {
  static const char *const kept[] = {"byte", "char",  "format",  "len", "lower",
                                     "rep",  "upper", "reverse", "sub", NULL};
  static const char *const counted[] = {"format", "lower", "reverse", "upper", NULL};
  vm_require(L, LUA_STRLIBNAME, luaopen_string, kept);
  count_lengths(L, counted);
  lua_pushcfunction(L, l_rep);
  lua_setfield(L, -2, "rep");
  vm_addpatterns(L);
  lua_pop(L, 1);
  protect_strings(L);
}

/* codes(s): a text that is no UTF-8 is refused before the first character. */
static int l_codes (lua_State *L) {
  luaL_checkstring(L, 1);
  vm_tick(L, vm_of(L), 1 + lua_rawlen(L, 1) / 4);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_pushvalue(L, 1);
  lua_pushinteger(L, 1);
  lua_pushinteger(L, -1);
  lua_pushvalue(L, 2);
  lua_call(L, 4, 1);
  luaL_argcheck(L, lua_isinteger(L, -1), 1, "invalid UTF-8 code");
  lua_settop(L, 2);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, 2, 3);
  return 3;
}

void vm_openutf8 (lua_State *L) {
  static const char *const kept[] = {"char", "charpattern", "codepoint", "codes",
                                     "len",  "offset",      NULL};
  static const char *const counted[] = {"codepoint", "len", "offset", NULL};
  vm_require(L, LUA_UTF8LIBNAME, luaopen_utf8, kept);
  lua_getfield(L, -1, "codes");
  lua_getfield(L, -2, "len");
  lua_pushcclosure(L, l_codes, 2);
  lua_setfield(L, -2, "codes");
  count_lengths(L, counted);
  lua_pop(L, 1);
}
