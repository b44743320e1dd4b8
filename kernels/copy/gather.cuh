/*
** gather.cuh - copies of units that lie anywhere in the source.
** SPDX-License-Identifier: MIT
**
** A unit is an access of ES bytes. All names, the tables and a picture are in
** desc/gather_desc.h. A block makes the tables once and then goes from tile to tile. A
** thread finds where the units of UNROLL words lie, loads all of them, by way of the L1,
** which has the sectors that neighbours ask for as well, and stores the words.
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

/* ------------------------------------------------------------------ spans */

/* The bytes of a word: `by` behind the first unit of a row, which lies at `low` modulo 4.
** at: where the span begins behind it; x, y: how bytes are selected of the first two
** words and, with the result, of the third. */
struct gather_span {
  int32_t at;
  uint32_t x, y, words;
  MT_INLINE gather_span (const int4 &by, int32_t low) : x(0), y(0), words(2) {
    const int32_t d[4] = {by.x, by.y, by.z, by.w};
    int32_t first = d[0], last = d[0];
#pragma unroll
    for (int i = 1; i < 4; i++)
      first = d[i] < first ? d[i] : first, last = d[i] > last ? d[i] : last;
    at = ((first + low) & ~3) - low;
    words = (uint32_t)(last - at) / 4 + 1;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const uint32_t b = (uint32_t)(d[i] - at);
      x |= (b & 7) << 4 * i, y |= (b < 8 ? (uint32_t)i : (b & 3) | 4) << 4 * i;
    }
  }
};

