/*
** tiled_mma.c - tiled MMAs: an atom over more threads and more values.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "moontile/tile.h"
#include "algebra/composed.h"
#include "tile/tile.h"

static const char *const axis_name[] = {"M", "N", "K"};

int64_t mt_atom_extent (const mt_tiled_mma *mma, int axis) {
  const mt_mma_op *op = &mma->atom.op;
  return axis == 0 ? op->m : axis == 1 ? op->n : op->k;
}

int64_t mt_atoms_along (const mt_tiled_mma *mma, int axis) {
  return mt_size(mt_mode(mt_base(mma->thr_vmnk.node), axis + 1));
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
  int64_t atom = mt_atom_extent(mma, axis), places = mma->tile[axis], next;
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
    if (mt_mulo(mt_atom_extent(mma, i), mt_atoms_along(mma, i), &all))
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

/* The places that p has along an axis are divided by atoms: they have a layout. */
static MT_APART bool divided_by_atoms (const mt_tiled_mma *mma, int axis,
                                       const mt_node *p) {
  const mt_node atom = mt_leaf_of(mt_atom_extent(mma, axis), 1);
  const mt_node atoms = mt_leaf_of(mt_atoms_along(mma, axis), 1);
  mt_layout x, y;
  MT_NEWERR(err);
  return mt_logical_divide(&x, p, &atom, &err) == MT_OK &&
         mt_logical_divide(&y, mt_mode(x.node, 1), &atoms, &err) == MT_OK;
}

static bool by_steps (const mt_tiled_mma *mma, int axis) {
  const mt_node *p = mt_mode(mma->permutation.node, axis);
  if (p->tag == MT_WILD || p->tag == MT_INT) return true;
  return !mt_is_more(p) && divided_by_atoms(mma, axis, p);
}

bool mt_tiled_mma_by_function (const mt_tiled_mma *mma) {
  bool more = mt_is_more(mma->atoms.node);
  for (int i = 0; i < 3 && !more; i++) more = !by_steps(mma, i);
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
    if (by_steps(mma, i)) mt_add(&b, mt_mode(p, i));
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
