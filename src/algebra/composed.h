/*
** composed.h - private: functions after layouts, kept as they are where no simpler value
** equals them.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_ALGEBRA_COMPOSED_H
#define MT_ALGEBRA_COMPOSED_H

#include "core/build.h"

/* R(i) = f(offset + x(i)), f a bare swizzle or a layout, swizzled, composed or neither, x
** one of the latter: the simplest value that was found, else a composed layout. The
** offset is an MT_INT; over F2 it is added by xor. Errors: MT_EINEXACT (f is a list or
** over F2, and would be asked below 0; a list past its end), MT_EINVAL (the values of x
** are no numbers), MT_EUNSUPPORTED (they are over F2, and an extent of f is no power of
** two), MT_ETOOBIG. */
mt_status mt_link (mt_layout *out, const char *op, const mt_node *f,
                   const mt_node *offset, const mt_node *x, mt_err *err);
/* What is above the base of a, composed or swizzled, over x, its innermost offset made
** larger by `more`, which may be NULL. */
mt_status mt_relink (mt_layout *out, const char *op, const mt_node *a,
                     const mt_node *more, const mt_node *x, mt_err *err);
/* a o t, t a layout or a bare swizzle, where no law has an answer. */
mt_status mt_keep_composition (mt_layout *out, const mt_node *a, const mt_node *t,
                               mt_err *err);
/* Whether that may be tried after a failure s: one of them is more than a layout over Z
** or of coordinates. */
bool mt_may_keep (const mt_node *a, const mt_node *t, mt_status s);

/* The value of t, composed, without what it does not need: plain, swizzled or over F2.
** False: none was found; whether there is one was decided by bits, and by values up to
** 2^14 of them. Else `out` is spoiled, and err as it was. */
bool mt_simplify (mt_layout *out, const char *op, const mt_node *t, mt_err *err);

/* A layout that is composed, swizzled or over F2, and has extents. */
bool mt_is_more (const mt_node *t);
/* The least value of a t that has numbers, and one more than its largest; of values over
** F2 as integers. At most 2^19 values are asked one by one. */
mt_status mt_number_range (int64_t *lo, int64_t *end, const char *op, const mt_node *t,
                           mt_err *err);
/* R(x, y) = A(x) + C(T(y)), of the modes (A, T); A and C are layouts of integers, or of
** coordinates; C NULL is C(j) = j. T has numbers not below 0. */
mt_status mt_beside (mt_layout *out, const char *op, const mt_node *a, const mt_node *c,
                     const mt_node *t, mt_err *err);
/* a, of two modes at its base, which change places. */
mt_status mt_swap_modes (mt_layout *out, const char *op, const mt_node *a, mt_err *err);

/* mt_right_inverse and mt_left_inverse of a composed or swizzled layout, link by link. */
mt_status mt_composed_right_inverse (mt_layout *out, const mt_node *a, mt_err *err);
mt_status mt_composed_left_inverse (mt_layout *out, const mt_node *a, mt_err *err);

#endif
