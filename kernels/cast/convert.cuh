/*
** convert.cuh - elements in words of four bytes, converted.
** SPDX-License-Identifier: MIT
**
** What becomes of an element says types/convert.h. Where instructions do the same to
** numbers they are taken (numbers.cuh), of one or of two at once; NaNs take the long way
** where an instruction would lose what they carry.
*/
#ifndef CONVERT_CUH
#define CONVERT_CUH

#include "kernels/cast/numbers.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

template <class S, class D> MT_INLINE uint64_t convert (uint64_t bits) {
  return mt_cast_bits(bits, S::type(), D::type());
}

/* Bytes at p as words of four, and back. */
template <int BYTES> MT_INLINE void read_words (uint32_t *w, const char *p) {
  if constexpr (BYTES <= 4) w[0] = *(const typename word<BYTES>::type *)p;
  else if constexpr (BYTES == 8) {
    const uint2 v = *(const uint2 *)p;
    w[0] = v.x, w[1] = v.y;
  } else {
    const uint4 v = *(const uint4 *)p;
    w[0] = v.x, w[1] = v.y, w[2] = v.z, w[3] = v.w;
  }
}

template <int BYTES> MT_INLINE void load_words (uint32_t *w, const char *p) {
  if constexpr (BYTES <= 4) w[0] = load<BYTES>(p);
  else if constexpr (BYTES == 8) {
    const uint2 v = load<8>(p);
    w[0] = v.x, w[1] = v.y;
  } else {
    const uint4 v = load<16>(p);
    w[0] = v.x, w[1] = v.y, w[2] = v.z, w[3] = v.w;
  }
}

template <int BYTES> MT_INLINE void write_words (char *p, const uint32_t *w) {
  if constexpr (BYTES <= 4) store<BYTES>(p, (typename word<BYTES>::type)w[0]);
  else if constexpr (BYTES == 8) store<8>(p, make_uint2(w[0], w[1]));
  else store<16>(p, make_uint4(w[0], w[1], w[2], w[3]));
}

/* Element i in words. Those that are written begin as 0. */
template <int ES> MT_INLINE uint64_t get_element (const uint32_t *w, int i) {
  if (ES == 1) return w[i / 4] >> 8 * (i % 4) & 255;
  if (ES == 2) return w[i / 2] >> 16 * (i % 2) & 65535;
  if (ES == 4) return w[i];
  return w[2 * i] | (uint64_t)w[2 * i + 1] << 32;
}

template <int ES> MT_INLINE void put_element (uint32_t *w, int i, uint64_t bits) {
  const uint32_t low = (uint32_t)bits;
  if (ES == 1) w[i / 4] |= (low & 255) << 8 * (i % 4);
  if (ES == 2) w[i / 2] |= (low & 65535) << 16 * (i % 2);
  if (ES == 4) w[i] = low;
  if (ES == 8) w[2 * i] = low, w[2 * i + 1] = (uint32_t)(bits >> 32);
}

/* Two f32 as halves of 16 bits, the second behind the first: of numbers the same as
** mt_cast_bits. */
template <class D> struct half_pair {
  enum { HERE = 0 };
};
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define MT_HALF_PAIR(name, instruction)                                                  \
  template <> struct half_pair<name##_number> {                                          \
    enum { HERE = 1 };                                                                   \
    static MT_INLINE uint32_t of (uint32_t a, uint32_t b) {                              \
      uint32_t d;                                                                        \
      asm(instruction " %0, %1, %2;"                                                     \
          : "=r"(d)                                                                      \
          : "f"(__uint_as_float(b)), "f"(__uint_as_float(a)));                           \
      return d;                                                                          \
    }                                                                                    \
  };
MT_HALF_PAIR(f16, "cvt.rn.f16x2.f32")
MT_HALF_PAIR(bf16, "cvt.rn.bf16x2.f32")
#undef MT_HALF_PAIR
#endif

/* N f32. */
template <class D, int N> MT_INLINE void halve (uint32_t *to, const uint32_t *from) {
  bool nans = false;
#pragma unroll
  for (int i = 0; i < N; i++) nans |= is_nan(from[i]);
#pragma unroll
  for (int i = 0; i < N; i += 2) to[i / 2] = half_pair<D>::of(from[i], from[i + 1]);
  if (!nans) return;
#pragma unroll
  for (int i = 0; i < N; i++) {
    const uint32_t shift = 16 * (i % 2), other = to[i / 2] & ~(65535u << shift);
    const uint32_t nan = from[i] >> 31 << 15 | mt_cast_nan(from[i], D::type());
    if (is_nan(from[i])) to[i / 2] = other | nan << shift;
  }
}

