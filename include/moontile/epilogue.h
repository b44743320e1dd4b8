/*
** epilogue.h - what becomes of a product before it is stored: bias, activation, residual.
** SPDX-License-Identifier: MIT
*/
#ifndef MOONTILE_EPILOGUE_H
#define MOONTILE_EPILOGUE_H

#include "moontile/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of x: RELU max(x, 0); GELU x P(x), P the normal distribution (by erf); GELU_TANH
** x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2; SILU x / (1 + e^-x); SIGMOID
** 1 / (1 + e^-x); TANH. A NaN stays one; infinities become the limits. */
typedef enum mt_activation {
  MT_ACTIVATION_NONE,
  MT_ACTIVATION_RELU,
  MT_ACTIVATION_GELU,
  MT_ACTIVATION_GELU_TANH,
  MT_ACTIVATION_SILU,
  MT_ACTIVATION_SIGMOID,
  MT_ACTIVATION_TANH,
  MT_NACTIVATION
} mt_activation;
/* "none", "relu", "gelu", "gelu_tanh", ...; NULL beyond the last. */
MT_API const char *mt_activation_name (mt_activation a);

/* Which way a bias that is a vector lies: ROW has an element for each column of C, N of
** them, COLUMN one for each row, M of them; AUTO: by its size, where M is not N. */
typedef enum mt_along { MT_ALONG_AUTO, MT_ALONG_ROW, MT_ALONG_COLUMN } mt_along;

/* C = activation(alpha A B + beta C + bias) + residual: bias before the activation,
** as in cuBLASLt's epilogues and in CUTLASS's LinearCombinationBiasElementwise, the
** residual after it, as in CUTLASS's LinearCombinationResidualBlock; beta C is the old C,
** before the activation, as in both. All zeros: C = alpha A B + beta C. Laws:
** (1) C is of f16, bf16, f32 or f64, bias and residual are each of any of these;
** (2) bias: a vector, of M or of N, or, as residual, a tensor of the shape of C: modes of
**     the size of C's, or of size 1, which are the same everywhere, as is what has no
**     mode for the batch; strides may be 0;
** (3) alpha A B + beta C is rounded to f32, or is f64 where C is; what follows is done in
**     that type, or a wider one: an activation of x within 2^-21, or 2^-50 of f64, of the
**     larger of 1 and |x|; the end is rounded to C once;
** (4) bias and residual lie apart from C, or are C itself: then each element is read
**     before it is written. They may overlap A, B and each other.
** Without any K, or with alpha 0, alpha A B is 0. */
typedef struct mt_epilogue {
  mt_activation activation;
  const mt_tensor *bias; /* NULL: none */
  mt_along along;        /* of a bias that is a vector */
  const mt_tensor *residual;
} mt_epilogue;

#ifdef __cplusplus
}
#endif

#endif
