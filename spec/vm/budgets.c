/*
** budgets.c - instructions, time, launches, text; who stops a VM, and what is left then.
** SPDX-License-Identifier: MIT
*/
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "vm_spec.h"

static bool begins (const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

static void test_instructions (void) {
  mt_vm_usage u;
  mt_vm_options o = {.size = sizeof o, .instructions = 1000000, .milliseconds = -1};
  mt_vm *v = open_vm(&o);
  CHECK(begins(run_vm(v, "while true do end"),
               "MT_ELIMIT: script:1: the script was stopped: "
               "it took more instructions"),
        "a loop");
  mt_vm_used(&u, v);
  CHECK(u.instructions >= 1000000 && u.instructions < 1002000, "%llu instructions",
        (unsigned long long)u.instructions);
  CHECK(run_vm(v, "for i = 1, 1e5 do end")[0] == 0, "100000 of 1000000");
  CHECK(begins(run_vm(v, "for i = 1, 2e6 do end"), "MT_ELIMIT"), "2000000 of 1000000");
  CHECK(run_vm(v, "return 1")[0] == 0, "a call after one that was stopped");
  CHECK(begins(run_vm(v, "local s = ('a'):rep(1e5) s:find('.-.-.-b')"), "MT_ELIMIT"),
        "a pattern");
  mt_vm_close(v);
}

static void test_launches (void) {
  mt_vm_usage u;
  const mt_vm_options o = {.size = sizeof o, .launches = 10};
  mt_vm *v = open_vm(&o);
  CHECK(run_vm(v, "a = tile.tensor('f32', tile.layout(8)) b = tile.tensor('f32', "
                  "tile.layout(8)) for i = 1, 5 do tile.copy(a, b) end")[0] == 0,
        "5 of 10");
  mt_vm_used(&u, v);
  CHECK(u.launches == 5, "%llu launches", (unsigned long long)u.launches);
  const char *got = run_vm(v, "p = tile.plan(a, b) for i = 1, 6 do p() end");
  CHECK(strstr(got, "launch: the host permits 10 in all, of which 0 are left"), "%s",
        got);
  got = run_vm(v, "tile.gemm(a, a, a)");
  CHECK(begins(got, "MT_ESCRIPT"), "%s", got);
  mt_vm_close(v);
}

static void test_text (void) {
  const mt_vm_options o = {.size = sizeof o, .text = 100000};
  mt_vm *v = open_vm(&o);
  CHECK(strstr(run_vm(v, "return ('x'):rep(100001)"), "more than 100000 bytes"), "rep");
  CHECK(run_vm(v, "return #('x'):rep(100000)")[0] == 0, "rep");
  CHECK(begins(run_vm(v, "local s = 'x' while true do s = s .. s end"), "MT_ELIMIT"),
        "..");
  CHECK(run_vm(v, "return 1")[0] == 0, "after that");
  mt_vm_close(v);
}

/* ---------------------------------------------------------------- stopped from outside */

static double now (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static double when;

static void *stop_later (void *arg) {
  const struct timespec t = {.tv_nsec = 30000000};
  nanosleep(&t, NULL);
  when = now();
  mt_vm_stop(arg, true);
  return NULL;
}

static void test_stop (void) {
  static const char *const kinds[] =
      {"while true do end", "while true do pcall(error) end",
       ("local a = tile.tensor('f32', tile.layout({4, 1 << 40}, {1, 0}))\n"
        "local c = tile.tensor('f32', tile.layout{4, 4}) tile.gemm(a, a, c)"),
       "local s = ('a'):rep(30) s:find(('a-'):rep(28) .. 'b')",
       "coroutine.wrap(function() while true do end end)()"};
  const mt_vm_options o = {.size = sizeof o, .milliseconds = -1, .work = UINT64_MAX};
  mt_vm *v = open_vm(&o);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, stop_later, v);
    const char *got = run_vm(v, kinds[i]);
    double took = now();
    pthread_join(thread, NULL);
    CHECK(begins(got, "MT_ESTOPPED") && strstr(got, "stopped by"), "%s: %s", kinds[i],
          got);
    CHECK(took - when < 2000, "%s: %.0f ms", kinds[i], took - when);
    CHECK(begins(run_vm(v, "return 1"), "MT_ESTOPPED: script: stopped by the host"),
          "it stays");
    mt_vm_stop(v, false);
    CHECK(run_vm(v, "return tile.tensor('f32', tile.layout(4)):fill(1)(0)")[0] == 0,
          "after that");
  }
  mt_vm_close(v);
}

/* ---------------------------------------------------------------- a thread's stack */

/* Scripts that call themselves through C, in a thread that has not much of a stack. */
static const char *const deep[] = {
    "local function f() return (pcall(string.gsub, 'a', 'a', f)) end f()",
    "local function f() return coroutine.wrap(f)() end f()",
    "local function f() table.sort({ 1, 2, 3 }, function() pcall(f) return true end) end f()",
    "local t = setmetatable({}, { __index = function(t) return table.concat(t, '', 1, 2) end })\n"
    "return table.concat(t, '', 1, 2)",
    "local function f() return xpcall(f, function() return pcall(f) end) end f()",
    "local d = tile.tensor('f32', tile.layout(64)) local function f()\n"
    "  d:fill(setmetatable({}, { __len = function() return 64 end,\n"
    "    __index = function() f() return 1 end })) end f()",
    "local m = {} local function f() return tile.layout(setmetatable({}, m)) end\n"
    "m.__index, m.__len = f, function() return 2 end f()",
    "local g = tile.device() local function f() g:graph(f) end f()"};

static void *go_deep (void *arg) {
  const mt_vm_options o = {.size = sizeof o,
                           .libraries = MT_VM_USUAL | MT_VM_LOAD,
                           .stack = 256 << 10};
  (void)arg;
  mt_vm *v = open_vm(&o);
  for (size_t i = 0; i < sizeof deep / sizeof *deep; i++) {
    run_vm(v, deep[i]);
    CHECK(run_vm(v, "return 1")[0] == 0, "after %s", deep[i]);
  }
  CHECK(strstr(run_vm(v, deep[5]), "stack overflow: calls in calls"), "%s",
        run_vm(v, deep[5]));
  mt_vm_close(v);
  return NULL;
}

static void test_stack (void) {
  pthread_t thread;
  pthread_attr_t a;
  pthread_attr_init(&a);
  pthread_attr_setstacksize(&a, 384 << 10);
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
  pthread_attr_setstacksize(&a, 8 << 20); /* frames are larger */
#endif
  pthread_create(&thread, &a, go_deep, NULL);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&a);
}

void test_budgets (void) {
  test_stack();
  test_instructions();
  test_launches();
  test_text();
  test_stop();
}
