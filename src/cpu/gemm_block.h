/*
** gemm_block.h - private: a product of the processor's own, the block of it at hand.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_CPU_GEMM_BLOCK_H
#define MT_CPU_GEMM_BLOCK_H

#include <stdatomic.h>

#include "cpu/gemm.h"
#include "cpu/gemm_sum.h"
#include "types/dtype.h"

struct mt_cpu_gemm {
  size_t bytes; /* of the whole allocation */
  char name[24];
  mt_blas *blas; /* runs the call, nothing below counts; NULL: none */
  mt_blas_call call;
  bool measured; /* the elements decide how they are added up */
  const mt_micro *micro;
  mt_acc acc;         /* of C; that of `micro`, or U32 by sums in f32 */
  mt_cpu_scale scale; /* of a C of integers */
  bool turned;        /* the roles of A and B, of M and N, are exchanged */
  bool rows;          /* panels of B are rows along K, as it has them */
  bool direct;        /* those that are full are read where they lie, so far apart: */
  int64_t pitch;
  mt_cpu_side side[MT_PARTS];
  mt_cpu_convert *widen[MT_PARTS], *narrow; /* NULL: as they are */
  double alpha, beta;
  /* Of an epilogue: what it reads, and how that becomes sums; NULL: as it is. */
  bool finishes, has[MT_BESIDES];
  uint32_t activation;
  mt_cpu_side beside[MT_BESIDES];
  mt_cpu_convert *widen_beside[MT_BESIDES];
  int64_t size[MT_GEMM_MODES], most[MT_GEMM_MODES]; /* of a block at most */
  char *base, *panel[2], *tiles; /* of a block; tiles NULL: K is one block */
  /* Blocks of K that are added up at a time, each with panels and tiles of its own; 1:
  ** one after the other. */
  int64_t slices, slice_bytes;
  char *slice;
  /* The block at hand. */
  int64_t first[MT_GEMM_MODES], n[MT_GEMM_MODES];
  int64_t panels[2];           /* of A and of B, at one index of the batch */
  int64_t group[2], groups[2]; /* panels of a task; tasks along M and N */
  bool fresh, last;            /* the first, the last block along K */
  bool keep;                   /* the panels of A are there already */
  int64_t spent;               /* nanoseconds of blocks since it was asked */
  mt_stint stint;              /* in products of elements */
  int measuring;               /* A or B */
  _Atomic uint64_t most_of;    /* the largest magnitude seen in it */
};

/* Everything for sums whose products have magnitudes of at most `reach` in all, at
** g->base; returns how much is taken there. */
size_t mt_cpu_arrange (mt_cpu_gemm *g, const mt_gemm_launch *l, double reach,
                       int threads);
static inline bool mt_cpu_is_float (uint32_t d) { return mt_is_float_type((mt_dtype)d); }

/* The product's modes of the modes of an operand. */
static const uint8_t mt_cpu_mode_of[MT_PARTS][MT_SIDE_MODES] = {{MT_M, MT_K, MT_L},
                                                                {MT_N, MT_K, MT_L},
                                                                {MT_M, MT_N, MT_L}};

#endif
