/*
** skew.cuh - copies of boxes whose rows begin anywhere.
** SPDX-License-Identifier: MIT
**
** A unit is an access of ES bytes, a vector 16 bytes. A block moves one box. It reads runs
** of the source, in the vectors that they touch, into shared memory, where each unit keeps
** its distance from a multiple of 16: the steps of the source and those of shared memory
** are the same modulo 16, so that vectors arrive as they are. Then it writes rows of the
** destination in the vectors that are aligned there, the first and the last of a row in
** parts, and collects the units of each.
*/
#ifndef SKEW_CUH
#define SKEW_CUH

#include "box.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* ------------------------------------------------------------------ lengths */

/* Where a block is, and how far along the bounds. */
struct skew_place : place {
  int64_t at[MT_SKEW_BOUNDS];
  MT_INLINE void step (const mt_axis &a, int64_t digit) {
    place::step(a, digit);
#pragma unroll
    for (int k = 0; k < MT_SKEW_BOUNDS; k++) at[k] += digit * a.step[k];
  }
};

/* What the bounds leave of the four spans. */
struct skew_size {
  uint32_t run, runs, row, rows;
  MT_INLINE skew_size (const mt_desc &d, const skew_place &at)
      : run(of(d, d.skew.run, at)), runs(of(d, d.skew.runs, at)),
        row(of(d, d.skew.row, at)), rows(of(d, d.skew.rows, at)) {}
  static MT_INLINE uint32_t of (const mt_desc &d, const mt_span &s,
                                const skew_place &at) {
    uint32_t count = s.count;
#pragma unroll
    for (int k = 0; k < MT_SKEW_BOUNDS; k++)
      if (s.bound == k + 1 && d.bound[k] - at.at[k] < count)
        count = (uint32_t)(d.bound[k] - at.at[k]);
    return s.units * count;
  }
};

/* ------------------------------------------------------------------ loading */

/* A vector to shared memory, which arrives before skew_arrived returns. */
MT_INLINE void skew_fetch (char *to, const char *from) {
#if defined(__CUDA_ARCH__)
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                   (uint32_t)__cvta_generic_to_shared(to)),
               "l"(from)
               : "memory");
#else
  *(uint4 *)to = *(const uint4 *)from;
#endif
}

MT_INLINE void skew_arrived () {
#if defined(__CUDA_ARCH__)
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
  __syncthreads();
}

/* Offsets of index n along hops, in the memory of one side and in shared memory. */
struct skew_walk {
  int64_t global;
  uint32_t shared;
  MT_INLINE skew_walk (const mt_hop *hop, uint32_t count, uint32_t n)
      : global(0), shared(0) {
#pragma unroll 1
    for (uint32_t k = 0; k < count; k++) {
      const uint32_t q = __umulhi(n, hop[k].mul) >> hop[k].shift;
      const uint32_t digit = n - q * hop[k].extent;
      shared += digit * hop[k].shared;
      global += digit * hop[k].global;
      n = q;
    }
  }
};

template <int ES>
MT_INLINE void skew_load (const mt_launch &p, const skew_size &size, const char *src,
                          char *box) {
  const mt_skew &k = p.desc.skew;
  const memory m(p, MT_SRC);
  const uint32_t low = (uint32_t)(uintptr_t)src & 15, bytes = size.run * ES;
  const uint32_t each = k.each[MT_SRC].extent, all = size.runs * each;
#pragma unroll 2
  for (uint32_t n = threadIdx.x; n < all; n += blockDim.x) {
    const uint32_t r = divide_by(n, each, k.each[MT_SRC].mul, k.each[MT_SRC].shift);
    const skew_walk w(k.load, k.nload, r);
    const uint32_t at = low + w.shared, before = at & 15, v = 16 * (n - r * each);
    const char *from = src + w.global - before + v;
    char *to = box + (at - before + v);
    if (v >= before + bytes) continue;
    if (from >= m.low && from + 16 <= m.high) skew_fetch(to, from);
    else *(uint4 *)to = load_raw<ES>(from, m);
  }
  skew_arrived();
}

/* ------------------------------------------------------------------ collecting */

template <int ES> struct skew_unit { typedef typename shared_word<ES>::type type; };
template <> struct skew_unit<1> { typedef uint8_t type; };
template <> struct skew_unit<2> { typedef uint16_t type; };

/* V units of a row from place `first` on, -V < first. What lies before the row or behind
** it is not real: any unit will do. */
template <int ES> struct skew_units {
  enum { V = 16 / ES };
  typedef typename skew_unit<ES>::type type;
  type x[V];

  /* The first axis of the row holds V places: one jump at most, before unit `jump`. */
  MT_INLINE void long_row (const mt_skew &k, const char *box, int32_t first) {
    const uint32_t n = first < 0 ? 0 : first, step = k.line[0].shared;
    uint32_t q = __umulhi(n, k.line[0].mul) >> k.line[0].shift;
    uint32_t digit = n - q * k.line[0].extent, at = digit * step;
    uint32_t jump = k.line[0].extent - digit, by = k.line[0].extent * step;
#pragma unroll 1
    for (uint32_t i = 1, more = q + 1; i < k.nline; i++) {
      const uint32_t q1 = __umulhi(q, k.line[i].mul) >> k.line[i].shift;
      const uint32_t q2 = __umulhi(more, k.line[i].mul) >> k.line[i].shift;
      const uint32_t here = (q - q1 * k.line[i].extent) * k.line[i].shared;
      at += here;
      by += here - (more - q2 * k.line[i].extent) * k.line[i].shared;
      q = q1, more = q2;
    }
    if (n + jump >= k.row.units * k.row.count) by = at + jump * step;
    if (first < 0) jump = (uint32_t)-first, by = jump * step;
#pragma unroll
    for (uint32_t j = 0; j < V; j++, at += step) {
      if (j == jump) at -= by;
      x[j] = *(const type *)(box + at);
    }
  }

  /* Any row: each place for itself. */
  MT_INLINE void short_row (const mt_skew &k, const char *box, int32_t first) {
    const int32_t last = (int32_t)k.row.units * (int32_t)k.row.count - 1;
#pragma unroll
    for (int j = 0; j < V; j++) {
      const int32_t n = first + j < 0 ? 0 : first + j > last ? last : first + j;
      const skew_walk w(k.line, k.nline, (uint32_t)n);
      x[j] = *(const type *)(box + w.shared);
    }
  }

  MT_INLINE uint4 vector () const {
    uint4 out;
    box_vectors<ES, 1>::of(&out, x);
    return out;
  }
};

