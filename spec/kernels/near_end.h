/*
** near_end.h - whether an element behind an epilogue is what moontile/epilogue.h promises.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_SPEC_NEAR_END_H
#define MT_SPEC_NEAR_END_H

#include <math.h>
#include <stdbool.h>

#include "moontile/epilogue.h"

static inline int mt_digits_of (mt_dtype type) {
  return type == MT_bf16 ? 8 : type == MT_f16 ? 11 : type == MT_f32 ? 24 : 53;
}

/* Within the distance of two numbers of the type: it was rounded twice. */
static inline bool mt_near_twice (mt_dtype type, double got, double want) {
  return fabs(got - want) <= ldexp(fabs(want), 1 - mt_digits_of(type));
}

/* Exact, where nothing but maximum and sums are made; of other activations within 2^-21
** of the larger of 1 and the number, and then rounded to its type. */
static inline bool mt_near_end (uint32_t activation, mt_dtype type, double got,
                                double want) {
  const int digits = mt_digits_of(type);
  const double size = fabs(want) > 1 ? fabs(want) : 1;
  if (got == want) return true;
  if (activation == MT_ACTIVATION_NONE || activation == MT_ACTIVATION_RELU) return false;
  return fabs(got - want) <= size * 0x1p-21 + ldexp(fabs(want), 1 - digits);
}

#endif
