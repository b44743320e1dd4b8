/*
** transpose.cuh - copies that convert, by tiles through shared memory.
** SPDX-License-Identifier: MIT
**
** As tile.cuh has it, but a vector of 16 bytes has more elements on the side of the
** narrower type, and in shared memory elements are of that type: what becomes narrower is
** converted before it comes there, what becomes wider behind. There a vector is a word to
** four; piece c of 16 bytes of row r lies at (r * pieces of a row + c) ^ (r / V % 8), V
** the elements of a vector of the destination. TRANSPOSE_UNALIGNED: vectors are shifted
** as they are there.
*/
#ifndef CAST_TILE_CUH
#define CAST_TILE_CUH

#include "kernels/cast/any.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* Where an access is, on both sides, of elements of these sizes. */
struct cast_sides {
  const char *src;
  char *dst;
  MT_INLINE cast_sides (const mt_launch &p, const place &at, int es, int ed)
      : src((const char *)p.base[MT_SRC] + (p.offset[MT_SRC] + at.side[MT_SRC]) * es),
        dst((char *)p.base[MT_DST] + (p.offset[MT_DST] + at.side[MT_DST]) * ed) {}
};

/* Where a block is: its tile has these elements for itself, along both runs. */
struct cast_place {
  const char *src;
  char *dst;
  int32_t s, d; /* the first elements of the tile */
  MT_INLINE cast_place (const mt_launch &p, int es, int ed, int along_s, int along_d) {
    const mt_raster &r = p.desc.raster;
    const uint32_t first = p.desc.nthr + p.desc.nval;
    const uint32_t q1 = divide(blockIdx.x, r.strip);
    const uint32_t q2 = divide(q1, r.along);
    const uint32_t rest = divide(q2, r.across);
    place at = {};
    if (p.desc.nrest != 0) walk(at, p.desc, first, first + p.desc.nrest, rest);
    const cast_sides side(p, at, es, ed);
    src = side.src, dst = side.dst;
    s = (int32_t)((q2 - rest * r.across.extent) * r.strip.extent + blockIdx.x -
                  q1 * r.strip.extent) *
        along_s;
    d = (int32_t)(q1 - q2 * r.along.extent) * along_d;
  }
};

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

/* ------------------------------------------------------------------ vectors */

template <class SRC, class DST, bool UNALIGNED> struct cast_tile_of {
  typedef SRC source;
  typedef DST target;
  enum {
    ES = SRC::BYTES,
    ED = DST::BYTES,
    EM = ES < ED ? ES : ED,
    TRANSPOSE_UNALIGNED = UNALIGNED,
    S = TRANSPOSE_UNALIGNED ? MT_CAST_WIDE_S(ES, ED) : MT_CAST_TRANSPOSE_S(ES, ED),
    D = TRANSPOSE_UNALIGNED ? MT_CAST_WIDE_D(ES, ED) : MT_CAST_TRANSPOSE_D(ES, ED),
    OWN_S = TRANSPOSE_UNALIGNED ? MT_CAST_TRANSPOSE_UNALIGNED_S(ES, ED) : S,
    OWN_D = TRANSPOSE_UNALIGNED ? MT_CAST_TRANSPOSE_UNALIGNED_D(ES, ED) : D,
    VS = 16 / ES,
    VD = 16 / ED,      /* elements of a vector */
    EACH = S / VS,     /* vectors of a row of the source */
    ROWS = 256 / EACH, /* that a block reads at once */
    ROUNDS = D / ROWS,
    READ = TRANSPOSE_UNALIGNED ? OWN_D + VD : D, /* rows that are read */
    PUT = VS * EM,           /* bytes in the tile, of a vector of the source */
    IN = (PUT + 3) / 4,      /* in words, */
    OUT = (VD * EM + 3) / 4, /* and of the destination */
    LINE = S * EM / 16,      /* pieces of a row of the tile */
    UNIT = EM < 4 ? 4 : EM,  /* bytes that are read of a row at once, */
    W = UNIT / EM,           /* and their elements: rows of the destination */
    GROUPS = D / VD / 8,
    TURNS = GROUPS * (S * EM / UNIT) / 4 /* of all warps */
  };
};

