/*
** mma_partition.c - the partition of the operands of a tiled MMA.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "moontile/tile.h"
#include "algebra/composed.h"
#include "tile/tile.h"

/* The modes M, N, K (0, 1, 2) that an operand has; its name and theirs. */
static const struct part {
  int axis[2];
  const char *name, *modes;
} parts[] = {{{0, 2}, "A", "(M,K)"}, {{1, 2}, "B", "(N,K)"}, {{0, 1}, "C", "(M,N)"}};

static const mt_node *atom_tv (const mt_tiled_mma *mma, mt_mma_part x) {
  return x == MT_PART_A ? mma->atom.a.node :
         x == MT_PART_B ? mma->atom.b.node :
                          mma->atom.c.node;
}

/* The place of a thread in (ThrV,ThrM,ThrN,ThrK), each an index. */
static mt_status place_of (int64_t place[4], const mt_tiled_mma *mma, int64_t thr,
                           mt_err *err) {
  int64_t i;
  const mt_node *mode = mt_child(mt_base(mma->thr_vmnk.node));
  MT_TRY(mt_at(&i, mma->thr_index.node, thr, err));
  for (int k = 0; k < 4; k++, mode = mt_next(mode)) {
    place[k] = i % mt_size(mode);
    i /= mt_size(mode);
  }
  return MT_OK;
}

/* The permutation of X and Y. */
static mt_status permutation_tiler (mt_layout *out, const mt_tiled_mma *mma,
                                    const struct part *x, mt_err *err) {
  mt_build b;
  mt_layout numbers;
  const mt_node *all = mma->permutation.node;
  mt_begin(&b, out, "thrfrg", err);
  mt_open(&b, (mt_tag)all->tag);
  for (int i = 0; i < 2; i++) {
    const mt_node *p = mt_mode(all, x->axis[i]);
    if (mt_is_more(p)) mt_failed(&b, mt_as_integers(&numbers, "thrfrg", p, err));
    if (mt_is_more(p) && b.status == MT_OK) mt_add(&b, numbers.node);
    else if (p->tag != MT_WILD) mt_add(&b, p);
    else if (all->tag == MT_TILER) mt_add_leaf(&b, mma->tile[x->axis[i]], 1);
    else mt_add_int(&b, mma->tile[x->axis[i]]);
  }
  return mt_end(&b);
}

/* (_,(atoms along X, atoms along Y)) */
static mt_status thread_tiler (mt_layout *out, const mt_tiled_mma *mma,
                               const struct part *x, mt_err *err) {
  mt_build b;
  mt_begin(&b, out, "thrfrg", err);
  mt_open(&b, MT_TUPLE);
  mt_add_wild(&b);
  mt_open(&b, MT_TUPLE);
  for (int i = 0; i < 2; i++) mt_add_int(&b, mt_atoms_along(mma, x->axis[i]));
  return mt_end(&b);
}

static MT_APART mt_status over (mt_layout *out, const mt_node *a, mt_err *err) {
  const mt_layout under = *out;
  return mt_partition_over(out, a, under.node, err);
}

/* What a says of its indices, which are divided. */
static MT_APART mt_status by_index (mt_layout *out, const mt_node *a,
                                    const mt_node *tiler, mt_err *err) {
  const mt_node none = {.tag = MT_INT, .span = 1};
  mt_layout index, divided;
  MT_TRY(mt_layout_left(&index, mt_base(a), err));
  MT_TRY(mt_zipped_divide(&divided, index.node, tiler, err));
  return mt_link(out, "partition", a, &none, divided.node, err);
}

static MT_APART mt_status by_index_else (mt_layout *out, const mt_node *a,
                                         const mt_node *tiler, mt_err *err) {
  MT_TRYERR(other, err);
  if (by_index(out, a, tiler, &other) != MT_OK) return err->status;
  mt_forgive(err);
  return MT_OK;
}

/* Divided. Where the result is no layout, it is a function. */
static mt_status zipped (mt_layout *out, const mt_node *a, const mt_node *tiler,
                         mt_err *err) {
  mt_status s = mt_zipped_divide(out, a, tiler, err);
  return s == MT_EINEXACT ? by_index_else(out, a, tiler, err) : s;
}

