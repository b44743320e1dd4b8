/*
** permute.cuh - copies whose runs share axes or are short: boxes through shared memory.
** SPDX-License-Identifier: MIT
**
** A unit is an access of ES bytes, a vector V of them, 16 bytes. A block moves one box,
** in two steps with a barrier between (desc/permute_desc.h has a picture of a box):
**   load   copies vectors of the source to shared memory, asynchronously. Vector n lies
**          where the walk `load` says.
**   store  puts vectors of the destination together. A task of a thread reads V words of
**   W
**          units and makes W vectors of them, W = 1 or 4 / ES:
**
**            shared memory    word 0  word 1  word 2  word 3        ES = 2, W = 2
**                             a0 b0   a1 b1   a2 b2   a3 b3  ...
**            destination      vector a: a0 a1 a2 a3 ...   vector b: b0 b1 b2 b3 ...
**
** The words come in groups of G, whose places relative to the first are the same in all
** groups. So only the first of a group is looked for, along the walk `store`, and that
** happens while the box arrives.
*/
#ifndef PERMUTE_CUH
#define PERMUTE_CUH

#include "desc/permute_desc.h"
#include "kernels/copy/transpose.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* Vectors that a thread loads, at most. */
enum { BOX_ROUNDS = MT_PERMUTE_BYTES / 16 / 256 };

/* The places of N things of a walk, of BYTES each; only every EACH-th needs its place in
** global memory. With n_0 = n and n_k+1 = n_k / extent_k the digits are
**   digit_k = n_k - extent_k * n_k+1,
** so the sum of digit_k * step_k is that of n_k * (step_k - extent_k-1 * step_k-1): one
** product and one addition for each axis. */
template <int N, int EACH, int BYTES> struct box_walk {
  uint32_t n[N], global[N / EACH]; /* in things */
  near shared[N];

  MT_INLINE void go (const mt_walk_axis *axis, uint32_t count, near box) {
    uint32_t far_behind = 0;
    near behind = 0;
#pragma unroll
    for (int i = 0; i < N; i++) shared[i] = box;
#pragma unroll
    for (int i = 0; i < N / EACH; i++) global[i] = 0;
#pragma unroll 1
    for (uint32_t k = 0; k < count; k++) {
      const uint32_t extent = axis[k].by.extent;
      const uint32_t mul = axis[k].by.mul, shift = axis[k].by.shift;
      const uint32_t far = (uint32_t)((uint64_t)axis[k].global / BYTES);
      const near step = axis[k].shared;
#pragma unroll
      for (int i = 0; i < N; i++) {
        shared[i] += n[i] * (step - behind);
        if (i % EACH == 0) global[i / EACH] += n[i] * (far - far_behind);
        n[i] = __umulhi(n[i], mul) >> shift;
      }
      behind = step * extent, far_behind = far * extent;
    }
  }

  MT_INLINE int64_t offset (int i) const { return (int64_t)(int32_t)global[i] * BYTES; }
};

/* Loads the box: ROUNDS vectors of a thread. */
template <int ROUNDS>
MT_INLINE void box_load (const mt_permute &t, const char *src, near box) {
  box_walk<ROUNDS, 1, 16> w;
#pragma unroll
  for (int r = 0; r < ROUNDS; r++) w.n[r] = threadIdx.x + r * blockDim.x;
  w.go(t.load, t.nload, box);
#pragma unroll
  for (int r = 0; r < ROUNDS; r++)
    if (threadIdx.x + r * blockDim.x < t.vectors) fetch(w.shared[r], src + w.offset(r));
}

/* V words of W units -> W vectors: a transpose in registers. */
template <int ES, int W> struct box_vectors {
  typedef typename shared_word<(ES < 4 ? 4 : ES)>::type word;
  static MT_INLINE void of (uint4 *out, const word *x) { turned<ES>::of(out, x); }
};
template <> struct box_vectors<1, 1> {
  typedef uint8_t word;
  static MT_INLINE void of (uint4 *out, const uint8_t *x) {
    uint32_t *o = &out->x;
#pragma unroll
    for (int w = 0; w < 4; w++, x += 4)
      o[w] = x[0] | (uint32_t)x[1] << 8 | (uint32_t)x[2] << 16 | (uint32_t)x[3] << 24;
  }
};
template <> struct box_vectors<2, 1> {
  typedef uint16_t word;
  static MT_INLINE void of (uint4 *out, const uint16_t *x) {
    uint32_t *o = &out->x;
#pragma unroll
    for (int w = 0; w < 4; w++) o[w] = x[2 * w] | (uint32_t)x[2 * w + 1] << 16;
  }
};

