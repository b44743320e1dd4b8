/*
** multiplying.cuh - the slabs of a stage after the other by wgmma, which release them.
** SPDX-License-Identifier: MIT
**
**   full[s]  -->  wgmma of slab s begins  -->  slab s - 1 has ended  -->  free[s - 1]
*/
#ifndef MULTIPLYING_CUH
#define MULTIPLYING_CUH

#include "kernels/gemm/loading.cuh"
#include "kernels/gemm/wgmma.cuh"

namespace mt {

/* An operand in shared memory, with 128 bytes of swizzle; atoms are 8 rows of 128 bytes,
** aligned to 1024. K-major: rows are along M or N, the next 8 of them `stride` bytes on.
** MN-major: rows are along K, the next 8 of them `stride` bytes on; the next 64 elements
** of M or N lie `leading` bytes on. */
MT_INLINE uint64_t operand (uint32_t address, uint32_t leading, uint32_t stride) {
  return (uint64_t)1 << 62 | (uint64_t)(stride >> 4) << 32 |
         (uint64_t)(leading >> 4) << 16 | (address & 0x3ffff) >> 4;
}

/* One slab: four instructions of 32 bytes of K. */
template <typename H>
MT_INLINE void multiply (typename H::sum *c, uint32_t a, uint32_t b, bool first) {
  const uint64_t from_a = operand(a, MT_CHUNK, 1024), from_b = operand(b, MT_CHUNK, 1024);
  enum { STEP_A = H::A_MN ? 2048 / 16 : 2, STEP_B = H::B_MN ? 2048 / 16 : 2 };
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < MT_SLAB / 32; k++)
    wgmma<typename H::type, H::N>::template run<H::A_MN, H::B_MN>(c, from_a + k * STEP_A,
                                                                  from_b + k * STEP_B,
                                                                  !first || k > 0);
  wgmma_commit();
}

/* A stage may be filled again: one thread of the warpgroup tells each block. */
template <typename H> MT_INLINE void release (uint32_t bars, int slot) {
  const int t = threadIdx.x % 128;
  if (t < H::CLUSTER) {
    if constexpr (H::CLUSTER > 1) barrier_arrive(free_at<H::STAGES>(bars, slot), t);
    else barrier_arrive(free_at<H::STAGES>(bars, slot));
  }
}

/* The slabs of a group of warps, tile after tile. A stage is released when the slab
** behind it has begun. */
template <typename H> struct slab_walk {
  uint32_t ring, bars, rows; /* `rows`: where its own begin in a stage */
  ring_place<H::STAGES> at;
  int before;

  MT_INLINE void begin (typename H::sum *c, bool first) {
    const uint32_t stage = ring + at.slot * H::STAGE;
    barrier_wait(full_at<H::STAGES>(bars, at.slot), at.parity);
    multiply<H>(c, stage + rows, stage + H::A_BYTES, first);
  }
  MT_INLINE void end () {
    wgmma_wait<1>();
    if (before >= 0) release<H>(bars, before);
    before = at.slot;
    at.next();
  }
  MT_INLINE void finish (typename H::sum *c) {
    wgmma_wait<0>();
    wgmma_settle<H::SUMS>(c);
    release<H>(bars, before);
    before = -1;
  }
};

} // namespace mt
#endif
