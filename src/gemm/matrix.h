/*
** matrix.h - private: products of matrices, as the families of fast kernels see them.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_GEMM_MATRIX_H
#define MT_GEMM_MATRIX_H

#include "moontile/types.h"
#include "gemm/finish_desc.h"

/* Why a product is none for a family: room for a line. */
typedef struct mt_reason {
  char *text;
  size_t size;
} mt_reason;

/* Writes the reason; false. */
bool mt_refuse (const mt_reason *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* An operand as a matrix with a batch: strides of its two modes and of the batch, 0 where
** the extent is 1. */
typedef struct mt_matrix {
  const char *name;
  int part; /* MT_A, MT_B or MT_C: of which tensor */
  mt_dtype dtype;
  char *base;
  int64_t extent[2], stride[3], batch;
} mt_matrix;

/* The tensor of a part; its axes, the batch among them, which must be one a mode. */
bool mt_read_matrix (mt_matrix *x, const mt_gemm_launch *l, int part, const mt_reason *r);

/* Whether no mode is empty, nor what is real of an operand; extents of C are below
** 2^31. */
bool mt_has_elements (const mt_matrix x[MT_PARTS], const mt_gemm_launch *l,
                      const mt_reason *r);

/* The operands of a product, if all are matrices and have elements. */
bool mt_read_product (mt_matrix x[MT_PARTS], const mt_gemm_launch *l, const mt_reason *r);

/* C' = B A': A and B change places, C becomes its transpose, which is the same memory. */
void mt_turn_product (mt_matrix x[MT_PARTS]);

/* The epilogue of a product of matrices; `turned`: of the transpose. False: what it reads
** is no matrix. */
bool mt_read_finish (mt_finishing *out, const mt_gemm_launch *l, bool turned,
                     const mt_reason *r);

/* An activation as kernels compute it. */
mt_activation_form mt_form_of (uint32_t activation);

/* Whether elements of the mode lie side by side. */
static inline bool mt_is_run (const mt_matrix *x, int mode) {
  return x->extent[mode] == 1 || x->stride[mode] == 1;
}

#endif
