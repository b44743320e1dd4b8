/*
** permute_collect.cuh - a vector of the destination out of an unaligned box in shared
** memory, and how it is stored.
** SPDX-License-Identifier: MIT
**
** A unit is an access of ES bytes, a vector V of them. Unit n of row r has the address
**   places[n] + (what row r adds),
** where `places` is a table of the box (desc/permute_unaligned_desc.h). So a vector of
** the row takes V looks into the table and V reads; or one or two of both, if rows
** consist of contiguous pieces. Vectors at the same place of several rows share the
** looks.
*/
#ifndef PERMUTE_COLLECT_CUH
#define PERMUTE_COLLECT_CUH

#include "desc/permute_unaligned_desc.h"
#include "kernels/copy/permute.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

/* ------------------------------------------------------------------ reading */

template <int ES> struct unaligned_unit { typedef typename shared_word<ES>::type type; };
template <> struct unaligned_unit<1> { typedef uint8_t type; };
template <> struct unaligned_unit<2> { typedef uint16_t type; };

/* An address of shared memory, in 32 bits, and what lies there. Emulated kernels count
** from the box. */
#if defined(__CUDA_ARCH__)
MT_INLINE uint32_t unaligned_address (const char *box) {
  return (uint32_t)__cvta_generic_to_shared(box);
}
MT_INLINE void unaligned_get (uint8_t *x, uint32_t at, const char *) {
  uint32_t v;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(v) : "r"(at));
  *x = (uint8_t)v;
}
MT_INLINE void unaligned_get (uint16_t *x, uint32_t at, const char *) {
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(*x) : "r"(at));
}
MT_INLINE void unaligned_get (uint32_t *x, uint32_t at, const char *) {
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(*x) : "r"(at));
}
MT_INLINE void unaligned_get (uint2 *x, uint32_t at, const char *) {
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x->x), "=r"(x->y) : "r"(at));
}
MT_INLINE void unaligned_get (uint4 *x, uint32_t at, const char *) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x->x), "=r"(x->y), "=r"(x->z), "=r"(x->w)
               : "r"(at));
}
#else
MT_INLINE uint32_t unaligned_address (const char *) { return 0; }
template <typename T> MT_INLINE void unaligned_get (T *x, uint32_t at, const char *box) {
  MT_ASSERT((int32_t)at >= -16 &&
            (int32_t)at <= MT_PERMUTE_UNALIGNED_SHARED - 16 - (int)sizeof *x);
  *x = *(const T *)(box + (int32_t)at);
}
#endif

/* ------------------------------------------------------------------ collecting */

/* The words of a, if n & BIT those of b. */
template <uint32_t BIT>
MT_INLINE uint4 chosen (const uint4 &a, const uint4 &b, uint32_t n) {
#if defined(__CUDA_ARCH__)
  uint4 out;
  asm("{\n .reg .pred p;\n .reg .b32 t;\n and.b32 t, %12, %13;\n"
      " setp.ne.u32 p, t, 0;\n selp.b32 %0, %8, %4, p;\n selp.b32 %1, %9, %5, p;\n"
      " selp.b32 %2, %10, %6, p;\n selp.b32 %3, %11, %7, p;\n}"
      : "=r"(out.x), "=r"(out.y), "=r"(out.z), "=r"(out.w)
      : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y), "r"(b.z), "r"(b.w),
        "r"(n), "n"(BIT));
  return out;
#else
  return n & BIT ? b : a;
#endif
}

/* The vector rotated: its bit m, a multiple of 8 ES, comes first. */
template <int ES> MT_INLINE uint4 rotated (const uint4 &v, uint32_t m) {
  const uint4 h = chosen<64>(v, make_uint4(v.z, v.w, v.x, v.y), m);
  if (ES > 4) return h;
  const uint4 w = chosen<32>(h, make_uint4(h.y, h.z, h.w, h.x), m);
  if (ES == 4) return w;
  return make_uint4(__funnelshift_r(w.x, w.y, m), __funnelshift_r(w.y, w.z, m),
                    __funnelshift_r(w.z, w.w, m), __funnelshift_r(w.w, w.x, m));
}

/* The V units from place `first` of a row on, -V < first. at[n] is where the one lies
** whose number is n modulo V. So the vector is rotated at last, by `rotation` bits.
** Before the first place and behind the last something is read that means nothing. */
template <int ES> struct unaligned_units {
  enum { V = 16 / ES };
  typedef typename unaligned_unit<ES>::type type;
  uint32_t at[V];    /* to what the row adds */
  uint32_t rotation; /* bits that come last */

  MT_INLINE unaligned_units (const mt_permute_unaligned &k, const char *box,
                             int32_t first) {
    const uint32_t early = (uint32_t)first & (V - 1), later = (1u << early) - 1;
    const uint32_t table = unaligned_address(box) + k.places_at;
    const uint32_t a = table + (V + (uint32_t)first) / V * MT_UNALIGNED_GROUP(V);
    const uint32_t b = a + MT_UNALIGNED_GROUP(V);
#pragma unroll
    for (uint32_t n = 0; n < V; n++) {
      uint16_t place;
      unaligned_get(&place, (later >> n & 1 ? b : a) + 2 * n, box);
      at[n] = place;
    }
    rotation = 8 * early * ES;
  }

  /* Goes so many bytes on. */
  MT_INLINE void go (uint32_t by) {
#pragma unroll
    for (int n = 0; n < V; n++) at[n] += by;
  }
  /* Of the row at address `row`. Its byte `from` comes first. */
  MT_INLINE uint4 vector (const char *box, uint32_t row, uint32_t from = 0) const {
    type x[V];
    uint4 out;
#pragma unroll
    for (int n = 0; n < V; n++) unaligned_get(&x[n], at[n] + row, box);
    box_vectors<ES, 1>::of(&out, x);
    return ES == 16 ? out : rotated<ES>(out, rotation + 8 * from);
  }
};