/* N elements, converted HERE or as they are, `words` words. */
template <class T, bool HERE, int N, int WORDS>
MT_INLINE void became (uint32_t *to, const uint32_t *from, uint32_t cast,
                       const char *table) {
  if constexpr (HERE && T::source::ANY)
    convert_sized<T::ES, T::ED>(to, from, cast, table);
  else if constexpr (HERE)
    convert_words<typename T::source, typename T::target, N>(to, from);
  else
#pragma unroll
    for (int i = 0; i < WORDS; i++) to[i] = from[i];
}

/* The words from byte m on, 0 <= m < 4 N, a multiple of EM, of a and b behind it. */
template <int N, int EM>
MT_INLINE void shifted (uint32_t *out, const uint32_t *a, const uint32_t *b, uint32_t m) {
  uint32_t w[2 * N];
#pragma unroll
  for (int i = 0; i < N; i++) w[i] = a[i], w[N + i] = b[i];
#pragma unroll
  for (int by = N / 2; by > 0; by /= 2)
#pragma unroll
    for (int i = 0; i < N + by; i++) w[i] = m & 4 * by ? w[i + by] : w[i];
#pragma unroll
  for (int i = 0; i < N; i++)
    out[i] = EM < 4 ? __funnelshift_r(w[i], w[i + 1], 8 * (m & 3)) : w[i];
}

/* The same of a lane's vector and that of the next lane of `width`. */
template <int N, int EM>
MT_INLINE void shift_vector (uint32_t *v, uint32_t m, int width) {
  uint32_t next[N];
#pragma unroll
  for (int i = 0; i < N; i++) next[i] = __shfl_down_sync(~0u, v[i], 1, width);
  shifted<N, EM>(v, v, next, m);
}

/* N words of rows one behind the other, 4 / EM elements each -> as many vectors; two
** rows of bytes are vectors of 2 bytes; N elements of 4 bytes and more are one. */
template <int EM, int N> MT_INLINE void cast_turn (uint32_t *out, const uint32_t *x) {
  if constexpr (EM >= 4) {
#pragma unroll
    for (int w = 0; w < N * EM / 4; w++) out[w] = x[w];
  } else if constexpr (EM == 2) {
#pragma unroll
    for (int w = 0; w < N / 2; w++, x += 2) {
      out[w] = __byte_perm(x[0], x[1], 0x5410);
      out[w + N / 2] = __byte_perm(x[0], x[1], 0x7632);
    }
  } else if constexpr (N == 2) {
#pragma unroll
    for (int w = 0; w < 4; w++) out[w] = __byte_perm(x[0], x[1], 0x40 + 0x11 * w);
  } else {
#pragma unroll
    for (int w = 0; w < N / 4; w++, x += 4) {
      uint32_t a = __byte_perm(x[0], x[1], 0x5140), b = __byte_perm(x[2], x[3], 0x5140);
      uint32_t c = __byte_perm(x[0], x[1], 0x7362), e = __byte_perm(x[2], x[3], 0x7362);
      out[w] = __byte_perm(a, b, 0x5410);
      out[w + N / 4] = __byte_perm(a, b, 0x7632);
      out[w + N / 2] = __byte_perm(c, e, 0x5410);
      out[w + 3 * N / 4] = __byte_perm(c, e, 0x7632);
    }
  }
}

/* ------------------------------------------------------------------ in */

/* Bytes in the tile to piece c of row r. */
template <class T> MT_INLINE int cast_slot (int r, int c) {
  return ((r * T::LINE + c) ^ (r / T::VD & 7)) * 16;
}

