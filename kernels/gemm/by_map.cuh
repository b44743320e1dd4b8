/*
** by_map.cuh - sums to D by its map: finished in registers, stored by the copy engine.
** SPDX-License-Identifier: MIT
**
**   registers of a warp        pieces of shared memory        D
**
**   16 rows x N sums  ----->   | 16 rows x 128 bytes |  -- TMA -->
**        ^                     two of a warp, in turn
**        | alpha, C, bias, activation, residual, in place
**
** What an epilogue reads is on its way before it is wanted: C or the residual since
** the first products, as much of it as there are registers for, the rest since these were
** used; the bias while the last slab is multiplied, of the second round in the first.
** Warps do not wait for each other.
*/
#ifndef BY_MAP_CUH
#define BY_MAP_CUH

#include "kernels/gemm/activation.cuh"
#include "kernels/gemm/finish.cuh"
#include "kernels/gemm/sm90.cuh"
#include "kernels/gemm/tma.cuh"

namespace mt {

/* alpha x of COUNT sums; of integers alpha is 1. */
template <int COUNT> MT_INLINE void scale_all (float *x, float alpha) {
  if (alpha == 1) return;
#pragma unroll
  for (int i = 0; i < COUNT; i++) x[i] *= alpha;
}
template <int COUNT> MT_INLINE void scale_all (int32_t *, float) {}

/* ------------------------------------------------------------------ pieces */

/* Words of a lane in a piece: of 2 bytes pairs of 64 columns, of 4 bytes 32 columns. */
enum { PIECE_WORDS = 16 };

/* Columns [16 j, 16 j + 16) of 2 bytes: eight sums. A lane gives the address of one row
** of one matrix: lanes 0 to 15 the rows of columns 0 to 7, 16 to 31 of 8 to 15. */
MT_INLINE uint32_t half_place (uint32_t piece, int j) {
  const int lane = threadIdx.x % 32;
  const uint32_t row = piece + lane % 16 * MT_SLAB;
  return row + (((2 * j + lane / 16) ^ lane % 8) << 4);
}
MT_INLINE void put_halves (uint32_t to, int j, const uint32_t *w) {
  store_matrices(half_place(to, j), w[0], w[1], w[2], w[3]);
}

/* Columns [0, 32) of 4 bytes: sixteen sums. */
MT_INLINE void put_words (uint32_t to, const uint32_t *w) {
  const int lane = threadIdx.x % 32, row = lane / 4;
  to += row * MT_SLAB + lane % 2 * 8;
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const uint32_t at = to + (((2 * j + lane % 4 / 2) ^ row) << 4);
#pragma unroll
    for (int half = 0; half < 2; half++)
      store_words(at + half * 8 * MT_SLAB, w[4 * j + 2 * half], w[4 * j + 2 * half + 1]);
  }
}

/* The words of a piece, from sums; the sums of a lane in one. */
template <typename OUT> struct piece_words {
  enum { SUMS = PIECE_WORDS * 4 / OUT::bytes, COLUMNS = MT_SLAB / OUT::bytes };

  template <typename S> static MT_INLINE void make (uint32_t *w, const S *c) {
#pragma unroll
    for (int i = 0; i < PIECE_WORDS; i++)
      if constexpr (OUT::bytes == 4) w[i] = bits_of(c[i]);
      else w[i] = pair_of(OUT::dtype, c[2 * i], c[2 * i + 1]);
  }
  static MT_INLINE void put (uint32_t to, const uint32_t *w) {
    if constexpr (OUT::bytes == 4) put_words(to, w);
    else
#pragma unroll
      for (int j = 0; j < 4; j++) put_halves(to, j, w + 4 * j);
  }
};

/* A piece may be written again, of two in turn where there are two. */
template <bool TWO> MT_INLINE void begin_piece () {
  if (is_one_lane()) tma_store_wait_read<TWO>();
  __syncwarp();
}
MT_INLINE void end_piece (const tma_map *map, uint32_t piece, int m, int n, int l) {
  fence_for_copies();
  __syncwarp();
  if (is_one_lane()) {
    tma_store(map, piece, n, m, l);
    tma_store_commit();
  }
}

