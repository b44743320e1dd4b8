/*
** interleave.cuh - copies between rows and their interleaved elements: a short run and a
** long one.
** SPDX-License-Identifier: MIT
**
** A unit is an access of ES bytes. The thread axis, of extent n, is the short one; the
** value axis w runs in units on one side (the rows: n of them) and in steps of n units
** on the other (the packed side), whose run is both axes together. A block takes a piece
** of w: the packed run and the n pieces of rows are read and written in vectors, and pass
** through shared memory, where they lie by rows. Few rows of short units are woven in
** registers: weave.cuh.
*/
#ifndef PACK_CUH
#define PACK_CUH

#include "desc/interleave_desc.h"
#include "kernels/copy/interleave_weave.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

enum {
  PACK_PAD = 16,
  PACK_VECTORS = MT_INTERLEAVE_BYTES / 16,
  PACK_ROUNDS = PACK_VECTORS / 256
};

/* A block's piece: units [w, w + length) of each row. */
struct pack_place {
  const char *src;
  char *dst;
  uint32_t n, length, pitch; /* pitch: bytes from row to row in shared memory */
};

template <int ES> MT_INLINE pack_place pack_of (const mt_launch &p) {
  const mt_desc &d = p.desc;
  const uint32_t piece = MT_INTERLEAVE_PIECE(ES, d.threads);
  const uint32_t pieces = ((uint32_t)d.values + piece - 1) / piece;
  const uint32_t rest = blockIdx.x / pieces, w = (blockIdx.x - rest * pieces) * piece;
  pack_place t;
  place at = {};
  sides side(p);
  walk_rest(at, d, rest);
  at.step(d.axis[1], w);
  side.move(d, at);
  t.src = side.src;
  t.dst = side.dst;
  t.n = (uint32_t)d.threads;
  t.length = (uint32_t)d.values - w < piece ? (uint32_t)d.values - w : piece;
  t.pitch = piece * ES + PACK_PAD;
  return t;
}

/* Between the unit i of a vector and shared memory. */
template <int ES> MT_INLINE void put_shared (char *p, const uint4 &v, int i) {
  store_unit<ES>(p, v, i);
}

template <int ES> MT_INLINE void get_shared (uint4 &v, int i, const char *p) {
  uint32_t *w = &v.x;
  const uint32_t *q = (const uint32_t *)p;
  if (ES == 1) w[i / 4] |= (uint32_t) * (const uint8_t *)p << 8 * (i % 4);
  if (ES == 2) w[i / 2] |= (uint32_t) * (const uint16_t *)p << 16 * (i % 2);
  if (ES == 4) w[i] = *q;
  if (ES == 8) w[2 * i] = q[0], w[2 * i + 1] = q[1];
  if (ES == 16) v = *(const uint4 *)p;
}

/* The units of vector i of the packed run, one after the other: row c, place w. */
struct packed_unit {
  uint32_t c, w;
  MT_INLINE packed_unit (const mt_desc &d, uint32_t unit)
      : c(0), w(divide(unit, d.axis[0])) {
    c = unit - w * (uint32_t)d.threads;
  }
  MT_INLINE void next (uint32_t n) {
    if (++c == n) c = 0, w++;
  }
};

/* Rows of the side: vector i is the vector k of row c. */
struct row_vector {
  uint32_t c, k;
  MT_INLINE row_vector (uint32_t i, uint32_t each) : c(i / each), k(i - c * each) {}
};

template <int ES>
MT_INLINE void unpack_load (const mt_launch &p, const pack_place &t, char *shared) {
  constexpr int V = 16 / ES;
  const uint32_t units = t.n * t.length;
  uint4 data[PACK_ROUNDS];
#pragma unroll
  for (int k = 0; k < PACK_ROUNDS; k++) {
    const uint32_t i = threadIdx.x + 256 * k;
    if (i * V < units)
      data[k] = load_units<ES>(t.src + (int64_t)i * 16, (int32_t)(i * V), (int32_t)units);
  }
#pragma unroll
  for (int k = 0; k < PACK_ROUNDS; k++) {
    const uint32_t i = threadIdx.x + 256 * k;
    packed_unit u(p.desc, i * V);
#pragma unroll
    for (int j = 0; j < V; j++, u.next(t.n))
      if (i * V + j < units)
        put_shared<ES>(shared + u.c * t.pitch + u.w * ES, data[k], j);
  }
}

