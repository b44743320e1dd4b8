/*
** place.cuh - where accesses are, and memory: what all copies begin with.
** SPDX-License-Identifier: MIT
**
** The parameter lies in constant memory, and is only ever indexed, so that it stays
** there. Divisions are those of desc/divisor_desc.h, for numerators below 2^31; a grid
** beyond takes 64-bit ones.
*/
#ifndef PLACE_CUH
#define PLACE_CUH

#include "desc/copy_desc.h"
#include "kernels/base.cuh"

#define MT_INLINE __device__ __forceinline__

/* The largest number of indices that is divided in 32 bits; tests have a smaller one. */
#ifndef MT_FAR
#define MT_FAR 0x7fffffff
#endif

/* What is checked, memory that a launch asks for, what arrives there later: emulated
** kernels have their own. */
#ifndef MT_ASSERT
#define MT_ASSERT(x) ((void)0)
#define MT_DYNAMIC(name, bytes) extern __shared__ uint4 name[]
#define MT_FETCH(to, from) ((void)0)
#define MT_FETCHED() ((void)0)
#define MT_ASK(p) ((void)0)
#endif

namespace mt {

/* What every kernel begins with: the next launch may come up, and what went before is
** done. A kernel that has something to do before it touches memory may wait later. */
MT_INLINE void let_next_begin () {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
MT_INLINE void wait_for_last () {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
MT_INLINE void begin () { let_next_begin(), wait_for_last(); }

template <int BYTES> struct word;
template <> struct word<1> { typedef uint8_t type; };
template <> struct word<2> { typedef uint16_t type; };
template <> struct word<4> { typedef uint32_t type; };
template <> struct word<8> { typedef uint2 type; };
template <> struct word<16> { typedef uint4 type; };

/* ------------------------------------------------------------------ coordinates */

/* Offsets of both sides, in elements. */
struct place {
  int64_t side[2];
  MT_INLINE void step (const mt_axis &a, int64_t digit) {
    side[MT_SRC] += digit * a.stride[MT_SRC];
    side[MT_DST] += digit * a.stride[MT_DST];
  }
};

/* Ordinates of the bounds. */
struct ordinates {
  int64_t at[MT_MAXBOUND];
  MT_INLINE void step (const mt_axis &a, int64_t digit) {
#pragma unroll
    for (int k = 0; k < MT_MAXBOUND; k++) at[k] += digit * a.step[k];
  }
};

MT_INLINE uint32_t divide (uint32_t n, const mt_axis &a) {
  return (uint32_t)a.extent == 1 ? n : __umulhi(n, a.mul) >> a.shift;
}

MT_INLINE uint32_t divide (uint32_t n, mt_divisor by) {
  return by.extent == 1 ? n : __umulhi(n, by.mul) >> by.shift;
}

/* Adds index n of the axes [i, end) to a place or to ordinates. n is below the product of
** their extents and below 2^31; the last axis takes what the others leave. */
template <typename T>
MT_INLINE void walk (T &t, const mt_desc &d, uint32_t i, uint32_t end, uint32_t n) {
  if (i == end) return;
#pragma unroll 1
  for (; i + 1 < end; i++) {
    uint32_t q = divide(n, d.axis[i]);
    t.step(d.axis[i], n - q * (uint32_t)d.axis[i].extent);
    n = q;
  }
  t.step(d.axis[i], n);
}

/* The same for N axes from i on, without a loop. */
template <int N, typename T>
MT_INLINE void walk_n (T &t, const mt_desc &d, int i, uint32_t n) {
#pragma unroll
  for (int end = i + N - 1; i < end; i++) {
    uint32_t q = divide(n, d.axis[i]);
    t.step(d.axis[i], n - q * (uint32_t)d.axis[i].extent);
    n = q;
  }
  t.step(d.axis[i], n);
}

/* The same for any n. */
template <typename T>
MT_INLINE void walk_far (T &t, const mt_desc &d, uint32_t i, uint32_t end, uint64_t n) {
#pragma unroll 1
  for (; i < end; i++) {
    uint64_t q = i + 1 < end ? divide_far(n, (uint64_t)d.axis[i].extent) : 0;
    t.step(d.axis[i], (int64_t)(n - q * (uint64_t)d.axis[i].extent));
    n = q;
  }
}

template <typename T> MT_INLINE void walk_thr (T &t, const mt_desc &d, uint32_t n) {
  walk(t, d, 0, d.nthr, n);
}

template <typename T> MT_INLINE void walk_val (T &t, const mt_desc &d, uint32_t n) {
  walk(t, d, d.nthr, d.nthr + d.nval, n);
}

MT_INLINE bool far (const mt_desc &d) { return d.rests > MT_FAR; }

template <typename T> MT_INLINE void walk_rest (T &t, const mt_desc &d, int64_t n) {
  uint32_t first = d.nthr + d.nval;
  if (far(d)) walk_far(t, d, first, first + d.nrest, (uint64_t)n);
  else walk(t, d, first, first + d.nrest, (uint32_t)n);
}

/* ------------------------------------------------------------------ memory */

/* Where an access is, on both sides. */
struct sides {
  const char *src;
  char *dst;
  MT_INLINE sides (const mt_launch &p)
      : src((const char *)p.base[MT_SRC] + p.offset[MT_SRC] * (int64_t)p.desc.elem),
        dst((char *)p.base[MT_DST] + p.offset[MT_DST] * (int64_t)p.desc.elem) {}
  MT_INLINE void move (const mt_desc &d, const place &by) {
    src += by.side[MT_SRC] * (int64_t)d.elem;
    dst += by.side[MT_DST] * (int64_t)d.elem;
  }
};

/* Where the accesses at places lie, of sides without a swizzle. */
struct plain {
  enum { PLAIN = 1 };
  static MT_INLINE const char *source (const mt_launch &p, const place &at) {
    return sides(p).src + at.side[MT_SRC] * (int64_t)p.desc.elem;
  }
  static MT_INLINE char *target (const mt_launch &p, const place &at) {
    return sides(p).dst + at.side[MT_DST] * (int64_t)p.desc.elem;
  }
};

template <int BYTES> MT_INLINE typename word<BYTES>::type load (const char *p) {
  return __ldg((const typename word<BYTES>::type *)p);
}

template <int BYTES> MT_INLINE void store (char *p, typename word<BYTES>::type value) {
  *(typename word<BYTES>::type *)p = value;
}

/* An address in shared memory, and what lies there; one in global memory that is added up
** here, not again wherever it is used. */
#if defined(__CUDA_ARCH__)
typedef uint32_t near;
MT_INLINE near near_of (const void *p) { return (near)__cvta_generic_to_shared(p); }
MT_INLINE void *there (near at) { return __cvta_shared_to_generic(at); }
MT_INLINE char *settled (const char *p) {
  size_t at = __cvta_generic_to_global(p);
  asm volatile("" : "+l"(at));
  return (char *)__cvta_global_to_generic(at);
}
/* A number that is computed once. */
MT_INLINE int64_t kept (int64_t n) {
  asm volatile("" : "+l"(n));
  return n;
}
/* The block's number for a thread that is the last one of its warp: no uniform number, as
** long chains of instructions of uniform registers are slow. */
MT_INLINE uint32_t block_of_last () {
  uint32_t lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return blockIdx.x + (31 - lane);
}
#else
typedef uintptr_t near;
MT_INLINE near near_of (const void *p) { return (near)p; }
MT_INLINE void *there (near at) { return (void *)at; }
MT_INLINE int64_t kept (int64_t n) { return n; }
MT_INLINE uint32_t block_of_last () { return blockIdx.x; }
MT_INLINE char *settled (const char *p) { return (char *)(uintptr_t)p; }
#endif

/* A vector to shared memory. By way of the L1 (.ca): quarters of a warp that share a
** sector ask the L2 for it once. */
MT_INLINE void fetch (near to, const char *from) {
#if defined(__CUDA_ARCH__)
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from)
               : "memory");
#else
  MT_FETCH((void *)to, from);
#endif
}

/* The same if `real`, without a branch; else maybe zeros. */
MT_INLINE void fetch_if (bool real, near to, const char *from) {
#if defined(__CUDA_ARCH__)
  asm volatile("{ .reg .pred p;\n"
               " setp.eq.u32 p, %0, 0;\n"
               " cp.async.ca.shared.global [%1], [%2], 16, p; }" ::"r"((uint32_t)real),
               "r"(to), "l"(from)
               : "memory");
#else
  if (real) MT_FETCH((void *)to, from);
#endif
}

/* The same if `real`, without a branch; else nothing. */
MT_INLINE void fetch_real (bool real, near to, const char *from) {
#if defined(__CUDA_ARCH__)
  asm volatile("{ .reg .pred p;\n"
               " setp.ne.u32 p, %0, 0;\n"
               " @p cp.async.ca.shared.global [%1], [%2], 16; }" ::"r"((uint32_t)real),
               "r"(to), "l"(from)
               : "memory");
#else
  if (real) MT_FETCH((void *)to, from);
#endif
}

/* What the threads of the block have fetched is there. */
MT_INLINE void fetched () {
#if defined(__CUDA_ARCH__)
  asm volatile("cp.async.wait_all;" ::: "memory");
#else
  MT_FETCHED();
#endif
  __syncthreads();
}

/* The line at p of the destination comes to the L2: what is written of it in part does
** not wait for it then. */
MT_INLINE void ask_for (const char *p) {
#if defined(__CUDA_ARCH__)
  asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(p)));
#else
  MT_ASK(p);
#endif
}

MT_INLINE void copy_element (const char *src, char *dst, uint32_t bytes) {
  switch (bytes) {
    case 1: return store<1>(dst, load<1>(src));
    case 2: return store<2>(dst, load<2>(src));
    case 4: return store<4>(dst, load<4>(src));
    case 8: return store<8>(dst, load<8>(src));
    default: return store<16>(dst, load<16>(src));
  }
}

} // namespace mt

#undef MT_INLINE
#endif
