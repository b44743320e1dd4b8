/*
** permute_unaligned_desc.h - boxes whose rows begin anywhere, shared with CUDA.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_DESC_PERMUTE_UNALIGNED_DESC_H
#define MT_DESC_PERMUTE_UNALIGNED_DESC_H

#include "desc/permute_desc.h"

/* PERMUTE_UNALIGNED: a block's shared memory, of which a box has the first
** MT_PERMUTE_UNALIGNED_BOX bytes at most; how many bounds there may be. What is
** loaded passes through the L1: where shared memory leaves it 28 KiB, copies take up to
** 15 % longer than where it leaves 60. Four blocks of MT_PERMUTE_UNALIGNED_FOUR bytes do,
** and three of MT_PERMUTE_UNALIGNED_SHARED; what is between MT_PERMUTE_UNALIGNED_FOUR and
** MT_PERMUTE_UNALIGNED_THREE becomes that, so that there are three. */
enum {
  MT_PERMUTE_UNALIGNED_SHARED = 65536,
  MT_PERMUTE_UNALIGNED_THREE = 57344,
  MT_PERMUTE_UNALIGNED_FOUR = 49024,
  MT_PERMUTE_UNALIGNED_BOX = 65536,
  MT_PERMUTE_UNALIGNED_BOUNDS = 2,
  MT_PERMUTE_UNALIGNED_THREADS = 384
};

/* So many units for each of `count` indices, or for those of them that bound number
** `bound` leaves, counted from 1; 0: no bound. */
typedef struct mt_span {
  uint32_t units, count, bound;
} mt_span;

/* An axis of the places in a row: what an index adds to the number of the run, to the
** bytes behind its first, and modulo 16 to the address of the run. */
typedef struct mt_lookup_axis {
  mt_divisor by;
  uint32_t run, inside, low;
} mt_lookup_axis;

/* How an unaligned box turns. V units make a vector. The first thread axes are a run of
** the source, those that `order` names first a row of the destination; every axis is in
** one of them or in both. The last axis of each may overhang: then a bound counts along
** it. Runs are numbered along `load`, those of the row's axes that are in no run; rows
** along `store`, those of the run's axes that are in no row; the places in a row along
** `line`.
**   In shared memory run r begins at r * pitch + r / V * gap + (its address in the
** source) mod 16: `vectors` vectors; all_runs at most. From `table` bytes on lie the
** places of the first `length` places of a row, two bytes each, from V before the first
** to 2 V behind the last of `places`, in V planes of `plane` bytes: place n is number
** (n + V) / V of plane n mod V; or, if piece is not 0, those of its pieces of so many
** units, V and more, which are one piece in shared memory too. From `starts` bytes on
** lie the places of the runs in the source, in units, four bytes each; from `parts`
** bytes on what is known of each part of the rows, 16 bytes each; `shared` bytes are
** all. A vector lies before all that.
**   Where the last axis of a row is one of the run, the row may be cut into segments of
** `segment` units, of which the first hop of `store` is the number then; 0: it is not.
**   Where a bound counts along a row, and `ahead` is not 0, a sector of 32 bytes that
** lies in two boxes is written by the one where it begins: that one holds `ahead`
** indices more of the last axis of the row, of which ahead_runs runs are read, or
** longer runs. Else both write a part of it.
**   Rows that are 1 << period apart along the first hop of `store` begin at the same
** place modulo 16: they are of one class. A task writes a vector of `each` rows of a
** class. Vectors are counted from the multiple of `grain` bytes before the row, where
** grain is 32 or wide * 16; of `wide` beyond 32 bytes the first is that where the row
** begins. Task n has vector n mod wide + part * wide of rows n / wide mod all, part
** is what these leave: rows class + (chunk * each + i << period), i < each, of index
** `other` of the other hops, where (class, chunk, other) is an index of (classes,
** chunks, rest). If `linear` is not 0, the places of a row are so many bytes apart; each
** is 1 then, and a task writes all vectors of a row that are `wide` apart. All but order
** and ahead follows from the axes. */
typedef struct mt_permute_unaligned {
  uint8_t  order[MT_PERMUTE_AXES];
  uint16_t nload, nline, nstore;
  uint32_t pitch, gap, table, places, plane, starts, parts, shared;
  uint32_t all_runs, length, segment;
  mt_span  run, runs, row, rows;
  uint32_t ahead, ahead_runs;
  mt_divisor  vectors, piece;
  uint32_t grain, period, each, linear;
  mt_divisor  wide, classes, chunks, all;
  mt_divisor  lead;                  /* rows of the first hop; segments are one row */
  uint32_t tasks, ends;           /* all rows have so many first vectors */
  int64_t  reach[2];              /* bytes before the box in the source, to its end */
  mt_walk_axis   load[MT_PERMUTE_AXES], store[MT_PERMUTE_AXES];
  mt_lookup_axis  line[MT_PERMUTE_AXES];
} mt_permute_unaligned;

#endif
