/*
** main.c - what scripts do again and again on the fake driver's device, without a call
** that takes the GPU's memory, or waits for what other devices of the context do.
** usage: moontile_waits_test libcuda.so.1
** SPDX-License-Identifier: MIT
*/
#include <dlfcn.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "counted.h"
#include "moontile/lua.h"

int checks, failures;

static int (*calls)(const char *name);
static void (*restart)(void);

static const char begin[] =
    "tile = require 'moontile' layout = tile.layout "
    "d = assert(tile.device{ 'cuda', libcuda = LIBCUDA }) stream = d:stream() "
    "host = tile.tensor('f32', layout{ 8, 8 }):fill(7) "
    "function new(dtype, ...) return assert(tile.tensor(dtype, layout(...), d)) end "
    "A, B, C = new('f32', { 8, 8 }), new('f32', { 8, 8 }, 'right'), new('f32', { 8, 8 }) "
    "D, H, Q = new('f64', 20), new('f16', { 4, 8 }), new('u8', 37) "
    "S = new('i32', { 4, 4 }, { 3, 17 }) "
    "W = assert(tile.tensor('f16', tile.swizzle(2, 1, 3) * layout(64), d)) "
    "P, X = new('i16', { 4, { 2, 3 }, 5 }, { 15, { 60, 1 }, 3 }), new('f32', 8, 2) "
    "plan = assert(tile.plan(A, B)) "
    "function all(T, v, n) local t = T:totable() "
    "  for i = 1, #t do assert(t[i] == v, i) end assert(#t == n) end";

/* A script, and how often it has the driver wait: not for a stream that was asked, and
** has nothing to do any more. -1: as often as it likes. */
static const struct row {
  const char *text;
  int waits;
} rows[] = {
    {"A:fill(3)", 0},
    {"Q:fill(200)", 0},
    {"H:fill(0.5)", 0},
    {"B:fill(1)", 0},
    {"P:fill(1)", 0},
    {"X:fill(1)", 1}, /* twice as far apart as they could be */
    {"D:fill(0)", 0},
    {"D:fill(0.1)", 1}, /* 16 bytes go there first */
    {"S:fill(5)", 1},
    {"W:fill(1)", 1},
    {"A:fill(4) plan() d:synchronize()", 0},
    {"A:fill(4) plan() d:synchronize() assert(B(7, 7) == 4)", 1},
    {"A:fill(2) tile.copy(A, B, stream) stream:synchronize()", 0},
    {"A:fill(2) B:fill(3) tile.gemm(A, B, C) d:synchronize()", 0},
    {"local T = new('f32', { 8, 8 }) T:free()", 0},
    {"local T = new('i8', 1000) plan(stream) d:synchronize() T:free()", 0},
    {"local T = new('f32', { 8, 8 }) tile.copy(host, T) T:free()", -1},
    {"tile.copy(A, host)", -1},
    {"collectgarbage() collectgarbage 'stop' "
     "for i = 1, 700 do new('f32', { 4, 8 }) end collectgarbage 'restart'",
     0},
};

static const char end[] =
    "A:fill(3) all(A, 3, 64) Q:fill(200) all(Q, 200, 37) H:fill(0.5) all(H, 0.5, 32) "
    "D:fill(0) all(D, 0, 20) D:fill(0.1) all(D, 0.1, 20) S:fill(5) all(S, 5, 16) "
    "W:fill(1) all(W, 1, 64) P:fill(-3) all(P, -3, 120) X:fill(6) all(X, 6, 8) "
    "local Y = tile.tensor('f32', layout(16), d) Y:view(layout(8, 2)):fill(1) "
    "for i = 0, 15 do assert(Y(i) == 1 - i % 2) end "
    "Y:view(layout({ 2, 2 }, { 2, 1 }), 12):fill(5) assert(Y(11) == 0 and Y(12) == 5) "
    "assert(Y(15) == 5 and not pcall(Y.fill, Y:view(layout({ 2, 2 }, { 1, 1 })), 1)) "
    "local V = new('f32', { 4, 4 }) V(tile._, 1):fill(2) "
    "assert(V(3, 1) == 2 and V(0, 2) == 0 and V(3, 0) == 0) "
    "d:graph(function() V:fill(9) end)() d:synchronize() all(V, 9, 16)";

/* Fills in the middle of others: by finalizers, wherever one of them allocates. */
static const char nested[] =
    "local D, E, V = new('f64', 20), new('f64', 20), new('f64', { 3, 3 }, { 2, 9 }) "
    "local filled = 0 collectgarbage('incremental', 1, 400, 0) "
    "local meta = { __gc = function() E:fill(0.7) filled = filled + 1 end } "
    "for i = 1, 2000 do "
    "  for _ = 1, 40 do setmetatable({}, meta) end "
    "  D:fill(i + 0.1) assert(D(0) == i + 0.1 and D(19) == i + 0.1, i) "
    "  V:fill(i + 0.3) assert(V(0, 0) == i + 0.3 and V(2, 2) == i + 0.3, i) "
    "end "
    "collectgarbage 'generational' assert(filled > 4000)";

static void run (lua_State *L, const char *text) {
  CHECK(luaL_dostring(L, text) == LUA_OK, "%s: %s", text, lua_tostring(L, -1));
  lua_settop(L, 0);
}

/* Once before: plans are made, memory has been used. */
static void test (lua_State *L, const struct row *r) {
  enum { TIMES = 3 };
  run(L, r->text);
  restart();
  for (int i = 0; i < TIMES; i++) run(L, r->text);
  int all = calls("cuCtxSynchronize") + calls("cuMemAlloc_v2") + calls("cuMemFree_v2");
  CHECK(all == 0, "%s: %d calls take or wait for all of a GPU", r->text, all);
  int own = calls("cuStreamSynchronize");
  CHECK(r->waits < 0 || own == r->waits * TIMES, "%s: %d waits of %d times", r->text, own,
        TIMES);
}

int main (int argc, char **argv) {
  if (argc != 2) return 2;
  void *fake = dlopen(argv[1], RTLD_NOW);
  if (fake == NULL) return 2;
  *(void **)&calls = dlsym(fake, "fakecuda_calls");
  *(void **)&restart = dlsym(fake, "fakecuda_restart");
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  luaL_requiref(L, "moontile", luaopen_moontile, 0);
  lua_pushstring(L, argv[1]);
  lua_setglobal(L, "LIBCUDA");
  run(L, begin);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) test(L, &rows[i]);
  run(L, end);
  run(L, nested);
  lua_close(L);
  printf("waits: %d checks, %d failed\n", checks, failures);
  return failures != 0;
}
