/*
** copy_partition.c - what each thread of a tiled copy has of a tensor.
** SPDX-License-Identifier: MIT
**
** An atom moves values between threads: `src` and `dst` of it say where, in the numbers
** that `ref` gives. So a side of a tiled copy is its (thread, value) layout with each
** atom of it read through right_inverse(ref) o side.
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "moontile/tile.h"
#include "moontile/tuple.h"
#include "algebra/composed.h"
#include "algebra/swizzle.h"
#include "tile/tile.h"

/* ---- the thread-value layouts of both sides */

/* (thread, value) of the side -> (thread, value) of the reference, as an index. */
static mt_status side_of (mt_layout *out, const mt_copy_atom *atom, mt_copy_side side,
                          mt_err *err) {
  mt_layout inverse;
  MT_TRY(mt_right_inverse(&inverse, atom->ref.node, err));
  return mt_composition(out, inverse.node,
                        side == MT_COPY_S ? atom->src.node : atom->dst.node, err);
}

/* ((ThrV,FrgV),(ThrX,FrgX)) -> ((ThrV,ThrX),(FrgV,FrgX)), each of the three coalesced. */
static MT_APART mt_status by_thread (mt_layout *out, const mt_node *of_atom,
                                     const mt_node *rest, mt_err *err) {
  mt_layout pair, thr, frg, more;
  const mt_node *t[] = {mt_mode(of_atom, 0), mt_mode(rest, 0)};
  MT_TRY(mt_concat(&pair, 2, t, err));
  MT_TRY(mt_coalesce(&thr, pair.node, NULL, err));
  MT_TRY(mt_coalesce(&frg, mt_mode(of_atom, 1), NULL, err));
  MT_TRY(mt_coalesce(&more, mt_mode(rest, 1), NULL, err));
  const mt_node *v[] = {frg.node, more.node};
  MT_TRY(mt_concat(&pair, 2, v, err));
  const mt_node *tv[] = {thr.node, pair.node};
  return mt_concat(out, 2, tv, err);
}

/* The side of a copy whose (thread,value) layout is `tv`, a layout. */
static MT_APART mt_status layout_of (mt_layout *out, const mt_tiled_copy *copy,
                                     const mt_node *tv, mt_copy_side side, mt_err *err) {
  mt_layout tiler, atoms, trg, of_atom;
  const mt_node *ref = copy->atom.ref.node;
  const int64_t n[] = {mt_size(mt_mode(ref, 0)), mt_size(mt_mode(ref, 1))};
  MT_TRY(mt_ints(&tiler, 2, n, err));
  /* ((atom_thr,atom_val),(rest_thr,rest_val)) */
  MT_TRY(mt_zipped_divide(&atoms, tv, tiler.node, err));
  MT_TRY(side_of(&trg, &copy->atom, side, err));
  MT_TRY(mt_composition(&of_atom, mt_mode(atoms.node, 0), trg.node, err));
  return by_thread(out, of_atom.node, mt_mode(atoms.node, 1), err);
}

/* Of a function: where (thread,value) of the side is in its domain, then the function. */
static MT_APART mt_status function_of (mt_layout *out, const mt_tiled_copy *copy,
                                       mt_copy_side side, mt_err *err) {
  mt_layout index, of_side;
  const int64_t n[] = {mt_tiled_copy_size(copy), mt_tiled_copy_values(copy)};
  MT_TRY(mt_ints(&of_side, 2, n, err));
  MT_TRY(mt_layout_left(&index, of_side.node, err));
  MT_TRY(layout_of(&of_side, copy, index.node, side, err));
  return mt_composition(out, copy->layout_tv.node, of_side.node, err);
}

mt_status mt_copy_tv (mt_layout *out, const mt_tiled_copy *copy, mt_copy_side side,
                      mt_err *err) {
  const mt_node *tv = copy->layout_tv.node;
  if (mt_is_more(tv)) return function_of(out, copy, side, err);
  return layout_of(out, copy, tv, side, err);
}

