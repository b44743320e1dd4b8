/*
** modes.c - properties of coordinates, and of the modes of tuples and layouts.
** SPDX-License-Identifier: MIT
*/
#include "property.h"

static void tuple_of (pen *p, const mt_node *t) {
  if (t->tag == MT_LEAF) {
    pen_int(p, t->shape);
    return;
  }
  int at = pen_open(p, MT_TUPLE);
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c)) tuple_of(p, c);
  pen_close(p, at, t->arity);
}

static void shape_of (mt_layout *out, const mt_node *t) {
  pen p = {out, 0};
  tuple_of(&p, t);
}

/* The colexicographic index of a coordinate inside a shape; -1: it is not inside. */
static int64_t index_of (const mt_node *c, const mt_node *s) {
  int64_t i = 0, run = 1;
  if (c->tag != MT_TUPLE) return c->shape >= 0 && c->shape < mt_size(s) ? c->shape : -1;
  if (s->tag == MT_INT || s->tag == MT_LEAF || c->arity != s->arity) return -1;
  const mt_node *m = mt_child(s);
  for (const mt_node *k = mt_child(c); k < mt_next(c); k = mt_next(k), m = mt_next(m)) {
    int64_t j = index_of(k, m);
    if (j < 0) return -1;
    i += run * j;
    run *= mt_size(m);
  }
  return i;
}

/* ---- where a layout takes a value */

outcome property_coord_of (ctx *x) {
  mt_layout a, w, c, f;
  int64_t i, k, n;
  bool taken = false;
  random_layout(x, &a, 128, ANY_STRIDES);
  if (chance(x, 4)) swizzled_of(x, &w, a.node);
  else mt_copy_value(&w, a.node);
  n = a.node[0].shape;
  i = between(x, -5, 60);
  if (n > 0 && !chance(x, 3)) i = value_of(w.node, between(x, 0, n - 1));
  for (int64_t j = 0; j < n; j++) taken = taken || value_of(w.node, j) == i;
  mt_int(&f, i);
  CASE(x, "coord_of", w.node, f.node);
  mt_status s = mt_get_1d_coord(&k, w.node, i, &x->err);
  LAW(x, taken ? s == MT_OK || s == MT_EUNSUPPORTED : s == MT_ERANGE);
  if (s != MT_OK) return taken ? HAD : REFUSED;
  LAW(x, k >= 0 && k < n && value_of(w.node, k) == i);
  LAW(x, !mt_get_hier_coord(&c, w.node, i, &x->err) && mt_congruent(c.node, a.node));
  LAW(x, index_of(c.node, a.node) == k);
  LAW(x, !mt_get_flat_coord(&f, w.node, i, &x->err) && mt_depth(f.node) <= 1);
  LAW(x, mt_rank(f.node) == mt_rank(a.node));
  if (mt_rank(a.node) == 1) LAW(x, f.node[0].shape == k);
  else LAW(x, index_of(f.node, a.node) == k);
  return RIGHT;
}

/* ---- indices and coordinates */

/* Of a coordinate that is an integer or a tuple at any level. */
outcome property_tuple_coords (ctx *x) {
  mt_layout a, s, d, c, q, r, e;
  int64_t i;
  random_layout(x, &a, 256, COMPACT);
  shape_of(&s, a.node);
  if (a.node[0].shape == 0 || mt_stride(&d, a.node, &x->err)) return RIGHT;
  random_coord(x, &c, a.node, false);
  CASE(x, "tuple_coords", c.node, a.node);
  i = index_of(c.node, a.node);
  LAW(x, !mt_idx2crd_stride(&q, c.node, s.node, NULL, &x->err));
  LAW(x, mt_congruent(q.node, s.node) && index_of(q.node, s.node) == i);
  LAW(x, !mt_idx2crd_stride(&r, c.node, a.node, NULL, &x->err));
  LAW(x, mt_equal(r.node, q.node));
  mt_int(&e, value_of(a.node, i));
  LAW(x, !mt_idx2crd_stride(&r, e.node, s.node, d.node, &x->err));
  LAW(x, value_of(a.node, index_of(r.node, s.node)) == e.node[0].shape);
  LAW(x, !mt_flatten(&e, s.node, &x->err));
  if (mt_rank(s.node) == mt_rank(e.node) && mt_depth(s.node) > 1) return RIGHT;
  mt_int(&r, i);
  LAW(x, !mt_crd2crd(&d, r.node, s.node, e.node, &x->err));
  LAW(x, index_of(d.node, e.node) == i);
  LAW(x, !mt_crd2crd(&r, q.node, s.node, s.node, &x->err) && mt_equal(r.node, q.node));
  mt_status status = mt_increment(&r, q.node, s.node, &x->err);
  LAW(x, status == MT_OK && mt_congruent(r.node, s.node));
  if (i + 1 < a.node[0].shape) LAW(x, index_of(r.node, s.node) == i + 1);
  else LAW(x, index_of(r.node, s.node) == -1 || mt_size(s.node) == 1);
  return RIGHT;
}

