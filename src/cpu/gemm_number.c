/*
** gemm_number.c - numbers of any type to and from what the processor's product adds up.
** SPDX-License-Identifier: MIT
**
** Loops over elements that lie together; branches on values are selections, so that the
** compiler makes vectors of them.
*/
#include "cpu/gemm_side.h"
#include "desc/epilogue_desc.h"
#include "types/float.h"

enum { MT_GROUP = 16 };

/* ---------------------------------------------------------------- floats as bits */

static inline float from_bf16_ (uint16_t v) { return mt_as_float((uint32_t)v << 16); }

/* The exponent is off by 112; the product sets it right, also of subnormals, but for
** infinities and NaNs. */
static inline float from_f16_ (uint16_t v) {
  uint32_t sign = (uint32_t)(v & 0x8000) << 16, rest = (uint32_t)(v & 0x7fff) << 13;
  uint32_t bits = mt_float_as(mt_as_float(rest) * 0x1p112f);
  bits |= rest >= 0x0f800000 ? 0x7f800000 : 0;
  return mt_as_float(bits | sign);
}

/* A float of 8 bits with so many of exponent and fraction: as above. */
static inline float from_8_bits (uint8_t v, int e, int m, mt_float_top top) {
  uint32_t size = v & 0x7f, sign = (uint32_t)(v & 0x80) << 24;
  uint32_t scale = (uint32_t)(255 - (1 << (e - 1))) << 23; /* 2 to 128 - 2^(e-1) */
  uint32_t bits = mt_float_as(mt_as_float(size << (23 - m)) * mt_as_float(scale));
  if (top == MT_TOP_IEEE && size >= (uint32_t)((1 << e) - 1) << m) bits |= 0x7f800000;
  if (top == MT_TOP_ONES && size == 0x7f) bits = 0x7fc00000;
  return mt_as_float(bits | sign);
}

/* To nearest even; NaNs stay NaNs. */
static inline uint16_t to_bf16_ (float f) {
  uint32_t bits = mt_float_as(f), odd = bits >> 16 & 1;
  uint32_t rounded = (bits + 0x7fff + odd) >> 16;
  return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded);
}

