/*
** interleave.c - copies between rows and their interleaved elements: a short run and a
** long one.
** SPDX-License-Identifier: MIT
**
** One side has c elements, one of each row, beside each other; on the other side the rows
** are apart. A block takes a piece of all rows: contiguous on the packed side.
*/
#include "copy/algo.h"
#include "desc/axes.h"
#include "desc/interleave_desc.h"

enum { MT_SMALLPIECE = 2048 }; /* bytes: below, a block has too little to do */

/* Accesses of a row that a block takes. */
static int64_t piece_of (const mt_desc *d) {
  return MT_INTERLEAVE_PIECE(d->vec * d->elem, d->threads);
}

static bool count_pieces (int64_t *out, const mt_desc *d) {
  int64_t piece = piece_of(d);
  return !mt_mulo(mt_div_up(d->values, piece), d->rests, out) && *out <= INT32_MAX;
}

/* Rows begin at multiples of 16 bytes: both axes are the run of `packed`, the second one
** that of the other side. */
static bool is_aligned (const mt_launch *l, const mt_axes mode[3], int packed) {
  int64_t elem = l->desc.elem;
  return mt_begins(l, MT_SRC, 16) && mt_begins(l, MT_DST, 16) &&
         mt_axes_divide(&mode[2], MT_SRC, elem, 16) &&
         mt_axes_divide(&mode[2], MT_DST, elem, 16) &&
         mt_axes_divide(&mode[0], 1 - packed, elem, 16);
}

/* ---------------------------------------------------------------- making */

/* The short axis, first on the packed side, and the long one, first on the other. */
static bool make_packed (mt_launch *l, mt_axes mode[3], int packed) {
  int64_t vec = l->desc.vec;
  if (!mt_axes_take(&mode[2], &mode[0], packed, vec)) return false;
  mt_axis c = mode[0].axis[0];
  if (c.extent > MT_INTERLEAVE_MOST || !mt_axes_take(&mode[2], &mode[1], 1 - packed, vec))
    return false;
  mt_axis w = mode[1].axis[0];
  if (c.stride[1 - packed] == vec || w.stride[packed] != c.extent * vec ||
      w.extent > INT32_MAX / 2 ||
      c.extent * w.extent * vec * l->desc.elem < MT_SMALLPIECE ||
      !is_aligned(l, mode, packed))
    return false;
  l->desc.algo = MT_ALGO_INTERLEAVE;
  return true;
}

static bool pack_make (mt_launch *l, mt_axes mode[3], const mt_search *search,
                       char *why) {
  const mt_axes all = mode[2];
  (void)search, (void)why;
  for (int side = 0; side < 2; side++) {
    mode[0].n = mode[1].n = 0;
    mode[2] = all;
    if (make_packed(l, mode, side)) return true;
  }
  return false;
}

/* ---------------------------------------------------------------- checking */

static mt_status pack_check (const mt_launch *l, mt_err *err) {
  const mt_desc *d = &l->desc;
  int64_t n;
  int64_t vec = d->vec, packed = d->axis[0].stride[MT_SRC] == vec ? MT_SRC : MT_DST;
  mt_axes mode[3];
  MT_TRY(mt_check_runs(d, err));
  MT_CHECK(count_pieces(&n, d), err, "more than 2^31 tiles");
  MT_CHECK(d->nthr == 1 && d->nval == 1 && d->threads <= MT_INTERLEAVE_MOST, err,
           "a packed copy has one short axis and one long one");
  const mt_axis *c = &d->axis[0], *w = &d->axis[1];
  MT_CHECK(c->stride[packed] == vec && w->stride[packed] == c->extent * vec &&
               w->stride[1 - packed] == vec && c->stride[1 - packed] != vec,
           err, "the axes are no packed run");
  mt_axes_get(mode, d);
  MT_CHECK(is_aligned(l, mode, (int)packed), err,
           "a row does not begin at a multiple of 16 bytes");
  return MT_OK;
}

/* ---------------------------------------------------------------- cost and kernels */

/* A piece is whole on the packed side, rows of it lie on the other. Small units cost more
** where rows are too many to be woven in registers. */
static void pack_cost (mt_cost *c, const mt_launch *l) {
  const mt_desc *d = &l->desc;
  int64_t tile = piece_of(d), piece = d->values < tile ? d->values : tile;
  int side = d->axis[0].stride[MT_SRC] == d->vec ? MT_SRC : MT_DST;
  c->traffic = mt_in_pieces(l, side, piece * d->threads, mt_axis_bits(0, 2)) +
               mt_in_pieces(l, 1 - side, piece, mt_axis_bits(1, 1));
  mt_set_used(c, mt_part_used(d->values, tile));
  if (d->axis[0].stride[MT_SRC] == 0 && mt_unit_of(d, MT_SRC) > 1)
    c->slow += mt_h200.interleave_again;
  if (mt_unit_of(d, MT_SRC) >= 4) return;
  c->slow += mt_h200.interleave_row * (double)d->threads;
  if (d->threads > MT_INTERLEAVE_FEW)
    c->slow +=
        mt_unit_of(d, MT_SRC) == 1 ? mt_h200.interleave_bytes : mt_h200.interleave_halves;
}

static mt_grid pack_grid (const mt_kernel *k, const mt_desc *d) {
  int64_t n = 0;
  return mt_grid_of(k, count_pieces(&n, d) ? n : 0);
}

const mt_algo mt_algo_interleave = {.name = "interleave",
                                    .needs =
                                        "is for 2 to 31 rows that one side interleaves",
                                    .make = pack_make,
                                    .check = pack_check,
                                    .cost = pack_cost,
                                    .grid = pack_grid,
                                    .thread = "run of src",
                                    .value = "run of dst"};
