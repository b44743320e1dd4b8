/*
** tiles.c - properties of divides and products.
** SPDX-License-Identifier: MIT
*/
#include "property.h"

static bool bad_status (mt_status s) {
  return s != MT_OK && s != MT_EINEXACT && s != MT_EINJECTIVE && s != MT_ETOOBIG;
}

/* (T, T*) as a layout. */
static bool with_complement (mt_layout *out, const mt_node *t, int64_t bound,
                             bool *fills) {
  mt_layout c;
  mt_err err = MT_NOERR;
  if (mt_complement(&c, fills, t, bound, &err) != MT_OK) return false;
  pen p = {out, 0};
  int at = pen_open(&p, MT_MODES);
  pen_copy(&p, t);
  pen_copy(&p, c.node);
  pen_close(&p, at, 2);
  return true;
}

/* Every i below n is a value of q. */
static bool covers (const mt_node *q, int64_t n) {
  static bool met[MAXSIZE];
  fn f;
  fn_of(&f, q, NULL);
  if (n > MAXSIZE) return true;
  memset(met, 0, (size_t)n);
  for (int64_t i = 0; i < mt_size(q); i++) {
    int64_t v = fn_at(&f, i);
    if (v >= 0 && v < n) met[v] = true;
  }
  for (int64_t i = 0; i < n; i++)
    if (!met[i]) return false;
  return true;
}

/* R = A o (T, T*), and (T, T*) reaches every index of A. */
static bool is_divide (const mt_node *r, const mt_node *a, const mt_node *t) {
  mt_layout pair;
  bool fills = false;
  if (!with_complement(&pair, t, mt_size(a), &fills)) return false;
  return fills && covers(pair.node, mt_size(a)) && refines(r, pair.node) &&
         is_composition(r, a, pair.node);
}

outcome check_divide (ctx *x, const mt_node *a, const mt_node *t) {
  mt_layout r, z, d, f;
  CASE(x, "divide", a, t);
  mt_status s = mt_logical_divide(&r, a, t, &x->err);
  if (mt_size(t) == 0) {
    LAW(x, s == MT_EINVAL || s == MT_EINEXACT);
    return REFUSED;
  }
  LAW(x, !bad_status(s));
  if (s != MT_OK) return REFUSED;
  LAW(x, mt_rank(r.node) == 2 && mt_size(r.node) >= mt_size(a));
  LAW(x, is_divide(r.node, a, t));
  LAW(x, !mt_zipped_divide(&z, a, t, &x->err) && mt_equal(z.node, r.node));
  const mt_node *tile = mt_mode(r.node, 0), *rest = mt_mode(r.node, 1);
  int nt = mt_rank(tile), nr = mt_rank(rest);
  LAW(x, !mt_tiled_divide(&d, a, t, &x->err) && mt_rank(d.node) == 1 + nr);
  LAW(x, mt_equal(mt_mode(d.node, 0), tile));
  for (int i = 0; i < nr && nr > 1; i++)
    LAW(x, mt_equal(mt_mode(d.node, 1 + i), mt_mode(rest, i)));
  LAW(x, !mt_flat_divide(&f, a, t, &x->err) && mt_rank(f.node) == nt + nr);
  for (int i = 0; i < nt && nt > 1; i++)
    LAW(x, mt_equal(mt_mode(f.node, i), mt_mode(tile, i)));
  return RIGHT;
}

outcome property_divide (ctx *x) {
  mt_layout a, t;
  random_layout(x, &a, 216, ANY_STRIDES);
  random_right(x, &t, a.node, 24);
  return check_divide(x, a.node, t.node);
}

/* ---- by mode */

static bool divided_by (const mt_node *r, const mt_node *a, const mt_node *t) {
  mt_layout n;
  if (t->tag == MT_INT) {
    pen p = {&n, 0};
    pen_leaf(&p, t->shape, 1);
    return is_divide(r, a, n.node);
  }
  if (t->tag != MT_TILER) return is_divide(r, a, t);
  if (r->tag != MT_MODES || mt_rank(r) != mt_rank(a)) return false;
  int i = 0;
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c), i++)
    if (!divided_by(mt_mode(r, i), mt_mode(a, i), c)) return false;
  for (; i < mt_rank(a); i++)
    if (!mt_equal(mt_mode(r, i), mt_mode(a, i))) return false;
  return true;
}

/* The zipped form of a divided layout, in the tree of the tiler. */
static bool is_part (const mt_node *z, const mt_node *r, const mt_node *t, int part) {
  if (t->tag != MT_TILER) return mt_equal(z, mt_mode(r, part));
  int i = 0, n = part ? mt_rank(r) : t->arity;
  if (z->tag != MT_MODES || z->arity != n) return false;
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c), i++)
    if (!is_part(mt_mode(z, i), mt_mode(r, i), c, part)) return false;
  for (; i < n; i++)
    if (!mt_equal(mt_mode(z, i), mt_mode(r, i))) return false;
  return true;
}

