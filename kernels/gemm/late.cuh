/*
** late.cuh - a tile that is stored while the next one of the block is multiplied.
** SPDX-License-Identifier: MIT
**
**   tile t      | slab | slab | ... | slab |
**                                          \ keep: 64 words of a lane
**   tile t + 1                             | slab | slab | slab | slab | slab | ...
**                                            put    put    put    put
**
** A thread has registers for the sums of a tile and for 64 words besides. Of 16 bits
** these are all of the tile; of 32 bits its last 128 columns, and the others are stored
** at once. Each step stores one piece of 128 bytes of columns while products go on. With
** an epilogue the last 128 columns are kept as they are, and each step finishes 32 of
** them; with one that reads C or a residual, for which it has the registers, none.
*/
#ifndef LATE_CUH
#define LATE_CUH

#include "kernels/gemm/by_map.cuh"
#include "kernels/gemm/wgmma.cuh"

namespace mt {

/* The words of the last STEPS pieces of a tile of N columns, and where it is. */
template <typename OUT_, int N_, int STEPS_> struct kept_tile {
  typedef OUT_ OUT;
  typedef piece_words<OUT> P;
  enum { N = N_, STEPS = STEPS_, FIRST = N / P::COLUMNS - STEPS }; /* stored at once */
  uint32_t w[STEPS * PIECE_WORDS];
  int m, n, l;
  bool any;

  MT_INLINE void is_of (int m_, int n_, int l_) { m = m_, n = n_, l = l_, any = true; }
  /* Nothing is kept, and no register holds anything. */
  MT_INLINE void drop () {
    any = false;
    wgmma_fresh<STEPS * PIECE_WORDS>(w);
  }
  MT_INLINE void put (const mt_hopper_launch &p, uint32_t pieces, int i) const {
    store_piece<OUT, N_>(p, w + i * PIECE_WORDS, pieces, FIRST + i, m, n, l);
  }
  MT_INLINE void put_all (const mt_hopper_launch &p, uint32_t pieces) {
#pragma unroll
    for (int i = 0; i < STEPS; i++) put(p, pieces, i);
    drop();
  }
};

/* Sums without an epilogue. */
template <typename K, typename S>
MT_INLINE void keep (K &k, const mt_hopper_launch &p, S *c, uint32_t pieces, int m, int n,
                     int l) {
  typedef typename K::P P;
  scale_all<K::N / 2>(c, (float)p.alpha);
#pragma unroll
  for (int q = 0; q < K::FIRST; q++) {
    uint32_t w[PIECE_WORDS];
    P::make(w, c + q * P::SUMS);
    store_piece<typename K::OUT, K::N>(p, w, pieces, q, m, n, l);
  }
#pragma unroll
  for (int i = 0; i < K::STEPS; i++)
    P::make(k.w + i * PIECE_WORDS, c + (K::FIRST + i) * P::SUMS);
  k.is_of(m, n, l);
}

/* ------------------------------------------------------------------ an epilogue */

/* The second half of the sums of a tile as they are, and the bias of their columns or
** rows. Each 32 columns take two steps: they are finished, then they are put. */
template <int N_> struct raw_tile {
  enum { N = N_, UNITS = N / UNIT / 2, STEPS = 2 * UNITS };
  static_assert(UNITS == round_of<N>::UNITS, "two rounds");
  float c[UNITS * UNIT_SUMS];
  uint32_t bias[UNITS];
  int m, n, l;
  bool any;

  MT_INLINE void drop () {
    any = false;
    wgmma_fresh<UNITS * UNIT_SUMS>(c);
    wgmma_fresh<UNITS>(bias);
  }
  MT_INLINE void put (const mt_hopper_launch &p, uint32_t pieces, int step) {
    const int i = step / 2;
    float *x = c + i * UNIT_SUMS;
    if (step % 2 == 0) finish_unit(p, x, bias, i);
    else put_unit<N>(p, pieces, x, UNITS + i, i % 2, m, n, l);
  }
  MT_INLINE void put_all (const mt_hopper_launch &p, uint32_t pieces) {
    finish_units<UNITS>(p, c, bias);
#pragma unroll
    for (int i = 1; i < STEPS; i += 2) put(p, pieces, i);
    drop();
  }
};

/* Sums with an epilogue: the first half is stored at once, the second is kept. `bias` is
** that of the first half. */
template <int N>
MT_INLINE void keep_finished (raw_tile<N> &k, const mt_hopper_launch &p, float *c,
                              const uint32_t *bias, uint32_t pieces, int m, int n,
                              int l) {
  enum { UNITS = raw_tile<N>::UNITS };
#pragma unroll
  for (int i = 0; i < UNITS * UNIT_SUMS; i++) k.c[i] = c[UNITS * UNIT_SUMS + i];
#pragma unroll
  for (int i = 0; i < UNITS; i++) k.bias[i] = bias[i];
  finish_units<UNITS>(p, c, bias);
  if (p.finish.side[MT_BIAS].stride[0] == 0)
    read_bias<N>(k.bias, p, m, n + UNITS * UNIT, l);
#pragma unroll
  for (int i = 0; i < UNITS; i++)
    put_unit<N>(p, pieces, c + i * UNIT_SUMS, i, i % 2, m, n, l);
  k.m = m, k.n = n, k.l = l, k.any = true;
}

/* What a kernel keeps, with an epilogue or without. */
template <typename H, bool FINISHES> struct kept_of {
  typedef kept_tile<typename H::out, H::N, 4> type;
};
template <typename H> struct kept_of<H, true> { typedef raw_tile<H::N> type; };

} // namespace mt
#endif
