/*
** contiguity.c - how far a layout counts on from its first offset.
** SPDX-License-Identifier: MIT
**
** Coalesced, a layout over the integers counts as far as its first mode, if that has
** stride 1: had the next one the stride that goes on, the two were one.
*/
#include "moontile/algebra.h"
#include "algebra/f2.h"

enum { STEPS = 1 << 20 };

/* Without a swizzle; over F2 it may go on after that. */
static int64_t run_of (const mt_flat *f) {
  return f->n > 0 && f->d[0]->stride == 1 ? f->s[0] : 1;
}

/* From *out elements on. */
static mt_status counted (int64_t *out, const char *op, const mt_node *a, int64_t n,
                          mt_err *err) {
  mt_flat f;
  int64_t first = 0, v = 0;
  bool f2 = !mt_is_composed(a) && mt_is_f2(a);
  if (f2) mt_flatten_extended(&f, a);
  else MT_TRY(mt_number_at(&first, a, 0, err));
  for (; *out < n; ++*out) {
    if (*out >= STEPS)
      return mt_failn(err, MT_EUNSUPPORTED,
                      "%s: %N goes on for %lld elements and "
                      "more; farther it is not followed",
                      op, a, (long long)*out);
    if (!f2) MT_TRY(mt_number_at(&v, a, *out, err));
    else if (!mt_f2_value(&v, &f, *out)) return MT_OK;
    if ((uint64_t)v - (uint64_t)first != (uint64_t)*out) return MT_OK;
  }
  return MT_OK;
}

static mt_status contiguity (int64_t *out, const char *op, const mt_node *a,
                             mt_err *err) {
  mt_flat f;
  int64_t n = mt_is_function(a) ? mt_size(a) : -1;
  if (n < 0) return mt_failn(err, MT_EINVAL, "%s: a layout expected", op);
  *out = n;
  if (n <= 1) return MT_OK;
  if (!mt_has_numbers(a))
    return mt_failn(err, MT_EINVAL,
                    "%s: the strides of %N are no integers; there is no "
                    "next offset",
                    op, a);
  if (mt_is_composed(a)) return *out = 1, counted(out, op, a, n, err);
  mt_flatten_coalesced(&f, mt_inner(a));
  *out = mt_is_swizzled(a) ? 1 : run_of(&f);
  return mt_is_swizzled(a) || mt_is_f2(a) ? counted(out, op, a, n, err) : MT_OK;
}

mt_status mt_contiguity (int64_t *out, const mt_node *a, mt_err *err) {
  return contiguity(out, "contiguity", a, err);
}

mt_status mt_is_contiguous (bool *out, const mt_node *a, mt_err *err) {
  int64_t n;
  MT_TRY(contiguity(&n, "is_contiguous", a, err));
  *out = n == mt_size(a);
  return MT_OK;
}
