/*
** swizzle.c - properties of swizzles and swizzled layouts, bit by bit.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>

#include "property.h"

enum {
  SEEN = 512,      /* integers on which two swizzles are compared */
  WIDEST = 1 << 13 /* offsets that are looked at */
};

/* ---- random swizzles, and layouts that suit them */

static void random_swizzle (ctx *x, mt_layout *out) {
  mt_layout one;
  pen p = {&one, 0};
  pen_leaf(&p, 1, 0);
  swizzled_of(x, out, one.node);
  out->node[0].arity = 0;
  out->node[0].span = 1;
  out->node[0].stride = 0;
}

/* As a function. */
static void swizzle_fn (fn *f, const mt_node *w) {
  mt_layout whole;
  pen p = {&whole, 0};
  int at = pen_open(&p, MT_SWIZZLE);
  pen_leaf(&p, 1, 1);
  pen_close(&p, at, 1);
  whole.node[0].shape = w->shape;
  fn_of(f, whole.node, NULL);
}

/* Extents and strides are powers of two, now and then multiples of 3: bits apart from
** each other. */
static void binary_layout (ctx *x, mt_layout *out) {
  int rank = 1 + pick(x, 4), bits[8], order[8], at = 0, n = 0, arity[4];
  pen p = {out, 0};
  for (int i = 0; i < rank; i++) n += arity[i] = 1 + (chance(x, 3) && n + rank < 7);
  for (int k = 0; k < n; k++) bits[k] = pick(x, 4), order[k] = k;
  for (int k = n - 1; k > 0; k--) {
    int j = pick(x, k + 1), t = order[k];
    order[k] = order[j];
    order[j] = t;
  }
  int64_t d[8], s[8];
  for (int k = 0; k < n; k++) {
    int i = order[k];
    s[i] = (int64_t)1 << bits[i];
    d[i] = (int64_t)1 << at;
    at += bits[i] + (chance(x, 4) ? pick(x, 3) : 0);
    if (chance(x, 12)) s[i] = s[i] * 3 / 2;
    if (chance(x, 24)) d[i] *= 3;
    if (chance(x, 40)) d[i] = 0;
  }
  int whole = pen_open(&p, MT_MODES);
  for (int i = 0, k = 0; i < rank; i++) {
    int mode = arity[i] > 1 ? pen_open(&p, MT_MODES) : 0;
    for (int j = 0; j < arity[i]; j++, k++) pen_leaf(&p, s[k], d[k]);
    if (arity[i] > 1) pen_close(&p, mode, arity[i]);
  }
  pen_close(&p, whole, rank);
}

static void binary_swizzled (ctx *x, mt_layout *out, mt_layout *plain) {
  binary_layout(x, plain);
  swizzled_of(x, out, plain->node);
  if (out->node[0].stride != 0) out->node[0].stride = (int64_t)1 << pick(x, 10);
}

/* ---- swizzles */

/* v o w and w's masks: the same function, or no swizzle. */
outcome property_swizzle (ctx *x) {
  mt_layout v, w, r;
  fn f, g, h;
  int64_t i, y = 0, z = 0;
  random_swizzle(x, &v);
  random_swizzle(x, &w);
  if (chance(x, 2))
    w.node[0].shape = (w.node[0].shape & 0xffff) | (v.node[0].shape & 0xff0000);
  if ((w.node[0].shape & 255) > (v.node[0].shape & 255))
    w.node[0].shape -= w.node[0].shape & 255;
  CASE(x, "swizzle", v.node, w.node);
  swizzle_fn(&f, v.node);
  swizzle_fn(&g, w.node);
  for (int k = 0; k < f.b; k++) {
    y |= (int64_t)1 << (f.m + k + (f.sh > 0 ? f.sh : 0));
    z |= (int64_t)1 << (f.m + k - (f.sh < 0 ? f.sh : 0));
  }
  LAW(x, !mt_make_swizzle(&r, y, z, &x->err));
  LAW(x, f.b == 0 || mt_equal(r.node, v.node));
  int64_t at = between(x, -SEEN, SEEN);
  LAW(x, !mt_swizzle_at(&i, v.node, at, &x->err) && i == fn_at(&f, at));
  mt_status s = mt_composition(&r, v.node, w.node, &x->err);
  LAW(x, s == MT_OK || s == MT_EINEXACT);
  if (s != MT_OK) return REFUSED;
  swizzle_fn(&h, r.node);
  for (i = 0; i < SEEN; i++) LAW(x, fn_at(&h, i) == fn_at(&f, fn_at(&g, i)));
  return RIGHT;
}