/* ---- modes */

static bool same_modes (const mt_node *a, int i, const mt_node *b, int j, int n) {
  for (int k = 0; k < n; k++)
    if (!mt_equal(mt_mode(a, i + k), mt_mode(b, j + k))) return false;
  return true;
}

outcome property_modes (ctx *x) {
  mt_layout t, u, r, q;
  random_layout(x, &t, 64, ANY_STRIDES);
  random_layout(x, &u, 16, ANY_STRIDES);
  if (chance(x, 2)) {
    shape_of(&r, t.node);
    shape_of(&q, u.node);
    mt_copy_value(&t, r.node);
    mt_copy_value(&u, q.node);
  }
  if (t.node[0].span + u.node[0].span > 40) return REFUSED;
  CASE(x, "modes", t.node, u.node);
  int n = mt_rank(t.node), i = pick(x, n + 1), m = n + pick(x, 3);
  LAW(x, !mt_append(&r, t.node, u.node, &x->err) && mt_rank(r.node) == n + 1);
  LAW(x, same_modes(r.node, 0, t.node, 0, n) && mt_equal(mt_mode(r.node, n), u.node));
  LAW(x, !mt_prepend(&r, t.node, u.node, &x->err) && mt_rank(r.node) == n + 1);
  LAW(x, same_modes(r.node, 1, t.node, 0, n) && mt_equal(mt_mode(r.node, 0), u.node));
  mt_status s = mt_append_n(&r, t.node, m, u.node, &x->err);
  LAW(x, s == MT_OK ? mt_rank(r.node) == m : s == MT_ETOOBIG);
  LAW(x, s != MT_OK || same_modes(r.node, 0, t.node, 0, n));
  LAW(x, n == 0 || mt_append_n(&r, t.node, n - 1, u.node, &x->err) == MT_ERANK);
  LAW(x, !mt_insert(&r, t.node, i, u.node, &x->err) && mt_rank(r.node) == n + 1);
  LAW(x, same_modes(r.node, 0, t.node, 0, i) && mt_equal(mt_mode(r.node, i), u.node));
  LAW(x, same_modes(r.node, i + 1, t.node, i, n - i));
  LAW(x, !mt_remove(&q, r.node, i, &x->err) && same_modes(q.node, 0, t.node, 0, n));
  LAW(x, !mt_reverse(&r, t.node, &x->err) && !mt_reverse(&q, r.node, &x->err));
  LAW(x, mt_equal(q.node, t.node));
  for (int k = 0; k < n; k++)
    LAW(x, mt_equal(mt_mode(r.node, k), mt_mode(t.node, n - 1 - k)));
  if (i < n) {
    LAW(x, !mt_replace(&r, t.node, i, u.node, &x->err));
    LAW(x, mt_depth(t.node) == 0 || mt_rank(r.node) == n);
    LAW(x, mt_depth(t.node) == 0 ? mt_equal(r.node, u.node) :
                                   mt_equal(mt_mode(r.node, i), u.node));
  }
  LAW(x, !mt_flatten(&r, t.node, &x->err) && !mt_unflatten(&q, r.node, t.node, &x->err));
  LAW(x, mt_equal(q.node, t.node));
  LAW(x, !mt_wrap(&r, t.node, &x->err) && mt_depth(r.node) >= 1);
  LAW(x, !mt_unwrap(&r, t.node, &x->err));
  LAW(x, mt_depth(r.node) == 0 || mt_rank(r.node) != 1);
  return RIGHT;
}

/* ---- transposition */

