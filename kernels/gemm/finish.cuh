/*
** finish.cuh - epilogues of the families: an element of the result, what is read there.
** SPDX-License-Identifier: MIT
**
** Which activation it is, and the types of bias and residual, are the same for all
** threads. The arithmetic is long: it is called, unless sums wait in registers.
*/
#ifndef FINISH_CUH
#define FINISH_CUH

#include "desc/epilogue_desc.h"
#include "gemm/finish_desc.h"
#include "kernels/gemm/number.cuh"

namespace mt {

/* An element of f16, bf16, f32 or f64, and a number as one. */
MT_INLINE float read_side (int32_t dtype, const void *base, int64_t at) {
  if (dtype == MT_f32) return ((const float *)base)[at];
  if (dtype == MT_f64) return (float)((const double *)base)[at];
  const uint32_t bits = ((const uint16_t *)base)[at];
  if (dtype == MT_bf16) return mt_as_float(bits << 16);
#ifndef __CUDACC__
  return (float)read_float(MT_f16, bits);
#else
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((uint16_t)bits));
  return x;
#endif
}

MT_INLINE void write_result (int32_t dtype, void *base, int64_t at, float x) {
  if (dtype == MT_f32) {
    ((float *)base)[at] = x;
    return;
  }
#ifndef __CUDACC__
  const uint16_t bits = (uint16_t)write_float(dtype, x);
#else
  uint16_t bits;
  if (dtype == MT_f16) asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  else asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
#endif
  ((uint16_t *)base)[at] = bits;
}

MT_INLINE int64_t place_of (const int64_t stride[3], int m, int n, int l) {
  return m * stride[0] + n * stride[1] + l * stride[2];
}

MT_INLINE float side_f32 (const mt_finishing_side &s, int m, int n, int l) {
  return s.base ? read_side(s.dtype, s.base, place_of(s.stride, m, n, l)) : 0;
}
MT_INLINE double side_f64 (const mt_finishing_side &s, int m, int n, int l) {
  if (s.base == nullptr) return 0;
  const int64_t at = place_of(s.stride, m, n, l);
  return s.dtype == MT_f64 ? ((const double *)s.base)[at] :
                             (double)read_side(s.dtype, s.base, at);
}

MT_SHARED_FUNCTION float finish_f32 (int32_t activation, float x, float residual) {
  return mt_activate_f32((uint32_t)activation, x) + residual;
}
MT_SHARED_FUNCTION double finish_f64 (int32_t activation, double x, double residual) {
  return mt_activate_f64((uint32_t)activation, x) + residual;
}

/* D of a sum at (m,n,l), which is a real one, where it is no f64. INLINED: no call. */
template <bool INLINED, typename T>
MT_INLINE void finish_float (const T &p, int32_t dtype, float sum, int m, int n, int l) {
  const int64_t at = place_of(p.stride, m, n, l);
  float x = (float)p.alpha * sum;
  if (p.beta != 0) x = fmaf((float)p.beta, read_side(dtype, p.c, at), x);
  x += side_f32(p.finish.side[MT_BIAS], m, n, l);
  const float residual = side_f32(p.finish.side[MT_RESIDUAL], m, n, l);
  if constexpr (INLINED) x = mt_activate_f32((uint32_t)p.finish.activation, x) + residual;
  else x = finish_f32(p.finish.activation, x, residual);
  write_result(dtype, p.c, at, x);
}

/* D of a sum at (m,n,l), which is a real one. T: a launch of a family, which says alpha
** and beta, where C is, its type and strides; C is read before it is written. */
template <typename T, typename SUM>
MT_INLINE void finish (const T &p, int32_t dtype, SUM sum, int m, int n, int l) {
  if (dtype == MT_f64) {
    double *c = (double *)p.c + place_of(p.stride, m, n, l);
    double x = p.alpha * (double)sum;
    if (p.beta != 0) x = fma(p.beta, *c, x);
    x += side_f64(p.finish.side[MT_BIAS], m, n, l);
    const double residual = side_f64(p.finish.side[MT_RESIDUAL], m, n, l);
    *c = finish_f64(p.finish.activation, x, residual);
  } else finish_float<false>(p, dtype, (float)sum, m, n, l);
}

} // namespace mt
#endif
