/*
** hopper.cuh - products by TMA and wgmma: the family of kernels for sm_90a.
** SPDX-License-Identifier: MIT
**
**   global memory        shared memory: a ring of stages         registers
**
**   A ---- TMA ----->  | A 128xK | A 128xK | A 128xK | ...  \
**   B ---- TMA ----->  | B NxK   | B NxK   | B NxK   | ...  --> wgmma --> sums 2 x (64xN)
**        a warp of       full[s]: filled       free[s]: read      two warpgroups
**        warpgroup 0                                                   |
**   D <--- TMA ------  | D 64x(128 bytes) | two of each warpgroup | <--/
**
** Warpgroup 0 only loads; one thread of it fills the stages in turn, tile after tile. The
** other two multiply 64 rows each, and store while the next tile is loaded. Blocks stay
** and take every gridDim-th tile. The two blocks of a cluster lie one above the other
** along M: each loads half of B for both.
**
** K of a stage is 128 bytes, the width of the swizzle. What lies outside of A and B is
** read as 0, and outside of D not written: the maps see to it.
*/
#ifndef HOPPER_CUH
#define HOPPER_CUH

#include "kernels/gemm/tma.cuh"
#include "kernels/gemm/wgmma.cuh"

namespace mt {

/* ------------------------------------------------------------------ shapes */

template <typename T, int N_, int STAGES_, int CLUSTER_, int A_MN_, int B_MN_,
          typename OUT_>
struct hopper {
  typedef T type;
  typedef typename T::sum sum;
  typedef OUT_ out;
  enum {
    M = MT_TILE_M,
    N = N_,
    K = MT_SLAB / T::bytes,
    STAGES = STAGES_,
    CLUSTER = CLUSTER_,
    A_MN = A_MN_,
    B_MN = B_MN_,
    SUMS = N / 2,
    A_BYTES = M * MT_SLAB,
    STAGE = MT_HOPPER_STAGE(N),
    OUT = STAGES * STAGE,
    BARRIERS = OUT + MT_MULTIPLIERS * 2 * MT_CHUNK
  };
};

/* ------------------------------------------------------------------ tiles */

struct tile_place {
  int m, n, l;
};

MT_INLINE tile_place place_of (const mt_hopper_launch &p, int tile) {
  int each = p.tiles_m * p.tiles_n, l = tile / each, t = tile - l * each;
  int g = t / (p.group * p.tiles_n), first = g * p.group;
  int rows = p.tiles_m - first < p.group ? p.tiles_m - first : p.group;
  int in = t - first * p.tiles_n, n = in / rows;
  return {first + in - n * rows, n, l};
}

template <int STAGES> MT_INLINE uint32_t full_at (uint32_t bars, int s) {
  return bars + 8 * s;
}
template <int STAGES> MT_INLINE uint32_t free_at (uint32_t bars, int s) {
  return bars + 8 * (STAGES + s);
}

/* ------------------------------------------------------------------ loading */

/* Rows [row, row + ROWS) of an operand, K-major: one box. MN-major: boxes of 128 bytes of
** M or N by K rows. */
template <typename H, int MN, int ROWS>
MT_INLINE void load (uint32_t to, const tma_map *map, uint32_t bar, int row, int k, int l,
                     uint16_t blocks) {
  if constexpr (MN) {
#pragma unroll
    for (int i = 0; i < ROWS / H::K; i++) {
      const uint32_t at = to + i * MT_CHUNK;
      if (blocks) tma_load_multicast(at, map, bar, row + i * H::K, k, l, blocks);
      else tma_load(at, map, bar, row + i * H::K, k, l);
    }
  } else {
    if (blocks) tma_load_multicast(to, map, bar, k, row, l, blocks);
    else tma_load(to, map, bar, k, row, l);
  }
}

template <typename H>
MT_INLINE void produce (const mt_hopper_launch &p, uint32_t ring, uint32_t bars) {
  enum { PART = H::N / H::CLUSTER };
  const uint32_t rank = H::CLUSTER > 1 ? cluster_rank() : 0;
  const uint16_t all = H::CLUSTER > 1 ? (1 << H::CLUSTER) - 1 : 0;
  ring_place<H::STAGES> at = {0, 1};
  const int clusters = gridDim.x / H::CLUSTER;
  for (int tile = blockIdx.x / H::CLUSTER; tile < p.tiles; tile += clusters) {
    const tile_place t = place_of(p, tile);
    const int m = (t.m * H::CLUSTER + rank) * H::M, n = t.n * H::N + rank * PART;
    for (int k = 0; k < p.slabs; k++, at.next()) {
      const uint32_t stage = ring + at.slot * H::STAGE, b = stage + H::A_BYTES;
      const uint32_t full = full_at<H::STAGES>(bars, at.slot);
      barrier_wait(free_at<H::STAGES>(bars, at.slot), at.parity);
      barrier_expect(full, H::STAGE);
      load<H, H::A_MN, H::M>(stage, &p.a, full, m, k * H::K, t.l * p.a_step, 0);
      load<H, H::B_MN, PART>(b + rank * PART * MT_SLAB, &p.b, full, n, k * H::K,
                             t.l * p.b_step, all);
    }
  }
}

/* ------------------------------------------------------------------ multiplying */

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

template <typename H>
MT_INLINE void sum_up (typename H::sum *c, const mt_hopper_launch &p, uint32_t ring,
                       uint32_t bars, int group, ring_place<H::STAGES> &at) {
  int before = -1;
  for (int k = 0; k < p.slabs; k++, at.next()) {
    const uint32_t stage = ring + at.slot * H::STAGE;
    barrier_wait(full_at<H::STAGES>(bars, at.slot), at.parity);
    const uint32_t rows = stage + group * MT_GROUP_ROWS * MT_SLAB;
    multiply<H>(c, rows, stage + H::A_BYTES, k == 0);
    wgmma_wait<1>();
    if (before >= 0) release<H>(bars, before);
    before = at.slot;
  }
  wgmma_wait<0>();
  if (before >= 0) release<H>(bars, before);
}

/* ------------------------------------------------------------------ storing */

MT_INLINE void group_barrier (int group) {
  asm volatile("bar.sync %0, 128;" : : "r"(group + 1) : "memory");
}

MT_INLINE void store_matrices (uint32_t to, uint32_t x, uint32_t y, uint32_t z,
                               uint32_t w) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
               :
               : "r"(to), "r"(x), "r"(y), "r"(z), "r"(w)
               : "memory");
}

