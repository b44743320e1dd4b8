/*
** activation.cuh - activations of f32 on a GPU, a few numbers at a time.
** SPDX-License-Identifier: MIT
**
** Within 2^-21 of the larger of 1 and |x|, as moontile/epilogue.h says: that leaves room
** for the instructions that approximate e^x and 1 / x. Ends: a NaN stays one, infinities
** become the limits.
*/
#ifndef ACTIVATION_CUH
#define ACTIVATION_CUH

#include "desc/epilogue_desc.h"
#include "kernels/gemm/number.cuh"

namespace mt {

#ifndef __CUDACC__
MT_INLINE float power_of_two (float x) { return exp2f(x); }
MT_INLINE float reciprocal (float x) { return 1 / x; }
MT_INLINE float at_least (float x, float least) { return x < least ? least : x; }
#else
MT_INLINE float power_of_two (float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
MT_INLINE float reciprocal (float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
MT_INLINE float at_least (float x, float least) { /* of a NaN: a NaN */
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(least));
  return y;
}
#endif

/* 1 / (1 + 2^t). */
MT_INLINE float share_of (float t) { return reciprocal(1 + power_of_two(t)); }

/* The part of the normal distribution that is above z, by z, of z from 0 on: z 2^P(z),
** where P was fitted so that this is right within 9e-8; beyond 6 nothing is left. */
MT_INLINE float normal_rest (float z) {
  float p = fmaf(3.3092838e-5f, z, -7.6921989e-4f);
  p = fmaf(p, z, 8.0807172e-3f);
  p = fmaf(p, z, -5.3412106e-2f);
  p = fmaf(p, z, -4.5877096e-1f);
  p = fmaf(p, z, -1.1512017f);
  p = fmaf(p, z, -9.9999309e-1f);
  return z * power_of_two(p);
}
MT_INLINE float gelu (float x) {
  return at_least(x, 0) - normal_rest(fminf(fabsf(x), 12));
}

template <uint32_t ACTIVATION> MT_INLINE float activated (float x) {
  if constexpr (ACTIVATION == MT_ACTIVATION_RELU) return at_least(x, 0);
  if constexpr (ACTIVATION == MT_ACTIVATION_GELU) return gelu(x);
  if constexpr (ACTIVATION == MT_ACTIVATION_GELU_TANH) {
    x = at_least(x, -9);
    return x * share_of(x * fmaf(x * x, -0.102943240f, -2.30220819f));
  }
  if constexpr (ACTIVATION == MT_ACTIVATION_SILU) {
    x = at_least(x, -100);
    return x * share_of(x * -1.44269504f);
  }
  if constexpr (ACTIVATION == MT_ACTIVATION_SIGMOID) return share_of(x * -1.44269504f);
  if constexpr (ACTIVATION == MT_ACTIVATION_TANH)
    return fmaf(2, share_of(x * -2.88539008f), -1);
  return x;
}

template <uint32_t ACTIVATION, int N> MT_INLINE void activate_all (float *x) {
#pragma unroll
  for (int i = 0; i < N; i++) x[i] = activated<ACTIVATION>(x[i]);
}

/* N numbers in place. Which activation it is, is the same for all threads. */
template <int N> MT_INLINE void activate (uint32_t activation, float *x) {
#define MT_CASE(name)                                                                    \
  case MT_ACTIVATION_##name: activate_all<MT_ACTIVATION_##name, N>(x); break;
  switch (activation) {
    MT_CASE(RELU)
    MT_CASE(GELU)
    MT_CASE(GELU_TANH)
    MT_CASE(SILU)
    MT_CASE(SIGMOID)
    MT_CASE(TANH)
    default: break;
  }
#undef MT_CASE
}

} // namespace mt
#endif
