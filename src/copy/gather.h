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

enum { MT_GATHER_TILE = 16384 }; /* bytes of a tile at most, about */

/* The geometry of tiles with so many indices of the last thread axis and of the last
** value axis, 1 where there is none. Axes, sizes and the destination are there.
** False: tiles would be too large, or would not begin with words, and *g is undefined. */
bool mt_gather_find (mt_gather *g, const mt_launch *l, const uint32_t cut[2]);
/* The same of the algorithm STAGED. False too where pieces do not fit shared memory. */
bool mt_staged_find (mt_staged *s, const mt_launch *l, const uint32_t cut[2]);
/* A copy in such tiles: in a little smaller ones if these keep threads busier. */
void mt_staged_busy (mt_launch *l);

/* What the algorithm STAGED costs, and at least: as mt_algo has them. */
void mt_staged_cost (mt_cost *c, const mt_launch *l);
void mt_staged_least (mt_cost *c, const mt_launch *l);
/* Microseconds of a copy in such tiles, as mt_cost_apart has them; or, if these are more
** than the limit, fewer that are: without bank conflicts, which take longest to count. */
double mt_staged_us (const mt_launch *l, double limit);

/* The flat copy, whose axes are mode[2], in the cheapest tiles that were found; algo:
** GATHER or STAGED. False: there are none that the search wants. */
bool mt_gather_make (mt_launch *l, mt_axes mode[3], mt_algorithm algo,
                     const mt_search *search);
/* The thread axes are a run of the destination, and there are no bounds. */
mt_status mt_gather_check_run (const mt_desc *d, mt_err *err);
/* Bytes that all tiles move, in sectors: what several of them read is read once, for
** caches have it; sectors that a warp writes in part count more. A warp writes `step`
** words of a row at once, 32 at most. */
double mt_gather_moves (const mt_launch *l, int64_t step);
/* The stride of an axis on a side, in bytes; far ones are alike. */
int64_t mt_gather_stride (const mt_desc *d, const mt_axis *a, int side);
/* Words of a tile that rows have in part: at the ends of rows that begin or end within
** one. Two of each 32 take a warp as long as all of them. */
double mt_gather_parts (const mt_desc *d);

#endif
