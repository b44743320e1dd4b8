/*
** staged.cuh - copies of units that lie anywhere in the source, by way of shared memory.
** SPDX-License-Identifier: MIT
**
** All names, and a picture, are in desc/staged_desc.h. A block makes its tables once and
** then goes from tile to tile: it fetches the pieces of the source by vectors, waits, and
** puts words of the destination together. The blocks of a multiprocessor take turns: some
** fetch while others write.
*/
#ifndef STAGED_CUH
#define STAGED_CUH

#include "desc/staged_desc.h"
#include "kernels/copy/gather.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* ------------------------------------------------------------------ tables */

/* A row of a tile in shared memory and in the destination; a piece in the source and in
** shared memory: bytes behind the first one. */
struct alignas(8) staged_row {
  int32_t from, to;
};

/* How far index n of the axes from i on lies behind, in bytes of shared memory. */
MT_INLINE int32_t staged_walk (const mt_desc &d, uint32_t i, uint32_t end, uint32_t n) {
  int32_t sum = 0;
#pragma unroll 1
  for (; i < end; i++) {
    const uint32_t q = i + 1 < end ? divide(n, d.axis[i]) : 0;
    sum += (int32_t)(n - q * (uint32_t)d.axis[i].extent) * d.staged.stride[i];
    n = q;
  }
  return sum;
}

MT_INLINE void staged_make_rows (const mt_desc &d, char *tables) {
  staged_row *rows = (staged_row *)(tables + d.gather.table);
#pragma unroll 1
  for (uint32_t n = threadIdx.x; n < d.gather.rows; n += blockDim.x) {
    place at = {};
    walk_val(at, d, n);
    rows[n] = {staged_walk(d, d.nthr, d.nthr + d.nval, n),
               (int32_t)(at.side[MT_DST] * (int64_t)d.elem)};
  }
}

MT_INLINE void staged_make_pieces (const mt_staged &s, char *tables) {
  staged_row *pieces = (staged_row *)(tables + s.pieces_at);
#pragma unroll 1
  for (uint32_t p = threadIdx.x; p < s.pieces; p += blockDim.x) {
    staged_row at = {0, 0};
    uint32_t n = p;
#pragma unroll 1
    for (uint32_t i = 0; i < s.levels; i++) {
      const uint32_t q = n / s.level[i].extent, digit = n - q * s.level[i].extent;
      at.from += (int32_t)digit * s.level[i].src;
      at.to += (int32_t)digit * s.level[i].shared;
      n = q;
    }
    pieces[p] = at;
  }
}

/* As of GATHER: phase f of the table begins with unit -f. */
template <int ES> MT_INLINE void staged_make_units (const mt_desc &d, char *tables) {
  enum { AHEAD = MT_GATHER_UNITS(ES) - 1 };
  const mt_gather &g = d.gather;
  const int32_t pitch = (int32_t)(d.staged.step.extent * MT_GATHER_UNITS(ES));
  const int32_t early = (int32_t)g.phases - 1;
  const int32_t inner = (int32_t)(g.units / g.cut[0]);
  const int32_t before =
      (d.nthr == 0 ? 0 : AHEAD * d.staged.stride[d.nthr - 1]) - (int32_t)d.staged.before;
#pragma unroll 1
  for (int32_t n = (int32_t)threadIdx.x - early; n < pitch; n += blockDim.x) {
    const int32_t by = staged_walk(d, 0, d.nthr, (uint32_t)(n + AHEAD * inner)) - before;
#pragma unroll 1
    for (int32_t f = n < 0 ? -n : 0; f <= early && n + f < pitch; f++)
      ((uint16_t *)tables)[f * pitch + n + f] = (uint16_t)by;
  }
}

/* ------------------------------------------------------------------ in */

/* What a vector has in the buffer, if it is not all of it. */
MT_INLINE void staged_edge (char *to, const char *from, const char *begin,
                            const char *end) {
#pragma unroll 1
  for (int i = 0; i < 16; i++)
    if (from + i >= begin && from + i < end) to[i] = (char)load<1>(from + i);
}

