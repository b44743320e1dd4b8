/*
** strided.cuh - copies as their descriptors say, DESCRIBED and STRIDED, over the bytes of
** one access. SPDX-License-Identifier: MIT
**
** Loop counts, strides and bases come from the descriptor only; a template fixes the
** bytes of an access and how many a thread has in flight. What depends on the block and
** on the value alone is uniform over a warp and costs no registers of a thread.
*/
#ifndef COPY_CUH
#define COPY_CUH

#include "kernels/copy/pixels.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* ------------------------------------------------------------------ bounds */

/* What the bounds leave beyond the ordinates `o`; where there is no bound, all. */
MT_INLINE ordinates room (const mt_desc &d, const ordinates &o) {
  ordinates r;
#pragma unroll
  for (int k = 0; k < MT_MAXBOUND; k++)
    r.at[k] = (uint32_t)k < d.nbound ? d.bound[k] - o.at[k] : INT64_MAX;
  return r;
}

/* Whether element `lane` of an access at `o` has room. */
MT_INLINE bool fits (const mt_desc &d, const ordinates &o, const ordinates &r,
                     int64_t lane) {
  bool yes = true;
#pragma unroll
  for (int k = 0; k < MT_MAXBOUND; k++) yes &= o.at[k] + lane * d.lane_step[k] < r.at[k];
  return yes;
}

/* Whole where its first and its last element have room; else by elements. */
template <int BYTES>
MT_INLINE void copy_bounded (const mt_desc &d, const sides &s, const ordinates &o,
                             const ordinates &r) {
  if (fits(d, o, r, 0) && fits(d, o, r, (int64_t)d.vec - 1))
    return store<BYTES>(s.dst, load<BYTES>(s.src));
#pragma unroll 1
  for (uint32_t lane = 0; lane < d.vec; lane++)
    if (fits(d, o, r, lane))
      copy_element(s.src + lane * d.elem, s.dst + lane * d.elem, d.elem);
}

/* ------------------------------------------------------------------ DESCRIBED */

/* Whether all of the block at `corner` is real: its largest ordinates are within bounds.
** */
MT_INLINE bool inside (const mt_desc &d, const ordinates &corner) {
  ordinates last = corner, none = {};
#pragma unroll 1
  for (uint32_t i = 0; i < d.nthr + d.nval; i++)
#pragma unroll
    for (int k = 0; k < MT_MAXBOUND; k++)
      if (d.axis[i].step[k] > 0) last.at[k] += (d.axis[i].extent - 1) * d.axis[i].step[k];
#pragma unroll
  for (int k = 0; k < MT_MAXBOUND; k++)
    if (d.lane_step[k] > 0) last.at[k] += (int64_t)(d.vec - 1) * d.lane_step[k];
  return fits(d, last, room(d, none), 0);
}

/* `count` accesses along one axis: UNROLL loads before their stores, the rest in halves.
** */
template <int BYTES, int UNROLL>
MT_INLINE void tv_run (sides s, uint32_t count, int64_t src_step, int64_t dst_step) {
#pragma unroll 1
  for (; count >= UNROLL; count -= UNROLL) {
    typename word<BYTES>::type data[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++, s.src += src_step) data[u] = load<BYTES>(s.src);
#pragma unroll
    for (int u = 0; u < UNROLL; u++, s.dst += dst_step) store<BYTES>(s.dst, data[u]);
  }
  if (UNROLL > 1) tv_run<BYTES, (UNROLL + 1) / 2>(s, count, src_step, dst_step);
}

/* All values of a thread: runs along the first value axis. */
template <int BYTES, int UNROLL>
MT_INLINE void tv_whole (const mt_desc &d, const sides &mine, const place &corner) {
  const uint32_t first = d.nthr, end = d.nthr + d.nval;
  const uint32_t count = d.nval ? (uint32_t)d.axis[first].extent : 1;
  const int64_t src_step = d.axis[first].stride[MT_SRC] * (int64_t)d.elem;
  const int64_t dst_step = d.axis[first].stride[MT_DST] * (int64_t)d.elem;
  uint32_t left = (uint32_t)d.values, run = 0;
#pragma unroll 1
  for (; left >= count; left -= count, run++) {
    place at = corner;
    sides s = mine;
    if (d.nval > 1) walk(at, d, first + 1, end, run);
    s.move(d, at);
    tv_run<BYTES, UNROLL>(s, count, src_step, dst_step);
  }
}

