/*
** composed.c - properties of composed layouts: chains of swizzles and layouts over Z and
** F2. SPDX-License-Identifier: MIT
*/
#include "property.h"

/* Over F2, its extents powers of two. */
static void binary_f2 (ctx *x, mt_layout *out) {
  pen p = {out, 0};
  int n = 1 + pick(x, 3), at = pen_open(&p, MT_MODES);
  for (int i = 0; i < n; i++) {
    pen_leaf(&p, INT64_C(1) << pick(x, 4), between(x, 1, 31));
    out->node[p.n - 1].ring = MT_F2;
  }
  pen_close(&p, at, n);
}

static void any_layout (ctx *x, mt_layout *out) {
  mt_layout plain;
  do
    if (chance(x, 4)) binary_f2(x, out);
    else random_layout(x, out, 64, chance(x, 2) ? COMPACT : ANY_STRIDES);
  while (least(out->node) < 0);
  if (!chance(x, 3) || out->node[1].ring == MT_F2) return;
  mt_copy_value(&plain, out->node);
  swizzled_of(x, out, plain.node);
  if (out->node[0].stride < 0) out->node[0].stride = 0;
}

static void any_function (ctx *x, mt_layout *out) {
  any_layout(x, out);
  if (!chance(x, 4)) return;
  pen p = {out, 0};
  pen_leaf(&p, 1, 0);
  mt_layout one = *out;
  swizzled_of(x, out, one.node);
  out->node[0].arity = 0;
  out->node[0].span = 1;
  out->node[0].stride = 0;
}

static bool is_f2 (const mt_node *t) {
  for (const mt_node *p = t; p < mt_next(t); p++)
    if (p->ring == MT_F2) return true;
  return false;
}

/* R(i) = f(offset + A(i)) for all i; values over F2 count as numbers. */
static bool is_link (const mt_node *r, const mt_node *f, int64_t offset,
                     const mt_node *a) {
  mt_layout whole;
  pen p = {&whole, 0};
  if (mt_size(r) != mt_size(a)) return false;
  int at = pen_open(&p, MT_COMPOSED);
  whole.node[0].stride = offset;
  pen_copy(&p, f);
  pen_copy(&p, a);
  pen_close(&p, at, 2);
  whole.node[0].shape = mt_size(a);
  for (int64_t i = 0; i < mt_size(a); i++)
    if (value_of(r, i) != value_of(whole.node, i)) return false;
  return true;
}

/* One more link over a; out is the simplest value, perhaps no composed one. */
static outcome link_over (ctx *x, mt_layout *out, const mt_node *a) {
  mt_layout f;
  int64_t offset = chance(x, 2) ? 0 : between(x, 0, 20);
  any_function(x, &f);
  if (a->span + f.node[0].span + 1 > MT_MAXNODES) return REFUSED;
  CASE(x, "make_composed_layout", f.node, a);
  mt_status s = mt_make_composed_layout(out, f.node, offset, a, &x->err);
  LAW(x, s == MT_OK || s == MT_EINEXACT || s == MT_EUNSUPPORTED || s == MT_ETOOBIG ||
             (s == MT_EINVAL && is_f2(a)));
  if (s != MT_OK) return REFUSED;
  LAW(x, is_link(out->node, f.node, offset, a));
  s = mt_composition(out, f.node, a, &x->err);
  if (s == MT_OK) LAW(x, is_link(out->node, f.node, 0, a));
  return s == MT_OK ? RIGHT : REFUSED;
}

static outcome text_of (ctx *x, const mt_node *a) {
  char s[2048];
  mt_layout r, c, v;
  size_t n = mt_format(s, sizeof s, a);
  LAW(x, n < sizeof s && !mt_parse(&r, s, n, &x->err));
  LAW(x, mt_equal(r.node, a));
  if (mt_size(a) == 0) return RIGHT;
  int64_t i = between(x, 0, mt_size(a) - 1);
  mt_int(&c, i);
  LAW(x, !mt_eval(&v, c.node, a, &x->err) && v.node[0].shape == value_of(a, i));
  return RIGHT;
}

/* offset + R(j) = A(c with j in the place of `_`), by the same slice of the indices. A c
** that is none of an A without elements may go where its function has no values. */
static outcome slice_of (ctx *x, const mt_node *a) {
  mt_layout shape, index, c, r, places;
  int64_t offset, at;
  LAW(x, !mt_shape(&shape, a, &x->err) && !mt_layout_left(&index, shape.node, &x->err));
  random_coord(x, &c, index.node, true);
  LAW(x, !mt_slice(&places, &at, c.node, index.node, &x->err));
  mt_status s = mt_slice(&r, &offset, c.node, a, &x->err);
  if (a->tag != MT_COMPOSED) return RIGHT;
  LAW(x, s == MT_OK || s == MT_ETOOBIG || s == MT_EOVERFLOW ||
             (s == MT_EINEXACT && mt_size(a) == 0 && mt_size(places.node) > 0));
  if (s != MT_OK) return REFUSED;
  LAW(x, mt_size(r.node) == mt_size(places.node));
  for (int64_t j = 0; j < mt_size(r.node); j++)
    LAW(x, offset + value_of(r.node, j) == value_of(a, at + value_of(places.node, j)));
  return RIGHT;
}

/* A divide by n of all of A has every A(i). */
static outcome tiles_of (ctx *x, const mt_node *a) {
  mt_layout tile, r, index, shape, places;
  mt_int(&tile, 1 + pick(x, 4));
  LAW(x, !mt_shape(&shape, a, &x->err) && !mt_layout_left(&index, shape.node, &x->err));
  if (mt_size(a) == 0 || mt_size(a) % tile.node[0].shape != 0) return REFUSED;
  mt_status s = mt_zipped_divide(&r, a, tile.node, &x->err);
  if (s != MT_OK || mt_zipped_divide(&places, index.node, tile.node, &x->err))
    return REFUSED;
  LAW(x, mt_size(r.node) == mt_size(a));
  for (int64_t j = 0; j < mt_size(a); j++)
    LAW(x, value_of(r.node, j) == value_of(a, value_of(places.node, j)));
  return RIGHT;
}

static outcome inverses_of (ctx *x, const mt_node *a) {
  mt_layout r;
  if (mt_size(a) == 0) return REFUSED;
  if (mt_right_inverse(&r, a, &x->err) == MT_OK)
    for (int64_t i = 0; i < mt_size(r.node) && i < 4096; i++)
      LAW(x, value_of(a, value_of(r.node, i)) == i);
  if (a->tag != MT_COMPOSED || mt_left_inverse(&r, a, &x->err) != MT_OK) return RIGHT;
  for (int64_t i = 0; i < mt_size(a); i++) {
    int64_t j = value_of(r.node, value_of(a, i));
    LAW(x, j >= 0 && j <= i && value_of(a, j) == value_of(a, i));
  }
  return RIGHT;
}

outcome property_composed (ctx *x) {
  mt_layout a, r;
  any_layout(x, &a);
  for (int k = 1 + pick(x, 3); k > 0; k--) {
    outcome o = link_over(x, &r, a.node);
    if (o == WRONG) return o;
    if (o == RIGHT) mt_copy_value(&a, r.node);
  }
  CASE(x, "composed", a.node);
  if (text_of(x, a.node) == WRONG || slice_of(x, a.node) == WRONG) return WRONG;
  if (tiles_of(x, a.node) == WRONG || inverses_of(x, a.node) == WRONG) return WRONG;
  return a.node[0].tag == MT_COMPOSED ? RIGHT : REFUSED;
}
