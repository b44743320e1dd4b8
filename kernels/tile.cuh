/*
** tile.cuh - copies whose runs lie along different axes: tiles through shared memory.
** SPDX-License-Identifier: MIT
**
** A unit is an access of ES bytes. The thread axes of the descriptor are a run of the
** source (index s: s units on), the value axes a run of the destination (index d); the
** others are outer. A block moves a tile of S x D units: rows along s are read in
** vectors of 16 bytes, V units each, and rows along d are written in vectors.
**
** Shared memory holds the tile by rows of the source; chunk c of row r lies at
** c ^ (r / V % 8). A warp that reads the same word of V rows for each of 8 vectors along
** d, and of 4 neighbouring words along s, meets every bank once.
**
** TILE: all rows of both sides begin at multiples of 16 bytes. SHEAR: they begin
** anywhere. Then vectors are read at the multiples of 16 before and behind and shifted,
** and a row is written in those vectors that are aligned in it, each put together from
** two of the tile: one vector along s, and of every 8 along d one, is for its neighbours
** only, and the tiles overlap by these.
*/
#ifndef TILE_CUH
#define TILE_CUH

#include "copy.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* ------------------------------------------------------------------ vectors */

template <int ES> MT_INLINE void put_unit (uint4 &v, int i, const char *p) {
  uint32_t *w = &v.x;
  if (ES == 1) w[i / 4] |= (uint32_t)load<1>(p) << 8 * (i % 4);
  if (ES == 2) w[i / 2] |= (uint32_t)load<2>(p) << 16 * (i % 2);
  if (ES == 4) w[i] = load<4>(p);
  if (ES == 8) w[2 * i] = load<8>(p).x, w[2 * i + 1] = load<8>(p).y;
  if (ES == 16) v = load<16>(p);
}

template <int ES> MT_INLINE void store_unit (char *p, const uint4 &v, int i) {
  const uint32_t *w = &v.x;
  if (ES == 1) store<1>(p, (uint8_t)(w[i / 4] >> 8 * (i % 4)));
  if (ES == 2) store<2>(p, (uint16_t)(w[i / 2] >> 16 * (i % 2)));
  if (ES == 4) store<4>(p, w[i]);
  if (ES == 8) store<8>(p, make_uint2(w[2 * i], w[2 * i + 1]));
  if (ES == 16) store<16>(p, v);
}

/* The units of the vector at p whose numbers, from `first` on, lie in [0, end). */
template <int ES>
MT_INLINE uint4 load_units (const char *p, int32_t first, int32_t end) {
  uint4 v = {0, 0, 0, 0};
  if (first >= 0 && first + 16 / ES <= end) return load<16>(p);
#pragma unroll
  for (int i = 0; i < 16 / ES; i++)
    if (first + i >= 0 && first + i < end) put_unit<ES>(v, i, p + i * ES);
  return v;
}

template <int ES>
MT_INLINE void store_units (char *p, const uint4 &v, int32_t first, int32_t end) {
  if (first >= 0 && first + 16 / ES <= end) return store<16>(p, v);
#pragma unroll
  for (int i = 0; i < 16 / ES; i++)
    if (first + i >= 0 && first + i < end) store_unit<ES>(p + i * ES, v, i);
}

/* The 16 bytes from byte m on, 0 <= m < 16, a multiple of ES, of a and b behind it. */
template <int ES> MT_INLINE uint4 window (const uint4 &a, const uint4 &b, uint32_t m) {
  uint32_t w0 = a.x, w1 = a.y, w2 = a.z, w3 = a.w, w4 = b.x, w5 = b.y, w6 = b.z;
  uint32_t bits = 8 * (m & 3);
  if (m & 8) w0 = w2, w1 = w3, w2 = w4, w3 = w5, w4 = w6, w5 = b.w;
  if (ES < 8 && m & 4) w0 = w1, w1 = w2, w2 = w3, w3 = w4, w4 = w5;
  if (ES >= 4) return make_uint4(w0, w1, w2, w3);
  return make_uint4(__funnelshift_r(w0, w1, bits), __funnelshift_r(w1, w2, bits),
                    __funnelshift_r(w2, w3, bits), __funnelshift_r(w3, w4, bits));
}

MT_INLINE uint4 from_next (const uint4 &v, int width) {
  return make_uint4(__shfl_down_sync(~0u, v.x, 1, width),
                    __shfl_down_sync(~0u, v.y, 1, width),
                    __shfl_down_sync(~0u, v.z, 1, width),
                    __shfl_down_sync(~0u, v.w, 1, width));
}

