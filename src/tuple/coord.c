/*
** coord.c - coordinates of shapes and of layouts; tuples cut by coordinates.
** SPDX-License-Identifier: MIT
*/
#include "moontile/tuple.h"
#include "core/solve.h"
#include "tuple/tuple.h"

/* ---- the coordinate of a value of a layout */

static mt_status not_taken (const char *op, const mt_node *a, int64_t i, mt_err *err) {
  mt_err range_err = MT_NOERR;
  int64_t end, lo;
  mt_status s = mt_footprint(&lo, &end, a, &range_err);
  mt_failn(err, MT_ERANGE, "%s: there is no coordinate c with A(c) = %lld in A = %N", op,
           (long long)i, a);
  if (s == MT_OK && end > lo)
    mt_explain(err, "\n  the values of A lie in %lld .. %lld", (long long)lo,
               (long long)(end - 1));
  return MT_ERANGE;
}

/* c[k]: the digit of leaf k, so that A takes the value i; 0 where a digit has no effect.
** */
static mt_status digits_of (int64_t *c, const char *op, const mt_node *a, int64_t i,
                            mt_err *err) {
  const mt_node *leaf[MT_MAXNODES];
  int which[MT_MAXTERMS], n = mt_leaves(leaf, a);
  mt_equation e = {.n = 0};
  int64_t target = i;
  mt_solution found = MT_UNDECIDED;
  if (mt_size(a) == 0) return not_taken(op, a, i, err);
  if (mt_is_swizzled(a)) target = mt_swizzle_apply(mt_swizzle_of(a), i);
  if (mt_is_swizzled(a) && mt_subo(target, a->stride, &target))
    return not_taken(op, a, i, err);
  for (int k = 0; k < n && e.n < MT_MAXTERMS; k++) {
    int64_t s = leaf[k]->shape, d = leaf[k]->stride;
    c[k] = 0;
    if (s < 0) return mt_failn(err, MT_EINVAL, "%s: an extent of %N is negative", op, a);
    if (s == 1 || d == 0) continue;
    e.d[e.n] = d < 0 ? -d : d;
    e.lo[e.n] = d < 0 ? 1 - s : 0;
    e.hi[e.n] = d < 0 ? 0 : s - 1;
    which[e.n++] = k;
  }
  if (e.n < MT_MAXTERMS) found = mt_solve(&e, target, false);
  if (found == MT_NONE) return not_taken(op, a, i, err);
  if (found == MT_UNDECIDED)
    return mt_failn(err, MT_EUNSUPPORTED,
                    "%s: no coordinate with the value %lld was found in %N "
                    "in %d steps",
                    op, (long long)i, a, MT_SOLVE_STEPS);
  for (int t = 0; t < e.n; t++)
    c[which[t]] = leaf[which[t]]->stride < 0 ? -e.v[t] : e.v[t];
  return MT_OK;
}

static mt_status check_layout (const char *op, const mt_node *a, mt_err *err) {
  MT_CHECK(mt_is_layout(a), err, "%s: a layout expected", op);
  if (mt_is_integral(a)) return MT_OK;
  return mt_failn(err, MT_EINVAL, "%s: the strides of %N are no integers", op, a);
}

/* The tree of t with the digits *c, ... at its leaves. */
static void emit_digits (mt_build *b, const mt_node *t, const int64_t **c) {
  if (!mt_is_branch(t)) {
    mt_add_int(b, *(*c)++);
    return;
  }
  mt_open(b, MT_TUPLE);
  for (const mt_node *k = mt_child(t); k < mt_next(t); k = mt_next(k))
    emit_digits(b, k, c);
  mt_close(b);
}

/* The index in t of the digits *c, ...; below size(t). */
static int64_t index_of (const mt_node *t, const int64_t **c) {
  int64_t i = 0, run = 1;
  for (const mt_node *p = t; p < mt_next(t); p++) {
    if (p->tag != MT_LEAF) continue;
    i += *(*c)++ * run;
    run *= p->shape;
  }
  return i;
}

