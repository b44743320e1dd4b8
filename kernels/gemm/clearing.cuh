/*
** clearing.cuh - rows of a tile that are not there, and no load fills, are 0.
** SPDX-License-Identifier: MIT
**
**   stage    | A: rows of M   | 0 0 |     | B: rows of N      | 0 0 |
**
** They are multiplied as all others are, and what comes of them is stored nowhere. But
** products of zeros take less energy than those of what was left in shared memory, and
** the clock follows the energy: 440 rows by tiles of 128 took as long as 512. The first
** tile of a block tells which rows: blocks with edges have few tiles, where this counts.
** Boxes that reach outside would be filled with zeros too, more slowly.
*/
#ifndef CLEARING_CUH
#define CLEARING_CUH

#include "kernels/gemm/loading.cuh"

namespace mt {

/* Bytes [from, to) behind `at`, of each stage, by all threads of the block. */
template <typename H> MT_INLINE void clear (uint32_t at, uint32_t from, uint32_t to) {
  from += threadIdx.x * 16;
#pragma unroll 1
  for (; from < to; from += MT_HOPPER_THREADS * 16)
#pragma unroll
    for (int s = 0; s < H::STAGES; s++) clear_line(at + s * H::STAGE + from);
}

/* Of tile t of a cluster, what this block has. Threads meet before anything is loaded. */
template <typename H>
MT_INLINE void clear_outside (const mt_hopper_launch &p, tile_place t, uint32_t ring) {
  enum { PART = H::N / H::CLUSTER };
  const int above = H::CLUSTER > 1 ? cluster_rank() : 0;
  const int m = (t.m * H::CLUSTER + above) * H::M;
  clear<H>(ring, bytes_of_rows<H, 0, H::A_MN, H::M>(p, m), H::A_BYTES);
#pragma unroll
  for (int i = 0; i < H::CLUSTER; i++) {
    const uint32_t bytes = bytes_of_rows<H, 1, H::B_MN, PART>(p, t.n * H::N + i * PART);
    clear<H>(ring + H::A_BYTES + i * PART * MT_SLAB, bytes, PART * MT_SLAB);
  }
  fence_for_copies();
}

} // namespace mt
#endif
