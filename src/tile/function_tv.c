/*
** function_tv.c - partitions by functions: threads and values that no strides number.
** SPDX-License-Identifier: MIT
**
** A partition says of (thread, value) a place in the tile, and C says of the place an
** offset; beside them, the rests have A. Where the place is a layout, so is C o place,
** and the modes stand beside each other. Where it is a function - swizzled, over F2,
** listed - the sum is one function of all coordinates (mt_beside).
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "algebra/composed.h"
#include "tile/tile.h"

mt_status mt_as_integers (mt_layout *out, const char *op, const mt_node *a, mt_err *err) {
  const mt_node one = mt_leaf_of(1, 1), zero = {.tag = MT_INT, .span = 1};
  if (!mt_is_integral(a)) return mt_link(out, op, &one, &zero, a, err);
  mt_copy_value(out, a);
  return MT_OK;
}

/* Whether the modes that stand first are spread, and those behind them. */
enum { SPREAD_FIRST = 1, SPREAD_LAST = 2 };

static void add_spread (mt_build *b, const mt_node *t, bool spread) {
  if (!spread || !mt_is_branch(t)) {
    mt_add(b, t);
    return;
  }
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c)) mt_add(b, c);
}

/* The modes of (A,T) at the base of x, the other way round. */
static mt_status in_order (mt_layout *out, const char *op, const mt_node *x, int spread,
                           mt_err *err) {
  mt_build b;
  const mt_node *a = mt_child(mt_base(x));
  mt_begin(&b, out, op, err);
  mt_open_root(&b, x);
  mt_open(&b, MT_MODES);
  add_spread(&b, mt_next(a), spread & SPREAD_FIRST);
  add_spread(&b, a, spread & SPREAD_LAST);
  return mt_end(&b);
}

static MT_APART mt_status by_function (mt_layout *out, const char *op, const mt_node *t,
                                       const mt_node *c, const mt_node *a, int spread,
                                       mt_err *err) {
  mt_layout joint;
  MT_TRY(mt_beside(&joint, op, a, c, t, err)); /* (A,T) */
  return in_order(out, op, joint.node, spread, err);
}

/* C o T is a layout, or, where C is over F2, may be kept as a chain. */
static mt_status composed (bool *function, mt_layout *out, const mt_node *c,
                           const mt_node *t, mt_err *err) {
  MT_TRY(mt_composition(out, c, t, err));
  *function = mt_base(out->node) != out->node;
  return MT_OK;
}

/* Whether a layout over Z is to be taken as a function, C o T being no layout; err is as
** it was, or what composition says. */
static mt_status is_function (bool *function, mt_layout *out, const mt_node *c,
                              const mt_node *t, mt_err *err) {
  *function = mt_is_more(t);
  if (*function || composed(function, out, c, t, err) == MT_OK) return MT_OK;
  if (err->status != MT_EINEXACT || !mt_is_integral(t)) return err->status;
  *function = true;
  return MT_OK;
}

/* As said before, if a layout over Z is no function that can be had either. */
static MT_APART mt_status by_function_else (mt_layout *out, const char *op,
                                            const mt_node *t, const mt_node *c,
                                            const mt_node *a, int spread, mt_err *err) {
  MT_TRYERR(other, err);
  if (err->status == MT_OK) return by_function(out, op, t, c, a, spread, err);
  if (by_function(out, op, t, c, a, spread, &other) != MT_OK) return err->status;
  mt_forgive(err);
  return MT_OK;
}

mt_status mt_places_first (mt_layout *out, const char *op, const mt_node *t,
                           const mt_node *c, const mt_node *a, bool function,
                           mt_err *err) {
  mt_layout tile;
  if (function || mt_is_more(t)) MT_TRY(is_function(&function, &tile, c, t, err));
  else MT_TRY(composed(&function, &tile, c, t, err));
  if (function) return by_function_else(out, op, t, c, a, SPREAD_FIRST, err);
  const mt_node *modes[] = {mt_mode(tile.node, 0), mt_mode(tile.node, 1), a};
  return mt_concat(out, 3, modes, err);
}

mt_status mt_thread_first (mt_layout *out, const char *op, const mt_node *t,
                           const mt_node *c, const mt_node *a, bool flat, mt_err *err) {
  mt_layout thr;
  bool function;
  MT_TRY(is_function(&function, &thr, c, t, err));
  if (function) return by_function_else(out, op, t, c, a, flat ? SPREAD_LAST : 0, err);
  const mt_node *modes[] = {thr.node, flat ? mt_mode(a, 0) : a, mt_mode(a, 1)};
  return mt_concat(out, flat ? 3 : 2, modes, err);
}