/* The q-th piece of a tile of N columns, of which n is the first. Where there is an odd
** number of them the first one follows one of its own place. */
template <typename OUT, int N>
MT_INLINE void store_piece (const mt_hopper_launch &p, const uint32_t *w, uint32_t pieces,
                            int q, int m, int n, int l) {
  typedef piece_words<OUT> P;
  const uint32_t to = pieces + q % 2 * MT_WARP_PIECE;
  if (N / P::COLUMNS % 2 != 0 && q == 0) begin_piece<false>();
  else begin_piece<true>();
  P::put(to, w);
  end_piece(&p.d, to, m, n + q * P::COLUMNS, l);
}

/* The sums of a warp, 128 bytes of columns at a time. */
template <typename H>
MT_INLINE void store (const mt_hopper_launch &p, typename H::sum *c, uint32_t pieces,
                      int m, int n, int l) {
  typedef piece_words<typename H::out> P;
  scale_all<H::SUMS>(c, (float)p.alpha);
#pragma unroll
  for (int q = 0; q < H::N / P::COLUMNS; q++) {
    uint32_t w[PIECE_WORDS];
    P::make(w, c + q * P::SUMS);
    store_piece<typename H::out, H::N>(p, w, pieces, q, m, n, l);
  }
}

/* ------------------------------------------------------------------ what is read */

/* Columns that are read and put at a time, and a thread's sums of them. */
enum { UNIT = 32, UNIT_SUMS = UNIT / 2 };

/* Of C or the residual, whose pairs of columns are one access each: where this lane's
** pairs begin. */
struct pair_rows {
  const char *at; /* null: there is none */
  int64_t below;  /* bytes to the row 8 below */
  int32_t dtype;
};

MT_INLINE pair_rows rows_of (const void *base, int32_t dtype, const int64_t stride[3],
                             int m, int n, int l) {
  if (base == nullptr) return {};
  const int lane = threadIdx.x % 32, size = dtype == MT_f32 ? 4 : 2;
  const int64_t at = place_of(stride, m + lane / 4, n + lane % 4 * 2, l);
  return {(const char *)base + at * size, 8 * stride[0] * size, dtype};
}

/* Whether there is C or a residual: it is known for all lanes, of pointers of lanes it is
** not. */
MT_INLINE bool has_side (const mt_hopper_launch &p) {
  return p.beta != 0 || p.finish.side[MT_RESIDUAL].base != nullptr;
}

/* C or the residual: one of them at most is by the map. */
MT_INLINE pair_rows side_rows (const mt_hopper_launch &p, int m, int n, int l) {
  const mt_finishing_side &s = p.finish.side[MT_RESIDUAL];
  if (p.beta != 0) return rows_of(p.c, p.dtype, p.stride, m, n, l);
  return rows_of(s.base, s.dtype, s.stride, m, n, l);
}

/* Rows and columns of D from this lane's first on. */
struct lane_left {
  int rows, columns;
};
MT_INLINE lane_left left_of (const mt_hopper_launch &p, int m, int n) {
  const int lane = threadIdx.x % 32;
  return {p.size[0] - m - lane / 4, p.size[1] - n - lane % 4 * 2};
}

struct alignas(8) two_words {
  uint32_t x, y;
};

/* The words of unit u: of 16 bits one for each pair, of 32 bits two. The type is asked
** for once, not for each of them: what is chosen in a loop becomes jumps. */
template <int SIZE>
MT_INLINE void read_words (uint32_t *w, const pair_rows &from, int u, lane_left left) {
  const int columns = left.columns - u * UNIT;
#pragma unroll
  for (int i = 0; i < UNIT_SUMS / 2; i++) {
    const char *pair =
        from.at + u * (UNIT * SIZE) + i % 2 * from.below + i / 2 * 8 * SIZE;
    const bool is_real = i / 2 * 8 < columns && i % 2 * 8 < left.rows;
    if constexpr (SIZE == 2) w[i] = is_real ? *(const uint32_t *)pair : 0;
    else {
      two_words v = {0, 0};
      if (is_real) v = *(const two_words *)pair;
      w[2 * i] = v.x, w[2 * i + 1] = v.y;
    }
  }
}

