/*
** tiled_mma.c - tiled MMAs: an atom over more threads and more values, and the
** partition of its operands.
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
static const char *const axis_name[] = {"M", "N", "K"};

static int64_t atom_extent (const mt_tiled_mma *mma, int axis) {
  const mt_mma_op *op = &mma->atom.op;
  return axis == 0 ? op->m : axis == 1 ? op->n : op->k;
}

/* Atoms side by side along an axis. */
static int64_t atoms_along (const mt_tiled_mma *mma, int axis) {
  return mt_size(mt_mode(mt_base(mma->thr_vmnk.node), axis + 1));
}

static const mt_node *atom_tv (const mt_tiled_mma *mma, mt_mma_part x) {
  return x == MT_PART_A ? mma->atom.a.node :
         x == MT_PART_B ? mma->atom.b.node :
                          mma->atom.c.node;
}

/* ---- threads */

/* (thr,gaps): all threads of the block, those that thr leaves out by their gap. */
static mt_status with_gaps (mt_layout *out, const mt_node *thr, mt_err *err) {
  mt_layout gaps, pair;
  int64_t lo, end;
  const mt_node *modes[] = {thr, gaps.node};
  MT_TRY(mt_number_range(&lo, &end, "make_tiled_mma", thr, err));
  MT_TRY(mt_complement(&gaps, NULL, thr, end, err));
  if (!mt_is_more(thr)) return mt_concat(out, 2, modes, err);
  MT_TRY(mt_beside(&pair, "make_tiled_mma", gaps.node, NULL, thr, err));
  return mt_swap_modes(out, "make_tiled_mma", pair.node, err);
}

