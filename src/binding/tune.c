/*
** tune.c - why plans have their kernels, and others, in Lua.
** SPDX-License-Identifier: MIT
**
** What was measured is kept in the state, by the plan's key: { kernel =, vector = }, of a
** product its parts as `vector`. New plans look there. No script reaches it.
*/
#include "binding/field.h"
#include "binding/lmt.h"
#include "binding/plan.h"
#include "binding/host.h"

static void push_way (lua_State *L, const mt_plan_candidate *w) {
  lua_createtable(L, 0, 10);
  lmt_settext(L, "kernel", w->kernel);
  lmt_setbool(L, "possible", w->possible);
  lmt_setbool(L, "chosen", w->chosen);
  if (w->algo[0]) lmt_settext(L, "algorithm", w->algo);
  if (w->why[0]) lmt_settext(L, "why", w->why);
  if (w->vector) lmt_setint(L, "vector", w->vector);
  if (w->parts) lmt_setint(L, "parts", w->parts);
  if (w->predicted != 0) lmt_setnumber(L, "predicted", w->predicted);
  if (w->traffic == 0) return;
  lmt_setnumber(L, "traffic", w->traffic);
  lmt_setnumber(L, "used", w->used);
}

/* ---------------------------------------------------------------- methods */

/* The plan at 1, of one launch. */
static mt_plan *launch_of (lua_State *L) {
  LMT_NOERR(err);
  mt_plan *p = lmt_toplan(L, 1, false);
  if (mt_plan_is_launch(p, &err)) lmt_raise(L, &err);
  return p;
}

/* why() -> a sequence of { kernel =, algorithm =, vector =, parts =, possible =,
** chosen =, why =, traffic =, used =, predicted = } */
static int plan_why (lua_State *L) {
  mt_plan_candidate *way = lua_newuserdatauv(L, MT_MAXPLANCANDIDATES * sizeof *way, 0);
  int n = mt_plan_why(way, launch_of(L));
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

/* take(kernel, vector | parts) -> the plan, by that kernel */
static int plan_take (lua_State *L) {
  LMT_NOERR(err);
  const char *kernel = luaL_checkstring(L, 2);
  int how = (int)luaL_checkinteger(L, 3);
  if (lmt_takeway(L, 1, kernel, how, &err)) return lmt_raise(L, &err);
  lua_settop(L, 1);
  return 1;
}

/* check_repeatable(plan, what): it may be launched any number of times. */
static int plan_check_repeatable (lua_State *L) {
  const char *what = luaL_checkstring(L, 2);
  if (mt_plan_adds(launch_of(L)))
    luaL_error(L,
               "%s: with beta, or with C as residual, each launch adds to C\n"
               "tune a plan of such tensors with a C that may be lost; later plans take "
               "its kernel",
               what);
  return 0;
}

/* check_launches(plan, what, n): n launches are not too much work. */
static int plan_check_launches (lua_State *L) {
  uint64_t n = (uint64_t)luaL_checkinteger(L, 3);
  lmt_checkwork(L, luaL_checkstring(L, 2), lmt_times(lmt_planwork(L, 1), n));
  return 0;
}

/* measure(n) -> microseconds of a launch, of n one behind the other */
static int plan_measure (lua_State *L) {
  LMT_NOERR(err);
  double us;
  mt_plan *p = lmt_toplan(L, 1, true);
  lua_Integer n = luaL_optinteger(L, 2, 1);
  luaL_argcheck(L, n > 0 && n <= INT32_MAX, 2, "1 launch or more expected");
  lmt_checkwork(L, "measure", lmt_times(lmt_planwork(L, 1), (uint64_t)n));
  lmt_listenhere(L, &err);
  lmt_state *s = lmt_pushstate(L);
  lua_pop(L, 1);
  if (lmt_permitlaunches(s, (uint64_t)n, &err) || mt_plan_measure(p, (int)n, &us, &err))
    return lmt_raise(L, &err);
  lua_pushnumber(L, us / (double)n);
  return 1;
}

/* ---------------------------------------------------------------- what was measured */

void lmt_pushtuned (lua_State *L) {
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
void lmt_cached (lua_State *L) {
  char key[MT_KEY_SIZE];
  LMT_NOERR(err);
  int top = lua_gettop(L);
  lmt_pushtuned(L);
  if (!is_empty(L, top + 1)) {
    mt_plan_key(key, sizeof key, lmt_toplan(L, top, false));
    if (lua_getfield(L, top + 1, key) != LUA_TNIL) {
      lua_getfield(L, -1, "kernel");
      lua_getfield(L, -2, "vector");
      const char *kernel = luaL_checkstring(L, -2);
      int how = (int)luaL_checkinteger(L, -1);
      (void)lmt_takeway(L, top, kernel, how, &err);
    }
  }
  lua_settop(L, top);
}

/* retune(): what was measured is another now: copies look anew for their kernels. */
static int l_retune (lua_State *L) {
  lmt_retuned(L);
  return 0;
}

void lmt_retuned (lua_State *L) {
  lmt_state *state = lmt_pushstate(L);
  lua_pop(L, 1);
  lmt_checkasking(L, state);
  lmt_forgetplans(state, NULL);
}

/* forget_tuning(): later plans take the kernels that are predicted to be the fastest. */
static int l_forget_tuning (lua_State *L) {
  lmt_pushtuned(L);
  int memory = lua_gettop(L);
  for (lua_pushnil(L); lua_next(L, memory); lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    lua_pushnil(L);
    lua_rawset(L, memory);
  }
  lmt_retuned(L);
  return 0;
}

#define ROWS_TUNE
#include "binding/rows.h"

/* What was measured is a table in the state, which only our own Lua files see besides. */
void lmt_open_tune (lua_State *L) {
  lmt_addrows(L, rows);
  lmt_pushstate(L);
  lmt_pushinner(L);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "tuned");
  lua_setiuservalue(L, -3, LMT_TUNED);
  lua_pop(L, 2);
}
