/*
** pipeline.h - private: a described kernel that no row is, beside its product.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_GEMM_PIPELINE_H
#define MT_GEMM_PIPELINE_H

#include "core/error.h"
#include "desc/pipeline_desc.h"

/* What a description becomes before there are tensors: its tables in the host's memory
** (`words` of them, to which pipe points), and what pipe does not say. */
typedef struct mt_pipeline_tables {
  mt_pipeline pipe; /* without `repeat` and `tiles` */
  const uint32_t *table;
  size_t words;
  uint32_t tile[3];  /* M, N, K */
  uint32_t sum_bits; /* of an accumulator */
  int along[2];      /* the mode that an access of A, of B runs along; -1: it has one
                      ** element */
} mt_pipeline_tables;

/* l->pipe, behind the product, which is described: cp.async stays where elements of an
** access lie together in the tensor. Errors: MT_EUNSUPPORTED (sums have no room). */
mt_status mt_gemm_pipeline (mt_pipeline_launch *l, const mt_pipeline_tables *t,
                            mt_err *err);
/* The tables begin elsewhere: in the memory of a device. */
void mt_pipeline_move (mt_pipeline *pipe, const uint32_t *from, const uint32_t *to);

#endif
