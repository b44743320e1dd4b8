/*
** pool.c - tests of the threads that share a loop: each index once, nobody at work when a
** loop is over, whoever comes late.
** SPDX-License-Identifier: MIT
*/
#include <stdatomic.h>
#include <time.h>

#include "exec_test.h"
#include "host/alloc.h"
#include "host/pool.h"

enum { MOST = 300 };

typedef struct loop {
  atomic_int done[MOST];
  atomic_bool over; /* the call has returned */
  int late;         /* calls of work after that */
  long rest;        /* nanoseconds that a piece takes, or 0 */
} loop;

static void rest_for (long ns) {
  struct timespec t = {0, ns};
  if (ns > 0) nanosleep(&t, NULL);
}

static void count (void *arg, int64_t first, int64_t last, mt_worker *w) {
  loop *l = arg;
  (void)w;
  if (atomic_load(&l->over)) l->late++;
  for (; first < last; first++) atomic_fetch_add(&l->done[first], 1);
  rest_for(l->rest);
  if (atomic_load(&l->over)) l->late++;
}

static void check_loop (mt_pool *p, loop *l, int64_t total, int64_t piece) {
  mt_err e = MT_NOERR;
  for (int i = 0; i < MOST; i++) atomic_store(&l->done[i], 0);
  atomic_store(&l->over, false);
  CHECK(mt_pool_run(p, "copy", total, piece, count, l, &e) == MT_OK, "%s", e.text);
  atomic_store(&l->over, true);
  for (int i = 0; i < MOST; i++)
    if (atomic_load(&l->done[i]) != (i < total)) {
      CHECK(false, "index %d of %d is done %d times", i, (int)total,
            atomic_load(&l->done[i]));
      return;
    }
}

/* Loops follow at once, or when the threads look for work no more, or sleep. */
static void check_loops (mt_pool *p, int times) {
  static const long pauses[] = {0, 0, 0, 0, 20000, 190000, 210000, 2000000};
  static loop l;
  for (int i = 0; i < times; i++) {
    l.rest = pick(16) == 0 ? (long)pick(400000) : 0;
    check_loop(p, &l, between(1, MOST), between(1, 40));
    if (pick(8) == 0) rest_for(pauses[pick(8)]);
  }
  CHECK(l.late == 0, "%d pieces are done after their loop", l.late);
}

/* ---------------------------------------------------------------- that end */

typedef struct endless {
  atomic_int inside;
} endless;

static void work_until_told (void *arg, int64_t first, int64_t last, mt_worker *w) {
  endless *e = arg;
  (void)first, (void)last;
  atomic_fetch_add(&e->inside, 1);
  while (!mt_worker_ends(w, 1000000)) rest_for(100000);
  atomic_fetch_sub(&e->inside, 1);
}

static bool stop_soon (void *ud) { return ++*(int *)ud > 3; }

static void check_end (mt_pool *p) {
  endless e = {0};
  int asked = 0;
  mt_err err = MT_NOERR;
  err.stop = stop_soon;
  err.stop_ud = &asked;
  CHECK(mt_pool_run(p, "copy", 64, 1, work_until_told, &e, &err) == MT_ESTOPPED,
        "it does not end");
  CHECK(atomic_load(&e.inside) == 0, "%d threads are at work", atomic_load(&e.inside));
}

/* ---------------------------------------------------------------- that grow */

typedef struct crowd {
  atomic_int inside, most;
  loop l;
} crowd;

static void count_crowd (void *arg, int64_t first, int64_t last, mt_worker *w) {
  crowd *c = arg;
  const int now = atomic_fetch_add(&c->inside, 1) + 1;
  if (now > atomic_load(&c->most)) atomic_store(&c->most, now);
  count(&c->l, first, last, w);
  atomic_fetch_sub(&c->inside, 1);
}

/* By parts, with something else in between, by `most` threads. */
static void check_growing (mt_pool *p, int most) {
  static crowd c;
  mt_err e = MT_NOERR;
  mt_worker w;
  int64_t total = 0;
  memset(&c, 0, sizeof c);
  c.l.rest = pick(4) == 0 ? 50000 : 0;
  mt_pool_open(&w, p, "copy", 1, most, count_crowd, &c, &e);
  while (total < MOST - 40) {
    const int64_t more = between(1, 40);
    mt_pool_more(&w, more);
    total += more;
    for (int i = pick(8); i > 0; i--) mt_pool_help(&w);
    rest_for(pick(4) == 0 ? 100000 : 0);
  }
  CHECK(!mt_pool_ended(&w) && mt_pool_close(&w) == MT_OK, "%s", e.text);
  CHECK(atomic_load(&c.most) <= most, "%d threads", atomic_load(&c.most));
  for (int i = 0; i < total; i++)
    if (atomic_load(&c.l.done[i]) != 1) CHECK(false, "index %d", i);
}

/* Ended by the caller: what was begun is over. */
static void check_ended (mt_pool *p) {
  static loop l;
  mt_err e = MT_NOERR;
  mt_worker w;
  l.rest = 20000;
  atomic_store(&l.over, false);
  mt_pool_open(&w, p, "copy", 1, 100, count, &l, &e);
  mt_pool_more(&w, MOST);
  mt_pool_end(&w);
  mt_pool_close(&w);
  atomic_store(&l.over, true);
  CHECK(mt_pool_ended(&w) && !mt_pool_help(&w) && l.late == 0, "it goes on");
}

void test_pool (void) {
  static const int threads[] = {1, 2, 3, 4, 8, 24};
  const mt_device_options o = {.size = sizeof o, .alloc = mt_libc_alloc};
  for (int i = 0; i < 6; i++) {
    begin_case(base_seed + (uint64_t)i);
    mt_pool *p = mt_pool_new(&o, threads[i]);
    check_loops(p, 400);
    check_end(p);
    for (int k = 0; k < 60; k++) check_growing(p, 1 + pick(6));
    check_ended(p);
    check_loops(p, 100);
    mt_pool_halt(p);
    check_loops(p, 100);
    mt_pool_free(&o, p);
  }
}
