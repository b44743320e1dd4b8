/*
** main.c - work that would take seconds or for ever, stopped in its middle: by the host's
** flag, which another thread sets, and by a count hook that raises. Prints how long each
** kind went on after that.
** usage: moontile_stop_test kinds.lua libcuda.so.1 [kind]
** SPDX-License-Identifier: MIT
*/
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "counted.h"
#include "moontile/lua.h"

enum { FLAG, HOOK, WAYS };
enum { MOST = 2000 }; /* milliseconds: beyond, it was not stopped */
static const char *const said[WAYS] = {"stopped by the host", "enough of it"};

int checks, failures;

static double now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------- stopping */

static volatile int flag;
static double when; /* it is to be stopped, or was told to */

static void *set_flag (void *arg) {
  const long *delay = arg;
  struct timespec t = {.tv_sec = *delay / 1000, .tv_nsec = *delay % 1000 * 1000000};
  nanosleep(&t, NULL);
  when = now();
  __atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
  return NULL;
}

static void hook (lua_State *L, lua_Debug *where) {
  (void)where;
  if (now() >= when) luaL_error(L, said[HOOK]);
}

/* What the state tells of the calls of a kind: how often, and whether one is not over
** yet; and whether it is to tell. */
static struct told {
  long times;
  bool open, sane, tells;
} told;

static void report (void *ud, const mt_progress *p) {
  struct told *t = ud;
  t->open = p != NULL;
  if (p == NULL) return;
  t->times++;
  t->sane = t->sane && p->done >= 0 && p->done <= p->total;
}

/* Calls the function on the top; returns the milliseconds since it was told to end. */
static double run (lua_State *L, int way, long delay, bool *ended) {
  pthread_t thread;
  flag = 0;
  when = now() + (double)delay;
  if (way == FLAG) pthread_create(&thread, NULL, set_flag, &delay);
  else lua_sethook(L, hook, LUA_MASKCOUNT, 1000);
  *ended = lua_pcall(L, 0, 0, 0) != LUA_OK;
  double end = now();
  if (way == FLAG) pthread_join(thread, NULL);
  lua_sethook(L, NULL, 0, 0);
  flag = 0;
  return end - when;
}

/* ---------------------------------------------------------------- kinds */

static const char *const devices[] = {"*", NULL};

/* A state with the library and the kinds, which lie on its stack. */
static lua_State *open (const char *kinds, const char *libcuda) {
  lua_State *L = luaL_newstate();
  mt_lua_config c = {.size = sizeof c,
                     .files = MT_LUA_ANYFILES,
                     .libraries = true,
                     .devices = devices,
                     .threads = 64,
                     .bytes = (size_t)1 << 32,
                     .work = UINT64_MAX,
                     .stop = &flag};
  luaL_openlibs(L);
  mt_lua_configure(L, &c);
  mt_lua_report(L, report, &told);
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  if (luaL_loadfile(L, kinds) != LUA_OK) printf("%s\n", lua_tostring(L, -1)), exit(2);
  lua_insert(L, -2);
  lua_pushstring(L, libcuda);
  if (lua_pcall(L, 2, 1, 0) != LUA_OK) printf("%s\n", lua_tostring(L, -1)), exit(2);
  return L;
}

/* What comes after a call that was stopped is as ever. */
static void check_after (lua_State *L, const char *libcuda, const char *name) {
  static const char code[] =
      "local tile, libcuda = require 'moontile', ...\n"
      "local A = tile.tensor('f32', tile.layout{ 40, 40 }):fill(1)\n"
      "local B = tile.tensor('f32', tile.layout{ 40, 40 })\n"
      "tile.gemm(A, A, B) tile.copy(B, A)\n"
      "assert(A(0, 0) == 40 and A(39, 39) == 40)\n"
      "local gpu = tile.device { 'cuda', libcuda = libcuda, piece = 1 << 16 }\n"
      "if not gpu then return end\n"
      "local C = tile.tensor('f32', tile.layout({ 400, 400 }, 'right'))\n"
      "local D = tile.tensor('f32', tile.layout{ 400, 400 }, gpu):fill(3)\n"
      "tile.copy(D, C) assert(C(0, 0) == 3 and C(399, 399) == 3)\n"
      "tile.copy(C:fill(4), D) assert(D(0, 0) == 4 and D(399, 399) == 4)\n"
      "gpu:synchronize()";
  luaL_loadstring(L, code);
  lua_pushstring(L, libcuda);
  int status = lua_pcall(L, 1, 0, 0);
  CHECK(status == LUA_OK, "after %s: %s", name, lua_tostring(L, -1));
  lua_settop(L, 1);
}

