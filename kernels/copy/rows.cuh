/*
** rows.cuh - copies of rows that begin anywhere.
** SPDX-License-Identifier: MIT
**
** A unit is an access of ES bytes. The thread axis of the descriptor is a run of both
** sides, the rest axes number the rows. A thread writes one vector of 16 bytes that is
** aligned in the destination: vector v of a row begins 16 v bytes past the last multiple
** of 16 that is not behind the beginning of the row. What it needs of the source lies in
** two vectors that are aligned there. Of rows that run backwards in the source the units
** of a vector are turned round. What is repeated is put together once and written several
** times (mt_raster); where the repeated rows follow one another there are no ends of
** them but the first and the last: a vector has the end of a row and the beginning of the
** next.
*/
#ifndef ROWS_CUH
#define ROWS_CUH

#include "desc/transpose_desc.h"
#include "kernels/copy/transpose.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* The units of a vector in the other order. */
template <int ES> MT_INLINE uint4 reversed (const uint4 &v) {
  constexpr uint32_t order = ES == 1 ? 0x0123 : ES == 2 ? 0x1032 : 0x3210;
  if (ES == 16) return v;
  if (ES == 8) return make_uint4(v.z, v.w, v.x, v.y);
  return make_uint4(__byte_perm(v.w, 0, order), __byte_perm(v.z, 0, order),
                    __byte_perm(v.y, 0, order), __byte_perm(v.x, 0, order));
}

/* BYTES of the vector v at `at`, as far as they are bytes [low, high) of it, by the
** widest accesses. p: where v begins, a multiple of 16. */
template <int ES, int BYTES>
MT_INLINE void store_bytes (char *p, const uint4 &v, int at, int low, int high) {
  if (low <= at && at + BYTES <= high) return store_unit<BYTES>(p + at, v, at / BYTES);
  if constexpr (BYTES > ES) {
    if (low >= at + BYTES || high <= at) return;
    store_bytes<ES, BYTES / 2>(p, v, at, low, high);
    store_bytes<ES, BYTES / 2>(p, v, at + BYTES / 2, low, high);
  }
}

/* The units of the vector at p whose numbers, from `first` on, lie in [0, end). */
template <int ES>
MT_INLINE void store_ends (char *p, const uint4 &v, int32_t first, int64_t end) {
  const int64_t left = end - first;
  store_bytes<ES, 16>(p, v, 0, first < 0 ? -first * ES : 0,
                      left < 16 / ES ? (int)left * ES : 16);
}

/* Two vectors of the source, in which 16 bytes lie from byte `shift` on. */
struct halves {
  uint4 a, b;
  uint32_t shift;
};

/* Those of the 16 bytes at `from`, as far as they lie in the buffer. */
template <int ES> MT_INLINE halves load_halves (const char *from, const memory &m) {
  halves x = {{0, 0, 0, 0}, {0, 0, 0, 0}, (uint32_t)(uintptr_t)from & 15};
  const char *at = from - x.shift;
  if (at >= m.low && at + 32 <= m.high) {
    x.a = load<16>(at);
    if (x.shift != 0) x.b = load<16>(at + 16);
  } else {
    x.a = load_edge<ES>(at, m);
    if (x.shift != 0) x.b = load_edge<ES>(at + 16, m);
  }
  return x;
}

template <int ES> MT_INLINE uint4 whole (const halves &x) {
  return window<ES>(x.a, x.b, x.shift);
}

/* ------------------------------------------------------------------ rows */

/* Writes a vector, whose first unit is unit `first` of its row; AGAIN: to copy `copy` of
** the row, and those that lie `strip` on. */
template <int ES, bool AGAIN>
MT_INLINE void put_again (const mt_desc &d, char *to, const uint4 &a, int32_t first,
                          uint32_t copy) {
  enum { EACH = AGAIN ? MT_ROWS_EACH : 1 };
  const int32_t end = (int32_t)d.threads;
  const uint32_t strip = d.raster.strip.extent;
  const int64_t pitch = AGAIN ? d.axis[1].stride[MT_DST] * (int64_t)(d.elem * strip) : 0;
  if (first >= 0 && first + 16 / ES <= end) {
    store<16>(to, a);
#pragma unroll
    for (int i = 1; i < EACH; i++) {
      copy += strip, to += pitch;
      if (copy < (uint32_t)d.values) store<16>(to, a);
    }
    return;
  }
  int i = 0;
  do {
    if (!AGAIN || copy < (uint32_t)d.values) store_ends<ES>(to, a, first, end);
    copy += strip, to += pitch;
  } while (++i < EACH);
}