/* ---- partitions */

/* Threads or values were numbered by a function, whatever came out. */
static bool by_function (const mt_tiled_copy *copy) {
  return mt_is_more(copy->thr.node) || mt_is_more(copy->val.node);
}

/* (Thr,Val,(RestM,RestN,...)) of a layout without a swizzle, by (Thr,Val) of the tile.
** Over F2 the tiles may be a chain: then what is under it is partitioned. */
static mt_status partition (mt_layout *out, const mt_tiled_copy *copy, const mt_node *tv,
                            const mt_node *a, mt_err *err) {
  static const char *const op = "partition";
  mt_layout divided, under;
  int rank = mt_rank(copy->tiler.node);
  if (mt_rank(a) < rank)
    return mt_failn(err, MT_ERANK,
                    "partition: the tile %N has %d modes, the tensor %N "
                    "has %d",
                    copy->tiler.node, rank, a, mt_rank(a));
  /* ((TileM,TileN),(RestM,RestN)) */
  MT_TRY(mt_renamed(op, mt_zipped_divide(&divided, a, copy->tiler.node, err), err));
  const mt_node *base = mt_base(divided.node);
  bool chain = base != divided.node;
  MT_TRY(mt_renamed(op,
                    mt_places_first(&under, op, tv, mt_mode(base, 0), mt_mode(base, 1),
                                    chain || by_function(copy), err),
                    err));
  return mt_partition_over(out, divided.node, under.node, err);
}

/* Under a swizzle, or composed: the partition of the layout under that, under the
** same. */
static mt_status partition_by (mt_layout *out, const mt_tiled_copy *copy,
                               const mt_node *tv, const mt_node *a, mt_err *err) {
  mt_layout under;
  MT_CHECK(mt_is_function(a), err, "partition: a layout expected");
  if (mt_base(a) == a) return partition(out, copy, tv, a, err);
  MT_TRY(partition(&under, copy, tv, mt_base(a), err));
  return mt_partition_over(out, a, under.node, err);
}

mt_status mt_partition (mt_layout *out, const mt_tiled_copy *copy, const mt_node *a,
                        mt_err *err) {
  return partition_by(out, copy, copy->layout_tv.node, a, err);
}

mt_status mt_copy_tidfrg (mt_layout *out, const mt_tiled_copy *copy, mt_copy_side side,
                          const mt_node *a, mt_err *err) {
  mt_layout tv;
  MT_TRY(mt_copy_tv(&tv, copy, side, err));
  return partition_by(out, copy, tv.node, a, err);
}

/* (thr,_,(_,_,...)) */
static mt_status thread_crd (mt_layout *out, int64_t thr, const mt_node *rest,
                             mt_err *err) {
  mt_build b;
  mt_begin(&b, out, "partition", err);
  mt_open(&b, MT_TUPLE);
  mt_add_int(&b, thr);
  mt_add_wild(&b);
  if (!mt_is_branch(rest)) {
    mt_add_wild(&b);
    return mt_end(&b);
  }
  mt_open(&b, MT_TUPLE);
  for (int i = 0; i < mt_rank(rest); i++) mt_add_wild(&b);
  return mt_end(&b);
}

mt_status mt_copy_partition (mt_layout *out, mt_layout *offset, const mt_tiled_copy *copy,
                             mt_copy_side side, const mt_node *a, int64_t thr,
                             mt_err *err) {
  mt_layout part, crd;
  MT_TRY(mt_copy_tidfrg(&part, copy, side, a, err));
  const mt_node *in = mt_base(part.node);
  int64_t threads = mt_size(mt_mode(in, 0));
  if (thr < 0 || thr >= threads)
    return mt_fail(err, MT_ERANGE, "partition: thread %lld of %lld", (long long)thr,
                   (long long)threads);
  MT_TRY(thread_crd(&crd, thr, mt_mode(in, 2), err));
  return mt_renamed("partition", /* ((FrgV,FrgX),RestM,RestN,...) */
                    mt_slice_in(out, offset, crd.node, part.node, a, err), err);
}

