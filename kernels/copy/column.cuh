/*
** column.cuh - a toy: a block copies one column, a thread an access of it.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COLUMN_CUH
#define MT_COLUMN_CUH

#include "kernels/copy/strided.cuh"

namespace mt {

template <int BYTES, int UNROLL> struct copier<MT_ALGO_COLUMN, BYTES, UNROLL> {
  static __device__ __forceinline__ void run (const mt_launch &p) {
    const mt_desc &d = p.desc;
    for (uint32_t b = blockIdx.x; b < d.rests; b += gridDim.x) {
      sides s(p);
      place at = {};
      if (threadIdx.x >= d.threads) return;
      walk(at, d, 0, d.nthr, threadIdx.x);
      walk(at, d, d.nthr, d.nthr + d.nrest, b);
      s.move(d, at);
      for (int i = 0; i < BYTES; i++) s.dst[i] = s.src[i];
    }
  }
};

} // namespace mt

#define MT_BOUNDS_COLUMN(threads, unroll) __launch_bounds__(threads)

#endif
