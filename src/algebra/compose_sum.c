/*
** compose_sum.c - composition where B has strides that are sums.
** SPDX-License-Identifier: MIT
**
** A leaf s : 2@0 + 3@1 of B moves along two modes of A at once. With its terms taken
** apart, as leaves s : 2@0 and s : 3@1 of a B' that may move each for itself, A o B' is
** composed as ever; the leaf is then the sum of the two sequences, in the steps that both
** have in common.
*/
#include "algebra/compose.h"

/* ---- B' */

static void emit_terms (mt_build *b, const mt_node *t) {
  for (const mt_node *p = mt_leaf(t, t); p < mt_next(t); p = mt_leaf(t, mt_after(p))) {
    if (p->tag != MT_SUM) mt_add(b, p);
    else
      for (const mt_node *c = mt_child(p); c < mt_next(p); c++)
        mt_add_stride(b, p->shape, c);
  }
}

/* ---- a sum of strides */

/* Terms in the order of their paths, integers first. */
typedef struct terms {
  int n;
  mt_node term[MT_MAXNODES];
} terms;

static bool before (const mt_node *a, const mt_node *b) {
  if (a->ring != b->ring) return a->ring < b->ring;
  return mt_compare_paths(a, b) < 0;
}

static bool add_term (terms *x, const mt_node *path, int64_t d, int64_t times) {
  int64_t v;
  int i = 0;
  if (mt_mulo(d, times, &v)) return false;
  if (v == 0) return true;
  while (i < x->n && before(&x->term[i], path)) i++;
  if (i < x->n && mt_same_path(&x->term[i], path))
    return !mt_addo(x->term[i].shape, v, &x->term[i].shape);
  if (x->n == MT_MAXNODES) return false;
  memmove(x->term + i + 1, x->term + i, (size_t)(x->n - i) * sizeof *x->term);
  x->term[i] = *path;
  x->term[i].tag = MT_INT;
  x->term[i].arity = 0;
  x->term[i].span = 1;
  x->term[i].shape = v;
  x->term[i].stride = 0;
  x->n++;
  return true;
}

static bool add_stride (terms *x, const mt_node *p, int64_t times) {
  if (p->tag != MT_SUM) return add_term(x, p, p->stride, times);
  for (const mt_node *c = mt_child(p); c < mt_next(p); c++)
    if (!add_term(x, c, c->shape, times)) return false;
  return true;
}

/* The terms as one value: an integer, a basis element, a sum. */
static void emit_value (mt_build *b, int64_t shape, terms *x) {
  mt_layout v;
  mt_node *sum = v.node;
  int n = 0;
  for (int i = 0; i < x->n; i++)
    if (x->term[i].shape != 0) sum[++n] = x->term[i];
  if (n == 0) mt_add_leaf(b, shape, 0);
  if (n == 1) mt_add_stride(b, shape, &sum[1]);
  if (n < 2) return;
  memset(sum, 0, sizeof *sum);
  sum->tag = MT_SUM;
  sum->arity = (uint16_t)n;
  sum->span = (uint32_t)n + 1;
  sum->shape = -1;
  mt_add_stride(b, shape, sum);
}

/* ---- the sum of sequences */

/* A part of a leaf: the mode of A o B' that it became, step by step. */
typedef struct part {
  const mt_node *leaf, *end;
  const mt_node *mode;
  int64_t left, done; /* of the extent of `leaf` */
} part;

static void next_leaf (part *p) {
  while (p->leaf < p->end && p->left == 1) {
    p->leaf = mt_leaf(p->mode, mt_after(p->leaf));
    p->done = 1;
    p->left = p->leaf < p->end ? p->leaf->shape : 1;
  }
}

static void start (part *p, const mt_node *mode) {
  p->mode = mode;
  p->end = mt_next(mode);
  p->leaf = mt_leaf(mode, mode);
  p->done = 1;
  p->left = p->leaf < p->end ? p->leaf->shape : 1;
  next_leaf(p);
}

