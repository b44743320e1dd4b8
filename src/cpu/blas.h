/*
** blas.h - private: the system's BLAS, opened at run time.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_CPU_BLAS_H
#define MT_CPU_BLAS_H

#include "plan/device.h"

typedef struct mt_blas mt_blas;

/* What a device knows of the library with this path: nothing is opened yet. NULL means
** libblas.so.3, "" none. */
mt_status mt_blas_new (mt_blas **out, const mt_device *d, const char *path, mt_err *err);
void mt_blas_free (const mt_device *d, mt_blas *b);

/* One call for each index of the batch: sgemm or dgemm. */
typedef struct mt_blas_call {
  bool twofold; /* f64 */
  bool turned;  /* the transposed product: A and B are exchanged */
  char trans[2];
  int size[3], ld[3];              /* M, N, K of the call; of A, B, C of the call */
  int64_t batches, step[MT_PARTS]; /* elements, of A, B, C of the product */
} mt_blas_call;

/* Whether a product is what a BLAS computes: f32 or f64 alone, plain matrices of which
** one side lies together. `why` says what is not. */
bool mt_blas_fits (mt_blas_call *out, const mt_gemm_desc *d, mt_refusals *why);
/* Whether the device was opened with this path: the library is taken as it is. */
bool mt_blas_is_named (const mt_blas *b);
/* Whether there is a library worth calling: one with its own inner loops (OpenBLAS, BLIS,
** MKL), or the one that was named. It is opened at the first question. */
bool mt_blas_found (mt_blas *b, mt_refusals *why);
/* What was measured for f32, f64: operations a second of the processor's own product and
** of this; 0: nothing yet. */
double *mt_blas_measured (mt_blas *b, bool twofold);
/* In calls of a few milliseconds each. Errors: MT_ESTOPPED between two of them. */
mt_status mt_blas_run (mt_blas *b, const mt_blas_call *c, const mt_gemm_launch *l,
                       mt_err *err);

#endif
