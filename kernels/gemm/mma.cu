/*
** mma.cu - the kernels of products: the rows of mma.def that this architecture has.
** SPDX-License-Identifier: MIT
**
** A kernel that is not in an image is not found there: no launch does nothing.
*/
#include "kernels/gemm/mma.cuh"

#define MT_PRODUCT(name)                                                                 \
  extern "C" __global__ void __launch_bounds__(mt::MOST_THREADS)                         \
      mt_##name(const __grid_constant__ mt_gemm_launch p) {                              \
    mt::product<mt::name>(p);                                                            \
  }

/* By the column `arch`. */
#define MT_PRODUCT_80(name) MT_PRODUCT(name)
#if __CUDA_ARCH__ >= 890
#define MT_PRODUCT_89(name) MT_PRODUCT(name)
#else
#define MT_PRODUCT_89(name)
#endif
#if __CUDA_ARCH__ >= 900
#define MT_PRODUCT_90(name) MT_PRODUCT(name)
#else
#define MT_PRODUCT_90(name)
#endif
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define MT_PRODUCT_900(name) MT_PRODUCT(name)
#else
#define MT_PRODUCT_900(name)
#endif

#define MT_MMA_KERNEL(name, arch, atom) MT_PRODUCT_##arch(name)
#include "kernels/gemm/mma.def"
