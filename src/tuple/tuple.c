/*
** tuple.c - integer tuples: sums, products, extremes.
** SPDX-License-Identifier: MIT
*/
#include "moontile/tuple.h"
#include "tuple/tuple.h"

/* ---- what the operations share */

bool mt_is_integers (const mt_node *t) {
  for (const mt_node *p = t; p < mt_next(t); p++)
    if (p->tag != MT_TUPLE && !mt_is_integer(p)) return false;
  return true;
}

bool mt_is_extents (const mt_node *t) { return mt_is_function(t) || mt_is_integers(t); }

mt_status mt_want_integers (const char *op, const mt_node *t, mt_err *err) {
  if (mt_is_integers(t)) return MT_OK;
  return mt_failn(err, MT_EINVAL,
                  "%s: an integer or a tuple of integers expected, not %N", op, t);
}

mt_status mt_want_extents (const char *op, const mt_node *t, mt_err *err) {
  if (mt_is_extents(t)) return MT_OK;
  return mt_failn(err, MT_EINVAL, "%s: a tuple of integers or a layout expected, not %N",
                  op, t);
}

/* "A[2][1] = part has 2 modes". */
static void tell_part (mt_err *err, const char *name, const mt_node *whole,
                       const mt_node *part) {
  mt_explain(err, "%s", name);
  for (const mt_node *t = mt_base(whole); t != part && mt_is_branch(t);) {
    const mt_node *c = mt_child(t);
    int mode = 1;
    for (; c < mt_next(t) && mt_next(c) <= part; c = mt_next(c)) mode++;
    mt_explain(err, "[%d]", mode);
    t = c;
  }
  if (mt_is_branch(part)) mt_explain(err, " = %N has %d modes", part, (int)part->arity);
  else mt_explain(err, " = %N is no tuple", part);
}

void mt_tell_wholes (const mt_pair *p, const mt_node *x) {
  if (x != p->a && x != mt_base(p->a))
    mt_explain(p->err, "\n  A = %N, B = %N", p->a, p->b);
}

mt_status mt_ranks_differ (const mt_pair *p, const mt_node *x, const mt_node *y) {
  mt_fail(p->err, MT_ERANK, "%s: ", p->op);
  tell_part(p->err, "A", p->a, x);
  mt_explain(p->err, ", ");
  tell_part(p->err, "B", p->b, y);
  mt_tell_wholes(p, x);
  return MT_ERANK;
}

static bool has_zero (const mt_node *t) {
  if (!mt_is_branch(t)) return t->shape == 0;
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
    if (has_zero(c)) return true;
  return false;
}

static bool multiply (int64_t *n, const mt_node *t) {
  if (!mt_is_branch(t)) return !mt_mulo(*n, t->shape, n);
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
    if (!multiply(n, c)) return false;
  return true;
}

bool mt_product_of (int64_t *out, const mt_node *t) {
  t = mt_base(t);
  *out = has_zero(t) ? 0 : 1;
  return *out == 0 || multiply(out, t);
}

static void add_product (mt_build *b, const mt_node *t) {
  int64_t n;
  if (!mt_product_of(&n, t))
    mt_build_fail(b, MT_EOVERFLOW, "%s: the product of %N leaves 64 bits", b->op, t);
  mt_add_int(b, n);
}

/* ---- one number of a tuple */

mt_status mt_sum (int64_t *out, const mt_node *t, mt_err *err) {
  *out = 0;
  MT_TRY(mt_want_integers("sum", t, err));
  for (const mt_node *p = t; p < mt_next(t); p++)
    if (p->tag == MT_INT && mt_addo(*out, p->shape, out))
      return mt_failn(err, MT_EOVERFLOW, "sum: of %N leaves 64 bits", t);
  return MT_OK;
}

/* The first integer of t, or an error: there is none. */
static mt_status first_integer (int64_t *out, const char *op, const mt_node *t,
                                mt_err *err) {
  MT_TRY(mt_want_integers(op, t, err));
  for (const mt_node *p = t; p < mt_next(t); p++)
    if (p->tag == MT_INT) {
      *out = p->shape;
      return MT_OK;
    }
  return mt_failn(err, MT_ERANK, "%s: there is no integer in %N", op, t);
}