/* ((AtomX,AtomY),(RestX,RestY,...)); a permutation that is a function stays above it. */
static MT_APART mt_status by_atoms (mt_layout *out, const mt_tiled_mma *mma,
                                    const struct part *x, const mt_node *a, mt_err *err) {
  mt_layout tiler, permuted;
  const int64_t atom[] = {mt_atom_extent(mma, x->axis[0]),
                          mt_atom_extent(mma, x->axis[1])};
  MT_TRY(permutation_tiler(&tiler, mma, x, err));
  MT_TRY(mt_logical_divide(&permuted, a, tiler.node, err)); /* (PermX,PermY,...) */
  const mt_node *base = mt_base(permuted.node);
  MT_TRY(mt_ints(&tiler, 2, atom, err));
  MT_TRY(zipped(out, base, tiler.node, err));
  return base == permuted.node ? MT_OK : over(out, permuted.node, err);
}

/* ((ThrV,FrgV),(RestX,RestY,...)) */
static MT_APART mt_status fragments (mt_layout *out, const mt_tiled_mma *mma,
                                     mt_mma_part part, const mt_node *z, mt_err *err) {
  mt_layout tv;
  const mt_node *of_atom = mt_mode(z, 0), *rest = mt_mode(z, 1);
  MT_TRY(mt_composition(&tv, of_atom, atom_tv(mma, part), err));
  if (mt_base(tv.node) != tv.node) /* a chain over F2 */
    return mt_thread_first(out, "partition", atom_tv(mma, part), of_atom, rest, false,
                           err);
  const mt_node *modes[] = {tv.node, rest};
  return mt_concat(out, 2, modes, err);
}

/* Those divided among the threads. */
static MT_APART mt_status by_threads (mt_layout *out, const mt_tiled_mma *mma,
                                      mt_mma_part part, const mt_node *z, mt_err *err) {
  mt_layout frg, tiler;
  MT_TRY(fragments(&frg, mma, part, z, err));
  MT_TRY(thread_tiler(&tiler, mma, &parts[part], err));
  return zipped(out, frg.node, tiler.node, err);
}

static MT_APART mt_status by_threads_under (mt_layout *out, const mt_tiled_mma *mma,
                                            mt_mma_part part, mt_err *err) {
  const mt_layout z = *out;
  MT_TRY(by_threads(out, mma, part, mt_base(z.node), err));
  return over(out, z.node, err);
}

/* ((ThrV,(ThrX,ThrY)),(FrgV,(RestX,RestY,...))) */
static mt_status thrfrg (mt_layout *out, const mt_tiled_mma *mma, mt_mma_part part,
                         const mt_node *a, mt_err *err) {
  const struct part *x = &parts[part];
  if (mt_rank(a) < 2)
    return mt_failn(err, MT_ERANK, "partition: %s has the modes %s, %N has %d", x->name,
                    x->modes, a, mt_rank(a));
  MT_TRY(by_atoms(out, mma, x, a, err));
  if (mt_base(out->node) != out->node) return by_threads_under(out, mma, part, err);
  return by_threads(out, mma, part, out->node, err);
}

mt_status mt_mma_thrfrg (mt_layout *out, const mt_tiled_mma *mma, mt_mma_part x,
                         const mt_node *a, mt_err *err) {
  mt_layout under;
  MT_CHECK((unsigned)x <= MT_PART_C, err, "partition: no such operand");
  MT_CHECK(mt_is_function(a), err, "partition: a layout expected");
  MT_TRY(mt_renamed("partition", thrfrg(&under, mma, x, mt_base(a), err), err));
  return mt_partition_over(out, a, under.node, err);
}

