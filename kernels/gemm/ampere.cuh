/*
** ampere.cuh - products by cp.async and mma.sync, of every type and every layout: the
** family of kernels for sm_80 and all that came after it.
** SPDX-License-Identifier: MIT
**
**   global memory          shared memory: a ring of stages      registers
**
**   A ---- cp.async --->  | A MxK | A MxK | A MxK | ...  \
**   B ---- cp.async --->  | B NxK | B NxK | B NxK | ...  --> matrices, elements --> sums
**        all threads,       slab k + STAGES - 1 is on         all warps              |
**        16 bytes or        its way while slab k is                                  |
**        one element        multiplied                                               |
**                                                                                    |
**   D <-- rows, by all --  | the sums of one row of warps, over the stages | <-------/
**
** Operands of 8 and 16 bits whose rows begin anywhere, or lie apart, have no cp.async:
** they pass through registers, and there are two stages. A slab has as many steps as a
** thread has chunks of it:
**
**   step i:   multiply i of slab k | put chunk i of slab k + 1 | fetch chunk i of k + 2
**
** A block has one tile; where there are too few, the blocks of a cluster share one of
** f32, each a part of its K, and add their sums in each other's shared memory. Or it is
** stream-K, of f32 and f64: tiles that would be a round for a part of the multiprocessors
** are shared by all blocks of a round, each as many slabs, from the last tile of its part
** to the first. Of a tile whose end it has not it gives its sums away, through global
** memory, before it takes those of others for the tile whose end it has:
**
**   slabs    | tile 0        | tile 1        | tile 2        |
**   block    | 0        | 1        | 2        | 3        | ...
**              gives 0 <-- takes, then 1 gives its part of tile 1, ...
**
** What overhangs is 0 in shared memory and not written; large tiles of f32 of stream-K
** that overhang by half or more are of half the size. One row has no stages: one_row.cuh.
*/
#ifndef AMPERE_CUH
#define AMPERE_CUH

#include "kernels/gemm/ampere_shape.cuh"
#include "kernels/gemm/flags.cuh"
#include "kernels/gemm/out.cuh"