/* Where a tile lies in the source, and whether all of its vectors lie in the buffer. */
struct staged_source {
  const char *low, *begin, *end;
  bool inside;
  MT_INLINE staged_source (const mt_launch &p, const gather_tile &t)
      : low(t.src + p.desc.staged.low), begin((const char *)p.base[MT_SRC]),
        end(begin + p.size[MT_SRC]) {
    inside = low - 15 >= begin && low + p.desc.staged.reach + 15 <= end;
  }
  MT_INLINE uint32_t phase () const { return (uint32_t)(uintptr_t)low & 15; }
};

/* Fetches the pieces of a tile to `data`, where a byte has the same address modulo 16. */
template <bool INSIDE>
MT_INLINE void staged_fetch (const mt_staged &s, const staged_source &x,
                             const char *tables, char *data) {
  const staged_row *pieces = (const staged_row *)(tables + s.pieces_at);
  const uint32_t m = x.phase(), all = s.pieces * s.vectors.extent;
#pragma unroll(INSIDE ? 4 : 1)
  for (uint32_t v = threadIdx.x; v < all; v += MT_GATHER_THREADS) {
    const uint32_t piece = divide(v, s.vectors), k = v - piece * s.vectors.extent;
    const staged_row at = pieces[piece];
    const uint32_t to = m + (uint32_t)at.to, shift = to & 15;
    const char *from = x.low + (at.from - (int32_t)shift + (int32_t)(16 * k));
    if (16 * k >= shift + s.length) continue;
    if (INSIDE || (from >= x.begin && from + 16 <= x.end))
      fetch(near_of(data) + (to - shift + 16 * k), from);
    else staged_edge(data + (to - shift + 16 * k), from, x.begin, x.end);
  }
}

/* ------------------------------------------------------------------ out */

template <int ES> MT_INLINE typename word<ES>::type staged_unit (near at) {
  return *(const typename word<ES>::type *)there(at);
}

/* The places of the units of a word, two bytes each. */
template <int V> struct staged_places;
template <> struct staged_places<1> {
  uint32_t at;
  MT_INLINE staged_places (const char *t, uint32_t k) : at(((const uint16_t *)t)[k]) {}
  MT_INLINE uint32_t of (int) const { return at; }
};
template <> struct staged_places<2> {
  uint32_t at;
  MT_INLINE staged_places (const char *t, uint32_t k) : at(((const uint32_t *)t)[k]) {}
  MT_INLINE uint32_t of (int i) const { return i == 0 ? at & 65535 : at >> 16; }
};
template <> struct staged_places<4> {
  uint2 at;
  MT_INLINE staged_places (const char *t, uint32_t k) : at(((const uint2 *)t)[k]) {}
  MT_INLINE uint32_t of (int i) const {
    const uint32_t x = i < 2 ? at.x : at.y;
    return i % 2 == 0 ? x & 65535 : x >> 16;
  }
};

/* Words of a row, `step` from one to the next, as a thread writes them: where the row's
** units are, its first word, that word's first unit and its entry of the table. */
template <int ES, bool SINGLE> struct staged_at {
  enum { V = MT_GATHER_UNITS(ES) };
  near from;
  char *to;
  int32_t first;
  uint32_t k, entry, step, words;

  MT_INLINE staged_at (const mt_staged &s, const gather_tile &t, const char *tables,
                       near data, uint32_t n)
      : from(data), to(t.dst), k(n), step(s.step.extent), words(s.tile.words.extent) {
    uint32_t f = 0;
    if (!SINGLE) {
      const uint32_t row = divide(n, s.step);
      const staged_row at = ((const staged_row *)(tables + s.tile.table))[row];
      from += at.from, to += at.to, k -= row * step;
    }
    if (V > 1 && s.tile.phases > 1) f = ((uint32_t)(uintptr_t)to & 3) / ES;
    first = (int32_t)(k * V - f), entry = k + f * step;
    to += first * ES;
  }
  MT_INLINE bool has (int j) const { return j == 0 || k + j * step < words; }
  /* That all of its words have all of their units. */
  template <int N> MT_INLINE bool is_whole (const gather_tile &t) const {
    int32_t last = first;
#pragma unroll
    for (int j = 1; j < N; j++)
      if (has(j)) last = first + (int32_t)(j * step * V);
    return (V == 1 || first >= t.low) && last + V <= t.high;
  }
};