mt_status mt_get_hier_coord (mt_layout *out, const mt_node *a, int64_t i, mt_err *err) {
  int64_t digit[MT_MAXNODES];
  const int64_t *c = digit;
  mt_build b;
  MT_TRY(check_layout("get_hier_coord", a, err));
  MT_TRY(digits_of(digit, "get_hier_coord", a, i, err));
  mt_begin(&b, out, "get_hier_coord", err);
  emit_digits(&b, mt_inner(a), &c);
  return mt_end(&b);
}

mt_status mt_get_flat_coord (mt_layout *out, const mt_node *a, int64_t i, mt_err *err) {
  int64_t digit[MT_MAXNODES];
  const int64_t *c = digit;
  mt_build b;
  int rank = mt_rank(a);
  MT_TRY(check_layout("get_flat_coord", a, err));
  MT_TRY(digits_of(digit, "get_flat_coord", a, i, err));
  mt_begin(&b, out, "get_flat_coord", err);
  if (rank != 1) mt_open(&b, MT_TUPLE);
  const mt_node *m = mt_first_mode(mt_inner(a));
  for (int k = 0; k < rank; k++, m = mt_next(m)) mt_add_int(&b, index_of(m, &c));
  return mt_end(&b);
}

mt_status mt_get_1d_coord (int64_t *out, const mt_node *a, int64_t i, mt_err *err) {
  int64_t digit[MT_MAXNODES];
  const int64_t *c = digit;
  MT_TRY(check_layout("get_1d_coord", a, err));
  MT_TRY(digits_of(digit, "get_1d_coord", a, i, err));
  *out = index_of(mt_inner(a), &c);
  return MT_OK;
}

/* ---- the coordinate of an index */

/* Of index i in the shape s, with strides d if they are not NULL. */
static void emit_of_index (mt_build *b, const mt_node *s, const mt_node *d, int64_t i) {
  mt_layout strides, a, c;
  int64_t digit[MT_MAXNODES];
  const int64_t *k = digit;
  if (b->status != MT_OK) return;
  if (d == NULL) {
    mt_failed(b, mt_idx2crd(&c, i, s, b->err));
    if (b->status == MT_OK) mt_add(b, c.node);
    return;
  }
  if (mt_is_branch(s) && mt_is_integer(d)) {
    mt_failed(b, mt_compact_col_major(&strides, s, d, b->err));
    d = strides.node;
  }
  if (b->status == MT_OK) mt_failed(b, mt_make_layout(&a, s, d, b->err));
  if (b->status == MT_OK) mt_failed(b, check_layout(b->op, a.node, b->err));
  if (b->status == MT_OK) mt_failed(b, digits_of(digit, b->op, a.node, i, b->err));
  if (b->status == MT_OK) emit_digits(b, a.node, &k);
}

/* The index of a path at a level, the outermost being 0; -1 if the path is shorter. */
static int outer_index (const mt_node *term, int level) {
  int depth = term->path[MT_MAXPATH];
  return depth > level ? term->path[depth - 1 - level] : -1;
}

/* n terms value@path; the `level` outer indices of their paths lead to s. */
static void emit_of_terms (mt_build *b, const mt_node *s, const mt_node *const *term,
                           int n, int level) {
  const mt_node *part[MT_MAXNODES];
  if (n == 0) {
    emit_of_index(b, s, NULL, 0);
    return;
  }
  if (n == 1 && term[0]->path[MT_MAXPATH] == level) {
    emit_of_index(b, s, NULL, term[0]->shape);
    return;
  }
  for (int i = 0; i < n; i++) {
    int mode = outer_index(term[i], level);
    if (mode < 0 || !mt_is_branch(s) || mode >= s->arity) {
      mt_build_fail(b, MT_ERANK, "%s: %N names no single mode of the shape %N", b->op,
                    term[i], s);
      return;
    }
  }
  mt_open(b, MT_TUPLE);
  const mt_node *c = mt_child(s);
  for (int mode = 0; mode < s->arity && b->status == MT_OK; mode++, c = mt_next(c)) {
    int k = 0;
    for (int i = 0; i < n; i++)
      if (outer_index(term[i], level) == mode) part[k++] = term[i];
    emit_of_terms(b, c, part, k, level + 1);
  }
  mt_close(b);
}

