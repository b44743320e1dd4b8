/*
** any.cuh - vectors of elements whose types are known at run time, converted.
** SPDX-License-Identifier: MIT
**
** An access has as many elements as 16 bytes of the wider type. All threads of a launch
** convert alike, so a branch on both types costs little when it is taken once for one or
** two accesses: behind it stands the code of these two types, which are constants there.
** What an element of one byte becomes is looked up: a block makes a table of all 256.
*/
#ifndef CAST_ANY_CUH
#define CAST_ANY_CUH

#include "kernels/cast/convert.cuh"

#define MT_INLINE __device__ __forceinline__

namespace mt {

enum { MT_CAST_TABLE = 256 * 8 }; /* bytes of what elements of one byte become */

/* ------------------------------------------------------------------ tables */

template <int ED> MT_INLINE void put_entry (char *table, uint32_t i, uint64_t bits) {
  if constexpr (ED < 8)
    ((typename word<ED>::type *)table)[i] = (typename word<ED>::type)bits;
  else ((uint2 *)table)[i] = make_uint2((uint32_t)bits, (uint32_t)(bits >> 32));
}

template <int ED> MT_INLINE uint64_t get_entry (const char *table, uint32_t i) {
  if constexpr (ED < 8) return ((const typename word<ED>::type *)table)[i];
  else {
    const uint2 v = ((const uint2 *)table)[i];
    return v.x | (uint64_t)v.y << 32;
  }
}

/* What all elements of one byte become. */
MT_INLINE void make_table (char *table, uint32_t cast) {
  const mt_cast_type from = mt_cast_type_of(MT_CAST_SRC(cast));
  const mt_cast_type to = mt_cast_type_of(MT_CAST_DST(cast));
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < 256; i += blockDim.x) {
    const uint64_t bits = mt_cast_bits(i, from, to);
    if (to.bytes == 1) put_entry<1>(table, i, bits);
    else if (to.bytes == 2) put_entry<2>(table, i, bits);
    else if (to.bytes == 4) put_entry<4>(table, i, bits);
    else put_entry<8>(table, i, bits);
  }
}

template <int ED> MT_INLINE uint4 looked_up (const uint4 &v, const char *table) {
  const uint32_t in[4] = {v.x, v.y, v.z, v.w};
  uint32_t out[4] = {0, 0, 0, 0};
#pragma unroll
  for (int i = 0; i < 16 / ED; i++)
    put_element<ED>(out, i, get_entry<ED>(table, (uint32_t)get_element<1>(in, i)));
  return make_uint4(out[0], out[1], out[2], out[3]);
}

/* ------------------------------------------------------------------ pairs of types */

template <class S, class D> MT_INLINE uint4 converted (const uint4 &v) {
  enum { N = 16 / (S::BYTES > D::BYTES ? S::BYTES : D::BYTES) };
  const uint32_t in[4] = {v.x, v.y, v.z, v.w};
  uint32_t out[4] = {0, 0, 0, 0};
  convert_words<S, D, N>(out, in);
  return make_uint4(out[0], out[1], out[2], out[3]);
}

/* From type S, of more than a byte, to a type of ED bytes. */
template <class S, int ED> MT_INLINE uint4 converted_to (const uint4 &v, uint32_t to) {
#define MT_DTYPE(name, ...)                                                              \
  if constexpr (name##_number::BYTES == ED)                                              \
    if (to == MT_##name) return converted<S, name##_number>(v);
#include "moontile/dtypes.def"
  return v;
}

/* Of types of ES and ED bytes: called, since there is more than one place. */
template <int ES, int ED>
static __device__ __noinline__ uint4 converted_sized (uint4 v, uint32_t cast) {
  const uint32_t pair = cast & 65535;
#define MT_DTYPE(name, ...)                                                              \
  if constexpr (name##_number::BYTES == ES)                                              \
    if (MT_CAST_SRC(pair) == MT_##name)                                                  \
      return converted_to<name##_number, ED>(v, MT_CAST_DST(pair));
#include "moontile/dtypes.def"
  return v;
}

/* Two accesses at once: half as many calls, and branches on the types. */
struct two_accesses {
  uint4 x, y;
};

template <class S, class D>
MT_INLINE two_accesses both_converted (const two_accesses &v) {
  return {converted<S, D>(v.x), converted<S, D>(v.y)};
}

template <class S, int ED>
MT_INLINE two_accesses both_converted_to (const two_accesses &v, uint32_t to) {
#define MT_DTYPE(name, ...)                                                              \
  if constexpr (name##_number::BYTES == ED)                                              \
    if (to == MT_##name) return both_converted<S, name##_number>(v);
#include "moontile/dtypes.def"
  return v;
}

/* The same as converted_sized, of two. */
template <int ES, int ED>
static __device__ __noinline__ two_accesses both_sized (uint4 x, uint4 y, uint32_t cast) {
  const uint32_t pair = cast & 65535;
  const two_accesses v = {x, y};
#define MT_DTYPE(name, ...)                                                              \
  if constexpr (name##_number::BYTES == ES)                                              \
    if (MT_CAST_SRC(pair) == MT_##name)                                                  \
      return both_converted_to<name##_number, ED>(v, MT_CAST_DST(pair));
#include "moontile/dtypes.def"
  return v;
}

template <int ES, int ED>
MT_INLINE two_accesses convert_both (const uint32_t *x, const uint32_t *y, uint32_t cast,
                                     const char *table) {
  const uint4 a = make_uint4(x[0], x[1], x[2], x[3]);
  const uint4 b = make_uint4(y[0], y[1], y[2], y[3]);
  if constexpr (ES == 1) return {looked_up<ED>(a, table), looked_up<ED>(b, table)};
  else return both_sized<ES, ED>(a, b, cast);
}

/* An access of words. */
template <int ES, int ED>
MT_INLINE void convert_sized (uint32_t *to, const uint32_t *from, uint32_t cast,
                              const char *table) {
  enum {
    WIDE = ES > ED ? ES : ED,
    IN = (16 / WIDE * ES + 3) / 4,
    OUT = (16 / WIDE * ED + 3) / 4
  };
  uint32_t in[4] = {0, 0, 0, 0};
#pragma unroll
  for (int i = 0; i < IN; i++) in[i] = from[i];
  const uint4 v = make_uint4(in[0], in[1], in[2], in[3]);
  uint4 y;
  if constexpr (ES == 1) y = looked_up<ED>(v, table);
  else y = converted_sized<ES, ED>(v, cast);
  const uint32_t out[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
  for (int i = 0; i < OUT; i++) to[i] = out[i];
}

} // namespace mt

#undef MT_INLINE
#endif
