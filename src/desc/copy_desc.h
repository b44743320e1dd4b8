/*
** copy_desc.h - descriptors of copies: what the CPU executor and the CUDA kernels read.
** SPDX-License-Identifier: MIT
**
** A copy is three modes of flat axes: (thread, value, rest). A coordinate of each, digit
** by digit (the first axis runs fastest), gives the offsets of both sides and the
** ordinates of the bounds:
**   offset[o]   = sum over axes of index * stride[o]   (elements)
**   ordinate[k] = sum over axes of index * step[k]   (+ lane * lane_step[k])
** An access of `vec` elements is real where every ordinate[k] < bound[k]; one that
** straddles a bound is done by elements. A side may be swizzled (algorithms DESCRIBED and
** STRIDED): its elements are those at swizzle(offset[o]), an access stays together. The
** struct is cleared before it is filled: it compares and hashes as bytes.
*/
#ifndef MT_DESC_COPY_DESC_H
#define MT_DESC_COPY_DESC_H

#include <assert.h>
#include <stdint.h>

#include "desc/algo_desc.h"
#include "desc/bits_desc.h"
#include "desc/gather_desc.h"
#include "desc/permute_desc.h"
#include "desc/permute_unaligned_desc.h"
#include "desc/staged_desc.h"
#include "desc/transpose_desc.h"

enum { MT_MAXAXIS = 24, MT_MAXBOUND = 4, MT_MAXBASE = 4 };
enum { MT_SRC = 0, MT_DST = 1 };

/* An axis of a mode; mul, shift: as in mt_divisor, and 0 of 2^31 and more. Indices of a
** mode whose size is 2^31 or more are divided by `extent` itself. The last axis of a mode
** takes what the others leave: its digit needs no remainder. */
typedef struct mt_axis {
  int64_t extent;
  int64_t stride[2];         /* of MT_SRC and MT_DST, in elements */
  int64_t step[MT_MAXBOUND]; /* >= 0 */
  uint32_t mul, shift;
} mt_axis;

/* A swizzle: swizzle(o) = o ^ ((o & mask) >> shift), << -shift where that is below 0. The
** mask is a run of bits, which is moved by its length at least; 0, as is shift: none. */
typedef struct mt_desc_swizzle {
  int64_t mask, shift;
} mt_desc_swizzle;

typedef struct mt_desc {
  uint32_t op, algo; /* mt_op, mt_algorithm */
  uint32_t elem;     /* bytes of an element: 1, 2, 4, 8, 16 */
  uint32_t cast;     /* 0, or MT_CAST of both dtypes and a rounding: it converts */
  uint32_t to;       /* bytes of an element of the destination, if it does */
  uint32_t vec;      /* elements of an access: contiguous on both sides */
  /* axes of each mode; they lie in axis[] in this order */
  uint32_t nthr, nval, nrest;
  uint32_t nbound;
  int64_t threads, values, rests; /* sizes of the modes; values counts accesses */
  int64_t bound[MT_MAXBOUND];
  int64_t lane_step[MT_MAXBOUND]; /* of one element inside an access */
  mt_axis axis[MT_MAXAXIS];
  union {                           /* by the algorithm; of others 0 */
    mt_raster raster;               /* TRANSPOSE, TRANSPOSE_UNALIGNED, ROWS */
    mt_permute permute;             /* PERMUTE */
    mt_permute_unaligned unaligned; /* PERMUTE_UNALIGNED */
    mt_gather gather;               /* GATHER; what STAGED begins with */
    mt_staged staged;               /* STAGED */
    mt_bits_box bits;               /* BITS */
  };
  mt_desc_swizzle swizzle[2]; /* of MT_SRC and MT_DST */
} mt_desc;

