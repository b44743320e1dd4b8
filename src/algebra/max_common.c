/*
** max_common.c - what layouts share: runs of neighbours, alignment; indices dealt out
** over a shape.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "tuple/tuple.h"

static mt_status want (const char *op, const mt_node *a, mt_err *err) {
  MT_CHECK(mt_is_layout(a), err, "%s: a layout expected", op);
  if (!mt_is_integral(a))
    return mt_failn(err, MT_EINVAL, "%s: the strides of %N are no integers", op, a);
  return MT_OK;
}

/* ---- two layouts */

/* The right inverse of b, and how far a agrees with it: a(inverse(i)) = i for i < *n. */
static void agree (mt_build *b, mt_layout *inverse, int64_t *n, const mt_node *x,
                   const mt_node *y) {
  mt_layout common, flat;
  mt_build c;
  mt_failed(b, mt_right_inverse(inverse, y, b->err));
  if (b->status != MT_OK) return;
  mt_begin(&c, &common, b->op, b->err);
  c.derived = true;
  mt_emit_composition(&c, x, inverse->node);
  if (c.status == MT_EINEXACT) mt_explain(b->err, "\n  B is the right inverse of %N", y);
  mt_failed(b, mt_end(&c));
  if (b->status == MT_OK) mt_failed(b, mt_coalesce(&flat, common.node, NULL, b->err));
  if (b->status != MT_OK) return;
  const mt_node *first = mt_first_mode(flat.node);
  *n = mt_is_leaf(first) && first->stride == 1 ? first->shape : 1;
}

mt_status mt_max_common_vector (int64_t *out, const mt_node *a, const mt_node *b,
                                mt_err *err) {
  mt_layout inverse, unused;
  mt_build c;
  MT_TRY(want("max_common_vector", a, err));
  MT_TRY(want("max_common_vector", b, err));
  if (mt_is_swizzled(a) || mt_is_swizzled(b))
    return mt_swizzle_max_common_vector(out, a, b, err);
  mt_begin(&c, &unused, "max_common_vector", err);
  agree(&c, &inverse, out, a, b);
  return c.status;
}

mt_status mt_max_common_layout (mt_layout *out, const mt_node *a, const mt_node *b,
                                mt_err *err) {
  mt_layout inverse, run;
  mt_build c;
  int64_t n = 1;
  MT_TRY(want("max_common_layout", a, err));
  MT_TRY(want("max_common_layout", b, err));
  if (mt_is_swizzled(a) || mt_is_swizzled(b))
    return mt_swizzle_max_common_layout(out, a, b, err);
  mt_begin(&c, out, "max_common_layout", err);
  agree(&c, &inverse, &n, a, b);
  if (c.status != MT_OK) return c.status;
  mt_begin(&c, &run, "max_common_layout", err);
  mt_add_leaf(&c, n, n > 1);
  mt_begin(&c, out, "max_common_layout", err);
  mt_emit_composition(&c, inverse.node, run.node);
  return mt_end(&c);
}

/* ---- one layout */

/* Strides that the right inverse does not follow have their say. */
mt_status mt_max_alignment (int64_t *out, const mt_node *a, mt_err *err) {
  mt_flat f;
  bool done[MT_MAXNODES] = {false}, more = true;
  int64_t run = 1, rest = 0;
  MT_TRY(want("max_alignment", a, err));
  if (mt_is_swizzled(a)) return mt_swizzle_max_alignment(out, a, err);
  f.n = 0;
  if (a->shape > 0) mt_flatten_coalesced(&f, a);
  while (more) {
    more = false;
    for (int r = 0; r < f.n; r++) {
      if (done[r] || f.d[r]->stride != run) continue;
      done[r] = more = true;
      run *= f.s[r]; /* at most the size of a */
    }
  }
  for (int r = 0; r < f.n; r++)
    if (!done[r]) rest = mt_gcd_of(rest, f.d[r]->stride);
  *out = mt_gcd_of(run, rest);
  return MT_OK;
}

/* ---- a shape */

mt_status mt_domain_distribute (mt_layout *out, const mt_node *shape, int64_t n,
                                mt_err *err) {
  mt_layout flat;
  mt_build b;
  int64_t run = 1;
  MT_TRY(mt_want_extents("domain_distribute", shape, err));
  if (n < 1)
    return mt_fail(err, MT_EINVAL,
                   "domain_distribute: %lld elements; at least 1 expected", (long long)n);
  shape = mt_inner(shape);
  for (const mt_node *p = shape; p < mt_next(shape); p = mt_after(p))
    if (p->shape < 1 && !mt_is_branch(p))
      return mt_failn(err, MT_EINVAL, "domain_distribute: %N has the extent %lld", shape,
                      (long long)p->shape);
  mt_begin(&b, &flat, "domain_distribute", err);
  mt_open(&b, MT_MODES);
  for (const mt_node *p = shape; p < mt_next(shape); p = mt_after(p)) {
    if (mt_is_branch(p)) continue;
    int64_t g = mt_gcd_of(p->shape, n);
    mt_add_leaf(&b, g, g > 1 ? run : 0);
    n /= g;
    if (mt_mulo(run, p->shape, &run))
      return mt_failn(err, MT_EOVERFLOW,
                      "domain_distribute: the size of %N leaves 64 bits", shape);
  }
  MT_TRY(mt_end(&b));
  return mt_coalesce(out, flat.node, NULL, err);
}