/* ---- fragments */

/* (TileM,TileN,...) */
static mt_status tile_shape (mt_layout *out, const mt_node *tiler, mt_err *err) {
  int64_t n[MT_MAXNODES];
  for (int i = 0; i < mt_rank(tiler); i++) n[i] = mt_size(mt_mode(tiler, i));
  return mt_ints(out, mt_rank(tiler), n, err);
}

/* tv without the swizzles in it: NULL where something else is composed. */
static MT_APART const mt_node *unswizzled (mt_layout *out, const mt_node *tv,
                                           mt_err *err) {
  mt_layout under;
  if (mt_is_swizzled(tv)) return unswizzled(out, mt_child(tv), err);
  if (mt_is_composed(tv) && mt_is_bare_swizzle(mt_outer(tv)))
    return unswizzled(out, mt_under(tv), err);
  if (!mt_is_composed(tv)) return mt_copy_value(out, tv), out->node;
  const mt_node *f = mt_outer(tv), *x = unswizzled(&under, mt_under(tv), err);
  if (x == NULL || tv->stride != 0 || mt_composition(out, f, x, err) != MT_OK)
    return NULL;
  return mt_is_composed(out->node) || mt_is_swizzled(out->node) ? NULL : out->node;
}

/* Whether `plain` has each index of tv in the same run of n indices: then a swizzle moves
** threads only. `inverse` is that of `plain`. */
static bool same_runs (const mt_node *tv, const mt_node *inverse, int64_t n,
                       mt_err *err) {
  enum { MT_MOST = 1 << 20 };
  int64_t size = mt_size(tv), at, i;
  if (n >= size) return true;
  if (size > MT_MOST || mt_size(inverse) != size) return false;
  for (int64_t k = 0; k < size; k++) {
    if (mt_number_at(&at, tv, k, err) != MT_OK || at < 0 || at >= size) return false;
    if (mt_number_at(&i, inverse, at, err) != MT_OK || i / n != k / n) return false;
  }
  return true;
}

static MT_APART mt_status not_regrouped (const mt_node *tv, mt_err *err) {
  return mt_failn(
      err, MT_EUNSUPPORTED,
      "retile: the threads and values of the tiled copy are %N, under a "
      "function, F2, or a swizzle that moves values: only those of a plain "
      "layout can be regrouped\nretile by a tiled copy of plain threads and values",
      tv);
}

/* place in the tile -> (thread,value), as an index of whose runs of n is asked only.
** Threads and values under a swizzle that moves threads only are taken without it. */
static MT_APART mt_status indices_of (mt_layout *out, const mt_tiled_copy *copy,
                                      int64_t n, mt_err *err) {
  const mt_node *tv = copy->layout_tv.node, *plain = tv;
  mt_layout room;
  if (!mt_is_swizzled(tv) && !mt_is_composed(tv)) return mt_right_inverse(out, tv, err);
  plain = unswizzled(&room, tv, err);
  if (plain && mt_is_integral(plain) && mt_right_inverse(out, plain, err) == MT_OK &&
      same_runs(tv, out->node, n, err))
    return MT_OK;
  return mt_forgive(err), not_regrouped(tv, err);
}

/* (m,n,...) -> the number of the fragment's tile: `v` values of each thread are one. */
static MT_APART mt_status tiles_of (mt_layout *out, const mt_tiled_copy *copy, int64_t v,
                                    mt_err *err) {
  mt_layout inverse, shape, shaped;
  int64_t n;
  if (mt_mulo(mt_tiled_copy_size(copy), v, &n))
    return mt_fail(err, MT_EOVERFLOW, "retile: %lld values leave 64 bits", (long long)v);
  MT_TRY(indices_of(&inverse, copy, n, err));
  MT_TRY(tile_shape(&shape, copy->tiler.node, err));
  MT_TRY(mt_with_shape(&shaped, inverse.node, shape.node, err));
  MT_TRY(mt_upcast(out, shaped.node, n, err));
  return mt_mode(out->node, 0) ? MT_OK : not_regrouped(copy->layout_tv.node, err);
}

