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
**   D <--- TMA ------  | D 16x(128 bytes) | two of each warp      | <--/
**
** Warpgroup 0 only loads; one thread of it fills the stages in turn, tile after tile. The
** other two multiply 64 rows each, and store while the next tile is loaded; 256 columns
** while it is multiplied, too (late.cuh). Blocks stay and take every gridDim-th tile. The
** two blocks of a cluster lie one above the other along M: each loads half of B for both.
** Or the blocks of a cluster share one tile, each with a part of K (parts.cuh).
**
** K of a stage is 128 bytes, the width of the swizzle. What lies behind the end of K is
** read as 0, and outside of D nothing is written: the maps see to it. Rows outside of A
** and B are not loaded; what is multiplied in their place is of no row or column of D.
*/
#ifndef HOPPER_CUH
#define HOPPER_CUH

#include "kernels/gemm/by_words.cuh"
#include "kernels/gemm/by_rows.cuh"
#include "kernels/gemm/clearing.cuh"
#include "kernels/gemm/late.cuh"
#include "kernels/gemm/multiplying.cuh"
#include "kernels/gemm/parts.cuh"
#include "kernels/gemm/stream_k.cuh"

namespace mt {

/* ------------------------------------------------------------------ shapes */

/* What D holds. */
struct out_bf16 {
  enum { bytes = 2, dtype = MT_bf16 };
};
struct out_f16 {
  enum { bytes = 2, dtype = MT_f16 };
};
struct out_f32 {
  enum { bytes = 4, dtype = MT_f32 };
};
struct out_s32 {
  enum { bytes = 4, dtype = MT_i32 };
};

template <typename T, int N_, int STAGES_, int CLUSTER_, int A_MN_, int B_MN_,
          typename OUT_, int ENDING = MT_STORES, int FORM_ = MT_FORM_ANY>
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
    STREAMS = N == 16,                     /* A passes by, for few columns of B */
    SIDES = ENDING == MT_FINISHES_SIDES,   /* an epilogue with C or a residual */
    MAPPED = ENDING == MT_FINISHES_MAPPED, /* the same, by a map */
    TURNED = MT_HOPPER_TURNED(ENDING),     /* turned.cuh */
    STREAM_K = MT_HOPPER_STREAM_K(CLUSTER, TURNED),
    FINISHES = ENDING == MT_FINISHES || ENDING == MT_FINISHES_TURNED || SIDES || MAPPED,
    FORM = FORM_,                       /* of its activation */
    BY_ROWS = ENDING == MT_STORES_ROWS, /* D has no map */
    A_MN = A_MN_,
    B_MN = B_MN_,
    SUMS = N / 2,
    SPLITS = MT_HOPPER_SPLITS(N, CLUSTER, TURNED),
    KEEPS = MT_HOPPER_ONE_WAY(N) && !BY_ROWS && !SIDES, /* late.cuh */
    LATE_ENDS = KEEPS && FINISHES,         /* an epilogue goes on beside the next tile */
    READS = FINISHES && !KEEPS && !TURNED, /* C or a residual, lane by lane */
    /* Words of C or a residual that are read ahead: of 16 bits those of 128 columns, of
    ** 32 bits those of 64. Parts of K leave registers for half of them. */
    AHEAD = TURNED             ? 0 :
            N < 128            ? N / 4 :
            N == 128 && SPLITS ? 16 :
                                 32,
    A_BYTES = M * MT_SLAB,
    STAGE = MT_HOPPER_STAGE(N),
    OUT = STAGES * STAGE,
    BARRIERS = OUT + MT_HOPPER_OUT(N, CLUSTER, TURNED)
  };
};

/* ------------------------------------------------------------------ slabs of a tile */

/* The first slabs of a tile; with each of them a piece of the tile that was kept. */
template <typename H, typename KEPT>
MT_INLINE int begin_late (const mt_hopper_launch &p, typename H::sum *c, KEPT &kept,
                          slab_walk<H> &walk, uint32_t pieces) {
  if (!kept.any) return 0;
#pragma unroll
  for (int i = 0; i < KEPT::STEPS; i++) {
    walk.begin(c, i == 0);
    kept.put(p, pieces, i);
    walk.end();
  }
  return KEPT::STEPS;
}

/* The same where C or a residual is read ahead for the tile: a unit of its words beside
** each slab. */
template <typename H>
MT_INLINE int begin_ahead (const mt_hopper_launch &p, typename H::sum *c,
                           ahead<H::N, H::AHEAD> &next, slab_walk<H> &walk, int slabs,
                           int m, int n, int l) {
  enum { STEPS = 4 };
  if (slabs <= STEPS) {
    read_side_ahead(next, p, 0, 1, m, n, l);
    return 0;
  }
#pragma unroll
  for (int i = 0; i < STEPS; i++) {
    walk.begin(c, i == 0);
    read_side_ahead(next, p, i, STEPS, m, n, l);
    walk.end();
  }
  return STEPS;
}