static void emit_of_value (mt_build *b, const mt_node *s, const mt_node *v) {
  const mt_node *term[MT_MAXNODES];
  int n = 0;
  for (const mt_node *c = v->tag == MT_SUM ? mt_child(v) : v; c < mt_next(v); c++)
    term[n++] = c;
  emit_of_terms(b, s, term, n, 0);
}

/* Of an index i: an integer, `_`, a sum of basis elements, or a tuple of such for the
** modes of s. */
static void emit_of (mt_build *b, const mt_pair *p, const mt_node *i, const mt_node *s,
                     const mt_node *d) {
  if (b->status != MT_OK) return;
  if (i->tag == MT_WILD) {
    emit_of_index(b, s, NULL, 0);
  } else if (mt_is_integer(i)) {
    emit_of_index(b, s, d, i->shape);
  } else if (i->tag != MT_TUPLE) {
    emit_of_value(b, s, i);
  } else if (!mt_is_branch(s) || i->arity != s->arity) {
    mt_failed(b, mt_ranks_differ(p, i, s));
  } else if (d && (d->tag != MT_TUPLE || d->arity != s->arity)) {
    mt_build_fail(b, MT_ERANK, "%s: stride %N is not congruent with shape %N", b->op, d,
                  s);
  } else {
    const mt_node *c = mt_child(s), *e = d ? mt_child(d) : NULL;
    mt_open(b, MT_TUPLE);
    for (const mt_node *k = mt_child(i); k < mt_next(i) && b->status == MT_OK;
         k = mt_next(k), c = mt_next(c), e = e ? mt_next(e) : NULL)
      emit_of(b, p, k, c, e);
    mt_close(b);
  }
}

static bool is_index (const mt_node *t) {
  if (t->tag != MT_TUPLE)
    return t->tag == MT_INT || t->tag == MT_WILD || (t->tag == MT_SUM && t->shape < 0);
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
    if (!is_index(c)) return false;
  return true;
}

mt_status mt_idx2crd_stride (mt_layout *out, const mt_node *i, const mt_node *shape,
                             const mt_node *stride, mt_err *err) {
  mt_pair p = {"idx2crd", i, shape, err};
  mt_build b;
  if (!is_index(i)) return mt_failn(err, MT_EINVAL, "idx2crd: %N is no index", i);
  MT_TRY(stride ? mt_want_integers(p.op, shape, err) : mt_want_extents(p.op, shape, err));
  mt_begin(&b, out, p.op, err);
  emit_of(&b, &p, i, mt_base(shape), stride);
  return mt_end(&b);
}

/* ---- from one shape to another */

static MT_APART void emit_by_index (mt_build *b, const mt_node *c, const mt_node *s,
                                    const mt_node *d) {
  mt_layout r;
  int64_t i;
  mt_failed(b, mt_crd2idx(&i, c, s, b->err));
  if (b->status == MT_OK) mt_failed(b, mt_idx2crd(&r, i, d, b->err));
  if (b->status == MT_OK) mt_add(b, r.node);
}

static void emit_crd2crd (mt_build *b, const mt_pair *p, const mt_node *c,
                          const mt_node *s, const mt_node *d) {
  if (b->status != MT_OK) return;
  if (c->tag != MT_TUPLE || !mt_is_branch(s) || !mt_is_branch(d)) {
    emit_by_index(b, c, s, d);
  } else if (c->arity != s->arity || c->arity != d->arity) {
    mt_pair q = {p->op, p->a, c->arity != s->arity ? p->b : d, p->err};
    mt_failed(b, mt_ranks_differ(&q, c, c->arity != s->arity ? s : d));
  } else {
    mt_open(b, MT_TUPLE);
    const mt_node *x = mt_child(s), *y = mt_child(d);
    for (const mt_node *k = mt_child(c); k < mt_next(c) && b->status == MT_OK;
         k = mt_next(k), x = mt_next(x), y = mt_next(y))
      emit_crd2crd(b, p, k, x, y);
    mt_close(b);
  }
}