outcome property_divide_by_mode (ctx *x) {
  mt_layout a, id, t, r, z;
  random_layout(x, &a, 216, ANY_STRIDES);
  if (chance(x, 3)) {
    basis_of(x, &id, a.node);
    mt_copy_value(&a, id.node);
  }
  random_tiler(x, &t, a.node, false);
  CASE(x, "divide_by_mode", a.node, t.node);
  mt_status s = mt_logical_divide(&r, a.node, t.node, &x->err);
  if (mt_rank(t.node) > mt_rank(a.node)) {
    LAW(x, s == MT_ERANK);
    return REFUSED;
  }
  LAW(x, !bad_status(s) || s == MT_EINVAL);
  if (s != MT_OK) return REFUSED;
  LAW(x, divided_by(r.node, a.node, t.node));
  LAW(x, !mt_zipped_divide(&z, a.node, t.node, &x->err) && mt_rank(z.node) == 2);
  LAW(x, is_part(mt_mode(z.node, 0), r.node, t.node, 0));
  LAW(x, is_part(mt_mode(z.node, 1), r.node, t.node, 1));
  return RIGHT;
}

/* What predication rests on: the coordinates of a shape cut by extents are the
** coordinates of tile and rest, past the end too, and a (thread,value) layout of the
** tile composes with them. */
outcome property_predication (ctx *x) {
  mt_layout shape, id, t, z, c, at;
  int64_t n[3], s[3], i[3], j[3];
  int rank = 1 + pick(x, 3);
  for (int k = 0; k < rank; k++) n[k] = between(x, 1, 40), s[k] = between(x, 1, 8);
  LAW(x, !mt_ints(&shape, rank, n, &x->err) && !mt_ints(&t, rank, s, &x->err));
  LAW(x, !mt_make_identity_layout(&id, shape.node, &x->err));
  CASE(x, "predication", id.node, t.node);
  LAW(x, !mt_zipped_divide(&z, id.node, t.node, &x->err) && mt_rank(z.node) == 2);
  pen p = {&c, 0};
  int whole = pen_open(&p, MT_TUPLE), part = pen_open(&p, MT_TUPLE);
  for (int k = 0; k < rank; k++) pen_int(&p, i[k] = between(x, 0, s[k] - 1));
  pen_close(&p, part, rank);
  part = pen_open(&p, MT_TUPLE);
  for (int k = 0; k < rank; k++)
    pen_int(&p, j[k] = between(x, 0, (n[k] + s[k] - 1) / s[k] - 1));
  pen_close(&p, part, rank);
  pen_close(&p, whole, 2);
  LAW(x, !mt_eval(&at, c.node, z.node, &x->err) && mt_rank(at.node) == rank);
  for (int k = 0; k < rank; k++) LAW(x, mt_mode(at.node, k)->shape == i[k] + j[k] * s[k]);
  for (int k = 0; k < rank; k++)
    LAW(x, mt_size(mt_mode(mt_mode(z.node, 1), k)) == (n[k] + s[k] - 1) / s[k]);
  return RIGHT;
}

/* ---- products */

/* No value of A + grid is met twice, but for equal values of A, or of B. */
static bool disjoint (const mt_node *a, const mt_node *grid) {
  enum { WIDE = 1 << 15 };
  static int16_t copy[WIDE];
  fn f, g;
  fn_of(&f, a, NULL);
  fn_of(&g, grid, NULL);
  int64_t n = fn_size(&f), m = fn_size(&g), lo = least(a) + least(grid);
  memset(copy, 0, sizeof copy);
  for (int64_t j = 0; j < m; j++)
    for (int64_t i = 0; i < n; i++) {
      int64_t v = fn_at(&f, i) + fn_at(&g, j) - lo, first = 0;
      if (v >= WIDE) return true;
      if (copy[v] != 0) {
        first = copy[v] - 1;
        if (fn_at(&g, first) != fn_at(&g, j)) return false;
      }
      copy[v] = (int16_t)(copy[v] ? copy[v] : j + 1);
    }
  return true;
}

outcome check_product (ctx *x, const mt_node *a, const mt_node *b) {
  mt_layout r, c;
  int64_t top;
  CASE(x, "product", a, b);
  mt_status s = mt_logical_product(&r, a, b, &x->err);
  if (mt_size(a) == 0) {
    LAW(x, s == MT_EINVAL);
    return REFUSED;
  }
  LAW(x, !bad_status(s));
  if (s != MT_OK) return REFUSED;
  LAW(x, mt_rank(r.node) == 2 && mt_equal(mt_mode(r.node, 0), a));
  const mt_node *grid = mt_mode(r.node, 1);
  LAW(x, refines(grid, b) && !mt_cosize(&top, b, &x->err));
  for (int64_t n = top; least(b) >= 0; n++) { /* one that has all of B's offsets */
    LAW(x, !mt_complement(&c, NULL, a, mt_size(a) * n, &x->err));
    if (mt_size(c.node) < top) continue;
    LAW(x, is_composition(grid, c.node, b));
    break;
  }
  LAW(x, disjoint(a, grid));
  return RIGHT;
}

outcome property_product (ctx *x) {
  mt_layout a, b;
  random_layout(x, &a, 36, chance(x, 2) ? COMPACT : ANY_STRIDES);
  random_layout(x, &b, 36, chance(x, 2) ? COMPACT : ANY_STRIDES);
  return check_product(x, a.node, b.node);
}

