/*
** model_peer.c - the model of what copies cost, of which every constant can be set; and
** the ways of a copy, made once, whose time it predicts again and again.
** SPDX-License-Identifier: MIT
**
** This module has a copy/cost.c of its own, in which the model can be written
** (MT_MODEL_OPEN); the program's is not touched.
*/
#include <stdio.h>
#include <string.h>

#include "moontile.h"
#include "copy/algo.h"
#include "copy/gather.h"
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
#define MT_SPEED(name, part, part_cast, each, less, more)                                \
  {#name " speed", "part", &mt_h200.of[MT_ALGO_##name].speed},                           \
      {#name " cast", "part", &mt_h200.of[MT_ALGO_##name].cast},                         \
      {#name " any", "us", &mt_h200.of[MT_ALGO_##name].any},                             \
      {#name " again", "part", &mt_h200.of[MT_ALGO_##name].again},                       \
      {#name " gap", "bytes", &mt_h200.of[MT_ALGO_##name].gap},
#include "copy/cost_h200.def"
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* constants () -> { { name =, unit = }, ... }; those by width have it behind their name,
** an algorithm's "speed", "cast", "any", "again" or "gap". */
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

/* Algorithms that look for their tiles with constants of the model. */
static bool has_tile (const mt_desc *d) {
  return d->algo == MT_ALGO_GATHER || d->algo == MT_ALGO_STAGED;
}

static unsigned long step_of (const mt_desc *d) {
  return d->algo == MT_ALGO_STAGED ? d->staged.step.extent : 0;
}

/* A tile as text: extent, stride of the source, of the destination of each thread axis,
** then of each value axis; how many indices it has of the last one of both; STAGED: from
** one word of a thread to its next:
**   4:1:1,4237:24:4/5:101688:16948;33,5,32 */
static void push_tile (lua_State *L, const mt_desc *d) {
  luaL_Buffer b;
  char text[96];
  luaL_buffinit(L, &b);
  for (uint32_t i = 0; i < d->nthr + d->nval; i++) {
    const mt_axis *a = &d->axis[i];
    if (i == d->nthr) luaL_addchar(&b, '/');
    else if (i > 0) luaL_addchar(&b, ',');
    snprintf(text, sizeof text, "%lld:%lld:%lld", (long long)a->extent,
             (long long)a->stride[MT_SRC], (long long)a->stride[MT_DST]);
    luaL_addstring(&b, text);
  }
  if (d->nval == 0) luaL_addchar(&b, '/');
  snprintf(text, sizeof text, ";%lu,%lu,%lu", (unsigned long)d->gather.cut[0],
           (unsigned long)d->gather.cut[1], step_of(d));
  luaL_addstring(&b, text);
  luaL_pushresult(&b);
}

/* { algorithm =, bytes =, blocks =, tile = }: bytes of an access, of the wider side;
** blocks of those that have tiles; the tile of those that look for one. */
static void push_way (lua_State *L, const way *w) {
  lua_createtable(L, 0, 4);
  lua_pushstring(L, mt_algo_of(w->launch.desc.algo)->name);
  lua_setfield(L, -2, "algorithm");
  lua_pushinteger(L, (lua_Integer)mt_wide_unit(&w->launch.desc));
  lua_setfield(L, -2, "bytes");
  lua_pushinteger(L, blocks_of(&w->launch.desc));
  lua_setfield(L, -2, "blocks");
  if (!has_tile(&w->launch.desc)) return;
  push_tile(L, &w->launch.desc);
  lua_setfield(L, -2, "tile");
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

/* Takes the axis that the text begins with out of `from`. Returns what follows it; NULL:
** there is none such. */
static const char *take_axis (mt_axes *from, mt_axes *to, const char *text) {
  long long extent, src, dst;
  int n;
  if (sscanf(text, "%lld:%lld:%lld%n", &extent, &src, &dst, &n) != 3) return NULL;
  for (int i = 0; i < from->n; i++) {
    const mt_axis a = from->axis[i];
    if (a.extent != extent || a.stride[MT_SRC] != src || a.stride[MT_DST] != dst)
      continue;
    memmove(from->axis + i, from->axis + i + 1,
            (size_t)(--from->n - i) * sizeof from->axis[0]);
    to->axis[to->n++] = a;
    return text + n;
  }
  return NULL;
}

/* The axes of a mode, up to its end; NULL: it has others. */
static const char *take_mode (mt_axes *from, mt_axes *to, const char *text, char end) {
  while (text && *text != end) {
    text = take_axis(from, to, text);
    if (text && *text == ',') text++;
  }
  return text ? text + 1 : NULL;
}

/* The copy in the tile of this text. */
static bool set_tile (mt_launch *l, const char *text) {
  mt_desc *d = &l->desc;
  mt_axes mode[3];
  unsigned long cut0, cut1, step;
  mt_axes_get(mode, d);
  mt_axes_append(&mode[2], &mode[0]), mt_axes_append(&mode[2], &mode[1]);
  mt_axes_sort(&mode[2]);
  mode[0].n = mode[1].n = 0;
  text = take_mode(&mode[2], &mode[0], text, '/');
  text = take_mode(&mode[2], &mode[1], text, ';');
  if (text == NULL || sscanf(text, "%lu,%lu,%lu", &cut0, &cut1, &step) != 3) return false;
  const uint32_t cut[] = {(uint32_t)cut0, (uint32_t)cut1};
  if (!mt_axes_store(d, mode)) return false;
  if (d->algo == MT_ALGO_GATHER)
    return mt_gather_find(&d->gather, l, cut, MT_GATHER_WORD((int64_t)d->vec * d->elem));
  if (!mt_staged_find(&d->staged, l, cut) || step_of(d) != step) return false;
  mt_staged_rotate(d);
  return true;
}

/* ways:take (i, tile): way i is in that tile, from now on; whether it can be. */
static int ways_take (lua_State *L) {
  ways *x = luaL_checkudata(L, 1, WAYS);
  const lua_Integer i = luaL_checkinteger(L, 2);
  const char *text = luaL_checkstring(L, 3);
  luaL_argcheck(L, i >= 1 && i <= x->n, 2, "no such way");
  mt_launch l = x->way[i - 1].launch;
  const bool can = has_tile(&l.desc) && set_tile(&l, text);
  if (can) x->way[i - 1].launch = l;
  lua_pushboolean(L, can);
  return 1;
}

void peer_open_model (lua_State *L) {
  static const luaL_Reg functions[] = {{"__call", ways_call},
                                       {"same", ways_same},
                                       {"take", ways_take},
                                       {NULL, NULL}};
  peer_new_class(L, WAYS, functions);
  lua_pushcfunction(L, constants);
  lua_setfield(L, -2, "constants");
  lua_pushcfunction(L, constant);
  lua_setfield(L, -2, "constant");
}
