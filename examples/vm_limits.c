/*
** vm_limits.c - a host with every limit: its own allocator, budgets, a folder, a thread
** that stops the script.
** SPDX-License-Identifier: MIT
**
** It runs scripts that would take it all, and shows how each of them ends.
*/
#define _POSIX_C_SOURCE 200809L /* clock_gettime, nanosleep */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "moontile/vm.h"

typedef struct arena {
  size_t bytes, peak;
} arena;

/* Same contract as lua_Alloc. */
static void *allocate (void *ud, void *p, size_t old, size_t size) {
  arena *a = ud;
  if (p == NULL) old = 0;
  void *q = size > 0 ? realloc(p, size) : NULL;
  if (size == 0) free(p);
  if (size > 0 && q == NULL) return NULL;
  a->bytes += size - old;
  if (a->bytes > a->peak) a->peak = a->bytes;
  return q;
}

static void show (void *ud, mt_vm_level level, const char *text, size_t size) {
  (void)ud, (void)size;
  printf("%s%s\n", level == MT_VM_WARN ? "warning: " : "", text);
}

static const char *const scripts[] =
    {"return 6 * 7",
     "while true do pcall(error) end",
     "local t = {} while true do t[#t + 1] = { t } end",
     "return ('x'):rep(1 << 40)",
     "(('a'):rep(40)):find(('a-'):rep(40) .. 'b')",
     "setmetatable({}, { __gc = function() while true do end end })",
     "return select(2, tile.tensor('f32', tile.layout(1 << 30)))",
     "return select(2, tile.device { 'cpu', threads = 64 })",
     "return select(2, tile.load '../secret.npy')",
     "local a, b = tile.tensor('u8', tile.layout(64)), tile.tensor('u8', "
     "tile.layout(64))\n"
     "local p = tile.plan(a, b)\n"
     "while true do p() end",
     "return os.execute 'rm -rf /'"};

static void run (mt_vm *v, const char *text) {
  mt_vm_usage u;
  mt_err err = MT_NOERR;
  mt_status s = mt_vm_run(v, "script", text, strlen(text), &err);
  mt_vm_used(&u, v);
  mt_vm_value x = mt_vm_result(v, 0);
  printf("%-12s %s\n", mt_status_name(s), s != MT_OK ? err.text : x.text ? x.text : "");
  printf("             %.0f ms, %zu KiB, %llu instructions\n", u.milliseconds,
         u.memory >> 10, (unsigned long long)u.instructions);
}

static void *stop_soon (void *vm) {
  const struct timespec t = {.tv_nsec = 20000000};
  nanosleep(&t, NULL);
  mt_vm_stop(vm, true);
  return NULL;
}

int main (int argc, char **argv) {
  mt_vm *v;
  mt_err err = MT_NOERR;
  arena a = {0, 0};
  const mt_vm_options o = {.size = sizeof o,
                           .alloc = allocate,
                           .alloc_ud = &a,
                           .log = show,
                           .libraries = MT_VM_USUAL,
                           .memory = 16 << 20,
                           .text = 1 << 20,
                           .milliseconds = 100,
                           .instructions = 100000000,
                           .launches = 1000,
                           .work = 1 << 24,
                           .bytes = 8 << 20,
                           .threads = 2,
                           .root = argc > 1 ? argv[1] : ".",
                           .written = 1 << 20};
  if (mt_vm_open(&v, &o, &err)) return puts(err.text), EXIT_FAILURE;
  for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) run(v, scripts[i]);
  pthread_t thread;
  if (pthread_create(&thread, NULL, stop_soon, v) == 0) {
    run(v, "while true do end");
    pthread_join(thread, NULL);
  }
  mt_vm_close(v);
  printf("%zu KiB at most, %zu bytes left\n", a.peak >> 10, a.bytes);
  return a.bytes == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
