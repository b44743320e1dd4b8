/*
** mt_num.c - elements of tensors as the numbers that instructions compute with.
** SPDX-License-Identifier: MIT
*/
#include <math.h>

#include "mt_float.h"
#include "mt_num.h"

/* ---------------------------------------------------------------- who holds what */

/* element  dtypes
** An element that no dtype holds has no row. */
#define HOLDERS(ONE, TWO)                                                                \
  TWO(u1,   u8, bool)                                                                    \
  TWO(u4,   i8, u8)                                                                      \
  TWO(s4,   i8, u8)                                                                      \
  ONE(u8,   u8)                                                                          \
  ONE(u16,  u16)                                                                         \
  ONE(u32,  u32)                                                                         \
  ONE(u64,  u64)                                                                         \
  ONE(s8,   i8)                                                                          \
  ONE(s16,  i16)                                                                         \
  ONE(s32,  i32)                                                                         \
  ONE(s64,  i64)                                                                         \
  ONE(e2m1, u8)                                                                          \
  ONE(e3m2, u8)                                                                          \
  ONE(e2m3, u8)                                                                          \
  ONE(e4m3, e4m3)                                                                        \
  ONE(e5m2, e5m2)                                                                        \
  ONE(f16,  f16)                                                                         \
  ONE(bf16, bf16)                                                                        \
  ONE(tf32, f32)                                                                         \
  ONE(f32,  f32)                                                                         \
  ONE(f64,  f64)

#define HOLDER_ONE(e, d) [MT_ELEMENT_##e] = { #d, 1u << MT_##d },
#define HOLDER_TWO(e, c, d)                                                              \
  [MT_ELEMENT_##e] = { #c " or " #d, 1u << MT_##c | 1u << MT_##d },
static const struct { const char *words; uint32_t dtypes; } holders[MT_NELEMENT] = {
  HOLDERS(HOLDER_ONE, HOLDER_TWO)
};

bool mt_dtype_holds (mt_dtype d, mt_element e) {
  return (unsigned)d < MT_NDTYPE && (unsigned)e < MT_NELEMENT &&
         (holders[e].dtypes >> d & 1);
}

const char *mt_dtypes_of (mt_element e) {
  bool some = (unsigned)e < MT_NELEMENT && holders[e].words;
  return some ? holders[e].words : "no dtype";
}

/* ---------------------------------------------------------------- elements */

/* Floats by element; e = 0: an integer, or none. */
#define FLOAT_OF_ELEMENT(name, e, m, top) [MT_ELEMENT_##name] = { e, m, MT_TOP_##top },
static const mt_float floats[MT_NELEMENT] = {
  MT_CODE_FLOATS(FLOAT_OF_ELEMENT)
  MT_DTYPE_FLOATS(FLOAT_OF_ELEMENT)
};

static bool is_signed (mt_element e) {
  return e == MT_ELEMENT_s4 || e == MT_ELEMENT_s8 || e == MT_ELEMENT_s16 ||
         e == MT_ELEMENT_s32 || e == MT_ELEMENT_s64;
}

/* An integral v modulo 2^64; 0 for what is no number. */
static uint64_t wrapped (double v) {
  const double two63 = 9223372036854775808.0;
  if (v >= -two63 && v < two63) return (uint64_t)(int64_t)v;
  v = fmod(v, 2 * two63);
  if (v != v) return 0;
  return v < 0 ? 0 - (uint64_t)-v : (uint64_t)v;
}

/* The integer of so many bits that v is modulo 2^bits. */
static double wrap_integer (double v, int bits, bool with_sign) {
  uint64_t sign = with_sign ? 1ull << (bits - 1) : 0;
  uint64_t u = wrapped(v) & (bits < 64 ? (1ull << bits) - 1 : ~0ull);
  return with_sign ? (double)(int64_t)((u ^ sign) - sign) : (double)u;
}

/* Its low 13 bits of the f32 do not count. A NaN stays one. */
static double truncate_tf32 (double v) {
  const mt_float f32 = { 8, 23, MT_TOP_IEEE };
  if (v != v) return v;
  return mt_widen(mt_narrow(v, f32) & ~0x1fffull, f32);
}

double mt_round_number (mt_element e, double v) {
  if ((unsigned)e >= MT_NELEMENT) return v;
  if (floats[e].e) return mt_widen(mt_narrow(v, floats[e]), floats[e]);
  if (e == MT_ELEMENT_tf32) return truncate_tf32(v);
  if (e == MT_ELEMENT_cf64 || e == MT_ELEMENT_gcf64) return v;
  return wrap_integer(v, mt_element_bits(e), is_signed(e));
}

/* ---------------------------------------------------------------- tensors */

/* dtype   element   type in C, of integers */
#define INTEGERS(X)                                                                      \
  X(i8,    s8,       int8_t)                                                             \
  X(i16,   s16,      int16_t)                                                            \
  X(i32,   s32,      int32_t)                                                            \
  X(i64,   s64,      int64_t)                                                            \
  X(u8,    u8,       uint8_t)                                                            \
  X(u16,   u16,      uint16_t)                                                           \
  X(u32,   u32,      uint32_t)                                                           \
  X(u64,   u64,      uint64_t)

typedef double reader (const void *p);
typedef void writer (void *p, double v);

#define READ_INTEGER(name, element, type)                                                \
  static double read_##name (const void *p) {                                            \
    return (double)(type)mt_get_bits(p, sizeof(type));                                   \
  }                                                                                      \
  static void write_##name (void *p, double v) {                                         \
    mt_put_bits(p, sizeof(type), wrapped(v));                                            \
  }
INTEGERS(READ_INTEGER)

#define READ_FLOAT(name, e, m, top)                                                      \
  static double read_##name (const void *p) {                                            \
    const mt_float f = { e, m, MT_TOP_##top };                                           \
    return mt_widen(mt_get_bits(p, (1 + e + m) / 8), f);                                 \
  }                                                                                      \
  static void write_##name (void *p, double v) {                                         \
    const mt_float f = { e, m, MT_TOP_##top };                                           \
    mt_put_bits(p, (1 + e + m) / 8, mt_narrow(v, f));                                    \
  }
MT_DTYPE_FLOATS(READ_FLOAT)

static double read_bool (const void *p) { return *(const unsigned char *)p != 0; }
static void write_bool (void *p, double v) { *(unsigned char *)p = v != 0; }

#define DTYPE_INTEGER(name, element, type)                                               \
  [MT_##name] = { read_##name, write_##name, MT_ELEMENT_##element },
#define DTYPE_FLOAT(name, e, m, top)                                                     \
  [MT_##name] = { read_##name, write_##name, MT_ELEMENT_##name },
static const struct { reader *read; writer *write; mt_element own; } dtypes[] = {
  [MT_bool] = { read_bool, write_bool, MT_ELEMENT_u1 },
  INTEGERS(DTYPE_INTEGER)
  MT_DTYPE_FLOATS(DTYPE_FLOAT)
};

double mt_get_number (mt_dtype d, mt_element e, const void *p) {
  if ((unsigned)d >= MT_NDTYPE || (unsigned)e >= MT_NELEMENT) return 0;
  double v = dtypes[d].read(p);
  mt_element own = dtypes[d].own;
  if (own == e) return v;
  bool code = floats[e].e && mt_element_bits(e) < 8 && !floats[own].e;
  return code ? mt_widen(wrapped(v), floats[e]) : mt_round_number(e, v);
}

void mt_put_number (mt_dtype d, void *p, double v) {
  if ((unsigned)d < MT_NDTYPE) dtypes[d].write(p, v);
}
