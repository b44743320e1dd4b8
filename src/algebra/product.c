/*
** product.c - layouts repeated by layouts.
** SPDX-License-Identifier: MIT
**
** A product is (A, C o B), C the complement of A, large enough for all offsets of B: each
** value of B places a copy of A, and no two copies meet.
*/
#include "moontile/algebra.h"
#include "algebra/zip.h"

static bool plain (mt_build *b, const mt_node *t) {
  if (mt_is_swizzled(t))
    mt_build_fail(b, MT_EUNSUPPORTED, "%s: of the swizzled %N", b->op, t);
  else if (!mt_is_layout(t)) mt_build_fail(b, MT_EINVAL, "%s: %N is no layout", b->op, t);
  else if (!mt_is_integral(t))
    mt_build_fail(b, MT_EINVAL, "%s: the strides of %N are no integers", b->op, t);
  return b->status == MT_OK;
}

static MT_APART mt_status want_plain (mt_layout *out, const char *op, const mt_node *t,
                                      mt_err *err) {
  mt_build b;
  mt_begin(&b, out, op, err);
  plain(&b, t);
  return b.status;
}

/* C, with as many elements as the cosize of t, so that its unbounded last mode is never
** needed. A t with negative offsets needs a C that has no gaps before that mode. */
static void complement_for (mt_build *b, mt_layout *out, const mt_node *a,
                            const mt_node *t) {
  int64_t count, lo = 0, end = 0, bound = 0;
  mt_build c;
  mt_failed(b, mt_footprint(&lo, &end, t, b->err));
  if (mt_subo(end, lo, &count) || mt_mulo(count, mt_size(a), &bound))
    mt_build_fail(b, MT_EOVERFLOW, "%s: %N times %N leaves 64 bits", b->op, a, t);
  if (b->status == MT_OK && lo < 0) {
    mt_begin(&c, out, b->op, b->err);
    mt_emit_complement(&c, NULL, a, 0, 1);
    mt_failed(b, mt_end(&c));
    if (b->status == MT_OK && mt_size(out->node) > 1)
      mt_build_fail(b, MT_EINEXACT,
                    "%s: %N goes back, below its first copy, and the block %N has "
                    "gaps",
                    b->op, t, a);
    if (count < 2) count = 2;
  }
  if (b->status != MT_OK) return;
  mt_begin(&c, out, b->op, b->err);
  mt_emit_complement(&c, NULL, a, bound, count);
  mt_failed(b, mt_finish(&c));
}

/* C o B */
static MT_APART void emit_grid (mt_build *b, const mt_node *a, const mt_node *t) {
  mt_layout gaps;
  if (!plain(b, a) || !plain(b, t)) return;
  complement_for(b, &gaps, a, t);
  if (b->status != MT_OK) return;
  b->derived = true;
  mt_emit_composition(b, gaps.node, t);
  if (b->status == MT_EINEXACT)
    mt_explain(b->err, "\n  A is the complement of the block %N", a);
}

/* ((Block),(Grid)), in each mode that a tuple reaches. */
static void product (mt_build *b, const mt_node *a, const mt_node *t) {
  mt_node room;
  if (b->status != MT_OK) return;
  if (t->tag == MT_WILD) {
    mt_add(b, a);
  } else if (t->tag == MT_TUPLE || t->tag == MT_TILER) {
    mt_emit_by_mode(b, a, t, product);
  } else {
    mt_open(b, MT_MODES);
    mt_add(b, a);
    emit_grid(b, a, mt_as_layout(&room, t));
    mt_close(b);
  }
}

static mt_status product_as (mt_zip_form f, mt_layout *out, const char *op,
                             const mt_node *a, const mt_node *t, mt_err *err) {
  MT_TRY(want_plain(out, op, mt_inner(a), err));
  return mt_in_form(f, out, op, a, t, product, err);
}

mt_status mt_logical_product (mt_layout *out, const mt_node *a, const mt_node *t,
                              mt_err *err) {
  return product_as(MT_LOGICAL, out, "logical_product", a, t, err); /* ((Block),(Grid)) */
}

