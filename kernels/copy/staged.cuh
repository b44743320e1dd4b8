/*
** staged.cuh - copies of units that lie anywhere in the source, by way of shared memory.
** SPDX-License-Identifier: MIT
**
** All names, and a picture, are in desc/staged_desc.h. A block has one tile: it fetches
** the pieces of it by vectors of the source, makes its tables while they are on their
** way, and puts words of the destination together. Blocks are small and short, and many
** of them take turns: that is as fast as a plain copy, and faster than blocks that go
** from tile to tile.
*/
#ifndef STAGED_CUH
#define STAGED_CUH

#include "desc/staged_desc.h"
#include "kernels/copy/staged_rows.cuh"
#include "kernels/copy/staged_tables.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* ------------------------------------------------------------------ in */

/* Where a tile lies in the source. A vector that begins `first` to `last` bytes behind
** its lowest byte lies in the buffer; others that begin less than 16 bytes before or
** behind have a part there. */
struct staged_source {
  const char *low;
  int32_t first, last;
  MT_INLINE staged_source (const mt_launch &p, const gather_place &t)
      : low(t.src + p.desc.staged.low) {
    const int64_t before = (const char *)p.base[MT_SRC] - low;
    const int64_t behind = before + (int64_t)p.size[MT_SRC] - 16;
    first = before < -16 ? -16 : (int32_t)before;
    last = behind > INT32_MAX - 16 ? INT32_MAX - 16 : (int32_t)behind;
  }
  MT_INLINE uint32_t phase () const { return (uint32_t)(uintptr_t)low & 15; }
  MT_INLINE bool has (int32_t at) const { return at >= first && at <= last; }
  MT_INLINE bool has_part (int32_t at) const { return at > first - 16 && at < last + 16; }
};

/* The vector that lies n bytes on in all pieces: where it begins behind the lowest byte,
** and where in shared memory. real: its piece has bytes of it. */
struct staged_vector {
  int32_t from;
  uint32_t to;
  bool real;
  MT_INLINE void find (const mt_staged &s, const staged_row *pieces, uint32_t phase,
                       uint32_t n) {
    const uint32_t piece = __umulhi(n, s.pitch_mul);
    const staged_row at = pieces[piece];
    const uint32_t begin = phase + (uint32_t)at.to, shift = begin & 15;
    const uint32_t k = n - piece * s.pitch;
    from = at.from + (int32_t)(k - shift), to = begin - shift + k;
    real = k < shift + s.length;
  }
};

/* What a vector has in the buffer. What a tile has beyond it nobody reads. */
MT_INLINE void staged_fetch_edge (const staged_source &x, const staged_vector &a,
                                  char *data) {
  if (!x.has_part(a.from)) return;
#pragma unroll 1
  for (int i = 0; i < 16; i++)
    if (a.from + i >= x.first && a.from + i < x.last + 16)
      data[a.to + i] = (char)load<1>(x.low + a.from + i);
}

/* The vectors of a tile, which all lie in the buffer. Without a branch between loads, all
** but one take three instructions less. */
MT_INLINE void staged_fetch_inside (const mt_staged &s, const staged_source &x,
                                    const staged_row *pieces, char *data) {
  enum { ON = 16 * MT_GATHER_THREADS, EACH = 4 };
  const uint32_t m = x.phase(), all = s.pieces * s.pitch;
#pragma unroll 1
  for (uint32_t n = 16 * threadIdx.x; n < all; n += EACH * ON) {
    staged_vector a[EACH];
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
      const uint32_t at = n + i * ON, last = all - 16;
      a[i].find(s, pieces, m, i == 0 || at < last ? at : last);
      if (i != 0) a[i].real = a[i].real && at < all;
    }
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++)
      fetch_real(a[i].real, near_of(data) + a[i].to, x.low + a[i].from);
  }
}

/* Fetches the pieces of a tile to `data`, where a byte has the same address modulo 16. */
MT_INLINE void staged_fetch (const mt_staged &s, const staged_source &x,
                             const char *tables, char *data) {
  const uint32_t m = x.phase(), all = s.pieces * s.pitch;
  const staged_row *pieces = (const staged_row *)(tables + s.pieces_at);
  if (x.has(-(int32_t)m) && x.has(s.reach))
    return staged_fetch_inside(s, x, pieces, data);
#pragma unroll 1
  for (uint32_t n = 16 * threadIdx.x; n < all; n += 16 * MT_GATHER_THREADS) {
    staged_vector a;
    a.find(s, pieces, m, n);
    if (a.real && x.has(a.from)) fetch(near_of(data) + a.to, x.low + a.from);
    else if (a.real) staged_fetch_edge(x, a, data);
  }
}

