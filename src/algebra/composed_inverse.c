/*
** composed_inverse.c - inverses of composed layouts.
** SPDX-License-Identifier: MIT
**
** What undoes f o n o A is what undoes A, after -n and what undoes f. That holds where
** each takes what the other gives; so the values are compared. A link has no values below
** 0: in the place of i - n stands i + m - n, m the size of what undoes A, which starts
** again there.
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "algebra/composed.h"
#include "algebra/linear.h"

enum { MAXVALUES = 1 << 16 };

/* What is applied last, of a swizzled a too, and what before. */
static const mt_node *outer_of (mt_node *room, const mt_node *a) {
  if (mt_is_composed(a)) return mt_outer(a);
  *room = *a;
  room->span = 1;
  room->arity = 0;
  room->stride = 0;
  return room;
}

static const mt_node *under_of (const mt_node *a) {
  return mt_is_composed(a) ? mt_under(a) : mt_child(a);
}

typedef mt_status inverse (mt_layout *out, const mt_node *a, mt_err *err);

/* The places of the values of f, a list that has them beside it. */
static mt_status undo_list (mt_layout *out, const char *op, const mt_node *f,
                            mt_err *err) {
  mt_build b;
  mt_node places = *f;
  int64_t far = f->shape * (int64_t)sizeof(int64_t);
  places.stride += f->path[1] == 1 ? far : -far;
  places.path[1] = (uint8_t)(3 - f->path[1]);
  mt_begin(&b, out, op, err);
  mt_open(&b, MT_COMPOSED);
  mt_add(&b, &places);
  mt_add_leaf(&b, f->shape << f->path[0], 1);
  return mt_end(&b);
}

/* What undoes f on 0 .. n-1. */
static mt_status undo (mt_layout *out, const char *op, inverse *inv, const mt_node *f,
                       int64_t n, mt_err *err) {
  mt_build b;
  if (f->tag == MT_LIST && f->path[1] != 0) return undo_list(out, op, f, err);
  if (f->tag == MT_LIST)
    return mt_failn(err, MT_EUNSUPPORTED,
                    "%s: of the list %N: none was found: it has more than 65536 values, "
                    "one below 0, or none that is 0",
                    op, f);
  if (f->tag != MT_SWIZZLE) return inv(out, f, err);
  mt_begin(&b, out, op, err);
  mt_open(&b, MT_SWIZZLE);
  out->node[0].shape = f->shape;
  mt_add_leaf(&b, n, 1);
  return mt_end(&b);
}

/* x o y, whatever they are. */
static mt_status after (mt_layout *out, const char *op, const mt_node *x,
                        const mt_node *y, mt_err *err) {
  static const mt_node zero = {.tag = MT_INT, .span = 1};
  MT_TRYERR(quiet, err);
  if (mt_composition(out, x, y, &quiet) == MT_OK) return MT_OK;
  return mt_link(out, op, x, &zero, y, err);
}

/* x o (y - n), of y at or above n: x starts again behind its end. */
static mt_status after_offset (mt_layout *out, const char *op, const mt_node *x,
                               int64_t n, const mt_node *y, mt_err *err) {
  const mt_node again = mt_leaf_of(INT32_MAX, 0), one = mt_leaf_of(1, 1);
  mt_node at = {.tag = MT_INT, .span = 1};
  mt_layout periodic, integers;
  int64_t size = mt_size(x);
  mt_build b;
  if (n == 0 || size == 0) return after(out, op, x, y, err);
  at.shape = (size - (n % size + size) % size) % size;
  mt_begin(&b, &periodic, op, err);
  mt_open_root(&b, x);
  mt_open(&b, MT_MODES);
  mt_add(&b, mt_base(x));
  mt_add(&b, &again);
  MT_TRY(mt_end(&b));
  if (!mt_is_integral(y)) {
    MT_TRY(mt_link(&integers, op, &one, &(mt_node){.tag = MT_INT, .span = 1}, y, err));
    y = integers.node;
  }
  return mt_link(out, op, periodic.node, &at, y, err);
}

static mt_status none_found (mt_err *err, const char *op, const mt_node *a) {
  return mt_failn(err, MT_EINEXACT,
                  "%s: of %N: none was found: what undoes its parts does not undo it", op,
                  a);
}

/* Of a right inverse: R(0) would be where a is 0. */
static mt_status none_is_0 (mt_err *err, const char *op, const mt_node *a) {
  int64_t lo, end;
  MT_TRYERR(quiet, err);
  if (mt_number_range(&lo, &end, op, a, &quiet) != MT_OK || lo <= 0)
    return none_found(err, op, a);
  return mt_failn(err, MT_EINEXACT,
                  "%s: %N has none: its least value is %lld, so no R has A(R(0)) = 0", op,
                  a, (long long)lo);
}

static mt_status want (const char *op, const mt_node *a, mt_err *err) {
  if (!mt_has_numbers(a))
    return mt_failn(err, MT_EINVAL, "%s: the values of %N are no integers", op, a);
  if (a->stride != 0 && a->ring == MT_F2)
    return mt_failn(err, MT_EUNSUPPORTED, "%s: of %N: its offset is over F2", op, a);
  if (mt_size(a) > MAXVALUES)
    return mt_failn(err, MT_EUNSUPPORTED, "%s: of %N: more than %d values to compare", op,
                    a, (int)MAXVALUES);
  return MT_OK;
}

