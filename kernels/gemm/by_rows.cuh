/*
** by_rows.cuh - sums to D by rows, by way of shared memory: where D has no map, or what
** is read besides is not where sums are.
** SPDX-License-Identifier: MIT
**
**   registers of a warp       its piece of shared memory        D
**
**   16 rows x N sums  ----->  | 16 rows x 64 columns |  ----->  a row by 32 neighbours,
**                             pairs of columns trade            each a pair of columns;
**                             places within a row               C, bias, residual alike
**
** Piece by piece; warps do not wait for each other. What is read has been asked for
** (ask_ahead) before the tile was multiplied, and waits in the L2.
*/
#ifndef BY_ROWS_CUH
#define BY_ROWS_CUH

#include "kernels/gemm/pairs.cuh"
#include "kernels/gemm/sm90.cuh"

namespace mt {

/* ------------------------------------------------------------------ pieces */

/* PAIRS of columns of a piece; APART rows of it by the lanes of a warp at a time, which
** finish at most MOST of their pairs together. */
template <int N, int MOST> struct piece_of {
  enum { COLUMNS = N % 64 == 0 ? 64 : N % 32 == 0 ? 32 : 16, PAIRS = COLUMNS / 2 };
  enum { APART = 32 / PAIRS, TIMES = MT_WARP_ROWS / APART };
  enum { MANY = TIMES < MOST ? TIMES : MOST };

  /* Writing, four lanes have neighbours of a row, four rows take half of a turn. */
  static MT_INLINE uint32_t place (int row, int pair) {
    const int turn = PAIRS < 16 ? row / 2 % 2 * 4 : row % 4 * 4;
    return (row * PAIRS + (pair ^ turn)) * 8;
  }
  static MT_INLINE uint32_t mine (int i) {
    const int lane = threadIdx.x % 32;
    return place(lane / PAIRS + i * APART, lane % PAIRS);
  }
  template <int COUNT> static MT_INLINE void get (float *x, uint32_t from, int i) {
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
      uint32_t v, w;
      load_words(from + mine(i + k), v, w);
      x[2 * k] = mt_as_float(v), x[2 * k + 1] = mt_as_float(w);
    }
  }
  template <int COUNT> static MT_INLINE void put (uint32_t to, const float *x, int i) {
#pragma unroll
    for (int k = 0; k < COUNT; k++)
      store_words(to + mine(i + k), bits_of(x[2 * k]), bits_of(x[2 * k + 1]));
  }
};

/* Sums of 16 rows as wgmma has them: two of a pair, then those 8 rows below. */
template <typename P, typename S> MT_INLINE void put_piece (uint32_t to, const S *c) {
  const int lane = threadIdx.x % 32, row = lane / 4, pair = lane % 4;
#pragma unroll
  for (int j = 0; j < P::PAIRS / 4; j++)
#pragma unroll
    for (int half = 0; half < 2; half++)
      store_words(to + P::place(row + 8 * half, 4 * j + pair),
                  bits_of(c[4 * j + 2 * half]), bits_of(c[4 * j + 2 * half + 1]));
}

/* The sums of a warp, by way of its piece of shared memory: 16 rows of D from m on, the
** columns of a tile from n on. The bias of a piece's columns is read while the piece
** before is stored. */
template <typename H>
MT_INLINE void store_rows (const mt_hopper_launch &p, const typename H::sum *c,
                           uint32_t piece, int m, int n, int l) {
  typedef piece_of<H::N, H::FINISHES ? 4 : 8> P;
  enum { PIECES = H::N / P::COLUMNS };
  const int lane = threadIdx.x % 32;
  const int row = m + lane / P::PAIRS, left = p.size[0] - row;
  const int rows = left <= 0 ? 0 : (left + P::APART - 1) / P::APART;
  const int32_t dtype = H::FINISHES ? p.dtype : (int32_t)H::out::dtype;
  lane_pairs x = {row, n + lane % P::PAIRS * 2, l, rows < P::TIMES ? rows : P::TIMES, 0};
  float column[2], next[2];
  x.real = p.size[1] - x.column;
  if (x.real > 0) read_columns<H::FINISHES>(next, p, x);
#pragma unroll 1
  for (int q = 0; q < PIECES; q++) {
    lane_pairs mine = x;
    column[0] = next[0], column[1] = next[1];
    x.column += P::COLUMNS;
    x.real -= P::COLUMNS;
    if (q + 1 < PIECES && x.real > 0) read_columns<H::FINISHES>(next, p, x);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < PIECES; i++)
      if (i == q) put_piece<P>(piece, c + i * P::PAIRS);
    __syncwarp();
    if (mine.real > 0) finish_rows<P, H::FINISHES>(p, piece, column, mine, dtype);
  }
}

/* ------------------------------------------------------------------ asking ahead */

/* Rows of a tensor come into the L2: 16 from m on, their columns from n on, where these
** lie together. */
template <int N>
MT_INLINE void ask_rows (const mt_hopper_launch &p, const void *base, int32_t dtype,
                         const int64_t stride[3], int m, int n, int l) {
  enum { LINE = 128 };
  const int lane = threadIdx.x % 32, row = m + lane / 2, size = size_of(dtype);
  const int columns = p.size[1] - n < N ? p.size[1] - n : N;
  if (base == nullptr || stride[1] != 1 || stride[0] == 0 || row >= p.size[0]) return;
  const char *at = (const char *)base + place_of(stride, row, n, l) * size;
#pragma unroll 1
  for (int i = lane % 2 * LINE; i < columns * size; i += 2 * LINE) prefetch_line(at + i);
}

/* What store_rows() will read. */
template <typename H>
MT_INLINE void ask_ahead (const mt_hopper_launch &p, int m, int n, int l) {
  const int32_t dtype = H::FINISHES ? p.dtype : H::out::dtype;
  if (p.beta != 0) ask_rows<H::N>(p, p.c, dtype, p.stride, m, n, l);
  if constexpr (H::FINISHES)
    for (int i = 0; i < MT_BESIDES; i++) {
      const mt_finishing_side &s = p.finish.side[i];
      ask_rows<H::N>(p, s.base, s.dtype, s.stride, m, n, l);
    }
}

} // namespace mt
#endif
