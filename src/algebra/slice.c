/*
** slice.c - slices of layouts, swizzled, composed or neither.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "algebra/composed.h"

static bool all_wild (const mt_node *c) {
  for (const mt_node *p = c; p < mt_next(c); p++)
    if (p->tag == MT_INT) return false;
  return true;
}

/* What is left of the base, under the same links; where it begins is an offset under the
** innermost of them. What comes out plain has its own beginning outside. Where a link has
** no values, what has no elements is left alone: it asks for none. */
static MT_APART mt_status composed_slice (mt_layout *out, int64_t *offset,
                                          const mt_node *c, const mt_node *a,
                                          mt_err *err) {
  mt_layout rest, at, r;
  int64_t v;
  const mt_node *base = mt_base(a);
  MT_TRY(mt_plain_slice(&rest, &v, c, base, err));
  MT_TRY(mt_eval(&at, c, base, err));
  mt_status s = mt_relink(&r, "slice", a, at.node, rest.node, err);
  if (offset) *offset = 0;
  if (s == MT_EINEXACT && mt_size(rest.node) == 0) {
    mt_forgive(err);
    return mt_copy_value(out, rest.node), MT_OK;
  }
  MT_TRY(s);
  const mt_node *t = r.node;
  if (offset && !all_wild(c) && mt_is_swizzled(t) && mt_swizzle_of(t).b == 0)
    *offset = t->stride, t = mt_child(t);
  mt_copy_value(out, t);
  return MT_OK;
}

mt_status mt_slice (mt_layout *out, int64_t *offset, const mt_node *c, const mt_node *a,
                    mt_err *err) {
  if (mt_is_composed(a)) return composed_slice(out, offset, c, a, err);
  MT_CHECK(mt_is_layout(a), err, "slice: a layout expected");
  if (mt_is_swizzled(a)) return mt_swizzle_slice(out, offset, c, a, err);
  return mt_plain_slice(out, offset, c, a, err);
}
