/*
** composed.c - functions after layouts: what CuTe calls a composed layout.
** SPDX-License-Identifier: MIT
**
** A composed layout is a chain f o n o (g o m o (... A)), read from the right. A layout
** of its own has no link above another's: f is a bare swizzle or a layout without a root.
** So whatever works on A alone - slices, divides, modes - leaves the chain as it is.
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "algebra/composed.h"
#include "algebra/f2.h"
#include "algebra/swizzle.h"

static const mt_node none = {.tag = MT_INT, .span = 1};

static mt_node integer (int64_t v) {
  mt_node n = none;
  n.shape = v;
  return n;
}

static mt_node bare (mt_swizzle w) {
  return (mt_node){.tag = MT_SWIZZLE, .span = 1, .shape = mt_swizzle_pack(w.b, w.m, w.s)};
}

/* ---- what may stand under what */

/* A layout without a negative stride, a list without a negative value, a swizzle. */
static bool steps_forward (const mt_node *f) {
  if (f->tag == MT_LIST)
    for (int64_t i = 0; i < f->shape; i++)
      if (mt_list_values(f)[i] < 0) return false;
  for (const mt_node *p = f; p < mt_next(f) && f->tag != MT_LIST; p++)
    if (p->tag == MT_SUM || (p->tag == MT_LEAF && p->ring == MT_Z && p->stride < 0))
      return false;
  return true;
}

/* So for each link of x, and no offset is below 0: nor is a value. */
static bool never_back (const mt_node *x) {
  for (; mt_is_composed(x); x = mt_under(x))
    if (x->stride < 0 || !steps_forward(mt_outer(x))) return false;
  return (!mt_is_swizzled(x) || x->stride >= 0) && steps_forward(mt_inner(x));
}

/* No value of offset + x is below 0. */
static bool starts_at_0 (const mt_node *offset, const mt_node *x) {
  int64_t lo, end;
  MT_NEWERR(err);
  if (offset->ring == MT_F2 || !mt_is_integral(x)) return true;
  if (offset->shape >= 0 && never_back(x)) return true;
  if (mt_footprint(&lo, &end, x, &err) != MT_OK || mt_addo(lo, offset->shape, &lo))
    return false;
  return lo >= 0;
}

/* A list is asked for values that it has. */
static MT_APART mt_status within_list (const char *op, const mt_node *f,
                                       const mt_node *offset, const mt_node *x,
                                       mt_err *err) {
  int64_t lo, end, most;
  MT_TRY(mt_number_range(&lo, &end, op, x, err));
  if (end <= lo) return MT_OK;
  if (offset->ring == MT_F2) end = INT64_C(1) << mt_bits((end - 1) | offset->shape);
  else if (mt_addo(end, offset->shape, &end)) end = INT64_MAX;
  if (!mt_mulo(f->shape, INT64_C(1) << f->path[0], &most) && end > most)
    return mt_failn(err, MT_EINEXACT,
                    "%s: %N has %lld values, and is asked for number %lld: past its "
                    "coordinates a function that is listed is not known\n"
                    "take a tile that divides its extents, or list it for a larger shape",
                    op, f, (long long)most, (long long)end - 1);
  return MT_OK;
}

/* All extents of f but the last are powers of two: an F2 value has digits there. */
static const mt_node *no_digits (const mt_node *f) {
  const mt_node *leaf[MT_MAXNODES];
  int n = mt_leaves(leaf, f);
  for (int k = 0; k + 1 < n; k++)
    if (!mt_is_power(leaf[k]->shape)) return leaf[k];
  return NULL;
}

