/*
** inverse.c - properties of inverses, filters, orders and alignments.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>

#include "property.h"

enum { WIDE = 1 << 14 };

static bool is_flat (const mt_node *r) { return mt_depth(r) <= 1; }

/* a(c) as an index of space coordinates: terms by path, through the nodes alone. */
static bool same_point (const mt_node *a, int64_t i, int64_t j) {
  const mt_node *path[MT_MAXNODES];
  int n = paths_of(path, a);
  for (int k = -1; k < n; k++) {
    fn f;
    fn_of(&f, a, k < 0 ? NULL : path[k]);
    if (fn_at(&f, i) != fn_at(&f, j)) return false;
  }
  return true;
}

/* ---- left inverse */

/* The smallest index with the value of i. */
static int64_t first_of (const mt_node *a, int64_t i) {
  for (int64_t j = 0; j < i; j++)
    if (same_point(a, i, j)) return j;
  return i;
}

/* All strides are the integer 0, and A is not empty. */
static bool stays (const mt_node *a) {
  const mt_node *leaf[MT_MAXNODES];
  int n = leaves_of(leaf, a);
  for (int k = 0; k < n; k++)
    if (leaf[k]->ring != MT_Z || (leaf[k]->shape > 1 && leaf[k]->stride != 0))
      return false;
  return mt_size(a) > 0;
}

/* (1) A(L(A(i))) = A(i); (2) L(A(i)) is the smallest such index; (3) refused as not
** injective only where two coordinates of modes that move share a value. */
outcome check_left_inverse (ctx *x, const mt_node *a) {
  mt_layout l, c, v, w;
  CASE(x, "left_inverse", a);
  mt_status s = mt_left_inverse(&l, a, &x->err);
  LAW(x, s == MT_OK || s == MT_EINEXACT || s == MT_EINJECTIVE || s == MT_ETOOBIG);
  int64_t n = mt_size(a);
  if (s == MT_EINJECTIVE) {
    mt_layout f;
    LAW(x, !mt_filter(&f, a, NULL, &x->err));
    bool twice = false;
    for (int64_t i = 1; i < mt_size(f.node) && !twice; i++)
      twice = first_of(f.node, i) < i;
    LAW(x, twice);
    return REFUSED;
  }
  if (s != MT_OK) return REFUSED;
  if (stays(a)) /* CuTe's form */
    LAW(x, !l.node[0].arity && l.node[0].shape == n && l.node[0].stride == 0);
  for (int64_t i = 0; i < n; i++) {
    mt_int(&c, i);
    LAW(x, !mt_eval(&v, c.node, a, &x->err) && !mt_eval(&w, v.node, l.node, &x->err));
    LAW(x, w.node[0].tag == MT_INT && w.node[0].shape == first_of(a, i));
  }
  return RIGHT;
}

outcome property_left_inverse (ctx *x) {
  mt_layout a, id, r;
  random_layout(x, &a, 64, chance(x, 2) ? COMPACT : ANY_STRIDES);
  if (chance(x, 3)) return check_left_inverse(x, a.node);
  if (chance(x, 2)) { /* two strides that are no chain, often with an inverse */
    pen p = {&a, 0};
    int at = pen_open(&p, MT_MODES), n = 1 + pick(x, 3);
    for (int i = 0; i < n; i++) pen_leaf(&p, between(x, 1, 5), between(x, 0, 24));
    pen_close(&p, at, n);
    return check_left_inverse(x, a.node);
  }
  mt_layout b;
  random_right(x, &b, a.node, 64);
  identity_of(&id, a.node);
  if (least(b.node) < 0 || mt_composition(&r, id.node, b.node, &x->err)) return REFUSED;
  for (const mt_node *p = r.node; p < mt_next(r.node); p++)
    if (p->tag == MT_SUM) return REFUSED;
  return check_left_inverse(x, r.node);
}