namespace mt {

/* ------------------------------------------------------------------ tiles */

struct tile {
  int m, n, l;
};

MT_INLINE tile tile_of (const mt_ampere_launch &p, int number) {
  const int tiles_m = p.tiles_m - p.half_m, tiles_n = p.tiles_n - p.half_n;
  const int each = tiles_m * tiles_n, l = number / each, t = number - l * each;
  const int g = t / (p.group * tiles_n), first = g * p.group;
  const int rows = tiles_m - first < p.group ? tiles_m - first : p.group;
  const int in = t - first * tiles_n, n = in / rows;
  return {first + in - n * rows, n, l};
}

/* A half of a tile: those of the last row, then those of the last column. */
MT_INLINE tile half_of (const mt_ampere_launch &p, int number) {
  const int rows = p.half_m * p.tiles_n;
  const int each = rows + p.half_n * (p.tiles_m - p.half_m);
  const int l = number / each, t = number - l * each;
  if (t < rows) return {p.tiles_m - 1, t, l};
  return {t - rows, p.tiles_n - 1, l};
}

/* What of a tile a block has: so many slabs from one on. */
struct share {
  tile t;
  int first, slabs;
};

MT_INLINE share part_of_tile (const mt_ampere_launch &p, const tile &t, int part) {
  const int from = (int)(part * (int64_t)p.slabs / p.parts);
  return {t, from, (int)((part + 1) * (int64_t)p.slabs / p.parts) - from};
}

/* The slabs of all tiles in a row, of halves as many pairs: those of a block. */
struct span {
  int64_t from, to;
};

MT_INLINE int64_t span_of_halves (const mt_ampere_launch &p) {
  return (int64_t)p.halves * p.half;
}

MT_INLINE span span_of (const mt_ampere_launch &p, int block) {
  const int64_t halves = span_of_halves(p);
  int tile = block - p.halves; /* without stream-K */
  if (p.streams > 0) {
    const int64_t all = halves + (int64_t)p.streamed * p.slabs;
    if (block < p.streams)
      return {block * all / p.streams, (block + 1) * all / p.streams};
    tile = p.streamed + block - p.streams;
  } else if (tile < 0) {
    const int64_t first = (int64_t)block * p.half;
    return {first, first + p.half};
  }
  const int64_t first = halves + (int64_t)tile * p.slabs;
  return {first, first + p.slabs};
}

/* A tile in that row: where it begins and ends, slabs of one of its units. */
struct place {
  tile t;
  int64_t from, to;
  int each;
};

MT_INLINE place place_of (const mt_ampere_launch &p, int64_t unit) {
  const int64_t halves = span_of_halves(p);
  if (unit < halves) {
    const int number = (int)(unit / p.half);
    const int64_t from = (int64_t)number * p.half;
    return {half_of(p, number), from, from + p.half, 2};
  }
  const int number = (int)((unit - halves) / p.slabs);
  const int64_t from = halves + (int64_t)number * p.slabs;
  return {tile_of(p, number), from, from + p.slabs, 1};
}

/* Slabs of a span in a tile that it ends in. */
MT_INLINE share share_of (const mt_ampere_launch &p, const place &at, span s) {
  const int first = (int)(s.from - at.from) * at.each;
  const int end = (int)(s.to - at.from) * at.each;
  return {at.t, first, (end < p.slabs ? end : p.slabs) - first};
}

/* ------------------------------------------------------------------ slabs */

template <typename G> struct pipeline {
  char *ring;
  const mt_ampere_launch &p;
  typename G::feed_a a;
  typename G::feed_b b;
  int row, column, first; /* of this warp in the tile, and of K in a stage */
  int own;                /* slabs of a block that has a part of K */

  MT_INLINE pipeline (char *memory, const mt_ampere_launch &launch, const share &s)
      : ring(memory), p(launch), a(p.operand[0], s.t.m * G::M, p.size[2], s.t.l),
        b(p.operand[1], s.t.n * G::N, p.size[2], s.t.l) {
    const int warp = threadIdx.x / 32;
    row = warp / G::WARPS_N % G::WARPS_M * G::T_M;
    column = warp % G::WARPS_N * G::T_N;
    first = warp / (G::WARPS_N * G::WARPS_M) * G::T_K;
    if constexpr (G::PARTIAL) {
      own = s.slabs;
      a.skip(p.operand[0], s.first);
      b.skip(p.operand[1], s.first);
    }
  }
  MT_INLINE int slabs () const { return G::PARTIAL ? own : p.slabs; }
  MT_INLINE char *stage (int slot) { return ring + slot * G::STAGE; }
  template <typename FEED>
  MT_INLINE void multiply (typename G::engine &e, int slot, FEED feed) {
    e.multiply(stage(slot), stage(slot) + G::B, row, column, first, feed);
  }

  /* By cp.async. */
  MT_INLINE void load (int slot) {
    a.load(stage(slot), p.operand[0]);
    b.load(stage(slot) + G::B, p.operand[1]);
  }
  MT_INLINE void load_first () {
#pragma unroll
    for (int k = 0; k < G::STAGES - 1; k++) {
      if (G::FILLS || k < p.slabs) load(k);
      copies_end_group();
    }
  }
  MT_INLINE void load_behind (int k, int slot) {
    if (G::FILLS || k + G::STAGES - 1 < p.slabs) load(slot);
    copies_end_group();
  }
  MT_INLINE void wait () {
    copies_wait<G::STAGES - 2>();
    __syncthreads();
  }
  static MT_INLINE int behind (int slot) { return slot + 1 == G::STAGES ? 0 : slot + 1; }

  MT_INLINE void run_ring (typename G::engine &e) {
    int read = 0, write = G::STAGES - 1;
    load_first();
#pragma unroll 1
    for (int k = 0; k < slabs(); k++) {
      wait();
      multiply(e, read, [&] { load_behind(k, write); });
      read = behind(read);
      write = behind(write);
    }
    copies_wait<0>();
  }
  /* Share i of a stage's copies. */
  template <int WAY, typename FEED>
  static MT_INLINE void share (FEED &f, int i, char *to, const operand &o) {
    enum { TIMES = FEED::template of<WAY>::TIMES, SHARES = G::engine::STEPS - 1 };
#pragma unroll
    for (int j = i * TIMES / SHARES; j < (i + 1) * TIMES / SHARES; j++)
      f.template part<WAY>(j, to, o);
  }
  /* Of engines that read the first step of a stage before they end the last. Copies are
  ** issued between products: at once, and with branches, they keep all warps from
  ** multiplying. */
  template <int WAY_A, int WAY_B> MT_INLINE void run_ahead (typename G::engine &e) {
    int read = 0, write = G::STAGES - 1;
    load_first();
    wait();
    e.read(0, stage(0), stage(0) + G::B, row, column, first);
#pragma unroll 1
    for (int k = 0; k < slabs(); k++) {
      const int next = behind(read);
      e.multiply_ahead(
          stage(read), stage(read) + G::B, stage(next), stage(next) + G::B, row, column,
          first,
          [&] (int i) {
            share<WAY_A>(a, i, stage(write), p.operand[0]);
            share<WAY_B>(b, i, stage(write) + G::B, p.operand[1]);
          },
          [&] {
            a.template next<WAY_A>(p.operand[0]);
            b.template next<WAY_B>(p.operand[1]);
            copies_end_group();
            wait();
          });
      read = next;
      write = behind(write);
    }
    copies_wait<0>();
  }
  /* Both operands by lines, or both by elements: ampere.c sees to it. */
  MT_INLINE void run_doubles (typename G::engine &e) {
    if (comes_by<G::parts::FIXED>(p.operand[0], MT_WAY_LINES))
      run_ahead<MT_WAY_LINES, MT_WAY_LINES>(e);
    else run_ahead<G::feed_a::ELEMENTS, G::feed_b::ELEMENTS>(e);
  }

  /* Through registers, a chunk of each operand at a time. */
  MT_INLINE void put (int i, int slot) {
    a.put(i, stage(slot), p.operand[0]);
    b.put(i, stage(slot) + G::B, p.operand[1]);
  }
  MT_INLINE void fetch (int i) {
    a.fetch(i, p.operand[0]);
    b.fetch(i, p.operand[1]);
  }
  MT_INLINE void next () {
    a.next(p.operand[0]);
    b.next(p.operand[1]);
  }
  MT_INLINE void run_any (typename G::engine &e) {
    enum { TIMES = G::feed_a::TIMES };
    static_assert(TIMES == G::LINE / 32 && TIMES == G::feed_b::TIMES, "one chunk a step");
#pragma unroll
    for (int i = 0; i < TIMES; i++) fetch(i);
    next();
#pragma unroll
    for (int i = 0; i < TIMES; i++) put(i, 0), fetch(i);
    next();
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < p.slabs; k++) {
      char *from = stage(k % 2);
#pragma unroll
      for (int i = 0; i < TIMES; i++) {
        e.step(from, from + G::B, row, column, i);
        put(i, (k + 1) % 2);
        fetch(i);
      }
      next();
      __syncthreads();
    }
  }

