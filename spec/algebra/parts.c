/*
** parts.c - properties of products by mode, blocks repeated, partitions, coordinates as
** bounds.
** SPDX-License-Identifier: MIT
*/
#include "property.h"

static bool bad_status (mt_status s) {
  return s != MT_OK && s != MT_EINEXACT && s != MT_EINJECTIVE && s != MT_ETOOBIG;
}

/* ---- forms of products */

/* Mode by mode (A, grid); the forms have the same modes in other places. */
outcome property_product_forms (ctx *x) {
  mt_layout a, t, l, z, d, f, u;
  random_layout(x, &a, 36, COMPACT);
  if (chance(x, 2)) random_tiler(x, &t, a.node, false);
  else random_layout(x, &t, 12, COMPACT);
  CASE(x, "product_forms", a.node, t.node);
  mt_status s = mt_logical_product(&l, a.node, t.node, &x->err);
  mt_status sz = mt_zipped_product(&z, a.node, t.node, &x->err);
  LAW(x, !bad_status(s) || s == MT_ERANK || s == MT_EINVAL);
  if (s != MT_OK) {
    LAW(x, sz == s);
    return REFUSED;
  }
  LAW(x, sz == MT_OK || sz == MT_ETOOBIG || mt_rank(t.node) > mt_rank(a.node));
  if (sz != MT_OK) return REFUSED;
  LAW(x, mt_rank(z.node) == 2 && mt_size(z.node) == mt_size(l.node));
  LAW(x, !mt_tile_unzip(&u, l.node, t.node, &x->err) && mt_equal(u.node, z.node));
  const mt_node *block = mt_mode(z.node, 0), *grid = mt_mode(z.node, 1);
  if (t.node[0].tag != MT_TILER)
    LAW(x, mt_equal(block, a.node) && mt_equal(z.node, l.node));
  for (int k = 0; k < (t.node[0].tag == MT_TILER ? t.node[0].arity : 0); k++) {
    const mt_node *m = mt_mode(l.node, k);
    if (mt_mode(t.node, k)->tag == MT_TILER) continue;
    LAW(x, mt_equal(mt_mode(block, k), mt_mode(m, 0)) &&
               mt_equal(mt_mode(m, 0), mt_mode(a.node, k)));
    LAW(x, mt_equal(mt_mode(grid, k), mt_mode(m, 1)));
  }
  int nb = mt_rank(block), ng = mt_rank(grid);
  if (mt_tiled_product(&d, a.node, t.node, &x->err)) return REFUSED;
  LAW(x, mt_rank(d.node) == 1 + ng && mt_equal(mt_mode(d.node, 0), block));
  for (int i = 0; i < ng && ng > 1; i++)
    LAW(x, mt_equal(mt_mode(d.node, 1 + i), mt_mode(grid, i)));
  if (mt_flat_product(&f, a.node, t.node, &x->err)) return REFUSED;
  LAW(x, mt_rank(f.node) == nb + ng);
  for (int i = 0; i < nb && nb > 1; i++)
    LAW(x, mt_equal(mt_mode(f.node, i), mt_mode(block, i)));
  return RIGHT;
}

/* ---- blocks repeated to a shape */

/* Mode k is (A_k, grid) with the size of mode k of the shape; R is a bijection where A
** is. */
outcome property_tile_to_shape (ctx *x) {
  static bool taken[MAXSIZE];
  mt_layout a, shape, order, r;
  random_layout(x, &a, 24, COMPACT);
  int rank = mt_rank(a.node) + pick(x, 2), n = 0;
  int64_t size = 1, top = 0;
  bool divides = true;
  pen p = {&shape, 0}, q = {&order, 0};
  int at = pen_open(&p, MT_TUPLE), at2 = pen_open(&q, MT_TUPLE);
  for (int k = 0; k < rank; k++) {
    int64_t s = k < mt_rank(a.node) ? mt_size(mt_mode(a.node, k)) : 1;
    int64_t e = chance(x, 30) ? between(x, 0, 30) : s * between(x, 1, 3);
    divides = divides && s > 0 && e % s == 0;
    size *= e;
    pen_int(&p, e);
    pen_int(&q, between(x, 0, 3));
    n++;
  }
  pen_close(&p, at, n);
  pen_close(&q, at2, n);
  CASE(x, "tile_to_shape", a.node, shape.node, order.node);
  const mt_node *by = chance(x, 3) ? NULL : order.node;
  mt_status s = mt_tile_to_shape(&r, a.node, shape.node, by, &x->err);
  if (rank == 0 || mt_size(a.node) == 0) return REFUSED;
  LAW(x, !bad_status(s));
  LAW(x, divides || s == MT_EINEXACT);
  if (s != MT_OK) return REFUSED;
  LAW(x, mt_rank(r.node) == rank && mt_size(r.node) == size);
  for (int k = 0; k < rank; k++) {
    const mt_node *m = mt_mode(r.node, k);
    LAW(x, mt_rank(m) == 2 && mt_size(m) == mt_mode(shape.node, k)->shape);
    if (k < mt_rank(a.node)) LAW(x, mt_equal(mt_mode(m, 0), mt_mode(a.node, k)));
    else LAW(x, mt_size(mt_mode(m, 0)) == 1);
  }
  for (int64_t i = 0; i < mt_size(a.node); i++)
    if (value_of(a.node, i) + 1 > top) top = value_of(a.node, i) + 1;
  if (size > MAXSIZE || size == 0) return RIGHT;
  bool dense = top == mt_size(a.node); /* then so is R */
  memset(taken, 0, sizeof taken);
  for (int64_t i = 0; i < size && dense; i++) {
    int64_t v = value_of(r.node, i);
    LAW(x, v >= 0 && v < size && !taken[v]);
    taken[v] = true;
  }
  return RIGHT;
}

