/*
** transpose.cuh - copies whose runs lie along different axes: tiles through shared
** memory.
** SPDX-License-Identifier: MIT
**
** A unit is an access of ES bytes. The thread axes of the descriptor are a run of the
** source (index s: s units on), the value axes a run of the destination (index d); the
** others are outer. A block moves a tile of S x D units: rows along s are read in
** vectors of 16 bytes, V units each, and rows along d are written in vectors.
**
** Shared memory holds the tile by rows of the source; chunk c of row r lies at
** c ^ (r / V % 8). A warp that reads the same word of V rows for each of 8 vectors along
** d, and of 4 neighbouring words along s, meets every bank once. Most write 16 vectors of
** 2 words and meet a bank twice: memory takes 256 bytes of a row that come at once faster
** than two halves.
**
** TRANSPOSE: all rows of both sides begin at multiples of 16 bytes. TRANSPOSE_UNALIGNED:
** they begin anywhere. Then vectors are read at the multiples of 16 before and behind and
** shifted, one more of each row than the tile has; and a row is written in those vectors
** that are aligned in it, each put together from two of the tile: of every 8 along d one
** or two are for their neighbours only, and the tiles overlap by these. Of small units
** they come in pairs, sectors of 32 bytes: caches take much longer for a part of one.
*/
#ifndef TILE_CUH
#define TILE_CUH

