/*
** shape.c - integer tuples: predicates of shapes, scaling.
** SPDX-License-Identifier: MIT
*/
#include "moontile/tuple.h"
#include "tuple/tuple.h"

/* ---- predicates */

/* Whether b branches where a does, and each leaf of a and what is there obey the law. */
typedef bool leaf_law (const mt_node *leaf, const mt_node *b);
static bool refines (const mt_node *a, const mt_node *b, leaf_law *law) {
  a = mt_base(a);
  b = mt_base(b);
  if (!mt_is_branch(a)) return law(a, b);
  if (!mt_is_branch(b) || a->arity != b->arity) return false;
  for (const mt_node *c = mt_child(a), *d = mt_child(b); c < mt_next(a);
       c = mt_next(c), d = mt_next(d))
    if (!refines(c, d, law)) return false;
  return true;
}

static bool is_anything (const mt_node *leaf, const mt_node *b) {
  (void)leaf, (void)b;
  return true;
}

static bool has_size (const mt_node *leaf, const mt_node *b) {
  int64_t n;
  return mt_product_of(&n, b) && n == leaf->shape;
}

static bool divides (const mt_node *leaf, const mt_node *b) {
  int64_t n;
  return leaf->shape > 0 && mt_product_of(&n, b) && n % leaf->shape == 0;
}

static bool no_branch (const mt_node *leaf, const mt_node *b) {
  (void)leaf;
  return !mt_is_branch(b);
}

/* What each leaf of a obeys, and what is said of the first that does not. */
static const struct relation {
  const char *name, *leaf;
  leaf_law *law;
} relations[] = {
    [MT_CONGRUENT] = {"congruent", "is an integer where the other has", no_branch},
    [MT_WEAKLY_CONGRUENT] = {"weakly congruent", "", is_anything},
    [MT_COMPATIBLE] = {"compatible", "stands for", has_size},
    [MT_WEAKLY_COMPATIBLE] = {"weakly compatible", "does not divide", divides},
};

bool mt_weakly_congruent (const mt_node *a, const mt_node *b) {
  return refines(a, b, is_anything);
}

bool mt_compatible (const mt_node *a, const mt_node *b) {
  return refines(a, b, has_size);
}

bool mt_weakly_compatible (const mt_node *a, const mt_node *b) {
  return refines(a, b, divides);
}

/* The first parts of a and b that keep the whole from obeying the law; false: there are
** none. */
static bool parted (const mt_node **x, const mt_node **y, const mt_node *a,
                    const mt_node *b, leaf_law *law) {
  a = mt_base(a);
  b = mt_base(b);
  *x = a;
  *y = b;
  if (!mt_is_branch(a)) return !law(a, b);
  if (!mt_is_branch(b) || a->arity != b->arity) return true;
  for (const mt_node *c = mt_child(a), *d = mt_child(b); c < mt_next(a);
       c = mt_next(c), d = mt_next(d))
    if (parted(x, y, c, d, law)) return true;
  return false;
}

/* A tuple of a, an integer of b; the other way round they may be related. */
static void explain_tuple (mt_err *err, mt_relation r, const mt_node *a, const mt_node *b,
                           const mt_node *x, const mt_node *y) {
  mt_explain(err, ": %N is a tuple, %N is none", x, y);
  if (r == MT_COMPATIBLE) mt_explain(err, ", so a tuple is no coordinate of it");
  if (r == MT_CONGRUENT || !refines(b, a, relations[r].law)) return;
  mt_explain(err, "\n  the other way round they are: an integer stands for a tuple");
}

mt_status mt_check_relation (mt_relation r, const mt_node *a, const mt_node *b,
                             mt_err *err) {
  const struct relation *is = &relations[r];
  const mt_node *x, *y;
  int64_t n;
  if (!parted(&x, &y, a, b, is->law)) return MT_OK;
  mt_failn(err, MT_ERANK, "%N is not %s with %N", a, is->name, b);
  if (!mt_is_branch(x)) {
    mt_explain(err, ": %N of the one %s %N", x, is->leaf, y);
    if (r == MT_CONGRUENT) return MT_ERANK;
    mt_explain(err, " of the other");
    if (mt_is_branch(y) && mt_product_of(&n, y))
      mt_explain(err, ", whose size is %lld", (long long)n);
  } else if (!mt_is_branch(y)) {
    explain_tuple(err, r, a, b, x, y);
  } else {
    mt_explain(err, ": %N has %d modes, %N has %d", x, (int)x->arity, y, (int)y->arity);
  }
  return MT_ERANK;
}

mt_status mt_check_compatible (const mt_node *a, const mt_node *b, mt_err *err) {
  return mt_check_relation(MT_COMPATIBLE, a, b, err);
}

/* ---- scaling */

mt_status mt_walk_both (mt_layout *out, const char *op, mt_walk *f, const mt_node *a,
                        const mt_node *b, mt_err *err) {
  mt_pair p = {op, a, b, err};
  mt_build build;
  MT_TRY(mt_want_integers(op, a, err));
  MT_TRY(mt_want_integers(op, b, err));
  mt_begin(&build, out, op, err);
  f(&build, &p, a, b);
  return mt_end(&build);
}

/* Mode by mode by f, where x is a branch; y has to have as many modes. */
static void each_mode (mt_build *b, const mt_pair *p, const mt_node *x, const mt_node *y,
                       mt_walk *f) {
  if (!mt_is_branch(y) || x->arity != y->arity) {
    if (b->status == MT_OK) mt_failed(b, mt_ranks_differ(p, x, y));
    return;
  }
  mt_open(b, MT_TUPLE);
  for (const mt_node *c = mt_child(x), *d = mt_child(y); c < mt_next(x);
       c = mt_next(c), d = mt_next(d))
    f(b, p, c, d);
  mt_close(b);
}

static void scale (mt_build *b, const mt_pair *p, const mt_node *x, const mt_node *y) {
  int64_t n;
  if (mt_is_branch(x)) {
    each_mode(b, p, x, y, scale);
    return;
  }
  if (!mt_product_of(&n, y) || mt_mulo(n, x->shape, &n))
    mt_build_fail(b, MT_EOVERFLOW, "%s: %N times %N leaves 64 bits", p->op, x, y);
  mt_add_int(b, n);
}

static void ones_like (mt_build *b, const mt_node *t) {
  if (!mt_is_branch(t)) {
    mt_add_int(b, 1);
    return;
  }
  mt_open(b, MT_TUPLE);
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c)) ones_like(b, c);
  mt_close(b);
}

static void filter_zeros (mt_build *b, const mt_pair *p, const mt_node *x,
                          const mt_node *y) {
  if (mt_is_branch(x)) each_mode(b, p, x, y, filter_zeros);
  else if (x->shape == 0) ones_like(b, y);
  else mt_add(b, y);
}

mt_status mt_elem_scale (mt_layout *out, const mt_node *a, const mt_node *b,
                         mt_err *err) {
  return mt_walk_both(out, "elem_scale", scale, a, b, err);
}

mt_status mt_filter_zeros_tuple (mt_layout *out, const mt_node *a, const mt_node *b,
                                 mt_err *err) {
  return mt_walk_both(out, "filter_zeros", filter_zeros, a, b ? b : a, err);
}