/* ---- partitions */

/* The linear index of coordinate c in shape a, or -1 with `_` in it. */
static void with_index (pen *p, const mt_node *c, const mt_node *a, int64_t *j) {
  if (c->tag == MT_WILD) {
    int64_t s = mt_size(a);
    pen_int(p, *j % s);
    *j /= s;
  } else if (c->tag == MT_TUPLE) {
    int at = pen_open(p, MT_TUPLE);
    for (int i = 0; i < mt_rank(a); i++) {
      mt_node wild = {.tag = MT_WILD, .span = 1};
      with_index(p, i < c->arity ? mt_mode(c, i) : &wild, mt_mode(a, i), j);
    }
    pen_close(p, at, mt_rank(a));
  } else {
    pen_copy(p, c);
  }
}

/* offset + R(j) is the value of the zipped layout at the coordinate that j fills up. */
outcome property_partition (ctx *x) {
  mt_layout a, t, z, c, r, offset, d;
  int64_t v;
  random_layout(x, &a, 216, chance(x, 2) ? COMPACT : NATURAL);
  random_tiler(x, &t, a.node, false);
  if (mt_zipped_divide(&z, a.node, t.node, &x->err) || mt_size(z.node) == 0)
    return REFUSED;
  if (mt_size(z.node) > MAXSIZE) return REFUSED;
  int side = pick(x, 2), other = 1 - side;
  random_coord(x, &c, mt_mode(z.node, side), true);
  if (c.node[0].tag == MT_TUPLE && c.node[0].arity > 1 && chance(x, 4)) {
    pen p = {&d, 0}; /* only the first */
    int at = pen_open(&p, MT_TUPLE);
    pen_copy(&p, mt_child(c.node));
    pen_close(&p, at, 1);
    mt_copy_value(&c, d.node);
  }
  CASE(x, "partition", a.node, t.node, c.node);
  mt_status s = (side ? mt_inner_partition : mt_outer_partition)(&r, &offset, a.node,
                                                                 t.node, c.node, &x->err);
  if (s == MT_ETOOBIG) return REFUSED;
  LAW(x, s == MT_OK && offset.node[0].tag == MT_INT);
  const mt_node *kept = mt_mode(z.node, other);
  LAW(x, mt_size(r.node) % mt_size(kept) == 0);
  for (int64_t j = 0; j < mt_size(r.node); j++) {
    pen p = {&d, 0};
    int64_t in = side ? j % mt_size(kept) : j, out = side ? j / mt_size(kept) : j;
    int at = pen_open(&p, MT_TUPLE);
    if (side) pen_int(&p, in);
    with_index(&p, c.node, mt_mode(z.node, side), &out);
    if (!side) pen_int(&p, out);
    pen_close(&p, at, 2);
    LAW(x, !mt_crd2idx(&v, d.node, z.node, &x->err));
    LAW(x, v == offset.node[0].shape + value_of(r.node, j));
  }
  return RIGHT;
}

