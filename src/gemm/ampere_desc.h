/*
** ampere_desc.h - what the kernels of cp.async and mma.sync are given: shared with CUDA.
** SPDX-License-Identifier: MIT
**
** D = alpha A B + beta C, C and D one tensor. A block has one tile, or the blocks of a
** cluster have it, each a part of its K: block i has the (i % parts)-th part of tile i /
** parts. Or it is stream-K: the first `streams` blocks share the slabs of the halves of
** tiles and of the first `streamed` tiles, and each other block has a tile. Tiles are
** numbered through: batch by batch, in a batch groups of `group` rows of tiles, in a
** group column by column. M, N below stand for the mode of A or B that is not K.
*/
#ifndef MT_GEMM_AMPERE_DESC_H
#define MT_GEMM_AMPERE_DESC_H

#include <stdint.h>

#include "gemm/finish_desc.h"

/* How an operand comes into shared memory:
** LINES     by cp.async of 16 bytes, which lie together and are aligned
** ALONG_K   by single elements, neighbours along K by neighbouring threads
** ALONG_MN  the same along M or N
** WINDOWS   K lies together, rows begin anywhere: aligned vectors, shifted in registers
*/
typedef enum mt_ampere_way {
  MT_WAY_LINES,
  MT_WAY_ALONG_K,
  MT_WAY_ALONG_MN,
  MT_WAY_WINDOWS
} mt_ampere_way;

/* What of an operand lies together in shared memory: its K, its M or N, or, of rows that
** take every layout, ANY. */
enum { MT_MAJOR_K, MT_MAJOR_MN, MT_MAJOR_ANY };

/* Elements of 4 and 8 bytes between columns: these begin at multiples of 16 bytes, in
** other banks. Sums have as many. */
#define MT_COLUMN_PAD(size) 4

/* Of f64 tiles of more columns than this take operands by lines alone: two ways of copies
** between their products are more than registers hold. */
#define MT_AMPERE_LINES_ALONE(size, n) ((size) == 8 && (n) > 64)

/* Bytes of a stage of elements of `size` bytes, and of the sums of one row of warps. */
#define MT_AMPERE_OPERAND(size, mn, k)                                                   \
  (((size) >= 4 ? (mn) + MT_COLUMN_PAD(size) : (mn)) * (k) * (size))
#define MT_AMPERE_STAGE(size, m, n, k)                                                   \
  (MT_AMPERE_OPERAND(size, m, k) + MT_AMPERE_OPERAND(size, n, k))
#define MT_AMPERE_PART(m, n, warps_m, sum)                                               \
  ((m) / (warps_m) * ((n) + MT_COLUMN_PAD(sum)) * (sum))

/* Of a row of one: a column's sums of 32 lanes, in other banks than the next one's; and
** the shared memory of its sums and theirs. */
#define MT_AMPERE_LANES 33
#define MT_AMPERE_ONE_ROW(n) ((n) * (1 + MT_AMPERE_LANES) * 4)

/* Whether K may be in parts, of f32 with 128 sums a thread, of which warps may have a
** share of K: a ring has room for all sums of the tile. Their blocks are a cluster, of
** sm_90. */
#define MT_AMPERE_SPLITS(size, m, n, k, stages, threads)                                 \
  ((size) == 4 && (threads) > 64 && (m) * (n) >= 64 * (threads) &&                       \
   (stages)*MT_AMPERE_STAGE(size, m, n, k) >= MT_AMPERE_PART(m, n, 1, size))

/* Whether tiles may be shared by stream-K: of f64, and of f32 with 64 sums a thread and
** more; warps have all of K. */
#define MT_AMPERE_STREAMS(size, m, n, k, stages, threads, warps_k)                       \
  ((warps_k) == 1 && ((size) == 8 || ((size) == 4 && (m) * (n) >= 64 * (threads))) &&    \
   !MT_AMPERE_SPLITS(size, m, n, k, stages, threads))
/* Whether those that overhang by half or more are of half the size then: of f32 with 128
** sums a thread. */
#define MT_AMPERE_HALVES(size, m, n, threads)                                            \
  ((size) == 4 && (m) * (n) == 128 * (threads))

/* Its memory: a flag of each block that shares, 0 between launches; then from each the
** sums of a tile whose end another one has. So many blocks at most; bytes before the
** sums. */
enum { MT_AMPERE_MOST_STREAMS = 1024, MT_AMPERE_FLAGS = MT_AMPERE_MOST_STREAMS * 4 };

typedef struct mt_ampere_operand {
  const char *base;
  const char *low, *high;  /* its memory: nothing outside is touched */
  int64_t along, k, batch; /* bytes from one to the next along M or N, K, L */
  int32_t extent;          /* of M or N */
  int32_t way;
} mt_ampere_operand;

typedef struct mt_ampere_launch {
  mt_ampere_operand operand[2];
  int32_t size[3]; /* M, N, K */
  int32_t slabs;   /* stages of a tile */
  int32_t tiles_m, tiles_n, tiles, group;
  int32_t parts; /* of K: the blocks of a tile */
  /* Of tiles in the last row and column that have half the size, so many: whether all of
  ** that row, of that column are; pairs of slabs of one. */
  int32_t halves, half_m, half_n, half;
  int32_t streams, streamed; /* blocks of stream-K; tiles that they share beside halves */
  char *work;                /* their memory */
  int32_t dtype;             /* of C */
  int32_t plain;             /* alpha is 1, beta 0 */
  int32_t wide;              /* plain, and 4 elements along N are one aligned access */
  void *c;
  int64_t stride[3]; /* of C: M, N, the batch; in elements */
  double alpha, beta;
  mt_finishing finish; /* of kernels that have an epilogue */
} mt_ampere_launch;

/* Blocks of a launch. */
static inline uint32_t mt_ampere_blocks_of (const mt_ampere_launch *l) {
  const int32_t shared = l->streams ? l->streamed + l->halves : 0;
  return (uint32_t)((l->tiles - shared) * l->parts + l->streams);
}

#endif
