/*
** eval.c - layouts as functions: offsets and coordinates.
** SPDX-License-Identifier: MIT
**
** An integer runs through the leaves as a colexicographic coordinate: digit i % s, carry
** i / s; the last leaf takes what is left. A leaf of extent 0 before it takes nothing.
*/
#include "core/build.h"

static mt_status negative (mt_err *err, const char *op, int64_t i) {
  return mt_fail(err, MT_ERANGE, "%s: coordinate %lld is negative", op, (long long)i);
}

static mt_status no_offset (mt_err *err, const char *op, const mt_node *a) {
  return mt_failn(err, MT_EOVERFLOW, "%s: an offset of %N leaves 64 bits", op, a);
}

/* *i = *i / s, returns *i % s. s > 0, *i >= 0. */
static inline int64_t take_digit (int64_t *i, int64_t s) {
  int64_t digit;
  if (((*i | s) >> 32) == 0) {
    uint32_t u = (uint32_t)*i, v = (uint32_t)s;
    digit = u % v;
    *i = u / v;
  } else {
    digit = *i % s;
    *i /= s;
  }
  return digit;
}

/* ---- integer strides */

static mt_status add (int64_t *sum, int64_t digit, const mt_node *p) {
  int64_t d;
  return mt_mulo(digit, p->stride, &d) || mt_addo(*sum, d, sum) ? MT_EOVERFLOW : MT_OK;
}

/* *out = a(i) for an `a` with integer strides, swizzled or not: the common case. False:
** another way will tell. */
static bool at_once (int64_t *out, const mt_node *a, int64_t i) {
  const mt_node *in = mt_inner(a), *end = mt_next(in), *last = NULL;
  int64_t sum = in == a ? 0 : a->stride;
  if (i < 0) return false;
  for (const mt_node *p = in; p < end; p++) {
    if (p->tag == MT_MODES) continue;
    if (p->tag != MT_LEAF || p->ring != MT_Z) return false;
    if (last && last->shape > 0 && add(&sum, take_digit(&i, last->shape), last) != MT_OK)
      return false;
    last = p;
  }
  if (last && add(&sum, i, last) != MT_OK) return false;
  *out = in == a ? sum : mt_swizzle_apply(mt_swizzle_of(a), sum);
  return true;
}

/* *sum += a(i) for an `a` with integer strides. MT_EOVERFLOW without a text. */
static mt_status add_at (int64_t *sum, const mt_node *a, int64_t i) {
  const mt_node *last = NULL, *end = mt_next(a);
  for (const mt_node *p = a; p < end && i > 0; p++) {
    if (p->tag != MT_LEAF) continue;
    if (last && last->shape > 0) MT_TRY(add(sum, take_digit(&i, last->shape), last));
    last = p;
  }
  return last && i > 0 ? add(sum, i, last) : MT_OK;
}

static MT_APART mt_status composed_integer (int64_t *out, const char *op,
                                            const mt_node *c, const mt_node *a,
                                            mt_err *err) {
  if (mt_is_integral(a)) return mt_renamed(op, mt_composed_number(out, c, a, err), err);
  return mt_failn(err, MT_EINVAL, "%s: the values of %N are no integers", op, a);
}

mt_status mt_at (int64_t *out, const mt_node *a, int64_t i, mt_err *err) {
  const mt_node *in = mt_inner(a);
  int64_t sum = in == a ? 0 : a->stride;
  if (at_once(out, a, i)) return MT_OK;
  if (mt_is_composed(a)) {
    const mt_node c = {.tag = MT_INT, .span = 1, .shape = i};
    return composed_integer(out, "call", &c, a, err);
  }
  MT_CHECK(mt_is_layout(a), err, "call: a layout expected");
  if (i < 0) return negative(err, "call", i);
  if (in->tag != MT_LEAF && !mt_is_integral(in))
    return mt_failn(err, MT_EINVAL, "call: the strides of %N are no integers", a);
  if (in->tag == MT_LEAF && in->ring != MT_Z)
    return mt_failn(err, MT_EINVAL, "call: the stride of %N is no integer", a);
  if (add_at(&sum, in, i) != MT_OK) return no_offset(err, "call", a);
  *out = in == a ? sum : mt_swizzle_apply(mt_swizzle_of(a), sum);
  return MT_OK;
}

/* ---- any ring: a coordinate is a sum of terms */

typedef struct point {
  const char *op;
  const mt_node *whole;
  mt_err *err;
  int64_t sum; /* the integer or F2 part */
  bool f2;     /* which of them */
  int n;
  mt_node term[MT_MAXNODES]; /* in the order of their paths */
} point;

static void begin (point *x, const char *op, const mt_node *whole, mt_err *err) {
  x->op = op;
  x->whole = whole;
  x->err = err;
  x->sum = x->n = 0;
  x->f2 = false;
}

