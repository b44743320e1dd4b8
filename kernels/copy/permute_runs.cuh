/*
** permute_runs.cuh - the runs of an unaligned box: what the bounds leave of them, and how
** they come to shared memory.
** SPDX-License-Identifier: MIT
**
** All names and a picture are in desc/permute_unaligned_desc.h.
*/
#ifndef PERMUTE_RUNS_CUH
#define PERMUTE_RUNS_CUH

#include "desc/permute_unaligned_desc.h"
#include "kernels/copy/permute.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* ------------------------------------------------------------------ lengths */

/* Where a box is, and its ordinates: how far along the bounds it begins. */
struct unaligned_place : place {
  uint32_t at[MT_PERMUTE_UNALIGNED_BOUNDS];
  MT_INLINE void step (const mt_axis &a, int64_t digit) {
    place::step(a, digit);
#pragma unroll
    for (int k = 0; k < MT_PERMUTE_UNALIGNED_BOUNDS; k++)
      at[k] += (uint32_t)digit * (uint32_t)a.step[k];
  }
};

/* What the bounds leave of the four spans, in units. run and runs are with the halo, bare
** runs without. A row has units up to `end` with the halo, of which `row` are the box's;
** `begun`: it has a halo and began in the box before. */
struct unaligned_size {
  uint32_t run, bare, runs, row, rows, end;
  bool begun;
  /* Returns how many indices of the last axis of `runs` there are, with the halo. */
  MT_INLINE uint32_t find (const mt_desc &d, const unaligned_place &at) {
    const mt_permute_unaligned &s = d.unaligned;
    uint32_t left[MT_PERMUTE_UNALIGNED_BOUNDS];
    begun = false;
#pragma unroll
    for (int k = 0; k < MT_PERMUTE_UNALIGNED_BOUNDS; k++) {
      left[k] = (uint32_t)d.bound[k] - at.at[k];
      if (s.halo != 0 && s.row.bound == k + 1 && at.at[k] > 0) begun = true;
    }
    row = of(s.row, 0, left), rows = of(s.rows, 0, left), end = of(s.row, s.halo, left);
    run = of(s.run, s.run.bound == s.row.bound ? s.halo : 0, left);
    runs = of(s.runs, 0, left), bare = of(s.run, 0, left);
    const uint32_t indices = count_of(s.runs, s.halo, left);
    const uint32_t more = s.runs.units * indices - runs;
    runs += more < s.halo_runs ? more : s.halo_runs;
    return indices;
  }
  static MT_INLINE uint32_t count_of (const mt_span &s, uint32_t ahead,
                                      const uint32_t *left) {
    uint32_t count = s.count + ahead;
    if (s.bound == 0) return s.count;
#pragma unroll
    for (int k = 0; k < MT_PERMUTE_UNALIGNED_BOUNDS; k++)
      if (s.bound == k + 1 && left[k] < count) count = left[k];
    return count;
  }
  static MT_INLINE uint32_t of (const mt_span &s, uint32_t ahead, const uint32_t *left) {
    return s.units * count_of(s, ahead, left);
  }
};

/* What a thread finds for all: where box n begins on both sides, and its size. */
struct unaligned_block {
  const char *src;
  char *dst;
  unaligned_size size;
  bool inside; /* all that is read lies in the buffer */
  MT_INLINE void find (const mt_launch &p, uint32_t n) {
    const mt_desc &d = p.desc;
    unaligned_place at = {};
    sides side(p);
    walk_rest(at, d, n);
    side.move(d, at);
    src = side.src, dst = side.dst;
    const uint32_t indices = size.find(d, at);
    inside = lies_in(memory(p, MT_SRC), d, indices);
  }
  /* Runs begin in `reach` for one index of the last axis of `runs`. They are read by
  ** whole vectors. */
  MT_INLINE bool lies_in (const memory &m, const mt_desc &d, uint32_t indices) const {
    const int64_t by = (int64_t)(indices - 1) * d.unaligned.reach_step;
    const char *low = src + d.unaligned.reach[0] + (by < 0 ? by : 0);
    const char *high = src + d.unaligned.reach[1] + (by > 0 ? by : 0) +
                       (int64_t)size.run * d.vec * d.elem;
    return low - ((uintptr_t)low & 15) >= m.low &&
           high + (-(uintptr_t)high & 15) <= m.high;
  }
};

