/*
** ampere.cu - the kernels of ampere.def.
** SPDX-License-Identifier: MIT
*/
#include "kernels/gemm/ampere.cuh"

#define MT_AMPERE_ROW(finishes, name, core, a, b, sum, m, n, k, stages, warps_m,         \
                      warps_n, warps_k, major_a, major_b, speed)                         \
  typedef mt::ampere<mt::core_##core, m, n, k, stages, warps_m, warps_n, warps_k,        \
                     MT_MAJOR_##major_a, MT_MAJOR_##major_b, finishes>                   \
      shape_##name;                                                                      \
  extern "C" __global__ void __launch_bounds__(shape_##name::THREADS,                    \
                                               shape_##name::BLOCKS)                     \
      mt_##name(const __grid_constant__ mt_ampere_launch p) {                            \
    extern __shared__ __align__(16) char memory[];                                       \
    mt::run_ampere<shape_##name>(p, memory);                                             \
  }
#define MT_AMPERE_KERNEL(...) MT_AMPERE_ROW(false, __VA_ARGS__)
#define MT_AMPERE_EPILOGUE(...) MT_AMPERE_ROW(true, __VA_ARGS__)
#include "kernels/gemm/ampere.def"
