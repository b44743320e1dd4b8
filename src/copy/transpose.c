/*
** transpose.c - copies whose runs lie along different axes: tiles of both runs.
** SPDX-License-Identifier: MIT
**
** A run of a side is a list of axes that continue one another there, from stride `vec`
** on: index i of the run lies i accesses on. Every axis is in one run at most.
*/
#include <stdio.h>

#include "moontile/analysis.h"
#include "copy/algo.h"
#include "desc/cast_desc.h"
#include "desc/divisor.h"
#include "desc/transpose_desc.h"

enum {
  MT_SHORTRUN = 32, /* bytes: below, tiles waste more than they give */
  MT_STRIP = 8,
  MT_FEWTILES = 2,    /* tiles of a strip at most */
  MT_FARROW = 16384,  /* bytes of a row of the destination: it is long */
  MT_ALONG = 8,       /* unaligned tiles along dst: from so many on no strips */
  MT_KEPT = 16 << 20, /* bytes that the L2 keeps while as many are written */
  MT_MANYTILES = 4,   /* a run of so many tiles needs no further axis */
  MT_LONGRUN = 1024   /* accesses: from here on half a tile is no loss */
};

typedef struct mt_run {
  int side;
  int64_t length, tile; /* accesses of the run, of a tile */
  bool whole;           /* no axis continues it */
} mt_run;

/* ---------------------------------------------------------------- runs */

static void extend (mt_run *r, mt_axes *from, mt_axes *to, int64_t vec) {
  int64_t stride, length;
  r->whole = true;
  if (r->length >= MT_MANYTILES * r->tile || mt_mulo(r->length, vec, &stride) ||
      !mt_axes_take(from, to, r->side, stride))
    return;
  r->whole = false;
  if (mt_mulo(r->length, to->axis[to->n - 1].extent, &length)) length = INT64_MAX;
  r->length = length;
}

/* The runs of both sides, the one with fewer tiles extended first. */
static void extend_both (mt_run r[2], mt_axes mode[3], int64_t vec) {
  while (!r[0].whole || !r[1].whole) {
    bool first =
        !r[0].whole && (r[1].whole || r[0].length / r[0].tile <= r[1].length / r[1].tile);
    int i = first ? 0 : 1;
    extend(&r[i], &mode[2], &mode[i], vec);
  }
}

static bool is_aligned (const mt_launch *l, const mt_axes mode[3]) {
  int64_t src = l->desc.elem, dst = MT_ELEM(&l->desc, MT_DST);
  return mt_begins(l, MT_SRC, 16) && mt_begins(l, MT_DST, 16) &&
         mt_axes_divide(&mode[2], MT_SRC, src, 16) &&
         mt_axes_divide(&mode[2], MT_DST, dst, 16) &&
         mt_axes_divide(&mode[1], MT_SRC, src, 16) &&
         mt_axes_divide(&mode[0], MT_DST, dst, 16);
}

/* Sheared tiles, which write whole sectors, may be better though rows are aligned: those
** of two axes, which take the fewest instructions. */
static bool may_tear (const mt_launch *l, const mt_axes mode[3]) {
  int64_t dst = MT_ELEM(&l->desc, MT_DST), unit = (int64_t)l->desc.vec * dst;
  bool whole = mt_begins(l, MT_DST, MT_SECTORBYTES) &&
               mt_axes_divide(&mode[2], MT_DST, dst, MT_SECTORBYTES) &&
               mt_axes_divide(&mode[0], MT_DST, dst, MT_SECTORBYTES);
  bool simple = mode[0].n == 1 && mode[1].n == 1;
  return !l->desc.cast && MT_TRANSPOSE_UNALIGNED_OWN(unit) == 6 && simple && !whole;
}

/* Large tiles are twice as long along one side. */
bool mt_tile_is_large (const mt_desc *d) {
  int64_t bytes = (int64_t)d->vec * d->elem;
  bool along_src = MT_LARGE_S(bytes) > MT_TRANSPOSE_S(bytes);
  int64_t run = along_src ? d->threads : d->values;
  int64_t half = along_src ? MT_TRANSPOSE_S(bytes) : MT_TRANSPOSE_D(bytes);
  return d->algo == MT_ALGO_TRANSPOSE && d->cast == 0 && MT_LARGE(bytes) &&
         (run >= MT_LONGRUN || (run - 1) / half % 2 == 1);
}

