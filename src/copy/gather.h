/*
** gather.h - private: the tiles of copies whose units lie anywhere.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_GATHER_H
#define MT_COPY_GATHER_H

#include <stdbool.h>

#include "copy/copy.h"
#include "copy/cost.h"
#include "desc/axes.h"

enum {
  MT_GATHER_TILE = 16384, /* bytes of a tile at most, about */
  MT_LONELY = 6           /* rows that are farther apart, in rows, share few lines */
};

/* The geometry of tiles with so many indices of the last thread axis and of the last
** value axis, 1 where there is none. Axes, sizes and the destination are there. Tiles
** begin at multiples of `grain` bytes of the destination, a word or more.
** False: tiles would be too large, or would not begin so, and *g is undefined. */
bool mt_gather_find (mt_gather *g, const mt_launch *l, const uint32_t cut[2],
                     int64_t grain);
/* Bytes of the destination from each row to others, all in one: what divides where rows
** begin, a power of two, if the first one does, divides it. */
uint64_t mt_gather_steps (const mt_desc *d);
/* Units of which tiles may be sheared: of words of one unit neighbouring rows meet other
** banks, whatever the rows begin with. */
static inline bool mt_staged_shears (const mt_desc *d) {
  return d->algo == MT_ALGO_STAGED && d->vec * d->elem == 4;
}
/* And rows for which that is worth it: they begin within sectors. */
bool mt_staged_shears_rows (const mt_launch *l);
/* Units of which a tile along rows has a multiple, if there are several. */
static inline int64_t mt_gather_group (const mt_gather *g, int64_t v) {
  return v + g->ahead;
}
/* The same of the algorithm STAGED. False too where pieces do not fit shared memory. */
bool mt_staged_find (mt_staged *s, const mt_launch *l, const uint32_t cut[2]);
/* Words that a thread makes if it has so many: some of nothing, for some are on their way
** at once. */
static inline int64_t mt_staged_made (int64_t times, int64_t unit) {
  const int64_t some = MT_STAGED_FLIGHT(unit);
  return times <= 2 ? times : (times + some - 1) / some * some;
}
/* Tiles of STAGED that have whole rows, which are short and begin or end within words of
** `v` units: units are written one by one. */
static inline bool mt_staged_is_alone (const mt_gather *g, int64_t v) {
  return (g->phases > 1 || g->units % v != 0) && g->along.extent == 1 &&
         g->units <= MT_STAGED_ALONE;
}
/* Bytes of shared memory that index n of the first thread axis lies further, twisted. */
static inline int32_t mt_staged_twist (const mt_staged *s, int32_t n) {
  const int32_t piece = s->twist_from + (s->stride[0] < 0 ? -n : n);
  return s->twist == 0 ? 0 : (piece >> s->twist_log) * 16;
}
/* Short rows, between which the destination has elements that are not written: how many
** bytes apart they are; 0: there are none. */
uint32_t mt_staged_gaps (const mt_desc *d);
/* The order of rows: turn, each, lanes, firsts. False: of rows that are alone there are
** too many. */
bool mt_staged_rows (mt_staged *s, const mt_desc *d);
/* Entries of the table of rows. */
uint32_t mt_staged_entries (const mt_staged *s);
/* The number of the row that is written as number n. */
uint32_t mt_staged_row (const mt_staged *s, uint32_t n);
/* A copy in such tiles: in a little smaller ones if these keep threads busier. */
void mt_staged_busy (mt_launch *l);

/* What the algorithm STAGED costs, and at least: as mt_algo has them. */
void mt_staged_cost (mt_cost *c, const mt_launch *l);
void mt_staged_least (mt_cost *c, const mt_launch *l);
/* Microseconds of a copy in such tiles, as mt_cost_apart has them, of words that are
** rotated if they should be; or, if these are more than the limit, fewer that are:
** without bank conflicts, which take longest to count. */
double mt_staged_us (mt_launch *l, double limit);
/* Words of tiles that were found are rotated, if fewer threads meet in a bank then.
** Returns the wavefronts of shared memory for a word of each thread of the first warp. */
double mt_staged_rotate (mt_desc *d);

/* The flat copy, whose axes are mode[2], in the cheapest tiles that were found; algo:
** GATHER or STAGED. False: there are none that the search wants. */
bool mt_gather_make (mt_launch *l, mt_axes mode[3], mt_algorithm algo,
                     const mt_search *search);
/* The thread axes are a run of the destination, and there are no bounds. */
mt_status mt_gather_check_run (const mt_desc *d, mt_err *err);
/* Bytes that all tiles move, in sectors: what several of them read is read once, for
** caches have it; sectors that a warp writes in part count more. A warp writes `step`
** words of a row at once, 32 at most; sheared: from the begin of a sector on. */
double mt_gather_moves (const mt_launch *l, int64_t step, bool sheared);
/* The stride of an axis on a side, in bytes; far ones are alike. */
int64_t mt_gather_stride (const mt_desc *d, const mt_axis *a, int side);
/* Words of a tile that rows have in part: at the ends of rows that begin or end within
** one. Two of each 32 take a warp as long as all of them. */
double mt_gather_parts (const mt_desc *d);

#endif
