/*
** stop.c - ending calls that take long: the host's flag, and Lua's count hook.
** SPDX-License-Identifier: MIT
**
** The core asks every few milliseconds. The flag is read each time; the count hook is
** called about every 10 ms, as if so many instructions had passed. It runs in the middle
** of a call: what that call uses is out of its reach, since tensors, plans, graphs,
** streams and devices raise an error then, and the collector rests. What the hook raises
** is kept, ends the call, and is raised when the core has returned.
*/
#include <string.h>
#include <time.h>

#include "binding/lmt.h"

enum { PERIOD = 10 }; /* milliseconds between two calls of the hook */

static int64_t now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---------------------------------------------------------------- the hook */

static lua_Hook counting (lua_State *L) {
  return lua_gethookmask(L) & LUA_MASKCOUNT ? lua_gethook(L) : NULL;
}

/* The hook of the thread that runs, else of the main thread: a handler of a signal knows
** no other. */
static lua_Hook find_hook (lua_State *L) {
  lua_Hook hook = counting(L);
  if (hook) return hook;
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  hook = counting(lua_tothread(L, -1));
  lua_pop(L, 1);
  return hook;
}

/* Calls the hook for the function that called this one. */
static int call_hook (lua_State *L) {
  const lua_Hook *hook = lua_touserdata(L, 1);
  lua_Debug where;
  memset(&where, 0, sizeof where);
  if (!lua_getstack(L, 1, &where) && !lua_getstack(L, 0, &where)) return 0;
  where.event = LUA_HOOKCOUNT;
  where.currentline = -1;
  (*hook)(L, &where);
  return 0;
}

/* Whether the hook raised an error, which is kept. */
static bool raises (lua_State *L, lmt_state *s, lua_Hook hook) {
  bool collects = lua_gc(L, LUA_GCISRUNNING);
  if (collects) lua_gc(L, LUA_GCSTOP);
  s->asking = true;
  lua_pushcfunction(L, call_hook);
  lua_pushlightuserdata(L, &hook);
  s->raised = lua_pcall(L, 1, 0, 0) != LUA_OK;
  s->asking = false;
  lmt_releaseleft(s);
  if (collects) lua_gc(L, LUA_GCRESTART);
  if (!s->raised) return false;
  lmt_pushstate(L);
  lua_insert(L, -2);
  lua_setiuservalue(L, -2, LMT_RAISED);
  lua_pop(L, 1);
  return true;
}

/* ---------------------------------------------------------------- asking */

bool lmt_stop (void *ud) {
  lua_State *L = ud;
  if (!lua_checkstack(L, 8)) return false;
  lmt_state *s = lmt_pushstate(L);
  lua_pop(L, 1);
  if (s->raised || lmt_told(s)) return true;
  lua_Hook hook = s->asking ? NULL : find_hook(L);
  int64_t time = hook ? now() : 0;
  if (hook == NULL || time < s->asked + PERIOD) return false;
  bool end = raises(L, s, hook);
  s->asked = now();
  return end;
}

bool lmt_ends (mt_err *err, const char *op) {
  mt_stint_tell(err);
  if (err->stop == NULL || !err->stop(err->stop_ud)) return false;
  lmt_set(err, MT_ESTOPPED, "%s: %s", op, mt_status_text(MT_ESTOPPED));
  return true;
}

void lmt_checkasking (lua_State *L, const lmt_state *s) {
  if (s->asking)
    luaL_error(L, "a hook is called in the middle of a call: it cannot use tensors, "
                  "plans, graphs, streams or devices");
}

void lmt_refuse (lua_State *L, const lmt_state *s) {
  lmt_checkasking(L, s);
  luaL_error(L, "%s", mt_status_text(MT_ESTOPPED));
}

bool lmt_pushraised (lua_State *L) {
  lmt_state *s = lmt_pushstate(L);
  bool raised = s->raised;
  s->raised = false;
  if (raised) lua_getiuservalue(L, -1, LMT_RAISED);
  else lua_pushnil(L);
  lua_pushnil(L);
  lua_setiuservalue(L, -3, LMT_RAISED);
  lua_remove(L, -2);
  return raised;
}
