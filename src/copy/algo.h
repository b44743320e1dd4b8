/*
** algo.h - private: the algorithms that copy, as a table of what each can do.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_ALGO_H
#define MT_COPY_ALGO_H

#include "copy/cost.h"
#include "desc/kernel.h"
#include "copy/copy.h"

/* An algorithm: each is defined in a file of its own, mt_NAME_form.c. */
typedef struct mt_algo {
  const char *name;  /* in tables of ways; copy_NAME is a family of kernels */
  const char *needs; /* of a copy, if `make` says nothing */
  /* NULL: a flat copy does not become it. */
  mt_algo_maker *make;
  /* What its descriptors are beyond what all are. */
  mt_status (*check)(const mt_launch *l, mt_err *err);
  /* Adds to traffic and least, which are 0, and to slow and used, which are 1. */
  void (*cost)(mt_cost *c, const mt_launch *l);
  /* NULL, or: the same for a flat copy, at most as much as for any that `make` makes of
  ** it. What it moves at least is in traffic. */
  void (*least)(mt_cost *c, const mt_launch *l);
  /* NULL, or: whether a row of this algorithm, width and conversion is of this size too;
  ** one that is not goes without a word. */
  bool (*suits)(const mt_kernel *k, const mt_desc *d);
  /* NULL, or: whether the row can do it; `why` receives the reason. */
  bool (*fits)(const mt_kernel *k, const mt_desc *d, mt_refusals *why);
  mt_grid (*grid)(const mt_kernel *k, const mt_desc *d);
  /* Shared memory that a launch asks for, NULL: none; the most that one may ask for, 0:
  ** as much as any kernel has. */
  uint32_t (*shared)(const mt_desc *d);
  int most_shared;
  /* In texts of plans: the thread axes, the value axes (NULL: there are none), what a
  ** bound counts along (NULL: a mode of the tensors); the order of the thread axes along
  ** the destination, NULL: they have none. */
  const char *thread, *value, *bound;
  const uint8_t *(*order)(const mt_desc *d);
} mt_algo;

#define MT_ALGO(name, lower, threads, unroll, what) extern const mt_algo mt_algo_##lower;
#include "desc/algos.def"

/* That of an algorithm; and what desc/algos.def says of it. */
const mt_algo *mt_algo_of (uint32_t algo);
uint32_t mt_algo_is (uint32_t algo, uint32_t what);

/* The flat copy in an algorithm that has `make`; search NULL: whatever it takes. False,
** and why not ("": there is nothing to say): l is of no more use. */
bool mt_algo_make (mt_launch *l, mt_algorithm algo, const mt_search *search, char *why);

/* Of tiles of two runs, and of boxes: no bounds, runs below 2^30. */
mt_status mt_check_runs (const mt_desc *d, mt_err *err);

/* ceil(n / each) blocks. More than a grid may have: the kernel goes round, a grid at a
** time. */
enum { MT_MAXGRID = 0x7fffffff };
static inline uint32_t mt_blocks_of (int64_t n, int64_t each) {
  int64_t blocks = n / each + (n % each != 0);
  return (uint32_t)(blocks < MT_MAXGRID ? blocks : MT_MAXGRID);
}
/* Launches by a number of blocks that the descriptor says; of a row's threads. */
static inline mt_grid mt_grid_of (const mt_kernel *k, int64_t blocks) {
  return (mt_grid){(uint32_t)blocks, k->threads};
}

#endif
