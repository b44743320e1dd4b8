/*
** gemm_desc.h - descriptors of products: what the CPU executor and the CUDA kernels read.
** SPDX-License-Identifier: MIT
**
** C = alpha A B + beta C for A (M,K), B (N,K), C (M,N), each with a batch L. The
** partition and the tensors are apart:
**   the partition gives each (thread, value, rest) of an operand its ordinates in a tile:
**     ordinate[j] = sum over axes of index * step[j],
**   where ordinate 0 counts along M (A, C) or N (B), ordinate 1 along K (A, B) or N (C);
**   the tensor gives the element with the ordinates x, y of the batch l its place:
**     offset = swizzle(offset + digits(x) + digits(y) + digits(l)).
** So any partition goes with any layout, and what overhangs is what has an ordinate that
** is no less than `real` of its operand: it is read as 0 and not written. Of C that is
** the extent of the mode, of K too; A and B may end before C does.
*/
#ifndef MT_DESC_GEMM_DESC_H
#define MT_DESC_GEMM_DESC_H

#include <stdint.h>

#include "desc/algo_desc.h"

enum { MT_A, MT_B, MT_C, MT_PARTS };            /* operands of a product */
enum { MT_M, MT_N, MT_K, MT_L, MT_GEMM_MODES }; /* its modes */
enum { MT_MAXSTEP = 14, MT_MAXDIGIT = 18, MT_MAXINNER = 6 };

/* An axis of a partition: like mt_axis, extent and ordinates below 2^31. */
typedef struct mt_step {
  uint32_t extent, step[2];
  uint32_t mul, shift;
} mt_step;

/* An axis of a tensor's mode. mul, shift are 0 if the mode's size is 2^31 or more. */
typedef struct mt_digit {
  int64_t extent, stride;
  uint32_t mul, shift;
} mt_digit;

typedef struct mt_part {
  uint32_t dtype;      /* mt_dtype of the tensor */
  uint32_t nthr, nval; /* axes of thread and value, in this order in axis[] */
  uint32_t values;     /* of a thread in one atom */
  mt_step axis[MT_MAXSTEP];
  int64_t real[2];    /* ordinates below are real */
  uint32_t ndigit[3]; /* axes of ordinate 0, of ordinate 1, of the batch */
  uint32_t swizzle;   /* 0 or the mask of the bits that are moved */
  int32_t shift;      /* o ^= (o & swizzle) >> shift (<< -shift) */
  mt_digit digit[MT_MAXDIGIT];
} mt_part;

/* What an epilogue reads besides C: an element for each of C, by its ordinates; what is
** said for all of M, N or L has no digits there. */
enum { MT_BIAS, MT_RESIDUAL, MT_BESIDES };
typedef struct mt_beside {
  uint32_t dtype, ndigit[3], swizzle;
  int32_t shift;
  mt_digit digit[MT_MAXDIGIT];
} mt_beside;

/* A tile is `tile` ordinates of M, N, K. A thread has inner[M] * inner[N] atoms of it,
** inner[K] deep. The unit of work is one atom position of C in every thread:
**   unit = im + inner[M] * (tm + tiles[M] * (in + inner[N] * (tn + tiles[N] * l)))
** block b does the units b, b + blocks, ...; for each it goes through K in order: tile by
** tile, inner by inner. Ordinate of M: tm * tile[M] + (inner axes at im) + (thread) +
** (value). */
typedef struct mt_gemm_desc {
  uint32_t op, algo; /* MT_OP_GEMM; MT_ALGO_DESCRIBED, or MT_ALGO_STRIDED: no partition,
                                  ** only size and digits count */
  uint32_t atom; /* mt_mma_atom_number: which instruction; MT_OWN_ATOM: a user's atom */
  uint32_t atom_shape[3]; /* its M, N, K */
  uint32_t threads;       /* of a block */
  uint32_t tile[3], inner[3];
  uint32_t ninner[3]; /* axes of the inner positions, in this order */
  mt_step inner_axis[MT_MAXINNER];
  /* Threads that share an element of C and split K: kthreads of them. nkthr axes over the
  ** thread: step[0] its number among them, step[1] what that adds to its own number;
  ** thread - step[1] is the first of them and nkadd axes give what number j adds. */
  uint32_t kthreads, nkthr, nkadd;
  mt_step kaxis[MT_MAXINNER];
  int64_t size[MT_GEMM_MODES]; /* M, N, K, L */
  int64_t tiles[3];
  mt_part part[MT_PARTS];
} mt_gemm_desc;

/* The one parameter of every kernel of a product, by value: below 4 KiB. */
typedef struct mt_gemm_launch {
  mt_gemm_desc desc;
  double alpha, beta; /* integral where C is of integers; beta 0: C unread */
  void *base[MT_PARTS];
  int64_t offset[MT_PARTS]; /* in elements */
  uint32_t precision;       /* mt_precision: who reads f32 as less looks here */
  /* C = activation(alpha A B + beta C + bias) + residual. */
  uint32_t finishes;   /* there is an epilogue; 0: nothing below counts */
  uint32_t activation; /* mt_activation */
  mt_beside beside[MT_BESIDES];
  void *beside_base[MT_BESIDES]; /* NULL: it is not there */
  int64_t beside_offset[MT_BESIDES];
} mt_gemm_launch;

#endif
