/*
** host.c - a C program with a Lua state of its own lends its memory to a tiling script.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>
#include <stdlib.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "moontile/lua.h"

enum { ROWS = 6, COLUMNS = 10 };

/* The script gets two tensors of the host: it transposes one into the other, by a
** partition of 2x4 threads whose last row and column of tiles hang over the edge. */
static const char script[] =
    "local tile = require 'moontile'\n"
    "local src, dst = ...\n"
    "local transposed = dst:select(2, 1)\n"
    "local copy = tile.tiled_copy{ atom = 'UniversalCopy<uint32_t>',\n"
    "                              dtype = src:dtype(),\n"
    "                              thr = tile.layout({2, 4}),\n"
    "                              val = tile.layout{2, 1} }\n"
    "tile.copy(copy, src, transposed)\n"
    "print('the script copied', src:layout(), 'to', transposed:layout())\n";

typedef struct host {
  float in[ROWS * COLUMNS], out[ROWS * COLUMNS];
} host;

/* Pushes a row-major matrix that lies in `data`. */
static void push_matrix (lua_State *L, float *data, int64_t rows, int64_t columns) {
  mt_layout shape, layout;
  mt_err err = MT_NOERR;
  int64_t extents[2] = {rows, columns};
  if (mt_ints(&shape, 2, extents, &err) != MT_OK ||
      mt_layout_right(&layout, shape.node, &err) != MT_OK)
    luaL_error(L, "%s", err.text);
  size_t bytes = sizeof(float) * (size_t)(rows * columns);
  mt_lua_pushtensor(L, MT_f32, layout.node, data, bytes);
}

/* Everything that can raise happens in here. */
static int run (lua_State *L) {
  host *h = lua_touserdata(L, 1);
  luaL_openlibs(L);
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  if (luaL_loadstring(L, script) != LUA_OK) return lua_error(L);
  push_matrix(L, h->in, ROWS, COLUMNS);
  push_matrix(L, h->out, COLUMNS, ROWS);
  lua_pushvalue(L, -1);
  lua_insert(L, 2); /* dst stays, to be revoked */
  lua_call(L, 2, 0);
  mt_lua_revoke(L, 2); /* from now on no script reaches h->out */
  return 0;
}

int main (void) {
  static host h;
  int wrong = 0;
  for (int i = 0; i < ROWS * COLUMNS; i++) h.in[i] = (float)i;
  lua_State *L = luaL_newstate();
  if (L == NULL) return EXIT_FAILURE;
  lua_pushcfunction(L, run);
  lua_pushlightuserdata(L, &h);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) {
    fprintf(stderr, "host: %s\n", lua_tostring(L, -1));
    wrong = 1;
  }
  lua_close(L);
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++)
      wrong |= h.out[j * ROWS + i] != h.in[i * COLUMNS + j];
  printf("%s\n", wrong ? "WRONG" : "the host finds its matrix transposed");
  return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
