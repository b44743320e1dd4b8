/*
** f2_inverse.c - inverses and sums of layouts over F2, and swizzles as F2 strides.
** SPDX-License-Identifier: MIT
**
** If the extents of A are powers of two, an index of A is a word of bits, one part for
** each mode, and A is linear: A(i xor j) = A(i) xor A(j). An F2 value as a coordinate is
** such a word.
*/
#include "moontile/lattice.h"
#include "algebra/f2.h"

/* Fails unless each extent of f, the last aside, is a power of two. */
static mt_status need_powers (const char *op, const mt_flat *f, const mt_node *a,
                              mt_err *err) {
  for (int r = 0; r < f->n - 1; r++)
    if (!mt_is_power(f->s[r]))
      return mt_failn(err, MT_EUNSUPPORTED,
                      "%s: over F2 the extents have to be powers of two, but "
                      "for the last, and %N has %lld: an index is no word of bits",
                      op, a, (long long)f->s[r]);
  return MT_OK;
}

/* A linear map as the images of the bits 0 .. n-1. */
typedef struct bits {
  int n;
  int64_t of[MT_F2BITS];
} bits;

static int64_t image (const bits *x, int64_t v) {
  int64_t sum = 0;
  for (int j = 0; j < x->n; j++)
    if (v >> j & 1) sum ^= x->of[j];
  return sum;
}

static void emit_leaf (mt_build *b, int64_t s, int64_t d) {
  mt_node p = {.tag = MT_LEAF, .ring = MT_F2, .span = 1, .shape = 1, .stride = d};
  mt_add_scaled(b, s, &p, 1);
}

/* ---- right inverse */

typedef struct mode {
  int64_t s, d, index;
} mode;

/* The modes of f that move, in the order of their strides; index: the product of the
** extents before. */
static int sorted_modes (mode *m, const mt_flat *f) {
  int n = 0;
  int64_t index = 1;
  for (int r = 0; r < f->n; r++) {
    int k = n;
    mode x = {f->s[r], f->d[r]->stride, index};
    index *= f->s[r];
    if (x.d == 0 || x.s == 1) continue;
    for (; k > 0 && m[k - 1].d > x.d; k--) m[k] = m[k - 1];
    m[k] = x;
    n++;
  }
  return n;
}

/* The images of the next `count` bits are e, 2e, 4e, ...: A is 2^j there. Past its end A
** goes on with its last mode, also if that has extent 1. */
static bool doubles (const mt_flat *f, int64_t e, int first, int count) {
  int64_t v;
  for (int j = 0; j < count; j++)
    if (!mt_f2_value(&v, f, e << j) || v != INT64_C(1) << (first + j)) return false;
  return true;
}

bool mt_f2_continues (int next, int64_t s, int64_t d) {
  if (mt_bits(d) - 1 != next) return false;
  int64_t below = d ^ INT64_C(1) << next;
  return below == 0 || mt_bits(below) + mt_bits(s - 1) - 1 <= next;
}

/* R goes on with mode m; what is below its highest bits is known. */
static bool follow (mt_build *b, bits *r, const mt_flat *f, const mode *m) {
  int count = mt_bits(m->s - 1), first = r->n;
  int64_t e = m->index ^ image(r, m->d ^ INT64_C(1) << first);
  if (first + count > MT_F2BITS || mt_bits(e) + count > MT_F2BITS) return false;
  bool whole = doubles(f, e, first, count);
  if (whole) emit_leaf(b, m->s, e);
  else if (!mt_is_power(m->s)) return false;
  for (int j = 0; j < count; j++) {
    if (!whole) e = m->index << j ^ image(r, m->d << j ^ INT64_C(1) << (first + j));
    if (!whole) emit_leaf(b, 2, e);
    r->of[r->n++] = whole ? e << j : e;
  }
  return mt_is_power(m->s);
}

mt_status mt_f2_right_inverse (mt_layout *out, const mt_node *a, mt_err *err) {
  mode m[MT_MAXNODES];
  mt_layout flat;
  mt_build b;
  mt_flat f;
  bits r = {0};
  f.n = 0;
  if (a->shape > 0) mt_flatten_extended(&f, a);
  MT_TRY(need_powers("right_inverse", &f, a, err));
  mt_begin(&b, &flat, "right_inverse", err);
  mt_open(&b, MT_MODES);
  int n = sorted_modes(m, &f);
  for (int k = 0; k < n; k++)
    if (mt_f2_continues(r.n, m[k].s, m[k].d) && !follow(&b, &r, &f, &m[k])) break;
  MT_TRY(mt_end(&b));
  return mt_coalesce(out, flat.node, NULL, err);
}

/* ---- left inverse: the images of bits, brought to echelon form */

typedef struct row {
  int64_t v, x;
} row; /* A(x) = v */