/* (atom_vals,rest_vals) -> (v,m,n,...) */
static MT_APART mt_status values_of (mt_layout *out, const mt_tiled_copy *copy,
                                     const mt_node *tiles, int64_t v, mt_err *err) {
  mt_layout order, all;
  const mt_node frg = {.tag = MT_LEAF, .span = 1, .shape = v, .stride = 1};
  const mt_node atom = {.tag = MT_LEAF,
                        .span = 1,
                        .stride = 1,
                        .shape = mt_size(mt_mode(copy->atom.ref.node, 1))};
  MT_TRY(mt_right_inverse(&order, tiles, err));
  MT_TRY(mt_logical_product(&all, &frg, order.node, err));
  return mt_zipped_divide(out, all.node, &atom, err);
}

/* (v,sizes of the modes of `tiles`) */
static mt_status fragment_tiler (mt_layout *out, const mt_node *tiles, int64_t v,
                                 mt_err *err) {
  mt_build b;
  mt_begin(&b, out, "retile", err);
  mt_open(&b, MT_TUPLE);
  mt_add_int(&b, v);
  for (int i = 0; i < mt_rank(tiles); i++) mt_add_int(&b, mt_size(mt_mode(tiles, i)));
  return mt_end(&b);
}

/* ((TileV,TileM,...),(1,RestM,...)) -> ((atom_vals,rest_vals),RestM,...) */
static MT_APART mt_status unfold (mt_layout *out, const mt_node *divided,
                                  const mt_node *values, mt_err *err) {
  mt_layout tile;
  mt_build b;
  const mt_node *rest = mt_mode(divided, 1);
  MT_TRY(mt_composition(&tile, mt_mode(divided, 0), values, err));
  mt_begin(&b, out, "retile", err);
  mt_open(&b, MT_MODES);
  mt_add(&b, tile.node);
  for (int i = 1; i < mt_rank(rest); i++) mt_add(&b, mt_mode(rest, i));
  return mt_end(&b);
}

static mt_status retile (mt_layout *out, const mt_tiled_copy *copy, const mt_node *a,
                         mt_err *err) {
  mt_layout tiles, order, tiler, divided;
  int rank = 1 + mt_rank(copy->tiler.node);
  if (mt_rank(a) < rank)
    return mt_failn(err, MT_ERANK,
                    "retile: a fragment (V,M,N,...) of the tile %N has %d "
                    "modes, %N has %d",
                    copy->tiler.node, rank, a, mt_rank(a));
  int64_t v = mt_size(mt_mode(a, 0));
  int64_t values = mt_tiled_copy_values(copy);
  /* v > values: a side on which threads share values */
  if (v < 1 || (values % v != 0 && v % values != 0))
    return mt_failn(err, MT_EINVAL,
                    "retile: mode 1 of the fragment %N has %lld values, "
                    "which do not divide the %lld that a thread has of the tile %N",
                    a, (long long)v, (long long)values, copy->tiler.node);
  MT_TRY(tiles_of(&tiles, copy, v, err));
  MT_TRY(values_of(&order, copy, tiles.node, v, err));
  MT_TRY(fragment_tiler(&tiler, tiles.node, v, err));
  MT_TRY(mt_zipped_divide(&divided, a, tiler.node, err));
  return unfold(out, divided.node, order.node, err);
}

mt_status mt_copy_retile (mt_layout *out, const mt_tiled_copy *copy, const mt_node *a,
                          mt_err *err) {
  mt_layout under;
  MT_CHECK(mt_is_layout(a), err, "retile: a layout expected");
  MT_TRY(mt_renamed("retile", retile(&under, copy, mt_inner(a), err), err));
  return mt_swizzle_over(out, a, under.node, err);
}
