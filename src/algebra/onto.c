/*
** onto.c - whether a layout has each of its offsets once, and all between them.
** SPDX-License-Identifier: MIT
**
** Integer strides: two elements meet if some v != 0 with |v_k| < s_k has the sum 0 of
** v_k*d_k. Their offsets leave no gap if each stride, by magnitude, is at most one more
** than what the strides below it reach. Over F2 with extents that are powers of two A is
** linear in the bits of its index: then a rank decides. A swizzle is a bijection. What is
** left, and what is composed, is counted.
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "algebra/f2.h"
#include "algebra/onto.h"

enum { RANGE = 1 << 16, STEPS = 1 << 20 }; /* of what is counted */

static mt_status undecided (const char *op, const mt_node *a, mt_err *err) {
  return mt_failn(err, MT_EUNSUPPORTED, "%s: of %N it is not decided in %d steps", op, a,
                  (int)STEPS);
}

static mt_status no_layout (const char *op, mt_err *err) {
  return mt_failn(err, MT_EINVAL, "%s: a layout expected", op);
}

/* ---- the definition */

typedef struct count {
  int64_t lo, hi, distinct;
} count;

mt_status mt_value_of (int64_t *out, const mt_node *a, const mt_flat *f2, int64_t i,
                       mt_err *err) {
  if (mt_is_composed(a)) return mt_number_at(out, a, i, err);
  if (f2 == NULL) return mt_at(out, a, i, err);
  if (mt_f2_value(out, f2, i)) return MT_OK;
  return mt_failn(err, MT_EOVERFLOW, "%N leaves %d bits", a, (int)MT_F2BITS);
}

/* Fills in `c`; distinct is -1 where the range is too large to tell. */
static mt_status count_values (count *c, const char *op, const mt_node *a, mt_err *err) {
  uint64_t seen[RANGE / 64] = {0};
  int64_t n = mt_size(a), v;
  mt_flat flat, *f2 = NULL;
  if (n > STEPS) return undecided(op, a, err);
  if (!mt_is_composed(a) && mt_is_f2(a)) f2 = &flat, mt_flatten_extended(f2, a);
  *c = (count){INT64_MAX, INT64_MIN, 0};
  for (int64_t i = 0; i < n; i++) {
    MT_TRY(mt_value_of(&v, a, f2, i, err));
    if (v < c->lo) c->lo = v;
    if (v > c->hi) c->hi = v;
  }
  if ((uint64_t)c->hi - (uint64_t)c->lo >= RANGE) c->distinct = -1;
  for (int64_t i = 0; i < n && c->distinct >= 0; i++) {
    MT_TRY(mt_value_of(&v, a, f2, i, err));
    v -= c->lo;
    c->distinct += !(seen[v / 64] >> v % 64 & 1);
    seen[v / 64] |= UINT64_C(1) << v % 64;
  }
  return MT_OK;
}

/* ---- F2: the rank of what the bits of an index give */

/* Values that are independent, each with a highest bit of its own. */
typedef struct basis {
  int bits, rank, top;
  int64_t v[64];
} basis;

static void add_vector (basis *x, int64_t v) {
  x->bits++;
  if (mt_bits(v) > x->top) x->top = mt_bits(v);
  for (; v != 0; v ^= x->v[mt_bits(v)])
    if (x->v[mt_bits(v)] == 0) {
      x->v[mt_bits(v)] = v;
      x->rank++;
      return;
    }
}

/* Of extents that are powers of two, or of the next powers of two: then false. */
static bool f2_basis (basis *x, const mt_node *a) {
  mt_flat f;
  int64_t v;
  bool exact = true;
  *x = (basis){0};
  mt_flatten_coalesced(&f, a);
  for (int r = 0; r < f.n; r++) {
    exact = exact && (f.s[r] & (f.s[r] - 1)) == 0;
    for (int64_t c = 1; c <= f.s[r] - 1; c *= 2) {
      if (x->bits >= 63 || mt_f2_mulo(c, f.d[r]->stride, &v)) return false;
      add_vector(x, v);
      if (c > INT64_MAX / 2) break;
    }
  }
  return exact;
}

/* ---- injective */

