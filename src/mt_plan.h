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
/* The same by accesses of `most` bytes at most; most 1: of one element, the form in which
** copies are compared. */
mt_status mt_widen_to (mt_launch *l, mt_narrow *why, const mt_tiled_copy *copy,
                       uint32_t most, mt_err *err);

/* Ways in which runs along different axes can be taken: PACK, packed in the source or in
** the destination; TILE or SHEAR. */
enum { MT_TILEWAYS = 3 };
/* The flat copy in such a way: its axes become those of the runs and the rest. False, and
** why not ("": there is nothing to say): nothing has changed. */
bool mt_tile_form (mt_launch *l, int way, char *why);
/* Tiles of a descriptor of these forms. */
int64_t mt_tile_count (const mt_desc *d);
/* Accesses that a whole tile has along the run of the side; PACK: along the long axis. */
int64_t mt_tile_length (const mt_desc *d, int side);

#endif