/* The threads of a compact layout deal out A: together they have every value of the
** zipped A. */
outcome property_local_partition (ctx *x) {
  static int times[MAXSIZE];
  mt_layout a, thr, r, offset, z, shape;
  random_layout(x, &a, 216, NATURAL);
  random_layout(x, &thr, 12, COMPACT);
  if (mt_size(a.node) == 0 || mt_rank(thr.node) == 0) return REFUSED;
  CASE(x, "local_partition", a.node, thr.node);
  int64_t top;
  if (mt_cosize(&top, thr.node, &x->err) || top != mt_size(thr.node)) return REFUSED;
  memset(times, 0, sizeof times);
  if (mt_product_each(&shape, thr.node, &x->err) ||
      mt_zipped_divide(&z, a.node, shape.node, &x->err)) {
    LAW(x, mt_local_partition(&r, &offset, a.node, thr.node, 0, NULL, &x->err) != MT_OK);
    return REFUSED;
  }
  for (int64_t k = 0; k < top; k++) {
    mt_status s = mt_local_partition(&r, &offset, a.node, thr.node, k, NULL, &x->err);
    if (s == MT_ETOOBIG) return REFUSED;
    LAW(x, s == MT_OK && mt_size(r.node) * top == mt_size(z.node));
    for (int64_t i = 0; i < mt_size(r.node); i++) {
      int64_t v = offset.node[0].shape + value_of(r.node, i);
      if (v < MAXSIZE) times[v]++;
    }
  }
  for (int64_t i = 0; i < mt_size(z.node); i++)
    if (value_of(z.node, i) < MAXSIZE) times[value_of(z.node, i)]--;
  for (int v = 0; v < MAXSIZE; v++) LAW(x, times[v] == 0);
  LAW(x,
      mt_local_partition(&r, &offset, a.node, thr.node, top, NULL, &x->err) == MT_ERANGE);
  return RIGHT;
}

/* With modes of the threads left out, a thread has what one of the layout of the other
** modes has: that with its own coordinates there, whatever the index of that one is. */
outcome property_local_projection (ctx *x) {
  mt_layout a, thr, proj, kept, r, offset, all, where, want;
  random_layout(x, &a, 216, NATURAL);
  random_layout(x, &thr, 24, COMPACT);
  int rank = mt_rank(thr.node), n = 0;
  int64_t top;
  if (mt_size(a.node) == 0 || rank == 0 || thr.node[0].tag != MT_MODES) return REFUSED;
  if (mt_cosize(&top, thr.node, &x->err) || top != mt_size(thr.node)) return REFUSED;
  pen p = {&proj, 0}, q = {&kept, 0};
  int at = pen_open(&p, MT_TUPLE), at2 = pen_open(&q, MT_TUPLE);
  bool keep[MT_MAXNODES];
  for (int k = 0; k < rank; k++) {
    keep[k] = !chance(x, 3);
    if (keep[k]) pen_int(&p, 1);
    else pen_tag(&p, MT_WILD);
    if (keep[k]) n++, pen_int(&q, mt_size(mt_mode(thr.node, k)));
  }
  pen_close(&p, at, rank);
  pen_close(&q, at2, n);
  CASE(x, "local_projection", a.node, thr.node, proj.node);
  for (int64_t i = 0; i < top; i++) { /* the coordinate of index i in thr */
    pen c = {&where, 0};
    int64_t rest = i;
    int open = pen_open(&c, MT_TUPLE);
    for (int k = 0; k < rank; rest /= mt_size(mt_mode(thr.node, k)), k++)
      if (keep[k]) pen_int(&c, rest % mt_size(mt_mode(thr.node, k)));
    pen_close(&c, open, n);
    mt_status s = mt_outer_partition(&all, &want, a.node, kept.node, where.node, &x->err);
    mt_status t = mt_local_partition(&r, &offset, a.node, thr.node, value_of(thr.node, i),
                                     proj.node, &x->err);
    LAW(x, s == t);
    if (s != MT_OK) return REFUSED;
    LAW(x, mt_equal(r.node, all.node) && mt_equal(offset.node, want.node));
  }
  return RIGHT;
}

/* Coordinate layouts: the offset and the rest add up to the coordinate. */
outcome property_coordinate_parts (ctx *x) {
  mt_layout a, id, t, c, r, offset, whole, o2, at, rest;
  random_layout(x, &a, 64, NATURAL);
  identity_of(&id, a.node);
  random_tiler(x, &t, a.node, false);
  random_coord(x, &c, a.node, true);
  CASE(x, "coordinate_parts", id.node, c.node);
  if (mt_size(a.node) == 0) return REFUSED;
  LAW(x, !mt_slice_and_offset(&r, &offset, c.node, id.node, &x->err));
  LAW(x, !mt_slice_and_offset(&rest, &at, c.node, a.node, &x->err));
  LAW(x, mt_congruent(r.node, rest.node) && at.node[0].tag == MT_INT);
  LAW(x, !mt_domain_offset(&whole, &o2, c.node, id.node, &x->err));
  LAW(x, mt_equal(whole.node, id.node) && mt_equal(o2.node, offset.node));
  bool deep = false; /* its extents: what crd2idx of a takes */
  for (const mt_node *p = id.node; p < mt_next(id.node); p++)
    deep = deep || p->ring == MT_BASIS;
  int64_t v;
  if (!deep || mt_depth(offset.node) == 0) return RIGHT;
  if (!mt_congruent(offset.node, a.node)) return RIGHT; /* modes () at the end */
  LAW(x, !mt_crd2idx(&v, offset.node, a.node, &x->err) && v == at.node[0].shape);
  return RIGHT;
}

