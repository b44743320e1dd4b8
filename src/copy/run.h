/*
** run.h - private: the axes that continue one another on a side.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_RUN_H
#define MT_COPY_RUN_H

#include "desc/axes.h"
#include "desc/permute_desc.h"

typedef struct mt_run {
  int n, axis[MT_PERMUTE_AXES];
} mt_run;

/* The prefix of a run: its first n axes, the last of them only `cut` of it. */
typedef struct mt_prefix {
  int n;
  int64_t cut;
} mt_prefix;

/* From stride `vec` on: each axis begins where the ones before it end. */
void mt_run_find (mt_run *out, const mt_axes *a, int side, int64_t vec);

/* Turns axes of a flat copy along which the source goes backwards where the next axis of
** its run would begin, so that it has a longer run: those that are in no row of the
** destination, or behind a long one while the run is short. `elem`: bytes of an
** element. */
void mt_run_turn (mt_axes *a, int64_t offset[2], int64_t vec, int64_t elem);

/* A box that has extent[i] of axis i holds the prefix as well. */
void mt_run_hold (int64_t *extent, const mt_axes *a, const mt_run *c, const mt_prefix *h);

#endif
