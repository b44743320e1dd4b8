/*
** cast.c - properties of layouts in elements of another width.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>

#include "property.h"

static int64_t floor_div (int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); }

/* Whether there is a place e in the first element so that all A(c) + e lie in the
** elements R(c'). */
static bool cast_up (const mt_node *r, const mt_node *a, int64_t n) {
  const mt_node *p[MT_MAXNODES], *q[MT_MAXNODES];
  int k = leaves_of(p, a);
  leaves_of(q, r);
  for (int64_t e = 0; e < n; e++) {
    bool fits = true;
    for (int64_t i = 0; i < mt_size(a) && fits; i++) {
      int64_t rest = i, at = 0, is = 0;
      for (int j = 0; j < k; j++) {
        int64_t c = rest % p[j]->shape, d = llabs(p[j]->stride);
        rest /= p[j]->shape;
        at += c * p[j]->stride;
        is += c / (d != 0 && d < n && n % d == 0 ? n / d : 1) * q[j]->stride;
      }
      fits = floor_div(at + e, n) == is;
    }
    if (fits) return true;
  }
  return false;
}

outcome property_upcast (ctx *x) {
  mt_layout a, r, t;
  int64_t n = between(x, 1, 12);
  random_layout(x, &a, 64, chance(x, 2) ? COMPACT : ANY_STRIDES);
  mt_int(&t, n);
  CASE(x, "upcast", a.node, t.node);
  mt_status s = mt_upcast(&r, a.node, n, &x->err);
  LAW(x, s == MT_OK || s == MT_EINEXACT);
  const mt_node *p[MT_MAXNODES], *q[MT_MAXNODES];
  int k = leaves_of(p, a.node);
  bool cut = true;
  for (int i = 0; i < k; i++) {
    int64_t d = llabs(p[i]->stride);
    cut = cut && (d % n == 0 || n % d == 0);
  }
  LAW(x, cut || s != MT_OK);
  if (!cut) return REFUSED;
  if (s == MT_OK) {
    LAW(x, mt_congruent(r.node, a.node));
    leaves_of(q, r.node);
    for (int i = 0; i < k; i++) {
      int64_t d = llabs(p[i]->stride), m = d != 0 && d < n ? n / d : 1;
      LAW(x, q[i]->shape == p[i]->shape / m + (p[i]->shape % m != 0));
    }
    LAW(x, mt_size(a.node) == 0 || cast_up(r.node, a.node, n));
    return RIGHT;
  }
  pen w = {&r, 0}; /* what the refused answer would have been */
  int at = pen_open(&w, MT_MODES);
  for (int i = 0; i < k; i++) {
    int64_t d = llabs(p[i]->stride), m = d != 0 && d < n ? n / d : 1;
    pen_leaf(&w, p[i]->shape / m + (p[i]->shape % m != 0),
             m == 1           ? p[i]->stride / n :
             p[i]->stride < 0 ? -1 :
                                1);
  }
  pen_close(&w, at, k);
  return cast_up(r.node, a.node, n) ? HAD : REFUSED;
}

/* R(c') = n*A(c) + x, c' with n*c_k + x in one mode k of stride 1. */
outcome property_downcast (ctx *x) {
  mt_layout a, r, t;
  const mt_node *p[MT_MAXNODES], *q[MT_MAXNODES];
  int64_t n = between(x, 1, 8);
  random_layout(x, &a, 64, chance(x, 2) ? COMPACT : ANY_STRIDES);
  mt_int(&t, n);
  CASE(x, "downcast", a.node, t.node);
  mt_status s = mt_downcast(&r, a.node, n, &x->err);
  LAW(x, s == MT_OK || s == MT_EINEXACT);
  int k = leaves_of(p, a.node), grown = -1;
  bool unit = false;
  for (int i = 0; i < k; i++) unit = unit || p[i]->stride == 1;
  LAW(x, (s == MT_OK) == (unit || n == 1));
  if (s != MT_OK || n == 1) return REFUSED;
  LAW(x, mt_congruent(r.node, a.node));
  leaves_of(q, r.node);
  for (int i = 0; i < k; i++) {
    if (q[i]->shape == p[i]->shape && (p[i]->shape != 0 || p[i]->stride != 1)) {
      LAW(x, q[i]->stride == n * p[i]->stride);
      continue;
    }
    if (q[i]->stride == n * p[i]->stride && q[i]->shape == p[i]->shape) continue;
    LAW(x, grown < 0 && p[i]->stride == 1 && q[i]->stride == 1 &&
               q[i]->shape == n * p[i]->shape);
    grown = i;
  }
  LAW(x, grown >= 0 || mt_size(a.node) == 0);
  for (int64_t i = 0; i < mt_size(a.node); i++)
    for (int64_t y = 0; y < n; y++) {
      int64_t rest = i, run = 1, at = 0;
      for (int j = 0; j < k; j++) {
        int64_t c = rest % p[j]->shape;
        rest /= p[j]->shape;
        at += run * (j == grown ? n * c + y : c);
        run *= q[j]->shape;
      }
      LAW(x, value_of(r.node, at) == n * value_of(a.node, i) + y);
    }
  return RIGHT;
}

