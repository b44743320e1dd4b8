/*
** mt_pool.h - private: threads that share a loop.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_POOL_H
#define MT_POOL_H

#include "mt_device.h"

typedef struct mt_pool mt_pool;

/* Does the indices first .. last - 1 of a loop. */
typedef void mt_work (void *arg, int64_t first, int64_t last);

/* For `threads` >= 1 threads, the caller's among them; none is started yet. NULL: no
** memory. */
mt_pool *mt_pool_new (const mt_device *d, int threads);
void mt_pool_free (const mt_device *d, mt_pool *p);
int mt_pool_threads (const mt_pool *p);
/* Does all of 0 .. total - 1 in pieces of `piece`, on all threads; they are started on
** first use, and the caller does what they do not. */
void mt_pool_run (mt_pool *p, int64_t total, int64_t piece, mt_work *work, void *arg);

#endif
