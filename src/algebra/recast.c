/*
** recast.c - the same memory in elements of another width.
** SPDX-License-Identifier: MIT
**
** upcast by n: n neighbours are one element. A leaf s:d of which n divides d only changes
** its stride, to d/n. Of a leaf whose d divides n, m = n/|d| steps lie in one element:
** ceil(s/m) : +-1. With c' = c/m for such leaves, R(c') is the element of A(c), where an
** A with negative strides begins at that place in its first element that they reach back
** from. That is so exactly if what is left of the coordinates never leaves the element:
**   sum over the leaves that shrink of (min(s,m) - 1) * |d| <= n - 1.
** downcast by n: one leaf of stride 1 becomes n*s : 1, all other strides n times what
** they were.
** recast to a width that is no multiple and no divisor: n elements become one, that one m
** others. So A must fill each of these, or the others would not all be A's:
**   the leaves that shrink, as s:d with s at most n/|d|, reach each of 0 .. n-1, and
**   those with more than n/|d| places have a multiple of it.
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "algebra/swizzle.h"

static int64_t min (int64_t a, int64_t b) { return a < b ? a : b; }

/* How many steps of the leaf lie in one of n elements; 1: whole ones. 0: it is not cut by
** them. */
static int64_t steps (const mt_node *p, int64_t n) {
  int64_t d = mt_magnitude(p->stride);
  if (d == 0 || d % n == 0) return 1;
  return n % d == 0 ? n / d : 0;
}

/* How far the first element is left; INT64_MAX: a stride is not cut by elements of n. */
static int64_t spread (const mt_node *a, int64_t n) {
  int64_t sum = 0, t;
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a); p = mt_leaf(a, mt_after(p))) {
    int64_t m = steps(p, n);
    if (m == 0) return INT64_MAX;
    if (a->shape == 0 || p->shape < 2 || m < 2) continue;
    if (mt_mulo(min(p->shape, m) - 1, mt_magnitude(p->stride), &t) ||
        mt_addo(sum, t, &sum))
      return INT64_MAX;
  }
  return sum;
}

static void other_width (mt_build *b, const mt_node *a, int64_t n) {
  for (int64_t w = n - 1; w > 1 && w > n - 256; w--)
    if (spread(a, w) < w) {
      mt_explain(b->err, "\n  elements of %lld would do", (long long)w);
      return;
    }
}

/* The index of the element that leaves the first: the last step inside it of every leaf
** that goes up. */
static int64_t last_step (int64_t *at, const mt_node *a, int64_t n) {
  int64_t i = 0, run = 1;
  *at = 0;
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a); p = mt_leaf(a, mt_after(p))) {
    int64_t m = steps(p, n), c = m > 1 && p->shape > 1 ? min(p->shape, m) - 1 : 0;
    if (p->stride < 0) c = 0;
    i += c * run;
    *at += c * p->stride;
    run *= p->shape;
  }
  return i;
}

/* The next multiple of n in the place of a stride of p, if that would do. */
static void other_stride (mt_build *b, const mt_node *a, const mt_node *p, int64_t n) {
  mt_layout t;
  int64_t d = p->stride < 0 ? -p->stride : p->stride;
  if (a->tag == MT_LEAF || d > INT64_MAX / 4 || n > INT64_MAX / 4) return;
  mt_copy_value(&t, a);
  t.node[p - a].stride = d = (d / n + 1) * n;
  if (spread(t.node, n) < n)
    mt_explain(b->err, "\n  a stride of %lld would do", (long long)d);
}

static void cannot_cut (mt_build *b, const mt_node *a, int64_t n) {
  int64_t at;
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a); p = mt_leaf(a, mt_after(p)))
    if (steps(p, n) == 0) {
      mt_build_fail(b, MT_EINEXACT,
                    "%s: %N in elements of %lld: the stride %lld is no multiple of "
                    "%lld and no divisor",
                    b->op, a, (long long)n, (long long)p->stride, (long long)n);
      other_stride(b, a, p, n);
      other_width(b, a, n);
      return;
    }
  int64_t i = last_step(&at, a, n);
  mt_build_fail(b, MT_EINEXACT, "%s: %N in elements of %lld: its modes overlap", b->op, a,
                (long long)n);
  if (at >= n)
    mt_explain(b->err,
               ": A(%lld) = %lld lies in element %lld, where a layout would give 0",
               (long long)i, (long long)at, (long long)(at / n));
  other_width(b, a, n);
}

