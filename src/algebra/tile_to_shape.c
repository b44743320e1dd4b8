/*
** tile_to_shape.c - compact layouts in a given order, fragments, blocks repeated to a
** shape.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "moontile/tuple.h"
#include "tuple/tuple.h"
#include "algebra/zip.h"

/* ---- in order */

static void renamed (mt_build *b, mt_status s) {
  mt_failed(b, mt_renamed(b->op, s, b->err));
}

/* Compact, what has the smallest order number fastest; order NULL: from left to right. */
static void ordered (mt_build *b, mt_layout *out, const mt_node *shape,
                     const mt_node *order) {
  mt_layout stride;
  if (b->status != MT_OK) return;
  if (order == NULL) {
    renamed(b, mt_layout_left(out, shape, b->err));
    return;
  }
  renamed(b, mt_compact_order(&stride, shape, order, b->err));
  if (b->status == MT_OK) renamed(b, mt_make_layout(out, shape, stride.node, b->err));
}

mt_status mt_make_ordered_layout (mt_layout *out, const mt_node *shape,
                                  const mt_node *order, mt_err *err) {
  mt_build b;
  mt_layout s;
  mt_begin(&b, out, "make_ordered_layout", err);
  if (mt_is_layout(shape)) MT_TRY(mt_shape(&s, shape, err));
  ordered(&b, out, mt_is_layout(shape) ? s.node : shape, order);
  return b.status;
}

/* ---- fragments */

/* t compact from *run on, the leftmost mode fastest; what is a broadcast stays one. */
static void emit_block (mt_build *b, const mt_node *t, int64_t *run) {
  if (mt_is_branch(t)) {
    mt_open(b, MT_MODES);
    for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
      emit_block(b, c, run);
    mt_close(b);
    return;
  }
  bool moves = t->shape != 1 && !mt_zero_stride(t);
  mt_add_leaf(b, t->shape, moves ? *run : 0);
  if (moves && t->shape > 0) *run *= t->shape; /* at most the size of the layout */
}

/* t with its strides times `run`. */
static void emit_grid (mt_build *b, const mt_node *t, int64_t run) {
  int64_t d;
  if (mt_is_branch(t)) {
    mt_open(b, MT_MODES);
    for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
      emit_grid(b, c, run);
    mt_close(b);
  } else if (mt_mulo(t->stride, run, &d)) {
    mt_build_fail(b, MT_EOVERFLOW, "%s: a stride leaves 64 bits", b->op);
  } else {
    mt_add_leaf(b, t->shape, d);
  }
}

/* The tree of t with its extents, or its strides. */
static void emit_tail (mt_build *b, const mt_node *t, bool strides) {
  if (mt_is_branch(t)) {
    mt_open(b, MT_TUPLE);
    for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
      emit_tail(b, c, strides);
    mt_close(b);
  } else {
    mt_add_int(b, strides ? t->stride : t->shape);
  }
}

static void tail_of (mt_build *b, mt_layout *out, const mt_node *a, bool strides) {
  mt_build t;
  mt_begin(&t, out, b->op, b->err);
  mt_open(&t, MT_TUPLE);
  for (const mt_node *c = mt_next(mt_child(a)); c < mt_next(a); c = mt_next(c))
    emit_tail(&t, c, strides);
  mt_failed(b, mt_end(&t));
}

static void emit_fragment (mt_build *b, const mt_node *a) {
  mt_layout shape, order, rest;
  int64_t run = 1;
  tail_of(b, &shape, a, false);
  if (b->status == MT_OK) tail_of(b, &order, a, true);
  ordered(b, &rest, shape.node, order.node);
  if (b->status != MT_OK) return;
  mt_open(b, MT_MODES);
  emit_block(b, mt_child(a), &run);
  if (mt_rank(rest.node) == 1) emit_grid(b, rest.node, run);
  else
    for (const mt_node *c = mt_child(rest.node); c < mt_next(rest.node); c = mt_next(c))
      emit_grid(b, c, run);
  mt_close(b);
}