/* Thread of the block -> (ThrV,ThrM,ThrN,ThrK), as an index. Threads that the layout
** leaves out do what thread 0 of its gap does: stride 0. */
static mt_status thread_index (mt_layout *out, const mt_node *thr, mt_err *err) {
  mt_layout all, inverse;
  int64_t size = mt_size(thr);
  MT_TRY(with_gaps(&all, thr, err));
  const mt_node pair = {.tag = MT_MODES, .arity = 2, .span = 3, .shape = size};
  const mt_node first[] = {pair, mt_leaf_of(size, 1), mt_leaf_of(1, 0)};
  MT_TRY(mt_right_inverse(&inverse, all.node, err));
  if (mt_size(inverse.node) != mt_size(all.node))
    return mt_failn(err, MT_EINEXACT, "partition: the threads %N have no inverse", thr);
  return mt_composition(out, first, inverse.node, err);
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

/* ---- making */

static mt_status number_threads (mt_tiled_mma *mma, mt_err *err) {
  static const char *const op = "make_tiled_mma";
  mt_layout some;
  MT_TRY(mt_as_integers(&some, op, mma->atoms.node, err));
  MT_TRY(mt_tiled_product(&mma->thr_vmnk, mma->atom.thr_id.node, some.node, err));
  MT_TRY(mt_as_integers(&some, op, mma->thr_vmnk.node, err));
  mma->thr_vmnk = some;
  MT_TRY(thread_index(&some, mma->thr_vmnk.node, err));
  return mt_as_integers(&mma->thr_index, op, some.node, err);
}

/* Adds the compact layout of these atoms, if that gives each threads of its own. */
static mt_status compact_would_do (mt_tiled_mma *mma, mt_err *err) {
  mt_layout compact;
  MT_NEWERR(why);
  if (mt_layout_left(&compact, mma->atoms.node, &why) != MT_OK) return err->status;
  mma->atoms = compact;
  if (number_threads(mma, &why) == MT_OK)
    mt_explain(err, "\n  %N would do", compact.node);
  return err->status;
}

static mt_status same_thread (mt_tiled_mma *mma, int64_t i, int64_t j, mt_err *err) {
  mt_layout a, b;
  int64_t at;
  MT_TRY(mt_idx2crd(&a, i, mma->atoms.node, err));
  MT_TRY(mt_idx2crd(&b, j, mma->atoms.node, err));
  MT_TRY(mt_at(&at, mma->atoms.node, i, err));
  mt_failn(err, MT_EINJECTIVE,
           "make_tiled_mma: atoms %N gives the atoms at %N and %N "
           "the same number %lld, so the same threads",
           mma->atoms.node, a.node, b.node, (long long)at);
  return compact_would_do(mma, err);
}

static mt_status make_atoms (mt_tiled_mma *mma, const mt_node *atoms, mt_err *err) {
  static const mt_node one = {.tag = MT_LEAF, .span = 1, .shape = 1};
  mt_build b;
  int rank;
  if (atoms) MT_TRY(mt_number_layout("make_tiled_mma", "atoms", atoms, err));
  const mt_node *base = atoms ? mt_base(atoms) : &one;
  rank = mt_rank(base);
  if (rank > 3)
    return mt_failn(err, MT_ERANK,
                    "make_tiled_mma: atoms %N has %d modes; M, N and K "
                    "are 3",
                    atoms, rank);
  mt_begin(&b, &mma->atoms, "make_tiled_mma", err);
  if (atoms) mt_open_root(&b, atoms);
  mt_open(&b, MT_MODES);
  for (int i = 0; i < 3; i++) mt_add(&b, i < rank ? mt_mode(base, i) : &one);
  return mt_end(&b);
}

static mt_status make_threads (mt_tiled_mma *mma, mt_err *err) {
  MT_NEWERR(why);
  int64_t i, j, lo, n;
  MT_TRY(mt_number_range(&lo, &n, "make_tiled_mma", mma->atoms.node, err));
  if (lo < 0)
    return mt_failn(err, MT_EINVAL, "make_tiled_mma: atoms %N has negative numbers",
                    mma->atoms.node);
  MT_TRY(mt_same_number(&i, &j, mma->atoms.node, err));
  if (j >= 0) return same_thread(mma, i, j, err);
  if (number_threads(mma, &why) == MT_OK) return MT_OK;
  mt_failn(err, MT_EINEXACT,
           "make_tiled_mma: atoms %N of threads %N are no layout of "
           "threads whose strides divide one another",
           mma->atoms.node, mma->atom.thr_id.node);
  return compact_would_do(mma, err);
}

/* Nothing but `_` and extents, as integers or as n:1. */
static bool only_extents (const mt_node *p) {
  for (const mt_node *c = mt_child(p); c < mt_next(p); c = mt_next(c))
    if (!(c->tag == MT_WILD || c->tag == MT_INT ||
          (c->tag == MT_LEAF && c->ring == MT_Z && c->stride == 1)))
      return false;
  return true;
}

/* (M,N,K), with `_` where nothing is said. */
static mt_status make_permutation (mt_tiled_mma *mma, const mt_node *p, mt_err *err) {
  mt_build b;
  bool by_mode = p && (p->tag == MT_TUPLE || p->tag == MT_TILER);
  if (p && p->tag != MT_WILD && !by_mode)
    return mt_failn(err, MT_ERANK,
                    "make_tiled_mma: permutation %N is one for all; M, N "
                    "and K have one each: (%N,_,_)",
                    p, p);
  if (by_mode && p->arity > 3)
    return mt_failn(err, MT_ERANK,
                    "make_tiled_mma: permutation %N has %d modes; M, N "
                    "and K are 3",
                    p, (int)p->arity);
  bool extents = !by_mode || only_extents(p);
  mt_begin(&b, &mma->permutation, "make_tiled_mma", err);
  mt_open(&b, extents ? MT_TUPLE : MT_TILER);
  for (int i = 0; i < 3; i++) {
    const mt_node *c = by_mode && i < p->arity ? mt_mode(p, i) : NULL;
    if (c == NULL) mt_add_wild(&b);
    else if (c->tag == MT_LEAF && extents) mt_add_int(&b, c->shape);
    else mt_add(&b, c);
  }
  return mt_end(&b);
}

static mt_status permutation_size (int64_t *out, int axis, const mt_node *p,
                                   mt_err *err) {
  char name[] = "permutation of M";
  name[sizeof name - 2] = *axis_name[axis];
  if (p->tag == MT_INT && p->ring == MT_Z && p->shape > 0) {
    *out = p->shape;
    return MT_OK;
  }
  if (!mt_is_function(p))
    return mt_failn(err, MT_EINVAL,
                    "make_tiled_mma: the %s is %N; `_`, an extent or a "
                    "layout expected",
                    name, p);
  *out = mt_size(p);
  MT_TRY(mt_number_layout("make_tiled_mma", name, p, err));
  return mt_numbers_all("make_tiled_mma", name, "place", p, err);
}

static mt_status no_multiple (const mt_tiled_mma *mma, int axis, int64_t all,
                              mt_err *err) {
  int64_t atom = atom_extent(mma, axis), places = mma->tile[axis], next;
  mt_failn(err, MT_EINEXACT,
           "make_tiled_mma: the permutation of %s, %N, has %lld "
           "places: not a multiple of %lld, what %lld atoms of %lld have along %s",
           axis_name[axis], mt_mode(mma->permutation.node, axis), (long long)places,
           (long long)all, (long long)(all / atom), (long long)atom, axis_name[axis]);
  if (!mt_mulo(places / all + 1, all, &next))
    mt_explain(err, "\n  %lld would do", (long long)next);
  return err->status;
}

static mt_status make_tile (mt_tiled_mma *mma, mt_err *err) {
  for (int i = 0; i < 3; i++) {
    const mt_node *p = mt_mode(mma->permutation.node, i);
    int64_t all;
    if (mt_mulo(atom_extent(mma, i), atoms_along(mma, i), &all))
      return mt_failn(err, MT_EOVERFLOW,
                      "make_tiled_mma: atoms %N: the tile leaves 64 "
                      "bits",
                      mma->atoms.node);
    mma->tile[i] = all;
    if (p->tag != MT_WILD) MT_TRY(permutation_size(&mma->tile[i], i, p, err));
    if (mma->tile[i] % all != 0) return no_multiple(mma, i, all, err);
  }
  return MT_OK;
}

/* Of the atom that is there. */
static mt_status make (mt_tiled_mma *mma, const mt_node *atoms,
                       const mt_node *permutation, mt_err *err) {
  MT_TRY(make_atoms(mma, atoms, err));
  MT_TRY(make_threads(mma, err));
  MT_TRY(make_permutation(mma, permutation, err));
  return make_tile(mma, err);
}

mt_status mt_make_tiled_mma (mt_tiled_mma *out, const char *atom, const mt_node *atoms,
                             const mt_node *permutation, mt_err *err) {
  memset(out, 0, sizeof *out);
  MT_TRY(mt_renamed("make_tiled_mma", mt_mma_atom_find(&out->atom, atom, err), err));
  return make(out, atoms, permutation, err);
}

mt_status mt_make_tiled_mma_of (mt_tiled_mma *out, const mt_mma_atom *atom,
                                const mt_node *atoms, const mt_node *permutation,
                                mt_err *err) {
  memset(out, 0, sizeof *out);
  out->atom = *atom;
  return make(out, atoms, permutation, err);
}

bool mt_tiled_mma_by_function (const mt_tiled_mma *mma) {
  bool more = mt_is_more(mma->atoms.node);
  for (int i = 0; i < 3; i++)
    more = more || mt_is_more(mt_mode(mma->permutation.node, i));
  return more;
}

/* By steps: a permutation that has none, as its extent. */
static mt_status without_functions (mt_layout *out, const mt_tiled_mma *mma,
                                    mt_err *err) {
  mt_build b;
  const mt_node *p = mma->permutation.node;
  mt_begin(&b, out, "make_tiled_mma", err);
  mt_open(&b, (mt_tag)p->tag);
  for (int i = 0; i < 3; i++) {
    if (!mt_is_more(mt_mode(p, i))) mt_add(&b, mt_mode(p, i));
    else mt_add_leaf(&b, mma->tile[i], 1);
  }
  return mt_end(&b);
}

mt_status mt_tiled_mma_by_steps (mt_tiled_mma *out, const mt_tiled_mma *mma,
                                 mt_err *err) {
  mt_layout atoms = mma->atoms, permutation;
  *out = *mma;
  if (!mt_tiled_mma_by_function(mma)) return MT_OK;
  MT_TRY(without_functions(&permutation, mma, err));
  if (mt_is_more(mma->atoms.node))
    MT_TRY(mt_layout_left(&atoms, mt_base(mma->atoms.node), err));
  return make(out, atoms.node, permutation.node, err);
}

int64_t mt_tiled_mma_size (const mt_tiled_mma *mma) {
  return mt_size(mma->thr_vmnk.node);
}

int64_t mt_tiled_mma_threads (const mt_tiled_mma *mma) {
  return mt_size(mma->thr_index.node);
}

/* ---- operands */

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
  for (int i = 0; i < 2; i++) mt_add_int(&b, atoms_along(mma, x->axis[i]));
  return mt_end(&b);
}

