/*
** options.c - options by name: a table that has no keys but the known ones.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "binding/lmt.h"

/* Whether the key at -2 of a table being traversed is this one: "1" is the integer. */
static bool is_key (lua_State *L, const char *key) {
  size_t n;
  if (lua_type(L, -2) != LUA_TSTRING)
    return strcmp(key, "1") == 0 && lua_isinteger(L, -2) && lua_tointeger(L, -2) == 1;
  const char *s = lua_tolstring(L, -2, &n);
  return n == strlen(key) && memcmp(s, key, n) == 0 && strcmp(key, "1") != 0;
}

/* Raises that `key` is none of the keys. */
static int no_option (lua_State *L, const char *what, const char *key,
                      const char *const *keys) {
  lmt_near near = {NULL, 0};
  lua_pushstring(L, *keys);
  for (const char *const *k = keys; *k; k++) {
    lmt_nearer(&near, key, *k);
    if (k > keys) {
      lua_pushfstring(L, "%s, %s", lua_tostring(L, -1), *k);
      lua_remove(L, -2);
    }
  }
  if (near.distance == 0) near.name = NULL; /* another type, or a NUL */
  return luaL_error(L, "%s: unknown option '%s'; %s%s%sthere are: %s", what, key,
                    near.name ? "did you mean " : "", near.name ? near.name : "",
                    near.name ? "? " : "", lua_tostring(L, -1));
}

void lmt_checkkeys (lua_State *L, int i, const char *what, const char *const *keys) {
  luaL_checktype(L, i, LUA_TTABLE);
  i = lua_absindex(L, i);
  for (lua_pushnil(L); lua_next(L, i); lua_pop(L, 1)) {
    const char *const *k = keys;
    while (*k && !is_key(L, *k)) k++;
    if (*k) continue;
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
    luaL_error(L, "%s: %s expected, got %s", what, expected, luaL_typename(L, i));
  return bits < 1 || bits > 4096 ? 0 : (int)bits;
}
