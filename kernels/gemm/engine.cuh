/*
** engine.cuh - how a warp multiplies one stage in shared memory, by type.
** SPDX-License-Identifier: MIT
**
** An engine has a tile of T_M by T_N sums in the registers of a warp, adds T_K of a stage
** to them, and puts them into shared memory as rows. Three of them:
**   by_cores    16 and 8 bits: 16 x 8 sums an instruction, operands by matrices
**   by_doubles  f64: the same, operands by elements
**   by_threads  f32: 16 x 8 sums a thread, or 8 x 8, multiplied and added one by one
*/
#ifndef ENGINE_CUH
#define ENGINE_CUH

#include "kernels/gemm/feed.cuh"
#include "kernels/gemm/flags.cuh"

namespace mt {

MT_INLINE int lane_of_warp () { return threadIdx.x % 32; }

/* A sum to its place, or added to what is there. */
template <bool ADD, typename SUM> MT_INLINE void put_sum (SUM *to, SUM x) {
  if constexpr (ADD) x += *to;
  *to = x;
}

/* Sums of 16 x 8 as an instruction has them: rows of PITCH sums from `to` on. */
template <int PITCH, bool ADD, typename SUM>
MT_INLINE void put_sums (SUM *to, const SUM *c) {
  to += lane_of_warp() / 4 * PITCH + lane_of_warp() % 4 * 2;
#pragma unroll
  for (int i = 0; i < 4; i++) put_sum<ADD>(to + i / 2 * 8 * PITCH + i % 2, c[i]);
}

/* All sums of a block in the order of its threads: to another block, from there. */
template <int THREADS, int COUNT, typename SUM>
MT_INLINE void give_all (SUM *to, const SUM *c) {
#pragma unroll
  for (int i = 0; i < COUNT; i++) to[i * THREADS + threadIdx.x] = c[i];
}
template <int THREADS, int COUNT, typename SUM>
MT_INLINE void take_all (SUM *c, const SUM *from) {
#pragma unroll
  for (int i = 0; i < COUNT; i++) c[i] += read_of_block(from + i * THREADS + threadIdx.x);
}

/* ------------------------------------------------------------------ operands of cores */

/* What an instruction takes of registers that matrices() filled: a rule of the type. */
#define MT_CORE(name, size, sum_)                                                        \
  struct core_##name {                                                                   \
    enum { bytes = size, A = 4, B = 2 };                                                 \
    typedef sum_ sum;                                                                    \
    static MT_INLINE void take_a (uint32_t *a, const uint32_t *r) {                      \
      a[0] = r[0], a[1] = r[1], a[2] = r[2], a[3] = r[3];                                \
    }                                                                                    \
    static MT_INLINE void take_b (uint32_t *b, uint32_t x, uint32_t y) {                 \
      b[0] = x, b[1] = y;                                                                \
    }                                                                                    \
    static MT_INLINE void run (sum *c, const uint32_t *a, const uint32_t *b) {           \
      mma_##name(c, a, b);                                                               \
    }                                                                                    \
  };
MT_CORE(f16, 2, float)
MT_CORE(bf16, 2, float)
MT_CORE(i8_i8, 1, int32_t)
MT_CORE(i8_u8, 1, int32_t)
MT_CORE(u8_i8, 1, int32_t)
MT_CORE(u8_u8, 1, int32_t)
#undef MT_CORE

/* 8-bit floats as f16, in two instructions of half the depth: which elements of K a lane
** has is free, where A and B agree. The first has the lane's 4 of the first 16 bytes, the
** second those of the others. */
#define MT_CORE_FLOAT8(name_a, name_b)                                                   \
  struct core_##name_a##_##name_b {                                                      \
    enum { bytes = 1, A = 8, B = 4 };                                                    \
    typedef float sum;                                                                   \
    static MT_INLINE void take_a (uint32_t *a, const uint32_t *r) {                      \
      for (int i = 0; i < 8; i++)                                                        \
        a[i] = halves_##name_a(r[i / 4 * 2 + i % 2], i / 2 % 2);                         \
    }                                                                                    \
    static MT_INLINE void take_b (uint32_t *b, uint32_t x, uint32_t y) {                 \
      for (int i = 0; i < 4; i++) b[i] = halves_##name_b(i / 2 ? y : x, i % 2);          \
    }                                                                                    \
    static MT_INLINE void run (float *c, const uint32_t *a, const uint32_t *b) {         \
      mma_f16(c, a, b);                                                                  \
      mma_f16(c, a + 4, b + 2);                                                          \
    }                                                                                    \
  };
MT_CORE_FLOAT8(e4m3, e4m3)
MT_CORE_FLOAT8(e4m3, e5m2)
MT_CORE_FLOAT8(e5m2, e4m3)
MT_CORE_FLOAT8(e5m2, e5m2)
#undef MT_CORE_FLOAT8

