/*
** gmma.h - what wgmma reads from shared memory: canonical layouts and their descriptors.
** SPDX-License-Identifier: MIT
**
** wgmma does not take the addresses of its operand: it makes them, from where the operand
** begins, a mode and two offsets. With T = 128 / bits elements in 16 bytes and W = 1, 2,
** 4, 8 in the modes INTERLEAVE, B32, B64, B128, element (i,j) of an operand (MN,K) is at
**   K, INTERLEAVE   (i % 8) T  + (i / 8) SBO T + j % T + (j / T) LBO T
**   K               (i % 8) WT + (i / 8) SBO T + j
**   MN, INTERLEAVE  i % T + (i / T) SBO T + (j % 8) T + (j / 8) LBO T
**   MN              i % WT + (i / WT) LBO T + (j % 8) WT + (j / 8) SBO T
** under the swizzle Sw<0,4,3>, Sw<1,4,3>, Sw<2,4,3>, Sw<3,4,3> of byte addresses.
*/
#ifndef MOONTILE_GMMA_H
#define MOONTILE_GMMA_H

#include "moontile/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* mode             name */
#define MT_GMMA_MODES(X)                                                                 \
  X(MT_GMMA_INTERLEAVE, "INTERLEAVE")                                                    \
  X(MT_GMMA_B32, "B32")                                                                  \
  X(MT_GMMA_B64, "B64")                                                                  \
  X(MT_GMMA_B128, "B128")

#define MT_GMMA_MODE_NAME(mode, name) mode,
typedef enum mt_gmma_mode { MT_GMMA_MODES(MT_GMMA_MODE_NAME) MT_NGMMA_MODE } mt_gmma_mode;
#undef MT_GMMA_MODE_NAME
MT_API const char *mt_gmma_mode_name (mt_gmma_mode m); /* "B128" */

/* Which mode of the operand (MN,K) runs in 16 bytes. */
typedef enum mt_gmma_major { MT_GMMA_K, MT_GMMA_MN } mt_gmma_major;
MT_API const char *mt_gmma_major_name (mt_gmma_major m); /* "K", "MN" */

/* lbo, sbo: in units of 16 bytes; 0 where the operand does not reach so far, and LBO is 1
** where K is contiguous under a swizzle, as in CuTe. An operand that several instructions
** read is `tiles` operands, each (mn,k), which begin at what the layout has there. */
typedef struct mt_gmma_desc {
  mt_gmma_mode mode;
  mt_gmma_major major;
  int bits; /* of an element */
  int64_t mn, k, tiles;
  int64_t lbo, sbo;
} mt_gmma_desc;

/* The major of a layout (MN,K): that whose neighbours lie together; MN if neither. */
MT_API mt_gmma_major mt_gmma_major_of (const mt_node *a);
/* The major that an atom's name says, 'K' or 'M'; 0: it says none, so that of the layout,
** if its elements have 16 bits; of others K is. */
MT_API mt_gmma_major mt_gmma_major_asked (char said, const mt_node *a, int bits);

/* The descriptor of what one instruction reads: CuTe's make_gmma_desc. a: (MN,K) ->
** element, swizzled or not; of K 16, 32 or 64 bytes; of MN a multiple of 8 where K is the
** major. (1) For all (i,j) of a: a(i,j) is what is said above. Errors: MT_EINVAL (bits,
** shape), MT_EINEXACT (no mode with its swizzle, or one that acts alike, reads it;
** with the first element that lies elsewhere). */
MT_API mt_status mt_make_gmma_desc (mt_gmma_desc *out, const mt_node *a, int bits,
                                    mt_gmma_major major, mt_err *err);
/* The same of an operand that is read mn by k at a time, which may have more modes, its
** stages: (1) holds in each tile of it, with
** one mode, LBO and SBO, and (2) each tile begins at a multiple of 16 bytes, at the first
** of the 8 rows of its swizzle. Errors: also MT_EINEXACT (the tiles do not divide it). */
MT_API mt_status mt_gmma_operand (mt_gmma_desc *out, const mt_node *a, int bits,
                                  int64_t mn, int64_t k, mt_gmma_major major,
                                  mt_err *err);
/* The element that the descriptor reads as (i,j), of an operand that begins at element 0:
** the formula above. */
MT_API int64_t mt_gmma_at (const mt_gmma_desc *d, int64_t i, int64_t j);

#ifdef __cplusplus
}
#endif

#endif
