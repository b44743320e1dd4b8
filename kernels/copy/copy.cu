/*
** copy.cu - the copy kernels: every row of copy.def and of cast.def.
** SPDX-License-Identifier: MIT
*/
#include "kernels/copy/algos.cuh"
#include "kernels/cast/cast.cuh"

#define MT_SWIZZLED_TV(threads, unroll) __launch_bounds__(threads, 1)
#define MT_SWIZZLED_FLAT(threads, unroll) __launch_bounds__(threads)

#define MT_COPY_KERNEL(name, form, bytes, threads, unroll)                               \
  extern "C" __global__ void MT_BOUNDS_##form(threads, unroll)                           \
  mt_##name (const __grid_constant__ mt_launch p) {                                      \
    mt::copy<MT_FORM_##form, bytes, unroll>(p);                                          \
  }
#define MT_SWIZZLE_KERNEL(name, form, bytes, threads, unroll)                            \
  extern "C" __global__ void MT_SWIZZLED_##form(threads, unroll)                         \
  mt_##name (const __grid_constant__ mt_launch p) {                                      \
    mt::copy_swizzled<MT_FORM_##form, bytes, unroll>(p);                                 \
  }
#include "kernels/copy/copy.def"

#define MT_CASTS_TV __launch_bounds__(1024)
#define MT_CASTS_FLAT __launch_bounds__(256)
#define MT_CASTS_TILE __launch_bounds__(256)
#define MT_CASTS_SHEAR __launch_bounds__(256, 4)
#define MT_CAST_KERNEL(name, form, src, dst)                                             \
  extern "C" __global__ void MT_CASTS_##form                                             \
  mt_##name (const __grid_constant__ mt_launch p) {                                      \
    mt::cast<MT_FORM_##form, mt::src##_number, mt::dst##_number>(p);                     \
  }
#include "kernels/cast/cast.def"
