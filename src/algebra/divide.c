/*
** divide.c - layouts cut into tiles.
** SPDX-License-Identifier: MIT
**
** A divide is A o (T, T*), T* the complement of the tile T up to the size of A. It is
** made only if (T, T*) fills: then every A(i) appears.
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "algebra/by_mode.h"
#include "algebra/composed.h"
#include "algebra/tiles.h"
#include "algebra/zip.h"

/* (T, T*) as a layout. */
static void with_complement (mt_build *b, mt_layout *out, const mt_node *t,
                             int64_t bound) {
  mt_build pair;
  bool fills = false;
  mt_begin(&pair, out, b->op, b->err);
  mt_open(&pair, MT_MODES);
  mt_add(&pair, t);
  mt_emit_complement(&pair, &fills, t, bound, 0);
  mt_failed(b, mt_finish(&pair));
  if (b->status == MT_OK && !fills)
    mt_build_fail(b, MT_EINEXACT,
                  "%s: the tile %N and its complement %N leave gaps: they miss "
                  "offsets below %lld",
                  b->op, t, mt_mode(out->node, 1), (long long)bound);
}

static bool goes_back (const mt_node *t) {
  for (const mt_node *p = mt_leaf(t, t); p < mt_next(t); p = mt_leaf(t, mt_after(p)))
    if (p->shape > 1 && p->stride < 0) return true;
  return false;
}

/* A layout that steps forward, in integers. */
static inline bool is_tile (const mt_node *t) {
  for (const mt_node *p = t, *end = mt_next(t); p < end; p++)
    if (p->tag != MT_MODES && (p->tag != MT_LEAF || p->ring != MT_Z || p->stride < 0))
      return false;
  return true;
}

static void refuse_tile (mt_build *b, const mt_node *t) {
  if (mt_is_more(t)) {
    mt_build_fail(b, MT_EUNSUPPORTED, "%s: %N as a tile of one mode", b->op, t);
  } else if (!mt_is_layout(t)) {
    mt_build_fail(b, MT_EINVAL, "%s: %N as a tile: it has no extents", b->op, t);
  } else if (!mt_is_integral(t)) {
    mt_build_fail(b, MT_EINVAL, "%s: the strides of the tile %N are no integers", b->op,
                  t);
  } else if (goes_back(t)) {
    mt_build_fail(b, MT_EINEXACT,
                  "%s: the tile %N has a negative stride: it begins before the "
                  "layout that it divides",
                  b->op, t);
  }
}

static MT_APART bool divides (const mt_node *a, int64_t n, int64_t d) {
  mt_layout pair, r;
  mt_build all;
  MT_NEWERR(err);
  const mt_node t = mt_leaf_of(n, d);
  mt_begin(&all, &r, "", &err);
  all.trial = true;
  with_complement(&all, &pair, &t, mt_size(a));
  mt_emit_composition(&all, a, pair.node);
  return mt_end(&all) == MT_OK;
}

/* Adds the nearest extents n of a tile n:d with which a can be divided. */
static MT_APART void other_tiles (mt_build *b, const mt_node *a, const mt_node *t) {
  int64_t less = 0, more = 0, d = t->stride;
  mt_explain(b->err, "\n  B is the tile %N with its complement", t);
  if (t->tag != MT_LEAF || t->shape > INT64_MAX - 64) return;
  for (int64_t n = t->shape - 1; n > 1 && n > t->shape - 64 && !less; n--)
    if (divides(a, n, d)) less = n;
  for (int k = 1; k < 64 && k <= mt_size(a) - t->shape && !more; k++)
    if (divides(a, t->shape + k, d)) more = t->shape + k;
  if (less) mt_explain(b->err, "; %lld:%lld", (long long)less, (long long)d);
  if (more)
    mt_explain(b->err, "%s%lld:%lld", less ? " and " : "; ", (long long)more,
               (long long)d);
  if (less || more) mt_explain(b->err, " divide%s this A", less && more ? "" : "s");
}

/* ((tile), (rest)) */
/* By a tile of coordinates. */
static void divide_by_axes (mt_build *b, const mt_node *a, const mt_node *t) {
  mt_layout pair;
  if (goes_back(t)) refuse_tile(b, t);
  if (b->status == MT_OK) mt_failed(b, mt_tile_of_axes(&pair, b->op, t, a, b->err));
  b->derived = true;
  if (b->status == MT_OK) mt_emit_composition(b, a, pair.node);
}

static MT_APART void divide_by_layout (mt_build *b, const mt_node *a, const mt_node *t) {
  mt_layout pair;
  if (!is_tile(t)) {
    if (mt_is_axes(t)) divide_by_axes(b, a, t);
    else refuse_tile(b, t);
    if (b->status != MT_OK || mt_is_axes(t)) return;
  }
  if (b->status == MT_OK) with_complement(b, &pair, t, mt_size(a));
  if (b->status != MT_OK) return;
  b->derived = true;
  mt_emit_composition(b, a, pair.node);
  if (b->status == MT_EINEXACT) other_tiles(b, a, t);
}

/* By the tile n:1. */
static void divide_by_count (mt_build *b, const mt_node *a, int64_t n) {
  const mt_node count = mt_leaf_of(n, 1);
  divide_by_layout(b, a, &count);
}

