/*
** swizzle.cuh - copies of swizzled sides, DESCRIBED and STRIDED.
** SPDX-License-Identifier: MIT
**
** Offsets before the swizzle are what copy.cuh walks to; where an access lies is known
** only when all of its axes are added. A swizzle keeps the elements of an access
** together.
*/
#ifndef SWIZZLE_CUH
#define SWIZZLE_CUH

#include "kernels/copy/strided.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

MT_INLINE int64_t swizzle (const mt_desc_swizzle &f, int64_t o) {
  const int64_t moved = o & f.mask;
  return o ^ (f.shift >= 0 ? moved >> f.shift : moved << -f.shift);
}

/* Bytes from the base of a side on. */
MT_INLINE int64_t bytes_to (const mt_launch &p, int side, const place &at) {
  const int64_t o = swizzle(p.desc.swizzle[side], p.offset[side] + at.side[side]);
  return (p.origin[side] + o) * (int64_t)p.desc.elem;
}

/* Where the accesses at places lie. */
struct swizzled {
  enum { PLAIN = 0 };
  static MT_INLINE const char *source (const mt_launch &p, const place &at) {
    return (const char *)p.base[MT_SRC] + bytes_to(p, MT_SRC, at);
  }
  static MT_INLINE char *target (const mt_launch &p, const place &at) {
    return (char *)p.base[MT_DST] + bytes_to(p, MT_DST, at);
  }
};

/* ------------------------------------------------------------------ DESCRIBED */

/* Values v, v + 1, ... of a thread: UNROLL of them, as far as there are. */
template <int BYTES, int UNROLL>
MT_INLINE void swizzled_values (const mt_launch &p, const place &corner, uint32_t v) {
  const mt_desc &d = p.desc;
  typename word<BYTES>::type data[UNROLL];
  char *dst[UNROLL];
#pragma unroll
  for (int u = 0; u < UNROLL; u++) {
    place at = corner;
    if (v + u < (uint32_t)d.values) {
      walk_val(at, d, v + u);
      data[u] = load<BYTES>(swizzled::source(p, at));
    }
    dst[u] = swizzled::target(p, at);
  }
#pragma unroll
  for (int u = 0; u < UNROLL; u++)
    if (v + u < (uint32_t)d.values) store<BYTES>(dst[u], data[u]);
}

struct swizzled_sides {
  const mt_launch &p;
  MT_INLINE sides at (const place &to) const {
    sides s(p);
    s.src = swizzled::source(p, to);
    s.dst = swizzled::target(p, to);
    return s;
  }
};

template <int BYTES, int UNROLL> MT_INLINE void swizzled_tv (const mt_launch &p) {
  const mt_desc &d = p.desc;
  place thr = {};
  if (threadIdx.x >= d.threads) return;
  walk_thr(thr, d, threadIdx.x);
#pragma unroll 1
  for (int64_t n = blockIdx.x; n < d.rests; n += gridDim.x) {
    place corner = thr;
    ordinates rest = {};
    walk_rest(corner, d, n);
    if (d.nbound != 0) walk_rest(rest, d, n);
    if (d.nbound != 0 && !inside(d, rest)) {
      tv_edge<BYTES>(d, swizzled_sides{p}, corner, rest);
      continue;
    }
#pragma unroll 1
    for (uint32_t v = 0; v < (uint32_t)d.values; v += UNROLL)
      swizzled_values<BYTES, UNROLL>(p, corner, v);
  }
}

/* ------------------------------------------------------------------ both algorithms */

template <int ALGO, int BYTES, int UNROLL>
MT_INLINE void copy_swizzled (const mt_launch &p) {
  begin();
  if constexpr (ALGO == MT_ALGO_DESCRIBED) swizzled_tv<BYTES, UNROLL>(p);
  else copy_strided<BYTES, UNROLL, swizzled>(p);
}

} // namespace mt

#undef MT_INLINE
#endif
