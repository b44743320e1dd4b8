/*
** numbers.h - the instructions of kernels/cast/numbers.cuh as functions of the host.
** SPDX-License-Identifier: MIT
**
** As PTX has them. What is out of range becomes the end of the range. A NaN becomes 0;
** from or to 64 bits only the first bit is set. Between floats it is always the same NaN.
*/
#ifndef SPEC_NUMBERS_H
#define SPEC_NUMBERS_H

#include <math.h>

#include "types/convert.h"

#define MT_INSTRUCTIONS

/* ------------------------------------------------------------------ to integers */

static inline int64_t nearest (double f, double low, double high, int64_t least,
                               int64_t most, int64_t nan) {
  if (f != f) return nan;
  f = nearbyint(f);
  return f <= low ? least : f >= high ? most : (int64_t)f;
}

static inline int32_t __double2int_rn (double f) {
  return (int32_t)nearest(f, INT32_MIN, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN);
}
static inline uint32_t __double2uint_rn (double f) {
  return (uint32_t)nearest(f, 0, UINT32_MAX, 0, UINT32_MAX, INT32_MIN);
}
static inline int64_t __double2ll_rn (double f) {
  return nearest(f, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX, INT64_MIN);
}
static inline uint64_t __double2ull_rn (double f) {
  if (f >= 0x1p63) return f >= 0x1p64 ? UINT64_MAX : (uint64_t)f;
  return (uint64_t)nearest(f, 0, 0x1p63, 0, INT64_MAX, INT64_MIN);
}
static inline int32_t __float2int_rn (float f) { return f != f ? 0 : __double2int_rn(f); }
static inline uint32_t __float2uint_rn (float f) {
  return f != f ? 0 : __double2uint_rn(f);
}
static inline int64_t __float2ll_rn (float f) { return __double2ll_rn(f); }
static inline uint64_t __float2ull_rn (float f) { return __double2ull_rn(f); }

/* ------------------------------------------------------------------ to f32 */

static inline float __ull2float_rz (uint64_t n) {
  const float f = (float)n;
  return (unsigned __int128)f > n ? nextafterf(f, 0) : f;
}
static inline float __ull2float_ru (uint64_t n) {
  const float f = (float)n;
  return (unsigned __int128)f < n ? nextafterf(f, INFINITY) : f;
}
static inline float __uint2float_rz (uint32_t n) { return __ull2float_rz(n); }
static inline float __uint2float_ru (uint32_t n) { return __ull2float_ru(n); }
static inline float __double2float_rn (double d) { return d != d ? NAN : (float)d; }
static inline float __double2float_rz (double d) {
  const float f = __double2float_rn(d);
  return fabs((double)f) > fabs(d) ? nextafterf(f, 0) : f;
}

/* ------------------------------------------------------------------ halves, packed */

namespace mt {

static inline float half_to_float (uint32_t h) {
  const mt_cast_type f16 = MT_CAST_ROW(FLOAT, 2, 5, 10, IEEE);
  const float f = mt_as_float(mt_cast_widen(h & 65535, f16));
  return f != f ? mt_as_float(0x7fffffff) : f;
}
static inline int32_t half_to_int (uint32_t h) {
  return __float2int_rn(half_to_float(h));
}
static inline uint32_t half_to_uint (uint32_t h) {
  return __float2uint_rn(half_to_float(h));
}

static inline uint32_t packed (int32_t a, int32_t b, uint32_t high, int32_t low,
                               int32_t most, int bits) {
  const int32_t x = a < low ? low : a > most ? most : a;
  const int32_t y = b < low ? low : b > most ? most : b;
  const uint32_t mask = (1u << bits) - 1;
  return ((uint32_t)x & mask) | ((uint32_t)y & mask) << bits |
         (bits == 8 ? high << 16 : 0);
}
static inline uint32_t pack_i8 (int32_t a, int32_t b, uint32_t high) {
  return packed(a, b, high, -128, 127, 8);
}
static inline uint32_t pack_u8 (int32_t a, int32_t b, uint32_t high) {
  return packed(a, b, high, 0, 255, 8);
}
static inline uint32_t pack_i16 (int32_t a, int32_t b, uint32_t high) {
  return packed(a, b, high, -32768, 32767, 16);
}
static inline uint32_t pack_u16 (int32_t a, int32_t b, uint32_t high) {
  return packed(a, b, high, 0, 65535, 16);
}

} // namespace mt

#endif
