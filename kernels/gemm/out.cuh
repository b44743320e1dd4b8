/*
** out.cuh - sums from shared to global memory: scaled, added to C, rounded once.
** SPDX-License-Identifier: MIT
*/
#ifndef OUT_CUH
#define OUT_CUH

#include "kernels/gemm/feed.cuh"
#include "kernels/gemm/pairs.cuh"

namespace mt {

/* ------------------------------------------------------------------ one element */

/* C = alpha x + beta C, rounded once to its type; of integers saturated. */
MT_INLINE void put_scaled (const mt_ampere_launch &p, int64_t at, double x) {
  if (p.beta == 0) x *= p.alpha;
  else x = fma(p.alpha, x, p.beta * read_real(p.dtype, (const char *)p.c, at));
  write_real(p.dtype, (char *)p.c, at, x);
}
MT_INLINE void put_scaled (const mt_ampere_launch &p, int64_t at, int32_t x) {
  int32_t *c = (int32_t *)p.c + at;
  *c = mt_cast_scaled(p.alpha, x, p.beta, p.beta != 0 ? *c : 0);
}

/* ------------------------------------------------------------------ 4 of them */

struct alignas(8) two_pairs {
  uint32_t x, y;
};
struct alignas(16) two_doubles {
  double x, y;
};

/* Plain: the sums as they are, which lie together in C and are aligned there. */
MT_INLINE void put_four (const mt_ampere_launch &p, int64_t at, const float *x) {
  if (p.dtype == MT_f32) *(vector *)((float *)p.c + at) = *(const vector *)x;
  else
    *(two_pairs *)((uint16_t *)p.c + at) = {pair_of(p.dtype, x[0], x[1]),
                                            pair_of(p.dtype, x[2], x[3])};
}
MT_INLINE void put_four (const mt_ampere_launch &p, int64_t at, const int32_t *x) {
  *(vector *)((int32_t *)p.c + at) = *(const vector *)x;
}
MT_INLINE void put_four (const mt_ampere_launch &p, int64_t at, const double *x) {
  two_doubles *to = (two_doubles *)((double *)p.c + at);
  to[0] = *(const two_doubles *)x;
  to[1] = *(const two_doubles *)(x + 2);
}

/* ------------------------------------------------------------------ one, as it is */

MT_INLINE void put_plain (const mt_ampere_launch &p, int64_t at, float x) {
  if (p.dtype == MT_f32) ((float *)p.c)[at] = x;
  else ((uint16_t *)p.c)[at] = (uint16_t)pair_of(p.dtype, x, 0);
}
MT_INLINE void put_plain (const mt_ampere_launch &p, int64_t at, int32_t x) {
  ((int32_t *)p.c)[at] = x;
}
MT_INLINE void put_plain (const mt_ampere_launch &p, int64_t at, double x) {
  ((double *)p.c)[at] = x;
}

/* ------------------------------------------------------------------ a part of a tile */

enum how { SCALED, PLAIN, WIDE };

template <how HOW, typename SUM>
MT_INLINE void put_how (const mt_ampere_launch &p, int64_t at, const SUM *x) {
  if constexpr (HOW == WIDE) put_four(p, at, x);
  else if constexpr (HOW == PLAIN) put_plain(p, at, *x);
  else put_scaled(p, at, *x);
}

/* ROWS by COLUMNS sums at rows m, columns n of C: neighbours along N by neighbouring
** threads, a thread every DOWN-th row. */
template <how HOW, int ROWS, int COLUMNS, int THREADS, typename SUM>
MT_INLINE void store_how (const mt_ampere_launch &p, const SUM *from, int m, int n,
                          int l) {
  enum { PITCH = COLUMNS + MT_COLUMN_PAD(sizeof(SUM)), STEP = HOW == WIDE ? 4 : 1 };
  enum { ACROSS = COLUMNS / STEP, DOWN = THREADS / ACROSS };
  static_assert(DOWN > 0, "a round is whole rows");
  const int column = threadIdx.x % ACROSS * STEP, row = threadIdx.x / ACROSS;
  const int rows = p.size[0] - m < ROWS ? p.size[0] - m : ROWS;
  if (n + column >= p.size[1]) return;
  const SUM *x = from + row * PITCH + column;
  int64_t at = (m + row) * p.stride[0] + (n + column) * p.stride[1] + l * p.stride[2];
#pragma unroll(HOW == SCALED ? 1 : 4)
  for (int i = row; i < rows; i += DOWN) {
    put_how<HOW>(p, at, x);
    x += DOWN * PITCH;
    at += DOWN * p.stride[0];
  }
}

/* Rows of sums and a pad, from this thread's first pair on. */
template <int ROWS, int COLUMNS, int THREADS, typename SUM> struct padded_rows {
  enum { PITCH = COLUMNS + MT_COLUMN_PAD(sizeof(SUM)), PAIRS = COLUMNS / 2 };
  enum { APART = THREADS / PAIRS, TIMES = ROWS < APART ? 1 : ROWS / APART };
  enum { MANY = TIMES < 4 ? TIMES : 4 };
  static_assert(APART > 0 && (ROWS == 1 || ROWS % APART == 0), "a round is whole rows");
  static_assert(TIMES % MANY == 0, "all rounds are the same");

  template <int N> static MT_INLINE void get (float *x, const SUM *from, int i) {
#pragma unroll
    for (int k = 0; k < N; k++) {
      const SUM *pair = from + (i + k) * (APART * PITCH);
      x[2 * k] = (float)pair[0], x[2 * k + 1] = (float)pair[1];
    }
  }
  template <int N> static MT_INLINE void put (SUM *to, const float *x, int i) {
#pragma unroll
    for (int k = 0; k < N; k++) {
      SUM *pair = to + (i + k) * (APART * PITCH);
      pair[0] = x[2 * k], pair[1] = x[2 * k + 1];
    }
  }
};

/* The same with an epilogue. */
template <int ROWS, int COLUMNS, int THREADS, typename SUM>
MT_INLINE void store_finished (const mt_ampere_launch &p, SUM *from, int m, int n,
                               int l) {
  typedef padded_rows<ROWS, COLUMNS, THREADS, SUM> P;
  const int first = threadIdx.x / P::PAIRS, row = m + first;
  const int column = n + threadIdx.x % P::PAIRS * 2, real = p.size[1] - column;
  const int all = p.size[0] - row <= 0 ? 0 : (p.size[0] - row - 1) / P::APART + 1;
  const int rows = all < P::TIMES ? all : P::TIMES;
  SUM *mine = from + first * P::PITCH + threadIdx.x % P::PAIRS * 2;
  if (real <= 0) return;
  if (p.dtype != MT_f64) {
    const lane_pairs x = {row, column, l, rows, real};
    float bias[2];
    read_columns<true>(bias, p, x);
    finish_rows<P, true>(p, mine, bias, x, p.dtype);
    return;
  }
#pragma unroll 1
  for (int i = 0; i < 2 * rows; i++)
    if (i % 2 < real)
      finish_double(p, mine[i / 2 * (P::APART * P::PITCH) + i % 2],
                    row + i / 2 * P::APART, column + i % 2, l);
}

template <int ROWS, int COLUMNS, int THREADS, typename SUM>
MT_INLINE void store (const mt_ampere_launch &p, const SUM *from, int m, int n, int l) {
  if (p.wide) store_how<WIDE, ROWS, COLUMNS, THREADS>(p, from, m, n, l);
  else if (p.plain) store_how<PLAIN, ROWS, COLUMNS, THREADS>(p, from, m, n, l);
  else store_how<SCALED, ROWS, COLUMNS, THREADS>(p, from, m, n, l);
}

} // namespace mt
#endif
