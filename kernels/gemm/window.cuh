/*
** window.cuh - 16 bytes that begin anywhere, out of the two aligned vectors that have
** them.
** SPDX-License-Identifier: MIT
**
**   | . . a a a a | a a . . . . |   two windows of memory, a few bytes shifted
**         \________________/
**
** read_global() is that of the family, or of the test.
*/
#ifndef WINDOW_CUH
#define WINDOW_CUH

namespace mt {

struct alignas(16) vector {
  uint32_t w[4];
};

/* The aligned vector at p, of which some bytes may be outside of what is from low to
** high: those are 0. The others come one by one, in a loop: more at once would take
** registers of every window, few of which need it. */
MT_INLINE vector window_at (const char *p, const char *low, const char *high) {
  vector v = {};
  if (p >= low && p + 16 <= high) return read_global<vector>(p);
#pragma unroll 1
  for (int i = 15; i >= 0; i--) {
    for (int j = 3; j > 0; j--) v.w[j] = v.w[j] << 8 | v.w[j - 1] >> 24;
    v.w[0] <<= 8;
    if (p + i >= low && p + i < high) v.w[0] |= read_global<uint8_t>(p + i);
  }
  return v;
}

/* 16 bytes of two vectors, from byte `shift` on. */
MT_INLINE vector shifted (const uint32_t *w, int shift) {
  uint32_t x[8];
  vector v;
#pragma unroll
  for (int i = 0; i < 8; i++) x[i] = shift & 8 ? (i < 6 ? w[i + 2] : 0) : w[i];
#pragma unroll
  for (int i = 0; i < 5; i++) x[i] = shift & 4 ? x[i + 1] : x[i];
#pragma unroll
  for (int i = 0; i < 4; i++) v.w[i] = __funnelshift_r(x[i], x[i + 1], shift % 4 * 8);
  return v;
}

/* Its first bytes, then 0. */
MT_INLINE void keep_bytes (vector &v, int bytes) {
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int real = bytes - 4 * i;
    if (real < 4) v.w[i] &= real <= 0 ? 0 : (1u << real * 8) - 1;
  }
}

} // namespace mt
#endif