/* ---- coordinates as bounds */

/* coshape is the reach of the values, from the least to the largest; coprofile its tree.
** */
outcome property_coshape (ctx *x) {
  mt_layout a, b, id, r, s, p, c, v;
  random_layout(x, &a, 64, ANY_STRIDES);
  random_right(x, &b, a.node, 36);
  identity_of(&id, a.node);
  if (least(b.node) < 0 || mt_composition(&r, id.node, b.node, &x->err)) return REFUSED;
  if (chance(x, 4)) mt_copy_value(&r, a.node);
  CASE(x, "coshape", r.node);
  LAW(x, !mt_coshape(&s, r.node, &x->err) && !mt_coprofile(&p, r.node, &x->err));
  LAW(x, mt_congruent(s.node, p.node));
  int64_t most[MT_MAXNODES], low[MT_MAXNODES], bound[MT_MAXNODES];
  int n = 0;
  for (const mt_node *t = s.node; t < mt_next(s.node); t++)
    if (t->tag == MT_INT) bound[n++] = t->shape;
  for (int64_t i = 0; i < mt_size(r.node); i++) {
    int k = 0;
    mt_int(&c, i);
    LAW(x, !mt_eval(&v, c.node, r.node, &x->err) && mt_congruent(v.node, s.node));
    for (const mt_node *t = v.node; t < mt_next(v.node); t++) {
      if (t->tag != MT_INT) continue;
      if (i == 0 || t->shape + 1 > most[k]) most[k] = t->shape + 1;
      if (i == 0 || t->shape < low[k]) low[k] = t->shape;
      k++;
    }
    LAW(x, k == n);
  }
  for (int k = 0; k < n; k++)
    LAW(x, bound[k] == (mt_size(r.node) ? most[k] - low[k] : 0));
  return RIGHT;
}

/* A shape as bound: not less than the integer, by whole steps; per axis disjoint and
** ordered. */
outcome property_complement_shape (ctx *x) {
  mt_layout a, shape, r, c, s;
  bool fills = false, whole = false;
  random_layout(x, &a, 36, COMPACT);
  random_layout(x, &s, 64, NATURAL);
  mt_shape(&shape, s.node, &x->err);
  CASE(x, "complement_shape", a.node, shape.node);
  mt_status st = mt_complement_shape(&r, &fills, a.node, shape.node, &x->err);
  mt_status si = mt_complement(&c, &whole, a.node, mt_size(s.node), &x->err);
  LAW(x, st == si);
  if (st != MT_OK) return REFUSED;
  LAW(x, fills == whole && mt_size(r.node) >= mt_size(c.node));
  for (int64_t i = 0; i < mt_size(c.node); i++)
    LAW(x, value_of(r.node, i) == value_of(c.node, i));
  for (int64_t i = 1; i < mt_size(r.node); i++)
    LAW(x, value_of(r.node, i) > value_of(r.node, i - 1));
  return RIGHT;
}

outcome property_complement_axes (ctx *x) {
  mt_layout a, b, id, r, c, i, v, w;
  bool fills;
  random_layout(x, &a, 36, NATURAL);
  random_right(x, &b, a.node, 16);
  identity_of(&id, a.node);
  if (least(b.node) < 0 || mt_composition(&r, id.node, b.node, &x->err)) return REFUSED;
  for (const mt_node *p = r.node; p < mt_next(r.node); p++)
    if (p->tag == MT_SUM) return REFUSED;
  CASE(x, "complement_axes", r.node);
  mt_status s = mt_complement_shape(&c, &fills, r.node, NULL, &x->err);
  LAW(x, s == MT_OK || s == MT_EINJECTIVE || s == MT_EINEXACT || s == MT_EINVAL);
  if (s != MT_OK) return REFUSED;
  for (int64_t k = 1; k < mt_size(c.node); k++) {
    mt_int(&i, k);
    LAW(x, !mt_eval(&v, i.node, c.node, &x->err));
    for (int64_t j = 0; j < mt_size(r.node); j++) {
      mt_int(&i, j);
      LAW(x, !mt_eval(&w, i.node, r.node, &x->err) && !mt_equal(w.node, v.node));
    }
  }
  return RIGHT;
}

