/*
** composed_simple.c - composed layouts that are simpler values.
** SPDX-License-Identifier: MIT
**
** By their bits, where each link is a map of bits; integers stay integers. Else by their
** values: a layout with the modes of the base, R(c) = R(0) + the sum of what the
** coordinates add by themselves. What a leaf adds is a sequence, which is cut as in
** compose_exact.c: the run of equal steps from 0 on has to divide the extent; then the
** sequence of every run-th value.
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "algebra/composed.h"
#include "algebra/linear.h"

enum { MAXVALUES = 1 << 14 };

static bool by_bits (mt_layout *out, const char *op, const mt_node *t, mt_err *err) {
  mt_linear x;
  return mt_linear_modes(&x, t) &&
         mt_linear_layout(out, op, &x, mt_base(t), !mt_is_integral(t), err) == MT_OK &&
         mt_is_integral(out->node) == mt_is_integral(t);
}

/* ---- by values */

typedef struct table {
  const mt_node *t;
  int64_t at0;
  int64_t step; /* of the index, of the leaf at hand */
  mt_err *err;
} table;

/* *v = t(i) - t(0) */
static bool value (int64_t *v, const table *x, int64_t i) {
  return mt_at(v, x->t, i, x->err) == MT_OK && !mt_subo(*v, x->at0, v);
}

/* The next mode c : d of a leaf of which n values are left; c is 0 if there is none. */
static int64_t next_mode (int64_t *d, const table *x, int64_t n) {
  int64_t v, would, c = 2;
  if (!value(d, x, x->step)) return 0;
  for (; c < n; c++) {
    if (!value(&v, x, x->step * c)) return 0;
    if (mt_mulo(*d, c, &would) || v != would) break;
  }
  return n % c == 0 ? c : 0;
}

/* The modes of a leaf of n values, whose indices are x->step apart. */
static bool add_leaf (mt_build *b, table *x, int64_t n) {
  int64_t d, c;
  if (n <= 1) return mt_add_leaf(b, n, 0), true;
  if ((c = next_mode(&d, x, n)) == 0) return false;
  bool many = c < n;
  if (many) mt_open(b, MT_MODES);
  for (; c != 0; c = next_mode(&d, x, n)) {
    mt_add_leaf(b, c, d);
    x->step *= c;
    n /= c;
    if (n > 1) continue;
    if (many) mt_close(b);
    return b->status == MT_OK;
  }
  return false;
}

static bool add_modes (mt_build *b, table *x, const mt_node *t) {
  if (!mt_is_branch(t)) return add_leaf(b, x, t->shape);
  mt_open(b, MT_MODES);
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
    if (!add_modes(b, x, c)) return false;
  mt_close(b);
  return true;
}

static bool equal_values (const mt_node *r, const mt_node *t, mt_err *err) {
  int64_t v, w;
  for (int64_t i = 0; i < mt_size(t); i++)
    if (mt_at(&v, r, i, err) || mt_at(&w, t, i, err) || v != w) return false;
  return true;
}

static bool by_values (mt_layout *out, const char *op, const mt_node *t, mt_err *err) {
  mt_build b;
  table x = {.t = t, .step = 1, .err = err};
  if (!mt_is_integral(t) || mt_size(t) > MAXVALUES) return false;
  if (mt_size(t) == 0) return mt_copy_value(out, mt_base(t)), mt_is_integral(out->node);
  if (mt_at(&x.at0, t, 0, err) != MT_OK) return false;
  mt_begin(&b, out, op, err);
  if (x.at0 != 0) mt_open(&b, MT_SWIZZLE), out->node[0].stride = x.at0;
  return add_modes(&b, &x, mt_base(t)) && mt_end(&b) == MT_OK &&
         equal_values(out->node, t, err);
}

bool mt_simplify (mt_layout *out, const char *op, const mt_node *t, mt_err *err) {
  if (!mt_is_composed(t)) return false;
  if (by_bits(out, op, t, err) || by_values(out, op, t, err)) return true;
  mt_forgive(err);
  return false;
}
