/*
** pack.cu - the kernels of pack.def, for sm_90a, as what they pack for is.
** SPDX-License-Identifier: MIT
*/
#include "kernels/gemm/pack.cuh"

#define MT_PACK_KERNEL(name, unroll)                                                     \
  extern "C" __global__ void __launch_bounds__(MT_PACK_THREADS)                          \
      mt_##name(const __grid_constant__ mt_pack_launch p) {                              \
    mt::run_pack<unroll>(p);                                                             \
  }
#include "kernels/gemm/pack.def"
