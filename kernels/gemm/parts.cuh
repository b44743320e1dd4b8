/*
** parts.cuh - a tile that the blocks of a cluster share, each with a part of K.
** SPDX-License-Identifier: MIT
**
**   warps              0 1 2 3                 4 5 6 7
**
**   block 0    adds, stores these  <--.   .-- sends these
**   block 1    sends these  ----------'   '-> adds, stores these
**
** The rows of a warp are finished by one of the blocks, the home of the warps of this
** number. The others send it their sums, from registers into its shared memory, where
** they count at a barrier by themselves. It adds them to its own, in their order. So each
** block sends, adds and stores its share. When the first block read the sums of all the
** others, behind fences of the cluster, a tile took 3 to 15 us longer.
*/
#ifndef PARTS_CUH
#define PARTS_CUH

#include "kernels/gemm/barrier.cuh"
#include "kernels/gemm/sm90.cuh"

namespace mt {

/* Of the parts of K; behind it of what a warp reads by a map, or of other blocks. */
template <int STAGES> MT_INLINE uint32_t parts_at (uint32_t bars) {
  return bars + 8 * 2 * STAGES;
}
template <int STAGES> MT_INLINE uint32_t side_at (uint32_t bars, int warp) {
  return parts_at<STAGES>(bars) + 8 * (1 + warp);
}

MT_INLINE float add_word (float x, uint32_t w) { return x + __uint_as_float(w); }
MT_INLINE int32_t add_word (int32_t x, uint32_t w) {
  return add_saturated(x, (int32_t)w);
}

/* A warp whose block shares its tile with others. `home` is the block that finishes the
** rows of the warps of this number: the first blocks do so for the first warps. There the
** warp has room for what goes out, and behind it for the sums of each other block. What
** is sent counts at barrier `joined` of the warp, at home; `taken` is of the block that
** sends: all its sums have been added. */
template <typename H> struct joint {
  enum { WARPS = 4 * MT_MULTIPLIERS, ROOM = 128 * H::SUMS, APART = 4 * 128 };
  static_assert(!H::SPLITS || WARPS * ROOM == MT_HOPPER_OUT(H::N, H::CLUSTER, H::TURNED),
                "each warp has room for its sums");
  uint32_t parts, rank, home, room, joined, taken, turn;

  MT_INLINE joint (const mt_hopper_launch &p, uint32_t ring, uint32_t bars,
                   uint32_t warp) {
    const uint32_t each = WARPS / p.parts;
    parts = p.parts, rank = cluster_rank(), home = of_warp(warp / each), turn = 0;
    room = ring + H::OUT + warp % each * parts * ROOM;
    joined = side_at<H::STAGES>(bars, warp), taken = parts_at<H::STAGES>(bars);
  }
  MT_INLINE bool is_home () const { return home == rank; }
  /* Where a lane's words of another block are. */
  MT_INLINE uint32_t words_of (uint32_t block) const {
    return room + (block + (block < home)) * ROOM + threadIdx.x % 32 * 16;
  }
  MT_INLINE void send (const typename H::sum *c) const {
    const uint32_t to = words_of(rank);
    if (turn > 0) barrier_wait_acquire(taken, (turn - 1) & 1);
#pragma unroll
    for (int i = 0; i < H::SUMS; i += 4)
      send_words(to + i / 4 * APART, home, joined, bits_of(c[i]), bits_of(c[i + 1]),
                 bits_of(c[i + 2]), bits_of(c[i + 3]));
  }
  MT_INLINE void add (typename H::sum *c, uint32_t besides) const {
    if (threadIdx.x % 32 == 0) barrier_expect(joined, (parts - 1) * ROOM + besides);
    barrier_wait(of_warp(joined), turn & 1);
#pragma unroll 1
    for (uint32_t block = 0; block < parts; block++)
      if (block != home) {
        const uint32_t from = words_of(block);
#pragma unroll
        for (int i = 0; i < H::SUMS; i += 4) {
          uint32_t w[4];
          load_four(from + i / 4 * APART, w);
#pragma unroll
          for (int j = 0; j < 4; j++) c[i + j] = add_word(c[i + j], w[j]);
        }
      }
  }
  /* Where no other block sends: for what else counts there. */
  MT_INLINE void wait_alone () { barrier_wait(joined, turn++ & 1); }
  /* They may be overwritten. */
  MT_INLINE void release () const {
    __syncwarp();
    const uint32_t lane = threadIdx.x % 32;
    if (lane < parts && lane != home) barrier_arrive_release(taken, lane);
  }
  /* The sums of all parts are at home then: true. more: there is another tile. besides:
  ** bytes that count at home with them. */
  MT_INLINE bool join (typename H::sum *c, bool more, uint32_t besides) {
    if (is_home()) add(c, besides);
    else send(c);
    if (is_home() && more) release();
    turn++;
    return is_home();
  }
};

} // namespace mt
#endif
