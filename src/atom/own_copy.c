/*
** own_copy.c - copy atoms that a user describes.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "moontile/algebra.h"
#include "atom/own.h"
#include "core/build.h"

static const char copy_atom[] = "copy_atom";

/* Each place is of one (thread,value): a tiled copy can be described by it. */
static bool is_reference (const mt_node *tv, int64_t places) {
  return mt_size(tv) == places;
}

static mt_status find_reference (mt_copy_atom *a, int64_t places, mt_err *err) {
  const mt_layout *side = is_reference(a->src.node, places) ? &a->src : &a->dst;
  if (!is_reference(side->node, places))
    return mt_failn(
        err, MT_EINVAL,
        "copy_atom: threads share values of src %N and of dst %N: neither can "
        "stand for ref\n  give ref, (thread,value) -> place, where each place "
        "has one thread",
        a->src.node, a->dst.node);
  mt_copy_value(&a->ref, side->node);
  return MT_OK;
}

/* A tiled copy finds the side by (thread,value) of the reference. */
static MT_APART mt_status check_side (const mt_copy_atom *a, const char *name,
                                      const mt_node *side, mt_err *err) {
  mt_layout inverse, out;
  MT_TRYERR(why, err);
  MT_TRY(mt_right_inverse(&inverse, a->ref.node, err));
  if (mt_composition(&out, inverse.node, side, &why) == MT_OK) return MT_OK;
  return mt_failn(
      err, MT_EINEXACT,
      "copy_atom: no layout takes (thread,value) of %s %N to (thread,value) of "
      "ref %N: modes of the one begin inside those of the other\n  cut them "
      "where the others end",
      name, side, a->ref.node);
}

static mt_status prove (const mt_copy_atom *a, int64_t threads, int64_t places,
                        mt_err *err) {
  const mt_own_tv claims[] = {
      {copy_atom, "src", a->src.node, threads, {places, 0}, true},
      {copy_atom, "dst", a->dst.node, threads, {places, 0}, true},
      {copy_atom, "ref", a->ref.node, threads, {places, 0}, false},
  };
  for (int i = 0; i < 3; i++) MT_TRY(mt_own_prove(&claims[i], err));
  MT_TRY(check_side(a, "src", a->src.node, err));
  return check_side(a, "dst", a->dst.node, err);
}

/* The places of an atom: so many that both sides have them. */
static mt_status count_places (int64_t *out, const mt_copy_atom *a, mt_err *err) {
  int64_t lo, end[2] = {0, 0};
  const mt_node *const side[] = {a->src.node, a->dst.node};
  for (int i = 0; i < 2; i++) {
    MT_TRY(mt_footprint(&lo, &end[i], side[i], err));
    if (lo < 0)
      return mt_failn(err, MT_ERANGE, "copy_atom: %s %N has the place %lld: from 0 on",
                      i ? "dst" : "src", side[i], (long long)lo);
  }
  *out = end[0];
  if (end[0] == end[1]) return MT_OK;
  return mt_failn(
      err, MT_EINEXACT,
      "copy_atom: src %N has the places 0 to %lld, dst %N has 0 to %lld: place "
      "%lld is %s\n  both move the same",
      side[0], (long long)end[0] - 1, side[1], (long long)end[1] - 1,
      (long long)(end[0] < end[1] ? end[1] : end[0]) - 1,
      end[0] < end[1] ? "written and never read" : "read and never written");
}

/* "own_32x8_16b": threads, values of a thread of the reference, bits. */
static void default_name (mt_copy_atom *a) {
  snprintf(a->name, sizeof a->name, "own_%lldx%lld_%db",
           (long long)mt_size(mt_mode(a->ref.node, 0)),
           (long long)mt_size(mt_mode(a->ref.node, 1)), a->bits);
}

mt_status mt_copy_atom_make (mt_copy_atom *out, const char *name, int bits,
                             const mt_node *thr_id, const mt_node *src,
                             const mt_node *dst, const mt_node *ref, mt_err *err) {
  int64_t threads, places = 0;
  memset(out, 0, sizeof *out);
  MT_CHECK(bits >= 1 && bits <= 1024, err,
           "copy_atom: values of %d bits; 1 to 1024 are possible", bits);
  if (name) MT_TRY(mt_own_name(out->name, copy_atom, name, err));
  out->arch = "own";
  out->own = true;
  out->bits = bits;
  MT_TRY(mt_own_count(&threads, copy_atom, "src", src, err));
  MT_TRY(mt_own_count(&threads, copy_atom, "dst", dst, err));
  mt_copy_value(&out->src, src);
  mt_copy_value(&out->dst, dst);
  MT_TRY(mt_own_threads(&out->thr_id, copy_atom, thr_id, threads, err));
  MT_TRY(count_places(&places, out, err));
  if (ref) mt_copy_value(&out->ref, ref);
  else MT_TRY(find_reference(out, places, err));
  MT_TRY(prove(out, threads, places, err));
  if (name == NULL) default_name(out);
  return MT_OK;
}

/* ---------------------------------------------------------------- other bits */

/* All strides times n: of values in n parts each. */
static void add_scaled (mt_build *b, const mt_node *t, int64_t n) {
  if (t->tag == MT_LEAF) {
    mt_add_leaf(b, t->shape, t->stride * n);
    return;
  }
  mt_open(b, MT_MODES);
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
    add_scaled(b, c, n);
  mt_close(b);
}

/* (thread,(part,value)): each value in n parts. */
static MT_APART mt_status in_parts (mt_layout *out, int64_t n, const mt_node *tv,
                                    mt_err *err) {
  mt_build b;
  mt_begin(&b, out, copy_atom, err);
  mt_open(&b, MT_MODES);
  add_scaled(&b, mt_mode(tv, 0), n);
  mt_open(&b, MT_MODES);
  mt_add_leaf(&b, n, 1);
  add_scaled(&b, mt_mode(tv, 1), n);
  mt_close(&b);
  return mt_end(&b);
}

/* False if that parts a value, or puts threads together. */
static bool in_bits (mt_layout *out, const mt_node *tv, int from, int bits, mt_err *err) {
  if (from % bits == 0) return in_parts(out, from / bits, tv, err) == MT_OK;
  return mt_recast_layout(out, from, bits, tv, err) == MT_OK &&
         mt_size(mt_mode(out->node, 0)) == mt_size(mt_mode(tv, 0)) &&
         mt_size(out->node) * bits == mt_size(tv) * from;
}

mt_status mt_copy_atom_recast (mt_copy_atom *a, int bits, mt_err *err) {
  static const char *const names[] = {"src", "dst", "ref"};
  mt_layout *const side[] = {&a->src, &a->dst, &a->ref};
  mt_layout values;
  MT_TRYERR(why, err);
  MT_CHECK(bits >= 1 && bits <= 1024, err,
           "copy_atom: values of %d bits; 1 to 1024 are possible", bits);
  for (int i = 0; i < 3 && bits != a->bits; i++) {
    if (!in_bits(&values, side[i]->node, a->bits, bits, &why))
      return mt_failn(err, MT_EINEXACT,
                      "copy_atom: %s has no values of %d bits: its %s in values of %d "
                      "bits is %N, which would part one or put threads together",
                      a->name, bits, names[i], a->bits, side[i]->node);
    mt_copy_value(side[i], values.node);
  }
  a->bits = bits;
  return MT_OK;
}
