/*
** turned.cuh - sums to D whose columns lie together: a tile of its transpose, by a map.
** SPDX-License-Identifier: MIT
**
**   registers of a warp        piece of shared memory           D
**
**   16 rows x N sums  ---->   | 32 columns x 16 rows |  -- TMA -->  32 bytes a column
**                   stmatrix.trans  one for each unit
**
** For products of a few hundred rows: A and B change places, so that their rows are the
** columns of a tile, 160 of them, and what tiles have too much is little. D is then
** stored as its transpose. 16 rows of a warp are a sector of memory.
*/
#ifndef TURNED_CUH
#define TURNED_CUH

#include "kernels/gemm/by_map.cuh"

namespace mt {

/* A unit of columns: lines of 32 bytes, of which a warp has its place for each unit. */
enum { TURNED_LINE = 2 * MT_WARP_ROWS, TURNED_UNIT = UNIT * TURNED_LINE };

/* Columns [16 j, 16 j + 16) of a unit. Lane i says where column i % 8 of matrix i / 8 is;
** of rows 0 to 7 are matrices 0 and 2. Halves of a line trade places in every other four
** lines, as the map has it. */
MT_INLINE uint32_t turned_place (uint32_t unit, int j) {
  const int lane = threadIdx.x % 32;
  const int column = 16 * j + lane / 16 * 8 + lane % 8;
  return unit + column * TURNED_LINE + ((lane / 8 % 2 ^ lane / 4 % 2) << 4);
}

/* Units of a warp that are columns and rows of D. */
template <int N> MT_INLINE int real_units (const mt_hopper_launch &p, int m, int n) {
  const int left = p.size[1] - n, columns = left < N ? left : N;
  return m < p.size[0] ? (columns + UNIT - 1) / UNIT : 0;
}

/* The sums of a unit, as they are stored. */
template <int DTYPE> MT_INLINE void put_turned (uint32_t to, const float *x) {
  uint32_t w[UNIT_SUMS / 2];
#pragma unroll
  for (int i = 0; i < UNIT_SUMS / 2; i++) w[i] = pair_of(DTYPE, x[2 * i], x[2 * i + 1]);
#pragma unroll
  for (int j = 0; j < 2; j++)
    store_matrices_turned(turned_place(to, j), w[4 * j], w[4 * j + 1], w[4 * j + 2],
                          w[4 * j + 3]);
}

/* ------------------------------------------------------------------ C or a residual */

/* Of which so many bytes come for a warp. */
template <int N> MT_INLINE uint32_t side_bytes (const mt_hopper_launch &p, int m, int n) {
  return has_side(p) ? real_units<N>(p, m, n) * TURNED_UNIT : 0;
}

/* They come by the map into the places of the units, where D takes their place, once what
** went out before has been read; they count at `bar`, which is told of them here where
** nothing else counts there. */
template <int N>
MT_INLINE void ask_turned (const mt_hopper_launch &p, uint32_t units, uint32_t bar, int m,
                           int n, int l) {
  const uint32_t bytes = side_bytes<N>(p, m, n);
  const tma_map *map = p.beta != 0 ? &p.d : &p.side;
  if (!has_side(p) || !is_one_lane()) return;
  tma_store_wait_read<0>();
  if (p.parts == 1) barrier_expect(bar, bytes);
  for (uint32_t at = 0; at < bytes; at += TURNED_UNIT, n += UNIT)
    tma_load(units + at, map, bar, m, n, p.beta != 0 ? l : l * p.side_step);
}

/* x + factor times the unit. */
template <int DTYPE> MT_INLINE void add_turned (float *x, uint32_t unit, float factor) {
#pragma unroll
  for (int j = 0; j < 2; j++) {
    uint32_t w[4];
    load_matrices_turned(turned_place(unit, j), w);
    add_words<DTYPE, 8>(x + 8 * j, w, factor);
  }
}
MT_INLINE void add_turned (int32_t dtype, float *x, uint32_t unit, float factor) {
  if (dtype == MT_bf16) add_turned<MT_bf16>(x, unit, factor);
  else add_turned<MT_f16>(x, unit, factor);
}

/* ------------------------------------------------------------------ a tile */

/* An epilogue of a unit but for alpha and the bias, of which C comes before and the rest
** behind. */
MT_INLINE void end_turned (const mt_hopper_launch &p, float *x, uint32_t unit) {
  const mt_finishing_side &residual = p.finish.side[MT_RESIDUAL];
  activate<UNIT_SUMS>(p.finish.form, x);
  if (p.beta == 0 && residual.base != nullptr) add_turned(residual.dtype, x, unit, 1);
}

/* alpha x + beta C + bias; C is of the first units. */
template <int N>
MT_INLINE void scale_turned (const mt_hopper_launch &p, float *c, const uint32_t *bias,
                             uint32_t units, int real) {
  const bool reads = p.beta != 0;
  if (reads) {
    scale_all<N / 2>(c, (float)p.alpha);
#pragma unroll
    for (int u = 0; u < N / UNIT; u++)
      if (u < real)
        add_turned(p.dtype, c + u * UNIT_SUMS, units + u * TURNED_UNIT, (float)p.beta);
  }
  scale_units<N / UNIT>(c, reads ? 1 : (float)p.alpha, bias, p.finish.side[MT_BIAS]);
}

/* The sums of a warp, with what an epilogue makes of them; the bias has been read, C or
** the residual has come. */
template <typename H>
MT_INLINE void store_turned (const mt_hopper_launch &p, float *c, const uint32_t *bias,
                             uint32_t units, int m, int n, int l) {
  static_assert(UNIT == MT_TURNED_COLUMNS && (int)round_of<H::N>::UNITS == H::N / UNIT,
                "all units are finished in one round");
  static_assert(H::N / UNIT * TURNED_UNIT <= 128 * H::SUMS, "a warp has room for them");
  const int real = real_units<H::N>(p, m, n);
  begin_piece<false>(); /* what went out before has been read */
  if constexpr (H::FINISHES) scale_turned<H::N>(p, c, bias, units, real);
  else scale_all<H::SUMS>(c, (float)p.alpha);
#pragma unroll
  for (int u = 0; u < H::N / UNIT; u++) {
    const uint32_t unit = units + u * TURNED_UNIT;
    float *x = c + u * UNIT_SUMS;
    if (u >= real) return;
    if constexpr (H::FINISHES) end_turned(p, x, unit);
    if constexpr (!H::FINISHES) put_turned<H::out::dtype>(unit, x);
    else if (p.dtype == MT_bf16) put_turned<MT_bf16>(unit, x);
    else put_turned<MT_f16>(unit, x);
    end_piece(&p.d, unit, n + u * UNIT, m, l); /* the map begins with rows of a tile */
  }
}

} // namespace mt
#endif