/* A vector of a row: its bytes in the source, where it goes, its first unit, which copy
** of the row. Not `there`: it is none of the row's. */
struct found_vector {
  const char *from;
  char *to;
  int32_t first;
  uint32_t copy;
  bool there;
};

template <int ES, bool AGAIN>
MT_INLINE found_vector find_vector (const mt_launch &p, uint32_t n) {
  const mt_desc &d = p.desc;
  const mt_raster &r = d.raster;
  uint32_t row = divide(n, r.along), copy = 0;
  const int32_t v = (int32_t)(n - row * r.along.extent);
  sides s(p);
  place at = {};
  if (AGAIN) {
    const uint32_t rest = divide(row, r.across), g = row - rest * r.across.extent;
    const uint32_t c = divide(g, r.strip);
    copy = g + c * r.strip.extent * (MT_ROWS_EACH - 1);
    row = rest;
    at.step(d.axis[1], copy);
  }
  walk(at, d, 1 + AGAIN, 1 + AGAIN + d.nrest, row);
  s.move(d, at);
  const uint32_t before = (uint32_t)(uintptr_t)s.dst & 15;
  const int32_t first = v * (16 / ES) - (int32_t)(before / ES);
  const bool backwards = d.axis[0].stride[MT_SRC] < 0;
  const int32_t low = backwards ? 1 - first - 16 / ES : first;
  const bool there = first < (int32_t)d.threads && (!AGAIN || copy < (uint32_t)d.values);
  return {s.src + (int64_t)low * ES, s.dst + (int64_t)first * ES, first, copy, there};
}

/* The vectors n, n + 256, ... below `all`: all loads before the stores. */
template <int ES, int UNROLL, bool AGAIN>
MT_INLINE void copy_vectors (const mt_launch &p, uint32_t n, uint32_t all) {
  const bool backwards = p.desc.axis[0].stride[MT_SRC] < 0;
  const memory m(p, MT_SRC);
  found_vector v[UNROLL];
  halves x[UNROLL];
#pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    v[u].there = false;
    if (n + 256 * u < all) v[u] = find_vector<ES, AGAIN>(p, n + 256 * u);
  }
#pragma unroll
  for (int u = 0; u < UNROLL; u++)
    if (v[u].there) x[u] = load_halves<ES>(v[u].from, m);
#pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    if (!v[u].there) continue;
    uint4 a = whole<ES>(x[u]);
    if (backwards) a = reversed<ES>(a);
    put_again<ES, AGAIN>(p.desc, v[u].to, a, v[u].first, v[u].copy);
  }
}

/* ------------------------------------------------------------------ periods */

/* The first `bytes` bytes of a, behind them those of b. */
MT_INLINE uint4 joined (const uint4 &a, const uint4 &b, int bytes) {
  const uint32_t x[4] = {a.x, a.y, a.z, a.w}, y[4] = {b.x, b.y, b.z, b.w};
  uint32_t v[4];
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int n = bytes - 4 * i;
    const uint32_t mask = n >= 4 ? ~0u : n <= 0 ? 0 : (1u << 8 * n) - 1;
    v[i] = (x[i] & mask) | (y[i] & ~mask);
  }
  return make_uint4(v[0], v[1], v[2], v[3]);
}