/* ------------------------------------------------------------------ storing */

/* Those units of word i of a vector that are in [low, high), which are not all. */
template <int ES>
MT_INLINE void store_few (char *p, uint32_t w, int32_t low, int32_t high) {
  if (ES == 2) {
    if (low <= 0 && 0 < high) store<2>(p, (uint16_t)w);
    if (low <= 1 && 1 < high) store<2>(p + 2, (uint16_t)(w >> 16));
    return;
  }
  const bool a = low <= 0 && 2 <= high, b = low <= 2 && 4 <= high;
  if (a) store<2>(p, (uint16_t)w);
  if (b) store<2>(p + 2, (uint16_t)(w >> 16));
#pragma unroll
  for (int j = 0; j < 4; j++)
    if (low <= j && j < high && !(j < 2 ? a : b)) store<1>(p + j, (uint8_t)(w >> 8 * j));
}

/* Units [low, high) of an aligned vector, which is not whole. */
template <int ES>
MT_INLINE void store_part (char *p, const uint4 &v, int32_t low, int32_t high) {
  const uint32_t *w = &v.x;
  if constexpr (ES == 8) {
    if (low <= 0) store<8>(p, make_uint2(v.x, v.y));
    else store<8>(p + 8, make_uint2(v.z, v.w));
  } else if constexpr (ES < 8) {
    enum { EACH = 4 / ES };
#pragma unroll
    for (int i = 0; i < 4; i++, low -= EACH, high -= EACH) {
      if (low <= 0 && EACH <= high) store<4>(p + 4 * i, w[i]);
      else if constexpr (ES < 4) store_few<ES>(p + 4 * i, w[i], low, high);
    }
  }
}

template <int ES, bool LONG>
MT_INLINE void skew_store (const mt_desc &d, const skew_size &size, char *dst,
                           const char *box) {
  enum { V = 16 / ES, N = ES < 4 ? 1 : ES < 8 ? 2 : 4 };    /* tasks at once */
  const mt_skew &k = d.skew;
  const uint32_t each = k.each[MT_DST].extent, mask = (1u << k.beside) - 1;
  const uint32_t all = (size.rows + mask >> k.beside) * each << k.beside;
#pragma unroll 1
  for (uint32_t from = threadIdx.x; from < all; from += N * blockDim.x) {
    skew_units<ES> unit[N];
    char *to[N];
    int32_t first[N];
#pragma unroll
    for (int i = 0; i < N; i++) {
      const uint32_t n = from + i * blockDim.x, m = n >> k.beside;
      const uint32_t q = divide_by(m, each, k.each[MT_DST].mul, k.each[MT_DST].shift);
      const uint32_t row = (q << k.beside) + (n & mask);
      const skew_walk w(k.store, k.nstore, row);
      const uint32_t before = (uint32_t)(uintptr_t)(dst + w.global) & 15;
      first[i] = (int32_t)((m - q * each) * V) - (int32_t)(before / ES);
      to[i] = dst + w.global + (int64_t)first[i] * ES;
      if (n >= all || row >= size.rows || first[i] >= (int32_t)size.row) {
        first[i] = INT32_MAX;
        continue;
      }
      if (LONG) unit[i].long_row(k, box + w.shared, first[i]);
      else unit[i].short_row(k, box + w.shared, first[i]);
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
      const int32_t end = (int32_t)size.row - first[i];
      if (first[i] == INT32_MAX) continue;
      if (first[i] >= 0 && end >= V) store<16>(to[i], unit[i].vector());
      else store_part<ES>(to[i], unit[i].vector(), -first[i], end);
    }
  }
}

template <int ES> MT_INLINE void copy_skew (const mt_launch &p) {
  __shared__ uint4 shared[MT_SKEW_SHARED / 16];
  const mt_desc &d = p.desc;
  char *box = (char *)shared;
  skew_place at = {};
  sides side(p);
  walk_rest(at, d, blockIdx.x);
  side.move(d, at);
  const skew_size size(d, at);
  skew_load<ES>(p, size, side.src, box);
  box += (uint32_t)(uintptr_t)side.src & 15;
  if (d.skew.line[0].extent >= 16 / ES) skew_store<ES, true>(d, size, side.dst, box);
  else skew_store<ES, false>(d, size, side.dst, box);
}

} // namespace mt

#undef MT_INLINE
#endif