static const mt_node *padded (const mt_node *t, int i) {
  static const mt_node one = {.tag = MT_LEAF, .span = 1, .shape = 1};
  return i < mt_rank(t) ? mt_mode(t, i) : &one;
}

/* Mode k of the blocked product is (A_k, B_k), of the raked (B_k, A_k); both are A + C
** o B. */
outcome property_zip_product (ctx *x) {
  mt_layout a, b, r, q, l;
  random_layout(x, &a, 36, chance(x, 2) ? COMPACT : ANY_STRIDES);
  random_layout(x, &b, 36, COMPACT);
  CASE(x, "zip_product", a.node, b.node);
  mt_status s = mt_blocked_product(&r, a.node, b.node, &x->err);
  mt_status t = mt_raked_product(&q, a.node, b.node, &x->err);
  LAW(x, s == t);
  LAW(x, !bad_status(s) || (s == MT_EINVAL && mt_size(a.node) == 0));
  if (s != MT_OK) return REFUSED;
  int rank = mt_rank(a.node) > mt_rank(b.node) ? mt_rank(a.node) : mt_rank(b.node);
  LAW(x, mt_rank(r.node) == rank && mt_rank(q.node) == rank);
  for (int k = 0; k < rank; k++) {
    const mt_node *m = mt_mode(r.node, k), *n = mt_mode(q.node, k);
    LAW(x, mt_rank(m) == 2 && mt_rank(n) == 2);
    LAW(x, mt_equal(mt_mode(m, 0), padded(a.node, k)));
    LAW(x,
        mt_equal(mt_mode(m, 0), mt_mode(n, 1)) && mt_equal(mt_mode(m, 1), mt_mode(n, 0)));
    LAW(x, rank == 1 || refines(mt_mode(m, 1), padded(b.node, k)));
  }
  if (mt_rank(b.node) != rank || mt_rank(a.node) != rank) return RIGHT;
  LAW(x, mt_logical_product(&l, a.node, b.node, &x->err) == MT_OK);
  const mt_node *grid = mt_mode(l.node, 1);
  for (int k = 0; k < rank && rank > 1; k++)
    LAW(x, mt_equal(mt_mode(mt_mode(r.node, k), 1), mt_mode(grid, k)));
  return RIGHT;
}

/* ---- under a swizzle */

/* R, of as many elements, is W o (what T divides the indices of W into). */
static outcome divided_by_index (ctx *x, const mt_node *r, const mt_node *w,
                                 const mt_node *t) {
  mt_layout shape, index, parts;
  fn f, g, h;
  LAW(x, !mt_shape(&shape, w, &x->err) && !mt_layout_left(&index, shape.node, &x->err));
  LAW(x, !mt_zipped_divide(&parts, index.node, t, &x->err));
  LAW(x, mt_size(parts.node) == mt_size(w) && mt_size(r) == mt_size(w));
  fn_of(&f, r, NULL);
  fn_of(&g, w, NULL);
  fn_of(&h, parts.node, NULL);
  for (int64_t i = 0; i < fn_size(&h); i++)
    LAW(x, fn_at(&f, i) == fn_at(&g, fn_at(&h, i)));
  return RIGHT;
}

/* Sw o (A o B) = (Sw o A) o B; a divide is the divide of A under the same swizzle, if
** there is one. */
outcome property_swizzled (ctx *x) {
  mt_layout a, w, b, r, q;
  fn f, g, h;
  random_layout(x, &a, 216, COMPACT);
  random_right(x, &b, a.node, 64);
  swizzled_of(x, &w, a.node);
  CASE(x, "swizzled", w.node, b.node);
  mt_status s = mt_composition(&r, w.node, b.node, &x->err);
  LAW(x, s == MT_OK || s == MT_EINEXACT);
  if (s != MT_OK || least(b.node) < 0) return REFUSED;
  fn_of(&f, r.node, NULL);
  fn_of(&g, w.node, NULL);
  fn_of(&h, b.node, NULL);
  for (int64_t i = 0; i < fn_size(&h); i++)
    LAW(x, fn_at(&f, i) == fn_at(&g, fn_at(&h, i)));
  LAW(x, refines(r.node, b.node));
  s = mt_zipped_divide(&r, w.node, b.node, &x->err);
  LAW(x, !bad_status(s) || mt_size(b.node) == 0);
  if (s != MT_OK) return RIGHT;
  if (mt_zipped_divide(&q, a.node, b.node, &x->err) == MT_EINEXACT)
    return divided_by_index(x, r.node, w.node, b.node);
  LAW(x, r.node[0].tag == MT_SWIZZLE && r.node[0].shape == w.node[0].shape);
  LAW(x, is_divide(r.node + 1, a.node, b.node));
  LAW(x, !mt_coalesce(&r, w.node, NULL, &x->err));
  fn_of(&f, r.node, NULL);
  for (int64_t i = 0; i < fn_size(&g); i++) LAW(x, fn_at(&f, i) == fn_at(&g, i));
  return RIGHT;
}
