/*
** composed.c - layouts with an offset as one value; what CuTe calls a composed layout.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "algebra/swizzle.h"

static mt_status want_integers (const char *op, const mt_node *a, mt_err *err) {
  MT_CHECK(mt_is_layout(a), err, "%s: a layout expected", op);
  if (mt_is_integral(mt_inner(a))) return MT_OK;
  return mt_failn(err, MT_EINVAL, "%s: the strides of %N are no integers", op, a);
}

/* The offset lies above all bits of the swizzle. */
static bool is_above (mt_swizzle w, int64_t offset) {
  int64_t all = mt_swizzle_y(w) | mt_swizzle_z(w);
  return w.b == 0 || offset % ((int64_t)1 << mt_bits(all)) == 0;
}

/* r = offset + a, both with one swizzle. */
static mt_status compare (const mt_node *r, const mt_node *a, int64_t offset,
                          mt_err *err) {
  int64_t x, y;
  if (mt_size(a) > mt_swizzle_steps(a))
    return mt_failn(err, MT_EUNSUPPORTED,
                    "with_offset: of %N: more than %d values to "
                    "compare",
                    a, mt_swizzle_steps(a));
  for (int64_t i = 0; i < mt_size(a); i++) {
    MT_TRY(mt_at(&x, r, i, err));
    MT_TRY(mt_at(&y, a, i, err));
    if (x - offset != y)
      return mt_failn(err, MT_EINEXACT,
                      "with_offset: no layout is %lld + %N: its swizzle takes the offset "
                      "elsewhere, to %lld at i = %lld, not to %lld",
                      (long long)offset, a, (long long)x, (long long)i,
                      (long long)(y + offset));
  }
  return MT_OK;
}

mt_status mt_with_offset (mt_layout *out, const mt_node *a, int64_t offset, mt_err *err) {
  mt_swizzle w = mt_is_swizzled(a) ? mt_swizzle_of(a) : (mt_swizzle){0, 0, 0};
  int64_t under = mt_is_swizzled(a) ? a->stride : 0, sum;
  MT_TRY(want_integers("with_offset", a, err));
  if (mt_addo(under, offset, &sum))
    return mt_failn(err, MT_EOVERFLOW, "with_offset: %lld + %N leaves 64 bits",
                    (long long)offset, a);
  MT_TRY(mt_swizzled(out, "with_offset", w, sum, mt_inner(a), err));
  return is_above(w, offset) ? MT_OK : compare(out->node, a, offset, err);
}

mt_status mt_make_composed_layout (mt_layout *out, const mt_node *f, int64_t offset,
                                   const mt_node *a, mt_err *err) {
  mt_layout from;
  if (mt_is_swizzled(a))
    return mt_failn(err, MT_EINVAL,
                    "make_composed_layout: %N is swizzled: A * B composes two such", a);
  MT_TRY(want_integers("make_composed_layout", a, err));
  if (mt_is_bare_swizzle(f))
    return mt_swizzled(out, "make_composed_layout", mt_swizzle_of(f), offset, a, err);
  MT_TRY(mt_with_offset(&from, a, offset, err));
  return mt_renamed("make_composed_layout", mt_composition(out, f, from.node, err), err);
}