/* ------------------------------------------------------------------ by cores */

/* 16 rows by 32 bytes of K, step kk of a stage, as four matrices, in the order that the
** registers of an operand have: of A two of rows, then of the other half of K; of B two
** of K, then of the other 8 rows. */
template <int LINE, int ROWS, bool MN, bool IS_B>
MT_INLINE void fragment (uint32_t *r, const char *from, int row, int kk) {
  const int lane = lane_of_warp(), x = lane / 8 % 2, y = lane / 16;
  const int half = IS_B ? x : y, other = IS_B ? y : x;
  if constexpr (MN)
    matrices_turned(r, from + column_place<ROWS>(kk * 16 + half * 8 + lane % 8,
                                                 row / 8 + other));
  else matrices(r, from + row_place<LINE>(row + other * 8 + lane % 8, kk * 2 + half));
}

template <typename CORE, int M, int N, int LINE, int T_M, int T_N, bool A_MN, bool B_MN>
struct by_cores {
  typedef typename CORE::sum sum;
  enum { I = T_M / 16, J = T_N / 8, AHEAD = false };
  sum c[I][J][4] = {};

  /* 32 bytes of K. */
  MT_INLINE void step (const char *a, const char *b, int row, int column, int kk) {
    uint32_t x[I][CORE::A], y[J][CORE::B];
#pragma unroll
    for (int i = 0; i < I; i++) {
      uint32_t r[4];
      fragment<LINE, M, A_MN, false>(r, a, row + 16 * i, kk);
      CORE::take_a(x[i], r);
    }
#pragma unroll
    for (int j = 0; j < J; j += 2) {
      uint32_t r[4];
      fragment<LINE, N, B_MN, true>(r, b, column + 8 * j, kk);
      CORE::take_b(y[j], r[0], r[1]);
      CORE::take_b(y[j + 1], r[2], r[3]);
    }
#pragma unroll
    for (int i = 0; i < I; i++)
#pragma unroll
      for (int j = 0; j < J; j++) CORE::run(c[i][j], x[i], y[j]);
  }
  template <typename FEED>
  MT_INLINE void multiply (const char *a, const char *b, int row, int column, int,
                           FEED feed) {
    feed();
#pragma unroll
    for (int kk = 0; kk < LINE / 32; kk++) step(a, b, row, column, kk);
  }
  template <int PITCH, bool ADD> MT_INLINE void put (sum *to) const {
#pragma unroll
    for (int i = 0; i < I; i++)
#pragma unroll
      for (int j = 0; j < J; j++)
        put_sums<PITCH, ADD>(to + 16 * i * PITCH + 8 * j, c[i][j]);
  }
};

/* ------------------------------------------------------------------ by doubles */

/* Element (row + lane / 4, k + lane % 4) of a stage: what a lane has of 8 rows by 4. */
template <int ROWS, int LINE, bool MN>
MT_INLINE double double_at (const char *from, int row, int k) {
  row += lane_of_warp() / 4, k += lane_of_warp() % 4;
  if constexpr (MN) return ((const double *)from)[k * (ROWS + MT_COLUMN_PAD(8)) + row];
  else return *(const double *)(from + double_place<LINE>(row, k / 2) + k % 2 * 8);
}

/* What step k + 1 takes is read while step k is multiplied: of the last of a stage, of
** the next stage. */
template <int M, int N, int K, int T_M, int T_N, int T_K, bool A_MN, bool B_MN>
struct by_doubles {
  typedef double sum;
  enum { I = T_M / 16, J = T_N / 8, LINE = K * 8, STEPS = T_K / 8 };
  enum {
    AHEAD = STEPS % 2 == 0
  }; /* a stage ends with the registers that it began with */
  double c[I][J][4] = {};
  double x[2][I][4], y[2][J][2];

