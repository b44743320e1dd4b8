/*
** coshape.c - the space that a layout's values lie in, and a layout seen through a
** shape.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "algebra/f2.h"
#include "algebra/coord_space.h"

/* One more than the largest value along an axis, of negative strides their magnitudes. */
static void emit_bound (mt_build *b, const mt_node *axis, void *ud) {
  const mt_node *a = ud;
  int64_t sum = 0, t;
  for (const mt_node *p = a; axis && a->shape > 0 && p < mt_next(a); p++) {
    bool sum_leaf = p->tag == MT_SUM, leaf = p->tag == MT_LEAF;
    const mt_node *c = sum_leaf ? mt_child(p) : p,
                  *end = sum_leaf ? mt_next(p) : p + leaf;
    for (; c < end; c++) {
      int64_t d = leaf ? c->stride : c->shape;
      if (!mt_same_path(c, axis) || p->shape < 2) continue;
      if (mt_mulo(p->shape - 1, d, &t) || mt_addo(sum, mt_magnitude(t), &sum))
        mt_build_fail(b, MT_EOVERFLOW, "%s: of %N leaves 64 bits", b->op, a);
    }
    if (sum_leaf) p = mt_next(p) - 1;
  }
  if (mt_addo(sum, a->shape != 0, &sum))
    mt_build_fail(b, MT_EOVERFLOW, "%s: of %N leaves 64 bits", b->op, a);
  mt_add_int(b, sum);
}

static void emit_zero (mt_build *b, const mt_node *axis, void *ud) {
  (void)axis, (void)ud;
  mt_add_int(b, 0);
}

mt_status mt_coshape (mt_layout *out, const mt_node *a, mt_err *err) {
  mt_build b;
  mt_coord_space space;
  int64_t n;
  MT_CHECK(mt_is_layout(a), err, "coshape: a layout expected");
  if (mt_is_f2(a)) {
    mt_int(out, mt_f2_coshape(a));
    return MT_OK;
  }
  if (mt_is_integral(a)) {
    MT_TRY(mt_cosize(&n, a, err));
    mt_int(out, n);
    return MT_OK;
  }
  mt_begin(&b, out, "coshape", err);
  mt_coord_space_of(&b, &space, a);
  mt_emit_coord_space(&b, &space, MT_TUPLE, emit_bound, (void *)a);
  return mt_end(&b);
}

mt_status mt_coprofile (mt_layout *out, const mt_node *a, mt_err *err) {
  mt_build b;
  mt_coord_space space;
  MT_CHECK(mt_is_layout(a), err, "coprofile: a layout expected");
  mt_begin(&b, out, "coprofile", err);
  mt_coord_space_of(&b, &space, a);
  mt_emit_coord_space(&b, &space, MT_TUPLE, emit_zero, NULL);
  return mt_end(&b);
}

mt_status mt_with_shape (mt_layout *out, const mt_node *a, const mt_node *shape,
                         mt_err *err) {
  mt_layout domain;
  mt_build b;
  MT_CHECK(mt_is_function(a), err, "with_shape: a layout expected");
  MT_TRY(mt_layout_left(&domain, shape, err));
  mt_begin(&b, out, "with_shape", err);
  mt_open_root(&b, a);
  mt_emit_composition(&b, mt_base(a), domain.node);
  return mt_end(&b);
}