/* Who does which access, with a grid of `blocks` blocks of `threads` threads:
**   DESCRIBED    thread t of block b does the values of thread t at rest b, b + blocks,
**         b + 2 blocks, ...; the grid has the threads of the descriptor;
**   STRIDED  thread t of block b does the accesses (c * unroll + u) * threads + t for
**         each u < unroll and c = b, b + blocks, b + 2 blocks, ...; of accesses below 16
**         bytes without bounds and with a short first axis (MT_STRIDED_SHORT) those of
**         that axis at indices n, n + threads * blocks, ... of the others; if that is
**         one axis, pixels, each time at MT_STRIDED_PIXELS indices `threads` apart; of
**         MT_STRIDED_WORDS ones at MT_STRIDED_GROUPS times four. MT_PIXEL_TURNS times in
**         a row, if there are not enough blocks for one time;
**   TRANSPOSE, TRANSPOSE_UNALIGNED: block b does tile b of (strips of tiles, rest);
**   INTERLEAVE  block b does piece b of (pieces, rest);
**   PERMUTE, PERMUTE_UNALIGNED, BITS: block b does the box at index b of rest;
**   ROWS  thread t of block b does the vectors b * unroll * threads + u * threads + t of
**         (vectors of a row, rest) for each u < unroll; of MT_ROWS_PERIODIC ones vector
**         b * threads + t;
**   GATHER, STAGED: block b does the tiles b, b + blocks, ... of (tiles of a row, rows,
**         rest). */

/* An axis whose accesses a thread does together. */
#define MT_STRIDED_SHORT(extent, unroll) ((extent) > 1 && (extent) <= (unroll))
/* But not of wider units where the destination has gaps between such axes: neighbouring
** threads write neighbours then, so that a warp writes a sector once. */
#define MT_STRIDED_APART(d)                                                              \
  ((d)->nrest > 1 && (d)->axis[0].stride[MT_DST] == (d)->vec &&                          \
   (d)->axis[1].stride[MT_DST] > (d)->axis[0].extent * (d)->vec)
#define MT_STRIDED_ALONE(d) ((d)->vec * (d)->elem >= 4 && MT_STRIDED_APART(d))
#define MT_STRIDED_PIXELS(bytes) ((bytes) == 1 ? 2 : 1)
enum { MT_STRIDED_GROUPS = 2, MT_PIXEL_TURNS = 4, MT_PIXEL_NEAR = 6 };

/* Pixels of bytes that follow one another in the destination, out of 2 to 4 bytes of the
** source each. The descriptor is that of pixels. */
#define MT_STRIDED_WORDS(d)                                                              \
  ((d)->vec * (d)->elem == 1 && (d)->axis[0].stride[MT_DST] == 1 &&                      \
   (d)->axis[1].stride[MT_DST] == (d)->axis[0].extent &&                                 \
   (d)->axis[1].stride[MT_SRC] >= 2 && (d)->axis[1].stride[MT_SRC] <= 4 &&               \
   (d)->axis[0].stride[MT_SRC] * ((d)->axis[0].extent - 1) <                             \
       (d)->axis[1].stride[MT_SRC] &&                                                    \
   (d)->axis[0].stride[MT_SRC] * ((d)->axis[0].extent - 1) >                             \
       -(d)->axis[1].stride[MT_SRC])

/* ROWS: a row that is repeated by the value axis, and follows itself in the destination:
** what is written is one long row with a period (mt_raster). */
#define MT_ROWS_PERIODIC(d)                                                              \
  ((d)->nval == 1 && (d)->threads <= 1 << 24 &&                                          \
   (d)->threads * (d)->vec * (d)->elem >= 16 && (d)->axis[0].stride[MT_SRC] > 0 &&       \
   (d)->axis[1].stride[MT_DST] == (d)->threads * (d)->vec)

/* The one parameter of every kernel, by value. Element `at` of a side, `at` the sum over
** its axes, lies at base + (origin + swizzle(offset + at)) * elem. */
typedef struct mt_launch {
  mt_desc desc;
  void *base[MT_MAXBASE];     /* MT_SRC, MT_DST: where the buffers begin */
  int64_t offset[MT_MAXBASE]; /* in elements: coordinate 0 of each side */
  int64_t size[MT_MAXBASE];   /* of the buffers, in bytes */
  int64_t origin[2];          /* in elements; 0 of a side without a swizzle */
} mt_launch;

/* A kernel's parameter has 4096 bytes at most. mt_launch takes 2728 of them, of which
** mt_desc is 2616 and the largest geometry of the union, mt_permute_unaligned, 920. */
static_assert(sizeof(void *) != 8 || sizeof(mt_desc) == 2616, "the sizes above");
static_assert(sizeof(void *) != 8 || sizeof(mt_launch) == 2728, "the sizes above");
static_assert(sizeof(mt_launch) <= 3072, "a KiB of the parameter is for what comes");

/* Bytes of an element of a side. */
#define MT_ELEM(d, side) ((d)->cast != 0 && (side) == MT_DST ? (d)->to : (d)->elem)

#endif
