/*
** tile.h - private: what tiled copies and tiled MMAs have in common.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_TILE_TILE_H
#define MT_TILE_TILE_H

#include "core/build.h"
#include "moontile/tile.h"

/* A layout of integers, not empty: with strides, swizzled, composed or listed. */
mt_status mt_number_layout (const char *op, const char *name, const mt_node *a,
                            mt_err *err);
/* The same numbers as integers, where they are over F2. */
mt_status mt_as_integers (mt_layout *out, const char *op, const mt_node *a, mt_err *err);
/* A bijection onto 0 .. size - 1: it has a right inverse of its whole size. `what` it
** numbers: "thread". Errors: MT_EINEXACT, MT_EINJECTIVE, with a witness. */
mt_status mt_numbers_all (const char *op, const char *name, const char *what,
                          const mt_node *a, mt_err *err);
/* Two elements with one number, i < j; -1: none among the first 4096. */
mt_status mt_same_number (int64_t *i, int64_t *j, const mt_node *a, mt_err *err);

/* (Thr,Val,A) of T, (thread,value) -> place: C(T(thr,val)) + A. C and A are layouts of
** integers or of coordinates, T one of integers, or a function; `function`: R may be one
** though T is none. */
mt_status mt_places_first (mt_layout *out, const char *op, const mt_node *t,
                           const mt_node *c, const mt_node *a, bool function,
                           mt_err *err);
/* (thread,value) -> place in the tile that thr and val make, each of which numbers its
** elements, one of them by a function. */
mt_status mt_function_tv (mt_layout *out, const mt_node *thr, const mt_node *val,
                          mt_err *err);
/* (Thr,A) of T, thread -> place; `flat`: (Thr,A0,A1). */
mt_status mt_thread_first (mt_layout *out, const char *op, const mt_node *t,
                           const mt_node *c, const mt_node *a, bool flat, mt_err *err);
/* What is above the base of a, over the partition of its base. */
mt_status mt_partition_over (mt_layout *out, const mt_node *a, const mt_node *under,
                             mt_err *err);

/* Of the atom along M, N or K (0, 1, 2); atoms side by side along it. */
int64_t mt_atom_extent (const mt_tiled_mma *mma, int axis);
int64_t mt_atoms_along (const mt_tiled_mma *mma, int axis);

/* a sliced at c, and a(c) with `_` as 0, in the space of `space`: an integer, or a
** coordinate with its zeros. */
mt_status mt_slice_in (mt_layout *out, mt_layout *offset, const mt_node *c,
                       const mt_node *a, const mt_node *space, mt_err *err);

#endif
