/*
** linear.h - private: layouts as maps of bits, x -> c xor the images of the bits of x.
** SPDX-License-Identifier: MIT
**
** Layouts over F2 are such maps, and so are others with extents that are powers of two
** where the steps share no bits: there + is xor. A swizzle above keeps that. Maps can be
** composed and inverted by their bits; what comes out is written as a plain layout where
** its images share no bits, as a swizzled one where a swizzle parts them, else over F2.
*/
#ifndef MT_ALGEBRA_LINEAR_H
#define MT_ALGEBRA_LINEAR_H

#include "core/build.h"

typedef struct mt_linear {
  int n;     /* bits of x */
  int64_t c; /* the value at 0 */
  int64_t of[MT_F2BITS];
} mt_linear;

/* The map of a on the first n bits of its index, its last mode without a bound; false if
** it is no such map. */
bool mt_linear_of (mt_linear *out, const mt_node *a, int n);
/* The same of a whole layout whose extents are powers of two. */
bool mt_linear_whole (mt_linear *out, const mt_node *a);
/* The bits of the digits of all leaves of t, in their order; extents may be any. */
bool mt_linear_modes (mt_linear *out, const mt_node *t);

/* The map as a layout with the tree of t, in which an extent may become several modes.
** f2: its strides are over F2. Errors: MT_EINEXACT. */
mt_status mt_linear_layout (mt_layout *out, const char *op, const mt_linear *x,
                            const mt_node *t, bool f2, mt_err *err);

/* A o t by their bits. False if one is no map of bits, or the answer no layout, or one
** over F2 where neither of them is. */
bool mt_linear_composition (mt_layout *out, const mt_node *a, const mt_node *t);
bool mt_linear_swizzle (mt_layout *out, mt_swizzle w, const mt_node *t);
/* The inverses by bits; right: only if it has more than n elements, and all of a where n
** is not 0. False: there is none, or a is no map of bits. */
bool mt_linear_right_inverse (mt_layout *out, const mt_node *a, int64_t n);
bool mt_linear_left_inverse (mt_layout *out, const mt_node *a);

#endif