/* ((tile), (rest)) in each mode that the tiler reaches. */
static void divide (mt_build *b, const mt_node *a, const mt_node *t) {
  if (b->status != MT_OK) return;
  if (t->tag == MT_WILD) {
    mt_add(b, a);
  } else if (t->tag == MT_TUPLE || t->tag == MT_TILER) {
    mt_emit_by_mode(b, a, t, divide);
  } else if (t->tag == MT_INT && t->ring == MT_Z && t->shape >= 0) {
    divide_by_count(b, a, t->shape);
  } else {
    divide_by_layout(b, a, t);
  }
}

/* A tiler stands for its coordinates. */
static MT_APART mt_status divide_tiler (mt_zip_form f, mt_layout *out, const char *op,
                                        const mt_node *a, const mt_node *t, mt_err *err) {
  mt_layout room;
  if (a->tag == MT_WILD)
    return mt_fail(err, MT_EINVAL, "%s: `_` has no extents to divide", op);
  MT_TRY(mt_renamed(op, mt_tiler_to_layout(&room, a, err), err));
  return mt_in_form(f, out, op, room.node, t, divide, err);
}

static void as_it_is (mt_build *b, const mt_node *a, const mt_node *t) {
  (void)t;
  mt_add(b, a);
}

/* By a tile that is more than a layout over Z. */
static MT_APART mt_status divide_by_function (mt_zip_form f, mt_layout *out,
                                              const char *op, const mt_node *a,
                                              const mt_node *t, mt_err *err) {
  mt_layout pair, r;
  MT_TRY(mt_tile_of_function(&pair, op, t, mt_size(a), err));
  MT_TRY(mt_renamed(op, mt_composition(&r, a, pair.node, err), err));
  return mt_in_form(f, out, op, r.node, t, as_it_is, err);
}

/* By tiles of the modes, some of which are such. */
static MT_APART mt_status divide_by_functions (mt_zip_form f, mt_layout *out,
                                               const char *op, const mt_node *a,
                                               const mt_node *t, mt_err *err) {
  mt_layout r;
  MT_TRY(mt_by_functions(&r, op, MT_BY_DIVIDE, mt_logical_divide, a, t, err));
  return mt_in_form(f, out, op, r.node, t, as_it_is, err);
}

/* What is more than a layout over Z, and whose base is not divided so: its indices are,
** if that leaves none over, and it is composed with them. */
static MT_APART mt_status divide_indices (mt_zip_form f, mt_layout *out, const char *op,
                                          const mt_node *a, const mt_node *t,
                                          mt_err *err) {
  mt_layout shape, index, parts;
  MT_TRY(mt_shape(&shape, a, err));
  MT_TRY(mt_layout_left(&index, shape.node, err));
  MT_TRY(mt_in_form(f, &parts, op, index.node, t, divide, err));
  if (mt_size(parts.node) != mt_size(a)) return MT_EINEXACT;
  return mt_renamed(op, mt_composition(out, a, parts.node, err), err);
}

static MT_APART mt_status divide_any (mt_zip_form f, mt_layout *out, const char *op,
                                      const mt_node *a, const mt_node *t, mt_err *err) {
  if (!mt_is_function(a)) return divide_tiler(f, out, op, a, t, err);
  mt_status s = mt_in_form(f, out, op, a, t, divide, err);
  if (s != MT_OK && mt_has_functions(t)) {
    mt_forgive(err);
    return divide_by_functions(f, out, op, a, t, err);
  }
  if (s == MT_EINEXACT && !mt_is_more(t) && mt_is_more(a)) {
    mt_err why = *err;
    mt_forgive(err);
    s = divide_indices(f, out, op, a, t, err);
    if (s == MT_OK || s == MT_ESTOPPED) return s;
    *err = why;
    return why.status;
  }
  if (s == MT_OK || !mt_is_more(t)) return s;
  mt_forgive(err);
  return divide_by_function(f, out, op, a, t, err);
}

static inline bool is_plain (const mt_node *t) {
  return t->tag == MT_LEAF || t->tag == MT_MODES;
}

/* Of plain layouts no second way is asked for. */
static inline mt_status divide_as (mt_zip_form f, mt_layout *out, const char *op,
                                   const mt_node *a, const mt_node *t, mt_err *err) {
  if (is_plain(a) && t->tag == MT_LEAF && t->ring == MT_Z)
    return mt_in_form(f, out, op, a, t, divide, err);
  return divide_any(f, out, op, a, t, err);
}

mt_status mt_logical_divide (mt_layout *out, const mt_node *a, const mt_node *t,
                             mt_err *err) {
  return divide_as(MT_ZIP_LOGICAL, out, "logical_divide", a, t,
                   err); /* ((Tile),(Rest)) */
}

mt_status mt_zipped_divide (mt_layout *out, const mt_node *a, const mt_node *t,
                            mt_err *err) {
  return divide_as(MT_ZIP_ZIPPED, out, "zipped_divide", a, t,
                   err); /* ((Tiles),(Rests)) */
}

mt_status mt_tiled_divide (mt_layout *out, const mt_node *a, const mt_node *t,
                           mt_err *err) {
  return divide_as(MT_ZIP_TILED, out, "tiled_divide", a, t,
                   err); /* ((Tiles),RestM,...) */
}

mt_status mt_flat_divide (mt_layout *out, const mt_node *a, const mt_node *t,
                          mt_err *err) {
  return divide_as(MT_ZIP_FLAT, out, "flat_divide", a, t,
                   err); /* (TileM,...,RestM,...) */
}
