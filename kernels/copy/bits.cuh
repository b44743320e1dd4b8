/*
** bits.cuh - copies that permute the bits of an index: boxes through shared memory.
** SPDX-License-Identifier: MIT
**
** A unit is an access of ES bytes, a vector 16 bytes. All names are in desc/bits_desc.h.
** A block moves one box: its vectors of the source arrive asynchronously; what a thread
** needs to know of its vectors it finds out meanwhile, and once: what another round adds
** is known.
*/
#ifndef BITS_CUH
#define BITS_CUH

#include "desc/bits_desc.h"
#include "kernels/copy/permute.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* Where the thread's first vector is, by the bits of its number. */
struct bits_place {
  int64_t global;
  uint32_t shared;
  MT_INLINE bits_place (const mt_bits_step step[MT_BITS_LOG], uint32_t n)
      : global(0), shared(0) {
#pragma unroll
    for (int i = 0; i < MT_BITS_LOG; i++)
      if (n >> i & 1) global += step[i].global, shared ^= step[i].shared;
  }
};

/* Rounds of 2^log vectors. */
MT_INLINE uint32_t bits_rounds (uint32_t log) {
  return log > MT_BITS_LOG ? 1u << (log - MT_BITS_LOG) : 1;
}

/* To the block's box. */
MT_INLINE void bits_move (sides &s, const mt_desc &d) {
  const mt_bits_box &b = d.bits;
#pragma unroll 1
  for (uint32_t i = 0; i < b.grid; i++)
    if (blockIdx.x >> i & 1) s.src += b.block[i][MT_SRC], s.dst += b.block[i][MT_DST];
  place at = {};
  walk(at, d, b.first, d.nthr + d.nrest, blockIdx.x >> b.grid);
  s.move(d, at);
}

template <int ES> MT_INLINE void copy_bits (const mt_launch &p) {
  MT_DYNAMIC(shared, MT_BITS_SHARED);
  typedef typename box_vectors<ES, 1>::word word;
  enum { V = 16 / ES, AT_ONCE = ES < 4 ? 1 : 2 };
  const mt_bits_box &b = p.desc.bits;
  const near box = near_of(shared);
  const uint32_t t = threadIdx.x;
  sides side(p);
  bits_move(side, p.desc);
  const bits_place from(b.load, t);
  const char *src = side.src + (b.low + from.global);
  const uint32_t loads = t >> b.loads == 0 ? bits_rounds(b.loads) : 0;
#pragma unroll 1
  for (uint32_t r = 0; r < loads; r++)
    fetch(box + (from.shared ^ b.load_round[r].shared), src + b.load_round[r].global);
  const bits_place to(b.store, t);
  char *dst = side.dst + to.global;
  const uint32_t stores = t >> b.stores == 0 ? bits_rounds(b.stores) : 0;
  fetched();
#pragma unroll AT_ONCE
  for (uint32_t r = 0; r < stores; r++) {
    const uint32_t first = to.shared ^ b.start ^ b.store_round[r].shared;
    word x[V];
    uint4 out;
#pragma unroll
    for (int j = 0; j < V; j++) x[j] = *(const word *)there(box + (first ^ b.lane[j]));
    box_vectors<ES, 1>::of(&out, x);
    store<16>(dst + b.store_round[r].global, out);
  }
}

template <int BYTES, int UNROLL> struct copier<MT_ALGO_BITS, BYTES, UNROLL> {
  static MT_INLINE void run (const mt_launch &p) { copy_bits<BYTES>(p); }
};

} // namespace mt

/* Blocks of an SM; without a number as many as registers allow. */
#define MT_BOUNDS_BITS(threads, unroll) __launch_bounds__(threads, 6)

#undef MT_INLINE
#endif
