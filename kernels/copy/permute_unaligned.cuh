/*
** permute_unaligned.cuh - copies of boxes whose rows begin anywhere.
** SPDX-License-Identifier: MIT
**
** A unit is an access of ES bytes, a vector V of them. A block moves one box. It reads
** runs of the source, in the vectors that they touch, into shared memory, where each unit
** keeps its distance from a multiple of 16, so that vectors arrive as they are. Then it
** writes rows of the destination in the vectors that are aligned there, the first and the
** last of a row in parts, and collects the units of each.
**
** Where the places of a row lie in shared memory is looked up in a table. A thread does
** it for V places, and takes these of several rows: of such ones that begin at the same
** address modulo 16; or, where places are equally far apart, those of the windows of one
** row. Threads of a warp meet few banks if all read places of the same number modulo V at
** a time; so each vector comes in rotated.
**
** Rows whose first axis is the first of the runs too are made of pieces that lie in one
** piece in shared memory; a vector is of one of them or of two.
*/
#ifndef SKEW_CUH
#define SKEW_CUH

#include "desc/permute_unaligned_desc.h"
#include "kernels/copy/permute_collect.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* ------------------------------------------------------------------ lengths */

/* Where a block is, and how far along the bounds. */
struct unaligned_place : place {
  uint32_t at[MT_PERMUTE_UNALIGNED_BOUNDS];
  MT_INLINE void step (const mt_axis &a, int64_t digit) {
    place::step(a, digit);
#pragma unroll
    for (int k = 0; k < MT_PERMUTE_UNALIGNED_BOUNDS; k++)
      at[k] += (uint32_t)digit * (uint32_t)a.step[k];
  }
};

/* What the bounds leave of the four spans; run and runs are those that are read. Of a row
** that is read on behind the box also its `end` there, and whether it began before. */
struct unaligned_size {
  uint32_t run, runs, row, rows, end;
  bool begun;
  MT_INLINE void find (const mt_desc &d, const unaligned_place &at) {
    const mt_permute_unaligned &s = d.unaligned;
    uint32_t left[MT_PERMUTE_UNALIGNED_BOUNDS];
    begun = false;
#pragma unroll
    for (int k = 0; k < MT_PERMUTE_UNALIGNED_BOUNDS; k++) {
      left[k] = (uint32_t)d.bound[k] - at.at[k];
      if (s.ahead != 0 && s.row.bound == k + 1 && at.at[k] > 0) begun = true;
    }
    row = of(s.row, 0, left), rows = of(s.rows, 0, left), end = of(s.row, s.ahead, left);
    run = of(s.run, s.run.bound == s.row.bound ? s.ahead : 0, left);
    runs = of(s.runs, 0, left);
    const uint32_t more = of(s.runs, s.ahead, left) - runs;
    runs += more < s.ahead_runs ? more : s.ahead_runs;
  }
  static MT_INLINE uint32_t of (const mt_span &s, uint32_t ahead, const uint32_t *left) {
    uint32_t count = s.count + ahead;
    if (s.bound == 0) return s.units * s.count;
#pragma unroll
    for (int k = 0; k < MT_PERMUTE_UNALIGNED_BOUNDS; k++)
      if (s.bound == k + 1 && left[k] < count) count = left[k];
    return s.units * count;
  }
};

/* What the first warp finds for all. */
struct unaligned_block {
  const char *src;
  char *dst;
  unaligned_size size;
  bool inside;                          /* all that is read lies in the buffer */
  MT_INLINE void find (const mt_launch &p) {
    const mt_desc &d = p.desc;
    const memory m(p, MT_SRC);
    unaligned_place at = {};
    sides side(p);
    walk_rest(at, d, blockIdx.x);
    side.move(d, at);
    src = side.src, dst = side.dst;
    size.find(d, at);
    inside = src + d.unaligned.reach[0] - 16 >= m.low &&
             src + d.unaligned.reach[1] + 16 <= m.high;
  }
};

/* ------------------------------------------------------------------ loading */

/* Offsets of index n along hops, in the memory of one side and in shared memory. */
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
  return (int32_t *)(box + k.starts);
}

template <int ES>
MT_INLINE void unaligned_find (const mt_permute_unaligned &k, char *box) {
#pragma unroll 1
  for (uint32_t r = threadIdx.x - 32; r < k.all_runs; r += blockDim.x - 32)
    unaligned_starts(k, box)[r] =
        (int32_t)(unaligned_walk(k.load, k.nload, r).global / ES);
}