mt_status mt_partition_over (mt_layout *out, const mt_node *a, const mt_node *under,
                             mt_err *err) {
  if (mt_base(a) == a) return mt_copy_value(out, under), MT_OK;
  if (mt_base(under) == under) return mt_swizzle_over(out, a, under, err);
  return mt_relink(out, "partition", a, NULL, under, err);
}

/* ---- from threads and values that are functions */

/* Where the element of thr, and that of val, is in the tile: value v of a mode is
** followed by the next, thread t of it by as many values. */
static mt_status steps (mt_layout out[2], const mt_node *thr, const mt_node *val,
                        mt_err *err) {
  const mt_node *x[] = {mt_base(thr), mt_base(val)};
  mt_build b[2];
  int rank = mt_rank(x[0]) > mt_rank(x[1]) ? mt_rank(x[0]) : mt_rank(x[1]);
  int64_t run = 1;
  for (int o = 0; o < 2; o++) {
    mt_begin(&b[o], &out[o], "make_tiled_copy", err);
    mt_open(&b[o], MT_MODES);
  }
  for (int i = 0; i < rank; i++) {
    const mt_node *t = mt_mode(x[0], i), *v = mt_mode(x[1], i);
    int64_t n = v ? mt_size(v) : 1;
    if (v) mt_add_leaf(&b[1], n, run);
    run *= n;
    if (t) mt_add_leaf(&b[0], mt_size(t), run);
    run *= t ? mt_size(t) : 1;
  }
  MT_TRY(mt_end(&b[0]));
  return mt_end(&b[1]);
}

/* (t,v) -> A(t) + C(T(v)); `swapped`: (v,t). */
static mt_status sum_of (mt_layout *out, const mt_node *a, const mt_node *c,
                         const mt_node *t, bool swapped, mt_err *err) {
  mt_layout sum;
  static const char *const op = "make_tiled_copy";
  if (!swapped) return mt_beside(out, op, a, c, t, err);
  MT_TRY(mt_beside(&sum, op, a, c, t, err));
  return mt_swap_modes(out, op, sum.node, err);
}

/* Threads and values are functions: first the threads, while values wait in the digit
** below, then the values. */
static mt_status both (mt_layout *out, const mt_layout step[2], const mt_layout undo[2],
                       mt_err *err) {
  static const char *const op = "make_tiled_copy";
  mt_layout last, first, all;
  int64_t threads = mt_size(undo[0].node), values = mt_size(undo[1].node);
  const mt_node low = mt_leaf_of(values, 1), high = mt_leaf_of(threads, values);
  MT_TRY(sum_of(&last, step[0].node, step[1].node, undo[1].node, true, err));
  MT_TRY(mt_beside(&first, op, &low, &high, undo[0].node, err));
  MT_TRY(mt_composition(&all, last.node, first.node, err));
  return mt_swap_modes(out, op, all.node, err);
}

/* What undoes a, as integers. */
static mt_status undone (mt_layout *out, const mt_node *a, mt_err *err) {
  mt_layout f2;
  mt_status s = mt_right_inverse(&f2, a, err);
  if (s == MT_ESTOPPED) return s;
  if (s != MT_OK || mt_size(f2.node) != mt_size(a))
    return mt_failn(err, MT_EUNSUPPORTED,
                    "make_tiled_copy: of %N no inverse was found\n"
                    "  its values as a list have one: function_layout, mt_make_numbering",
                    a);
  return mt_as_integers(out, "make_tiled_copy", f2.node, err);
}

mt_status mt_function_tv (mt_layout *out, const mt_node *thr, const mt_node *val,
                          mt_err *err) {
  mt_layout step[2], undo[2], a;
  MT_TRY(steps(step, thr, val, err));
  MT_TRY(undone(&undo[0], thr, err));
  MT_TRY(undone(&undo[1], val, err));
  bool t = mt_is_more(undo[0].node), v = mt_is_more(undo[1].node);
  if (t && v) return both(out, step, undo, err);
  MT_TRY(mt_composition(&a, step[t].node, undo[t].node, err));
  return sum_of(out, a.node, step[1 - t].node, undo[1 - t].node, t, err);
}
