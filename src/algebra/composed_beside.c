/*
** composed_beside.c - sums of a layout and a function, each of coordinates of its own.
** SPDX-License-Identifier: MIT
**
** R(x, y) = A(x) + C(T(y)) = F(J(x, y)). J numbers x and T(y) together: the coordinates
** of x in k low bits, T(y) in the bits above. F has digits for both: the extents of A,
** rounded up to powers of two, before those of C.
**
**   J = x + 2^k * T(y), T = f o offset o L:
**       Sw<B,M+k,S> o 2^k * offset o (x, 2^k * L)      f a swizzle
**       (2^k, f):(1, 2^k * f) o 2^k * offset o (x, 2^k * L)      f a layout
**
** Over F2 the same: nothing carries where no bits meet.
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "algebra/composed.h"
#include "algebra/f2.h"

enum { MAXVALUES = 1 << 19 };

bool mt_is_more (const mt_node *t) {
  return mt_is_composed(t) || mt_is_swizzled(t) || (mt_is_layout(t) && mt_is_f2(t));
}

mt_status mt_number_range (int64_t *lo, int64_t *end, const char *op, const mt_node *t,
                           mt_err *err) {
  int64_t v;
  if (mt_plain_range(lo, end, t)) return MT_OK;
  if (mt_is_integral(t)) return mt_renamed(op, mt_footprint(lo, end, t, err), err);
  if (mt_size(t) > MAXVALUES)
    return mt_failn(err, MT_EUNSUPPORTED, "%s: of %N: more than %d values", op, t,
                    (int)MAXVALUES);
  *lo = *end = 0;
  for (int64_t i = 0; i < mt_size(t); i++) {
    MT_TRY(mt_number_at(&v, t, i, err));
    if (v >= *end && mt_addo(v, 1, end))
      return mt_failn(err, MT_EOVERFLOW, "%s: %N leaves 64 bits", op, t);
  }
  return MT_OK;
}

/* ---- the numbers of coordinates */

static int bits_of (int64_t n) { return n > 1 ? mt_bits(n - 1) : 0; }

static int all_bits (const mt_node *a) {
  int k = 0;
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a); p = mt_leaf(a, mt_after(p)))
    k += bits_of(p->shape);
  return k;
}

/* The extents of t, each with the stride that the one before has filled up from 2^*k on,
** to the next power of two. */
static void emit_numbers (mt_build *b, const mt_node *t, int *k, const mt_node *unit) {
  if (mt_is_branch(t)) {
    mt_open(b, MT_MODES);
    for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
      emit_numbers(b, c, k, unit);
    mt_close(b);
  } else {
    mt_add_scaled(b, t->shape, unit, INT64_C(1) << *k);
    *k += bits_of(t->shape);
  }
}

/* 2^k * t, t a layout. */
static void emit_scaled (mt_build *b, const mt_node *t, int k) {
  if (mt_is_branch(t)) {
    mt_open(b, MT_MODES);
    for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
      emit_scaled(b, c, k);
    mt_close(b);
  } else {
    mt_add_scaled(b, t->shape, t, INT64_C(1) << k);
  }
}

/* 1 in the ring of the layout t. */
static mt_node unit_of (const mt_node *t) {
  mt_node one = mt_leaf_of(1, 1);
  one.ring = mt_is_f2(t) ? MT_F2 : MT_Z;
  return one;
}

/* ---- J */

/* Opens a node as the root t, its offset 2^k times as large. */
static void open_scaled (mt_build *b, const mt_node *t, int k) {
  int64_t at;
  mt_open(b, (mt_tag)t->tag);
  if (b->status != MT_OK) return;
  mt_node *p = b->out->node + b->n - 1;
  if (mt_mulo(t->stride, INT64_C(1) << k, &at))
    mt_build_fail(b, MT_EOVERFLOW, "%s: the offset of %N times 2^%d leaves 64 bits",
                  b->op, t, k);
  *p = *t;
  p->span = 1;
  p->arity = 0;
  p->stride = at;
}

