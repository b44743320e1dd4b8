/*
** swizzle_commute.c - layouts on the left of swizzles: A o Sw as Sw' o A; inverses.
** SPDX-License-Identifier: MIT
**
** Sw' has the masks A(Y) and A(Z). That it is right is shown by the bits: if the modes of
** A lie on bits apart from each other, A is linear over xor on the modes whose strides
** are powers of two; where the bits of Y and Z go one by one to those of Sw', A(i ^ z) =
** A(i) ^ A(z) is all there is to it. Otherwise the values are compared.
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "algebra/swizzle.h"

/* ---- by the bits */

/* All bits from the lowest of d to the highest of d * (n - 1); -1 if they leave 62
** bits. */
static int64_t bits_of (int64_t d, int64_t n) {
  int64_t top;
  if (d == 0 || n <= 1) return 0;
  if (d < 0 || mt_mulo(d, n - 1, &top) || top >> 61 != 0) return -1;
  int64_t all = (INT64_C(1) << (64 - __builtin_clzll((uint64_t)top))) - 1;
  return all & -(d & -d);
}

static bool is_power (int64_t x) { return x > 0 && (x & (x - 1)) == 0; }

/* The smallest n, a power of two, with a's indices and all that w makes of them below
** n. */
static int64_t index_bound (int64_t size, mt_swizzle w) {
  int64_t n = 1, y = mt_swizzle_y(w), z = mt_swizzle_z(w);
  while (n < size && n < INT64_C(1) << 61) n *= 2;
  for (int64_t k = y & -y, l = z & -z; k & y; k *= 2, l *= 2)
    while (k < size && n <= l) n *= 2;
  return n;
}

/* The modes of f take index bits and offset bits apart from each other; all offset bits
** go to *all, those of modes that are not linear over xor to *odd; their index bits to
** *index. */
static bool bits_apart (const mt_flat *f, int64_t bound, int64_t *all, int64_t *odd,
                        int64_t *index) {
  int64_t first = 1;
  *all = *odd = *index = 0;
  for (int r = 0; r < f->n; r++) {
    int64_t s = f->s[r], d = f->d[r]->stride;
    if (r == f->n - 1) s = bound > first ? bound / first : 1;
    if (!is_power(s)) return false;
    int64_t mask = bits_of(d, s);
    if (mask < 0 || (mask & *all)) return false;
    *all |= mask;
    if (d != 0 && !is_power(d)) {
      *odd |= mask;
      *index |= (s - 1) * first;
    }
    if (mt_mulo(first, s, &first) || first > INT64_C(1) << 61) return false;
  }
  return true;
}

static bool same_bits (const mt_node *a, mt_swizzle w, mt_swizzle v) {
  mt_flat f;
  int64_t all, odd, index, at, y = mt_swizzle_y(w), z = mt_swizzle_z(w);
  int64_t vy = mt_swizzle_y(v), vz = mt_swizzle_z(v);
  MT_NEWERR(err);
  if (v.b != w.b) return false;
  mt_flatten_extended(&f, a);
  if (!bits_apart(&f, index_bound(mt_size(a), w), &all, &odd, &index)) return false;
  if (((y | z) & index) || ((vy | vz) & odd)) return false;
  for (int64_t k = y & -y, l = z & -z, vk = vy & -vy, vl = vz & -vz; k & y;
       k *= 2, l *= 2, vk *= 2, vl *= 2) {
    if (k >= mt_size(a)) { /* never set: so it must not be in the values */
      if (vk & all) return false;
      continue;
    }
    if (mt_at(&at, a, k, &err) != MT_OK || at != vk) return false;
    if (mt_at(&at, a, l, &err) != MT_OK || at != vl) return false;
  }
  return true;
}

/* ---- by the values */

typedef struct value_pair {
  int64_t i, is, would;
} value_pair;

/* Sw'(a(i)) = a(w(i)) for all i below size(a). *decided is false if there are too
** many. */
static bool same_values (value_pair *p, const mt_node *a, mt_swizzle w, mt_swizzle v,
                         bool *decided) {
  MT_NEWERR(err);
  *decided = mt_size(a) <= MT_SWIZZLE_STEPS;
  for (p->i = 0; *decided && p->i < mt_size(a); p->i++) {
    int64_t x;
    if (p->i == mt_swizzle_steps(a)) *decided = false;
    if (mt_at(&x, a, p->i, &err) || mt_at(&p->is, a, mt_swizzle_apply(w, p->i), &err))
      return false;
    p->would = mt_swizzle_apply(v, x);
    if (p->would != p->is) return false;
  }
  return *decided;
}

