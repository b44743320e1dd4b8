/*
** gather.cuh - copies of units that lie anywhere in the source.
** SPDX-License-Identifier: MIT
**
** A unit is an access of ES bytes. All names, the tables and a picture are in
** desc/gather_desc.h. A block makes the tables once and then goes from tile to tile. A
** thread finds where the units of a word lie, loads all of them, by way of the L1, which
** has the sectors that neighbours ask for as well, and stores the word. It has UNROLL
** words in flight.
*/
#ifndef GATHER_CUH
#define GATHER_CUH

#include "desc/gather_desc.h"
#include "kernels/copy/strided.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* ------------------------------------------------------------------ tables */

/* Where a row of a tile begins behind the first one, in bytes of each side. */
struct gather_row {
  int32_t src, dst;
};

MT_INLINE gather_row *gather_rows (const mt_gather &g, char *tables) {
  return (gather_row *)(tables + g.table);
}

MT_INLINE void gather_make_rows (const mt_desc &d, char *tables) {
#pragma unroll 1
  for (uint32_t n = threadIdx.x; n < d.gather.rows; n += blockDim.x) {
    place at = {};
    walk_val(at, d, n);
    gather_rows(d.gather, tables)[n] = {(int32_t)(at.side[MT_SRC] * (int64_t)d.elem),
                                        (int32_t)(at.side[MT_DST] * (int64_t)d.elem)};
  }
}

/* How far unit n of a row lies behind unit 0 in the source, in bytes; n > -V. The walk
** begins V - 1 indices of the last axis later: it takes no numbers below 0. */
template <int ES> MT_INLINE int32_t gather_distance (const mt_desc &d, int32_t n) {
  enum { AHEAD = MT_GATHER_UNITS(ES) - 1 };
  if (d.nthr == 0) return 0;
  const mt_axis &last = d.axis[d.nthr - 1];
  const uint32_t inner = d.gather.units / d.gather.cut[0];
  place at = {};
  walk_thr(at, d, (uint32_t)(n + (int32_t)(AHEAD * inner)));
  return (int32_t)((at.side[MT_SRC] - AHEAD * last.stride[MT_SRC]) * (int64_t)d.elem);
}

/* Phase f of the table begins with unit -f. */
template <int ES> MT_INLINE void gather_make_units (const mt_desc &d, char *tables) {
  const mt_gather &g = d.gather;
  const int32_t pitch = (int32_t)(g.words.extent * MT_GATHER_UNITS(ES));
  const int32_t early = (int32_t)g.phases - 1;
#pragma unroll 1
  for (int32_t n = (int32_t)threadIdx.x - early; n < pitch; n += blockDim.x) {
    const int32_t distance = gather_distance<ES>(d, n);
#pragma unroll 1
    for (int32_t f = n < 0 ? -n : 0; f <= early && n + f < pitch; f++)
      ((int32_t *)tables)[f * pitch + n + f] = distance;
  }
}

/* ------------------------------------------------------------------ tiles */

/* A tile: where it begins on both sides, its words, and which units its rows have. */
struct gather_tile {
  const char *src;
  char *dst;
  uint32_t words;
  int32_t low, high; /* low <= n < high of each row */
  MT_INLINE gather_tile (const mt_launch &p, uint32_t n) {
    const mt_desc &d = p.desc;
    const mt_gather &g = d.gather;
    const uint32_t q = divide(n, g.along), i = n - q * g.along.extent;
    const uint32_t r = divide(q, g.across), j = q - r * g.across.extent;
    sides s(p);
    place at = {};
    walk(at, d, d.nthr + d.nval, d.nthr + d.nval + d.nrest, r);
    if (i > 0) at.step(d.axis[d.nthr - 1], (int64_t)(i * g.cut[0]));
    if (j > 0) at.step(d.axis[d.nthr + d.nval - 1], (int64_t)(j * g.cut[1]));
    s.move(d, at);
    src = s.src, dst = s.dst;
    const uint32_t left = (uint32_t)d.values - j * g.rows;
    words = (left < g.rows ? left : g.rows) * g.words.extent;
    low = -(int32_t)(i * g.units), high = (int32_t)d.threads + low;
  }
};

/* ------------------------------------------------------------------ words */

/* The units of a word in memory order. */
template <int ES>
MT_INLINE uint32_t gather_pack (const uint32_t unit[MT_GATHER_UNITS(ES)]) {
  if (ES == 2) return unit[0] | unit[1 % MT_GATHER_UNITS(ES)] << 16;
  return unit[0] | unit[1 % MT_GATHER_UNITS(ES)] << 8 |
         unit[2 % MT_GATHER_UNITS(ES)] << 16 | unit[3 % MT_GATHER_UNITS(ES)] << 24;
}