static void emit_up (mt_build *b, const mt_node *a, int64_t n) {
  if (mt_is_branch(a)) {
    mt_open(b, MT_MODES);
    for (const mt_node *c = mt_child(a); c < mt_next(a); c = mt_next(c)) emit_up(b, c, n);
    mt_close(b);
    return;
  }
  int64_t m = steps(a, n), d = a->stride;
  if (m == 1) mt_add_leaf(b, a->shape, d / n);
  else mt_add_leaf(b, a->shape / m + (a->shape % m != 0), d < 0 ? -1 : 1);
}

/* The leaf of stride 1 that is to grow: the first with more than one element, or the
** first. */
static const mt_node *unit (const mt_node *a) {
  const mt_node *one = NULL;
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a); p = mt_leaf(a, mt_after(p))) {
    if (p->stride != 1) continue;
    if (p->shape > 1) return p;
    if (one == NULL) one = p;
  }
  return one;
}

static void emit_down (mt_build *b, const mt_node *a, const mt_node *grows, int64_t n) {
  int64_t v;
  if (mt_is_branch(a)) {
    mt_open(b, MT_MODES);
    for (const mt_node *c = mt_child(a); c < mt_next(a); c = mt_next(c))
      emit_down(b, c, grows, n);
    mt_close(b);
  } else if (mt_mulo(a == grows ? a->shape : a->stride, n, &v)) {
    mt_build_fail(b, MT_EOVERFLOW, "%s: %N times %lld leaves 64 bits", b->op, a,
                  (long long)n);
  } else if (a == grows) {
    mt_add_leaf(b, v, 1);
  } else {
    mt_add_leaf(b, a->shape, v);
  }
}

/* ---- what lies inside an element */

/* The leaves that shrink, inside the first element: s places at distance d, in the order
** of d. */
typedef struct inner {
  int n;
  int64_t s[MT_MAXNODES], d[MT_MAXNODES];
} inner;

/* False: one has more places than an element, and no multiple of these. */
static bool inner_of (inner *q, const mt_node *a, int64_t n) {
  bool whole = true;
  q->n = 0;
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a); p = mt_leaf(a, mt_after(p))) {
    int64_t m = steps(p, n), d = mt_magnitude(p->stride);
    int k = q->n;
    if (p->shape < 2 || m < 2) continue;
    whole = whole && (p->shape <= m || p->shape % m == 0);
    for (; k > 0 && q->d[k - 1] > d; k--) q->s[k] = q->s[k - 1], q->d[k] = q->d[k - 1];
    q->s[k] = min(p->shape, m);
    q->d[k] = d;
    q->n++;
  }
  return whole;
}

/* A fills each of its elements of n. */
static bool fills (const mt_node *a, int64_t n) {
  inner q;
  int64_t run = 1;
  if (a->shape == 0) return true;
  if (!inner_of(&q, a, n)) return false;
  for (int k = 0; k < q.n; k++) {
    if (q.d[k] > run) return false;
    run += (q.s[k] - 1) * q.d[k];
  }
  return run == n;
}

/* Bit t of a place is reached exactly if the leaves whose strides are at most 2^t reach
** that far: no step is longer. */
int64_t mt_upcast_bits (const mt_node *a, int64_t n) {
  inner q;
  int64_t reach = 0, bits = 0;
  inner_of(&q, a, n);
  for (int64_t t = 1, k = 0; t < n; t *= 2) {
    for (; k < q.n && q.d[k] <= t; k++) reach += (q.s[k] - 1) * q.d[k];
    if (reach >= t) bits |= t;
  }
  return bits;
}

int64_t mt_upcast_back (const mt_node *a, int64_t n) {
  int64_t sum = 0;
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a); p = mt_leaf(a, mt_after(p))) {
    int64_t m = steps(p, n);
    if (p->shape >= 2 && m >= 2 && p->stride < 0)
      sum += (min(p->shape, m) - 1) * -p->stride;
  }
  return sum;
}

/* ---- */

