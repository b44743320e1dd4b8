/*
** values.c - properties of values: text, building, evaluation, structure.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>

#include "property.h"

enum { TEXT = 4096 };

/* ---- text */

static void random_value (ctx *x, mt_layout *out) {
  mt_layout a, b;
  pen p = {out, 0};
  random_layout(x, &a, 4096, ANY_STRIDES);
  switch (pick(x, 6)) {
    case 0: identity_of(out, a.node); break;
    case 1: swizzled_of(x, out, a.node); break;
    case 2: random_coord(x, out, a.node, true); break;
    case 3:
      random_layout(x, &b, 64, ANY_STRIDES);
      int at = pen_open(&p, MT_TILER);
      pen_copy(&p, a.node);
      pen_tag(&p, MT_WILD);
      pen_copy(&p, b.node);
      pen_close(&p, at, 3);
      break;
    default: mt_copy_value(out, a.node);
  }
}

/* parse(format(v)) == v */
outcome property_text (ctx *x) {
  mt_layout v, r;
  char s[TEXT], cut[16];
  random_value(x, &v);
  CASE(x, "text", v.node);
  size_t n = mt_format(s, sizeof s, v.node);
  LAW(x, n == strlen(s));
  LAW(x, mt_format(cut, sizeof cut, v.node) == n && strncmp(cut, s, 15) == 0);
  LAW(x, mt_format(NULL, 0, v.node) == n);
  LAW(x, mt_parse(&r, s, n, &x->err) == MT_OK);
  LAW(x, mt_equal(r.node, v.node));
  return RIGHT;
}

/* Text with a few bytes changed is a value, which prints as itself, or an error with a
** text. */
outcome property_noise (ctx *x) {
  static const char bytes[] = "(),:_@+-<>Swo 0123456789LRxyz\t\n";
  mt_layout v, r, again;
  char s[TEXT], t[TEXT];
  random_value(x, &v);
  CASE(x, "noise", v.node);
  int n = (int)mt_format(s, sizeof s, v.node);
  for (int k = 1 + pick(x, 4); k > 0 && n > 0; k--)
    s[pick(x, n)] = chance(x, 20) ? (char)pick(x, 256) : bytes[pick(x, sizeof bytes - 1)];
  if (chance(x, 4)) n = pick(x, n + 1);
  memset(&x->err, 0, sizeof x->err.status + 1);
  mt_status status = mt_parse(&r, s, (size_t)n, &x->err);
  LAW(x, status == x->err.status || status == MT_OK);
  LAW(x, status == MT_OK || x->err.text[0] != 0);
  if (status != MT_OK) return REFUSED;
  size_t m = mt_format(t, sizeof t, r.node);
  LAW(x, m < sizeof t && mt_parse(&again, t, m, &x->err) == MT_OK);
  LAW(x, mt_equal(again.node, r.node));
  return RIGHT;
}

/* ---- building */

static bool in_order (const mt_node *a, bool left) {
  const mt_node *leaf[MT_MAXNODES];
  int n = leaves_of(leaf, a);
  int64_t run = 1;
  for (int k = 0; k < n; k++) {
    const mt_node *p = leaf[left ? k : n - 1 - k];
    if (p->stride != (p->shape == 1 ? 0 : run)) return false;
    if (p->shape > 0) run *= p->shape;
  }
  return true;
}

/* (1) shape and stride make the layout again; (2) left and right are compact; (3) like
** A: compact, in A's order, equal where A's are equal, 0 where A has 0. */
outcome property_build (ctx *x) {
  mt_layout a, shape, stride, r;
  bool taken[MAXSIZE] = {false};
  random_layout(x, &a, 512, ANY_STRIDES);
  CASE(x, "build", a.node);
  LAW(x, !mt_shape(&shape, a.node, &x->err) && !mt_stride(&stride, a.node, &x->err));
  LAW(x,
      !mt_make_layout(&r, shape.node, stride.node, &x->err) && mt_equal(r.node, a.node));
  LAW(x, mt_congruent(shape.node, a.node) && mt_size(shape.node) == a.node[0].shape);
  LAW(x, !mt_layout_left(&r, shape.node, &x->err) && in_order(r.node, true));
  LAW(x, mt_congruent(r.node, a.node));
  LAW(x, !mt_layout_right(&r, shape.node, &x->err) && in_order(r.node, false));
  LAW(x, !mt_make_layout_like(&r, a.node, &x->err) && mt_congruent(r.node, a.node));
  const mt_node *p[MT_MAXNODES], *q[MT_MAXNODES];
  int n = leaves_of(p, a.node);
  int64_t size = 1;
  bool tied = false;
  leaves_of(q, r.node);
  for (int i = 0; i < n; i++) {
    LAW(x, p[i]->shape == 1 || (p[i]->stride == 0) == (q[i]->stride == 0));
    if (q[i]->stride != 0) size *= q[i]->shape;
    for (int j = 0; j < n; j++) {
      int64_t d = llabs(p[i]->stride), e = llabs(p[j]->stride);
      if (i == j || q[i]->shape == 1 || q[j]->shape == 1 || d == 0 || e == 0) continue;
      LAW(x, d != e || q[i]->stride == q[j]->stride);
      LAW(x, d >= e || q[i]->shape == 0 || q[i]->stride < q[j]->stride);
      tied = tied || d == e;
    }
  }
  if (tied) return RIGHT;
  for (int64_t i = 0; i < r.node[0].shape; i++) taken[value_of(r.node, i)] = true;
  for (int64_t i = 0; i < size && r.node[0].shape > 0; i++) LAW(x, taken[i]);
  return RIGHT;
}

