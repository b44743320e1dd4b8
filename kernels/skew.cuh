/*
** skew.cuh - copies of boxes whose rows begin anywhere.
** SPDX-License-Identifier: MIT
**
** A unit is an access of ES bytes, a vector 16 bytes. A block moves one box. It reads
** runs of the source, in the vectors that they touch, into shared memory, where each unit
** keeps its distance from a multiple of 16: the steps of the source and those of shared
** memory are the same modulo 16, so that vectors arrive as they are. Then it writes rows
** of the destination in the vectors that are aligned there, the first and the last of a
** row in parts, and collects the units of each.
*/
#ifndef SKEW_CUH
#define SKEW_CUH

#include "box.cuh"

#define MT_INLINE __device__ __forceinline__

/* What the emulated kernels check. */
#ifndef MT_ASSERT
#define MT_ASSERT(x) ((void)0)
#endif

namespace mt {

/* ------------------------------------------------------------------ lengths */

/* Where a block is, and how far along the bounds. */
struct skew_place : place {
  uint32_t at[MT_SKEW_BOUNDS];
  MT_INLINE void step (const mt_axis &a, int64_t digit) {
    place::step(a, digit);
#pragma unroll
    for (int k = 0; k < MT_SKEW_BOUNDS; k++)
      at[k] += (uint32_t)digit * (uint32_t)a.step[k];
  }
};

/* What the bounds leave of the four spans; run and runs are those that are read. Of a row
** that is read on behind the box also its `end` there, and whether it began before. */
struct skew_size {
  uint32_t run, runs, row, rows, end;
  bool begun;
  MT_INLINE skew_size (const mt_desc &d, const skew_place &at) {
    const mt_skew &s = d.skew;
    uint32_t left[MT_SKEW_BOUNDS];
    begun = false;
#pragma unroll
    for (int k = 0; k < MT_SKEW_BOUNDS; k++) {
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
    for (int k = 0; k < MT_SKEW_BOUNDS; k++)
      if (s.bound == k + 1 && left[k] < count) count = left[k];
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

/* All that the block reads lies in the buffer, whole vectors of it. */
MT_INLINE bool skew_inside (const mt_launch &p, const char *src) {
  const memory m(p, MT_SRC);
  return src + p.desc.skew.reach[0] - 16 >= m.low &&
         src + p.desc.skew.reach[1] + 16 <= m.high;
}

template <int ES, bool INSIDE>
MT_INLINE void skew_load (const mt_launch &p, const skew_size &size, const char *src,
                          char *box) {
  const mt_skew &k = p.desc.skew;
  const memory m(p, MT_SRC);
  const uint32_t low = (uint32_t)(uintptr_t)src & 15, bytes = size.run * ES;
  const uint32_t lanes = k.lanes.extent;
  uint32_t r = divide_by(threadIdx.x, lanes, k.lanes.mul, k.lanes.shift);
  const uint32_t first = 16 * (threadIdx.x - r * lanes);
  if (r >= k.teams) r = size.runs;
#pragma unroll 2
  for (; r < size.runs; r += k.teams) {
    const skew_walk w(k.load, k.nload, r);
    const uint32_t before = (uint32_t)(uintptr_t)(src + w.global) & 63;
    const char *from = src + w.global - before;
    char *to = box + (int32_t)(low + w.shared - before);
#pragma unroll 1
    for (uint32_t v = first; v < before + bytes; v += 16 * lanes) {
      if (v + 16 <= before) continue;
      if (INSIDE || (from + v >= m.low && from + v + 16 <= m.high))
        skew_fetch(to + v, from + v);
      else *(uint4 *)(to + v) = load_raw<ES>(from + v, m);
    }
  }
}

/* ------------------------------------------------------------------ collecting */

template <int ES> struct skew_unit { typedef typename shared_word<ES>::type type; };
template <> struct skew_unit<1> { typedef uint8_t type; };
template <> struct skew_unit<2> { typedef uint16_t type; };

/* An address of shared memory, and what lies there. */
#if defined(__CUDA_ARCH__)
MT_INLINE uint32_t skew_address (const char *box) {
  return (uint32_t)__cvta_generic_to_shared(box);
}
MT_INLINE void skew_get (uint8_t *x, uint32_t at, const char *) {
  uint32_t v;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(v) : "r"(at));
  *x = (uint8_t)v;
}
MT_INLINE void skew_get (uint16_t *x, uint32_t at, const char *) {
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(*x) : "r"(at));
}
MT_INLINE void skew_get (uint32_t *x, uint32_t at, const char *) {
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(*x) : "r"(at));
}
MT_INLINE void skew_get (uint2 *x, uint32_t at, const char *) {
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x->x), "=r"(x->y) : "r"(at));
}
MT_INLINE void skew_get (uint4 *x, uint32_t at, const char *) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x->x), "=r"(x->y), "=r"(x->z), "=r"(x->w) : "r"(at));
}
#else
MT_INLINE uint32_t skew_address (const char *) { return 0; }
template <typename T> MT_INLINE void skew_get (T *x, uint32_t at, const char *box) {
  MT_ASSERT(at <= MT_SKEW_SHARED - sizeof *x);
  *x = *(const T *)(box + at);
}
#endif

