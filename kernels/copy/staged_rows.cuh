/*
** staged_rows.cuh - the rows of a tile of STAGED: where they are, and those that are
** written unit by unit.
** SPDX-License-Identifier: MIT
**
** All names, and a picture, are in desc/staged_desc.h.
*/
#ifndef STAGED_ROWS_CUH
#define STAGED_ROWS_CUH

#include "desc/staged_desc.h"
#include "kernels/copy/gather.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* ------------------------------------------------------------------ rows */

/* A row of a tile in shared memory and in the destination; a piece in the source and in
** shared memory: bytes behind the first one. */
struct alignas(8) staged_row {
  int32_t from, to;
};

/* How far the indices n of the axes from i on lie behind, in bytes of shared memory. All
** of them at once: a step of one takes longer than several of them need to be begun. */
template <int N>
MT_INLINE void staged_walk (int32_t sum[N], uint32_t n[N], const mt_desc &d, uint32_t i,
                            uint32_t end) {
#pragma unroll
  for (int j = 0; j < N; j++) sum[j] = 0;
#pragma unroll 1
  for (; i < end; i++) {
    const bool last = i + 1 == end;
    const int32_t step = d.staged.stride[i];
#pragma unroll
    for (int j = 0; j < N; j++) {
      const uint32_t q = last ? 0 : divide(n[j], d.axis[i]);
      sum[j] += (int32_t)(n[j] - q * (uint32_t)d.axis[i].extent) * step;
      n[j] = q;
    }
  }
}

/* The lines at the ends of a row that are written in part. */
MT_INLINE void staged_ask (const char *begin, const char *end) {
  if ((uintptr_t)begin % 128 != 0) ask_for(begin);
  if ((uintptr_t)end % 128 != 0) ask_for(end - 1);
}

MT_INLINE staged_row *staged_rows (const mt_staged &s, char *tables) {
  return (staged_row *)(tables + s.tile.table);
}
MT_INLINE const staged_row *staged_rows (const mt_staged &s, const char *tables) {
  return (const staged_row *)(tables + s.tile.table);
}

/* Where row n is. */
MT_INLINE staged_row staged_row_of (const mt_desc &d, uint32_t n) {
  place at = {};
  uint32_t index[] = {n};
  int32_t from[1];
  walk_val(at, d, n);
  staged_walk<1>(from, index, d, d.nthr, d.nthr + d.nval);
  return {from[0], (int32_t)(at.side[MT_DST] * (int64_t)d.elem)};
}

/* The table of rows that are alone. */
MT_INLINE void staged_make_sums (const mt_desc &d, char *tables) {
  const mt_staged &s = d.staged;
  const uint32_t turn = s.turn.extent, each = s.each.extent;
#pragma unroll 1
  for (uint32_t n = blockDim.x - 1 - threadIdx.x; n < s.firsts + each; n += blockDim.x) {
    const uint32_t b = divide(n, s.turn), first = n - b * turn + turn * each * b;
    staged_rows(s, tables)[n] =
        staged_row_of(d, n < s.firsts ? first : turn * (n - s.firsts));
  }
}

/* How many of the firsts the tile has rows of that are the q-th of each. */
MT_INLINE uint32_t staged_firsts (const mt_staged &s, const gather_place &t, uint32_t q) {
  const uint32_t rows = divide(t.rows, s.turn);
  if (t.rows == s.tile.rows && s.firsts * s.each.extent == t.rows) return s.firsts;
  return q < rows ? s.turn.extent * divide(rows - q + s.each.extent - 1, s.each) : 0;
}

