/*
** pack.cuh - operands whose rows begin anywhere, brought into rows that TMA takes: both
** in one launch.
** SPDX-License-Identifier: MIT
**
**   source    | . . a a | a a a a | a a a . |     aligned vectors, two of which
**                  \___________\                  have the bytes of one
**   packed    | a a a a | a a a a | a 0 0 0 |     aligned vectors, one a thread
**
** The launch of the product comes up meanwhile, and waits for the end of this one.
*/
#ifndef PACK_CUH
#define PACK_CUH

#include "gemm/pack_desc.h"

#define MT_INLINE __device__ __forceinline__
#ifndef MT_EMULATED
#include "kernels/gemm/sm90.cuh"

namespace mt {
/* What lies in global memory. */
template <typename T> MT_INLINE T read_global (const void *p) { return *(const T *)p; }
template <typename T> MT_INLINE void write_global (void *p, const T &x) { *(T *)p = x; }
} // namespace mt
#endif

namespace mt {

struct alignas(MT_PACK_VECTOR) pack_vector {
  uint32_t w[4];
};

MT_INLINE uint32_t pack_divide (uint32_t n, const mt_divisor &by) {
  return by.extent == 1 ? n : __umulhi(n, by.mul) >> by.shift;
}

/* The aligned vector at p, of which some bytes may be outside of the operand's memory. */
MT_INLINE pack_vector pack_window (const char *p, const mt_pack_operand &o) {
  if (p >= o.low && p + MT_PACK_VECTOR <= o.high) return read_global<pack_vector>(p);
  pack_vector v = {};
#pragma unroll 1
  for (int i = MT_PACK_VECTOR - 1; i >= 0; i--) {
    for (int j = 3; j > 0; j--) v.w[j] = v.w[j] << 8 | v.w[j - 1] >> 24;
    v.w[0] <<= 8;
    if (p + i >= o.low && p + i < o.high) v.w[0] |= read_global<uint8_t>(p + i);
  }
  return v;
}

/* A vector of the result: where it goes, and what has its bytes. */
struct pack_piece {
  char *to;
  uint32_t shift; /* bytes of x before them */
  int bytes;      /* that are real */
  pack_vector x, y;

  MT_INLINE void fetch (const mt_pack_operand &o, uint32_t n) {
    const uint32_t row = pack_divide(n, o.vectors), batch = pack_divide(row, o.rows);
    const int64_t at = (int64_t)(n - row * o.vectors.extent) * MT_PACK_VECTOR;
    const uint32_t in = row - batch * o.rows.extent;
    const char *from = o.from + batch * o.from_batch + in * o.from_pitch + at;
    to = o.to + row * o.to_pitch + at;
    bytes = o.bytes - at < MT_PACK_VECTOR ? (int)(o.bytes - at) : MT_PACK_VECTOR;
    shift = (uint32_t)((uintptr_t)from % MT_PACK_VECTOR);
    x = pack_window(from - shift, o);
    y = {};
    if (shift + bytes > MT_PACK_VECTOR) y = pack_window(from - shift + MT_PACK_VECTOR, o);
  }
  /* 16 bytes of x and y, from byte `shift` on. */
  MT_INLINE void store () const {
    uint32_t w[8];
    pack_vector v;
#pragma unroll
    for (int i = 0; i < 8; i++) w[i] = i < 4 ? x.w[i] : y.w[i - 4];
#pragma unroll
    for (int i = 0; i < 6; i++) w[i] = shift & 8 ? w[i + 2] : w[i];
#pragma unroll
    for (int i = 0; i < 5; i++) w[i] = shift & 4 ? w[i + 1] : w[i];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const int real = bytes - 4 * i;
      v.w[i] = __funnelshift_r(w[i], w[i + 1], shift % 4 * 8);
      if (real < 4) v.w[i] &= real <= 0 ? 0 : (1u << real * 8) - 1;
    }
    write_global(to, v);
  }
};

/* Neighbours go to neighbours; all that a thread reads is on its way before it writes. */
template <int UNROLL> MT_INLINE void run_pack (const mt_pack_launch &p) {
  grid_let_next();
  const bool first = blockIdx.x < p.operand[0].blocks;
  const mt_pack_operand &o = p.operand[first ? 0 : 1];
  const uint32_t block = first ? blockIdx.x : blockIdx.x - p.operand[0].blocks;
  const uint32_t n = block * (MT_PACK_THREADS * UNROLL) + threadIdx.x;
  pack_piece piece[UNROLL];
  grid_wait();
#pragma unroll
  for (int i = 0; i < UNROLL; i++)
    if (n + i * MT_PACK_THREADS < o.all) piece[i].fetch(o, n + i * MT_PACK_THREADS);
#pragma unroll
  for (int i = 0; i < UNROLL; i++)
    if (n + i * MT_PACK_THREADS < o.all) piece[i].store();
}

} // namespace mt
#undef MT_INLINE
#endif