/* Along coordinates: A(R(c)) = c for all coordinates of R. */
outcome property_axis_inverse (ctx *x) {
  mt_layout a, b, id, r, inverse, i, c, v;
  random_layout(x, &a, 64, NATURAL);
  random_right(x, &b, a.node, 64);
  identity_of(&id, a.node);
  CASE(x, "axis_inverse", id.node, b.node);
  if (least(b.node) < 0 || mt_composition(&r, id.node, b.node, &x->err)) return REFUSED;
  CASE(x, "axis_inverse", r.node);
  LAW(x, !mt_right_inverse(&inverse, r.node, &x->err));
  for (int64_t k = 0; k < mt_size(inverse.node) && mt_size(r.node) > 0; k++) {
    int64_t at = value_of(inverse.node, k);
    LAW(x, at >= 0 && at < mt_size(r.node));
    mt_int(&i, at);
    LAW(x, !mt_eval(&v, i.node, r.node, &x->err) &&
               !mt_idx2crd(&c, k, inverse.node, &x->err));
    LAW(x, !mt_eval(&c, c.node, inverse.node, &x->err) && c.node[0].shape == at);
    LAW(x, !mt_crd2idx(&at, v.node, inverse.node, &x->err) || mt_rank(v.node) >= 1);
    LAW(x, !mt_eval(&c, v.node, inverse.node, &x->err) &&
               c.node[0].shape == value_of(inverse.node, k));
  }
  return RIGHT;
}

/* ---- fewer modes */

static bool same_everywhere (const mt_node *r, const mt_node *a, int64_t n) {
  const mt_node *path[MT_MAXNODES];
  int paths = paths_of(path, a);
  for (int k = -1; k < paths; k++) {
    fn f, g;
    fn_of(&f, r, k < 0 ? NULL : path[k]);
    fn_of(&g, a, k < 0 ? NULL : path[k]);
    for (int64_t i = 0; i < n; i++)
      if (fn_at(&f, i) != fn_at(&g, i)) return false;
  }
  return true;
}

/* coalesce_x and coalesce_z are A on all indices; z keeps the size. */
outcome property_extended (ctx *x) {
  mt_layout a, r, id;
  random_layout(x, &a, 64, ANY_STRIDES);
  if (chance(x, 5)) {
    identity_of(&id, a.node);
    mt_copy_value(&a, id.node);
  }
  CASE(x, "extended", a.node);
  int64_t n = 3 * mt_size(a.node) + 7;
  LAW(x, !mt_coalesce_z(&r, a.node, NULL, &x->err));
  LAW(x, is_flat(r.node) && mt_size(r.node) == mt_size(a.node) &&
             same_everywhere(r.node, a.node, n));
  LAW(x, !mt_coalesce_x(&r, a.node, NULL, &x->err));
  LAW(x, is_flat(r.node) && same_everywhere(r.node, a.node, n));
  LAW(x, mt_size(r.node) == mt_size(a.node) || mt_size(r.node) == 2 * mt_size(a.node));
  return RIGHT;
}

/* filter: the same set of values, no broadcast; filter_zeros: the tree of A; nullspace:
** where A is A(0), as often as A has an element for each of the filter's. */
outcome property_filter (ctx *x) {
  static uint8_t seen[WIDE];
  mt_layout a, r, z, n;
  const mt_node *p[MT_MAXNODES], *q[MT_MAXNODES];
  random_layout(x, &a, 216, ANY_STRIDES);
  CASE(x, "filter", a.node);
  LAW(x, !mt_filter(&r, a.node, NULL, &x->err) && is_flat(r.node));
  LAW(x, !mt_filter_zeros(&z, a.node, NULL, &x->err) && mt_congruent(z.node, a.node));
  int k = leaves_of(p, a.node);
  leaves_of(q, z.node);
  for (int i = 0; i < k; i++) {
    LAW(x, q[i]->stride == p[i]->stride);
    LAW(x, q[i]->shape == (p[i]->stride == 0 && p[i]->shape != 0 ? 1 : p[i]->shape));
  }
  k = leaves_of(q, r.node);
  for (int i = 0; i < k && mt_size(r.node) != 0; i++)
    LAW(x, q[i]->stride != 0 || (q[i]->shape == 1 && k == 1));
  int64_t lo = least(a.node), sa = mt_size(a.node), sr = mt_size(r.node);
  LAW(x, (sa == 0) == (sr == 0));
  memset(seen, 0, sizeof seen);
  for (int64_t i = 0; i < sa; i++)
    if (value_of(a.node, i) - lo < WIDE) seen[value_of(a.node, i) - lo] = 1;
  for (int64_t i = 0; i < sr; i++) {
    int64_t v = value_of(r.node, i) - lo;
    LAW(x, v >= 0 && (v >= WIDE || seen[v] > 0));
    if (v < WIDE) seen[v] = 2;
  }
  for (int v = 0; v < WIDE && sa > 0; v++) LAW(x, seen[v] != 1);
  LAW(x, !mt_nullspace(&n, a.node, &x->err) && is_flat(n.node));
  LAW(x, sa == 0 || mt_size(n.node) * sr == sa);
  for (int64_t i = 0; i < mt_size(n.node) && sa > 0; i++) {
    int64_t at = value_of(n.node, i);
    LAW(x, at >= 0 && at < sa && (i == 0 || value_of(n.node, i) != value_of(n.node, 0)));
    LAW(x, value_of(a.node, at) == value_of(a.node, 0));
  }
  return RIGHT;
}

