/*
** loading.cuh - which tiles a block has, which slabs of them, and how these are loaded.
** SPDX-License-Identifier: MIT
**
**   tiles in groups of rows        slabs of K           a ring of stages
**
**   | 0 2 4 |                                        full[s]: its bytes are here
**   | 1 3 5 |  one at a time  -->  | | | | |  -->  |s|s|s|s|
**   | 6 7 8 |                                        free[s]: it has been multiplied
**
** One thread loads, by a box of TMA each of A and of B, or of a block's part of B, which
** comes to all blocks of a cluster. Of rows outside of A or B nothing is loaded.
*/
#ifndef LOADING_CUH
#define LOADING_CUH

#include "kernels/gemm/parts.cuh"
#include "kernels/gemm/tma.cuh"

namespace mt {

/* ------------------------------------------------------------------ tiles */

struct tile_place {
  int m, n, l;
};

/* The same, of which the compiler knows that all lanes of a warp have it. */
MT_INLINE tile_place place_of_warp (const tile_place &t) {
  return {(int)of_warp((uint32_t)t.m), (int)of_warp((uint32_t)t.n),
          (int)of_warp((uint32_t)t.l)};
}

MT_INLINE tile_place tile_of (const mt_hopper_launch &p, int tile) {
  int each = p.tiles_m * p.tiles_n, l = tile / each, t = tile - l * each;
  int g = t / (p.group * p.tiles_n), first = g * p.group;
  int rows = p.tiles_m - first < p.group ? p.tiles_m - first : p.group;
  int in = t - first * p.tiles_n, n = in / rows;
  return {first + in - n * rows, n, l};
}

/* Blocks of a cluster, a power of two. Its first tile, and how far the next one is. */
template <typename H> MT_INLINE uint32_t blocks_of (const mt_hopper_launch &p) {
  return H::SPLITS ? p.parts : H::CLUSTER;
}
template <typename H> MT_INLINE int first_tile (const mt_hopper_launch &p) {
  return shared_by(blockIdx.x, blocks_of<H>(p));
}
template <typename H> MT_INLINE int clusters_of (const mt_hopper_launch &p) {
  return shared_by(gridDim.x, blocks_of<H>(p));
}

/* The slabs of a block: all, or those of its part of K. */
struct slab_range {
  int first, end;
};
MT_INLINE slab_range range_of_warp (const slab_range &r) {
  return {(int)of_warp((uint32_t)r.first), (int)of_warp((uint32_t)r.end)};
}
template <typename H>
MT_INLINE slab_range slabs_of (const mt_hopper_launch &p, uint32_t rank) {
  if (!H::SPLITS) return {0, p.slabs};
  const uint32_t slabs = p.slabs; /* 2^26 of K at most, of three terms */
  return {(int)shared_by(rank * slabs, p.parts),
          (int)shared_by((rank + 1) * slabs, p.parts)};
}

/* The first tile of a block. It is found EARLY, before the launch before has ended, as
** divisions take long; with an epilogue, which leaves no registers for that, later, where
** it is used. `known` is what was found early. */
template <typename H, bool EARLY>
MT_INLINE tile_place first_place (const mt_hopper_launch &p, tile_place known) {
  if constexpr (EARLY == H::FINISHES) return known;
  tile_place t = tile_of(p, first_tile<H>(p));
  hold(t.m), hold(t.n), hold(t.l);
  return t;
}

/* The slots of a ring in turn: a slot, and the parity of its phase. */
template <int STAGES> struct ring_place {
  int slot;
  uint32_t parity;
  MT_INLINE void next () {
    if (++slot == STAGES) slot = 0, parity ^= 1;
  }
};

template <int STAGES> MT_INLINE uint32_t full_at (uint32_t bars, int s) {
  return bars + 8 * s;
}
template <int STAGES> MT_INLINE uint32_t free_at (uint32_t bars, int s) {
  return bars + 8 * (STAGES + s);
}

/* ------------------------------------------------------------------ loading */

/* How much of rows [row, row + ROWS) there is: bytes that are loaded of them in a slab.
** K-major: all of a box, or the last rows by a box of their own. MN-major: boxes of 128
** bytes of M or N by K rows. */
template <typename H, int I, int MN, int ROWS>
MT_INLINE uint32_t bytes_of_rows (const mt_hopper_launch &p, int row) {
  const int left = p.size[I] - row;
  if (!p.edges || left >= ROWS) return ROWS * MT_SLAB;
  if (left <= 0) return 0;
  return MN ? (left + H::K - 1) / H::K * MT_CHUNK : p.edge[I] * MT_SLAB;
}

/* So many bytes of an operand from this row on. */
template <typename H, int MN, int ROWS>
MT_INLINE void load (uint32_t to, const tma_map *map, const tma_map *edge, uint32_t bytes,
                     uint32_t bar, int row, int k, int l, bool once, uint16_t blocks) {
  if constexpr (MN) {
    static_assert(ROWS % H::K == 0, "what a block loads of M or N is no number of boxes");
#pragma unroll
    for (int i = 0; i < ROWS / H::K; i++) {
      const uint32_t at = to + i * MT_CHUNK;
      if (i * MT_CHUNK >= bytes) return;
      if (blocks) tma_load_multicast(at, map, bar, row + i * H::K, k, l, blocks);
      else if (once) tma_load_once(at, map, bar, row + i * H::K, k, l);
      else tma_load(at, map, bar, row + i * H::K, k, l);
    }
  } else {
    const tma_map *from = bytes == ROWS * MT_SLAB ? map : edge;
    if (bytes == 0) return;
    if (blocks) tma_load_multicast(to, from, bar, k, row, l, blocks);
    else if (once) tma_load_once(to, from, bar, k, row, l);
    else tma_load(to, from, bar, k, row, l);
  }
}

/* The slot may be filled. What streams by is asked for by 256 bytes of a row: two slots
** at a time. */
template <typename H>
MT_INLINE void wait_for_room (uint32_t bars, ring_place<H::STAGES> at) {
  const int slot = H::STREAMS ? at.slot | 1 : at.slot;
  static_assert(!H::STREAMS || H::STAGES % 2 == 0, "slots are pairs");
  barrier_wait(free_at<H::STAGES>(bars, slot), at.parity);
}

/* The slabs of a tile in this block, of rows `above` of its cluster. */
template <typename H>
MT_INLINE void load_slabs (const mt_hopper_launch &p, tile_place t, slab_range part,
                           int above, uint32_t ring, uint32_t bars,
                           ring_place<H::STAGES> &at) {
  enum { PART = H::N / H::CLUSTER };
  const uint16_t all = H::CLUSTER > 1 ? (1 << H::CLUSTER) - 1 : 0;
  const int each = p.terms == 1 ? p.slabs : p.slabs / p.terms;
  const bool once = H::STREAMS && p.tiles_n == 1;
  const int m = (t.m * H::CLUSTER + above) * H::M, n = t.n * H::N + above * PART;
  const uint32_t of_a = bytes_of_rows<H, 0, H::A_MN, H::M>(p, m);
  const uint32_t of_b = bytes_of_rows<H, 1, H::B_MN, PART>(p, n);
  uint32_t all_bytes = of_a;
#pragma unroll
  for (int i = 0; i < H::CLUSTER; i++)
    all_bytes += bytes_of_rows<H, 1, H::B_MN, PART>(p, t.n * H::N + i * PART);
  int term = p.terms == 1 ? 0 : part.first / each;
  int x = (part.first - term * each) * H::K;
  for (int k = part.first; k < part.end; k++, x += H::K, at.next()) {
    const uint32_t stage = ring + at.slot * H::STAGE, b = stage + H::A_BYTES;
    const uint32_t full = full_at<H::STAGES>(bars, at.slot);
    wait_for_room<H>(bars, at);
    barrier_expect(full, all_bytes);
    if (x == each * H::K) x = 0, term++;
    const tma_map *from_a = term == p.terms - 2 ? &p.a_rest : &p.a;
    const tma_map *from_b = term == p.terms - 3 ? &p.b_rest : &p.b;
    load<H, H::A_MN, H::M>(stage, from_a, &p.edge_map[0], of_a, full, m, x,
                           t.l * p.a_step, once, 0);
    load<H, H::B_MN, PART>(b + above * PART * MT_SLAB, from_b, &p.edge_map[1], of_b, full,
                           n, x, t.l * p.b_step, false, all);
  }
}

template <typename H>
MT_INLINE void produce (const mt_hopper_launch &p, tile_place first, uint32_t ring,
                        uint32_t bars) {
  ring_place<H::STAGES> at = {0, 1};
  const uint32_t rank = H::CLUSTER > 1 || H::SPLITS ? cluster_rank() : 0;
  const slab_range part = slabs_of<H>(p, rank);
  const int clusters = clusters_of<H>(p), above = H::SPLITS ? 0 : rank;
  tile_place t = first_place<H, false>(p, first);
  for (int tile = first_tile<H>(p); tile < p.tiles; t = tile_of(p, tile += clusters))
    load_slabs<H>(p, t, part, above, ring, bars, at);
}

} // namespace mt
#endif
