/*
** product.c - layouts repeated by layouts.
** SPDX-License-Identifier: MIT
**
** A product is (A, C o B), C the complement of A, large enough for all offsets of B: each
** value of B places a copy of A, and no two copies meet.
*/
#include "moontile/algebra.h"
#include "algebra/by_mode.h"
#include "algebra/composed.h"
#include "algebra/f2.h"
#include "algebra/tiles.h"
#include "algebra/zip.h"

/* A layout of integer strides. */
static inline bool is_plain (const mt_node *t) {
  for (const mt_node *p = t, *end = mt_next(t); p < end; p++)
    if (p->tag != MT_MODES && (p->tag != MT_LEAF || p->ring != MT_Z)) return false;
  return true;
}

static MT_APART mt_status no_operand (const char *op, const mt_node *t, mt_err *err) {
  if (mt_is_function(t) && mt_is_f2(t) && !mt_is_composed(t))
    return mt_failn(err, MT_EUNSUPPORTED,
                    "%s: a block over F2 has no complement in the integers: %N", op, t);
  if (mt_is_more(t))
    return mt_failn(err, MT_EUNSUPPORTED, "%s: of %N, in one mode of a tiler", op, t);
  if (!mt_is_layout(t)) return mt_failn(err, MT_EINVAL, "%s: %N is no layout", op, t);
  return mt_failn(err, MT_EINVAL, "%s: the strides of %N are no integers", op, t);
}

static bool plain (mt_build *b, const mt_node *t) {
  if (b->status != MT_OK) return false; /* its error stays as it is */
  if (is_plain(t)) return true;
  mt_failed(b, no_operand(b->op, t, b->err));
  return false;
}

/* Whether copies of a at c o t, whose values go below 0, do not meet. */
static MT_APART bool copies_part (const mt_node *a, const mt_node *c, const mt_node *t) {
  mt_layout pair, moving;
  mt_build b;
  bool part = false;
  MT_NEWERR(err);
  if (!is_plain(t)) return false;
  mt_begin(&b, &pair, "", &err);
  mt_open(&b, MT_MODES);
  mt_add(&b, a);
  mt_emit_composition(&b, c, t);
  mt_close(&b);
  return mt_end(&b) == MT_OK && mt_filter(&moving, pair.node, NULL, &err) == MT_OK &&
         mt_is_injective(&part, moving.node, &err) == MT_OK && part;
}

/* A t that goes back needs a C without gaps before its last mode, or copies that happen
** not to meet. */
static MT_APART void check_back (mt_build *b, const mt_node *a, const mt_node *c,
                                 const mt_node *t) {
  mt_layout room;
  mt_build gaps;
  mt_begin(&gaps, &room, b->op, b->err);
  mt_emit_complement(&gaps, NULL, a, 0, 1);
  mt_failed(b, mt_end(&gaps));
  if (b->status == MT_OK && mt_size(room.node) > 1 && !copies_part(a, c, t))
    mt_build_fail(b, MT_EINEXACT,
                  "%s: %N goes back, below its first copy, and the block %N has gaps",
                  b->op, t, a);
}

/* C, with as many elements as the cosize of t, so that its unbounded last mode is never
** needed. */
void mt_complement_for (mt_build *b, mt_layout *out, const mt_node *a, const mt_node *t) {
  int64_t count, lo = 0, end = 0, bound = 0;
  mt_build c;
  mt_failed(b, mt_number_range(&lo, &end, b->op, t, b->err));
  if (mt_subo(end, lo, &count) || mt_mulo(count, mt_size(a), &bound))
    mt_build_fail(b, MT_EOVERFLOW, "%s: %N times %N leaves 64 bits", b->op, a, t);
  if (b->status != MT_OK) return;
  if (lo < 0 && count < 2) count = 2;
  mt_begin(&c, out, b->op, b->err);
  mt_emit_complement(&c, NULL, a, bound, count);
  mt_failed(b, mt_finish(&c));
  if (b->status == MT_OK && lo < 0) check_back(b, a, out->node, t);
}

