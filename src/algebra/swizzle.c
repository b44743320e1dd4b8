/*
** swizzle.c - swizzles as values, and at the root of layouts.
** SPDX-License-Identifier: MIT
*/
#include "moontile/swizzle.h"
#include "algebra/composed.h"
#include "algebra/swizzle.h"
#include "algebra/linear.h"

/* ---- what a swizzle is made of */

bool mt_swizzle_valid (int64_t b, int64_t m, int64_t s) {
  if (b < 0 || b > 62 || m < 0 || m > 62 || s < -62 || s > 62) return false;
  int64_t distance = s < 0 ? -s : s;
  return distance >= b && b + m + distance <= 62;
}

/* The bits from *first on that x consists of; -1 if they are no run. */
static int run_of (int *first, int64_t x) {
  uint64_t u = (uint64_t)x;
  if (x <= 0) return x == 0 ? 0 : -1;
  *first = __builtin_ctzll(u);
  u >>= *first;
  return (u & (u + 1)) == 0 ? __builtin_popcountll(u) : -1;
}

bool mt_swizzle_from_masks (mt_swizzle *out, int64_t y, int64_t z) {
  int first_y = 0, first_z = 0, b = run_of(&first_y, y);
  if (b < 0 || run_of(&first_z, z) != b) return false;
  out->b = b;
  out->m = first_y < first_z ? first_y : first_z;
  out->s = first_y - first_z;
  return mt_swizzle_valid(out->b, out->m, out->s);
}

/* Masks of one shift add up by xor; what is one swizzle again keeps Y and Z apart, so
** that the order does not matter. */
bool mt_swizzle_merge (mt_swizzle *out, mt_swizzle v, mt_swizzle w) {
  if (v.b == 0 || w.b == 0) {
    *out = v.b == 0 ? w : v;
    if (v.b == w.b) *out = (mt_swizzle){0, 0, 0};
    return true;
  }
  return v.s == w.s && mt_swizzle_from_masks(out, mt_swizzle_y(v) ^ mt_swizzle_y(w),
                                             mt_swizzle_z(v) ^ mt_swizzle_z(w));
}

const mt_node *mt_swizzle_text (mt_layout *room, mt_swizzle w) {
  mt_node *t = room->node;
  memset(t, 0, sizeof *t);
  t->tag = MT_SWIZZLE;
  t->span = 1;
  t->shape = mt_swizzle_pack(w.b, w.m, w.s);
  return t;
}

mt_status mt_swizzled (mt_layout *out, const char *op, mt_swizzle w, int64_t offset,
                       const mt_node *a, mt_err *err) {
  mt_build b;
  mt_begin(&b, out, op, err);
  if (w.b > 0 || offset != 0) {
    mt_open(&b, MT_SWIZZLE);
    out->node[0].shape = mt_swizzle_pack(w.b, w.m, w.s);
    out->node[0].stride = offset;
  }
  mt_add(&b, a);
  return mt_end(&b);
}

/* ---- values */

mt_status mt_swizzle_bits (mt_layout *out, int64_t bits, int64_t base, int64_t shift,
                           mt_err *err) {
  if (!mt_swizzle_valid(bits, base, shift))
    return mt_fail(err, MT_EINVAL,
                   "swizzle: Sw<%lld,%lld,%lld>: bits and base must be >= 0, "
                   "|shift| >= bits, and their sum at most 62",
                   (long long)bits, (long long)base, (long long)shift);
  mt_swizzle_text(out, (mt_swizzle){(int)bits, (int)base, (int)shift});
  return MT_OK;
}

mt_status mt_make_swizzle (mt_layout *out, int64_t y, int64_t z, mt_err *err) {
  mt_swizzle w;
  if (!mt_swizzle_from_masks(&w, y, z))
    return mt_fail(
        err, MT_EINVAL,
        "make_swizzle: no swizzle has the masks Y = %lld and Z = %lld\n"
        "  each must be a run of bits, both of one length, and no bit may be in both: "
        "Sw<3,4,3> has 896 and 112",
        (long long)y, (long long)z);
  mt_swizzle_text(out, w);
  return MT_OK;
}

static mt_status no_swizzle (mt_err *err, const char *op, const mt_node *t) {
  return mt_failn(err, MT_EINVAL, "%s: %N is no swizzle", op, t);
}

mt_status mt_swizzle_at (int64_t *out, const mt_node *w, int64_t i, mt_err *err) {
  if (!mt_is_bare_swizzle(w)) return no_swizzle(err, "call", w);
  *out = mt_swizzle_apply(mt_swizzle_of(w), i);
  return MT_OK;
}

