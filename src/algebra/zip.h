/*
** zip.h - private: the forms that divides and products share.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_ALGEBRA_ZIP_H
#define MT_ALGEBRA_ZIP_H

#include "core/build.h"

/* LOGICAL: ((TileM,RestM),(TileN,RestN),...); ZIPPED:
** ((TileM,TileN,...),(RestM,RestN,...)); TILED: ((TileM,TileN,...),RestM,RestN,...);
** FLAT: (TileM,TileN,...,RestM,RestN,...). */
typedef enum mt_zip_form {
  MT_ZIP_LOGICAL,
  MT_ZIP_ZIPPED,
  MT_ZIP_TILED,
  MT_ZIP_FLAT
} mt_zip_form;

/* Writes a divided or multiplied by t, in logical form. */
typedef void mt_by (mt_build *b, const mt_node *a, const mt_node *t);
/* The same of each mode that the tiler t reaches; the others as they are. */
void mt_emit_by_mode (mt_build *b, const mt_node *a, const mt_node *t, mt_by *by);
/* The same of the layout a, in the form f. */
mt_status mt_in_form (mt_zip_form f, mt_layout *out, const char *op, const mt_node *a,
                      const mt_node *t, mt_by *by, mt_err *err);
/* Whether a has as many modes as the tiler t; else the build fails. */
bool mt_is_reached (mt_build *b, const mt_node *a, const mt_node *t);
void mt_emit_unzipped (mt_build *b, const mt_node *d, const mt_node *t);
/* The modes of t, one by one; t itself if it has only one. */
void mt_emit_modes (mt_build *b, const mt_node *t);

/* ((A0,C0),(A1,C1),...) for `first` 0, ((C0,A0),...) for 1, where C are the places of the
** copies of the block a that t wants. */
void mt_emit_blocked (mt_build *b, const mt_node *a, const mt_node *t, int first);

/* Where the copies of the block a are that the grid t wants: C, as many as t reaches. */
void mt_complement_for (mt_build *b, mt_layout *out, const mt_node *a, const mt_node *t);

/* An extent as n:1; other values as they are. */
const mt_node *mt_as_layout (mt_node *room, const mt_node *t);

#endif
