/*
** mt_plan.h - private: from two tensors and a partition to a launch.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_PLAN_H
#define MT_PLAN_H

#include "mt_axes.h"

enum { MT_MAXTHREADS = 1024, MT_MAXWIDTH = 5, MT_REASON = 160 };

/* Why an access is not wider: reason[w] for accesses of 1 << w bytes, "" where nothing
** prevents it. */
typedef struct mt_narrow {
  char reason[MT_MAXWIDTH][MT_REASON];
  char tile[MT_REASON];            /* why there are no tiles; "" if there are */
} mt_narrow;

/* The copy as described: accesses of one element, values and rests in the order of the
** layouts. `modes` receives the tensor's mode of each bound, counted from 1. copy NULL:
** form FLAT. */
mt_status mt_describe (mt_launch *out, int modes[MT_MAXBOUND], const mt_tiled_copy *copy,
                       const mt_tensor *src, const mt_tensor *dst, mt_err *err);

/* The same accesses, made wide and put in an order that suits memory: what a thread does
** is the same set of elements. `l` was accepted by mt_check_copy. Errors: MT_EALIGN if
** the atom of `copy` cannot be had; MT_ETOOBIG. */
mt_status mt_widen (mt_launch *l, mt_narrow *why, const mt_tiled_copy *copy, mt_err *err);

/* A flat copy whose runs lie along different axes, in the form TILE, SHEAR, PACK or BOX:
** its axes become those of the runs and the rest; or in the form ROWS. False, and why
** not: nothing has changed. */
bool mt_tile_form (mt_launch *l, mt_axes mode[3], char *why);
/* The same in the form BOX; false: `mode` is of no more use. */
bool mt_box_form (mt_launch *l, mt_axes mode[3]);
/* The same in the form ROWS, for what has a run of both sides in narrow accesses. */
bool mt_rows_form (mt_launch *l, mt_axes mode[3]);
int64_t mt_rows_vectors (const mt_desc *d);
/* Tiles of a descriptor of these forms. */
int64_t mt_tile_count (const mt_desc *d);

/* Describes the copy of one tensor to the other, which may lie on different devices, and
** proves it: p->launch, of accesses of one element, and what p says of it. */
struct mt_plan;
mt_status mt_plan_prove (struct mt_plan *p, const mt_tensor *src, const mt_tensor *dst,
                         mt_err *err);

#endif