#include "desc/transpose_desc.h"
#include "kernels/copy/strided.cuh"

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
template <int ES> MT_INLINE uint4 load_units (const char *p, int32_t first, int32_t end) {
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

/* That of the lane so many on. */
MT_INLINE uint4 from_on (const uint4 &v, uint32_t by, int width) {
  return make_uint4(__shfl_down_sync(~0u, v.x, by, width),
                    __shfl_down_sync(~0u, v.y, by, width),
                    __shfl_down_sync(~0u, v.z, by, width),
                    __shfl_down_sync(~0u, v.w, by, width));
}

MT_INLINE uint4 from_next (const uint4 &v, int width) { return from_on(v, 1, width); }

/* ------------------------------------------------------------------ rows */

/* Where the rows of a run begin: index n of its axes on the other side, in bytes. Most
** runs have one axis: SINGLE. */
template <bool SINGLE> struct row_walk {
  uint32_t first, end;
  int64_t step; /* of one index of a single axis */
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

/* Moves all units of a vector up by one. */
template <int ES> MT_INLINE void move_up (uint4 &v) {
  constexpr uint32_t bits = 32 - 8 * (ES & 3);
  if (ES == 16) v = make_uint4(0, 0, 0, 0);
  if (ES == 8) v = make_uint4(0, 0, v.x, v.y);
  if (ES == 4) v = make_uint4(0, v.x, v.y, v.z);
  if (ES < 4)
    v = make_uint4(v.x << 8 * (ES & 3), __funnelshift_r(v.x, v.y, bits),
                   __funnelshift_r(v.y, v.z, bits), __funnelshift_r(v.z, v.w, bits));
}

/* The 16 bytes at p, a multiple of 16, as far as they lie in the buffer. */
template <int ES> MT_INLINE uint4 load_raw (const char *p, const memory &m) {
  uint4 v = {0, 0, 0, 0};
  if (p >= m.low && p + 16 <= m.high) return load<16>(p);
#pragma unroll
  for (int i = 0; i < 16 / ES; i++)
    if (p + i * ES >= m.low && p + (i + 1) * ES <= m.high) put_unit<ES>(v, i, p + i * ES);
  return v;
}

/* The same where it is rare that not all do: short, not fast, and no load passes it. */
template <int ES> MT_INLINE uint4 load_edge (const char *p, const memory &m) {
  uint4 v = {0, 0, 0, 0};
  if (p >= m.low && p + 16 <= m.high) return load<16>(p);
#pragma unroll 1
  for (int i = 16 - ES; i >= 0; i -= ES) {
    move_up<ES>(v);
    if (p + i >= m.low && p + i + ES <= m.high) put_unit<ES>(v, 0, p + i);
  }
  return v;
}

/* ------------------------------------------------------------------ shared memory */

/* The tiles of TRANSPOSE_UNALIGNED, of TRANSPOSE; the column `unroll` of kernels.def. */
enum { UNALIGNED = 0, SMALL = 1, LARGE = 2 };

template <int ES, int KIND> struct tile_of {
  enum {
    TRANSPOSE_UNALIGNED = KIND == UNALIGNED,
    V = 16 / ES, /* units of a vector */
    /* from tile to tile */
    S = TRANSPOSE_UNALIGNED ? MT_TRANSPOSE_UNALIGNED_S(ES) :
        KIND == LARGE       ? MT_LARGE_S(ES) :
                              MT_TRANSPOSE_S(ES),
    STEP = TRANSPOSE_UNALIGNED ? MT_TRANSPOSE_UNALIGNED_D(ES) :
           KIND == LARGE       ? MT_LARGE_D(ES) :
                                 MT_TRANSPOSE_D(ES),
    D = TRANSPOSE_UNALIGNED ? MT_TRANSPOSE_UNALIGNED_ROWS(ES) : STEP,
    OWN = TRANSPOSE_UNALIGNED ? MT_TRANSPOSE_UNALIGNED_OWN(ES) :
                                8, /* vectors of 8 along the destination */
    GRAIN = OWN == 6 ? 32 : 16,    /* bytes, at multiples of which these begin */
    BEHIND =
        TRANSPOSE_UNALIGNED && ES <= 2, /* the last lane of a row reads two vectors */
    CHUNKS = S * ES / 16 + (TRANSPOSE_UNALIGNED && !BEHIND), /* of a row */
    THREADS = KIND == LARGE ? MT_LARGE_THREADS : 256,
    ROWS = THREADS / CHUNKS, /* that a block reads at once */
    ROUNDS = D / ROWS,
    U = ES < 4 ? 4 : ES, /* bytes that are read at once */
    W = U / ES,          /* rows of the destination from these */
    GROUPS = D / V / 8,  /* of eight vectors along d */
    NEAR = TRANSPOSE_UNALIGNED && ES == 2 ? 1 :
                                            GROUPS, /* of these, that neighbours write, */
    ABREAST = NEAR < 4 ? 4 / NEAR : 1,              /* of so many words in a warp */
    WORDS = THREADS / 8 / GROUPS,                   /* that a block writes at once */
    TURNS = CHUNKS * 16 / U / WORDS                 /* of a warp */
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
  int32_t s, d; /* the first units of the tile */
};

template <int ES, int KIND> MT_INLINE tile_place place_of (const mt_launch &p) {
  typedef tile_of<ES, KIND> T;
  const mt_desc &d = p.desc;
  const mt_raster &r = d.raster;
  const uint32_t q1 = divide(blockIdx.x, r.strip);
  const uint32_t q2 = divide(q1, r.along);
  const uint32_t rest = divide(q2, r.across);
  const uint32_t strip = r.strip.extent;
  const uint32_t s = (q2 - rest * r.across.extent) * strip + (blockIdx.x - q1 * strip);
  tile_place t;
  t.s = (int32_t)(s * T::S);
  t.d = (int32_t)((q1 - q2 * r.along.extent) * T::STEP) - (8 - T::OWN) * T::V;
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

/* The vectors of a thread, of rows that are ROWS apart. WHOLE: all rows are real. */
template <int ES, int KIND, bool WHOLE, bool SINGLE> struct tile_rows {
  typedef tile_of<ES, KIND> T;
  const row_walk<SINGLE> rows;
  int32_t s, n;    /* the first unit, the first row */
  const char *src; /* SINGLE: in the first row, real or not */
  uint4 data[T::ROUNDS];

  MT_INLINE tile_rows (const mt_desc &d, const tile_place &t)
      : rows(d, MT_SRC, d.nthr, d.nval),
        s(t.s + (int32_t)(threadIdx.x % T::CHUNKS) * T::V),
        n(t.d + (int32_t)(threadIdx.x / T::CHUNKS)),
        src(t.src + (SINGLE ? n * rows.step : 0) + (int64_t)s * ES) {}

  /* Row k; NULL: it is not real. */
  MT_INLINE const char *row (const mt_desc &d, int k) const {
    const int32_t i = n + k * T::ROWS;
    if (!WHOLE && (i < 0 || i >= (int32_t)d.values)) return NULL;
    return src + (SINGLE ? k * (T::ROWS * rows.step) : rows.at(d, MT_SRC, (uint32_t)i));
  }

  MT_INLINE void load_aligned (const mt_desc &d) {
    const int32_t end = (int32_t)d.threads;
#pragma unroll
    for (int k = 0; k < T::ROUNDS; k++) {
      const char *at = row(d, k);
      if (WHOLE) data[k] = load<16>(at);
      else if (at != NULL && s < end) data[k] = load_units<ES>(at, s, end);
    }
  }

  /* Lanes of CHUNKS neighbours have neighbouring vectors of one row: each reads the
  ** vector at the multiple of 16 before its own, the last one also the next. What holds
  ** no unit of the row is not read. WHOLE: the others lie in the buffer. SINGLE: ROWS
  ** strides are a multiple of 16, all rows are as far beyond one. */
  MT_INLINE void load_unaligned (const mt_launch &p) {
    static_assert(T::ROWS % 16 == 0, "all rows of a single axis have one shift");
    const memory m(p, MT_SRC);
    const int32_t left = (int32_t)p.desc.threads - s;
    const bool last = T::BEHIND && threadIdx.x % T::CHUNKS == T::CHUNKS - 1;
    uint4 next[T::ROUNDS];
    uint32_t shift[T::ROUNDS];
#pragma unroll
    for (int k = 0; k < T::ROUNDS; k++) {
      const uintptr_t at = (uintptr_t)row(p.desc, k);
      const char *from = (const char *)(at & ~(uintptr_t)15);
      shift[k] = (uint32_t)(SINGLE ? (uintptr_t)src : at) & 15;
      const int32_t real = left + (int32_t)(shift[k] / ES); /* from `from` on */
      if (!WHOLE && at == 0) continue;
      if (real > 0) data[k] = WHOLE ? load<16>(from) : load_edge<ES>(from, m);
      if (last && real > T::V)
        next[k] = WHOLE ? load<16>(from + 16) : load_edge<ES>(from + 16, m);
    }
#pragma unroll
    for (int k = 0; k < T::ROUNDS; k++) {
      uint4 b = from_next(data[k], T::CHUNKS);
      if (last) b.x = next[k].x, b.y = next[k].y, b.z = next[k].z, b.w = next[k].w;
      data[k] = window<ES>(data[k], b, shift[k]);
    }
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

/* Where a thread writes. SINGLE: `row` is the row s, else where rows are counted from. */
template <int ES, int KIND, bool SINGLE> struct tile_target {
  typedef tile_of<ES, KIND> T;
  enum { NEXT = T::WORDS * T::W }; /* rows on, in the next turn */
  const row_walk<SINGLE> rows;
  int32_t s, n; /* the first row, the vector's first unit */
  char *row;
  uint32_t low; /* of the address of the first row */

  MT_INLINE tile_target (const mt_desc &d, const tile_place &t, int32_t s, int32_t n)
      : rows(d, MT_DST, 0, d.nthr), s(s), n(n),
        row(t.dst + (SINGLE ? s * rows.step : 0) + (int64_t)n * ES),
        low((uint32_t)(uintptr_t)row) {}
  MT_INLINE void next () {
    s += NEXT;
    if (SINGLE) row += NEXT * rows.step;
  }
  MT_INLINE char *at (const mt_desc &d, int j) const {
    return row + (SINGLE ? j * rows.step : rows.at(d, MT_DST, (uint32_t)(s + j)));
  }
  /* To the first vector that is aligned in row j, for all lanes of the row: NEXT rows on
  ** it is the same. */
  MT_INLINE uint32_t shift (const char *at, int j) const {
    static_assert(NEXT * ES % T::GRAIN == 0, "the shift is that of the first turn");
    const uint32_t a = SINGLE ? low + j * (uint32_t)rows.step : (uint32_t)(uintptr_t)at;
    return 16 * (threadIdx.x & 1) - a & T::GRAIN - 1;
  }
};

/* The vectors `out` to rows s .. s + W - 1; v is the number of the lane. */
template <int ES, int KIND, bool WHOLE, bool SINGLE>
MT_INLINE void store_rows (const mt_desc &d, const tile_target<ES, KIND, SINGLE> &to,
                           const uint4 *out, int32_t ends, int v) {
  typedef tile_of<ES, KIND> T;
  const int32_t endd = (int32_t)d.values;
#pragma unroll
  for (int j = 0; j < T::W; j++) {
    const bool real = (WHOLE && !T::TRANSPOSE_UNALIGNED) || to.s + j < ends;
    char *row = real || SINGLE ? to.at(d, j) : to.row;
    if (T::TRANSPOSE_UNALIGNED) {
      const uint32_t shift = to.shift(row, j);
      const uint32_t on = shift / 16;
      const uint4 first = T::GRAIN == 16 ? out[j] : from_on(out[j], on, 8);
      const uint4 w = window<ES>(first, from_on(out[j], on + 1, 8), shift & 15);
      if (v >= T::OWN || !real) continue;
      if (WHOLE) store<16>(row + shift, w);
      else store_units<ES>(row + shift, w, to.n + (int32_t)(shift / ES), endd);
    } else if (WHOLE) {
      store<16>(row, out[j]);
    } else if (real && to.n < endd) {
      store_units<ES>(row, out[j], to.n, endd);
    }
  }
}

template <int ES, int KIND, bool WHOLE, bool SINGLE>
MT_INLINE void tile_store (const mt_launch &p, const tile_place &t, const uint4 *tile) {
  typedef tile_of<ES, KIND> T;
  typedef typename shared_word<T::U>::type word;
  const int v = threadIdx.x % 8, eight = threadIdx.x / 8;
  const int q = eight / T::NEAR % T::ABREAST;
  const int some = eight / (T::NEAR * T::ABREAST); /* groups of neighbours */
  const int group = some % (T::GROUPS / T::NEAR) * T::NEAR + eight % T::NEAR;
  const int vector = group * T::OWN + v;
  const int u0 = some / (T::GROUPS / T::NEAR) * T::ABREAST + q;
  const int32_t threads = (int32_t)p.desc.threads, more = T::CHUNKS * T::V - T::S;
  const int32_t ends = more && threads > t.s + T::S ? t.s + T::S : threads;
  tile_target<ES, KIND, SINGLE> to(p.desc, t, t.s + u0 * T::W, t.d + vector * T::V);
#pragma unroll
  for (int k = 0; k < T::TURNS; k++) {
    const int u = u0 + T::WORDS * k; /* words along s */
    if (T::TRANSPOSE_UNALIGNED && to.s - q * T::W >= ends) break;
    const int chunk = (u * T::U / 16) ^ (vector & 7);
    const word *at = (const word *)(tile + chunk) + u % (16 / T::U);
    word x[T::V];
    uint4 out[T::W];
#pragma unroll
    for (int i = 0; i < T::V; i++)
      x[i] = at[(vector * T::V + i) * T::CHUNKS * (16 / T::U)];
    turned<ES>::of(out, x);
    store_rows<ES, KIND, WHOLE, SINGLE>(p.desc, to, out, ends, v);
    to.next();
  }
}

/* Whether all vectors with a unit of the tile's rows lie in the buffer: certainly so if
** its neighbours' units are real too, or if the buffer consists of vectors. */
template <int ES, bool SINGLE>
MT_INLINE bool is_inside (const mt_launch &p, const tile_place &t) {
  typedef tile_of<ES, UNALIGNED> T;
  const mt_desc &d = p.desc;
  const memory m(p, MT_SRC);
  const uintptr_t low = (uintptr_t)m.low, high = (uintptr_t)m.high;
  if (!SINGLE)
    return (t.s >= T::V || low % 16 == 0) &&
           (t.s + T::S + T::V <= (int32_t)d.threads || high % 16 == 0);
  const int64_t step = d.axis[1].stride[MT_SRC] * (int64_t)d.elem;
  const uintptr_t a = (uintptr_t)t.src + t.d * step, b = a + (T::D - 1) * step;
  const uintptr_t end = (step < 0 ? a : b) + (uintptr_t)d.threads * ES;
  return (step < 0 ? b : a) / 16 * 16 >= low && (end + 15) / 16 * 16 <= high;
}

/* Whether all that the tile reads and writes is real; TRANSPOSE_UNALIGNED: along d, and
** what lies beside is in the buffer. */
template <int ES, int KIND, bool SINGLE>
MT_INLINE bool is_whole (const mt_launch &p, const tile_place &t) {
  typedef tile_of<ES, KIND> T;
  const mt_desc &d = p.desc;
  return t.d >= 0 && t.d + T::D <= (int32_t)d.values &&
         (T::TRANSPOSE_UNALIGNED ? is_inside<ES, SINGLE>(p, t) :
                                   t.s + T::S <= (int32_t)d.threads);
}

template <int ES, int KIND, bool WHOLE, bool SINGLE>
MT_INLINE void move_tile (const mt_launch &p, const tile_place &t, uint4 *tile) {
  tile_rows<ES, KIND, WHOLE, SINGLE> rows(p.desc, t);
  if constexpr (KIND == UNALIGNED) rows.load_unaligned(p);
  else rows.load_aligned(p.desc);
  rows.put(tile);
  __syncthreads();
  tile_store<ES, KIND, WHOLE, SINGLE>(p, t, tile);
}

template <int ES, int KIND, bool SINGLE>
MT_INLINE void move_any (const mt_launch &p, const tile_place &t, uint4 *tile) {
  if (is_whole<ES, KIND, SINGLE>(p, t)) move_tile<ES, KIND, true, SINGLE>(p, t, tile);
  else move_tile<ES, KIND, false, SINGLE>(p, t, tile);
}

template <int ES, int KIND> MT_INLINE void copy_transpose (const mt_launch &p) {
  typedef tile_of<ES, KIND> T;
  __shared__ uint4 tile[T::D * T::CHUNKS];
  const tile_place t = place_of<ES, KIND>(p);
  if (p.desc.nthr == 1 && p.desc.nval == 1) move_any<ES, KIND, true>(p, t, tile);
  else move_any<ES, KIND, false>(p, t, tile);
}

template <int BYTES, int UNROLL> struct copier<MT_ALGO_TRANSPOSE, BYTES, UNROLL> {
  static MT_INLINE void run (const mt_launch &p) { copy_transpose<BYTES, UNROLL>(p); }
};
template <int BYTES, int UNROLL>
struct copier<MT_ALGO_TRANSPOSE_UNALIGNED, BYTES, UNROLL> {
  static MT_INLINE void run (const mt_launch &p) { copy_transpose<BYTES, UNALIGNED>(p); }
};

} // namespace mt

/* Blocks of an SM; without a number as many as registers allow. */
#define MT_BOUNDS_TRANSPOSE(threads, unroll)                                             \
  __launch_bounds__(threads, (unroll) == 2 ? 3 : 6)
#define MT_BOUNDS_TRANSPOSE_UNALIGNED(threads, unroll) __launch_bounds__(threads, 5)

#undef MT_INLINE
#endif