mt_status mt_make_fragment_like (mt_layout *out, const mt_node *a, mt_err *err) {
  mt_build b;
  a = mt_base(a);
  if (a->tag == MT_INT || a->tag == MT_TUPLE) return mt_layout_left(out, a, err);
  MT_CHECK(mt_is_layout(a), err, "make_fragment_like: a layout or a shape expected");
  if (mt_rank(a) <= 1) return mt_layout_left(out, a, err);
  if (!mt_is_integral(a))
    return mt_failn(err, MT_EINVAL,
                    "make_fragment_like: the strides of %N are no integers", a);
  mt_begin(&b, out, "make_fragment_like", err);
  emit_fragment(&b, a);
  return mt_end(&b);
}

/* ---- to a shape */

static int64_t extent_of (const mt_node *t, int i) {
  const mt_node *m = mt_mode(t, i);
  return m ? mt_size(m) : 1;
}

static void no_division (mt_build *b, const mt_node *a, const mt_node *shape, int i,
                         int64_t s, int64_t n) {
  mt_build_fail(b, MT_EINEXACT,
                "%s: the block %N does not divide the shape %N: its mode %d has "
                "%lld elements, the shape has %lld",
                b->op, a, shape, i + 1, (long long)s, (long long)n);
  int64_t next;
  if (s > 0 && n > s && !mt_addo(n - n % s, s, &next))
    mt_explain(b->err, "\n  %lld and %lld would do", (long long)(n - n % s),
               (long long)next);
  else if (s > 0) mt_explain(b->err, "\n  %lld would do", (long long)s);
}

/* How many blocks there are along each mode of the shape, as a tuple. */
static void count_blocks (mt_build *b, mt_layout *out, const mt_node *a,
                          const mt_node *shape) {
  mt_build t;
  mt_begin(&t, out, b->op, b->err);
  mt_open(&t, MT_TUPLE);
  for (int i = 0; i < mt_rank(shape) && b->status == MT_OK; i++) {
    int64_t s = extent_of(a, i), n = extent_of(shape, i);
    if (n < 0) mt_build_fail(b, MT_EINVAL, "%s: %N is no shape", b->op, shape);
    else if (s == 0 || n % s != 0) no_division(b, a, shape, i, s, n);
    else mt_add_int(&t, n / s);
  }
  if (b->status == MT_OK) mt_failed(b, mt_end(&t));
}

mt_status mt_tile_to_shape (mt_layout *out, const mt_node *a, const mt_node *shape,
                            const mt_node *order, mt_err *err) {
  mt_build b;
  mt_layout count, grid;
  const mt_node *in = mt_base(a);
  MT_CHECK(mt_is_function(a), err, "tile_to_shape: a layout expected");
  MT_TRY(mt_want_extents("tile_to_shape", shape, err));
  if (mt_rank(in) > mt_rank(shape))
    return mt_failn(err, MT_ERANK,
                    "tile_to_shape: the block %N has %d modes, the shape %N has %d", a,
                    mt_rank(in), shape, mt_rank(shape));
  if (order && mt_is_branch(order) && order->arity != mt_rank(shape))
    return mt_failn(err, MT_ERANK,
                    "tile_to_shape: the order %N has %d modes, the shape %N has %d",
                    order, (int)order->arity, shape, mt_rank(shape));
  mt_begin(&b, out, "tile_to_shape", err);
  count_blocks(&b, &count, in, shape);
  if (b.status == MT_OK) ordered(&b, &grid, count.node, order);
  if (b.status != MT_OK) return b.status;
  if (mt_is_composed(a))
    return mt_renamed(b.op, mt_blocked_product(out, a, grid.node, err), err);
  mt_open_root(&b, a);
  mt_emit_blocked(&b, in, grid.node, 0);
  return mt_end(&b);
}
