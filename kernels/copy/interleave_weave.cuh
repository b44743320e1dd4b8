/*
** interleave_weave.cuh - between a few rows of short units and their interleaved ones, in
** registers.
** SPDX-License-Identifier: MIT
**
** N rows, units of ES = 1 or 2 bytes. A thread has one vector of each row, V = 16 / ES
** units at the same place: together these are N vectors of the packed side, one behind
** the other. A warp has 32 of each row. Rows are read and written as they are; vectors of
** the packed side pass through the warp's part of shared memory, so that neighbouring
** lanes read and write neighbouring vectors.
*/
#ifndef WEAVE_CUH
#define WEAVE_CUH

#include "desc/interleave_desc.h"
#include "kernels/copy/transpose.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* ------------------------------------------------------------------ words */

/* Word k of each of N rows, 4 / ES units, and the N words of these units interleaved:
** weave makes the second of the first, part the first of the second. */
template <int ES, int N> struct woven;
template <> struct woven<1, 2> {
  static MT_INLINE void weave (uint32_t *o, const uint32_t *x) {
    o[0] = __byte_perm(x[0], x[1], 0x5140);
    o[1] = __byte_perm(x[0], x[1], 0x7362);
  }
  static MT_INLINE void part (uint32_t *o, const uint32_t *x) {
    o[0] = __byte_perm(x[0], x[1], 0x6420);
    o[1] = __byte_perm(x[0], x[1], 0x7531);
  }
};
template <> struct woven<1, 3> {
  static MT_INLINE void weave (uint32_t *o, const uint32_t *x) {
    o[0] = __byte_perm(__byte_perm(x[0], x[1], 0x1040), x[2], 0x3410);
    o[1] = __byte_perm(__byte_perm(x[0], x[1], 0x6205), x[2], 0x3250);
    o[2] = __byte_perm(__byte_perm(x[0], x[1], 0x0730), x[2], 0x7216);
  }
  static MT_INLINE void part (uint32_t *o, const uint32_t *x) {
    o[0] = __byte_perm(__byte_perm(x[0], x[1], 0x0630), x[2], 0x5210);
    o[1] = __byte_perm(__byte_perm(x[0], x[1], 0x0741), x[2], 0x6210);
    o[2] = __byte_perm(__byte_perm(x[0], x[1], 0x0052), x[2], 0x7410);
  }
};
template <> struct woven<1, 4> {
  static MT_INLINE void weave (uint32_t *o, const uint32_t *x) {
    const uint32_t a = __byte_perm(x[0], x[1], 0x5140);
    const uint32_t b = __byte_perm(x[2], x[3], 0x5140);
    const uint32_t c = __byte_perm(x[0], x[1], 0x7362);
    const uint32_t d = __byte_perm(x[2], x[3], 0x7362);
    o[0] = __byte_perm(a, b, 0x5410);
    o[1] = __byte_perm(a, b, 0x7632);
    o[2] = __byte_perm(c, d, 0x5410);
    o[3] = __byte_perm(c, d, 0x7632);
  }
  static MT_INLINE void part (uint32_t *o, const uint32_t *x) { weave(o, x); }
};
template <> struct woven<2, 2> {
  static MT_INLINE void weave (uint32_t *o, const uint32_t *x) {
    o[0] = __byte_perm(x[0], x[1], 0x5410);
    o[1] = __byte_perm(x[0], x[1], 0x7632);
  }
  static MT_INLINE void part (uint32_t *o, const uint32_t *x) { weave(o, x); }
};
template <> struct woven<2, 3> {
  static MT_INLINE void weave (uint32_t *o, const uint32_t *x) {
    o[0] = __byte_perm(x[0], x[1], 0x5410);
    o[1] = __byte_perm(x[2], x[0], 0x7610);
    o[2] = __byte_perm(x[1], x[2], 0x7632);
  }
  static MT_INLINE void part (uint32_t *o, const uint32_t *x) {
    o[0] = __byte_perm(x[0], x[1], 0x7610);
    o[1] = __byte_perm(x[0], x[2], 0x5432);
    o[2] = __byte_perm(x[1], x[2], 0x7610);
  }
};
template <> struct woven<2, 4> {
  static MT_INLINE void weave (uint32_t *o, const uint32_t *x) {
    woven<2, 2>::weave(o, x);
    const uint32_t high = o[1];
    woven<2, 2>::weave(o + 2, x + 2);
    o[1] = o[2], o[2] = high;
  }
  static MT_INLINE void part (uint32_t *o, const uint32_t *x) {
    o[0] = __byte_perm(x[0], x[2], 0x5410);
    o[1] = __byte_perm(x[0], x[2], 0x7632);
    o[2] = __byte_perm(x[1], x[3], 0x5410);
    o[3] = __byte_perm(x[1], x[3], 0x7632);
  }
};

