/*
** mma.cu - the kernels of products: every row of kernels.def.
** SPDX-License-Identifier: MIT
*/
#include "mma.cuh"

#define MT_MMA_KERNEL(name, arch, atom)                                                  \
  extern "C" __global__ void __launch_bounds__(mt::MOST_THREADS)                         \
  mt_##name (const __grid_constant__ mt_mma_launch p) {                                  \
    mt::run<mt::name, arch>(p);                                                          \
  }
#include "kernels.def"