/* Of so many words of the side that are read ahead those of the i-th unit of a round, and
** how many units these are. */
template <int ALL, int SIZE> struct units_ahead {
  enum { WORDS = UNIT_SUMS / 4 * SIZE, COUNT = ALL / WORDS };
  static MT_INLINE uint32_t *of (uint32_t *side, int i) {
    return side + i % COUNT * WORDS;
  }
};
/* The part-th of so many parts of them. */
template <int ALL, int SIZE>
MT_INLINE void read_part (uint32_t *side, const pair_rows &from, lane_left left, int part,
                          int parts) {
  typedef units_ahead<ALL, SIZE> A;
#pragma unroll
  for (int u = part * A::COUNT / parts; u < (part + 1) * A::COUNT / parts; u++)
    read_words<SIZE>(A::of(side, u), from, u, left);
}

/* The bits of COUNT elements, so many apart, of which `real` are there; of f64 those of
** their f32. */
MT_INLINE uint32_t read_bits (const uint16_t *at) { return *at; }
MT_INLINE uint32_t read_bits (const uint32_t *at) { return *at; }
MT_INLINE uint32_t read_bits (const double *at) { return bits_of((float)*at); }
template <typename T, int COUNT>
MT_INLINE void read_each_bits (uint32_t *w, const char *at, int64_t step, int real) {
#pragma unroll
  for (int i = 0; i < COUNT; i++)
    w[i] = i < real ? read_bits((const T *)(at + i * step * (int64_t)sizeof(T))) : 0;
}
template <int COUNT>
MT_INLINE void read_line (uint32_t *w, const mt_finishing_side &s, int64_t at,
                          int64_t step, int real) {
  const char *base = (const char *)s.base;
  if (s.dtype == MT_f32) read_each_bits<uint32_t, COUNT>(w, base + at * 4, step, real);
  else if (s.dtype == MT_f64) read_each_bits<double, COUNT>(w, base + at * 8, step, real);
  else read_each_bits<uint16_t, COUNT>(w, base + at * 2, step, real);
}

/* Units that are finished in a round: 128 columns, or all where these are no multiple. */
template <int N> struct round_of {
  enum { UNITS = N % (4 * UNIT) != 0 ? (N + UNIT - 1) / UNIT : 4 };
};

/* What is read ahead, of the side so many words. Of a bias that all rows share, this lane
** has a column of each unit of a round; else those of its two rows. */
template <int N, int ALL> struct ahead { uint32_t bias[round_of<N>::UNITS], side[ALL]; };
template <int N> struct ahead<N, 0> { uint32_t bias[round_of<N>::UNITS]; };

/* Of the round from column n on. */
template <int N>
MT_INLINE void read_bias (uint32_t *w, const mt_hopper_launch &p, int m, int n, int l) {
  const mt_finishing_side &s = p.finish.side[MT_BIAS];
  const int lane = threadIdx.x % 32;
  if (s.base == nullptr) return;
  if (s.stride[0] == 0) {
    const int left = p.size[1] - n - lane, real = left > 0 ? (left + UNIT - 1) / UNIT : 0;
    read_line<round_of<N>::UNITS>(w, s, place_of(s.stride, 0, n + lane, l),
                                  UNIT * s.stride[1], real);
  } else {
    const int row = m + lane / 4, left = p.size[0] - row;
    read_line<2>(w, s, place_of(s.stride, row, 0, l), 8 * s.stride[0],
                 left > 8 ? 2 : left > 0);
  }
}

/* The step-th of so many parts of what is read of C or a residual ahead. */
template <int N, int ALL>
MT_INLINE void read_side_ahead (ahead<N, ALL> &a, const mt_hopper_launch &p, int step,
                                int steps, int m, int n, int l) {
  const pair_rows side = side_rows(p, m, n, l);
  const lane_left left = left_of(p, m, n);
  if (!has_side(p)) return;
  if (side.dtype == MT_f32) read_part<ALL, 4>(a.side, side, left, step, steps);
  else read_part<ALL, 2>(a.side, side, left, step, steps);
}

/* ------------------------------------------------------------------ finishing */

/* The number that bits are, of 16 bits the lower ones. */
template <int DTYPE> MT_INLINE float number_of (uint32_t bits) {
  if constexpr (DTYPE == MT_f16) return float_of(bits & 0xffff);
  if constexpr (DTYPE == MT_bf16) return mt_as_float(bits << 16);
  return mt_as_float(bits);
}
MT_INLINE float number_of (int32_t dtype, uint32_t bits) { /* without a jump */
  const float half = number_of<MT_f16>(bits), x = number_of<MT_f32>(bits);
  const float other = dtype == MT_f16 ? half : x;
  return dtype == MT_bf16 ? number_of<MT_bf16>(bits) : other;
}

