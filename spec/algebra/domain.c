/*
** domain.c - properties of shapes as a lattice, sums, F2 strides and explanations.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>

#include "property.h"

/* ---- shapes */

/* A shape of at most `size` elements. */
static void grow_shape (ctx *x, pen *p, int64_t *left, int depth) {
  if (depth == 0 || p->n > 20 || chance(x, 3)) {
    int64_t s = between(x, 1, 6);
    if (s > *left) s = 1;
    *left /= s;
    pen_int(p, s);
    return;
  }
  int n = chance(x, 12) ? 0 : 1 + pick(x, 3), at = pen_open(p, MT_TUPLE);
  for (int i = 0; i < n; i++) grow_shape(x, p, left, depth - 1);
  pen_close(p, at, n);
}

static void random_shape (ctx *x, mt_layout *out, int64_t size) {
  pen p = {out, 0};
  grow_shape(x, &p, &size, 3);
}

static int64_t size_of (const mt_node *t) {
  int64_t n = 1;
  for (const mt_node *p = t; p < mt_next(t); p++)
    if (p->tag == MT_INT) n *= p->shape;
  return n;
}

/* t refines s. */
static bool compatible (const mt_node *s, const mt_node *t) {
  if (s->tag == MT_INT) return s->shape == size_of(t);
  if (t->tag == MT_INT || s->arity != t->arity) return false;
  const mt_node *d = mt_child(t);
  for (const mt_node *c = mt_child(s); c < mt_next(s); c = mt_next(c), d = mt_next(d))
    if (!compatible(c, d)) return false;
  return true;
}

/* t with some subtrees as their sizes. */
static void coarser (ctx *x, pen *p, const mt_node *t) {
  if (t->tag == MT_INT || chance(x, 4)) {
    pen_int(p, size_of(t));
    return;
  }
  int at = pen_open(p, MT_TUPLE);
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c)) coarser(x, p, c);
  pen_close(p, at, t->arity);
}

/* t with some integers as tuples. */
static void finer (ctx *x, pen *p, const mt_node *t) {
  int at;
  if (t->tag == MT_INT && (p->n > 40 || !chance(x, 3))) {
    pen_int(p, t->shape);
  } else if (t->tag == MT_INT) {
    int64_t s = between(x, 1, t->shape);
    if (t->shape % s != 0) s = 1;
    at = pen_open(p, MT_TUPLE);
    pen_int(p, s);
    pen_int(p, t->shape / s);
    pen_close(p, at, 2);
  } else {
    at = pen_open(p, MT_TUPLE);
    for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c)) finer(x, p, c);
    pen_close(p, at, t->arity);
  }
}

outcome property_lattice (ctx *x) {
  mt_layout u, s, t, r;
  bool up = chance(x, 2);
  pen p = {&s, 0}, q = {&t, 0};
  random_shape(x, &u, 512);
  (up ? coarser : finer)(x, &p, u.node);
  if (chance(x, 4)) random_shape(x, &t, 16);
  else (up ? coarser : finer)(x, &q, u.node);
  CASE(x, up ? "common_refinement" : "common_coarsening", s.node, t.node);
  bool related = up ? compatible(t.node, u.node) : compatible(u.node, t.node);
  mt_status status =
      (up ? mt_common_refinement : mt_common_coarsening)(&r, s.node, t.node, &x->err);
  LAW(x, status == MT_OK || (status == MT_ERANK && !related));
  LAW(x, up || (status == MT_OK) == (size_of(s.node) == size_of(t.node)));
  if (status != MT_OK) return REFUSED;
  LAW(x, up ? compatible(s.node, r.node) : compatible(r.node, s.node));
  LAW(x, up ? compatible(t.node, r.node) : compatible(r.node, t.node));
  LAW(x, !related || (up ? compatible(r.node, u.node) : compatible(u.node, r.node)));
  return RIGHT;
}

/* The step n:d lies in one mode of the shape, at a step that divides it. */
static bool cuts (const mt_node *t, int64_t n, int64_t d) {
  int64_t before = 1;
  for (const mt_node *p = t; p < mt_next(t);
       before *= p->tag == MT_INT ? p->shape : 1, p++) {
    if (p->tag != MT_INT || d % before != 0 || p->shape % (d / before) != 0) continue;
    if (p->shape / (d / before) % n == 0) return true;
  }
  return false;
}

