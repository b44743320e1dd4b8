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
struct staged_row {
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
  const int32_t pitch = (int32_t)(g.words.extent * MT_GATHER_UNITS(ES));
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

/* Fetches the pieces of a tile whose lowest byte is `low` to `data`, where a byte has the
** same address modulo 16. */
MT_INLINE void staged_fetch (const mt_launch &p, const char *low, const char *tables,
                             char *data) {
  const mt_staged &s = p.desc.staged;
  const staged_row *pieces = (const staged_row *)(tables + s.pieces_at);
  const char *begin = (const char *)p.base[MT_SRC], *end = begin + p.size[MT_SRC];
  const uint32_t m = (uint32_t)(uintptr_t)low & 15, all = s.pieces * s.vectors.extent;
#pragma unroll 4
  for (uint32_t v = threadIdx.x; v < all; v += MT_GATHER_THREADS) {
    const uint32_t piece = divide(v, s.vectors), k = v - piece * s.vectors.extent;
    const staged_row at = pieces[piece];
    const uint32_t shift = m + (uint32_t)at.to & 15;
    const char *from = low + at.from - shift + 16 * k;
    char *to = data + ((m + (uint32_t)at.to) & ~15u) + 16 * k;
    if (16 * k >= shift + s.length) continue;
    if (from >= begin && from + 16 <= end) fetch(near_of(to), from);
    else staged_edge(to, from, begin, end);
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

/* Where a word is: as gather_at, its units in shared memory. */
template <int ES, bool SINGLE> struct staged_at {
  enum { V = MT_GATHER_UNITS(ES) };
  near from;
  char *to;
  int32_t first;
  uint32_t entry;

  MT_INLINE void find (const mt_gather &g, const gather_tile &t, const char *tables,
                       near data, uint32_t w) {
    uint32_t k = w, f = 0;
    from = data, to = t.dst;
    if (!SINGLE) {
      const uint32_t row = divide(w, g.words);
      const staged_row at = ((const staged_row *)(tables + g.table))[row];
      from += at.from, to += at.to, k -= row * g.words.extent;
    }
    if (V > 1 && g.phases > 1) f = ((uint32_t)(uintptr_t)to & 3) / ES;
    first = (int32_t)(k * V - f), entry = k + f * g.words.extent;
    to += first * ES;
  }
};

/* One word; of a few rows have units only in part. */
template <int ES, bool SINGLE>
MT_INLINE void staged_word (const staged_at<ES, SINGLE> &x, const gather_tile &t,
                            const char *tables) {
  enum { V = MT_GATHER_UNITS(ES) };
  const staged_places<V> places(tables, x.entry);
  typename word<ES>::type unit[V];
  if ((V == 1 || x.first >= t.low) && x.first + V <= t.high) {
#pragma unroll
    for (int i = 0; i < V; i++) unit[i] = staged_unit<ES>(x.from + places.of(i));
    *(typename gather_word<ES>::type *)x.to = gather_word<ES>::join(unit);
    return;
  }
#pragma unroll
  for (int i = 0; i < V; i++)
    if (x.first + i >= t.low && x.first + i < t.high)
      store<ES>(x.to + i * ES, staged_unit<ES>(x.from + places.of(i)));
}

template <int ES, int UNROLL, bool SINGLE>
MT_INLINE void staged_tiles (const mt_launch &p, const char *tables, char *data) {
  const mt_staged &s = p.desc.staged;
#pragma unroll 1
  for (uint32_t n = blockIdx.x; n < s.tile.tiles; n += gridDim.x) {
    const gather_tile t(p, n);
    const char *low = t.src + s.low;
    const near base =
        near_of(data) + ((uint32_t)(uintptr_t)low & 15) + s.first - s.before;
    staged_fetch(p, low, tables, data);
    fetched();
#pragma unroll UNROLL
    for (uint32_t w = threadIdx.x; w < t.words; w += MT_GATHER_THREADS) {
      staged_at<ES, SINGLE> x;
      x.find(s.tile, t, tables, base, w);
      staged_word<ES, SINGLE>(x, t, tables);
    }
    __syncthreads();
  }
}

template <int ES, int UNROLL> MT_INLINE void copy_staged (const mt_launch &p) {
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
