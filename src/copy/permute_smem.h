/*
** permute_smem.h - private: the geometry of a box in shared memory (desc/permute_desc.h).
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_PERMUTE_SMEM_H
#define MT_COPY_PERMUTE_SMEM_H

#include "core/error.h"
#include "desc/copy_desc.h"

/* The largest group of units, a power of two up to `most`, that is a box of the first
** extents: all of some, and a divisor of the next. *axis receives the last axis of it,
** *part how many of its indices. */
int64_t mt_permute_group (int *axis, int64_t *part, const int64_t *extent, int n,
                          int64_t most);

/* Fills in what follows from the axes and from order, pitch, group, wide and warp_row.
** False if they do not go together. The other fields of `permute` must be 0. */
bool mt_permute_build (mt_desc *d);

/* Chooses all of `permute` for the axes and their order: padding with few bank conflicts.
** False if there is none that goes. */
bool mt_permute_choose (mt_desc *d);

/* Threads of a block. */
uint32_t mt_permute_threads (const mt_desc *d);

/* Whether `permute` is what mt_permute_build makes of its chosen fields. */
mt_status mt_permute_check (const mt_desc *d, mt_err *err);

/* Wavefronts of shared memory for a vector of each thread of a warp, read and written. */
double mt_permute_waves (const mt_desc *d);

#endif