/* ------------------------------------------------------------------ out */

/* The same if `real`; else nothing is read, and it is anything. A branch would take
** longer than the instruction. */
template <int ES> MT_INLINE typename word<ES>::type staged_unit_if (bool real, near at) {
#if defined(__CUDA_ARCH__)
  uint32_t v;
  if constexpr (ES == 1)
    asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; @p ld.shared.u8 %0, [%2];}"
                 : "=r"(v)
                 : "r"((uint32_t)real), "r"(at));
  else if constexpr (ES == 2)
    asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; @p ld.shared.u16 %0, [%2];}"
                 : "=r"(v)
                 : "r"((uint32_t)real), "r"(at));
  else if constexpr (ES == 4)
    asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; @p ld.shared.u32 %0, [%2];}"
                 : "=r"(v)
                 : "r"((uint32_t)real), "r"(at));
  if constexpr (ES <= 4) return (typename word<ES>::type)v;
#endif
  typename word<ES>::type x = {};
  if (real) x = staged_unit<ES>(at);
  return x;
}

/* How many units before a row that is written to `to` its words begin. */
template <int ES>
MT_INLINE uint32_t staged_units_before (const mt_staged &s, const char *to) {
  if (s.tile.ahead != 0) return ((uint32_t)(uintptr_t)to & 31) / ES;
  return ES < 4 && s.tile.phases > 1 ? ((uint32_t)(uintptr_t)to & 3) / ES : 0;
}

/* Where word k of such a row is in the table, in words. */
template <int V>
MT_INLINE uint32_t staged_entry (const mt_staged &s, uint32_t k, uint32_t before) {
  const uint32_t ahead = s.tile.ahead / V, phase = before % V;
  return k + ahead - before / V + phase * (s.step.extent + ahead);
}

/* The places of the units of a word, two bytes each. Rotated, number `first` comes first,
** and behind the last one number 0. */
template <int V> struct staged_places;
template <> struct staged_places<1> {
  uint32_t at;
  MT_INLINE staged_places (const char *t, uint32_t k) : at(((const uint16_t *)t)[k]) {}
  MT_INLINE uint32_t of (int) const { return at; }
};
template <> struct staged_places<2> {
  uint32_t at;
  MT_INLINE staged_places (const char *t, uint32_t k) : at(((const uint32_t *)t)[k]) {}
  MT_INLINE void rotate (uint32_t first) { at = __funnelshift_r(at, at, 16 * first); }
  MT_INLINE uint32_t of (int i) const { return i == 0 ? at & 65535 : at >> 16; }
};
template <> struct staged_places<4> {
  uint2 at;
  MT_INLINE staged_places (const char *t, uint32_t k) : at(((const uint2 *)t)[k]) {}
  MT_INLINE void rotate (uint32_t first) {
    const uint32_t a = first < 2 ? at.x : at.y, b = first < 2 ? at.y : at.x;
    at.x = __funnelshift_r(a, b, first % 2 * 16);
    at.y = __funnelshift_r(b, a, first % 2 * 16);
  }
  MT_INLINE uint32_t of (int i) const {
    const uint32_t x = i < 2 ? at.x : at.y;
    return i % 2 == 0 ? x & 65535 : x >> 16;
  }
};

