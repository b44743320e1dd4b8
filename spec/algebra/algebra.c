/*
** algebra.c - properties of coalesce, composition, complement and right_inverse.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>

#include "property.h"

static bool same_values (const mt_node *r, const mt_node *a, int64_t size) {
  const mt_node *path[MT_MAXNODES];
  int n = paths_of(path, a);
  for (int k = -1; k < n; k++) {
    fn f, g;
    fn_of(&f, r, k < 0 ? NULL : path[k]);
    fn_of(&g, a, k < 0 ? NULL : path[k]);
    for (int64_t i = 0; i < size; i++)
      if (fn_at(&f, i) != fn_at(&g, i)) return false;
  }
  return true;
}

/* ---- coalesce */

/* Depth at most 1, no mode of extent 1 but the only one, no two that are one. */
static bool is_coalesced (const mt_node *r) {
  if (mt_depth(r) == 0) return true;
  if (mt_depth(r) > 1 || r->arity < 2) return false;
  for (const mt_node *c = mt_child(r); c < mt_next(r); c = mt_next(c)) {
    if (c->shape < 2) return false;
    if (mt_next(c) < mt_next(r) && c->ring == c[1].ring &&
        c->shape * c->stride == c[1].stride &&
        memcmp(c->path, c[1].path, sizeof c->path) == 0)
      return false;
  }
  return true;
}

outcome check_coalesce (ctx *x, const mt_node *a) {
  mt_layout r;
  CASE(x, "coalesce", a);
  LAW(x, !mt_coalesce(&r, a, NULL, &x->err));
  LAW(x, mt_size(r.node) == mt_size(a) && is_coalesced(r.node));
  LAW(x, same_values(r.node, a, mt_size(a)));
  return RIGHT;
}

outcome property_coalesce (ctx *x) {
  mt_layout a, id;
  random_layout(x, &a, 512, ANY_STRIDES);
  if (!chance(x, 4)) return check_coalesce(x, a.node);
  basis_of(x, &id, a.node);
  return check_coalesce(x, id.node);
}

void random_profile (ctx *x, pen *p, const mt_node *a, int depth) {
  if (chance(x, 8)) {
    pen_tag(p, MT_WILD);
  } else if (depth == 0 || a->tag != MT_MODES || chance(x, 3)) {
    pen_int(p, 1);
  } else {
    int n = pick(x, a->arity + 1), at = pen_open(p, MT_TUPLE);
    const mt_node *m = mt_child(a);
    for (int i = 0; i < n; i++, m = mt_next(m)) random_profile(x, p, m, depth - 1);
    pen_close(p, at, n);
  }
}

static bool coalesced_by (const mt_node *r, const mt_node *a, const mt_node *p) {
  if (mt_size(r) != mt_size(a)) return false;
  if (p->tag == MT_WILD) return mt_equal(r, a);
  if (p->tag == MT_INT) return is_coalesced(r) && same_values(r, a, mt_size(a));
  if (mt_rank(r) != mt_rank(a)) return false;
  int i = 0;
  for (const mt_node *c = mt_child(p); c < mt_next(p); c = mt_next(c), i++)
    if (!coalesced_by(mt_mode(r, i), mt_mode(a, i), c)) return false;
  for (; i < mt_rank(a); i++)
    if (!mt_equal(mt_mode(r, i), mt_mode(a, i))) return false;
  return true;
}

outcome property_coalesce_by (ctx *x) {
  mt_layout a, p, r;
  random_layout(x, &a, 512, ANY_STRIDES);
  pen q = {&p, 0};
  random_profile(x, &q, a.node, 2);
  CASE(x, "coalesce_by", a.node, p.node);
  LAW(x, !mt_coalesce(&r, a.node, p.node, &x->err));
  LAW(x, coalesced_by(r.node, a.node, p.node));
  return RIGHT;
}

/* ---- composition */

outcome check_composition (ctx *x, const mt_node *a, const mt_node *b) {
  mt_layout r;
  CASE(x, "composition", a, b);
  mt_status s = mt_composition(&r, a, b, &x->err);
  if (s == MT_ETOOBIG) return REFUSED;
  LAW(x, s == MT_OK || s == MT_EINEXACT);
  if (s != MT_OK) return has_composition(a, b) ? HAD : REFUSED;
  LAW(x, refines(r.node, b));
  LAW(x, is_composition(r.node, a, b));
  if (b->tag == MT_LEAF && b->shape == 1 && b->stride >= 0)
    LAW(x, value_of(r.node, 1) == value_of(a, b->stride));
  return RIGHT;
}

