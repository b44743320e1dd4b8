/*
** types.h - data types, and elements that become others.
** SPDX-License-Identifier: MIT
*/
#ifndef MOONTILE_TYPES_H
#define MOONTILE_TYPES_H

#include "moontile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Those of moontile/dtypes.def, little endian. Floats are as in IEEE 754, but e4m3
** (float8_e4m3fn elsewhere): it has no infinities, only one NaN of each sign, 0x7f and
** 0xff, and 448 as its largest number; what rounds to more becomes NaN, infinity too, as
** in ml_dtypes. */
typedef enum mt_dtype {
#define MT_DTYPE(name, ...) MT_##name,
#include "moontile/dtypes.def"
  MT_NDTYPE
} mt_dtype;

/* How f32 is multiplied, with sums of f32: as it is; or, where the device has that, as
** tf32: the last 13 bits of an element of A or B do not count; or as three products of
** tf32, of the elements without these bits and of what these are: A B is A1 B1 + A1 B2 +
** A2 B1, and A2 B2, 2^-21 of it, is left out. */
typedef enum mt_precision {
  MT_PRECISION_FULL,
  MT_PRECISION_TF32,
  MT_PRECISION_3XTF32
} mt_precision;

MT_API const char *mt_dtype_name (mt_dtype d); /* "f32" */
MT_API size_t mt_dtype_size (mt_dtype d);      /* bytes of one element */
MT_API mt_status mt_dtype_find (mt_dtype *out, const char *name, mt_err *err);

/* A number as Lua has it: an integer or a double. */
typedef struct mt_number {
  bool isint;
  int64_t i;
  double f;
} mt_number;
/* One element, little endian. Reading is exact, NaN payloads included (u64 beyond 2^63
** wraps to a negative integer, and writing it gives it back). Writing rounds to
** nearest even; an integer type takes integral values in its range only (MT_ERANGE
** otherwise); a float type takes any. */
MT_API mt_number mt_load_element (mt_dtype d, const void *p);
MT_API mt_status mt_store_element (mt_dtype d, void *p, mt_number v, mt_err *err);
/* One element as a copy converts it: the nearest, ties to even. (1) Floats out of range
** become infinity, or NaN where there is none; a NaN keeps its sign and what fits of its
** payload. (2) Integers out of range become the end of it, NaN 0. (3) As a bool all but
** 0 is 1, NaN too. Between equal types: the same bytes. */
MT_API void mt_cast_element (mt_dtype to, void *dst, mt_dtype from, const void *src);

/* Where a number goes that the other type has not: to the nearest, ties to even; to the
** next one towards zero, minus infinity, plus infinity. */
typedef enum mt_rounding {
  MT_ROUND_NEAREST,
  MT_ROUND_ZERO,
  MT_ROUND_DOWN,
  MT_ROUND_UP
} mt_rounding;
/* "nearest", "zero", "down", "up"; NULL: no such rounding. */
MT_API const char *mt_rounding_name (mt_rounding r);
/* The same rounded so. A finite number beyond the largest float becomes the largest where
** its direction leads there, infinity (or NaN) where it does not; integers out of range
** become the end of it, and a NaN what it becomes otherwise. */
MT_API void mt_cast_rounded (mt_dtype to, void *dst, mt_dtype from, const void *src,
                             mt_rounding r);

#ifdef __cplusplus
}
#endif

#endif