static bool filtered_by (const mt_node *r, const mt_node *a, const mt_node *profile) {
  mt_layout f;
  mt_err err = MT_NOERR;
  if (profile->tag == MT_WILD) return mt_equal(r, a);
  if (profile->tag == MT_INT) return !mt_filter(&f, a, NULL, &err) && mt_equal(f.node, r);
  int i = 0;
  for (const mt_node *c = mt_child(profile); c < mt_next(profile); c = mt_next(c), i++)
    if (!filtered_by(mt_mode(r, i), mt_mode(a, i), c)) return false;
  for (; i < mt_rank(a); i++)
    if (!mt_equal(mt_mode(r, i), mt_mode(a, i))) return false;
  return mt_rank(r) == mt_rank(a);
}

outcome property_filter_by (ctx *x) {
  mt_layout a, p, r, shape;
  random_layout(x, &a, 216, ANY_STRIDES);
  pen q = {&p, 0};
  random_profile(x, &q, a.node, 2);
  CASE(x, "filter_by", a.node, p.node);
  LAW(x, !mt_filter(&r, a.node, p.node, &x->err) && filtered_by(r.node, a.node, p.node));
  if (a.node[0].tag == MT_LEAF) return RIGHT;
  LAW(x, !mt_shape(&shape, a.node, &x->err));
  for (mt_node *t = shape.node; t < shape.node + shape.node[0].span; t++)
    if (t->tag == MT_INT) t->shape = pick(x, 2);
  CASE(x, "filter_by", a.node, shape.node);
  LAW(x,
      !mt_filter_zeros(&r, a.node, shape.node, &x->err) && mt_congruent(r.node, a.node));
  const mt_node *l[MT_MAXNODES], *m[MT_MAXNODES];
  int n = leaves_of(l, a.node), k = 0;
  leaves_of(m, r.node);
  for (const mt_node *t = shape.node; t < mt_next(shape.node); t++) {
    if (t->tag != MT_INT) continue;
    LAW(x, m[k]->stride == l[k]->stride);
    LAW(x, m[k]->shape == (t->shape == 0 && l[k]->shape != 0 ? 1 : l[k]->shape));
    k++;
  }
  LAW(x, k == n);
  return RIGHT;
}

/* ---- orders */