outcome property_composition (ctx *x) {
  mt_layout a, b;
  random_layout(x, &a, 512, ANY_STRIDES);
  random_right(x, &b, a.node, 216);
  return check_composition(x, a.node, b.node);
}

/* R's modes are A's composed with the tiler's; those that it does not reach are gone. */
static bool by_mode (const mt_node *r, const mt_node *a, const mt_node *t) {
  mt_layout n;
  if (t->tag == MT_WILD) return mt_equal(r, a);
  if (t->tag == MT_INT) {
    pen p = {&n, 0};
    pen_leaf(&p, t->shape, 1);
    return is_composition(r, a, n.node) && mt_size(r) == t->shape;
  }
  if (t->tag != MT_TILER) return refines(r, t) && is_composition(r, a, t);
  if (r->tag != MT_MODES || r->arity != t->arity) return false;
  int i = 0;
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c), i++)
    if (!by_mode(mt_mode(r, i), mt_mode(a, i), c)) return false;
  return true;
}

outcome property_tiler (ctx *x) {
  mt_layout a, id, t, r;
  random_layout(x, &a, 512, ANY_STRIDES);
  if (chance(x, 4)) {
    basis_of(x, &id, a.node);
    mt_copy_value(&a, id.node);
  }
  random_tiler(x, &t, a.node, true);
  CASE(x, "tiler", a.node, t.node);
  mt_status s = mt_composition(&r, a.node, t.node, &x->err);
  if (mt_rank(t.node) > mt_rank(a.node)) {
    LAW(x, s == MT_ERANK);
    return REFUSED;
  }
  LAW(x, s == MT_OK || s == MT_EINEXACT || s == MT_ETOOBIG);
  if (s != MT_OK) return REFUSED;
  LAW(x, by_mode(r.node, a.node, t.node));
  return RIGHT;
}

/* Strides of several kinds on the left. */
outcome property_rings (ctx *x) {
  mt_layout a, b, id, r;
  random_layout(x, &a, 216, ANY_STRIDES);
  random_right(x, &b, a.node, 64);
  basis_of(x, &id, a.node);
  CASE(x, "rings", id.node, b.node);
  mt_status s = mt_composition(&r, id.node, b.node, &x->err);
  LAW(x, s == MT_OK || s == MT_EINEXACT || s == MT_ETOOBIG);
  LAW(x,
      s != MT_OK || (refines(r.node, b.node) && is_composition(r.node, id.node, b.node)));
  return s == MT_OK ? RIGHT : REFUSED;
}

/* Coordinates on the left; coordinates on the right, that is, B by index paths. */
outcome property_basis (ctx *x) {
  mt_layout a, b, id, r, c;
  int64_t v;
  random_layout(x, &a, 216, ANY_STRIDES);
  random_right(x, &b, a.node, 64);
  identity_of(&id, a.node);
  CASE(x, "basis", id.node, b.node);
  mt_status s = mt_composition(&r, id.node, b.node, &x->err);
  LAW(x, s == MT_OK || s == MT_EINEXACT || s == MT_ETOOBIG);
  LAW(x,
      s != MT_OK || (refines(r.node, b.node) && is_composition(r.node, id.node, b.node)));
  if (s != MT_OK || least(b.node) < 0 || mt_size(b.node) == 0) return REFUSED;
  mt_int(&c, between(x, 0, mt_size(b.node) - 1));
  mt_layout at, whole;
  LAW(x, !mt_eval(&at, c.node, r.node, &x->err));
  CASE(x, "basis", a.node, r.node);
  s = mt_composition(&whole, a.node, r.node, &x->err);
  LAW(x, s == MT_OK || s == MT_EINEXACT || s == MT_ETOOBIG || s == MT_EUNSUPPORTED);
  if (s != MT_OK) return REFUSED;
  LAW(x, refines(whole.node, r.node));
  LAW(x, !mt_crd2idx(&v, c.node, whole.node, &x->err));
  LAW(x, v == value_of(a.node, value_of(b.node, c.node[0].shape)));
  return RIGHT;
}

/* ---- complement */

enum { WIDE = 1 << 14 };

/* Leaves of a with extent > 1 and stride 0, or none. */
static bool broadcasts (const mt_node *a) {
  const mt_node *leaf[MT_MAXNODES];
  int n = leaves_of(leaf, a);
  for (int k = 0; k < n; k++)
    if (leaf[k]->shape > 1 && leaf[k]->stride == 0) return true;
  return false;
}

