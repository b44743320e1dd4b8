/*
** pairs.cuh - rows of sums in shared memory to D, by threads that have a pair of columns
** each: scaled, biased, activated; C, bias and residual are read the same way.
** SPDX-License-Identifier: MIT
**
** Where sums lie is a type P: P::APART rows of D from a thread's pair to its next, of
** which it has P::TIMES at most, and finishes P::MANY at a time; P::get<N> and P::put<N>
** for N of its pairs, from the i-th on.
*/
#ifndef PAIRS_CUH
#define PAIRS_CUH

#include "kernels/gemm/activation.cuh"
#include "kernels/gemm/finish.cuh"

namespace mt {

/* ------------------------------------------------------------------ pairs of a tensor */

/* Pairs of a thread: of columns `column` and the next, of which `real` are left in D, in
** row `row` and on, so many apart, of which `rows` are real. */
struct lane_pairs {
  int row, column, l, rows, real;
};

/* Those pairs in a tensor. */
struct pair_line {
  const char *at;
  int64_t step, next; /* bytes: to the pair of the next row, to the second of a pair */
  int32_t dtype;
  bool together; /* a pair is one access */
};

MT_INLINE int size_of (int32_t dtype) {
  return dtype == MT_f64 ? 8 : dtype == MT_f32 || dtype == MT_i32 ? 4 : 2;
}

MT_INLINE pair_line line_of (const void *base, int32_t dtype, const int64_t stride[3],
                             const lane_pairs &x, int apart) {
  const int size = size_of(dtype);
  pair_line t;
  t.at = (const char *)base + place_of(stride, x.row, x.column, x.l) * size;
  t.step = apart * stride[0] * size;
  t.next = stride[1] * size;
  t.dtype = dtype;
  t.together = x.real >= 2 && stride[1] == 1 && size < 8 &&
               ((uintptr_t)t.at | (uintptr_t)t.step) % (2 * size) == 0;
  return t;
}

/* The same place, of which the compiler does not know that it is: it would keep all
** places of all ways to read and to write in registers, of which there are too few. */
MT_INLINE const char *place_again (const char *at) {
#ifdef __CUDACC__
  asm volatile("" : "+l"(at));
#endif
  return at;
}

/* The words of N pairs of 2 bytes, of 4 bytes; and of any kind, as floats. */
template <int N> MT_INLINE void read_halves (float *x, const pair_line &t, int rows) {
  const char *at = place_again(t.at);
  uint32_t w[N];
#pragma unroll
  for (int i = 0; i < N; i++, at += t.step) w[i] = i < rows ? *(const uint32_t *)at : 0;
#pragma unroll
  for (int i = 0; i < N; i++)
    if (t.dtype == MT_bf16) {
      x[2 * i] = mt_as_float(w[i] << 16);
      x[2 * i + 1] = mt_as_float(w[i] & 0xffff0000);
    } else {
      x[2 * i] = float_of(w[i] & 0xffff);
      x[2 * i + 1] = float_of(w[i] >> 16);
    }
}
struct alignas(8) two_floats {
  float x, y;
};
template <int N> MT_INLINE void read_floats (float *x, const pair_line &t, int rows) {
  const char *at = place_again(t.at);
#pragma unroll
  for (int i = 0; i < N; i++, at += t.step) {
    two_floats v = {0, 0};
    if (i < rows) v = *(const two_floats *)at;
    x[2 * i] = v.x, x[2 * i + 1] = v.y;
  }
}
template <int N>
MT_INLINE void read_each (float *x, const pair_line &t, int rows, int real) {
  const char *at = place_again(t.at);
#pragma unroll
  for (int i = 0; i < N; i++, at += t.step) {
    x[2 * i] = x[2 * i + 1] = 0;
    if (i >= rows) continue;
    x[2 * i] = x[2 * i + 1] = read_side(t.dtype, at, 0);
    if (t.next != 0 && real > 1) x[2 * i + 1] = read_side(t.dtype, at + t.next, 0);
  }
}

/* N pairs as floats, of which `rows` are real; t steps on behind them. */
template <int N> MT_INLINE void read_pairs (float *x, pair_line &t, int rows, int real) {
  if (!t.together) read_each<N>(x, t, rows, real);
  else if (t.dtype == MT_f32) read_floats<N>(x, t, rows);
  else read_halves<N>(x, t, rows);
  t.at += N * t.step;
}

/* N pairs of D, given as the words of floats, or of integers, of which `rows` are real;
** t steps on behind them. */
template <int N>
MT_INLINE void write_halves (const uint32_t *w, const pair_line &t, int rows) {
  const char *at = place_again(t.at);
#pragma unroll
  for (int i = 0; i < N; i++, at += t.step)
    if (i < rows) *(uint32_t *)at = w[i];
}
template <int N>
MT_INLINE void write_each_half (const uint32_t *w, const pair_line &t, int rows,
                                int real) {
  const char *at = place_again(t.at);
#pragma unroll
  for (int i = 0; i < N; i++, at += t.step) {
    if (i >= rows) continue;
    *(uint16_t *)at = (uint16_t)w[i];
    if (real > 1) *(uint16_t *)(at + t.next) = (uint16_t)(w[i] >> 16);
  }
}
template <int N>
MT_INLINE void write_words (const float *x, const pair_line &t, int rows, int real) {
  const char *at = place_again(t.at);
#pragma unroll
  for (int i = 0; i < N; i++, at += t.step) {
    if (i >= rows) continue;
    if (t.together) *(two_floats *)at = {x[2 * i], x[2 * i + 1]};
    else {
      *(float *)at = x[2 * i];
      if (real > 1) *(float *)(at + t.next) = x[2 * i + 1];
    }
  }
}
template <int N>
MT_INLINE void write_pairs (const float *x, pair_line &t, int rows, int real) {
  if (size_of(t.dtype) == 4) write_words<N>(x, t, rows, real);
  else {
    uint32_t w[N];
#pragma unroll
    for (int i = 0; i < N; i++) w[i] = pair_of(t.dtype, x[2 * i], x[2 * i + 1]);
    if (t.together) write_halves<N>(w, t, rows);
    else write_each_half<N>(w, t, rows, real);
  }
  t.at += N * t.step;
}

/* ------------------------------------------------------------------ what is added */

/* What becomes of sums before the activation. */
struct addends {
  pair_line c, bias; /* `at` is null where there is none */
  float alpha, beta;
  bool floats; /* f32 is enough */
};

MT_INLINE pair_line side_of (const mt_finishing_side &s, const lane_pairs &x, int apart) {
  if (s.base == nullptr) return {};
  return line_of(s.base, s.dtype, s.stride, x, apart);
}

/* Of bias where all rows share it: of this lane's columns; else -0: it adds nothing. */
template <bool FINISHES, typename T>
MT_INLINE void read_columns (float *column, const T &p, const lane_pairs &x) {
  column[0] = column[1] = -0.0f;
  if constexpr (FINISHES) {
    const mt_finishing_side &bias = p.finish.side[MT_BIAS];
    if (bias.base && bias.stride[0] == 0 && x.rows > 0)
      read_each<1>(column, side_of(bias, x, 0), 1, x.real);
  }
}

template <bool FINISHES, typename T>
MT_INLINE addends addends_of (const T &p, const lane_pairs &x, int32_t dtype, int apart) {
  addends a = {};
  a.alpha = (float)p.alpha;
  a.beta = (float)p.beta;
  a.floats = FINISHES || (dtype != MT_f32 && p.alpha == a.alpha && p.beta == a.beta);
  if (p.beta != 0) a.c = line_of(p.c, dtype, p.stride, x, apart);
  if constexpr (FINISHES) {
    const mt_finishing_side &bias = p.finish.side[MT_BIAS];
    if (bias.stride[0] != 0) a.bias = side_of(bias, x, apart);
  }
  return a;
}

/* N pairs: alpha x + beta C + bias. */
template <int N, typename T>
MT_INLINE void scale (float *x, addends &a, const float *column, const T &p, int rows,
                      int real) {
  float y[2 * N] = {};
  if (a.c.at) read_pairs<N>(y, a.c, rows, real);
#pragma unroll
  for (int i = 0; i < 2 * N; i++)
    x[i] = a.floats ? fmaf(a.beta, y[i], a.alpha * x[i]) :
                      (float)(p.alpha * x[i] + p.beta * y[i]);
  if (a.bias.at) {
    read_pairs<N>(y, a.bias, rows, real);
#pragma unroll
    for (int i = 0; i < 2 * N; i++) x[i] += y[i];
  }
#pragma unroll
  for (int i = 0; i < 2 * N; i++) x[i] += column[i % 2];
}

/* ------------------------------------------------------------------ rows */

/* In place: scaled, biased, activated. */
template <typename P, typename T, typename S>
MT_INLINE void activate_rows (const T &p, S piece, addends &a, const float *column,
                              const lane_pairs &x) {
  enum { N = P::TIMES < 4 ? P::TIMES : 4 };
#pragma unroll 1
  for (int i = 0; i < x.rows; i += N) {
    float v[2 * N];
    P::template get<N>(v, piece, i);
    scale<N>(v, a, column, p, x.rows - i, x.real);
    activate<2 * N>(p.finish.form, v);
    P::template put<N>(piece, v, i);
  }
}

/* All rows of the thread, of which there are P::TIMES at most; `column` is what
** read_columns() says. */
template <typename P, bool FINISHES, typename T, typename S>
MT_INLINE void finish_rows (const T &p, S piece, const float *column, const lane_pairs &x,
                            int32_t dtype) {
  enum { N = P::MANY };
  const bool activates = FINISHES && p.finish.activation != MT_ACTIVATION_NONE;
  addends a = addends_of<FINISHES>(p, x, dtype, P::APART);
  pair_line residual = {};
  if constexpr (FINISHES) {
    if (activates) activate_rows<P>(p, piece, a, column, x);
    residual = side_of(p.finish.side[MT_RESIDUAL], x, P::APART);
  }
  pair_line d = line_of(p.c, dtype, p.stride, x, P::APART);
#pragma unroll 1
  for (int i = 0; i < x.rows; i += N) {
    float v[2 * N], y[2 * N];
    if (residual.at) read_pairs<N>(y, residual, x.rows - i, x.real);
    P::template get<N>(v, piece, i);
    if (!activates && dtype != MT_i32) scale<N>(v, a, column, p, x.rows - i, x.real);
    if (residual.at)
#pragma unroll
      for (int k = 0; k < 2 * N; k++) v[k] += y[k];
    write_pairs<N>(v, d, x.rows - i, x.real);
  }
}

} // namespace mt
#endif