/* x + factor times what the words of a unit say. */
template <int DTYPE, int SUMS = UNIT_SUMS>
MT_INLINE void add_words (float *x, const uint32_t *w, float factor) {
#pragma unroll
  for (int i = 0; i < SUMS; i++) {
    const uint32_t bits = DTYPE == MT_f32 ? w[i] : w[i / 2] >> i % 2 * 16;
    x[i] = fmaf(factor, number_of<DTYPE>(bits), x[i]);
  }
}

/* The same of unit u, the i-th of its round, in whose place the unit is read that is as
** far ahead as there are words for. */
template <int N, int ALL, int DTYPE>
MT_INLINE void add_unit (float *x, uint32_t *side, const pair_rows &from, int u, int i,
                         lane_left left, float factor) {
  enum { SIZE = DTYPE == MT_f32 ? 4 : 2, COUNT = units_ahead<ALL, SIZE>::COUNT };
  uint32_t *w = units_ahead<ALL, SIZE>::of(side, i);
  add_words<DTYPE>(x, w, factor);
  if (u + COUNT < N / UNIT) read_words<SIZE>(w, from, u + COUNT, left);
}
template <int N, int ALL>
MT_INLINE void add_side (float *x, ahead<N, ALL> &a, const pair_rows &from, int u, int i,
                         lane_left left, float factor) {
  uint32_t *w = a.side;
  if (from.dtype == MT_bf16) add_unit<N, ALL, MT_bf16>(x, w, from, u, i, left, factor);
  else if (from.dtype == MT_f16) add_unit<N, ALL, MT_f16>(x, w, from, u, i, left, factor);
  else add_unit<N, ALL, MT_f32>(x, w, from, u, i, left, factor);
}

/* alpha x + a bias that all rows share, of which this lane has the bits of a column of
** the unit: of so many sums from sum FIRST on; of rows, of which it has two; of none. */
template <int SUMS, int FIRST = 0>
MT_INLINE void scale_columns (float *x, float alpha, uint32_t bits, int32_t dtype) {
  const int pair = threadIdx.x % 4 * 2;
  const uint32_t mine = bits_of(number_of(dtype, bits));
#pragma unroll
  for (int i = 0; i < SUMS / 2; i++) {
    const int column = (FIRST / 4 + i / 2) * 8 + pair + i % 2;
    const float y = mt_as_float(word_of_lane(mine, column));
    float *z = x + i / 2 * 4 + i % 2;
    z[0] = fmaf(alpha, z[0], y), z[2] = fmaf(alpha, z[2], y);
  }
}
template <int COUNT>
MT_INLINE void scale_rows (float *x, float alpha, const uint32_t *bits, int32_t dtype) {
  const float y[2] = {number_of(dtype, bits[0]), number_of(dtype, bits[1])};
#pragma unroll
  for (int i = 0; i < COUNT; i++) x[i] = fmaf(alpha, x[i], y[i / 2 % 2]);
}

/* x + factor times columns [16 j, 16 j + 16) of a piece of 16 bits: eight sums. */
template <int DTYPE>
MT_INLINE void add_part (float *x, uint32_t piece, int j, float factor) {
  uint32_t w[4];
  load_matrices(half_place(piece, j), w);
  add_words<DTYPE, 8>(x, w, factor);
}

/* A unit of 16 bits to its half of a piece; one of f32, which is a piece. */
template <int DTYPE> MT_INLINE void put_half (uint32_t to, const float *x, int half) {
  uint32_t w[UNIT_SUMS / 2];
#pragma unroll
  for (int i = 0; i < UNIT_SUMS / 2; i++) w[i] = pair_of(DTYPE, x[2 * i], x[2 * i + 1]);
#pragma unroll
  for (int j = 0; j < 2; j++) put_halves(to, 2 * half + j, w + 4 * j);
}
MT_INLINE void put_floats (uint32_t to, const float *x) {
  uint32_t w[UNIT_SUMS];
#pragma unroll
  for (int i = 0; i < UNIT_SUMS; i++) w[i] = bits_of(x[i]);
  put_words(to, w);
}

