/*
** pipeline.cuh - a described kernel, literally, over one instruction: what no row is.
** SPDX-License-Identifier: MIT
**
**   A ---- the described copies --->  | stage 0 | stage 1 | ...  \
**                                                                 --> fragments --> sums
**   B ---- the described copies --->  | stage 0 | stage 1 | ...  /
**
** A block computes a tile of C; each k-tile passes through a stage, filled `ahead` steps
** before it is used. Layouts are tables (desc/pipeline_desc.h). A fragment of a proven
** kernel is the MMA's own, whatever copy brings it, so its coordinates are those of
** mma.cuh; only what they read is another memory. Sums of all atoms of a tile lie in
** local memory, and each instruction loads and stores its own.
**
** Done in another way than described: what TMA would bring comes by plain copies, and a
** wgmma reads its operands where mma.cuh has them, moved there out of the stage.
*/
#ifndef PIPELINE_CUH
#define PIPELINE_CUH

#include "desc/pipeline_desc.h"
#include "kernels/gemm/mma.cuh"
#include "kernels/gemm/warp.cuh"

namespace mt {

/* The parameter's other half, read by all. */
MT_SHARED mt_pipeline piped;

MT_INLINE void bring_pipeline (const mt_pipeline &p) {
  const uint32_t *from = (const uint32_t *)&p;
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < sizeof p / sizeof *from; i += blockDim.x)
    ((uint32_t *)&piped)[i] = from[i];
}

/* ------------------------------------------------------------------ stages */

/* Bytes before an element of the tile in shared memory. */
MT_INLINE uint32_t place_in_stage (const mt_pipeline_side &t, uint32_t stage,
                                   uint32_t element) {
  const uint32_t o = t.line[element] + t.step[stage], moved = o & t.swizzle;
  return t.first + (o ^ (t.shift < 0 ? moved << -t.shift : moved >> t.shift)) * t.size;
}

/* The values of a stage. */
struct from_stage {
  const char *memory;
  uint32_t stage;
  template <int BYTES>
  MT_INLINE typename bits_of_size<BYTES>::type read (int operand, spot s,
                                                     uint32_t value) const {
    const mt_pipeline_side &t = piped.side[operand];
    walk_value(s, here.desc.part[operand], value);
    if (s.x >= t.rows || s.y >= t.elements / t.rows) return 0;
    const uint32_t place = place_in_stage(t, stage, s.x + s.y * t.rows);
    return *(const typename bits_of_size<BYTES>::type *)(memory + place);
  }
};

/* Ordinates of an element of the tile that begins at `first`. */
MT_INLINE spot spot_of (const mt_pipeline_side &t, spot first, uint32_t element) {
  const uint32_t y = element / t.rows;
  return {first.x + element - y * t.rows, first.y + y};
}

/* By one cp.async; false if it cannot: it overhangs, or begins elsewhere. */
template <int BYTES>
MT_INLINE bool copy_whole (char *to, int operand, spot first, const uint32_t *element) {
  const mt_pipeline_side &t = piped.side[operand];
  const mt_part &part = here.desc.part[operand];
  const spot s = spot_of(t, first, element[0]);
  if (!is_real(here.desc, operand, s) ||
      !is_real(here.desc, operand, spot_of(t, first, element[t.wide - 1])))
    return false;
  const char *from =
      (const char *)here.base[operand] + place_of(part, here.offset[operand], s) * BYTES;
  if ((uintptr_t)from % t.async != 0) return false;
  if (t.async == 16) copy_async<16>(to, from, 16);
  else if (t.async == 8) copy_async<8>(to, from, 8);
  else copy_async<4>(to, from, 4);
  return true;
}

/* One element; 0 if it is not real. */
template <int BYTES>
MT_INLINE void copy_one (char *to, int operand, spot first, uint32_t element) {
  typedef typename bits_of_size<BYTES>::type bits;
  const spot s = spot_of(piped.side[operand], first, element);
  bits value = 0;
  if (is_real(here.desc, operand, s))
    value =
        ((const bits *)here
             .base[operand])[place_of(here.desc.part[operand], here.offset[operand], s)];
  *(bits *)to = value;
}

