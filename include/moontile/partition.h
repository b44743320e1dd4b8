/*
** partition.h - tiles and partitions of a layout, and where they begin.
** SPDX-License-Identifier: MIT
**
** `offset` is an integer; of a coordinate layout it is a coordinate, with its zeros.
** Under a swizzle it is that of mt_slice. A coordinate outside of what it picks from is
** MT_ERANGE; a tuple may leave out modes at the end, as if `_` stood there.
*/
#ifndef MOONTILE_PARTITION_H
#define MOONTILE_PARTITION_H

#include "moontile/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The modes where c has `_`, and where the slice begins: (1) offset + R(j) = A(c with j
** in the place of `_`). */
MT_API mt_status mt_slice_and_offset (mt_layout *out, mt_layout *offset, const mt_node *c,
                                      const mt_node *a, mt_err *err);
/* A seen from coordinate c on: (1) R = A, offset = A(c); under a swizzle offset is 0 and
** A(c) inside. */
MT_API mt_status mt_domain_offset (mt_layout *out, mt_layout *offset, const mt_node *c,
                                   const mt_node *a, mt_err *err);
/* zipped_divide(A, t) sliced at c in mode 2: the tile number c, (TileM,TileN,...),
** followed by the modes where c has `_`; in mode 1: what lies at place c of every tile,
** (RestM,RestN,...). */
MT_API mt_status mt_inner_partition (mt_layout *out, mt_layout *offset, const mt_node *a,
                                     const mt_node *t, const mt_node *c, mt_err *err);
MT_API mt_status mt_outer_partition (mt_layout *out, mt_layout *offset, const mt_node *a,
                                     const mt_node *t, const mt_node *c, mt_err *err);
/* inner_partition; with a projection (NULL: none) of those modes of t and c only where it
** has no `_`. */
MT_API mt_status mt_local_tile (mt_layout *out, mt_layout *offset, const mt_node *a,
                                const mt_node *t, const mt_node *c, const mt_node *proj,
                                mt_err *err);
/* What thread number `index` of the layout thr has, when A is dealt out to tiles of its
** shape: outer_partition(A, the sizes of thr's modes, the place where thr is `index`).
** With a projection (NULL: none) of those modes of thr only where it has no `_`; the
** index still counts all threads, and those that differ only in the modes left out have
** the same part. */
MT_API mt_status mt_local_partition (mt_layout *out, mt_layout *offset, const mt_node *a,
                                     const mt_node *thr, int64_t index,
                                     const mt_node *proj, mt_err *err);

#ifdef __cplusplus
}
#endif

#endif