mt_status mt_zipped_product (mt_layout *out, const mt_node *a, const mt_node *t,
                             mt_err *err) {
  return product_as(MT_ZIPPED, out, "zipped_product", a, t, err); /* ((Blocks),(Grids)) */
}

mt_status mt_tiled_product (mt_layout *out, const mt_node *a, const mt_node *t,
                            mt_err *err) {
  return product_as(MT_TILED, out, "tiled_product", a, t, err); /* ((Blocks),GridM,...) */
}

mt_status mt_flat_product (mt_layout *out, const mt_node *a, const mt_node *t,
                           mt_err *err) {
  return product_as(MT_FLAT, out, "flat_product", a, t, err); /* (BlockM,...,GridM,...) */
}

/* t with modes 1:0 behind, up to this rank; a leaf stays a leaf if that is one. */
static void pad (mt_build *b, const mt_node *t, int rank) {
  if (mt_rank(t) == rank) {
    mt_add(b, t);
    return;
  }
  mt_open(b, MT_MODES);
  const mt_node *m = mt_first_mode(t);
  for (int i = 0; i < rank; i++) {
    if (i >= mt_rank(t)) {
      mt_add_leaf(b, 1, 0);
      continue;
    }
    mt_add(b, m);
    m = mt_next(m);
  }
  mt_close(b);
}

/* ((A0,B0),(A1,B1),...) for `first` 0, ((B0,A0),...) for 1. */
static void zip (mt_build *b, const mt_node *block, const mt_node *grid, int rank,
                 int first) {
  const mt_node *pair[2] = {mt_first_mode(block), grid};
  if (rank > 1 || (mt_is_branch(block) && mt_is_branch(grid) && grid->arity == 1))
    pair[1] = mt_first_mode(grid);
  mt_open(b, MT_MODES);
  for (int i = 0; i < rank; i++) {
    mt_open(b, MT_MODES);
    mt_add(b, pair[first]);
    mt_add(b, pair[1 - first]);
    mt_close(b);
    pair[0] = mt_next(pair[0]);
    pair[1] = mt_next(pair[1]);
  }
  mt_close(b);
}

void mt_emit_blocked (mt_build *b, const mt_node *a, const mt_node *t, int first) {
  mt_layout block, tiler, whole;
  mt_build d;
  if (!plain(b, a) || !plain(b, t)) return;
  int rank = mt_rank(a) > mt_rank(t) ? mt_rank(a) : mt_rank(t);
  mt_begin(&d, &block, b->op, b->err);
  pad(&d, a, rank);
  mt_failed(b, mt_finish(&d));
  mt_begin(&d, &tiler, b->op, b->err);
  if (b->status == MT_OK) pad(&d, t, rank);
  if (b->status == MT_OK) mt_failed(b, mt_finish(&d));
  mt_begin(&d, &whole, b->op, b->err);
  if (b->status == MT_OK) emit_grid(&d, block.node, tiler.node);
  if (b->status == MT_OK) mt_failed(b, mt_finish(&d));
  if (b->status == MT_OK) zip(b, block.node, whole.node, rank, first);
}

static mt_status blocked (mt_layout *out, const char *op, const mt_node *a,
                          const mt_node *t, int first, mt_err *err) {
  mt_node room;
  mt_build b;
  mt_begin(&b, out, op, err);
  mt_open_root(&b, a);
  mt_emit_blocked(&b, mt_inner(a), mt_as_layout(&room, t), first);
  return mt_end(&b);
}

mt_status mt_blocked_product (mt_layout *out, const mt_node *a, const mt_node *b,
                              mt_err *err) {
  return blocked(out, "blocked_product", a, b, 0, err); /* ((A0,B0),(A1,B1),...) */
}

mt_status mt_raked_product (mt_layout *out, const mt_node *a, const mt_node *b,
                            mt_err *err) {
  return blocked(out, "raked_product", a, b, 1, err); /* ((B0,A0),(B1,A1),...) */
}