/* N vectors of a thread, of rows from `first` on. WHOLE: all that the tile has is real,
** and so is a vector before it; both runs have one axis. */
template <class T, int N, bool WHOLE> struct cast_rows {
  const char *row[N]; /* NULL: not real */
  uint4 data[N];
  int r;     /* the first row in the tile, */
  int32_t s; /* and the first element */

  /* That the tile has the row. */
  MT_INLINE bool is_read (int k) const {
    return (T::READ == T::D || (N == T::ROUNDS && (k + 1) * T::ROWS <= T::READ)) ||
           r + k * T::ROWS < T::READ;
  }

  MT_INLINE void find (const mt_desc &d, const cast_place &t, int first) {
    r = first + threadIdx.x / T::EACH;
    s = t.s + (int32_t)(threadIdx.x % T::EACH) * T::VS;
    const int64_t step = d.axis[1].stride[MT_SRC] * T::ES;
    const char *at = t.src + (int64_t)s * T::ES;
    if (WHOLE) at += (t.d + r) * step;
#pragma unroll
    for (int k = 0; k < N; k++) {
      const int32_t n = t.d + r + k * T::ROWS;
      row[k] = NULL;
      if (WHOLE) row[k] = at + k * (T::ROWS * step);
      else if (n >= 0 && n < (int32_t)d.values && is_read(k))
        row[k] = at + cast_row<false>(d, MT_SRC, d.nthr, d.nval, (uint32_t)n) * T::ES;
    }
  }

  /* Bytes to the vector from the multiple of 16 before it. */
  MT_INLINE uint32_t shift (int k) const {
    return T::TRANSPOSE_UNALIGNED ? (uint32_t)(uintptr_t)row[k] & 15 : 0;
  }

  MT_INLINE void load_all (const mt_launch &p) {
    const memory m(p, MT_SRC);
    const int32_t end = (int32_t)p.desc.threads;
#pragma unroll
    for (int k = 0; k < N; k++) {
      data[k] = make_uint4(0, 0, 0, 0);
      if (WHOLE ? !is_read(k) : row[k] == NULL) continue;
      if (WHOLE) data[k] = load<16>(row[k] - shift(k));
      else if (!T::TRANSPOSE_UNALIGNED && s < end)
        data[k] = load_units<T::ES>(row[k], s, end);
      else if (T::TRANSPOSE_UNALIGNED && s - (int32_t)shift(k) / T::ES < end)
        data[k] = load_edge<T::ES>(row[k] - shift(k), m);
    }
  }

  MT_INLINE void put (char *tile, uint32_t cast, const char *table) const {
    const int at = threadIdx.x % T::EACH * T::PUT;
#pragma unroll
    for (int k = 0; k < N; k++) {
      uint32_t out[4];
      became<T, (T::ES >= T::ED), T::VS, 4>(out, &data[k].x, cast, table);
      if (T::TRANSPOSE_UNALIGNED)
        shift_vector<T::IN, T::EM>(out, shift(k) / T::ES * T::EM, T::EACH);
      char *to = tile + cast_slot<T>(r + k * T::ROWS, at / 16) + at % 16;
      write_words<T::PUT>(to, out);
    }
  }
};

/* ------------------------------------------------------------------ out */

/* Vectors of the destination's rows s, s + 1, ..., from element n on: `last` of a group
** is for its neighbour only. */
template <class T, bool WHOLE>
MT_INLINE void cast_rows_out (const mt_launch &p, const cast_place &t, uint32_t *x,
                              int32_t s, int32_t n, bool last, const char *table) {
  const mt_desc &d = p.desc;
  const int32_t ends = (int32_t)d.threads, endd = (int32_t)d.values;
#pragma unroll
  for (int j = 0; j < T::W; j++, x += T::OUT) {
    const bool real =
        (WHOLE || s + j < ends) && (!T::TRANSPOSE_UNALIGNED || s + j < t.s + T::OWN_S);
    char *row = t.dst + (int64_t)n * T::ED;
    uint32_t shift = 0, y[4];
    if (real) row += cast_row<WHOLE>(d, MT_DST, 0, d.nthr, (uint32_t)(s + j)) * T::ED;
    if (T::TRANSPOSE_UNALIGNED) {
      shift = 0u - (uint32_t)(uintptr_t)row & 15;
      shift_vector<T::OUT, T::EM>(x, shift / T::ED * T::EM, 8);
    }
    if (!real || last) continue;
    became<T, (T::ES < T::ED), T::VD, T::OUT>(y, x, d.cast, table);
    const uint4 v = {y[0], y[1], y[2], y[3]};
    if (WHOLE) store<16>(row + shift, v);
    else store_units<T::ED>(row + shift, v, n + (int32_t)shift / T::ED, endd);
  }
}

