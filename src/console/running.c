/*
** running.c - who runs, and how to end it in the middle.
** SPDX-License-Identifier: MIT
**
** A hook raises the error: in the thread that runs, which is known since resume and wrap
** are ours. Calls of the library ask their hook every few milliseconds.
*/
#include <signal.h>
#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "binding/coroutine.h"
#include "binding/versions.h"
#include "console/running.h"

/* Instructions that handlers of errors have, before the next error: some 10 ms. */
enum { GRACE = 1000000 };

static lua_State *volatile running;       /* the thread that runs, if any */
static volatile sig_atomic_t interrupted; /* how often */
static volatile sig_atomic_t raised;      /* how many errors came of it */
static volatile sig_atomic_t once;        /* no more than one error comes of it */

static void arm (lua_State *L);
static void disarm (lua_State *L);

/* A coroutine may keep the hook of an interruption that is over. */
static void stop (lua_State *L, lua_Debug *where) {
  (void)where;
  if (!interrupted) {
    disarm(L);
    return;
  }
  if (raised < 2) raised = raised + 1;
  if (once) disarm(L);
  else arm(L);
  luaL_error(L, "interrupted!");
}

/* The first error comes at the next instruction or call, the second one after a while,
** all others at once: what catches errors does not go on for long. */
static void arm (lua_State *L) {
  int mask = raised == 0 ? LUA_MASKCALL | LUA_MASKCOUNT : LUA_MASKCOUNT;
  lua_sethook(L, stop, mask, raised == 1 ? GRACE : 1);
}

static void disarm (lua_State *L) {
  if (lua_gethook(L) == stop) lua_sethook(L, NULL, 0, 0);
}

void run_begin (lua_State *L, bool just_once) {
  interrupted = raised = 0;
  once = just_once;
  running = L;
}

void run_end (lua_State *L) {
  running = NULL;
  disarm(L);
}

void run_listen (void) {
  running = NULL;
  interrupted = 0;
}

void run_interrupt (void) {
  interrupted = 1;
  if (running != NULL) arm(running);
}

bool run_interrupted (void) { return interrupted != 0; }

/* ---------------------------------------------------------------- coroutines */

/* lua_resume; the signal finds whichever thread runs, also if it comes between two of
** these lines. */
static int resume_known (lua_State *co, lua_State *from, int nargs, int *nresults) {
  lua_State *before = running;
  running = co;
  if (interrupted && before != NULL) arm(co);
  int status = lua_resume(co, from, nargs, nresults);
  running = before;
  if (interrupted && before != NULL) arm(before);
  return status;
}

/* Resumes `co` with the values on the top of L. How many results it pushed, or -1: the
** error. */
static int resume (lua_State *L, lua_State *co, int nargs) {
  int n = 0;
  if (!lua_checkstack(co, nargs)) {
    lua_pushliteral(L, "too many arguments to resume");
    return -1;
  }
  lua_xmove(L, co, nargs);
  int status = resume_known(co, L, nargs, &n);
  if (status != LUA_OK && status != LUA_YIELD) {
    lua_xmove(co, L, 1);
    return -1;
  }
  if (!lua_checkstack(L, n + 1)) {
    lua_pop(co, n);
    lua_pushliteral(L, "too many results to resume");
    return -1;
  }
  lua_xmove(co, L, n);
  return n;
}

static int l_resume (lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  luaL_argexpected(L, co != NULL, 1, "coroutine");
  int n = resume(L, co, lua_gettop(L) - 1);
  lua_pushboolean(L, n >= 0);
  if (n < 0) n = 1;
  lua_insert(L, -(n + 1));
  return n + 1;
}

static int call_wrapped (lua_State *L) {
  return lmt_callwrapped(L, resume, lmt_closethread);
}
static int l_wrap (lua_State *L) { return lmt_wrap(L, call_wrapped); }

void run_open_coroutines (lua_State *L) {
  static const luaL_Reg functions[] = {{"resume", l_resume},
                                       {"wrap", l_wrap},
                                       {NULL, NULL}};
  lua_getglobal(L, LUA_COLIBNAME);
  luaL_setfuncs(L, functions, 0);
  lua_pop(L, 1);
}
