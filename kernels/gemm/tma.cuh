/*
** tma.cuh - the copy engine: boxes between global and shared memory by a map.
** SPDX-License-Identifier: MIT
**
** Coordinates are those of the map's axes, the innermost first. What lies outside is read
** as zeros and not written; a load counts the whole box. Shared memory is aligned to the
** period of the map's swizzle.
*/
#ifndef TMA_CUH
#define TMA_CUH

#include "kernels/gemm/barrier.cuh"
#include "gemm/hopper_desc.h"

namespace mt {

typedef mt_tma_map tma_map;

MT_INLINE void tma_prefetch (const tma_map *map) {
  asm volatile("prefetch.tensormap [%0];" : : "l"(map) : "memory");
}

MT_INLINE void tma_load (uint32_t to, const tma_map *map, uint32_t bar, int x, int y,
                         int z) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global"
               ".mbarrier::complete_tx::bytes"
               " [%0], [%1, {%3, %4, %5}], [%2];"
               :
               : "r"(to), "l"(map), "r"(bar), "r"(x), "r"(y), "r"(z)
               : "memory");
}

/* What nobody reads again: it makes room in the L2 first. */
MT_INLINE void tma_load_once (uint32_t to, const tma_map *map, uint32_t bar, int x, int y,
                              int z) {
  uint64_t first;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first));
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global"
               ".mbarrier::complete_tx::bytes.L2::cache_hint"
               " [%0], [%1, {%3, %4, %5}], [%2], %6;"
               :
               : "r"(to), "l"(map), "r"(bar), "r"(x), "r"(y), "r"(z), "l"(first)
               : "memory");
}

/* Into the same place of each block of the cluster whose bit is set. */
MT_INLINE void tma_load_multicast (uint32_t to, const tma_map *map, uint32_t bar, int x,
                                   int y, int z, uint16_t blocks) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global"
               ".mbarrier::complete_tx::bytes.multicast::cluster"
               " [%0], [%1, {%3, %4, %5}], [%2], %6;"
               :
               : "r"(to), "l"(map), "r"(bar), "r"(x), "r"(y), "r"(z), "h"(blocks)
               : "memory");
}

MT_INLINE void tma_store (const tma_map *map, uint32_t from, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group"
               " [%0, {%2, %3, %4}], [%1];"
               :
               : "l"(map), "r"(from), "r"(x), "r"(y), "r"(z)
               : "memory");
}
MT_INLINE void tma_store_commit () {
  asm volatile("cp.async.bulk.commit_group;" : : : "memory");
}
/* At most N groups of stores have not read their shared memory yet. */
template <int N> MT_INLINE void tma_store_wait_read () {
  asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(N) : "memory");
}
template <int N> MT_INLINE void tma_store_wait () {
  asm volatile("cp.async.bulk.wait_group %0;" : : "n"(N) : "memory");
}

} // namespace mt
#endif
