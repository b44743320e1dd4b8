/*
** mt_tile.c - tiled copies: threads and values over a tile, and the partition of a
** tensor.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "mt_impl.h"

/* name                          bits of an access */
#define MT_COPY_ATOMS(X)                                                                 \
  X("UniversalCopy<uint8_t>",    8)                                                      \
  X("UniversalCopy<uint16_t>",   16)                                                     \
  X("UniversalCopy<uint32_t>",   32)                                                     \
  X("UniversalCopy<uint64_t>",   64)                                                     \
  X("UniversalCopy<uint128_t>",  128)                                                    \
  X("AutoVectorizingCopy",       0)

static mt_status unknown_atom (const char *atom, mt_err *err) {
#define MT_ATOM_LINE(name, bits) "\n  " name
  return mt_fail(err, MT_EINVAL, "make_tiled_copy: unknown atom \"%.64s\"; there are"
                 MT_COPY_ATOMS(MT_ATOM_LINE), atom);
#undef MT_ATOM_LINE
}

static mt_status find_atom (int *bits, const char *atom, mt_err *err) {
#define MT_ATOM_ROW(name, bits) {name, bits},
  static const struct { const char *name; int bits; } atoms[] = {
    MT_COPY_ATOMS(MT_ATOM_ROW)
  };
#undef MT_ATOM_ROW
  for (size_t i = 0; i < sizeof atoms / sizeof atoms[0]; i++) {
    if (strcmp(atom, atoms[i].name) != 0) continue;
    *bits = atoms[i].bits;
    return MT_OK;
  }
  return unknown_atom(atom, err);
}

static mt_status check_values (const mt_tiled_copy *c, const char *atom, mt_err *err) {
  int64_t values = mt_size(c->val.node), each;
  MT_CHECK(c->bits == 8 || c->bits == 16 || c->bits == 32 || c->bits == 64 ||
           c->bits == 128, err, "make_tiled_copy: elements of %d bits; 8, 16, 32, 64 and "
           "128 can be copied", c->bits);
  if (c->atom_bits == 0) return MT_OK;
  MT_CHECK(c->atom_bits >= c->bits, err, "make_tiled_copy: %s moves %d bits, an element "
           "has %d", atom, c->atom_bits, c->bits);
  each = c->atom_bits / c->bits;
  if (values % each == 0) return MT_OK;
  return mt_failn(err, MT_EINVAL, "make_tiled_copy: %s moves %lld elements of %d bits at "
                  "once, but val %N has %lld values: not a multiple", atom,
                  (long long)each, c->bits, c->val.node, (long long)values);
}

/* Where `a` fails to give its elements the numbers 0 .. size - 1, one each. */
static mt_status no_numbering (const char *name, const char *what, const mt_node *a,
                               mt_err *err) {
  enum { MT_WITNESSED = 4096 };
  int16_t first[MT_WITNESSED];
  int64_t size = mt_size(a), at;
  memset(first, -1, sizeof first);
  for (int i = 0; i < size && i < MT_WITNESSED; i++) {
    MT_TRY(mt_at(&at, a, i, err));
    if (at < 0 || at >= size)
      return mt_failn(err, MT_EINEXACT, "make_tiled_copy: %s %N gives element %d the %s "
                      "number %lld; its %lld elements need the numbers 0 to %lld", name,
                      a, i, what, (long long)at, (long long)size, (long long)size - 1);
    if (at < MT_WITNESSED && first[at] >= 0)
      return mt_failn(err, MT_EINJECTIVE, "make_tiled_copy: %s %N gives elements %d and "
                      "%d the same %s number %lld", name, a, (int)first[at], i, what,
                      (long long)at);
    if (at < MT_WITNESSED) first[at] = (int16_t)i;
  }
  return mt_failn(err, MT_EINEXACT, "make_tiled_copy: %s %N does not number its elements "
                  "0 to %lld", name, a, (long long)size - 1);
}

/* A bijection onto 0 .. size - 1 has a right inverse of its whole size. */
static mt_status check_numbering (const char *name, const char *what, const mt_node *a,
                                  mt_err *err) {
  mt_layout inverse;
  if (mt_right_inverse(&inverse, a, err) == MT_OK && mt_size(inverse.node) == mt_size(a))
    return MT_OK;
  return no_numbering(name, what, a, err);
}