/* f as far as an x over F2 goes, its modes coalesced: f itself, where that has its
** digits. */
static MT_APART const mt_node *reached (mt_layout *out, const mt_node *f,
                                        const mt_node *offset, const mt_node *x) {
  mt_flat flat;
  mt_build b;
  int64_t lo, end, run = 1;
  MT_NEWERR(err);
  if (no_digits(f) == NULL || mt_number_range(&lo, &end, "", x, &err)) return f;
  if (end > 0) end = INT64_C(1) << mt_bits((end - 1) | offset->shape);
  mt_flatten_extended(&flat, f);
  for (int r = 0; r < flat.n; r++) {
    if (!mt_mulo(run, flat.s[r], &run) && run < end) continue;
    flat.n = r + 1;
  }
  mt_begin(&b, out, "composition", &err);
  mt_emit_flat(&b, &flat);
  return mt_end(&b) == MT_OK ? out->node : f;
}

/* Or it was not found out. */
static mt_status goes_back (const char *op, const mt_node *f, const mt_node *offset,
                            const mt_node *x, mt_err *err) {
  int64_t lo, end;
  MT_TRY(mt_number_range(&lo, &end, op, x, err));
  return mt_failn(err, MT_EINEXACT,
                  "%s: A = %N has no values below 0, where %N + %N goes", op, f, offset,
                  x);
}

static mt_status may_link (const char *op, const mt_node *f, const mt_node *offset,
                           const mt_node *x, mt_err *err) {
  const mt_node *at;
  bool f2 = !mt_is_integral(x);
  if (!mt_has_numbers(x))
    return mt_failn(err, MT_EINVAL,
                    "%s: the values of %N, which %N is to take, are no "
                    "integers",
                    op, x, f);
  if (offset->shape != 0 && f2 != (offset->ring == MT_F2))
    return mt_failn(err, MT_EINVAL,
                    "%s: the offset %N and values as those of %N do not add", op, offset,
                    x);
  if (f->tag == MT_SWIZZLE) return MT_OK;
  if (f2 && (at = no_digits(f)) != NULL)
    return mt_failn(
        err, MT_EUNSUPPORTED,
        "%s: the values of B = %N are over F2, and the extent %lld of A = %N is "
        "no power of two: they have no digits there",
        op, x, (long long)at->shape, f);
  if (mt_has_values_below_0(f)) return MT_OK;
  if (!starts_at_0(offset, x)) return goes_back(op, f, offset, x, err);
  return f->tag == MT_LIST ? within_list(op, f, offset, x, err) : MT_OK;
}

/* ---- links */

static void open_composed (mt_build *b, const mt_node *f, const mt_node *offset) {
  mt_open(b, MT_COMPOSED);
  if (b->status != MT_OK) return;
  mt_node *p = b->out->node + b->n - 1;
  p->stride = offset->shape;
  if (offset->shape != 0) p->ring = offset->ring;
  mt_add(b, f);
}

/* Of integers, without a root. */
static bool is_plain (const mt_node *x) {
  return mt_is_layout(x) && !mt_is_swizzled(x) && mt_is_integral(x);
}

/* f, a bare swizzle, at the root of x. */
static mt_status swizzle_roots (mt_layout *out, const char *op, const mt_node *f,
                                const mt_node *offset, const mt_node *x, mt_err *err) {
  mt_status s = mt_swizzled(out, op, mt_swizzle_of(f), offset->shape, x, err);
  if (s != MT_EOVERFLOW) return s;
  return mt_failn(err, s,
                  "%s: the offset %N and the range of %N leave 64 bits\n"
                  "take an offset nearer to 0, or a smaller layout",
                  op, offset, x);
}

