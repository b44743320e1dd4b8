/*
** bounds.h - private: the bounds of a tensor, one by one, as layouts of integers.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_TILE_BOUNDS_H
#define MT_TILE_BOUNDS_H

#include "moontile/tensor.h"
#include "core/error.h"

/* Ordinate k of t: element c is real in it if ordinates(c) < *bound. A layout with
** integer strides >= 0, with the tree of t->bounds->coord. Errors: MT_EINVAL (these are
** no bounds of t), MT_EOVERFLOW. */
mt_status mt_bound_of (mt_layout *ordinates, int64_t *bound, const mt_tensor *t, int k,
                       mt_err *err);
/* The largest value of such a layout, which is not empty; INT64_MAX beyond 64 bits. */
int64_t mt_last_ordinate (const mt_node *ordinates);
/* Whether t has an element that is not real, or might have. Errors: those of
** mt_bound_of. */
mt_status mt_is_ragged (bool *out, const mt_tensor *t, mt_err *err);

#endif
