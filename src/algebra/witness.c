/*
** witness.c - why a layout is not injective, or not surjective: two elements that meet,
** an offset that it leaves out.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "algebra/collision.h"
#include "algebra/f2.h"
#include "algebra/onto.h"

enum { WINDOW = 1 << 16, STEPS = 1 << 20 };

static mt_status not_found (const char *op, const mt_node *a, mt_err *err) {
  return mt_failn(err, MT_EUNSUPPORTED, "%s: of %N it is not found in %d steps", op, a,
                  (int)STEPS);
}

/* ---- F2, extents that are powers of two: A is linear in the bits of its index */

/* Values of A, each with a highest bit of its own, and the indices that have them. */
typedef struct span {
  int64_t v[64], index[64];
} span;

static bool is_linear (const mt_node *a, mt_flat *f) {
  if (mt_is_composed(a) || !mt_is_f2(a)) return false;
  mt_flatten_coalesced(f, a);
  for (int r = 0; r < f->n; r++)
    if ((f->s[r] & (f->s[r] - 1)) != 0) return false;
  return f->n > 0;
}

/* What is left of v, the value at i; i goes with it. */
static void reduce (int64_t *v, int64_t *i, const span *x) {
  for (int b; *v != 0 && x->v[b = mt_bits(*v)] != 0;) {
    *v ^= x->v[b];
    *i ^= x->index[b];
  }
}

/* *zero: an index but 0 with the value 0; 0: there is none. */
static bool fill_span (span *x, int64_t *zero, const mt_flat *f, int64_t n) {
  *x = (span){{0}, {0}};
  *zero = 0;
  for (int64_t bit = 1; bit < n; bit *= 2) {
    int64_t v, i = bit;
    if (!mt_f2_value(&v, f, bit)) return false;
    reduce(&v, &i, x);
    if (v != 0) x->v[mt_bits(v)] = v, x->index[mt_bits(v)] = i;
    else if (*zero == 0) *zero = i;
    if (bit > INT64_MAX / 2) break;
  }
  return true;
}

/* ---- two elements that meet */

/* Of coordinates that lie v apart: those that begin at 0. */
static void indices (int64_t *i, int64_t *j, const int64_t *v, const mt_flat *f) {
  int64_t run = 1, from = 0, to = 0;
  for (int r = 0; r < f->n; r++) {
    if (v[r] < 0) from -= v[r] * run;
    else to += v[r] * run;
    run *= f->s[r]; /* at most the size of A */
  }
  *i = from < to ? from : to;
  *j = from < to ? to : from;
}

static mt_status one_by_one (int64_t *i, int64_t *j, const mt_node *a, mt_err *err) {
  mt_image image;
  if (!mt_has_numbers(a)) return not_found("collision", a, err);
  if (mt_size(a) > STEPS) return not_found("collision", a, err);
  return mt_image_of(&image, i, j, "collision", a, err);
}

/* Of integer strides and of coordinates. */
static mt_status by_equation (int64_t *i, int64_t *j, const mt_node *a, mt_err *err) {
  mt_flat f;
  int64_t v[MT_MAXNODES];
  *i = *j = -1;
  if (mt_is_integral(a) && mt_size(a) <= WINDOW) {
    if (one_by_one(i, j, a, err) == MT_OK) return MT_OK;
    mt_forgive(err);
  }
  mt_flatten_coalesced(&f, a);
  mt_solution found = mt_elements_meet(v, &f);
  if (found == MT_UNDECIDED) return one_by_one(i, j, a, err);
  if (found == MT_FOUND) indices(i, j, v, &f);
  return MT_OK;
}

mt_status mt_collision (int64_t *i, int64_t *j, const mt_node *a, mt_err *err) {
  mt_flat f;
  span x;
  *i = *j = -1;
  MT_CHECK(mt_is_function(a), err, "collision: a layout expected");
  if (mt_size(a) <= 1) return MT_OK;
  a = mt_inner(a); /* a swizzle is a bijection */
  if (is_linear(a, &f) && fill_span(&x, j, &f, mt_size(a))) {
    *i = *j == 0 ? -1 : 0;
    return MT_OK;
  }
  if (mt_is_composed(a) || mt_is_f2(a)) return one_by_one(i, j, a, err);
  return by_equation(i, j, a, err);
}

