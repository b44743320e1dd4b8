/*
** pack.h - private: operands that are packed by rows, both in one launch.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_GEMM_PACK_H
#define MT_GEMM_PACK_H

#include <stdbool.h>
#include <stddef.h>

#include "gemm/pack_desc.h"

typedef struct mt_matrix mt_matrix;

/* A row of kernels/gemm/pack.def. */
typedef struct mt_pack_row {
  const char *name;
  uint32_t unroll; /* vectors of a thread */
} mt_pack_row;
extern const mt_pack_row mt_pack_rows[];
extern const size_t mt_npack_rows;

/* Makes x the packed matrix, which begins at 0, in rows of the mode that is contiguous:
** the second, or, if it is wide enough to stay so and `first` allows it, the first. The
** operand says how, without `to` and blocks. False: it has no such rows, or too many; x
** is as it was. */
bool mt_pack_matrix (mt_pack_operand *out, mt_matrix *x, bool first);

/* The blocks of a launch for operands that are filled, of which all == 0 is none, on so
** many multiprocessors; the row of its kernel. */
size_t mt_pack_shape (mt_pack_launch *l, int cores);

/* Bytes that the packed operand takes. */
size_t mt_pack_bytes (const mt_pack_operand *o);

static inline bool mt_packs (const mt_pack_launch *l) {
  return l->operand[0].all != 0 || l->operand[1].all != 0;
}

#endif
