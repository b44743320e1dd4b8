/*
** box.cuh - copies whose runs share axes or are short: boxes through shared memory.
** SPDX-License-Identifier: MIT
**
** A unit is an access of ES bytes, a vector V of them. A block moves one box: it reads
** the vectors of the source along the hops `load` of the descriptor, each whole into
** shared memory, and puts the vectors of the destination together along the hops
** `store`: groups of G units, whose places from the first on are the same in all groups.
** A word holds W units that lie together in the source and apart in the destination:
** words of all units of a vector make W vectors.
*/
#ifndef BOX_CUH
#define BOX_CUH

#include "tile.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

enum { BOX_ROUNDS = MT_BOX_BYTES / 16 / 256 };

/* Things of a walk, N at once. Only each EACH-th needs its place in global memory. */
template <int N, int EACH> struct box_walk {
  uint32_t n[N], shared[N];
  int64_t global[N / EACH];

  MT_INLINE void go (const mt_hop *hop, uint32_t count) {
#pragma unroll
    for (int i = 0; i < N; i++) shared[i] = 0;
#pragma unroll
    for (int i = 0; i < N / EACH; i++) global[i] = 0;
#pragma unroll 1
    for (uint32_t k = 0; k < count; k++) {
      const uint32_t extent = hop[k].extent, mul = hop[k].mul, shift = hop[k].shift;
      const uint32_t step = hop[k].shared;
      const int64_t far = hop[k].global;
#pragma unroll
      for (int i = 0; i < N; i++) {
        const uint32_t q = __umulhi(n[i], mul) >> shift, digit = n[i] - q * extent;
        shared[i] += digit * step;
        if (i % EACH == 0) global[i / EACH] += digit * far;
        n[i] = q;
      }
    }
  }
};

/* ROUNDS vectors of a thread. */
template <int ROUNDS>
MT_INLINE void box_load (const mt_turn &t, const char *src, char *box) {
  box_walk<ROUNDS, 1> w;
  uint4 data[ROUNDS];
#pragma unroll
  for (int r = 0; r < ROUNDS; r++) w.n[r] = threadIdx.x + r * blockDim.x;
  w.go(t.load, t.nload);
#pragma unroll
  for (int r = 0; r < ROUNDS; r++)
    if (threadIdx.x + r * blockDim.x < t.vectors) data[r] = load<16>(src + w.global[r]);
#pragma unroll
  for (int r = 0; r < ROUNDS; r++)
    if (threadIdx.x + r * blockDim.x < t.vectors)
      *(uint4 *)(box + w.shared[r]) = data[r];
}

/* Units of a vector -> the vector; words of W units -> W vectors. */
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

/* A task is W vectors. Several of few groups are walked at once; one of many groups in
** passes. */
template <int ES, int W, int G> struct box_tasks {
  typedef typename box_vectors<ES, W>::word word;
  enum {
    V = 16 / ES, EACH = V / G, PASS = EACH < 4 ? EACH : 4,
    N = 4 / PASS < BOX_ROUNDS / W ? 4 / PASS : BOX_ROUNDS / W
  };
  box_walk<N * PASS, PASS> walk;

  /* Groups [from, from + PASS) of the tasks first, first + threads, ... */
  MT_INLINE void go (const mt_turn &t, uint32_t first, int from) {
#pragma unroll
    for (int i = 0; i < N * PASS; i++)
      walk.n[i] = (first + i / PASS * blockDim.x) * EACH + from + i % PASS;
    walk.go(t.store, t.nstore);
  }

  /* Their units, of task r. */
  MT_INLINE void gather (word *x, const mt_turn &t, const char *box, int r) const {
#pragma unroll
    for (int j = 0; j < PASS * G; j++)
      x[j] = *(const word *)(box + walk.shared[r * PASS + j / G] + t.lane[j % G]);
  }

  static MT_INLINE void put (const mt_turn &t, char *dst, const word *x) {
    uint4 out[W];
    box_vectors<ES, W>::of(out, x);
#pragma unroll
    for (int j = 0; j < W; j++) store<16>(dst + j * t.wide_step, out[j]);
  }
};

template <int ES, int W, int G>
MT_INLINE void box_store (const mt_turn &t, char *dst, const char *box) {
  typedef box_tasks<ES, W, G> T;
  const uint32_t tasks = t.vectors / W;
#pragma unroll 1
  for (uint32_t first = threadIdx.x; first < tasks; first += T::N * blockDim.x) {
    T x;
    x.go(t, first, 0);
#pragma unroll
    for (int r = 0; r < T::N; r++) {
      typename T::word unit[T::V];
      char *to = dst + x.walk.global[r];
      if (first + r * blockDim.x >= tasks) break;
      x.gather(unit, t, box, r);
#pragma unroll
      for (int from = T::PASS; from < T::EACH; from += T::PASS) {
        x.go(t, first, from);
        x.gather(unit + from * G, t, box, 0);
      }
      T::put(t, to, unit);
    }
  }
}

/* The G of the descriptor. */
template <int ES, int W, int G>
MT_INLINE void box_store_by (const mt_turn &t, char *dst, const char *box) {
  if constexpr (G > 1)
    if (t.group < G) return box_store_by<ES, W, G / 2>(t, dst, box);
  box_store<ES, W, G>(t, dst, box);
}

template <int ES> MT_INLINE void copy_box (const mt_launch &p) {
  __shared__ uint4 shared[MT_BOX_SHARED / 16];
  constexpr int W = ES < 4 ? 4 / ES : 1;
  const mt_turn &t = p.desc.turn;
  char *box = (char *)shared;
  place at = {};
  sides side(p);
  walk_rest(at, p.desc, blockIdx.x);
  side.move(p.desc, at);
  if (t.vectors <= BOX_ROUNDS / 2 * blockDim.x)
    box_load<BOX_ROUNDS / 2>(t, side.src, box);
  else
    box_load<BOX_ROUNDS>(t, side.src, box);
  __syncthreads();
  if (W > 1 && t.wide == 1) box_store_by<ES, 1, 16 / ES>(t, side.dst, box);
  else box_store_by<ES, W, 16 / ES>(t, side.dst, box);
}

} // namespace mt

#undef MT_INLINE
#endif