static mt_status add_term (point *x, const mt_node *path, int64_t d, int64_t digit) {
  int64_t v;
  int i = 0;
  if (mt_mulo(d, digit, &v)) return no_offset(x->err, x->op, x->whole);
  while (i < x->n && mt_compare_paths(&x->term[i], path) < 0) i++;
  if (i == x->n || mt_compare_paths(&x->term[i], path) != 0) {
    memmove(x->term + i + 1, x->term + i, (size_t)(x->n - i) * sizeof *x->term);
    x->term[i] = *path;
    x->term[i].tag = MT_INT;
    x->term[i].shape = 0;
    x->n++;
  }
  if (mt_addo(x->term[i].shape, v, &x->term[i].shape))
    return no_offset(x->err, x->op, x->whole);
  return MT_OK;
}

static MT_APART mt_status add_f2 (point *x, const mt_node *p, int64_t digit) {
  int64_t v;
  if (mt_f2_mulo(digit, p->stride, &v)) return no_offset(x->err, x->op, x->whole);
  x->sum ^= v;
  x->f2 = true;
  return MT_OK;
}

static mt_status add_leaf (point *x, const mt_node *p, int64_t digit) {
  if (p->tag == MT_SUM) {
    for (const mt_node *c = mt_child(p); c < mt_next(p); c++)
      MT_TRY(add_term(x, c, c->shape, digit));
  } else if (p->ring == MT_BASIS) {
    return add_term(x, p, p->stride, digit);
  } else if (p->ring == MT_F2) {
    return add_f2(x, p, digit);
  } else if (add(&x->sum, digit, p) != MT_OK) {
    return no_offset(x->err, x->op, x->whole);
  }
  return MT_OK;
}

static mt_status add_index (point *x, const mt_node *a, int64_t i) {
  const mt_node *last = NULL;
  if (i < 0) return negative(x->err, x->op, i);
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a); p = mt_leaf(a, mt_after(p))) {
    if (last && last->shape > 0) MT_TRY(add_leaf(x, last, take_digit(&i, last->shape)));
    last = p;
  }
  return last ? add_leaf(x, last, i) : MT_OK;
}

/* An F2 value as a coordinate: its bits are the digits, if these begin at bits. */
static mt_status add_bits (point *x, const mt_node *a, const mt_node *c) {
  const mt_node *last = NULL;
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a); p = mt_leaf(a, mt_after(p))) {
    if (last && !mt_is_power(last->shape))
      return mt_failn(
          x->err, MT_EUNSUPPORTED,
          "%s: the extent %lld of %N is no power of two: the F2 coordinate %N "
          "has no digits there",
          x->op, (long long)last->shape, a, c);
    last = p;
  }
  return add_index(x, a, c->shape);
}

/* A coordinate c of a: an integer, an F2 value, `_` (0), or a tuple with a coordinate for
** each mode. */
static mt_status add_coord (point *x, const mt_node *c, const mt_node *a) {
  if (c->tag == MT_WILD) return MT_OK;
  if (c->tag == MT_INT && c->ring == MT_Z) return add_index(x, a, c->shape);
  if (c->tag == MT_INT && c->ring == MT_F2) return add_bits(x, a, c);
  if (c->tag != MT_TUPLE)
    return mt_failn(x->err, MT_EINVAL, "%s: %N is no coordinate", x->op, c);
  if (c->arity != mt_rank(a))
    return mt_failn(x->err, MT_ERANK, "%s: coordinate %N has %d modes, %N has %d", x->op,
                    c, (int)c->arity, a, mt_rank(a));
  const mt_node *m = mt_first_mode(a);
  for (const mt_node *k = mt_child(c); k < mt_next(c); k = mt_next(k), m = mt_next(m))
    MT_TRY(add_coord(x, k, m));
  return MT_OK;
}

/* A shape as a layout whose offsets are indices: every stride the product of the
** extents before. */
static mt_status index_layout (mt_layout *out, const mt_node *shape, mt_err *err) {
  int64_t run = 1;
  MT_TRY(mt_layout_left(out, shape, err));
  for (mt_node *p = out->node; p < out->node + out->node[0].span; p++) {
    if (p->tag != MT_LEAF) continue;
    p->stride = run;
    if (mt_mulo(run, p->shape > 0 ? p->shape : 1, &run)) run = 0;
  }
  return MT_OK;
}

