/*
** number.cuh - elements of tensors as numbers: floats as types/convert.h has them.
** SPDX-License-Identifier: MIT
*/
#ifndef NUMBER_CUH
#define NUMBER_CUH

#include "desc/cast_desc.h"
#include "desc/gemm_desc.h"

#define MT_INLINE __device__ __forceinline__
#define MT_SHARED_FUNCTION static __device__ __noinline__
#define MT_SHARED __shared__

namespace mt {

/* A float below 32 bits. */
MT_INLINE mt_cast_type small_float (uint32_t dtype) {
#define MT_DTYPE(name, kind, bytes, type, element, e, m, top, ...)                       \
  if (MT_KIND_##kind == MT_KIND_FLOAT && bytes < 4 && dtype == MT_##name)                \
    return MT_CAST_ROW(kind, bytes, e, m, top);
#include "moontile/dtypes.def"
  return {};
}

/* Exact. */
MT_INLINE double read_float (uint32_t dtype, uint32_t bits) {
  return mt_as_double(mt_cast_double(mt_cast_widen(bits, small_float(dtype))));
}

MT_INLINE uint32_t write_float (uint32_t dtype, double v) {
  return mt_cast_narrow64(mt_double_as(v), small_float(dtype));
}

/* Element i of floats of any type. */
MT_INLINE double read_real (uint32_t dtype, const char *base, int64_t i) {
  if (dtype == MT_f64) return ((const double *)base)[i];
  if (dtype == MT_f32) return ((const float *)base)[i];
  return read_float(dtype, small_float(dtype).bytes == 1 ? ((const uint8_t *)base)[i] :
                                                           ((const uint16_t *)base)[i]);
}

MT_INLINE void write_real (uint32_t dtype, char *base, int64_t i, double v) {
  if (dtype == MT_f64) ((double *)base)[i] = v;
  else if (dtype == MT_f32) ((float *)base)[i] = (float)v;
  else if (small_float(dtype).bytes == 1)
    ((uint8_t *)base)[i] = (uint8_t)write_float(dtype, v);
  else ((uint16_t *)base)[i] = (uint16_t)write_float(dtype, v);
}

} // namespace mt
#endif