/* ((a,b,..),(c,d,..),..), n rows of m small layouts, or of their shapes. */
static void matrix (ctx *x, mt_layout *out, int n, int m, mt_tag tag) {
  mt_layout part;
  pen p = {out, 0};
  int whole = pen_open(&p, tag);
  for (int i = 0; i < n; i++) {
    int row = pen_open(&p, tag);
    for (int j = 0; j < m; j++) {
      do random_layout(x, &part, 4, COMPACT);
      while (part.node[0].span > 5);
      if (tag == MT_TUPLE) tuple_of(&p, part.node);
      else pen_copy(&p, part.node);
    }
    pen_close(&p, row, m);
  }
  pen_close(&p, whole, n);
}

/* zip of rows is their transpose, and its own inverse. */
static outcome check_zip (ctx *x, const mt_node *t, int n, int m) {
  mt_layout r, q;
  LAW(x, !mt_zip(&r, 1, &t, &x->err) && mt_rank(r.node) == m);
  for (int j = 0; j < m; j++)
    for (int i = 0; i < n; i++)
      LAW(x, mt_equal(mt_mode(mt_mode(r.node, j), i), mt_mode(mt_mode(t, i), j)));
  const mt_node *whole = r.node;
  LAW(x, !mt_zip(&q, 1, &whole, &x->err) && mt_equal(q.node, t));
  return RIGHT;
}

/* zip2_by puts the first k of n pairs apart. */
static outcome check_zip2_by (ctx *x, const mt_node *t, int n, int k) {
  mt_layout guide, r;
  pen g = {&guide, 0};
  int at = pen_open(&g, MT_TUPLE);
  for (int i = 0; i < k; i++) pen_int(&g, 1);
  pen_close(&g, at, k);
  LAW(x, !mt_zip2_by(&r, t, guide.node, &x->err) && mt_rank(r.node) == 2);
  const mt_node *first = mt_mode(r.node, 0), *second = mt_mode(r.node, 1);
  LAW(x, mt_rank(first) == k && mt_rank(second) == n);
  for (int i = 0; i < n; i++) {
    const mt_node *pair = mt_mode(t, i);
    LAW(x, i >= k || mt_equal(mt_mode(first, i), mt_mode(pair, 0)));
    LAW(x, mt_equal(mt_mode(second, i), i < k ? mt_mode(pair, 1) : pair));
  }
  return RIGHT;
}

outcome property_zip (ctx *x) {
  mt_layout t;
  int n = 1 + pick(x, 3), m = 1 + pick(x, 3);
  matrix(x, &t, n, m, chance(x, 2) ? MT_TUPLE : MT_MODES);
  CASE(x, "zip", t.node);
  if (check_zip(x, t.node, n, m) == WRONG) return WRONG;
  return m == 2 ? check_zip2_by(x, t.node, n, 1 + pick(x, n)) : RIGHT;
}

/* ---- cut by coordinates */

/* The parts of t under `_`, or the others, one after the other. */
static int parts (pen *p, const mt_node *c, const mt_node *t, bool wild) {
  int n = 0;
  if (c->tag != MT_TUPLE) {
    if ((c->tag == MT_WILD) != wild) return 0;
    pen_copy(p, t);
    return 1;
  }
  const mt_node *m = mt_child(t);
  for (const mt_node *k = mt_child(c); k < mt_next(c); k = mt_next(k), m = mt_next(m))
    n += parts(p, k, m, wild);
  return n;
}

static bool is_cut (const mt_node *r, const mt_node *c, const mt_node *t, bool wild,
                    mt_tag branch) {
  mt_layout want;
  pen p = {&want, 0};
  if (c->tag != MT_TUPLE && (c->tag == MT_WILD) == wild) return mt_equal(r, t);
  int at = pen_open(&p, branch);
  pen_close(&p, at, parts(&p, c, t, wild));
  return mt_equal(r, want.node);
}

outcome property_cut (ctx *x) {
  mt_layout a, s, c, r;
  random_layout(x, &a, 256, ANY_STRIDES);
  random_coord(x, &c, a.node, true);
  shape_of(&s, a.node);
  CASE(x, "cut", c.node, a.node);
  LAW(x, !mt_slice_tuple(&r, c.node, s.node, &x->err));
  LAW(x, is_cut(r.node, c.node, s.node, true, MT_TUPLE));
  LAW(x, !mt_dice(&r, c.node, s.node, &x->err));
  LAW(x, is_cut(r.node, c.node, s.node, false, MT_TUPLE));
  LAW(x, !mt_dice(&r, c.node, a.node, &x->err));
  LAW(x, is_cut(r.node, c.node, a.node, false, MT_MODES));
  return RIGHT;
}