mt_status mt_swizzle_layout (mt_layout *out, const mt_node *w, mt_err *err) {
  mt_swizzle v = mt_swizzle_of(w);
  mt_node n = {.tag = MT_LEAF,
               .span = 1,
               .shape = v.b + v.m + mt_swizzle_distance(v),
               .stride = 1};
  if (!mt_is_bare_swizzle(w)) return no_swizzle(err, "layout", w);
  return mt_swizzled(out, "layout", v, 0, &n, err);
}

/* ---- a swizzle on the left */

static mt_status not_merged (mt_err *err, const mt_node *v, const mt_node *w) {
  mt_swizzle x = mt_swizzle_of(v), y = mt_swizzle_of(w);
  mt_layout rv, rw;
  v = mt_swizzle_text(&rv, x);
  w = mt_swizzle_text(&rw, y);
  mt_failn(err, MT_EINEXACT, "composition: %N o %N is no swizzle", v, w);
  if (x.s != y.s)
    mt_explain(
        err, "\n  their shifts %d and %d differ; before a layout A they are: v o (w o A)",
        x.s, y.s);
  else
    mt_explain(
        err,
        "\n  their masks together, Y = %lld and Z = %lld, are not two runs of bits "
        "apart from each other",
        (long long)(mt_swizzle_y(x) ^ mt_swizzle_y(y)),
        (long long)(mt_swizzle_z(x) ^ mt_swizzle_z(y)));
  return err->status;
}

static mt_status check_strides (mt_err *err, const mt_node *w, const mt_node *t) {
  if (!mt_is_layout(t))
    return mt_failn(err, MT_EINVAL,
                    "composition: %N o %N: a layout or a swizzle expected on the "
                    "right",
                    w, t);
  if (!mt_is_integral(t))
    return mt_failn(err, MT_EINVAL, "composition: %N o %N: the strides are no integers",
                    w, t);
  return MT_OK;
}

static mt_status over_layout (mt_layout *out, const mt_node *w, const mt_node *t,
                              mt_err *err) {
  mt_swizzle v = mt_swizzle_of(w), both;
  MT_TRY(check_strides(err, w, t));
  if (!mt_is_swizzled(t)) return mt_swizzled(out, "composition", v, 0, t, err);
  if (!mt_swizzle_merge(&both, v, mt_swizzle_of(t))) return not_merged(err, w, t);
  return mt_swizzled(out, "composition", both, t->stride, mt_child(t), err);
}

mt_status mt_swizzle_composition (mt_layout *out, const mt_node *w, const mt_node *t,
                                  mt_err *err) {
  mt_swizzle both;
  if (!mt_is_bare_swizzle(w)) return no_swizzle(err, "composition", w);
  if (!mt_is_bare_swizzle(t)) {
    if (mt_is_composed(t)) return mt_keep_composition(out, w, t, err);
    mt_status s = over_layout(out, w, t, err);
    if (s == MT_OK || !mt_is_layout(t)) return s;
    if (!mt_linear_swizzle(out, mt_swizzle_of(w), t))
      return mt_may_keep(w, t, s) ? mt_keep_composition(out, w, t, err) : s;
    mt_forgive(err);
    return MT_OK;
  }
  if (!mt_swizzle_merge(&both, mt_swizzle_of(w), mt_swizzle_of(t)))
    return not_merged(err, w, t);
  mt_swizzle_text(out, both);
  return MT_OK;
}

/* ---- the parts */

mt_status mt_get_swizzle_portion (mt_layout *out, const mt_node *a, mt_err *err) {
  if (a->tag == MT_SWIZZLE) mt_swizzle_text(out, mt_swizzle_of(a));
  else if (mt_is_layout(a)) mt_swizzle_text(out, (mt_swizzle){0, 4, 3});
  else return mt_failn(err, MT_EINVAL, "get_swizzle_portion: %N is no layout", a);
  return MT_OK;
}

mt_status mt_get_nonswizzle_portion (mt_layout *out, const mt_node *a, mt_err *err) {
  if (!mt_is_function(a))
    return mt_failn(err, MT_EINVAL, "get_nonswizzle_portion: %N is no layout", a);
  mt_copy_value(out, mt_base(a));
  return MT_OK;
}

mt_status mt_swizzle_over (mt_layout *out, const mt_node *a, const mt_node *t,
                           mt_err *err) {
  mt_build b;
  if (mt_is_swizzled(t) || !mt_is_layout(t) || !mt_is_function(a))
    return mt_failn(err, MT_EINVAL,
                    "swizzle: of %N over %N: no layout, or a swizzle over another", a, t);
  mt_begin(&b, out, "swizzle", err);
  mt_open_root(&b, a);
  mt_add(&b, t);
  return mt_end(&b);
}

mt_status mt_extent (int64_t *out, const mt_node *a, mt_err *err) {
  int64_t lo;
  MT_TRY(mt_footprint(&lo, out, a, err));
  if (mt_subo(*out, lo, out))
    return mt_failn(err, MT_EOVERFLOW, "extent: of %N leaves 64 bits", a);
  return MT_OK;
}
