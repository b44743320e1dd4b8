/*
** tuple.c - properties of integer tuples: numbers, division, order, strides.
** SPDX-License-Identifier: MIT
*/
#include "property.h"

/* ---- random tuples */

/* The shape of a layout as a tuple, with the integers that f makes of its extents. */
typedef int64_t (*make)(ctx *x, int64_t s);
static int64_t same (ctx *x, int64_t s) { return (void)x, s; }
static int64_t small (ctx *x, int64_t s) { return (void)s, between(x, 1, 9); }
static int64_t signed_ (ctx *x, int64_t s) { return (void)s, between(x, -6, 12); }
static int64_t zero_one (ctx *x, int64_t s) { return (void)s, between(x, 0, 1); }

static void tuple_of (ctx *x, pen *p, const mt_node *t, make f) {
  if (t->tag == MT_LEAF || t->tag == MT_INT) {
    pen_int(p, f(x, t->shape));
    return;
  }
  int at = pen_open(p, MT_TUPLE);
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
    tuple_of(x, p, c, f);
  pen_close(p, at, t->arity);
}

static void like (ctx *x, mt_layout *out, const mt_node *t, make f) {
  pen p = {out, 0};
  tuple_of(x, &p, t, f);
}

static void random_tuple (ctx *x, mt_layout *out, make f) {
  mt_layout a;
  random_layout(x, &a, 4096, NATURAL);
  like(x, out, a.node, f);
}

/* t with some parts folded to the integer that f makes of 1. */
static void fold (ctx *x, pen *p, const mt_node *t, make f) {
  if (t->tag != MT_TUPLE || chance(x, 4)) {
    pen_int(p, f(x, 1));
    return;
  }
  int at = pen_open(p, MT_TUPLE);
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c)) fold(x, p, c, f);
  pen_close(p, at, t->arity);
}

/* The integers in order. */
static int flat (int64_t *v, const mt_node *t) {
  int n = 0;
  for (const mt_node *p = t; p < mt_next(t); p++)
    if (p->tag == MT_INT) v[n++] = p->shape;
  return n;
}

static int64_t product (const mt_node *t) {
  int64_t v[MT_MAXNODES], r = 1;
  int n = flat(v, t);
  for (int i = 0; i < n; i++) r *= v[i];
  return r;
}

/* ---- numbers */

outcome property_tuple_numbers (ctx *x) {
  mt_layout a, b, g, r;
  int64_t v[MT_MAXNODES], w[MT_MAXNODES], sum = 0, inner = 0, got, low = 99, high = -99;
  random_tuple(x, &a, signed_);
  like(x, &b, a.node, signed_);
  int n = flat(v, a.node);
  flat(w, b.node);
  for (int i = 0; i < n; i++) {
    sum += v[i];
    inner += v[i] * w[i];
    if (v[i] < low) low = v[i];
    if (v[i] > high) high = v[i];
  }
  CASE(x, "tuple_numbers", a.node, b.node);
  LAW(x, !mt_sum(&got, a.node, &x->err) && got == sum);
  LAW(x, !mt_inner_product(&got, a.node, b.node, &x->err) && got == inner);
  LAW(x, mt_max(&got, a.node, &x->err) ? n == 0 : got == high);
  LAW(x, mt_min(&got, a.node, &x->err) ? n == 0 : got == low);
  LAW(x, !mt_gcd(&got, a.node, &x->err) && got >= 0);
  for (int64_t d = 1; d <= 12; d++) {
    bool all = true;
    for (int i = 0; i < n; i++) all = all && v[i] % d == 0;
    LAW(x, all == (got % d == 0));
  }
  LAW(x, !mt_product_each(&r, a.node, &x->err) && mt_rank(r.node) == mt_rank(a.node));
  for (int i = 0; i < mt_rank(a.node); i++)
    LAW(x, mt_mode(r.node, i)->shape == product(mt_mode(a.node, i)));
  pen p = {&g, 0};
  fold(x, &p, a.node, same);
  LAW(x, !mt_product_like(&r, a.node, g.node, &x->err) && mt_congruent(r.node, g.node));
  LAW(x, product(r.node) == product(a.node) && mt_compatible(r.node, a.node));
  LAW(x, mt_weakly_congruent(g.node, a.node));
  LAW(x, mt_weakly_congruent(a.node, g.node) == mt_congruent(a.node, g.node));
  LAW(x, mt_compatible(a.node, r.node) == mt_congruent(a.node, r.node));
  LAW(x, !mt_elem_scale(&b, g.node, a.node, &x->err) && mt_congruent(b.node, g.node));
  LAW(x, product(b.node) == product(g.node) * product(a.node));
  return RIGHT;
}

