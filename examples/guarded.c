/*
** guarded.c - a C program that runs a script which nobody has read.
** SPDX-License-Identifier: MIT
**
** guarded SCRIPT [ROOT]: what the script may call, which files below ROOT it reads and
** writes, how much memory, how many threads and how much time it takes is bounded. The
** rest of a fence against hostile code is a process of its own.
*/
#define _POSIX_C_SOURCE 200809L /* clock_gettime, nanosleep */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "moontile/lua.h"

typedef struct guard {
  mt_lua_config config; /* what moontile permits; `stop` is that below */
  size_t most;          /* bytes of Lua and of tensors in host memory */
  int milliseconds;
  size_t bytes, peak;
  volatile int stop;
  bool over; /* the watch may go home */
  pthread_mutex_t lock;
  pthread_cond_t changed;
} guard;

/* ---------------------------------------------------------------- memory, time */

static void *allocate (void *ud, void *p, size_t old, size_t new) {
  guard *g = ud;
  if (p == NULL) old = 0;
  if (new > old &&new - old > g->most - g->bytes) return NULL;
  void *q = new == 0 ? NULL : realloc(p, new);
  if (new == 0) free(p);
  if (new > 0 && q == NULL) return NULL;
  g->bytes = g->bytes - old + new;
  if (g->bytes > g->peak) g->peak = g->bytes;
  return q;
}

/* Sets the flag when the time is up; moontile reads it, and so does the hook. */
static void *watch (void *arg) {
  guard *g = arg;
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_nsec += (long)(g->milliseconds % 1000) * 1000000;
  end.tv_sec += g->milliseconds / 1000 + end.tv_nsec / 1000000000;
  end.tv_nsec %= 1000000000;
  pthread_mutex_lock(&g->lock);
  while (!g->over && pthread_cond_timedwait(&g->changed, &g->lock, &end) != ETIMEDOUT)
    ;
  if (!g->over) g->stop = 1;
  pthread_mutex_unlock(&g->lock);
  return NULL;
}

/* From then on each instruction raises: a script that catches the error gets nowhere. */
static void on_count (lua_State *L, lua_Debug *unused) {
  guard *g;
  (void)unused;
  lua_getallocf(L, (void **)&g);
  if (!g->stop) return;
  lua_sethook(L, on_count, LUA_MASKCOUNT, 1);
  luaL_error(L, "the script was stopped");
}

/* ---------------------------------------------------------------- what there is */

/* Lists of what is let in: nothing that loads code or files, that runs where no hook is
** called (finalizers, __close of a coroutine that died, handlers of xpcall), or that
** takes for ever within one call (patterns, table.move). */
static const char *const base[] = {"assert",   "error",        "getmetatable",
                                   "ipairs",   "next",         "pairs",
                                   "pcall",    "print",        "rawequal",
                                   "rawget",   "rawlen",       "rawset",
                                   "select",   "setmetatable", "tonumber",
                                   "tostring", "type",         "_VERSION",
                                   NULL};
static const char *const strings[] = {"byte", "char",    "format", "len",   "lower",
                                      "rep",  "reverse", "sub",    "upper", NULL};
static const char *const tables[] = {"concat", "pack", "sort", "unpack", NULL};

static bool is_listed (const char *const *list, const char *name) {
  while (*list && strcmp(*list, name) != 0) list++;
  return *list != NULL;
}

/* Removes from the table on the top what is not in the list. */
static void keep (lua_State *L, const char *const *list) {
  for (lua_pushnil(L); lua_next(L, -2);) {
    lua_pop(L, 1);
    if (lua_type(L, -1) == LUA_TSTRING && is_listed(list, lua_tostring(L, -1))) continue;
    lua_pushvalue(L, -1);
    lua_pushnil(L);
    lua_rawset(L, -4);
  }
}

static bool has (lua_State *L, const char *key) {
  lua_pushstring(L, key);
  bool there = lua_rawget(L, 2) != LUA_TNIL;
  lua_pop(L, 1);
  return there;
}

/* setmetatable: upvalue 1, without finalizers. */
static int set_metatable (lua_State *L) {
  lua_settop(L, 2);
  if (lua_istable(L, 2) && (has(L, "__gc") || has(L, "__close")))
    return luaL_error(L, "no finalizers here");
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, 2, 1);
  return 1;
}