/* A bijection onto 0 .. size-1; the part with the smaller number has the smaller
** strides. */
outcome property_ordered (ctx *x) {
  static bool taken[MAXSIZE];
  mt_layout a, shape, order, r;
  const mt_node *p[MT_MAXNODES];
  int64_t number[MT_MAXNODES];
  random_layout(x, &a, 512, NATURAL);
  mt_shape(&shape, a.node, &x->err);
  mt_copy_value(&order, shape.node);
  int n = 0;
  for (mt_node *t = order.node; t < order.node + order.node[0].span; t++)
    if (t->tag == MT_INT) number[n++] = t->shape = between(x, -3, 3);
  CASE(x, "ordered", shape.node, order.node);
  LAW(x, !mt_make_ordered_layout(&r, shape.node, order.node, &x->err));
  LAW(x, mt_congruent(r.node, shape.node) && mt_size(r.node) == mt_size(a.node));
  LAW(x, leaves_of(p, r.node) == n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      LAW(x, p[i]->shape < 2 || p[j]->shape < 2 || i == j ||
                 (number[i] < number[j] || (number[i] == number[j] && i < j)) ==
                     (p[i]->stride < p[j]->stride));
  memset(taken, 0, sizeof taken);
  for (int64_t i = 0; i < mt_size(r.node); i++) {
    int64_t v = value_of(r.node, i);
    LAW(x, v >= 0 && v < mt_size(r.node) && !taken[v]);
    taken[v] = true;
  }
  LAW(x, !mt_make_ordered_layout(&r, shape.node, NULL, &x->err));
  LAW(x, !mt_layout_left(&a, shape.node, &x->err) && mt_equal(a.node, r.node));
  return RIGHT;
}

/* Each leaf that moves begins where those of smaller strides end; equal strides begin as
** one. */
outcome property_like (ctx *x) {
  mt_layout a, r;
  const mt_node *p[MT_MAXNODES], *q[MT_MAXNODES];
  random_layout(x, &a, 512, ANY_STRIDES);
  CASE(x, "like", a.node);
  LAW(x, !mt_make_layout_like(&r, a.node, &x->err) && mt_congruent(r.node, a.node));
  int n = leaves_of(p, a.node);
  LAW(x, leaves_of(q, r.node) == n);
  for (int i = 0; i < n; i++) {
    int64_t want = 1;
    for (int j = 0; j < n; j++)
      if (p[j]->stride != 0 && llabs(p[j]->stride) < llabs(p[i]->stride))
        want *= p[j]->shape;
    if (p[i]->stride == 0 || p[i]->shape == 1) want = 0;
    LAW(x, q[i]->shape == p[i]->shape && (mt_size(a.node) == 0 || q[i]->stride == want));
  }
  return RIGHT;
}

/* Mode 1 compact from the left, its broadcasts kept; the rest in the order of strides,
** behind it. */
outcome property_fragment (ctx *x) {
  static bool taken[MAXSIZE];
  mt_layout a, r;
  random_layout(x, &a, 512, ANY_STRIDES);
  CASE(x, "fragment", a.node);
  LAW(x,
      !mt_make_fragment_like(&r, a.node, &x->err) && mt_size(r.node) == mt_size(a.node));
  if (mt_rank(a.node) < 2 || mt_size(a.node) == 0) return RIGHT;
  LAW(x, mt_congruent(mt_mode(r.node, 0), mt_mode(a.node, 0)));
  LAW(x, mt_rank(r.node) == mt_rank(a.node));
  const mt_node *p[MT_MAXNODES], *q[MT_MAXNODES];
  int n = leaves_of(p, a.node), first = leaves_of(q, mt_mode(a.node, 0));
  int64_t run = 1, size = 1;
  LAW(x, leaves_of(q, r.node) == n);
  for (int i = 0; i < n; i++) {
    bool still = i < first && p[i]->stride == 0;
    LAW(x, q[i]->shape == p[i]->shape);
    if (i < first) LAW(x, q[i]->stride == (still || p[i]->shape == 1 ? 0 : run));
    if (i < first && !still) run *= p[i]->shape;
    if (!still) size *= p[i]->shape;
    for (int j = first; j < n && i >= first; j++)
      LAW(x, p[i]->shape < 2 || p[j]->shape < 2 || p[i]->stride >= p[j]->stride ||
                 q[i]->stride < q[j]->stride);
  }
  memset(taken, 0, sizeof taken);
  for (int64_t i = 0; i < mt_size(r.node); i++) {
    int64_t v = value_of(r.node, i);
    LAW(x, v >= 0 && v < size);
    taken[v] = true;
  }
  for (int64_t v = 0; v < size; v++) LAW(x, taken[v]);
  return RIGHT;
}

/* ---- runs */

static int64_t floor_div (int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); }

