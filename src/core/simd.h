/*
** simd.h - private: the few things that C11 has no words for. Plain C does without.
** SPDX-License-Identifier: MIT
**
** MT_SIMD: vectors of 16 bytes; mt_low and mt_high interleave the halves of two of them.
** MT_STREAM: stores that go past the caches.
*/
#ifndef MT_CORE_SIMD_H
#define MT_CORE_SIMD_H

#include <stdint.h>
#include <string.h>

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define MT_SIMD 1
#endif
#endif
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#undef MT_SIMD
#define MT_SIMD 1
#endif

#if defined(__SSE2__)
#include <emmintrin.h>
#define MT_STREAM 1
static inline void mt_stream16 (void *to, const void *from) {
  _mm_stream_si128((__m128i *)to, _mm_loadu_si128((const __m128i *)from));
}
static inline void mt_stream_end (void) { _mm_sfence(); }
#else
static inline void mt_stream_end (void) {}
#endif

#if defined(__GNUC__)
#define mt_prefetch(p) __builtin_prefetch(p)
#else
#define mt_prefetch(p) ((void)(p))
#endif

#if defined(__clang__)
#define MT_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define MT_UNROLL _Pragma("GCC unroll 16")
#else
#define MT_UNROLL
#endif

#ifdef MT_SIMD
typedef uint8_t mt_v8 __attribute__((vector_size(16)));
typedef uint16_t mt_v16 __attribute__((vector_size(16)));
typedef uint32_t mt_v32 __attribute__((vector_size(16)));
typedef uint64_t mt_v64 __attribute__((vector_size(16)));
#define mt_low_8(a, b)                                                                   \
  __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define mt_high_8(a, b)                                                                  \
  __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,    \
                          15, 31)
#define mt_low_16(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define mt_high_16(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define mt_low_32(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define mt_high_32(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#define mt_low_64(a, b) __builtin_shufflevector(a, b, 0, 2)
#define mt_high_64(a, b) __builtin_shufflevector(a, b, 1, 3)
/* W vectors of W elements, transposed: log2 W rounds of interleaving the halves. */
#define MT_TURN_VECTORS(bits, W)                                                         \
  static inline void mt_turn_##bits(mt_v##bits x[W]) {                                   \
    mt_v##bits y[W];                                                                     \
    MT_UNROLL for (int n = 1; n < W; n *= 2) {                                           \
      MT_UNROLL for (int i = 0; i < W / 2; i++) {                                        \
        y[2 * i] = mt_low_##bits(x[i], x[i + W / 2]);                                    \
        y[2 * i + 1] = mt_high_##bits(x[i], x[i + W / 2]);                               \
      }                                                                                  \
      MT_UNROLL for (int i = 0; i < W; i++) x[i] = y[i];                                 \
    }                                                                                    \
  }
MT_TURN_VECTORS(8, 16)
MT_TURN_VECTORS(16, 8)
MT_TURN_VECTORS(32, 4)
MT_TURN_VECTORS(64, 2)
#undef MT_TURN_VECTORS
#endif

#endif
