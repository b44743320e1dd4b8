/*
** barrier.cuh - mbarriers: what a stage waits for, in one block and in a cluster.
** SPDX-License-Identifier: MIT
**
** A barrier has a phase, which ends when all arrivals and all bytes it expects are there.
** A waiter names the parity of the phase that it waits to end. A fresh barrier is in
** phase 0: a wait for parity 1 passes at once. Addresses are 32 bits, of shared memory.
*/
#ifndef BARRIER_CUH
#define BARRIER_CUH

#include "gemm/hopper_desc.h"

namespace mt {

MT_INLINE uint32_t shared_address (const void *p) {
  return (uint32_t)__cvta_generic_to_shared(p);
}

MT_INLINE void barrier_init (uint32_t bar, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(bar), "r"(arrivals));
}

/* What was initialised is seen by the cluster and by the copy engine. */
MT_INLINE void barrier_init_fence () {
  asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}

/* Arrives, and says how many bytes the phase waits for besides. */
MT_INLINE void barrier_expect (uint32_t bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :
               : "r"(bar), "r"(bytes)
               : "memory");
}

/* Arrives at the barrier of the same place in block `rank` of the cluster. */
MT_INLINE void barrier_arrive (uint32_t bar, uint32_t rank) {
  asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;"
               " mbarrier.arrive.shared::cluster.b64 _, [there]; }"
               :
               : "r"(bar), "r"(rank)
               : "memory");
}

MT_INLINE void barrier_arrive (uint32_t bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(bar) : "memory");
}

MT_INLINE bool barrier_try (uint32_t bar, uint32_t parity) {
  uint32_t done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64"
               " p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(bar), "r"(parity)
               : "memory");
  return done;
}

MT_INLINE void barrier_wait (uint32_t bar, uint32_t parity) {
  while (!barrier_try(bar, parity)) {}
}

/* What this thread knows of is seen in the block that waits, and the other way round. */
MT_INLINE void barrier_arrive_release (uint32_t bar, uint32_t rank) {
  asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;"
               " mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there]; }"
               :
               : "r"(bar), "r"(rank)
               : "memory");
}

MT_INLINE void barrier_wait_acquire (uint32_t bar, uint32_t parity) {
  uint32_t done;
  do
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64"
        " p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(bar), "r"(parity)
        : "memory");
  while (!done);
}

MT_INLINE uint32_t cluster_rank () {
  uint32_t r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}

/* All threads of all blocks of the cluster: what each did before it arrived is there when
** the wait has ended. */
MT_INLINE void cluster_arrive () {
  asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory");
}
MT_INLINE void cluster_wait () {
  asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory");
}

} // namespace mt
#endif
