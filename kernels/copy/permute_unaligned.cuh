/*
** permute_unaligned.cuh - copies of boxes whose rows begin anywhere.
** SPDX-License-Identifier: MIT
**
** A unit is an access of ES bytes, a vector V of them, 16 bytes. A block moves one box.
** All names, the tables and a picture are in desc/permute_unaligned_desc.h. The steps:
**   find    the first warp finds where the box is and what the bounds leave of it, the
**           others where the runs begin
**   load    runs of the source to shared memory, by the vectors that they touch,
**           asynchronously: a unit keeps its address modulo 16
**   tables  of places and of groups, while the runs arrive
**   store   rows of the destination, by the vectors that are aligned there:
**
**             row of the destination      |  .  x0 x1 x2 | x3 x4 x5 x6 | x7 x8  .  . |
**                                            an end        whole         an end
**
** The units of a vector are collected one by one: V looks into the table of places, which
** serve the same vector of all rows of a group. Threads of a warp read places of equal
** number modulo V at a time, in different banks. So unit n of a vector is read as number
** n mod V, and the vector is rotated at last.
** Rows of pieces need less: a vector is cut out of one piece or out of two.
*/
#ifndef PERMUTE_UNALIGNED_CUH
#define PERMUTE_UNALIGNED_CUH

#include "desc/permute_unaligned_desc.h"
#include "kernels/copy/permute_collect.cuh"
#include "kernels/copy/permute_runs.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* ------------------------------------------------------------------ places */

/* Where place p of a row lies; the source of the box begins at `low` modulo 16. p counts
** along the axes of the look-up from `first` on. */
template <int ES>
MT_INLINE uint32_t unaligned_at (const mt_permute_unaligned &k, uint32_t low,
                                 uint32_t first, uint32_t p) {
  uint32_t run = 0, inside = 0, address = low;
#pragma unroll 1
  for (uint32_t i = first; i < k.nlookup; i++) {
    const mt_lookup_axis &a = k.lookup[i];
    const uint32_t q = __umulhi(p, a.by.mul) >> a.by.shift;
    const uint32_t digit = p - q * a.by.extent;
    run += digit * a.run, inside += digit * a.inside, address += digit * a.low;
    p = q;
  }
  return run * k.pitch + run / (16 / ES) * k.gap + inside + (address & 15);
}

/* The table of places, or of pieces. Those of V places lie together. */
template <int ES>
MT_INLINE void unaligned_places (const mt_permute_unaligned &k, uint32_t low, char *box) {
  enum { V = 16 / ES };
  const bool pieces = k.piece.extent != 0;
  const uint32_t early = pieces ? 0 : V, late = pieces ? 3 : 2 * V;
#pragma unroll 1
  for (uint32_t n = threadIdx.x; n < early + k.places + late; n += blockDim.x) {
    const bool real = n >= early && n < k.places + early;
    const uint32_t at = pieces ? 2 * n : n / V * MT_UNALIGNED_GROUP(V) + n % V * 2;
    *(uint16_t *)(box + k.places_at + at) =
        (uint16_t)(real ? unaligned_at<ES>(k, low, pieces ? 1 : 0, n - early) : 0);
  }
}

/* ------------------------------------------------------------------ storing */

