/*
** coord_space.h - private: the space of coordinates that basis strides lead into.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_ALGEBRA_COORD_SPACE_H
#define MT_ALGEBRA_COORD_SPACE_H

#include "core/build.h"

/* The axes of a space: index paths, in the order of their coordinates. Without a basis
** stride there is none: the space is the integers. */
typedef struct mt_coord_space {
  int n;
  mt_node axis[MT_MAXNODES]; /* MT_INT nodes of ring MT_BASIS, values 1 */
} mt_coord_space;

/* The axes that the strides of a have, those of modes of extent 1 too. Fails if one index
** path begins another: then they are no coordinates of one space. */
void mt_coord_space_of (mt_build *b, mt_coord_space *x, const mt_node *a);

/* The tree of the space, in branches of this tag; f emits what stands at an axis, or in
** the place of one that the space does not have (NULL). */
typedef void (*mt_emit_axis)(mt_build *b, const mt_node *axis, void *ud);
void mt_emit_coord_space (mt_build *b, const mt_coord_space *x, mt_tag tag,
                          mt_emit_axis f, void *ud);

/* The part of a's modes that moves along an axis (NULL: integer strides), as modes s :
** integer. Modes of extent 1 and of other axes are left out; fails if a stride is a
** sum. */
void mt_on_axis (mt_build *b, mt_layout *out, const mt_node *a, const mt_node *axis);

#endif
