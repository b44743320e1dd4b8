/*
** epilogue_desc.h - private: the arithmetic of epilogues, the same text in C as in CUDA.
** SPDX-License-Identifier: MIT
**
** Each form is chosen for its tails: what is small is small by a factor, not by a
** difference, and an infinity divided by one does not come up but of x itself.
*/
#ifndef MT_DESC_EPILOGUE_DESC_H
#define MT_DESC_EPILOGUE_DESC_H

#include <math.h>

#include "moontile/epilogue.h"
#include "types/convert.h"

/* x / (1 + e^-u); of x = -inf its limit, 0. */
#define MT_SOFT(x, u, exp, most) ((x) < -(most) ? 0 : (x) / (1 + exp(-(u))))

#define MT_ACTIVATE(name, type, exp, erfc, tanh, most)                                   \
  MT_CAST_FN type name(uint32_t activation, type x) {                                    \
    const type half = (type)0.5, root_half = (type)0.70710678118654752440;               \
    const type twice = (type)1.59576912160573071176; /* 2 sqrt(2 / pi) */                \
    const type cubic = (type)(1.59576912160573071176 * 0.044715);                        \
    switch (activation) {                                                                \
      case MT_ACTIVATION_RELU: return x < 0 ? 0 : x;                                     \
      case MT_ACTIVATION_GELU: return x < -(most) ? 0 : x * half * erfc(-x * root_half); \
      case MT_ACTIVATION_GELU_TANH:                                                      \
        return MT_SOFT(x, x * (twice + cubic * x * x), exp, most);                       \
      case MT_ACTIVATION_SILU: return MT_SOFT(x, x, exp, most);                          \
      case MT_ACTIVATION_SIGMOID: return 1 / (1 + exp(-x));                              \
      case MT_ACTIVATION_TANH: return tanh(x);                                           \
      default: return x;                                                                 \
    }                                                                                    \
  }
MT_ACTIVATE(mt_activate_f32, float, expf, erfcf, tanhf, 0x1.fffffep+127f)
MT_ACTIVATE(mt_activate_f64, double, exp, erfc, tanh, 0x1.fffffffffffffp+1023)
#undef MT_ACTIVATE
#undef MT_SOFT

/* Of v = alpha A B + beta C: in f64 where C is, else in f32. */
MT_CAST_FN double mt_finish_sum (uint32_t activation, bool in_f64, double v, double bias,
                                 double residual) {
  if (in_f64) return mt_activate_f64(activation, v + bias) + residual;
  return mt_activate_f32(activation, (float)v + (float)bias) + (float)residual;
}

#endif
