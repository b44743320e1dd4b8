/*
** cast.cuh - copies that convert.
** SPDX-License-Identifier: MIT
**
** What becomes of an element says types/convert.h. S and D are the types of both sides.
** Of any types, known at run time, and what is swizzled go element by element, also by
** tiles: in shared memory each row is then 4 bytes longer, so that columns meet every
** bank once.
*/
#ifndef CAST_CUH
#define CAST_CUH

#include "kernels/cast/transpose.cuh"
#include "kernels/copy/swizzle.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* ------------------------------------------------------------------ STRIDED */

/* Accesses n, n + threads, ...: below 2^31. */
template <class S, class D, int VEC>
MT_INLINE void cast_group (const mt_launch &p, uint32_t n) {
  constexpr int ES = S::BYTES, ED = D::BYTES, UNROLL = MT_CAST_UNROLL;
  const uint32_t end = (uint32_t)p.desc.rests;
  uint32_t in[UNROLL][(VEC * ES + 3) / 4], out[(VEC * ED + 3) / 4];
  char *dst[UNROLL];
#pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    if (n + u * blockDim.x >= end) continue;
    place at = {};
    walk(at, p.desc, 0, p.desc.nrest, n + u * blockDim.x);
    const cast_sides s(p, at, ES, ED);
    load_words<VEC * ES>(in[u], s.src);
    dst[u] = s.dst;
  }
#pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    if (n + u * blockDim.x >= end) continue;
    convert_words<S, D, VEC>(out, in[u]);
    write_words<VEC * ED>(dst[u], out);
  }
}

/* Element number n, any number: lane by lane of the accesses. */
template <class S, class D> MT_INLINE void cast_one (const mt_launch &p, int64_t n) {
  const int64_t access = n / p.desc.vec, lane = n - access * p.desc.vec;
  uint32_t in[2], out[2];
  place at = {{lane, lane}};
  walk_far(at, p.desc, 0, p.desc.nrest, (uint64_t)access);
  const cast_sides s(p, at, S::BYTES, D::BYTES);
  load_words<S::BYTES>(in, s.src);
  convert_words<S, D, 1>(out, in);
  write_words<D::BYTES>(s.dst, out);
}

template <class S, class D, int VEC> MT_INLINE void cast_all (const mt_launch &p) {
  const int64_t group = (int64_t)MT_CAST_UNROLL * blockDim.x, all = gridDim.x * group;
#pragma unroll 1
  for (int64_t n = blockIdx.x * group + threadIdx.x; n < p.desc.rests; n += all)
    cast_group<S, D, VEC>(p, (uint32_t)n);
}

template <class S, class D> MT_INLINE void cast_strided (const mt_launch &p) {
  constexpr int most = 16 / (S::BYTES > D::BYTES ? S::BYTES : D::BYTES);
  const int64_t all = (int64_t)gridDim.x * blockDim.x, end = p.desc.rests * p.desc.vec;
  if (!far(p.desc)) {
    if (p.desc.vec == 1) cast_all<S, D, 1>(p);
    else cast_all<S, D, most>(p);
    return;
  }
#pragma unroll 1
  for (int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; n < end; n += all)
    cast_one<S, D>(p, n);
}

/* ------------------------------------------------------------------ STRIDED */

/* Accesses n, n + threads, ...: below 2^31. Where there is one axis, each lies as far
** behind the one before. */
template <int ES, int ED>
MT_INLINE void any_group (const mt_launch &p, const char *table, uint32_t n) {
  enum { UNROLL = MT_CAST_UNROLL, N = 16 / (ES > ED ? ES : ED) };
  const mt_desc &d = p.desc;
  const uint32_t end = (uint32_t)d.rests;
  const int64_t steps = d.nrest == 0 ? 0 : (int64_t)blockDim.x * d.axis[0].stride[MT_SRC];
  const int64_t stepd = d.nrest == 0 ? 0 : (int64_t)blockDim.x * d.axis[0].stride[MT_DST];
  static_assert(UNROLL % 2 == 0, "two accesses are converted at once");
  uint32_t in[UNROLL][4] = {};
  char *dst[UNROLL];
  place at = {};
  walk(at, d, 0, d.nrest, n);
#pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    if (n + u * blockDim.x >= end) continue;
    if (u > 0 && d.nrest > 1) {
      at = {};
      walk(at, d, 0, d.nrest, n + u * blockDim.x);
    }
    const cast_sides s(p, at, ES, ED);
    load_words<N * ES>(in[u], s.src);
    dst[u] = s.dst;
    at.side[MT_SRC] += steps, at.side[MT_DST] += stepd;
  }
