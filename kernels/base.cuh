/*
** base.cuh - what the kernels of every family share.
** SPDX-License-Identifier: MIT
*/
#ifndef BASE_CUH
#define BASE_CUH

#include "desc/divisor_desc.h"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* n / by, without the code and the registers of a division: for what happens once in a
** block. */
MT_INLINE uint64_t divide_far (uint64_t n, uint64_t by) {
  uint64_t q = 0, r = 0;
#pragma unroll 1
  for (int bit = 63; bit >= 0; bit--) {
    r = r << 1 | (n >> bit & 1);
    q <<= 1;
    if (r >= by) r -= by, q |= 1;
  }
  return q;
}

} // namespace mt

#undef MT_INLINE
#endif
