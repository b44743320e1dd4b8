/*
** tile.h - private: what tiled copies and tiled MMAs have in common.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_TILE_TILE_H
#define MT_TILE_TILE_H

#include "core/build.h"

/* A layout with integer strides, not swizzled, not empty. */
mt_status mt_plain_layout (const char *op, const char *name, const mt_node *a,
                           mt_err *err);
/* A bijection onto 0 .. size - 1: it has a right inverse of its whole size. `what` it
** numbers: "thread". Errors: MT_EINEXACT, MT_EINJECTIVE, with a witness. */
mt_status mt_numbers_all (const char *op, const char *name, const char *what,
                          const mt_node *a, mt_err *err);
/* Two elements with one number, i < j; -1: none among the first 4096. */
mt_status mt_same_number (int64_t *i, int64_t *j, const mt_node *a, mt_err *err);

/* a sliced at c, and a(c) with `_` as 0, in the space of `space`: an integer, or a
** coordinate with its zeros. */
mt_status mt_slice_in (mt_layout *out, mt_layout *offset, const mt_node *c,
                       const mt_node *a, const mt_node *space, mt_err *err);

#endif
