/*
** pool.c - threads that share a loop: each takes the next piece until none is left.
** SPDX-License-Identifier: MIT
**
** A thread that has done its part looks for more for a while before it sleeps. A loop is
** over when all its pieces are done: a thread that wakes too late is not waited for.
** A host's signals never arrive on these threads. A child after fork() has none of them
** and works alone.
*/
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/alloc.h"
#include "core/error.h"
#include "host/pool.h"

/* Of `state`: no thread may enter the loop. Each that is inside adds MT_INSIDE; one that
** comes too late leaves at once. */
enum { MT_CLOSED = 1, MT_INSIDE = 2 };

/* Nanoseconds that a thread looks before it sleeps. Waking one takes 5 us, waking 15 of
** them 40: longer than many a loop. */
enum { MT_PATIENCE = 200000 };

/* What one thread writes and others look at is this many bytes from anything else. */
typedef char mt_apart[128];

struct mt_pool {
  pthread_mutex_t lock;
  pthread_cond_t go, done;
  pid_t owner; /* the process of the threads; 0: not started */
  int threads, started;
  int64_t patience;
  mt_work *work;
  void *arg;
  int64_t piece;
  int most;          /* threads that may be in the loop, the caller among them */
  bool watched;      /* somebody is told how much is done */
  atomic_llong made; /* indices that are done */
  mt_stint stint;
  mt_apart before_news;
  atomic_ulong news; /* how often there was something to do */
  atomic_llong total;
  atomic_bool ends; /* before it is done: the call is to end */
  atomic_bool quit;
  mt_apart before_next;
  atomic_llong next;
  mt_apart before_state;
  atomic_uint state;
  atomic_int asleep;   /* threads */
  atomic_bool waiting; /* the caller sleeps until none is inside */
  pthread_t thread[];
};

static size_t pool_size (int threads) {
  return sizeof(mt_pool) + (size_t)threads * sizeof(pthread_t);
}

/* ---------------------------------------------------------------- at work */

