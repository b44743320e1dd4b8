/*
** copy.cu - the copy kernels: every row of copy.def and of cast.def.
** SPDX-License-Identifier: MIT
*/
#include "kernels/copy/algos.cuh"
#include "kernels/cast/cast.cuh"

#define MT_SWIZZLED_DESCRIBED(threads, unroll) __launch_bounds__(threads, 1)
#define MT_SWIZZLED_STRIDED(threads, unroll) __launch_bounds__(threads)

#define MT_COPY_KERNEL(name, algo, bytes, threads, unroll)                               \
  extern "C" __global__ void MT_BOUNDS_##algo(threads, unroll)                           \
      mt_##name(const __grid_constant__ mt_launch p) {                                   \
    mt::copy<MT_ALGO_##algo, bytes, unroll>(p);                                          \
  }
#define MT_SWIZZLE_KERNEL(name, algo, bytes, threads, unroll)                            \
  extern "C" __global__ void MT_SWIZZLED_##algo(threads, unroll)                         \
      mt_##name(const __grid_constant__ mt_launch p) {                                   \
    mt::copy_swizzled<MT_ALGO_##algo, bytes, unroll>(p);                                 \
  }
#include "kernels/copy/copy.def"

/* Blocks of an SM, at least: 0 where types are known. */
#define MT_LEAST(src, n) (mt::src##_number::BYTES == 0 ? n : 0)
#define MT_CASTS_DESCRIBED(src) __launch_bounds__(1024)
#define MT_CASTS_STRIDED(src) __launch_bounds__(256, MT_LEAST(src, 4))
#define MT_CASTS_TRANSPOSE(src) __launch_bounds__(256, MT_LEAST(src, 4))
#define MT_CASTS_TRANSPOSE_UNALIGNED(src) __launch_bounds__(256, 4)
#define MT_CAST_KERNEL(name, algo, src, dst)                                             \
  extern "C" __global__ void MT_CASTS_##algo(src)                                        \
      mt_##name(const __grid_constant__ mt_launch p) {                                   \
    mt::cast<MT_ALGO_##algo, mt::src##_number, mt::dst##_number>(p);                     \
  }
#include "kernels/cast/cast.def"