/* Asks for the lines of these: one row for as many as begin in a sector. The first line
** is asked for by those before, if they begin in it. */
MT_INLINE void staged_ask_sums (const mt_desc &d, const gather_place &t,
                                const char *tables) {
  const mt_staged &s = d.staged;
  const staged_row *rows = staged_rows(s, tables);
  const int32_t bytes = (int32_t)(s.tile.units * d.vec * d.elem);
#pragma unroll 1
  for (uint32_t n = threadIdx.x; n < s.firsts * s.askers.extent; n += blockDim.x) {
    const uint32_t k = divide(n, s.askers), q = (n - k * s.askers.extent) * s.asks;
    uint32_t last = q + s.asks - 1;
    if (k >= staged_firsts(s, t, q)) continue;
    while (last >= s.each.extent || k >= staged_firsts(s, t, last)) last--;
    const char *begin = t.dst + rows[k].to + rows[s.firsts + q].to;
    const char *end = t.dst + rows[k].to + rows[s.firsts + last].to + bytes - 1;
    const uintptr_t line = (uintptr_t)begin / 128;
    if (q == 0 || ((uintptr_t)begin - s.asks * s.gaps) / 128 != line) ask_for(begin);
    if ((uintptr_t)end / 128 != line) ask_for(end);
  }
}

/* The last threads begin: those that have no units to place. Rows lie in the table as
** they are written. */
MT_INLINE void staged_make_rows (const mt_desc &d, const gather_place &t, char *tables) {
  const mt_staged &s = d.staged;
  const int32_t units = t.high < (int32_t)s.tile.units ? t.high : (int32_t)s.tile.units;
  const uint32_t each = divide(t.rows, s.turn);
#pragma unroll 1
  for (uint32_t n = blockDim.x - 1 - threadIdx.x; n < t.rows; n += blockDim.x) {
    const uint32_t q = divide(n, s.turn), k = n - q * s.turn.extent;
    const staged_row at = staged_row_of(d, n);
    staged_rows(s, tables)[k * each + q] = at;
    if (s.gaps != 0 && units > 0)
      staged_ask(t.dst + at.to, t.dst + at.to + units * (int32_t)(d.vec * d.elem));
  }
}

/* ------------------------------------------------------------------ alone */

template <int ES> MT_INLINE typename word<ES>::type staged_unit (near at) {
  return *(const typename word<ES>::type *)there(at);
}

/* A unit of the rows that begin with the firsts [k, end), `step` apart. */
template <int ES>
MT_INLINE void staged_alone_unit (const staged_row *rows, uint32_t k, uint32_t end,
                                  uint32_t step, near from, char *to) {
  enum { AT_ONCE = 4 };
#pragma unroll 1
  for (; k < end; k += AT_ONCE * step) {
    typename word<ES>::type x[AT_ONCE];
    int32_t at[AT_ONCE];
#pragma unroll
    for (int m = 0; m < AT_ONCE; m++)
      if (k + m * step < end) {
        const staged_row row = rows[k + m * step];
        at[m] = row.to, x[m] = staged_unit<ES>(from + row.from);
      }
#pragma unroll
    for (int m = 0; m < AT_ONCE; m++)
      if (k + m * step < end) store<ES>(to + at[m], x[m]);
  }
}

/* Rows of few units. */
template <int ES>
MT_INLINE void staged_alone (const mt_staged &s, const gather_place &t,
                             const char *tables, near data) {
  const uint32_t lanes = s.lanes.extent;
  const bool few = lanes < blockDim.x; /* then threads share the firsts */
  const uint32_t step = few ? divide(blockDim.x, s.lanes) : 1;
  const uint32_t k = few ? divide(threadIdx.x, s.lanes) : 0;
  const staged_row *rows = staged_rows(s, tables);
  if (k >= step) return;
#pragma unroll 1
  for (uint32_t n = threadIdx.x - k * lanes; n < lanes; n += blockDim.x) {
    const uint32_t q = divide(n, s.alone), unit = n - q * s.alone.extent;
    const staged_row row = rows[s.firsts + q];
    const near from = data + ((const uint16_t *)tables)[unit] + row.from;
    staged_alone_unit<ES>(rows, k, staged_firsts(s, t, q), step, from,
                          t.dst + row.to + unit * ES);
  }
}

} // namespace mt

#undef MT_INLINE
#endif
