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

/* A tile's part of a product: tile[j][i] = sum over k of a[k][i] * b[k][j]
** (+ tile[j][i] unless `fresh`), the sum made from the first k < depth on. Steps and
** pitch are elements; a and tile are aligned to theirs. */
typedef struct mt_steps {
  int64_t depth;
  const void *a, *b;
  int64_t a_step; /* from k to k + 1 */
  int64_t pitch;  /* of b[columns][pitch], rows, or of b[depth][pitch], all of n */
  void *tile;
  int64_t tile_step;     /* from j to j + 1 */
  int64_t rows, columns; /* that are read and written; the last vector may be a part */
  bool whole;            /* the tile has room for whole vectors */
  bool fresh;
} mt_steps;
typedef void mt_micro_run (const mt_steps *s);

typedef struct mt_micro {
  const char *name;
  mt_acc acc;
  int bytes; /* of an element of the panels */
  int m, n, depth, vectors;
  mt_micro_run *run[2], *rows[2]; /* b is rows; NULL: there is none. [1]: of columns up
                                  ** to n / 2 */
  mt_micro_run *copy;             /* of a to a panel at `tile`; NULL: there is none */
  int sum;                        /* bytes of an element of the tile */
  bool masks;                     /* m may be any; else only whole vectors */
} mt_micro;

enum { MT_PANEL_ALIGN = 64, MT_MAXTILE = 4096 /* bytes */, MT_MAXWIDTH = 48 /* m, n */ };

/* The best that this processor has, but for WIDE. */
const mt_micro *mt_micro_choose (mt_acc acc);
/* That of as many vectors as so many rows of its tile need. */
static inline const mt_micro *mt_micro_narrow (const mt_micro *u, int64_t rows) {
  while (u->vectors > 1 && u[1].m >= rows) u++;
  return u;
}
/* That of a single vector and more columns; NULL: there is none. */
const mt_micro *mt_micro_thin (const mt_micro *u);

#endif