static mt_status check (const char *op, const mt_node *a, int64_t n, mt_err *err) {
  MT_CHECK(mt_is_layout(a), err, "%s: a layout expected", op);
  if (!mt_is_integral(a))
    return mt_failn(err, MT_EINVAL, "%s: the strides of %N are no integers", op, a);
  for (const mt_node *p = a; p < mt_next(a); p++)
    MT_CHECK(p->stride != INT64_MIN, err, "%s: a stride of -2^63", op);
  if (n < 1)
    return mt_fail(err, MT_EINVAL, "%s: by %lld; at least 1 expected", op, (long long)n);
  return MT_OK;
}

static mt_status upcast (mt_layout *out, const char *op, const mt_node *a, int64_t n,
                         mt_err *err) {
  mt_build b;
  mt_begin(&b, out, op, err);
  if (spread(a, n) > n - 1) cannot_cut(&b, a, n);
  if (b.status == MT_OK) emit_up(&b, a, n);
  return mt_end(&b);
}

static mt_status downcast (mt_layout *out, const char *op, const mt_node *a, int64_t n,
                           mt_err *err) {
  mt_build b;
  const mt_node *grows = unit(a);
  mt_begin(&b, out, op, err);
  if (n == 1) mt_add(&b, a);
  else if (grows == NULL)
    mt_build_fail(&b, MT_EINEXACT,
                  "%s: %N has no mode of stride 1, in which the %lld narrow "
                  "elements of each could be neighbours\n  make_layout(1:1, A) would do",
                  op, a, (long long)n);
  else emit_down(&b, a, grows, n);
  return mt_end(&b);
}

mt_status mt_upcast (mt_layout *out, const mt_node *a, int64_t n, mt_err *err) {
  if (a->tag == MT_SWIZZLE) return mt_swizzle_upcast(out, a, n, err);
  MT_TRY(check("upcast", a, n, err));
  return upcast(out, "upcast", a, n, err);
}

mt_status mt_downcast (mt_layout *out, const mt_node *a, int64_t n, mt_err *err) {
  if (a->tag == MT_SWIZZLE) return mt_swizzle_downcast(out, a, n, err);
  MT_TRY(check("downcast", a, n, err));
  return downcast(out, "downcast", a, n, err);
}

static mt_status not_filled (const mt_node *a, const mt_node *as, int64_t from,
                             int64_t to, mt_err *err) {
  int64_t g = mt_gcd_of(from, to), n = to / g, is, was, extent;
  mt_failn(err, MT_EINEXACT,
           "recast_layout: %N of %lld bits in elements of %lld: %lld of the former are "
           "%lld of the latter, and A does not fill such groups",
           a, (long long)from, (long long)to, (long long)n, (long long)(from / g));
  if (!mt_mulo(mt_size(as), to, &is) && !mt_mulo(mt_size(a), from, &was))
    mt_explain(err, ": %N has %lld bits, not %lld", as, (long long)is, (long long)was);
  if (a->tag == MT_LEAF && a->stride == 1 &&
      !mt_addo(a->shape, n - a->shape % n, &extent))
    mt_explain(err, "\n  an extent of %lld would do", (long long)extent);
  mt_explain(err, "\n  elements of %lld bits, which divides both, would do",
             (long long)g);
  return MT_EINEXACT;
}

mt_status mt_recast_layout (mt_layout *out, int64_t old_bits, int64_t new_bits,
                            const mt_node *a, mt_err *err) {
  mt_layout wide;
  if (old_bits < 1 || new_bits < 1)
    return mt_fail(err, MT_EINVAL,
                   "recast_layout: from %lld to %lld bits; at least 1 expected",
                   (long long)old_bits, (long long)new_bits);
  int64_t g = mt_gcd_of(old_bits, new_bits), n = new_bits / g, m = old_bits / g;
  if (a->tag == MT_SWIZZLE) {
    MT_TRY(mt_renamed("recast_layout", mt_swizzle_upcast(&wide, a, n, err), err));
    return mt_renamed("recast_layout", mt_swizzle_downcast(out, wide.node, m, err), err);
  }
  MT_TRY(check("recast_layout", a, n, err));
  MT_TRY(upcast(&wide, "recast_layout", a, n, err));
  MT_TRY(downcast(out, "recast_layout", wide.node, m, err));
  if (n > 1 && m > 1 && !fills(a, n))
    return not_filled(a, out->node, old_bits, new_bits, err);
  return MT_OK;
}
