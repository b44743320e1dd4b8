/*
** rest.cuh - what tf32 leaves out of f32, for products of three terms.
** SPDX-License-Identifier: MIT
*/
#ifndef REST_CUH
#define REST_CUH

#include "kernels/gemm/sm90.cuh"
#include "gemm/hopper_desc.h"

namespace mt {

MT_INLINE float rest_of (float x) {
  const float head = __uint_as_float(__float_as_uint(x) & 0xffffe000u);
  return fabsf(x) < __int_as_float(0x7f800000) ? x - head : 0;
}

/* A block is a row, four elements a thread. */
MT_INLINE void run_rest (const mt_rest_launch &p) {
  grid_let_next();
  grid_wait();
  const uint32_t batch = blockIdx.x / p.rows, row = blockIdx.x - batch * p.rows;
  const float *from = p.from + batch * p.from_batch + row * p.from_pitch;
  float *to = p.to + blockIdx.x * p.to_pitch;
  for (uint32_t i = 4 * threadIdx.x; i < p.columns; i += 4 * blockDim.x)
    if (i + 4 <= p.columns) {
      const float4 x = *(const float4 *)(from + i);
      *(float4 *)(to + i) =
          make_float4(rest_of(x.x), rest_of(x.y), rest_of(x.z), rest_of(x.w));
    } else
      for (uint32_t k = i; k < p.columns; k++) to[k] = rest_of(from[k]);
}

} // namespace mt
#endif