static bool is_prime (int64_t n) {
  for (int64_t k = 2; k * k <= n; k++)
    if (n % k == 0) return false;
  return n > 1;
}

static bool in_domain (const mt_node *g, int64_t n, int64_t d) {
  for (const mt_node *c = mt_child(g); c < mt_next(g); c++)
    if (c->stride > 0 && d % c->stride == 0 && c->shape % (d / c->stride) == 0 &&
        c->shape / (d / c->stride) % n == 0)
      return true;
  return false;
}

outcome property_common_domain (ctx *x) {
  mt_layout s, t, g;
  random_shape(x, &s, 400);
  random_shape(x, &t, 400);
  CASE(x, "greatest_common_domain", s.node, t.node);
  LAW(x, !mt_greatest_common_domain(&g, s.node, t.node, &x->err));
  LAW(x, g.node[0].tag == MT_MODES && g.node[0].arity > 0 && mt_depth(g.node) == 1);
  int64_t next = 1;
  for (const mt_node *c = mt_child(g.node); c < mt_next(g.node); c++) {
    if (c->shape == 1 && g.node[0].arity == 1 && c->stride == 0) break;
    LAW(x, c->shape > 1 && c->stride % next == 0);
    LAW(x, cuts(s.node, c->shape, c->stride) && cuts(t.node, c->shape, c->stride));
    next = c->shape * c->stride;
  }
  for (int64_t p = 2; p <= 5; p++)
    for (int64_t d = 1; d <= 400 && is_prime(p); d++)
      if (cuts(s.node, p, d) && cuts(t.node, p, d)) LAW(x, in_domain(g.node, p, d));
  return RIGHT;
}

/* ---- sums */

/* Whether v(0), v(step), ... of n values are those of a layout: any first mode, then
** the rest. */
static bool is_layout (const int64_t *v, int64_t n, int64_t step) {
  if (n == 1) return v[0] == 0;
  for (int64_t s = 2; s <= n; s++) {
    bool fits = n % s == 0;
    for (int64_t i = 0; i < n && fits; i++)
      fits = v[i * step] == v[(i - i % s) * step] + i % s * v[step];
    if (fits && is_layout(v, n / s, step * s)) return true;
  }
  return false;
}

/* A layout with n elements, in other modes. */
static void recut (ctx *x, mt_layout *out, int64_t n) {
  pen p = {out, 0};
  int at = pen_open(&p, MT_MODES), arity = 0;
  for (; n > 1 && arity < 6; arity++) {
    int64_t s = chance(x, 4) ? n : between(x, 2, 6);
    if (n % s != 0) s = n % 2 == 0 ? 2 : n % 3 == 0 ? 3 : n;
    pen_leaf(&p, s, chance(x, 3) ? 0 : between(x, -6, 12));
    n /= s;
  }
  if (n > 1) pen_leaf(&p, n, between(x, 0, 12)), arity++;
  pen_close(&p, at, arity);
}

outcome property_layout_add (ctx *x) {
  mt_layout a, b, r;
  int64_t v[256];
  random_layout(x, &a, 200, chance(x, 2) ? COMPACT : ANY_STRIDES);
  int64_t n = mt_size(a.node);
  if (n == 0) mt_copy_value(&b, a.node);
  else recut(x, &b, n);
  CASE(x, "layout_add", a.node, b.node);
  mt_status s = mt_layout_add(&r, a.node, b.node, &x->err);
  LAW(x, s == MT_OK || s == MT_EINEXACT);
  for (int64_t i = 0; i < n; i++) v[i] = value_of(a.node, i) + value_of(b.node, i);
  if (s != MT_OK) {
    LAW(x, !is_layout(v, n, 1));
    return REFUSED;
  }
  LAW(x, mt_size(r.node) == n);
  for (int64_t i = 0; i < n; i++) LAW(x, value_of(r.node, i) == v[i]);
  return RIGHT;
}

/* ---- F2 */

