/*
** permute_smem.h - private: how a box turns in shared memory.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_PERMUTE_SMEM_H
#define MT_COPY_PERMUTE_SMEM_H

#include "core/error.h"
#include "desc/copy_desc.h"

/* The largest power of two, at most `most`, that is the product of leading extents, the
** last of them maybe in part; *axis receives that one, *part its share. */
int64_t mt_permute_group (int *axis, int64_t *part, const int64_t *extent, int n,
                       int64_t most);

/* Everything that follows from the axes and order, pitch, group, wide, apart: false if
** they do not go together. The rest of `turn` must be 0. */
bool mt_permute_build (mt_desc *d);

/* From axes and order all of `turn`: pitches with few bank conflicts. */
bool mt_permute_choose (mt_desc *d);

/* Threads of a block that turns boxes of so many vectors. */
uint32_t mt_permute_threads (const mt_desc *d);

/* `turn` is what mt_permute_build makes of it. */
mt_status mt_permute_check (const mt_desc *d, mt_err *err);

#endif
