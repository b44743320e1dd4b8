/*
** copy_direct.c - conversions of elements that lie together, in one step.
** SPDX-License-Identifier: MIT
**
** What a processor converts by itself, and what types/convert.h says, are the same but
** for a few numbers: NaN, and what is far out of range. A loop converts all of them, and
** says whether it met such a one; then its elements are converted again, by two steps.
**
** Type names are those of moontile/dtypes.def.
*/
#include "types/convert.h"
#include "cpu/copy.h"
#include "cpu/copy_isas.h"

/* The type in C, and one of as many bits for what was met. */
#define MT_C_i8 int8_t
#define MT_C_u8 uint8_t
#define MT_C_i16 int16_t
#define MT_C_u16 uint16_t
#define MT_C_i32 int32_t
#define MT_C_u32 uint32_t
#define MT_C_i64 int64_t
#define MT_C_u64 uint64_t
#define MT_C_f32 float
#define MT_C_f64 double
#define MT_MET_i8 uint8_t
#define MT_MET_u8 uint8_t
#define MT_MET_i16 uint16_t
#define MT_MET_u16 uint16_t
#define MT_MET_i32 uint32_t
#define MT_MET_u32 uint32_t
#define MT_MET_i64 uint64_t
#define MT_MET_u64 uint64_t
#define MT_MET_f32 uint32_t
#define MT_MET_f64 uint64_t

/* ---------------------------------------------------------------- one element */

/* An element x of `from` becomes y of `to`; `met` is whether it may be another. */

/* Every number of one type is one of the other, or rounds once. */
#define MT_DO_keep(from, to) y = (MT_C_##to)x;

