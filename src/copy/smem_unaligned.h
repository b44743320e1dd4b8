/*
** smem_unaligned.h - private: how a box turns whose rows begin anywhere.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_SMEM_UNALIGNED_H
#define MT_COPY_SMEM_UNALIGNED_H

#include "core/error.h"
#include "desc/desc.h"

/* Bytes of a run that needs no more axes: those that follow, of the row, begin runs of
** their own, which shared memory keeps in other banks. */
enum { MT_SKEW_RUN = 96 };

/* Bytes of a row that is written in windows of 8 vectors, from multiples of theirs, and
** of one, if not of bytes, in windows of 16. */
enum { MT_SKEW_WIDEROW = 512, MT_SKEW_FARROW = 768 };

/* Everything that follows from the axes, the bounds, order and ahead: false if they do
** not go together or have no room in shared memory. The rest of `skew` must be 0. */
bool mt_skew_build (mt_desc *d);

/* From axes, bounds and order all of `skew`: ahead, if it is wanted and a bound counts
** along the row. False as mt_skew_build. */
bool mt_skew_choose (mt_desc *d, bool ahead);

/* `skew` is what mt_skew_build makes of it. */
mt_status mt_skew_check (const mt_desc *d, mt_err *err);

#endif