/* The values of a thread one by one, as far as they are real. SIDES says where those of
** an access at a place are. */
template <int BYTES, class SIDES>
MT_INLINE void tv_edge (const mt_desc &d, const SIDES &sides, const place &corner,
                        const ordinates &rest) {
  ordinates thr = {};
  walk_thr(thr, d, threadIdx.x);
#pragma unroll 1
  for (uint32_t v = 0; v < (uint32_t)d.values; v++) {
    ordinates o = rest;
    place at = corner;
    walk_val(o, d, v);
    walk_val(at, d, v);
    copy_bounded<BYTES>(d, sides.at(at), thr, room(d, o));
  }
}

/* Places counted from sides. */
struct moved {
  const mt_desc &d;
  const sides &from;
  MT_INLINE sides at (const place &to) const {
    sides s = from;
    s.move(d, to);
    return s;
  }
};

/* The plain case: no bounds, one access of a thread, one index of rest of a block. A copy
** is as fast as memory only if all of this takes less than about 150 instructions. */
template <int BYTES, int NTHR, int NREST> MT_INLINE void tv_plain (const mt_launch &p) {
  place at = {};
  sides s(p);
  walk_n<NTHR>(at, p.desc, 0, threadIdx.x);
  walk_n<NREST>(at, p.desc, NTHR, blockIdx.x);
  s.move(p.desc, at);
  store<BYTES>(s.dst, load<BYTES>(s.src));
}

MT_INLINE bool is_plain (const mt_desc &d) {
  return (d.nbound | d.nval) == 0 && d.threads == blockDim.x && d.rests == gridDim.x;
}

/* A block is one index of rest, a thread of it one of the threads. */
template <int BYTES, int UNROLL> MT_INLINE void copy_described (const mt_launch &p) {
  const mt_desc &d = p.desc;
  if (is_plain(d)) {
    if (d.nthr == 1 && d.nrest == 1) return tv_plain<BYTES, 1, 1>(p);
    if (d.nthr == 1 && d.nrest == 2) return tv_plain<BYTES, 1, 2>(p);
    if (d.nthr == 2 && d.nrest == 1) return tv_plain<BYTES, 2, 1>(p);
    if (d.nthr == 2 && d.nrest == 2) return tv_plain<BYTES, 2, 2>(p);
    if (d.nthr == 2 && d.nrest == 3) return tv_plain<BYTES, 2, 3>(p);
  }
  place thr = {};
  sides mine(p);
  if (threadIdx.x >= d.threads) return;
  walk_thr(thr, d, threadIdx.x);
  mine.move(d, thr);
#pragma unroll 1
  for (int64_t n = blockIdx.x; n < d.rests; n += gridDim.x) {
    place corner = {};
    ordinates rest = {};
    walk_rest(corner, d, n);
    if (d.nbound != 0) walk_rest(rest, d, n);
    if (d.nbound == 0 || inside(d, rest)) tv_whole<BYTES, UNROLL>(d, mine, corner);
    else tv_edge<BYTES>(d, moved{d, mine}, corner, rest);
  }
}

/* ------------------------------------------------------------------ STRIDED */

/* Accesses n, n + threads, ...: UNROLL of them, below 2^31. */
template <int BYTES, int UNROLL, class WHERE>
MT_INLINE void flat_group (const mt_launch &p, uint32_t n) {
  const mt_desc &d = p.desc;
  typename word<BYTES>::type data[UNROLL];
  char *dst[UNROLL];
#pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    place at = {};
    if (n + u * blockDim.x < (uint32_t)d.rests) {
      walk(at, d, 0, d.nrest, n + u * blockDim.x);
      data[u] = load<BYTES>(WHERE::source(p, at));
    }
    dst[u] = WHERE::target(p, at);
  }
#pragma unroll
  for (int u = 0; u < UNROLL; u++)
    if (n + u * blockDim.x < (uint32_t)d.rests) store<BYTES>(dst[u], data[u]);
}