/* ------------------------------------------------------------------ loading */

/* The offsets of index n of a walk, in global and in shared memory, in bytes. */
struct unaligned_walk {
  int64_t global;
  uint32_t shared;
  MT_INLINE unaligned_walk (const mt_walk_axis *axis, uint32_t count, uint32_t n)
      : global(0), shared(0) {
#pragma unroll 1
    for (uint32_t k = 0; k < count; k++) {
      const uint32_t q = __umulhi(n, axis[k].by.mul) >> axis[k].by.shift;
      const uint32_t digit = n - q * axis[k].by.extent;
      shared += digit * axis[k].shared;
      global += digit * axis[k].global;
      n = q;
    }
  }
};

/* Where each run begins in the source, in units. */
MT_INLINE int32_t *unaligned_starts (const mt_permute_unaligned &k, char *box) {
  return (int32_t *)(box + k.starts_at);
}

/* All warps but the first find the starts of runs. */
template <int ES>
MT_INLINE void unaligned_find (const mt_permute_unaligned &k, char *box) {
#pragma unroll 1
  for (uint32_t r = threadIdx.x - 32; r < k.held_runs; r += blockDim.x - 32)
    unaligned_starts(k, box)[r] =
        (int32_t)(unaligned_walk(k.load, k.nload, r).global / ES);
}

/* The vector that lies n bytes on in all runs, without their gaps: where it comes from
** and goes to, and if its run touches it. The first of a run begins at the multiple of 16
** before it. `back` is -pitch, in a register: a product is added by one instruction, but
** subtracted by two. */
template <int ES> struct unaligned_vector {
  const char *from;
  near to;
  bool real;
  MT_INLINE void find (const mt_permute_unaligned &k, const unaligned_block &b, char *box,
                       uint32_t n, uint32_t back) {
    const uint32_t r = __umulhi(n, k.pitch_mul);
    const char *run = b.src + (int64_t)unaligned_starts(k, box)[r] * ES;
    const int32_t at = (int32_t)(n + r * back) - (int32_t)((uintptr_t)run & 15);
    from = run + at, to = near_of(box) + n + r / (16 / ES) * k.gap;
    real = at < (int32_t)((r < k.long_runs ? b.size.run : b.size.bare) * ES);
  }
};

/* INSIDE: all vectors lie in the buffer; else the units of a vector that do are loaded.
** Where no branch is between loads only the first costs three instructions more. */
template <int ES, bool INSIDE, int THREADS>
MT_INLINE void unaligned_load (const mt_launch &p, const unaligned_block &b, char *box) {
  enum { ON = 16 * THREADS, EACH = 4 };
  const mt_permute_unaligned &k = p.desc.unaligned;
  const memory m(p, MT_SRC);
  const uint32_t all = b.size.runs * k.pitch;
  const uint32_t back = (uint32_t)kept(-(int64_t)k.pitch);
  uint32_t n = 16 * threadIdx.x;
#pragma unroll 1
  for (; INSIDE && n + (EACH - 1) * ON < all; n += EACH * ON) {
    unaligned_vector<ES> v[EACH];
#pragma unroll
    for (int i = 0; i < EACH; i++) v[i].find(k, b, box, n + i * ON, back);
#pragma unroll
    for (int i = 0; i < EACH; i++) fetch_if(v[i].real, v[i].to, v[i].from);
  }
#pragma unroll 1
  for (; n < all; n += ON) {
    unaligned_vector<ES> v;
    v.find(k, b, box, n, back);
    if (INSIDE || (v.from >= m.low && v.from + 16 <= m.high))
      fetch_if(v.real, v.to, v.from);
    else if (v.real) *(uint4 *)there(v.to) = load_edge<ES>(v.from, m);
  }
}

} // namespace mt

#undef MT_INLINE
#endif