  MT_INLINE void read (int to, const char *a, const char *b, int row, int column, int k) {
#pragma unroll
    for (int i = 0; i < I; i++)
#pragma unroll
      for (int q = 0; q < 4; q++)
        x[to][i][q] =
            double_at<M, LINE, A_MN>(a, row + 16 * i + q % 2 * 8, k + q / 2 * 4);
#pragma unroll
    for (int j = 0; j < J; j++)
#pragma unroll
      for (int q = 0; q < 2; q++)
        y[to][j][q] = double_at<N, LINE, B_MN>(b, column + 8 * j, k + q * 4);
  }
  MT_INLINE void step (int from) {
#pragma unroll
    for (int i = 0; i < I; i++)
#pragma unroll
      for (int j = 0; j < J; j++) mma_f64(c[i][j], x[from][i], y[from][j]);
  }
  template <typename FEED>
  MT_INLINE void multiply (const char *a, const char *b, int row, int column, int first,
                           FEED feed) {
    feed();
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
      read(0, a, b, row, column, first + 8 * k);
      step(0);
    }
  }
  /* A stage whose first step was read; `turn` waits for the next one, at next_a and
  ** next_b; `feed` issues a share of the copies, at each step but the last. */
  template <typename FEED, typename TURN>
  MT_INLINE void multiply_ahead (const char *a, const char *b, const char *next_a,
                                 const char *next_b, int row, int column, int first,
                                 FEED feed, TURN turn) {
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
      const bool last = k + 1 == STEPS;
      if (last) turn();
      read((k + 1) % 2, last ? next_a : a, last ? next_b : b, row, column,
           first + (last ? 0 : 8 * (k + 1)));
      if (!last) feed(k);
      step(k % 2);
    }
  }
  template <int PITCH, bool ADD> MT_INLINE void put (double *to) const {
#pragma unroll
    for (int i = 0; i < I; i++)
#pragma unroll
      for (int j = 0; j < J; j++)
        put_sums<PITCH, ADD>(to + 16 * i * PITCH + 8 * j, c[i][j]);
  }
  template <int THREADS> MT_INLINE void give (double *to) const {
    give_all<THREADS, I * J * 4>(to, c[0][0]);
  }
  template <int THREADS> MT_INLINE void take (const double *from) {
    take_all<THREADS, I * J * 4>(c[0][0], from);
  }
};

/* ------------------------------------------------------------------ by threads */

/* A warp's lanes are DOWN x ACROSS; a thread has 4 rows of each 4 DOWN, 4 columns of each
** 4 ACROSS. What step k + 1 takes is read while step k is multiplied. Lanes go zigzag: a
** half of a warp has 2 of the shorter side and 8 of the longer one. */
template <int M, int N, int T_M, int T_N, int T_K> struct by_threads {
  typedef float sum;
  enum { DOWN = T_M > T_N ? 8 : 4, ACROSS = 32 / DOWN };
  enum { I = T_M / DOWN, J = T_N / ACROSS, AHEAD = false };
  float c[I][J] = {};

  static MT_INLINE int of_four () { return lane_of_warp() % 2 + lane_of_warp() / 16 * 2; }
  static MT_INLINE int of_eight () { return lane_of_warp() / 2 % 8; }
  static MT_INLINE int down () { return 4 * (DOWN == 8 ? of_eight() : of_four()); }
  static MT_INLINE int across () { return 4 * (DOWN == 8 ? of_four() : of_eight()); }

  template <int ROWS, int COUNT, int NEXT>
  static MT_INLINE void read (float *to, const float *from, int k) {
#pragma unroll
    for (int h = 0; h < COUNT / 4; h++) {
      const quad q = *(const quad *)(from + k * (ROWS + MT_COLUMN_PAD(4)) + h * NEXT);
#pragma unroll
      for (int i = 0; i < 4; i++) to[4 * h + i] = q.x[i];
    }
  }
  template <typename FEED>
  MT_INLINE void multiply (const char *from_a, const char *from_b, int row, int column,
                           int first, FEED feed) {
    const float *a =
        (const float *)from_a + first * (M + MT_COLUMN_PAD(4)) + row + down();
    const float *b =
        (const float *)from_b + first * (N + MT_COLUMN_PAD(4)) + column + across();
    float x[2][I], y[2][J];
    read<M, I, 4 * DOWN>(x[0], a, 0);
    read<N, J, 4 * ACROSS>(y[0], b, 0);
#pragma unroll
    for (int k = 0; k < T_K; k++) {
      if (k + 1 < T_K) {
        read<M, I, 4 * DOWN>(x[(k + 1) % 2], a, k + 1);
        read<N, J, 4 * ACROSS>(y[(k + 1) % 2], b, k + 1);
      }
      if (k == 0) feed();
#pragma unroll
      for (int i = 0; i < I; i++)
#pragma unroll
        for (int j = 0; j < J; j++) c[i][j] = fmaf(x[k % 2][i], y[k % 2][j], c[i][j]);
    }
  }
  /* One by one, which `volatile` says to the compiler: sums that are stored as vectors
  ** have registers beside each other, and the operands of most products then are in one
  ** bank of registers. */
  template <int PITCH, bool ADD> MT_INLINE void put (float *to) const {
    to += down() * PITCH + across();
#pragma unroll
    for (int i = 0; i < I; i++)
#pragma unroll
      for (int j = 0; j < J; j++) {
        volatile float *at =
            to + (i / 4 * 4 * DOWN + i % 4) * PITCH + (j / 4 * 4 * ACROSS + j % 4);
        *at = ADD ? *at + c[i][j] : c[i][j];
      }
  }
  template <int THREADS> MT_INLINE void give (float *to) const {
    give_all<THREADS, I * J>(to, c[0]);
  }
  template <int THREADS> MT_INLINE void take (const float *from) {
    take_all<THREADS, I * J>(c[0], from);
  }
};

} // namespace mt
#endif
