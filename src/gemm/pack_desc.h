/*
** pack_desc.h - what the kernel that packs operands is given: shared with CUDA.
** SPDX-License-Identifier: MIT
**
** An operand is rows of bytes that begin anywhere. Packed they begin at multiples of 16,
** `to_pitch` bytes apart, batch after batch:
**
**   from + l * from_batch + r * from_pitch + i  ->  to + (l * rows + r) * to_pitch + i
**
** A thread writes whole vectors of 16 bytes: what they have behind a row's end is 0, and
** nobody reads it. Blocks of the first operand come before those of the second.
*/
#ifndef MT_GEMM_PACK_DESC_H
#define MT_GEMM_PACK_DESC_H

#include "desc/divisor_desc.h"

enum { MT_PACK_VECTOR = 16, MT_PACK_THREADS = 256 };

typedef struct mt_pack_operand {
  const char *from;
  const char *low, *high;                   /* nothing outside is read */
  char *to;                                 /* a multiple of 16, as is to_pitch */
  int64_t from_pitch, from_batch, to_pitch; /* bytes */
  int64_t bytes;                            /* of a row */
  mt_divisor vectors, rows;                 /* of a row; of a batch */
  uint32_t all;                             /* vectors of all rows, below 2^31; 0: none */
  uint32_t blocks;
} mt_pack_operand;

typedef struct mt_pack_launch {
  mt_pack_operand operand[2];
} mt_pack_launch;

#endif
