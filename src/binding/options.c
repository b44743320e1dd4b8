/*
** options.c - options by name: a table that has no keys but the known ones.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "binding/instead.h"
#include "binding/lmt.h"

/* Whether the key at -2 of a table being traversed is this one: "1" is the integer. */
static bool is_key (lua_State *L, const char *key) {
  size_t n;
  if (lua_type(L, -2) != LUA_TSTRING)
    return strcmp(key, "1") == 0 && lua_isinteger(L, -2) && lua_tointeger(L, -2) == 1;
  const char *s = lua_tolstring(L, -2, &n);
  return n == strlen(key) && memcmp(s, key, n) == 0 && strcmp(key, "1") != 0;
}

/* Pushes the keys and what stands between them: "atom, atoms, permutation". */
static const char *push_keys (lua_State *L, const char *const *keys, const char *comma) {
  lua_pushstring(L, *keys);
  for (const char *const *k = keys + 1; *k; k++) {
    lua_pushfstring(L, "%s%s%s", lua_tostring(L, -1), comma, *k);
    lua_remove(L, -2);
  }
  return lua_tostring(L, -1);
}

/* Raises that `key` is none of the keys. */
static int no_option (lua_State *L, const char *what, const char *key,
                      const char *const *keys) {
  lmt_near near = {NULL, 0};
  for (const char *const *k = keys; *k; k++) lmt_nearer(&near, key, *k);
  if (near.distance == 0) near.name = NULL; /* another type, or a NUL */
  return luaL_error(L, "%s: unknown option '%s'; %s%s%sthere are: %s", what, key,
                    near.name ? "did you mean " : "", near.name ? near.name : "",
                    near.name ? "? " : "", push_keys(L, keys, ", "));
}

/* Raises that options have names, what was given instead of a table at `i`: as the field
** `field` of an argument, or, if that is NULL, as an argument. */
static int no_table (lua_State *L, int i, const char *field, const char *const *keys) {
  const char *options = push_keys(L, keys, " =, "), *got = lmt_kindname(L, i);
  const char *text =
      lua_pushfstring(L, "table expected, got %s; options have names: { %s = }", got,
                      options);
  return field ? luaL_error(L, "%s: %s", field, text) : luaL_argerror(L, i, text);
}

/* Raises that an option has no name. */
static int no_name (lua_State *L, const char *what, const char *const *keys) {
  return luaL_error(L, "%s: an option has no name; those here are { %s = }", what,
                    push_keys(L, keys, " =, "));
}

void lmt_checkkeys (lua_State *L, int i, const char *what, const char *const *keys) {
  bool field = i < 0;
  i = lua_absindex(L, i);
  if (!lua_istable(L, i)) no_table(L, i, field ? what : NULL, keys);
  for (lua_pushnil(L); lua_next(L, i); lua_pop(L, 1)) {
    const char *const *k = keys;
    while (*k && !is_key(L, *k)) k++;
    if (*k) continue;
    if (lua_isinteger(L, -2) && strcmp(*keys, "1") != 0) no_name(L, what, keys);
    lua_pushvalue(L, -2);
    bool named = lua_type(L, -1) == LUA_TSTRING || lua_type(L, -1) == LUA_TNUMBER;
    no_option(L, what, named ? lua_tostring(L, -1) : luaL_typename(L, -1), keys);
  }
}

int lmt_tobits (lua_State *L, int i, const char *what) {
  static const char expected[] = "bits of an element, or a dtype,";
  int isint;
  if (lmt_isstring(L, i)) return 8 * (int)mt_dtype_size(lmt_todtype(L, i));
  lua_Integer bits = lua_tointegerx(L, i, &isint);
  if (!isint && what == NULL) luaL_typeerror(L, i, expected);
  if (!isint)
    luaL_error(L, "%s: %s expected, got %s", what, expected, lmt_kindname(L, i));
  return bits < 1 || bits > 4096 ? 0 : (int)bits;
}