/* Kind i, if its name has `only` in it; false: there is none. `ms`: how long it went on;
** negative: it was left out. */
static bool one (const char *kinds, const char *libcuda, const char *only, int i, int way,
                 char *name, double *ms) {
  bool ended;
  lua_State *L = open(kinds, libcuda);
  if (lua_rawgeti(L, 1, i) == LUA_TNIL) return lua_close(L), false;
  *ms = -1;
  lua_getfield(L, 2, "name");
  lua_getfield(L, 2, "delay");
  snprintf(name, 40, "%s", lua_tostring(L, 3));
  long delay = (long)lua_tointeger(L, 4);
  if (only && strstr(name, only) == NULL) return lua_close(L), true;
  lua_getfield(L, 2, "slow");
  const char *slow = lua_tostring(L, 5);
  lua_getfield(L, 2, "make");
  if (lua_pcall(L, 0, 1, 0) != LUA_OK) {
    CHECK(false, "%s: %s", name, lua_tostring(L, -1));
    return lua_close(L), true;
  }
  lua_getfield(L, 2, "tells");
  told.tells = lua_toboolean(L, -1);
  lua_pop(L, 1);
  setenv("FAKECUDA_SLOW", slow, 1);
  told.sane = true;
  *ms = run(L, way, delay, &ended);
  const char *text = ended ? lua_tostring(L, -1) : "it was done";
  CHECK(ended && text && strstr(text, said[way]), "%s: %s", name, text ? text : "?");
  CHECK(*ms < MOST, "%s: %.0f ms", name, *ms);
  CHECK(told.sane && !told.open, "%s: tells of it when it is over", name);
  unsetenv("FAKECUDA_SLOW");
  long times = told.times;
  check_after(L, libcuda, name);
  told.times = times;
  double end = now();
  lua_close(L);
  CHECK(now() - end < MOST, "%s: closed after %.0f ms", name, now() - end);
  return true;
}

/* ---------------------------------------------------------------- who stops what */

/* Runs the code; "" or the message. */
static const char *message (lua_State *L, const char *code) {
  static char text[256];
  int status = luaL_dostring(L, code);
  snprintf(text, sizeof text, "%s", status ? lua_tostring(L, -1) : "");
  lua_settop(L, 1);
  return text;
}

static const char endless[] = "tile = require 'moontile' layout = tile.layout\n"
                              "A = tile.tensor('f32', layout({ 4, 1 << 40 }, { 1, 0 }))\n"
                              "C = tile.tensor('f32', layout { 4, 4 })\n"
                              "function endless() tile.gemm(A, A, C) end\n"
                              "plan = tile.plan(C, tile.tensor('f32', layout { 4, 4 }))";

/* While the flag is set nothing on devices is used; it can be given back. */
static void test_flag (lua_State *L) {
  static const struct {
    const char *code;
    bool stopped;
  } rows[] = {{"endless()", true},
              {"plan()", true},
              {"C:fill(1)", true},
              {"return C(0, 0)", true},
              {"tile.tensor('f32', layout(4))", true},
              {"tile.device 'cpu'", true},
              {"assert(#layout { 2, 3 } == 2)", false},
              {"plan:free()", false},
              {"C:free()", false}};
  CHECK(message(L, endless)[0] == 0, "%s", message(L, endless));
  flag = 1;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const char *text = message(L, rows[i].code);
    CHECK(rows[i].stopped ? strstr(text, said[FLAG]) != NULL : text[0] == 0, "%s: \"%s\"",
          rows[i].code, text);
  }
  flag = 0;
  CHECK(message(L, "tile.tensor('f32', layout(4)):fill(1)")[0] == 0, "the flag stays");
}