#pragma unroll
  for (int u = 0; u < UNROLL; u += 2) {
    if (n + u * blockDim.x >= end) break;
    const two_accesses v = convert_both<ES, ED>(in[u], in[u + 1], d.cast, table);
    const uint32_t x[4] = {v.x.x, v.x.y, v.x.z, v.x.w};
    const uint32_t y[4] = {v.y.x, v.y.y, v.y.z, v.y.w};
    write_words<N * ED>(dst[u], x);
    if (n + (u + 1) * blockDim.x < end) write_words<N * ED>(dst[u + 1], y);
  }
}

/* Whole accesses between plain sides. */
MT_INLINE bool any_is_whole (const mt_desc &d) {
  return d.vec * (d.elem > d.to ? d.elem : d.to) == 16 && d.rests <= MT_FAR &&
         (d.swizzle[MT_SRC].mask | d.swizzle[MT_DST].mask) == 0;
}

template <int ES, int ED> MT_INLINE void any_groups (const mt_launch &p, char *table) {
  const int64_t group = (int64_t)MT_CAST_UNROLL * blockDim.x, all = gridDim.x * group;
  if (ES == 1) {
    make_table(table, p.desc.cast);
    __syncthreads();
  }
#pragma unroll 1
  for (int64_t n = blockIdx.x * group + threadIdx.x; n < p.desc.rests; n += all)
    any_group<ES, ED>(p, table, (uint32_t)n);
}

template <int ES> MT_INLINE void any_groups_from (const mt_launch &p, char *table) {
  switch (p.desc.to) {
    case 1: return any_groups<ES, 1>(p, table);
    case 2: return any_groups<ES, 2>(p, table);
    case 4: return any_groups<ES, 4>(p, table);
    default: return any_groups<ES, 8>(p, table);
  }
}

MT_INLINE void any_whole (const mt_launch &p) {
  __shared__ uint4 shared[MT_CAST_TABLE / 16];
  char *table = (char *)shared;
  switch (p.desc.elem) {
    case 1: return any_groups_from<1>(p, table);
    case 2: return any_groups_from<2>(p, table);
    case 4: return any_groups_from<4>(p, table);
    default: return any_groups_from<8>(p, table);
  }
}

/* ------------------------------------------------------------------ any elements */

MT_INLINE uint64_t load_element (const char *p, uint32_t bytes) {
  switch (bytes) {
    case 1: return load<1>(p);
    case 2: return load<2>(p);
    case 4: return load<4>(p);
    default: return load<8>(p).x | (uint64_t)load<8>(p).y << 32;
  }
}

MT_INLINE void store_element (char *p, uint32_t bytes, uint64_t bits) {
  switch (bytes) {
    case 1: return store<1>(p, (uint8_t)bits);
    case 2: return store<2>(p, (uint16_t)bits);
    case 4: return store<4>(p, (uint32_t)bits);
    default: return store<8>(p, make_uint2((uint32_t)bits, (uint32_t)(bits >> 32)));
  }
}

/* Bytes to element `lane` of an access, from the base of a side that may be swizzled. */
MT_INLINE int64_t any_bytes (const mt_launch &p, int side, const place &at, uint32_t lane,
                             uint32_t bytes) {
  const int64_t o = swizzle(p.desc.swizzle[side], p.offset[side] + at.side[side] + lane);
  return (p.origin[side] + o) * bytes;
}

/* Rounded another way than to the nearest: called, since it is long and seldom, and would
** take registers from all casts. */
static __device__ __noinline__ uint64_t rounded_bits (uint64_t bits, mt_cast_type from,
                                                      mt_cast_type to,
                                                      mt_rounding rounding) {
  return mt_cast_rounded_bits(bits, from, to, rounding);
}

