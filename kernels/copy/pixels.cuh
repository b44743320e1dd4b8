/*
** pixels.cuh - few accesses at each index of one axis: STRIDED of two axes.
** SPDX-License-Identifier: MIT
**
** A thread moves MT_STRIDED_PIXELS pixels, which lie `threads` apart, so that a warp
** writes neighbours. Units are written two at once where they lie together.
*/
#ifndef PIXELS_CUH
#define PIXELS_CUH

#include "kernels/copy/place.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* Both units as one. */
template <int BYTES>
MT_INLINE typename word<2 * BYTES>::type pair_of (typename word<BYTES>::type a,
                                                  typename word<BYTES>::type b) {
  if constexpr (BYTES == 4) return make_uint2(a, b);
  else return (typename word<2 * BYTES>::type)((uint32_t)a | (uint32_t)b << 8 * BYTES);
}

/* Writes the first `count` units of a pixel, two at once if PAIRS. */
template <int BYTES, int UNROLL, bool PAIRS>
MT_INLINE void put_pixel (char *dst, int64_t step, uint32_t count,
                          const typename word<BYTES>::type data[UNROLL]) {
#pragma unroll
  for (uint32_t u = 0; u < UNROLL; u += 1 + PAIRS, dst += (1 + PAIRS) * step) {
    if constexpr (PAIRS) {
      if (u + 1 < count) {
        store<2 * BYTES>(dst, pair_of<BYTES>(data[u], data[u + 1]));
        continue;
      }
    }
    if (u < count) store<BYTES>(dst, data[u]);
  }
}

/* The indices n, n + threads, ... of the other axis, MANY at once. They find their place
** by one product. */
template <int BYTES, int UNROLL, bool PAIRS>
MT_INLINE void flat_pixels (const mt_launch &p, uint32_t n, uint32_t end) {
  enum { MANY = MT_STRIDED_PIXELS };
  const mt_desc &d = p.desc;
  const int64_t elem = (int64_t)d.elem;
  const uint32_t count = (uint32_t)d.axis[0].extent;
  const int64_t in = kept(d.axis[0].stride[MT_SRC] * elem);
  const int64_t out = kept(d.axis[0].stride[MT_DST] * elem);
  const int64_t step[2] = {d.axis[1].stride[MT_SRC] * elem,
                           d.axis[1].stride[MT_DST] * elem};
  typename word<BYTES>::type data[MANY][UNROLL];
  sides s(p);
  s.src += n * step[MT_SRC], s.dst += n * step[MT_DST];
#pragma unroll
  for (uint32_t k = 0; k < MANY; k++, s.src += blockDim.x * step[MT_SRC])
    if (n + k * blockDim.x < end) {
      const char *src = s.src;
#pragma unroll
      for (uint32_t u = 0; u < UNROLL; u++, src += in)
        if (u < count) data[k][u] = load<BYTES>(src);
    }
#pragma unroll
  for (uint32_t k = 0; k < MANY; k++, s.dst += blockDim.x * step[MT_DST])
    if (n + k * blockDim.x < end)
      put_pixel<BYTES, UNROLL, PAIRS>(s.dst, PAIRS ? BYTES : out, count, data[k]);
}

/* Units of a pixel lie together in the destination, at multiples of two of them. */
template <int BYTES> MT_INLINE bool has_pairs (const mt_launch &p) {
  const mt_desc &d = p.desc;
  const uint64_t all =
      (uint64_t)(uintptr_t)sides(p).dst | (uint64_t)d.axis[1].stride[MT_DST] * d.elem;
  return BYTES < 8 && d.axis[0].stride[MT_DST] == (int64_t)d.vec &&
         all % (2 * BYTES) == 0;
}

/* All of them. */
template <int BYTES, int UNROLL>
MT_INLINE void copy_pixels (const mt_launch &p, uint32_t end) {
  const uint32_t each = blockDim.x * MT_STRIDED_PIXELS;
  const bool pairs = has_pairs<BYTES>(p);
#pragma unroll 1
  for (uint32_t n = blockIdx.x * each + threadIdx.x; n < end; n += gridDim.x * each) {
    if constexpr (BYTES < 8) {
      if (pairs) {
        flat_pixels<BYTES, UNROLL, true>(p, n, end);
        continue;
      }
    }
    flat_pixels<BYTES, UNROLL, false>(p, n, end);
  }
}

} // namespace mt

#undef MT_INLINE
#endif