/* The number of words of a span, 2 or 3, of which the table is then; 0: words have no
** spans, and it stays. */
MT_INLINE uint32_t gather_make_spans (const mt_launch &p, char *tables) {
  const mt_gather &g = p.desc.gather;
  uint32_t *most = (uint32_t *)(tables + g.table + 8 * g.rows);
  const uint32_t low = (uint32_t)(uintptr_t)sides(p).src & 3;
  const uint32_t units =
      (uint32_t)p.desc.threads < g.units ? (uint32_t)p.desc.threads : g.units;
  if (threadIdx.x < 2) most[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll 1
  for (uint32_t k = threadIdx.x; k < units / 4; k += blockDim.x) {
    const gather_span s(((const int4 *)tables)[k], (int32_t)low);
    if (s.words > 2) most[s.words > 3] = 1;
  }
  __syncthreads();
  if (most[1] != 0) return 0;
#pragma unroll 1
  for (uint32_t k = threadIdx.x; k < units / 4; k += blockDim.x) {
    const gather_span s(((const int4 *)tables)[k], (int32_t)low);
    ((uint4 *)tables)[k] = make_uint4((uint32_t)s.at, s.x, s.y, 0);
  }
  __syncthreads();
  return 2 + most[0];
}

/* ------------------------------------------------------------------ tiles */

/* A tile: where it begins on both sides, its words, and which units its rows have. */
struct gather_place {
  const char *src;
  char *dst;
  uint32_t rows, words;
  int32_t low, high; /* low <= n < high of each row */
  MT_INLINE gather_place (const mt_launch &p, uint32_t n) {
    const mt_desc &d = p.desc;
    const mt_gather &g = d.gather;
    const uint32_t u = divide(n, g.first), near = n - u * g.first.extent;
    const uint32_t q = divide(u, g.along), i = u - q * g.along.extent;
    const uint32_t r = divide(q, g.across), j = q - r * g.across.extent;
    sides s(p);
    place at = {};
    walk(at, d, d.nthr + d.nval, d.nthr + d.nval + d.nrest, r * g.first.extent + near);
    if (i > 0) at.step(d.axis[d.nthr - 1], (int64_t)(i * g.cut[0]));
    if (j > 0) at.step(d.axis[d.nthr + d.nval - 1], (int64_t)(j * g.cut[1]));
    s.move(d, at);
    src = s.src, dst = s.dst;
    const uint32_t left = (uint32_t)d.values - j * g.rows;
    rows = left < g.rows ? left : g.rows, words = rows * g.words.extent;
    low = -(int32_t)(i * g.units), high = (int32_t)d.threads + low;
  }
};

struct gather_tile : gather_place {
  bool inside; /* the spans of its words lie in the buffer */
  MT_INLINE gather_tile (const mt_launch &p, uint32_t n) : gather_place(p, n) {
    const mt_gather &g = p.desc.gather;
    const char *begin = (const char *)p.base[MT_SRC];
    inside =
        src + g.reach[0] - 3 >= begin && src + g.reach[1] + 12 <= begin + p.size[MT_SRC];
  }
};

/* ------------------------------------------------------------------ words */

/* The units of a word in memory order. */
template <int ES> struct gather_word {
  enum { V = MT_GATHER_UNITS(ES) };
  typedef typename word<V == 1 ? ES : 4>::type type;
  typedef typename word<4 * V>::type distances;

  static MT_INLINE type join (const typename word<ES>::type unit[V]) {
    if constexpr (V == 1) return unit[0];
    else if constexpr (V == 2) return (uint32_t)unit[0] | (uint32_t)unit[1] << 16;
    else
      return (uint32_t)unit[0] | (uint32_t)unit[1] << 8 | (uint32_t)unit[2] << 16 |
             (uint32_t)unit[3] << 24;
  }
};

/* Where a word is: its first unit is unit `first` of its row, its distances are number
** `entry` of the table. SINGLE: tiles have one row. */
template <int ES, bool SINGLE> struct gather_at {
  enum { V = MT_GATHER_UNITS(ES) };
  const char *from;
  char *to;
  int32_t first;
  uint32_t entry;

  MT_INLINE void find (const mt_gather &g, const gather_tile &t, const char *tables,
                       uint32_t w) {
    uint32_t k = w, f = 0;
    from = t.src, to = t.dst;
    if (!SINGLE) {
      const uint32_t row = divide(w, g.words);
      const gather_row at = ((const gather_row *)(tables + g.table))[row];
      from += at.src, to += at.dst, k -= row * g.words.extent;
    }
    if (V > 1 && g.phases > 1) f = ((uint32_t)(uintptr_t)to & 3) / ES;
    first = (int32_t)(k * V - f), entry = k + f * g.words.extent;
    to += first * ES;
  }
  MT_INLINE bool is_whole (const gather_tile &t) const {
    return (V == 1 || first >= t.low) && first + V <= t.high;
  }
};

/* ------------------------------------------------------------------ blocks */

/* The units of a word that its row has: of a few words it has not all. */
template <int ES, bool SINGLE>
MT_INLINE void gather_part (const gather_at<ES, SINGLE> &x, const gather_tile &t,
                            const char *tables) {
  enum { V = MT_GATHER_UNITS(ES) };
  const int32_t low = t.low - x.first, high = t.high - x.first;
  const int32_t *by = (const int32_t *)tables + x.entry * V;
  typename word<ES>::type unit[V];
#pragma unroll
  for (int i = 0; i < V; i++)
    if (i >= low && i < high) unit[i] = load<ES>(x.from + by[i]);
#pragma unroll
  for (int i = 0; i < V; i++)
    if (i >= low && i < high) store<ES>(x.to + i * ES, unit[i]);
}

/* The words w, w + threads, ... of a tile. */
template <int ES, int UNROLL, bool SINGLE>
MT_INLINE void gather_parts (const mt_gather &g, const gather_tile &t, const char *tables,
                             uint32_t w) {
#pragma unroll 1
  for (int u = 0; u < UNROLL && w < t.words; u++, w += MT_GATHER_THREADS) {
    gather_at<ES, SINGLE> x;
    x.find(g, t, tables, w);
    gather_part<ES, SINGLE>(x, t, tables);
  }
}

/* The same where the table is of spans: there are few such words. */
template <int UNROLL, bool SINGLE>
MT_INLINE void gather_span_parts (const gather_at<1, SINGLE> x[UNROLL],
                                  const gather_tile &t, const mt_desc &d) {
#pragma unroll
  for (int u = 0; u < UNROLL; u++)
#pragma unroll 1
    for (int i = 0; i < 4; i++)
      if (x[u].first + i >= t.low && x[u].first + i < t.high)
        store<1>(x[u].to + i, load<1>(x[u].from + gather_distance<1>(d, x[u].first + i)));
}

/* Whole words, all at once: unit by unit, or by spans. */
template <int ES, int UNROLL, bool SINGLE>
MT_INLINE void gather_units (const gather_at<ES, SINGLE> x[UNROLL], const char *tables) {
  enum { V = MT_GATHER_UNITS(ES) };
  typedef typename gather_word<ES>::distances distances;
  typename word<ES>::type unit[UNROLL][V];
#pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    const distances by = ((const distances *)tables)[x[u].entry];
#pragma unroll
    for (int i = 0; i < V; i++)
      unit[u][i] = load<ES>(x[u].from + ((const int32_t *)&by)[i]);
  }
#pragma unroll
  for (int u = 0; u < UNROLL; u++)
    *(typename gather_word<ES>::type *)x[u].to = gather_word<ES>::join(unit[u]);
}

