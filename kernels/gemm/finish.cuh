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

/* Alpha A B + beta C + bias. */
template <typename T>
MT_INLINE float begin_float (const T &p, int32_t dtype, float sum, int m, int n, int l) {
  float x = (float)p.alpha * sum;
  if (p.beta != 0)
    x = fmaf((float)p.beta, read_side(dtype, p.c, place_of(p.stride, m, n, l)), x);
  return x + side_f32(p.finish.side[MT_BIAS], m, n, l);
}

/* D of MANY sums of column n, a real one, at row m and on, so many apart, where D is no
** f64. All is read before the first is written: what is read is on its way together. The
** long arithmetic is there once, its operands move up. INLINED: no call. */
template <int MANY, bool INLINED, typename T>
MT_INLINE void finish_column (const T &p, int32_t dtype, const float *sum, int m,
                              int apart, int n, int l) {
  float x[MANY], residual[MANY];
#pragma unroll
  for (int i = 0; i < MANY; i++) {
    const int row = m + i * apart;
    x[i] = residual[i] = 0;
    if (row >= p.size[0]) continue;
    x[i] = begin_float(p, dtype, sum[i], row, n, l);
    residual[i] = side_f32(p.finish.side[MT_RESIDUAL], row, n, l);
  }
#pragma unroll 1
  for (int i = 0, row = m; i < MANY && row < p.size[0]; i++, row += apart) {
    float y;
    if constexpr (INLINED)
      y = mt_activate_f32((uint32_t)p.finish.activation, x[0]) + residual[0];
    else y = finish_f32(p.finish.activation, x[0], residual[0]);
    write_result(dtype, p.c, place_of(p.stride, row, n, l), y);
#pragma unroll
    for (int k = 1; k < MANY; k++) x[k - 1] = x[k], residual[k - 1] = residual[k];
  }
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
