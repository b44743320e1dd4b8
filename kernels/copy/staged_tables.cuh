/*
** staged_tables.cuh - the tables of pieces and of units that a block of STAGED makes.
** SPDX-License-Identifier: MIT
**
** All names, and a picture, are in desc/staged_desc.h.
*/
#ifndef STAGED_TABLES_CUH
#define STAGED_TABLES_CUH

#include "desc/staged_desc.h"
#include "kernels/copy/staged_rows.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* ------------------------------------------------------------------ pieces */

MT_INLINE void staged_make_pieces (const mt_staged &s, char *tables) {
  staged_row *pieces = (staged_row *)(tables + s.pieces_at);
#pragma unroll 1
  for (uint32_t p = threadIdx.x; p < s.pieces; p += blockDim.x) {
    staged_row at = {0, 0};
    uint32_t n = p;
#pragma unroll 1
    for (uint32_t i = 0; i < s.levels; i++) {
      const uint32_t q = n * s.level[i].mul >> MT_STAGED_LEVELSHIFT;
      const uint32_t digit = n - q * s.level[i].extent;
      at.from += (int32_t)digit * s.level[i].src;
      at.to += (int32_t)digit * s.level[i].shared;
      if (i + 1 == s.twist) at.to += (int32_t)(digit >> s.twist_log) * 16;
      n = q;
    }
    pieces[p] = at;
  }
}

/* ------------------------------------------------------------------ units */

/* How much further index i of the first thread axis lies by a twist. */
MT_INLINE int32_t staged_twist (const mt_staged &s, int32_t i) {
  return ((s.twist_from + (s.stride[0] < 0 ? -i : i)) >> s.twist_log) * 16;
}

/* How far four units lie behind one that is `ahead` indices of the last thread axis
** before a row: each is looked up. */
MT_INLINE void staged_find_any (int32_t by[4], const mt_desc &d, const uint32_t n[4],
                                int32_t ahead) {
  uint32_t index[4];
#pragma unroll
  for (int j = 0; j < 4; j++) index[j] = n[j];
  staged_walk<4>(by, index, d, 0, d.nthr);
  if (d.staged.twist == 0) return;
  const uint32_t e = (uint32_t)d.axis[0].extent;
#pragma unroll
  for (int j = 0; j < 4; j++)
    by[j] += staged_twist(d.staged, d.nthr == 1 ?
                                        (int32_t)n[j] - ahead :
                                        (int32_t)(n[j] - divide(n[j], d.axis[0]) * e));
}

/* The same of four that follow one another, the first of which is number n. The first
** thread axis has three indices or more, so that they lie along it at one index of the
** others, or at two. */
MT_INLINE void staged_find_four (int32_t by[4], const mt_desc &d, uint32_t n,
                                 int32_t ahead) {
  const mt_staged &s = d.staged;
  const int32_t step = s.stride[0];
  uint32_t left = 4; /* so many lie at the first */
  int32_t from[2] = {0, 0};
  if (d.nthr > 1) {
    const uint32_t e = (uint32_t)d.axis[0].extent, q = divide(n, d.axis[0]);
    uint32_t index[2] = {q, q + 1};
    staged_walk<2>(from, index, d, 1, d.nthr);
    n -= q * e, left = e - n;
    from[1] -= (int32_t)e * step;
  }
#pragma unroll
  for (uint32_t j = 0; j < 4; j++)
    by[j] = (j < left ? from[0] : from[1]) + (int32_t)(n + j) * step;
  if (s.twist == 0) return;
  const int32_t first = (int32_t)n - (d.nthr == 1 ? ahead : 0);
#pragma unroll
  for (uint32_t j = 0; j < 4; j++)
    by[j] += staged_twist(s, j < left ? first + (int32_t)j : (int32_t)(j - left));
}

/* Whether four units that follow one another are found so. */
MT_INLINE bool staged_is_long (const mt_desc &d) {
  return d.nthr == 1 || (d.nthr > 1 && d.axis[0].extent >= 3);
}

/* Four that follow one another, however long the first axis is. */
MT_INLINE void staged_find (int32_t by[4], const mt_desc &d, uint32_t n, int32_t ahead) {
  const uint32_t index[4] = {n, n + 1, n + 2, n + 3};
  if (staged_is_long(d)) staged_find_four(by, d, n, ahead);
  else staged_find_any(by, d, index, ahead);
}

/* The table of one phase. */
MT_INLINE void staged_make_fours (const mt_desc &d, char *tables, int32_t pitch) {
  const int32_t before = (int32_t)d.staged.before;
#pragma unroll 1
  for (int32_t n = 4 * (int32_t)threadIdx.x; n < pitch; n += 4 * (int32_t)blockDim.x) {
    int32_t by[4];
    staged_find(by, d, (uint32_t)n, 0);
#pragma unroll
    for (int j = 0; j < 4; j++) by[j] += before;
    ((uint2 *)tables)[n / 4] =
        make_uint2(((uint32_t)by[0] & 65535) | (uint32_t)by[1] << 16,
                   ((uint32_t)by[2] & 65535) | (uint32_t)by[3] << 16);
  }
}

/* Units that a table begins before a row, at most. */
#define MT_STAGED_EARLY(bytes) (32 / (bytes)-1)

/* As of GATHER: phase f of the table begins with unit -f, or as many before as tiles are
** sheared by. */
template <int ES>
MT_INLINE void staged_make_each (const mt_desc &d, char *tables, int32_t pitch) {
  enum { AHEAD = MT_STAGED_EARLY(ES), V = MT_GATHER_UNITS(ES) };
  const mt_gather &g = d.gather;
  const int32_t early = (int32_t)g.phases - 1;
  const int32_t inner = (int32_t)(g.units / g.cut[0]);
  const int32_t first = AHEAD * inner - (int32_t)g.ahead;
  const int32_t before =
      (d.nthr == 0 ? 0 : AHEAD * d.staged.stride[d.nthr - 1]) - (int32_t)d.staged.before;
#pragma unroll 1
  for (int32_t n = 4 * (int32_t)threadIdx.x - early; n < pitch; n += 4 * blockDim.x) {
    int32_t by[4];
    uint16_t *at = (uint16_t *)tables + n;
    staged_find(by, d, (uint32_t)(n + first), AHEAD);
    if (n >= 0 && n + 3 + early < pitch) {
#pragma unroll
      for (int f = 0; f < V && f <= early; f++, at += pitch + 1)
#pragma unroll
        for (int j = 0; j < 4; j++) at[j] = (uint16_t)(by[j] - before);
    } else {
#pragma unroll 1
      for (int32_t f = 0; f <= early; f++, at += pitch + 1)
#pragma unroll
        for (int j = 0; j < 4; j++)
          if (n + j + f >= 0 && n + j + f < pitch) at[j] = (uint16_t)(by[j] - before);
    }
  }
}

template <int ES> MT_INLINE void staged_make_units (const mt_desc &d, char *tables) {
  const mt_gather &g = d.gather;
  const int32_t ahead = (int32_t)g.ahead, early = (int32_t)g.phases - 1;
  const int32_t pitch = (int32_t)(d.staged.step.extent * MT_GATHER_UNITS(ES)) + ahead;
  if (early + ahead == 0 && pitch % 4 == 0) staged_make_fours(d, tables, pitch);
  else staged_make_each<ES>(d, tables, pitch);
}

} // namespace mt

#undef MT_INLINE
#endif