/* What D holds: pairs of 16 bits; one element from and to memory, for `direct`. */
struct out_bf16 {
  enum { bytes = 2 };
  typedef uint16_t word;
  static MT_INLINE uint32_t pair (float x, float y) {
    uint32_t r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
    return r;
  }
  static MT_INLINE double get (word w) { return __uint_as_float((uint32_t)w << 16); }
  static MT_INLINE word put (double x) {
    word w;
    asm("cvt.rn.bf16.f64 %0, %1;" : "=h"(w) : "d"(x));
    return w;
  }
};
struct out_f16 {
  enum { bytes = 2 };
  typedef uint16_t word;
  static MT_INLINE uint32_t pair (float x, float y) {
    uint32_t r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
    return r;
  }
  static MT_INLINE double get (word w) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(w));
    return x;
  }
  static MT_INLINE word put (double x) {
    word w;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(w) : "d"(x));
    return w;
  }
};
struct out_f32 {
  enum { bytes = 4 };
  typedef float word;
  static MT_INLINE double get (word w) { return w; }
  static MT_INLINE word put (double x) { return (float)x; }
};
struct out_s32 {
  enum { bytes = 4 };
  typedef int32_t word;
  static MT_INLINE double get (word w) { return w; }
  static MT_INLINE word put (double x) { return (int32_t)x; }
};

MT_INLINE uint32_t bits_of (float x) { return __float_as_uint(x); }
MT_INLINE uint32_t bits_of (int32_t x) { return (uint32_t)x; }
MT_INLINE float scaled (float x, float alpha) { return alpha * x; }
MT_INLINE int32_t scaled (int32_t x, float) { return x; } /* alpha is 1 */

/* Columns [64 q, 64 q + 64) of 2 bytes: sums 32 q and on. A lane gives the address of one
** row of one matrix: lanes 0 to 15 the rows of columns 0 to 7, 16 to 31 of 8 to 15. */
template <typename O>
MT_INLINE void put_halves (uint32_t to, const float *c, float alpha) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  const uint32_t row = to + (warp * 16 + lane % 16) * MT_SLAB;
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const float *x = c + 8 * j;
    uint32_t w[4];
#pragma unroll
    for (int i = 0; i < 4; i++) w[i] = O::pair(alpha * x[2 * i], alpha * x[2 * i + 1]);
    store_matrices(row + (((2 * j + lane / 16) ^ lane % 8) << 4), w[0], w[1], w[2], w[3]);
  }
}