/* Two types and how one becomes the other: to the nearest, or ROUNDED another way. */
template <bool ROUNDED> struct any_cast {
  mt_cast_type from, to;
  mt_rounding rounding;
  MT_INLINE any_cast (uint32_t cast)
      : from(mt_cast_type_of(MT_CAST_SRC(cast))), to(mt_cast_type_of(MT_CAST_DST(cast))),
        rounding(MT_CAST_ROUNDING(cast)) {}
  MT_INLINE uint64_t of (uint64_t bits) const {
    if (!ROUNDED) return mt_cast_bits(bits, from, to);
    return rounded_bits(bits, from, to, rounding);
  }
};

/* Element `lane` of the access at a place. */
template <bool ROUNDED> struct any_types {
  any_cast<ROUNDED> cast;
  MT_INLINE any_types (const mt_desc &d) : cast(d.cast) {}
  MT_INLINE void move (const mt_launch &p, const place &at, uint32_t lane) const {
    const mt_desc &d = p.desc;
    const int64_t s = any_bytes(p, MT_SRC, at, lane, d.elem);
    const uint64_t bits = load_element((const char *)p.base[MT_SRC] + s, d.elem);
    store_element((char *)p.base[MT_DST] + any_bytes(p, MT_DST, at, lane, d.to), d.to,
                  cast.of(bits));
  }
};

template <bool ROUNDED> MT_INLINE void cast_any (const mt_launch &p) {
  const mt_desc &d = p.desc;
  const any_types<ROUNDED> types(d);
  const int64_t all = (int64_t)gridDim.x * blockDim.x, end = d.rests * d.vec;
#pragma unroll 1
  for (int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; n < end; n += all) {
    const int64_t access = n / d.vec;
    place at = {};
    if (far(d)) walk_far(at, d, 0, d.nrest, (uint64_t)access);
    else walk(at, d, 0, d.nrest, (uint32_t)access);
    types.move(p, at, (uint32_t)(n - access * d.vec));
  }
}

/* All values of a thread, with bounds; an access is one element. */
template <bool ROUNDED>
MT_INLINE void any_values (const mt_launch &p, const any_types<ROUNDED> &types,
                           const place &corner, const ordinates &edge) {
  const mt_desc &d = p.desc;
  const ordinates none = {};
#pragma unroll 1
  for (uint32_t v = 0; v < (uint32_t)d.values; v++) {
    place at = corner;
    ordinates o = edge;
    walk_val(at, d, v);
    walk_val(o, d, v);
    if (fits(d, o, room(d, none), 0)) types.move(p, at, 0);
  }
}

template <bool ROUNDED> MT_INLINE void cast_any_described (const mt_launch &p) {
  const mt_desc &d = p.desc;
  const any_types<ROUNDED> types(d);
  if (threadIdx.x >= d.threads) return;
#pragma unroll 1
  for (int64_t n = blockIdx.x; n < d.rests; n += gridDim.x) {
    place corner = {};
    ordinates edge = {};
    walk_thr(corner, d, threadIdx.x);
    walk_thr(edge, d, threadIdx.x);
    walk_rest(corner, d, n);
    walk_rest(edge, d, n);
    any_values(p, types, corner, edge);
  }
}

/* ------------------------------------------------------------------ any tile */

/* Types known at run time, element by element: tiles do not overlap. */
template <bool ROUNDED> struct any_tile {
  any_cast<ROUNDED> cast;
  int s, d, em, pitch; /* elements, bytes, bytes from row to row */
  MT_INLINE any_tile (const mt_desc &desc)
      : cast(desc.cast), s(MT_CAST_TRANSPOSE_S(desc.elem, desc.to)),
        d(MT_CAST_TRANSPOSE_D(desc.elem, desc.to)),
        em(desc.elem < desc.to ? desc.elem : desc.to) {
    if (desc.algo == MT_ALGO_TRANSPOSE_UNALIGNED) {
      s = MT_CAST_TRANSPOSE_UNALIGNED_S(desc.elem, desc.to);
      d = MT_CAST_TRANSPOSE_UNALIGNED_D(desc.elem, desc.to);
    }
    pitch = s * em + (em < 4 ? 4 : em);
  }
};

