/*
** out.cuh - sums from shared to global memory: scaled, added to C, rounded once.
** SPDX-License-Identifier: MIT
*/
#ifndef OUT_CUH
#define OUT_CUH

#include "kernels/gemm/feed.cuh"
#include "kernels/gemm/finish.cuh"

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

MT_INLINE uint32_t pair_of (uint32_t dtype, float x, float y) {
#ifdef MT_EMULATED
  return write_float(dtype, x) | write_float(dtype, y) << 16;
#else
  uint32_t r;
  if (dtype == MT_f16) asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
  else asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
  return r;
#endif
}

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

/* The same with an epilogue, a few rows at a time. */
template <int ROWS, int COLUMNS, int THREADS, typename SUM>
MT_INLINE void store_finished (const mt_ampere_launch &p, const SUM *from, int m, int n,
                               int l) {
  enum { PITCH = COLUMNS + MT_COLUMN_PAD(sizeof(SUM)), DOWN = THREADS / COLUMNS };
  enum { EACH = ROWS / DOWN, MANY = EACH < 8 ? EACH : 8 };
  static_assert(DOWN > 0 && EACH % MANY == 0, "a round is whole rows");
  const int column = threadIdx.x % COLUMNS, row = threadIdx.x / COLUMNS;
  if (p.size[1] <= n + column) return;
#pragma unroll 1
  for (int i = row; i < ROWS && m + i < p.size[0]; i += MANY * DOWN) {
    const SUM *x = from + i * PITCH + column;
    if (p.dtype == MT_f64) {
#pragma unroll 1
      for (int k = 0; k < MANY && m + i + k * DOWN < p.size[0]; k++)
        finish_double(p, x[k * DOWN * PITCH], m + i + k * DOWN, n + column, l);
    } else {
      float sum[MANY];
#pragma unroll
      for (int k = 0; k < MANY; k++) sum[k] = (float)x[k * DOWN * PITCH];
      finish_column<MANY, false>(p, p.dtype, sum, m + i, DOWN, n + column, l);
    }
  }
}

template <int ROWS, int COLUMNS, int THREADS, typename SUM>
MT_INLINE void store (const mt_ampere_launch &p, const SUM *from, int m, int n, int l) {
  if (p.wide) store_how<WIDE, ROWS, COLUMNS, THREADS>(p, from, m, n, l);
  else if (p.plain) store_how<PLAIN, ROWS, COLUMNS, THREADS>(p, from, m, n, l);
  else store_how<SCALED, ROWS, COLUMNS, THREADS>(p, from, m, n, l);
}

} // namespace mt
#endif