template <int ES, bool INSIDE>
MT_INLINE void unaligned_load (const mt_launch &p, const unaligned_block &b, char *box) {
  enum { V = 16 / ES };
  const mt_permute_unaligned &k = p.desc.unaligned;
  const memory m(p, MT_SRC);
  const int32_t bytes = (int32_t)(b.size.run * ES);
  const uint32_t each = k.vectors.extent, all = b.size.runs * each;
#pragma unroll(INSIDE ? 4 : 1)
  for (uint32_t i = threadIdx.x; i < all; i += blockDim.x) {
    const uint32_t r = divide(i, k.vectors);
    const char *run = b.src + (int64_t)unaligned_starts(k, box)[r] * ES;
    const int32_t at = (int32_t)(16 * (i - r * each)) - (int32_t)((uintptr_t)run & 15);
    const char *from = run + at;
    char *to = box + 16 * i + r / V * k.gap;
    if (at >= bytes) continue;
    if (INSIDE || (from >= m.low && from + 16 <= m.high)) fetch(near_of(to), from);
    else *(uint4 *)to = load_edge<ES>(from, m);
  }
}

/* ------------------------------------------------------------------ places */

/* Where place p of a row lies, in a box that begins at `low` modulo 16; p counts along
** the lines from `first` on. */
template <int ES>
MT_INLINE uint32_t unaligned_at (const mt_permute_unaligned &k, uint32_t low,
                                 uint32_t first, uint32_t p) {
  uint32_t run = 0, inside = 0, address = low;
#pragma unroll 1
  for (uint32_t i = first; i < k.nline; i++) {
    const mt_lookup_axis &a = k.line[i];
    const uint32_t q = __umulhi(p, a.by.mul) >> a.by.shift;
    const uint32_t digit = p - q * a.by.extent;
    run += digit * a.run, inside += digit * a.inside, address += digit * a.low;
    p = q;
  }
  return run * k.pitch + run / (16 / ES) * k.gap + inside + (address & 15);
}

/* The table: of pieces, or of places, which lie in V planes by their numbers modulo V:
** threads that look up those of neighbouring vectors meet other banks. */
template <int ES>
MT_INLINE void unaligned_places (const mt_permute_unaligned &k, uint32_t low, char *box) {
  enum { V = 16 / ES };
  const bool pieces = k.piece.extent != 0;
  const uint32_t early = pieces ? 0 : V, late = pieces ? 3 : 2 * V;
#pragma unroll 1
  for (uint32_t n = threadIdx.x; n < early + k.places + late; n += blockDim.x) {
    const bool real = n >= early && n < k.places + early;
    const uint32_t at = pieces ? 2 * n : n / V * 2 + n % V * k.plane;
    *(uint16_t *)(box + k.table + at) =
      (uint16_t)(real ? unaligned_at<ES>(k, low, pieces ? 1 : 0, n - early) : 0);
  }
}

/* ------------------------------------------------------------------ storing */

/* The first n bytes of v to address p + at, a multiple of n, if they are not behind `end`
** and, FIRST, `at` is no multiple of 2 n; what is left comes first in v then. */
template <int ES, int N, bool FIRST>
MT_INLINE void store_next (char *p, uint4 &v, uint32_t &at, uint32_t end) {
  if (ES > N || (FIRST && !(at & N)) || at + N > end) return;
  if constexpr (N == 1) store<1>(p + at, (uint8_t)v.x);
  else if constexpr (N == 2) store<2>(p + at, (uint16_t)v.x);
  else if constexpr (N == 4) store<4>(p + at, v.x);
  else store<8>(p + at, make_uint2(v.x, v.y));
  at += N;
  if constexpr (N == 8) v = make_uint4(v.z, v.w, 0, 0);
  else if constexpr (N == 4) v = make_uint4(v.y, v.z, v.w, 0);
  else v = make_uint4(__funnelshift_r(v.x, v.y, 8 * N), __funnelshift_r(v.y, v.z, 8 * N),
                      __funnelshift_r(v.z, v.w, 8 * N), v.w >> 8 * N);
}

