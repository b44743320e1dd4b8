/*
** zip.c - the forms of divides and products: modes (tile, rest) taken apart.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "algebra/zip.h"

static bool is_tuple (const mt_node *t) {
  return t->tag == MT_TUPLE || t->tag == MT_TILER;
}

/* The tiles (part 0) or the rests (part 1) of d, in the tree of the tiler t. */
static void emit_part (mt_build *b, const mt_node *d, const mt_node *t, int part) {
  if (!is_tuple(t)) {
    if (!mt_is_branch(d) || d->arity != 2)
      mt_build_fail(b, MT_ERANK,
                    "%s: a mode under `_` must have two modes, tile and rest, not %N",
                    b->op, d);
    else mt_add(b, part == 0 ? mt_child(d) : mt_next(mt_child(d)));
    return;
  }
  if (!mt_is_branch(d) || d->arity < t->arity) {
    mt_build_fail(b, MT_ERANK, "%s: tiler %N has %d modes, %N has %d", b->op, t,
                  (int)t->arity, d, mt_is_branch(d) ? mt_rank(d) : 1);
    return;
  }
  const mt_node *m = mt_child(d);
  mt_open(b, MT_MODES);
  for (const mt_node *c = mt_child(t); c < mt_next(t) && b->status == MT_OK;
       c = mt_next(c), m = mt_next(m))
    emit_part(b, m, c, part);
  for (; part == 1 && m < mt_next(d); m = mt_next(m)) mt_add(b, m);
  mt_close(b);
}

bool mt_is_reached (mt_build *b, const mt_node *a, const mt_node *t) {
  if (t->arity <= mt_rank(a)) return true;
  mt_build_fail(b, MT_ERANK, "%s: tiler %N has %d modes, %N has %d", b->op, t,
                (int)t->arity, a, mt_rank(a));
  return false;
}

void mt_emit_by_mode (mt_build *b, const mt_node *a, const mt_node *t, mt_by *by) {
  if (!mt_is_reached(b, a, t)) return;
  const mt_node *m = mt_first_mode(a), *end = mt_next(a);
  mt_open(b, MT_MODES);
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c), m = mt_next(m))
    by(b, m, c);
  for (; m < end; m = mt_next(m)) mt_add(b, m);
  mt_close(b);
}

void mt_emit_unzipped (mt_build *b, const mt_node *d, const mt_node *t) {
  mt_open(b, MT_MODES);
  emit_part(b, d, t, 0);
  emit_part(b, d, t, 1);
  mt_close(b);
}

void mt_emit_modes (mt_build *b, const mt_node *t) {
  if (mt_rank(t) == 1) {
    mt_add(b, t);
    return;
  }
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c)) mt_add(b, c);
}

/* d, in logical form by the tiler t, in the form f; d has no swizzle. */
static void emit_form (mt_build *b, mt_zip_form f, const mt_node *d, const mt_node *t) {
  mt_layout pair;
  mt_build z;
  if (f == MT_ZIP_LOGICAL) mt_add(b, d);
  if (f == MT_ZIP_ZIPPED) mt_emit_unzipped(b, d, t);
  if (f < MT_ZIP_TILED) return;
  mt_begin(&z, &pair, b->op, b->err);
  mt_emit_unzipped(&z, d, t);
  mt_failed(b, mt_finish(&z));
  if (b->status != MT_OK) return;
  const mt_node *tile = mt_child(pair.node);
  mt_open(b, MT_MODES);
  if (f == MT_ZIP_TILED) mt_add(b, tile);
  else mt_emit_modes(b, tile);
  mt_emit_modes(b, mt_next(tile));
  mt_close(b);
}

MT_APART mt_status mt_in_form (mt_zip_form f, mt_layout *out, const char *op,
                               const mt_node *a, const mt_node *t, mt_by *by,
                               mt_err *err) {
  mt_build b, d;
  mt_layout whole;
  mt_begin(&b, out, op, err);
  mt_open_root(&b, a);
  if (f == MT_ZIP_LOGICAL) {
    by(&b, mt_base(a), t);
    return mt_end(&b);
  }
  mt_begin(&d, &whole, op, err);
  by(&d, mt_base(a), t);
  MT_TRY(mt_finish(&d));
  emit_form(&b, f, whole.node, t);
  return mt_end(&b);
}

mt_status mt_tile_unzip (mt_layout *out, const mt_node *a, const mt_node *t,
                         mt_err *err) {
  mt_build b;
  MT_CHECK(mt_is_function(a), err, "tile_unzip: a layout expected");
  mt_begin(&b, out, "tile_unzip", err);
  mt_open_root(&b, a);
  mt_emit_unzipped(&b, mt_base(a), t);
  return mt_end(&b);
}

const mt_node *mt_as_layout (mt_node *room, const mt_node *t) {
  if (t->tag != MT_INT || t->ring != MT_Z || t->shape < 0) return t;
  *room = mt_leaf_of(t->shape, 1);
  return room;
}
