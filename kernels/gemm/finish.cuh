/*
** finish.cuh - epilogues of the families: an element of the result, what is read there.
** SPDX-License-Identifier: MIT
**
** Which activation it is, and the types of bias and residual, are the same for all
** threads. That of f64 is long: it is called.
*/
#ifndef FINISH_CUH
#define FINISH_CUH

#include "desc/epilogue_desc.h"
#include "gemm/finish_desc.h"
#include "kernels/gemm/activation.cuh"

namespace mt {

/* The bits of a sum. */
MT_INLINE uint32_t bits_of (float x) { return mt_float_as(x); }
MT_INLINE uint32_t bits_of (int32_t x) { return (uint32_t)x; }

/* The number that bits of f16 are; two numbers as bits of f16, or of bf16, the first in
** the lower half. */
#ifdef __CUDACC__
MT_INLINE float float_of (uint32_t bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((uint16_t)bits));
  return x;
}
MT_INLINE uint32_t pair_of (int32_t dtype, float x, float y) {
  uint32_t r;
  if (dtype == MT_f16) asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
  else asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
  return r;
}
#else
MT_INLINE float float_of (uint32_t bits) { return (float)read_float(MT_f16, bits); }
MT_INLINE uint32_t pair_of (int32_t dtype, float x, float y) {
  return write_float((uint32_t)dtype, x) | write_float((uint32_t)dtype, y) << 16;
}
#endif

/* An element of f16, bf16, f32 or f64. */
MT_INLINE float read_side (int32_t dtype, const void *base, int64_t at) {
  if (dtype == MT_f32) return ((const float *)base)[at];
  if (dtype == MT_f64) return (float)((const double *)base)[at];
  const uint32_t bits = ((const uint16_t *)base)[at];
  return dtype == MT_bf16 ? mt_as_float(bits << 16) : float_of(bits);
}

MT_INLINE int64_t place_of (const int64_t stride[3], int m, int n, int l) {
  return m * stride[0] + n * stride[1] + l * stride[2];
}

MT_INLINE double side_f64 (const mt_finishing_side &s, int m, int n, int l) {
  if (s.base == nullptr) return 0;
  const int64_t at = place_of(s.stride, m, n, l);
  return s.dtype == MT_f64 ? ((const double *)s.base)[at] :
                             (double)read_side(s.dtype, s.base, at);
}

MT_SHARED_FUNCTION double finish_f64 (int32_t activation, double x, double residual) {
  return mt_activate_f64((uint32_t)activation, x) + residual;
}

/* D of f64. */
template <typename T, typename SUM>
MT_INLINE void finish_double (const T &p, SUM sum, int m, int n, int l) {
  double *c = (double *)p.c + place_of(p.stride, m, n, l);
  double x = p.alpha * (double)sum;
  if (p.beta != 0) x = fma(p.beta, *c, x);
  x += side_f64(p.finish.side[MT_BIAS], m, n, l);
  const double residual = side_f64(p.finish.side[MT_RESIDUAL], m, n, l);
  *c = finish_f64(p.finish.activation, x, residual);
}

} // namespace mt
#endif
