/*
** gemm.h - private: the processor's own product, without a partition.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_CPU_GEMM_H
#define MT_CPU_GEMM_H

#include "cpu/blas.h"
#include "host/pool.h"

typedef struct mt_cpu_gemm mt_cpu_gemm;

/* For the tensors' half of a launch: sizes, digits, dtypes, alpha, beta. Its memory, a
** few MiB at most and none of it the size of an operand, comes from the device's
** allocator. Errors: MT_EUNSUPPORTED (floats to a C of integers, C of bool), MT_ENOMEM.
** `why` receives what was refused. */
mt_status mt_cpu_gemm_new (mt_cpu_gemm **out, mt_device *d, const mt_gemm_launch *l,
                           mt_refusals *why, mt_err *err);
/* C = alpha A B + beta C on all threads of the pool; bases and offsets are those of `l`.
** (1) Of a C of integers each element is exact, saturated;
** (2) of floats: products are added in f64 if an operand or C is f64 (or an operand has
**     integers of 32 bits and more), else in f32; the result is rounded to C once;
** (3) each element is the same whatever the number of threads and its neighbours
**     (a BLAS has its own order of sums);
** (4) beta 0: C is not read; alpha 0 or K = 0: A and B are not read.
** Allocates nothing. Errors: MT_ESTOPPED. */
mt_status mt_cpu_gemm_run (mt_cpu_gemm *g, const mt_gemm_launch *l, mt_pool *pool,
                           mt_err *err);
void mt_cpu_gemm_free (mt_device *d, mt_cpu_gemm *g);

/* What runs it, as a kernel's name: "gemm_f32_avx2", "gemm_blas". */
const char *mt_cpu_gemm_name (const mt_cpu_gemm *g);

/* Like mt_cpu_gemm_new, never by a BLAS. */
mt_status mt_cpu_gemm_native (mt_cpu_gemm **out, mt_device *d, const mt_gemm_launch *l,
                              mt_err *err);
/* Whether a BLAS does it: the one that the device was opened with, or the system's where
** it was measured to be faster, which is done at the first question. */
mt_status mt_cpu_wants_blas (bool *out, mt_blas_call *call, mt_device *d,
                             const mt_gemm_launch *l, mt_refusals *why, mt_err *err);

#endif
