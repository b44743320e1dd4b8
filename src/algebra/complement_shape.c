/*
** complement_shape.c - complements up to the end of a layout or to a shape, in any
** space.
** SPDX-License-Identifier: MIT
**
** A shape as a bound is divided by the reach of the layout mode by mode, each quotient
** rounded up, what is left of the divisor going on to the next. Where that covers less
** than the shape, the whole is divided instead. In a space of coordinates each axis has
** its own complement.
*/
#include "moontile/algebra.h"
#include "algebra/f2.h"
#include "algebra/coord_space.h"
#include "algebra/tiles.h"
#include "tuple/tuple.h"

/* One more than the largest difference of two values of a, which has integer strides,
** rounded up to whole steps of its largest mode: what the last mode of a complement moves
** by. False: it leaves 64 bits. */
static bool reach (int64_t *run, const mt_node *a) {
  uint64_t d, most = 0;
  int64_t extent = 1;
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a); p = mt_leaf(a, mt_after(p))) {
    if (p->shape <= 1) continue;
    d = mt_magnitude(p->stride);
    if (d > most) most = d, extent = p->shape;
  }
  *run = 1;
  return most == 0 || (most <= INT64_MAX && !mt_mulo(extent, most, run));
}

/* A bound, as an integer, for the layout a. False: it leaves 64 bits. */
static bool fold (int64_t *bound, const mt_node *shape, const mt_node *a) {
  int64_t size, rest = 1, run, left;
  for (const mt_node *p = shape; p < mt_next(shape); p++)
    if (!mt_is_branch(p) && p->shape < 0) {
      *bound = -1;
      return true;
    }
  if (!mt_product_of(&size, shape)) return false;
  *bound = size;
  if (size <= 0 || !mt_is_branch(shape)) return true;
  if (!reach(&run, a)) return false;
  left = run;
  for (const mt_node *p = shape; p < mt_next(shape); p++) {
    if (mt_is_branch(p)) continue;
    if (mt_mulo(rest, mt_div_up(p->shape, left), &rest)) return false;
    left = mt_div_up(left, p->shape);
  }
  if (rest < mt_div_up(size, run)) rest = mt_div_up(size, run);
  return !mt_mulo(rest, run, bound);
}

/* ---- along one axis */

typedef struct target {
  const mt_node *a;
  const mt_node *bound; /* NULL: up to the end of a */
  bool fills;
} target;

static void to_bound (mt_build *b, const target *x, const mt_node *a,
                      const mt_node *bound, bool *fills) {
  int64_t n;
  if (bound == NULL) mt_failed(b, mt_cosize(&n, a, b->err));
  else if (!fold(&n, bound, a))
    mt_build_fail(b, MT_EOVERFLOW, "%s: the bound %N leaves 64 bits", b->op, bound);
  else if (n < 0)
    mt_build_fail(b, MT_ERANGE, "%s: the bound %N is negative", b->op, x->bound);
  if (b->status == MT_OK) mt_emit_skipped(b, fills, a, n);
}

/* The integer layout t with its strides on an axis. */
static void emit_on (mt_build *b, const mt_node *t, const mt_node *axis) {
  mt_node unit = *axis;
  unit.tag = MT_LEAF;
  unit.stride = 1;
  if (mt_is_branch(t)) mt_open(b, MT_MODES);
  for (const mt_node *p = mt_leaf(t, t); p < mt_next(t); p = mt_leaf(t, mt_after(p)))
    mt_add_scaled(b, p->shape, &unit, p->stride);
  if (mt_is_branch(t)) mt_close(b);
}

/* The part of the bound at the axis; NULL: it has none. */
static const mt_node *bound_at (const mt_node *bound, const mt_node *axis) {
  for (int i = axis->path[MT_MAXPATH] - 1; i >= 0 && bound; i--)
    bound = mt_is_branch(bound) ? mt_mode(bound, axis->path[i]) : NULL;
  return bound;
}

static void emit_axis (mt_build *b, const mt_node *axis, void *ud) {
  target *x = ud;
  mt_layout along, gaps;
  mt_build g;
  bool fills;
  if (axis == NULL) {
    mt_add_leaf(b, 1, 0);
    return;
  }
  const mt_node *bound = x->bound ? bound_at(x->bound, axis) : NULL;
  if (x->bound && bound == NULL)
    mt_build_fail(b, MT_ERANK, "%s: the bound %N has no mode for each coordinate of %N",
                  b->op, x->bound, x->a);
  mt_on_axis(b, &along, x->a, axis);
  if (b->status != MT_OK) return;
  mt_begin(&g, &gaps, b->op, b->err);
  to_bound(&g, x, along.node, bound, &fills);
  mt_failed(b, mt_end(&g));
  if (b->status != MT_OK) return;
  x->fills = x->fills && fills;
  emit_on(b, gaps.node, axis);
}

mt_status mt_complement_shape (mt_layout *out, bool *fills, const mt_node *a,
                               const mt_node *bound, mt_err *err) {
  mt_build b;
  mt_coord_space space;
  mt_layout room;
  target x = {a, bound, true};
  MT_CHECK(mt_is_function(a), err, "complement: a layout expected");
  if (a->tag >= MT_SWIZZLE) MT_TRY(mt_complemented(&x.a, &room, a, err));
  if (bound && bound->tag == MT_INT && bound->ring == MT_Z && mt_is_integral(x.a))
    return mt_complement(out, fills, a, bound->shape, err);
  if (bound) MT_TRY(mt_want_extents("complement", bound, err));
  if (bound) x.bound = bound = mt_base(bound);
  if (mt_is_f2(x.a))
    return mt_failn(err, MT_EUNSUPPORTED, "complement: of %N, whose strides are over F2",
                    a);
  mt_begin(&b, out, "complement", err);
  mt_coord_space_of(&b, &space, x.a);
  if (x.a->shape == 0 && space.n > 0)
    mt_build_fail(&b, MT_EINVAL, "complement: %N is empty, and has no axes", x.a);
  if (space.n == 0) to_bound(&b, &x, x.a, bound, &x.fills);
  else mt_emit_coord_space(&b, &space, MT_MODES, emit_axis, &x);
  if (fills) *fills = x.fills;
  return mt_end(&b);
}
