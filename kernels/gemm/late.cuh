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
** an epilogue the last 128 columns are kept as they are, and each three steps finish and
** store 32 of them. Behind the last tile of a block they are finished by the code of the
** first 128, and go out by what was the ring of stages.
**
** C or the residual of 16 bits comes by its map into the pieces that D goes out by, half
** a tile at a time: the first half while the tile is multiplied, the second beside the
** first slabs of the next. Of 32 bits there is no room for it: lanes read it, of a kernel
** that keeps nothing.
*/
#ifndef LATE_CUH
#define LATE_CUH

#include "kernels/gemm/by_map.cuh"
#include "kernels/gemm/wgmma.cuh"

namespace mt {

/* Where a tile is of which something is kept. */
struct kept_place {
  int m, n, l;
  bool any;
  MT_INLINE void is_of (int m_, int n_, int l_) { m = m_, n = n_, l = l_, any = true; }
};

/* The words of the last STEPS pieces of a tile of N columns. */
template <typename OUT_, int N_, int STEPS_> struct kept_tile : kept_place {
  typedef OUT_ OUT;
  typedef piece_words<OUT> P;
  enum { N = N_, STEPS = STEPS_, FIRST = N / P::COLUMNS - STEPS }; /* stored at once */
  enum { SLABS = STEPS + 1 }; /* that a tile has at least, to keep the one before it */
  uint32_t w[STEPS * PIECE_WORDS];

  MT_INLINE void begin (uint32_t) { drop(); }
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
                     int l, bool keeps) {
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
  if (!keeps) k.put_all(p, pieces);
}

/* ------------------------------------------------------------------ an epilogue */

/* Half a unit: 16 columns. */
enum { PART_SUMS = UNIT_SUMS / 2 };

/* C or the residual of a warp, which comes by its map into both of its pieces, where D
** takes its place: half of a tile at a time. `bar` is the warp's own barrier. */
struct mapped_side {
  uint32_t bar;

