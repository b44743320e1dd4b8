/*
** model_peer.c - the model of what copies cost, of which every constant can be set; and
** the ways of a copy, made once, whose time it predicts again and again.
** SPDX-License-Identifier: MIT
**
** This module has a copy/cost.c of its own, in which the model can be written
** (MT_MODEL_OPEN); the program's is not touched.
*/
#include <string.h>

#include "moontile.h"
#include "copy/algo.h"
#include "peer.h"
#include "plan/candidates.h"

#define WAYS "moontile.bench.Ways"

/* ---------------------------------------------------------------- constants */

typedef struct row {
  const char *name, *unit;
  double *value;
} row;

static const row rows[] = {
#define MT_COST(name, number, what) {#name, what, &mt_h200.name},
#define MT_COST_BY(name, what, ...)                                                      \
  {#name " 1", what, &mt_h200.name[0]}, {#name " 2", what, &mt_h200.name[1]},            \
      {#name " 4", what, &mt_h200.name[2]}, {#name " 8", what, &mt_h200.name[3]},        \
      {#name " 16", what, &mt_h200.name[4]},
#define MT_SPEED(name, part, part_cast, each, less)                                      \
  {#name " speed", "part", &mt_h200.of[MT_ALGO_##name].speed},                           \
      {#name " cast", "part", &mt_h200.of[MT_ALGO_##name].cast},                         \
      {#name " any", "us", &mt_h200.of[MT_ALGO_##name].any},                             \
      {#name " again", "part", &mt_h200.of[MT_ALGO_##name].again},
#include "copy/cost_h200.def"
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* constants () -> { { name =, unit = }, ... }; those by width have it behind their name,
** an algorithm's "speed", "cast", "any" or "again". */
static int constants (lua_State *L) {
  lua_createtable(L, ROWS, 0);
  for (int i = 0; i < ROWS; i++) {
    lua_createtable(L, 0, 2);
    lua_pushstring(L, rows[i].name), lua_setfield(L, -2, "name");
    lua_pushstring(L, rows[i].unit), lua_setfield(L, -2, "unit");
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* constant (k [, value]) -> the value it had: number k of the list. */
static int constant (lua_State *L) {
  const lua_Integer k = luaL_checkinteger(L, 1);
  luaL_argcheck(L, k >= 1 && k <= ROWS, 1, "no such constant");
  lua_pushnumber(L, *rows[k - 1].value);
  if (!lua_isnoneornil(L, 2)) *rows[k - 1].value = luaL_checknumber(L, 2);
  return 1;
}

/* ---------------------------------------------------------------- ways */

typedef struct way {
  const mt_kernel *kernel;
  mt_launch launch;
} way;

typedef struct ways {
  int n;
  way way[];
} ways;

enum { MOST = MT_MAXWIDTH + MT_NALGO };

/* The blocks of a GPU's kernel that takes one tile at a time. */
static int64_t blocks_of (const mt_desc *d) {
  const mt_kernel k = {.bytes = (uint8_t)mt_wide_unit(d), .threads = 256, .unroll = 1};
  return mt_algo_of(d->algo)->grid(&k, d).blocks;
}

/* { algorithm =, bytes =, blocks = }: bytes of an access, of the wider side; blocks of
** those that have tiles. */
static void push_way (lua_State *L, const way *w) {
  lua_createtable(L, 0, 3);
  lua_pushstring(L, mt_algo_of(w->launch.desc.algo)->name);
  lua_setfield(L, -2, "algorithm");
  lua_pushinteger(L, (lua_Integer)mt_wide_unit(&w->launch.desc));
  lua_setfield(L, -2, "bytes");
  lua_pushinteger(L, blocks_of(&w->launch.desc));
  lua_setfield(L, -2, "blocks");
}

int peer_push_ways (lua_State *L, const mt_plan *p) {
  mt_plan_choice o;
  ways *x = lua_newuserdatauv(L, sizeof *x + MOST * sizeof x->way[0], 0);
  memset(&o, 0, sizeof o);
  x->n = 0;
  luaL_setmetatable(L, WAYS);
  lua_createtable(L, MOST, 0);
  while (x->n < MOST && mt_plan_next_candidate(&o, p)) {
    way *w = &x->way[x->n++];
    w->kernel = o.kernel, w->launch = o.launch;
    push_way(L, w);
    lua_rawseti(L, -2, x->n);
  }
  return 2;
}

/* ways (list): predicted microseconds of each, as the model is now. */
static int ways_call (lua_State *L) {
  const ways *x = luaL_checkudata(L, 1, WAYS);
  luaL_checktype(L, 2, LUA_TTABLE);
  for (int i = 0; i < x->n; i++) {
    mt_cost c;
    mt_cost_of(&c, &x->way[i].launch, x->way[i].kernel);
    lua_pushnumber(L, c.us);
    lua_rawseti(L, 2, i + 1);
  }
  return 0;
}

/* ways:same (other): of each, whether it is the same launch in both. */
static int ways_same (lua_State *L) {
  const ways *x = luaL_checkudata(L, 1, WAYS), *y = luaL_checkudata(L, 2, WAYS);
  lua_createtable(L, x->n, 0);
  for (int i = 0; i < x->n; i++) {
    lua_pushboolean(L, i < y->n && memcmp(&x->way[i].launch, &y->way[i].launch,
                                          sizeof x->way[i].launch) == 0);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

void peer_open_model (lua_State *L) {
  static const luaL_Reg functions[] = {{"__call", ways_call},
                                       {"same", ways_same},
                                       {NULL, NULL}};
  peer_new_class(L, WAYS, functions);
  lua_pushcfunction(L, constants);
  lua_setfield(L, -2, "constants");
  lua_pushcfunction(L, constant);
  lua_setfield(L, -2, "constant");
}