  /* All slabs of the block. */
  MT_INLINE void run (typename G::engine &e) {
    if constexpr (G::parts::ANY) run_any(e);
    else if constexpr (G::engine::AHEAD) run_doubles(e);
    else run_ring(e);
  }
};

/* ------------------------------------------------------------------ sums */

/* Warps put their sums, if these are wanted; those that split K add theirs in turn. */
template <typename G, typename SUM>
MT_INLINE void put_in_turn (SUM *to, const typename G::engine &e, bool mine) {
  enum { PITCH = G::N + MT_COLUMN_PAD(sizeof(SUM)) };
  const int k = threadIdx.x / 32 / (G::WARPS_N * G::WARPS_M);
  __syncthreads();
  if (mine && k == 0) e.template put<PITCH, false>(to);
  __syncthreads();
  if constexpr (G::WARPS_K > 1) {
#pragma unroll 1
    for (int turn = 1; turn < G::WARPS_K; turn++) {
      if (mine && k == turn) e.template put<PITCH, true>(to);
      __syncthreads();
    }
  }
}
/* Those of row i of warps. */
template <typename G, typename SUM>
MT_INLINE void gather (SUM *part, const typename G::engine &e, int i) {
  const int warp = threadIdx.x / 32;
  put_in_turn<G>(part + warp % G::WARPS_N * G::T_N, e,
                 warp / G::WARPS_N % G::WARPS_M == i);
}

