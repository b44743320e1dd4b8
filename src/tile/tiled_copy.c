/*
** tiled_copy.c - tiled copies: threads and values over a tile.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "moontile/tile.h"
#include "algebra/composed.h"
#include "tile/tile.h"

int64_t mt_tiled_copy_size (const mt_tiled_copy *c) {
  return mt_size(mt_mode(mt_base(c->layout_tv.node), 0));
}
int64_t mt_tiled_copy_values (const mt_tiled_copy *c) {
  return mt_size(mt_mode(mt_base(c->layout_tv.node), 1));
}

/* ---- atoms */

/* Threads and values of an atom, by its reference. */
static int64_t atom_threads (const mt_copy_atom *a) {
  return mt_size(mt_mode(a->ref.node, 0));
}
static int64_t atom_values (const mt_copy_atom *a) {
  return mt_size(mt_mode(a->ref.node, 1));
}

/* An atom whose width is open: as wide as can be proven. One's own says who holds what,
** not how it is accessed. */
static bool any_width (const mt_copy_atom *a) {
  if (a->own) return true;
  return strncmp(a->name, "AutoVectorizing", strlen("AutoVectorizing")) == 0 ||
         strcmp(a->name, "DefaultCopy") == 0;
}

static void set_width (mt_tiled_copy *c, int bits) {
  c->bits = bits;
  c->atom_bits = any_width(&c->atom) ? 0 : (int)atom_values(&c->atom) * bits;
}

static mt_status find_atom (mt_tiled_copy *c, const char *atom, int bits, mt_err *err) {
  MT_TRY(
      mt_renamed("make_tiled_copy", mt_copy_atom_find(&c->atom, atom, bits, err), err));
  set_width(c, bits);
  return MT_OK;
}

/* n in whole parts of m: what is missing. */
static int64_t times (int64_t n, int64_t m) {
  int64_t a = n, b = m;
  while (b != 0) {
    int64_t r = a % b;
    a = b;
    b = r;
  }
  return m / a;
}

static mt_status few_threads (const mt_tiled_copy *c, int64_t n, int64_t m, mt_err *err) {
  bool described = mt_rank(c->thr.node) > 0;
  mt_failn(err, MT_EINVAL, "make_tiled_copy: %s is done by %lld threads together, but ",
           c->atom.name, (long long)m);
  if (described) mt_explain(err, "thr %N", c->thr.node);
  else mt_explain(err, "the tile %N", c->tiler.node);
  mt_explain(err, " has %lld threads: not a multiple\n  %lld times as many would do",
             (long long)n, (long long)times(n, m));
  return err->status;
}

static mt_status few_values (const mt_tiled_copy *c, int64_t n, int64_t m, mt_err *err) {
  bool described = mt_rank(c->val.node) > 0;
  mt_failn(err, MT_EINVAL,
           "make_tiled_copy: %s moves %lld elements of %d bits at once, "
           "but ",
           c->atom.name, (long long)m, c->bits);
  if (described) mt_explain(err, "val %N", c->val.node);
  else mt_explain(err, "a thread of the tile %N", c->tiler.node);
  mt_explain(err, " has %lld values: not a multiple", (long long)n);
  if (!described)
    mt_explain(err, "\n  a tile %lld times as large would do: a permutation makes it so",
               (long long)times(n, m));
  return err->status;
}

/* The atom takes its threads and its values from the tile's, whole. */
static mt_status check_whole (const mt_tiled_copy *c, mt_err *err) {
  int64_t threads = mt_tiled_copy_size(c), m = atom_threads(&c->atom);
  int64_t values = mt_tiled_copy_values(c), n = atom_values(&c->atom);
  if (threads % m != 0) return few_threads(c, threads, m, err);
  return values % n == 0 ? MT_OK : few_values(c, values, n, err);
}

mt_status mt_tiled_copy_by (mt_tiled_copy *c, const mt_copy_atom *atom, int bits,
                            mt_err *err) {
  c->atom = *atom;
  MT_TRY(mt_renamed("make_tiled_copy", mt_copy_atom_recast(&c->atom, bits, err), err));
  set_width(c, bits);
  return check_whole(c, err);
}