/* ((ThrV,(ThrX,ThrY)),frg) -> (ThrV,ThrM,ThrN,ThrK), 0 along the mode that it lacks. */
static mt_status all_threads (mt_layout *out, const mt_tiled_mma *mma, mt_mma_part x,
                              const mt_node *frg, mt_err *err) {
  mt_build b;
  const mt_node *thr = mt_mode(frg, 0), *xy = mt_mode(thr, 1);
  mt_begin(&b, out, "partition", err);
  mt_open(&b, MT_MODES);
  mt_add(&b, mt_mode(thr, 0));
  for (int i = 0; i < 3; i++) {
    if (parts[x].axis[0] == i) mt_add(&b, mt_mode(xy, 0));
    else if (parts[x].axis[1] == i) mt_add(&b, mt_mode(xy, 1));
    else mt_add_leaf(&b, mt_atoms_along(mma, i), 0);
  }
  return mt_end(&b);
}

/* The threads, in front of what each has; `flat`: (thread,FrgV,Rest). */
static mt_status by_thread (mt_layout *out, const mt_tiled_mma *mma, mt_mma_part x,
                            const mt_node *a, bool flat, mt_err *err) {
  mt_layout frg, vmnk, under;
  MT_CHECK(mt_is_function(a), err, "partition: a layout expected");
  MT_TRY(mt_mma_thrfrg(&frg, mma, x, a, err));
  const mt_node *base = mt_base(frg.node);
  MT_TRY(all_threads(&vmnk, mma, x, base, err));
  MT_TRY(mt_thread_first(&under, "partition", mma->thr_index.node, vmnk.node,
                         mt_mode(base, 1), flat, err));
  return mt_partition_over(out, frg.node, under.node, err);
}

mt_status mt_mma_tv (mt_layout *out, const mt_tiled_mma *mma, mt_mma_part x,
                     const mt_node *a, mt_err *err) {
  return by_thread(out, mma, x, a, false, err); /* (thread,(FrgV,(RestX,...))) */
}

mt_status mt_mma_tvr (mt_layout *out, const mt_tiled_mma *mma, mt_mma_part x,
                      const mt_node *a, mt_err *err) {
  return by_thread(out, mma, x, a, true, err); /* (thread,FrgV,(RestX,...)) */
}

/* ((v,(x,y)),(_,(_,_,...))) */
static mt_status thread_crd (mt_layout *out, const int64_t place[4], mt_mma_part x,
                             int rests, mt_err *err) {
  mt_build b;
  mt_begin(&b, out, "partition", err);
  mt_open(&b, MT_TUPLE);
  mt_open(&b, MT_TUPLE);
  mt_add_int(&b, place[0]);
  mt_open(&b, MT_TUPLE);
  for (int i = 0; i < 2; i++) mt_add_int(&b, place[1 + parts[x].axis[i]]);
  mt_close(&b);
  mt_close(&b);
  mt_open(&b, MT_TUPLE);
  mt_add_wild(&b);
  mt_open(&b, MT_TUPLE);
  for (int i = 0; i < rests; i++) mt_add_wild(&b);
  return mt_end(&b);
}

/* Of all threads' part, that of one: (FrgV,RestX,RestY,...). */
static MT_APART mt_status slice_thread (mt_layout *out, mt_layout *offset,
                                        const mt_tiled_mma *mma, mt_mma_part x,
                                        const mt_node *frg, const mt_node *a, int64_t thr,
                                        mt_err *err) {
  mt_layout crd;
  int64_t place[4];
  MT_TRY(place_of(place, mma, thr, err));
  const mt_node *rest = mt_mode(mt_mode(mt_base(frg), 1), 1);
  MT_TRY(thread_crd(&crd, place, x, mt_rank(rest), err));
  return mt_renamed("partition", mt_slice_in(out, offset, crd.node, frg, a, err), err);
}

mt_status mt_mma_partition (mt_layout *out, mt_layout *offset, const mt_tiled_mma *mma,
                            mt_mma_part x, const mt_node *a, int64_t thr, mt_err *err) {
  mt_layout frg;
  if (thr < 0 || thr >= mt_tiled_mma_threads(mma))
    return mt_fail(err, MT_ERANGE, "partition: thread %lld of %lld", (long long)thr,
                   (long long)mt_tiled_mma_threads(mma));
  MT_TRY(mt_mma_thrfrg(&frg, mma, x, a, err));
  return slice_thread(out, offset, mma, x, frg.node, a, thr, err);
}