/* w'(j) = w(n*j) / n; w''(n*i + k) = n*w(i) + k. */
outcome property_swizzle_cast (ctx *x) {
  mt_layout w, r, n;
  fn f, g;
  int64_t by = (int64_t)1 << pick(x, 5);
  random_swizzle(x, &w);
  mt_int(&n, by);
  CASE(x, "swizzle_cast", w.node, n.node);
  swizzle_fn(&f, w.node);
  LAW(x, !mt_swizzle_upcast(&r, w.node, by, &x->err));
  swizzle_fn(&g, r.node);
  for (int64_t i = 0; i < SEEN; i++) LAW(x, fn_at(&g, i) == fn_at(&f, i * by) / by);
  LAW(x, !mt_swizzle_downcast(&r, w.node, by, &x->err));
  swizzle_fn(&g, r.node);
  for (int64_t i = 0; i < SEEN; i++)
    LAW(x, fn_at(&g, i) == fn_at(&f, i / by) * by + i % by);
  return RIGHT;
}

/* R(c') is the element of A(c), c' being c divided by the steps inside an element. */
static bool swizzled_up (const mt_node *r, const mt_node *a, int64_t n) {
  const mt_node *p[MT_MAXNODES], *q[MT_MAXNODES];
  fn f, g;
  int k = leaves_of(p, a);
  leaves_of(q, r);
  fn_of(&f, a, NULL);
  fn_of(&g, r, NULL);
  for (int64_t i = 0; i < fn_size(&f); i++) {
    int64_t rest = i, run = 1, at = 0;
    for (int j = 0; j < k; j++) {
      int64_t c = rest % p[j]->shape, d = llabs(p[j]->stride);
      rest /= p[j]->shape;
      at += c / (d != 0 && d < n && n % d == 0 ? n / d : 1) * run;
      run *= q[j]->shape;
    }
    int64_t v = fn_at(&f, i);
    if (fn_at(&g, at) != (v < 0 ? -((-v + n - 1) / n) : v / n)) return false;
  }
  return true;
}

outcome property_swizzle_up (ctx *x) {
  mt_layout a, w, r, n;
  int64_t by = (int64_t)1 << pick(x, 5);
  if (chance(x, 3)) {
    random_layout(x, &a, 64, ANY_STRIDES);
    swizzled_of(x, &w, a.node);
  } else {
    binary_swizzled(x, &w, &a);
    if (chance(x, 4)) w.node[0].stride = between(x, 0, 63);
  }
  if (mt_size(a.node) > 256 || mt_size(a.node) == 0) return REFUSED;
  mt_int(&n, by);
  CASE(x, "swizzle_up", w.node, n.node);
  mt_status s = mt_upcast(&r, w.node, by, &x->err);
  LAW(x, s == MT_OK || s == MT_EINEXACT);
  if (s != MT_OK) return REFUSED;
  LAW(x, mt_congruent(r.node, w.node) && swizzled_up(r.node, w.node, by));
  return RIGHT;
}

/* ---- A o Sw, A o (Sw o offset o L) */

outcome property_swizzle_right (ctx *x) {
  mt_layout a, t, plain, r;
  fn f, g, h;
  bool layout = chance(x, 2);
  if (chance(x, 8)) random_layout(x, &a, 256, ANY_STRIDES);
  else binary_layout(x, &a);
  if (chance(x, 4)) {
    swizzled_of(x, &t, a.node);
    mt_copy_value(&a, t.node);
  }
  if (layout) binary_swizzled(x, &t, &plain);
  else random_swizzle(x, &t);
  CASE(x, "swizzle_right", a.node, t.node);
  mt_status s = mt_composition(&r, a.node, t.node, &x->err);
  LAW(x, s == MT_OK || s == MT_EINEXACT || s == MT_EUNSUPPORTED);
  if (s != MT_OK) return REFUSED;
  fn_of(&f, a.node, NULL);
  fn_of(&h, r.node, NULL);
  if (layout) fn_of(&g, t.node, NULL);
  else swizzle_fn(&g, t.node);
  int64_t n = layout ? fn_size(&g) : fn_size(&f);
  LAW(x, fn_size(&h) == n);
  for (int64_t i = 0; i < n; i++) LAW(x, fn_at(&h, i) == fn_at(&f, fn_at(&g, i)));
  return RIGHT;
}

/* ---- inverses */

