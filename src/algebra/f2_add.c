/*
** f2_add.c - the layout with the values A(i) xor B(i).
** SPDX-License-Identifier: MIT
**
** Both are cut where either has the end of a mode. A mode s:d may be cut into m:d and s/m
** : m x d if m is a power of two: then c0 + m*c1 is c0 xor m*c1.
*/
#include "moontile/lattice.h"
#include "algebra/f2.h"

static bool is_value (const mt_node *t) {
  return t->tag == MT_INT && (t->ring == MT_F2 || (t->ring == MT_Z && t->shape == 0));
}

mt_status mt_f2_add (mt_layout *out, const mt_node *a, const mt_node *b, mt_err *err) {
  if (!is_value(a) || !is_value(b))
    return mt_failn(err, MT_EINVAL, "add: F2 values expected, got %N and %N", a, b);
  mt_int(out, a->shape ^ b->shape);
  out->node[0].ring = MT_F2;
  return MT_OK;
}

/* The modes of a, the first of them perhaps used in part. */
typedef struct way {
  mt_flat f;
  int r;
  int64_t s, d;
} way;

static void enter (way *w) {
  if (w->r == w->f.n) return;
  w->s = w->f.s[w->r];
  w->d = w->f.d[w->r]->stride;
}

static void start (way *w, const mt_node *a) {
  mt_flatten_coalesced(&w->f, a);
  if (a->shape == 0) w->f.n = 0;
  w->r = 0;
  enter(w);
}

/* Behind the first m of what is left of the mode. */
static bool skip (way *w, int64_t m) {
  if (m == w->s) {
    w->r++;
    enter(w);
    return true;
  }
  if (w->s % m != 0 || (w->d != 0 && !mt_is_power(m))) return false;
  w->s /= m;
  return w->d == 0 || !mt_f2_mulo(m, w->d, &w->d);
}

static mt_status refuse (const mt_node *a, const mt_node *b, const way *w, int64_t m,
                         mt_err *err) {
  mt_failn(err, MT_EINEXACT,
           "layout_add: no layout was found for A(i) xor B(i), A = %N, B = %N\n"
           "  it would cut %lld:F%lld, what is left of a mode, at %lld",
           a, b, (long long)w->s, (long long)w->d, (long long)m);
  if (w->s % m == 0) mt_explain(err, ": over F2 that takes a power of two");
  else mt_explain(err, ", which does not divide it");
  return MT_EINEXACT;
}

static bool has_integers (const mt_node *a) {
  const mt_node *leaf[MT_MAXNODES];
  int n = mt_leaves(leaf, a);
  for (int k = 0; k < n; k++)
    if (leaf[k]->ring != MT_F2 && !mt_zero_stride(leaf[k])) return true;
  return false;
}

mt_status mt_f2_layout_add (mt_layout *out, const mt_node *a, const mt_node *b,
                            mt_err *err) {
  mt_layout flat;
  mt_build r;
  way x, y;
  if (has_integers(a) || has_integers(b))
    return mt_failn(err, MT_EINVAL,
                    "layout_add: the strides of %N and of %N are of different kinds", a,
                    b);
  start(&x, a);
  start(&y, b);
  mt_begin(&r, &flat, "layout_add", err);
  mt_open(&r, MT_MODES);
  while (x.r < x.f.n && y.r < y.f.n) {
    int64_t m = x.s < y.s ? x.s : y.s;
    mt_node p = {.tag = MT_LEAF,
                 .ring = MT_F2,
                 .span = 1,
                 .shape = 1,
                 .stride = x.d ^ y.d};
    mt_add_scaled(&r, m, &p, 1);
    if (!skip(&x, m)) return refuse(a, b, &x, m, err);
    if (!skip(&y, m)) return refuse(a, b, &y, m, err);
  }
  if (a->shape == 0) mt_add_leaf(&r, 0, 0);
  MT_TRY(mt_end(&r));
  return mt_coalesce(out, flat.node, NULL, err);
}
