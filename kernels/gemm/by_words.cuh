/*
** by_words.cuh - sums to D whose rows lie together but begin at no multiple of 16 bytes,
** as TMA wants it: by the widest accesses that they allow.
** SPDX-License-Identifier: MIT
**
**   registers of a warp      pieces of shared memory       D
**
**   16 rows x N sums  --->  | unit q - 1 | unit q |  --->  |a a a a|a a a a|  8 bytes
**                            of a row 128 bytes each       |a a|a a|a a|a a|  4 bytes
**                                                          a a|a a a a a a a a|a a
**
** Where all rows are aligned to 4 or 8 bytes, a unit goes as it is. Else, of 16 bits, by
** lines of 16 bytes, each of which has bytes of two neighbouring lines of a unit, or of
** two units; what is less, at both ends of a row, goes element by element. (Maps of every
** 2nd, 4th or 8th row do not do: a box of TMA begins at a multiple of 16 bytes, too.)
*/
#ifndef BY_WORDS_CUH
#define BY_WORDS_CUH

#include "kernels/gemm/by_map.cuh"
#include "kernels/gemm/window.cuh"

namespace mt {

enum { D_LINE = sizeof(vector) };

/* The columns of a tile in D, for a warp: of its 16 rows, the first of which begins at
** `first`, `rows` are real, and of a row `bytes`. */
struct rows_of_d {
  char *first;
  int64_t pitch;
  int rows, bytes;
};

template <typename H>
MT_INLINE rows_of_d rows_of_warp (const mt_hopper_launch &p, int m, int n, int l) {
  const int columns = p.size[1] - n < H::N ? p.size[1] - n : H::N;
  return {(char *)p.c + place_of(p.stride, m, n, l) * H::out::bytes,
          p.stride[0] * H::out::bytes, p.size[0] - m, columns * H::out::bytes};
}

/* Where byte `at` of a row of the warp is, of which the last two units are there. */
MT_INLINE uint32_t byte_of_unit (uint32_t pieces, int row, int at) {
  const uint32_t place = (uint32_t)at, chunk = (place / 16 ^ row) % 8;
  return pieces + place / MT_SLAB % 2 * MT_WARP_PIECE + row * MT_SLAB + chunk * 16 +
         place % 16;
}

/* ------------------------------------------------------------------ aligned rows */

template <int SIZE> MT_INLINE void store_element (char *to, uint32_t from) {
  if constexpr (SIZE == 2) *(uint16_t *)to = load_half(from);
  else *(uint32_t *)to = load_word(from);
}

/* Unit q by accesses of 4 or 8 bytes, all read before one is stored; what is less, at the
** end of a row, by elements. */
template <int WIDTH, int SIZE>
MT_INLINE void store_words_of_unit (const rows_of_d &d, uint32_t pieces, int q) {
  enum { ACROSS = MT_SLAB / WIDTH, TOGETHER = 32 / ACROSS, EACH = WIDTH / 4 };
  enum { TIMES = MT_WARP_ROWS / TOGETHER };
  const int lane = threadIdx.x % 32, at = q * MT_SLAB + lane % ACROSS * WIDTH;
  const int row = lane / ACROSS, left = d.bytes - at;
  char *to = d.first + row * d.pitch + at;
  uint32_t w[TIMES * EACH];
  if (left <= 0) return;
  if (WIDTH > SIZE && left < WIDTH) {
#pragma unroll 1
    for (int i = row; i < MT_WARP_ROWS && i < d.rows; i += TOGETHER) {
      for (int b = 0; b < left; b += SIZE)
        store_element<SIZE>(to + b, byte_of_unit(pieces, i, at) + b);
      to += TOGETHER * d.pitch;
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < TIMES; i++) {
    const uint32_t from = byte_of_unit(pieces, row + i * TOGETHER, at);
    if constexpr (WIDTH == 4) w[i] = load_word(from);
    else load_words(from, w[2 * i], w[2 * i + 1]);
  }
#pragma unroll
  for (int i = 0; i < TIMES; i++) {
    if (row + i * TOGETHER < d.rows) {
      if constexpr (WIDTH == 4) *(uint32_t *)to = w[i];
      else *(two_words *)to = {w[2 * i], w[2 * i + 1]};
    }
    to += TOGETHER * d.pitch;
  }
}

/* ------------------------------------------------------------------ any rows */

/* Bytes of its first line that are not a row's. */
MT_INLINE int before_row (const char *row) { return (int)((uintptr_t)row % D_LINE); }

/* The two lines of units that have 16 bytes of a row, from byte `at` on; the second where
** it is needed. */
MT_INLINE void read_lines (uint32_t *w, uint32_t pieces, int row, int at) {
  const int from = at - at % D_LINE;
  load_four(byte_of_unit(pieces, row, from), w);
  if (at % D_LINE != 0) load_four(byte_of_unit(pieces, row, from + D_LINE), w + 4);
}

/* The lines that end in unit q: 8 lanes have those of a row. Those of two rows are on
** their way together. */
MT_INLINE void store_lines_of_unit (const rows_of_d &d, uint32_t pieces, int q) {
  enum { ACROSS = MT_SLAB / D_LINE, TOGETHER = 32 / ACROSS, TWO = 2 };
  const int lane = threadIdx.x % 32;
  int row = lane / ACROSS;
  char *to = d.first + row * d.pitch;
#pragma unroll
  for (int i = 0; i < MT_WARP_ROWS / TOGETHER; i += TWO) {
    uint32_t w[TWO][8] = {};
    int at[TWO];
    bool real[TWO];
#pragma unroll
    for (int k = 0; k < TWO; k++) {
      at[k] =
          q * MT_SLAB + lane % ACROSS * D_LINE - before_row(to + k * TOGETHER * d.pitch);
      real[k] = row + k * TOGETHER < d.rows && at[k] >= 0 && at[k] + D_LINE <= d.bytes;
      if (real[k]) read_lines(w[k], pieces, row + k * TOGETHER, at[k]);
    }
#pragma unroll
    for (int k = 0; k < TWO; k++) {
      if (real[k]) *(vector *)(to + at[k]) = shifted(w[k], at[k] % D_LINE);
      to += TOGETHER * d.pitch;
    }
    row += TWO * TOGETHER;
  }
}

/* What rows have of a line that is not all theirs, of their first, or of their last,
** element by element: two lanes have those of a row. */
MT_INLINE void store_ends (const rows_of_d &d, uint32_t pieces, bool last) {
  enum { SIZE = 2, EACH = D_LINE / 2 / SIZE };
  const int lane = threadIdx.x % 32, row = lane / 2;
  char *const to = d.first + row * d.pitch;
  const int before = before_row(to);
  const int behind = last ? (d.bytes + before) / D_LINE * D_LINE : 0;
  const int from = behind - before + lane % 2 * EACH * SIZE;
  uint16_t x[EACH];
  if (row >= d.rows || (last ? behind == 0 && before != 0 : before == 0)) return;
#pragma unroll
  for (int i = 0; i < EACH; i++) {
    const int at = from + SIZE * i;
    x[i] = at >= 0 && at < d.bytes ? load_half(byte_of_unit(pieces, row, at)) : 0;
  }
#pragma unroll
  for (int i = 0; i < EACH; i++) {
    const int at = from + SIZE * i;
    if (at >= 0 && at < d.bytes) *(uint16_t *)(to + at) = x[i];
  }
}

/* ------------------------------------------------------------------ a tile */

/* Unit q of the sums, which are in registers: each has instructions of its own. */
template <typename H>
MT_INLINE void put_unit (uint32_t to, const typename H::sum *c, int q, float alpha) {
  typedef piece_words<typename H::out> P;
#pragma unroll
  for (int i = 0; i < H::N / P::COLUMNS; i++)
    if (i == q) {
      typename H::sum x[P::SUMS];
      uint32_t w[PIECE_WORDS];
#pragma unroll
      for (int k = 0; k < P::SUMS; k++) x[k] = c[i * P::SUMS + k];
      scale_all<P::SUMS>(x, alpha);
      P::make(w, x);
      P::put(to, w);
    }
}

/* The sums of a warp: its 16 rows from m on, the columns of a tile from n on, which the
** compiler knows to be the same for all lanes. */
template <typename H>
MT_INLINE void store_by_words (const mt_hopper_launch &p, const typename H::sum *c,
                               uint32_t pieces, int m, int n, int l) {
  enum { SIZE = H::out::bytes };
  const rows_of_d d = rows_of_warp<H>(p, m, n, l);
  if (d.rows <= 0) return;
#pragma unroll 1
  for (int q = 0; q * MT_SLAB < d.bytes; q++) {
    __syncwarp();
    put_unit<H>(pieces + q % 2 * MT_WARP_PIECE, c, q, (float)p.alpha);
    __syncwarp();
    if (p.d_width == 8) store_words_of_unit<8, SIZE>(d, pieces, q);
    else if (p.d_width == 4) store_words_of_unit<4, SIZE>(d, pieces, q);
    else if constexpr (SIZE == 2) {
      if (q == 0) store_ends(d, pieces, false);
      store_lines_of_unit(d, pieces, q);
    }
  }
  if constexpr (SIZE == 2)
    if (p.d_width == SIZE) store_ends(d, pieces, true);
}

} // namespace mt
#endif