/* The words of a thread of a row, `pitch` units apart, N at once: the first lies `at`
** units behind where words of the tile begin that have all of their units, the last of
** these `room` units. FULL: all are such. ROTATED: unit number `first` of each word is
** read first. */
template <int ES, int N, bool FULL, bool ROTATED>
MT_INLINE void staged_run (const mt_staged &s, const near *unit_at, uint32_t first,
                           char *to, uint32_t pitch, uint32_t at, uint32_t room) {
  enum { V = MT_GATHER_UNITS(ES) };
#pragma unroll 1
  for (uint32_t j = 0; j < s.times; j += N, at += N * pitch) {
    typename word<ES>::type unit[N][V];
    bool real[N];
    int32_t skip[N];
#pragma unroll
    for (int m = 0; m < N; m++) skip[m] = s.skip[j + m], real[m] = at + m * pitch <= room;
#pragma unroll
    for (int m = 0; m < N; m++)
#pragma unroll
      for (int i = 0; i < V; i++)
        unit[m][i] = FULL ? staged_unit<ES>(unit_at[i] + skip[m]) :
                            staged_unit_if<ES>(real[m], unit_at[i] + skip[m]);
#pragma unroll
    for (int m = 0; m < N; m++, to += pitch * ES)
      if (FULL || real[m]) {
        typename gather_word<ES>::type x = gather_word<ES>::join(unit[m]);
        if constexpr (ROTATED) x = __funnelshift_l(x, x, 8 * ES * first);
        *(typename gather_word<ES>::type *)to = x;
      }
  }
}

/* Words k, k + step, ... of a row, N at once, as far as they are words of the tile that
** have all of their units; FULL: all do. SINGLE: tiles have one row. */
template <int ES, int N, bool SINGLE, bool FULL, bool ROTATED>
MT_INLINE void staged_words (const mt_staged &s, const gather_place &t,
                             const char *tables, near data, uint32_t n) {
  enum { V = MT_GATHER_UNITS(ES) };
  const uint32_t step = s.step.extent;
  char *to = t.dst;
  near from = data;
  uint32_t k = n;
  if (!SINGLE) {
    const uint32_t row = divide(n, s.step);
    const staged_row at = staged_rows(s, tables)[row];
    from += at.from, to += at.to, k -= row * step;
  }
  const uint32_t f = staged_units_before<ES>(s, to);
  const int32_t first = (int32_t)(k * V - f);
  const int32_t behind = (int32_t)(s.tile.words.extent * V - f);
  const int32_t high = t.high < behind ? t.high : behind;
  const uint32_t unit = ROTATED ? n >> s.rotate_log & (V - 1) : 0;
  staged_places<V> places(tables, staged_entry<V>(s, k, f));
  if constexpr (ROTATED) places.rotate(unit);
  near unit_at[V];
#pragma unroll
  for (int i = 0; i < V; i++) unit_at[i] = from + places.of(i);
  if (FULL || high - V >= t.low)
    staged_run<ES, N, FULL, ROTATED>(s, unit_at, unit, to + first * ES, step * V,
                                     (uint32_t)(first - t.low),
                                     (uint32_t)(high - V - t.low));
}

/* Tiles may have words of which rows have some units only: at the rows' ends. */
template <int ES>
MT_INLINE bool staged_has_ends (const mt_staged &s, const gather_place &t) {
  enum { V = MT_GATHER_UNITS(ES) };
  const int32_t all = (int32_t)(s.tile.words.extent * V);
  if (V == 1) return false;
  return (s.tile.phases > 1 && t.low == 0) ||
         (t.high < all && (s.tile.phases > 1 || t.high % V != 0));
}

/* These words, one of a thread: of each row the first one, if it may be, and the last. */
template <int ES>
MT_INLINE void staged_ends (const mt_staged &s, const gather_place &t, const char *tables,
                            near data) {
  enum { V = MT_GATHER_UNITS(ES) };
  const uint32_t step = s.step.extent, log = s.tile.phases > 1;
#pragma unroll 1
  for (uint32_t e = threadIdx.x; e < t.rows << log; e += MT_GATHER_THREADS) {
    const bool early = log != 0 && e % 2 == 0;
    const staged_row at = staged_rows(s, tables)[e >> log];
    char *to = t.dst + at.to;
    const uint32_t f = staged_units_before<ES>(s, to), begin = f / V;
    uint32_t k = early ? begin : ((uint32_t)t.high - 1 + f) / V, j = 0;
    const int32_t first = (int32_t)(k * V - f);
    if ((log != 0 && !early && k == begin) || k >= s.tile.words.extent ||
        (first >= t.low && first + V <= t.high))
      continue;
#pragma unroll 1
    for (; k >= step; j++) k -= step;
    const uint16_t *places = (const uint16_t *)tables + staged_entry<V>(s, k, f) * V;
#pragma unroll
    for (int i = 0; i < V; i++)
      if (first + i >= t.low && first + i < t.high)
        store<ES>(to + (first + i) * ES,
                  staged_unit<ES>(data + at.from + places[i] + s.skip[j]));
  }
}