/* f, a bare swizzle, and x, not plain, as one value with the swizzle at its root. */
static bool swizzle_joins (mt_layout *out, const char *op, const mt_node *f,
                           const mt_node *offset, const mt_node *x, mt_err *err) {
  mt_swizzle w = mt_swizzle_of(f), both;
  if (w.b == 0 && offset->shape == 0) return mt_copy_value(out, x), true;
  if (mt_is_layout(x) && !mt_is_swizzled(x)) return false;
  bool composed = mt_is_composed(x);
  const mt_node *g = composed ? mt_outer(x) : x, *under = composed ? mt_under(x) : x + 1;
  if (g->tag != MT_SWIZZLE || offset->shape != 0) return false;
  if (!mt_swizzle_merge(&both, w, mt_swizzle_of(g))) return false;
  mt_node n = integer(x->stride);
  n.ring = composed ? x->ring : MT_Z;
  const mt_node joined = bare(both);
  return mt_link(out, op, &joined, &n, under, err) == MT_OK;
}

/* f without a root, not to be joined. */
static MT_APART mt_status link_one (mt_layout *out, const char *op, const mt_node *f,
                                    const mt_node *offset, const mt_node *x,
                                    mt_err *err) {
  mt_build b;
  mt_layout chain, some;
  if (f->tag != MT_SWIZZLE && mt_has_numbers(x) && !mt_is_integral(x))
    f = reached(&some, f, offset, x);
  MT_TRY(may_link(op, f, offset, x, err));
  mt_begin(&b, &chain, op, err);
  open_composed(&b, f, offset);
  mt_add(&b, x);
  MT_TRY(mt_end(&b));
  if (!mt_simplify(out, op, chain.node, err)) mt_copy_value(out, chain.node);
  return MT_OK;
}

static MT_APART mt_status link_rooted (mt_layout *out, const char *op, const mt_node *f,
                                       const mt_node *offset, const mt_node *x,
                                       mt_err *err) {
  mt_layout inner;
  mt_node n = integer(f->stride);
  const mt_node w = bare(mt_swizzle_of(f)), *g = &w;
  const mt_node *under = mt_is_composed(f) ? mt_under(f) : mt_child(f);
  if (mt_is_composed(f)) g = mt_outer(f), n.ring = f->ring;
  MT_TRY(mt_link(&inner, op, under, offset, x, err));
  return mt_link(out, op, g, &n, inner.node, err);
}

/* An x that is n + y, by a swizzle that does nothing, is y at the offset + n. */
static const mt_node *without_offset (mt_node *offset, const mt_node *x) {
  bool composed = mt_is_composed(x), f2 = composed && x->ring == MT_F2;
  const mt_node *g = composed ? mt_outer(x) : x;
  int64_t sum;
  if (!composed && !mt_is_swizzled(x)) return x;
  if (g->tag != MT_SWIZZLE || mt_swizzle_of(g).b != 0) return x;
  if (offset->shape != 0 && f2 != (offset->ring == MT_F2)) return x;
  if (f2) sum = offset->shape ^ x->stride;
  else if (mt_addo(offset->shape, x->stride, &sum)) return x;
  offset->shape = sum;
  offset->ring = f2 ? MT_F2 : MT_Z;
  return composed ? mt_under(x) : mt_child(x);
}

/* f(i) = i for all i >= 0. */
static bool is_identity (const mt_node *f) {
  mt_flat flat;
  if (f->tag >= MT_SWIZZLE || !mt_is_integral(f)) return false;
  mt_flatten_extended(&flat, f);
  return flat.n == 1 && flat.d[0]->stride == 1;
}

mt_status mt_link (mt_layout *out, const char *op, const mt_node *f, const mt_node *at,
                   const mt_node *x, mt_err *err) {
  mt_node n = *at, *offset = &n;
  x = without_offset(&n, x);
  if (n.shape == 0 && is_identity(f) && mt_has_numbers(x) && mt_is_integral(x))
    return mt_copy_value(out, x), MT_OK;
  if (mt_is_composed(f) || mt_is_swizzled(f))
    return link_rooted(out, op, f, offset, x, err);
  if (f->tag == MT_SWIZZLE && is_plain(x))
    return swizzle_roots(out, op, f, offset, x, err);
  if (f->tag == MT_SWIZZLE && mt_has_numbers(x)) {
    if (swizzle_joins(out, op, f, offset, x, err)) return MT_OK;
    mt_forgive(err);
  }
  return link_one(out, op, f, offset, x, err);
}