/* Subnormals of f16 are multiples of 2^-24, the last bit of a float from 1/2 to 1. */
static inline uint16_t to_f16_ (float f) {
  uint32_t bits = mt_float_as(f), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
  uint32_t normal = (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13;
  uint32_t small = mt_float_as(mt_as_float(size) + 0.5f) - 0x3f000000;
  uint32_t out = size < 0x38800000 ? small : size < 0x47800000 ? normal : 0x7c00;
  return (uint16_t)(sign | (size > 0x7f800000 ? 0x7e00 : out));
}

#define MT_SMALL_1(name, e, m, top)                                                      \
  static inline float from_##name(uint8_t v) {                                           \
    return from_8_bits(v, e, m, MT_TOP_##top);                                           \
  }                                                                                      \
  static inline uint8_t to_##name(float f) {                                             \
    return (uint8_t)mt_float_encode((double)f, (mt_float){e, m, MT_TOP_##top});          \
  }
#define MT_SMALL_2(...) /* f16 and bf16, above */
#define MT_SMALL_4(...)
#define MT_SMALL_8(...)
#define MT_SMALL_FLOAT(name, bytes, e, m, top) MT_SMALL_##bytes(name, e, m, top)
#define MT_SMALL_BOOL(...)
#define MT_SMALL_INT(...)
#define MT_SMALL_UINT(...)
#define MT_DTYPE(name, kind, bytes, type, element, e, m, top, ...)                       \
  MT_SMALL_##kind(name##_, bytes, e, m, top)
#include "moontile/dtypes.def"

/* The float before v whose last bit is 1, unless v is a float: it rounds to fewer bits as
** v does. */
static inline float to_odd (double v) {
  float f = (float)v;
  uint32_t bits = mt_float_as(f),
           beyond = (double)f * (v < 0 ? -1 : 1) > (v < 0 ? -v : v);
  return (double)f == v || v != v ? f : mt_as_float((bits - beyond) | 1);
}

/* ---------------------------------------------------------------- conversions */

/* Whole groups, which become vectors, then the rest; VALUE is made of v. */
#define MT_CONVERT(name, from, to, VALUE)                                                \
  static void name(void *out, const void *in, int64_t n) {                               \
    const from *restrict a = in;                                                         \
    to *restrict t = out;                                                                \
    for (; n >= MT_GROUP; n -= MT_GROUP, a += MT_GROUP, t += MT_GROUP)                   \
      for (int i = 0; i < MT_GROUP; i++) {                                               \
        from v = a[i];                                                                   \
        t[i] = (to)(VALUE);                                                              \
      }                                                                                  \
    for (int i = 0; i < n; i++) {                                                        \
      from v = a[i];                                                                     \
      t[i] = (to)(VALUE);                                                                \
    }                                                                                    \
  }

/* To numbers, of integers modulo 2^32 or 2^64; and from numbers to floats. A float below
** 32 bits has its from_NAME_ and to_NAME_ above: names end so, since bool is a macro. */
static inline float from_f32_ (float v) { return v; }
static inline float to_f32_ (float v) { return v; }
static inline double from_f64_ (double v) { return v; }
static inline double to_f64_ (double v) { return v; }

#define MT_CONVERT_INTEGER(name, type, value)                                            \
  MT_CONVERT(F32_of_##name, type, float, value)                                          \
  MT_CONVERT(F64_of_##name, type, double, value)                                         \
  MT_CONVERT(U32_of_##name, type, uint32_t, value)                                       \
  MT_CONVERT(U64_of_##name, type, uint64_t, value)
#define MT_CONVERT_BOOL(name, type) MT_CONVERT_INTEGER(name, type, v != 0)
#define MT_CONVERT_INT(name, type) MT_CONVERT_INTEGER(name, type, v)
#define MT_CONVERT_UINT(name, type) MT_CONVERT_INTEGER(name, type, v)
#define MT_CONVERT_FLOAT(name, type)                                                     \
  MT_CONVERT(F32_of_##name, type, float, from_##name(v))                                 \
  MT_CONVERT(F64_of_##name, type, double, from_##name(v))                                \
  MT_CONVERT(name##_of_F32, float, type, to_##name((float)v))                            \
  MT_CONVERT(name##_of_F64, double, type,                                                \
             sizeof(type) < 4 ? to_##name(to_odd(v)) : to_##name(v))
#define MT_DTYPE(name, kind, bytes, type, ...) MT_CONVERT_##kind(name##_, type)
#include "moontile/dtypes.def"

/* The nearest integer of so many bytes; sums are below 2^62. */
static inline int64_t within (int64_t v, int bytes, bool sign) {
  const int64_t high = INT64_MAX >> (bytes == 8 ? 0 : 63 - 8 * bytes + sign);
  const int64_t low = sign ? -high - 1 : 0;
  return v < low ? low : v > high ? high : v;
}

#define MT_SUMS(name, type, bytes, sign)                                                 \
  MT_CONVERT(name##_of_sum_F64, double, type, within((int64_t)v, bytes, sign))           \
  MT_CONVERT(name##_of_sum_U32, int32_t, type, within(v, bytes, sign))                   \
  MT_CONVERT(name##_of_sum_U64, int64_t, type, within(v, bytes, sign))
#define MT_SUMS_BOOL(...)
#define MT_SUMS_FLOAT(...)
#define MT_SUMS_INT(name, bytes, type) MT_SUMS(name, type, bytes, true)
#define MT_SUMS_UINT(name, bytes, type) MT_SUMS(name, type, bytes, false)
#define MT_DTYPE(name, kind, bytes, type, ...) MT_SUMS_##kind(name##_, bytes, type)
#include "moontile/dtypes.def"

mt_cpu_convert *mt_cpu_widener (mt_dtype from, mt_acc to) {
#define MT_WIDEN_INT(name)                                                               \
  {F32_of_##name, F64_of_##name, U32_of_##name, U64_of_##name, U64_of_##name},
#define MT_WIDEN_UINT(name) MT_WIDEN_INT(name)
#define MT_WIDEN_BOOL(name) MT_WIDEN_INT(name)
#define MT_WIDEN_FLOAT(name) {F32_of_##name, F64_of_##name},
  static mt_cpu_convert *const table[MT_NDTYPE][MT_NACC] = {
#define MT_DTYPE(name, kind, ...) MT_WIDEN_##kind(name##_)
#include "moontile/dtypes.def"
  };
  return table[from][to];
}

/* A bool has no sums. */
mt_cpu_convert *mt_cpu_narrower (mt_acc from, mt_dtype to) {
#define MT_NARROW_BOOL(name) {NULL},
#define MT_NARROW_INT(name)                                                              \
  {NULL, name##_of_sum_F64, name##_of_sum_U32, name##_of_sum_U64},
#define MT_NARROW_UINT(name) MT_NARROW_INT(name)
#define MT_NARROW_FLOAT(name) {name##_of_F32, name##_of_F64},
  static mt_cpu_convert *const table[MT_NDTYPE][MT_NACC] = {
#define MT_DTYPE(name, kind, ...) MT_NARROW_##kind(name##_)
#include "moontile/dtypes.def"
  };
  return table[to][from];
}

bool mt_cpu_is_native (mt_dtype d, mt_acc acc) {
  static const uint8_t native[MT_NDTYPE] = {[MT_f32] = 1 << MT_ACC_F32,
                                            [MT_f64] = 1 << MT_ACC_F64,
                                            [MT_i32] = 1 << MT_ACC_U32,
                                            [MT_u32] = 1 << MT_ACC_U32,
                                            [MT_i64] = 1 << MT_ACC_U64 | 1 << MT_ACC_WIDE,
                                            [MT_u64] =
                                                1 << MT_ACC_U64 | 1 << MT_ACC_WIDE};
  return native[d] >> acc & 1;
}

/* ---------------------------------------------------------------- sums */

/* Whole groups, as a tile has. */
void mt_cpu_count (void *pt, const void *pv, int64_t n, bool fresh) {
  uint32_t *restrict t = pt;
  const float *restrict v = pv;
  if (fresh) memset(t, 0, (size_t)n * sizeof *t);
  for (; n >= MT_GROUP; n -= MT_GROUP, t += MT_GROUP, v += MT_GROUP)
    for (int i = 0; i < MT_GROUP; i++) t[i] += (uint32_t)(int32_t)v[i];
  for (int i = 0; i < n; i++) t[i] += (uint32_t)(int32_t)v[i];
}

/* Floats of 32 bits: in double, rounded once; a sum of two is the same without. */
#define MT_COMBINE(name, type)                                                           \
  static void name##_added(type *restrict t, const type *restrict c, int64_t n) {        \
    for (; n >= MT_GROUP; n -= MT_GROUP, t += MT_GROUP, c += MT_GROUP)                   \
      for (int i = 0; i < MT_GROUP; i++) t[i] += c[i];                                   \
    for (int i = 0; i < n; i++) t[i] += c[i];                                            \
  }                                                                                      \
  static void name(void *pt, const void *pc, int64_t n, double alpha, double beta) {     \
    type *t = pt;                                                                        \
    const type *c = pc;                                                                  \
    if (c && alpha == 1 && beta == 1) name##_added(t, c, n);                             \
    else if (c == NULL)                                                                  \
      for (int64_t i = 0; i < n; i++) t[i] = (type)(alpha * t[i]);                       \
    else                                                                                 \
      for (int64_t i = 0; i < n; i++) t[i] = (type)(alpha * t[i] + beta * c[i]);         \
  }
MT_COMBINE(combine_F32, float)
MT_COMBINE(combine_F64, double)

void mt_cpu_combine (mt_acc acc, void *t, const void *c, int64_t n, double alpha,
                     double beta) {
  (acc == MT_ACC_F32 ? combine_F32 : combine_F64)(t, c, n, alpha, beta);
}

#define MT_ACTIVATE_ALL(name, type, activate)                                            \
  static void name(void *pt, int64_t n, uint32_t activation) {                           \
    type *t = pt;                                                                        \
    for (int64_t i = 0; i < n; i++) t[i] = activate(activation, t[i]);                   \
  }
MT_ACTIVATE_ALL(activate_F32, float, mt_activate_f32)
MT_ACTIVATE_ALL(activate_F64, double, mt_activate_f64)

void mt_cpu_activate (mt_acc acc, void *t, int64_t n, uint32_t activation) {
  if (activation == MT_ACTIVATION_NONE) return;
  (acc == MT_ACC_F32 ? activate_F32 : activate_F64)(t, n, activation);
}