mt_status mt_max (int64_t *out, const mt_node *t, mt_err *err) {
  MT_TRY(first_integer(out, "max", t, err));
  for (const mt_node *p = t; p < mt_next(t); p++)
    if (p->tag == MT_INT && p->shape > *out) *out = p->shape;
  return MT_OK;
}

mt_status mt_min (int64_t *out, const mt_node *t, mt_err *err) {
  MT_TRY(first_integer(out, "min", t, err));
  for (const mt_node *p = t; p < mt_next(t); p++)
    if (p->tag == MT_INT && p->shape < *out) *out = p->shape;
  return MT_OK;
}

mt_status mt_gcd (int64_t *out, const mt_node *t, mt_err *err) {
  uint64_t g = 0;
  MT_TRY(mt_want_integers("gcd", t, err));
  for (const mt_node *p = t; p < mt_next(t); p++) {
    uint64_t n = p->shape < 0 ? 0 - (uint64_t)p->shape : (uint64_t)p->shape;
    if (p->tag != MT_INT) continue;
    while (n) {
      uint64_t r = g % n;
      g = n;
      n = r;
    }
  }
  if (g > INT64_MAX) return mt_failn(err, MT_EOVERFLOW, "gcd: of %N leaves 64 bits", t);
  *out = (int64_t)g;
  return MT_OK;
}

/* ---- products */

mt_status mt_product_each (mt_layout *out, const mt_node *t, mt_err *err) {
  mt_build b;
  const mt_node *in = mt_base(t);
  int n = mt_rank(t);
  MT_TRY(mt_want_extents("product_each", t, err));
  mt_begin(&b, out, "product_each", err);
  mt_open(&b, MT_TUPLE);
  const mt_node *c = mt_first_mode(in);
  for (int i = 0; i < n; i++, c = mt_next(c)) add_product(&b, c);
  return mt_end(&b);
}

static void product_like (mt_build *b, const mt_pair *p, const mt_node *t,
                          const mt_node *g) {
  if (!mt_is_branch(g)) {
    add_product(b, t);
  } else if (!mt_is_branch(t) || t->arity != g->arity) {
    mt_failed(b, mt_ranks_differ(p, t, g));
  } else {
    mt_open(b, MT_TUPLE);
    for (const mt_node *c = mt_child(t), *d = mt_child(g);
         c < mt_next(t) && b->status == MT_OK; c = mt_next(c), d = mt_next(d))
      product_like(b, p, c, d);
    mt_close(b);
  }
}

mt_status mt_product_like (mt_layout *out, const mt_node *t, const mt_node *guide,
                           mt_err *err) {
  mt_pair p = {"product_like", t, guide, err};
  mt_build b;
  MT_TRY(mt_want_extents(p.op, t, err));
  mt_begin(&b, out, p.op, err);
  product_like(&b, &p, mt_base(t), mt_base(guide));
  return mt_end(&b);
}

static mt_status inner_product (int64_t *sum, const mt_pair *p, const mt_node *x,
                                const mt_node *y) {
  int64_t n;
  if (x->tag != y->tag || x->arity != y->arity) return mt_ranks_differ(p, x, y);
  if (x->tag == MT_INT) {
    if (!mt_mulo(x->shape, y->shape, &n) && !mt_addo(*sum, n, sum)) return MT_OK;
    return mt_failn(p->err, MT_EOVERFLOW, "%s: of %N and %N leaves 64 bits", p->op, p->a,
                    p->b);
  }
  for (const mt_node *c = mt_child(x), *d = mt_child(y); c < mt_next(x);
       c = mt_next(c), d = mt_next(d))
    MT_TRY(inner_product(sum, p, c, d));
  return MT_OK;
}

mt_status mt_inner_product (int64_t *out, const mt_node *a, const mt_node *b,
                            mt_err *err) {
  mt_pair p = {"inner_product", a, b, err};
  *out = 0;
  MT_TRY(mt_want_integers(p.op, a, err));
  MT_TRY(mt_want_integers(p.op, b, err));
  return inner_product(out, &p, a, b);
}