template <class T, bool WHOLE>
MT_INLINE void cast_store (const mt_launch &p, const cast_place &t, const char *tile,
                           const char *table) {
  const int v = threadIdx.x % 8;
#pragma unroll(WHOLE ? 8 : 1)
  for (int k = 0; k < (T::TURNS + 7) / 8; k++) {
    const int eight = threadIdx.x / 8 + 32 * k; /* of lanes */
    const int vector = eight % T::GROUPS * (T::TRANSPOSE_UNALIGNED ? 7 : 8) + v;
    const int at = eight / T::GROUPS * T::UNIT; /* bytes of a row */
    uint32_t x[T::VD * T::UNIT / 4], out[T::W * T::OUT];
    if (T::TURNS % 8 != 0 && eight / 4 >= T::TURNS) break;
#pragma unroll
    for (int i = 0; i < T::VD; i++)
      read_words<T::UNIT>(x + i * (T::UNIT / 4),
                          tile + cast_slot<T>(vector * T::VD + i, at / 16) + at % 16);
    cast_turn<T::EM, T::VD>(out, x);
    cast_rows_out<T, WHOLE>(p, t, out, t.s + at / T::EM, t.d + vector * T::VD,
                            T::TRANSPOSE_UNALIGNED && v == 7, table);
  }
}

/* ------------------------------------------------------------------ tiles */

template <class T> MT_INLINE bool is_whole (const mt_desc &d, const cast_place &t) {
  return d.nthr == 1 && d.nval == 1 && t.d >= 0 &&
         t.s >= (T::TRANSPOSE_UNALIGNED ? T::VS : 0) &&
         t.s + T::S <= (int32_t)d.threads && t.d + T::READ <= (int32_t)d.values;
}

/* Registers have 8 vectors; what is not whole has longer code: of four. */
template <class T, bool WHOLE>
MT_INLINE void cast_move (const mt_launch &p, const cast_place &t, char *tile,
                          const char *table) {
  constexpr int MOST = WHOLE ? 8 : 4, N = T::ROUNDS < MOST ? T::ROUNDS : MOST;
#pragma unroll 1
  for (int first = 0; first < T::D; first += N * T::ROWS) {
    cast_rows<T, N, WHOLE> rows;
    rows.find(p.desc, t, first);
    rows.load_all(p);
    rows.put(tile, p.desc.cast, table);
  }
  __syncthreads();
  cast_store<T, WHOLE>(p, t, tile, table);
}

template <class T> MT_INLINE void cast_tile (const mt_launch &p) {
  enum { ANY = T::source::ANY && T::ES == 1, TILE = T::D * T::LINE };
  __shared__ uint4 tile[TILE + (ANY ? 256 * T::ED / 16 : 0)];
  const char *table = (const char *)(tile + TILE);
  cast_place t(p, T::ES, T::ED, T::OWN_S, T::OWN_D);
  if (T::TRANSPOSE_UNALIGNED) t.d -= T::VD;
  if (ANY) {
    make_table((char *)(tile + TILE), p.desc.cast);
    __syncthreads();
  }
  if (is_whole<T>(p.desc, t)) cast_move<T, true>(p, t, (char *)tile, table);
  else cast_move<T, false>(p, t, (char *)tile, table);
}

} // namespace mt

#undef MT_INLINE
#endif