/* A group of rows, 16 bytes. Of its first row: where it begins in the destination, `dst`;
** what it adds to the places of row 0, `at`; if it is a segment, the place of the box's
** row that it begins with, `place`. And how many rows there are. */
struct unaligned_rows {
  int64_t dst;
  uint32_t place;
  uint16_t at, count;
  /* Goes to index n of all axes of `store` but the first. Returns how many rows there are
  ** along the first. */
  MT_INLINE uint32_t begin (const mt_permute_unaligned &k, const unaligned_block &b,
                            uint32_t n) {
    const unaligned_walk w(k.store + 1, k.nstore > 1 ? k.nstore - 1 : 0, n);
    const uint32_t each = k.segment ? 1 : k.store[0].by.extent;
    dst = w.global, at = (uint16_t)w.shared, place = 0, count = 1;
    if (k.nstore < 2 && !k.segment) return b.size.rows;
    return n * each < b.size.rows ? k.store[0].by.extent : 0;
  }
  /* Goes n rows on, along the first axis. */
  MT_INLINE void go (const mt_permute_unaligned &k, uint32_t n) {
    dst += n * k.store[0].global, place += n * k.segment;
    at = (uint16_t)(at + n * k.store[0].shared);
  }
  /* Group n of all. */
  MT_INLINE void find (const mt_permute_unaligned &k, const unaligned_block &b,
                       uint32_t n) {
    const uint32_t q1 = divide(n, k.classes);
    const uint32_t q2 = divide(q1, k.chunks);
    const uint32_t from = (n - q1 * k.classes.extent) +
                          ((q1 - q2 * k.chunks.extent) * k.group_rows << k.class_log);
    const uint32_t rows = begin(k, b, q2);
    const uint32_t apart = 1u << k.class_log;
    const uint32_t left = rows > from ? (rows - from + apart - 1) >> k.class_log : 0;
    go(k, from);
    count = (uint16_t)(left < k.group_rows ? left : k.group_rows);
  }
  /* Row n of all, as a group of one; of a row that is cut its first segment. */
  MT_INLINE void find_one (const mt_permute_unaligned &k, const unaligned_block &b,
                           uint32_t n) {
    const uint32_t q = divide(n, k.lead);
    const uint32_t from = n - q * k.lead.extent, rows = begin(k, b, q);
    go(k, from);
    count = rows > from;
  }
};

/* The table of groups. */
MT_INLINE unaligned_rows *unaligned_groups (const mt_permute_unaligned &k,
                                            const char *box) {
  return (unaligned_rows *)(box + k.groups_at);
}

MT_INLINE void unaligned_find_groups (const mt_permute_unaligned &k,
                                      const unaligned_block &b, char *box) {
#pragma unroll 1
  for (uint32_t n = threadIdx.x; n < k.groups.extent; n += blockDim.x) {
    unaligned_rows rows;
    rows.find(k, b, n);
    unaligned_groups(k, box)[n] = rows;
  }
}

/* The last place of the box's row at which a segment may begin and write its vector from
** place `first` on as a whole. A row that is not cut begins at 0; -1: none writes it so.
** `half`: the vector is the second half of a sector. A sector of 32 bytes is written by
** the box, and by the segment, where it begins: caches take much longer for a part. */
template <int ES>
MT_INLINE int32_t unaligned_limit (const mt_permute_unaligned &k,
                                   const unaligned_block &b, int32_t first, bool half) {
  enum { V = 16 / ES };
  const int32_t begin = first - (half ? V : 0), end = (int32_t)b.size.end - V - first;
  const int32_t last = (int32_t)b.size.row - 1 - begin;
  if (first < 0 || begin >= (int32_t)k.length) return -1;
  if (begin < 0) return b.size.begun || end < 0 ? -1 : 0;
  const int32_t least = end < last ? end : last;
  return least < 0 ? -1 : least;
}

/* The vector from place `first` on of two rows of a group: where it is written, the place
** of the box's row that the segment begins with, and how many places later one may begin
** that writes it as a whole, of the first row and of the second; below 0: it does not. */
struct unaligned_row {
  char *to;
  int32_t first, place, more[2];
  template <int ES>
  MT_INLINE void find (const mt_permute_unaligned &k, const unaligned_block &b,
                       const unaligned_rows &rows, int32_t at) {
    first = at, place = (int32_t)rows.place;
    to = b.dst + rows.dst + (int64_t)at * ES;
    const bool half = (uintptr_t)to & 16, turns = k.next & 16;
    more[0] = unaligned_limit<ES>(k, b, at, half) - place;
    more[1] = unaligned_limit<ES>(k, b, at, half != turns) - place - (int32_t)k.later;
  }
  /* From the first row to the second; from there to the next two. */
  MT_INLINE void go (const mt_permute_unaligned &k) {
    to += k.next, place += (int32_t)k.later;
  }
  MT_INLINE void go_on (const mt_permute_unaligned &k) {
    go(k);
    more[0] -= 2 * (int32_t)k.later, more[1] -= 2 * (int32_t)k.later;
  }
};

