/*
** mt_pool.c - threads that share a loop: each takes the next piece until none is left.
** SPDX-License-Identifier: MIT
**
** A host's signals never arrive on these threads. A child after fork() has none of them
** and works alone.
*/
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "mt_pool.h"

struct mt_pool {
  pthread_mutex_t lock;
  pthread_cond_t go, done;
  pid_t owner;                       /* the process of the threads; 0: not started */
  int threads, started;
  unsigned long round;               /* of work; a thread does each round once */
  int busy;                          /* threads that are not done with this round */
  bool quit;
  mt_work *work;
  void *arg;
  int64_t total, piece;
  atomic_llong next;
  pthread_t thread[];
};

static size_t pool_size (int threads) {
  return sizeof(mt_pool) + (size_t)threads * sizeof(pthread_t);
}

static void take_pieces (mt_pool *p) {
  int64_t at;
  while ((at = atomic_fetch_add(&p->next, p->piece)) < p->total)
    p->work(p->arg, at, at + p->piece < p->total ? at + p->piece : p->total);
}

static void *serve (void *arg) {
  mt_pool *p = arg;
  unsigned long seen = 0;
  pthread_mutex_lock(&p->lock);
  for (;;) {
    while (p->round == seen && !p->quit) pthread_cond_wait(&p->go, &p->lock);
    if (p->quit) break;
    seen = p->round;
    pthread_mutex_unlock(&p->lock);
    take_pieces(p);
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

mt_pool *mt_pool_new (const mt_device *d, int threads) {
  mt_pool *p = mt_host_alloc(d, pool_size(threads));
  if (p == NULL) return NULL;
  memset(p, 0, pool_size(threads));
  p->threads = threads;
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->go, NULL);
  pthread_cond_init(&p->done, NULL);
  atomic_init(&p->next, 0);
  return p;
}

void mt_pool_free (const mt_device *d, mt_pool *p) {
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
  mt_host_free(d, p, pool_size(p->threads));
}

int mt_pool_threads (const mt_pool *p) { return p->threads; }

void mt_pool_run (mt_pool *p, int64_t total, int64_t piece, mt_work *work, void *arg) {
  if (p->threads > 1 && total > piece && p->owner == 0) start(p);
  if (p->started == 0 || total <= piece || p->owner != getpid()) {
    work(arg, 0, total);
    return;
  }
  p->work = work;
  p->arg = arg;
  p->total = total;
  p->piece = piece;
  atomic_store(&p->next, 0);
  pthread_mutex_lock(&p->lock);
  p->round++;
  p->busy = p->started;
  pthread_cond_broadcast(&p->go);
  pthread_mutex_unlock(&p->lock);
  take_pieces(p);
  pthread_mutex_lock(&p->lock);
  while (p->busy > 0) pthread_cond_wait(&p->done, &p->lock);
  pthread_mutex_unlock(&p->lock);
}