/* The tile of A or B that begins at these ordinates. */
template <int BYTES>
MT_SHARED_FUNCTION void fill_side (char *memory, int operand, uint32_t stage,
                                   spot first) {
  const mt_pipeline_side &t = piped.side[operand];
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < t.fills; i += blockDim.x) {
    const uint32_t *element = t.bring + i * t.wide;
    if (t.async && copy_whole<BYTES>(memory + place_in_stage(t, stage, element[0]),
                                     operand, first, element))
      continue;
#pragma unroll 1
    for (uint32_t j = 0; j < t.wide; j++)
      copy_one<BYTES>(memory + place_in_stage(t, stage, element[j]), operand, first,
                      element[j]);
  }
}

/* K-tile number i, and the end of its group of copies. */
template <typename OP> MT_INLINE void fill (char *memory, spot c, uint32_t i) {
  const uint32_t k = i * here.desc.tile[MT_K] * piped.repeat[MT_K];
  if (i < piped.tiles[MT_K])
    for (int operand = MT_A; operand <= MT_B; operand++)
      fill_side<OP::bytes>(memory, operand, i % piped.stages,
                           {operand == MT_A ? c.x : c.y, k});
  copies_end_group();
}

/* All groups of this thread but the last n, or fewer. */
MT_INLINE void wait_for (uint32_t n) {
  if (n == 0) copies_wait<0>();
  else if (n == 1) copies_wait<1>();
  else if (n == 2) copies_wait<2>();
  else if (n == 3) copies_wait<3>();
  else copies_wait<4>();
}

/* ------------------------------------------------------------------ products */

/* Positions of atoms along a mode of the tile, and the ordinate of one. */
MT_INLINE uint32_t positions (int mode) {
  return here.desc.inner[mode] * piped.repeat[mode];
}

MT_INLINE uint32_t position_of (int mode, uint32_t i) {
  const uint32_t q = i / here.desc.inner[mode];
  return q * here.desc.tile[mode] +
         inner_of(here.desc, mode, i - q * here.desc.inner[mode]);
}

/* A or B of this thread at an atom position of the tile. */
MT_INLINE spot in_tile (int operand, uint32_t position) {
  spot s = {position_of(operand == MT_A ? MT_M : MT_N, position), 0};
  walk_thread(s, here.desc.part[operand], threadIdx.x);
  return s;
}

/* Words of the sums of one atom. */
template <typename OP> MT_INLINE uint32_t words_of () {
  if constexpr ((int)OP::lanes == WARPGROUP)
    return here.desc.atom_shape[MT_N] / SLICE * OP::C;
  else return OP::C;
}

/* An atom of a thread or a warp at one step of K. */
template <typename OP>
MT_INLINE void run_atom (typename OP::acc::word *c, from_stage from, spot a_spot,
                         spot b_spot) {
  typename OP::word a[OP::A], b[OP::B];
  fetch_all<MT_A, OP, OP::A>(from, a, a_spot);
  fetch_all<MT_B, OP, OP::B>(from, b, b_spot);
  OP::run(c, a, b);
}

/* Of a warpgroup: columns by columns. */
template <typename OP>
MT_INLINE void run_wide (typename OP::acc::word *sums, from_stage from, spot a_spot,
                         spot b_spot) {
  const uint32_t all = here.desc.atom_shape[MT_N];
  staged &m = ((staged *)(from.memory + piped.scratch))[threadIdx.x / WARPGROUP];
#pragma unroll 1
  for (uint32_t n = 0; n < all; n += N_AT_ONCE) {
    typename OP::acc::word c[SLICES][OP::C] = {}, *mine = sums + n / SLICE * OP::C;
#pragma unroll
    for (int i = 0; i < SLICES * OP::C; i++)
      if (n + i / OP::C * SLICE < all) c[i / OP::C][i % OP::C] = mine[i];
    bring_and_run<OP>(from, c, m, a_spot, b_spot, n);
#pragma unroll
    for (int i = 0; i < SLICES * OP::C; i++)
      if (n + i / OP::C * SLICE < all) mine[i] = c[i / OP::C][i % OP::C];
  }
}