mt_status mt_crd2idx (int64_t *out, const mt_node *c, const mt_node *a, mt_err *err) {
  point x;
  mt_layout shape;
  begin(&x, "crd2idx", a, err);
  if (a->tag == MT_TUPLE || a->tag == MT_INT) {
    MT_TRY(index_layout(&shape, a, err));
    x.whole = a = shape.node;
  }
  if (mt_is_composed(a)) return composed_integer(out, "crd2idx", c, a, err);
  MT_CHECK(mt_is_layout(a), err, "crd2idx: a layout expected");
  if (!mt_is_integral(a))
    return mt_failn(err, MT_EINVAL, "crd2idx: the strides of %N are no integers", a);
  if (mt_is_swizzled(a)) x.sum = a->stride;
  MT_TRY(add_coord(&x, c, mt_inner(a)));
  *out = mt_is_swizzled(a) ? mt_swizzle_apply(mt_swizzle_of(a), x.sum) : x.sum;
  return MT_OK;
}

/* Emits the coordinate of terms [i, j), which agree in their outer `level` indices; j
** > i. */
static void emit_point (mt_build *b, const point *x, int i, int j, int level) {
  int n = x->term[i].path[MT_MAXPATH];
  if (n == level && j == i + 1) {
    mt_add_int(b, x->term[i].shape);
    return;
  }
  if (n == level) {
    if (b->status == MT_OK)
      b->status = mt_failn(x->err, MT_EINVAL,
                           "%s: the strides of %N are no coordinates of one "
                           "space: one index path begins another",
                           x->op, x->whole);
    return;
  }
  mt_open(b, MT_TUPLE);
  for (int mode = 0; i < j && b->status == MT_OK; mode++) {
    int k = i;
    while (k < j && x->term[k].path[x->term[k].path[MT_MAXPATH] - 1 - level] == mode) k++;
    if (k == i) mt_add_int(b, 0);
    else emit_point(b, x, i, k, level + 1);
    i = k;
  }
  mt_close(b);
}

mt_status mt_eval_in (mt_layout *out, const mt_node *c, const mt_node *a,
                      const mt_node *space, mt_err *err) {
  point x;
  mt_build b;
  int64_t v;
  if (mt_is_composed(a)) return mt_eval_composed(out, c, a, err);
  MT_CHECK(mt_is_layout(a), err, "call: a layout expected");
  if (mt_is_integral(a) && (a == space || mt_is_integral(space))) {
    MT_TRY(mt_crd2idx(&v, c, a, err));
    mt_int(out, v);
    return MT_OK;
  }
  begin(&x, "call", a, err);
  for (const mt_node *p = mt_leaf(space, space); p < mt_next(space);
       p = mt_leaf(space, mt_after(p)))
    MT_TRY(add_leaf(&x, p, 0)); /* each axis of the space, at 0 */
  MT_TRY(add_coord(&x, c, a));
  if (x.f2) {
    mt_int(out, x.sum);
    out->node[0].ring = MT_F2;
    return MT_OK;
  }
  mt_begin(&b, out, "call", err);
  emit_point(&b, &x, 0, x.n, 0);
  return mt_end(&b);
}

mt_status mt_eval (mt_layout *out, const mt_node *c, const mt_node *a, mt_err *err) {
  int64_t v;
  if (c->tag == MT_INT && c->ring == MT_Z && at_once(&v, a, c->shape)) {
    mt_int(out, v);
    return MT_OK;
  }
  return mt_eval_in(out, c, a, a, err);
}

mt_status mt_number_at (int64_t *out, const mt_node *a, int64_t i, mt_err *err) {
  const mt_node c = {.tag = MT_INT, .span = 1, .shape = i};
  return at_once(out, a, i) ? MT_OK : mt_composed_number(out, &c, a, err);
}

/* ---- the inverse */

/* The coordinate of *i in the tree of t; `last` is the leaf without a bound. */
static void emit_coord (mt_build *b, const mt_node *t, const mt_node *last, int64_t *i) {
  if (mt_is_branch(t)) {
    mt_open(b, MT_TUPLE);
    for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
      emit_coord(b, c, last, i);
    mt_close(b);
  } else if (t == last || t->shape <= 0) {
    mt_add_int(b, t == last ? *i : 0);
  } else {
    mt_add_int(b, take_digit(i, t->shape));
  }
}

mt_status mt_idx2crd (mt_layout *out, int64_t i, const mt_node *shape, mt_err *err) {
  mt_build b;
  const mt_node *last = NULL;
  shape = mt_base(shape);
  if (i < 0) return negative(err, "idx2crd", i);
  for (const mt_node *p = shape; p < mt_next(shape); p = mt_after(p)) {
    bool extent = mt_is_leaf(p) || (p->tag == MT_INT && p->ring == MT_Z);
    if (mt_is_branch(p) && p->tag != MT_TILER) continue;
    if (!extent || p->shape < 0)
      return mt_failn(err, MT_EINVAL, "idx2crd: %N is no shape", shape);
    last = p;
  }
  mt_begin(&b, out, "idx2crd", err);
  emit_coord(&b, shape, last, &i);
  return mt_end(&b);
}