static mt_status no_pass (mt_err *err, const char *op, const mt_node *a, mt_swizzle w) {
  mt_layout room;
  return mt_failn(err, MT_EINEXACT, "%s: no swizzle R has R(A(i)) = A(%N(i)) for A = %N",
                  op, mt_swizzle_text(&room, w), a);
}

mt_status mt_swizzle_pass (mt_swizzle *out, const char *op, const mt_node *a,
                           mt_swizzle w, mt_err *err) {
  int64_t y = 0, z = 0;
  value_pair p = {0, 0, 0};
  bool decided;
  mt_layout room;
  if (mt_at(&y, a, mt_swizzle_y(w), err) || mt_at(&z, a, mt_swizzle_z(w), err))
    return err->status;
  if (!mt_swizzle_from_masks(out, y, z)) {
    no_pass(err, op, a, w);
    mt_explain(
        err,
        "\n  A takes its masks Y = %lld and Z = %lld to %lld and %lld, which are not "
        "two runs of bits of one length, apart from each other",
        (long long)mt_swizzle_y(w), (long long)mt_swizzle_z(w), (long long)y,
        (long long)z);
    return err->status;
  }
  if (w.b == 0 || same_bits(a, w, *out) || same_values(&p, a, w, *out, &decided))
    return MT_OK;
  if (decided) {
    no_pass(err, op, a, w);
    mt_explain(
        err,
        "\n  %N, of the bits where A takes those of the swizzle, gives %lld at i = "
        "%lld, not %lld",
        mt_swizzle_text(&room, *out), (long long)p.would, (long long)p.i,
        (long long)p.is);
    return err->status;
  }
  return mt_failn(err, MT_EUNSUPPORTED,
                  "%s: whether %N passes through %N was not decided within "
                  "%d values",
                  op, mt_swizzle_text(&room, w), a, mt_swizzle_steps(a));
}

/* ---- A o Sw, A o (Sw o offset o L) */

/* R(i) = a(t(i)) for all i below size(t), a and t swizzled or not. */
static mt_status check_values (const mt_node *r, const mt_node *a, const mt_node *t,
                               mt_err *err) {
  int64_t x, y, z;
  int most = mt_swizzle_steps(r->span > a->span ? r : a);
  if (mt_size(t) > most)
    return mt_failn(err, MT_EUNSUPPORTED,
                    "composition: %N o %N: more than %d values to compare", a, t, most);
  for (int64_t i = 0; i < mt_size(t); i++) {
    MT_TRY(mt_at(&x, r, i, err));
    MT_TRY(mt_at(&y, t, i, err));
    MT_TRY(mt_at(&z, a, y, err));
    if (x != z)
      return mt_failn(err, MT_EINEXACT,
                      "composition: no layout R has R(i) = A(B(i)) for A = %N, B "
                      "= %N\n  %N gives %lld at i = %lld, not %lld",
                      a, t, r, (long long)x, (long long)i, (long long)z);
  }
  return MT_OK;
}

/* All values of t lie in 0 .. size(a) - 1, where the swizzle has been shown to pass. */
static bool inside (const mt_node *t, const mt_node *a) {
  MT_NEWERR(err);
  int64_t n, lo;
  return mt_footprint(&lo, &n, t, &err) == MT_OK && lo >= 0 && n <= mt_size(a);
}

/* a o t, a plain. */
static mt_status compose_plain (mt_layout *out, const mt_node *a, const mt_node *t,
                                mt_err *err) {
  mt_swizzle v;
  mt_layout plain;
  int64_t offset = 0;
  MT_TRY(mt_swizzle_pass(&v, "composition", a, mt_swizzle_of(t), err));
  if (mt_is_bare_swizzle(t)) return mt_swizzled(out, "composition", v, 0, a, err);
  MT_TRY(mt_composition(&plain, a, mt_child(t), err));
  if (t->stride != 0) MT_TRY(mt_at(&offset, a, t->stride, err));
  MT_TRY(mt_swizzled(out, "composition", v, offset, plain.node, err));
  if (t->stride == 0 && inside(mt_child(t), a)) return MT_OK;
  return check_values(out->node, a, t, err);
}