/* The values of A are whole runs of n; n is a divisor of the run at 0 and of other
** strides. */
outcome property_alignment (ctx *x) {
  static bool seen[WIDE];
  mt_layout a, inverse;
  int64_t n;
  random_layout(x, &a, 216, chance(x, 2) ? COMPACT : ANY_STRIDES);
  CASE(x, "alignment", a.node);
  LAW(x, !mt_max_alignment(&n, a.node, &x->err) && n >= 1);
  LAW(x, !mt_right_inverse(&inverse, a.node, &x->err) && mt_size(inverse.node) % n == 0);
  int64_t lo = least(a.node), size = mt_size(a.node);
  if (size == 0) return RIGHT;
  lo = floor_div(lo, n) * n;
  memset(seen, 0, sizeof seen);
  for (int64_t i = 0; i < size; i++) {
    int64_t v = value_of(a.node, i) - lo;
    if (v >= WIDE) return RIGHT;
    seen[v] = true;
  }
  for (int64_t v = 0; v < WIDE; v++) LAW(x, seen[v] == seen[v / n * n]);
  return RIGHT;
}

/* A(R(i)) = B(R(i)) = i for i < n; not for n, where both have it. */
outcome property_common (ctx *x) {
  mt_layout a, b, r, inverse;
  int64_t n, m = 0;
  random_layout(x, &a, 216, COMPACT);
  if (chance(x, 2)) random_layout(x, &b, 216, COMPACT);
  else {
    mt_copy_value(&b, a.node);
    for (mt_node *p = b.node; p < b.node + b.node[0].span; p++)
      if (p->tag == MT_LEAF && chance(x, 4)) p->stride += between(x, 0, 3);
  }
  CASE(x, "common", a.node, b.node);
  mt_status s = mt_max_common_vector(&n, a.node, b.node, &x->err);
  mt_status t = mt_max_common_layout(&r, a.node, b.node, &x->err);
  LAW(x, s == t && (s == MT_OK || s == MT_EINEXACT));
  if (s != MT_OK) return REFUSED;
  LAW(x, n >= 1 && mt_size(r.node) == n);
  for (int64_t i = 0; i < n && mt_size(a.node) > 0 && mt_size(b.node) > 0; i++) {
    int64_t j = value_of(r.node, i);
    LAW(x, i == 0 || (value_of(a.node, j) == i && value_of(b.node, j) == i));
  }
  LAW(x, !mt_right_inverse(&inverse, b.node, &x->err));
  while (m < mt_size(inverse.node) && value_of(a.node, value_of(inverse.node, m)) == m)
    m++;
  LAW(x, n <= (m > 1 ? m : 1));
  return RIGHT;
}

/* Ordered; the size divides n; each extent of a part divides its mode. */
outcome property_distribute (ctx *x) {
  mt_layout a, shape, r, t;
  random_layout(x, &a, 512, NATURAL);
  if (mt_size(a.node) == 0) return REFUSED;
  int64_t n = between(x, 1, 60), last = -1;
  mt_shape(&shape, a.node, &x->err);
  mt_int(&t, n);
  CASE(x, "distribute", shape.node, t.node);
  LAW(x, !mt_domain_distribute(&r, shape.node, n, &x->err) && is_flat(r.node));
  LAW(x, n % mt_size(r.node) == 0);
  for (int64_t i = 0; i < mt_size(r.node); i++) {
    LAW(x, value_of(r.node, i) > last && value_of(r.node, i) < mt_size(a.node));
    last = value_of(r.node, i);
  }
  int64_t left = n, size = 1;
  const mt_node *p[MT_MAXNODES];
  int k = leaves_of(p, a.node);
  for (int i = 0; i < k; i++)
    for (int64_t g = p[i]->shape; g >= 1; g--)
      if (p[i]->shape % g == 0 && left % g == 0) {
        left /= g;
        size *= g;
        break;
      }
  LAW(x, mt_size(r.node) == size);
  mt_layout c;
  LAW(x, !mt_composition(&c, a.node, r.node, &x->err));
  return RIGHT;
}
