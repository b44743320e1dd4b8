/*
** permute_unaligned_smem.h - private: the geometry of a box whose rows begin anywhere
** (desc/permute_unaligned_desc.h).
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_PERMUTE_UNALIGNED_SMEM_H
#define MT_COPY_PERMUTE_UNALIGNED_SMEM_H

#include "copy/banks.h"
#include "copy/cost.h"
#include "desc/copy_desc.h"

/* Ways of the bank conflict of eight threads that read small units, `step` bytes from one
** to the next, of neighbouring vectors of a row. */
int64_t mt_permute_unaligned_ways (int64_t unit, int64_t step);

/* Whether a run of so many bytes needs no more axes: it is long, or its next axis is the
** row's first (`places`), whose places would meet in few banks. Axes of the source's
** run that follow are left to the row: each index of them begins a run of its own, in
** other banks. */
bool mt_permute_unaligned_is_run (int64_t bytes, int64_t unit, bool places);

enum {
  MT_VECTOR = 16, /* bytes */
  MT_SECTOR = 32,
  MT_FEWROWS = 4, /* rows of a class that share too little */
  MT_MOSTEACH = 8 /* rows of a class, of a task */
};

/* Bytes of a long row: if its places are equally far apart, its windows share them. */
enum { MT_PERMUTE_UNALIGNED_WIDEROW = 512 };

/* How many addresses modulo 16 rows begin at that are `step` bytes apart. */
int64_t mt_permute_unaligned_classes (int64_t step);

/* Whether a row of so many segments of `bytes` bytes is cut: if those that begin at the
** same address modulo 16, which tasks share, are enough, or as many as of the `rows` rows
** that there are besides, `step` bytes apart. */
bool mt_permute_unaligned_cuts (int64_t segments, int64_t bytes, int64_t rows,
                                int64_t step);

/* The tasks of most boxes: with a halo, of those whose rows began in the box before. */
static inline const mt_unaligned_tasks *mt_unaligned_most_tasks (
    const mt_permute_unaligned *s) {
  return &s->tasks[s->halo != 0];
}

/* Threads of a block, whose rows are listed or not: a large box has more. */
static inline uint32_t mt_unaligned_threads (const mt_desc *d, bool listed) {
  const uint32_t unit = d->vec * d->elem;
  if (listed) return MT_UNALIGNED_LISTED(unit);
  return d->threads * unit >= MT_PERMUTE_UNALIGNED_LARGE ? MT_PERMUTE_UNALIGNED_MANY :
                                                           MT_PERMUTE_UNALIGNED_THREADS;
}

/* Groups, windows of 1 << log vectors or more, and tasks, of what else there is but the
** places of shared memory. */
void mt_permute_unaligned_tasks (mt_desc *d, uint32_t log);
/* Groups of a list instead: of rows that begin alike in sectors, unless others that begin
** alike in vectors take fewer instructions. False if rows cannot be listed. */
bool mt_permute_unaligned_list (mt_desc *d);

/* Place p of a row: the number of its run, bytes behind the run's begin, and what the
** run's address adds modulo 16. */
typedef struct mt_looked {
  uint32_t run, inside, low;
} mt_looked;
mt_looked mt_permute_unaligned_look (const mt_permute_unaligned *s, uint32_t p);

/* What some warps of a box read from shared memory, units of some numbers modulo V: the
** run that each lane reads, and how far behind it. */
enum { MT_UNALIGNED_SAMPLES = 3 }; /* warps, and units */
typedef struct mt_unaligned_read {
  uint32_t lanes, run[MT_LANES], at[MT_LANES];
} mt_unaligned_read;
typedef struct mt_unaligned_reads {
  uint32_t unit, units; /* bytes of a unit; V */
  mt_unaligned_read read[MT_UNALIGNED_SAMPLES * MT_UNALIGNED_SAMPLES];
} mt_unaligned_reads;
void mt_permute_unaligned_reads (mt_unaligned_reads *r, const mt_desc *d);
/* Wavefronts of such a read, in the mean, if runs lie so far apart. */
double mt_permute_unaligned_waves (const mt_unaligned_reads *r, uint32_t pitch,
                                   uint32_t gap);

/* Fills in what follows from the axes, the bounds, order and halo. False if these do not
** go together, or have no room in shared memory. The other fields of `unaligned` must be
** 0. */
bool mt_permute_unaligned_build (mt_desc *d);

/* All of `unaligned` from the axes, the bounds and order; with a halo if it is wanted and
** a bound counts along the row. False as mt_permute_unaligned_build. */
bool mt_permute_unaligned_choose (mt_desc *d, bool halo);

/* Whether `unaligned` is what mt_permute_unaligned_build makes of order and halo. */
mt_status mt_permute_unaligned_check (const mt_desc *d, mt_err *err);

/* Instructions of a warp for the tasks of a box, times 32, as mt_permute_unaligned_cost
** counts them. */
double mt_permute_unaligned_tasks_take (const mt_desc *d);
/* The same of a list whose tasks have as many rows as any, none of whose lanes idles. */
double mt_permute_unaligned_lists_take (const mt_desc *d);

/* What the copy costs, and at least: as mt_algo has them. */
void mt_permute_unaligned_cost (mt_cost *c, const mt_launch *l);
void mt_permute_unaligned_least (mt_cost *c, const mt_launch *l);

#endif