/* ---- compositions */

/* A shape in the place of its layout; what lies beyond as A continues. */
outcome property_with_shape (ctx *x) {
  mt_layout a, s, shape, r;
  random_layout(x, &a, 216, ANY_STRIDES);
  random_layout(x, &s, 216, NATURAL);
  mt_shape(&shape, s.node, &x->err);
  CASE(x, "with_shape", a.node, shape.node);
  mt_status st = mt_with_shape(&r, a.node, shape.node, &x->err);
  LAW(x, st == MT_OK || st == MT_EINEXACT || st == MT_ETOOBIG);
  if (st != MT_OK) return REFUSED;
  LAW(x, refines(r.node, s.node));
  for (int64_t i = 0; i < mt_size(r.node); i++)
    LAW(x, value_of(r.node, i) == value_of(a.node, i));
  return RIGHT;
}

/* B with strides that are sums: R(i) = A(the coordinate B(i)). */
outcome property_sums (ctx *x) {
  mt_layout a, id, b, r, c, v;
  int64_t is;
  random_layout(x, &a, 216, ANY_STRIDES);
  int rank = mt_rank(a.node);
  if (rank < 2 || a.node[0].tag != MT_MODES) return REFUSED;
  pen p = {&b, 0};
  int modes = 1 + pick(x, 2), at = pen_open(&p, MT_MODES);
  for (int k = 0; k < modes; k++) {
    int sum = p.n, terms = 2 + (rank > 2 && chance(x, 3));
    pen_tag(&p, MT_SUM);
    for (int i = 0; i < terms; i++) {
      pen_int(&p, between(x, 1, 3));
      mt_node *t = &b.node[p.n - 1];
      t->ring = MT_BASIS;
      t->path[0] = (uint8_t)i;
      t->path[MT_MAXPATH] = 1;
    }
    b.node[sum].arity = (uint16_t)terms;
    b.node[sum].span = (uint32_t)terms + 1;
    b.node[sum].shape = between(x, 1, 6);
  }
  pen_close(&p, at, modes);
  identity_of(&id, a.node);
  CASE(x, "sums", a.node, b.node);
  mt_status s = mt_composition(&r, a.node, b.node, &x->err);
  LAW(x, s == MT_OK || s == MT_EINEXACT || s == MT_ETOOBIG || s == MT_ERANK);
  if (s != MT_OK) return REFUSED;
  LAW(x, refines(r.node, b.node));
  for (int64_t i = 0; i < mt_size(b.node); i++) {
    mt_int(&c, i);
    LAW(x, !mt_eval(&v, c.node, b.node, &x->err));
    pen q = {&c, 0}; /* with 0 for the modes that B does not move */
    int top = pen_open(&q, MT_TUPLE);
    for (int k = 0; k < rank; k++) {
      if (k < v.node[0].arity) pen_copy(&q, mt_mode(v.node, k));
      else pen_int(&q, 0);
    }
    pen_close(&q, top, rank);
    is = 0;
    for (int k = 0; k < rank; k++)
      is += value_of(mt_mode(a.node, k), mt_mode(c.node, k)->shape);
    LAW(x, value_of(r.node, i) == is);
  }
  return RIGHT;
}

/* As a layout of coordinates a tiler composes as it does by mode. */
outcome property_tiler_to_layout (ctx *x) {
  mt_layout a, t, l, r, q;
  random_layout(x, &a, 216, ANY_STRIDES);
  random_tiler(x, &t, a.node, false);
  CASE(x, "tiler_to_layout", a.node, t.node);
  if (mt_rank(t.node) > mt_rank(a.node)) return REFUSED;
  LAW(x, !mt_tiler_to_layout(&l, t.node, &x->err));
  if (mt_size(l.node) == 0) return REFUSED; /* by mode others may still be refused */
  mt_status s = mt_composition(&r, a.node, t.node, &x->err);
  mt_status u = mt_composition(&q, a.node, l.node, &x->err);
  LAW(x, s == u || u == MT_ERANK || s == MT_ERANK);
  if (s != MT_OK || u != MT_OK) return REFUSED;
  LAW(x, mt_size(r.node) == mt_size(q.node));
  if (mt_size(r.node) > MAXSIZE) return RIGHT;
  for (int64_t i = 0; i < mt_size(r.node); i++)
    LAW(x, value_of(r.node, i) == value_of(q.node, i));
  return RIGHT;
}