/* Accesses that a tile moves along the run of the side. */
static int64_t tile_of (const mt_desc *d, int side) {
  int64_t bytes = (int64_t)d->vec * d->elem;
  bool unaligned = d->algo == MT_ALGO_TRANSPOSE_UNALIGNED;
  if (d->cast && unaligned)
    return side == MT_SRC ? MT_CAST_TRANSPOSE_UNALIGNED_S(d->elem, d->to) :
                            MT_CAST_TRANSPOSE_UNALIGNED_D(d->elem, d->to);
  if (d->cast)
    return side == MT_SRC ? MT_CAST_TRANSPOSE_S(d->elem, d->to) :
                            MT_CAST_TRANSPOSE_D(d->elem, d->to);
  if (unaligned)
    return side == MT_SRC ? MT_TRANSPOSE_UNALIGNED_S(bytes) :
                            MT_TRANSPOSE_UNALIGNED_D(bytes);
  if (mt_tile_is_large(d)) return side == MT_SRC ? MT_LARGE_S(bytes) : MT_LARGE_D(bytes);
  return side == MT_SRC ? MT_TRANSPOSE_S(bytes) : MT_TRANSPOSE_D(bytes);
}

/* Strips of as many tiles each, without one tile more than that takes; aligned ones of
** long rows of the destination in narrow strips, which write fewer rows at a time. */
static uint32_t even_strip (const mt_desc *d, int64_t tiles) {
  int64_t row = d->values * d->vec * MT_ELEM(d, MT_DST);
  int64_t most =
      d->algo == MT_ALGO_TRANSPOSE && row >= MT_FARROW ? MT_FEWTILES : MT_STRIP;
  int64_t strips = mt_div_up(tiles, most);
  return strips > 0 ? (uint32_t)mt_div_up(tiles, strips) : 1;
}

/* Tiles that are neighbours share lines of memory at the ends of their rows. Sheared ones
** go along the destination if there are many: those they share there are written by
** both. What is read on the way must stay in the L2 for the neighbours along the source:
** else these go together. */
static bool goes_along (const mt_desc *d, uint32_t along) {
  int64_t bytes = (int64_t)d->vec * d->elem * tile_of(d, MT_SRC) + MT_SECTORBYTES;
  return d->algo == MT_ALGO_TRANSPOSE_UNALIGNED && along >= MT_ALONG &&
         d->values <= MT_KEPT / bytes;
}

/* Whole tiles, ragged ones and, unaligned, those that overlap. */
static bool find_raster (mt_raster *r, int64_t *blocks, const mt_desc *d) {
  bool unaligned = d->algo == MT_ALGO_TRANSPOSE_UNALIGNED;
  int64_t bytes = (int64_t)d->vec * MT_ELEM(d, MT_DST);
  int64_t more = !unaligned ? 0 :
                 d->cast    ? 16 / bytes :
                              MT_TRANSPOSE_UNALIGNED_BEFORE(bytes);
  int64_t s = tile_of(d, MT_SRC), t = tile_of(d, MT_DST);
  int64_t ns = (d->threads + s - 1) / s;
  uint32_t along = (uint32_t)((d->values + more + t - 1) / t);
  uint32_t strip = goes_along(d, along) ? 1 : even_strip(d, ns);
  uint32_t across = (uint32_t)((ns + strip - 1) / strip);
  r->strip = mt_divisor_of(strip);
  r->along = mt_divisor_of(along);
  r->across = mt_divisor_of(across);
  return !mt_mulo((int64_t)across * strip, along, blocks) &&
         !mt_mulo(*blocks, d->rests, blocks) && *blocks <= INT32_MAX;
}

/* ---------------------------------------------------------------- making */

static bool is_long (const mt_run *r, int64_t bytes, char *why) {
  static const char *const names[] = {"src", "dst"};
  if (r->length <= INT32_MAX / 2 && r->length * bytes >= MT_SHORTRUN) return true;
  snprintf(why, MT_REASON, "a run of %s has %lld accesses of %lld bytes", names[r->side],
           (long long)r->length, (long long)bytes);
  return false;
}

