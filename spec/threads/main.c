/*
** main.c - many threads, each with a VM of its own, on one device, with the kernels of
** one library and memory that all read: operations, counted; operations per second.
** usage: moontile_threads_test work.lua DEVICE OPERATIONS THREADS...
** In the environment:
**   MOONTILE_PLANTED   with a race
**   MOONTILE_SLICES    so many times, the numbers of threads in turn, and then what the
**                      best slice of each did: other work of the machine has to spare one
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

enum { MOST_THREADS = 128, MOST_COUNTS = 16, MOST_PIECE = 200, PIECES = 16 };

int checks, failures;

/* Written by all threads at once, where that is asked for: TSan has to find it. */
static long planted;
static bool plants;

/* What all threads share. */
static struct {
  const char *script, *device;
  long total, piece; /* operations; of one call */
  atomic_long next, right;
  pthread_barrier_t ready, done; /* of all threads: time runs in between */
  mt_layout layout;
  float data[32];
} all;

typedef struct worker {
  pthread_t thread;
  char error[512];
  /* Seconds: when its operations begin and end; on a processor, ready but without one. */
  double from, to, ran, queued;
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

static double now (clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void operate (worker *w, mt_vm *v) {
  mt_err err = MT_NOERR;
  bool ok = v != NULL;
  for (long i; ok && (i = atomic_fetch_add(&all.next, all.piece)) < all.total;) {
    long n = all.total - i < all.piece ? all.total - i : all.piece;
    const mt_vm_value args[] = {{.kind = MT_VM_INTEGER, .integer = n},
                                {.kind = MT_VM_INTEGER, .integer = i}};
    ok = is_ok(w, mt_vm_call(v, "work", args, 2, &err), &err) && evaluates(i);
    if (plants) planted++;
    atomic_fetch_add(&all.right, ok ? (long)mt_vm_result(v, 0).integer : 0);
  }
}

/* What the system says of the thread: it waits for a processor, where a machine is full,
** or, the rest of its life, for other threads. */
static double queued (void) {
  FILE *f = fopen("/proc/thread-self/schedstat", "r");
  double nanoseconds = 0;
  if (f == NULL) return 0;
  if (fscanf(f, "%*f %lf", &nanoseconds) != 1) nanoseconds = 0;
  fclose(f);
  return 1e-9 * nanoseconds;
}

static void ask_clocks (double out[3]) {
  out[0] = now(CLOCK_MONOTONIC);
  out[1] = now(CLOCK_THREAD_CPUTIME_ID);
  out[2] = queued();
}

static mt_vm *open_vm (worker *w) {
  mt_vm *v = NULL;
  mt_err err = MT_NOERR;
  const char *const devices[] = {all.device, NULL};
  const mt_vm_options o = {.size = sizeof o,
                           .devices = devices,
                           .milliseconds = -1,
                           .bytes = (size_t)1 << 30};
  if (!is_ok(w, mt_vm_open(&v, &o, &err), &err)) return NULL;
  if (prepare(w, v, &err)) return v;
  mt_vm_close(v);
  return NULL;
}

/* Time runs when all are ready, and until all have done: to open a VM and its device is
** no operation. */
static void *run_worker (void *arg) {
  worker *w = arg;
  double from[3], to[3];
  w->error[0] = '\0';
  mt_vm *v = open_vm(w);
  pthread_barrier_wait(&all.ready);
  ask_clocks(from);
  operate(w, v);
  ask_clocks(to);
  w->from = from[0], w->to = to[0], w->ran = to[1] - from[1], w->queued = to[2] - from[2];
  pthread_barrier_wait(&all.done);
  mt_vm_close(v);
  return NULL;
}

static worker workers[MOST_THREADS];

/* Per cent of the time that threads could have used in which they waited for others. */
static double waited (int threads) {
  double used = 0, idle = 0;
  for (int i = 0; i < threads; i++) {
    used += workers[i].ran;
    idle += workers[i].to - workers[i].from - workers[i].ran - workers[i].queued;
  }
  return used > 0 && idle > 0 ? 100 * idle / (used + idle) : 0;
}

/* From the first beginning to the last end, seconds; on processors. */
static double spent (int threads, double *used) {
  double from = workers[0].from, to = workers[0].to;
  *used = 0;
  for (int i = 0; i < threads; i++) {
    if (workers[i].from < from) from = workers[i].from;
    if (workers[i].to > to) to = workers[i].to;
    *used += workers[i].ran;
  }
  return to - from;
}

static void work (int threads) {
  pthread_barrier_init(&all.ready, NULL, (unsigned)threads);
  pthread_barrier_init(&all.done, NULL, (unsigned)threads);
  for (int i = 0; i < threads; i++)
    if (pthread_create(&workers[i].thread, NULL, run_worker, &workers[i])) exit(2);
  for (int i = 0; i < threads; i++) {
    pthread_join(workers[i].thread, NULL);
    CHECK(workers[i].error[0] == '\0', "thread %d: %s", i, workers[i].error);
  }
  pthread_barrier_destroy(&all.ready);
  pthread_barrier_destroy(&all.done);
}

/* The operations a second. */
static double run (int threads) {
  atomic_store(&all.next, 0);
  atomic_store(&all.right, 0);
  all.piece = all.total / (PIECES * threads) + 1; /* all threads have some to the end */
  if (all.piece > MOST_PIECE) all.piece = MOST_PIECE;
  work(threads);
  double used, took = spent(threads, &used);
  long right = atomic_load(&all.right);
  CHECK(right == all.total, "%ld of %ld are right", right, all.total);
  printf(
      "%-12s %2d threads: %ld operations, %.0f a second, %.0f a second of a processor, "
      "%.1f %% waited\n",
      all.device, threads, right, (double)right / took, (double)right / used,
      waited(threads));
  return (double)right / took;
}

static int number (const char *name) {
  const char *value = getenv(name);
  return value ? atoi(value) : 0;
}

/* Numbers of threads in turn, so that what else the machine does meets all of them. */
static void grow (int n, const int counts[]) {
  double best[MOST_COUNTS] = {0};
  int slices = number("MOONTILE_SLICES");
  for (int k = 0; k == 0 || k < slices; k++)
    for (int i = 0; i < n; i++) {
      double rate = run(counts[i]);
      if (rate > best[i]) best[i] = rate;
    }
  for (int i = 0; slices > 0 && i < n; i++)
    printf("%-12s best of %d: %3d threads, %.0f a second, %.2f times\n", all.device,
           slices, counts[i], best[i], best[i] / best[0]);
}

int main (int argc, char **argv) {
  mt_err err = MT_NOERR;
  int counts[MOST_COUNTS], n = argc - 4;
  if (n < 1 || n > MOST_COUNTS) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  plants = getenv("MOONTILE_PLANTED") != NULL;
  all.script = argv[1];
  all.device = argv[2];
  all.total = atol(argv[3]);
  for (int i = 0; i < 32; i++) all.data[i] = (float)i;
  if (mt_parse(&all.layout, "(8,4):(1,8)", 11, &err)) return 2;
  for (int i = 0; i < n; i++) {
    counts[i] = atoi(argv[4 + i]);
    if (counts[i] < 1 || counts[i] > MOST_THREADS) return 2;
  }
  grow(n, counts);
  return failures != 0;
}
