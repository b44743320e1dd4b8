/*
** stream_k.cuh - tiles that clusters share, each with some of their slabs.
** SPDX-License-Identifier: MIT
**
**   slabs of all rows of tiles  |  row 0  |  row 1  |  row 2  |  row 3  |
**   of each group of clusters   |   0   |   1   |   2   |   3   |  4  | 5 |
**
** A group has a cluster for each column of tiles, so that what they have of A is
** wanted by all of them at a time: memory gives it once. It goes through its slabs
** from the last row on. What it has of that one, where it is not the end, it gives
** first, by way of memory, to the group that has the end. Of its first row it has the
** end, and maybe not the beginning: then it waits for what groups before it gave, and
** adds it in their order, so that sums are the same each time. Flags are of warps,
** which wait for the warp of their own rows alone. Without stream-K all that a group
** has is whole rows.
*/
#ifndef STREAM_K_CUH
#define STREAM_K_CUH

#include "kernels/gemm/flags.cuh"
#include "kernels/gemm/multiplying.cuh"
#include "kernels/gemm/turned.cuh"

namespace mt {

/* Clusters side by side are a group, one for each column of tiles. */
struct group_of_clusters {
  int number, column, all;

  MT_INLINE group_of_clusters (const mt_hopper_launch &p, int cluster, int clusters) {
    number = cluster / p.tiles_n, column = cluster - number * p.tiles_n;
    all = clusters / p.tiles_n;
  }
  /* Its slabs of all rows of tiles. */
  MT_INLINE slab_range slabs (const mt_hopper_launch &p) const {
    const int rows = p.tiles / p.tiles_n, each = p.streams ? 1 : p.slabs;
    const int64_t units = p.streams ? (int64_t)rows * p.slabs : rows;
    return {(int)(number * units / all) * each, (int)((number + 1) * units / all) * each};
  }
  /* The group that has the first slab of the row. */
  MT_INLINE int first_of (const mt_hopper_launch &p, int row) const {
    const int64_t units = (int64_t)(p.tiles / p.tiles_n) * p.slabs;
    return (int)((((int64_t)row * p.slabs + 1) * all - 1) / units);
  }
  MT_INLINE tile_place tile (const mt_hopper_launch &p, int row) const {
    const int l = row / p.tiles_m;
    return {row - l * p.tiles_m, column, l};
  }
};
template <typename H> MT_INLINE group_of_clusters own_group (const mt_hopper_launch &p) {
  return group_of_clusters(p, first_tile<H>(p), clusters_of<H>(p));
}

/* Slabs [from, to) of a row of tiles; those of the last row that is left. */
struct share {
  int row, from, to;
};
MT_INLINE share take_share (const mt_hopper_launch &p, slab_range &left) {
  const int row = (left.end - 1) / p.slabs, start = row * p.slabs;
  const int from = left.first > start ? left.first : start;
  const share own = {row, from - start, left.end - start};
  left.end = from;
  return own;
}

template <typename H>
MT_INLINE void produce_shares (const mt_hopper_launch &p, uint32_t ring, uint32_t bars) {
  ring_place<H::STAGES> at = {0, 1};
  const group_of_clusters group = own_group<H>(p);
  slab_range left = group.slabs(p);
  while (left.first < left.end) {
    const share own = take_share(p, left);
    load_slabs<H>(p, group.tile(p, own.row), {own.from, own.to}, cluster_rank(), ring,
                  bars, at);
  }
}

struct alignas(16) four_floats {
  float x, y, z, w;
};

/* The sums of a warp in memory, and its flag. */
template <typename H> struct sums_of_warp {
  float *sums;
  int32_t *flag;

  MT_INLINE sums_of_warp (const mt_hopper_launch &p, int cluster, int warp) {
    const int at =
        (cluster * H::CLUSTER + (int)cluster_rank()) * 4 * MT_MULTIPLIERS + warp;
    flag = (int32_t *)p.work + at;
    sums = (float *)(p.work + MT_HOPPER_FLAGS) + (int64_t)at * 32 * H::SUMS;
    sums += threadIdx.x % 32 * 4;
  }
  MT_INLINE void give (const float *c) const {
#pragma unroll
    for (int i = 0; i < H::SUMS; i += 4)
      *(four_floats *)(sums + i * 32) = {c[i], c[i + 1], c[i + 2], c[i + 3]};
    __syncwarp();
    if (threadIdx.x % 32 == 0) flag_raise(flag);
  }
  MT_INLINE void add_to (float *c) const {
    float x[H::SUMS]; /* all are on their way before the first is added */
#pragma unroll
    for (int i = 0; i < H::SUMS; i += 4) read_of_block(x + i, sums + i * 32);
#pragma unroll
    for (int i = 0; i < H::SUMS; i++) c[i] += x[i];
  }
};

/* Of the groups before this one that have the row, the last first: of the cluster that
** has this column. Lanes wait for one of them each, and come to their ends together. */
template <typename H>
MT_INLINE void take_sums (const mt_hopper_launch &p, float *c, int row, int warp) {
  const group_of_clusters own = own_group<H>(p);
  const int first = (int)of_warp((uint32_t)own.first_of(p, row));
  const auto of_group = [&] (int g) {
    return sums_of_warp<H>(p, g * p.tiles_n + own.column, warp);
  };
#pragma unroll 1
  for (int g = first; g < own.number; g += 32) {
    const int mine = g + (int)threadIdx.x % 32;
    flags_wait(mine < own.number ? of_group(mine).flag : nullptr);
  }
  __syncwarp();
#pragma unroll 1
  for (int g = own.number - 1; g >= first; g--) of_group(g).add_to(c);
}

template <typename H>
MT_INLINE void consume_shares (const mt_hopper_launch &p, uint32_t ring, uint32_t bars,
                               int warpgroup) {
  const int warp = (int)warp_of_block() - 4, rank = cluster_rank();
  const uint32_t units = ring + H::OUT + warp * H::N * TURNED_LINE;
  const uint32_t side = side_at<H::STAGES>(bars, warp);
  const uint32_t rows = warpgroup * MT_GROUP_ROWS * MT_SLAB;
  slab_walk<H> walk = {ring, bars, rows, {0, 0}, -1};
  const group_of_clusters group = own_group<H>(p);
  slab_range left = range_of_warp(group.slabs(p));
  uint32_t turn = 0;
  while (left.first < left.end) {
    const share own = take_share(p, left);
    const bool ends = own.to == p.slabs;
    const tile_place t = group.tile(p, own.row);
    const int m = (t.m * H::CLUSTER + rank) * H::M + warp * MT_WARP_ROWS, n = t.n * H::N;
    float c[H::SUMS];
    ahead<H::N, H::AHEAD> next;
    wgmma_fresh<H::SUMS>(c);
    if constexpr (H::FINISHES)
      if (ends) ask_turned<H::N>(p, units, side, m, n, t.l);
#pragma unroll 1
    for (int k = own.from; k < own.to; k++) {
      walk.begin(c, k == own.from);
      walk.end();
    }
    if constexpr (H::FINISHES)
      if (ends) read_bias<H::N>(next.bias, p, m, n, t.l);
    walk.finish(c);
    if (!ends) {
      sums_of_warp<H>(p, first_tile<H>(p), warp).give(c);
      continue;
    }
    if (own.from > 0) take_sums<H>(p, c, own.row, warp);
    if constexpr (H::FINISHES)
      if (has_side(p)) barrier_wait(side, turn++ & 1);
    store_turned<H>(p, c, next.bias, units, m, n, t.l);
  }
  if (is_one_lane()) tma_store_wait<0>();
}

} // namespace mt
#endif