/* ---- an offset that is left out */

/* Of what lies in a window that begins at `from`: the first that A has not. */
static mt_status gap_in (int64_t *gap, int64_t from, const mt_node *a, const mt_flat *f2,
                         mt_err *err) {
  uint64_t seen[WINDOW / 64] = {0};
  int64_t v;
  for (int64_t i = 0, n = mt_size(a); i < n; i++) {
    MT_TRY(mt_value_of(&v, a, f2, i, err));
    if (v < from || (uint64_t)v - (uint64_t)from >= WINDOW) continue;
    seen[(v - from) / 64] |= UINT64_C(1) << (v - from) % 64;
  }
  for (*gap = 0; *gap < WINDOW && (seen[*gap / 64] >> *gap % 64 & 1); ++*gap) {}
  return MT_OK;
}

static mt_status gap_by_windows (bool *found, int64_t *offset, const mt_node *a,
                                 mt_err *err) {
  mt_flat flat, *f2 = NULL;
  int64_t lo = INT64_MAX, hi = INT64_MIN, v, gap = WINDOW, n = mt_size(a);
  if (n > STEPS) return not_found("first_gap", a, err);
  if (!mt_is_composed(a) && mt_is_f2(a)) f2 = &flat, mt_flatten_extended(f2, a);
  for (int64_t i = 0; i < n; i++) {
    MT_TRY(mt_value_of(&v, a, f2, i, err));
    if (v < lo) lo = v;
    if (v > hi) hi = v;
  }
  for (*offset = lo;; *offset += WINDOW) { /* n elements fill few of them */
    MT_TRY(gap_in(&gap, *offset, a, f2, err));
    if ((uint64_t)hi - (uint64_t)*offset < (uint64_t)gap) return MT_OK;
    if (gap < WINDOW) break;
  }
  *offset += gap;
  return *found = true, MT_OK;
}

static mt_status gap_of_steps (bool *found, int64_t *offset, const mt_node *a,
                               mt_err *err) {
  mt_flat f;
  uint64_t reach;
  int64_t end;
  MT_TRY(mt_footprint(offset, &end, a, err));
  mt_flatten_coalesced(&f, a);
  *found = !mt_no_gap(&reach, &f);
  if (*found) *offset += (int64_t)reach + 1; /* below the largest */
  return MT_OK;
}

/* Values that are sums of others begin with all below a power of two. */
static bool gap_of_span (bool *found, int64_t *offset, const mt_node *a,
                         const mt_flat *f) {
  span x;
  int64_t i, v = 0;
  if (!fill_span(&x, &i, f, mt_size(a))) return false;
  int top = 63;
  while (top >= 0 && x.v[top] == 0) top--;
  for (*offset = 1; v == 0 && *offset <= INT64_MAX / 2; *offset *= 2) {
    v = *offset;
    reduce(&v, &i, &x);
    if (v != 0) break;
  }
  *found = v != 0 && top >= 0 && *offset < x.v[top];
  return true;
}

mt_status mt_first_gap (bool *found, int64_t *offset, const mt_node *a, mt_err *err) {
  mt_flat f;
  *found = false;
  MT_CHECK(mt_is_function(a), err, "first_gap: a layout expected");
  if (mt_size(a) <= 1) return MT_OK;
  if (!mt_has_numbers(a))
    return mt_failn(err, MT_EINVAL, "first_gap: the strides of %N are no integers", a);
  if (is_linear(a, &f) && gap_of_span(found, offset, a, &f)) return MT_OK;
  if (mt_is_swizzled(a) || mt_is_composed(a) || mt_is_f2(a))
    return gap_by_windows(found, offset, a, err);
  return gap_of_steps(found, offset, a, err);
}
