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
** f32, each a part of its K, and add their sums in each other's shared memory. What
** overhangs is 0 in shared memory and not written. One row has no stages: one_row.cuh.
*/
#ifndef AMPERE_CUH
#define AMPERE_CUH

#include "kernels/gemm/engine.cuh"
#include "kernels/gemm/one_row.cuh"
#include "kernels/gemm/out.cuh"

namespace mt {

/* ------------------------------------------------------------------ shapes */

/* Which engine and which feeds: by size of the elements, and by what lies together. */
template <typename CORE, int SIZE, int M, int N, int K, int T_M, int T_N, int T_K,
          int THREADS, int MAJOR_A, int MAJOR_B>
struct parts_of {
  static_assert(T_K == K, "a warp has all of a stage");
  enum { LINE = K * SIZE, ANY = MAJOR_A == MT_MAJOR_ANY };
  template <int ROWS, int MAJOR> struct choose {
    typedef line_rows<ROWS, LINE, SIZE, THREADS> type;
  };
  template <int ROWS> struct choose<ROWS, MT_MAJOR_MN> {
    typedef line_columns<ROWS, K, THREADS> type;
  };
  template <int ROWS> struct choose<ROWS, MT_MAJOR_ANY> {
    typedef any_rows<ROWS, LINE, SIZE, THREADS> type;
  };
  typedef typename choose<M, MAJOR_A>::type feed_a;
  typedef typename choose<N, MAJOR_B>::type feed_b;
  typedef by_cores<CORE, M, N, LINE, T_M, T_N, MAJOR_A == MT_MAJOR_MN,
                   MAJOR_B == MT_MAJOR_MN>
      engine;
};

struct core_f32 {
  enum { bytes = 4 };
  typedef float sum;
};
struct core_f64 {
  enum { bytes = 8 };
  typedef double sum;
};
struct core_one : core_f32 {};
/* K-major: by elements along K, which the compiler knows. */
template <int M, int N, int K, int T_M, int T_N, int T_K, int THREADS, int MAJOR_A,
          int MAJOR_B>
struct parts_of<core_f32, 4, M, N, K, T_M, T_N, T_K, THREADS, MAJOR_A, MAJOR_B> {
  enum { ANY = false };
  typedef padded_columns<M, K, 4, THREADS,
                         MAJOR_A == MT_MAJOR_K ? MT_WAY_ALONG_K : NOT_FIXED>
      feed_a;
  typedef padded_columns<N, K, 4, THREADS,
                         MAJOR_B == MT_MAJOR_K ? MT_WAY_ALONG_K : NOT_FIXED>
      feed_b;
  typedef by_threads<M, N, T_M, T_N, T_K> engine;
};
/* One row: it has no stages. */
template <int N, int K, int T_N, int T_K, int THREADS, int MAJOR_A, int MAJOR_B>
struct parts_of<core_one, 4, 1, N, K, 1, T_N, T_K, THREADS, MAJOR_A, MAJOR_B> {
  enum { ANY = false };
  struct none {};
  typedef none feed_a, feed_b;
  typedef one_row<T_N, 2> engine;
};
template <int M, int N, int K, int T_M, int T_N, int T_K, int THREADS, int MAJOR_A,
          int MAJOR_B>
struct parts_of<core_f64, 8, M, N, K, T_M, T_N, T_K, THREADS, MAJOR_A, MAJOR_B> {
  enum {
    ANY = false,
    FIXED = MT_AMPERE_LINES_ALONE(8, N) ? (int)MT_WAY_LINES : NOT_FIXED
  };
  template <int ROWS, int MAJOR> struct choose {
    typedef element_rows<ROWS, K * 8, THREADS, FIXED> type;
  };
  template <int ROWS> struct choose<ROWS, MT_MAJOR_MN> {
    typedef padded_columns<ROWS, K, 8, THREADS, FIXED> type;
  };
  typedef typename choose<M, MAJOR_A>::type feed_a;
  typedef typename choose<N, MAJOR_B>::type feed_b;
  typedef by_doubles<M, N, K, T_M, T_N, T_K, MAJOR_A == MT_MAJOR_MN,
                     MAJOR_B == MT_MAJOR_MN>
      engine;
};

template <typename CORE, int M_, int N_, int K_, int STAGES_, int WARPS_M_, int WARPS_N_,
          int WARPS_K_, int MAJOR_A, int MAJOR_B, bool FINISHES_ = false>
struct ampere {
  enum {
    M = M_,
    N = N_,
    K = K_,
    STAGES = STAGES_,
    FINISHES = FINISHES_, /* there is an epilogue */
    WARPS_M = WARPS_M_,
    WARPS_N = WARPS_N_,
    WARPS_K = WARPS_K_,
    THREADS = 32 * WARPS_M * WARPS_N * WARPS_K,
    T_M = M / WARPS_M,
    T_N = N / WARPS_N,
    T_K = K / WARPS_K,
    SIZE = CORE::bytes,
    /* of a multiprocessor, at least: of f32 the threads that hide waits; those of twice
    ** the sums hide as much by half their number */
    SUMS = M * N * WARPS_K / THREADS,
    BLOCKS = SIZE != 4 ? 1 :
             SUMS > 64 ? 256 / THREADS :
                         512 / THREADS,
    SPLITS = MT_AMPERE_SPLITS(SIZE, M, N, K, STAGES, THREADS),
    /* all sums of the tile go into shared memory together */
    AT_ONCE = STAGES * MT_AMPERE_STAGE(SIZE, M, N, K) >=
              MT_AMPERE_PART(M, N, 1, (int)sizeof(typename CORE::sum)),
    FILLS = SIZE >= 4, /* stages behind the last slab are filled with 0, not left out */
    LINE = K * SIZE,
    STAGE = MT_AMPERE_STAGE(SIZE, M, N, K),
    B = MT_AMPERE_OPERAND(SIZE, M, K) /* where it begins in a stage */
  };
  typedef parts_of<CORE, SIZE, M, N, K, T_M, T_N, T_K, THREADS, MAJOR_A, MAJOR_B> parts;
  typedef typename parts::feed_a feed_a;
  typedef typename parts::feed_b feed_b;
  typedef typename parts::engine engine;
  typedef typename engine::sum sum;
};

/* ------------------------------------------------------------------ tiles */

struct tile {
  int m, n, l;
};

MT_INLINE tile tile_of (const mt_ampere_launch &p, int number) {
  const int each = p.tiles_m * p.tiles_n, l = number / each, t = number - l * each;
  const int g = t / (p.group * p.tiles_n), first = g * p.group;
  const int rows = p.tiles_m - first < p.group ? p.tiles_m - first : p.group;
  const int in = t - first * p.tiles_n, n = in / rows;
  return {first + in - n * rows, n, l};
}

/* ------------------------------------------------------------------ slabs */

template <typename G> struct pipeline {
  char *ring;
  const mt_ampere_launch &p;
  typename G::feed_a a;
  typename G::feed_b b;
  int row, column, first; /* of this warp in the tile, and of K in a stage */
  int own;                /* slabs of a block that has a part of K */

  MT_INLINE pipeline (char *memory, const mt_ampere_launch &launch, const tile &t,
                      int part)
      : ring(memory), p(launch), a(p.operand[0], t.m * G::M, p.size[2], t.l),
        b(p.operand[1], t.n * G::N, p.size[2], t.l) {
    const int warp = threadIdx.x / 32;
    row = warp / G::WARPS_N % G::WARPS_M * G::T_M;
    column = warp % G::WARPS_N * G::T_N;
    first = warp / (G::WARPS_N * G::WARPS_M) * G::T_K;
    if constexpr (G::SPLITS) {
      const int from = (int)(part * (int64_t)p.slabs / p.parts);
      own = (int)((part + 1) * (int64_t)p.slabs / p.parts) - from;
      a.skip(p.operand[0], from);
      b.skip(p.operand[1], from);
    }
  }
  MT_INLINE int slabs () const { return G::SPLITS ? own : p.slabs; }
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
    for (int k = 0; k < p.slabs; k++) {
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
};

/* ------------------------------------------------------------------ the kernel */

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

template <typename G>
MT_INLINE void run_ampere (const mt_ampere_launch &p, char *memory) {
  const int parts = G::SPLITS ? p.parts : 1, number = blockIdx.x / parts;
  const int part = blockIdx.x - number * parts;
  const tile t = tile_of(p, number);
  if constexpr (G::M == 1) {
    run_one_row<G>(p, memory, t.n, t.l);
    finish_part<G, 1>(p, (typename G::sum *)memory, t.m, t.n * G::N, t.l);
  } else {
    pipeline<G> line(memory, p, t, part);
    typename G::engine e;
    if constexpr (G::parts::ANY) line.run_any(e);
    else if constexpr (G::engine::AHEAD) line.run_doubles(e);
    else line.run_ring(e);
    if constexpr (G::SPLITS)
      if (parts > 1) return finish_parts<G>(p, e, memory, line, t, part);
    finish<G>(p, e, memory, line, t);
  }
}

} // namespace mt
#endif
