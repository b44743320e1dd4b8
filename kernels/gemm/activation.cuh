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

#include "gemm/finish_desc.h"
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

template <int FORM> MT_INLINE float activate_one (const mt_activation_form &f, float x) {
  if constexpr (FORM == MT_FORM_GELU) return gelu(x);
  x = at_least(x, f.least);
  if constexpr (FORM == MT_FORM_SILU)
    return fmaf(share_of(x * f.step), f.times != 0 ? f.times : x, f.more);
  if constexpr (FORM == MT_FORM_GATE)
    return x * share_of(x * fmaf(x * x, f.cube, f.step));
  return x;
}

template <int N, int FORM>
MT_INLINE void activate_all (const mt_activation_form &f, float *x) {
  if (FORM == MT_FORM_LINEAR && f.least == -INFINITY) return;
#pragma unroll
  for (int i = 0; i < N; i++) x[i] = activate_one<FORM>(f, x[i]);
}

/* N numbers in place, by this form or by any. The form is the same for all threads. */
template <int N, int FORM = MT_FORM_ANY>
MT_INLINE void activate (const mt_activation_form &f, float *x) {
  if constexpr (FORM != MT_FORM_ANY) activate_all<N, FORM>(f, x);
  else if (f.form == MT_FORM_LINEAR) activate_all<N, MT_FORM_LINEAR>(f, x);
  else if (f.form == MT_FORM_GELU) activate_all<N, MT_FORM_GELU>(f, x);
  else if (f.form == MT_FORM_SILU) activate_all<N, MT_FORM_SILU>(f, x);
  else activate_all<N, MT_FORM_GATE>(f, x);
}

} // namespace mt
#endif