/* ------------------------------------------------------------------ a few units */

/* The vector, its first unit gone, `unit` behind the others. */
template <int ES> MT_INLINE uint4 shift_unit (const uint4 &v, uint32_t unit) {
  const int n = 8 * ES;
  return make_uint4(__funnelshift_r(v.x, v.y, n), __funnelshift_r(v.y, v.z, n),
                    __funnelshift_r(v.z, v.w, n), __funnelshift_r(v.w, unit, n));
}

/* The first `count` units at p; there may be more, or none. */
template <int ES> MT_INLINE uint4 load_few (const char *p, int32_t count) {
  uint4 v = {0, 0, 0, 0};
  if (count >= 16 / ES) return load<16>(p);
  if (count <= 0) return v;
#pragma unroll 1
  for (int i = 0; i < 16 / ES; i++)
    v = shift_unit<ES>(v, i < count ? load<ES>(p + i * ES) : 0);
  return v;
}

template <int ES> MT_INLINE void store_few (char *p, uint4 v, int32_t count) {
  if (count >= 16 / ES) return store<16>(p, v);
#pragma unroll 1
  for (; count > 0; count--, p += ES, v = shift_unit<ES>(v, 0))
    store<ES>(p, (typename word<ES>::type)v.x);
}

/* ------------------------------------------------------------------ a warp's piece */

/* N vectors of a thread, at the same place of N rows or one behind the other. */
template <int ES, int N> struct weave_vectors {
  enum { V = 16 / ES };
  uint4 data[N];

  /* Vector i of the packed piece: lanes have a run of N each, or every 32nd. Eight
  ** neighbours of either kind meet every bank once. */
  static MT_INLINE int slot (int i) { return N == 3 ? i : i ^ (i >> 3 & (N - 1)); }

  template <bool WHOLE>
  MT_INLINE void load_rows (const char *p, int64_t pitch, int32_t left) {
#pragma unroll
    for (int c = 0; c < N; c++, p += pitch)
      data[c] = WHOLE ? load<16>(p) : load_few<ES>(p, left);
  }
  template <bool WHOLE>
  MT_INLINE void store_rows (char *p, int64_t pitch, int32_t left) const {
#pragma unroll
    for (int c = 0; c < N; c++, p += pitch) {
      if (WHOLE) store<16>(p, data[c]);
      else store_few<ES>(p, data[c], left);
    }
  }
  template <bool WHOLE> MT_INLINE void load_packed (const char *p, int32_t left) {
#pragma unroll
    for (int j = 0; j < N; j++, p += 512, left -= 32 * V)
      data[j] = WHOLE ? load<16>(p) : load_few<ES>(p, left);
  }
  template <bool WHOLE> MT_INLINE void store_packed (char *p, int32_t left) const {
#pragma unroll
    for (int j = 0; j < N; j++, p += 512, left -= 32 * V) {
      if (WHOLE) store<16>(p, data[j]);
      else store_few<ES>(p, data[j], left);
    }
  }

  MT_INLINE void weave () {
    weave_vectors from = *this;
#pragma unroll
    for (int k = 0; k < 4; k++) {
      uint32_t x[N], *o = &data[0].x + k * N;
#pragma unroll
      for (int c = 0; c < N; c++) x[c] = (&from.data[c].x)[k];
      woven<ES, N>::weave(o, x);
    }
  }
  MT_INLINE void part () {
    weave_vectors from = *this;
#pragma unroll
    for (int k = 0; k < 4; k++) {
      uint32_t o[N];
      woven<ES, N>::part(o, &from.data[0].x + k * N);
#pragma unroll
      for (int c = 0; c < N; c++) (&data[c].x)[k] = o[c];
    }
  }

  /* From a run of each lane to every 32nd vector of the warp, and back. */
  MT_INLINE void spread (uint4 *shared, int lane) {
#pragma unroll
    for (int j = 0; j < N; j++) shared[slot(lane * N + j)] = data[j];
    __syncwarp();
#pragma unroll
    for (int j = 0; j < N; j++) data[j] = shared[slot(lane + 32 * j)];
  }
  MT_INLINE void gather (uint4 *shared, int lane) {
#pragma unroll
    for (int j = 0; j < N; j++) shared[slot(lane + 32 * j)] = data[j];
    __syncwarp();
#pragma unroll
    for (int j = 0; j < N; j++) data[j] = shared[slot(lane * N + j)];
  }
};