/* 16 bytes of shared memory from a multiple of ES on: aligned words, shifted. */
template <int ES> MT_INLINE uint4 unaligned_any (const char *box, uint32_t at) {
  typedef typename shared_word<(ES < 4 ? 4 : ES)>::type word;
  enum { EACH = sizeof(word), N = ES < 4 ? 5 : 16 / ES };
  word x[N];
  uint4 out;
#pragma unroll
  for (uint32_t n = 0; n < N; n++)
    unaligned_get(&x[n], (at & ~(EACH - 1)) + EACH * n, box);
  if constexpr (ES < 4) {
    const uint32_t m = 8 * (at & 3);
    out = make_uint4(__funnelshift_r(x[0], x[1], m), __funnelshift_r(x[1], x[2], m),
                     __funnelshift_r(x[2], x[3], m), __funnelshift_r(x[3], x[4], m));
  } else {
    turned<ES>::of(&out, x);
  }
  return out;
}

/* The first n bytes of a, 0 < n < 16, the others of b. */
MT_INLINE uint4 unaligned_join (const uint4 &a, const uint4 &b, uint32_t n) {
  uint4 out;
#pragma unroll
  for (uint32_t i = 0; i < 4; i++) {
    const uint32_t mask = n <= 4 * i ? 0 : n >= 4 * i + 4 ? ~0u : (1u << 8 * (n & 3)) - 1;
    (&out.x)[i] = ((&a.x)[i] & mask) | ((&b.x)[i] & ~mask);
  }
  return out;
}

/* The same where rows consist of pieces of 2 V units and more: the first piece and maybe
** the next. */
template <int ES> struct unaligned_pieces {
  enum { V = 16 / ES };
  uint32_t at, next; /* the second piece begins at next + left */
  uint32_t left;     /* bytes of the first from there on */

  MT_INLINE unaligned_pieces (const mt_permute_unaligned &k, const char *box,
                              int32_t first) {
    const mt_divisor &e = k.piece;
    const uint32_t p = (uint32_t)first;
    const uint32_t q = first < 0 ? 0 : divide(p, e);
    const uint32_t digit = p - q * e.extent;
    uint16_t a, b = 0;
    left = (e.extent - digit) * ES;
    const uint32_t entry = unaligned_address(box) + k.places_at + 2 * q;
    unaligned_get(&a, entry, box);
    if (left < 16) unaligned_get(&b, entry + 2, box);
    at = a + digit * ES;
    next = b - left;
  }

  MT_INLINE void go (uint32_t by) { at += by, next += by; }
  MT_INLINE uint4 vector (const char *box, uint32_t row, uint32_t from = 0) const {
    uint4 v = unaligned_any<ES>(box, at + row);
    if (left < 16) v = unaligned_join(v, unaligned_any<ES>(box, next + row), left);
    return ES == 16 ? v : rotated<ES>(v, 8 * from);
  }
};

/* ------------------------------------------------------------------ storing */

/* Stores the first N bytes of v at p + at, if these end by `end`. FIRST: only if `at` is
** no multiple of 2 N, so that it becomes one. What is left moves to the front of v. */
template <int ES, int N, bool FIRST>
MT_INLINE void store_next (char *p, uint4 &v, uint32_t &at, uint32_t end) {
  if (ES > N || (FIRST && !(at & N)) || at + N > end) return;
  if constexpr (N == 1) store<1>(p + at, (uint8_t)v.x);
  else if constexpr (N == 2) store<2>(p + at, (uint16_t)v.x);
  else if constexpr (N == 4) store<4>(p + at, v.x);
  else store<8>(p + at, make_uint2(v.x, v.y));
  at += N;
  if constexpr (N == 8) v = make_uint4(v.z, v.w, 0, 0);
  else if constexpr (N == 4) v = make_uint4(v.y, v.z, v.w, 0);
  else
    v = make_uint4(__funnelshift_r(v.x, v.y, 8 * N), __funnelshift_r(v.y, v.z, 8 * N),
                   __funnelshift_r(v.z, v.w, 8 * N), v.w >> 8 * N);
}

/* Stores the bytes [at, end) of the vector at p, of which v has byte `at` first: by
** accesses of 1, 2, 4, 8, 4, 2, 1 bytes, as far as they are needed, each aligned. */
template <int ES>
MT_INLINE void store_part (char *p, uint4 v, uint32_t at, uint32_t end) {
  store_next<ES, 1, true>(p, v, at, end);
  store_next<ES, 2, true>(p, v, at, end);
  store_next<ES, 4, true>(p, v, at, end);
  store_next<ES, 8, false>(p, v, at, end);
  store_next<ES, 4, false>(p, v, at, end);
  store_next<ES, 2, false>(p, v, at, end);
  store_next<ES, 1, false>(p, v, at, end);
}

/* A whole vector. */
MT_INLINE void unaligned_whole (char *p, const uint4 &v) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.x), "r"(v.y),
               "r"(v.z), "r"(v.w)
               : "memory");
#else
  store<16>(p, v);
#endif
}

} // namespace mt

#undef MT_INLINE
#endif