template <int UNROLL, bool SINGLE, bool THREE>
MT_INLINE void gather_spans (const gather_at<1, SINGLE> x[UNROLL], const char *tables) {
  uint32_t v[UNROLL][3];
  uint2 select[UNROLL];
#pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    const uint4 s = ((const uint4 *)tables)[x[u].entry];
    const char *from = x[u].from + (int32_t)s.x;
    select[u] = make_uint2(s.y, s.z);
#pragma unroll
    for (int i = 0; i < (THREE ? 3 : 2); i++) v[u][i] = load<4>(from + 4 * i);
  }
#pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    uint32_t y = __byte_perm(v[u][0], v[u][1], select[u].x);
    if (THREE) y = __byte_perm(y, v[u][2], select[u].y);
    store<4>(x[u].to, y);
  }
}

/* The same words of a tile. Beyond its last word that is written again. */
template <int ES, int UNROLL, bool SINGLE>
MT_INLINE void gather_group (const mt_desc &d, const gather_tile &t, const char *tables,
                             uint32_t spans, uint32_t w) {
  gather_at<ES, SINGLE> x[UNROLL];
  bool whole = spans == 0 || t.inside;
#pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    const uint32_t n = w + u * MT_GATHER_THREADS;
    x[u].find(d.gather, t, tables, n < t.words ? n : t.words - 1);
    whole = whole && x[u].is_whole(t);
  }
  if constexpr (ES == 1) {
    if (spans != 0 && !whole) return gather_span_parts<UNROLL, SINGLE>(x, t, d);
    if (spans == 2) return gather_spans<UNROLL, SINGLE, false>(x, tables);
    if (spans == 3) return gather_spans<UNROLL, SINGLE, true>(x, tables);
  }
  if (whole) gather_units<ES, UNROLL, SINGLE>(x, tables);
  else gather_parts<ES, UNROLL, SINGLE>(d.gather, t, tables, w);
}

template <int ES, int UNROLL, bool SINGLE>
MT_INLINE void gather_tiles (const mt_launch &p, const char *tables, uint32_t spans) {
  const mt_gather &g = p.desc.gather;
#pragma unroll 1
  for (uint32_t n = blockIdx.x; n < g.tiles; n += gridDim.x) {
    const gather_tile t(p, n);
#pragma unroll 1
    for (uint32_t w = threadIdx.x; w < t.words; w += UNROLL * MT_GATHER_THREADS)
      gather_group<ES, UNROLL, SINGLE>(p.desc, t, tables, spans, w);
  }
}

template <int ES, int UNROLL> MT_INLINE void copy_gather (const mt_launch &p) {
  MT_DYNAMIC(shared, MT_GATHER_SHARED);
  char *tables = (char *)shared;
  uint32_t spans = 0;
  gather_make_rows(p.desc, tables);
  gather_make_units<ES>(p.desc, tables);
  __syncthreads();
  if (ES == 1 && p.desc.gather.spans != 0) spans = gather_make_spans(p, tables);
  wait_for_last();
  if (p.desc.gather.rows == 1) gather_tiles<ES, UNROLL, true>(p, tables, spans);
  else gather_tiles<ES, UNROLL, false>(p, tables, spans);
}

template <> inline constexpr bool has_tables<MT_ALGO_GATHER> = true;
template <int BYTES, int UNROLL> struct copier<MT_ALGO_GATHER, BYTES, UNROLL> {
  static MT_INLINE void run (const mt_launch &p) { copy_gather<BYTES, UNROLL>(p); }
};

} // namespace mt

/* Blocks of an SM; without a number as many as registers allow. */
#define MT_BOUNDS_GATHER(threads, unroll) __launch_bounds__(threads, 4)

#undef MT_INLINE
#endif