/* Units [low, high) of an aligned vector: by powers of two, which rise and fall. */
template <int ES>
MT_INLINE void store_part (char *p, const uint4 &v, int32_t low, int32_t high) {
  uint32_t at = (uint32_t)(low < 0 ? 0 : low) * ES;
  const uint32_t end = high * ES < 16 ? (uint32_t)high * ES : 16;
  uint4 x = rotated<ES>(v, at);
  store_next<ES, 1, true>(p, x, at, end);
  store_next<ES, 2, true>(p, x, at, end);
  store_next<ES, 4, true>(p, x, at, end);
  store_next<ES, 8, false>(p, x, at, end);
  store_next<ES, 4, false>(p, x, at, end);
  store_next<ES, 2, false>(p, x, at, end);
  store_next<ES, 1, false>(p, x, at, end);
}

MT_INLINE void unaligned_whole (char *p, const uint4 &v) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.x), "r"(v.y),
               "r"(v.z), "r"(v.w) : "memory");
#else
  store<16>(p, v);
#endif
}

/* Rows of a class: where the first begins in the destination, in the runs and in the row
** of the box, and how many there are. */
struct unaligned_rows {
  int64_t dst;
  uint32_t place;
  uint16_t at, count;
  /* Index n of all hops but the first: returns how many of that there are. */
  MT_INLINE uint32_t begin (const mt_permute_unaligned &k, const unaligned_block &b,
                            uint32_t n) {
    const unaligned_walk w(k.store + 1, k.nstore > 1 ? k.nstore - 1 : 0, n);
    const uint32_t each = k.segment ? 1 : k.store[0].by.extent;
    dst = w.global, at = (uint16_t)w.shared, place = 0, count = 1;
    if (k.nstore < 2 && !k.segment) return b.size.rows;
    return n * each < b.size.rows ? k.store[0].by.extent : 0;
  }
  MT_INLINE void go (const mt_permute_unaligned &k, uint32_t n) {
    dst += n * k.store[0].global, place += n * k.segment;
    at = (uint16_t)(at + n * k.store[0].shared);
  }
  /* Those of part n of all. */
  MT_INLINE void find (const mt_permute_unaligned &k, const unaligned_block &b,
                       uint32_t n) {
    const uint32_t q1 = divide(n, k.classes);
    const uint32_t q2 = divide(q1, k.chunks);
    const uint32_t from = (n - q1 * k.classes.extent) +
                          ((q1 - q2 * k.chunks.extent) * k.each << k.period);
    const uint32_t rows = begin(k, b, q2);
    const uint32_t apart = 1u << k.period;
    const uint32_t left = rows > from ? (rows - from + apart - 1) >> k.period : 0;
    go(k, from);
    count = (uint16_t)(left < k.each ? left : k.each);
  }
  /* Row n of the first hop and the others, one alone; segments count as one row. */
  MT_INLINE void find_one (const mt_permute_unaligned &k, const unaligned_block &b,
                           uint32_t n) {
    const uint32_t q = divide(n, k.lead);
    const uint32_t from = n - q * k.lead.extent, rows = begin(k, b, q);
    go(k, from);
    count = rows > from;
  }
};

/* The parts, behind the other tables. */
MT_INLINE unaligned_rows *unaligned_parts (const mt_permute_unaligned &k, char *box) {
  return (unaligned_rows *)(box + k.parts);
}

MT_INLINE void unaligned_split (const mt_permute_unaligned &k, const unaligned_block &b,
                                char *box) {
#pragma unroll 1
  for (uint32_t n = threadIdx.x; n < k.all.extent; n += blockDim.x) {
    unaligned_rows rows;
    rows.find(k, b, n);
    unaligned_parts(k, box)[n] = rows;
  }
}

/* Which rows write the vector from place `first` on as a whole: segments that begin at
** this place of the box's row at most, of rows that are not cut all, at 0, or none, at
** -1; `half`: the vector is the second half of a sector. A sector of 32 bytes is written
** by the box, and the segment, where it begins: caches take much longer for a part of
** one. */
template <int ES>
MT_INLINE int32_t unaligned_limit (const mt_permute_unaligned &k,
                                   const unaligned_block &b, int32_t first, bool half) {
  enum { V = 16 / ES };
  const int32_t begin = first - (half ? V : 0), end = (int32_t)b.size.end - V - first;
  const int32_t last = (int32_t)b.size.row - 1 - begin;
  if (first < 0 || begin >= (int32_t)k.length) return -1;
  if (begin < 0) return b.size.begun || end < 0 ? -1 : 0;
  return end < last ? end : last;
}

