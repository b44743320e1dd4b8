/*
** pool.c - threads that share a loop: each takes the next piece until none is left.
** SPDX-License-Identifier: MIT
**
** A host's signals never arrive on these threads. A child after fork() has none of them
** and works alone.
*/
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/alloc.h"
#include "core/error.h"
#include "host/pool.h"

struct mt_pool {
  pthread_mutex_t lock;
  pthread_cond_t go, done;
  pid_t owner; /* the process of the threads; 0: not started */
  int threads, started;
  unsigned long round; /* of work; a thread does each round once */
  int busy;            /* threads that are not done with this round */
  bool quit;
  mt_work *work;
  void *arg;
  int64_t total, piece;
  atomic_llong next;
  atomic_bool ends;  /* before it is done: the call is to end */
  bool watched;      /* somebody is told how much is done */
  atomic_llong made; /* indices that are done */
  mt_stint stint;
  pthread_t thread[];
};

static size_t pool_size (int threads) {
  return sizeof(mt_pool) + (size_t)threads * sizeof(pthread_t);
}

bool mt_worker_asks (mt_worker *w) {
  mt_pool *p = w->pool;
  w->spent = 0;
  if (w->err)
    p->stint.done = (double)atomic_load_explicit(&p->made, memory_order_relaxed);
  if (w->err && mt_stopped(w->err, w->op))
    atomic_store_explicit(&p->ends, true, memory_order_relaxed);
  return atomic_load_explicit(&p->ends, memory_order_relaxed);
}

void mt_worker_tells (mt_worker *w, int64_t n) {
  if (w->pool->watched)
    atomic_fetch_add_explicit(&w->pool->made, n, memory_order_relaxed);
}

static bool has_ended (mt_pool *p) {
  return atomic_load_explicit(&p->ends, memory_order_relaxed);
}

static void take_pieces (mt_pool *p, mt_worker *w) {
  int64_t at;
  while (!has_ended(p) && (at = atomic_fetch_add(&p->next, p->piece)) < p->total) {
    int64_t end = at + p->piece < p->total ? at + p->piece : p->total;
    w->told = 0;
    p->work(p->arg, at, end, w);
    mt_worker_tells(w, end - at - w->told);
  }
}

static void *serve (void *arg) {
  mt_pool *p = arg;
  mt_worker w = {.pool = p};
  unsigned long seen = 0;
  pthread_mutex_lock(&p->lock);
  for (;;) {
    while (p->round == seen && !p->quit) pthread_cond_wait(&p->go, &p->lock);
    if (p->quit) break;
    seen = p->round;
    pthread_mutex_unlock(&p->lock);
    take_pieces(p, &w);
    pthread_mutex_lock(&p->lock);
    if (--p->busy == 0) pthread_cond_signal(&p->done);
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

/* As many as the system gives. */
static void start (mt_pool *p) {
  sigset_t all, old;
  p->owner = getpid();
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  while (p->started < p->threads - 1 &&
         pthread_create(&p->thread[p->started], NULL, serve, p) == 0)
    p->started++;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

mt_pool *mt_pool_new (const mt_device_options *o, int threads) {
  pthread_condattr_t steady;
  mt_pool *p = mt_take_memory(o, pool_size(threads));
  if (p == NULL) return NULL;
  memset(p, 0, pool_size(threads));
  p->threads = threads;
  pthread_mutex_init(&p->lock, NULL);
  pthread_condattr_init(&steady);
  pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
  pthread_cond_init(&p->go, NULL);
  pthread_cond_init(&p->done, &steady);
  pthread_condattr_destroy(&steady);
  atomic_init(&p->next, 0);
  atomic_init(&p->ends, false);
  return p;
}

void mt_pool_free (const mt_device_options *o, mt_pool *p) {
  if (p == NULL) return;
  if (p->started > 0 && p->owner == getpid()) {
    pthread_mutex_lock(&p->lock);
    p->quit = true;
    pthread_cond_broadcast(&p->go);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->started; i++) pthread_join(p->thread[i], NULL);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->go);
    pthread_mutex_destroy(&p->lock);
  }
  mt_give_memory(o, p, pool_size(p->threads));
}

void mt_pool_halt (mt_pool *p) {
  if (p->started == 0 || p->owner != getpid()) return;
  atomic_store_explicit(&p->ends, true, memory_order_relaxed);
  pthread_mutex_lock(&p->lock);
  while (p->busy > 0) pthread_cond_wait(&p->done, &p->lock);
  pthread_mutex_unlock(&p->lock);
}

int mt_pool_threads (const mt_pool *p) { return p->threads; }

static struct timespec soon (void) {
  enum { MT_SOON = 5000000, MT_SECOND = 1000000000 }; /* nanoseconds */
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  t.tv_nsec += MT_SOON;
  if (t.tv_nsec >= MT_SECOND) t.tv_sec++, t.tv_nsec -= MT_SECOND;
  return t;
}

/* Waits for the others, locked; asks until the loop ends, since a piece may be long. */
static void await_others (mt_pool *p, mt_worker *w) {
  while (p->busy > 0) {
    if ((w->err->stop == NULL && !p->watched) || has_ended(p)) {
      pthread_cond_wait(&p->done, &p->lock);
      continue;
    }
    struct timespec until = soon();
    if (pthread_cond_timedwait(&p->done, &p->lock, &until) == 0) continue;
    pthread_mutex_unlock(&p->lock);
    mt_worker_asks(w);
    pthread_mutex_lock(&p->lock);
  }
}

/* On all threads; the last to end wakes the caller. */
static void share (mt_pool *p, mt_worker *w) {
  atomic_store(&p->next, 0);
  pthread_mutex_lock(&p->lock);
  p->round++;
  p->busy = p->started;
  pthread_cond_broadcast(&p->go);
  pthread_mutex_unlock(&p->lock);
  take_pieces(p, w);
  pthread_mutex_lock(&p->lock);
  await_others(p, w);
  pthread_mutex_unlock(&p->lock);
}

/* Alone; piece by piece only if somebody is told. */
static void work_alone (mt_pool *p, mt_worker *w) {
  atomic_store(&p->next, 0);
  if (p->watched) take_pieces(p, w);
  else p->work(p->arg, 0, p->total, w);
}

mt_status mt_pool_run (mt_pool *p, const char *op, int64_t total, int64_t piece,
                       mt_work *work, void *arg, mt_err *err) {
  mt_worker w = {.pool = p, .err = err, .op = op};
  atomic_store_explicit(&p->ends, false, memory_order_relaxed);
  atomic_store_explicit(&p->made, 0, memory_order_relaxed);
  p->watched = err->watch != NULL;
  p->work = work;
  p->arg = arg;
  p->total = total;
  p->piece = piece;
  if (p->watched) mt_stint_begin(&p->stint, op, "pieces", (double)total, err);
  if (p->threads > 1 && total > piece && p->owner == 0) start(p);
  if (p->started == 0 || total <= piece || p->owner != getpid()) work_alone(p, &w);
  else share(p, &w);
  if (p->watched) mt_stint_end(&p->stint, err);
  return has_ended(p) ? err->status : MT_OK;
}