/* ---- by threads and values */

static mt_status tile_size (int64_t *n, const mt_node *thr, const mt_node *val,
                            mt_err *err) {
  MT_TRY(mt_number_layout("make_tiled_copy", "thr", thr, err));
  MT_TRY(mt_number_layout("make_tiled_copy", "val", val, err));
  if (!mt_mulo(mt_size(thr), mt_size(val), n)) return MT_OK;
  return mt_failn(err, MT_EOVERFLOW,
                  "make_tiled_copy: a tile of thr %N and val %N leaves 64 bits", thr,
                  val);
}

/* thread + value * size(thr) at each element of the tile, turned round. */
static mt_status make_tv (mt_layout *tv, const mt_node *thr, const mt_node *val,
                          mt_err *err) {
  mt_layout mn, inverse, shape, pairs;
  const int64_t n[] = {mt_size(thr), mt_size(val)};
  MT_TRY(mt_numbers_all("make_tiled_copy", "thr", "thread", thr, err));
  MT_TRY(mt_numbers_all("make_tiled_copy", "val", "value", val, err));
  if (mt_is_more(thr) || mt_is_more(val)) return mt_function_tv(tv, thr, val, err);
  /* ((V0,T0),(V1,T1),...) */
  MT_TRY(mt_raked_product(&mn, thr, val, err));
  MT_TRY(mt_right_inverse(&inverse, mn.node, err));
  if (mt_size(inverse.node) != n[0] * n[1])
    return mt_failn(err, MT_EINEXACT,
                    "make_tiled_copy: thr %N and val %N do not make a tile", thr, val);
  MT_TRY(mt_ints(&shape, 2, n, err));
  MT_TRY(mt_make_layout(&pairs, shape.node, NULL, err));
  return mt_composition(tv, inverse.node, pairs.node, err); /* (Thr,Val) */
}

static mt_status make_tiler (mt_layout *tiler, const mt_node *thr, const mt_node *val,
                             mt_err *err) {
  int64_t n[MT_MAXNODES];
  thr = mt_base(thr);
  val = mt_base(val);
  int rank = mt_rank(thr), other = mt_rank(val);
  if (other > rank) rank = other;
  for (int i = 0; i < rank; i++) {
    const mt_node *t = mt_mode(thr, i), *v = mt_mode(val, i);
    n[i] = (t ? mt_size(t) : 1) * (v ? mt_size(v) : 1);
  }
  return mt_ints(tiler, rank, n, err);
}

mt_status mt_make_tiled_copy (mt_tiled_copy *out, const char *atom, int bits,
                              const mt_node *thr, const mt_node *val, mt_err *err) {
  int64_t size;
  memset(out, 0, sizeof *out);
  MT_TRY(find_atom(out, atom, bits, err));
  MT_TRY(tile_size(&size, thr, val, err));
  mt_copy_value(&out->thr, thr);
  mt_copy_value(&out->val, val);
  MT_TRY(make_tv(&out->layout_tv, thr, val, err));
  MT_TRY(check_whole(out, err));
  return make_tiler(&out->tiler, thr, val, err);
}

mt_status mt_make_layout_tv (mt_layout *tv, mt_layout *tiler, const mt_node *thr,
                             const mt_node *val, mt_err *err) {
  int64_t size;
  mt_status s = tile_size(&size, thr, val, err);
  if (s == MT_OK) s = make_tv(tv, thr, val, err);
  if (s == MT_OK) s = make_tiler(tiler, thr, val, err);
  return mt_renamed("make_layout_tv", s, err);
}

/* ---- by what something else needs */

/* From layout_tv and tiler, which are there. */
static mt_status make_of_tv (mt_tiled_copy *c, const char *atom, int bits, mt_err *err) {
  static const mt_node none = {.tag = MT_MODES, .span = 1, .shape = 1};
  mt_copy_value(&c->thr, &none);
  mt_copy_value(&c->val, &none);
  MT_TRY(find_atom(c, atom, bits, err));
  return check_whole(c, err);
}