mt_status mt_crd2crd (mt_layout *out, const mt_node *c, const mt_node *src,
                      const mt_node *dst, mt_err *err) {
  mt_pair p = {"crd2crd", c, src, err};
  mt_build b;
  MT_TRY(mt_want_integers(p.op, src, err));
  MT_TRY(mt_want_integers(p.op, dst, err));
  mt_begin(&b, out, p.op, err);
  emit_crd2crd(&b, &p, c, src, dst);
  return mt_end(&b);
}

/* ---- the next coordinate */

static mt_status check_coord (const mt_pair *p, const mt_node *c, const mt_node *s) {
  if (c->tag != s->tag || c->arity != s->arity) return mt_ranks_differ(p, c, s);
  if (c->tag == MT_INT && (c->shape < 0 || c->shape >= s->shape)) {
    mt_failn(p->err, MT_ERANGE, "%s: %N is not in 0 .. %lld", p->op, c,
             s->shape > 0 ? (long long)s->shape - 1 : -1);
    mt_tell_wholes(p, c);
    return MT_ERANGE;
  }
  const mt_node *y = mt_child(s);
  for (const mt_node *x = mt_child(c); x < mt_next(c); x = mt_next(x), y = mt_next(y))
    MT_TRY(check_coord(p, x, y));
  return MT_OK;
}

mt_status mt_increment (mt_layout *out, const mt_node *c, const mt_node *shape,
                        mt_err *err) {
  mt_pair p = {"increment", c, shape, err};
  const mt_node *s = shape;
  mt_node *last = NULL;
  int64_t carry = 1;
  MT_TRY(mt_want_integers(p.op, c, err));
  MT_TRY(mt_want_integers(p.op, shape, err));
  MT_TRY(check_coord(&p, c, shape));
  mt_copy_value(out, c);
  for (mt_node *k = out->node; k < mt_next(out->node); k++, s++) {
    if (k->tag != MT_INT) continue;
    k->shape += carry;
    carry = k->shape == s->shape;
    if (carry) k->shape = 0;
    last = k;
  }
  if (carry && last) last->shape = shape[last - out->node].shape;
  return MT_OK;
}

/* ---- tuples cut by coordinates */

/* The parts of t under `_`, or those under everything else. */
static void emit_cut (mt_build *b, const mt_pair *p, const mt_node *c, const mt_node *t,
                      bool wild) {
  if (b->status != MT_OK) return;
  if (c->tag != MT_TUPLE) {
    if ((c->tag == MT_WILD) == wild) mt_add(b, t);
  } else if (!mt_is_branch(t) || c->arity != t->arity) {
    mt_failed(b, mt_ranks_differ(p, c, t));
  } else {
    const mt_node *m = mt_child(t);
    for (const mt_node *k = mt_child(c); k < mt_next(c); k = mt_next(k), m = mt_next(m))
      emit_cut(b, p, k, m, wild);
  }
}

static mt_status cut (mt_layout *out, const char *op, const mt_node *c, const mt_node *t,
                      bool wild, mt_err *err) {
  mt_pair p = {op, c, t, err};
  mt_build b;
  const mt_node *in = mt_base(t);
  mt_begin(&b, out, op, err);
  mt_open_root(&b, t);
  if (c->tag == MT_TUPLE || (c->tag == MT_WILD) != wild) mt_open(&b, mt_branch_of(in));
  emit_cut(&b, &p, c, in, wild);
  return mt_end(&b);
}

mt_status mt_slice_tuple (mt_layout *out, const mt_node *c, const mt_node *t,
                          mt_err *err) {
  return cut(out, "slice", c, t, true, err);
}

mt_status mt_dice (mt_layout *out, const mt_node *c, const mt_node *t, mt_err *err) {
  return cut(out, "dice", c, t, false, err);
}
