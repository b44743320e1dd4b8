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
** high. Those are 0; the others come one by one, those of a word together. */
MT_INLINE vector window_at (const char *p, const char *low, const char *high) {
  if (p >= low && p + 16 <= high) return read_global<vector>(p);
  vector v = {};
#pragma unroll 1
  for (p += 12;; p -= 4) {
    uint32_t byte[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
      byte[i] = p + i >= low && p + i < high ? read_global<uint8_t>(p + i) : 0;
    for (int i = 3; i > 0; i--) v.w[i] = v.w[i - 1];
    v.w[0] = byte[0] | byte[1] << 8 | byte[2] << 16 | byte[3] << 24;
    if ((uintptr_t)p % 16 == 0) return v;
  }
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