static int64_t carryless (int64_t a, int64_t b) {
  int64_t sum = 0;
  for (int j = 0; j < 31; j++)
    if (a >> j & 1) sum ^= b << j;
  return sum;
}

/* The xor of the digits of i times the strides; integers strides add. */
static int64_t f2_at (const mt_node *a, int64_t i) {
  const mt_node *leaf[MT_MAXNODES];
  if (a->tag == MT_COMPOSED) return value_of(a, i);
  int n = leaves_of(leaf, a);
  int64_t sum = 0;
  for (int k = 0; k < n; k++) {
    int64_t digit = k == n - 1 ? i : i % leaf[k]->shape;
    if (leaf[k]->stride != 0) sum ^= carryless(digit, leaf[k]->stride);
    i /= leaf[k]->shape;
  }
  return sum;
}

/* Extents are powers of two, or any; strides small, some zero. */
static void random_f2 (ctx *x, mt_layout *out, bool powers) {
  pen p = {out, 0};
  int n = 1 + pick(x, 4), at = pen_open(&p, MT_MODES);
  int64_t run = 1;
  bool chained = chance(x, 2);
  for (int i = 0; i < n; i++) {
    int64_t s = powers ? INT64_C(1) << pick(x, 4) : between(x, 1, 6),
            d = between(x, 0, 40);
    if (chained && chance(x, 2)) d = run ^ (chance(x, 2) ? between(x, 0, run - 1) : 0);
    pen_leaf(&p, s, d);
    out->node[p.n - 1].ring = MT_F2;
    run *= s;
  }
  pen_close(&p, at, n);
}

static bool same_bits (const mt_node *r, const mt_node *a, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (f2_at(r, i) != f2_at(a, i)) return false;
  return true;
}

static outcome f2_text (ctx *x, const mt_node *a) {
  char s[512];
  mt_layout r, c;
  mt_format(s, sizeof s, a);
  LAW(x, !mt_parse(&r, s, strlen(s), &x->err) && mt_equal(r.node, a));
  int64_t i = between(x, 0, 2 * mt_size(a));
  mt_int(&c, i);
  LAW(x, !mt_eval(&r, c.node, a, &x->err));
  LAW(x, r.node[0].tag == MT_INT && r.node[0].ring == MT_F2 &&
             r.node[0].shape == f2_at(a, i));
  LAW(x, !mt_coalesce(&r, a, NULL, &x->err) && mt_size(r.node) == mt_size(a));
  LAW(x, same_bits(r.node, a, mt_size(a)));
  return RIGHT;
}

static outcome f2_composition (ctx *x, const mt_node *a) {
  mt_layout b, r;
  random_right(x, &b, a, 64);
  CASE(x, "composition over F2", a, b.node);
  mt_status s = mt_composition(&r, a, b.node, &x->err);
  LAW(x, s == MT_OK || s == MT_EINEXACT || s == MT_EUNSUPPORTED || s == MT_ETOOBIG ||
             s == MT_EOVERFLOW);
  LAW(x, s != MT_EUNSUPPORTED || least(b.node) < 0 || mt_size(b.node) == 0);
  if (s != MT_OK) return REFUSED;
  LAW(x, refines(r.node, b.node));
  for (int64_t i = 0; i < mt_size(b.node); i++)
    LAW(x, f2_at(r.node, i) == f2_at(a, value_of(b.node, i)));
  return RIGHT;
}

static outcome f2_sum (ctx *x, const mt_node *a) {
  mt_layout b, r;
  random_f2(x, &b, true);
  CASE(x, "layout_add over F2", a, b.node);
  mt_status s = mt_layout_add(&r, a, b.node, &x->err);
  LAW(x,
      s == MT_OK || s == MT_EINEXACT || (s == MT_ERANK && mt_size(a) != mt_size(b.node)));
  if (s != MT_OK) return REFUSED;
  LAW(x, mt_size(r.node) == mt_size(a));
  for (int64_t i = 0; i < mt_size(a); i++)
    LAW(x, f2_at(r.node, i) == (f2_at(a, i) ^ f2_at(b.node, i)));
  return RIGHT;
}