/* ------------------------------------------------------------------ rows */

/* Where the rows of a run begin: index n of its axes on the other side, in bytes. Most
** runs have one axis: SINGLE. */
template <bool SINGLE> struct row_walk {
  uint32_t first, end;
  int64_t step;                         /* of one index of a single axis */
  MT_INLINE row_walk (const mt_desc &d, int side, uint32_t i, uint32_t count)
      : first(i), end(i + count), step(d.axis[i].stride[side] * (int64_t)d.elem) {}
  MT_INLINE int64_t at (const mt_desc &d, int side, uint32_t n) const {
    if (SINGLE) return n * step;
    int64_t sum = 0;
#pragma unroll 1
    for (uint32_t i = first; i < end; i++) {
      uint32_t q = i + 1 < end ? divide(n, d.axis[i]) : 0;
      sum += (n - q * (uint32_t)d.axis[i].extent) * d.axis[i].stride[side];
      n = q;
    }
    return sum * (int64_t)d.elem;
  }
};

/* The buffer of a side: nothing outside is touched. */
struct memory {
  const char *low, *high;
  MT_INLINE memory (const mt_launch &p, int side)
      : low((const char *)p.base[side]), high(low + p.size[side]) {}
};

/* The 16 bytes at p, a multiple of 16, as far as they lie in the buffer. */
template <int ES> MT_INLINE uint4 load_raw (const char *p, const memory &m) {
  uint4 v = {0, 0, 0, 0};
  if (p >= m.low && p + 16 <= m.high) return load<16>(p);
#pragma unroll
  for (int i = 0; i < 16 / ES; i++)
    if (p + i * ES >= m.low && p + (i + 1) * ES <= m.high) put_unit<ES>(v, i, p + i * ES);
  return v;
}

/* ------------------------------------------------------------------ shared memory */

template <int ES> struct tile_of {
  enum {
    V = 16 / ES,                        /* units of a vector */
    S = MT_TILE_S(ES), D = MT_TILE_D(ES),
    CHUNKS = S * ES / 16,               /* of a row */
    ROWS = 256 / CHUNKS,                /* that a block reads at once */
    ROUNDS = D / ROWS,
    U = ES < 4 ? 4 : ES,                /* bytes that are read at once */
    W = U / ES,                         /* rows of the destination from these */
    GROUPS = D / V / 8,
    TURNS = GROUPS * (S * ES / U) / 32  /* of a warp */
  };
};

template <int U> struct shared_word;
template <> struct shared_word<4> { typedef uint32_t type; };
template <> struct shared_word<8> { typedef uint2 type; };
template <> struct shared_word<16> { typedef uint4 type; };

/* V words of U bytes, of rows one behind the other -> W vectors along d. */
template <int ES> struct turned;
template <> struct turned<1> {
  static MT_INLINE void of (uint4 *out, const uint32_t *x) {
    uint32_t *o = &out[0].x;
#pragma unroll
    for (int w = 0; w < 4; w++, x += 4) {
      uint32_t a = __byte_perm(x[0], x[1], 0x5140), b = __byte_perm(x[2], x[3], 0x5140);
      uint32_t c = __byte_perm(x[0], x[1], 0x7362), e = __byte_perm(x[2], x[3], 0x7362);
      o[w] = __byte_perm(a, b, 0x5410);
      o[w + 4] = __byte_perm(a, b, 0x7632);
      o[w + 8] = __byte_perm(c, e, 0x5410);
      o[w + 12] = __byte_perm(c, e, 0x7632);
    }
  }
};
template <> struct turned<2> {
  static MT_INLINE void of (uint4 *out, const uint32_t *x) {
    uint32_t *o = &out[0].x;
#pragma unroll
    for (int w = 0; w < 4; w++) {
      o[w] = __byte_perm(x[2 * w], x[2 * w + 1], 0x5410);
      o[w + 4] = __byte_perm(x[2 * w], x[2 * w + 1], 0x7632);
    }
  }
};
template <> struct turned<4> {
  static MT_INLINE void of (uint4 *out, const uint32_t *x) {
    *out = make_uint4(x[0], x[1], x[2], x[3]);
  }
};
template <> struct turned<8> {
  static MT_INLINE void of (uint4 *out, const uint2 *x) {
    *out = make_uint4(x[0].x, x[0].y, x[1].x, x[1].y);
  }
};
template <> struct turned<16> {
  static MT_INLINE void of (uint4 *out, const uint4 *x) { *out = *x; }
};

