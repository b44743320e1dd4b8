/*
** partition.c - tiles and partitions of a tensor's layout, and where they begin.
** SPDX-License-Identifier: MIT
**
** A layout is zipped by a tiler into ((Tiles),(Rests)); a coordinate in one of the two
** picks what lies there of the other.
*/
#include "moontile/algebra.h"
#include "moontile/partition.h"
#include "moontile/swizzle.h"
#include "moontile/tuple.h"
#include "algebra/composed.h"
#include "algebra/f2.h"
#include "tile/tile.h"

/* ---- offsets as values */

/* a(c) with `_` as 0, in the space of `space`: an integer, or a coordinate with its
** zeros. */
static mt_status offset_of (mt_layout *out, const mt_node *c, const mt_node *a,
                            const mt_node *space, mt_err *err) {
  int64_t i;
  if (mt_is_integral(a) && mt_is_integral(space)) {
    MT_TRY(mt_crd2idx(&i, c, a, err));
    mt_int(out, i);
    return MT_OK;
  }
  return mt_eval_in(out, c, a, space, err);
}

/* Under a swizzle that has no digits for the steps: all of the offset stays inside. */
static MT_APART mt_status slice_inside (mt_layout *out, int64_t *offset, const mt_node *c,
                                        const mt_node *a, mt_err *err) {
  mt_layout rest;
  mt_node at = {.tag = MT_INT, .span = 1};
  mt_forgive(err);
  *offset = 0;
  MT_TRY(mt_plain_slice(&rest, &at.shape, c, mt_inner(a), err));
  return mt_relink(out, "slice", a, &at, rest.node, err);
}

/* What is sliced away under a swizzle stays inside, as far as mt_slice says so. */
mt_status mt_slice_in (mt_layout *out, mt_layout *offset, const mt_node *c,
                       const mt_node *a, const mt_node *space, mt_err *err) {
  int64_t i;
  if (mt_slice(out, &i, c, a, err) != MT_OK) {
    if (!mt_is_swizzled(a) || err->status != MT_EINEXACT) return err->status;
    MT_TRY(slice_inside(out, &i, c, a, err));
  }
  if (mt_is_composed(a) || (mt_is_integral(a) && mt_is_integral(space))) {
    mt_int(offset, i);
    return MT_OK;
  }
  return mt_eval_in(offset, c, a, space, err);
}

mt_status mt_slice_and_offset (mt_layout *out, mt_layout *offset, const mt_node *c,
                               const mt_node *a, mt_err *err) {
  MT_CHECK(mt_is_function(a), err, "slice_and_offset: a layout expected");
  return mt_slice_in(out, offset, c, a, a, err);
}

mt_status mt_domain_offset (mt_layout *out, mt_layout *offset, const mt_node *c,
                            const mt_node *a, mt_err *err) {
  mt_layout at, moved;
  MT_CHECK(mt_is_function(a), err, "domain_offset: a layout expected");
  if (mt_is_f2(mt_base(a)))
    return mt_failn(err, MT_EUNSUPPORTED,
                    "domain_offset: %N has F2 strides: A(c + d) is not "
                    "A(c) xor A(d)",
                    a);
  MT_TRY(
      mt_renamed("domain_offset",
                 offset_of(&at, c, mt_base(a), mt_is_composed(a) ? mt_base(a) : a, err),
                 err));
  if (mt_is_composed(a)) {
    mt_int(offset, 0);
    return mt_relink(out, "domain_offset", a, at.node, mt_base(a), err);
  }
  if (!mt_is_swizzled(a)) {
    mt_copy_value(out, a);
    mt_copy_value(offset, at.node);
    return MT_OK;
  }
  mt_copy_value(&moved, a);
  mt_int(offset, 0);
  if (mt_addo(a->stride, at.node[0].shape, &moved.node[0].stride))
    return mt_failn(err, MT_EOVERFLOW, "domain_offset: an offset of %N leaves 64 bits",
                    a);
  return mt_renamed("domain_offset", mt_swizzle_over(out, moved.node, mt_inner(a), err),
                    err);
}

/* ---- coordinates in a zipped layout */

/* c is outside of a: of this mode, counted from 1, or, 0, of the whole. */
static mt_status outside (const char *op, const mt_node *c, const mt_node *a, int mode,
                          mt_err *err) {
  const long long size = (long long)mt_size(a);
  if (mode == 0)
    return mt_failn(err, MT_ERANGE,
                    "%s: coordinate %N is outside of %N, whose size is %lld", op, c, a,
                    size);
  return mt_failn(err, MT_ERANGE,
                  "%s: coordinate %N is outside of mode %d, %N, whose size is %lld", op,
                  c, mode, a, size);
}

/* Each integer of c, which is this mode of the whole, lies below its part of a. */
static mt_status inside (const char *op, const mt_node *c, const mt_node *a, int mode,
                         mt_err *err) {
  if (c->tag == MT_WILD) return MT_OK;
  if (c->tag == MT_INT && c->shape >= 0 && c->shape < mt_size(a)) return MT_OK;
  if (c->tag == MT_INT) return outside(op, c, a, mode, err);
  if (c->tag != MT_TUPLE)
    return mt_failn(err, MT_EINVAL, "%s: %N is no coordinate", op, c);
  if (!mt_is_branch(a) || c->arity != a->arity)
    return mt_failn(err, MT_ERANK, "%s: coordinate %N has %d modes, %N has %d", op, c,
                    (int)c->arity, a, mt_rank(a));
  const mt_node *m = mt_child(a);
  int i = 0;
  for (const mt_node *k = mt_child(c); k < mt_next(c); k = mt_next(k), m = mt_next(m))
    MT_TRY(inside(op, k, m, mode ? mode : ++i, err));
  return MT_OK;
}

