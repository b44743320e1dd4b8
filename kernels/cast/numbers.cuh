/*
** numbers.cuh - what instructions make of numbers: a few for an element, or for two.
** SPDX-License-Identifier: MIT
**
** Each gives what types/convert.h says, but of NaNs: an instruction keeps nothing of
** them. A float of 32 bits is a carrier of all that becomes a narrower float. What it
** cannot hold is rounded to odd: the last bit says that there was more, so the next
** rounding is as if it were the first one.
** Where MT_INSTRUCTIONS is not defined, nothing here is used.
*/
#ifndef CAST_NUMBERS_CUH
#define CAST_NUMBERS_CUH

#include "desc/cast_desc.h"
#include "kernels/copy/transpose.cuh"

#define MT_INLINE __device__ __forceinline__

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define MT_INSTRUCTIONS
#endif

namespace mt {

/* ------------------------------------------------------------------ types */

#define MT_DTYPE(name, kind, bytes, in_c, element, e, m, top, ...)                       \
  struct name##_number {                                                                 \
    enum {                                                                               \
      BYTES = bytes,                                                                     \
      KIND = MT_KIND_##kind,                                                             \
      FLOAT = KIND == MT_KIND_FLOAT,                                                     \
      ANY = 0,                                                                           \
      E = e                                                                              \
    };                                                                                   \
    static MT_INLINE mt_cast_type type () {                                              \
      return MT_CAST_ROW(kind, bytes, e, m, top);                                        \
    }                                                                                    \
  };
#include "moontile/dtypes.def"

/* Known at run time: any, any that round, those of so many bytes. */
struct any_number {
  enum { BYTES = 0 };
};
struct rounded_number {
  enum { BYTES = 0 };
};
template <int N> struct sized_number {
  enum { BYTES = N, FLOAT = 0, ANY = 1 };
};
typedef sized_number<1> any1_number;
typedef sized_number<2> any2_number;
typedef sized_number<4> any4_number;
typedef sized_number<8> any8_number;

MT_INLINE bool is_nan (uint32_t x) { return mt_as_float(x) != mt_as_float(x); }

/* ------------------------------------------------------------------ instructions */

#ifdef __CUDA_ARCH__
MT_INLINE float half_to_float (uint32_t h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"((uint16_t)h));
  return f;
}

MT_INLINE int32_t half_to_int (uint32_t h) {
  int32_t i;
  asm("cvt.rni.s32.f16 %0, %1;" : "=r"(i) : "h"((uint16_t)h));
  return i;
}

MT_INLINE uint32_t half_to_uint (uint32_t h) {
  uint32_t i;
  asm("cvt.rni.u32.f16 %0, %1;" : "=r"(i) : "h"((uint16_t)h));
  return i;
}

/* a and b, saturated; of bytes `high` behind them. */
#define MT_PACK(name, type, ...)                                                         \
  MT_INLINE uint32_t pack_##name(int32_t a, int32_t b, uint32_t high) {                  \
    uint32_t d;                                                                          \
    asm("cvt.pack.sat." type ".s32" __VA_ARGS__ ";"                                      \
        : "=r"(d)                                                                        \
        : "r"(b), "r"(a), "r"(high));                                                    \
    return d;                                                                            \
  }
MT_PACK(i8, "s8", ".b32 %0, %1, %2, %3")
MT_PACK(u8, "u8", ".b32 %0, %1, %2, %3")
MT_PACK(i16, "s16", " %0, %1, %2")
MT_PACK(u16, "u16", " %0, %1, %2")
#undef MT_PACK
#endif

#ifdef MT_INSTRUCTIONS

template <class D> MT_INLINE uint32_t pack (int32_t a, int32_t b, uint32_t high) {
  constexpr bool isint = (int)D::KIND == MT_KIND_INT;
  if (D::BYTES == 2) return isint ? pack_i16(a, b, high) : pack_u16(a, b, high);
  return isint ? pack_i8(a, b, high) : pack_u8(a, b, high);
}

/* ------------------------------------------------------------------ floats */

/* The bits of the f32 next to x, x towards 0: the odd one of the two between which the
** number lies, itself if it is one. */
MT_INLINE uint32_t odd (uint32_t x, bool more) { return more ? x | 1 : x; }

MT_INLINE uint32_t odd_float (uint32_t n) {
  const uint32_t x = mt_float_as(__uint2float_rz(n));
  return odd(x, x != mt_float_as(__uint2float_ru(n)));
}

MT_INLINE uint32_t odd_float (uint64_t n) {
  const uint32_t x = mt_float_as(__ull2float_rz(n));
  return odd(x, x != mt_float_as(__ull2float_ru(n)));
}

MT_INLINE uint32_t odd_float (double f) {
  const float x = __double2float_rz(f);
  return odd(mt_float_as(x), (double)x != f);
}

/* A float as a f32: a NaN remains one; of e4m3 it is none. */
template <class S> MT_INLINE uint32_t float_of (uint64_t bits) {
  const uint32_t b = (uint32_t)bits;
  if (S::BYTES == 8) return odd_float(mt_as_double(bits));
  if (S::BYTES == 4) return b;
  if (S::E == 8) return b << 16;
  if (S::BYTES == 2) return mt_float_as(half_to_float(b));
  if (S::E == 5) return mt_float_as(half_to_float(b << 8));
  const uint32_t code = (b & 127) << 20 | b >> 7 << 31; /* 2^-120 of it */
  return mt_float_as(mt_as_float(code) * 1329227995784915872903807060280344576.0f);
}

/* ------------------------------------------------------------------ to integers */