bool mt_worker_asks (mt_worker *w) {
  mt_pool *p = w->pool;
  w->spent = 0;
  if (w->err && p->watched)
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

/* The total may grow meanwhile. */
static bool take_piece (mt_pool *p, mt_worker *w) {
  long long at = atomic_load(&p->next), end;
  do {
    const int64_t total = atomic_load(&p->total);
    if (at >= total || has_ended(p)) return false;
    end = at + p->piece < total ? at + p->piece : total;
  } while (!atomic_compare_exchange_weak(&p->next, &at, end));
  w->told = 0;
  p->work(p->arg, at, end, w);
  mt_worker_tells(w, end - at - w->told);
  return true;
}

/* ---------------------------------------------------------------- looking */

static int64_t nanoseconds (void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

void mt_pause (void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* Until `ready` says so, or patience ends; who else wants the processor has it. */
static bool look (mt_pool *p, bool (*ready)(mt_pool *p, unsigned long seen),
                  unsigned long seen) {
  if (p->patience == 0 || ready(p, seen)) return ready(p, seen);
  for (const int64_t end = nanoseconds() + p->patience; nanoseconds() < end;
       sched_yield())
    for (int i = 0; i < 32; i++) {
      if (ready(p, seen)) return true;
      mt_pause();
    }
  return ready(p, seen);
}

/* ---------------------------------------------------------------- threads */

static bool has_news (mt_pool *p, unsigned long seen) {
  return atomic_load(&p->news) != seen || atomic_load(&p->quit);
}

/* Who goes to sleep says so, and looks once more; who has work tells it, and looks who
** sleeps. */
static void await_news (mt_pool *p, unsigned long seen) {
  if (look(p, has_news, seen)) return;
  pthread_mutex_lock(&p->lock);
  atomic_fetch_add(&p->asleep, 1);
  while (!has_news(p, seen)) pthread_cond_wait(&p->go, &p->lock);
  atomic_fetch_sub(&p->asleep, 1);
  pthread_mutex_unlock(&p->lock);
}

/* The last that leaves a closed loop wakes the caller. */
static void join_loop (mt_pool *p, mt_worker *w) {
  const unsigned before = atomic_fetch_add(&p->state, MT_INSIDE);
  if (!(before & MT_CLOSED) && (int)(before / MT_INSIDE) < p->most - 1)
    while (take_piece(p, w)) {}
  if (atomic_fetch_sub(&p->state, MT_INSIDE) != (MT_INSIDE | MT_CLOSED) ||
      !atomic_load(&p->waiting))
    return;
  pthread_mutex_lock(&p->lock);
  pthread_cond_signal(&p->done);
  pthread_mutex_unlock(&p->lock);
}

static void *serve (void *arg) {
  mt_pool *p = arg;
  mt_worker w = {.pool = p};
  for (unsigned long seen = 0;;) {
    await_news(p, seen);
    if (atomic_load(&p->quit)) return NULL;
    seen = atomic_load(&p->news);
    join_loop(p, &w);
  }
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
  p->patience = threads <= sysconf(_SC_NPROCESSORS_ONLN) ? MT_PATIENCE : 0;
  pthread_mutex_init(&p->lock, NULL);
  pthread_condattr_init(&steady);
  pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
  pthread_cond_init(&p->go, NULL);
  pthread_cond_init(&p->done, &steady);
  pthread_condattr_destroy(&steady);
  atomic_init(&p->state, MT_CLOSED);
  return p;
}

void mt_pool_free (const mt_device_options *o, mt_pool *p) {
  if (p == NULL) return;
  if (p->started > 0 && p->owner == getpid()) {
    atomic_store(&p->quit, true);
    pthread_mutex_lock(&p->lock);
    pthread_cond_broadcast(&p->go);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->started; i++) pthread_join(p->thread[i], NULL);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->go);
    pthread_mutex_destroy(&p->lock);
  }
  mt_give_memory(o, p, pool_size(p->threads));
}

int mt_pool_threads (const mt_pool *p) { return p->threads; }

/* ---------------------------------------------------------------- the caller */

static bool is_empty (mt_pool *p, unsigned long seen) {
  (void)seen;
  return atomic_load(&p->state) == MT_CLOSED;
}

static struct timespec soon (void) {
  enum { MT_SOON = 5000000, MT_SECOND = 1000000000 }; /* nanoseconds */
  const int64_t at = nanoseconds() + MT_SOON;
  return (struct timespec){(time_t)(at / MT_SECOND), (long)(at % MT_SECOND)};
}

/* Sleeps until no thread is inside; w: asks until the loop ends, since a piece may be
** long. */
static void sleep_until_empty (mt_pool *p, mt_worker *w) {
  pthread_mutex_lock(&p->lock);
  atomic_store(&p->waiting, true);
  while (!is_empty(p, 0)) {
    if (w == NULL || (w->err->stop == NULL && !p->watched) || has_ended(p)) {
      pthread_cond_wait(&p->done, &p->lock);
      continue;
    }
    struct timespec until = soon();
    if (pthread_cond_timedwait(&p->done, &p->lock, &until) == 0) continue;
    pthread_mutex_unlock(&p->lock);
    mt_worker_asks(w);
    pthread_mutex_lock(&p->lock);
  }
  atomic_store(&p->waiting, false);
  pthread_mutex_unlock(&p->lock);
}

/* Nobody enters any more, and who is inside comes out. */
static void close_loop (mt_pool *p, mt_worker *w) {
  atomic_fetch_or(&p->state, MT_CLOSED);
  if (!look(p, is_empty, 0)) sleep_until_empty(p, w);
}

void mt_pool_halt (mt_pool *p) {
  if (p->started == 0 || p->owner != getpid()) return;
  atomic_store_explicit(&p->ends, true, memory_order_relaxed);
  close_loop(p, NULL);
}

static void wake (mt_pool *p, int64_t wanted) {
  if (atomic_load(&p->asleep) == 0) return;
  pthread_mutex_lock(&p->lock);
  if (wanted >= p->started) pthread_cond_broadcast(&p->go);
  else
    while (wanted-- > 0) pthread_cond_signal(&p->go);
  pthread_mutex_unlock(&p->lock);
}

static bool has_threads (const mt_pool *p) {
  return p->started > 0 && p->owner == getpid();
}

void mt_pool_open (mt_worker *w, mt_pool *p, const char *op, int64_t piece, int most,
                   mt_work *work, void *arg, mt_err *err) {
  *w = (mt_worker){.pool = p, .err = err, .op = op};
  atomic_store_explicit(&p->ends, false, memory_order_relaxed);
  p->watched = false;
  p->work = work;
  p->arg = arg;
  p->piece = piece;
  p->most = most;
  atomic_store(&p->total, 0);
  atomic_store(&p->next, 0);
}

/* Threads enter when there is work for them. */
void mt_pool_more (mt_worker *w, int64_t n) {
  mt_pool *p = w->pool;
  const int64_t pieces = (n - 1) / p->piece + 1;
  atomic_fetch_add(&p->total, n);
  if (p->threads > 1 && pieces > 1 && p->owner == 0) start(p);
  if (!has_threads(p) || pieces <= 1) return;
  atomic_fetch_and(&p->state, ~(unsigned)MT_CLOSED);
  atomic_fetch_add(&p->news, 1);
  wake(p, pieces < p->most ? pieces - 1 : p->most - 1);
}

bool mt_pool_help (mt_worker *w) { return take_piece(w->pool, w); }

void mt_pool_end (mt_worker *w) {
  atomic_store_explicit(&w->pool->ends, true, memory_order_relaxed);
}

bool mt_pool_ended (const mt_worker *w) { return has_ended(w->pool); }

mt_status mt_pool_close (mt_worker *w) {
  mt_pool *p = w->pool;
  while (take_piece(p, w)) {}
  if (has_threads(p)) close_loop(p, w);
  return has_ended(p) ? w->err->status : MT_OK;
}

/* Alone; piece by piece only if somebody is told. */
static void work_alone (mt_worker *w, int64_t total) {
  mt_pool *p = w->pool;
  if (!p->watched) p->work(p->arg, 0, total, w), total = 0;
  atomic_fetch_add(&p->total, total);
  while (take_piece(p, w)) {}
}

mt_status mt_pool_run (mt_pool *p, const char *op, int64_t total, int64_t piece,
                       mt_work *work, void *arg, mt_err *err) {
  mt_worker w;
  mt_pool_open(&w, p, op, piece, p->threads, work, arg, err);
  p->watched = err->watch != NULL;
  atomic_store_explicit(&p->made, 0, memory_order_relaxed);
  if (p->watched) mt_stint_begin(&p->stint, op, "pieces", (double)total, err);
  if (total > piece && p->threads > 1 && (p->owner == 0 || has_threads(p)))
    mt_pool_more(&w, total);
  else work_alone(&w, total);
  mt_status s = mt_pool_close(&w);
  if (p->watched) mt_stint_end(&p->stint, err);
  return s;
}
