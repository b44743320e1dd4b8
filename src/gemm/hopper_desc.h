/*
** hopper_desc.h - what the kernels of TMA and wgmma are given: shared with CUDA.
** SPDX-License-Identifier: MIT
**
** D = alpha A B + beta C, C and D one tensor. A block's tile is 128 rows of M by N
** columns; a stage is 128 bytes of K. Tiles of clusters are numbered through: batch by
** batch, in a batch groups of `group` rows of tiles, in a group column by column.
*/
#ifndef MT_GEMM_HOPPER_DESC_H
#define MT_GEMM_HOPPER_DESC_H

#include <stdint.h>

#ifdef __CUDACC__
#define MT_ALIGNED_MAP __align__(128)
#else
#define MT_ALIGNED_MAP
#endif

/* As the driver makes it. */
typedef struct MT_ALIGNED_MAP mt_tma_map {
  unsigned char bytes[128];
} mt_tma_map;

enum {
  MT_SLAB = 128,      /* bytes of K of a stage; the width of the swizzle */
  MT_GROUP_ROWS = 64, /* rows of M of a warpgroup that multiplies */
  MT_MULTIPLIERS = 2, /* such warpgroups */
  MT_TILE_M = MT_GROUP_ROWS * MT_MULTIPLIERS,
  MT_HOPPER_THREADS = 128 * (1 + MT_MULTIPLIERS),
  MT_CHUNK = MT_SLAB * MT_GROUP_ROWS
};

/* Shared memory of a block: stages, two chunks of D a warpgroup, two barriers a stage,
** and what aligns the first stage. */
#define MT_HOPPER_STAGE(n) ((MT_TILE_M + (n)) * MT_SLAB)
#define MT_HOPPER_SHARED(n, stages)                                                      \
  ((stages)*MT_HOPPER_STAGE(n) + MT_MULTIPLIERS * 2 * MT_CHUNK + 2 * (stages)*8 + 1024)

enum { MT_HOPPER_MOST_SHARED = 232448 }; /* of a block on sm_90 */

typedef struct mt_hopper_launch {
  mt_tma_map a, b, d;
  int32_t slabs;            /* stages of a tile */
  int32_t tiles_m, tiles_n; /* tiles of clusters */
  int32_t tiles;            /* of all batches */
  int32_t group;
  int32_t a_step, b_step; /* 0: the operand is the same for all batches */
  int32_t direct;         /* D is written by elements, and C is read: no map of it */
  int32_t size[2];        /* M, N: for `direct` */
  double alpha, beta;
  void *c;           /* for `direct`, as are the strides: of M, N, the batch */
  int64_t stride[3]; /* in elements */
} mt_hopper_launch;

#endif
