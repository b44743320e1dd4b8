/*
** mt_desc.h - descriptors: what the CPU executor and the CUDA kernels read.
** SPDX-License-Identifier: MIT
**
** A copy is three modes of flat axes: (thread, value, rest). A coordinate of each, digit
** by digit (the first axis runs fastest), gives the offsets of both sides and the
** ordinates of the bounds:
**   offset[o]   = sum over axes of index * stride[o]   (elements)
**   ordinate[k] = sum over axes of index * step[k]   (+ lane * lane_step[k])
** An access of `vec` elements is real where every ordinate[k] < bound[k]; one that
** straddles a bound is done by elements. The struct is cleared before it is filled: it
** compares and hashes as bytes.
*/
#ifndef MT_DESC_H
#define MT_DESC_H

#include <stdint.h>

enum { MT_MAXAXIS = 24, MT_MAXBOUND = 4, MT_MAXBASE = 4 };
enum { MT_SRC = 0, MT_DST = 1 };

typedef enum mt_op { MT_OP_COPY } mt_op;

/* TV: the described partition, literally: a block is one index of rest, its threads the
** threads. FLAT: all axes are rest axes (threads = values = 1); an index of rest is one
** access. */
typedef enum mt_form { MT_FORM_TV, MT_FORM_FLAT } mt_form;

/* Division of n < 2^31 by `extent`: q = (extent == 1) ? n : ((uint64_t)n * mul >> 32) >>
** shift. p = 31 + ceil(log2 extent), mul = ceil(2^p / extent), shift = p - 32. Indices of
** a mode whose size is 2^31 or more are divided by `extent` itself. The last axis of a
** mode takes what the others leave: its digit needs no remainder. */
typedef struct mt_axis {
  int64_t  extent;
  int64_t  stride[2];             /* of MT_SRC and MT_DST, in elements */
  int64_t  step[MT_MAXBOUND];     /* >= 0 */
  uint32_t mul, shift;            /* 0 if the extent is 1, or 2^31 and more */
} mt_axis;

typedef struct mt_desc {
  uint32_t op, form;              /* mt_op, mt_form */
  uint32_t elem;                  /* bytes of an element: 1, 2, 4, 8, 16 */
  uint32_t vec;                   /* elements of an access: contiguous on both sides */
  /* axes of each mode; they lie in axis[] in this order */
  uint32_t nthr, nval, nrest;
  uint32_t nbound;
  int64_t  threads, values, rests;        /* sizes of the modes; values counts accesses */
  int64_t  bound[MT_MAXBOUND];
  int64_t  lane_step[MT_MAXBOUND];        /* of one element inside an access */
  mt_axis  axis[MT_MAXAXIS];
} mt_desc;

/* Who does which access, with a grid of `blocks` blocks of `threads` threads:
**   TV    thread t of block b does the values of thread t at rest b, b + blocks,
**         b + 2 blocks, ...; the grid has the threads of the descriptor;
**   FLAT  thread t of block b does the accesses (c * unroll + u) * threads + t for each
**         u < unroll and c = b, b + blocks, b + 2 blocks, ... */

/* The one parameter of every kernel, by value. */
typedef struct mt_launch {
  mt_desc desc;
  void   *base[MT_MAXBASE];       /* MT_SRC, MT_DST: where the buffers begin */
  int64_t offset[MT_MAXBASE];     /* in elements: coordinate 0 of each side */
} mt_launch;

#endif