/* How many i from 0 on have a(r(i)) = i, at most n. */
static int64_t undone (const mt_node *a, const mt_node *r, int64_t n) {
  int64_t i = 0, j, k;
  MT_NEWERR(err);
  while (i < n && mt_number_at(&j, r, i, &err) == MT_OK && j >= 0 && j < mt_size(a) &&
         mt_number_at(&k, a, j, &err) == MT_OK && k == i)
    i++;
  return i;
}

mt_status mt_composed_right_inverse (mt_layout *out, const mt_node *a, mt_err *err) {
  static const char *const op = "right_inverse";
  mt_layout x, f, r;
  mt_node room;
  if (mt_linear_right_inverse(out, a, 0)) return MT_OK;
  MT_TRY(want(op, a, err));
  MT_TRY(mt_right_inverse(&x, under_of(a), err));
  MT_TRY(undo(&f, op, mt_right_inverse, outer_of(&room, a), mt_size(x.node), err));
  MT_TRY(after_offset(&r, op, x.node, a->stride, f.node, err));
  int64_t n = mt_size(r.node), m = undone(a, r.node, n < MAXVALUES ? n : MAXVALUES);
  const mt_node some = mt_leaf_of(m, 1);
  if (m == n) return mt_copy_value(out, r.node), MT_OK;
  if (m == 0) return none_is_0(err, op, a);
  return after(out, op, r.node, &some, err);
}

/* a(l(a(i))) = a(i), and l gives the least such index. */
static bool undoes (const mt_node *l, const mt_node *a) {
  int64_t v, j, w;
  MT_NEWERR(err);
  for (int64_t i = 0; i < mt_size(a); i++)
    if (mt_number_at(&v, a, i, &err) || v < 0 || mt_number_at(&j, l, v, &err) || j < 0 ||
        j > i || mt_number_at(&w, a, j, &err) || w != v)
      return false;
  return true;
}

/* What is applied last, as far as what is before goes: a layout has values behind its
** end, too. k: 0 up to a power of two, 1 no further, 2 as it is; NULL: it is not that, or
** is so as a chain only, of which the question would be the same again. */
static const mt_node *reached (mt_layout *out, mt_node *room, const char *op,
                               const mt_node *a, int k, mt_err *err) {
  int64_t lo, end;
  const mt_node *f = outer_of(room, a);
  MT_TRYERR(quiet, err);
  if (k == 2) return f;
  if (f->tag == MT_SWIZZLE) return NULL;
  if (mt_number_range(&lo, &end, op, under_of(a), &quiet) != MT_OK) return NULL;
  if (a->ring == MT_F2) end |= a->stride;
  else if (mt_addo(end, a->stride, &end)) return NULL;
  if (end < 1 || end > MAXVALUES) return NULL;
  const mt_node n = mt_leaf_of(k == 0 ? INT64_C(1) << mt_bits(end - 1) : end, 1);
  if (mt_composition(out, f, &n, &quiet) != MT_OK) return NULL;
  return mt_base(out->node) == out->node ? out->node : NULL;
}

/* x, which undoes what is before, after what undoes f; that has `end` values. */
static mt_status undo_both (mt_layout *out, const mt_node *a, const mt_node *x,
                            const mt_node *f, int64_t end, mt_err *err) {
  static const char *const op = "left_inverse";
  mt_layout back;
  MT_TRY(undo(&back, op, mt_left_inverse, f, end, err));
  MT_TRY(after_offset(out, op, x, a->stride, back.node, err));
  return undoes(out->node, a) ? MT_OK : none_found(err, op, a);
}

/* One more than the largest value. */
static mt_status end_of (int64_t *end, const mt_node *a, mt_err *err) {
  int64_t v;
  *end = 1;
  for (int64_t i = 0; i < mt_size(a); i++) {
    MT_TRY(mt_number_at(&v, a, i, err));
    if (v >= *end && mt_addo(v, 1, end)) return MT_EOVERFLOW;
  }
  return MT_OK;
}

mt_status mt_composed_left_inverse (mt_layout *out, const mt_node *a, mt_err *err) {
  static const char *const op = "left_inverse";
  mt_layout x, some;
  mt_node room;
  int64_t end;
  if (mt_linear_left_inverse(out, a) && (mt_size(a) > MAXVALUES || undoes(out->node, a)))
    return MT_OK;
  MT_TRY(want(op, a, err));
  MT_TRY(end_of(&end, a, err));
  MT_TRY(mt_left_inverse(&x, under_of(a), err));
  for (int k = 0; k < 3; k++) {
    const mt_node *f = reached(&some, &room, op, a, k, err);
    mt_status s = f ? undo_both(out, a, x.node, f, end, err) : MT_EINEXACT;
    if (s == MT_OK || s == MT_ESTOPPED || k == 2) return s;
    mt_forgive(err);
  }
  return none_found(err, op, a);
}