/* A vector at `to` that no row writes as a whole: what is real of it, the units from
** place `first` on of a segment that begins with place `place`. */
template <int ES, typename UNITS>
MT_INLINE void unaligned_put_part (const mt_permute_unaligned &k,
                                   const unaligned_block &b, char *to, int32_t first,
                                   int32_t place, const UNITS &units, const char *box,
                                   uint32_t by) {
  const bool half = (uintptr_t)to & 16;
  const int32_t p = place + first, begin = first - (half ? 16 / ES : 0);
  const int32_t end = (int32_t)b.size.end - p, row = (int32_t)b.size.row;
  const bool mine = begin >= 0 ? begin < (int32_t)k.length && place + begin < row :
                                 place == 0 && !b.size.begun;
  const uint32_t at = (uint32_t)(p < 0 ? -p : 0) * ES;
  if (mine && end > 0)
    store_part<ES>(to, units.vector(box, by, at), at,
                   end * ES < 16 ? (uint32_t)end * ES : 16);
}

/* Writes it, of row `i` of the two, `by` bytes behind where its units lie, if all of them
** are real; PART: or what is real of them. */
template <int ES, typename UNITS>
MT_INLINE void unaligned_put_row (const mt_permute_unaligned &k, const unaligned_block &b,
                                  const unaligned_row &r, int i, const UNITS &units,
                                  const char *box, uint32_t by) {
  enum { PART = ES >= 4 };
  if (r.more[i] >= 0) unaligned_whole(r.to, units.vector(box, by));
  else if (PART) unaligned_put_part<ES>(k, b, r.to, r.first, r.place, units, box, by);
}

/* Writes that vector of each row of a group, of four in a turn. These have the same
** addresses: of small units one each takes longer than what it reads. */
template <int ES, typename UNITS>
MT_INLINE void unaligned_put (const mt_permute_unaligned &k, const unaligned_block &b,
                              const unaligned_rows &rows, const char *box,
                              int32_t first) {
  UNITS units(k, box, first);
  unaligned_row r;
  r.find<ES>(k, b, rows, first);
  units.go(unaligned_address(box) + rows.at);
#pragma unroll 1
  for (int32_t n = (int32_t)rows.count; n > 0;) {
    unaligned_put_row<ES>(k, b, r, 0, units, box, 0);
    r.go(k);
    if (n > 1) unaligned_put_row<ES>(k, b, r, 1, units, box, k.apart[0]);
    r.go_on(k);
    if (n <= 2) break;
    unaligned_put_row<ES>(k, b, r, 0, units, box, k.apart[1]);
    r.go(k);
    if (n > 3) unaligned_put_row<ES>(k, b, r, 1, units, box, k.apart[2]);
    r.go_on(k);
    if ((n -= 4) <= 0) break;
    units.go(k.apart[3]);
  }
}

/* The tasks of this box. */
MT_INLINE mt_unaligned_tasks unaligned_tasks (const mt_permute_unaligned &k,
                                              const unaligned_block &b) {
  return b.size.begun ? k.tasks[1] : k.tasks[0];
}

/* Which vector of which group task n is. */
struct unaligned_task {
  uint32_t group, vector;
  MT_INLINE unaligned_task (const mt_permute_unaligned &k, const mt_unaligned_tasks &t,
                            uint32_t n) {
    const bool whole = n < t.whole;
    const uint32_t m = whole ? n : n - t.whole;
    const uint32_t log = whole ? k.window_log : t.last_log, q = m >> log;
    const uint32_t window = whole ? divide(q, k.groups) : 0;
    group = q - window * k.groups.extent;
    vector = (whole ? window << log : t.last) + (m & ((1u << log) - 1));
  }
};

/* The place where the vectors of tasks begin, of a row that begins at address `lead`. */
template <int ES>
MT_INLINE int32_t unaligned_begin (const mt_permute_unaligned &k,
                                   const unaligned_block &b, uint32_t lead) {
  const uint32_t mask = k.align - 1;
  const bool later = b.size.begun && k.align < MT_UNALIGNED_LINE;
  return (later ? (int32_t)(-lead & mask) : -(int32_t)(lead & mask)) / ES;
}