static void yields (lua_State *L, lua_Debug *where) {
  (void)where;
  if (now() >= when) lua_yield(L, 0);
}

/* The hook of the main thread ends calls of coroutines that have none; nobody yields in
** the middle of a call. */
static void test_hooks (lua_State *L) {
  static const char *const codes[] =
      {"coroutine.wrap(endless)()",
       "local co = coroutine.create(endless) assert(coroutine.resume(co))"};
  message(L, endless);
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
    when = now() + 30;
    lua_sethook(L, hook, LUA_MASKCOUNT, 1000);
    const char *text = message(L, codes[i]);
    CHECK(strstr(text, said[HOOK]), "%s: \"%s\"", codes[i], text);
    CHECK(now() - when < MOST, "%s: %.0f ms", codes[i], now() - when);
  }
  when = now() + 30;
  lua_sethook(L, yields, LUA_MASKCOUNT, 1000);
  CHECK(strstr(message(L, "endless()"), "yield"), "a hook yields in a call");
  lua_sethook(L, NULL, 0, 0);
}

/* What is asked on a stream waits for no other, and comes in order. */
static void test_streams (lua_State *L) {
  static const char *const made =
      "tile = require 'moontile' layout = tile.layout\n"
      "gpu = tile.device { 'cuda', libcuda = libcuda }\n"
      "A = tile.tensor('f32', layout { 4, 8 }, gpu):fill(2)\n"
      "B = tile.tensor('f32', layout { 4, 8 }, gpu)\n"
      "C = tile.tensor('f32', layout(4), gpu)\n"
      "sum = function(o) return tile.einsum('ij->i', A, C, o) end\n"
      "sum() gpu:synchronize() busy, own = gpu:stream(), gpu:stream()";
  CHECK(message(L, made)[0] == 0, "%s", message(L, made));
  CHECK(message(L, "tile.copy(A, B, busy)")[0] == 0, "a copy on a stream");
  setenv("FAKECUDA_SLOW", "400", 1);
  double begin = now();
  CHECK(message(L, "sum { stream = own, alpha = 3 }")[0] == 0, "a sum on another");
  CHECK(now() - begin < 200, "it came back after %.0f ms", now() - begin);
  const char *text = message(L, "own:synchronize() assert(C(0) == 48 and C(3) == 48)");
  CHECK(text[0] == 0, "%s", text);
  unsetenv("FAKECUDA_SLOW");
}

static void test_rest (const char *kinds, const char *libcuda) {
  static void (*const tests[])(lua_State *) = {test_flag, test_hooks, test_streams};
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
    lua_State *L = open(kinds, libcuda);
    lua_pushstring(L, libcuda);
    lua_setglobal(L, "libcuda");
    tests[i](L);
    lua_close(L);
  }
}

int main (int argc, char **argv) {
  char name[40] = "";
  double ms[WAYS] = {0}, worst = 0;
  if (argc < 3) return 2;
  printf("%-28s %10s %10s\n", "milliseconds until", "flag", "hook");
  for (int i = 1;; i++) {
    bool some = true;
    told = (struct told){.sane = true};
    for (int way = 0; some && way < WAYS; way++) {
      some = one(argv[1], argv[2], argv[3], i, way, name, &ms[way]);
      if (some && ms[way] > worst) worst = ms[way];
    }
    if (!some) break;
    CHECK(told.times > 0 || !told.tells, "%s: never tells how far it is", name);
    if (ms[FLAG] >= 0) printf("%-28s %10.1f %10.1f\n", name, ms[FLAG], ms[HOOK]);
    fflush(stdout);
  }
  test_rest(argv[1], argv[2]);
  printf("stop: the longest took %.1f ms; %d checks, %d failed\n", worst, checks,
         failures);
  return failures != 0;
}
