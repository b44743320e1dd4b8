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
template <typename T> MT_INLINE void write_global (void *p, const T &x) { *(T *)p = x; }
} // namespace mt
#endif
#include "kernels/gemm/window.cuh"

namespace mt {

MT_INLINE uint32_t pack_divide (uint32_t n, const mt_divisor &by) {
  return by.extent == 1 ? n : __umulhi(n, by.mul) >> by.shift;
}

/* A vector of the result: where it goes, and what has its bytes. */
struct pack_piece {
  char *to;
  uint32_t shift; /* bytes of x before them */
  int bytes;      /* that are real */
  vector x, y;

  MT_INLINE void fetch (const mt_pack_operand &o, uint32_t n) {
    const uint32_t row = pack_divide(n, o.vectors), batch = pack_divide(row, o.rows);
    const int64_t at = (int64_t)(n - row * o.vectors.extent) * MT_PACK_VECTOR;
    const uint32_t in = row - batch * o.rows.extent;
    const char *from = o.from + batch * o.from_batch + in * o.from_pitch + at;
    to = o.to + row * o.to_pitch + at;
    bytes = o.bytes - at < MT_PACK_VECTOR ? (int)(o.bytes - at) : MT_PACK_VECTOR;
    shift = (uint32_t)((uintptr_t)from % MT_PACK_VECTOR);
    x = window_at(from - shift, o.low, o.high);
    y = {};
    if (shift + bytes > MT_PACK_VECTOR)
      y = window_at(from - shift + MT_PACK_VECTOR, o.low, o.high);
  }
  MT_INLINE void store () const {
    uint32_t w[8];
#pragma unroll
    for (int i = 0; i < 8; i++) w[i] = i < 4 ? x.w[i] : y.w[i - 4];
    vector v = shifted(w, (int)shift);
    keep_bytes(v, bytes);
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