/* Where a warp is: at the first of its units of each row, of which there are `left`. */
struct weave_place {
  const char *src;
  char *dst;
  int64_t pitch; /* from row to row, in bytes */
  int32_t left;
  bool packs; /* rows are read, packed is written */
};

template <int ES, int N, bool WHOLE>
MT_INLINE void move_woven (const weave_place &t, uint4 *shared) {
  constexpr int V = 16 / ES;
  const int lane = threadIdx.x % 32;
  weave_vectors<ES, N> v;
  if (t.packs) {
    v.template load_rows<WHOLE>(t.src + lane * 16, t.pitch, t.left - lane * V);
    v.weave();
    v.spread(shared, lane);
    v.template store_packed<WHOLE>(t.dst + lane * 16, t.left * N - lane * V);
  } else {
    v.template load_packed<WHOLE>(t.src + lane * 16, t.left * N - lane * V);
    v.gather(shared, lane);
    v.part();
    v.template store_rows<WHOLE>(t.dst + lane * 16, t.pitch, t.left - lane * V);
  }
}

/* Of a block's piece a warp takes an eighth. */
template <int ES, int N> MT_INLINE void copy_woven (const mt_launch &p, uint4 *shared) {
  const mt_desc &d = p.desc;
  const uint32_t piece = MT_INTERLEAVE_PIECE(ES, N), warp = threadIdx.x / 32;
  const uint32_t pieces = ((uint32_t)d.values + piece - 1) / piece;
  const uint32_t rest = blockIdx.x / pieces;
  const uint32_t w = (blockIdx.x - rest * pieces) * piece + warp * (piece / 8);
  const bool packs = d.axis[0].stride[MT_SRC] != (int64_t)d.vec;
  weave_place t;
  place at = {};
  sides side(p);
  if (w >= (uint32_t)d.values) return;
  walk_rest(at, d, rest);
  side.move(d, at);
  t.src = side.src + w * (packs ? ES : ES * N);
  t.dst = side.dst + w * (packs ? ES * N : ES);
  t.pitch = d.axis[0].stride[packs ? MT_SRC : MT_DST] * (int64_t)d.elem;
  t.left = (int32_t)((uint32_t)d.values - w);
  t.packs = packs;
  shared += warp * 32 * N;
  if (t.left >= (int32_t)piece / 8) move_woven<ES, N, true>(t, shared);
  else move_woven<ES, N, false>(t, shared);
}

} // namespace mt

#undef MT_INLINE
#endif