/* Two f32 as two bytes, the second behind the first: up to the largest number the same as
** mt_cast_bits. */
template <class D> struct byte_pair {
  enum { HERE = 0 };
};
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
#define MT_BYTE_PAIR(name, instruction, largest)                                         \
  template <> struct byte_pair<name##_number> {                                          \
    enum { HERE = 1, MOST = largest };                                                   \
    static MT_INLINE uint32_t of (uint32_t a, uint32_t b) {                              \
      uint16_t d;                                                                        \
      asm(instruction " %0, %1, %2;"                                                     \
          : "=h"(d)                                                                      \
          : "f"(__uint_as_float(b)), "f"(__uint_as_float(a)));                           \
      return d;                                                                          \
    }                                                                                    \
  };
MT_BYTE_PAIR(e4m3, "cvt.rn.satfinite.e4m3x2.f32", 448)
MT_BYTE_PAIR(e5m2, "cvt.rn.satfinite.e5m2x2.f32", 57344)
#undef MT_BYTE_PAIR
#endif

/* Bytes of numbers beyond the largest get the last bit of a NaN, or become infinity. */
template <class D, int N> MT_INLINE void bytes_beyond (uint32_t *to, const uint32_t *x) {
#pragma unroll
  for (int i = 0; i < N; i++) {
    const float a = mt_as_float(x[i] & 0x7fffffff);
    if (D::E == 4 ? a > 464 : a >= 61440)
      to[i / 4] ^= (D::E == 4 ? 1u : 7u) << 8 * (i % 4);
  }
}

/* N f32, from integers or FLOATs, if none is a NaN: whether that is so. */
template <class D, int N, bool FLOATS>
MT_INLINE bool quarter (uint32_t *to, const uint32_t *from) {
  bool beyond = !FLOATS, nans = false;
#pragma unroll
  for (int i = 0; i < (N + 3) / 4; i++) to[i] = 0;
#pragma unroll
  for (int i = 0; i < N; i += 2)
    to[i / 4] |= byte_pair<D>::of(from[i], from[i + 1]) << 8 * (i % 4);
#pragma unroll
  for (int i = 0; i < N; i++)
    beyond |= !(mt_as_float(from[i] & 0x7fffffff) <= (float)byte_pair<D>::MOST);
  if (!beyond) return true;
#pragma unroll
  for (int i = 0; i < N; i++) nans |= FLOATS && is_nan(from[i]);
  bytes_beyond<D, N>(to, from);
  return !nans;
}

/* ------------------------------------------------------------------ N elements */

template <class S, class D, int N>
MT_INLINE void convert_each (uint32_t *to, const uint32_t *from) {
#pragma unroll
  for (int i = 0; i < (N * D::BYTES + 3) / 4; i++) to[i] = 0;
#pragma unroll
  for (int i = 0; i < N; i++)
    put_element<D::BYTES>(to, i, convert<S, D>(get_element<S::BYTES>(from, i)));
}

#ifdef MT_INSTRUCTIONS

/* To integers of 16 bits or less, and to bool. */
template <class S, class D, int N>
MT_INLINE void pack_words (uint32_t *to, const uint32_t *from) {
  int32_t x[N];
#pragma unroll
  for (int i = 0; i < N; i++) {
    const uint64_t bits = get_element<S::BYTES>(from, i);
    if ((int)D::KIND != MT_KIND_BOOL) x[i] = int_of<S>(bits);
    else x[i] = (S::FLOAT ? bits << (65 - 8 * S::BYTES) : bits) != 0;
  }
#pragma unroll
  for (int i = 0; i < N; i += 4 / D::BYTES) {
    const uint32_t high =
        D::BYTES == 2 || N == 2 ? 0 : pack<D>(x[(i + 2) % N], x[(i + 3) % N], 0);
    to[i * D::BYTES / 4] = pack<D>(x[i], x[i + 1], high);
  }
}

/* That no element is the NaN of e4m3, which instructions take for a number. */
template <class S, int N> MT_INLINE bool are_numbers (const uint32_t *from) {
  uint32_t nans = 0;
  if constexpr (S::BYTES == 1 && S::E == 4)
#pragma unroll
    for (int i = 0; i < (N + 3) / 4; i++) nans |= (from[i] & 0x7f7f7f7f) + 0x01010101;
  return (nans & 0x80808080) == 0;
}

