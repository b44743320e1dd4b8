/*
** cosize.c - the range of the offsets of a layout, swizzled or not.
** SPDX-License-Identifier: MIT
*/
#include "core/build.h"

enum { MAXSTEPS = 1 << 19 }; /* of the search under a swizzle */

/* A set of sums c_0*d_0 + c_1*d_1 + ..., 0 <= c_k < s_k, with d_0 >= d_1 >= ... > 0. */
typedef struct sums {
  int n;
  int64_t s[MT_MAXNODES], d[MT_MAXNODES];
  int64_t rest[MT_MAXNODES + 1]; /* rest[k]: the largest sum of modes k, k+1, ... */
} sums;

/* Modes whose sums are those of one: m*d above s:d with m <= s leaves no gap. */
static void merge (sums *q) {
  int n = 0;
  for (int k = q->n - 1; k >= 0; k--) { /* from the smallest stride on */
    int last = q->n - n;
    if (n > 0 && q->d[k] % q->d[last] == 0 && q->d[k] / q->d[last] <= q->s[last]) {
      q->s[last] += (q->s[k] - 1) * (q->d[k] / q->d[last]);
      continue;
    }
    n++;
    q->d[q->n - n] = q->d[k];
    q->s[q->n - n] = q->s[k];
  }
  memmove(q->d, q->d + q->n - n, (size_t)n * sizeof *q->d);
  memmove(q->s, q->s + q->n - n, (size_t)n * sizeof *q->s);
  q->n = n;
}

static mt_status negative (const char *op, const mt_node *a, mt_err *err) {
  return mt_failn(err, MT_EINVAL, "%s: an extent of %N is negative", op, a);
}

static mt_status too_large (const char *op, const mt_node *a, mt_err *err) {
  return mt_failn(err, MT_EOVERFLOW, "%s: of %N leaves 64 bits", op, a);
}

/* The offsets of `a` are base + sums. What is sized here becomes memory: nothing is taken
** on trust. */
static mt_status as_sums (sums *q, int64_t *base, const char *op, const mt_node *a,
                          mt_err *err) {
  const mt_node *leaf[MT_MAXNODES];
  int n = mt_leaves(leaf, a);
  int64_t reach = 0, all;
  q->n = 0;
  for (int i = 0; i < n; i++) {
    int64_t d = leaf[i]->stride, s = leaf[i]->shape;
    int k = q->n;
    if (s < 0) return negative(op, a, err);
    if (s <= 1 || d == 0) continue;
    if (mt_mulo(d, s - 1, &all) || (d < 0 && mt_addo(*base, all, base)) ||
        (d < 0 && mt_subo(0, all, &all)) || mt_addo(reach, all, &reach))
      return too_large(op, a, err);
    if (d < 0) d = -d;
    for (; k > 0 && q->d[k - 1] < d; k--) q->d[k] = q->d[k - 1], q->s[k] = q->s[k - 1];
    q->d[k] = d;
    q->s[k] = s;
    q->n++;
  }
  merge(q);
  q->rest[q->n] = 0;
  for (int k = q->n - 1; k >= 0; k--)
    q->rest[k] = q->rest[k + 1] + (q->s[k] - 1) * q->d[k];
  return MT_OK;
}

typedef struct search {
  const sums *q;
  mt_swizzle w;
  int64_t base;     /* the smallest offset; the others are counted from it */
  int64_t from, to; /* offsets before the swizzle that matter */
  int64_t lo, hi;   /* images met */
  int64_t steps;
} search;

static bool walk (search *f, int k, int64_t x) {
  if (--f->steps < 0) return false;
  if (k == f->q->n) {
    int64_t y = mt_swizzle_apply(f->w, f->base + x);
    if (y < f->lo) f->lo = y;
    if (y > f->hi) f->hi = y;
    return true;
  }
  int64_t d = f->q->d[k], c = 0, gap = f->from - f->q->rest[k + 1] - x;
  if (gap > 0) c = gap / d + (gap % d != 0);
  for (; c < f->q->s[k] && x + c * d <= f->to; c++)
    if (!walk(f, k + 1, x + c * d)) return false;
  return true;
}