mt_status mt_layout_swizzle_composition (mt_layout *out, const mt_node *a,
                                         const mt_node *t, mt_err *err) {
  mt_layout under;
  mt_swizzle v, w, both;
  const mt_node *in = mt_inner(a);
  if (!mt_is_integral(a))
    return mt_failn(err, MT_EINVAL, "composition: %N o %N: the strides are no integers",
                    a, t);
  MT_TRY(compose_plain(&under, in, t, err));
  if (in == a) {
    mt_copy_value(out, under.node);
    return MT_OK;
  }
  v = mt_swizzle_of(a);
  if (!mt_is_swizzled(under.node))
    return mt_swizzled(out, "composition", v, a->stride, under.node, err);
  w = mt_swizzle_of(under.node);
  if (a->stride != 0)
    return mt_failn(err, MT_EUNSUPPORTED,
                    "composition: %N o %N: an offset lies between two "
                    "swizzles",
                    a, t);
  if (!mt_swizzle_merge(&both, v, w)) {
    mt_layout rv, rw;
    return mt_failn(err, MT_EINEXACT,
                    "composition: %N o %N: the swizzle on the right comes through "
                    "the layout as %N, and %N o that is no swizzle",
                    a, t, mt_swizzle_text(&rw, w), mt_swizzle_text(&rv, v));
  }
  return mt_swizzled(out, "composition", both, under.node[0].stride, mt_child(under.node),
                     err);
}

/* ---- inverses */

/* w takes 0 .. n-1 to itself. */
static bool closed (mt_swizzle w, int64_t n) {
  int64_t y = mt_swizzle_y(w), z = mt_swizzle_z(w);
  return w.b == 0 || n <= (y & -y) || n % (z + (z & -z)) == 0;
}

typedef mt_status inverse (mt_layout *out, const mt_node *a, mt_err *err);

/* inv(L) o Sw as Sw' o inv(L). */
static mt_status invert (mt_layout *out, const char *op, inverse *f, const mt_node *a,
                         mt_err *err) {
  mt_layout plain;
  mt_swizzle v, w = mt_swizzle_of(a);
  if (a->stride != 0)
    return mt_failn(err, MT_EUNSUPPORTED, "%s: of %N: its offset is not 0", op, a);
  MT_TRY(f(&plain, mt_child(a), err));
  MT_TRY(mt_swizzle_pass(&v, op, plain.node, w, err));
  return mt_swizzled(out, op, v, 0, plain.node, err);
}

static mt_status too_many (mt_err *err, const char *op, const mt_node *a) {
  return mt_failn(err, MT_EUNSUPPORTED, "%s: of %N: more than %d values to compare", op,
                  a, mt_swizzle_steps(a));
}

mt_status mt_swizzle_right_inverse (mt_layout *out, const mt_node *a, mt_err *err) {
  int64_t j, k;
  MT_TRY(invert(out, "right_inverse", mt_right_inverse, a, err));
  int64_t n = mt_size(out->node);
  if (closed(mt_swizzle_of(a), n)) return MT_OK;
  if (n > mt_swizzle_steps(a)) return too_many(err, "right_inverse", a);
  for (int64_t i = 0; i < n; i++) {
    MT_TRY(mt_at(&j, out->node, i, err));
    MT_TRY(mt_at(&k, a, j, err));
    if (k != i)
      return mt_failn(err, MT_EINEXACT,
                      "right_inverse: of %N: its swizzle leads out of the %lld values "
                      "that its layout has in order\n  %N takes %lld to %lld, where A "
                      "has %lld",
                      a, (long long)n, out->node, (long long)i, (long long)j,
                      (long long)k);
  }
  return MT_OK;
}

mt_status mt_swizzle_left_inverse (mt_layout *out, const mt_node *a, mt_err *err) {
  int64_t j, k, l;
  MT_TRY(invert(out, "left_inverse", mt_left_inverse, a, err));
  if (closed(mt_swizzle_of(a), mt_size(out->node)) && inside(mt_child(a), out->node))
    return MT_OK;
  if (mt_size(a) > mt_swizzle_steps(a)) return too_many(err, "left_inverse", a);
  for (int64_t i = 0; i < mt_size(a); i++) {
    MT_TRY(mt_at(&j, a, i, err));
    MT_TRY(mt_at(&k, out->node, j, err));
    MT_TRY(mt_at(&l, a, k, err));
    if (l != j)
      return mt_failn(
          err, MT_EINEXACT,
          "left_inverse: of %N: its swizzle leads out of the values "
          "of its layout: A(%lld) = %lld, %N takes it to %lld, where A has %lld",
          a, (long long)i, (long long)j, out->node, (long long)k, (long long)l);
  }
  return MT_OK;
}