template <int ES>
MT_INLINE void unpack_store (const mt_launch &p, const pack_place &t,
                             const char *shared) {
  constexpr int V = 16 / ES;
  const uint32_t each = (t.length + V - 1) / V;
  const int64_t step = p.desc.axis[0].stride[MT_DST] * (int64_t)p.desc.elem;
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < t.n * each; i += 256) {
    const row_vector r(i, each);
    const uint4 v = *(const uint4 *)(shared + r.c * t.pitch + r.k * 16);
    store_units<ES>(t.dst + r.c * step + r.k * 16, v, (int32_t)(r.k * V),
                    (int32_t)t.length);
  }
}

template <int ES>
MT_INLINE void pack_load (const mt_launch &p, const pack_place &t, char *shared) {
  constexpr int V = 16 / ES;
  const uint32_t each = (t.length + V - 1) / V;
  const int64_t step = p.desc.axis[0].stride[MT_SRC] * (int64_t)p.desc.elem;
  uint4 data[PACK_ROUNDS];
#pragma unroll
  for (int k = 0; k < PACK_ROUNDS; k++) {
    const uint32_t i = threadIdx.x + 256 * k;
    const row_vector r(i, each);
    if (i < t.n * each)
      data[k] = load_units<ES>(t.src + r.c * step + r.k * 16, (int32_t)(r.k * V),
                               (int32_t)t.length);
  }
#pragma unroll
  for (int k = 0; k < PACK_ROUNDS; k++) {
    const uint32_t i = threadIdx.x + 256 * k;
    const row_vector r(i, each);
    if (i < t.n * each) *(uint4 *)(shared + r.c * t.pitch + r.k * 16) = data[k];
  }
}

template <int ES>
MT_INLINE void pack_store (const mt_launch &p, const pack_place &t, const char *shared) {
  constexpr int V = 16 / ES;
  const uint32_t units = t.n * t.length;
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i * V < units; i += 256) {
    packed_unit u(p.desc, i * V);
    uint4 v = {0, 0, 0, 0};
#pragma unroll
    for (int j = 0; j < V; j++, u.next(t.n))
      if (i * V + j < units) get_shared<ES>(v, j, shared + u.c * t.pitch + u.w * ES);
    store_units<ES>(t.dst + (int64_t)i * 16, v, (int32_t)(i * V), (int32_t)units);
  }
}

template <int ES> MT_INLINE void copy_interleave (const mt_launch &p) {
  __shared__ uint4 shared[PACK_VECTORS + MT_INTERLEAVE_MOST];
  if constexpr (ES < MT_INTERLEAVE_LONG) {
    if (p.desc.threads == 2) return copy_woven<ES, 2>(p, shared);
    if (p.desc.threads == 3) return copy_woven<ES, 3>(p, shared);
    if (p.desc.threads == 4) return copy_woven<ES, 4>(p, shared);
  }
  const pack_place t = pack_of<ES>(p);
  if (p.desc.axis[0].stride[MT_SRC] == (int64_t)p.desc.vec) {
    unpack_load<ES>(p, t, (char *)shared);
    __syncthreads();
    unpack_store<ES>(p, t, (const char *)shared);
  } else {
    pack_load<ES>(p, t, (char *)shared);
    __syncthreads();
    pack_store<ES>(p, t, (const char *)shared);
  }
}

template <int BYTES, int UNROLL> struct copier<MT_ALGO_INTERLEAVE, BYTES, UNROLL> {
  static MT_INLINE void run (const mt_launch &p) { copy_interleave<BYTES>(p); }
};

} // namespace mt

/* Blocks of an SM; without a number as many as registers allow. */
#define MT_BOUNDS_INTERLEAVE(threads, unroll) __launch_bounds__(threads, 5)

#undef MT_INLINE
#endif
