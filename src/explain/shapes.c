/*
** shapes.c - why one shape fits another or does not, and what a swizzle does: in words.
** SPDX-License-Identifier: MIT
*/
#include "moontile/swizzle.h"
#include "moontile/tuple.h"
#include "algebra/swizzle.h"
#include "explain/explain.h"
#include "tuple/tuple.h"

typedef const mt_node *node;

/* ---- shapes */

/* Whether the leaf a may stand for b; tells it. path: the modes that lead there, "". */
typedef bool leaf_rule (mt_derivation *x, const char *path, node a, node b);

static bool stands_for (mt_derivation *x, const char *path, node a, node b) {
  int64_t n;
  if (mt_product_of(&n, b) && n == a->shape) {
    if (!mt_is_branch(b)) mt_tell(x, "%s%N stands for %N", path, a, b);
    else mt_tell(x, "%s%N stands for %N, whose product it is", path, a, b);
    return true;
  }
  if (mt_product_of(&n, b) && mt_is_branch(b))
    mt_tell(x, "%s%N is no %N, whose product is %lld", path, a, b, (long long)n);
  else mt_tell(x, "%s%N is no %N", path, a, b);
  return false;
}

static bool any_for (mt_derivation *x, const char *path, node a, node b) {
  mt_tell(x, "%s%N stands for %N", path, a, b);
  return true;
}

static bool same_leaf (mt_derivation *x, const char *path, node a, node b) {
  if (!mt_is_branch(b)) return any_for(x, path, a, b);
  mt_tell(x, "%s%N is an integer, %N has %d mode%s", path, a, b, mt_rank(b),
          mt_rank(b) == 1 ? "" : "s");
  return false;
}

/* A tuple is one of as many modes. */
static bool same_rank (mt_derivation *x, const char *path, node a, node b) {
  if (!mt_is_branch(b))
    mt_tell(x, "%s%N has %d mode%s, %N is an integer", path, a, mt_rank(a),
            mt_rank(a) == 1 ? "" : "s", b);
  else if (a->arity != b->arity)
    mt_tell(x, "%s%N has %d mode%s, %N has %d", path, a, mt_rank(a),
            mt_rank(a) == 1 ? "" : "s", b, mt_rank(b));
  else return true;
  return false;
}

static bool tell_refines (mt_derivation *x, const char *path, node a, node b,
                          leaf_rule *rule) {
  char deeper[MT_MAXDEPTH * 8 + 16];
  if (!mt_is_branch(a)) return rule(x, path, a, b);
  if (!same_rank(x, path, a, b)) return false;
  int i = 1;
  bool all = true;
  for (node c = mt_child(a), d = mt_child(b); c < mt_next(a);
       c = mt_next(c), d = mt_next(d), i++) {
    int n = (int)strlen(path);
    snprintf(deeper, sizeof deeper, "%.*s%s%d: ", n ? n - 2 : 0, path, n ? "," : "mode ",
             i);
    all = tell_refines(x, deeper, c, d, rule) && all;
  }
  return all;
}

static mt_status shape_of (mt_layout *out, node t, mt_err *err) {
  if (mt_is_layout(t)) return mt_shape(out, t, err);
  if (t->tag != MT_INT && t->tag != MT_TUPLE)
    return mt_failn(err, MT_EINVAL, "explain: %N is neither a shape nor a layout", t);
  mt_copy_value(out, t);
  return MT_OK;
}

/* By this rule, and whether B stands for A where A does not for B. */
static void tell_shapes (mt_derivation *x, node a, node b, leaf_rule *rule,
                         bool (*holds)(node a, node b)) {
  mt_layout s, t;
  mt_err err = MT_NOERR;
  if (shape_of(&s, a, &err) || shape_of(&t, b, &err)) {
    x->indent = 0;
    mt_tell_failure(x, &err);
    return;
  }
  bool fine = tell_refines(x, "", s.node, t.node, rule);
  if (!fine && holds(b, a)) mt_tell(x, "the other way round it is so");
  x->indent = 0;
  mt_tell(x, fine ? "R = true" : "R = false");
}

void mt_tell_compatible (mt_derivation *x, node a, node b) {
  tell_shapes(x, a, b, stands_for, mt_compatible);
}

void mt_tell_weakly_congruent (mt_derivation *x, node a, node b) {
  tell_shapes(x, a, b, any_for, mt_weakly_congruent);
}

void mt_tell_congruent (mt_derivation *x, node a, node b) {
  tell_shapes(x, a, b, same_leaf, mt_congruent);
}

/* ---- swizzles */

/* Where w puts the units whose bits of Y are y. */
static void tell_units (mt_derivation *x, mt_swizzle w, int64_t y) {
  char list[160];
  int n = 0, shown = w.b < 4 ? 1 << w.b : 16;
  int64_t from = y << (w.m + w.s), unit = (int64_t)1 << w.m;
  for (int k = 0; k < shown; k++)
    n += snprintf(list + n, sizeof list - (size_t)n, " %lld",
                  (long long)((mt_swizzle_apply(w, from + k * unit) - from) / unit));
  mt_tell(x, "from %lld on units 0 to %d go to%s", (long long)from, shown - 1, list);
}

void mt_tell_swizzle (mt_derivation *x, node a, node none) {
  mt_swizzle w = mt_swizzle_of(a);
  int top = w.m + w.b + mt_swizzle_distance(w), y = w.m + (w.s > 0 ? w.s : 0);
  (void)none;
  if (mt_is_swizzled(a))
    mt_tell(x, "it acts on %lld + L(c) for L = %N", (long long)a->stride, mt_inner(a));
  if (w.b == 0) {
    mt_tell(x, "it has no bits: every integer stays");
    return;
  }
  mt_tell(x, "where bits %d to %d of an integer are set, it flips bits %d to %d", y,
          y + w.b - 1, y - w.s, y - w.s + w.b - 1);
  mt_tell(x, "units of 2^%d = %lld stay together; all repeats after 2^%d = %lld", w.m,
          (long long)((int64_t)1 << w.m), top, (long long)((int64_t)1 << top));
  if (w.s < 0) return;
  int64_t most = (int64_t)1 << (w.b < 3 ? w.b : 3);
  for (int64_t i = 0; i < most; i++) tell_units(x, w, i);
  if (most < (int64_t)1 << w.b) mt_tell(x, "and so on, unit k to k ^ y");
}
