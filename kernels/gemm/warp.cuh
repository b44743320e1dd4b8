/*
** warp.cuh - what a warp does on every GPU since sm_80: copies that go on meanwhile,
** matrices out of shared memory, products of tensor cores.
** SPDX-License-Identifier: MIT
**
** A test on the host has these functions of its own, and of this file the types alone.
*/
#ifndef WARP_CUH
#define WARP_CUH

#include "kernels/gemm/number.cuh"

#ifndef MT_EMULATED
namespace mt {

MT_INLINE uint32_t place_in_shared (const void *p) {
  return (uint32_t)__cvta_generic_to_shared(p);
}

/* ------------------------------------------------------------------ copies */

/* What lies in global memory. */
template <typename T> MT_INLINE T read_global (const void *p) { return *(const T *)p; }

/* SIZE bytes of shared memory: the first `bytes` from global memory, the others 0. */
template <int SIZE> MT_INLINE void copy_async (void *to, const void *from, int bytes) {
  const uint32_t at = place_in_shared(to);
  if constexpr (SIZE == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(at), "l"(from), "r"(bytes)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;"
                 :
                 : "r"(at), "l"(from), "r"(bytes), "n"(SIZE)
                 : "memory");
}

MT_INLINE void copies_end_group () {
  asm volatile("cp.async.commit_group;" : : : "memory");
}

/* All groups of this thread but the last N are there. */
template <int N> MT_INLINE void copies_wait () {
  asm volatile("cp.async.wait_group %0;" : : "n"(N) : "memory");
}

/* ------------------------------------------------------------------ clusters */

/* All threads of the blocks that share a tile: what each did is there. Before sm_90 a
** tile has one block. */
MT_INLINE void parts_meet () {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory");
#endif
}

struct alignas(16) quad {
  float x[4];
};

/* What lies at this place in the shared memory of block `part` of the cluster. */
MT_INLINE quad quad_of_part (const float *at, int part) {
  quad q = {};
#if __CUDA_ARCH__ >= 900
  asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %4, %5;"
               " ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there]; }"
               : "=f"(q.x[0]), "=f"(q.x[1]), "=f"(q.x[2]), "=f"(q.x[3])
               : "r"(place_in_shared(at)), "r"(part)
               : "memory");
#endif
  return q;
}

/* ------------------------------------------------------------------ matrices */

/* Four matrices of 8 rows of 16 bytes; lane i says where row i % 8 of matrix i / 8 is.
** Lane i gets 4 bytes of row i / 4 of each; turned: the pairs of 16 bits of column i / 4,
** from row 2 (i % 4) on. */
MT_INLINE void matrices (uint32_t *r, const char *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(place_in_shared(row))
               : "memory");
}
MT_INLINE void matrices_turned (uint32_t *r, const char *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(place_in_shared(row))
               : "memory");
}

/* ------------------------------------------------------------------ products */

#define MT_MMA_WARP(name, sum, letter, text)                                             \
  MT_INLINE void mma_##name(sum *c, const uint32_t *a, const uint32_t *b) {              \
    asm volatile("mma.sync.aligned." text                                                \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"      \
                 : "+" letter(c[0]), "+" letter(c[1]), "+" letter(c[2]),                 \
                   "+" letter(c[3])                                                      \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));    \
  }
/*          name   sums          text */
MT_MMA_WARP(f16, float, "f", "m16n8k16.row.col.f32.f16.f16.f32")
MT_MMA_WARP(bf16, float, "f", "m16n8k16.row.col.f32.bf16.bf16.f32")
MT_MMA_WARP(i8_i8, int32_t, "r", "m16n8k32.row.col.satfinite.s32.s8.s8.s32")
MT_MMA_WARP(i8_u8, int32_t, "r", "m16n8k32.row.col.satfinite.s32.s8.u8.s32")
MT_MMA_WARP(u8_i8, int32_t, "r", "m16n8k32.row.col.satfinite.s32.u8.s8.s32")
MT_MMA_WARP(u8_u8, int32_t, "r", "m16n8k32.row.col.satfinite.s32.u8.u8.s32")

/* Of f64, 16 x 8 x 8; sm_80 has it in 4 parts. */
MT_INLINE void mma_f64 (double *c, const double *a, const double *b) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64"
               " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
               : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
#pragma unroll
  for (int i = 0; i < 4; i++)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"
                 " {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c[i % 2 * 2]), "+d"(c[i % 2 * 2 + 1])
                 : "d"(a[i]), "d"(b[i / 2]));
#endif
}

MT_INLINE uint32_t multiply_halves (uint32_t x, uint32_t y) {
  uint32_t r;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y));
  return r;
}

} // namespace mt
#endif

namespace mt {

/* ------------------------------------------------------------------ 8-bit floats */

/* Two of them as two of f16, which hold them exactly: the lower, the upper half of x. */
MT_INLINE uint32_t halves_e5m2 (uint32_t x, int upper) {
  return upper ? (x & 0xff000000) | (x & 0xff0000) >> 8 :
                 (x & 0xff00) << 16 | (x & 0xff) << 8;
}

/* As bits of f16 each is 2^8 too small; what the largest would be is NaN. */
MT_INLINE uint32_t halves_e4m3 (uint32_t x, int upper) {
#if __CUDA_ARCH__ >= 890
  uint32_t r;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"((uint16_t)(upper ? x >> 16 : x)));
  return r;
#else
  if (upper) x >>= 16;
  x = (x & 0x7f00) << 15 | (x & 0x8000) << 16 | (x & 0x7f) << 7 | (x & 0x80) << 8;
  const uint32_t r = multiply_halves(x, 0x5c005c00);
  const uint32_t nan = ((r & 0x7fff7fff) + 0x20802080) & 0x80008000;
  return r | (nan - (nan >> 15));
#endif
}

} // namespace mt
#endif
