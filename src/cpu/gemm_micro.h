/*
** gemm_micro.h - private: the inner loops of the processor's own product.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_CPU_GEMM_MICRO_H
#define MT_CPU_GEMM_MICRO_H

#include "core/error.h"

/* What products are added up in. Integers: modulo 2^32, 2^64, which are then numbers with
** a sign; WIDE: 256 bits. */
typedef enum mt_acc {
  MT_ACC_F32,
  MT_ACC_F64,
  MT_ACC_U32,
  MT_ACC_U64,
  MT_ACC_WIDE,
  MT_NACC
} mt_acc;

/* For panels a[depth][m] and b[depth][n], tile[n][m]:
**   tile[j][i] = sum over k of a[k][i] * b[k][j]   (+ tile[j][i] unless `fresh`),
** the sum made from the first k on. */
typedef void mt_micro_run (int64_t depth, const void *a, const void *b, void *tile,
                           bool fresh);

/* The same of rows b[n][pitch] of `depth` elements; the same sums. */
typedef void mt_micro_rows (int64_t depth, const void *a, const void *b, int64_t pitch,
                            void *tile, bool fresh);

typedef struct mt_micro {
  const char *name;
  mt_acc acc;
  int bytes; /* of an element of the panels */
  int m, n, depth, vectors;
  mt_micro_run *run;   /* panels and tile are aligned to MT_PANEL_ALIGN */
  mt_micro_rows *rows; /* b is aligned to its elements; NULL: there is none */
  int sum;             /* bytes of an element of the tile */
} mt_micro;

enum { MT_PANEL_ALIGN = 64, MT_MAXTILE = 4096 /* bytes */ };

/* The best that this processor has, but for WIDE. */
const mt_micro *mt_micro_choose (mt_acc acc);
/* That of a single vector beside it; NULL: there is none. */
const mt_micro *mt_micro_thin (const mt_micro *u);

#endif
