/*
** tiles.h - private: tiles with their complements, where these are no matter of integer
** strides.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_ALGEBRA_TILES_H
#define MT_ALGEBRA_TILES_H

#include "core/build.h"

/* Strides of t are basis elements, none is a sum. */
bool mt_is_axes (const mt_node *t);
/* (T, T*), T* what a tile of coordinates leaves of the modes of a: along an axis its
** complement up to the size of that mode; modes that no stride names are whole. Errors:
** MT_EINEXACT (they miss coordinates), those of mt_complement, MT_EINVAL. */
mt_status mt_tile_of_axes (mt_layout *out, const char *op, const mt_node *t,
                           const mt_node *a, mt_err *err);

/* (T, T*) of a T that is composed, swizzled or over F2: every value from 0 on, up to the
** bound at least, is T(x) + T*(y) once. Errors: MT_EINJECTIVE, MT_EINEXACT, both with a
** witness, MT_EUNSUPPORTED (a value is 2^16 or more). */
mt_status mt_tile_of_function (mt_layout *out, const char *op, const mt_node *t,
                               int64_t bound, mt_err *err);
/* The layout of ascending strides that has the values of t, each of them once. The same
** errors. */
mt_status mt_values_of (mt_layout *out, const char *op, const mt_node *t, mt_err *err);

/* Links that are layouts may take two indices to one value: where a has such, copies of
** it are copies of its values, not of what it applies first. */
bool mt_has_layout_links (const mt_node *a);
/* What the complement of a is that of: its base, or a layout of its values in `room`. */
mt_status mt_complemented (const mt_node **out, mt_layout *room, const mt_node *a,
                           mt_err *err);

#endif
