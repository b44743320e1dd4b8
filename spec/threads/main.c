/*
** main.c - many threads, each with a VM of its own, on one device, with the kernels of one
** library and memory that all read: operations, counted; operations per second.
** usage: moontile_threads_test work.lua DEVICE OPERATIONS THREADS...
** MOONTILE_PLANTED in the environment: with a race.
** SPDX-License-Identifier: MIT
*/
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "counted.h"
#include "moontile.h"
#include "moontile/vm.h"

enum { MOST_THREADS = 64, PIECE = 200 };

int checks, failures;

/* Written by all threads at once, where that is asked for: TSan has to find it. */
static long planted;
static bool plants;

/* What all threads share. */
static struct {
  const char *script, *device;
  long total;
  atomic_long next, right;
  mt_layout layout;
  float data[32];
} all;

typedef struct worker {
  pthread_t thread;
  char error[512];
} worker;

static bool is_ok (worker *w, mt_status s, const mt_err *err) {
  if (s != MT_OK) snprintf(w->error, sizeof w->error, "%.500s", err->text);
  return s == MT_OK;
}

static bool prepare (worker *w, mt_vm *v, mt_err *err) {
  const mt_tensor t = {.layout = all.layout.node,
                       .dtype = MT_f32,
                       .data = all.data,
                       .bytes = sizeof all.data};
  const mt_vm_value lent = {.kind = MT_VM_TENSOR, .tensor = &t};
  const mt_vm_value device = {.kind = MT_VM_TEXT,
                              .text = all.device,
                              .size = strlen(all.device)};
  return is_ok(w, mt_vm_set(v, "lent", &lent, err), err) &&
         is_ok(w, mt_vm_set(v, "device", &device, err), err) &&
         is_ok(w, mt_vm_run_file(v, all.script, err), err);
}

/* The core, without Lua: one layout for all threads. */
static bool evaluates (long i) {
  int64_t at;
  mt_err err = MT_NOERR;
  return mt_at(&at, all.layout.node, i % 32, &err) == MT_OK && at == i % 32;
}

static void *operate (void *arg) {
  worker *w = arg;
  mt_vm *v;
  mt_err err = MT_NOERR;
  const char *const devices[] = {all.device, NULL};
  const mt_vm_options o = {.size = sizeof o,
                           .devices = devices,
                           .milliseconds = -1,
                           .bytes = (size_t)1 << 30};
  if (!is_ok(w, mt_vm_open(&v, &o, &err), &err)) return NULL;
  bool ok = prepare(w, v, &err);
  for (long i; ok && (i = atomic_fetch_add(&all.next, PIECE)) < all.total;) {
    const mt_vm_value args[] = {{.kind = MT_VM_INTEGER, .integer = PIECE},
                                {.kind = MT_VM_INTEGER, .integer = i}};
    ok = is_ok(w, mt_vm_call(v, "work", args, 2, &err), &err) && evaluates(i);
    if (plants) planted++;
    atomic_fetch_add(&all.right, ok ? (long)mt_vm_result(v, 0).integer : 0);
  }
  mt_vm_close(v);
  return NULL;
}

static double now (clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run (int threads) {
  static worker workers[MOST_THREADS];
  atomic_store(&all.next, 0);
  atomic_store(&all.right, 0);
  double begin = now(CLOCK_MONOTONIC), used = now(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < threads; i++)
    if (pthread_create(&workers[i].thread, NULL, operate, &workers[i])) exit(2);
  for (int i = 0; i < threads; i++) {
    pthread_join(workers[i].thread, NULL);
    CHECK(workers[i].error[0] == '\0', "thread %d: %s", i, workers[i].error);
  }
  double took = now(CLOCK_MONOTONIC) - begin;
  used = now(CLOCK_PROCESS_CPUTIME_ID) - used;
  long right = atomic_load(&all.right);
  CHECK(right == all.total, "%ld of %ld are right", right, all.total);
  printf(
      "%-12s %2d threads: %ld operations, %.0f a second, %.0f a second of a processor\n",
      all.device, threads, right, (double)right / took, (double)right / used);
}

int main (int argc, char **argv) {
  mt_err err = MT_NOERR;
  if (argc < 5) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  plants = getenv("MOONTILE_PLANTED") != NULL;
  all.script = argv[1];
  all.device = argv[2];
  all.total = (atol(argv[3]) + PIECE - 1) / PIECE * PIECE;
  for (int i = 0; i < 32; i++) all.data[i] = (float)i;
  if (mt_parse(&all.layout, "(8,4):(1,8)", 11, &err)) return 2;
  for (int i = 4; i < argc; i++) {
    int n = atoi(argv[i]);
    if (n < 1 || n > MOST_THREADS) return 2;
    run(n);
  }
  return failures != 0;
}