/* Some are not: they become an end of the range. */
#define MT_DO_clamp(from, to)                                                            \
  const mt_cast_type t = mt_cast_type_of(MT_##to);                                       \
  const MT_C_##from low = (MT_C_##from)mt_cast_low(t);                                   \
  const MT_C_##from high = (MT_C_##from)mt_cast_high(t);                                 \
  const MT_C_##from more = x < low ? low : x;                                            \
  y = (MT_C_##to)(more > high ? high : more);

/* The same of 64 bits, of which few processors have the larger one. */
#define MT_DO_cut(from, to)                                                              \
  const bool positive = mt_cast_type_of(MT_##from).kind == MT_KIND_UINT;                 \
  const uint64_t low = positive ? 0 : (uint64_t)mt_cast_low(mt_cast_type_of(MT_##to));   \
  const bool sign = mt_cast_type_of(MT_##to).kind == MT_KIND_INT;                        \
  y = (MT_C_##to)x;                                                                      \
  met |= ((uint64_t)x - low) >> (8 * sizeof y - (sign && positive));

/* As many bits, one of them with a sign. */
#define MT_DO_sign(from, to)                                                             \
  y = (MT_C_##to)x;                                                                      \
  met |= (MT_MET_##from)x >> (8 * sizeof x - 1);

/* One float as another. */
#define MT_DO_float(from, to)                                                            \
  y = (MT_C_##to)x;                                                                      \
  met |= (MT_MET_##from)(x != x);

/* A float to an integer: the addition leaves it in the last bits. Where it is so large
** that they do not have it, they are not looked at. */
#define MT_DO_round(from, to)                                                            \
  const mt_cast_type t = mt_cast_type_of(MT_##to);                                       \
  const int32_t low = (int32_t)mt_cast_low(t), high = (int32_t)mt_cast_high(t);          \
  int32_t last = MT_LAST_##from(x);                                                      \
  met |= MT_FAR_##from(x, last);                                                         \
  last = last < low ? low : last;                                                        \
  last = last > high ? high : last;                                                      \
  y = (MT_C_##to)last;
#define MT_FAR_f32(x, last) ((uint32_t)(last) + (1u << 22)) >> 23
#define MT_LAST_f32(x) (int32_t)(mt_float_as((x) + 12582912.0f) - 0x4b400000)
#define MT_FAR_f64(x, last) (uint64_t) !((x) < 2147483647.0 && (x) > -2147483647.0)
#define MT_LAST_f64(x) (int32_t)(uint32_t) mt_double_as((x) + 6755399441055744.0)

/* i64 to f64, of 52 bits: by the same addition. */
#define MT_DO_long(from, to)                                                             \
  y = mt_as_double((uint64_t)x + 0x4338000000000000) - 6755399441055744.0;               \
  met |= ((uint64_t)x + ((uint64_t)1 << 51)) >> 52;

/* f32 to i32: numbers of 2^23 and more have no fraction. */
#define MT_DO_whole(from, to)                                                            \
  const float size = mt_as_float(mt_float_as(x) & 0x7fffffff);                           \
  const float half = mt_as_float(0x4b000000 | (mt_float_as(x) & 0x80000000));            \
  const float near = size < 8388608.0f ? x + half - half : x;                            \
  met |= (uint32_t) !(size < 2147483648.0f);                                             \
  y = (int32_t)(size < 2147483648.0f ? near : 0);

/* ---------------------------------------------------------------- all of them */

/* Types that convert in one step. */
#define MT_DIRECTS(X, isa)                                                               \
  X(isa, i8, i16, keep)                                                                  \
  X(isa, i8, i32, keep)                                                                  \
  X(isa, i8, i64, keep)                                                                  \
  X(isa, i16, i32, keep)                                                                 \
  X(isa, i16, i64, keep)                                                                 \
  X(isa, i32, i64, keep)                                                                 \
  X(isa, u8, i16, keep)                                                                  \
  X(isa, u8, u16, keep)                                                                  \
  X(isa, u8, i32, keep)                                                                  \
  X(isa, u8, u32, keep)                                                                  \
  X(isa, u8, i64, keep)                                                                  \
  X(isa, u8, u64, keep)                                                                  \
  X(isa, u16, i32, keep)                                                                 \
  X(isa, u16, u32, keep)                                                                 \
  X(isa, u16, i64, keep)                                                                 \
  X(isa, u16, u64, keep)                                                                 \
  X(isa, u32, i64, keep)                                                                 \
  X(isa, u32, u64, keep)                                                                 \
  X(isa, i8, f32, keep)                                                                  \
  X(isa, i8, f64, keep)                                                                  \
  X(isa, u8, f32, keep)                                                                  \
  X(isa, u8, f64, keep)                                                                  \
  X(isa, i16, f32, keep)                                                                 \
  X(isa, i16, f64, keep)                                                                 \
  X(isa, u16, f32, keep)                                                                 \
  X(isa, u16, f64, keep)                                                                 \
  X(isa, i32, f32, keep)                                                                 \
  X(isa, i32, f64, keep)                                                                 \
  X(isa, u32, f32, keep)                                                                 \
  X(isa, u32, f64, keep)                                                                 \
  X(isa, i64, f64, long)                                                                 \
  X(isa, i16, i8, clamp)                                                                 \
  X(isa, u16, u8, clamp)                                                                 \
  X(isa, i16, u8, clamp)                                                                 \
  X(isa, i32, i8, clamp)                                                                 \
  X(isa, i32, u8, clamp)                                                                 \
  X(isa, i32, i16, clamp)                                                                \
  X(isa, i32, u16, clamp)                                                                \
  X(isa, i64, u8, cut)                                                                   \
  X(isa, i64, i32, cut)                                                                  \
  X(isa, i64, u32, cut)                                                                  \
  X(isa, u64, u32, cut)                                                                  \
  X(isa, u64, i32, cut)                                                                  \
  X(isa, u32, u16, clamp)                                                                \
  X(isa, u32, u8, clamp)                                                                 \
  X(isa, i32, u32, sign)                                                                 \
  X(isa, u32, i32, sign)                                                                 \
  X(isa, i64, u64, sign)                                                                 \
  X(isa, u64, i64, sign)                                                                 \
  X(isa, f32, f64, float)                                                                \
  X(isa, f64, f32, float)                                                                \
  X(isa, f32, i8, round)                                                                 \
  X(isa, f32, u8, round)                                                                 \
  X(isa, f32, i16, round)                                                                \
  X(isa, f32, u16, round)                                                                \
  X(isa, f64, i8, round)                                                                 \
  X(isa, f64, u8, round)                                                                 \
  X(isa, f64, i16, round)                                                                \
  X(isa, f64, u16, round)                                                                \
  X(isa, f64, i32, round)                                                                \
  X(isa, f32, i32, whole)

#define MT_DIRECT(isa, from, to, how)                                                    \
  MT_CAST_FOR_##isa static bool from##_##to##_##isa(char *dst, const char *src,          \
                                                    int64_t n) {                         \
    MT_MET_##from met = 0;                                                               \
    for (int64_t i = 0; i < n; i++) {                                                    \
      MT_C_##from x;                                                                     \
      MT_C_##to y;                                                                       \
      memcpy(&x, src + i * (int64_t)sizeof x, sizeof x);                                 \
      MT_DO_##how(from, to);                                                             \
      memcpy(dst + i * (int64_t)sizeof y, &y, sizeof y);                                 \
    }                                                                                    \
    return met == 0;                                                                     \
  }
#define MT_LOOPS(isa, ...) MT_DIRECTS(MT_DIRECT, isa)
MT_CAST_ISAS(MT_LOOPS, )

typedef struct direct {
  mt_dtype from, to;
  mt_cast_direct *move;
} direct;

#define MT_ROW(isa, from, to, how) {MT_##from, MT_##to, from##_##to##_##isa},
#define MT_TABLE(isa, ...) static const direct list_##isa[] = {MT_DIRECTS(MT_ROW, isa)};
MT_CAST_ISAS(MT_TABLE, )

mt_cast_direct *mt_cpu_direct (mt_dtype from, mt_dtype to) {
  const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  const direct *list = NULL;
#define MT_TAKE(isa, ...)                                                                \
  if (list == NULL && MT_CAST_HAS_##isa) list = list_##isa;
  MT_CAST_ISAS(MT_TAKE, )
  for (size_t i = 0; little && i < sizeof list_plain / sizeof list_plain[0]; i++)
    if (list[i].from == from && list[i].to == to) return list[i].move;
  return NULL;
}
