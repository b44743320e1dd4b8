/*
** mma_number.c - elements of tensors as the numbers that instructions compute with.
** SPDX-License-Identifier: MIT
*/
#include <math.h>

#include "types/float.h"
#include "atom/mma_number.h"

/* ---------------------------------------------------------------- who holds what */

/* Elements that lie in a dtype that is not their own: element, dtypes. */
#define HOLDERS(ONE, TWO)                                                                \
  TWO(u1, u8, bool)                                                                      \
  TWO(u4, i8, u8)                                                                        \
  TWO(s4, i8, u8)                                                                        \
  ONE(e2m1, u8)                                                                          \
  ONE(e3m2, u8)                                                                          \
  ONE(e2m3, u8)                                                                          \
  ONE(tf32, f32)

#define HOLDER_ONE(e, d) [MT_ELEMENT_##e] = {#d, 1u << MT_##d},
#define HOLDER_TWO(e, c, d)                                                              \
  [MT_ELEMENT_##e] = {#c " or " #d, 1u << MT_##c | 1u << MT_##d},
/* An element that no dtype holds has no row. */
static const struct {
  const char *words;
  uint32_t dtypes;
} holders[MT_NELEMENT] = {HOLDERS(HOLDER_ONE, HOLDER_TWO)
#define OWN_BOOL(e, d) /* u1, which u8 holds too */
#define OWN_INT(e, d) HOLDER_ONE(e, d)
#define OWN_UINT(e, d) HOLDER_ONE(e, d)
#define OWN_FLOAT(e, d) HOLDER_ONE(e, d)
#define MT_DTYPE(name, kind, bytes, type, element, ...) OWN_##kind(element, name)
#include "moontile/dtypes.def"
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
#define CODE_FLOAT(name, e, m, top) [MT_ELEMENT_##name] = {e, m, MT_TOP_##top},
static const mt_float floats[MT_NELEMENT] = {MT_CODE_FLOATS(CODE_FLOAT)
#define MT_DTYPE(name, kind, bytes, type, element, e, m, top, ...)                       \
  [MT_ELEMENT_##element] = {e, m, MT_TOP_##top},
#include "moontile/dtypes.def"
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

/* An integral v, the nearest that so many bits have; 0 for what is no number. */
static uint64_t saturated (double v, int bits, bool with_sign) {
  const double above = ldexp(1, bits - with_sign), least = with_sign ? -above : 0;
  if (v < least) v = least;
  return v >= above ? ~0ull >> (64 - bits + with_sign) : wrapped(v);
}

/* Its low 13 bits of the f32 do not count. A NaN stays one. */
static double truncate_tf32 (double v) {
  const mt_float f32 = {8, 23, MT_TOP_IEEE};
  if (v != v) return v;
  return mt_float_decode(mt_float_encode(v, f32) & ~0x1fffull, f32);
}

double mt_round_number (mt_element e, double v) {
  if ((unsigned)e >= MT_NELEMENT) return v;
  if (floats[e].e) return mt_float_decode(mt_float_encode(v, floats[e]), floats[e]);
  if (e == MT_ELEMENT_tf32) return truncate_tf32(v);
  if (e == MT_ELEMENT_cf64 || e == MT_ELEMENT_gcf64) return v;
  return wrap_integer(v, mt_element_bits(e), is_signed(e));
}

/* ---------------------------------------------------------------- tensors */

typedef double reader (const void *p);
typedef void writer (void *p, double v);

/* A bool has its own two. */
#define MEMORY_BOOL(name, ...)
#define MEMORY_INT(name, bytes, type, ...)                                               \
  static double read_##name(const void *p) {                                             \
    return (double)(type)mt_get_bits(p, bytes);                                          \
  }                                                                                      \
  static void write_##name(void *p, double v) {                                          \
    mt_put_bits(p, bytes, saturated(v, 8 * bytes, (type)-1 < (type)1));                  \
  }
#define MEMORY_UINT(...) MEMORY_INT(__VA_ARGS__)
#define MEMORY_FLOAT(name, bytes, type, e, m, top)                                       \
  static double read_##name(const void *p) {                                             \
    return mt_float_decode(mt_get_bits(p, bytes), (mt_float){e, m, MT_TOP_##top});       \
  }                                                                                      \
  static void write_##name(void *p, double v) {                                          \
    mt_put_bits(p, bytes, mt_float_encode(v, (mt_float){e, m, MT_TOP_##top}));           \
  }
#define MT_DTYPE(name, kind, bytes, type, element, e, m, top, ...)                       \
  MEMORY_##kind(name, bytes, type, e, m, top)
#include "moontile/dtypes.def"

static double read_bool (const void *p) { return *(const unsigned char *)p != 0; }
static void write_bool (void *p, double v) { *(unsigned char *)p = v != 0; }

static const struct {
  reader *read;
  writer *write;
  mt_element own;
} dtypes[] = {
#define MT_DTYPE(name, kind, bytes, type, element, ...)                                  \
  {read_##name, write_##name, MT_ELEMENT_##element},
#include "moontile/dtypes.def"
};

double mt_get_number (mt_dtype d, mt_element e, const void *p) {
  if ((unsigned)d >= MT_NDTYPE || (unsigned)e >= MT_NELEMENT) return 0;
  double v = dtypes[d].read(p);
  mt_element own = dtypes[d].own;
  if (own == e) return v;
  bool code = floats[e].e && mt_element_bits(e) < 8 && !floats[own].e;
  return code ? mt_float_decode(wrapped(v), floats[e]) : mt_round_number(e, v);
}

void mt_put_number (mt_dtype d, void *p, double v) {
  if ((unsigned)d < MT_NDTYPE) dtypes[d].write(p, v);
}