/* The words of all threads, N of one at once. */
template <int ES, int N, bool SINGLE, bool FULL, bool ROTATED>
MT_INLINE void staged_all_words (const mt_staged &s, const gather_place &t,
                                 const char *tables, near data) {
  const uint32_t groups = t.rows * s.step.extent;
#pragma unroll 1
  for (uint32_t w = threadIdx.x; w < groups; w += MT_GATHER_THREADS)
    staged_words<ES, N, SINGLE, FULL, ROTATED>(s, t, tables, data, w);
}

/* Writes a tile that is there. */
template <int ES, int N, bool SINGLE, bool ROTATED>
MT_INLINE void staged_put (const mt_launch &p, gather_place t, const char *tables,
                           const char *data) {
  const mt_staged &s = p.desc.staged;
  t.dst = settled(t.dst);
  const near base = near_of(data) + staged_source(p, t).phase() + s.first - s.before;
  const int32_t all = (int32_t)(s.tile.words.extent * MT_GATHER_UNITS(ES));
  if (ES < 16 && !SINGLE && s.alone.extent != 0)
    return staged_alone<ES>(s, t, tables, base);
  const bool full = s.even != 0 && t.high >= all &&
                    (t.low < -MT_STAGED_EARLY(ES) || s.tile.phases + s.tile.ahead == 1);
  if (full) staged_all_words<ES, N, SINGLE, true, ROTATED>(s, t, tables, base);
  else if (s.times == 1)
    staged_all_words<ES, 1, SINGLE, false, ROTATED>(s, t, tables, base);
  else if (N > 2 && s.times == 2)
    staged_all_words<ES, 2, SINGLE, false, ROTATED>(s, t, tables, base);
  else staged_all_words<ES, N, SINGLE, false, ROTATED>(s, t, tables, base);
  if (staged_has_ends<ES>(s, t)) staged_ends<ES>(s, t, tables, base);
}

/* The block's last thread looks for the tile while the first ones make pieces. In one
** kernel with words that are rotated others take up to 1.15 times as long. */
template <int ES, int UNROLL, bool ROTATED>
MT_INLINE void copy_staged (const mt_launch &p) {
  static_assert(MT_STAGED_WORDS(ES) % UNROLL == 0,
                "the host counts so many words of a thread");
  static_assert(sizeof(gather_place) <= MT_STAGED_TILE, "the host counts so many bytes");
  MT_DYNAMIC(shared, MT_STAGED_SHARED);
  const mt_staged &s = p.desc.staged;
  const bool alone = ES < 16 && s.alone.extent != 0;
  char *tables = (char *)shared, *data = tables + s.data_at;
  gather_place &tile = *(gather_place *)(tables + s.tile_at);
  if (threadIdx.x + 1 == blockDim.x) tile = gather_place(p, block_of_last());
  if (alone) staged_make_sums(p.desc, tables);
  staged_make_pieces(s, tables);
  __syncthreads();
  wait_for_last();
  staged_fetch(s, staged_source(p, tile), tables, data);
  if (!alone) staged_make_rows(p.desc, tile, tables);
  else if (s.gaps != 0) staged_ask_sums(p.desc, tile, tables);
  staged_make_units<ES>(p.desc, tables);
  fetched();
  if (s.tile.rows == 1 && !alone)
    staged_put<ES, UNROLL, true, ROTATED>(p, tile, tables, data);
  else staged_put<ES, UNROLL, false, ROTATED>(p, tile, tables, data);
}

template <> inline constexpr bool has_tables<MT_ALGO_STAGED> = true;
template <int BYTES, int UNROLL> struct copier<MT_ALGO_STAGED, BYTES, UNROLL> {
  static MT_INLINE void run (const mt_launch &p) {
    enum { ROTATED = UNROLL == 1, N = ROTATED ? MT_STAGED_FLIGHT(BYTES) : UNROLL };
    copy_staged<BYTES, N, ROTATED>(p);
  }
};

} // namespace mt

/* Blocks of an SM. */
#define MT_BOUNDS_STAGED(threads, unroll) __launch_bounds__(threads, 6)

#undef MT_INLINE
#endif