/* The slabs of a tile from the k-th on; what first(), second() and last() do goes on
** while these are multiplied. */
template <typename H, typename F, typename G, typename L>
MT_INLINE void sum_up (typename H::sum *c, int k, int slabs, slab_walk<H> &walk, F first,
                       G second, L last) {
  const int from = k, next = k + 1 < slabs ? k + 1 : k;
#pragma unroll 1
  for (; k < slabs; k++) {
    walk.begin(c, k == 0);
    if (H::KEEPS && k == from) first();
    if (H::LATE_ENDS && k == next) second();
    walk.end();
  }
  last();
  walk.finish(c);
}

/* ------------------------------------------------------------------ storing */

/* Whether D is stored by its map. */
template <typename H> MT_INLINE bool goes_by_map (const mt_hopper_launch &p) {
  if constexpr (MT_HOPPER_ONE_WAY(H::N) || H::TURNED) return !H::BY_ROWS;
  return MT_HOPPER_STORES(H::N) && !p.direct;
}

/* The sums of a warp to D, of kernels that keep none. */
template <typename H>
MT_INLINE void store_tile (const mt_hopper_launch &p, typename H::sum *c,
                           ahead<H::N, H::AHEAD> &next, uint32_t pieces, int m, int n,
                           int l) {
  if constexpr (H::TURNED) {
    store_turned<H>(p, c, next.bias, pieces, m, n, l);
    return;
  }
  if constexpr (MT_HOPPER_STORES(H::N) && !H::BY_ROWS && !H::TURNED)
    if (goes_by_map<H>(p)) {
      if constexpr (H::FINISHES) store_finished(p, c, next, pieces, m, n, l);
      else store<H>(p, c, pieces, m, n, l);
      return;
    }
  if constexpr (MT_HOPPER_STORES(H::N) && !H::FINISHES)
    if (p.direct == MT_BY_WORDS) return store_by_words<H>(p, c, pieces, m, n, l);
  store_rows<H>(p, c, pieces, m, n, l);
}

/* Two pieces of a warp where its group had rows of A, from `rows` on, of a stage: each
** warp has one. They are multiplied, and there are no more of them to come. */
template <typename H> MT_INLINE uint32_t pieces_of_ring (uint32_t rows) {
  static_assert(!H::KEEPS || H::STAGES >= 4, "a stage for each warp of a group");
  return rows + warp_of_block() % 4 * H::STAGE;
}

template <typename H>
MT_INLINE void consume (const mt_hopper_launch &p, tile_place first, uint32_t ring,
                        uint32_t bars, int group) {
  typedef typename kept_of<H, H::LATE_ENDS>::type kept_type;
  const uint32_t rank = H::CLUSTER > 1 || H::SPLITS ? cluster_rank() : 0;
  const int warp = (int)warp_of_block() - 4;
  joint<H> others(p, ring, bars, warp);
  const uint32_t pieces =
      H::SPLITS ? others.room : ring + H::OUT + warp * 2 * MT_WARP_PIECE;
  const slab_range part = slabs_of<H>(p, rank);
  const int clusters = clusters_of<H>(p);
  const int slabs = part.end - part.first, above = H::SPLITS ? 0 : rank;
  const bool stores = !H::SPLITS || others.is_home(), by_map = goes_by_map<H>(p);
  const uint32_t rows = group * MT_GROUP_ROWS * MT_SLAB;
  slab_walk<H> walk = {ring, bars, rows, {0, 0}, -1};
  kept_type kept;
  if constexpr (H::KEEPS) kept.begin(side_at<H::STAGES>(bars, warp));
  /* Where the sums of this warp are. */
  const auto place = [&] (const tile_place &t) {
    return tile_place{(t.m * H::CLUSTER + above) * H::M + warp * MT_WARP_ROWS, t.n * H::N,
                      t.l};
  };
  tile_place t, then = place_of_warp(place(first_place<H, false>(p, first)));
  for (int tile = first_tile<H>(p); tile < p.tiles; tile += clusters) {
    t = then;
    typename H::sum c[H::SUMS];
    wgmma_fresh<H::SUMS>(c);
    const int m = t.m, n = t.n;
    ahead<H::N, H::AHEAD> next;
    int k = 0;
    if (stores && (!by_map || H::READS)) ask_ahead<H>(p, m, n, t.l);
    if constexpr (H::KEEPS) k = begin_late<H>(p, c, kept, walk, pieces);
    if constexpr (H::SIDES) k = begin_ahead<H>(p, c, next, walk, slabs, m, n, t.l);
    else if constexpr (H::READS && MT_HOPPER_STORES(H::N))
      if (stores && by_map) read_side_ahead(next, p, 0, 1, m, n, t.l);
    const bool last = tile + clusters >= p.tiles;
    const auto find_next = [&] {
      if (!last) then = place(tile_of(p, tile + clusters));
      then = place_of_warp(then);
    };
    const auto side_of_warp = [&] {
      return H::TURNED && H::FINISHES ? side_bytes<H::N>(p, m, n) : 0;
    };
    if constexpr (H::TURNED && H::FINISHES)
      if (stores) ask_turned<H::N>(p, pieces, others.joined, m, n, t.l);
    const auto second = [&] {
      if constexpr (H::LATE_ENDS) kept.ask(p, pieces, next.bias, m, n, t.l);
    };
    sum_up<H>(c, k, slabs, walk, find_next, second, [&] {
      if constexpr (H::LATE_ENDS) kept.prepare(p);
      else if constexpr (H::FINISHES && MT_HOPPER_STORES(H::N))
        if (stores && by_map) read_bias<H::N>(next.bias, p, m, n, t.l);
    });
    bool mine = true;
    if constexpr (H::SPLITS)
      if (p.parts > 1) mine = others.join(c, !last, side_of_warp());
    if constexpr (H::KEEPS) {
      const bool keeps = !last && slabs >= kept_type::SLABS;
      if constexpr (H::FINISHES)
        keep_finished(kept, p, c, next.bias, pieces,
                      last ? pieces_of_ring<H>(ring + rows) : pieces, m, n, t.l, keeps);
      else keep(kept, p, c, pieces, m, n, t.l, keeps);
    } else {
      if constexpr (H::TURNED && H::FINISHES)
        if (p.parts == 1 && has_side(p)) others.wait_alone();
      if (mine) store_tile<H>(p, c, next, pieces, m, n, t.l);
      find_next();
    }
  }
  if (MT_HOPPER_STORES(H::N) && is_one_lane()) tma_store_wait<0>();
}