/* All tasks. Of units below 4 bytes only whole vectors are written: parts of vectors
** would keep the other threads of a warp waiting. */
template <int ES, typename UNITS>
MT_INLINE void unaligned_store (const mt_permute_unaligned &k, const unaligned_block &b,
                                const char *box) {
  enum { V = 16 / ES };
#pragma unroll 1
  for (uint32_t n = threadIdx.x; n < unaligned_tasks(k, b).all; n += blockDim.x) {
    const unaligned_task task(k, unaligned_tasks(k, b), n);
    const unaligned_rows rows = unaligned_groups(k, box)[task.group];
    const int32_t first =
        unaligned_begin<ES>(k, b, (uint32_t)(uintptr_t)(b.dst + rows.dst)) +
        (int32_t)(V * task.vector);
    const int32_t left = (int32_t)b.size.row - (int32_t)rows.place;
    if (rows.count != 0 && first < (int32_t)k.length + V && first < left + V &&
        first >= (ES < 4 ? 0 : 1 - V))
      unaligned_put<ES, UNITS>(k, b, rows, box, first);
  }
}

/* Vectors of a row whose places are `linear` bytes apart, from place `first` on, each so
** many units behind the one before: the places of the first one, shifted, are those of
** the others. One that goes on in the next segment is looked up anew: it is the last. */
template <int ES>
MT_INLINE void unaligned_put_along (const mt_permute_unaligned &k,
                                    const unaligned_block &b, const unaligned_rows &rows,
                                    const char *box, int32_t first, int32_t by) {
  enum { V = 16 / ES };
  const int32_t length = (int32_t)k.length, place = (int32_t)rows.place;
  const uint32_t row = unaligned_address(box) + rows.at;
  char *to = b.dst + rows.dst + (int64_t)first * ES;
  const bool half = (uintptr_t)to & 16; /* all of them */
  int32_t last = (int32_t)b.size.row - 1 + (half ? V : 0), end = (int32_t)b.size.end - V;
  last = (end < last ? end : last) - place;
  if (last > length - V) last = length - V;
  unaligned_units<ES> units(k, box, first);
  units.go(row);
  if (first < V && place > unaligned_limit<ES>(k, b, first, half))
    first += by, to += by * ES, units.go(k.apart[0]);
#pragma unroll 1
  while (first <= last) {
    unaligned_whole(to, units.vector(box, 0));
    first += by, to += by * ES;
    if (first > last) break;
    unaligned_whole(to, units.vector(box, k.apart[0]));
    first += by, to += by * ES;
    units.go(k.apart[1]);
  }
  if (first + V <= length || first >= length + V ||
      place > unaligned_limit<ES>(k, b, first, half))
    return;
  unaligned_whole(to, unaligned_units<ES>(k, box, first).vector(box, row));
}

/* All tasks of such rows. */
template <int ES>
MT_INLINE void unaligned_along (const mt_permute_unaligned &k, const unaligned_block &b,
                                const char *box) {
  enum { V = 16 / ES, W = 1 << MT_UNALIGNED_WINDOW };
  const int32_t by = W * V;
#pragma unroll 1
  for (uint32_t n = threadIdx.x; n < unaligned_tasks(k, b).all; n += blockDim.x) {
    const unaligned_rows rows = unaligned_groups(k, box)[n / W];
    const int32_t first =
        unaligned_begin<ES>(k, b, (uint32_t)(uintptr_t)(b.dst + rows.dst)) +
        (int32_t)(V * (n % W));
    if (rows.count != 0)
      unaligned_put_along<ES>(k, b, rows, box, first < 0 ? first + by : first, by);
  }
}

/* The vectors at both ends of rows, of which only a part is theirs, for units below 4
** bytes: the first half of the threads' tasks is the first vectors, the second the last.
** Rows that began in the box before, or go on in the next, with a halo, have none. */
template <int ES, typename UNITS>
MT_INLINE void unaligned_ends (const mt_permute_unaligned &k, const unaligned_block &b,
                               const char *box) {
  enum { V = 16 / ES };
  const int32_t end = (int32_t)b.size.end, row = (int32_t)b.size.row;
  const bool whole = end >= row + 2 * V - 1; /* sectors that begin in the box */
  const uint32_t from = b.size.begun ? k.nrows : 0, to = whole ? k.nrows : 2 * k.nrows;
#pragma unroll 1
  for (uint32_t n = from + threadIdx.x; n < to; n += blockDim.x) {
    const bool late = n >= k.nrows;
    unaligned_rows rows;
    rows.find_one(k, b, late ? n - k.nrows : n);
    const int32_t lead = (int32_t)((uint32_t)(uintptr_t)(b.dst + rows.dst) & 15) / ES;
    int32_t first = late ? (lead + end) / V * V - lead : -lead;
    const bool real =
        late ? first >= 0 && first < end && first < row + V : lead != 0 && !b.size.begun;
    if (!real || rows.count == 0) continue;
    char *to = b.dst + rows.dst + (int64_t)first * ES;
    const bool half = (uintptr_t)to & 16;
    if (k.segment && late) {
      const int32_t begin = first - (half ? V : 0);
      if (begin > 0) rows.go(k, (uint32_t)begin / k.segment);
      first -= (int32_t)rows.place;
    }
    if ((int32_t)rows.place <= unaligned_limit<ES>(k, b, first, half)) continue;
    UNITS units(k, box, first);
    units.go(unaligned_address(box) + rows.at);
    unaligned_put_part<ES>(k, b, to, first, (int32_t)rows.place, units, box, 0);
  }
}