/* Both runs, if there are two and they are long enough. */
static bool find_runs (mt_run r[2], mt_axes mode[3], const mt_desc *d, char *why) {
  int64_t bytes = (int64_t)d->vec * d->elem;
  for (int i = 0; i < 2; i++) {
    if (!mt_axes_take(&mode[2], &mode[i], i, d->vec)) return false;
    r[i].length = mode[i].axis[0].extent;
  }
  extend_both(r, mode, d->vec);
  return is_long(&r[0], bytes, why) && is_long(&r[1], bytes, why);
}

static bool make_tiles (mt_launch *l, mt_axes mode[3], mt_algorithm algo, char *why) {
  mt_desc probe = l->desc;
  int64_t n;
  probe.algo = algo;
  mt_run r[2] = {{.side = MT_SRC, .tile = tile_of(&probe, MT_SRC)},
                 {.side = MT_DST, .tile = tile_of(&probe, MT_DST)}};
  if (!find_runs(r, mode, &probe, why)) return false;
  if (is_aligned(l, mode) ? algo == MT_ALGO_TRANSPOSE_UNALIGNED && !may_tear(l, mode) :
                            algo == MT_ALGO_TRANSPOSE)
    return false;
  probe.threads = r[0].length;
  probe.values = r[1].length;
  probe.rests /= probe.threads * probe.values;
  l->desc.algo = algo;
  if (find_raster(&l->desc.raster, &n, &probe)) return true;
  snprintf(why, MT_REASON, "more than 2^31 tiles");
  return false;
}

static bool tile_make (mt_launch *l, mt_axes mode[3], const mt_search *search,
                       char *why) {
  (void)search;
  return make_tiles(l, mode, MT_ALGO_TRANSPOSE, why);
}

static bool unaligned_make (mt_launch *l, mt_axes mode[3], const mt_search *search,
                            char *why) {
  (void)search;
  return make_tiles(l, mode, MT_ALGO_TRANSPOSE_UNALIGNED, why);
}

/* ---------------------------------------------------------------- checking */

/* Axes [first, first + n) are a run of the side. */
static bool is_run (const mt_desc *d, int side, uint32_t first, uint32_t n) {
  int64_t stride = d->vec;
  for (uint32_t i = first; i < first + n; i++) {
    if (d->axis[i].stride[side] != stride || mt_mulo(stride, d->axis[i].extent, &stride))
      return false;
  }
  return n > 0;
}

static mt_status tile_check (const mt_launch *l, mt_err *err) {
  const mt_desc *d = &l->desc;
  mt_axes mode[3];
  mt_raster raster;
  int64_t n;
  MT_TRY(mt_check_runs(d, err));
  MT_CHECK(find_raster(&raster, &n, d), err, "more than 2^31 tiles");
  MT_CHECK(is_run(d, MT_SRC, 0, d->nthr), err, "the thread axes are no run of src");
  MT_CHECK(is_run(d, MT_DST, d->nthr, d->nval), err, "the value axes are no run of dst");
  MT_CHECK(memcmp(&raster, &d->raster, sizeof raster) == 0, err, "a wrong raster");
  mt_axes_get(mode, d);
  MT_CHECK(d->algo == MT_ALGO_TRANSPOSE_UNALIGNED || is_aligned(l, mode), err,
           "a row does not begin at a multiple of 16 bytes");
  return MT_OK;
}

/* ---------------------------------------------------------------- cost */

static int64_t min_of (int64_t a, int64_t b) { return a < b ? a : b; }

/* Rows of a tile along this axis lie far apart. */
static bool is_far (const mt_desc *d, uint32_t axis, int side) {
  uint64_t bytes = mt_magnitude(d->axis[axis].stride[side]) * MT_ELEM(d, side);
  return (double)bytes >= mt_h200.tile_far_from;
}

