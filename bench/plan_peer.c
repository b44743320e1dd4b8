/*
** plan_peer.c - plans of copies in C: what a C program waits for them, for one is planned
** for tensors whose memory is not there.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "moontile.h"
#include "peer.h"

#define PLANNER "moontile.bench.Planner"

typedef struct planner {
  mt_device *device;
} planner;

static int planner_gc (lua_State *L) {
  planner *p = luaL_checkudata(L, 1, PLANNER);
  mt_device_close(p->device);
  p->device = NULL;
  return 0;
}

static planner *check (lua_State *L) {
  planner *p = luaL_checkudata(L, 1, PLANNER);
  if (p->device == NULL) luaL_error(L, "planner: closed");
  return p;
}

/* planner (device [, libcuda]) -> what plans on it. */
static int planner_new (lua_State *L) {
  mt_err err = MT_NOERR;
  const char *name = luaL_checkstring(L, 1);
  const mt_device_options o = {.size = sizeof o, .libcuda = luaL_optstring(L, 2, NULL)};
  planner *p = lua_newuserdatauv(L, sizeof *p, 0);
  memset(p, 0, sizeof *p);
  luaL_setmetatable(L, PLANNER);
  if (mt_device_open(&p->device, name, &o, &err) != MT_OK)
    return luaL_error(L, "%s", err.text);
  return 1;
}

/* At argument i: the layout, the offset, elements of the buffer. Sources and destinations
** lie apart. */
static void get_tensor (lua_State *L, mt_tensor *t, mt_layout *room, int i, int side) {
  size_t n;
  mt_err err = MT_NOERR;
  const char *text = luaL_checklstring(L, i, &n);
  if (mt_parse(room, text, n, &err) != MT_OK) luaL_error(L, "%s", err.text);
  t->layout = room->node;
  t->offset = luaL_checkinteger(L, i + 1);
  t->bytes = (size_t)luaL_checkinteger(L, i + 2) * mt_dtype_size(t->dtype);
  t->data = (void *)((uintptr_t)(side + 1) << 40);
}

/* The plan of (dtype, layout, offset, size, layout, offset, size), behind the planner;
** returns the seconds it took. */
static double make (lua_State *L, mt_plan **plan) {
  planner *p = check(L);
  mt_err err = MT_NOERR;
  mt_tensor t[2];
  mt_layout room[2];
  memset(t, 0, sizeof t);
  for (int side = 0; side < 2; side++) {
    if (mt_dtype_find(&t[side].dtype, luaL_checkstring(L, 2), &err) != MT_OK)
      luaL_error(L, "%s", err.text);
    get_tensor(L, &t[side], &room[side], 3 + 3 * side, side);
  }
  const double time = peer_now();
  if (mt_plan_copy(plan, p->device, NULL, &t[0], &t[1], &err) != MT_OK)
    luaL_error(L, "%s", err.text);
  return peer_now() - time;
}

/* planner (dtype, layout, offset, size, layout, offset, size) -> seconds of the plan. */
static int planner_call (lua_State *L) {
  mt_plan *plan;
  const double time = make(L, &plan);
  mt_plan_free(plan);
  lua_pushnumber(L, time);
  return 1;
}

/* planner:ways (the same) -> the ways of the copy, what each is. */
static int planner_ways (lua_State *L) {
  mt_plan *plan;
  make(L, &plan);
  const int n = peer_push_ways(L, plan);
  mt_plan_free(plan);
  return n;
}

void peer_open_plan (lua_State *L) {
  static const luaL_Reg functions[] = {{"__gc", planner_gc},
                                       {"__close", planner_gc},
                                       {"__call", planner_call},
                                       {"ways", planner_ways},
                                       {NULL, NULL}};
  peer_new_class(L, PLANNER, functions);
  lua_pushcfunction(L, planner_new);
  lua_setfield(L, -2, "planner");
}