/* Whether elements meet along an axis; NULL: of integer strides. v is 0 as yet. */
static mt_solution meet (int64_t *v, const mt_flat *f, const mt_node *axis) {
  mt_equation e = {.n = 0};
  int mode[MT_MAXTERMS] = {0};
  for (int r = 0; r < f->n; r++) {
    int64_t d = f->d[r]->stride;
    if (f->s[r] == 1) continue;
    if (f->d[r]->tag == MT_SUM) return MT_UNDECIDED;
    if (d == 0) return v[r] = 1, MT_FOUND;
    if (axis && !mt_same_path(f->d[r], axis)) continue;
    if (e.n == MT_MAXTERMS || d == INT64_MIN) return MT_UNDECIDED;
    mode[e.n] = r;
    e.d[e.n] = d < 0 ? -d : d;
    e.lo[e.n] = 1 - f->s[r];
    e.hi[e.n++] = f->s[r] - 1;
  }
  mt_solution found = mt_solve(&e, 0, true);
  for (int k = 0; k < e.n && found == MT_FOUND; k++)
    v[mode[k]] = f->d[mode[k]]->stride < 0 ? -e.v[k] : e.v[k];
  return found;
}

static mt_solution meet_anywhere (int64_t *v, const mt_flat *f) {
  mt_solution all = MT_NONE;
  for (int r = 0; r < f->n; r++) {
    mt_solution one = meet(v, f, f->d[r]->ring == MT_BASIS ? f->d[r] : NULL);
    if (one == MT_FOUND) return one;
    if (one == MT_UNDECIDED) all = one;
  }
  return all;
}

/* How far a stride goes along an axis. */
static int64_t along (const mt_node *d, const mt_node *axis) {
  int64_t sum = 0;
  if (d->tag != MT_SUM) return mt_same_path(d, axis) ? d->stride : 0;
  for (const mt_node *c = mt_child(d); c < mt_next(d); c = mt_next(c))
    if (mt_same_path(c, axis)) sum += c->shape;
  return sum;
}

/* Adds an axis to the numbers that stand for the strides: they are digits, as wide as
** sums along the axis reach; *weight is that of the next one. */
static bool add_axis (mt_equation *e, int64_t *weight, const mt_flat *f,
                      const mt_node *axis) {
  int64_t reach = 0, far;
  for (int r = 0; r < f->n; r++) {
    int64_t step = along(f->d[r], axis);
    if (step == INT64_MIN || mt_mulo(step < 0 ? -step : step, f->s[r] - 1, &far) ||
        mt_addo(reach, far, &reach) || mt_mulo(step, *weight, &far) ||
        mt_addo(e->d[r], far, &e->d[r]))
      return false;
  }
  return !mt_mulo(reach, 2, &reach) && !mt_addo(reach, 1, &reach) &&
         !mt_mulo(*weight, reach, weight);
}

/* Whether a stride before it has this axis, too. */
static bool had (const mt_flat *f, const mt_node *axis) {
  for (int r = 0; r < f->n; r++)
    for (const mt_node *c = f->d[r]; c < mt_next(f->d[r]); c++) {
      if (c == axis) return false;
      if (c->tag != MT_SUM && mt_same_path(c, axis)) return true;
    }
  return false;
}

/* The same of strides that are sums: as numbers whose digits are the coordinates. */
static mt_solution meet_sums (int64_t *v, const mt_flat *f) {
  mt_equation e = {.n = f->n};
  int64_t weight = 1;
  if (f->n > MT_MAXTERMS) return MT_UNDECIDED;
  for (int r = 0; r < f->n; r++)
    for (const mt_node *c = f->d[r]; c < mt_next(f->d[r]); c++)
      if (c->tag != MT_SUM && c->ring == MT_BASIS && !had(f, c) &&
          !add_axis(&e, &weight, f, c))
        return MT_UNDECIDED;
  for (int r = 0; r < f->n; r++) {
    if (e.d[r] == 0 && f->s[r] > 1) return v[r] = 1, MT_FOUND;
    if (e.d[r] == INT64_MIN) return MT_UNDECIDED;
    v[r] = e.d[r] < 0 ? -1 : 1;
    e.d[r] = e.d[r] < 0 ? -e.d[r] : e.d[r];
    e.lo[r] = 1 - f->s[r];
    e.hi[r] = f->s[r] - 1;
  }
  mt_solution found = mt_solve(&e, 0, true);
  for (int r = 0; r < f->n && found == MT_FOUND; r++) v[r] *= e.v[r];
  return found;
}

mt_solution mt_elements_meet (int64_t *v, const mt_flat *f) {
  bool coordinates = false;
  memset(v, 0, (size_t)f->n * sizeof *v);
  mt_solution found = meet_anywhere(v, f);
  for (int r = 0; r < f->n; r++)
    coordinates = coordinates || f->d[r]->tag == MT_SUM || f->d[r]->ring == MT_BASIS;
  if (found != MT_UNDECIDED || !coordinates) return found;
  memset(v, 0, (size_t)f->n * sizeof *v);
  return meet_sums(v, f);
}

