/*
** sum.c - coordinates that add and subtract.
** SPDX-License-Identifier: MIT
*/
#include "moontile/tuple.h"
#include "tuple/tuple.h"

typedef struct sum {
  mt_build *b;
  const mt_pair *p;
  int64_t sign;
} sum;

/* Adds sign * y, or that to x. */
static void add (const sum *s, const mt_node *x, const mt_node *y);

static void add_integers (const sum *s, int64_t x, int64_t y) {
  int64_t v;
  if (mt_mulo(s->sign, y, &v) || mt_addo(x, v, &v))
    mt_build_fail(s->b, MT_EOVERFLOW, "%s: %lld and %lld: the result leaves 64 bits",
                  s->b->op, (long long)x, (long long)y);
  else mt_add_int(s->b, v);
}

/* The modes of both; where one has fewer, the others as they are. */
static void add_modes (const sum *s, const mt_node *x, const mt_node *y) {
  static const mt_node zero = {.tag = MT_INT, .span = 1};
  const mt_node *c = mt_child(x), *d = mt_child(y);
  mt_open(s->b, MT_TUPLE);
  while (s->b->status == MT_OK && (c < mt_next(x) || d < mt_next(y))) {
    const mt_node *k = c < mt_next(x) ? c : &zero, *m = d < mt_next(y) ? d : &zero;
    add(s, k, m);
    if (k == c) c = mt_next(c);
    if (m == d) d = mt_next(d);
  }
  mt_close(s->b);
}

/* 0 stands for a tuple of zeros. */
static bool is_zero (const mt_node *t) { return t->tag == MT_INT && t->shape == 0; }

static void add (const sum *s, const mt_node *x, const mt_node *y) {
  static const mt_node none = {.tag = MT_TUPLE, .span = 1};
  if (s->b->status != MT_OK) return;
  if (x->tag == MT_INT && y->tag == MT_INT) add_integers(s, x->shape, y->shape);
  else if (is_zero(x)) add_modes(s, &none, y);
  else if (is_zero(y)) add_modes(s, x, &none);
  else if (x->tag == MT_TUPLE && y->tag == MT_TUPLE) add_modes(s, x, y);
  else mt_failed(s->b, mt_ranks_differ(s->p, x, y));
}

static mt_status combined (mt_layout *out, const char *op, const mt_node *a,
                           const mt_node *b, int64_t sign, mt_err *err) {
  mt_build build;
  mt_pair p = {op, a, b, err};
  MT_TRY(mt_want_integers(op, a, err));
  MT_TRY(mt_want_integers(op, b, err));
  mt_begin(&build, out, op, err);
  add(&(sum){&build, &p, sign}, a, b);
  return mt_end(&build);
}

mt_status mt_coord_add (mt_layout *out, const mt_node *a, const mt_node *b, mt_err *err) {
  return combined(out, "add", a, b, 1, err);
}

mt_status mt_coord_sub (mt_layout *out, const mt_node *a, const mt_node *b, mt_err *err) {
  return combined(out, "subtract", a, b, -1, err);
}