MT_INLINE void put_half (int32_t dtype, uint32_t to, const float *x, int half) {
  if (dtype == MT_bf16) put_half<MT_bf16>(to, x, half);
  else put_half<MT_f16>(to, x, half);
}

/* Unit u, whose half of a piece of 16 bits is known where it is called, to its piece. */
template <int N>
MT_INLINE void put_unit (const mt_hopper_launch &p, uint32_t pieces, const float *x,
                         int u, int half, int m, int n, int l) {
  const bool wide = p.dtype == MT_f32;
  const uint32_t to = pieces + (wide ? half : u / 2 % 2) * MT_WARP_PIECE;
  if (wide || half == 0) {
    if (N > 2 * UNIT || wide) begin_piece<true>();
    else begin_piece<false>(); /* it is the only one */
  }
  if (wide) put_floats(to, x);
  else put_half(p.dtype, to, x, half);
  if (wide || half == 1) end_piece(&p.d, to, m, n + (wide ? u : u - half) * UNIT, l);
}

/* alpha x + bias of the units of a round. */
template <int UNITS>
MT_INLINE void scale_units (float *x, float alpha, const uint32_t *bits,
                            const mt_finishing_side &bias) {
  enum { COUNT = UNITS * UNIT_SUMS };
  if (bias.base == nullptr) scale_all<COUNT>(x, alpha);
  else if (bias.stride[0] == 0)
#pragma unroll
    for (int u = 0; u < UNITS; u++)
      scale_columns<UNIT_SUMS>(x + u * UNIT_SUMS, alpha, bits[u], bias.dtype);
  else scale_rows<COUNT>(x, alpha, bits, bias.dtype);
}

/* The units of a round, from unit `first` on, in place; the bias of the next round is
** read. */
template <int N, int ALL_AHEAD>
MT_INLINE void finish_round (const mt_hopper_launch &p, float *c, ahead<N, ALL_AHEAD> &a,
                             const pair_rows &side, int first, int m, int n, int l) {
  enum { ALL = N / UNIT, UNITS = round_of<N>::UNITS, COUNT = UNITS * UNIT_SUMS };
  const mt_finishing_side &bias = p.finish.side[MT_BIAS];
  const float alpha = (float)p.alpha, factor = p.beta != 0 ? 1 : alpha;
  const lane_left left = left_of(p, m, n);
  if (p.beta != 0) {
    scale_all<COUNT>(c, alpha);
#pragma unroll
    for (int i = 0; i < UNITS; i++)
      add_side(c + i * UNIT_SUMS, a, side, first + i, i, left, (float)p.beta);
  }
  scale_units<UNITS>(c, factor, a.bias, bias);
  if (first + UNITS < ALL && bias.stride[0] == 0)
    read_bias<N>(a.bias, p, m, n + (first + UNITS) * UNIT, l);
#pragma unroll
  for (int i = 0; i < UNITS; i++) /* together they would want more registers */
    activate<UNIT_SUMS>(p.finish.form, c + i * UNIT_SUMS);
  if (!has_side(p) || p.beta != 0) return;
#pragma unroll
  for (int i = 0; i < UNITS; i++)
    add_side(c + i * UNIT_SUMS, a, side, first + i, i, left, 1);
}

/* The sums of a warp with an epilogue, in place, 128 columns a round at most: the code is
** one for all rounds, whose sums come down to the first registers. */
template <int N, int ALL_AHEAD>
MT_INLINE void store_finished (const mt_hopper_launch &p, float *c,
                               ahead<N, ALL_AHEAD> &a, uint32_t pieces, int m, int n,
                               int l) {
  enum { ALL = N / UNIT, UNITS = round_of<N>::UNITS, COUNT = UNITS * UNIT_SUMS };
  const pair_rows side = side_rows(p, m, n, l);
#pragma unroll 1
  for (int first = 0; first < ALL; first += UNITS) {
    finish_round(p, c, a, side, first, m, n, l);
#pragma unroll
    for (int i = 0; i < UNITS; i++)
      put_unit<N>(p, pieces, c + i * UNIT_SUMS, first + i, i % 2, m, n, l);
#pragma unroll
    for (int i = 0; i < (ALL - UNITS) * UNIT_SUMS; i++) c[i] = c[i + COUNT];
  }
}

} // namespace mt
#endif