static mt_status injective (bool *out, const char *op, const mt_node *a, mt_err *err) {
  mt_flat f;
  basis x;
  count c;
  int64_t v[MT_MAXNODES];
  if (mt_size(a) <= 1) return *out = true, MT_OK;
  a = mt_inner(a);
  if (mt_is_composed(a)) {
    if (!mt_has_numbers(a)) return undecided(op, a, err);
  } else if (mt_is_f2(a)) {
    bool exact = f2_basis(&x, a);
    *out = x.rank == x.bits;
    if (exact) return MT_OK;
  } else {
    mt_flatten_coalesced(&f, a);
    mt_solution found = mt_elements_meet(v, &f);
    *out = found == MT_NONE;
    if (found != MT_UNDECIDED) return MT_OK;
    if (!mt_is_integral(a)) return undecided(op, a, err);
  }
  MT_TRY(count_values(&c, op, a, err));
  *out = c.distinct == mt_size(a);
  return c.distinct < 0 ? undecided(op, a, err) : MT_OK;
}

mt_status mt_is_injective (bool *out, const mt_node *a, mt_err *err) {
  if (!mt_is_function(a)) return no_layout("is_injective", err);
  return injective(out, "is_injective", a, err);
}

/* ---- surjective */

/* The leaf of the least stride, up to its sign, among those that were not used; there is
** one. */
static int least_unused (const mt_flat *f, const bool *used) {
  int least = 0;
  while (used[least]) least++;
  for (int r = least + 1; r < f->n; r++)
    if (!used[r] && mt_magnitude(f->d[r]->stride) < mt_magnitude(f->d[least]->stride))
      least = r;
  return least;
}

bool mt_no_gap (uint64_t *reach, const mt_flat *f) {
  bool used[MT_MAXNODES] = {false};
  *reach = 0;
  for (int k = 0; k < f->n; k++) {
    int least = least_unused(f, used);
    uint64_t d = mt_magnitude(f->d[least]->stride);
    used[least] = true;
    if (f->s[least] > 1 && d > *reach + 1) return false;
    *reach += d * (uint64_t)(f->s[least] - 1); /* at most the largest offset */
  }
  return true;
}

static mt_status counted_surjective (bool *out, const char *op, const mt_node *a,
                                     mt_err *err) {
  count c;
  MT_TRY(count_values(&c, op, a, err));
  uint64_t range = (uint64_t)c.hi - (uint64_t)c.lo + 1;
  *out = c.distinct >= 0 && (uint64_t)c.distinct == range;
  if (c.distinct < 0 && range <= (uint64_t)mt_size(a)) return undecided(op, a, err);
  return MT_OK;
}

static mt_status swizzled_surjective (bool *out, const char *op, const mt_node *a,
                                      mt_err *err) {
  mt_layout moves;
  int64_t lo, end;
  bool once;
  MT_TRY(mt_filter(&moves, a, NULL, err));
  a = moves.node;
  MT_TRY(injective(&once, op, a, err));
  if (!once) return counted_surjective(out, op, a, err);
  MT_TRY(mt_footprint(&lo, &end, a, err));
  *out = (uint64_t)end - (uint64_t)lo == (uint64_t)mt_size(a);
  return MT_OK;
}

static mt_status surjective (bool *out, const char *op, const mt_node *a, mt_err *err) {
  mt_flat f;
  basis x;
  uint64_t reach;
  if (mt_size(a) <= 1) return *out = true, MT_OK;
  if (mt_is_swizzled(a)) return swizzled_surjective(out, op, a, err);
  if (mt_is_composed(a) && mt_has_numbers(a)) return counted_surjective(out, op, a, err);
  if (mt_is_f2(a)) {
    if (!f2_basis(&x, a)) return counted_surjective(out, op, a, err);
    *out = x.rank == x.top;
    return MT_OK;
  }
  if (!mt_is_integral(a))
    return mt_failn(err, MT_EINVAL,
                    "%s: the strides of %N are no integers; what it "
                    "would have to fill has no order",
                    op, a);
  mt_flatten_coalesced(&f, a);
  *out = mt_no_gap(&reach, &f);
  return MT_OK;
}

mt_status mt_is_surjective (bool *out, const mt_node *a, mt_err *err) {
  if (!mt_is_function(a)) return no_layout("is_surjective", err);
  return surjective(out, "is_surjective", a, err);
}

mt_status mt_is_bijective (bool *out, const mt_node *a, mt_err *err) {
  if (!mt_is_function(a)) return no_layout("is_bijective", err);
  MT_TRY(surjective(out, "is_bijective", a, err));
  return *out ? injective(out, "is_bijective", a, err) : MT_OK;
}
