/*
** cast.cuh - copies that convert, FLAT and by tiles.
** SPDX-License-Identifier: MIT
**
** What becomes of an element says mt_cast.h. S and D are the types of both sides. Tiles
** hold elements of the narrower type, so that a type that is wider than the other is
** never in shared memory. Rows of a tile are runs of the source; TILE reads and writes
** them in vectors of 16 bytes, laid out as in tile.cuh. SHEAR goes element by element,
** for rows that begin anywhere: in the tile each is 4 bytes longer, so that columns meet
** every bank once. What is swizzled goes element by element, its types known at run time.
*/
#ifndef CAST_CUH
#define CAST_CUH

#include "convert.cuh"
#include "swizzle.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* ------------------------------------------------------------------ FLAT */

/* Where an access is, on both sides, of elements of these sizes. */
struct cast_sides {
  const char *src;
  char *dst;
  MT_INLINE cast_sides (const mt_launch &p, const place &at, int es, int ed)
      : src((const char *)p.base[MT_SRC] + (p.offset[MT_SRC] + at.side[MT_SRC]) * es),
        dst((char *)p.base[MT_DST] + (p.offset[MT_DST] + at.side[MT_DST]) * ed) {}
};

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

template <class S, class D> MT_INLINE void cast_flat (const mt_launch &p) {
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

/* ------------------------------------------------------------------ any types */

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
  const int64_t o = flip(p.desc.flip[side], p.offset[side] + at.side[side] + lane);
  return (p.origin[side] + o) * bytes;
}

/* Element `lane` of the access at a place. */
struct any_types {
  mt_cast_type from, to;
  MT_INLINE any_types (const mt_desc &d)
      : from(mt_cast_type_of(MT_CAST_SRC(d.cast))),
        to(mt_cast_type_of(MT_CAST_DST(d.cast))) {}
  MT_INLINE void move (const mt_launch &p, const place &at, uint32_t lane) const {
    const mt_desc &d = p.desc;
    const int64_t s = any_bytes(p, MT_SRC, at, lane, d.elem);
    const uint64_t bits = load_element((const char *)p.base[MT_SRC] + s, d.elem);
    store_element((char *)p.base[MT_DST] + any_bytes(p, MT_DST, at, lane, d.to), d.to,
                  mt_cast_bits(bits, from, to));
  }
};

