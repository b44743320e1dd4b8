/*
** cast_desc.h - copies that convert, shared with CUDA.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_DESC_CAST_DESC_H
#define MT_DESC_CAST_DESC_H

#include "types/convert.h"

/* A copy that converts: DESCRIBED, STRIDED, TRANSPOSE or TRANSPOSE_UNALIGNED, all but
** DESCRIBED without bounds. Of STRIDED an access is one element or as many as 16 bytes of
** the wider side have, of others one. Tiles are of elements; TRANSPOSE_UNALIGNED has
** larger ones, which overlap as above. What becomes of an element: types/convert.h. */
#define MT_CAST(src, dst) (1u << 16 | (uint32_t)(dst) << 8 | (uint32_t)(src))
#define MT_CAST_SRC(cast) ((cast)&255)
#define MT_CAST_DST(cast) ((cast) >> 8 & 255)
/* A conversion that rounds otherwise than to nearest: by kernels for any types. */
#define MT_CAST_ROUNDED(cast, rounding) ((cast) | (uint32_t)(rounding) << 17)
#define MT_CAST_ROUNDING(cast) ((mt_rounding)((cast) >> 17 & 3))
#define MT_CAST_TRANSPOSE_S(src, dst)                                                    \
  ((src) == 1 ? 128 : (src) == 8 && (dst) == 8 ? 32 : 64)
#define MT_CAST_TRANSPOSE_D(src, dst) ((dst) == 1 ? 128 : 64)
#define MT_CAST_WIDE_S(src, dst)                                                         \
  ((src) == 1 || ((src) == 2 && (dst) != 2) ? 128 : (src) == 8 && (dst) == 8 ? 32 : 64)
#define MT_CAST_WIDE_D(src, dst) ((dst) <= 2 ? 128 : 64)
#define MT_CAST_TRANSPOSE_UNALIGNED_S(src, dst) (MT_CAST_WIDE_S(src, dst) - 16 / (src))
#define MT_CAST_TRANSPOSE_UNALIGNED_D(src, dst) (MT_CAST_WIDE_D(src, dst) / 8 * 7)
enum { MT_CAST_UNROLL = 4 }; /* accesses of a thread */

#endif
