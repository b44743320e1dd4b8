/*
** hopper.cu - the kernels of hopper.def, for sm_90a.
** SPDX-License-Identifier: MIT
*/
#define MT_INLINE __device__ __forceinline__
#include "kernels/gemm/hopper.cuh"
#include "kernels/gemm/rest.cuh"

namespace mt {

/* Operands and results by the names of their types in tensors. */
typedef op_s8 op_i8;
typedef op_tf32 op_f32;
typedef out_s32 out_i32;
enum { MAJOR_K, MAJOR_MN };

} // namespace mt

/* The blocks of a cluster are told at the launch. */
#define MT_HOPPER_ROW(ending, form, name, a, b, c, n, stages, cluster, major_a, major_b) \
  extern "C" __global__ void __launch_bounds__(MT_HOPPER_THREADS, 1)                     \
      mt_##name(const __grid_constant__ mt_hopper_launch p) {                            \
    mt::run_hopper<                                                                      \
        mt::hopper<mt::op_##a, n, stages, cluster, mt::MAJOR_##major_a,                  \
                   mt::MAJOR_##major_b, mt::out_##c, ending, MT_FORM_##form>>(p);        \
  }
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#include "kernels/gemm/hopper.def"
extern "C" __global__ void __launch_bounds__ (MT_REST_THREADS)
    mt_hopper_rest(const __grid_constant__ mt_rest_launch p) {
  mt::run_rest(p);
}
#else
/* Without a kernel the image would not be one. */
extern "C" __global__ void mt_hopper_none () {}
#endif