/* The next step that all parts share; 0: they share none. 1: there are no more. */
static int64_t common (const part *p, int n) {
  int64_t g = INT64_MAX;
  for (int i = 0; i < n; i++)
    if (p[i].leaf < p[i].end && p[i].left < g) g = p[i].left;
  if (g == INT64_MAX) return 1;
  for (int i = 0; i < n; i++)
    if (p[i].leaf == p[i].end || p[i].left % g != 0) return 0;
  return g;
}

static void emit_steps (mt_build *b, part *p, int n) {
  int64_t g;
  while ((g = common(p, n)) > 1 && b->status == MT_OK) {
    terms x = {.n = 0};
    for (int i = 0; i < n; i++) {
      if (p[i].leaf->ring == MT_F2)
        mt_build_fail(b, MT_EUNSUPPORTED, "%s: sums of strides, and A is over F2", b->op);
      else if (!add_stride(&x, p[i].leaf, p[i].done))
        mt_build_fail(b, MT_EOVERFLOW, "%s: a sum of strides leaves 64 bits", b->op);
      p[i].left /= g;
      p[i].done *= g;
      next_leaf(&p[i]);
    }
    if (b->status == MT_OK) emit_value(b, g, &x);
  }
  if (g == 0)
    mt_build_fail(b, MT_EINEXACT,
                  "%s: the terms of a stride of B are cut by the modes of A at "
                  "different places",
                  b->op);
}

/* A leaf of extent s: one mode, several, or 1:0 and 0:0. */
static MT_APART void emit_leaf (mt_build *b, int64_t s, part *p, int n) {
  mt_layout steps;
  mt_build d;
  mt_begin(&d, &steps, b->op, b->err);
  mt_open(&d, MT_MODES);
  if (s > 1) emit_steps(&d, p, n);
  mt_failed(b, mt_end(&d));
  if (b->status != MT_OK) return;
  if (s <= 1) mt_add_leaf(b, s, 0);
  else if (steps.node[0].arity == 1) mt_add(b, mt_child(steps.node));
  else mt_emit_coalesce(b, steps.node);
}

/* The sum t, whose terms are the next modes. */
static MT_APART void emit_sum (mt_build *b, const mt_node *t, const mt_node **mode) {
  part p[MT_MAXNODES];
  int n = 0;
  for (; n < t->arity; n++, *mode = mt_next(*mode)) start(&p[n], *mode);
  emit_leaf(b, t->shape, p, n);
}

/* t with its leaves replaced; *mode runs through the modes of A o B'. */
static void emit_like (mt_build *b, const mt_node *t, const mt_node **mode) {
  if (mt_is_branch(t)) {
    mt_open(b, MT_MODES);
    for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
      emit_like(b, c, mode);
    mt_close(b);
  } else if (t->tag == MT_LEAF) {
    mt_add(b, *mode);
    *mode = mt_next(*mode);
  } else {
    emit_sum(b, t, mode);
  }
}

void mt_emit_composition_sums (mt_build *b, const mt_node *a, const mt_node *t) {
  mt_layout apart, whole;
  mt_build d;
  mt_begin(&d, &apart, b->op, b->err);
  mt_open(&d, MT_MODES);
  emit_terms(&d, t);
  mt_failed(b, mt_end(&d));
  if (b->status != MT_OK) return;
  mt_begin(&d, &whole, b->op, b->err);
  d.derived = b->derived;
  d.trial = b->trial;
  mt_emit_composition(&d, a, apart.node);
  mt_failed(b, mt_end(&d));
  if (b->status != MT_OK) return;
  const mt_node *mode = mt_child(whole.node);
  emit_like(b, t, &mode);
  if (b->status == MT_EINEXACT) mt_explain(b->err, ": A = %N, B = %N", a, t);
}