/* C o B */
static MT_APART void emit_grid (mt_build *b, const mt_node *a, const mt_node *t) {
  mt_layout gaps;
  if (!plain(b, t)) return;
  mt_complement_for(b, &gaps, a, t);
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

/* ---- grids that are swizzled, over F2 or composed */

/* a and its copies at C o T, of the modes (A, T). */
static mt_status copies (mt_layout *out, const char *op, const mt_node *a,
                         const mt_node *t, mt_err *err) {
  mt_layout gaps;
  mt_build b;
  mt_begin(&b, &gaps, op, err);
  mt_complement_for(&b, &gaps, a, t);
  if (b.status != MT_OK) return b.status;
  return mt_beside(out, op, a, gaps.node, t, err);
}

/* A(x) + C(T(y)), C the complement of what values A has. */
static mt_status copies_of_values (mt_layout *out, const char *op, const mt_node *a,
                                   const mt_node *t, mt_err *err) {
  mt_layout values, gaps, grid, pair;
  mt_build b;
  if (!is_plain(t))
    return mt_failn(err, MT_EUNSUPPORTED,
                    "%s: of %N, whose links are layouts, by %N: a layout of integer "
                    "strides expected there",
                    op, a, t);
  MT_TRY(mt_values_of(&values, op, a, err));
  mt_begin(&b, &gaps, op, err);
  mt_complement_for(&b, &gaps, values.node, t);
  if (b.status != MT_OK) return b.status;
  MT_TRY(mt_renamed(op, mt_composition(&grid, gaps.node, t, err), err));
  MT_TRY(mt_beside(&pair, op, grid.node, NULL, a, err));
  return mt_swap_modes(out, op, pair.node, err);
}

static void as_it_is (mt_build *b, const mt_node *a, const mt_node *t) {
  (void)t;
  mt_add(b, a);
}

/* x, under what a composed or swizzled a has above its base. */
static mt_status under_root (mt_layout *out, const char *op, const mt_node *a,
                             const mt_node *x, mt_err *err) {
  if (a->tag >= MT_SWIZZLE) return mt_relink(out, op, a, NULL, x, err);
  mt_copy_value(out, x);
  return MT_OK;
}

/* A block or a grid is more than a layout over Z. */
static MT_APART mt_status product_of_functions (mt_zip_form f, mt_layout *out,
                                                const char *op, const mt_node *a,
                                                const mt_node *t, mt_err *err) {
  mt_layout whole, formed;
  mt_node room;
  const mt_node *base = mt_base(a);
  if (mt_has_layout_links(a) && t->tag != MT_WILD) {
    MT_TRY(copies_of_values(&whole, op, a, mt_as_layout(&room, t), err));
    return mt_in_form(f, out, op, whole.node, t, as_it_is, err);
  }
  if (!mt_is_function(a) || !is_plain(base)) return no_operand(op, a, err);
  if (mt_is_more(t)) {
    MT_TRY(copies(&whole, op, base, t, err));
    MT_TRY(mt_in_form(f, &formed, op, whole.node, t, as_it_is, err));
  } else {
    MT_TRY(mt_in_form(f, &formed, op, base, t, product, err));
  }
  return under_root(out, op, a, formed.node, err);
}

/* By copies in each mode, some at the values of functions. */
static MT_APART mt_status product_by_functions (mt_zip_form f, mt_layout *out,
                                                const char *op, const mt_node *a,
                                                const mt_node *t, mt_err *err) {
  mt_layout r;
  MT_TRY(mt_by_functions(&r, op, MT_BY_PRODUCT, mt_logical_product, a, t, err));
  return mt_in_form(f, out, op, r.node, t, as_it_is, err);
}

static mt_status product_as (mt_zip_form f, mt_layout *out, const char *op,
                             const mt_node *a, const mt_node *t, mt_err *err) {
  if (mt_has_functions(t)) return product_by_functions(f, out, op, a, t, err);
  if (!is_plain(a)) return product_of_functions(f, out, op, a, t, err);
  mt_status s = mt_in_form(f, out, op, a, t, product, err);
  if (s == MT_OK || !mt_is_more(t)) return s;
  mt_forgive(err);
  return product_of_functions(f, out, op, a, t, err);
}

mt_status mt_logical_product (mt_layout *out, const mt_node *a, const mt_node *t,
                              mt_err *err) {
  return product_as(MT_ZIP_LOGICAL, out, "logical_product", a, t,
                    err); /* ((Block),(Grid)) */
}

mt_status mt_zipped_product (mt_layout *out, const mt_node *a, const mt_node *t,
                             mt_err *err) {
  return product_as(MT_ZIP_ZIPPED, out, "zipped_product", a, t,
                    err); /* ((Blocks),(Grids)) */
}

mt_status mt_tiled_product (mt_layout *out, const mt_node *a, const mt_node *t,
                            mt_err *err) {
  return product_as(MT_ZIP_TILED, out, "tiled_product", a, t,
                    err); /* ((Blocks),GridM,...) */
}

mt_status mt_flat_product (mt_layout *out, const mt_node *a, const mt_node *t,
                           mt_err *err) {
  return product_as(MT_ZIP_FLAT, out, "flat_product", a, t,
                    err); /* (BlockM,...,GridM,...) */
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

/* The modes of a grid up to a rank, what is above its base as it was. */
static mt_status padded (mt_layout *out, const char *op, const mt_node *t, int rank,
                         mt_err *err) {
  mt_build b;
  mt_begin(&b, out, op, err);
  mt_open_root(&b, t);
  pad(&b, mt_base(t), rank);
  return mt_end(&b);
}

static int larger_rank (const mt_node *a, const mt_node *t) {
  return mt_rank(a) > mt_rank(t) ? mt_rank(a) : mt_rank(t);
}

void mt_emit_blocked (mt_build *b, const mt_node *a, const mt_node *t, int first) {
  mt_layout block, tiler, whole;
  mt_build d;
  if (!plain(b, a) || !plain(b, t)) return;
  int rank = larger_rank(a, t);
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

/* The same of an a with links that are layouts, or of a base a and a t that is more than
** a layout over Z. */
static mt_status zip_copies (mt_layout *out, const char *op, const mt_node *a,
                             const mt_node *t, int first, mt_err *err) {
  mt_layout block, tiler, whole;
  mt_build b;
  int rank = larger_rank(mt_base(a), mt_base(t));
  MT_TRY(padded(&block, op, a, rank, err));
  MT_TRY(padded(&tiler, op, t, rank, err));
  MT_TRY((mt_has_layout_links(a) ? copies_of_values : copies)(&whole, op, block.node,
                                                              tiler.node, err));
  mt_begin(&b, out, op, err);
  mt_open_root(&b, whole.node);
  const mt_node *both = mt_child(mt_base(whole.node));
  zip(&b, both, mt_next(both), rank, first);
  return mt_end(&b);
}

static MT_APART mt_status blocked_functions (mt_layout *out, const char *op,
                                             const mt_node *a, const mt_node *t,
                                             int first, mt_err *err) {
  mt_layout zipped;
  mt_build b;
  const mt_node *base = mt_base(a);
  if (mt_has_layout_links(a)) return zip_copies(out, op, a, t, first, err);
  if (!mt_is_function(a) || !is_plain(base)) return no_operand(op, a, err);
  if (mt_is_more(t)) {
    MT_TRY(zip_copies(&zipped, op, base, t, first, err));
  } else {
    mt_begin(&b, &zipped, op, err);
    mt_emit_blocked(&b, base, t, first);
    MT_TRY(mt_end(&b));
  }
  return under_root(out, op, a, zipped.node, err);
}

static mt_status blocked (mt_layout *out, const char *op, const mt_node *a,
                          const mt_node *t, int first, mt_err *err) {
  mt_node room;
  mt_build b;
  t = mt_as_layout(&room, t);
  if (!is_plain(a) || !is_plain(t)) return blocked_functions(out, op, a, t, first, err);
  mt_begin(&b, out, op, err);
  mt_emit_blocked(&b, a, t, first);
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