/* The parts of both ends. */
template <int ES>
MT_INLINE void unaligned_write_ends (const mt_permute_unaligned &k,
                                     const unaligned_block &b, const char *box) {
  if (ES >= 4) return;
  if (k.piece.extent) unaligned_ends<ES, unaligned_pieces<ES>>(k, b, box);
  else unaligned_ends<ES, unaligned_units<ES>>(k, b, box);
}

/* Rows of pieces are never linear. */
template <int ES>
MT_INLINE void unaligned_write (const mt_permute_unaligned &k, const unaligned_block &b,
                                const char *box) {
  if (ES < 4 && k.linear) unaligned_along<ES>(k, b, box);
  else if (k.piece.extent) unaligned_store<ES, unaligned_pieces<ES>>(k, b, box);
  else unaligned_store<ES, unaligned_units<ES>>(k, b, box);
  unaligned_write_ends<ES>(k, b, box);
}

/* What all threads do until the first of them knows where the box is. */
template <int ES>
MT_INLINE void unaligned_meet (const mt_launch &p, char *box, unaligned_block *found) {
  if (threadIdx.x >= 32) unaligned_find<ES>(p.desc.unaligned, box);
  else if (threadIdx.x == 31) {
    unaligned_block b;
    b.find(p, block_of_last());
    *found = b;
  }
  __syncthreads();
  wait_for_last();
}

/* Runs, and the table of places. */
template <int ES, int THREADS>
MT_INLINE void unaligned_fetch (const mt_launch &p, const unaligned_block &b, char *box) {
  if (b.inside) unaligned_load<ES, true, THREADS>(p, b, box);
  else unaligned_load<ES, false, THREADS>(p, b, box);
  unaligned_places<ES>(p.desc.unaligned, (uint32_t)(uintptr_t)b.src & 15, box);
}

/* The box begins behind a vector of shared memory that is read, but means nothing. */
template <int ES> MT_INLINE void copy_permute_unaligned (const mt_launch &p) {
  MT_DYNAMIC(shared, MT_PERMUTE_UNALIGNED_SHARED);
  __shared__ unaligned_block found;
  const mt_permute_unaligned &k = p.desc.unaligned;
  char *box = (char *)(shared + 1);
  unaligned_meet<ES>(p, box, &found);
  const unaligned_block b = found;
  if (blockDim.x == MT_PERMUTE_UNALIGNED_MANY)
    unaligned_fetch<ES, MT_PERMUTE_UNALIGNED_MANY>(p, b, box);
  else unaligned_fetch<ES, MT_PERMUTE_UNALIGNED_THREADS>(p, b, box);
  unaligned_find_groups(k, b, box);
  fetched();
  unaligned_write<ES>(k, b, box);
}

template <> inline constexpr bool has_tables<MT_ALGO_PERMUTE_UNALIGNED> = true;
template <int BYTES> struct copier<MT_ALGO_PERMUTE_UNALIGNED, BYTES, 1> {
  static MT_INLINE void run (const mt_launch &p) { copy_permute_unaligned<BYTES>(p); }
};

} // namespace mt

/* Threads of a block at most, and blocks of an SM: three large ones have as many threads,
** and so as many registers for each, as four others. */
#define MT_BOUNDS_PERMUTE_UNALIGNED(threads, unroll)                                     \
  __launch_bounds__((unroll) == 1 ? (int)MT_PERMUTE_UNALIGNED_MANY : threads,            \
                    (unroll) == 1 ? 3 : 4)

#undef MT_INLINE
#endif
