/*
** sm90.cuh - what threads of sm_90 do besides copies and products: instructions alone.
** SPDX-License-Identifier: MIT
**
** A test on the host has these functions of its own, as it has those of barrier.cuh,
** tma.cuh and wgmma.cuh: kernels have no other instructions in text.
*/
#ifndef SM90_CUH
#define SM90_CUH

#include "gemm/hopper_desc.h"

namespace mt {

/* ------------------------------------------------------------ launches, registers */

/* The next launch may come up. */
MT_INLINE void grid_let_next () { asm volatile("griddepcontrol.launch_dependents;"); }
/* What went before is done. */
MT_INLINE void grid_wait () { asm volatile("griddepcontrol.wait;" : : : "memory"); }

/* A thread keeps N registers: the others are for who takes them. */
template <int N> MT_INLINE void registers_give () {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(N));
}
template <int N> MT_INLINE void registers_take () {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(N));
}

/* ------------------------------------------------------------------ shared memory */

/* What this thread wrote is there for the copy engine. */
MT_INLINE void fence_for_copies () {
  asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
}

/* Four matrices of 8 rows of 16 bytes; lane i says where row i % 8 of matrix i / 8 is. */
MT_INLINE void store_matrices (uint32_t to, uint32_t x, uint32_t y, uint32_t z,
                               uint32_t w) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
               :
               : "r"(to), "r"(x), "r"(y), "r"(z), "r"(w)
               : "memory");
}
/* The same, of each matrix its transpose: its columns are what is 16 bytes in memory. */
MT_INLINE void store_matrices_turned (uint32_t to, uint32_t x, uint32_t y, uint32_t z,
                                      uint32_t w) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};"
               :
               : "r"(to), "r"(x), "r"(y), "r"(z), "r"(w)
               : "memory");
}
MT_INLINE void load_matrices (uint32_t at, uint32_t *w) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
               : "r"(at)
               : "memory");
}
MT_INLINE void load_matrices_turned (uint32_t at, uint32_t *w) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
               : "r"(at)
               : "memory");
}
MT_INLINE void store_word (uint32_t to, uint32_t x) {
  asm volatile("st.shared.b32 [%0], %1;" : : "r"(to), "r"(x) : "memory");
}
MT_INLINE void store_words (uint32_t to, uint32_t x, uint32_t y) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" : : "r"(to), "r"(x), "r"(y) : "memory");
}

/* 16 bytes become 0. */
MT_INLINE void clear_line (uint32_t to) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" : : "r"(to), "r"(0) : "memory");
}

MT_INLINE void load_words (uint32_t at, uint32_t &x, uint32_t &y) {
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
               : "=r"(x), "=r"(y)
               : "r"(at)
               : "memory");
}

/* The word that a lane of the warp has; all lanes ask. */
MT_INLINE uint32_t word_of_lane (uint32_t w, int lane) {
  uint32_t r;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;"
               : "=r"(r)
               : "r"(w), "r"(lane));
  return r;
}

/* A number that all lanes of the warp have, which all come here: what it decides they
** decide together, as the compiler knows then. What it does not know to be the same makes
** the loops around it ones that may diverge: a slab takes twenty instructions more. */
MT_INLINE uint32_t of_warp (uint32_t x) { return __shfl_sync(0xffffffffu, x, 0); }

/* Of the lanes of a warp, which all ask, one and always the same. The compiler knows that
** it is alone: what a copy engine is told needs no loop over lanes. */
MT_INLINE bool is_one_lane () {
  uint32_t x;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }"
               : "=r"(x));
  return x != 0;
}

/* The number of this warp in its block. */
MT_INLINE uint32_t warp_of_block () { return of_warp(threadIdx.x / 32); }

/* x / blocks, which is a power of two. */
MT_INLINE uint32_t shared_by (uint32_t x, uint32_t blocks) {
  return x >> __popc(blocks - 1);
}

/* x is known from here on: the compiler does not put off what it takes. */
MT_INLINE void hold (int &x) { asm volatile("" : "+r"(x)); }

/* What lies in global memory. */
template <typename T> MT_INLINE T read_global (const void *p) { return *(const T *)p; }

/* The line of global memory with this place comes into the L2. */
MT_INLINE void prefetch_line (const void *at) {
  asm volatile("prefetch.global.L2 [%0];" : : "l"(at));
}

MT_INLINE uint32_t load_word (uint32_t at) {
  uint32_t x;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(at) : "memory");
  return x;
}
MT_INLINE uint16_t load_half (uint32_t at) {
  uint16_t x;
  asm volatile("ld.shared.b16 %0, [%1];" : "=h"(x) : "r"(at) : "memory");
  return x;
}
MT_INLINE void load_four (uint32_t at, uint32_t *w) {
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
               : "r"(at)
               : "memory");
}

/* Words to shared memory of block `rank`, to the place that `to` is here. They are there
** when its barrier at the place of `bar` knows of these 16 bytes. */
MT_INLINE void send_words (uint32_t to, uint32_t rank, uint32_t bar, uint32_t x,
                           uint32_t y, uint32_t z, uint32_t w) {
  asm volatile("{ .reg .b32 there, told; mapa.shared::cluster.u32 there, %0, %2;"
               " mapa.shared::cluster.u32 told, %1, %2;"
               " st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32"
               " [there], {%3, %4, %5, %6}, [told]; }"
               :
               : "r"(to), "r"(bar), "r"(rank), "r"(x), "r"(y), "r"(z), "r"(w)
               : "memory");
}

/* ------------------------------------------------------------------ numbers */

/* As the products of integers do: what leaves 32 bits stays at their end. */
MT_INLINE int32_t add_saturated (int32_t x, int32_t y) {
  int32_t r;
  asm("add.sat.s32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y));
  return r;
}

} // namespace mt
#endif
