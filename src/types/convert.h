/*
** convert.h - private: one element as an element of another type, the same bits in C as
** in CUDA.
** SPDX-License-Identifier: MIT
**
** A number becomes the nearest that the type has, ties to even. So
** (1) float to float: beyond the largest lies infinity, or NaN where there is none; a NaN
**     stays one, with its sign and what fits of its payload;
** (2) to an integer: what is out of range becomes the end of the range; NaN becomes 0;
** (3) to bool: whether it is not 0 (a NaN is not); from bool: 0 or 1;
**     any byte but 0 is 1.
** There are two steps: loading, to a carrier that holds the number exactly, and storing,
** which rounds once. Floats are rounded in integers, or by one addition to a number whose
** last bit is that of the result. Carriers and elements are their bits.
*/
#ifndef MT_TYPES_CONVERT_H
#define MT_TYPES_CONVERT_H

#include <string.h>

#include "moontile/types.h"

#ifdef __CUDACC__
#define MT_CAST_FN static __device__ __forceinline__
#else
#ifdef __GNUC__ /* types are constants where it counts */
#define MT_CAST_FN static inline __attribute__((always_inline))
#else
#define MT_CAST_FN static inline
#endif
#endif

enum { MT_KIND_BOOL, MT_KIND_INT, MT_KIND_UINT, MT_KIND_FLOAT };

/* What the largest exponent of a float has: infinity and NaNs; numbers, but all ones are
** NaN; numbers. */
typedef enum mt_float_top { MT_TOP_IEEE, MT_TOP_ONES, MT_TOP_FINITE } mt_float_top;

/* e, m: bits of a float's exponent and fraction; nan: its only NaN is all ones, and there
** is no infinity. */
typedef struct mt_cast_type {
  uint8_t kind, bytes, e, m, nan;
} mt_cast_type;