outcome property_swizzle_inverse (ctx *x) {
  mt_layout a, w, r;
  fn f, g;
  if (chance(x, 4)) {
    random_layout(x, &a, 512, COMPACT);
    swizzled_of(x, &w, a.node);
  } else {
    binary_swizzled(x, &w, &a);
  }
  if (!chance(x, 8)) w.node[0].stride = 0;
  CASE(x, "swizzle_inverse", w.node);
  fn_of(&f, w.node, NULL);
  mt_status s = mt_right_inverse(&r, w.node, &x->err);
  LAW(x, s == MT_OK || s == MT_EINEXACT || s == MT_EUNSUPPORTED);
  if (s == MT_OK) {
    fn_of(&g, r.node, NULL);
    for (int64_t i = 0; i < fn_size(&g); i++) LAW(x, fn_at(&f, fn_at(&g, i)) == i);
  }
  mt_status t = mt_swizzle_left_inverse(&r, w.node, &x->err);
  LAW(x, t == MT_OK || t == MT_EINEXACT || t == MT_EUNSUPPORTED || t == MT_EINJECTIVE);
  if (t == MT_OK) {
    fn_of(&g, r.node, NULL);
    for (int64_t i = 0; i < fn_size(&f); i++)
      LAW(x, fn_at(&f, fn_at(&g, fn_at(&f, i))) == fn_at(&f, i));
  }
  return s == MT_OK || t == MT_OK ? RIGHT : REFUSED;
}

/* ---- slices */

outcome property_swizzle_slice (ctx *x) {
  mt_layout a, w, c;
  binary_swizzled(x, &w, &a);
  if (chance(x, 3)) w.node[0].stride = between(x, 0, 1000);
  random_coord(x, &c, a.node, true);
  return check_slice(x, c.node, w.node, a.node);
}

/* ---- what moves no value: modes, products, divides under the swizzle; casts */

/* R(j) of the wide elements is A's element that lies at its front, in wide elements. */
outcome property_swizzle_wide (ctx *x) {
  mt_layout a, w, r, n;
  fn f, g;
  binary_swizzled(x, &w, &a);
  int64_t by = (int64_t)1 << pick(x, mt_size(a.node) > 64 ? 2 : 4);
  mt_int(&n, by);
  CASE(x, "swizzle_wide", w.node, n.node);
  mt_status s = mt_swizzle_downcast(&r, w.node, by, &x->err);
  fn_of(&f, w.node, NULL);
  if (s == MT_OK) {
    fn_of(&g, r.node, NULL);
    LAW(x, fn_size(&g) == by * fn_size(&f));
    static uint8_t seen[WIDEST];
    memset(seen, 0, sizeof seen);
    for (int64_t i = 0; i < fn_size(&f); i++) {
      int64_t v = fn_at(&f, i);
      if (v < WIDEST) seen[v] = 1;
    }
    for (int64_t i = 0; i < fn_size(&g); i++) {
      int64_t v = fn_at(&g, i);
      LAW(x, v / by >= WIDEST || seen[v / by]);
    }
    LAW(x, mt_swizzle_upcast(&n, r.node, by, &x->err) == MT_OK);
    fn_of(&g, n.node, NULL);
    LAW(x, fn_size(&g) == fn_size(&f));
    for (int64_t i = 0; i < fn_size(&f); i++) LAW(x, fn_at(&f, i) == fn_at(&g, i));
  }
  return s == MT_OK ? RIGHT : REFUSED;
}

/* (1) The common vector: the first n offsets of both are 0 .. n-1 from their first on, at
** the same indices (with one swizzle: the same offsets). (2) The layout says at which. */
outcome property_swizzle_common (ctx *x) {
  mt_layout a, b, p, q, r;
  fn f, g, h;
  int64_t n;
  binary_swizzled(x, &a, &p);
  if (chance(x, 2)) swizzled_of(x, &b, p.node);
  else if (chance(x, 2)) mt_copy_value(&b, p.node);
  else binary_swizzled(x, &b, &q);
  if (chance(x, 4) && b.node[0].tag == MT_SWIZZLE)
    b.node[0] = (mt_node){MT_SWIZZLE,       0,  1, b.node[0].span, a.node[0].shape,
                          a.node[0].stride, {0}};
  CASE(x, "swizzle_common", a.node, b.node);
  bool same = b.node[0].tag == MT_SWIZZLE && b.node[0].shape == a.node[0].shape &&
              b.node[0].stride == a.node[0].stride;
  mt_status s = mt_swizzle_max_common_layout(&r, a.node, b.node, &x->err);
  LAW(x, s == MT_OK || s == MT_EINEXACT);
  if (s != MT_OK) return REFUSED;
  LAW(x, !mt_swizzle_max_common_vector(&n, a.node, b.node, &x->err));
  fn_of(&f, a.node, NULL);
  fn_of(&g, b.node, NULL);
  fn_of(&h, r.node, NULL);
  for (int64_t i = 0; i < fn_size(&h); i++) {
    int64_t j = fn_at(&h, i), u = fn_at(&f, j), v = fn_at(&g, j);
    LAW(x, same ? u == v : u == i + fn_at(&f, 0) && v == i + fn_at(&g, 0));
  }
  LAW(x, n <= fn_size(&h) || n == 1);
  LAW(x, !mt_swizzle_max_alignment(&n, a.node, &x->err) && n >= 1);
  LAW(x, a.node[0].stride % n == 0);
  return RIGHT;
}