/* A swizzle maps each aligned block of 2^(M+B+|S|) onto itself: the extremes of the
** image come from the blocks of the extremes. */
static bool image_range (int64_t *lo, int64_t *hi, const sums *q, mt_swizzle w) {
  int bits = w.m + w.b + (w.s < 0 ? -w.s : w.s);
  int64_t mask = (INT64_C(1) << bits) - 1;
  search f = {q, w, *lo, (*hi & ~mask) - *lo, q->rest[0], INT64_MAX, INT64_MIN, MAXSTEPS};
  if (!walk(&f, 0, 0)) return false;
  *hi = f.hi;
  f.from = 0;
  f.to = (*lo | mask) - *lo;
  f.lo = INT64_MAX;
  if (!walk(&f, 0, 0)) return false;
  *lo = f.lo;
  return true;
}

/* Without a swizzle no more than the ends is asked. */
static mt_status plain_range (int64_t *lo, int64_t *hi, const char *op, const mt_node *a,
                              mt_err *err) {
  int64_t low = 0, high = 0, all;
  for (const mt_node *p = a, *end = mt_next(a); p < end; p++) {
    if (p->tag != MT_LEAF || p->shape == 1) continue;
    if (p->shape < 0) return negative(op, a, err);
    if (mt_mulo(p->stride, p->shape - 1, &all) ||
        (all < 0 ? mt_addo(low, all, &low) : mt_addo(high, all, &high)))
      return too_large(op, a, err);
  }
  *lo = low;
  *hi = high;
  return MT_OK;
}

bool mt_plain_range (int64_t *lo, int64_t *end, const mt_node *t) {
  int64_t low = 0, high = 1, all;
  bool over = false;
  for (const mt_node *p = t, *last = mt_next(t); p < last; p++) {
    if (p->tag == MT_MODES) continue;
    if (p->tag != MT_LEAF || p->ring != MT_Z || p->shape < 1) return false;
    over |= mt_mulo(p->stride, p->shape - 1, &all);
    over |= all < 0 ? mt_addo(low, all, &low) : mt_addo(high, all, &high);
  }
  *lo = low;
  *end = high;
  return !over;
}

static mt_status swizzled_range (int64_t *lo, int64_t *hi, const char *op,
                                 const mt_node *a, mt_err *err) {
  sums q;
  *lo = a->stride;
  MT_TRY(as_sums(&q, lo, op, a, err));
  if (mt_addo(*lo, q.rest[0], hi)) return too_large(op, a, err);
  if (image_range(lo, hi, &q, mt_swizzle_of(a))) return MT_OK;
  return mt_failn(err, MT_EUNSUPPORTED, "%s: the range of %N was not found in %d steps",
                  op, a, MAXSTEPS);
}

/* All values, one by one. */
static MT_APART mt_status composed_range (int64_t *lo, int64_t *hi, const char *op,
                                          const mt_node *a, mt_err *err) {
  int64_t n = mt_size(a), v;
  if (n > MAXSTEPS)
    return mt_failn(err, MT_EUNSUPPORTED, "%s: the range of %N was not found in %d steps",
                    op, a, MAXSTEPS);
  *lo = INT64_MAX;
  *hi = INT64_MIN;
  for (int64_t i = 0; i < n; i++) {
    MT_TRY(mt_at(&v, a, i, err));
    if (v < *lo) *lo = v;
    if (v > *hi) *hi = v;
  }
  return MT_OK;
}

static mt_status range_of (int64_t *lo, int64_t *end, const char *op, const mt_node *a,
                           mt_err *err) {
  int64_t high;
  MT_CHECK(mt_is_function(a), err, "%s: a layout expected", op);
  if (!mt_is_integral(a))
    return mt_failn(err, MT_EINVAL, "%s: the strides of %N are no integers", op, a);
  *lo = *end = 0;
  if (mt_size(a) == 0) return MT_OK;
  MT_TRY((mt_is_composed(a) ? composed_range :
          mt_is_swizzled(a) ? swizzled_range :
                              plain_range)(lo, &high, op, a, err));
  return mt_addo(high, 1, end) ? too_large(op, a, err) : MT_OK;
}

mt_status mt_footprint (int64_t *lo, int64_t *end, const mt_node *a, mt_err *err) {
  return range_of(lo, end, "footprint", a, err);
}

mt_status mt_cosize (int64_t *out, const mt_node *a, mt_err *err) {
  int64_t lo;
  MT_TRY(range_of(&lo, out, "cosize", a, err));
  if (lo < 0 && mt_subo(*out, lo, out)) return too_large("cosize", a, err);
  return MT_OK;
}