/* Element by element of shared memory. */
MT_INLINE uint64_t read_element (const char *p, int bytes) {
  if (bytes == 1) return *(const uint8_t *)p;
  if (bytes == 2) return *(const uint16_t *)p;
  if (bytes == 4) return *(const uint32_t *)p;
  return ((const uint32_t *)p)[0] | (uint64_t)((const uint32_t *)p)[1] << 32;
}

template <bool ROUNDED>
MT_INLINE void any_load (const mt_desc &d, const any_tile<ROUNDED> &a,
                         const cast_place &t, char *tile) {
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int r = threadIdx.x / 32; r < a.d && t.d + r < (int32_t)d.values; r += 8) {
    const int64_t at = cast_row<false>(d, MT_SRC, d.nthr, d.nval, t.d + r) + t.s;
    const char *row = t.src + at * d.elem;
#pragma unroll 1
    for (int c = lane; c < a.s; c += 32) {
      if (t.s + c >= (int32_t)d.threads) break;
      uint64_t bits = load_element(row + (int64_t)c * d.elem, d.elem);
      if (d.elem > d.to) bits = a.cast.of(bits);
      store_element(tile + r * a.pitch + c * a.em, a.em, bits);
    }
  }
}

template <bool ROUNDED>
MT_INLINE void any_store (const mt_desc &d, const any_tile<ROUNDED> &a,
                          const cast_place &t, const char *tile) {
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int c = threadIdx.x / 32; c < a.s && t.s + c < (int32_t)d.threads; c += 8) {
    const int64_t at = cast_row<false>(d, MT_DST, 0, d.nthr, t.s + c) + t.d;
    char *row = t.dst + at * d.to;
#pragma unroll 1
    for (int r = lane; r < a.d; r += 32) {
      if (t.d + r >= (int32_t)d.values) break;
      uint64_t bits = read_element(tile + r * a.pitch + c * a.em, a.em);
      if (d.elem <= d.to) bits = a.cast.of(bits);
      store_element(row + (int64_t)r * d.to, d.to, bits);
    }
  }
}

template <bool ROUNDED> MT_INLINE void cast_any_transpose (const mt_launch &p) {
  enum { MOST = 128 * (128 + 4) }; /* bytes, of the largest tile of two types */
  __shared__ uint4 shared[MOST / 16];
  const any_tile<ROUNDED> a(p.desc);
  const cast_place t(p, (int)p.desc.elem, (int)p.desc.to, a.s, a.d);
  any_load(p.desc, a, t, (char *)shared);
  __syncthreads();
  any_store(p.desc, a, t, (const char *)shared);
}

/* ------------------------------------------------------------------ all algorithms */

/* Whole accesses between plain sides, or element by element. */
template <bool ROUNDED> MT_INLINE void cast_any_strided (const mt_launch &p) {
  if (!ROUNDED && any_is_whole(p.desc)) any_whole(p);
  else cast_any<ROUNDED>(p);
}

template <class T> struct is_rounded {
  enum { value = 0 };
};
template <> struct is_rounded<rounded_number> {
  enum { value = 1 };
};

template <int ALGO, class SRC, class DST> MT_INLINE void cast (const mt_launch &p) {
  constexpr bool ROUNDED = is_rounded<DST>::value;
  begin();
  if constexpr (ALGO == MT_ALGO_DESCRIBED) cast_any_described<ROUNDED>(p);
  else if constexpr (SRC::BYTES == 0 && ALGO == MT_ALGO_STRIDED)
    cast_any_strided<ROUNDED>(p);
  else if constexpr (SRC::BYTES == 0) cast_any_transpose<ROUNDED>(p);
  else if constexpr (ALGO == MT_ALGO_STRIDED) cast_strided<SRC, DST>(p);
  else cast_tile<cast_tile_of<SRC, DST, ALGO == MT_ALGO_TRANSPOSE_UNALIGNED>>(p);
}

} // namespace mt

#undef MT_INLINE
#endif
