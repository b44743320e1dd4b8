/*
** pool.h - private: threads that share a loop.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_HOST_POOL_H
#define MT_HOST_POOL_H

#include "moontile/device.h"

typedef struct mt_pool mt_pool;

/* A thread at work on a loop. */
typedef struct mt_worker {
  mt_pool *pool;
  mt_err *err; /* of the caller's own thread, which asks; else NULL */
  const char *op;
  int64_t spent; /* nanoseconds of work since it last asked */
  int64_t told;  /* indices of the piece at hand that are done, as far as it said */
} mt_worker;

/* Does the indices first .. last - 1 of a loop, unless it is to end before. */
typedef void mt_work (void *arg, int64_t first, int64_t last, mt_worker *w);

bool mt_worker_asks (mt_worker *w);
/* After a step of about so many nanoseconds, 5 ms at most: whether the loop is to end. */
static inline bool mt_worker_ends (mt_worker *w, int64_t ns) {
  w->spent += ns;
  return w->spent >= 1000000 && mt_worker_asks(w);
}

void mt_worker_tells (mt_worker *w, int64_t n);
/* Where a piece takes long: n more of its indices are done. */
static inline void mt_worker_did (mt_worker *w, int64_t n) {
  w->told += n;
  mt_worker_tells(w, n);
}

/* For `threads` >= 1 threads, the caller's among them; none is started yet. NULL: no
** memory. */
mt_pool *mt_pool_new (const mt_device_options *o, int threads);
void mt_pool_free (const mt_device_options *o, mt_pool *p);
/* From inside of a call that will never go on: ends the work of all other threads. */
void mt_pool_halt (mt_pool *p);
int mt_pool_threads (const mt_pool *p);
/* Does all of 0 .. total - 1 in pieces of `piece`, on all threads; they are started on
** first use, and the caller does what they do not. Errors: MT_ESTOPPED, `op` names the
** operation; then no thread is at work any more. */
mt_status mt_pool_run (mt_pool *p, const char *op, int64_t total, int64_t piece,
                       mt_work *work, void *arg, mt_err *err);

/* A loop that grows while it is done, and whose caller does other things meanwhile.
** open: nothing is to be done yet, the caller is *w; by `most` >= 1 threads at a time.
** more: n > 0 further indices are to be done; what was written before is seen by who does
** them. help: the caller does a piece; false: none is left to take. end: no further
** piece is begun. ended: the caller said so, or was told to while it helped. close: does
** what is left, unless it is to end, and waits until nobody is at work; the caller has
** the error. Between open and close no other loop of the pool. */
void mt_pool_open (mt_worker *w, mt_pool *p, const char *op, int64_t piece, int most,
                   mt_work *work, void *arg, mt_err *err);
void mt_pool_more (mt_worker *w, int64_t n);
bool mt_pool_help (mt_worker *w);
void mt_pool_end (mt_worker *w);
bool mt_pool_ended (const mt_worker *w);
mt_status mt_pool_close (mt_worker *w);
/* A step of a loop that looks for something. */
void mt_pause (void);

#endif
