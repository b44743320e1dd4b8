/*
** mt_cpu_number.c - numbers of any type to and from what the processor's product adds up.
** SPDX-License-Identifier: MIT
**
** Loops over elements that lie together; branches on values are selections, so that the
** compiler makes vectors of them.
*/
#include "mt_cpu_side.h"
#include "mt_float.h"

enum { MT_GROUP = 16 };

/* ---------------------------------------------------------------- floats as bits */

static inline float as_float (uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

static inline uint32_t bits_of (float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

static inline float from_bf16 (uint16_t v) { return as_float((uint32_t)v << 16); }

/* The exponent is off by 112; the product sets it right, also of subnormals, but for
** infinities and NaNs. */
static inline float from_f16 (uint16_t v) {
  uint32_t sign = (uint32_t)(v & 0x8000) << 16, rest = (uint32_t)(v & 0x7fff) << 13;
  uint32_t bits = bits_of(as_float(rest) * 0x1p112f);
  bits |= rest >= 0x0f800000 ? 0x7f800000 : 0;
  return as_float(bits | sign);
}

static inline float from_e5m2 (uint8_t v) { return from_f16((uint16_t)(v << 8)); }

static inline float from_e4m3 (uint8_t v) {
  uint32_t sign = (uint32_t)(v & 0x80) << 24, rest = (uint32_t)(v & 0x7f) << 20;
  uint32_t bits = bits_of(as_float(rest) * 0x1p120f);
  return as_float((rest == 0x07f00000 ? 0x7fc00000 : bits) | sign);
}

/* To nearest even; NaNs stay NaNs. */
static inline uint16_t to_bf16 (float f) {
  uint32_t bits = bits_of(f), odd = bits >> 16 & 1;
  uint32_t rounded = (bits + 0x7fff + odd) >> 16;
  return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded);
}

/* Subnormals of f16 are multiples of 2^-24, the last bit of a float from 1/2 to 1. */
static inline uint16_t to_f16 (float f) {
  uint32_t bits = bits_of(f), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
  uint32_t normal = (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13;
  uint32_t small = bits_of(as_float(size) + 0.5f) - 0x3f000000;
  uint32_t out = size < 0x38800000 ? small : size < 0x47800000 ? normal : 0x7c00;
  return (uint16_t)(sign | (size > 0x7f800000 ? 0x7e00 : out));
}

static inline uint8_t to_e4m3 (float f) {
  return (uint8_t)mt_narrow((double)f, (mt_float){4, 3, MT_TOP_NAN});
}

static inline uint8_t to_e5m2 (float f) {
  return (uint8_t)mt_narrow((double)f, (mt_float){5, 2, MT_TOP_IEEE});
}

/* ---------------------------------------------------------------- conversions */

/* Whole groups, which become vectors, then the rest; VALUE is made of v. */
#define MT_CONVERT(name, from, to, VALUE)                                                \
  static void name (void *out, const void *in, int64_t n) {                              \
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

/* dtype C type as a float, as an integer (of 64 bits, modulo 2^64) */
#define MT_INTEGERS(X)                                                                   \
  X(bool, uint8_t, v != 0)                                                               \
  X(i8, int8_t, v)                                                                       \
  X(i16, int16_t, v)                                                                     \
  X(i32, int32_t, v)                                                                     \
  X(i64, int64_t, v)                                                                     \
  X(u8, uint8_t, v)                                                                      \
  X(u16, uint16_t, v)                                                                    \
  X(u32, uint32_t, v)                                                                    \
  X(u64, uint64_t, v)

#define MT_WIDEN_INTEGER(dtype, type, value)                                             \
  MT_CONVERT(F32_of_##dtype, type, float, value)                                         \
  MT_CONVERT(F64_of_##dtype, type, double, value)                                        \
  MT_CONVERT(U32_of_##dtype, type, uint32_t, value)                                      \
  MT_CONVERT(U64_of_##dtype, type, uint64_t, value)
MT_INTEGERS(MT_WIDEN_INTEGER)

/* dtype C type as a float, and from one */
#define MT_FLOATS(X)                                                                     \
  X(e4m3, uint8_t, from_e4m3(v), to_e4m3((float)v))                                      \
  X(e5m2, uint8_t, from_e5m2(v), to_e5m2((float)v))                                      \
  X(f16, uint16_t, from_f16(v), to_f16((float)v))                                        \
  X(bf16, uint16_t, from_bf16(v), to_bf16((float)v))                                     \
  X(f32, float, v, v)                                                                    \
  X(f64, double, v, v)

#define MT_WIDEN_FLOAT(dtype, type, value, back)                                         \
  MT_CONVERT(F32_of_##dtype, type, float, value)                                         \
  MT_CONVERT(F64_of_##dtype, type, double, value)                                        \
  MT_CONVERT(dtype##_of_F32, float, type, back)                                          \
  MT_CONVERT(dtype##_of_F64, double, type, back)
MT_FLOATS(MT_WIDEN_FLOAT)

MT_CONVERT(bits8, uint32_t, uint8_t, v)
MT_CONVERT(bits16, uint32_t, uint16_t, v)
MT_CONVERT(bits32, uint32_t, uint32_t, v)
MT_CONVERT(low8, uint64_t, uint8_t, v)
MT_CONVERT(low16, uint64_t, uint16_t, v)
MT_CONVERT(low32, uint64_t, uint32_t, v)
MT_CONVERT(low64, uint64_t, uint64_t, v)

mt_cpu_convert *mt_cpu_widener (mt_dtype from, mt_acc to) {
#define MT_ROW(dtype, ...) [MT_##dtype] = {F32_of_##dtype, F64_of_##dtype, NULL, NULL},
#define MT_INTEGER_ROW(dtype, ...)                                                       \
  [MT_##dtype] = {F32_of_##dtype, F64_of_##dtype, U32_of_##dtype, U64_of_##dtype},
  static mt_cpu_convert *const table[MT_NDTYPE][4] = {
    MT_INTEGERS(MT_INTEGER_ROW) MT_FLOATS(MT_ROW)
  };
#undef MT_ROW
#undef MT_INTEGER_ROW
  return table[from][to];
}

mt_cpu_convert *mt_cpu_narrower (mt_acc from, mt_dtype to) {
#define MT_ROW(dtype, ...) [MT_##dtype] = {dtype##_of_F32, dtype##_of_F64, NULL, NULL},
  static mt_cpu_convert *const table[MT_NDTYPE][4] = {
    MT_FLOATS(MT_ROW)
    [MT_i8] = {NULL, NULL, bits8, low8}, [MT_u8] = {NULL, NULL, bits8, low8},
    [MT_i16] = {NULL, NULL, bits16, low16}, [MT_u16] = {NULL, NULL, bits16, low16},
    [MT_i32] = {NULL, NULL, bits32, low32}, [MT_u32] = {NULL, NULL, bits32, low32},
    [MT_i64] = {NULL, NULL, NULL, low64}, [MT_u64] = {NULL, NULL, NULL, low64}
  };
#undef MT_ROW
  return table[to][from];
}

bool mt_cpu_is_native (mt_dtype d, mt_acc acc) {
  static const uint8_t native[MT_NDTYPE] = {
    [MT_f32] = 1 << MT_ACC_F32, [MT_f64] = 1 << MT_ACC_F64, [MT_i32] = 1 << MT_ACC_U32,
    [MT_u32] = 1 << MT_ACC_U32, [MT_i64] = 1 << MT_ACC_U64, [MT_u64] = 1 << MT_ACC_U64
  };
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


/* Floats of 32 bits: in double, rounded once. Integers: modulo 2^64, then 2^32. */
#define MT_COMBINE(name, type, wide, factor)                                             \
  static void name (void *pt, const void *pc, int64_t n, double alpha, double beta) {    \
    type *t = pt;                                                                        \
    const type *c = pc;                                                                  \
    const wide a = (wide)(factor)alpha, b = (wide)(factor)beta;                          \
    if (c == NULL)                                                                       \
      for (int64_t i = 0; i < n; i++) t[i] = (type)(a * t[i]);                           \
    else                                                                                 \
      for (int64_t i = 0; i < n; i++) t[i] = (type)(a * t[i] + b * c[i]);                \
  }
MT_COMBINE(combine_F32, float, double, double)
MT_COMBINE(combine_F64, double, double, double)
MT_COMBINE(combine_U32, uint32_t, uint64_t, int64_t)
MT_COMBINE(combine_U64, uint64_t, uint64_t, int64_t)

void mt_cpu_combine (mt_acc acc, void *t, const void *c, int64_t n, double alpha,
                     double beta) {
  static void (*const by_acc[])(void *, const void *, int64_t, double, double) = {
    combine_F32, combine_F64, combine_U32, combine_U64
  };
  by_acc[acc](t, c, n, alpha, beta);
}