/* ---- evaluation */

static int64_t index_of (const mt_node *c, const mt_node *a) {
  int64_t i = 0, run = 1;
  if (c->tag == MT_INT) return c->shape;
  const mt_node *m = mt_child(a);
  for (const mt_node *k = mt_child(c); k < mt_next(c); k = mt_next(k), m = mt_next(m)) {
    i += run * index_of(k, m);
    run *= m->shape;
  }
  return i;
}

/* A at indices in and past the domain, and at coordinates of every form inside. */
outcome property_evaluate (ctx *x) {
  mt_layout a, c, r;
  fn f;
  int64_t v;
  random_layout(x, &a, 4096, ANY_STRIDES);
  if (chance(x, 4)) {
    mt_layout w;
    swizzled_of(x, &w, a.node);
    mt_copy_value(&a, w.node);
  }
  const mt_node *in = a.node[0].tag == MT_SWIZZLE ? a.node + 1 : a.node;
  fn_of(&f, a.node, NULL);
  for (int k = 0; k < 4; k++) {
    int64_t i = chance(x, 3) ? between(x, 0, 100000) : between(x, 0, in->shape);
    CASE(x, "evaluate", a.node);
    LAW(x, !mt_at(&v, a.node, i, &x->err) && v == fn_at(&f, i));
  }
  random_coord(x, &c, in, false);
  CASE(x, "evaluate", a.node, c.node);
  LAW(x, !mt_crd2idx(&v, c.node, a.node, &x->err));
  LAW(x, in->shape == 0 || v == fn_at(&f, index_of(c.node, in)));
  LAW(x, !mt_eval(&r, c.node, a.node, &x->err) && r.node[0].tag == MT_INT &&
             r.node[0].shape == v);
  return RIGHT;
}

/* idx2crd and crd2idx are inverses; the coordinate layout of a shape is the identity. */
outcome property_coordinates (ctx *x) {
  mt_layout a, id, shape, c, r;
  int64_t v;
  random_layout(x, &a, 512, NATURAL);
  int64_t i = between(x, 0, 2 * a.node[0].shape + 3);
  mt_shape(&shape, a.node, &x->err);
  identity_of(&id, a.node);
  mt_int(&r, i);
  CASE(x, "coordinates", a.node, r.node);
  LAW(x, !mt_idx2crd(&c, i, shape.node, &x->err) && mt_congruent(c.node, shape.node));
  LAW(x, !mt_idx2crd(&r, i, a.node, &x->err) && mt_equal(c.node, r.node));
  if (a.node[0].shape == 0 || a.node[0].span == 1) return RIGHT;
  bool empty = false; /* a mode () has no digit to hold what is left */
  for (const mt_node *p = a.node; p < mt_next(a.node); p++)
    empty = empty || (p->tag == MT_MODES && p->arity == 0);
  if (empty) return RIGHT;
  LAW(x, !mt_crd2idx(&v, c.node, shape.node, &x->err) && v == i);
  LAW(x, !mt_crd2idx(&v, c.node, a.node, &x->err) && v == i);
  LAW(x, !mt_make_identity_layout(&r, shape.node, &x->err) && mt_equal(r.node, id.node));
  mt_int(&shape, i);
  LAW(x, !mt_eval(&r, shape.node, id.node, &x->err) && mt_equal(r.node, c.node));
  return RIGHT;
}