/* V units of a row, from place p on, -V < p. Places of its first axis are a step apart;
** where it ends lies a jump on top. LONG: the axis has V places or more, so that there is
** one jump at most, before unit `left`. Otherwise there are several, before each unit
** whose bit is set in `ends`; but the first two axes together have V places or more, and
** end once at most. Before the first place of the row such ones are read that end there,
** behind the last any. */
template <int ES, bool LONG> struct skew_units {
  enum { V = 16 / ES };
  typedef typename skew_unit<ES>::type type;
  type x[V];
  uint32_t at;                  /* in shared memory */
  uint32_t left;                /* places of the first axis from there on */
  uint32_t turns;               /* how often it ends before the second axis does */
  int32_t last;                 /* the jump where that ends */

  MT_INLINE void find (const mt_skew &k, int32_t p) {
    const mt_line &a = k.line[0], &b = k.line[1], &c = k.line[2];
    const bool early = p < 0;
    const uint32_t n = early ? (uint32_t)(-p - 1) : (uint32_t)p;
    const uint32_t q = divide_by(n, a.extent, a.mul, a.shift);
    const uint32_t digit = early ? a.extent - 1 - (n - q * a.extent) : n - q * a.extent;
    const uint32_t j = early ? 0 : divide_by(q, b.extent, b.mul, b.shift);
    const uint32_t i = early ? b.extent - 1 - q : q - j * b.extent;
    at += digit * a.pitch + i * b.pitch + j * c.pitch;
    left = a.extent - digit, turns = b.extent - 1 - i;
    last = early ? k.jump[MT_MAXLINE] : k.jump[j + 1 < c.extent ? 1 : 2];
  }

  MT_INLINE skew_units (const mt_skew &k, const char *box, uint32_t row, int32_t p)
      : at(row) {
    find(k, p);
    const uint32_t step = k.line[0].pitch;
    const int32_t by = LONG && turns == 0 ? last : k.jump[0];
    const uint32_t ends = LONG ? 0 : k.ends << left;
    const uint32_t end = left + turns * k.line[0].extent;
#pragma unroll
    for (uint32_t n = 0; n < V; n++, at += step) {
      if (n > 0 && (LONG ? n == left : ends >> n & 1)) at += by;
      if (!LONG && n > 0 && n == end) at += last - by;
      skew_get(&x[n], at, box);
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

/* The vector from place `first` of a row on, which has places [0, end). */
template <int ES>
MT_INLINE void skew_put (char *to, const uint4 &v, int32_t first, int32_t end) {
  enum { V = 16 / ES };
  if (first >= 0 && first + V <= end) store<16>(to, v);
  else store_part<ES>(to, v, -first, end - first);
}

/* A row of a box: where it begins in the destination and in shared memory. */
struct skew_row {
  char *dst;
  uint32_t at;
  MT_INLINE skew_row (const mt_skew &k, char *to, uint32_t low, uint32_t n) {
    const skew_walk w(k.store, k.nstore, n);
    dst = to + w.global, at = low + w.shared;
  }
};

/* Vectors of rows: of small units only whole ones, since parts of vectors would keep the
** other threads of a warp waiting. One that lies in two boxes is written by the one where
** it begins. */
template <int ES, bool LONG>
MT_INLINE void skew_store (const mt_skew &k, const skew_size &size, char *dst,
                           const char *box, uint32_t low) {
  enum { V = 16 / ES, WIDE = MT_SKEW_WIDE(ES) };
  const mt_each &all = k.all_rows;
#pragma unroll 1
  for (uint32_t n = threadIdx.x; n < k.tasks; n += blockDim.x) {
    const uint32_t part = divide_by(n / WIDE, all.extent, all.mul, all.shift);
    const uint32_t r = n / WIDE - part * all.extent;
    if (r >= size.rows) continue;
    const skew_row row(k, dst, low, r);
    const uint32_t before = (uint32_t)(uintptr_t)row.dst & (16 * WIDE - 1);
    const uint32_t vector = part * k.stretch * WIDE + n % WIDE;
    int32_t first = ((int32_t)(16 * vector) - (int32_t)before) / ES;
    char *to = row.dst + (int64_t)first * ES;
#pragma unroll 1
    for (uint32_t s = 0; s < k.stretch && first < (int32_t)size.row; s++) {
      if (first >= (ES < 4 ? 0 : size.begun ? 0 : 1 - V) &&
          (ES >= 4 || first + V <= (int32_t)size.end))
        skew_put<ES>(to, skew_units<ES, LONG>(k, box, row.at, first).vector(), first,
                     (int32_t)size.end);
      first += WIDE * V, to += WIDE * 16;
    }
  }
}

/* The vectors at both ends of rows that hold other things too, of small units. */
template <int ES, bool LONG>
MT_INLINE void skew_ends (const mt_skew &k, const skew_size &size, char *dst,
                          const char *box, uint32_t low) {
  enum { V = 16 / ES };
  const int32_t end = (int32_t)size.end;
#pragma unroll 1
  for (uint32_t n = threadIdx.x; n < 2 * size.rows; n += blockDim.x) {
    const skew_row row(k, dst, low, n >> 1);
    const int32_t lead = (int32_t)((uint32_t)(uintptr_t)row.dst & 15) / ES;
    const int32_t first = n & 1 ? (lead + end) / V * V - lead : -lead;
    const bool real = n & 1 ? first >= 0 && first < end && first < (int32_t)size.row
                            : lead != 0 && !size.begun;
    if (real)
      store_part<ES>(row.dst + (int64_t)first * ES,
                     skew_units<ES, LONG>(k, box, row.at, first).vector(), -first,
                     end - first);
  }
}

template <int ES, bool LONG>
MT_INLINE void skew_write (const mt_skew &k, const skew_size &size, char *dst,
                           const char *box, uint32_t low) {
  skew_store<ES, LONG>(k, size, dst, box, low);
  if (ES < 4) skew_ends<ES, LONG>(k, size, dst, box, low);
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
  if (skew_inside(p, side.src)) skew_load<ES, true>(p, size, side.src, box);
  else skew_load<ES, false>(p, size, side.src, box);
  skew_arrived();
  const uint32_t low = skew_address(box) + ((uint32_t)(uintptr_t)side.src & 15);
  if (d.skew.line[0].extent >= 16 / ES)
    skew_write<ES, true>(d.skew, size, side.dst, box, low);
  else
    skew_write<ES, false>(d.skew, size, side.dst, box, low);
}

} // namespace mt

#undef MT_INLINE
#endif
