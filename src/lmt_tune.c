/*
** lmt_tune.c - why plans have their kernels, and others, in Lua.
** SPDX-License-Identifier: MIT
**
** What was measured is kept in the state, by the plan's key: { kernel =, vector = }. New
** plans of copies look there.
*/
#include "lmt.h"

/* ---------------------------------------------------------------- fields */

static void set_number (lua_State *L, const char *key, double x) {
  lua_pushnumber(L, x);
  lua_setfield(L, -2, key);
}

static void push_way (lua_State *L, const mt_way *w) {
  lua_createtable(L, 0, 9);
  lua_pushstring(L, w->kernel);
  lua_setfield(L, -2, "kernel");
  lua_pushboolean(L, w->possible);
  lua_setfield(L, -2, "possible");
  lua_pushboolean(L, w->chosen);
  lua_setfield(L, -2, "chosen");
  if (w->form[0]) lua_pushstring(L, w->form), lua_setfield(L, -2, "form");
  if (w->why[0]) lua_pushstring(L, w->why), lua_setfield(L, -2, "why");
  if (w->vector) lua_pushinteger(L, w->vector), lua_setfield(L, -2, "vector");
  if (w->predicted == 0) return;
  set_number(L, "traffic", w->traffic);
  set_number(L, "used", w->used);
  set_number(L, "predicted", w->predicted);
}

/* ---------------------------------------------------------------- methods */

/* The plan at 1, of one launch. */
static mt_plan *launch_of (lua_State *L) {
  LMT_NOERR(err);
  mt_plan *p = lmt_toplan(L, 1, false);
  if (mt_plan_is_launch(p, &err)) lmt_raise(L, &err);
  return p;
}

/* why() -> a sequence of { kernel =, form =, vector =, possible =, chosen =, why =,
** traffic =, used =, predicted = } */
static int plan_why (lua_State *L) {
  mt_plan *p = launch_of(L);
  mt_way *way = lua_newuserdatauv(L, MT_MAXWAYS * sizeof *way, 0);
  int n = mt_plan_why(way, p);
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    push_way(L, &way[i]);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* key() -> what the winner is kept under */
static int plan_key (lua_State *L) {
  char key[MT_KEY_SIZE];
  mt_plan_key(key, sizeof key, launch_of(L));
  lua_pushstring(L, key);
  return 1;
}

/* take(kernel, vector) -> the plan, by that kernel */
static int plan_take (lua_State *L) {
  LMT_NOERR(err);
  mt_plan *p = lmt_toplan(L, 1, false);
  if (mt_plan_take(p, luaL_checkstring(L, 2), (int)luaL_checkinteger(L, 3), &err))
    return lmt_raise(L, &err);
  lua_settop(L, 1);
  return 1;
}

/* measure(n) -> microseconds of a launch, of n one behind the other */
static int plan_measure (lua_State *L) {
  LMT_NOERR(err);
  double us;
  mt_plan *p = lmt_toplan(L, 1, true);
  lua_Integer n = luaL_optinteger(L, 2, 1);
  luaL_argcheck(L, n > 0 && n <= INT32_MAX, 2, "1 launch or more expected");
  if (mt_plan_measure(p, (int)n, &us, &err)) return lmt_raise(L, &err);
  lua_pushnumber(L, us / (double)n);
  return 1;
}

const luaL_Reg lmt_tuning[] = {
  { "why", plan_why }, { "key", plan_key }, { "take", plan_take },
  { "measure", plan_measure }, { NULL, NULL }
};

/* ---------------------------------------------------------------- what was measured */

static void push_memory (lua_State *L) {
  lmt_pushstate(L);
  lua_getiuservalue(L, -1, LMT_TUNED);
  lua_remove(L, -2);
}

static bool is_empty (lua_State *L, int i) {
  lua_pushnil(L);
  if (!lua_next(L, i)) return true;
  lua_pop(L, 2);
  return false;
}

/* A winner that is no way to do this plan is none: its alignment was another's. */
void lmt_recall (lua_State *L, mt_plan *p) {
  char key[MT_KEY_SIZE];
  LMT_NOERR(err);
  int top = lua_gettop(L);
  push_memory(L);
  if (!is_empty(L, top + 1)) {
    mt_plan_key(key, sizeof key, p);
    if (lua_getfield(L, top + 1, key) != LUA_TNIL) {
      lua_getfield(L, -1, "kernel");
      lua_getfield(L, -2, "vector");
      (void)mt_plan_take(p, luaL_checkstring(L, -2), (int)luaL_checkinteger(L, -1), &err);
    }
  }
  lua_settop(L, top);
}

/* _retune(): what was measured is another now: copies look anew for their kernels. */
static int l_retune (lua_State *L) {
  lmt_forgetplans(lmt_pushstate(L), NULL);
  return 0;
}

/* The memory, as a field of the module on the top. */
void lmt_open_tune (lua_State *L) {
  lua_pushcfunction(L, l_retune);
  lua_setfield(L, -2, "_retune");
  lmt_pushstate(L);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, -3, LMT_TUNED);
  lua_setfield(L, -3, "_tuned");
  lua_pop(L, 1);
}
