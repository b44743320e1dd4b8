/*
** kernels.c - the rows of the lists of CUDA kernels, as one table.
** SPDX-License-Identifier: MIT
*/
#include "cuda/cuda.h"

_Static_assert(sizeof(mt_launch) <= 4096 && sizeof(mt_pipeline_launch) <= 4096,
               "the parameter of a kernel has 4 KiB at most");

#define MT_COPY_KERNEL(name, algo, bytes, threads, unroll)                               \
  {#name, MT_OP_COPY, MT_ALGO_##algo, bytes, threads, unroll, 0, NULL, false, 0},
#define MT_SWIZZLE_KERNEL(name, algo, bytes, threads, unroll)                            \
  {#name, MT_OP_COPY, MT_ALGO_##algo, bytes, threads, unroll, 0, NULL, true, 0},
#define MT_CAST_KERNEL(name, algo, src, dst)                                             \
  {#name,                                                                                \
   MT_OP_COPY,                                                                           \
   MT_ALGO_##algo,                                                                       \
   0,                                                                                    \
   MT_ALGO_##algo == MT_ALGO_DESCRIBED ? 1024 : 256,                                     \
   MT_CAST_UNROLL,                                                                       \
   0,                                                                                    \
   NULL,                                                                                 \
   (int)MT_##src == MT_any && (MT_IS_##algo & MT_SWIZZLED) != 0,                         \
   MT_CAST(MT_##src, MT_##dst)},
#define MT_MMA_KERNEL(name, arch, atom)                                                  \
  {#name, MT_OP_GEMM, MT_ALGO_DESCRIBED, 0, 1024, 1, arch, atom, false, 0},
#define MT_PIPELINE_ROW(name, arch, atom)                                                \
  {"pipeline_" #name,                                                                    \
   MT_OP_PIPELINE,                                                                       \
   MT_ALGO_DESCRIBED,                                                                    \
   0,                                                                                    \
   1024,                                                                                 \
   1,                                                                                    \
   arch,                                                                                 \
   atom,                                                                                 \
   false,                                                                                \
   0},
#define MT_AMPERE_KERNEL(name, core, a, b, sum, m, n, k, stages, warps_m, warps_n,       \
                         warps_k, major_a, major_b, speed)                               \
  {#name, MT_OP_AMPERE, MT_ALGO_STRIDED, 0, 32 * warps_m * warps_n * warps_k, 1,         \
   80,    NULL,         false,           0},
#define MT_AMPERE_EPILOGUE MT_AMPERE_KERNEL
#define MT_HOPPER_KERNEL(name, a, b, c, n, stages, cluster, major_a, major_b)            \
  {#name, MT_OP_HOPPER, MT_ALGO_STRIDED, 0, MT_HOPPER_THREADS, 1, 900, NULL, false, 0},
#define MT_PACK_KERNEL(name, unroll)                                                     \
  {#name, MT_OP_PACK, MT_ALGO_STRIDED, 0, MT_PACK_THREADS, unroll, 900, NULL, false, 0},
const mt_kernel mt_cuda_kernels[] = {
#include "kernels/copy/copy.def"
#include "kernels/cast/cast.def"
#include "kernels/gemm/mma.def"
#define MT_MMA_KERNEL MT_PIPELINE_ROW
#include "kernels/gemm/mma.def"
#include "kernels/gemm/ampere.def"
#include "kernels/gemm/pack.def"
#include "kernels/gemm/hopper.def"
    {"hopper_rest", MT_OP_HOPPER, MT_ALGO_STRIDED, 0, MT_REST_THREADS, 1, 900, NULL,
     false, 0},
};
const size_t mt_ncuda_kernels = sizeof mt_cuda_kernels / sizeof mt_cuda_kernels[0];

size_t mt_cuda_pack_kernel (size_t row) {
  return mt_ncuda_kernels - 1 - mt_nhopper_rows - mt_npack_rows + row;
}

const mt_ampere_row *mt_cuda_ampere_row (const mt_kernel *k) {
  const mt_kernel *first = mt_cuda_kernels;
  while (first->op != MT_OP_AMPERE) first++;
  return &mt_ampere_rows[k - first];
}