/* All atoms of the tile, over the K of a stage. */
template <typename OP>
MT_INLINE void multiply (typename OP::acc::word *sums, from_stage from) {
  const uint32_t words = words_of<OP>();
#pragma unroll 1
  for (uint32_t ik = 0; ik < positions(MT_K); ik++) {
    const uint32_t k = position_of(MT_K, ik);
    typename OP::acc::word *c = sums;
#pragma unroll 1
    for (uint32_t in = 0; in < positions(MT_N); in++)
#pragma unroll 1
      for (uint32_t im = 0; im < positions(MT_M); im++, c += words) {
        const spot a = in_tile(MT_A, im).beside(k), b = in_tile(MT_B, in).beside(k);
        if constexpr ((int)OP::lanes == WARPGROUP) run_wide<OP>(c, from, a, b);
        else run_atom<OP>(c, from, a, b);
      }
  }
}

/* ------------------------------------------------------------------ the way out */

/* Value v of an atom's sums. */
template <typename OP>
MT_INLINE typename OP::acc::number sum_of (const typename OP::acc::word *c, uint32_t v) {
  if constexpr ((int)OP::lanes == WARPGROUP)
    return OP::acc::get(c + v / 4 * OP::C, v % 4);
  else return OP::acc::get(c, v);
}

/* The tile of C that begins at `first`. */
template <typename OP>
MT_INLINE void write_tile (const typename OP::acc::word *c, spot first) {
  const uint32_t words = words_of<OP>();
#pragma unroll 1
  for (uint32_t in = 0; in < positions(MT_N); in++)
#pragma unroll 1
    for (uint32_t im = 0; im < positions(MT_M); im++, c += words) {
      __syncthreads();
      if (threadIdx.x == 0)
        here_c = {first.x + position_of(MT_M, im), first.y + position_of(MT_N, in)};
      __syncthreads();
#pragma unroll 1
      for (uint32_t v = 0; v < words * OP::acc::per; v++)
        put<typename OP::acc>(v, sum_of<OP>(c, v));
    }
}

/* ------------------------------------------------------------------ the kernel */

/* All of K: a stage is filled again when all have used it, which the barrier of the next
** step says. */
template <typename OP>
MT_INLINE void run_tile (typename OP::acc::word *sums, char *memory, spot c) {
  const uint32_t ahead = piped.ahead;
#pragma unroll 1
  for (uint32_t i = 0; i < ahead; i++) fill<OP>(memory, c, i);
#pragma unroll 1
  for (uint32_t i = 0; i < piped.tiles[MT_K]; i++) {
    if (ahead == 0) {
      __syncthreads();
      fill<OP>(memory, c, i);
    }
    wait_for(ahead == 0 ? 0 : ahead - 1);
    __syncthreads();
    if (ahead > 0) fill<OP>(memory, c, i + ahead);
    multiply<OP>(sums, {memory, i % piped.stages});
  }
  wait_for(0);
}

template <typename OP>
MT_INLINE void pipeline (const mt_pipeline_launch &p, char *memory) {
  enum { WORDS = MT_PIPELINE_WORDS * 4 / sizeof(typename OP::acc::word) };
  typename OP::acc::word sums[WORDS];
  bring_pipeline(p.pipe);
  bring_parameter(p.gemm);
  const int64_t m = piped.tiles[MT_M], n = piped.tiles[MT_N];
  const int64_t all = m * n * here.desc.size[MT_L];
#pragma unroll 1
  for (int64_t i = blockIdx.x; i < all; i += gridDim.x) {
    int64_t left = i, at[2];
    at[piped.raster] = take(&left, piped.raster ? n : m);
    at[1 - piped.raster] = take(&left, piped.raster ? m : n);
    const spot c = {(uint32_t)at[0] * here.desc.tile[MT_M] * piped.repeat[MT_M],
                    (uint32_t)at[1] * here.desc.tile[MT_N] * piped.repeat[MT_N]};
    set_place(p.gemm, c, left);
#pragma unroll 1
    for (uint32_t j = 0; j < WORDS; j++) sums[j] = 0;
    run_tile<OP>(sums, memory, c);
    write_tile<OP>(sums, c);
  }
}

} // namespace mt
#endif