/* thread + value * size(thr) at each element of the tile, turned round. */
static mt_status make_tv (mt_tiled_copy *c, mt_err *err) {
  mt_layout mn, inverse, shape, pairs;
  const int64_t n[] = {mt_size(c->thr.node), mt_size(c->val.node)};
  MT_TRY(check_numbering("thr", "thread", c->thr.node, err));
  MT_TRY(check_numbering("val", "value", c->val.node, err));
  /* ((V0,T0),(V1,T1),...) */
  MT_TRY(mt_raked_product(&mn, c->thr.node, c->val.node, err));
  MT_TRY(mt_right_inverse(&inverse, mn.node, err));
  if (mt_size(inverse.node) != n[0] * n[1])
    return mt_failn(err, MT_EINEXACT, "make_tiled_copy: thr %N and val %N do not make a "
                    "tile", c->thr.node, c->val.node);
  MT_TRY(mt_ints(&shape, 2, n, err));
  MT_TRY(mt_make_layout(&pairs, shape.node, NULL, err));
  return mt_composition(&c->layout_tv, inverse.node, pairs.node, err);  /* (Thr,Val) */
}

static mt_status make_tiler (mt_tiled_copy *c, mt_err *err) {
  int64_t n[MT_MAXNODES];
  int rank = mt_rank(c->thr.node), other = mt_rank(c->val.node);
  if (other > rank) rank = other;
  for (int i = 0; i < rank; i++) {
    const mt_node *t = mt_mode(c->thr.node, i), *v = mt_mode(c->val.node, i);
    n[i] = (t ? mt_size(t) : 1) * (v ? mt_size(v) : 1);
  }
  return mt_ints(&c->tiler, rank, n, err);
}

static mt_status check_layout (const char *name, const mt_node *t, mt_err *err) {
  for (const mt_node *p = t; p < mt_next(t); p++)
    if (!(p->tag == MT_MODES || (p->tag == MT_LEAF && p->ring == MT_Z)))
      return mt_failn(err, MT_EINVAL, "make_tiled_copy: %s is not a layout of numbers: "
                      "%N", name, t);
  if (mt_size(t) < 1)
    return mt_failn(err, MT_EINVAL, "make_tiled_copy: %s %N is empty", name, t);
  return MT_OK;
}

mt_status mt_make_tiled_copy (mt_tiled_copy *out, const char *atom, int bits,
                              const mt_node *thr, const mt_node *val, mt_err *err) {
  int64_t size;
  memset(out, 0, sizeof *out);
  MT_TRY(find_atom(&out->atom_bits, atom, err));
  MT_TRY(check_layout("thr", thr, err));
  MT_TRY(check_layout("val", val, err));
  if (mt_mulo(mt_size(thr), mt_size(val), &size))
    return mt_failn(err, MT_EOVERFLOW, "make_tiled_copy: a tile of thr %N and val %N "
                    "leaves 64 bits", thr, val);
  out->bits = bits;
  mt_copy_value(&out->thr, thr);
  mt_copy_value(&out->val, val);
  MT_TRY(check_values(out, atom, err));
  MT_TRY(make_tv(out, err));
  return make_tiler(out, err);
}

static mt_status partition (mt_layout *out, const mt_tiled_copy *copy, const mt_node *a,
                            mt_err *err) {
  mt_layout divided, tile;
  int rank = mt_rank(copy->tiler.node);
  if (mt_rank(a) < rank)
    return mt_failn(err, MT_ERANK, "partition: the tile %N has %d modes, the tensor %N "
                    "has %d", copy->tiler.node, rank, a, mt_rank(a));
  /* ((TileM,TileN),(RestM,RestN)) */
  MT_TRY(mt_zipped_divide(&divided, a, copy->tiler.node, err));
  MT_TRY(mt_composition(&tile, mt_mode(divided.node, 0), copy->layout_tv.node, err));
  const mt_node *modes[] = {mt_mode(tile.node, 0), mt_mode(tile.node, 1),
                            mt_mode(divided.node, 1)};
  /* (Thr,Val,(RestM,RestN)) */
  return mt_concat(out, 3, modes, err);
}

/* Under a swizzle: the partition of the layout, under the same swizzle. */
mt_status mt_partition (mt_layout *out, const mt_tiled_copy *copy, const mt_node *a,
                        mt_err *err) {
  mt_layout under;
  if (a->tag != MT_SWIZZLE) return partition(out, copy, a, err);
  MT_CHECK(a->arity == 1, err, "partition: a layout expected");
  MT_TRY(partition(&under, copy, mt_child(a), err));
  return mt_swizzle_over(out, a, under.node, err);
}
