/*
** tile_axes.c - tiles of coordinates with what they leave.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "algebra/coord_space.h"
#include "algebra/tiles.h"

bool mt_is_axes (const mt_node *t) {
  bool any = false;
  if (!mt_is_layout(t) || mt_is_swizzled(t)) return false;
  for (const mt_node *p = t; p < mt_next(t); p++) {
    if (p->tag == MT_SUM) return false;
    any = any || (p->tag == MT_LEAF && p->ring == MT_BASIS);
  }
  return any;
}

typedef struct walk {
  const mt_node *t;
  bool fills;
} walk;

/* The outermost indices of p, as many as `axis` has, are those of `axis`; `exact`: it has
** no more. */
static bool leads (const mt_node *axis, const mt_node *p, bool exact) {
  int n = axis->path[MT_MAXPATH], m = p->path[MT_MAXPATH];
  if (p->ring != MT_BASIS || m < n || (exact && m != n)) return false;
  return memcmp(p->path + m - n, axis->path, (size_t)n) == 0;
}

static bool names (const mt_node *t, const mt_node *axis, bool exact) {
  for (const mt_node *p = t; p < mt_next(t); p++)
    if (p->tag == MT_LEAF && leads(axis, p, exact)) return true;
  return false;
}

static mt_node inner_axis (const mt_node *axis, int mode) {
  mt_node in = *axis;
  int n = axis->path[MT_MAXPATH];
  memmove(in.path + 1, axis->path, (size_t)n);
  in.path[0] = (uint8_t)mode;
  in.path[MT_MAXPATH] = (uint8_t)(n + 1);
  return in;
}

/* The complement of what t does along an axis of n elements. */
static void emit_gaps (mt_build *b, walk *x, const mt_node *axis, int64_t n) {
  mt_layout along, gaps;
  mt_build g;
  bool fills = true;
  mt_on_axis(b, &along, x->t, axis);
  if (b->status != MT_OK) return;
  mt_begin(&g, &gaps, b->op, b->err);
  mt_emit_complement(&g, &fills, along.node, n, 0);
  mt_failed(b, mt_end(&g));
  if (b->status != MT_OK) return;
  x->fills = x->fills && fills;
  const mt_node *c = gaps.node;
  if (mt_is_branch(c)) mt_open(b, MT_MODES);
  for (const mt_node *p = mt_leaf(c, c); p < mt_next(c); p = mt_leaf(c, mt_after(p)))
    mt_add_scaled(b, p->shape, axis, p->stride);
  if (mt_is_branch(c)) mt_close(b);
}

/* What t leaves of the mode m of A, at this axis. */
static void emit_rest (mt_build *b, walk *x, const mt_node *m, const mt_node *axis) {
  int mode = 0;
  if (axis->path[MT_MAXPATH] > 0 && names(x->t, axis, true)) {
    emit_gaps(b, x, axis, mt_size(m));
  } else if (mt_is_branch(m) && names(x->t, axis, false) &&
             axis->path[MT_MAXPATH] < MT_MAXPATH) {
    mt_open(b, MT_MODES);
    for (const mt_node *c = mt_child(m); c < mt_next(m); c = mt_next(c)) {
      const mt_node in = inner_axis(axis, mode++);
      emit_rest(b, x, c, &in);
    }
    mt_close(b);
  } else {
    mt_add_scaled(b, mt_size(m), axis, 1);
  }
}

/* Every leaf of t that moves names a mode of a. */
static mt_status want_modes (const char *op, const mt_node *t, const mt_node *a,
                             mt_err *err) {
  for (const mt_node *p = t; p < mt_next(t); p++) {
    const mt_node *m = a;
    if (p->tag != MT_LEAF || p->ring != MT_BASIS) continue;
    for (int i = p->path[MT_MAXPATH]; i-- > 0 && m;)
      m = mt_is_branch(m) && p->path[i] < mt_rank(m) ? mt_mode(m, p->path[i]) : NULL;
    if (m == NULL)
      return mt_failn(err, MT_ERANK,
                      "%s: the tile %N steps along a mode that %N does not have: %N", op,
                      t, a, p);
  }
  return MT_OK;
}

mt_status mt_tile_of_axes (mt_layout *out, const char *op, const mt_node *t,
                           const mt_node *a, mt_err *err) {
  mt_build b;
  mt_coord_space space;
  walk x = {t, true};
  const mt_node root = {.tag = MT_LEAF, .ring = MT_BASIS, .span = 1, .stride = 1};
  MT_TRY(want_modes(op, t, a, err));
  if (mt_size(t) == 0) return mt_failn(err, MT_EINVAL, "%s: %N is empty", op, t);
  mt_begin(&b, out, op, err);
  mt_coord_space_of(&b, &space, t);
  mt_open(&b, MT_MODES);
  mt_add(&b, t);
  emit_rest(&b, &x, a, &root);
  MT_TRY(mt_end(&b));
  if (x.fills) return MT_OK;
  return mt_failn(err, MT_EINEXACT,
                  "%s: the tile %N and its complement %N leave gaps: they miss "
                  "coordinates of %N",
                  op, t, mt_mode(out->node, 1), a);
}