/* ------------------------------------------------------------------ tiles */

/* Where a block is. */
struct tile_place {
  const char *src;
  char *dst;
  int32_t s, d;                         /* the first units of the tile */
};

template <int ES, bool SHEAR> MT_INLINE tile_place place_of (const mt_launch &p) {
  typedef tile_of<ES> T;
  const mt_desc &d = p.desc;
  const mt_raster &r = d.raster;
  const uint32_t q1 = blockIdx.x >> r.log;
  const uint32_t q2 = divide_by(q1, r.along, r.along_mul, r.along_shift);
  const uint32_t rest = divide_by(q2, r.across, r.across_mul, r.across_shift);
  const uint32_t s = (q2 - rest * r.across << r.log) + (blockIdx.x & ((1u << r.log) - 1));
  tile_place t;
  t.s = (int32_t)(s * (SHEAR ? MT_SHEAR_S(ES) : T::S));
  t.d = (int32_t)((q1 - q2 * r.along) * (SHEAR ? MT_SHEAR_D(ES) : T::D)) -
        (SHEAR ? T::V : 0);
  sides side(p);
  if (d.nrest != 0) {
    place at = {};
    walk(at, d, d.nthr + d.nval, d.nthr + d.nval + d.nrest, rest);
    side.move(d, at);
  }
  t.src = side.src;
  t.dst = side.dst;
  return t;
}

/* The vectors of a thread, of rows one behind the other. */
template <int ES, bool SINGLE> struct tile_rows {
  typedef tile_of<ES> T;
  uint4 data[T::ROUNDS];
  const char *row[T::ROUNDS];           /* NULL: not real */
  int32_t s;                            /* its first unit */

  /* WHOLE: all rows are real. */
  template <bool WHOLE> MT_INLINE void find (const mt_desc &d, const tile_place &t) {
    const row_walk<SINGLE> rows(d, MT_SRC, d.nthr, d.nval);
    s = t.s + (int32_t)(threadIdx.x % T::CHUNKS) * T::V;
#pragma unroll
    for (int k = 0; k < T::ROUNDS; k++) {
      const int32_t n = t.d + (int32_t)(threadIdx.x / T::CHUNKS) + k * T::ROWS;
      if (WHOLE || (n >= 0 && n < (int32_t)d.values))
        row[k] = t.src + rows.at(d, MT_SRC, (uint32_t)n) + (int64_t)s * ES;
      else row[k] = NULL;
    }
  }

  template <bool WHOLE> MT_INLINE void load_aligned (const mt_desc &d) {
    const int32_t end = (int32_t)d.threads;
#pragma unroll
    for (int k = 0; k < T::ROUNDS; k++) {
      if (WHOLE) data[k] = load<16>(row[k]);
      else if (row[k] != NULL && s < end) data[k] = load_units<ES>(row[k], s, end);
    }
  }

  /* Lanes of CHUNKS neighbours have neighbouring vectors of one row: each reads the
  ** vector at the multiple of 16 before its own; the last one's own is not complete. */
  template <bool WHOLE> MT_INLINE void load_sheared (const mt_launch &p) {
    const memory m(p, MT_SRC);
    const int32_t end = (int32_t)p.desc.threads;
#pragma unroll
    for (int k = 0; k < T::ROUNDS; k++) {
      const uint32_t shift = (uint32_t)(uintptr_t)row[k] & 15;
      if (WHOLE) data[k] = load<16>(row[k] - shift);
      else if (row[k] != NULL && s - (int32_t)(shift / ES) < end)
        data[k] = load_raw<ES>(row[k] - shift, m);
    }
#pragma unroll
    for (int k = 0; k < T::ROUNDS; k++)
      data[k] = window<ES>(data[k], from_next(data[k], T::CHUNKS),
                       (uint32_t)(uintptr_t)row[k] & 15);
  }

  MT_INLINE void put (uint4 *tile) const {
    const int c = threadIdx.x % T::CHUNKS, r0 = threadIdx.x / T::CHUNKS;
#pragma unroll
    for (int k = 0; k < T::ROUNDS; k++) {
      const int r = r0 + k * T::ROWS;
      tile[r * T::CHUNKS + (c ^ (r / T::V & 7))] = data[k];
    }
  }
};