/* Two coordinates of modes that move have one value. */
static bool collides (const mt_node *a) {
  static bool seen[WIDE];
  mt_layout r;
  mt_err err = MT_NOERR;
  fn f;
  if (mt_filter(&r, a, NULL, &err)) return false;
  fn_of(&f, r.node, NULL);
  int64_t n = fn_size(&f), lo = least(r.node);
  memset(seen, 0, sizeof seen);
  for (int64_t i = 0; i < n; i++) {
    int64_t v = fn_at(&f, i) - lo;
    if (v >= WIDE) continue;
    if (seen[v]) return true;
    seen[v] = true;
  }
  return false;
}

/* What a refusal says is true: the layout is not injective, or it is and copies of it do
** not meet at the stride that the text names. */
static outcome check_refused (ctx *x, const mt_node *a, mt_status s) {
  static const char *hint = "do not meet at a stride of ";
  const char *at = strstr(x->err.text, hint);
  fn f;
  LAW(x, (s == MT_EINJECTIVE) == collides(a));
  LAW(x, (s == MT_EINJECTIVE) == (strstr(x->err.text, "has no complement") != NULL));
  LAW(x, (s == MT_EINJECTIVE) == (at == NULL));
  if (at == NULL) return REFUSED;
  int64_t d = strtoll(at + strlen(hint), NULL, 10), lo = least(a), hi = lo;
  fn_of(&f, a, NULL);
  for (int64_t i = 0; i < fn_size(&f); i++)
    if (fn_at(&f, i) > hi) hi = fn_at(&f, i);
  LAW(x, d == hi - lo + 1);
  return HAD;
}

/* (1) disjoint from A but for 0, (2) ordered with positive strides, (3) reaches the
** bound if it fills, (4) fills says whether all offsets of a range are met, each once
** (stride-0 modes aside). */
outcome check_complement (ctx *x, const mt_node *a, int64_t bound) {
  static uint8_t seen[WIDE];
  mt_layout r, n;
  bool fills = false;
  fn f, g;
  mt_int(&n, bound);
  CASE(x, "complement", a, n.node);
  mt_status s = mt_complement(&r, &fills, a, bound, &x->err);
  if (mt_size(a) == 0) {
    LAW(x,
        s == MT_OK && r.node[0].shape == bound && (bound < 2 || r.node[0].stride == 1));
    LAW(x, fills == (bound == 0));
    return RIGHT;
  }
  LAW(x, s == MT_OK || s == MT_EINJECTIVE || s == MT_EINEXACT);
  if (s != MT_OK) return check_refused(x, a, s);
  fn_of(&f, a, NULL);
  fn_of(&g, r.node, NULL);
  int64_t sa = fn_size(&f), sr = fn_size(&g), lo = least(a), hi = lo, width = 0, met = 0;
  LAW(x, (sr == 0) == (bound == 0));
  if (sr == 0) return RIGHT;
  LAW(x, is_coalesced(r.node));
  for (int64_t j = 0; j < sr; j++)
    LAW(x, fn_at(&g, j) >= 0 && (j == 0 || fn_at(&g, j) > fn_at(&g, j - 1)));
  for (int64_t i = 0; i < sa; i++)
    if (fn_at(&f, i) > hi) hi = fn_at(&f, i);
  width = hi - lo + fn_at(&g, sr - 1) + 1;
  LAW(x, !fills || width >= bound);
  if (width > WIDE) return RIGHT;
  memset(seen, 0, (size_t)width);
  bool once = !broadcasts(a);
  for (int64_t i = 0; i < sa; i++) {
    if (!once && seen[fn_at(&f, i) - lo]) continue; /* a broadcast of an earlier value */
    for (int64_t j = 0; j < sr; j++) {
      uint8_t *slot = &seen[fn_at(&f, i) - lo + fn_at(&g, j)];
      LAW(x, *slot == 0);
      *slot = 1;
      met++;
    }
  }
  LAW(x, fills == (met == width));
  return RIGHT;
}

outcome property_complement (ctx *x) {
  mt_layout a;
  random_layout(x, &a, 64, chance(x, 2) ? COMPACT : ANY_STRIDES);
  return check_complement(x, a.node, between(x, 0, 150));
}

/* ---- inverses */

outcome check_right_inverse (ctx *x, const mt_node *a) {
  mt_layout r;
  CASE(x, "right_inverse", a);
  LAW(x, !mt_right_inverse(&r, a, &x->err) && is_coalesced(r.node));
  for (int64_t i = 0; i < mt_size(r.node); i++) {
    int64_t j = value_of(r.node, i);
    LAW(x, j >= 0 && (j < mt_size(a) || i == 0));
    LAW(x, value_of(a, j) == i);
  }
  return RIGHT;
}

outcome property_right_inverse (ctx *x) {
  mt_layout a;
  random_layout(x, &a, 512, chance(x, 2) ? COMPACT : ANY_STRIDES);
  return check_right_inverse(x, a.node);
}