/* ---- recasts */

enum { BITS = 1 << 14 };

/* Marks the bits of t's elements of this width, moved by `at` elements. False: they do
** not fit. */
static bool mark_bits (uint8_t *bit, uint8_t as, const mt_node *t, int64_t width,
                       int64_t at) {
  for (int64_t i = 0; i < mt_size(t); i++) {
    int64_t from = (value_of(t, i) + at) * width + BITS / 2;
    if (from < 0 || from + width > BITS) return false;
    for (int64_t k = 0; k < width; k++) bit[from + k] |= as;
  }
  return true;
}

/* Whether R has the bits of A moved by `at` elements: all, and if exact no others, else
** some in each element. */
static bool same_bits (const mt_node *r, int64_t to, const mt_node *a, int64_t from,
                       int64_t at, bool exact) {
  static uint8_t bit[BITS];
  memset(bit, 0, sizeof bit);
  if (!mark_bits(bit, 1, a, from, at) || !mark_bits(bit, 2, r, to, 0)) return false;
  for (int i = 0; i < BITS; i++)
    if (bit[i] == 1 || (exact && bit[i] == 2)) return false;
  for (int64_t i = 0; i < mt_size(r); i++) {
    int64_t k = 0, first = value_of(r, i) * to + BITS / 2;
    while (k < to && bit[first + k] != 3) k++;
    if (k == to) return false;
  }
  return true;
}

/* An A with negative strides begins in an element of R as upcast says. */
static bool recasts (const mt_node *r, int64_t to, const mt_node *a, int64_t from,
                     int64_t n, bool exact) {
  for (int64_t at = 0; at < (least(a) < 0 ? n : 1); at++)
    if (same_bits(r, to, a, from, at, exact)) return true;
  return false;
}

/* An upcast and a downcast, of exactly the bits of A; where the new width is a multiple
** of the old one the elements that hold them. */
outcome property_recast (ctx *x) {
  static const int64_t bits[] = {1, 2, 3, 4, 6, 8, 12, 16, 32};
  mt_layout a, r, wide, t, u, v;
  random_layout(x, &a, 64, chance(x, 4) ? ANY_STRIDES : COMPACT);
  int64_t from = bits[pick(x, 9)], to = bits[pick(x, 9)], g = from;
  while (to % g != 0 || from % g != 0) g--;
  mt_int(&t, from);
  mt_int(&u, to);
  CASE(x, "recast", t.node, u.node, a.node);
  mt_status s = mt_recast_layout(&r, from, to, a.node, &x->err);
  mt_status up = mt_upcast(&wide, a.node, to / g, &x->err);
  mt_status down = up ? up : mt_downcast(&v, wide.node, from / g, &x->err);
  bool exact = from != g, answers = false;
  for (int64_t i = 0; i < mt_size(a.node); i++)
    if ((llabs(value_of(a.node, i)) + 64) * from > BITS / 2) return REFUSED;
  if (down == MT_OK) answers = recasts(v.node, to, a.node, from, to / g, exact);
  if (s == MT_OK) {
    LAW(x, down == MT_OK && mt_equal(r.node, v.node));
    LAW(x, answers || mt_size(a.node) == 0);
    return RIGHT;
  }
  LAW(x, s == MT_EINEXACT && (down == s || (exact && to != g)));
  return answers ? HAD : REFUSED;
}