MT_INLINE void cast_any (const mt_launch &p) {
  const mt_desc &d = p.desc;
  const any_types types(d);
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
MT_INLINE void any_values (const mt_launch &p, const any_types &types,
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

MT_INLINE void cast_any_tv (const mt_launch &p) {
  const mt_desc &d = p.desc;
  const any_types types(d);
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

/* ------------------------------------------------------------------ tiles */

template <class SRC, class DST> struct cast_tile_of {
  enum {
    ES = SRC::BYTES, ED = DST::BYTES, EM = ES < ED ? ES : ED,
    S = MT_CAST_TILE_S(ES, ED), D = MT_CAST_TILE_D(ES, ED),
    VS = 16 / ES, VD = 16 / ED,         /* elements of a vector */
    EACH = S / VS,                      /* vectors of a row of the source */
    ROWS = 256 / EACH,                  /* that a block reads at once */
    ROUNDS = D / ROWS,
    CHUNK = VS * EM,                    /* bytes of a vector in the tile */
    LINE = S * EM / 16,                 /* pieces of 16 bytes of a row of the tile */
    U = EM < 4 ? 4 : EM,                /* bytes that are read at once */
    W = U / EM,                         /* rows of the destination from these */
    GROUPS = D / VD / 8,
    TURNS = GROUPS * (S * EM / U) / 4,  /* of all warps */
    PITCH = S * EM + (EM < 4 ? 4 : EM), /* SHEAR: bytes from row to row */
    BYTES = D * PITCH
  };
};

struct cast_place {
  const char *src;
  char *dst;
  int32_t s, d;                         /* the first elements of the tile */
};

template <class T> MT_INLINE cast_place cast_place_of (const mt_launch &p) {
  const mt_desc &d = p.desc;
  const mt_raster &r = d.raster;
  const uint32_t q1 = blockIdx.x >> r.log;
  const uint32_t q2 = divide_by(q1, r.along, r.along_mul, r.along_shift);
  const uint32_t rest = divide_by(q2, r.across, r.across_mul, r.across_shift);
  const uint32_t s = (q2 - rest * r.across << r.log) + (blockIdx.x & ((1u << r.log) - 1));
  place at = {};
  if (d.nrest != 0) walk(at, d, d.nthr + d.nval, d.nthr + d.nval + d.nrest, rest);
  const cast_sides side(p, at, T::ES, T::ED);
  return {side.src, side.dst, (int32_t)(s * T::S),
          (int32_t)((q1 - q2 * r.along) * T::D)};
}

/* The offset of index n of the axes from i on, in elements. SINGLE: there is one. */
template <bool SINGLE>
MT_INLINE int64_t cast_row (const mt_desc &d, int side, uint32_t i, uint32_t count,
                            uint32_t n) {
  if (SINGLE) return n * d.axis[i].stride[side];
  int64_t sum = 0;
#pragma unroll 1
  for (uint32_t end = i + count; i < end; i++) {
    const uint32_t q = i + 1 < end ? divide(n, d.axis[i]) : 0;
    sum += (n - q * (uint32_t)d.axis[i].extent) * d.axis[i].stride[side];
    n = q;
  }
  return sum;
}

/* Row n of the source, from element s on. */
template <class T, bool SINGLE>
MT_INLINE const char *source_row (const mt_desc &d, const cast_place &t, int32_t n,
                                  int32_t s) {
  const uint32_t first = SINGLE ? 1 : d.nthr;
  return t.src +
         (cast_row<SINGLE>(d, MT_SRC, first, d.nval, (uint32_t)n) + s) * T::ES;
}

/* Row s of the destination, from element n on. */
template <class T, bool SINGLE>
MT_INLINE char *target_row (const mt_desc &d, const cast_place &t, int32_t s, int32_t n) {
  return t.dst + (cast_row<SINGLE>(d, MT_DST, 0, d.nthr, (uint32_t)s) + n) * T::ED;
}

/* The place of 16 bytes in the tile: piece c of row r. */
template <class T> MT_INLINE int cast_slot (int r, int c) {
  return (r * T::LINE + c) ^ (r / T::VD & 7);
}

/* WHOLE: all that the tile has is real, and both runs have one axis. */
template <class SRC, class DST, bool WHOLE>
MT_INLINE void cast_load (const mt_launch &p, const cast_place &t, char *tile) {
  typedef cast_tile_of<SRC, DST> T;
  const int32_t ends = (int32_t)p.desc.threads, endd = (int32_t)p.desc.values;
  const int c = threadIdx.x % T::EACH, r0 = threadIdx.x / T::EACH;
  const int32_t s = t.s + c * T::VS;
  const char *row[T::ROUNDS];
  uint4 data[T::ROUNDS];
#pragma unroll
  for (int k = 0; k < T::ROUNDS; k++) {
    const int32_t n = t.d + r0 + k * T::ROWS;
    row[k] = NULL;
    if (WHOLE || (n < endd && s < ends)) row[k] = source_row<T, WHOLE>(p.desc, t, n, s);
  }
#pragma unroll
  for (int k = 0; k < T::ROUNDS; k++)
    if (WHOLE) data[k] = load<16>(row[k]);
    else if (row[k] != NULL) data[k] = load_units<T::ES>(row[k], s, ends);
#pragma unroll
  for (int k = 0; k < T::ROUNDS; k++) {
    const int at = c * T::CHUNK, r = r0 + k * T::ROWS;
    char *to = tile + cast_slot<T>(r, at / 16) * 16 + at % 16;
    if constexpr (T::ES > T::ED) {
      uint32_t out[(T::CHUNK + 3) / 4];
      convert_words<SRC, DST, T::VS>(out, &data[k].x);
      write_words<T::CHUNK>(to, out);
    } else *(uint4 *)to = data[k];
  }
}

/* VD words, of rows one behind the other -> W vectors along d. */
template <class SRC, class DST>
MT_INLINE void cast_turn (uint4 *out, const uint32_t *x) {
  typedef cast_tile_of<SRC, DST> T;
  if constexpr (T::ES > T::ED && T::ED <= 2) turned<T::ED>::of(out, x);
  else {
#pragma unroll
    for (int j = 0; j < T::W; j++) {
      out[j] = make_uint4(0, 0, 0, 0);
#pragma unroll
      for (int i = 0; i < T::VD; i++) {
        const uint64_t bits = get_element<T::EM>(x + i * (T::U / 4), j);
        put_element<T::ED>(&out[j].x, i, T::ES > T::ED ? bits : convert<SRC, DST>(bits));
      }
    }
  }
}

template <class SRC, class DST, bool WHOLE>
MT_INLINE void cast_store (const mt_launch &p, const cast_place &t, const char *tile) {
  typedef cast_tile_of<SRC, DST> T;
  const mt_desc &d = p.desc;
  const int v = threadIdx.x % 8, q = threadIdx.x / 8 % 4;
#pragma unroll
  for (int turn = threadIdx.x / 32; turn < T::TURNS; turn += 8) {
    const int vector = turn % T::GROUPS * 8 + v;
    const int at = (turn / T::GROUPS * 4 + q) * T::U;   /* bytes of a row */
    const int32_t s = t.s + at / T::EM, n = t.d + vector * T::VD;
    uint32_t x[T::VD * T::U / 4];
    uint4 out[T::W];
#pragma unroll
    for (int i = 0; i < T::VD; i++)
      read_words<T::U>(x + i * (T::U / 4),
                       tile + cast_slot<T>(vector * T::VD + i, at / 16) * 16 + at % 16);
    cast_turn<SRC, DST>(out, x);
#pragma unroll
    for (int j = 0; j < T::W; j++) {
      if (WHOLE) store<16>(target_row<T, true>(d, t, s + j, n), out[j]);
      else if (s + j < (int32_t)d.threads && n < (int32_t)d.values)
        store_units<T::ED>(target_row<T, false>(d, t, s + j, n), out[j], n,
                           (int32_t)d.values);
    }
  }
}

template <class SRC, class DST>
MT_INLINE void cast_load_each (const mt_launch &p, const cast_place &t, char *tile) {
  typedef cast_tile_of<SRC, DST> T;
  const mt_desc &d = p.desc;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  constexpr int N = 16 / (T::S / 32);   /* rows at once */
#pragma unroll 1
  for (int r0 = warp; r0 < T::D; r0 += 8 * N) {
    uint32_t in[16][T::ES == 8 ? 2 : 1];
#pragma unroll
    for (int k = 0; k < 16; k++) {
      const int32_t n = t.d + r0 + k / (T::S / 32) * 8;
      const int32_t s = t.s + lane + k % (T::S / 32) * 32;
      if (n < (int32_t)d.values && s < (int32_t)d.threads)
        load_words<T::ES>(in[k], source_row<T, false>(d, t, n, s));
    }
#pragma unroll
    for (int k = 0; k < 16; k++) {
      uint32_t out[2];
      char *to = tile + (r0 + k / (T::S / 32) * 8) * T::PITCH +
                 (lane + k % (T::S / 32) * 32) * T::EM;
      if constexpr (T::ES > T::ED) convert_words<SRC, DST, 1>(out, in[k]);
      write_words<T::EM>(to, T::ES > T::ED ? out : in[k]);
    }
  }
}

template <class SRC, class DST>
MT_INLINE void cast_store_each (const mt_launch &p, const cast_place &t,
                                const char *tile) {
  typedef cast_tile_of<SRC, DST> T;
  const mt_desc &d = p.desc;
  const int lane = threadIdx.x % 32;
#pragma unroll 4
  for (int r = threadIdx.x / 32; r < T::S; r += 8) {
    const int32_t s = t.s + r;
    if (s >= (int32_t)d.threads) break;
    char *row = target_row<T, false>(d, t, s, t.d);
#pragma unroll
    for (int k = 0; k < T::D / 32; k++) {
      const int n = lane + 32 * k;
      uint32_t in[2], out[2];
      read_words<T::EM>(in, tile + n * T::PITCH + r * T::EM);
      if constexpr (T::ES <= T::ED) convert_words<SRC, DST, 1>(out, in);
      if (t.d + n < (int32_t)d.values)
        write_words<T::ED>(row + (int64_t)n * T::ED, T::ES > T::ED ? in : out);
    }
  }
}

template <class SRC, class DST, bool SHEAR>
MT_INLINE void cast_tile (const mt_launch &p) {
  typedef cast_tile_of<SRC, DST> T;
  const mt_desc &d = p.desc;
  __shared__ uint4 shared[(T::BYTES + 15) / 16];
  char *tile = (char *)shared;
  const cast_place t = cast_place_of<T>(p);
  if constexpr (SHEAR) {
    cast_load_each<SRC, DST>(p, t, tile);
    __syncthreads();
    cast_store_each<SRC, DST>(p, t, tile);
  } else if (d.nthr == 1 && d.nval == 1 && t.s + T::S <= (int32_t)d.threads &&
             t.d + T::D <= (int32_t)d.values) {
    cast_load<SRC, DST, true>(p, t, tile);
    __syncthreads();
    cast_store<SRC, DST, true>(p, t, tile);
  } else {
    cast_load<SRC, DST, false>(p, t, tile);
    __syncthreads();
    cast_store<SRC, DST, false>(p, t, tile);
  }
}

/* ------------------------------------------------------------------ any tile */

/* Types known at run time, element by element: tiles as of SHEAR. */
struct any_tile {
  mt_cast_type from, to;
  int s, d, em, pitch;                  /* elements, bytes, bytes from row to row */
  MT_INLINE any_tile (const mt_desc &d)
      : from(mt_cast_type_of(MT_CAST_SRC(d.cast))),
        to(mt_cast_type_of(MT_CAST_DST(d.cast))),
        s(MT_CAST_TILE_S(d.elem, d.to)), d(MT_CAST_TILE_D(d.elem, d.to)),
        em(d.elem < d.to ? d.elem : d.to), pitch(s * em + (em < 4 ? 4 : em)) {}
};

MT_INLINE cast_place any_place_of (const mt_launch &p, const any_tile &a) {
  const mt_desc &d = p.desc;
  const mt_raster &r = d.raster;
  const uint32_t q1 = blockIdx.x >> r.log;
  const uint32_t q2 = divide_by(q1, r.along, r.along_mul, r.along_shift);
  const uint32_t rest = divide_by(q2, r.across, r.across_mul, r.across_shift);
  const uint32_t s = (q2 - rest * r.across << r.log) + (blockIdx.x & ((1u << r.log) - 1));
  place at = {};
  if (d.nrest != 0) walk(at, d, d.nthr + d.nval, d.nthr + d.nval + d.nrest, rest);
  const cast_sides side(p, at, d.elem, d.to);
  return {side.src, side.dst, (int32_t)s * a.s, (int32_t)(q1 - q2 * r.along) * a.d};
}

/* Element by element of shared memory. */
MT_INLINE uint64_t read_element (const char *p, int bytes) {
  if (bytes == 1) return *(const uint8_t *)p;
  if (bytes == 2) return *(const uint16_t *)p;
  if (bytes == 4) return *(const uint32_t *)p;
  return ((const uint32_t *)p)[0] | (uint64_t)((const uint32_t *)p)[1] << 32;
}

MT_INLINE void any_load (const mt_desc &d, const any_tile &a, const cast_place &t,
                         char *tile) {
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int r = threadIdx.x / 32; r < a.d && t.d + r < (int32_t)d.values; r += 8) {
    const int64_t at = cast_row<false>(d, MT_SRC, d.nthr, d.nval, t.d + r) + t.s;
    const char *row = t.src + at * d.elem;
#pragma unroll 1
    for (int c = lane; c < a.s; c += 32) {
      if (t.s + c >= (int32_t)d.threads) break;
      uint64_t bits = load_element(row + (int64_t)c * d.elem, d.elem);
      if (d.elem > d.to) bits = mt_cast_bits(bits, a.from, a.to);
      store_element(tile + r * a.pitch + c * a.em, a.em, bits);
    }
  }
}

MT_INLINE void any_store (const mt_desc &d, const any_tile &a, const cast_place &t,
                          const char *tile) {
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int c = threadIdx.x / 32; c < a.s && t.s + c < (int32_t)d.threads; c += 8) {
    const int64_t at = cast_row<false>(d, MT_DST, 0, d.nthr, t.s + c) + t.d;
    char *row = t.dst + at * d.to;
#pragma unroll 1
    for (int r = lane; r < a.d; r += 32) {
      if (t.d + r >= (int32_t)d.values) break;
      uint64_t bits = read_element(tile + r * a.pitch + c * a.em, a.em);
      if (d.elem <= d.to) bits = mt_cast_bits(bits, a.from, a.to);
      store_element(row + (int64_t)r * d.to, d.to, bits);
    }
  }
}

MT_INLINE void cast_any_tile (const mt_launch &p) {
  enum { MOST = 128 * (128 + 4) };      /* the largest tile of two types */
  __shared__ uint4 shared[MOST / 16];
  const any_tile a(p.desc);
  const cast_place t = any_place_of(p, a);
  any_load(p.desc, a, t, (char *)shared);
  __syncthreads();
  any_store(p.desc, a, t, (const char *)shared);
}

/* ------------------------------------------------------------------ all forms */

template <int FORM, class SRC, class DST> MT_INLINE void cast (const mt_launch &p) {
  begin();
  if constexpr (FORM == MT_FORM_TV) cast_any_tv(p);
  else if constexpr (SRC::BYTES == 0 && FORM == MT_FORM_FLAT) cast_any(p);
  else if constexpr (SRC::BYTES == 0) cast_any_tile(p);
  else if constexpr (FORM == MT_FORM_FLAT) cast_flat<SRC, DST>(p);
  else cast_tile<SRC, DST, FORM == MT_FORM_SHEAR>(p);
}

} // namespace mt

#undef MT_INLINE
#endif