/* Vector v of the destination's rows s .. s + W - 1. */
template <int ES, bool SHEAR, bool WHOLE, bool SINGLE>
MT_INLINE void store_rows (const mt_launch &p, const tile_place &t, const uint4 *out,
                           int32_t s, int vector, int v) {
  typedef tile_of<ES> T;
  const mt_desc &d = p.desc;
  const int32_t ends = (int32_t)d.threads, endd = (int32_t)d.values;
  const int32_t n = t.d + vector * T::V;
  const row_walk<SINGLE> rows(d, MT_DST, 0, d.nthr);
#pragma unroll
  for (int j = 0; j < T::W; j++) {
    char *row = t.dst;
    const bool real = (WHOLE || s + j < ends) && (!SHEAR || s + j < t.s + MT_SHEAR_S(ES));
    if (real) row += rows.at(d, MT_DST, (uint32_t)(s + j));
    row += (int64_t)n * ES;
    if (SHEAR) {
      const uint32_t shift = 0u - (uint32_t)(uintptr_t)row & 15;
      const uint4 w = window<ES>(out[j], from_next(out[j], 8), shift);
      if (v == 7 || !real) continue;
      if (WHOLE) store<16>(row + shift, w);
      else store_units<ES>(row + shift, w, n + (int32_t)(shift / ES), endd);
    } else if (WHOLE) {
      store<16>(row, out[j]);
    } else if (real && n < endd) {
      store_units<ES>(row, out[j], n, endd);
    }
  }
}

template <int ES, bool SHEAR, bool WHOLE, bool SINGLE>
MT_INLINE void tile_store (const mt_launch &p, const tile_place &t, const uint4 *tile) {
  typedef tile_of<ES> T;
  typedef typename shared_word<T::U>::type word;
  const int v = threadIdx.x % 8, q = threadIdx.x / 8 % 4, warp = threadIdx.x / 32;
#pragma unroll
  for (int k = 0; k < T::TURNS; k++) {
    const int turn = warp + 8 * k;
    const int vector = turn % T::GROUPS * (SHEAR ? 7 : 8) + v;
    const int u = turn / T::GROUPS * 4 + q;             /* words along s */
    const int chunk = (u * T::U / 16) ^ (vector & 7);
    const word *at = (const word *)(tile + chunk) + u % (16 / T::U);
    word x[T::V];
    uint4 out[T::W];
#pragma unroll
    for (int i = 0; i < T::V; i++)
      x[i] = at[(vector * T::V + i) * T::CHUNKS * (16 / T::U)];
    turned<ES>::of(out, x);
    store_rows<ES, SHEAR, WHOLE, SINGLE>(p, t, out, t.s + u * T::W, vector, v);
  }
}

/* All that the tile reads and writes is real, SHEAR: and so is the vector before it. */
template <int ES, bool SHEAR>
MT_INLINE bool is_whole (const mt_desc &d, const tile_place &t) {
  typedef tile_of<ES> T;
  const int32_t beside = SHEAR ? T::V : 0;
  return t.d >= 0 && t.d + T::D <= (int32_t)d.values && t.s >= beside &&
         t.s + T::S <= (int32_t)d.threads;
}

template <int ES, bool SHEAR, bool WHOLE, bool SINGLE>
MT_INLINE void move_tile (const mt_launch &p, const tile_place &t, uint4 *tile) {
  tile_rows<ES, SINGLE> rows;
  rows.template find<WHOLE>(p.desc, t);
  if (SHEAR) rows.template load_sheared<WHOLE>(p);
  else rows.template load_aligned<WHOLE>(p.desc);
  rows.put(tile);
  __syncthreads();
  tile_store<ES, SHEAR, WHOLE, SINGLE>(p, t, tile);
}

template <int ES, bool SHEAR> MT_INLINE void copy_tile (const mt_launch &p) {
  __shared__ uint4 tile[tile_of<ES>::D * tile_of<ES>::CHUNKS];
  const tile_place t = place_of<ES, SHEAR>(p);
  const bool single = p.desc.nthr == 1 && p.desc.nval == 1;
  if (!is_whole<ES, SHEAR>(p.desc, t)) move_tile<ES, SHEAR, false, false>(p, t, tile);
  else if (single) move_tile<ES, SHEAR, true, true>(p, t, tile);
  else move_tile<ES, SHEAR, true, false>(p, t, tile);
}

} // namespace mt

#undef MT_INLINE
#endif