/* All rows of the destination begin with sectors. */
static bool has_sectors (const mt_launch *l) {
  const mt_desc *d = &l->desc;
  uint64_t all = 0;
  for (uint32_t i = 0; i < d->nthr + d->nval + d->nrest; i++)
    if (i < d->nthr || i >= d->nthr + d->nval)
      all |= (uint64_t)d->axis[i].stride[MT_DST] * MT_ELEM(d, MT_DST);
  return all % MT_SECTORBYTES == 0 && mt_begins(l, MT_DST, MT_SECTORBYTES);
}

/* Of unaligned tiles what is empty along the source takes two thirds of the time; where
** rows of the destination are aligned they take longer than others. Aligned
** ones of small units take longer where rows of both sides lie far apart. */
static void tile_cost (mt_cost *c, const mt_launch *l) {
  const mt_desc *d = &l->desc;
  int64_t tile[2] = {tile_of(d, MT_SRC), tile_of(d, MT_DST)};
  double s = mt_part_used(d->threads, tile[0]), t = mt_part_used(d->values, tile[1]);
  bool unaligned = d->algo == MT_ALGO_TRANSPOSE_UNALIGNED && d->cast == 0;
  const uint32_t axes = d->nthr + d->nval;
  uint32_t run = mt_axis_bits(0, d->nthr), row = mt_axis_bits(d->nthr, d->nval);
  c->traffic = mt_in_pieces(l, MT_SRC, min_of(d->threads, tile[0]), run) +
               mt_in_pieces(l, MT_DST, min_of(d->values, tile[1]), row);
  mt_set_used(c, (unaligned ? 1 - mt_h200.tile_unaligned_empty * (1 - s) : s) * t);
  c->used = s * t;
  if (d->nthr + d->nval > 2)
    c->least = (double)mt_accesses(d) * (double)mt_wide_unit(d) / 16 / c->used * axes *
               mt_h200.tile_axis;
  if (d->algo == MT_ALGO_TRANSPOSE) {
    const int64_t length = min_of(d->values, tile[1]);
    const double bytes = (double)(length * mt_unit_of(d, MT_DST));
    c->slow += mt_torn(l, row, length, mt_h200.tile_torn / bytes);
    if (mt_wide_unit(d) < 4 && is_far(d, 0, MT_DST) && is_far(d, d->nthr, MT_SRC))
      c->slow += mt_h200.tile_far;
    return;
  }
  c->slow += mt_by_width(mt_h200.tile_unaligned_unit, mt_wide_unit(d)) - 1 +
             mt_by_width(mt_h200.tile_unaligned_end, mt_wide_unit(d)) /
                 (double)(d->values * mt_unit_of(d, MT_DST));
  if (has_sectors(l)) c->slow += mt_h200.tile_unaligned_even;
  if (d->nrest > 0) c->slow += mt_h200.tile_unaligned_rest;
  if (axes > 2) c->slow += (axes - 2) * mt_h200.tile_unaligned_axes;
}

/* Tiles that are full, of long rows. */
static void unaligned_least (mt_cost *c, const mt_launch *l) {
  const double unit = mt_by_width(mt_h200.tile_unaligned_unit, mt_wide_unit(&l->desc));
  if (unit < 1) c->slow = unit;
}

/* ---------------------------------------------------------------- kernels */

/* Rows of large tiles, and of others. */
static bool tile_suits (const mt_kernel *k, const mt_desc *d) {
  return k->bytes == 0 || k->unroll == 1 + mt_tile_is_large(d);
}

static mt_grid tile_grid (const mt_kernel *k, const mt_desc *d) {
  mt_raster r;
  int64_t n;
  return mt_grid_of(k, find_raster(&r, &n, d) ? n : 0);
}

const mt_algo mt_algo_transpose =
    {.name = "transpose",
     .needs = "is for two runs whose rows begin at multiples of 16 bytes",
     .make = tile_make,
     .check = tile_check,
     .cost = tile_cost,
     .suits = tile_suits,
     .grid = tile_grid,
     .thread = "run of src",
     .value = "run of dst"};

const mt_algo mt_algo_transpose_unaligned =
    {.name = "transpose_unaligned",
     .needs = "is for two runs whose rows begin anywhere",
     .make = unaligned_make,
     .check = tile_check,
     .cost = tile_cost,
     .least = unaligned_least,
     .grid = tile_grid,
     .thread = "run of src",
     .value = "run of dst"};