/* All accesses of the first axis, UNROLL at most, at index n of the others: pixels. They
** find their place once. */
template <int BYTES, int UNROLL>
MT_INLINE void flat_short (const mt_launch &p, uint32_t n) {
  const mt_desc &d = p.desc;
  const mt_axis &a = d.axis[0];
  typename word<BYTES>::type data[UNROLL];
  place at = {};
  sides s(p);
  walk(at, d, 1, d.nrest, n);
  s.move(d, at);
#pragma unroll
  for (int u = 0; u < UNROLL; u++)
    if (u < a.extent)
      data[u] = load<BYTES>(s.src + u * a.stride[MT_SRC] * (int64_t)d.elem);
#pragma unroll
  for (int u = 0; u < UNROLL; u++)
    if (u < a.extent)
      store<BYTES>(s.dst + u * a.stride[MT_DST] * (int64_t)d.elem, data[u]);
}

template <int BYTES, int UNROLL> MT_INLINE bool is_short (const mt_desc &d) {
  return BYTES < 16 && d.nbound == 0 && !far(d) && d.nrest > 1 &&
         MT_STRIDED_SHORT(d.axis[0].extent, UNROLL) && !MT_STRIDED_ALONE(&d);
}

/* One access, any number, with bounds. */
template <int BYTES, class WHERE>
MT_INLINE void flat_one (const mt_launch &p, int64_t n) {
  const mt_desc &d = p.desc;
  place at = {};
  ordinates o = {}, none = {};
  sides s(p);
  walk_far(at, d, 0, d.nrest, (uint64_t)n);
  if (d.nbound != 0) walk_far(o, d, 0, d.nrest, (uint64_t)n);
  s.src = WHERE::source(p, at);
  s.dst = WHERE::target(p, at);
  copy_bounded<BYTES>(d, s, o, room(d, none));
}

/* Access number (block * UNROLL + u) * threads + thread is that index of rest. */
template <int BYTES, int UNROLL, class WHERE = plain>
MT_INLINE void copy_strided (const mt_launch &p) {
  const mt_desc &d = p.desc;
  const int64_t group = (int64_t)UNROLL * blockDim.x, all = gridDim.x * group;
  if (WHERE::PLAIN && is_short<BYTES, UNROLL>(d)) {
    const uint32_t end = divide((uint32_t)d.rests, d.axis[0]);
    if (d.nrest == 2) return copy_pixels<BYTES, UNROLL>(p, end);
#pragma unroll 1
    for (uint32_t n = blockIdx.x * blockDim.x + threadIdx.x; n < end;
         n += gridDim.x * blockDim.x)
      flat_short<BYTES, UNROLL>(p, n);
    return;
  }
#pragma unroll 1
  for (int64_t n = blockIdx.x * group + threadIdx.x; n < d.rests; n += all) {
    if (d.nbound == 0 && !far(d)) {
      flat_group<BYTES, UNROLL, WHERE>(p, (uint32_t)n);
      continue;
    }
#pragma unroll 1
    for (int64_t m = n; m < n + group && m < d.rests; m += blockDim.x)
      flat_one<BYTES, WHERE>(p, m);
  }
}

/* ------------------------------------------------------------------ all algorithms */

/* How an algorithm copies: the header of each says it. */
template <int ALGO, int BYTES, int UNROLL> struct copier;

/* Whether it makes tables before it touches memory, and waits itself: its header says. */
template <int ALGO> inline constexpr bool has_tables = false;

template <int ALGO, int BYTES, int UNROLL> MT_INLINE void copy (const mt_launch &p) {
  if (has_tables<ALGO>) let_next_begin();
  else begin();
  copier<ALGO, BYTES, UNROLL>::run(p);
}

template <int BYTES, int UNROLL> struct copier<MT_ALGO_DESCRIBED, BYTES, UNROLL> {
  static MT_INLINE void run (const mt_launch &p) { copy_described<BYTES, UNROLL>(p); }
};
template <int BYTES, int UNROLL> struct copier<MT_ALGO_STRIDED, BYTES, UNROLL> {
  static MT_INLINE void run (const mt_launch &p) { copy_strided<BYTES, UNROLL>(p); }
};

} // namespace mt

/* Blocks of an SM; without a number as many as registers allow. */
#define MT_BOUNDS_DESCRIBED(threads, unroll) __launch_bounds__(threads)
#define MT_BOUNDS_STRIDED(threads, unroll) __launch_bounds__(threads)

#undef MT_INLINE
#endif
