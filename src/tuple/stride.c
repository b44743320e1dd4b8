/*
** stride.c - integer tuples: the strides of compact layouts.
** SPDX-License-Identifier: MIT
*/
#include "moontile/tuple.h"
#include "tuple/tuple.h"

static int collect (const mt_node **leaf, int n, const mt_node *t) {
  if (!mt_is_branch(t)) {
    leaf[n++] = t;
    return n;
  }
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
    n = collect(leaf, n, c);
  return n;
}

/* The tree of t with the integers d at its leaves. */
static void emit_like (mt_build *b, const mt_node *t, const int64_t **d) {
  if (!mt_is_branch(t)) {
    mt_add_int(b, *(*d)++);
    return;
  }
  mt_open(b, MT_TUPLE);
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c)) emit_like(b, c, d);
  mt_close(b);
}

/* From which end the products run, and whether they are strides: an extent of 1 gets 0,
** an extent of 0 counts as 1 for the others, as in the layouts that are made of them. */
typedef struct rule {
  const char *op;
  bool right, strides;
} rule;

/* The products from `run` on. One that nobody needs may leave 64 bits. */
static void emit_products (mt_build *b, const mt_node *shape, int64_t run,
                           const rule *how) {
  const mt_node *leaf[MT_MAXNODES];
  int64_t stride[MT_MAXNODES];
  const int64_t *d = stride;
  int n = collect(leaf, 0, shape);
  bool lost = false;
  for (int i = 0; i < n; i++) {
    int k = how->right ? n - 1 - i : i;
    int64_t s = leaf[k]->shape;
    if (s < 0)
      mt_build_fail(b, MT_EINVAL, "%s: extent %lld is negative", b->op, (long long)s);
    bool none = s == 1 && how->strides;
    if (!none && lost)
      mt_build_fail(b, MT_EOVERFLOW, "%s: a %s of %N leaves 64 bits", b->op,
                    how->strides ? "stride" : "product", shape);
    stride[k] = none ? 0 : run;
    if (!lost && (s > 1 || !how->strides)) lost = mt_mulo(run, s, &run);
  }
  emit_like(b, shape, &d);
}

/* `start`: what to begin with, or that for each mode. */
static void products_from (mt_build *b, const mt_pair *p, const mt_node *shape,
                           const mt_node *start, const rule *how) {
  if (!mt_is_branch(start)) {
    emit_products(b, shape, start->shape, how);
  } else if (!mt_is_branch(shape) || shape->arity != start->arity) {
    if (b->status == MT_OK) mt_failed(b, mt_ranks_differ(p, shape, start));
  } else {
    mt_open(b, MT_TUPLE);
    for (const mt_node *c = mt_child(shape), *d = mt_child(start); c < mt_next(shape);
         c = mt_next(c), d = mt_next(d))
      products_from(b, p, c, d, how);
    mt_close(b);
  }
}

static mt_status products (mt_layout *out, const mt_node *shape, const mt_node *start,
                           rule how, mt_err *err) {
  mt_build b;
  mt_layout one;
  mt_int(&one, 1);
  if (start == NULL) start = one.node;
  mt_pair p = {how.op, shape, start, err};
  MT_TRY(mt_want_extents(how.op, shape, err));
  MT_TRY(mt_want_integers(how.op, start, err));
  mt_begin(&b, out, how.op, err);
  products_from(&b, &p, mt_base(shape), start, &how);
  return mt_end(&b);
}

mt_status mt_compact_col_major (mt_layout *out, const mt_node *shape,
                                const mt_node *start, mt_err *err) {
  return products(out, shape, start, (rule){"compact_col_major", false, true}, err);
}

mt_status mt_compact_row_major (mt_layout *out, const mt_node *shape,
                                const mt_node *start, mt_err *err) {
  return products(out, shape, start, (rule){"compact_row_major", true, true}, err);
}

mt_status mt_prefix_product (mt_layout *out, const mt_node *shape, const mt_node *start,
                             mt_err *err) {
  return products(out, shape, start, (rule){"prefix_product", false, false}, err);
}

mt_status mt_suffix_product (mt_layout *out, const mt_node *shape, const mt_node *start,
                             mt_err *err) {
  return products(out, shape, start, (rule){"suffix_product", true, false}, err);
}

/* ---- in a given order */

/* The parts of a shape that have an order number, from left to right. */
typedef struct parts {
  int n;
  const mt_node *shape[MT_MAXNODES];
  int64_t order[MT_MAXNODES];
} parts;

static mt_status find_parts (parts *f, const mt_pair *p, const mt_node *s,
                             const mt_node *o) {
  if (!mt_is_branch(o)) {
    f->shape[f->n] = s;
    f->order[f->n++] = o->shape;
    return MT_OK;
  }
  if (!mt_is_branch(s) || s->arity != o->arity) return mt_ranks_differ(p, s, o);
  for (const mt_node *c = mt_child(s), *d = mt_child(o); c < mt_next(s);
       c = mt_next(c), d = mt_next(d))
    MT_TRY(find_parts(f, p, c, d));
  return MT_OK;
}

/* What part k starts with: the product of the parts that come before it, ties left to
** right. False: it leaves 64 bits. */
static bool start_of (int64_t *run, const parts *f, int k) {
  *run = 1;
  for (int j = 0; j < f->n; j++) {
    int64_t s;
    if ((j >= k && f->order[j] == f->order[k]) || f->order[j] > f->order[k]) continue;
    if (!mt_product_of(&s, f->shape[j])) return false;
    if (mt_mulo(*run, s > 0 ? s : 1, run)) return false;
  }
  return true;
}

static void emit_ordered (mt_build *b, const parts *f, const mt_node *o, int *k) {
  int64_t run, s;
  if (mt_is_branch(o)) {
    mt_open(b, MT_TUPLE);
    for (const mt_node *d = mt_child(o); d < mt_next(o); d = mt_next(d))
      emit_ordered(b, f, d, k);
    mt_close(b);
    return;
  }
  const mt_node *shape = f->shape[(*k)++];
  if (!start_of(&run, f, *k - 1) && !(mt_product_of(&s, shape) && s == 1))
    mt_build_fail(b, MT_EOVERFLOW, "%s: a stride of %N leaves 64 bits", b->op, shape);
  emit_products(b, shape, run, &(rule){b->op, false, true});
}

mt_status mt_compact_order (mt_layout *out, const mt_node *shape, const mt_node *order,
                            mt_err *err) {
  mt_pair p = {"compact_order", shape, order, err};
  mt_build b;
  parts f = {.n = 0};
  int k = 0;
  MT_TRY(mt_want_extents(p.op, shape, err));
  MT_TRY(mt_want_integers(p.op, order, err));
  MT_TRY(find_parts(&f, &p, mt_base(shape), order));
  mt_begin(&b, out, p.op, err);
  emit_ordered(&b, &f, order, &k);
  return mt_end(&b);
}