/* Of a row of moontile/dtypes.def. */
#define MT_CAST_ROW(kind, bytes, e, m, top)                                              \
  { MT_KIND_##kind, bytes, e, m, MT_TOP_##top == MT_TOP_ONES }

MT_CAST_FN mt_cast_type mt_cast_type_of (uint32_t dtype) {
#define MT_DTYPE(name, kind, bytes, type, element, e, m, top, ...)                       \
  const mt_cast_type of_##name = MT_CAST_ROW(kind, bytes, e, m, top);                    \
  if (dtype == MT_##name) return of_##name;
#include "moontile/dtypes.def"
  return of_bool;
}

/* ---------------------------------------------------------------- bits */

MT_CAST_FN uint32_t mt_float_as (float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}
MT_CAST_FN float mt_as_float (uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}
MT_CAST_FN uint64_t mt_double_as (double f) {
  uint64_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}
MT_CAST_FN double mt_as_double (uint64_t bits) {
  double f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

MT_CAST_FN int mt_cast_bias (mt_cast_type t) { return (1 << (t.e - 1)) - 1; }

/* The first code, without its sign, that is no finite number: infinity, or the NaN. */
MT_CAST_FN uint32_t mt_cast_end (mt_cast_type t) {
  return t.nan ? (1u << (t.e + t.m)) - 1 : ((1u << t.e) - 1) << t.m;
}

/* ---------------------------------------------------------------- float to float */

/* A float below 32 bits as a f32. */
MT_CAST_FN uint32_t mt_cast_widen (uint32_t bits, mt_cast_type t) {
  if (t.e == 8) return bits << (23 - t.m);
  int bias = mt_cast_bias(t);
  uint32_t sign = bits >> (t.e + t.m) << 31, code = bits & ((1u << (t.e + t.m)) - 1);
  uint32_t normal = (code << (23 - t.m)) + ((uint32_t)(127 - bias) << 23);
  uint32_t special = 0x7f800000 | (code & ((1u << t.m) - 1)) << (23 - t.m);
  float last = mt_as_float((uint32_t)(127 + 1 - bias - t.m) << 23); /* the smallest */
  uint32_t small = mt_float_as((float)(int32_t)code * last);
  return sign | (code >> t.m == 0 ? small : code >= mt_cast_end(t) ? special : normal);
}

/* f32 to f64. */
MT_CAST_FN uint64_t mt_cast_double (uint32_t x) {
  uint32_t a = x & 0x7fffffff;
  uint64_t special = (uint64_t)0x7ff << 52 | (uint64_t)(a & 0x7fffff) << 29;
  uint64_t number = mt_double_as((double)mt_as_float(a));
  return (uint64_t)(x >> 31) << 63 | (a >= 0x7f800000 ? special : number);
}

/* A NaN as one of a float below 32 bits, without its sign. */
MT_CAST_FN uint32_t mt_cast_nan (uint32_t x, mt_cast_type t) {
  uint32_t end = mt_cast_end(t), payload = (x & 0x7fffff) >> (23 - t.m);
  return t.nan ? end : end | (payload ? payload : 1u << (t.m - 1));
}

/* f32 to a float below 32 bits. */
MT_CAST_FN uint32_t mt_cast_narrow (uint32_t x, mt_cast_type t) {
  const uint32_t inf = 0x7f800000, end = mt_cast_end(t), shift = 23u - t.m;
  uint32_t a = x & 0x7fffffff, sign = x >> 31 << (t.e + t.m);
  uint32_t even = (a >> shift & 1) + (1u << (shift - 1)) - 1;
  uint32_t code = (a - ((uint32_t)(127 - mt_cast_bias(t)) << 23) + even) >> shift;
  if (t.e < 8) { /* below the normal range: the addition rounds */
    uint32_t least = (uint32_t)(128 - mt_cast_bias(t)) << 23, one = least + (shift << 23);
    uint32_t small = mt_float_as(mt_as_float(a) + mt_as_float(one)) - one;
    code = a < least ? small : code;
  }
  code = code < end ? code : end;
  return sign | (a > inf ? mt_cast_nan(x, t) : code);
}

/* f64 to a float of 32 bits or less. */
MT_CAST_FN uint32_t mt_cast_narrow64 (uint64_t x, mt_cast_type t) {
  const uint64_t inf = (uint64_t)0x7ff << 52, one = 1;
  const uint32_t end = mt_cast_end(t), shift = 52u - t.m;
  uint64_t a = x & ~(one << 63), even = (a >> shift & 1) + (one << (shift - 1)) - 1;
  uint64_t least = (uint64_t)(1024 - mt_cast_bias(t)) << 52;
  uint64_t last = least + ((uint64_t)shift << 52);
  uint64_t small = mt_double_as(mt_as_double(a) + mt_as_double(last)) - last;
  uint64_t code = (a - ((uint64_t)(1023 - mt_cast_bias(t)) << 52) + even) >> shift;
  uint32_t sign = (uint32_t)(x >> 63) << (t.e + t.m);
  uint32_t payload = (uint32_t)((a & ((one << 52) - 1)) >> shift);
  uint32_t nan = t.nan ? end : end | (payload ? payload : 1u << (t.m - 1));
#ifndef __CUDACC__ /* what a processor has an instruction for */
  if (t.m == 23) return sign | (a > inf ? nan : mt_float_as((float)mt_as_double(a)));
#endif
  code = a < least ? small : code;
  code = code < end ? code : end;
  return sign | (a > inf ? nan : (uint32_t)code);
}

/* ---------------------------------------------------------------- to integers */

/* The ends of the range of an integer of 32 bits or less. */
MT_CAST_FN int64_t mt_cast_low (mt_cast_type t) {
  return t.kind == MT_KIND_INT ? -((int64_t)1 << (8 * t.bytes - 1)) : 0;
}
MT_CAST_FN int64_t mt_cast_high (mt_cast_type t) {
  return ((int64_t)1 << (8 * t.bytes - (t.kind == MT_KIND_INT))) - 1;
}

/* f32 to an integer of 16 bits or less: the addition leaves it in the last bits. */
MT_CAST_FN uint32_t mt_cast_short (uint32_t x, mt_cast_type t) {
  const float low = (float)mt_cast_low(t), high = (float)mt_cast_high(t);
  float f = mt_as_float(x);
  f = f < low ? low : f > high ? high : f;
  return f == f ? mt_float_as(f + 12582912.0f) - 0x4b400000 : 0;
}

/* f64 to an integer of 32 bits or less. */
MT_CAST_FN uint32_t mt_cast_int (uint64_t x, mt_cast_type t) {
  const double low = (double)mt_cast_low(t), high = (double)mt_cast_high(t);
  double f = mt_as_double(x);
  f = f < low ? low : f > high ? high : f;
  return f == f ? (uint32_t)mt_double_as(f + 6755399441055744.0) : 0;
}

/* f64 to an integer of 64 bits. */
MT_CAST_FN uint64_t mt_cast_long (uint64_t x, mt_cast_type t) {
  const double two52 = 4503599627370496.0, two63 = 9223372036854775808.0;
  double f = mt_as_double(x), a = f < 0 ? -f : f;
  bool minus = f < 0, isint = t.kind == MT_KIND_INT;
  a = a < two52 ? a + two52 - two52 : a;
  if (!(a == a) || (minus && !isint)) return 0;
  if (a >= (isint ? two63 : 2 * two63))
    return isint ? ((uint64_t)1 << 63) - !minus : ~(uint64_t)0;
  return minus ? 0 - (uint64_t)a : (uint64_t)a;
}

/* alpha x + beta c, saturated; the factors are integers of at most 53 bits. */
MT_CAST_FN int32_t mt_cast_scaled (double alpha, int32_t x, double beta, int32_t c) {
  const int64_t a = (int64_t)alpha, b = (int64_t)beta;
  const int64_t p = (int64_t)(uint32_t)a * x, q = (int64_t)(uint32_t)b * c;
  const uint64_t low = (uint64_t)(uint32_t)p + (uint32_t)q;
  const int64_t high =
      (a >> 32) * x + (b >> 32) * c + (p >> 32) + (q >> 32) + (int64_t)(low >> 32);
  const int32_t v = (int32_t)(uint32_t)low;
  return high == (v < 0 ? -1 : 0) ? v : high < 0 ? INT32_MIN : INT32_MAX;
}

/* ---------------------------------------------------------------- integers to float */

/* A double that rounds to every float of 16 bits or less as n does. */
MT_CAST_FN double mt_cast_sticky (uint64_t n) {
  if (n >> 53 && (n & 2047)) n = (n & ~(uint64_t)2047) | 2048;
  return (double)n;
}

MT_CAST_FN uint64_t mt_cast_float (uint64_t n, bool minus, mt_cast_type t) {
  if (t.e == 11) return mt_double_as(minus ? -(double)n : (double)n);
  if (t.m == 23) return mt_float_as(minus ? -(float)n : (float)n);
  if (t.e < 8) { /* 2^24 and more lies beyond the largest: a f32 is exact, or does */
    float small = (float)(int32_t)(n < 1u << 24 ? n : 1u << 24);
    return mt_cast_narrow(mt_float_as(minus ? -small : small), t);
  }
  double f = minus ? -mt_cast_sticky(n) : mt_cast_sticky(n);
  return mt_cast_narrow64(mt_double_as(f), t);
}

/* ---------------------------------------------------------------- carriers */

typedef enum mt_carrier {
  MT_CARRY_F32,
  MT_CARRY_F64,
  MT_CARRY_I64,
  MT_CARRY_U64,
  MT_NCARRIER
} mt_carrier;

MT_CAST_FN mt_carrier mt_cast_carrier (mt_cast_type from, mt_cast_type to) {
  if (from.kind == MT_KIND_FLOAT) return from.bytes < 8 ? MT_CARRY_F32 : MT_CARRY_F64;
  if (from.kind == MT_KIND_UINT && from.bytes == 8) return MT_CARRY_U64;
  if (to.kind != MT_KIND_FLOAT || from.bytes == 8) return MT_CARRY_I64;
  if (from.bytes == 4 && to.e < 8) return MT_CARRY_I64;
  return from.bytes < 4 ? MT_CARRY_F32 : MT_CARRY_F64;
}

/* An integer of less than 64 bits, or an i64. */
MT_CAST_FN int64_t mt_cast_load_i64 (uint64_t bits, mt_cast_type t) {
  if (t.kind == MT_KIND_BOOL) return bits != 0;
  uint64_t sign = t.kind == MT_KIND_INT ? (uint64_t)1 << (8 * t.bytes - 1) : 0;
  return (int64_t)((bits ^ sign) - sign);
}

/* A float of 32 bits or less, an integer of 16 bits or less. */
MT_CAST_FN uint32_t mt_cast_load_f32 (uint64_t bits, mt_cast_type t) {
  if (t.kind != MT_KIND_FLOAT)
    return mt_float_as((float)(int32_t)mt_cast_load_i64(bits, t));
  return t.bytes == 4 ? (uint32_t)bits : mt_cast_widen((uint32_t)bits, t);
}

/* A f64, an integer of 32 bits or less. */
MT_CAST_FN uint64_t mt_cast_load_f64 (uint64_t bits, mt_cast_type t) {
  if (t.kind == MT_KIND_FLOAT) return bits;
  return mt_double_as((double)mt_cast_load_i64(bits, t));
}

MT_CAST_FN uint64_t mt_cast_load_u64 (uint64_t bits, mt_cast_type t) {
  (void)t;
  return bits;
}

MT_CAST_FN uint64_t mt_cast_store_f64 (uint64_t x, mt_cast_type t) {
  if (t.kind == MT_KIND_BOOL) return x << 1 != 0;
  if (t.kind == MT_KIND_FLOAT) return t.bytes == 8 ? x : mt_cast_narrow64(x, t);
  return t.bytes == 8 ? mt_cast_long(x, t) : mt_cast_int(x, t);
}

MT_CAST_FN uint64_t mt_cast_store_f32 (uint32_t x, mt_cast_type t) {
  if (t.kind == MT_KIND_BOOL) return x << 1 != 0;
  if (t.kind != MT_KIND_FLOAT)
    return t.bytes < 4 ? mt_cast_short(x, t) : mt_cast_store_f64(mt_cast_double(x), t);
  return t.bytes == 8 ? mt_cast_double(x) : t.bytes == 4 ? x : mt_cast_narrow(x, t);
}

MT_CAST_FN uint64_t mt_cast_store_i64 (int64_t i, mt_cast_type t) {
  uint64_t n = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
  if (t.kind == MT_KIND_BOOL) return i != 0;
  if (t.kind == MT_KIND_FLOAT) return mt_cast_float(n, i < 0, t);
  if (t.bytes == 8) return t.kind == MT_KIND_UINT && i < 0 ? 0 : (uint64_t)i;
  int64_t low = mt_cast_low(t), high = mt_cast_high(t);
  return (uint64_t)(i < low ? low : i > high ? high : i);
}

MT_CAST_FN uint64_t mt_cast_store_u64 (uint64_t n, mt_cast_type t) {
  if (t.kind == MT_KIND_BOOL) return n != 0;
  if (t.kind == MT_KIND_FLOAT) return mt_cast_float(n, false, t);
  uint64_t high = t.bytes == 8 ? INT64_MAX : (uint64_t)mt_cast_high(t);
  return n < high ? n : high;
}

/* The bits of an element; of the result those that the type has. */
MT_CAST_FN uint64_t mt_cast_bits (uint64_t bits, mt_cast_type from, mt_cast_type to) {
  mt_carrier c = mt_cast_carrier(from, to);
  if (c == MT_CARRY_F32) return mt_cast_store_f32(mt_cast_load_f32(bits, from), to);
  if (c == MT_CARRY_F64) return mt_cast_store_f64(mt_cast_load_f64(bits, from), to);
  if (c == MT_CARRY_I64) return mt_cast_store_i64(mt_cast_load_i64(bits, from), to);
  return mt_cast_store_u64(mt_cast_load_u64(bits, from), to);
}

/* ---------------------------------------------------------------- other roundings */

/* The number of an element: exact but of integers beyond 2^53. */
MT_CAST_FN double mt_cast_value (uint64_t bits, mt_cast_type t) {
  if (t.kind == MT_KIND_UINT && t.bytes == 8) return (double)bits;
  if (t.kind != MT_KIND_FLOAT) return (double)mt_cast_load_i64(bits, t);
  if (t.bytes == 8) return mt_as_double(bits);
  return mt_as_double(mt_cast_double(mt_cast_load_f32(bits, t)));
}

/* Whether y, integral, is less than, equal to or more than an integer: -1, 0, 1. */
MT_CAST_FN int mt_cast_beside (double y, uint64_t bits, mt_cast_type t) {
  const double two63 = 9223372036854775808.0;
  if (t.kind == MT_KIND_UINT && t.bytes == 8) {
    uint64_t n = y >= 2 * two63 ? 0 : (uint64_t)y;
    return y >= 2 * two63 || n > bits ? 1 : n < bits ? -1 : 0;
  }
  int64_t i = mt_cast_load_i64(bits, t), n = y >= two63 || y < -two63 ? 0 : (int64_t)y;
  return y >= two63 || n > i ? 1 : n < i ? -1 : 0;
}

/* Whether y, the nearest to x, lies below it, on it or above: -1, 0, 1. A NaN in the
** place of infinity lies beyond x. */
MT_CAST_FN int mt_cast_side (uint64_t y, mt_cast_type to, uint64_t x, mt_cast_type from) {
  double a = mt_cast_value(y, to), b = mt_cast_value(x, from);
  if (b != b || (a != a && b - b != 0)) return 0;
  if (a != a) return b < 0 ? -1 : 1;
  if (from.kind == MT_KIND_FLOAT) return a > b ? 1 : a < b ? -1 : 0;
  return a - a != 0 ? (a < 0 ? -1 : 1) : mt_cast_beside(a, x, from);
}

/* The next number, at an end of the integers the same one. Floats are sign and size. */
MT_CAST_FN uint64_t mt_cast_next (uint64_t y, mt_cast_type t, bool up) {
  const uint64_t all = ~(uint64_t)0 >> (64 - 8 * t.bytes), sign = all / 2 + 1;
  if (t.kind == MT_KIND_FLOAT) return up == ((y & sign) == 0) ? y + 1 : y - 1;
  const bool isint = t.kind == MT_KIND_INT;
  const uint64_t end = up ? (isint ? sign - 1 : all) : isint ? sign : 0;
  return y == end ? y : (up ? y + 1 : y - 1) & all;
}

/* The nearest, and if that lies on the other side the next one back. */
MT_CAST_FN uint64_t mt_cast_rounded_bits (uint64_t bits, mt_cast_type from,
                                          mt_cast_type to, mt_rounding r) {
  uint64_t y = mt_cast_bits(bits, from, to) & ~(uint64_t)0 >> (64 - 8 * to.bytes);
  bool floats = from.kind == MT_KIND_FLOAT || to.kind == MT_KIND_FLOAT;
  if (r == MT_ROUND_NEAREST || !floats || to.kind == MT_KIND_BOOL) return y;
  int side = mt_cast_side(y, to, bits, from);
  bool up = r == MT_ROUND_UP || (r == MT_ROUND_ZERO && mt_cast_value(bits, from) < 0);
  return side == 0 || (side > 0) == up ? y : mt_cast_next(y, to, up);
}

#endif
