/*
** equivalent.c - whether two layouts are one function, and if not, where.
** SPDX-License-Identifier: MIT
**
** Coalesced, a layout over Z or of coordinates has one form: the first mode s:d ends
** where A(s) is not s*d, and so on. So where two of these differ, at the mode of index
** step p, A and B differ at p, or where the shorter of two modes with one stride ends.
*/
#include "moontile/algebra.h"
#include "algebra/f2.h"

enum { STEPS = 1 << 20 };

static bool same_stride (const mt_node *a, const mt_node *b) {
  if (mt_zero_stride(a) || mt_zero_stride(b))
    return mt_zero_stride(a) && mt_zero_stride(b);
  if (a->tag != b->tag || a->span != b->span) return false;
  if (a->tag == MT_SUM) {
    for (uint32_t i = 1; i < a->span; i++)
      if (a[i].shape != b[i].shape || !mt_same_path(a + i, b + i)) return false;
    return true;
  }
  return a->stride == b->stride && mt_same_path(a, b);
}

/* The first index where two coalesced forms differ; -1: none. */
static int64_t first_difference (const mt_flat *f, const mt_flat *g) {
  int64_t p = 1;
  for (int r = 0; r < f->n && r < g->n; r++) {
    if (!same_stride(f->d[r], g->d[r])) return p;
    if (f->s[r] != g->s[r]) return p * (f->s[r] < g->s[r] ? f->s[r] : g->s[r]);
    p *= f->s[r]; /* at most the size of A */
  }
  return f->n == g->n ? -1 : p;
}

/* ---- swizzled, composed or over F2: the values, one by one */

static mt_status value_at (int64_t *out, const mt_node *a, int64_t i, mt_err *err) {
  mt_flat f;
  if (mt_is_composed(a)) return mt_number_at(out, a, i, err);
  if (!mt_is_f2(a)) return mt_at(out, a, i, err);
  mt_flatten_extended(&f, a);
  if (mt_f2_value(out, &f, i)) return MT_OK;
  return mt_failn(err, MT_EOVERFLOW, "equivalent: A(%lld) of A = %N leaves %d bits",
                  (long long)i, a, (int)MT_F2BITS);
}

static mt_status compare (int64_t *at, const mt_node *a, const mt_node *b, mt_err *err) {
  int64_t n = mt_size(a), v, w;
  for (int64_t i = 0; i < n; i++) {
    if (i == STEPS)
      return mt_failn(err, MT_EUNSUPPORTED,
                      "equivalent: A = %N and B = %N agree in the "
                      "first %d of %lld values; farther they are not compared",
                      a, b, (int)STEPS, (long long)n);
    MT_TRY(value_at(&v, a, i, err));
    MT_TRY(value_at(&w, b, i, err));
    if (v != w) return *at = i, MT_OK;
  }
  *at = -1;
  return MT_OK;
}

/* One swizzle and offset, or none. */
static bool same_root (const mt_node *a, const mt_node *b) {
  if (mt_is_swizzled(a) != mt_is_swizzled(b)) return false;
  return !mt_is_swizzled(a) || (a->shape == b->shape && a->stride == b->stride);
}

mt_status mt_equivalent (bool *out, int64_t *at, const mt_node *a, const mt_node *b,
                         mt_err *err) {
  mt_flat f, g;
  int64_t where = -1;
  MT_CHECK(mt_is_function(a) && mt_is_function(b), err,
           "equivalent: two layouts expected");
  *out = mt_size(a) == mt_size(b);
  if (*out && (mt_is_composed(a) || mt_is_composed(b))) {
    if (mt_has_numbers(a) && mt_has_numbers(b)) MT_TRY(compare(&where, a, b, err));
    else where = mt_equal(a, b) ? -1 : 0;
    *out = where < 0;
  } else if (*out && mt_size(a) > 0) {
    mt_flatten_coalesced(&f, mt_inner(a));
    mt_flatten_coalesced(&g, mt_inner(b));
    where = first_difference(&f, &g);
    bool swizzled = mt_is_swizzled(a) || mt_is_swizzled(b);
    bool counted = swizzled || mt_is_f2(a) || mt_is_f2(b);
    if (same_root(a, b) && (where < 0 || swizzled)) counted = false;
    if (counted && mt_has_numbers(a) && mt_has_numbers(b))
      MT_TRY(compare(&where, a, b, err));
    *out = where < 0;
  }
  if (at) *at = where;
  return MT_OK;
}
