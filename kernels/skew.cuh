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

/* What the bounds leave of the four spans. */
struct skew_size {
  uint32_t run, runs, row, rows;
  MT_INLINE skew_size (const mt_desc &d, const skew_place &at) {
    uint32_t left[MT_SKEW_BOUNDS];
#pragma unroll
    for (int k = 0; k < MT_SKEW_BOUNDS; k++) left[k] = (uint32_t)d.bound[k] - at.at[k];
    run = of(d.skew.run, left), runs = of(d.skew.runs, left);
    row = of(d.skew.row, left), rows = of(d.skew.rows, left);
  }
  static MT_INLINE uint32_t of (const mt_span &s, const uint32_t *left) {
    uint32_t count = s.count;
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
    const uint32_t at = low + w.shared, before = at & 15;
    const char *from = src + w.global - before;
    char *to = box + (at - before);
#pragma unroll 1
    for (uint32_t v = first; v < before + bytes; v += 16 * lanes) {
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

/* Goes along a row, V units at a time. The places of the first axis of the row are `step`
** apart; where it ends, `left` places on, lies a jump by `by` on top. What lies before the
** row or behind it is not real: any unit will do. LONG: the first axis has V places or
** more, so that V places have one jump at most. */
template <int ES, bool LONG> struct skew_reader {
  enum { V = 16 / ES };
  typedef typename skew_unit<ES>::type type;
  const mt_skew &k;
  uint32_t at;                  /* in shared memory */
  uint32_t step;
  int32_t left, by;
  int32_t wait;                 /* places before the row, unless LONG */
  uint32_t i, j;                /* indices of the second axis and the third */

  MT_INLINE int32_t jump () const {
    return i + 1 < k.line[1].extent ? k.jump[0] :
           j + 1 < k.line[2].extent ? k.jump[1] : k.jump[2];
  }

  /* From place p of the row at `row` on; -2 V < p. */
  MT_INLINE skew_reader (const mt_skew &skew, uint32_t row, int32_t p)
      : k(skew), at(row), step(k.line[0].pitch), wait(0) {
    if (LONG && p < 0) {
      left = -p, by = p * (int32_t)step;
      i = k.line[1].extent - 1, j = ~0u;
      return;
    }
    if (p < 0) wait = -p;
    const uint32_t n = p < 0 ? 0 : (uint32_t)p;
    const mt_line &a = k.line[0], &b = k.line[1];
    const uint32_t q = divide_by(n, a.extent, a.mul, a.shift);
    j = divide_by(q, b.extent, b.mul, b.shift);
    i = q - j * b.extent;
    const uint32_t digit = n - q * a.extent;
    at += digit * a.pitch + i * b.pitch + j * k.line[2].pitch;
    left = (int32_t)(a.extent - digit), by = jump();
  }

  MT_INLINE void turn () {
    left += (int32_t)k.line[0].extent;
    if (++i == k.line[1].extent) i = 0, j = j + 1 == k.line[2].extent ? 0 : j + 1;
    by = jump();
  }

  MT_INLINE void one () {
    if (wait > 0) {
      wait--;
      return;
    }
    at += step;
    if (--left > 0) return;
    at += by;
    turn();
  }

  MT_INLINE void read (type *x, const char *box) {
    if (LONG) {
#pragma unroll
      for (int n = 0; n < V; n++, at += step) {
        if (n > 0 && n == left) at += by;
        skew_get(&x[n], at, box);
      }
      if (left == V) at += by;
      left -= V;
      if (left <= 0) turn();
    } else {
#pragma unroll
      for (int n = 0; n < V; n++, one()) {
        skew_get(&x[n], at, box);
      }
    }
  }

  MT_INLINE void skip () {
    if (LONG) {
      at += V * step;
      left -= V;
      if (left > 0) return;
      at += by;
      turn();
    } else {
#pragma unroll 1
      for (int n = 0; n < V; n++) one();
    }
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
MT_INLINE void skew_put (skew_reader<ES, LONG> &reader, uint4 *out, const char *box) {
  typename skew_unit<ES>::type unit[16 / ES];
  reader.read(unit, box);
  reader.skip();
  box_vectors<ES, 1>::of(out, unit);
}

template <int ES>
MT_INLINE void skew_give (char *to, const uint4 &v, int32_t first, int32_t end) {
  enum { V = 16 / ES };
  if (first >= 0 && first + V <= end) store<16>(to, v);
  else if (first > -V && first < end) store_part<ES>(to, v, -first, end - first);
}

/* The places of a row that a task writes: from `first` on, in steps of two vectors. */
template <int ES, bool LONG>
MT_INLINE void skew_stretch (const mt_skew &k, const char *box, uint32_t at, char *row,
                             int32_t first, int32_t end) {
  enum { V = 16 / ES, N = ES < 4 ? 1 : 2 };               /* vectors at once */
  skew_reader<ES, LONG> reader(k, at, first);
  char *to = row + (int64_t)first * ES;
#pragma unroll 1
  for (uint32_t s = 0; s < k.stretch && first < end; s += N) {
    uint4 out[N];
#pragma unroll
    for (int n = 0; n < N; n++) skew_put<ES, LONG>(reader, &out[n], box);
#pragma unroll
    for (int n = 0; n < N; n++, first += 2 * V, to += 32)
      if (n == 0 || s + n < k.stretch) skew_give<ES>(to, out[n], first, end);
  }
}

template <int ES, bool LONG>
MT_INLINE void skew_store (const mt_desc &d, const skew_size &size, char *dst,
                           const char *box, uint32_t low) {
  const mt_skew &k = d.skew;
#pragma unroll 1
  for (uint32_t n = threadIdx.x; n < k.tasks; n += blockDim.x) {
    const mt_each &all = k.all_rows;
    const uint32_t part = divide_by(n >> 1, all.extent, all.mul, all.shift);
    const uint32_t r = (n >> 1) - part * all.extent;
    if (r >= size.rows) continue;
    const skew_walk w(k.store, k.nstore, r);
    char *row = dst + w.global;
    const uint32_t before = (uint32_t)(uintptr_t)row & 31;
    const int32_t byte = (int32_t)(part * k.stretch * 32 + (n & 1) * 16) - (int32_t)before;
    skew_stretch<ES, LONG>(k, box, low + w.shared, row, byte / ES, (int32_t)size.row);
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
  if (skew_inside(p, side.src)) skew_load<ES, true>(p, size, side.src, box);
  else skew_load<ES, false>(p, size, side.src, box);
  skew_arrived();
  const uint32_t low = skew_address(box) + ((uint32_t)(uintptr_t)side.src & 15);
  if (d.skew.line[0].extent >= 16 / ES) skew_store<ES, true>(d, size, side.dst, box, low);
  else skew_store<ES, false>(d, size, side.dst, box, low);
}

} // namespace mt

#undef MT_INLINE
#endif