static MT_APART mt_status over (mt_layout *out, const mt_node *a, mt_err *err) {
  const mt_layout under = *out;
  return mt_partition_over(out, a, under.node, err);
}

/* ((AtomX,AtomY),(RestX,RestY,...)); a permutation that is a function stays above it. */
static MT_APART mt_status by_atoms (mt_layout *out, const mt_tiled_mma *mma,
                                    const struct part *x, const mt_node *a, mt_err *err) {
  mt_layout tiler, permuted;
  const int64_t atom[] = {atom_extent(mma, x->axis[0]), atom_extent(mma, x->axis[1])};
  MT_TRY(permutation_tiler(&tiler, mma, x, err));
  MT_TRY(mt_logical_divide(&permuted, a, tiler.node, err)); /* (PermX,PermY,...) */
  const mt_node *base = mt_base(permuted.node);
  MT_TRY(mt_ints(&tiler, 2, atom, err));
  MT_TRY(mt_zipped_divide(out, base, tiler.node, err));
  return base == permuted.node ? MT_OK : over(out, permuted.node, err);
}

/* ((ThrV,FrgV),(RestX,RestY,...)) */
static MT_APART mt_status fragments (mt_layout *out, const mt_tiled_mma *mma,
                                     mt_mma_part part, const mt_node *zipped,
                                     mt_err *err) {
  mt_layout tv;
  const mt_node *of_atom = mt_mode(zipped, 0), *rest = mt_mode(zipped, 1);
  MT_TRY(mt_composition(&tv, of_atom, atom_tv(mma, part), err));
  if (mt_base(tv.node) != tv.node) /* a chain over F2 */
    return mt_thread_first(out, "partition", atom_tv(mma, part), of_atom, rest, false,
                           err);
  const mt_node *modes[] = {tv.node, rest};
  return mt_concat(out, 2, modes, err);
}

/* Those divided among the threads. */
static MT_APART mt_status by_threads (mt_layout *out, const mt_tiled_mma *mma,
                                      mt_mma_part part, const mt_node *zipped,
                                      mt_err *err) {
  mt_layout frg, tiler;
  MT_TRY(fragments(&frg, mma, part, zipped, err));
  MT_TRY(thread_tiler(&tiler, mma, &parts[part], err));
  return mt_zipped_divide(out, frg.node, tiler.node, err);
}

static MT_APART mt_status by_threads_under (mt_layout *out, const mt_tiled_mma *mma,
                                            mt_mma_part part, mt_err *err) {
  const mt_layout zipped = *out;
  MT_TRY(by_threads(out, mma, part, mt_base(zipped.node), err));
  return over(out, zipped.node, err);
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
    else mt_add_leaf(&b, atoms_along(mma, i), 0);
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