/* ------------------------------------------------------------------ the kernel */

MT_INLINE void cluster_meet () {
  cluster_arrive();
  cluster_wait();
}

/* The next launch may come up; what went before is done. Each of the first threads has
** the barriers of a stage. The blocks of a cluster meet here, in one step: where warps
** waited apart, the loading one behind its loads, a block without a cluster hung on an
** H200 as soon as it had more slabs than stages. */
template <typename H> MT_INLINE void start (const mt_hopper_launch &p, uint32_t bars) {
  enum { WARPS = 4 * MT_MULTIPLIERS };
  grid_let_next();
  const int s = threadIdx.x;
  if (s == 32) tma_prefetch(&p.a), tma_prefetch(&p.b);
  if (s <= H::STAGES) {
    if (s < H::STAGES) {
      barrier_init(full_at<H::STAGES>(bars, s), 1);
      barrier_init(free_at<H::STAGES>(bars, s), MT_MULTIPLIERS * H::CLUSTER);
    } else if (H::SPLITS) {
      const int sent = p.parts > 1 ? WARPS - WARPS / p.parts : 1; /* warps that send */
      barrier_init(parts_at<H::STAGES>(bars), sent);
    }
    barrier_init_fence();
  } else if ((H::MAPPED || H::SPLITS || H::TURNED) && s <= H::STAGES + WARPS) {
    barrier_init(side_at<H::STAGES>(bars, s - H::STAGES - 1), 1);
    barrier_init_fence();
  }
  if constexpr (H::CLUSTER > 1 || H::SPLITS) cluster_meet();
  else __syncthreads();
  grid_wait();
}

/* The first tile of a block, or, where clusters of a column share tiles, its column: rows
** that are missing are those of the last tile alone. */
template <typename H>
MT_INLINE tile_place edge_place (const mt_hopper_launch &p, tile_place first) {
  if constexpr (H::STREAM_K) return {0, own_group<H>(p).column, 0};
  return first_place<H, false>(p, first);
}

template <typename H> MT_INLINE void run_hopper (const mt_hopper_launch &p) {
  extern __shared__ char memory[];
  const uint32_t ring = (shared_address(memory) + 1023) & ~1023u;
  const uint32_t bars = ring + H::BARRIERS;
  const int group = (int)warp_of_block() / 4;
  tile_place first = {};
  if constexpr (!H::STREAM_K) first = first_place<H, true>(p, first);
  if (p.edges) clear_outside<H>(p, edge_place<H>(p, first), ring);
  start<H>(p, bars);
  if (group == 0) {
    registers_give<H::LATE_ENDS ? 24 : 40>();
    if (warp_of_block() == 0 && is_one_lane()) {
      if constexpr (H::STREAM_K) produce_shares<H>(p, ring, bars);
      else produce<H>(p, first, ring, bars);
    }
    __syncwarp();
  } else {
    registers_take<H::LATE_ENDS ? 240 : 232>();
    if constexpr (H::STREAM_K) consume_shares<H>(p, ring, bars, group - 1);
    else consume<H>(p, first, ring, bars, group - 1);
  }
  /* A peer may still tell this block's barriers, or read its sums. */
  if constexpr (H::CLUSTER > 1 || H::SPLITS) cluster_meet();
}

} // namespace mt
#endif
