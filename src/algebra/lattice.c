/*
** lattice.c - shapes as a lattice: what two shapes have in common.
** SPDX-License-Identifier: MIT
*/
#include "moontile/lattice.h"
#include "core/build.h"

/* The shape that t is or has, every part of it with a size in int64. */
static mt_status as_shape (const mt_node **shape, mt_layout *room, const char *op,
                           const mt_node *t, mt_err *err) {
  *shape = t;
  if (mt_is_function(t)) {
    MT_TRY(mt_shape(room, mt_base(t), err));
    *shape = room->node;
  }
  for (const mt_node *p = *shape; p < mt_next(*shape); p++) {
    if (p->tag != MT_TUPLE && !(p->tag == MT_INT && p->ring == MT_Z && p->shape >= 0))
      return mt_failn(err, MT_EINVAL, "%s: %N is no shape", op, t);
    if (mt_size(p) < 0)
      return mt_failn(err, MT_EOVERFLOW, "%s: the size of %N leaves 64 bits", op, t);
  }
  return MT_OK;
}

static void part (mt_build *b, const mt_node *s, const mt_node *t, const mt_node *x,
                  const mt_node *y) {
  mt_build_fail(b, MT_ERANK, "%s: there is none of %N and %N", b->op, s, t);
  mt_explain(b->err, "\n  where one has %N, the other has %N", x, y);
  if (mt_size(x) == mt_size(y))
    mt_explain(b->err, ": tuples of %d and of %d modes", (int)x->arity, (int)y->arity);
  else if (x->tag != MT_INT || y->tag != MT_INT)
    mt_explain(b->err, ": their sizes are %lld and %lld", (long long)mt_size(x),
               (long long)mt_size(y));
}

/* Adds the join of x and y. False: *p and *q are where it fails. */
static bool refine (mt_build *b, const mt_node *x, const mt_node *y, const mt_node **p,
                    const mt_node **q) {
  bool one = x->tag == MT_INT || y->tag == MT_INT;
  *p = x;
  *q = y;
  if (one ? mt_size(x) != mt_size(y) : x->arity != y->arity) return false;
  if (one) {
    mt_add(b, x->tag == MT_INT ? y : x);
    return true;
  }
  mt_open(b, MT_TUPLE);
  const mt_node *d = mt_child(y);
  for (const mt_node *c = mt_child(x); c < mt_next(x); c = mt_next(c), d = mt_next(d))
    if (!refine(b, c, d, p, q)) return false;
  mt_close(b);
  return true;
}

mt_status mt_common_refinement (mt_layout *out, const mt_node *s, const mt_node *t,
                                mt_err *err) {
  mt_layout a, c;
  mt_build b;
  const mt_node *p, *q;
  MT_TRY(as_shape(&s, &a, "common_refinement", s, err));
  MT_TRY(as_shape(&t, &c, "common_refinement", t, err));
  mt_begin(&b, out, "common_refinement", err);
  if (!refine(&b, s, t, &p, &q)) part(&b, s, t, p, q);
  return mt_end(&b);
}

/* Tuples of one rank whose modes agree in size. */
static bool agree (const mt_node *x, const mt_node *y) {
  if (x->tag == MT_INT || y->tag == MT_INT || x->arity != y->arity) return false;
  const mt_node *d = mt_child(y);
  for (const mt_node *c = mt_child(x); c < mt_next(x); c = mt_next(c), d = mt_next(d))
    if (mt_size(c) != mt_size(d)) return false;
  return true;
}

static void coarsen (mt_build *b, const mt_node *x, const mt_node *y) {
  if (!agree(x, y)) {
    mt_add_int(b, mt_size(x));
    return;
  }
  mt_open(b, MT_TUPLE);
  const mt_node *d = mt_child(y);
  for (const mt_node *c = mt_child(x); c < mt_next(x); c = mt_next(c), d = mt_next(d))
    coarsen(b, c, d);
  mt_close(b);
}

mt_status mt_common_coarsening (mt_layout *out, const mt_node *s, const mt_node *t,
                                mt_err *err) {
  mt_layout a, c;
  mt_build b;
  MT_TRY(as_shape(&s, &a, "common_coarsening", s, err));
  MT_TRY(as_shape(&t, &c, "common_coarsening", t, err));
  mt_begin(&b, out, "common_coarsening", err);
  if (mt_size(s) != mt_size(t)) part(&b, s, t, s, t);
  else coarsen(&b, s, t);
  return mt_end(&b);
}

/* ---- the greatest common domain */

/* A way through the extents of a shape: in mode k, whose indices are `before` apart. */
typedef struct way {
  int n, k;
  int64_t s[MT_MAXNODES], before;
} way;

static mt_status start (way *w, const mt_node *s, mt_err *err) {
  w->n = w->k = 0;
  w->before = 1;
  for (const mt_node *p = s; p < mt_next(s); p++)
    if (p->tag == MT_INT) w->s[w->n++] = p->shape;
  if (mt_size(s) != 0) return MT_OK;
  return mt_failn(err, MT_EINVAL, "greatest_common_domain: %N has an extent of 0", s);
}

static void advance (way *w) { w->before *= w->s[w->k++]; }

/* What is left of the mode above the index d; 0 if d is no step of it. */
static int64_t left (const way *w, int64_t d) {
  int64_t t = d / w->before;
  return d % w->before == 0 && w->s[w->k] % t == 0 ? w->s[w->k] / t : 0;
}

/* The next index where both may begin a step; false at the end of either. A way on
** which d is no step, nor any later one, goes on to its next mode. */
static bool meet (int64_t *d, way *x, way *y) {
  while (x->k < x->n && y->k < y->n) {
    if (mt_mulo(x->before / mt_gcd_of(x->before, y->before), y->before, d)) return false;
    if (left(x, *d) == 0) advance(x);
    else if (left(y, *d) == 0) advance(y);
    else return true;
  }
  return false;
}

mt_status mt_greatest_common_domain (mt_layout *out, const mt_node *s, const mt_node *t,
                                     mt_err *err) {
  mt_layout a, c;
  mt_build b;
  way x, y;
  int64_t d;
  bool trivial = true;
  MT_TRY(as_shape(&s, &a, "greatest_common_domain", s, err));
  MT_TRY(as_shape(&t, &c, "greatest_common_domain", t, err));
  MT_TRY(start(&x, s, err));
  MT_TRY(start(&y, t, err));
  mt_begin(&b, out, "greatest_common_domain", err);
  mt_open(&b, MT_MODES);
  while (meet(&d, &x, &y)) {
    int64_t p = left(&x, d), q = left(&y, d), f = mt_gcd_of(p, q);
    if (f > 1) mt_add_leaf(&b, f, d), trivial = false;
    if (f == p || f != q) advance(&x); /* used up, or what is left is coprime */
    if (f == q || f != p) advance(&y);
  }
  if (trivial) mt_add_leaf(&b, 1, 0);
  return mt_end(&b);
}