/* ROWS rows of sums to D, from row m and column n on. */
template <typename G, int ROWS>
MT_INLINE void finish_part (const mt_ampere_launch &p, typename G::sum *part, int m,
                            int n, int l) {
  if constexpr (G::FINISHES) store_finished<ROWS, G::N, G::THREADS>(p, part, m, n, l);
  else store<ROWS, G::N, G::THREADS>(p, part, m, n, l);
}

/* The sums of each row of warps in turn, or all of them where there is room, over the
** stages, which nobody reads any more. */
template <typename G>
MT_INLINE void finish (const mt_ampere_launch &p, const typename G::engine &e,
                       char *memory, const pipeline<G> &line, const tile &t) {
  enum { PITCH = G::N + MT_COLUMN_PAD(sizeof(typename G::sum)) };
  typename G::sum *part = (typename G::sum *)memory;
  if constexpr (G::AT_ONCE)
    put_in_turn<G>(part + line.row * PITCH + line.column, e, true);
#pragma unroll 1
  for (int i = 0; i < G::WARPS_M; i++) {
    if constexpr (!G::AT_ONCE) gather<G>(part, e, i);
    finish_part<G, G::T_M>(p, part, t.m * G::M + i * G::T_M, t.n * G::N, t.l);
    if constexpr (G::AT_ONCE) part += G::T_M * PITCH;
  }
}

/* The same of a tile that the blocks of a cluster share, each a part of its K: all put
** their sums, then each adds its share of rows, part by part in their order, and stores
** it. Nobody reads or writes what another one adds. */
template <typename G>
MT_INLINE void finish_parts (const mt_ampere_launch &p, const typename G::engine &e,
                             char *memory, const pipeline<G> &line, const tile &t,
                             int part) {
  enum { PITCH = G::N + MT_COLUMN_PAD(4), ACROSS = G::N / 4, ROWS = 32 };
  float *all = (float *)memory;
  put_in_turn<G>(all + line.row * PITCH + line.column, e, true);
  parts_meet();
  const int rows = G::M / p.parts, first = part * rows;
#pragma unroll 1
  for (int i = threadIdx.x; i < rows * ACROSS; i += G::THREADS) {
    float *at = all + (first + i / ACROSS) * PITCH + i % ACROSS * 4;
    quad sum = quad_of_part(at, 0);
#pragma unroll 1
    for (int other = 1; other < p.parts; other++) {
      const quad x = quad_of_part(at, other);
#pragma unroll
      for (int j = 0; j < 4; j++) sum.x[j] += x.x[j];
    }
    *(quad *)at = sum;
  }
  __syncthreads();
#pragma unroll 1
  for (int i = first; i < first + rows; i += ROWS)
    finish_part<G, ROWS>(p, all + i * PITCH, t.m * G::M + i, t.n * G::N, t.l);
  parts_meet();
}

/* ------------------------------------------------------------------ stream-K */

template <typename SUM>
MT_INLINE SUM *sums_of_block (const mt_ampere_launch &p, int block, int sums) {
  return (SUM *)(p.work + MT_AMPERE_FLAGS) + (int64_t)block * sums;
}

/* To the block that has the end of the tile. */
template <typename G, int SUMS>
MT_INLINE void give_sums (const mt_ampere_launch &p, const typename G::engine &e) {
  e.template give<G::THREADS>(sums_of_block<typename G::sum>(p, blockIdx.x, SUMS));
  __syncthreads();
  if (threadIdx.x == 0) flag_raise((int32_t *)p.work + blockIdx.x);
}