/* The range of the values. */
outcome property_cosize (ctx *x) {
  mt_layout a, w, r;
  int64_t hi = 0, lo = 0, n, least_value;
  fn f;
  random_layout(x, &a, 256, ANY_STRIDES);
  if (chance(x, 2)) swizzled_of(x, &w, a.node);
  else mt_copy_value(&w, a.node);
  CASE(x, "cosize", w.node);
  fn_of(&f, w.node, NULL);
  for (int64_t i = 0; i < a.node[0].shape; i++) {
    int64_t v = fn_at(&f, i);
    if (i == 0 || v + 1 > hi) hi = v + 1;
    if (i == 0 || v < lo) lo = v;
  }
  LAW(x, !mt_footprint(&least_value, &n, w.node, &x->err));
  LAW(x, n == hi && least_value == lo);
  LAW(x, !mt_cosize(&n, w.node, &x->err) && n == hi - (lo < 0 ? lo : 0));
  if (w.node[0].tag == MT_SWIZZLE || a.node[0].shape == 0) return RIGHT;
  const mt_node *p[MT_MAXNODES]; /* as CuTe has it */
  int64_t sum = 1;
  for (int i = leaves_of(p, a.node) - 1; i >= 0; i--)
    sum += (p[i]->shape - 1) * llabs(p[i]->stride);
  LAW(x, n == sum && !mt_coshape(&r, a.node, &x->err) && r.node[0].shape == n);
  return RIGHT;
}

/* ---- structure */

/* flatten, group, select and get move modes and nothing else. */
outcome property_structure (ctx *x) {
  mt_layout a, r, g;
  const mt_node *p[MT_MAXNODES], *q[MT_MAXNODES];
  random_layout(x, &a, 4096, ANY_STRIDES);
  int rank = mt_rank(a.node), n = leaves_of(p, a.node), modes[6];
  CASE(x, "structure", a.node);
  LAW(x, !mt_flatten(&r, a.node, &x->err) && mt_depth(r.node) <= 1);
  LAW(x, leaves_of(q, r.node) == n && mt_rank(r.node) == (mt_depth(a.node) ? n : 1));
  for (int i = 0; i < n; i++) LAW(x, mt_equal(p[i], q[i]));
  int first = pick(x, rank + 1), last = first + pick(x, rank - first + 1);
  LAW(x, !mt_group(&g, a.node, first, last, &x->err));
  LAW(x, mt_rank(g.node) == rank - (last - first) + (last > first));
  LAW(x, leaves_of(q, g.node) == n && mt_size(g.node) == mt_size(a.node));
  for (int i = 0; i < n; i++) LAW(x, mt_equal(p[i], q[i]));
  for (int i = first; i < last; i++)
    LAW(x, mt_equal(mt_mode(mt_mode(g.node, first), i - first), mt_mode(a.node, i)));
  int k = rank ? pick(x, 4) : 0;
  for (int i = 0; i < k; i++) modes[i] = pick(x, rank);
  LAW(x, mt_select(&r, a.node, k, modes, &x->err) == MT_OK ? mt_rank(r.node) == k :
                                                             x->err.status != MT_ERANGE);
  for (int i = 0; i < k && x->err.status == MT_OK; i++)
    LAW(x, mt_equal(mt_mode(r.node, i), mt_mode(a.node, modes[i])));
  LAW(x, mt_select(&r, a.node, 1, &rank, &x->err) == MT_ERANGE);
  return RIGHT;
}

/* The coordinate with the k-th `_` part replaced by coordinate j of the slice. */
static void fill (pen *p, const mt_node *c, const mt_node *a, int64_t *j) {
  if (c->tag == MT_WILD) {
    int64_t s = a->shape;
    pen_int(p, *j % s);
    *j /= s;
  } else if (c->tag == MT_TUPLE) {
    int at = pen_open(p, MT_TUPLE);
    const mt_node *m = mt_child(a);
    for (const mt_node *k = mt_child(c); k < mt_next(c); k = mt_next(k), m = mt_next(m))
      fill(p, k, m, j);
    pen_close(p, at, c->arity);
  } else {
    pen_copy(p, c);
  }
}

/* offset + slice(j) = W(c with j in the place of `_`), W being a, swizzled or not. */
outcome check_slice (ctx *x, const mt_node *c, const mt_node *w, const mt_node *a) {
  mt_layout r, d;
  int64_t offset, v;
  CASE(x, "slice", c, w);
  mt_status s = mt_slice(&r, &offset, c, w, &x->err);
  if (s == MT_EINEXACT && w->tag == MT_SWIZZLE) return REFUSED;
  LAW(x, s == MT_OK);
  if (mt_size(a) == 0) return RIGHT;
  for (int64_t j = 0; j < mt_size(r.node); j++) {
    pen p = {&d, 0};
    int64_t k = j;
    fill(&p, c, a, &k);
    LAW(x, !mt_crd2idx(&v, d.node, w, &x->err) && v == offset + value_of(r.node, j));
  }
  return RIGHT;
}

outcome property_slice (ctx *x) {
  mt_layout a, w, c;
  random_layout(x, &a, 256, ANY_STRIDES);
  if (chance(x, 4)) swizzled_of(x, &w, a.node);
  else mt_copy_value(&w, a.node);
  random_coord(x, &c, a.node, true);
  return check_slice(x, c.node, w.node, a.node);
}
