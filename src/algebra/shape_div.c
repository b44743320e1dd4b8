/*
** shape_div.c - shapes divided by integers, shapes and layouts; rounded up.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "moontile/tuple.h"
#include "tuple/tuple.h"

/* ---- division */

typedef struct division {
  mt_pair p;
  bool exact; /* one of the two numbers must divide the other */
} division;

static int64_t ceil_of (int64_t a, int64_t d) { return a / d + (a % d > 0); }

/* *out = a / d, rounded up. `part`: where in A. */
static mt_status quotient (int64_t *out, const division *v, int64_t a, int64_t d,
                           const mt_node *part) {
  mt_err *err = v->p.err;
  if (d < 1 || (v->exact && a < 0)) {
    mt_fail(err, MT_ERANGE, "%s: %lld by %lld: %s", v->p.op, (long long)a, (long long)d,
            d < 1 ? "a divisor must be positive" : "an extent must not be negative");
    mt_tell_wholes(&v->p, part);
    return MT_ERANGE;
  }
  *out = ceil_of(a, d);
  if (!v->exact || a % d == 0 || (a > 0 && d % a == 0)) return MT_OK;
  mt_fail(err, MT_EINEXACT, "%s: neither of %lld and %lld divides the other", v->p.op,
          (long long)a, (long long)d);
  mt_tell_wholes(&v->p, part);
  mt_explain(err, "\n  ceil_div rounds up: ceil_div(%lld,%lld) = %lld", (long long)a,
             (long long)d, (long long)*out);
  return MT_EINEXACT;
}

/* t / d, mode by mode: what a mode does not use of d divides the next. */
static void divide_by (mt_build *b, const division *v, const mt_node *t, int64_t d) {
  int64_t n;
  if (!mt_is_branch(t)) {
    if (b->status == MT_OK) mt_failed(b, quotient(&n, v, t->shape, d, t));
    if (b->status == MT_OK) mt_add_int(b, n);
    return;
  }
  mt_open(b, MT_TUPLE);
  for (const mt_node *c = mt_child(t); c < mt_next(t) && b->status == MT_OK;
       c = mt_next(c)) {
    divide_by(b, v, c, d);
    if (d == 1 || b->status != MT_OK) continue;
    if (!mt_product_of(&n, c))
      mt_build_fail(b, MT_EOVERFLOW, "%s: the product of %N leaves 64 bits", b->op, c);
    else if (n != 0) mt_failed(b, quotient(&d, v, d, n, c));
  }
  mt_close(b);
}

/* The largest offset that the complement of a tiler starts its last mode with. */
static bool last_run (int64_t *run, const mt_node *t) {
  *run = 1;
  for (const mt_node *p = mt_leaf(t, t); p < mt_next(t); p = mt_leaf(t, mt_after(p))) {
    int64_t d = p->stride, end;
    if (p->shape <= 1 || d == 0) continue;
    if ((d < 0 && mt_subo(0, d, &d)) || mt_mulo(p->shape, d, &end)) return false;
    if (end > *run) *run = end;
  }
  return true;
}

/* The shape of the complement of t in a shape that is divided mode by mode. */
static mt_status rest_shape (mt_layout *out, const division *v, const mt_node *shape,
                             const mt_node *t) {
  mt_build b;
  mt_layout rest, complement;
  mt_err *err = v->p.err;
  int64_t run, n;
  if (mt_is_swizzled(t) || !mt_is_integral(t))
    return mt_failn(err, MT_EINVAL, "%s: a tiler with integer strides expected, not %N",
                    v->p.op, t);
  mt_begin(&b, &rest, v->p.op, err);
  if (!last_run(&run, t))
    return mt_failn(err, MT_EOVERFLOW, "%s: the range of %N leaves 64 bits", v->p.op, t);
  divide_by(&b, v, shape, run);
  MT_TRY(mt_end(&b));
  if (!mt_product_of(&n, rest.node) || mt_mulo(n, run, &n))
    return mt_failn(err, MT_EOVERFLOW, "%s: the product of %N leaves 64 bits", v->p.op,
                    shape);
  MT_TRY(mt_complement(&complement, NULL, t, n, err));
  return mt_shape(out, complement.node, err);
}

static MT_APART void divide_by_layout (mt_build *b, const division *v, const mt_node *x,
                                       const mt_node *y) {
  mt_layout rest;
  if (b->status == MT_OK) mt_failed(b, rest_shape(&rest, v, x, y));
  if (b->status == MT_OK) mt_add(b, rest.node);
}