mt_status mt_make_tiled_copy_mma (mt_tiled_copy *out, const char *atom, int bits,
                                  const mt_tiled_mma *mma, mt_mma_part x, mt_err *err) {
  static const int axis[][2] = {{0, 2}, {1, 2}, {0, 1}};
  mt_layout compact;
  memset(out, 0, sizeof *out);
  MT_CHECK((unsigned)x <= MT_PART_C, err, "make_tiled_copy: no such operand");
  const int64_t tile[] = {mma->tile[axis[x][0]], mma->tile[axis[x][1]]};
  MT_TRY(mt_ints(&out->tiler, 2, tile, err));
  MT_TRY(mt_make_layout(&compact, out->tiler.node, NULL, err));
  MT_TRY(mt_mma_tv(&out->layout_tv, mma, x, compact.node, err));
  return make_of_tv(out, atom, bits, err);
}

mt_status mt_make_tiled_copy_side (mt_tiled_copy *out, const char *atom, int bits,
                                   const mt_tiled_copy *copy, mt_copy_side side,
                                   mt_err *err) {
  memset(out, 0, sizeof *out);
  mt_copy_value(&out->tiler, copy->tiler.node);
  MT_TRY(mt_copy_tv(&out->layout_tv, copy, side, err));
  return make_of_tv(out, atom, bits, err);
}

/* layout_tv gives places of the tile. */
static mt_status check_places (const mt_node *tv, const mt_node *tiler, mt_err *err) {
  int64_t lo, end, n = mt_size(tiler);
  if (!mt_is_branch(mt_base(tv)) || mt_rank(mt_base(tv)) != 2)
    return mt_failn(err, MT_ERANK,
                    "make_tiled_copy: tv %N has %d modes: (thread,value) has 2", tv,
                    mt_rank(mt_base(tv)));
  MT_TRY(mt_number_range(&lo, &end, "make_tiled_copy", tv, err));
  if (lo >= 0 && end <= n) return MT_OK;
  return mt_failn(
      err, MT_ERANGE,
      "make_tiled_copy: tv %N gives places %lld to %lld, the tile %N has 0 to "
      "%lld",
      tv, (long long)lo, (long long)end - 1, tiler, (long long)n - 1);
}

/* An extent, or a layout that gives each of its places another ordinate, from 0 on. */
static bool is_tile (const mt_node *t) {
  bool one = false;
  int64_t low, end;
  MT_NEWERR(err);
  if (t->tag == MT_INT) return t->ring == MT_Z && t->shape > 0;
  return (t->tag == MT_LEAF || t->tag == MT_MODES) && mt_is_integral(t) &&
         mt_size(t) > 0 && mt_is_injective(&one, t, &err) == MT_OK && one &&
         mt_footprint(&low, &end, t, &err) == MT_OK && low >= 0;
}

static mt_status check_tiler (const mt_node *tiler, mt_err *err) {
  bool tiles = (tiler->tag == MT_TUPLE || tiler->tag == MT_TILER) && tiler->arity > 0;
  for (int i = 0; tiles && i < mt_rank(tiler); i++) tiles = is_tile(mt_mode(tiler, i));
  if (tiles) return MT_OK;
  return mt_failn(
      err, MT_EINVAL,
      "make_tiled_copy: tiler %N: a tuple of extents expected, as (64,16), or "
      "of layouts that are injective, as (16:2,(8,8):(8,1))",
      tiler);
}

mt_status mt_make_tiled_copy_tv (mt_tiled_copy *out, const char *atom, int bits,
                                 const mt_node *tv, const mt_node *tiler, mt_err *err) {
  memset(out, 0, sizeof *out);
  MT_TRY(mt_number_layout("make_tiled_copy", "tv", tv, err));
  MT_TRY(check_tiler(tiler, err));
  MT_TRY(check_places(tv, tiler, err));
  MT_TRY(mt_as_integers(&out->layout_tv, "make_tiled_copy", tv, err));
  mt_copy_value(&out->tiler, tiler);
  return make_of_tv(out, atom, bits, err);
}
