/*
** mt_recast.c - the same memory in elements of another width.
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
*/
#include "mt_build.h"

static int64_t magnitude (int64_t d) { return d < 0 ? -d : d; }
static int64_t min (int64_t a, int64_t b) { return a < b ? a : b; }

/* How many steps of the leaf lie in one of n elements; 1: whole ones. 0: it is not cut by
** them. */
static int64_t steps (const mt_node *p, int64_t n) {
  int64_t d = magnitude(p->stride);
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
    if (mt_mulo(min(p->shape, m) - 1, magnitude(p->stride), &t) || mt_addo(sum, t, &sum))
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

static int64_t gcd (int64_t a, int64_t b) {
  while (b != 0) {
    int64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

mt_status mt_recast_layout (mt_layout *out, int64_t old_bits, int64_t new_bits,
                            const mt_node *a, mt_err *err) {
  mt_layout wide;
  if (old_bits < 1 || new_bits < 1)
    return mt_fail(err, MT_EINVAL,
                   "recast_layout: from %lld to %lld bits; at least 1 expected",
                   (long long)old_bits, (long long)new_bits);
  int64_t g = gcd(old_bits, new_bits);
  if (a->tag == MT_SWIZZLE) {
    MT_TRY(mt_swizzle_upcast(&wide, a, new_bits / g, err));
    return mt_swizzle_downcast(out, wide.node, old_bits / g, err);
  }
  MT_TRY(check("recast_layout", a, new_bits / g, err));
  MT_TRY(upcast(&wide, "recast_layout", a, new_bits / g, err));
  return downcast(out, "recast_layout", wide.node, old_bits / g, err);
}