/* c, a tuple with `_` behind it for the modes that it does not reach. */
static void emit_picked (mt_build *b, const mt_node *c, const mt_node *mode) {
  if (c->tag != MT_TUPLE) {
    mt_add(b, c);
    return;
  }
  mt_open(b, MT_TUPLE);
  for (const mt_node *k = mt_child(c); k < mt_next(c); k = mt_next(k)) mt_add(b, k);
  for (int i = c->arity; i < mt_rank(mode); i++) mt_add_wild(b);
  mt_close(b);
}

/* `_` for each mode, so that they become modes of the result. */
static void emit_kept (mt_build *b, const mt_node *mode) {
  int n = mt_rank(mode);
  if (n == 1) {
    mt_add_wild(b);
    return;
  }
  mt_open(b, MT_TUPLE);
  for (int i = 0; i < n; i++) mt_add_wild(b);
  mt_close(b);
}

/* The zipped layout sliced at c in mode `pick`, 0 or 1. */
static mt_status partition (mt_layout *out, mt_layout *offset, const char *op,
                            const mt_node *a, const mt_node *t, const mt_node *c,
                            int pick, mt_err *err) {
  mt_layout z, at;
  mt_build b;
  MT_CHECK(mt_is_function(a), err, "%s: a layout expected", op);
  MT_TRY(mt_renamed(op, mt_zipped_divide(&z, a, t, err),
                    err)); /* ((TileM,TileN,...),(RestM,RestN,...)) */
  const mt_node *in = mt_base(z.node);
  mt_begin(&b, &at, op, err);
  mt_open(&b, MT_TUPLE);
  for (int i = 0; i < 2; i++) {
    if (i == pick) emit_picked(&b, c, mt_mode(in, i));
    else emit_kept(&b, mt_mode(in, i));
  }
  MT_TRY(mt_end(&b));
  MT_TRY(inside(op, mt_mode(at.node, pick), mt_mode(in, pick), 0, err));
  return mt_slice_in(out, offset, at.node, z.node, a, err);
}

mt_status mt_inner_partition (mt_layout *out, mt_layout *offset, const mt_node *a,
                              const mt_node *t, const mt_node *c, mt_err *err) {
  return partition(out, offset, "inner_partition", a, t, c, 1,
                   err); /* (TileM,...,rest) */
}

mt_status mt_outer_partition (mt_layout *out, mt_layout *offset, const mt_node *a,
                              const mt_node *t, const mt_node *c, mt_err *err) {
  return partition(out, offset, "outer_partition", a, t, c, 0,
                   err); /* (tile,RestM,...) */
}

/* ---- by name */

/* The modes of t, which has the projection's ranks, where it has no `_`. */
static mt_status project (mt_layout *out, const char *op, const mt_node *proj,
                          const mt_node *t, mt_err *err) {
  if (proj->tag == MT_TUPLE && (!mt_is_branch(t) || t->arity != proj->arity))
    return mt_failn(err, MT_ERANK,
                    "%s: %N has no %d modes, as the projection %N has\n  1 in the "
                    "projection keeps a mode, `_` leaves it out",
                    op, t, (int)proj->arity, proj);
  return mt_renamed(op, mt_dice(out, proj, t, err), err);
}

mt_status mt_local_tile (mt_layout *out, mt_layout *offset, const mt_node *a,
                         const mt_node *t, const mt_node *c, const mt_node *proj,
                         mt_err *err) {
  static const char *const op = "local_tile";
  mt_layout tiler, coord;
  if (proj) {
    MT_TRY(project(&tiler, op, proj, t, err));
    MT_TRY(project(&coord, op, proj, c, err));
    t = tiler.node;
    c = coord.node;
  }
  return partition(out, offset, op, a, t, c, 1, err); /* (TileM,...,rest) */
}

/* The sizes of the modes of thr, and where thr is `index`, by mode: of the modes that the
** projection keeps, while the index counts all threads. */
static MT_APART mt_status place_of (mt_layout *tile, mt_layout *coord, const char *op,
                                    const mt_node *thr, int64_t index,
                                    const mt_node *proj, mt_err *err) {
  mt_layout place, some, shape;
  if (proj == NULL) {
    MT_TRY(mt_product_each(tile, thr, err));
    return mt_renamed(op, mt_get_flat_coord(coord, thr, index, err), err);
  }
  MT_TRY(mt_renamed(op, mt_get_hier_coord(&place, thr, index, err), err));
  MT_TRY(project(tile, op, proj, thr, err));
  MT_TRY(project(&some, op, proj, place.node, err));
  MT_TRY(mt_shape(&shape, tile->node, err));
  MT_TRY(mt_product_each(tile, shape.node, err));
  return mt_renamed(op, mt_crd2crd(coord, some.node, shape.node, tile->node, err), err);
}

mt_status mt_local_partition (mt_layout *out, mt_layout *offset, const mt_node *a,
                              const mt_node *thr, int64_t index, const mt_node *proj,
                              mt_err *err) {
  static const char *const op = "local_partition";
  mt_layout tile, coord;
  MT_CHECK(mt_is_layout(thr), err, "%s: a layout of threads expected", op);
  MT_TRY(place_of(&tile, &coord, op, thr, index, proj, err));
  return partition(out, offset, op, a, tile.node, coord.node, 0, err);
}