/* ---- division: what a mode leaves of d, rounded up, divides the next */

static int64_t up (int64_t a, int64_t d) {
  int64_t r = 0;
  while (r * d < a) r++;
  return r;
}

/* Whether r is t by d; *exact: each step divides one way or the other. */
static bool divided (const mt_node *r, const mt_node *t, int64_t d, bool *exact) {
  if (t->tag == MT_INT) {
    *exact = *exact && (t->shape % d == 0 || (t->shape > 0 && d % t->shape == 0));
    return r->tag == MT_INT && r->shape == up(t->shape, d);
  }
  if (r->tag != MT_TUPLE || r->arity != t->arity) return false;
  const mt_node *q = mt_child(r);
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c), q = mt_next(q)) {
    int64_t s = product(c);
    if (!divided(q, c, d, exact)) return false;
    if (d > 1) *exact = *exact && (d % s == 0 || s % d == 0);
    if (d > 1) d = up(d, s);
  }
  return true;
}

static outcome check_tuple_by_int (ctx *x, const mt_node *a, int64_t d) {
  mt_layout r, q;
  mt_err err = MT_NOERR;
  bool exact = true, even;
  mt_int(&q, d);
  CASE(x, "tuple_division", a, q.node);
  LAW(x, !mt_ceil_div(&r, a, q.node, &x->err) && divided(r.node, a, d, &exact));
  LAW(x, !mt_evenly_divides(&even, a, q.node, &x->err));
  LAW(x, even == (product(a) == d * product(r.node)));
  mt_status s = mt_shape_div(&q, a, q.node, &err);
  LAW(x, exact ? s == MT_OK && mt_equal(q.node, r.node) : s == MT_EINEXACT);
  return exact ? RIGHT : REFUSED;
}

outcome property_tuple_division (ctx *x) {
  mt_layout a, b, r, q;
  int64_t v[MT_MAXNODES], w[MT_MAXNODES], u[MT_MAXNODES];
  random_tuple(x, &a, small);
  if (chance(x, 2)) return check_tuple_by_int(x, a.node, between(x, 1, 40));
  like(x, &b, a.node, small);
  CASE(x, "tuple_division", a.node, b.node);
  int n = flat(v, a.node);
  flat(w, b.node);
  bool exact = true, even, all = true;
  for (int i = 0; i < n; i++) {
    exact = exact && (v[i] % w[i] == 0 || w[i] % v[i] == 0);
    all = all && v[i] % w[i] == 0;
  }
  LAW(x, !mt_ceil_div(&r, a.node, b.node, &x->err) && mt_congruent(r.node, a.node));
  flat(u, r.node);
  for (int i = 0; i < n; i++) LAW(x, u[i] == up(v[i], w[i]));
  LAW(x, !mt_round_up(&q, a.node, b.node, &x->err) && mt_congruent(q.node, a.node));
  flat(u, q.node);
  for (int i = 0; i < n; i++)
    LAW(x, u[i] % w[i] == 0 && u[i] >= v[i] && u[i] < v[i] + w[i]);
  LAW(x, !mt_evenly_divides(&even, a.node, b.node, &x->err) && even == all);
  mt_status s = mt_shape_div(&q, a.node, b.node, &x->err);
  LAW(x, exact ? s == MT_OK && mt_equal(q.node, r.node) : s == MT_EINEXACT);
  like(x, &b, a.node, zero_one);
  LAW(x, !mt_filter_zeros_tuple(&r, b.node, a.node, &x->err));
  flat(w, b.node);
  flat(u, r.node);
  for (int i = 0; i < n; i++) LAW(x, u[i] == (w[i] ? v[i] : 1));
  return exact ? RIGHT : REFUSED;
}

/* ---- order */

typedef mt_status (*relation)(bool *, const mt_node *, const mt_node *, mt_err *);
/* less, leq, gtr, geq */
static const relation elem[] = {mt_elem_less, mt_elem_leq, mt_elem_gtr, mt_elem_geq};
static const relation lex[] = {mt_lex_less, mt_lex_leq, mt_lex_gtr, mt_lex_geq};
static const relation colex[] = {mt_colex_less, mt_colex_leq, mt_colex_gtr, mt_colex_geq};

static bool holds (int which, int64_t a, int64_t b) {
  return which == 0 ? a < b : which == 1 ? a <= b : which == 2 ? a > b : a >= b;
}

