/*
** permute_desc.h - boxes of short rows, shared with CUDA.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_DESC_PERMUTE_DESC_H
#define MT_DESC_PERMUTE_DESC_H

#include "desc/divisor_desc.h"

/* PERMUTE: a box of so many bytes at most, and so many where it lies in shared memory;
** larger than MT_PERMUTE_USUAL for longer rows only, since there are fewer at a time. */
enum {
  MT_PERMUTE_BYTES = 32768,
  MT_PERMUTE_USUAL = 16384,
  MT_PERMUTE_SHARED = 38912,
  MT_PERMUTE_AXES = 8,
  MT_PERMUTE_WALK = 10
};

/* An axis of a walk; both in bytes. The divisor is as in mt_axis; that of the last hop of
** a walk is 0 / 0 and gives the quotient 0: it takes what the others leave. */
typedef struct mt_walk_axis {
  mt_divisor by;
  uint32_t shared;                /* in shared memory */
  int64_t  global;                /* in the source (load) or the destination (store) */
} mt_walk_axis;

/* How a box turns. Unit (i0, i1, ...) of the thread axes lies at sum i[k] * pitch[k] in
** shared memory. Vectors of the source are numbered along the hops of `load`, and lie
** whole in shared memory. A vector of the destination is groups of `group` units; unit j
** of a group lies at lane[j] behind its first. One thread makes `wide` vectors out of the
** words of `wide` units that begin at their first vector: the vector w lies w * wide_step
** bytes on. Groups of such first vectors are numbered along the hops of `store`. Steps
** of `load` are whole vectors, those of `store` whole groups; none lies 2^31 of them or
** more from the first of the box.
** All but order, pitch, group, wide and apart follows from these and the axes. */
typedef struct mt_permute {
  uint8_t  order[MT_PERMUTE_AXES];     /* the thread axes along the destination */
  uint16_t pitch[MT_PERMUTE_AXES];
  uint16_t group, wide;
  uint16_t apart;                 /* 0, or: behind so many vectors of the destination
                                  ** come 4 along the first axis of the source */
  uint16_t nload, nstore;
  uint32_t vectors;
  uint32_t size;                  /* bytes of the box in shared memory */
  int64_t  wide_step;
  uint32_t lane[16];
  mt_walk_axis   load[MT_PERMUTE_WALK], store[MT_PERMUTE_WALK];
} mt_permute;

#endif
