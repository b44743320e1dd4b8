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

#include "gemm/finish_desc.h"

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
  MT_CHUNK = MT_SLAB * MT_GROUP_ROWS,
  MT_WARP_ROWS = 16, /* rows of D of a warp */
  MT_WARP_PIECE = MT_SLAB * MT_WARP_ROWS
};

/* Whether blocks of a cluster may share a tile, each a part of K. */
#define MT_HOPPER_SPLITS(n, cluster, turned) ((cluster) == 1 && ((n) <= 128 || (turned)))
/* Whether clusters may share tiles by stream-K, in groups of one for each column of
** tiles: each group has as many slabs of all rows. Sums of those that are not the last
** of a row go through memory. There flags of warps come first, which each launch
** leaves 0. */
#define MT_HOPPER_STREAM_K(cluster, turned) ((cluster) > 1 && (turned))
enum { MT_HOPPER_MOST_BLOCKS = 512, MT_HOPPER_FLAGS = MT_HOPPER_MOST_BLOCKS * 32 };
/* Whether D may be written by TMA: a row of the tile has 128 bytes and more. */
#define MT_HOPPER_STORES(n) ((n) >= 64)
/* Whether a kernel writes D either by TMA, a tile while the next one is multiplied, or by
** rows: it has no registers for both. Which of them, its ending says. */
#define MT_HOPPER_ONE_WAY(n) ((n) > 192)
enum {
  MT_STORES,
  MT_FINISHES,
  MT_FINISHES_SIDES,
  MT_FINISHES_MAPPED,
  MT_STORES_ROWS,
  MT_STORES_TURNED, /* columns of D lie together, where a tile has its rows */
  MT_FINISHES_TURNED
};
/* D by its map; by rows, element by element; by words: rows that lie together by accesses
** as wide as these are aligned, where nothing is read. */
enum { MT_BY_MAP, MT_BY_ROWS, MT_BY_WORDS };
#define MT_HOPPER_TURNED(ending)                                                         \
  ((ending) == MT_STORES_TURNED || (ending) == MT_FINISHES_TURNED)
enum { MT_TURNED_COLUMNS = 32 }; /* that a warp stores at a time, of its 16 rows */
/* Shared memory of a block: stages; what goes out, two pieces of D a warp or the sums
** of a part of K; two barriers a stage, one of the parts, and one a warp; and what aligns
** the first stage. */
#define MT_HOPPER_STAGE(n) ((MT_TILE_M + (n)) * MT_SLAB)
#define MT_HOPPER_OUT(n, cluster, turned)                                                \
  (MT_HOPPER_SPLITS(n, cluster, turned) ? (n) * (MT_TILE_M * 4) :                        \
   (turned)                             ? (n) * (MT_TILE_M * 2) :                        \
                                          MT_MULTIPLIERS * 2 * MT_CHUNK)
#define MT_HOPPER_SHARED(n, stages, cluster, turned)                                     \
  ((stages)*MT_HOPPER_STAGE(n) + MT_HOPPER_OUT(n, cluster, turned) +                     \
   (2 * (stages) + 1 + MT_MULTIPLIERS * 4) * 8 + 1024)

enum { MT_HOPPER_MOST_SHARED = 232448 }; /* of a block on sm_90 */

/* Of rows of f32, what tf32 leaves out: to = from without its first 19 bits; where that
** is no number, 0. Rows begin at multiples of 16 bytes. */
typedef struct mt_rest_launch {
  const float *from;
  float *to;
  uint32_t columns, rows;                   /* rows of a batch */
  uint32_t all;                             /* of all batches; 0: nothing is to be done */
  int64_t from_pitch, from_batch, to_pitch; /* elements */
} mt_rest_launch;
enum { MT_REST_THREADS = 256 };

typedef struct mt_hopper_launch {
  mt_tma_map a, b, d;
  mt_tma_map a_rest, b_rest; /* of three terms: what tf32 leaves out of A and B */
  mt_tma_map edge_map[2];    /* of A and B, with boxes of edge[0] and edge[1] rows */
  mt_tma_map side;           /* the residual, of kernels that have it by a map */
  int32_t slabs;             /* stages of a tile */
  int32_t tiles_m, tiles_n;  /* tiles of clusters */
  int32_t tiles;             /* of all batches */
  int32_t group;
  int32_t terms; /* 1; 3: slabs of A by the rest of B, the rest of A by B, A by B */
  int32_t parts; /* of K: each block of a cluster sums up one */
  int32_t a_step, b_step; /* 0: the operand is the same for all batches */
  int32_t side_step;
  int32_t streams; /* stream-K: `work` holds flags and sums */
  int32_t direct;  /* how D is written */
  int32_t d_width; /* by words: bytes that rows of D are aligned to, 8 at most */
  int32_t size[2]; /* M, N */
  /* Nothing is loaded of boxes outside of A or B: they take as long as those inside, and
  ** more. Rows of the last box of a K-major operand, a multiple of 8; 0: it is whole. */
  int32_t edges, edge[2];
  double alpha, beta;
  void *c;           /* for `direct` and beta, as are the strides */
  int64_t stride[3]; /* of M, N, the batch, in elements */
  char *work;
  int32_t dtype; /* of C, of kernels that have an epilogue */
  mt_finishing finish;
} mt_hopper_launch;

#endif
