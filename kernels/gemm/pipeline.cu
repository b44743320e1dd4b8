/*
** pipeline.cu - described kernels, literally: one for each row of mma.def.
** SPDX-License-Identifier: MIT
**
** A kernel that is not in an image is not found there: no launch does nothing.
*/
#include "kernels/gemm/pipeline.cuh"

#define MT_PIPELINE(name)                                                                \
  extern "C" __global__ void __launch_bounds__(mt::MOST_THREADS)                         \
      mt_pipeline_##name(const __grid_constant__ mt_pipeline_launch p) {                 \
    extern __shared__ __align__(128) char memory[];                                      \
    mt::pipeline<mt::name>(p, memory);                                                   \
  }

/* By the column `arch`. */
#define MT_PIPELINE_80(name) MT_PIPELINE(name)
#if __CUDA_ARCH__ >= 890
#define MT_PIPELINE_89(name) MT_PIPELINE(name)
#else
#define MT_PIPELINE_89(name)
#endif
#if __CUDA_ARCH__ >= 900
#define MT_PIPELINE_90(name) MT_PIPELINE(name)
#else
#define MT_PIPELINE_90(name)
#endif
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define MT_PIPELINE_900(name) MT_PIPELINE(name)
#else
#define MT_PIPELINE_900(name)
#endif

#define MT_MMA_KERNEL(name, arch, atom) MT_PIPELINE_##arch(name)
#include "kernels/gemm/mma.def"
