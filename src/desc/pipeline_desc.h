/*
** pipeline_desc.h - a described kernel beside its product: what the CUDA kernels read.
** SPDX-License-Identifier: MIT
**
** A block computes a tile of C. Element e of a tile of A or B, mode 0 fastest, lies in
** stage s at the element swizzle(line[e] + step[s]) behind the bytes `first` of shared
** memory. Access i of a stage brings the elements bring[i * wide] .. of that tile. The
** tables lie in device memory.
*/
#ifndef MT_DESC_PIPELINE_DESC_H
#define MT_DESC_PIPELINE_DESC_H

#include "desc/gemm_desc.h"

typedef struct mt_pipeline_side {
  const uint32_t *line, *step, *bring;
  uint32_t elements, rows; /* of a stage; of its mode 0 */
  uint32_t fills, wide;    /* accesses of a stage, elements of one */
  uint32_t async; /* bytes of an access by cp.async: its elements lie together in both
                  ** memories; 0: element by element */
  uint32_t first, size; /* bytes: before stage 0, of an element */
  uint32_t swizzle;     /* as in mt_part */
  int32_t shift;
} mt_pipeline_side;

typedef struct mt_pipeline {
  uint32_t stages, ahead; /* ahead < stages */
  uint32_t repeat[3];     /* tiles of the tiled MMA in a tile, along M, N, K */
  uint32_t raster;        /* 0: tiles of M first, 1: of N */
  uint32_t scratch;       /* bytes: behind them lies what wgmma reads */
  uint32_t shared;        /* bytes of all */
  int64_t tiles[3];
  mt_pipeline_side side[2];
} mt_pipeline;

/* What wgmma reads of a warpgroup: 64 rows of A, 32 of B, 32 bytes each. */
enum { MT_PIPELINE_SCRATCH = (64 + 32) * 32 };
/* Shared memory that it has besides: at most so many bytes. */
enum { MT_PIPELINE_STATIC = 13 << 10 };
/* Accumulators of a thread: words of 32 bits. */
enum { MT_PIPELINE_WORDS = 256 };

/* The one parameter of such a kernel, by value: below 4 KiB. */
typedef struct mt_pipeline_launch {
  mt_gemm_launch gemm;
  mt_pipeline pipe;
} mt_pipeline_launch;

#endif