/* offset + more */
static mt_status more_offset (mt_node *offset, const char *op, const mt_node *more,
                              const mt_node *a, mt_err *err) {
  if (more == NULL || more->shape == 0) return MT_OK;
  if (offset->shape == 0) *offset = *more;
  else if (more->ring == MT_F2) offset->shape ^= more->shape;
  else if (mt_addo(offset->shape, more->shape, &offset->shape))
    return mt_failn(err, MT_EOVERFLOW, "%s: an offset of %N leaves 64 bits", op, a);
  return MT_OK;
}

/* An offset in the integers adds to the values of x as integers. */
static mt_status as_integers (mt_layout *room, const char *op, const mt_node *offset,
                              const mt_node **x, mt_err *err) {
  const mt_node one = mt_leaf_of(1, 1);
  if (offset->shape == 0 || offset->ring == MT_F2 || mt_is_integral(*x)) return MT_OK;
  MT_TRY(mt_link(room, op, &one, &none, *x, err));
  *x = room->node;
  return MT_OK;
}

mt_status mt_relink (mt_layout *out, const char *op, const mt_node *a,
                     const mt_node *more, const mt_node *x, mt_err *err) {
  mt_layout inner, room;
  mt_node n = integer(a->stride);
  const mt_node w = bare(mt_swizzle_of(a)), *f = &w, *under = mt_child(a);
  if (mt_is_composed(a)) f = mt_outer(a), under = mt_under(a), n.ring = a->ring;
  if (mt_is_composed(under) || mt_is_swizzled(under)) {
    MT_TRY(mt_relink(&inner, op, under, more, x, err));
    x = inner.node;
    if (mt_is_integral(under)) MT_TRY(as_integers(&room, op, &n, &x, err));
    return mt_link(out, op, f, &n, x, err);
  }
  MT_TRY(more_offset(&n, op, more, a, err));
  if (mt_is_integral(under)) MT_TRY(as_integers(&room, op, &n, &x, err));
  if (mt_is_integral(x)) n.ring = MT_Z; /* only zeros are left of one over F2 */
  return mt_link(out, op, f, &n, x, err);
}

/* ---- composition */

bool mt_may_keep (const mt_node *a, const mt_node *t, mt_status s) {
  if (s != MT_EINEXACT && s != MT_EUNSUPPORTED && s != MT_EINVAL) return false;
  if (!mt_has_numbers(t) && !mt_is_bare_swizzle(t)) return false;
  if (!mt_is_function(a) && (!mt_is_bare_swizzle(a) || !mt_is_function(t))) return false;
  return a->tag >= MT_SWIZZLE || t->tag >= MT_SWIZZLE || mt_is_f2(a) || mt_is_f2(t);
}

/* a, seen from its indices in its shape, after the swizzle t. */
static MT_APART mt_status keep_swizzle (mt_layout *out, const mt_node *a,
                                        const mt_node *t, mt_err *err) {
  mt_layout left, indices;
  MT_TRY(mt_layout_left(&left, mt_base(a), err));
  MT_TRY(mt_swizzled(&indices, "composition", mt_swizzle_of(t), 0, left.node, err));
  return mt_link(out, "composition", a, &none, indices.node, err);
}

mt_status mt_keep_composition (mt_layout *out, const mt_node *a, const mt_node *t,
                               mt_err *err) {
  mt_forgive(err);
  if (mt_is_bare_swizzle(t)) return keep_swizzle(out, a, t, err);
  return mt_link(out, "composition", a, &none, t, err);
}

/* ---- an offset */

static mt_status want_integers (const char *op, const mt_node *a, mt_err *err) {
  MT_CHECK(mt_is_function(a), err, "%s: a layout expected", op);
  if (mt_is_integral(mt_inner(a))) return MT_OK;
  return mt_failn(err, MT_EINVAL, "%s: the strides of %N are no integers", op, a);
}