/* The blocks from that on which has unit `start` to this one have given: each thread
** waits for one, so that all flags are looked at together. Returns the first of them. */
template <typename G>
MT_INLINE int await_blocks (const mt_ampere_launch &p, int64_t start) {
  const int64_t all = span_of_halves(p) + (int64_t)p.streamed * p.slabs;
  const int own = blockIdx.x, first = (int)(((start + 1) * p.streams - 1) / all);
#pragma unroll 1
  for (int b = first + threadIdx.x; b < own; b += G::THREADS)
    flag_wait((int32_t *)p.work + b);
  __syncthreads();
  return first;
}
MT_INLINE void await_block (const mt_ampere_launch &p, int block) {
  if (threadIdx.x == 0) flag_wait((int32_t *)p.work + block);
  __syncthreads();
}

/* Of the blocks that have the tile from its start on before this one, the last first:
** what a thread adds is in the same order each time. They began before this one did. */
template <typename G, int SUMS>
MT_INLINE void take_sums (const mt_ampere_launch &p, typename G::engine &e,
                          int64_t start) {
  const int first = G::TOGETHER ? await_blocks<G>(p, start) : -1;
  int block = blockIdx.x;
  do {
    block--;
    if (!G::TOGETHER) await_block(p, block);
    e.template take<G::THREADS>(sums_of_block<typename G::sum>(p, block, SUMS));
  } while (G::TOGETHER ? block > first : span_of(p, block).from > start);
}

/* A part of a tile of this size, in which the span is. */
template <typename G, int SUMS>
MT_INLINE void run_piece (const mt_ampere_launch &p, char *memory, const place &at,
                          span s) {
  const share own = share_of(p, at, s);
  pipeline<G> line(memory, p, own);
  typename G::engine e;
  line.run(e);
  if (s.to < at.to) return give_sums<G, SUMS>(p, e);
  if (s.from > at.from) take_sums<G, SUMS>(p, e, at.from);
  finish<G>(p, e, memory, line, at.t);
}

/* A half is a tile of half the rows, or of half the columns. */
template <typename G>
MT_INLINE void run_half (const mt_ampere_launch &p, char *memory, place at, span s) {
  enum { ROWS = G::M / 2, COLUMNS = G::N / 2, SUMS = G::M * G::N };
  if (p.half_m && at.t.m == p.tiles_m - 1) {
    at.t.m *= 2;
    run_piece<typename G::template of_size<ROWS, G::N>, SUMS>(p, memory, at, s);
  } else {
    at.t.n *= 2;
    run_piece<typename G::template of_size<G::M, COLUMNS>, SUMS>(p, memory, at, s);
  }
}

template <typename G>
MT_INLINE void run_stream (const mt_ampere_launch &p, char *memory) {
  span left = span_of(p, blockIdx.x);
#pragma unroll 1
  while (left.from < left.to) {
    const place at = place_of(p, left.to - 1);
    const span own = {left.from < at.from ? at.from : left.from, left.to};
    if constexpr (G::HALVES) {
      if (at.each == 1) run_piece<G, G::M * G::N>(p, memory, at, own);
      else run_half<G>(p, memory, at, own);
    } else run_piece<G, G::M * G::N>(p, memory, at, own);
    __syncthreads();
    left.to = own.from;
  }
}

/* ------------------------------------------------------------------ the kernel */

template <typename G> MT_INLINE void run_tile (const mt_ampere_launch &p, char *memory) {
  const int parts = G::SPLITS ? p.parts : 1, number = blockIdx.x / parts;
  const int part = blockIdx.x - number * parts;
  const tile t = tile_of(p, number);
  pipeline<G> line(memory, p, part_of_tile(p, t, part));
  typename G::engine e;
  line.run(e);
  if constexpr (G::SPLITS)
    if (parts > 1) return finish_parts<G>(p, e, memory, line, t, part);
  finish<G>(p, e, memory, line, t);
}

template <typename G>
MT_INLINE void run_ampere (const mt_ampere_launch &p, char *memory) {
  if constexpr (G::M == 1) {
    const tile t = tile_of(p, blockIdx.x);
    run_one_row<G>(p, memory, t.n, t.l);
    finish_part<G, 1>(p, (typename G::sum *)memory, t.m, t.n * G::N, t.l);
  } else if constexpr (G::STREAMS) run_stream<G>(p, memory);
  else run_tile<G>(p, memory);
}

} // namespace mt
#endif
