/*
** ampere_shape.cuh - what a row of ampere.def is: its tile, its stages, who feeds them,
** who multiplies.
** SPDX-License-Identifier: MIT
*/
#ifndef AMPERE_SHAPE_CUH
#define AMPERE_SHAPE_CUH

#include "kernels/gemm/engine.cuh"
#include "kernels/gemm/one_row.cuh"

namespace mt {

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
    STREAMS = MT_AMPERE_STREAMS(SIZE, M, N, K, STAGES, THREADS, WARPS_K),
    HALVES = STREAMS && MT_AMPERE_HALVES(SIZE, M, N, THREADS),
    /* whether a block waits for all that give it sums at once: of large tiles there
    ** are few, and ptxas would write another loop of products, 1 to 5 % slower */
    TOGETHER = THREADS == 64 || (SIZE == 8 && N == 64),
    PARTIAL = SIZE == 4 || STREAMS, /* a block may have a part of K */
    FILLS = SIZE >= 4, /* stages behind the last slab are filled with 0, not left out */
    LINE = K * SIZE,
    STAGE = MT_AMPERE_STAGE(SIZE, M, N, K),
    B = MT_AMPERE_OPERAND(SIZE, M, K) /* where it begins in a stage */
  };
  template <int ROWS, int COLUMNS>
  using of_size = ampere<CORE, ROWS, COLUMNS, K_, STAGES_, WARPS_M_, WARPS_N_, WARPS_K_,
                         MAJOR_A, MAJOR_B, FINISHES_>;
  typedef parts_of<CORE, SIZE, M, N, K, T_M, T_N, T_K, THREADS, MAJOR_A, MAJOR_B> parts;
  typedef typename parts::feed_a feed_a;
  typedef typename parts::feed_b feed_b;
  typedef typename parts::engine engine;
  typedef typename engine::sum sum;
};

} // namespace mt
#endif