/* N words, all at once; behind the last of the row the first is read again. */
template <int ES, int N, bool SINGLE>
MT_INLINE void staged_whole (const mt_staged &s, const staged_at<ES, SINGLE> &x,
                             const char *tables) {
  enum { V = MT_GATHER_UNITS(ES) };
  const staged_places<V> places(tables, x.entry);
  typename word<ES>::type unit[N][V];
#pragma unroll
  for (int j = 0; j < N; j++) {
    const int32_t skip = x.has(j) ? s.skip[j] : 0;
#pragma unroll
    for (int i = 0; i < V; i++)
      unit[j][i] = staged_unit<ES>(x.from + places.of(i) + skip);
  }
#pragma unroll
  for (int j = 0; j < N; j++)
    if (x.has(j))
      *(typename gather_word<ES>::type *)(x.to + j * x.step * (V * ES)) =
          gather_word<ES>::join(unit[j]);
}

/* Words of which some have units only in part. */
template <int ES, int N, bool SINGLE>
MT_INLINE void staged_parts (const mt_staged &s, const staged_at<ES, SINGLE> &x,
                             const gather_tile &t, const char *tables) {
  enum { V = MT_GATHER_UNITS(ES) };
  const staged_places<V> places(tables, x.entry);
#pragma unroll 1
  for (int j = 0; j < N && x.has(j); j++) {
    const int32_t first = x.first + (int32_t)(j * x.step * V);
    char *to = x.to + j * x.step * (V * ES);
#pragma unroll
    for (int i = 0; i < V; i++)
      if (first + i >= t.low && first + i < t.high)
        store<ES>(to + i * ES, staged_unit<ES>(x.from + places.of(i) + s.skip[j]));
  }
}

template <int ES, int N, bool SINGLE>
MT_INLINE void staged_tiles (const mt_launch &p, const char *tables, char *data) {
  const mt_staged &s = p.desc.staged;
#pragma unroll 1
  for (uint32_t n = blockIdx.x; n < s.tile.tiles; n += gridDim.x) {
    const gather_tile t(p, n);
    const staged_source from(p, t);
    const near base = near_of(data) + from.phase() + s.first - s.before;
    const uint32_t groups = t.rows * s.step.extent;
    if (from.inside) staged_fetch<true>(s, from, tables, data);
    else staged_fetch<false>(s, from, tables, data);
    fetched();
#pragma unroll 1
    for (uint32_t w = threadIdx.x; w < groups; w += MT_GATHER_THREADS) {
      const staged_at<ES, SINGLE> x(s, t, tables, base, w);
      if (x.template is_whole<N>(t)) staged_whole<ES, N>(s, x, tables);
      else staged_parts<ES, N>(s, x, t, tables);
    }
    __syncthreads();
  }
}

template <int ES, int UNROLL> MT_INLINE void copy_staged (const mt_launch &p) {
  static_assert(UNROLL == MT_STAGED_WORDS(ES),
                "the host counts so many words of a thread");
  MT_DYNAMIC(shared, MT_STAGED_SHARED);
  char *tables = (char *)shared, *data = tables + p.desc.staged.data_at;
  staged_make_rows(p.desc, tables);
  staged_make_pieces(p.desc.staged, tables);
  staged_make_units<ES>(p.desc, tables);
  __syncthreads();
  if (p.desc.gather.rows == 1) staged_tiles<ES, UNROLL, true>(p, tables, data);
  else staged_tiles<ES, UNROLL, false>(p, tables, data);
}

template <int BYTES, int UNROLL> struct copier<MT_ALGO_STAGED, BYTES, UNROLL> {
  static MT_INLINE void run (const mt_launch &p) { copy_staged<BYTES, UNROLL>(p); }
};

} // namespace mt

/* Blocks of an SM. */
#define MT_BOUNDS_STAGED(threads, unroll) __launch_bounds__(threads, 8)

#undef MT_INLINE
#endif
