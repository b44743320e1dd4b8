/*
** sm90.h - the instructions of kernels/gemm/hopper.cuh on the host: in place of barrier.cuh,
** sm90.cuh, tma.cuh and wgmma.cuh.
** SPDX-License-Identifier: MIT
*/
#ifndef SM90_H
#define SM90_H

#include <math.h>

#include "cluster.h"

#define __device__
#define __shared__
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline
#include "kernels/gemm/finish.cuh" /* and number.cuh: one for all mutants */

#define BARRIER_CUH
#define SM90_CUH
#define TMA_CUH
#define FLAGS_CUH
#define WGMMA_CUH

#define __syncthreads() emulated::sync_threads()
#define __syncwarp() emulated::sync_warp()

static inline uint32_t __float_as_uint (float x) {
  uint32_t r;
  memcpy(&r, &x, 4);
  return r;
}
static inline float __uint_as_float (uint32_t x) {
  float r;
  memcpy(&r, &x, 4);
  return r;
}
static inline float __int_as_float (int x) { return __uint_as_float((uint32_t)x); }

struct float4 {
  float x, y, z, w;
};
static inline float4 make_float4 (float x, float y, float z, float w) {
  return {x, y, z, w};
}

namespace mt {

/* Of all that kernels see only where it begins. */
inline uint32_t shared_address (const void *) { return emulated::memory_base; }

/* ------------------------------------------------------------------ barrier.cuh */

inline void barrier_init (uint32_t bar, uint32_t arrivals) {
  emulated::init_barrier(bar, arrivals);
}
inline void barrier_init_fence () { emulated::fence_barriers(); }
inline void barrier_expect (uint32_t bar, uint32_t bytes) {
  emulated::arrive(bar, emulated::me->block, false, bytes);
}
inline void barrier_arrive (uint32_t bar, uint32_t rank) {
  emulated::arrive(bar, rank, false, 0);
}
inline void barrier_arrive (uint32_t bar) { barrier_arrive(bar, emulated::me->block); }
inline void barrier_wait (uint32_t bar, uint32_t parity) {
  emulated::wait_for(bar, parity, false);
}
inline void barrier_arrive_release (uint32_t bar, uint32_t rank) {
  emulated::arrive(bar, rank, true, 0);
}
inline void barrier_wait_acquire (uint32_t bar, uint32_t parity) {
  emulated::wait_for(bar, parity, true);
}
inline uint32_t cluster_rank () { return emulated::me->block; }
inline void cluster_arrive () { emulated::arrive_cluster(); }
inline void cluster_wait () { emulated::wait_cluster(); }

/* ------------------------------------------------------------------ sm90.cuh */

inline void grid_let_next () {}
inline void grid_wait () { emulated::me->launched = true; }
template <int N> void registers_give () { emulated::give_registers(N); }
template <int N> void registers_take () { emulated::take_registers(N); }
inline void fence_for_copies () { emulated::fence_writes(); }

/* A lane writes its part of each row; where to the lanes of the rows say. */
inline void store_matrices (uint32_t to, uint32_t x, uint32_t y, uint32_t z, uint32_t w) {
  const uint32_t r[4] = {x, y, z, w};
  emulated::block &b = emulated::mine();
  const unsigned id = emulated::me->id, lane = id % 32, turn = b.turn[id]++ % 2;
  emulated::need(to % 16 == 0, "a row of a matrix that is not aligned");
  b.row_of_lane[turn][id] = to;
  emulated::warp_is_here();
  for (unsigned i = 0; i < 4; i++)
    emulated::write_word(b.row_of_lane[turn][id - lane + 8 * i + lane / 4] + lane % 4 * 4,
                         r[i]);
}
inline void load_matrices (uint32_t at, uint32_t *w) {
  emulated::block &b = emulated::mine();
  const unsigned id = emulated::me->id, lane = id % 32, turn = b.turn[id]++ % 2;
  emulated::need(at % 16 == 0, "a row of a matrix that is not aligned");
  b.row_of_lane[turn][id] = at;
  emulated::warp_is_here();
  for (unsigned i = 0; i < 4; i++)
    w[i] = emulated::read_word(b.row_of_lane[turn][id - lane + 8 * i + lane / 4] +
                                   lane % 4 * 4,
                               cluster_rank());
}
/* The same of their transposes: a lane has the numbers from those that have them. */
inline uint32_t word_of_lane (uint32_t w, int lane);
inline void turn_matrices (uint32_t *w) {
  const int lane = (int)(emulated::me->id % 32), column = lane / 4, row = lane % 4 * 2;
  for (int i = 0; i < 4; i++) {
    const uint32_t above = word_of_lane(w[i], row * 4 + column / 2);
    const uint32_t below = word_of_lane(w[i], row * 4 + 4 + column / 2);
    w[i] = (above >> column % 2 * 16 & 0xffff) | below >> column % 2 * 16 << 16;
  }
}
inline void store_matrices_turned (uint32_t to, uint32_t x, uint32_t y, uint32_t z,
                                   uint32_t w) {
  uint32_t r[4] = {x, y, z, w};
  turn_matrices(r);
  store_matrices(to, r[0], r[1], r[2], r[3]);
}
inline void load_matrices_turned (uint32_t at, uint32_t *w) {
  load_matrices(at, w);
  turn_matrices(w);
}
inline void store_word (uint32_t to, uint32_t x) { emulated::write_word(to, x); }
inline void clear_line (uint32_t to) {
  for (int i = 0; i < 4; i++) emulated::write_word(to + 4 * i, 0);
}
inline void store_words (uint32_t to, uint32_t x, uint32_t y) {
  emulated::need(to % 8 == 0, "an access that is not aligned");
  emulated::write_word(to, x);
  emulated::write_word(to + 4, y);
}
inline void load_words (uint32_t at, uint32_t &x, uint32_t &y) {
  emulated::need(at % 8 == 0, "an access that is not aligned");
  x = emulated::read_word(at, cluster_rank());
  y = emulated::read_word(at + 4, cluster_rank());
}
inline uint32_t word_of_lane (uint32_t w, int lane) {
  emulated::block &b = emulated::mine();
  const unsigned id = emulated::me->id, turn = b.turn[id]++ % 2;
  b.row_of_lane[turn][id] = w;
  emulated::warp_is_here();
  return b.row_of_lane[turn][id - id % 32 + (unsigned)lane];
}
inline uint32_t of_warp (uint32_t x) {
  emulated::need(word_of_lane(x, 0) == x, "lanes of a warp have another number");
  return x;
}
/* Lanes do not wait for each other here: on a GPU they do, but nobody is told anything. */
inline bool is_one_lane () { return threadIdx.x % 32 == 0; }
inline uint32_t warp_of_block () { return of_warp(threadIdx.x / 32); }
inline void hold (int &) {}
inline uint32_t shared_by (uint32_t x, uint32_t blocks) {
  emulated::need(blocks > 0 && (blocks & (blocks - 1)) == 0, "no power of two");
  return x / blocks;
}
template <typename T> T read_global (const void *p) { return *(const T *)p; }
inline uint32_t __funnelshift_r (uint32_t low, uint32_t high, uint32_t bits) {
  return (uint32_t)(((uint64_t)high << 32 | low) >> (bits & 31));
}
inline void prefetch_line (const void *) {}
/* Clusters run one after the other: a flag of one that comes later is never raised. */
inline void flag_raise (int32_t *flag) {
  emulated::need(*flag == 0, "a flag that nobody put down");
  *flag = 1;
}
inline void flag_wait (int32_t *flag) {
  emulated::need(*flag == 1, "a cluster waits for one behind it");
  *flag = 0;
}
inline void flags_wait (int32_t *flag) {
  if (flag != nullptr) flag_wait(flag);
}
inline void read_of_block (float *x, const float *p) { memcpy(x, p, 4 * sizeof *x); }
inline uint32_t load_word (uint32_t at) {
  return emulated::read_word(at, cluster_rank());
}
inline uint16_t load_half (uint32_t at) {
  emulated::need(at % 2 == 0, "an access that is not aligned");
  return (uint16_t)(load_word(at & ~3u) >> at % 4 * 8);
}
inline void load_four (uint32_t at, uint32_t *w) {
  emulated::need(at % 16 == 0, "an access that is not aligned");
  for (uint32_t i = 0; i < 4; i++) w[i] = emulated::read_word(at + 4 * i, cluster_rank());
}
inline void send_words (uint32_t to, uint32_t rank, uint32_t bar, uint32_t x, uint32_t y,
                        uint32_t z, uint32_t w) {
  const uint32_t words[4] = {x, y, z, w};
  emulated::send_words(to, rank, bar, words);
}

inline int32_t add_saturated (int32_t x, int32_t y) {
  const int64_t s = (int64_t)x + y;
  return (int32_t)(s < INT32_MIN ? INT32_MIN : s > INT32_MAX ? INT32_MAX : s);
}

/* ------------------------------------------------------------------ tma.cuh */

typedef mt_tma_map tma_map;

inline void tma_prefetch (const tma_map *) {}
inline void tma_load (uint32_t to, const tma_map *map, uint32_t bar, int x, int y,
                      int z) {
  emulated::load_box(to, map, bar, x, y, z, 1u << emulated::me->block);
}
inline void tma_load_once (uint32_t to, const tma_map *map, uint32_t bar, int x, int y,
                           int z) {
  tma_load(to, map, bar, x, y, z);
}
inline void tma_load_multicast (uint32_t to, const tma_map *map, uint32_t bar, int x,
                                int y, int z, uint16_t blocks) {
  emulated::load_box(to, map, bar, x, y, z, blocks);
}
inline void tma_store (const tma_map *map, uint32_t from, int x, int y, int z) {
  emulated::store_box(map, from, x, y, z);
}
inline void tma_store_commit () { emulated::commit_stores(); }
template <int N> void tma_store_wait_read () { emulated::wait_stores(N); }
template <int N> void tma_store_wait () { emulated::wait_stores(N); }

/* ------------------------------------------------------------------ wgmma.cuh */

inline void wgmma_fence () { emulated::fence_products(); }
inline void wgmma_commit () { emulated::commit_products(); }
template <int N> void wgmma_wait () { emulated::wait_products(N); }
template <int N, typename S> void wgmma_fresh (S *c) { memset(c, 0x47, N * sizeof *c); }
template <int N, typename S> void wgmma_settle (S *) {}

template <typename T, int N> struct wgmma {
  static_assert(N == 16 || N == 64 || N == 128 || N == 160 || N == 192 || N == 256,
                "no such width");
  template <int A_MN, int B_MN>
  static void run (typename T::sum *c, uint64_t a, uint64_t b, uint32_t keep) {
    emulated::product(T::type, N, A_MN, B_MN, c, a, b, keep != 0);
  }
};

#define MT_OPERAND(name, size, sum_, type_)                                              \
  struct name {                                                                          \
    enum { bytes = size };                                                               \
    static constexpr emulated::kind type = emulated::type_;                              \
    typedef sum_ sum;                                                                    \
  };
MT_OPERAND(op_bf16, 2, float, BF16)
MT_OPERAND(op_f16, 2, float, F16)
MT_OPERAND(op_tf32, 4, float, TF32)
MT_OPERAND(op_e4m3, 1, float, E4M3)
MT_OPERAND(op_e5m2, 1, float, E5M2)
MT_OPERAND(op_s8, 1, int32_t, S8)
MT_OPERAND(op_u8, 1, int32_t, U8)
#undef MT_OPERAND
typedef op_s8 op_i8;
typedef op_tf32 op_f32;

} // namespace mt
#endif
