/*
** axes.h - private: lists of flat axes, and what may be done with them.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_DESC_AXES_H
#define MT_DESC_AXES_H

#include "moontile/layout.h"
#include "core/error.h"
#include "desc/copy_desc.h"

/* A product of extents >= 2 that fits int64 has at most 62 of them. */
enum { MT_LISTSIZE = 64 };

typedef struct mt_axes {
  int n;
  mt_axis axis[MT_LISTSIZE];
} mt_axes;

/* What refining gives to the axes: the stride of a side, or the step of bound f -
** MT_STEP. */
enum { MT_STEP = 2 };

/* The axes of a mode: its leaves, merged, with field `f` set. */
void mt_axes_of (mt_axes *a, const mt_node *mode, int f);
/* Cuts `a` and the axes of `mode`, which has its size, at each other's ends, and sets
** field `f`. False if they have no common refinement. */
bool mt_axes_refine (mt_axes *a, const mt_node *mode, int f);
void mt_axes_append (mt_axes *a, const mt_axes *b);
/* As an assignment, of the axes that there are. */
void mt_axes_copy (mt_axes *to, const mt_axes *from);
/* Neighbours that are one axis become one; extents of 1 go. */
void mt_axes_merge (mt_axes *a);
/* By the size of the stride in the destination, then in the source. */
void mt_axes_sort (mt_axes *a);
/* The axis goes the other way on both sides: `offset` moves. */
void mt_axis_turn (mt_axis *x, int64_t offset[2]);
/* Axes without steps that run backwards in the destination are turned round: `offset`
** moves. */
void mt_axes_turn (mt_axes *a, int64_t offset[2]);

/* Takes the axis with this stride on the side out of the list; false if there is none. */
bool mt_axes_take (mt_axes *from, mt_axes *to, int side, int64_t stride);
/* All strides of the side, of elements of `elem` bytes, are multiples of `by` bytes. */
bool mt_axes_divide (const mt_axes *a, int side, int64_t elem, int64_t by);
/* The side begins at a multiple of so many bytes. */
bool mt_begins (const mt_launch *l, int side, uint64_t by);

/* Sets the divisor of the axis's extent; 0 / 0 if that is 1 or 2^31 and more. */
void mt_axis_divisor (mt_axis *a);

/* Thread, value and rest axes into a descriptor, with sizes and divisors, and out of one.
** False, or MT_ETOOBIG: they are more than it has. */
bool mt_axes_store (mt_desc *d, const mt_axes mode[3]);
mt_status mt_axes_put (mt_desc *d, const mt_axes mode[3], mt_err *err);
void mt_axes_get (mt_axes mode[3], const mt_desc *d);

#endif