/* The nearest i32: 0 of a NaN. */
template <class S> MT_INLINE int32_t int_of (uint64_t bits) {
  const uint32_t b = (uint32_t)bits, high = (uint32_t)(bits >> 32), top = 0x7fffffff;
  if constexpr (S::FLOAT && S::BYTES == 8) {
    const double f = mt_as_double(bits);
    return f == f ? __double2int_rn(f) : 0;
  }
  if (S::FLOAT && S::BYTES == 2 && S::E == 5) return half_to_int(b);
  if (S::FLOAT) return __float2int_rn(mt_as_float(float_of<S>(bits)));
  if ((int)S::KIND == MT_KIND_BOOL) return b != 0;
  if ((int)S::KIND == MT_KIND_UINT) {
    const uint32_t n = S::BYTES == 8 && high != 0 ? top : b;
    return (int32_t)(n < top ? n : top);
  }
  if (S::BYTES == 1) return (int8_t)b;
  if (S::BYTES == 2) return (int16_t)b;
  if (S::BYTES == 4 || (int32_t)high == (int32_t)b >> 31) return (int32_t)b;
  return (int32_t)((uint32_t)((int32_t)high >> 31) ^ top);
}

template <class S> MT_INLINE uint32_t uint_of (uint64_t bits) {
  const uint32_t b = (uint32_t)bits, high = (uint32_t)(bits >> 32);
  if constexpr (S::FLOAT && S::BYTES == 8) {
    const double f = mt_as_double(bits);
    return f == f ? __double2uint_rn(f) : 0;
  }
  if (S::FLOAT && S::BYTES == 2 && S::E == 5) return half_to_uint(b);
  if (S::FLOAT) return __float2uint_rn(mt_as_float(float_of<S>(bits)));
  if ((int)S::KIND == MT_KIND_UINT) return S::BYTES == 8 && high != 0 ? ~0u : b;
  if (S::BYTES == 8) return high == 0 ? b : ~(uint32_t)((int32_t)high >> 31);
  const int32_t n = int_of<S>(bits);
  return n < 0 ? 0 : (uint32_t)n;
}

/* An i64, or a u64. */
template <class S, bool SIGNED> MT_INLINE uint64_t long_of (uint64_t bits) {
  if constexpr (S::FLOAT && S::BYTES == 8) {
    const double f = mt_as_double(bits);
    const uint64_t n = SIGNED ? (uint64_t)__double2ll_rn(f) : __double2ull_rn(f);
    return f == f ? n : 0;
  } else if constexpr (S::FLOAT) {
    const float f = mt_as_float(float_of<S>(bits));
    const uint64_t n = SIGNED ? (uint64_t)__float2ll_rn(f) : __float2ull_rn(f);
    return f == f ? n : 0;
  } else if constexpr (S::BYTES == 8)
    return mt_cast_bits(bits, S::type(),
                        SIGNED ? i64_number::type() : u64_number::type());
  else if constexpr (SIGNED && (int)S::KIND == MT_KIND_INT)
    return (uint64_t)(int64_t)int_of<S>(bits);
  else if constexpr ((int)S::KIND == MT_KIND_BOOL) return bits != 0;
  else return uint_of<S>(bits);
}

/* ------------------------------------------------------------------ to floats */

template <class S> MT_INLINE uint32_t single_of (uint64_t bits) {
  if constexpr (S::FLOAT && S::BYTES == 8)
    return mt_float_as(__double2float_rn(mt_as_double(bits)));
  else if constexpr (S::FLOAT) return float_of<S>(bits);
  else if constexpr (S::BYTES == 8)
    return mt_float_as((int)S::KIND == MT_KIND_INT ? (float)(int64_t)bits : (float)bits);
  else if constexpr ((int)S::KIND == MT_KIND_UINT)
    return mt_float_as((float)(uint32_t)bits);
  else return mt_float_as((float)int_of<S>(bits));
}

template <class S> MT_INLINE uint64_t double_of (uint64_t bits) {
  if constexpr (S::FLOAT) return mt_double_as((double)mt_as_float(float_of<S>(bits)));
  else if constexpr (S::BYTES == 8)
    return mt_double_as((int)S::KIND == MT_KIND_INT ? (double)(int64_t)bits :
                                                      (double)bits);
  else if constexpr ((int)S::KIND == MT_KIND_UINT)
    return mt_double_as((double)(uint32_t)bits);
  else return mt_double_as((double)int_of<S>(bits));
}

/* An integer of more than 16 bits as a f32, rounded to odd. */
template <class S> MT_INLINE uint32_t wide_float_of (uint64_t bits) {
  if ((int)S::KIND == MT_KIND_UINT)
    return S::BYTES == 4 ? odd_float((uint32_t)bits) : odd_float(bits);
  const int64_t n = S::BYTES == 4 ? (int32_t)bits : (int64_t)bits;
  const uint64_t a = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
  const uint32_t x = S::BYTES == 4 ? odd_float((uint32_t)a) : odd_float(a);
  return x | (n < 0 ? 0x80000000u : 0);
}

/* To D, a float of 16 bits or less: all but bf16 have no number beyond 2^16. */
template <class S, class D> MT_INLINE uint32_t carrier_of (uint64_t bits) {
  constexpr bool far = !S::FLOAT && S::BYTES >= 4;
  if constexpr (far && D::E == 8) return wide_float_of<S>(bits);
  else if constexpr (far) {
    const int32_t most = 65536, n = int_of<S>(bits);
    return mt_float_as((float)(n > most ? most : n < -most ? -most : n));
  } else if constexpr (S::FLOAT) return float_of<S>(bits);
  else return single_of<S>(bits);
}
#endif

} // namespace mt

#undef MT_INLINE
#endif
