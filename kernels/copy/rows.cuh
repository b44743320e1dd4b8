/*
** rows.cuh - copies of rows that begin anywhere.
** SPDX-License-Identifier: MIT
**
** A unit is an access of ES bytes. The thread axis of the descriptor is a run of both
** sides, the rest axes number the rows. A thread writes one vector of 16 bytes that is
** aligned in the destination: vector v of a row begins 16 v bytes past the last multiple
** of 16 that is not behind the beginning of the row. What it needs of the source lies in
** two vectors that are aligned there. Of rows that run backwards in the source the units
** of a vector are turned round. What is repeated is put together once and written several
** times (mt_raster).
*/
#ifndef ROWS_CUH
#define ROWS_CUH

#include "desc/transpose_desc.h"
#include "kernels/copy/transpose.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* The units of a vector in the other order. */
template <int ES> MT_INLINE uint4 reversed (const uint4 &v) {
  constexpr uint32_t order = ES == 1 ? 0x0123 : ES == 2 ? 0x1032 : 0x3210;
  if (ES == 16) return v;
  if (ES == 8) return make_uint4(v.z, v.w, v.x, v.y);
  return make_uint4(__byte_perm(v.w, 0, order), __byte_perm(v.z, 0, order),
                    __byte_perm(v.y, 0, order), __byte_perm(v.x, 0, order));
}

template <int ES, bool AGAIN>
MT_INLINE void copy_vector (const mt_launch &p, uint32_t n) {
  const mt_desc &d = p.desc;
  const mt_raster &r = d.raster;
  uint32_t row = divide(n, r.along), copy = 0;
  const int32_t v = (int32_t)(n - row * r.along.extent), end = (int32_t)d.threads;
  const memory m(p, MT_SRC);
  sides s(p);
  place at = {};
  if (AGAIN) {
    const uint32_t rest = divide(row, r.across), g = row - rest * r.across.extent;
    const uint32_t c = divide(g, r.strip);
    copy = g + c * r.strip.extent * (MT_ROWS_EACH - 1);
    row = rest;
    if (copy >= (uint32_t)d.values) return;
    at.step(d.axis[1], copy);
  }
  walk(at, d, 1 + AGAIN, 1 + AGAIN + d.nrest, row);
  s.move(d, at);
  const uint32_t before = (uint32_t)(uintptr_t)s.dst & 15;
  const int32_t first = v * (16 / ES) - (int32_t)(before / ES);
  const bool backwards = d.axis[0].stride[MT_SRC] < 0;
  const int32_t low = backwards ? 1 - first - 16 / ES : first;
  const char *from = s.src + (int64_t)low * ES;
  const uint32_t shift = (uint32_t)(uintptr_t)from & 15;
  if (first >= end) return;
  uint4 a = load_raw<ES>(from - shift, m), b = {0, 0, 0, 0};
  if (shift != 0) b = load_raw<ES>(from - shift + 16, m);
  a = window<ES>(a, b, shift);
  if (backwards) a = reversed<ES>(a);
  char *to = s.dst + (int64_t)first * ES;
  store_units<ES>(to, a, first, end);
  if (!AGAIN) return;
  const int64_t pitch = d.axis[1].stride[MT_DST] * (int64_t)(d.elem * r.strip.extent);
#pragma unroll
  for (int i = 1; i < MT_ROWS_EACH; i++) {
    copy += r.strip.extent, to += pitch;
    if (copy < (uint32_t)d.values) store_units<ES>(to, a, first, end);
  }
}

template <int ES, int UNROLL, bool AGAIN>
MT_INLINE void copy_vectors (const mt_launch &p) {
  const mt_raster &r = p.desc.raster;
  const uint32_t groups = AGAIN ? r.across.extent : 1;
  const uint32_t all = (uint32_t)p.desc.rests * r.along.extent * groups;
  const uint32_t n = blockIdx.x * (256 * UNROLL) + threadIdx.x;
#pragma unroll
  for (int u = 0; u < UNROLL; u++)
    if (n + 256 * u < all) copy_vector<ES, AGAIN>(p, n + 256 * u);
}

template <int ES, int UNROLL> MT_INLINE void copy_rows (const mt_launch &p) {
  if (p.desc.nval == 0) copy_vectors<ES, UNROLL, false>(p);
  else copy_vectors<ES, UNROLL, true>(p);
}

template <int BYTES, int UNROLL> struct copier<MT_ALGO_ROWS, BYTES, UNROLL> {
  static MT_INLINE void run (const mt_launch &p) { copy_rows<BYTES, UNROLL>(p); }
};

} // namespace mt

/* Blocks of an SM; without a number as many as registers allow. */
#define MT_BOUNDS_ROWS(threads, unroll) __launch_bounds__(threads, 6)

#undef MT_INLINE
#endif
