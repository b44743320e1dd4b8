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
#endif

MT_INLINE float sigmoid (float x) {
  return reciprocal(1 + power_of_two(x * -1.44269504088896f));
}

/* X s, where s is 0 at the end of negative numbers. */
MT_INLINE float times_share (float x, float s) { return x < -1e30f ? 0 : x * s; }

/* The share of the normal distribution below x: erfc by Abramowitz and Stegun, 7.1.26,
** whose error is 1.5e-7; z is |x| / sqrt 2, beyond 20 nothing is left. */
MT_INLINE float normal_share (float x) {
  const float z = fminf(fabsf(x), 20.0f) * 0.70710678118654752f;
  const float t = reciprocal(fmaf(0.3275911f, z, 1));
  float p = fmaf(0.5307027145f, t, -0.7265760135f);
  p = fmaf(p, t, 0.7107068705f);
  p = fmaf(p, t, -0.142248368f);
  p = fmaf(p, t, 0.127414796f);
  const float below = p * t * power_of_two(z * z * -1.44269504088896f);
  return x < 0 ? below : 1 - below;
}

template <uint32_t ACTIVATION> MT_INLINE float activated (float x) {
  if constexpr (ACTIVATION == MT_ACTIVATION_RELU) return x < 0 ? 0 : x;
  if constexpr (ACTIVATION == MT_ACTIVATION_GELU) return times_share(x, normal_share(x));
  if constexpr (ACTIVATION == MT_ACTIVATION_GELU_TANH)
    return times_share(x, sigmoid(x * fmaf(x * x, 0.0713548162726f, 1.59576912160573f)));
  if constexpr (ACTIVATION == MT_ACTIVATION_SILU) return times_share(x, sigmoid(x));
  if constexpr (ACTIVATION == MT_ACTIVATION_SIGMOID) return sigmoid(x);
  if constexpr (ACTIVATION == MT_ACTIVATION_TANH) return fmaf(2, sigmoid(2 * x), -1);
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
