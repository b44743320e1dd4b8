/*
** convert.cuh - elements in words of four bytes, converted.
** SPDX-License-Identifier: MIT
**
** What becomes of an element says types/convert.h. Where an instruction does the same to
** two numbers at once, it is taken, but for NaNs.
*/
#ifndef CONVERT_CUH
#define CONVERT_CUH

#include "desc/cast_desc.h"
#include "kernels/copy/transpose.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* ------------------------------------------------------------------ numbers */

#define MT_DTYPE(name, kind, bytes, in_c, element, e, m, top, ...)                       \
  struct name##_number {                                                                 \
    enum { BYTES = bytes, FLOAT = MT_KIND_##kind == MT_KIND_FLOAT, ANY = 0, E = e };     \
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

MT_INLINE bool is_nan (uint32_t x) { return mt_as_float(x) != mt_as_float(x); }

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

/* N f32. */
template <class D, int N> MT_INLINE void quarter (uint32_t *to, const uint32_t *from) {
  bool beyond = false;
#pragma unroll
  for (int i = 0; i < N; i++)
    beyond |= !(mt_as_float(from[i] & 0x7fffffff) <= (float)byte_pair<D>::MOST);
#pragma unroll
  for (int i = 0; i < (N + 3) / 4; i++) to[i] = 0;
#pragma unroll
  for (int i = 0; i < N; i += 2)
    to[i / 4] |= byte_pair<D>::of(from[i], from[i + 1]) << 8 * (i % 4);
  if (!beyond) return;
#pragma unroll
  for (int i = 0; i < (N + 3) / 4; i++) to[i] = 0;
#pragma unroll
  for (int i = 0; i < N; i++) put_element<1>(to, i, mt_cast_narrow(from[i], D::type()));
}

/* An element as a f32 that becomes the same in D: integers of more than 16 bits as far as
** D, of less than 2^24, tells them apart. */
template <class S, class D> struct through_f32 {
  enum { HERE = S::BYTES < 4 || (S::BYTES == 4 && S::FLOAT) || (!S::FLOAT && D::E < 8) };
  static MT_INLINE uint32_t of (uint64_t bits) {
    if constexpr (S::FLOAT || S::BYTES < 4) return mt_cast_load_f32(bits, S::type());
    const int64_t most = 1 << 24, n = mt_cast_load_i64(bits, S::type());
    const bool far = S::BYTES == 8 && S::type().kind == MT_KIND_UINT && n < 0;
    return mt_float_as((float)(int32_t)(far || n > most ? most : n < -most ? -most : n));
  }
};

/* N elements. */
template <class S, class D, int N>
MT_INLINE void convert_words (uint32_t *to, const uint32_t *from) {
  if constexpr ((half_pair<D>::HERE || byte_pair<D>::HERE) && N % 2 == 0 &&
                through_f32<S, D>::HERE) {
    uint32_t x[N];
#pragma unroll
    for (int i = 0; i < N; i++)
      x[i] = through_f32<S, D>::of(get_element<S::BYTES>(from, i));
    if constexpr (half_pair<D>::HERE) halve<D, N>(to, x);
    else quarter<D, N>(to, x);
  } else {
#pragma unroll
    for (int i = 0; i < (N * D::BYTES + 3) / 4; i++) to[i] = 0;
#pragma unroll
    for (int i = 0; i < N; i++)
      put_element<D::BYTES>(to, i, convert<S, D>(get_element<S::BYTES>(from, i)));
  }
}

} // namespace mt

#undef MT_INLINE
#endif