/* Adds v = A(x) to rows with distinct highest bits that no other row has. */
static void add_row (row *rows, int64_t v, int64_t x) {
  for (int j = MT_F2BITS - 1; j >= 0; j--)
    if (rows[j].v != 0 && (v >> j & 1)) v ^= rows[j].v, x ^= rows[j].x;
  if (v == 0) return;
  int top = mt_bits(v) - 1;
  for (int j = 0; j < MT_F2BITS; j++)
    if (rows[j].v >> top & 1) rows[j].v ^= v, rows[j].x ^= x;
  rows[top].v = v;
  rows[top].x = x;
}

mt_status mt_f2_left_inverse (mt_layout *out, const mt_node *a, mt_err *err) {
  row rows[MT_F2BITS] = {{0, 0}};
  mt_layout flat;
  mt_build b;
  mt_flat f;
  int64_t index = 1, v;
  int bound = mt_bits(mt_f2_coshape(a)) - 1;
  mt_flatten_coalesced(&f, a);
  if (a->shape == 0) f.n = 0;
  MT_TRY(need_powers("left_inverse", &f, a, err));
  for (int r = 0; r < f.n; index *= f.s[r++])
    for (int64_t step = 1; step < f.s[r]; step *= 2)
      if (!mt_f2_mulo(step, f.d[r]->stride, &v)) add_row(rows, v, index * step);
  mt_begin(&b, &flat, "left_inverse", err);
  mt_open(&b, MT_MODES);
  for (int j = 0; j < bound; j++) emit_leaf(&b, 2, rows[j].x);
  MT_TRY(mt_end(&b));
  return mt_coalesce(out, flat.node, NULL, err);
}

/* ---- sizes, swizzles */

int64_t mt_f2_coshape (const mt_node *a) {
  int most = 0;
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a); p = mt_leaf(a, mt_after(p))) {
    int n = p->shape > 1 && p->stride > 0 ?
                mt_bits(p->shape - 1) + mt_bits(p->stride) - 1 :
                0;
    if (n > most) most = n;
  }
  return INT64_C(1) << most;
}

/* The leaf s:d under the swizzle: its bits, where d is the step of the lowest. */
static void emit_swizzled (mt_build *b, mt_swizzle w, int64_t s, int64_t d) {
  mt_layout leaf;
  mt_build l;
  if (b->status != MT_OK) return;
  mt_begin(&l, &leaf, b->op, b->err);
  mt_open(&l, MT_MODES);
  for (int64_t step = 1; step < s; step *= 2)
    emit_leaf(&l, 2, mt_swizzle_apply(w, step * d));
  mt_failed(b, mt_end(&l));
  if (b->status != MT_OK) return;
  if (s == 1) emit_leaf(b, 1, mt_swizzle_apply(w, d));
  else mt_emit_coalesce(b, leaf.node);
}

/* The leaves of a, in its tree. `taken`: bits of the offset and of the leaves before. */
static void emit_bits (mt_build *b, mt_swizzle w, const mt_node *a, int64_t *taken) {
  if (mt_is_branch(a)) {
    mt_open(b, MT_MODES);
    for (const mt_node *c = mt_child(a); c < mt_next(a); c = mt_next(c))
      emit_bits(b, w, c, taken);
    mt_close(b);
    return;
  }
  if (!mt_is_power(a->shape) || a->stride < 0) {
    mt_build_fail(b, MT_EINEXACT,
                  "%s: the mode %N has %s: its values are no xor of their bits", b->op, a,
                  a->stride < 0 ? "a negative stride" :
                                  "an extent that is no power of two");
    return;
  }
  for (int64_t step = 1; step < a->shape && b->status == MT_OK; step *= 2) {
    if (*taken & (step * a->stride))
      mt_build_fail(b, MT_EINEXACT,
                    "%s: the step %lld of mode %N shares bits with the offset or "
                    "with steps before it: their sum carries, it is not their xor",
                    b->op, (long long)(step * a->stride), a);
    *taken |= step * a->stride;
  }
  emit_swizzled(b, w, a->shape, a->stride);
}

mt_status mt_swizzle_to_f2 (mt_layout *out, const mt_node *sw, int64_t offset,
                            const mt_node *a, mt_err *err) {
  mt_build b;
  int64_t taken = offset;
  MT_CHECK(sw->tag == MT_SWIZZLE && mt_is_layout(a) && !mt_is_swizzled(a), err,
           "swizzle_to_f2: a swizzle and a layout expected");
  if (!mt_is_integral(a))
    return mt_failn(err, MT_EINVAL, "swizzle_to_f2: the strides of %N are no integers",
                    a);
  if (offset < 0)
    return mt_fail(err, MT_ERANGE, "swizzle_to_f2: the offset %lld is negative",
                   (long long)offset);
  mt_begin(&b, out, "swizzle_to_f2", err);
  emit_bits(&b, mt_swizzle_of(sw), a, &taken);
  return mt_end(&b);
}
