/*
** permute_desc.h - PERMUTE: boxes of short rows that pass through shared memory, shared
** with CUDA.
** SPDX-License-Identifier: MIT
**
** The thread axes of the descriptor are a box. In shared memory it lies in the order of
** the source: its unit (i0, i1, ...), an access, has the address
**   sum over k of i[k] * pitch[k].
** pitch[0] is the bytes of a unit. Before any other axis there may be padding, of whole
** vectors of 16 bytes: it moves what a warp reads at once to different banks.
**
** A box of axes a: 8 and b: 4, units of 4 bytes; a is contiguous in the source, b in the
** destination; "12" is the unit a = 1, b = 2; pitch = {4, 48}, order = {1, 0}:
**
**   address  0           16          32
**   b = 0    00 10 20 30 40 50 60 70  . . . .      load: a vector of the source is one
**   b = 1    01 11 21 31 41 51 61 71  . . . .      here too: 00 10 20 30
**   b = 2    02 12 22 32 42 52 62 72  . . . .      store: a vector of the destination
**   b = 3    03 13 23 33 43 53 63 73  padding      is a column: 00 01 02 03
**
** The column is a group of 4 units: lane = {0, 48, 96, 144} for every one of them.
*/
#ifndef MT_DESC_PERMUTE_DESC_H
#define MT_DESC_PERMUTE_DESC_H

#include "desc/divisor_desc.h"

enum {
  MT_PERMUTE_BYTES = 32768,  /* of a box, at most */
  MT_PERMUTE_USUAL = 16384,  /* larger ones are for longer rows: fewer run at once */
  MT_PERMUTE_SHARED = 38912, /* of a box with its padding, at most */
  MT_PERMUTE_AXES = 8,       /* thread axes, at most */
  MT_PERMUTE_WALK = 10       /* axes of a walk, at most */
};

/* An axis of a walk: what one index of it adds to the two addresses, in bytes. The last
** axis takes what the others leave: its mul and shift are 0, and so is the quotient. */
typedef struct mt_walk_axis {
  mt_divisor by;
  uint32_t shared; /* in shared memory */
  int64_t global;  /* in the source (load) or the destination (store) */
} mt_walk_axis;

/* A task of a thread makes `wide` vectors of the destination, which lie wide_step bytes
** apart. It reads 16 / unit words of `wide` units each, which are neighbours along the
** first axis of the source, and transposes them in registers. A vector consists of groups
** of `group` units: unit j of a group lies lane[j] bytes behind the first one.
**
** `load` numbers the vectors of the source. `store` numbers groups, and of every task
** only those of its first vector. Steps of `load` are multiples of a vector, those of
** `store` of a group, and a box spans less than 2^31 of them.
**
** order, pitch, group, wide and warp_row are chosen. All else follows from these and the
** axes. */
typedef struct mt_permute {
  uint8_t order[MT_PERMUTE_AXES]; /* the thread axes along the destination */
  uint16_t pitch[MT_PERMUTE_AXES];
  uint16_t group, wide;
  uint16_t warp_row; /* 0, or: tasks are numbered so many along the
                                  ** destination, then 4 along the source's first axis,
                                  ** then all others; 8: a warp has 8 x 4 */
  uint16_t nload, nstore;
  uint32_t vectors; /* of a box */
  uint32_t size;    /* bytes of a box in shared memory, with padding */
  int64_t wide_step;
  uint32_t lane[16];
  mt_walk_axis load[MT_PERMUTE_WALK], store[MT_PERMUTE_WALK];
} mt_permute;

#endif