static int64_t lifted (mt_build *b, const mt_node *t, int k) {
  mt_swizzle w = mt_swizzle_of(t);
  if (w.m + w.b + (w.s < 0 ? -w.s : w.s) + k > 62)
    mt_build_fail(b, MT_EOVERFLOW, "%s: the bits of %N times 2^%d leave 64 bits", b->op,
                  t, k);
  return mt_swizzle_pack(w.b, w.m + k, w.s);
}

static void emit_lifted_list (mt_build *b, const mt_node *f, int k) {
  mt_node up = *f;
  up.path[0] = (uint8_t)(f->path[0] + k);
  if (up.path[0] > 61)
    mt_build_fail(b, MT_EOVERFLOW, "%s: the bits of %N times 2^%d leave 64 bits", b->op,
                  f, k);
  mt_add(b, &up);
}

/* f, of numbers whose k low bits stay as they are. */
static void emit_lifted (mt_build *b, const mt_node *f, int k) {
  if (f->tag == MT_SWIZZLE) {
    mt_open(b, MT_SWIZZLE);
    if (b->status == MT_OK) b->out->node[b->n - 1].shape = lifted(b, f, k);
    mt_close(b);
    return;
  }
  if (f->tag == MT_LIST) {
    emit_lifted_list(b, f, k);
    return;
  }
  const mt_node one = unit_of(f);
  mt_open(b, MT_MODES);
  mt_add_scaled(b, INT64_C(1) << k, &one, 1);
  emit_scaled(b, f, k);
  mt_close(b);
}

static void emit_joint (mt_build *b, const mt_node *a, const mt_node *t, int k) {
  int none = 0;
  for (; mt_is_composed(t) && b->status == MT_OK; t = mt_under(t)) {
    open_scaled(b, t, k);
    emit_lifted(b, mt_outer(t), k);
  }
  if (mt_is_swizzled(t)) {
    open_scaled(b, t, k);
    if (b->status == MT_OK) b->out->node[b->n - 1].shape = lifted(b, t, k);
    t = mt_child(t);
  }
  const mt_node one = unit_of(t);
  mt_open(b, MT_MODES);
  emit_numbers(b, a, &none, &one);
  emit_scaled(b, t, k);
  mt_close(b);
}

/* ---- F */

static void emit_digits (mt_build *b, const mt_node *a, const mt_node *c, int64_t end) {
  mt_open(b, MT_MODES);
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a); p = mt_leaf(a, mt_after(p)))
    mt_add_scaled(b, INT64_C(1) << bits_of(p->shape), p, 1);
  if (c) mt_add(b, c);
  else mt_add_leaf(b, end, 1);
  mt_close(b);
}

mt_status mt_beside (mt_layout *out, const char *op, const mt_node *a, const mt_node *c,
                     const mt_node *t, mt_err *err) {
  static const mt_node zero = {.tag = MT_INT, .span = 1};
  int64_t lo, end;
  mt_layout digits, joint;
  mt_build f, j;
  int k = all_bits(a);
  if (!mt_has_numbers(t))
    return mt_failn(err, MT_EINVAL, "%s: the values of %N are no integers", op, t);
  MT_TRY(mt_number_range(&lo, &end, op, t, err));
  if (lo < 0)
    return mt_failn(err, MT_EINEXACT, "%s: %N goes back, to %lld: it begins below 0", op,
                    t, (long long)lo);
  if (k + bits_of(end) > 61)
    return mt_failn(err, MT_EOVERFLOW, "%s: %N and %N together leave 64 bits", op, a, t);
  mt_begin(&f, &digits, op, err);
  emit_digits(&f, a, c, end);
  MT_TRY(mt_end(&f));
  mt_begin(&j, &joint, op, err);
  emit_joint(&j, a, t, k);
  MT_TRY(mt_end(&j));
  if (!mt_is_more(t)) return mt_link(out, op, digits.node, &zero, joint.node, err);
  return mt_renamed(op, mt_composition(out, digits.node, joint.node, err), err);
}

mt_status mt_swap_modes (mt_layout *out, const char *op, const mt_node *a, mt_err *err) {
  mt_build b;
  const mt_node *base = mt_base(a), *first = mt_child(base);
  mt_begin(&b, out, op, err);
  mt_open_root(&b, a);
  mt_open(&b, MT_MODES);
  mt_add(&b, mt_next(first));
  mt_add(&b, first);
  mt_close(&b);
  return mt_end(&b);
}