/* string.rep: upvalue 1, of short texts. */
static int repeat (lua_State *L) {
  size_t n, gap = 0;
  luaL_checklstring(L, 1, &n);
  luaL_optlstring(L, 3, "", &gap);
  if (luaL_checknumber(L, 2) * (double)(n + gap + 1) > 1e6)
    return luaL_error(L, "a text of more than a million bytes");
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

/* Replaces the function `name` of the table on the top by one that calls it. */
static void wrap (lua_State *L, const char *name, lua_CFunction f) {
  lua_getfield(L, -1, name);
  lua_pushcclosure(L, f, 1);
  lua_setfield(L, -2, name);
}

static void open_libraries (lua_State *L) {
  luaL_requiref(L, LUA_GNAME, luaopen_base, 1);
  keep(L, base);
  wrap(L, "setmetatable", set_metatable);
  luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 1);
  keep(L, strings);
  wrap(L, "rep", repeat);
  lua_pushliteral(L, "");
  lua_getmetatable(L, -1);
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  luaL_requiref(L, LUA_TABLIBNAME, luaopen_table, 1);
  keep(L, tables);
  luaL_requiref(L, LUA_MATHLIBNAME, luaopen_math, 1);
  luaL_requiref(L, LUA_COLIBNAME, luaopen_coroutine, 1);
  lua_settop(L, 0);
}

/* ---------------------------------------------------------------- running */

typedef struct script {
  guard *g;
  const char *text;
  size_t size;
} script;

/* Everything that can raise happens in here. */
static int run_script (lua_State *L) {
  const script *s = lua_touserdata(L, 1);
  open_libraries(L);
  mt_lua_configure(L, &s->g->config);
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  lua_setglobal(L, "tile");
  if (luaL_loadbufferx(L, s->text, s->size, "=script", "t")) return lua_error(L);
  lua_sethook(L, on_count, LUA_MASKCOUNT, 1000);
  lua_call(L, 0, 1);
  return 1;
}

/* Runs the text; what it returns or raises, as text, is in `out`. */
static bool run_guarded (guard *g, const char *text, size_t size, char *out,
                         size_t room) {
  pthread_t watcher;
  script s = {g, text, size};
  g->config.stop = &g->stop;
#if LUA_VERSION_NUM >= 505
  lua_State *L = lua_newstate(allocate, g, luaL_makeseed(NULL));
#else
  lua_State *L = lua_newstate(allocate, g);
#endif
  if (L == NULL) return false;
  bool watched = pthread_create(&watcher, NULL, watch, g) == 0;
  lua_pushcfunction(L, run_script);
  lua_pushlightuserdata(L, &s);
  bool ok = watched && lua_pcall(L, 1, 1, 0) == LUA_OK;
  lua_sethook(L, NULL, 0, 0);
  const char *said = lua_tostring(L, -1);
  snprintf(out, room, "%s", said ? said : "");
  pthread_mutex_lock(&g->lock);
  g->over = true;
  pthread_cond_signal(&g->changed);
  pthread_mutex_unlock(&g->lock);
  if (watched) pthread_join(watcher, NULL);
  lua_close(L);
  return ok;
}

#ifndef GUARDED_LIBRARY
enum { LONGEST = 1 << 20 };

int main (int argc, char **argv) {
  static char text[LONGEST], out[4096];
  guard g = {.config = {.size = sizeof g.config,
                        .files = argc > 2 ? MT_LUA_ROOTFILES : MT_LUA_NOFILES,
                        .root = argv[2],
                        .threads = 2,
                        .bytes = 64 << 20,
                        .written = 64 << 20},
             .most = 128 << 20,
             .milliseconds = 1000,
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .changed = PTHREAD_COND_INITIALIZER};
  FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
  if (f == NULL) return fprintf(stderr, "guarded SCRIPT [ROOT]\n"), EXIT_FAILURE;
  size_t size = fread(text, 1, sizeof text, f);
  fclose(f);
  bool ok = run_guarded(&g, text, size, out, sizeof out);
  printf("%s\n%zu bytes at most\n", out, g.peak);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
#endif
