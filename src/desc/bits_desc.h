/*
** bits_desc.h - BITS: boxes whose axes have two indices each, shared with CUDA.
** SPDX-License-Identifier: MIT
**
** The thread axes of the descriptor are a box: 2^n units, of n axes of extent 2. An index
** is a number of n bits, and a copy that permutes axes permutes bits. Vectors of 16 bytes
** of the source go to shared memory, in the order of the source; vectors of the
** destination are put together from there. The place of a unit in shared memory is not a
** sum over the bits of its index but their XOR: every bit has a column, a number, and
**   place = XOR of the columns of the bits that are 1.
** So it is bijective whatever is added to the columns of high bits in the low ones, and
** threads of a warp that read along any bits can be kept off each other's banks:
**
**   source bits      0 1 | 2 3 4 | 5 6 7 ...     units of 4 bytes: a vector has bits 0, 1
**   column of bit k  1 << k in units; of bits from 5 on, if a warp reads along them, one
**                    of the bits 2, 3, 4 more: another bank
**
** A thread makes vectors t, t + 256, ... of the load and of the store. Bits 0 to 7 of
** their numbers are those of the thread, the others those of the round: what a round adds
** is the same for all threads.
*/
#ifndef MT_DESC_BITS_DESC_H
#define MT_DESC_BITS_DESC_H

#include <stdint.h>

enum {
  MT_BITS_THREADS = 256,
  MT_BITS_LOG = 8,        /* of the threads */
  MT_BITS_ROUNDS = 4,     /* at most */
  MT_BITS_SHARED = 16384, /* bytes of a box on either side, at most */
  MT_BITS_GRID = 16,      /* bits of a block's number that have steps of their own */
  MT_BITS_LANES = 5       /* bits of a thread in its warp */
};

/* What a bit of a vector's number, or a round, adds to the place in global memory, in
** bytes, and by XOR in shared memory. */
typedef struct mt_bits_step {
  int64_t global;
  uint32_t shared, none;
} mt_bits_step;

/* The first thread axes are a vector of the destination, the next ones are the bits of
** the store's vectors: 0 to 4 are the threads of a warp. The bits of the load's vectors
** are those axes by their stride in the source; axes of stride 0 have none, and column 0.
** Axes that run backwards in the source begin at their other end.
** The first rest axes have powers of two: together `grid` bits; `first` is the number of
** the axis behind them. All follows from the axes and their order. */
typedef struct mt_bits_box {
  uint32_t loads, stores; /* 2^loads vectors of the source, 2^stores of the destination */
  uint32_t size;          /* bytes of shared memory */
  uint32_t start;         /* place of unit 0 */
  uint32_t lane[16];      /* of unit j of a vector, by XOR */
  uint32_t grid, first;
  int64_t low; /* bytes from unit 0 of a box to its lowest one in the source */
  mt_bits_step load[MT_BITS_LOG], load_round[MT_BITS_ROUNDS];
  mt_bits_step store[MT_BITS_LOG], store_round[MT_BITS_ROUNDS];
  int64_t block[MT_BITS_GRID][2]; /* bytes of both sides */
} mt_bits_box;

#endif