static void divide (mt_build *b, const division *v, const mt_node *x, const mt_node *y) {
  int64_t d;
  if (mt_is_layout(y)) {
    divide_by_layout(b, v, x, y);
  } else if (!mt_is_branch(y)) {
    divide_by(b, v, x, y->shape);
  } else if (!mt_is_branch(x)) {
    if (!mt_product_of(&d, y))
      mt_build_fail(b, MT_EOVERFLOW, "%s: the product of %N leaves 64 bits", b->op, y);
    divide_by(b, v, x, d);
  } else if (v->exact ? x->arity != y->arity : x->arity < y->arity) {
    mt_failed(b, mt_ranks_differ(&v->p, x, y));
  } else {
    mt_open(b, MT_TUPLE);
    const mt_node *c = mt_child(x), *d_end = mt_next(y);
    for (const mt_node *e = mt_child(y); e < d_end && b->status == MT_OK;
         e = mt_next(e), c = mt_next(c))
      divide(b, v, c, e);
    for (; c < mt_next(x); c = mt_next(c)) divide_by(b, v, c, 1);
    mt_close(b);
  }
}

/* Integers, layouts, and tuples of both. */
static bool is_tiler (const mt_node *t) {
  if (mt_is_layout(t) || mt_is_integer(t)) return true;
  if (t->tag != MT_TUPLE && t->tag != MT_TILER) return false;
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
    if (!is_tiler(c)) return false;
  return true;
}

mt_status mt_ceil_div (mt_layout *out, const mt_node *a, const mt_node *t, mt_err *err) {
  division v = {{"ceil_div", a, t, err}, false};
  mt_build b;
  MT_TRY(mt_want_extents(v.p.op, a, err));
  if (!is_tiler(t))
    return mt_failn(err, MT_EINVAL, "ceil_div: integers or layouts expected, not %N", t);
  mt_begin(&b, out, v.p.op, err);
  divide(&b, &v, mt_base(a), t);
  return mt_end(&b);
}

mt_status mt_shape_div (mt_layout *out, const mt_node *a, const mt_node *b, mt_err *err) {
  division v = {{"shape_div", a, b, err}, true};
  mt_build build;
  MT_TRY(mt_want_extents(v.p.op, a, err));
  MT_TRY(mt_want_integers(v.p.op, b, err));
  mt_begin(&build, out, v.p.op, err);
  divide(&build, &v, mt_base(a), b);
  return mt_end(&build);
}

/* ---- whether a tiler fits */

static mt_status size_of (int64_t *out, const mt_node *t, mt_err *err) {
  if (mt_product_of(out, t)) return MT_OK;
  return mt_failn(err, MT_EOVERFLOW, "evenly_divides: the product of %N leaves 64 bits",
                  t);
}

mt_status mt_evenly_divides (bool *out, const mt_node *a, const mt_node *t, mt_err *err) {
  mt_layout rest;
  int64_t size, tile, tiles;
  a = mt_base(a);
  MT_TRY(mt_want_extents("evenly_divides", a, err));
  *out = false;
  if (t->tag != MT_TUPLE && t->tag != MT_TILER) {
    MT_TRY(mt_ceil_div(&rest, a, t, err));
    MT_TRY(size_of(&size, a, err));
    MT_TRY(size_of(&tile, t, err));
    MT_TRY(size_of(&tiles, rest.node, err));
    *out = !mt_mulo(tile, tiles, &tiles) && tiles == size;
    return MT_OK;
  }
  if (t->arity > mt_rank(a)) return MT_OK;
  const mt_node *c = mt_first_mode(a);
  *out = true;
  for (const mt_node *d = mt_child(t); d < mt_next(t) && *out;
       d = mt_next(d), c = mt_next(c))
    MT_TRY(mt_evenly_divides(out, c, d, err));
  return MT_OK;
}

/* ---- rounding */

static void round_up (mt_build *b, const mt_pair *p, const mt_node *x, const mt_node *y) {
  division v = {*p, false};
  int64_t n = 0;
  if (mt_is_branch(x) != mt_is_branch(y) || x->arity < y->arity) {
    if (b->status == MT_OK) mt_failed(b, mt_ranks_differ(p, x, y));
  } else if (!mt_is_branch(x)) {
    if (b->status == MT_OK) mt_failed(b, quotient(&n, &v, x->shape, y->shape, x));
    if (b->status != MT_OK) return;
    if (mt_mulo(n, y->shape, &n))
      mt_build_fail(b, MT_EOVERFLOW, "%s: %N to a multiple of %N leaves 64 bits", p->op,
                    x, y);
    mt_add_int(b, n);
  } else {
    mt_open(b, MT_TUPLE);
    const mt_node *c = mt_child(x);
    for (const mt_node *d = mt_child(y); d < mt_next(y); d = mt_next(d), c = mt_next(c))
      round_up(b, p, c, d);
    for (; c < mt_next(x); c = mt_next(c)) mt_add(b, c);
    mt_close(b);
  }
}

mt_status mt_round_up (mt_layout *out, const mt_node *a, const mt_node *b, mt_err *err) {
  return mt_walk_both(out, "round_up", round_up, a, b, err);
}
