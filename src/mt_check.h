/*
** mt_check.h - private: the validator that stands before every launch.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_CHECK_H
#define MT_CHECK_H

#include "mt_impl.h"
#include "mt_desc.h"

/* The divisor of an extent, as in mt_desc.h. */
void mt_divisor (mt_axis *a);

/* The descriptor is one: counts, sizes, divisors and widths agree, and nothing that an
** executor computes from it, real or not, leaves int64. MT_EINVAL, MT_EOVERFLOW. */
mt_status mt_check_shape (const mt_launch *l, mt_err *err);

/* The same of what the forms from TILE on say beyond (mt_tile_form.c). */
mt_status mt_check_tile (const mt_launch *l, mt_err *err);
mt_status mt_check_rows (const mt_launch *l, mt_err *err);     /* and ROWS */

/* MT_OK is a proof: every real access lies in its buffer (bytes[MT_SRC], bytes[MT_DST])
** and is aligned, no two write one element, and nothing that is read is written; sides
** with different swizzles are apart by their ranges alone. Otherwise MT_ERANGE,
** MT_EALIGN, MT_EINJECTIVE, MT_EOVERLAP with a witness, or what could not be proven.
** Pure. */
mt_status mt_check_copy (const mt_launch *l, const size_t bytes[2], mt_err *err);

#endif
