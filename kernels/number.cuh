/*
** number.cuh - elements of tensors as numbers: the floats by their bits.
** SPDX-License-Identifier: MIT
**
** In integers alone, so that a result is the same on every architecture and on the host.
*/
#ifndef NUMBER_CUH
#define NUMBER_CUH

#include "mt_desc.h"

#define MT_INLINE __device__ __forceinline__
#define MT_SHARED_FUNCTION static __device__ __noinline__
#define MT_SHARED __shared__

namespace mt {

MT_INLINE double as_double (uint64_t bits) {
  double v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

MT_INLINE uint64_t bits_of (double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits;
}

/* Bits of exponent and of fraction; finite: there is no infinity, NaN has all bits. */
struct float_format { int exponent, fraction; bool finite; };

/* The floats below 32 bits. */
#define MT_SMALL_FLOATS(X)                                                               \
  X(f16,  5, 10, false)                                                                  \
  X(bf16, 8, 7,  false)                                                                  \
  X(e4m3, 4, 3,  true)                                                                   \
  X(e5m2, 5, 2,  false)

MT_INLINE float_format format_of (uint32_t dtype) {
#define MT_FORMAT(type, exponent, fraction, finite)                                      \
  if (dtype == MT_##type) return {exponent, fraction, finite};
  MT_SMALL_FLOATS(MT_FORMAT)
#undef MT_FORMAT
  return {0, 0, false};
}

MT_INLINE int bias_of (float_format f) { return (1 << (f.exponent - 1)) - 1; }

/* Exact. */
MT_INLINE double read_float (uint32_t dtype, uint32_t bits) {
  const float_format f = format_of(dtype);
  const uint32_t top = (1u << f.exponent) - 1, all = (1u << f.fraction) - 1;
  const uint32_t e = bits >> f.fraction & top, m = bits & all;
  const double sign = bits >> (f.exponent + f.fraction) ? -1 : 1;
  if (e == top && (!f.finite || m == all))
    return sign * as_double((uint64_t)0x7ff << 52 | (uint64_t)m << (52 - f.fraction));
  uint64_t power = (uint64_t)((e ? (int)e : 1) - bias_of(f) - f.fraction + 1023) << 52;
  return sign * as_double(power) * (e ? m + all + 1 : m);
}

/* To nearest even; beyond the largest: infinity, or NaN where there is none. */
MT_INLINE uint32_t write_float (uint32_t dtype, double v) {
  const float_format f = format_of(dtype);
  const uint64_t inf = (((uint64_t)1 << f.exponent) - 1) << f.fraction;
  const uint64_t most = f.finite ? inf + (1u << f.fraction) - 1 : inf;
  const uint64_t bits = bits_of(v), one = (uint64_t)1 << 52;
  const uint32_t sign = (uint32_t)(bits >> 63) << (f.exponent + f.fraction);
  const int e = (int)(bits >> 52 & 0x7ff) - 1023, least = 1 - bias_of(f);
  if (v != v) return sign | (uint32_t)(most | (uint64_t)1 << (f.fraction - 1));
  int drop = 52 - f.fraction + (e < least ? least - e : 0);
  if (drop > 60) drop = 60;
  uint64_t m = (bits & (one - 1)) | one, half = (uint64_t)1 << (drop - 1);
  uint64_t kept = m >> drop, rest = m & (2 * half - 1);
  kept += rest > half || (rest == half && (kept & 1));
  kept += (uint64_t)((e < least ? least : e) + bias_of(f) - 1) << f.fraction;
  return sign | (uint32_t)(kept < most ? kept : most);
}

/* Element i of floats of any type. */
MT_INLINE double read_real (uint32_t dtype, const char *base, int64_t i) {
  if (dtype == MT_f64) return ((const double *)base)[i];
  if (dtype == MT_f32) return ((const float *)base)[i];
  return read_float(dtype, format_of(dtype).exponent + format_of(dtype).fraction < 8
                               ? ((const uint8_t *)base)[i]
                               : ((const uint16_t *)base)[i]);
}

MT_INLINE void write_real (uint32_t dtype, char *base, int64_t i, double v) {
  if (dtype == MT_f64) ((double *)base)[i] = v;
  else if (dtype == MT_f32) ((float *)base)[i] = (float)v;
  else if (format_of(dtype).exponent + format_of(dtype).fraction < 8)
    ((uint8_t *)base)[i] = (uint8_t)write_float(dtype, v);
  else ((uint16_t *)base)[i] = (uint16_t)write_float(dtype, v);
}

} // namespace mt
#endif
