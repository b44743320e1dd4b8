/*
** swizzle_recast.c - swizzles in wider and narrower elements; runs that stay together.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "algebra/swizzle.h"

/* ---- wider, narrower */

static mt_status log2_of (int *out, const char *op, const mt_node *a, int64_t n,
                          mt_err *err) {
  if (n <= 0 || (n & (n - 1)) != 0)
    return mt_failn(err, MT_EINVAL,
                    "%s: of %N by %lld: a swizzle moves bits; a power of two is "
                    "expected",
                    op, a, (long long)n);
  *out = __builtin_ctzll((uint64_t)n);
  return MT_OK;
}

/* w(n*j) / n: the bits below log2(n) are gone, from the lower end of Y and Z. */
static mt_swizzle wider (mt_swizzle w, int log2) {
  int m = w.m - log2, b = m < 0 ? w.b + m : w.b;
  return (mt_swizzle){b > 0 ? b : 0, m > 0 ? m : 0, w.s};
}

/* The bits of a place in an element of n that flip bits of the number of the element. */
static int64_t leaving (mt_swizzle w, int64_t n) {
  int64_t first = w.s < 0 ? n >> -w.s : n; /* the smallest that goes to n or above */
  return mt_swizzle_y(w) & (n - 1) & -(first > 0 ? first : 1);
}

static mt_status torn (const mt_node *a, int64_t n, int64_t bits, mt_err *err) {
  mt_swizzle w = mt_swizzle_of(a);
  int64_t first = mt_lowest_bit(bits), low = mt_lowest_bit(mt_swizzle_y(w));
  mt_failn(err, MT_EINEXACT,
           "upcast: of %N by %lld: the swizzle tears elements apart: 0 .. %lld are one, "
           "but %lld goes to %lld",
           a, (long long)n, (long long)(n - 1), (long long)first,
           (long long)mt_swizzle_apply(w, first));
  if (low > 1) mt_explain(err, "\n  elements of %lld would do", (long long)low);
  return MT_EINEXACT;
}

mt_status mt_swizzle_upcast (mt_layout *out, const mt_node *a, int64_t n, mt_err *err) {
  mt_swizzle w = mt_swizzle_of(a);
  mt_layout plain;
  int log2 = 0;
  if (a->tag != MT_SWIZZLE) return mt_upcast(out, a, n, err);
  MT_TRY(log2_of(&log2, "upcast", a, n, err));
  if (mt_is_bare_swizzle(a)) {
    mt_swizzle_text(out, wider(w, log2));
    return MT_OK;
  }
  MT_TRY(mt_upcast(&plain, mt_child(a), n, err));
  int64_t bits = mt_upcast_bits(mt_child(a), n) & leaving(w, n);
  int64_t back = mt_upcast_back(mt_child(a), n), at;
  if (mt_subo(a->stride, back, &at) || at % n != 0) {
    mt_failn(err, MT_EINEXACT, "upcast: of %N by %lld: its offset %lld is not a multiple",
             a, (long long)n, (long long)a->stride);
    if (back != 0)
      mt_explain(err, " plus %lld, what its negative strides reach back in an element",
                 (long long)back);
    return MT_EINEXACT;
  }
  if (bits != 0) return torn(a, n, bits, err);
  return mt_swizzled(out, "upcast", wider(w, log2), at / n, plain.node, err);
}

mt_status mt_swizzle_downcast (mt_layout *out, const mt_node *a, int64_t n, mt_err *err) {
  mt_swizzle w = mt_swizzle_of(a);
  mt_layout plain;
  int64_t offset;
  int log2 = 0;
  if (a->tag != MT_SWIZZLE) return mt_downcast(out, a, n, err);
  MT_TRY(log2_of(&log2, "downcast", a, n, err));
  w.m += log2;
  if (!mt_swizzle_valid(w.b, w.m, w.s) || mt_mulo(a->stride, n, &offset))
    return mt_failn(err, MT_EOVERFLOW, "downcast: of %N by %lld: the bits leave 62", a,
                    (long long)n);
  if (mt_is_bare_swizzle(a)) {
    mt_swizzle_text(out, w);
    return MT_OK;
  }
  MT_TRY(mt_downcast(&plain, mt_child(a), n, err));
  return mt_swizzled(out, "downcast", w, offset, plain.node, err);
}

/* ---- runs that stay together */

/* How many elements from a multiple of it on stay together, with the offset, a multiple
** too. */
static int64_t run_of (const mt_node *a) {
  mt_swizzle w = mt_swizzle_of(a);
  if (!mt_is_swizzled(a) || w.b == 0) return INT64_MAX;
  int64_t run = INT64_C(1) << w.m, low = mt_lowest_bit(a->stride);
  return low > 0 && low < run ? low : run; /* 0, -2^63: a multiple of every run */
}

/* The run of both; one swizzle with one offset moves both sides alike. */
static int64_t common_run (const mt_node *a, const mt_node *b) {
  int64_t x = run_of(a), y = run_of(b);
  if (mt_is_swizzled(a) && mt_is_swizzled(b) && a->shape == b->shape &&
      a->stride == b->stride)
    return INT64_MAX;
  return x < y ? x : y;
}

mt_status mt_swizzle_max_alignment (int64_t *out, const mt_node *a, mt_err *err) {
  int64_t run = run_of(a), offset = mt_is_swizzled(a) ? a->stride : 0;
  MT_TRY(mt_max_alignment(out, mt_inner(a), err));
  if (offset != 0) *out = mt_gcd_of(*out, mt_lowest_bit(offset));
  if (run != INT64_MAX) *out = mt_gcd_of(*out, run);
  return MT_OK;
}

mt_status mt_swizzle_max_common_vector (int64_t *out, const mt_node *a, const mt_node *b,
                                        mt_err *err) {
  int64_t run = common_run(a, b);
  MT_TRY(mt_max_common_vector(out, mt_inner(a), mt_inner(b), err));
  if (run < *out) *out = run;
  return MT_OK;
}

mt_status mt_swizzle_max_common_layout (mt_layout *out, const mt_node *a,
                                        const mt_node *b, mt_err *err) {
  int64_t run = common_run(a, b);
  mt_layout whole;
  MT_TRY(mt_max_common_layout(&whole, mt_inner(a), mt_inner(b), err));
  for (; run < mt_size(whole.node); run /= 2) { /* 1:1 always composes */
    const mt_node first = {.tag = MT_LEAF, .span = 1, .shape = run, .stride = 1};
    MT_NEWERR(refused);
    if (mt_composition(out, whole.node, &first, &refused) == MT_OK) return MT_OK;
  }
  mt_copy_value(out, whole.node);
  return MT_OK;
}
