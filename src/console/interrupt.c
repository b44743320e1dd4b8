/*
** interrupt.c - Ctrl-C ends what runs.
** SPDX-License-Identifier: MIT
*/
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include <lauxlib.h>

#include "console/interrupt.h"

static con_second when_again;
static pthread_t home; /* the thread that calls */

static void set_handler (void (*handler)(int)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL); /* no SA_RESTART: a read at the prompt returns */
}

/* Threads of a BLAS do not block signals: what they get is for the thread that waits. */
static void on_sigint (int number) {
  if (!pthread_equal(pthread_self(), home)) {
    pthread_kill(home, number);
    return;
  }
  if (when_again == CON_KILLS) set_handler(SIG_DFL);
  run_interrupt();
}

void con_work (lua_State *L) { run_begin(L, when_again == CON_KILLS); }

/* The error as text with a traceback; what has __tostring is shown by it alone. */
static int traceback (lua_State *L) {
  const char *text = lua_tostring(L, 1);
  if (text == NULL) {
    if (luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING) return 1;
    text = lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
  }
  luaL_traceback(L, L, text, 1);
  return 1;
}

int con_call (lua_State *L, int nargs, int nresults, con_second second) {
  int base = lua_gettop(L) - nargs;
  lua_pushcfunction(L, traceback);
  lua_insert(L, base);
  when_again = second;
  home = pthread_self();
  con_work(L);
  set_handler(on_sigint);
  int status = lua_pcall(L, nargs, nresults, base);
  run_end(L);
  if (second == CON_KILLS) set_handler(SIG_DFL);
  lua_remove(L, base);
  return status;
}