/* Tasks of a thread. A task makes W vectors of the destination out of the words of EACH
** groups. Registers hold the places of MOST groups; WALK of them are found at once. */
template <int ES, int W, int G> struct box_tasks {
  typedef typename box_vectors<ES, W>::word word;
  enum {
    V = 16 / ES,
    EACH = V / G,
    TASKS = BOX_ROUNDS / W,
    MOST = 16,
    WALK = 8,
    HELD = TASKS * EACH <= MOST ? TASKS : MOST / EACH,
    PASS = EACH < WALK ? EACH : WALK,
    N = WALK / PASS < HELD ? WALK / PASS : HELD
  };
  static_assert(HELD % N == 0 && EACH % PASS == 0, "passes find whole tasks");
  int32_t global[HELD]; /* in groups */
  near group[HELD * EACH];

  /* Finds the groups [from, from + PASS) of the tasks [r, r + N) of the thread. */
  MT_INLINE void pass (const mt_permute &t, near box, uint32_t first, int r, int from) {
    box_walk<N * PASS, PASS, ES * G> w;
#pragma unroll
    for (int i = 0; i < N * PASS; i++)
      w.n[i] = (first + (r + i / PASS) * blockDim.x) * EACH + from + i % PASS;
    w.go(t.store, t.nstore, box);
#pragma unroll
    for (int i = 0; i < N * PASS; i++)
      group[(r + i / PASS) * EACH + from + i % PASS] = w.shared[i];
#pragma unroll
    for (int i = 0; i < N && from == 0; i++) global[r + i] = (int32_t)w.global[i];
  }

  /* Finds the groups of HELD tasks: first, first + threads, ... */
  MT_INLINE void find (const mt_permute &t, near box, uint32_t first) {
#pragma unroll
    for (int r = 0; r < HELD; r += N) {
      if (r > 0 && r * blockDim.x >= t.vectors / W) break;
#pragma unroll
      for (int from = 0; from < EACH; from += PASS) pass(t, box, first, r, from);
    }
  }

  /* Does task r: reads its words, writes its vectors. */
  MT_INLINE void put (const mt_permute &t, char *dst, int r) const {
    word x[V];
    uint4 out[W];
    char *to = dst + (int64_t)global[r] * (ES * G);
#pragma unroll
    for (int j = 0; j < V; j++)
      x[j] = *(const word *)there(group[r * EACH + j / G] + (j % G ? t.lane[j % G] : 0));
    box_vectors<ES, W>::of(out, x);
#pragma unroll
    for (int j = 0; j < W; j++) store<16>(to + j * t.wide_step, out[j]);
  }
};

/* All tasks of a thread. Those that registers hold are found before the box is waited
** for. */
template <int ES, int W, int G>
MT_INLINE void box_store (const mt_permute &t, char *dst, near box) {
  typedef box_tasks<ES, W, G> T;
  const uint32_t tasks = t.vectors / W;
  uint32_t first = threadIdx.x;
  T x;
  x.find(t, box, first);
  fetched();
#pragma unroll 1
  for (int done = T::HELD;; done += T::HELD) {
#pragma unroll
    for (int r = 0; r < T::HELD; r++, first += blockDim.x) {
      if (first >= tasks) return;
      x.put(t, dst, r);
    }
    if (done >= T::TASKS) return;
    x.find(t, box, first);
  }
}

/* With the group of the descriptor as a constant. */
template <int ES, int W, int G>
MT_INLINE void box_store_by (const mt_permute &t, char *dst, near box) {
  if constexpr (G > 1)
    if (t.group < G) return box_store_by<ES, W, G / 2>(t, dst, box);
  box_store<ES, W, G>(t, dst, box);
}

template <int ES> MT_INLINE void copy_permute (const mt_launch &p) {
  MT_DYNAMIC(shared, MT_PERMUTE_SHARED);
  constexpr int W = ES < 4 ? 4 / ES : 1;
  const mt_desc &d = p.desc;
  const mt_permute &t = d.permute;
  const near box = near_of(shared);
  place at = {};
  sides side(p);
  walk(at, d, d.nthr + d.nval, d.nthr + d.nval + d.nrest, blockIdx.x);
  side.move(d, at);
  const char *src = settled(side.src);
  if (t.vectors <= BOX_ROUNDS / 2 * blockDim.x) box_load<BOX_ROUNDS / 2>(t, src, box);
  else box_load<BOX_ROUNDS>(t, src, box);
  if (W > 1 && t.wide == 1) box_store_by<ES, 1, 16 / ES>(t, side.dst, box);
  else box_store_by<ES, W, 16 / ES>(t, side.dst, box);
}

template <int BYTES, int UNROLL> struct copier<MT_ALGO_PERMUTE, BYTES, UNROLL> {
  static MT_INLINE void run (const mt_launch &p) { copy_permute<BYTES>(p); }
};

} // namespace mt

/* Blocks of an SM; without a number as many as registers allow. */
#define MT_BOUNDS_PERMUTE(threads, unroll) __launch_bounds__(threads, 5)

#undef MT_INLINE
#endif