/* Whether one of N f32 is a NaN, of which there was more than they have. */
template <class S, int N> MT_INLINE bool has_nans (const uint32_t *x) {
  bool nans = false;
  if constexpr (S::FLOAT && !(S::E == 8 && S::BYTES <= 4))
#pragma unroll
    for (int i = 0; i < N; i++) nans |= is_nan(x[i]);
  return nans;
}

/* To floats of 16 bits or less: whether it is done, which NaNs may prevent. */
template <class S, class D, int N>
MT_INLINE bool narrow_words (uint32_t *to, const uint32_t *from) {
  uint32_t x[N];
#pragma unroll
  for (int i = 0; i < N; i++) x[i] = carrier_of<S, D>(get_element<S::BYTES>(from, i));
  if constexpr (byte_pair<D>::HERE) return quarter<D, N, S::FLOAT>(to, x);
  else if constexpr (S::E == 8) halve<D, N>(to, x);
  else
#pragma unroll
    for (int i = 0; i < N; i += 2) to[i / 2] = half_pair<D>::of(x[i], x[i + 1]);
  return !has_nans<S, N>(x);
}

/* To all others, each by itself: the same. */
template <class S, class D, int N>
MT_INLINE bool wide_words (uint32_t *to, const uint32_t *from) {
  bool nans = false;
#pragma unroll
  for (int i = 0; i < N; i++) {
    const uint64_t bits = get_element<S::BYTES>(from, i);
    uint64_t y;
    if constexpr (D::FLOAT && D::BYTES == 8) y = double_of<S>(bits);
    else if constexpr (D::FLOAT) y = single_of<S>(bits);
    else if constexpr (D::BYTES == 8) y = long_of<S, (int)D::KIND == MT_KIND_INT>(bits);
    else y = (int)D::KIND == MT_KIND_INT ? (uint32_t)int_of<S>(bits) : uint_of<S>(bits);
    if constexpr (D::FLOAT && S::FLOAT && D::BYTES == 4 && S::E != 8)
      nans |= is_nan((uint32_t)y);
    else if constexpr (D::FLOAT && S::FLOAT && D::BYTES == 8)
      nans |= is_nan(float_of<S>(bits));
    put_element<D::BYTES>(to, i, y);
  }
  return !nans;
}

/* By instructions: whether it is done. */
template <class S, class D, int N>
MT_INLINE bool convert_numbers (uint32_t *to, const uint32_t *from) {
  if constexpr ((int)D::KIND == MT_KIND_BOOL) {
    pack_words<S, D, N>(to, from);
    return true;
  } else if constexpr (D::FLOAT && D::BYTES < 4 && !half_pair<D>::HERE &&
                       !byte_pair<D>::HERE) {
    convert_each<S, D, N>(to, from);
    return true;
  } else {
    if (!are_numbers<S, N>(from)) return false;
    if constexpr (D::FLOAT && D::BYTES < 4) return narrow_words<S, D, N>(to, from);
    else if constexpr (D::BYTES >= 4) return wide_words<S, D, N>(to, from);
    else pack_words<S, D, N>(to, from);
    return true;
  }
}

/* Where there are NaNs: called, since it is long and seldom. */
template <class S, class D, int N>
static __device__ __noinline__ uint4 convert_nans (uint4 v) {
  const uint32_t in[4] = {v.x, v.y, v.z, v.w};
  uint32_t out[4] = {0, 0, 0, 0};
  convert_each<S, D, N>(out, in);
  return make_uint4(out[0], out[1], out[2], out[3]);
}

#endif

/* N elements. */
template <class S, class D, int N>
MT_INLINE void convert_words (uint32_t *to, const uint32_t *from) {
#ifdef MT_INSTRUCTIONS
  enum { IN = (N * S::BYTES + 3) / 4, OUT = (N * D::BYTES + 3) / 4 };
  if constexpr (N % 2 == 0) {
    if (convert_numbers<S, D, N>(to, from)) return;
    uint32_t in[4] = {0, 0, 0, 0};
#pragma unroll
    for (int i = 0; i < IN; i++) in[i] = from[i];
    const uint4 v = convert_nans<S, D, N>(make_uint4(in[0], in[1], in[2], in[3]));
    const uint32_t out[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < OUT; i++) to[i] = out[i];
    return;
  }
#endif
  convert_each<S, D, N>(to, from);
}

} // namespace mt

#undef MT_INLINE
#endif
