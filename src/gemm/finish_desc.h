/*
** finish_desc.h - epilogues as the families of kernels are given them: shared with CUDA.
** SPDX-License-Identifier: MIT
**
** D = activation(alpha A B + beta C + bias) + residual, at row m, column n and batch l of
** the result as the kernel has it, which may be the transpose.
*/
#ifndef MT_GEMM_FINISH_DESC_H
#define MT_GEMM_FINISH_DESC_H

#include "desc/gemm_desc.h"

typedef struct mt_finishing_side {
  const void *base;  /* NULL: there is none */
  int64_t stride[3]; /* of M, N, the batch; in elements, 0 where all are one */
  int32_t dtype;     /* f16, bf16, f32 or f64 */
} mt_finishing_side;

/* An activation of f32 as kernels compute it, where s(t) = 1 / (1 + 2^t):
**   LINEAR  x                             of x not below `least`
**   GELU    x by the normal distribution
**   SILU    y s(step x) + more            of x not below `least`; y is x, or `times`
**                                         where this is not 0
**   GATE    x s(step x + cube x^3)        of x not below `least`
** ANY, of a kernel: whichever it is told. */
enum { MT_FORM_LINEAR, MT_FORM_GELU, MT_FORM_SILU, MT_FORM_GATE, MT_FORM_ANY };
typedef struct mt_activation_form {
  int32_t form;
  float least, step, cube, times, more;
} mt_activation_form;

typedef struct mt_finishing {
  int32_t activation; /* mt_activation */
  mt_activation_form form;
  mt_finishing_side side[MT_BESIDES];
} mt_finishing;

#endif
