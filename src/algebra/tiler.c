/*
** tiler.c - tilers as layouts of coordinates.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "core/build.h"

/* Where a part of the tiler stands: mode path[0], of it mode path[1], ... `wild`: what
** `_` is, n:1 with this n; -1: an error. */
typedef struct place {
  const mt_node *whole;
  int64_t wild;
  int depth;
  uint8_t path[MT_MAXDEPTH];
} place;

/* d on the axis of the place: its own index path inside that of the place. */
static void emit_on_axis (mt_build *b, int64_t shape, const mt_node *d, int64_t value,
                          const place *at) {
  mt_node v = {.tag = MT_INT, .ring = MT_BASIS, .span = 1, .shape = value};
  int own = d && d->ring == MT_BASIS ? d->path[MT_MAXPATH] : 0;
  if (value == 0 || at->depth + own == 0) {
    mt_add_leaf(b, shape, value);
    return;
  }
  if (at->depth + own > MT_MAXPATH) {
    mt_build_fail(b, MT_ETOOBIG, "%s: %N is nested deeper than %d", b->op, at->whole,
                  MT_MAXPATH);
    return;
  }
  for (int i = 0; i < own; i++) v.path[i] = d->path[i];
  for (int i = 0; i < at->depth; i++) v.path[own + i] = at->path[at->depth - 1 - i];
  v.path[MT_MAXPATH] = (uint8_t)(own + at->depth);
  mt_add_stride(b, shape, &v);
}

static void emit_layout (mt_build *b, const mt_node *t, const place *at) {
  if (mt_is_branch(t)) {
    mt_open(b, MT_MODES);
    for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
      emit_layout(b, c, at);
    mt_close(b);
  } else if (at->depth == 0) {
    mt_add(b, t);
  } else if (t->tag == MT_SUM || (t->ring != MT_Z && t->ring != MT_BASIS)) {
    mt_build_fail(b, MT_EUNSUPPORTED, "%s: the stride of %N in %N", b->op, t, at->whole);
  } else {
    emit_on_axis(b, t->shape, t, t->stride, at);
  }
}

static void emit_tiler (mt_build *b, const mt_node *t, place *at) {
  if (t->tag == MT_TUPLE || t->tag == MT_TILER) {
    if (at->depth == MT_MAXDEPTH) return;
    mt_open(b, MT_MODES);
    at->path[at->depth++] = 0;
    for (const mt_node *c = mt_child(t); c < mt_next(t) && b->status == MT_OK;
         c = mt_next(c)) {
      emit_tiler(b, c, at);
      at->path[at->depth - 1]++;
    }
    at->depth--;
    mt_close(b);
  } else if (t->tag == MT_WILD && at->wild >= 0) {
    emit_on_axis(b, at->wild, NULL, 1, at);
  } else if (t->tag == MT_INT && t->ring == MT_Z && t->shape >= 0) {
    emit_on_axis(b, t->shape, NULL, 1, at);
  } else if (mt_is_layout(t) && !mt_is_swizzled(t)) {
    emit_layout(b, t, at);
  } else {
    mt_build_fail(b, MT_EINVAL, "%s: %N in %N has no extents", b->op, t, at->whole);
  }
}

static mt_status as_layout (mt_layout *out, const char *op, const mt_node *t,
                            int64_t wild, mt_err *err) {
  mt_build b;
  place at = {.whole = t, .wild = wild};
  mt_begin(&b, out, op, err);
  emit_tiler(&b, t, &at);
  return mt_end(&b);
}

mt_status mt_tiler_to_layout (mt_layout *out, const mt_node *t, mt_err *err) {
  return as_layout(out, "tiler_to_layout", t, -1, err);
}

mt_status mt_identity_composition (mt_layout *out, const mt_node *t, mt_err *err) {
  MT_CHECK(t->tag != MT_WILD, err, "composition: `_` with `_` has no extents");
  return as_layout(out, "composition", t, 1, err);
}
