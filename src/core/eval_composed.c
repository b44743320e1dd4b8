/*
** eval_composed.c - composed layouts as functions: numbers that go from link to link.
** SPDX-License-Identifier: MIT
**
** f o offset o A is evaluated from the right. What lies between two links is an integer,
** or a value over F2, whose bits are the digits of an index.
*/
#include "core/build.h"

typedef struct number {
  int64_t v;
  bool f2;
} number;

static mt_status leaves_64_bits (const mt_node *a, mt_err *err) {
  return mt_failn(err, MT_EOVERFLOW, "call: an offset of %N leaves 64 bits", a);
}

/* *x += digit * stride(p), over F2 by xor. False: that leaves 64 bits. */
static bool add_step (number *x, const mt_node *p, int64_t digit) {
  int64_t v;
  if (p->ring != MT_F2) return !mt_mulo(digit, p->stride, &v) && !mt_addo(x->v, v, &x->v);
  x->f2 = true;
  if (mt_f2_mulo(digit, p->stride, &v)) return false;
  x->v ^= v;
  return true;
}

static mt_status no_digits (const mt_node *f, const mt_node *p, int64_t i, mt_err *err) {
  return mt_failn(err, MT_EUNSUPPORTED,
                  "call: the extent %lld of %N is no power of two: the F2 coordinate "
                  "F%lld has no digits there",
                  (long long)p->shape, f, (long long)i);
}

/* x = f(x) for an f that has numbers, swizzled or not; x->v >= 0. */
static mt_status take_forward (number *x, const mt_node *f, mt_err *err) {
  const mt_node *in = mt_inner(f), *last = NULL;
  int64_t i = x->v, index = i;
  bool bits = x->f2;
  *x = (number){in == f ? 0 : f->stride, false};
  for (const mt_node *p = in; p < mt_next(in); p++) {
    if (p->tag != MT_LEAF) continue;
    if (last && bits && !mt_is_power(last->shape)) return no_digits(f, last, index, err);
    if (last && last->shape > 0) {
      if (!add_step(x, last, i % last->shape)) return leaves_64_bits(f, err);
      i /= last->shape;
    }
    last = p;
  }
  if (last && !add_step(x, last, i)) return leaves_64_bits(f, err);
  if (in != f) x->v = mt_swizzle_apply(mt_swizzle_of(f), x->v);
  return MT_OK;
}

/* The same for any x->v of an f over Z without a swizzle: f(-i) = -f(i), as in CuTe: each
** digit has the sign of the index. */
static mt_status take_layout (number *x, const mt_node *f, mt_err *err) {
  bool back = x->v < 0;
  if (back && mt_subo(0, x->v, &x->v)) return leaves_64_bits(f, err);
  MT_TRY(take_forward(x, f, err));
  return back && mt_subo(0, x->v, &x->v) ? leaves_64_bits(f, err) : MT_OK;
}

/* x = value x of a list; its low bits stay. */
static mt_status take_value (number *x, const mt_node *f, mt_err *err) {
  int64_t low = INT64_C(1) << f->path[0], i = x->v / low, v;
  if (i >= f->shape)
    return mt_fail(err, MT_ERANGE,
                   "call: a list of %lld values has none at %lld: past its coordinates a "
                   "function that is listed is not known",
                   (long long)f->shape, (long long)i);
  if (mt_mulo(mt_list_values(f)[i], low, &v) || mt_addo(v, x->v % low, &v))
    return leaves_64_bits(f, err);
  *x = (number){v, false};
  return MT_OK;
}

/* x = offset + x */
static mt_status take_offset (number *x, const mt_node *a, mt_err *err) {
  if (a->ring == MT_F2) x->v ^= a->stride;
  else if (mt_addo(x->v, a->stride, &x->v)) return leaves_64_bits(a, err);
  if (x->v >= 0 || mt_has_values_below_0(mt_outer(a))) return MT_OK;
  return mt_failn(err, MT_ERANGE, "call: %N asks %N at %lld, before its beginning", a,
                  mt_outer(a), (long long)x->v);
}

/* x = f(offset + x) for the link a. */
static mt_status take_link (number *x, const mt_node *a, mt_err *err) {
  MT_TRY(take_offset(x, a, err));
  if (mt_outer(a)->tag == MT_LIST) return take_value(x, mt_outer(a), err);
  if (mt_outer(a)->tag != MT_SWIZZLE || mt_outer(a)->arity == 1)
    return take_layout(x, mt_outer(a), err);
  x->v = mt_swizzle_apply(mt_swizzle_of(mt_outer(a)), x->v);
  return MT_OK;
}

/* What is under all links, at a coordinate that is no number. */
static MT_APART mt_status take_coordinate (number *x, const mt_node *c, const mt_node *a,
                                           mt_err *err) {
  mt_layout v;
  MT_TRY(mt_eval(&v, c, a, err));
  *x = (number){v.node[0].shape, v.node[0].ring == MT_F2};
  if (v.node[0].tag == MT_INT && v.node[0].ring != MT_BASIS) return MT_OK;
  return mt_failn(err, MT_EINVAL, "call: %N is no index", v.node);
}

static mt_status number_of (number *x, const mt_node *c, const mt_node *a, mt_err *err) {
  bool counts = c->tag == MT_INT && c->ring != MT_BASIS;
  if (!mt_is_composed(a) && !(counts && mt_has_numbers(a)))
    return take_coordinate(x, c, a, err);
  if (!mt_is_composed(a)) {
    *x = (number){c->shape, c->ring == MT_F2};
    if (x->v >= 0) return take_layout(x, a, err);
    return mt_fail(err, MT_ERANGE, "call: coordinate %lld is negative", (long long)x->v);
  }
  MT_TRY(number_of(x, c, mt_under(a), err));
  return take_link(x, a, err);
}

static mt_status take_above (number *x, const mt_node *a, mt_err *err) {
  if (mt_is_composed(a)) {
    MT_TRY(take_above(x, mt_under(a), err));
    return take_link(x, a, err);
  }
  if (!mt_is_swizzled(a)) return MT_OK;
  if (mt_addo(x->v, a->stride, &x->v)) return leaves_64_bits(a, err);
  x->v = mt_swizzle_apply(mt_swizzle_of(a), x->v);
  return MT_OK;
}

mt_status mt_above_base (int64_t *v, const mt_node *a, mt_err *err) {
  number x = {*v, false};
  MT_TRY(take_above(&x, a, err));
  *v = x.v;
  return MT_OK;
}

mt_status mt_composed_number (int64_t *out, const mt_node *c, const mt_node *a,
                              mt_err *err) {
  number x;
  if (!mt_has_numbers(a))
    return mt_failn(err, MT_EINVAL, "call: the values of %N are no integers", a);
  MT_TRY(number_of(&x, c, a, err));
  *out = x.v;
  return MT_OK;
}

mt_status mt_eval_composed (mt_layout *out, const mt_node *c, const mt_node *a,
                            mt_err *err) {
  number x;
  bool numbers = mt_has_numbers(a);
  if (numbers) {
    MT_TRY(number_of(&x, c, a, err));
  } else {
    MT_TRY(number_of(&x, c, mt_under(a), err));
    MT_TRY(take_offset(&x, a, err));
  }
  const mt_node v = {.tag = MT_INT, .ring = x.f2 ? MT_F2 : MT_Z, .span = 1, .shape = x.v};
  if (!numbers) return mt_eval(out, &v, mt_outer(a), err);
  out->node[0] = v;
  return MT_OK;
}