/* Writes the vectors from place `first` on of these rows: the WHOLE ones, the PARTs. */
template <int ES, typename UNITS, bool WHOLE, bool PART>
MT_INLINE void unaligned_put (const mt_permute_unaligned &k, const unaligned_block &b,
                              const unaligned_rows &rows, const char *box,
                              int32_t first) {
  enum { V = 16 / ES };
  const int64_t step = k.store[0].global << k.period;
  const uint32_t by = k.store[0].shared << k.period;
  const int32_t on = (int32_t)(k.segment << k.period);
  const int32_t even = unaligned_limit<ES>(k, b, first, false);
  const int32_t odd = unaligned_limit<ES>(k, b, first, true);
  const UNITS units(k, box, first);
  char *to = b.dst + rows.dst + (int64_t)first * ES;
  int32_t place = (int32_t)rows.place;
  uint32_t at = unaligned_address(box) + rows.at;
#pragma unroll 1
  for (uint32_t n = rows.count; n > 0; n--, to += step, at += by, place += on) {
    const bool half = (uintptr_t)to & 16;
    if (place <= (half ? odd : even)) {
      if (WHOLE) unaligned_whole(to, units.vector(box, at));
    } else if (PART) {
      const int32_t p = place + first, begin = first - (half ? V : 0);
      const int32_t end = (int32_t)b.size.end, row = (int32_t)b.size.row;
      const bool mine = begin >= 0 ? begin < (int32_t)k.length && place + begin < row
                                   : place == 0 && !b.size.begun;
      if (mine && p < end) store_part<ES>(to, units.vector(box, at), -p, end - p);
    }
  }
}

/* The vectors of a window that begins at a multiple of its bytes, `before` bytes before a
** row, in an order in which those of all rows come with the same places, but for
** windows. */
MT_INLINE uint32_t unaligned_turned (uint32_t lane, uint32_t before, uint32_t grain) {
  return grain > 32 ? (lane + before / 16) & (grain / 16 - 1) : lane;
}

/* Vectors of rows: of small units only whole ones, since parts of vectors would keep the
** other threads of a warp waiting. */
template <int ES, typename UNITS>
MT_INLINE void unaligned_store (const mt_permute_unaligned &k, const unaligned_block &b,
                                const char *box) {
  enum { V = 16 / ES };
#pragma unroll 1
  for (uint32_t n = threadIdx.x; n < k.tasks; n += blockDim.x) {
    const uint32_t q = divide(n, k.wide);
    const uint32_t part = divide(q, k.all);
    const unaligned_rows rows = unaligned_parts(k, (char *)box)[q - part * k.all.extent];
    const uint32_t lead = (uint32_t)(uintptr_t)(b.dst + rows.dst);
    const uint32_t lane = n - q * k.wide.extent, before = lead & (k.grain - 1);
    const uint32_t vector =
        part * k.wide.extent + unaligned_turned(lane, before, k.grain);
    const int32_t first = ((int32_t)(16 * vector) - (int32_t)before) / ES;
    const int32_t left = (int32_t)b.size.row - (int32_t)rows.place;
    if (rows.count != 0 && first < (int32_t)k.length + V && first < left + V &&
        first >= (ES < 4 ? 0 : 1 - V))
      unaligned_put<ES, UNITS, true, (ES >= 4)>(k, b, rows, box, first);
  }
}

