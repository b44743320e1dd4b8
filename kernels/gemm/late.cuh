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
** a short epilogue, which is done before, half of the words are kept; with a long one
** none.
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

/* Of either type of 16 bits the words are alike. */
struct halves {
  enum { bytes = 2, dtype = MT_bf16 };
};

/* Whether an epilogue is short: a bias and no more than relu, of D of 16 bits. */
MT_INLINE bool is_short (const mt_hopper_launch &p) {
  return p.dtype != MT_f32 && p.beta == 0 && p.finish.side[MT_RESIDUAL].base == nullptr &&
         p.finish.activation <= MT_ACTIVATION_RELU;
}

/* COUNT words of twice as many sums. */
template <int COUNT>
MT_INLINE void pack_halves (uint32_t *w, const float *c, int32_t dtype) {
  if (dtype == MT_bf16)
#pragma unroll
    for (int i = 0; i < COUNT; i++) w[i] = pair_of(MT_bf16, c[2 * i], c[2 * i + 1]);
  else
#pragma unroll
    for (int i = 0; i < COUNT; i++) w[i] = pair_of(MT_f16, c[2 * i], c[2 * i + 1]);
}

/* The first round is stored at once, the pieces of the second are kept. */
template <typename K>
MT_INLINE void keep_short (K &k, const mt_hopper_launch &p, float *c, ahead<K::N> &a,
                           uint32_t pieces, int m, int n, int l) {
  enum { N = K::N, UNITS = round_of<N>::UNITS, COUNT = UNITS * UNIT_SUMS };
  static_assert(K::FIRST == K::STEPS && N == 2 * UNITS * UNIT, "two rounds");
  const mt_finishing_side &bias = p.finish.side[MT_BIAS];
  const bool relu = p.finish.activation == MT_ACTIVATION_RELU;
  scale_units<UNITS>(c, (float)p.alpha, a.bias, bias);
  if (bias.stride[0] == 0) read_bias<N>(a.bias, p, m, n + UNITS * UNIT, l);
  if (relu) activate_all<MT_ACTIVATION_RELU, COUNT>(c);
#pragma unroll
  for (int q = 0; q < K::FIRST; q++) {
    uint32_t w[PIECE_WORDS];
    pack_halves<PIECE_WORDS>(w, c + q * K::P::SUMS, p.dtype);
    store_piece<typename K::OUT, N>(p, w, pieces, q, m, n, l);
  }
  scale_units<UNITS>(c + COUNT, (float)p.alpha, a.bias, bias);
  if (relu) activate_all<MT_ACTIVATION_RELU, COUNT>(c + COUNT);
  pack_halves<K::STEPS * PIECE_WORDS>(k.w, c + COUNT, p.dtype);
  k.is_of(m, n, l);
}

/* Sums with an epilogue; nothing is kept of one that is long, which is stored. */
template <typename K>
MT_INLINE void keep_finished (K &k, const mt_hopper_launch &p, float *c, ahead<K::N> &a,
                              uint32_t pieces, int m, int n, int l) {
  k.drop();
  if (is_short(p)) keep_short(k, p, c, a, pieces, m, n, l);
  else store_finished<K::N>(p, c, a, pieces, m, n, l);
}

/* What a kernel keeps: with an epilogue, what is read for it needs registers, too. */
template <typename H, bool FINISHES> struct kept_of {
  typedef kept_tile<typename H::out, H::N, 4> type;
};
template <typename H> struct kept_of<H, true> {
  typedef kept_tile<halves, H::N, 2> type;
};

} // namespace mt
#endif
