/*
** refuse.c - runs a script whose allocator fails when the script says so.
** SPDX-License-Identifier: MIT
**
** usage: refuse SCRIPT [ARGUMENTS]. The global refuse(k) lets the k-th allocation from now
** on fail, once; refuse(0) none; both return whether one has failed since the last call.
*/
#include <stdio.h>
#include <stdlib.h>

#include <lauxlib.h>
#include <lualib.h>

#include "moontile/lua.h"
#include "binding/versions.h"

typedef struct heap {
  lua_Integer left; /* 0: none is to fail */
  int failed;
} heap;

static void *allocate (void *ud, void *p, size_t osize, size_t nsize) {
  heap *h = ud;
  if (nsize == 0) {
    free(p);
    return NULL;
  }
  if ((p == NULL || nsize > osize) && h->left > 0 && --h->left == 0) {
    h->failed = 1;
    return NULL;
  }
  return realloc(p, nsize);
}

static int refuse (lua_State *L) {
  void *ud;
  lua_Integer k = luaL_checkinteger(L, 1);
  lua_getallocf(L, &ud);
  heap *h = ud;
  lua_pushboolean(L, h->failed);
  *h = (heap){.left = k};
  return 1;
}

static int run (lua_State *L) {
  char **argv = lua_touserdata(L, 1);
  luaL_openlibs(L);
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  lua_register(L, "refuse", refuse);
  lua_newtable(L);
  for (int i = 0; argv[1 + i]; i++) {
    lua_pushstring(L, argv[1 + i]);
    lua_rawseti(L, -2, i);
  }
  lua_setglobal(L, "arg");
  if (luaL_dofile(L, argv[1])) return lua_error(L);
  return 0;
}

int main (int argc, char **argv) {
  heap h = {.left = 0};
  lua_State *L = argc > 1 ? lmt_newstate(allocate, &h) : NULL;
  if (L == NULL) return fprintf(stderr, "usage: refuse SCRIPT [ARGUMENTS]\n"), 2;
  lua_pushcfunction(L, run);
  lua_pushlightuserdata(L, argv);
  int status = lua_pcall(L, 1, 0, 0);
  if (status != LUA_OK) fprintf(stderr, "refuse: %s\n", lua_tostring(L, -1));
  lua_close(L);
  return status == LUA_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