/* Writes a vector from unit `from` on, and again each `period` units, as far as they are
** units [0, end). to: where unit `from` is. */
template <int ES>
MT_INLINE void put_periods (char *to, const uint4 &a, int64_t from, int64_t period,
                            int64_t end) {
  enum { V = 16 / ES };
  int64_t left = end - from;
  const int begin = from < 0;
  if (begin)
    store_bytes<ES, 16>(to, a, 0, (int)-from * ES, left < V ? (int)left * ES : 16);
  bool more = true;
#pragma unroll 1
  for (int i = 0; i < MT_ROWS_EACH; i++, left -= period, to += period * ES) {
    if (left < V) {
      more = i >= begin && left > 0;
      break;
    }
    if (i >= begin) store<16>(to, a);
  }
  if (left < V && more) store_bytes<ES, 16>(to, a, 0, 0, (int)left * ES);
}

/* Vector v of a period, in MT_ROWS_EACH periods: its units are those of the row from
** `unit` on, and then from its beginning. All but the first and the last of all rows are
** whole. */
template <int ES> MT_INLINE void copy_period (const mt_launch &p, uint32_t n) {
  enum { V = 16 / ES };
  const mt_desc &d = p.desc;
  const mt_raster &r = d.raster;
  const uint32_t q = divide(n, r.along), rest = divide(q, r.across);
  const uint32_t c = (q - rest * r.across.extent) * MT_ROWS_EACH;
  const int32_t row = (int32_t)d.threads;
  const memory m(p, MT_SRC);
  sides s(p);
  place at = {};
  walk(at, d, 2, 2 + d.nrest, rest);
  s.move(d, at);
  const uint32_t before = (uint32_t)(uintptr_t)s.dst & 15;
  const int32_t v = (int32_t)(n - q * r.along.extent);
  const int32_t first = v * V - (int32_t)(before / ES);
  const int32_t unit =
      first < 0 ? first + row : first - (int32_t)divide((uint32_t)first, d.axis[0]) * row;
  const int64_t period = (int64_t)r.along.extent * V;
  const int64_t end = (int64_t)row * d.values, from = first + c * period;
  if (from >= end) return;
  uint4 a = whole<ES>(load_halves<ES>(s.src + (int64_t)unit * ES, m));
  if (unit + V > row)
    a = joined(a, whole<ES>(load_halves<ES>(s.src + (int64_t)(unit - row) * ES, m)),
               (row - unit) * ES);
  char *to = s.dst + from * ES;
  if (from < 0 || from + (MT_ROWS_EACH - 1) * period + V > end)
    return put_periods<ES>(to, a, from, period, end);
#pragma unroll
  for (int i = 0; i < MT_ROWS_EACH; i++, to += period * ES) store<16>(to, a);
}

/* ------------------------------------------------------------------ blocks */

template <int ES, int UNROLL, bool AGAIN> MT_INLINE void copy_block (const mt_launch &p) {
  const mt_raster &r = p.desc.raster;
  const uint32_t groups = AGAIN ? r.across.extent : 1;
  const uint32_t all = (uint32_t)p.desc.rests * r.along.extent * groups;
  const uint32_t n = blockIdx.x * (256 * UNROLL) + threadIdx.x;
  copy_vectors<ES, UNROLL, AGAIN>(p, n, all);
}

template <int ES> MT_INLINE void copy_periods (const mt_launch &p) {
  const mt_raster &r = p.desc.raster;
  const uint32_t n = blockIdx.x * 256 + threadIdx.x;
  if (n < (uint32_t)p.desc.rests * r.along.extent * r.across.extent)
    copy_period<ES>(p, n);
}

template <int ES, int UNROLL> MT_INLINE void copy_rows (const mt_launch &p) {
  if (p.desc.nval == 0) copy_block<ES, UNROLL, false>(p);
  else if (MT_ROWS_PERIODIC(&p.desc)) copy_periods<ES>(p);
  else copy_block<ES, UNROLL, true>(p);
}

template <int BYTES, int UNROLL> struct copier<MT_ALGO_ROWS, BYTES, UNROLL> {
  static MT_INLINE void run (const mt_launch &p) { copy_rows<BYTES, UNROLL>(p); }
};

} // namespace mt

/* Blocks of an SM: two vectors of a thread are on their way. */
#define MT_BOUNDS_ROWS(threads, unroll) __launch_bounds__(threads, 5)

#undef MT_INLINE
#endif