  /* Columns [n, n + 128), once what went out before has been read. All lanes have seen
  ** the phase before, and met. */
  MT_INLINE void ask (const mt_hopper_launch &p, uint32_t pieces, int m, int n,
                      int l) const {
    const tma_map *map = p.beta != 0 ? &p.d : &p.side;
    if (!is_one_lane()) return;
    tma_store_wait_read<0>();
    barrier_expect(bar, 2 * MT_WARP_PIECE);
    for (int i = 0; i < 2; i++)
      tma_load(pieces + i * MT_WARP_PIECE, map, bar, n + i * 2 * UNIT, m,
               p.beta != 0 ? l : l * p.side_step);
  }
  /* Half 0 or 1: each tile has both, so that the parity is known. */
  MT_INLINE void wait (uint32_t half) const { barrier_wait(bar, half); }
  /* COUNT parts of the half from `first` on: their sums, finished but for the side. */
  template <int COUNT, int DTYPE>
  MT_INLINE void add_all (uint32_t pieces, float *x, int first, float factor) const {
#pragma unroll
    for (int i = first; i < first + COUNT; i++)
      add_part<DTYPE>(x + (i - first) * PART_SUMS, pieces + i / 4 * MT_WARP_PIECE, i % 4,
                      factor);
  }
  template <int COUNT>
  MT_INLINE void add (const mt_hopper_launch &p, uint32_t pieces, float *x, int first,
                      float factor) const {
    const int32_t dtype = p.beta != 0 ? p.dtype : p.finish.side[MT_RESIDUAL].dtype;
    if (dtype == MT_bf16) add_all<COUNT, MT_bf16>(pieces, x, first, factor);
    else add_all<COUNT, MT_f16>(pieces, x, first, factor);
  }
};

/* A unit of D to its place in the pieces. */
MT_INLINE void put_in_place (const mt_hopper_launch &p, uint32_t pieces, const float *x,
                             int i) {
  put_half(p.dtype, pieces + i / 2 * MT_WARP_PIECE, x, i % 2);
}
/* Both pieces, which are columns [n, n + 128), to D. */
MT_INLINE void end_pieces (const mt_hopper_launch &p, uint32_t pieces, int m, int n,
                           int l) {
  fence_for_copies();
  __syncwarp();
  if (!is_one_lane()) return;
  for (int i = 0; i < 2; i++) {
    tma_store(&p.d, pieces + i * MT_WARP_PIECE, n + i * 2 * UNIT, m, l);
    tma_store_commit();
  }
}

/* What follows alpha and bias, of parts: C, the activation, the residual. */
template <int PARTS, bool MAPPED, int FORM>
MT_INLINE void finish_parts (const mt_hopper_launch &p, float *x, const mapped_side &side,
                             uint32_t pieces, int first) {
  if (MAPPED && p.beta != 0) side.template add<PARTS>(p, pieces, x, first, (float)p.beta);
  activate<PARTS * PART_SUMS, FORM>(p.finish.form, x);
  if (MAPPED && p.beta == 0) side.template add<PARTS>(p, pieces, x, first, 1);
}

/* The second half of the sums of a tile as they are, and the bias of their columns or
** rows. The first half lies in the pieces, where D is of 16 bits, and goes out in step 0;
** each unit of 32 columns takes three steps behind LEAD: its parts are finished, then it
** is put. A warp alone is slow: what it does beside a slab should not take longer than
** the products. A bias of columns is read in step 0; a side is asked for in step 2, when
** what goes out has been read, and has two slabs to come. */
template <int N_, bool MAPPED, int FORM> struct raw_tile : kept_place {
  enum { N = N_, UNITS = N / UNIT / 2, HALF = UNITS * UNIT };
  enum { LEAD = MAPPED ? 4 : 1, STEPS = LEAD + 3 * UNITS, SLABS = STEPS + 2 };
  static_assert(UNITS == round_of<N>::UNITS, "two rounds");
  float c[UNITS * UNIT_SUMS];
  uint32_t bias[UNITS];
  mapped_side side;

  MT_INLINE void begin (uint32_t bar) {
    side.bar = bar;
    drop();
  }
  MT_INLINE void drop () {
    any = false;
    wgmma_fresh<UNITS * UNIT_SUMS>(c);
    wgmma_fresh<UNITS>(bias);
  }
  /* Of the first half of a tile that begins: C or the residual, the bias. */
  MT_INLINE void ask (const mt_hopper_launch &p, uint32_t pieces, uint32_t *bits, int m_,
                      int n_, int l_) const {
    if (MAPPED) side.ask(p, pieces, m_, n_, l_);
    read_bias<N>(bits, p, m_, n_, l_);
  }
  /* As it is about to end: the pieces may be written. */
  MT_INLINE void prepare (const mt_hopper_launch &p) const {
    if (!MAPPED && p.dtype != MT_f32) begin_piece<false>();
  }
  /* The bias of the second half; of rows it is that of the first. */
  MT_INLINE void read_second (const mt_hopper_launch &p, int m_, int n_, int l_) {
    if (p.finish.side[MT_BIAS].stride[0] == 0) read_bias<N>(bias, p, m_, n_ + HALF, l_);
  }
  /* Part J of unit i. */
  template <int J>
  MT_INLINE void finish (const mt_hopper_launch &p, uint32_t pieces, int i) {
    const mt_finishing_side &b = p.finish.side[MT_BIAS];
    const float alpha = (float)p.alpha;
    float *x = c + i * UNIT_SUMS + J * PART_SUMS;
    if (b.base == nullptr) scale_all<PART_SUMS>(x, alpha);
    else if (b.stride[0] != 0) scale_rows<PART_SUMS>(x, alpha, bias, b.dtype);
    else scale_columns<PART_SUMS, J * PART_SUMS>(x, alpha, bias[i], b.dtype);
    finish_parts<1, MAPPED, FORM>(p, x, side, pieces, 2 * i + J);
  }
  MT_INLINE void put_unit_of (const mt_hopper_launch &p, uint32_t pieces, int i) {
    if constexpr (MAPPED) {
      put_in_place(p, pieces, c + i * UNIT_SUMS, i);
      if (i == UNITS - 1) end_pieces(p, pieces, m, n + HALF, l);
    } else put_unit<N>(p, pieces, c + i * UNIT_SUMS, UNITS + i, i % 2, m, n, l);
  }
  MT_INLINE void put (const mt_hopper_launch &p, uint32_t pieces, int step) {
    const int i = (step - LEAD) / 3;
    if (step == 0 && (MAPPED || p.dtype != MT_f32)) end_pieces(p, pieces, m, n, l);
    if (step == 0) read_second(p, m, n, l);
    if (MAPPED && step == 2) side.ask(p, pieces, m, n + HALF, l);
    if (MAPPED && step == LEAD) side.wait(1);
    if (step < LEAD) return;
    if ((step - LEAD) % 3 == 0) finish<0>(p, pieces, i);
    else if ((step - LEAD) % 3 == 1) finish<1>(p, pieces, i);
    else put_unit_of(p, pieces, i);
  }
};

/* The first half of the sums, finished: to the pieces, which may be written; of f32,
** whose unit is a piece, it goes out. */
template <int N, bool MAPPED, int FORM>
MT_INLINE void end_half (const mt_hopper_launch &p, float *c, const uint32_t *bias,
                         const mapped_side &side, uint32_t pieces, int m, int n, int l) {
  enum { UNITS = raw_tile<N, MAPPED, FORM>::UNITS };
  scale_units<UNITS>(c, (float)p.alpha, bias, p.finish.side[MT_BIAS]);
  finish_parts<2 * UNITS, MAPPED, FORM>(p, c, side, pieces, 0);
  if (!MAPPED && p.dtype == MT_f32) {
#pragma unroll
    for (int i = 0; i < UNITS; i++)
      put_unit<N>(p, pieces, c + i * UNIT_SUMS, i, i % 2, m, n, l);
    return;
  }
#pragma unroll
  for (int i = 0; i < UNITS; i++) put_in_place(p, pieces, c + i * UNIT_SUMS, i);
}

/* Sums with an epilogue: the first half is finished, the second is kept, or finished by
** the same code where no products go on. It goes out by `others`: pieces that nothing
** else is in, behind the last tile of a block; or it waits for the first. `bias` is of
** the first half. */
template <int N, bool MAPPED, int FORM>
MT_INLINE void keep_finished (raw_tile<N, MAPPED, FORM> &k, const mt_hopper_launch &p,
                              float *c, const uint32_t *bias, uint32_t pieces,
                              uint32_t others, int m, int n, int l, bool keeps) {
  typedef raw_tile<N, MAPPED, FORM> R;
  const bool waits = others == pieces, goes = !MAPPED && p.dtype == MT_f32;
#pragma unroll
  for (int i = 0; i < R::UNITS * UNIT_SUMS; i++) k.c[i] = c[R::UNITS * UNIT_SUMS + i];
#pragma unroll
  for (int i = 0; i < R::UNITS; i++) k.bias[i] = bias[i];
#pragma unroll 1
  for (int half = 0;; half++) {
    const uint32_t to = half == 0 ? pieces : others;
    if (MAPPED) k.side.wait(half);
    if (MAPPED && half == 0 && !waits) {
      __syncwarp();
      k.side.ask(p, others, m, n + R::HALF, l);
    }
    end_half<N, MAPPED, FORM>(p, c, k.bias, k.side, to, m, n + half * R::HALF, l);
    if (half == 0 && keeps) return k.is_of(m, n, l);
    if (half == 0) k.read_second(p, m, n, l);
    if (!goes) end_pieces(p, to, m, n + half * R::HALF, l);
    if (half == 1) return k.drop();
    if (MAPPED && waits) k.side.ask(p, others, m, n + R::HALF, l);
    if (!MAPPED && !goes && waits) begin_piece<false>();
#pragma unroll
    for (int i = 0; i < R::UNITS * UNIT_SUMS; i++) c[i] = k.c[i];
  }
}

/* What a kernel keeps, with an epilogue or without. */
template <typename H, bool FINISHES> struct kept_of {
  typedef kept_tile<typename H::out, H::N, 4> type;
};
template <typename H> struct kept_of<H, true> {
  typedef raw_tile<H::N, H::MAPPED, H::FORM> type;
};

} // namespace mt
#endif