/* Of congruent tuples: the first (last) integers that differ decide; all of them do. */
outcome property_tuple_order (ctx *x) {
  mt_layout a, b;
  int64_t v[MT_MAXNODES], w[MT_MAXNODES];
  bool got;
  random_tuple(x, &a, zero_one);
  like(x, &b, a.node, zero_one);
  CASE(x, "tuple_order", a.node, b.node);
  int n = flat(v, a.node), first = 0, last = n - 1;
  flat(w, b.node);
  while (first < n - 1 && v[first] == w[first]) first++;
  while (last > 0 && v[last] == w[last]) last--;
  for (int k = 0; k < 4; k++) {
    bool all = true, equal = n == 0 && k % 2 == 1;
    for (int i = 0; i < n; i++) all = all && holds(k, v[i], w[i]);
    LAW(x, !elem[k](&got, a.node, b.node, &x->err) && got == all);
    LAW(x, !lex[k](&got, a.node, b.node, &x->err));
    LAW(x, got == (n ? holds(k, v[first], w[first]) : equal));
    LAW(x, !colex[k](&got, a.node, b.node, &x->err));
    LAW(x, got == (n ? holds(k, v[last], w[last]) : equal));
  }
  return RIGHT;
}

/* ---- strides */

/* d are the strides of a compact shape s from `run` on, in this order. */
static bool runs (const int64_t *s, const int64_t *d, int n, int64_t run, bool right) {
  for (int k = 0; k < n; k++) {
    int i = right ? n - 1 - k : k;
    if (d[i] != (s[i] == 1 ? 0 : run)) return false;
    if (s[i] > 1) run *= s[i];
  }
  return true;
}

/* Each offset 0 .. size-1 once. */
static bool is_compact (const int64_t *s, const int64_t *d, int n, int64_t size) {
  bool taken[MAXSIZE] = {false};
  for (int64_t i = 0; i < size; i++) {
    int64_t rest = i, at = 0;
    for (int k = 0; k < n; k++) at += rest % s[k] * d[k], rest /= s[k];
    if (at < 0 || at >= size || taken[at]) return false;
    taken[at] = true;
  }
  return true;
}

/* Parts with smaller numbers, or the same and further left, have smaller strides. */
static bool in_order (const mt_node *d, const mt_node *shape, const mt_node *order,
                      int64_t *number, int64_t *stride, int *n) {
  if (order->tag == MT_TUPLE) {
    const mt_node *e = mt_child(d), *s = mt_child(shape);
    for (const mt_node *o = mt_child(order); o < mt_next(order);
         o = mt_next(o), e = mt_next(e), s = mt_next(s))
      if (!in_order(e, s, o, number, stride, n)) return false;
    return true;
  }
  int64_t v[MT_MAXNODES], s[MT_MAXNODES];
  int k = flat(v, d);
  flat(s, shape);
  for (int i = 0; i < k; i++) {
    if (s[i] < 2) continue;
    for (int j = 0; j < *n; j++)
      if ((number[j] <= order->shape) != (stride[j] < v[i])) return false;
    number[*n] = order->shape;
    stride[(*n)++] = v[i];
  }
  return true;
}

outcome property_tuple_strides (ctx *x) {
  mt_layout a, order, start, r;
  int64_t s[MT_MAXNODES], d[MT_MAXNODES], number[MT_MAXNODES], stride[MT_MAXNODES];
  int m = 0;
  random_tuple(x, &a, same);
  pen p = {&order, 0};
  fold(x, &p, a.node, signed_);
  int64_t from = between(x, 1, 20);
  mt_int(&start, from);
  CASE(x, "tuple_strides", a.node, order.node);
  int n = flat(s, a.node);
  LAW(x, !mt_compact_col_major(&r, a.node, NULL, &x->err));
  LAW(x, mt_congruent(r.node, a.node));
  LAW(x, flat(d, r.node) == n && runs(s, d, n, 1, false));
  LAW(x, !mt_compact_row_major(&r, a.node, start.node, &x->err));
  LAW(x, flat(d, r.node) == n && runs(s, d, n, from, true));
  LAW(x, !mt_compact_col_major(&r, a.node, order.node, &x->err));
  LAW(x, mt_congruent(r.node, a.node));
  LAW(x, !mt_compact_order(&r, a.node, order.node, &x->err));
  LAW(x, mt_congruent(r.node, a.node) && flat(d, r.node) == n);
  if (product(a.node) == 0) return RIGHT;
  LAW(x, is_compact(s, d, n, product(a.node)));
  LAW(x, in_order(r.node, a.node, order.node, number, stride, &m));
  return RIGHT;
}
