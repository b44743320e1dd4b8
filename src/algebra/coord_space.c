/*
** coord_space.c - the axes of basis strides, and values in the shape of their tree.
** SPDX-License-Identifier: MIT
*/
#include "algebra/coord_space.h"

static void add_axis (mt_coord_space *x, const mt_node *p) {
  int i = 0;
  while (i < x->n && mt_compare_paths(&x->axis[i], p) < 0) i++;
  if (i < x->n && mt_compare_paths(&x->axis[i], p) == 0) return;
  memmove(x->axis + i + 1, x->axis + i, (size_t)(x->n - i) * sizeof *x->axis);
  x->axis[i] = *p;
  x->axis[i].tag = MT_INT;
  x->axis[i].arity = 0;
  x->axis[i].span = 1;
  x->axis[i].shape = 1;
  x->axis[i].stride = 0;
  x->n++;
}

/* The outermost indices of a, as many as b has, are b's. */
static bool begins (const mt_node *b, const mt_node *a) {
  int na = a->path[MT_MAXPATH], nb = b->path[MT_MAXPATH];
  for (int i = 1; i <= nb; i++)
    if (i > na || a->path[na - i] != b->path[nb - i]) return false;
  return true;
}

void mt_coord_space_of (mt_build *b, mt_coord_space *x, const mt_node *a) {
  x->n = 0;
  for (const mt_node *p = a; p < mt_next(a); p++)
    if (p->ring == MT_BASIS) add_axis(x, p);
  for (int i = 0; i + 1 < x->n; i++)
    if (begins(&x->axis[i], &x->axis[i + 1]))
      mt_build_fail(b, MT_EINVAL,
                    "%s: the strides of %N are no coordinates of one space: one "
                    "index path begins another",
                    b->op, a);
}

/* Axes [i, j) agree in their outer `level` indices. */
static void emit (mt_build *b, const mt_coord_space *x, int i, int j, int level,
                  mt_tag tag, mt_emit_axis f, void *ud) {
  if (x->axis[i].path[MT_MAXPATH] == level) {
    f(b, &x->axis[i], ud);
    return;
  }
  mt_open(b, tag);
  for (int mode = 0; i < j && b->status == MT_OK; mode++) {
    int k = i;
    while (k < j && x->axis[k].path[x->axis[k].path[MT_MAXPATH] - 1 - level] == mode) k++;
    if (k == i) f(b, NULL, ud);
    else emit(b, x, i, k, level + 1, tag, f, ud);
    i = k;
  }
  mt_close(b);
}

void mt_emit_coord_space (mt_build *b, const mt_coord_space *x, mt_tag tag,
                          mt_emit_axis f, void *ud) {
  if (b->status != MT_OK) return;
  if (x->n == 0) f(b, NULL, ud);
  else emit(b, x, 0, x->n, 0, tag, f, ud);
}

void mt_on_axis (mt_build *b, mt_layout *out, const mt_node *a, const mt_node *axis) {
  mt_build modes;
  mt_begin(&modes, out, b->op, b->err);
  mt_open(&modes, MT_MODES);
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a); p = mt_leaf(a, mt_after(p))) {
    if (p->shape == 1) continue;
    if (p->tag == MT_SUM) {
      mt_build_fail(b, MT_EUNSUPPORTED, "%s: %N has a stride that is a sum", b->op, a);
      return;
    }
    if (axis ? mt_same_path(p, axis) : p->ring == MT_Z)
      mt_add_leaf(&modes, p->shape, p->stride);
  }
  mt_failed(b, mt_end(&modes));
}