/* The offset lies above all bits of the swizzle. */
static bool is_above (mt_swizzle w, int64_t offset) {
  int64_t all = mt_swizzle_y(w) | mt_swizzle_z(w);
  return w.b == 0 || offset % ((int64_t)1 << mt_bits(all)) == 0;
}

/* r = offset + a, both with one swizzle. False: or it was not decided. */
static bool passes (const mt_node *r, const mt_node *a, int64_t offset) {
  int64_t x, y;
  MT_NEWERR(err);
  if (mt_size(a) > mt_swizzle_steps(a)) return false;
  for (int64_t i = 0; i < mt_size(a); i++)
    if (mt_at(&x, r, i, &err) || mt_at(&y, a, i, &err) || mt_subo(x, offset, &x) ||
        x != y)
      return false;
  return true;
}

/* offset + a, by a swizzle that does nothing. */
static mt_status before (mt_layout *out, const mt_node *a, int64_t offset, mt_err *err) {
  const mt_node n = integer(offset), f = bare((mt_swizzle){0, 0, 0});
  return mt_link(out, "with_offset", &f, &n, a, err);
}

mt_status mt_with_offset (mt_layout *out, const mt_node *a, int64_t offset, mt_err *err) {
  mt_swizzle w = mt_is_swizzled(a) ? mt_swizzle_of(a) : (mt_swizzle){0, 0, 0};
  int64_t under = mt_is_swizzled(a) ? a->stride : 0, sum;
  MT_TRY(want_integers("with_offset", a, err));
  if (mt_is_composed(a)) return before(out, a, offset, err);
  if (mt_addo(under, offset, &sum))
    return mt_failn(err, MT_EOVERFLOW, "with_offset: %lld + %N leaves 64 bits",
                    (long long)offset, a);
  MT_TRY(mt_swizzled(out, "with_offset", w, sum, mt_inner(a), err));
  if (is_above(w, offset) || passes(out->node, a, offset)) return MT_OK;
  return before(out, a, offset, err);
}

/* ---- by hand */

/* The answers of composition, where it has one. */
static bool has_answer (mt_layout *out, const mt_node *f, int64_t offset,
                        const mt_node *a) {
  mt_layout from;
  MT_NEWERR(err);
  if (mt_is_composed(a) || mt_is_composed(f) || mt_is_bare_swizzle(f)) return false;
  if (offset == 0) return mt_composition(out, f, a, &err) == MT_OK;
  return mt_is_layout(a) && !mt_is_f2(mt_inner(a)) &&
         mt_with_offset(&from, a, offset, &err) == MT_OK &&
         mt_composition(out, f, from.node, &err) == MT_OK;
}

/* The same; values of an f over the integers are integers. */
static bool is_answered (mt_layout *out, const mt_node *f, int64_t offset,
                         const mt_node *a) {
  return has_answer(out, f, offset, a) &&
         (mt_is_integral(out->node) || !mt_is_integral(f));
}

mt_status mt_make_composed_layout (mt_layout *out, const mt_node *f, int64_t offset,
                                   const mt_node *a, mt_err *err) {
  const mt_node n = integer(offset);
  MT_CHECK(mt_is_function(a), err, "make_composed_layout: %s",
           "a layout expected on the right");
  if (!mt_has_numbers(a))
    return mt_failn(err, MT_EINVAL,
                    "make_composed_layout: the strides of %N are no integers", a);
  if (!mt_is_function(f) && !mt_is_bare_swizzle(f))
    return mt_failn(err, MT_EINVAL,
                    "make_composed_layout: %N is no swizzle and no layout", f);
  if (is_answered(out, f, offset, a)) return MT_OK;
  return mt_link(out, "make_composed_layout", f, &n, a, err);
}