static outcome f2_inverses (ctx *x, const mt_node *a) {
  mt_layout r;
  CASE(x, "right_inverse over F2", a);
  mt_status s = mt_right_inverse(&r, a, &x->err);
  LAW(x, s == MT_OK || s == MT_EUNSUPPORTED);
  if (s != MT_OK) return REFUSED;
  for (int64_t i = 0; i < mt_size(r.node); i++) LAW(x, f2_at(a, f2_at(r.node, i)) == i);
  CASE(x, "left_inverse over F2", a);
  LAW(x, !mt_left_inverse(&r, a, &x->err));
  for (int64_t i = 0; i < mt_size(a); i++)
    LAW(x, f2_at(a, f2_at(r.node, f2_at(a, i))) == f2_at(a, i));
  return RIGHT;
}

static outcome f2_swizzle (ctx *x) {
  mt_layout a, whole, w, r;
  random_layout(x, &a, 256, COMPACT);
  swizzled_of(x, &whole, a.node);
  pen p = {&w, 0};
  pen_tag(&p, MT_SWIZZLE);
  w.node[0].shape = whole.node[0].shape;
  int64_t offset = whole.node[0].stride;
  CASE(x, "swizzle_to_f2", whole.node);
  mt_status s = mt_swizzle_to_f2(&r, w.node, offset, a.node, &x->err);
  LAW(x, s == MT_OK || s == MT_EINEXACT);
  if (s != MT_OK) return REFUSED;
  LAW(x, refines(r.node, a.node));
  int64_t base = value_of(whole.node, 0);
  for (int64_t i = 0; i < mt_size(a.node); i++)
    LAW(x, value_of(whole.node, i) == (base ^ f2_at(r.node, i)));
  return RIGHT;
}

outcome property_f2 (ctx *x) {
  mt_layout a;
  bool powers = !chance(x, 3);
  random_f2(x, &a, powers);
  CASE(x, "F2 strides", a.node);
  switch (pick(x, 5)) {
    case 0: return f2_text(x, a.node);
    case 1: return f2_sum(x, a.node);
    case 2: return f2_inverses(x, a.node);
    case 3: return f2_swizzle(x);
    default: return f2_composition(x, a.node);
  }
}

/* ---- explanations */

typedef mt_status (*operation)(mt_layout *out, const mt_node *a, const mt_node *b,
                               mt_err *err);

static const struct {
  const char *name;
  operation f;
} explained[] = {
    {"coalesce", mt_coalesce},
    {"composition", mt_composition},
    {"logical_divide", mt_logical_divide},
    {"zipped_divide", mt_zipped_divide},
    {"logical_product", mt_logical_product},
    {"blocked_product", mt_blocked_product},
    {"raked_product", mt_raked_product},
    {"flat_product", mt_flat_product},
};

/* The text is as long as it says, cut where there is no room, and ends in the result. */
outcome property_explain (ctx *x) {
  mt_layout a, b, r;
  mt_err err = MT_NOERR;
  char text[8192], part[64], want[4096] = "R = ";
  size_t n, m;
  int k = pick(x, sizeof explained / sizeof *explained);
  random_layout(x, &a, 256, ANY_STRIDES);
  if (chance(x, 4)) random_tiler(x, &b, a.node, true);
  else random_right(x, &b, a.node, 64);
  CASE(x, explained[k].name, a.node, b.node);
  const mt_node *second = k == 0 ? NULL : b.node;
  LAW(x,
      !mt_explanation(&n, text, sizeof text, explained[k].name, a.node, second, &x->err));
  LAW(x,
      !mt_explanation(&m, part, sizeof part, explained[k].name, a.node, second, &x->err));
  LAW(x, n == m && strncmp(part, text, strlen(part)) == 0);
  if (n >= sizeof text) return RIGHT;
  LAW(x, strlen(text) == n);
  mt_status s = explained[k].f(&r, a.node, second, &err);
  if (s == MT_OK) mt_format(want + 4, sizeof want - 4, r.node);
  else strcpy(want, err.text);
  LAW(x, n > strlen(want) && strcmp(text + n - strlen(want), want) == 0);
  return s == MT_OK ? RIGHT : REFUSED;
}
