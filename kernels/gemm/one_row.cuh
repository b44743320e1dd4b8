/*
** one_row.cuh - a product of one row of f32, at the speed of memory: D = x B.
** SPDX-License-Identifier: MIT
**
**   x   | 128 of K | 128 of K | ...      all warps read it: it is in the caches
**   B   | 128 of K | 128 of K | ...      a warp has COLUMNS rows of B, which it streams;
**       | 128 of K | 128 of K | ...      a lane 4 elements of each 128
**                 |
**                 +--> sums of lanes --> shared memory, lane by lane --> D
**
** No element of B is used twice, so nothing of it comes into shared memory. What a lane
** reads is on its way before it is multiplied: TIMES parts of 128 of each of its rows.
** Lanes are added in their order: a plan has one result.
*/
#ifndef ONE_ROW_CUH
#define ONE_ROW_CUH

#include "kernels/gemm/engine.cuh"

namespace mt {

template <int COLUMNS, int TIMES> struct one_row {
  typedef float sum;
  enum { AHEAD = false, EACH = 4, PART = 32 * EACH };
  float c[COLUMNS] = {};
  const char *x, *y[COLUMNS]; /* where this lane's elements of the next part are */
  int64_t x_k, y_k;           /* bytes from one to the next along K */

  /* Rows behind the last are the last again: their sums are not stored. */
  template <bool LINES>
  MT_INLINE void begin (const mt_ampere_launch &p, int column, int l) {
    const operand &a = p.operand[0], &b = p.operand[1];
    const int first = lane_of_warp() * (LINES ? EACH : 1);
    x_k = a.k, y_k = b.k;
    x = a.base + l * a.batch + first * x_k;
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) {
      const int row = column + i < b.extent ? column + i : b.extent - 1;
      y[i] = b.base + l * b.batch + row * b.along + first * y_k;
    }
  }
  /* A lane's elements of a part of which `left` are real: by lines neighbours, else each
  ** 32nd. WHOLE: all are real. */
  template <bool LINES, bool WHOLE>
  static MT_INLINE quad read (const char *at, int64_t k, int left) {
    const int next = LINES ? 1 : 32, first = lane_of_warp() * (LINES ? EACH : 1);
    if constexpr (LINES && WHOLE) return read_global<quad>(at);
    else {
      quad q;
      if (LINES && first + EACH <= left) return read_global<quad>(at);
#pragma unroll
      for (int i = 0; i < EACH; i++)
        q.x[i] =
            WHOLE || first + i * next < left ? read_global<float>(at + i * next * k) : 0;
      return q;
    }
  }
  template <bool LINES, int PARTS, bool WHOLE> MT_INLINE void multiply (int left) {
    quad b[COLUMNS][PARTS];
#pragma unroll
    for (int i = 0; i < COLUMNS; i++)
#pragma unroll
      for (int t = 0; t < PARTS; t++)
        b[i][t] = read<LINES, WHOLE>(y[i] + t * PART * y_k, y_k, left);
#pragma unroll
    for (int t = 0; t < PARTS; t++) {
      const quad a = read<LINES, WHOLE>(x + t * PART * x_k, x_k, left);
#pragma unroll
      for (int i = 0; i < COLUMNS; i++)
#pragma unroll
        for (int e = 0; e < EACH; e++) c[i] = fmaf(a.x[e], b[i][t].x[e], c[i]);
    }
    x += PARTS * PART * x_k;
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) y[i] += PARTS * PART * y_k;
  }
  template <bool LINES>
  MT_INLINE void run (const mt_ampere_launch &p, int column, int l) {
    int left = p.size[2];
    begin<LINES>(p, column, l);
#pragma unroll 1
    for (; left >= TIMES * PART; left -= TIMES * PART) multiply<LINES, TIMES, true>(left);
#pragma unroll 1
    for (; left > 0; left -= PART) multiply<LINES, 1, false>(left);
  }
};

/* The sums of all lanes to N sums at `part`. */
template <typename G> MT_INLINE void gather_lanes (float *part, const float *c) {
  enum { PITCH = MT_AMPERE_LANES };
  float *lanes = part + G::N;
  const int column = threadIdx.x / 32 * G::T_N;
#pragma unroll
  for (int i = 0; i < G::T_N; i++) lanes[(column + i) * PITCH + lane_of_warp()] = c[i];
  __syncthreads();
  if (threadIdx.x < G::N) {
    float all = 0;
#pragma unroll
    for (int i = 0; i < 32; i++) all += lanes[threadIdx.x * PITCH + i];
    part[threadIdx.x] = all;
  }
  __syncthreads();
}

template <typename G>
MT_INLINE void run_one_row (const mt_ampere_launch &p, char *memory, int n, int l) {
  static_assert(G::WARPS_M == 1 && G::WARPS_K == 1 && G::K == G::engine::PART, "its row");
  typename G::engine e;
  const int column = n * G::N + threadIdx.x / 32 * G::T_N;
  if (p.operand[1].way == MT_WAY_LINES) e.template run<true>(p, column, l);
  else e.template run<false>(p, column, l);
  gather_lanes<G>((float *)memory, e.c);
}

} // namespace mt
#endif
