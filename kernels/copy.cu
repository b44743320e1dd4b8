/*
** copy.cu - the copy kernels: every row of kernels.def.
** SPDX-License-Identifier: MIT
*/
#include "pack.cuh"

#define MT_COPY_KERNEL(name, form, bytes, threads, unroll)                               \
  extern "C" __global__ void __launch_bounds__(threads)                                  \
  mt_##name (const __grid_constant__ mt_launch p) {                                      \
    mt::copy<MT_FORM_##form, bytes, unroll>(p);                                          \
  }
#include "kernels.def"
#undef MT_COPY_KERNEL
