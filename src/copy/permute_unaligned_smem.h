/*
** permute_unaligned_smem.h - private: how a box turns whose rows begin anywhere.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_PERMUTE_UNALIGNED_SMEM_H
#define MT_COPY_PERMUTE_UNALIGNED_SMEM_H

#include "core/error.h"
#include "desc/copy_desc.h"

/* Bytes of a run that needs no more axes: those that follow, of the row, begin runs of
** their own, which shared memory keeps in other banks. */
enum { MT_PERMUTE_UNALIGNED_RUN = 96 };

/* Bytes of a row that is written in windows of 8 vectors, from multiples of theirs, and
** of one, if not of bytes, in windows of 16. */
enum { MT_PERMUTE_UNALIGNED_WIDEROW = 512, MT_PERMUTE_UNALIGNED_FARROW = 768 };

/* Everything that follows from the axes, the bounds, order and ahead: false if they do
** not go together or have no room in shared memory. The rest of `unaligned` must be 0. */
bool mt_permute_unaligned_build (mt_desc *d);

/* From axes, bounds and order all of `unaligned`: ahead, if it is wanted and a bound
** counts along the row. False as mt_permute_unaligned_build. */
bool mt_permute_unaligned_choose (mt_desc *d, bool ahead);

/* `unaligned` is what mt_permute_unaligned_build makes of it. */
mt_status mt_permute_unaligned_check (const mt_desc *d, mt_err *err);

#endif