/* The same of rows whose places are equally far apart: a thread looks up those of one
** vector for the windows of a row; again for vectors of two segments. */
template <int ES>
MT_INLINE void unaligned_along (const mt_permute_unaligned &k, const unaligned_block &b,
                                const char *box) {
  enum { V = 16 / ES };
  const int32_t by = (int32_t)k.wide.extent * V, length = (int32_t)k.length;
#pragma unroll 1
  for (uint32_t n = threadIdx.x; n < k.tasks; n += blockDim.x) {
    const uint32_t q = divide(n, k.wide);
    const unaligned_rows rows = unaligned_parts(k, (char *)box)[q];
    const uint32_t before = (uint32_t)(uintptr_t)(b.dst + rows.dst) & (k.grain - 1);
    const uint32_t vector = unaligned_turned(n - q * k.wide.extent, before, k.grain);
    int32_t first = ((int32_t)(16 * vector) - (int32_t)before) / ES;
    if (rows.count == 0) continue;
    if (first < 0) first += by;
    unaligned_units<ES> units(k, box, first);
    char *to = b.dst + rows.dst + (int64_t)first * ES;
    uint32_t at = unaligned_address(box) + rows.at;
#pragma unroll 1
    for (; first < length + V; first += by, to += by * ES, at += by * k.linear) {
      if ((int32_t)rows.place > unaligned_limit<ES>(k, b, first, (uintptr_t)to & 16))
        continue;
      if (first + V > length)
        units = unaligned_units<ES>(k, box, first), at = unaligned_address(box) + rows.at;
      unaligned_whole(to, units.vector(box, at));
    }
  }
}

/* The vectors at both ends of rows that hold other things too, of small units: the first
** half of the tasks is for the first ones. */
template <int ES, typename UNITS>
MT_INLINE void unaligned_ends (const mt_permute_unaligned &k, const unaligned_block &b,
                               const char *box) {
  enum { V = 16 / ES };
  const int32_t end = (int32_t)b.size.end, row = (int32_t)b.size.row;
#pragma unroll 1
  for (uint32_t n = threadIdx.x; n < 2 * k.ends; n += blockDim.x) {
    const bool late = n >= k.ends;
    unaligned_rows rows;
    rows.find_one(k, b, late ? n - k.ends : n);
    const int32_t lead = (int32_t)((uint32_t)(uintptr_t)(b.dst + rows.dst) & 15) / ES;
    int32_t first = late ? (lead + end) / V * V - lead : -lead;
    const bool real = late ? first >= 0 && first < end && first < row + V
                           : lead != 0 && !b.size.begun;
    if (!real || rows.count == 0) continue;
    if (k.segment && late) {
      const uintptr_t to = (uintptr_t)(b.dst + rows.dst + (int64_t)first * ES);
      const int32_t begin = first - (to & 16 ? V : 0);
      if (begin > 0) rows.go(k, (uint32_t)begin / k.segment);
      first -= (int32_t)rows.place;
    }
    unaligned_put<ES, UNITS, false, true>(k, b, rows, box, first);
  }
}

template <int ES, typename UNITS>
MT_INLINE void unaligned_write (const mt_permute_unaligned &k, const unaligned_block &b,
                                const char *box) {
  if (ES < 4 && k.linear) unaligned_along<ES>(k, b, box);
  else unaligned_store<ES, UNITS>(k, b, box);
  if (ES < 4) unaligned_ends<ES, UNITS>(k, b, box);
}

/* Shared memory begins with a vector that is read, but means nothing. */
template <int ES> MT_INLINE void copy_permute_unaligned (const mt_launch &p) {
  MT_DYNAMIC(shared, MT_PERMUTE_UNALIGNED_SHARED);
  __shared__ unaligned_block found;
  const mt_permute_unaligned &k = p.desc.unaligned;
  char *box = (char *)(shared + 1);
  if (threadIdx.x >= 32) unaligned_find<ES>(k, box);
  else {
    unaligned_block b;
    b.find(p);
    if (threadIdx.x == 0) found = b;
  }
  __syncthreads();
  const unaligned_block b = found;
  if (b.inside) unaligned_load<ES, true>(p, b, box);
  else unaligned_load<ES, false>(p, b, box);
  unaligned_places<ES>(k, (uint32_t)(uintptr_t)b.src & 15, box);
  unaligned_split(k, b, box);
  fetched();
  if (k.piece.extent) unaligned_write<ES, unaligned_pieces<ES>>(k, b, box);
  else unaligned_write<ES, unaligned_units<ES>>(k, b, box);
}

template <int BYTES, int UNROLL> struct copier<MT_ALGO_PERMUTE_UNALIGNED, BYTES, UNROLL> {
  static MT_INLINE void run (const mt_launch &p) { copy_permute_unaligned<BYTES>(p); }
};

} // namespace mt

/* Blocks of an SM; without a number as many as registers allow. */
#define MT_BOUNDS_PERMUTE_UNALIGNED(threads, unroll) __launch_bounds__(threads, 4)

#undef MT_INLINE
#endif