/* Words of several units: bit i of `has` is its unit i. */
template <int ES> struct gather_word {
  enum { V = MT_GATHER_UNITS(ES), ALL = (1 << V) - 1 };
  typedef typename word<4 * V>::type distances;
  char *to;
  uint32_t has, unit[V];

  /* Word w of a tile; beyond its last one: nothing. */
  MT_INLINE void find_and_load (const mt_gather &g, const gather_tile &t,
                                const char *tables, uint32_t w) {
    const bool real = w < t.words;
    const uint32_t row = real ? divide(w, g.words) : 0;
    const uint32_t k = real ? w - row * g.words.extent : 0;
    const gather_row at = ((const gather_row *)(tables + g.table))[row];
    const char *from = t.src + at.src;
    to = t.dst + at.dst;
    const uint32_t f = g.phases == 1 ? 0 : ((uint32_t)(uintptr_t)to & 3) / ES;
    const int32_t first = (int32_t)(k * V) - (int32_t)f, over = first + V - t.high;
    const distances by = ((const distances *)tables)[f * g.words.extent + k];
    to += first * ES;
    has = real && over < V ? ALL : 0;
    if (first < t.low) has &= (uint32_t)ALL << (t.low - first);
    if (over > 0) has &= (uint32_t)ALL >> (over < V ? over : 0);
#pragma unroll
    for (int i = 0; i < V; i++)
      unit[i] = has >> i & 1 ? load<ES>(from + ((const int32_t *)&by)[i]) : 0;
  }

  MT_INLINE void store_it () const {
    if (has == ALL) return store<4>(to, gather_pack<ES>(unit));
#pragma unroll
    for (int i = 0; i < V; i++)
      if (has >> i & 1) store<ES>(to + i * ES, (typename word<ES>::type)unit[i]);
  }
};

/* A word that is a unit. */
template <int ES> struct gather_one {
  char *to;
  bool has;
  typename word<ES>::type unit;

  MT_INLINE void find_and_load (const mt_gather &g, const gather_tile &t,
                                const char *tables, uint32_t w) {
    const uint32_t row = w < t.words ? divide(w, g.words) : 0;
    const uint32_t k = w < t.words ? w - row * g.words.extent : 0;
    const gather_row at = ((const gather_row *)(tables + g.table))[row];
    to = t.dst + at.dst + k * ES;
    has = w < t.words && (int32_t)k < t.high;
    if (has) unit = load<ES>(t.src + at.src + ((const int32_t *)tables)[k]);
  }

  MT_INLINE void store_it () const {
    if (has) store<ES>(to, unit);
  }
};

template <int ES> struct gather_kind { typedef gather_one<ES> type; };
template <> struct gather_kind<1> { typedef gather_word<1> type; };
template <> struct gather_kind<2> { typedef gather_word<2> type; };

/* ------------------------------------------------------------------ blocks */

template <int ES, int UNROLL>
MT_INLINE void gather_one_tile (const mt_gather &g, const gather_tile &t,
                                const char *tables) {
#pragma unroll 1
  for (uint32_t w = threadIdx.x; w < t.words; w += UNROLL * MT_GATHER_THREADS) {
    typename gather_kind<ES>::type x[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++)
      x[u].find_and_load(g, t, tables, w + u * MT_GATHER_THREADS);
#pragma unroll
    for (int u = 0; u < UNROLL; u++) x[u].store_it();
  }
}

template <int ES, int UNROLL> MT_INLINE void copy_gather (const mt_launch &p) {
  MT_DYNAMIC(shared, MT_GATHER_SHARED);
  const mt_gather &g = p.desc.gather;
  char *tables = (char *)shared;
  gather_make_rows(p.desc, tables);
  gather_make_units<ES>(p.desc, tables);
  __syncthreads();
#pragma unroll 1
  for (uint32_t n = blockIdx.x; n < g.tiles; n += gridDim.x)
    gather_one_tile<ES, UNROLL>(g, gather_tile(p, n), tables);
}

template <int BYTES, int UNROLL> struct copier<MT_ALGO_GATHER, BYTES, UNROLL> {
  static MT_INLINE void run (const mt_launch &p) { copy_gather<BYTES, UNROLL>(p); }
};

} // namespace mt

/* Blocks of an SM; without a number as many as registers allow. */
#define MT_BOUNDS_GATHER(threads, unroll) __launch_bounds__(threads, 5)

#undef MT_INLINE
#endif