/* Columns [32 q, 32 q + 32) of 4 bytes: sums 16 q and on. */
template <typename S> MT_INLINE void put_words (uint32_t to, const S *c, float alpha) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32, row = lane / 4;
  to += (warp * 16 + row) * MT_SLAB + lane % 2 * 8;
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const uint32_t at = to + (((2 * j + lane % 4 / 2) ^ row) << 4);
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const S *pair = c + 4 * j + 2 * half;
      const S x = scaled(pair[0], alpha), y = scaled(pair[1], alpha);
      const uint32_t u = bits_of(x), v = bits_of(y);
      asm volatile("st.shared.v2.b32 [%0], {%1, %2};"
                   :
                   : "r"(at + half * 8 * MT_SLAB), "r"(u), "r"(v)
                   : "memory");
    }
  }
}

/* The sums of a warpgroup, 128 bytes of columns at a time, by two chunks in turn. */
template <typename H>
MT_INLINE void store (const mt_hopper_launch &p, const typename H::sum *c,
                      uint32_t chunks, int group, int m, int n, int l) {
  enum { COLUMNS = MT_SLAB / H::out::bytes, TIMES = H::N / COLUMNS };
  const bool first = threadIdx.x % 128 == 0;
  const float alpha = (float)p.alpha;
#pragma unroll
  for (int q = 0; q < TIMES; q++) {
    const uint32_t to = chunks + q % 2 * MT_CHUNK;
    if (first) tma_store_wait_read<(TIMES > 1)>();
    group_barrier(group);
    if constexpr (H::out::bytes == 2) put_halves<typename H::out>(to, c + q * 32, alpha);
    else put_words(to, c + q * 16, alpha);
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    group_barrier(group);
    if (first) {
      tma_store(&p.d, to, n + q * COLUMNS, m + group * MT_GROUP_ROWS, l);
      tma_store_commit();
    }
  }
}

/* Element by element, whatever the strides of D are; C is read where beta is not 0. */
template <typename H>
MT_INLINE void store_direct (const mt_hopper_launch &p, const typename H::sum *c,
                             int group, int m, int n, int l) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  const int row = m + group * MT_GROUP_ROWS + warp * 16 + lane / 4;
  const int column = n + lane % 4 * 2;
  typename H::out::word *d = (typename H::out::word *)p.c + l * p.stride[2];
#pragma unroll
  for (int i = 0; i < H::SUMS; i++) {
    const int x = row + i / 2 % 2 * 8, y = column + i / 4 * 8 + i % 2;
    if (x >= p.size[0] || y >= p.size[1]) continue;
    typename H::out::word *at = d + x * p.stride[0] + y * p.stride[1];
    double sum = p.alpha * c[i];
    if (p.beta != 0) sum += p.beta * H::out::get(*at);
    *at = H::out::put(sum);
  }
}

template <typename H>
MT_INLINE void consume (const mt_hopper_launch &p, uint32_t ring, uint32_t bars,
                        int group) {
  typename H::sum c[H::SUMS];
  const uint32_t rank = H::CLUSTER > 1 ? cluster_rank() : 0;
  const uint32_t chunks = ring + H::OUT + group * 2 * MT_CHUNK;
  ring_place<H::STAGES> at = {0, 0};
  const int clusters = gridDim.x / H::CLUSTER;
  for (int tile = blockIdx.x / H::CLUSTER; tile < p.tiles; tile += clusters) {
    const tile_place t = place_of(p, tile);
    sum_up<H>(c, p, ring, bars, group, at);
    const int m = (t.m * H::CLUSTER + rank) * H::M, n = t.n * H::N;
    if (p.direct) store_direct<H>(p, c, group, m, n, t.l);
    else store<H>(p, c, chunks, group, m, n, t.l);
  }
  if (threadIdx.x % 128 == 0) tma_store_wait<0>();
}

/* ------------------------------------------------------------------ the kernel */

template <typename H> MT_INLINE void start (uint32_t bars) {
  if (threadIdx.x == 0) {
    for (int s = 0; s < H::STAGES; s++) {
      barrier_init(full_at<H::STAGES>(bars, s), 1);
      barrier_init(free_at<H::STAGES>(bars, s), MT_MULTIPLIERS * H::CLUSTER);
    }
    barrier_init_fence();
  }
  if constexpr (H::CLUSTER > 1) cluster_sync();
  else __syncthreads();
}

template <typename H> MT_INLINE void run_hopper (const mt_hopper_launch &p) {
  extern __shared__ char memory[];
  const uint32_t ring = (shared_address(memory) + 1023) & ~1023u;
  const uint32_t bars = ring + H::BARRIERS;
  const int group = threadIdx.x / 128;
  start<H>(bars);
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) produce<H>(p, ring, bars);
    __syncwarp();
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    consume<H>(p, ring, bars, group - 1);
  }
  /* A peer may still tell this block's barriers. */
  if constexpr (H::CLUSTER > 1) cluster_sync();
}

} // namespace mt
#endif
