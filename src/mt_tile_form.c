/*
** mt_tile_form.c - copies whose runs lie along different axes: tiles of both runs.
** SPDX-License-Identifier: MIT
**
** A run of a side is a list of axes that continue one another there, from stride `vec`
** on: index i of the run lies i accesses on. Every axis is in one run at most.
*/
#include <stdio.h>

#include "mt_axes.h"
#include "mt_check.h"
#include "mt_plan.h"
#include "mt_turn.h"

enum {
  MT_SHORTRUN = 32,             /* bytes: below, tiles waste more than they give */
  MT_SMALLPIECE = 2048,         /* bytes: below, a block has too little to do */
  MT_STRIP = 8, MT_FEWTILES = 2,  /* tiles of a strip at most */
  MT_FARROW = 16384,            /* bytes of a row of the destination: it is long */
  MT_ALONG = 8,                 /* sheared tiles along dst: from so many on no strips */
  MT_KEPT = 16 << 20,           /* bytes that the L2 keeps while as many are written */
  MT_MANYTILES = 4,             /* a run of so many tiles needs no further axis */
  MT_LONGRUN = 1024             /* accesses: from here on half a tile is no loss */
};

typedef struct mt_run {
  int side;
  int64_t length, tile;         /* accesses of the run, of a tile */
  bool whole;                   /* no axis continues it */
} mt_run;

/* Takes the axis with this stride on the side out of the list; false if there is none. */
static bool take (mt_axes *from, mt_axes *to, int side, int64_t stride) {
  for (int i = 0; i < from->n; i++) {
    if (from->axis[i].stride[side] != stride) continue;
    to->axis[to->n++] = from->axis[i];
    memmove(from->axis + i, from->axis + i + 1,
            (size_t)(--from->n - i) * sizeof from->axis[0]);
    return true;
  }
  return false;
}

/* ---------------------------------------------------------------- runs */

static void extend (mt_run *r, mt_axes *from, mt_axes *to, int64_t vec) {
  int64_t stride, length;
  r->whole = true;
  if (r->length >= MT_MANYTILES * r->tile || mt_mulo(r->length, vec, &stride) ||
      !take(from, to, r->side, stride))
    return;
  r->whole = false;
  if (mt_mulo(r->length, to->axis[to->n - 1].extent, &length)) length = INT64_MAX;
  r->length = length;
}

/* The runs of both sides, the one with fewer tiles extended first. */
static void extend_both (mt_run r[2], mt_axes mode[3], int64_t vec) {
  while (!r[0].whole || !r[1].whole) {
    bool first = !r[0].whole &&
                 (r[1].whole || r[0].length / r[0].tile <= r[1].length / r[1].tile);
    int i = first ? 0 : 1;
    extend(&r[i], &mode[2], &mode[i], vec);
  }
}

/* All strides of the side but those of its run are multiples of so many bytes. */
static bool divides (const mt_axes *a, int side, int64_t elem, int64_t by) {
  for (int i = 0; i < a->n; i++)
    if (a->axis[i].extent > 1 && a->axis[i].stride[side] * elem % by != 0) return false;
  return true;
}

static bool begins (const mt_launch *l, int side, uint64_t by) {
  uint64_t at = (uint64_t)(uintptr_t)l->base[side] +
                (uint64_t)l->offset[side] * MT_ELEM(&l->desc, side);
  return at % by == 0;
}

static bool is_aligned (const mt_launch *l, const mt_axes mode[3]) {
  int64_t src = l->desc.elem, dst = MT_ELEM(&l->desc, MT_DST);
  return begins(l, MT_SRC, 16) && begins(l, MT_DST, 16) &&
         divides(&mode[2], MT_SRC, src, 16) && divides(&mode[2], MT_DST, dst, 16) &&
         divides(&mode[1], MT_SRC, src, 16) && divides(&mode[0], MT_DST, dst, 16);
}

/* Sheared tiles, which write whole sectors, may be better though rows are aligned: those
** of two axes, which take the fewest instructions. */
static bool may_tear (const mt_launch *l, const mt_axes mode[3]) {
  int64_t dst = MT_ELEM(&l->desc, MT_DST), unit = (int64_t)l->desc.vec * dst;
  bool whole = begins(l, MT_DST, MT_SECTORBYTES) &&
               divides(&mode[2], MT_DST, dst, MT_SECTORBYTES) &&
               divides(&mode[0], MT_DST, dst, MT_SECTORBYTES);
  bool simple = mode[0].n == 1 && mode[1].n == 1;
  return !l->desc.cast && MT_SHEAR_OWN(unit) == 6 && simple && !whole;
}

/* The same where both axes are the run of `packed`, and the second that of the other. */
static bool is_pack_aligned (const mt_launch *l, const mt_axes mode[3], int packed) {
  int64_t elem = l->desc.elem;
  return begins(l, MT_SRC, 16) && begins(l, MT_DST, 16) &&
         divides(&mode[2], MT_SRC, elem, 16) &&
         divides(&mode[2], MT_DST, elem, 16) && divides(&mode[0], 1 - packed, elem, 16);
}

static bool count_pieces (int64_t *out, const mt_desc *d) {
  int64_t piece = MT_PACK_PIECE(d->vec * d->elem, d->threads);
  return !mt_mulo((d->values + piece - 1) / piece, d->rests, out) && *out <= INT32_MAX;
}

static void divisor (uint32_t n, uint32_t *mul, uint32_t *shift) {
  mt_axis a = {.extent = n};
  mt_divisor(&a);
  *mul = a.mul;
  *shift = a.shift;
}

/* Large tiles are twice as long along one side. */
bool mt_tile_is_large (const mt_desc *d) {
  int64_t bytes = (int64_t)d->vec * d->elem;
  bool along_src = MT_LARGE_S(bytes) > MT_TILE_S(bytes);
  int64_t run = along_src ? d->threads : d->values;
  int64_t half = along_src ? MT_TILE_S(bytes) : MT_TILE_D(bytes);
  return d->form == MT_FORM_TILE && d->cast == 0 && MT_LARGE(bytes) &&
         (run >= MT_LONGRUN || (run - 1) / half % 2 == 1);
}

/* Accesses that a tile moves along the run of the side. */
static int64_t tile_of (const mt_desc *d, int side) {
  int64_t bytes = (int64_t)d->vec * d->elem;
  bool sheared = d->form == MT_FORM_SHEAR;
  if (d->cast && sheared)
    return side == MT_SRC ? MT_CAST_SHEAR_S(d->elem, d->to)
                          : MT_CAST_SHEAR_D(d->elem, d->to);
  if (d->cast) return side == MT_SRC ? MT_CAST_TILE_S(d->elem, d->to)
                                     : MT_CAST_TILE_D(d->elem, d->to);
  if (sheared)
    return side == MT_SRC ? MT_SHEAR_S(bytes) : MT_SHEAR_D(bytes);
  if (mt_tile_is_large(d)) return side == MT_SRC ? MT_LARGE_S(bytes) : MT_LARGE_D(bytes);
  return side == MT_SRC ? MT_TILE_S(bytes) : MT_TILE_D(bytes);
}

int64_t mt_tile_length (const mt_desc *d, int side) {
  if (d->form == MT_FORM_PACK) return MT_PACK_PIECE(d->vec * d->elem, d->threads);
  return tile_of(d, side);
}

/* Strips of as many tiles each, without one tile more than that takes; aligned ones of
** long rows of the destination in narrow strips, which write fewer rows at a time. */
static uint32_t even_strip (const mt_desc *d, int64_t tiles) {
  int64_t row = d->values * d->vec * MT_ELEM(d, MT_DST);
  int64_t most = d->form == MT_FORM_TILE && row >= MT_FARROW ? MT_FEWTILES : MT_STRIP;
  int64_t strips = (tiles + most - 1) / most;
  return strips > 0 ? (uint32_t)((tiles + strips - 1) / strips) : 1;
}

/* Tiles that are neighbours share lines of memory at the ends of their rows. Sheared ones
** go along the destination if there are many: those they share there are written by
** both. What is read on the way must stay in the L2 for the neighbours along the source:
** else these go together. */
static bool goes_along (const mt_desc *d, uint32_t along) {
  int64_t bytes = (int64_t)d->vec * d->elem * tile_of(d, MT_SRC) + MT_SECTORBYTES;
  return d->form == MT_FORM_SHEAR && along >= MT_ALONG &&
         d->values <= MT_KEPT / bytes;
}

/* Whole tiles, ragged ones and, sheared, those that overlap. */
static bool find_raster (mt_raster *r, int64_t *blocks, const mt_desc *d) {
  bool sheared = d->form == MT_FORM_SHEAR;
  int64_t bytes = (int64_t)d->vec * MT_ELEM(d, MT_DST);
  int64_t more = !sheared ? 0 : d->cast ? 16 / bytes : MT_SHEAR_BEFORE(bytes);
  int64_t s = tile_of(d, MT_SRC), t = tile_of(d, MT_DST);
  int64_t ns = (d->threads + s - 1) / s;
  memset(r, 0, sizeof *r);
  r->along = (uint32_t)((d->values + more + t - 1) / t);
  r->strip = goes_along(d, r->along) ? 1 : even_strip(d, ns);
  r->across = (uint32_t)((ns + r->strip - 1) / r->strip);
  divisor(r->strip, &r->strip_mul, &r->strip_shift);
  divisor(r->along, &r->along_mul, &r->along_shift);
  divisor(r->across, &r->across_mul, &r->across_shift);
  int64_t strips = (int64_t)r->across * r->strip;
  return !mt_mulo(strips, r->along, blocks) && !mt_mulo(*blocks, d->rests, blocks) &&
         *blocks <= INT32_MAX;
}

static bool count_tiles (int64_t *out, const mt_desc *d) {
  mt_raster r;
  if (d->form == MT_FORM_BOX || d->form == MT_FORM_SKEW)
    return (*out = d->rests) <= INT32_MAX;
  if (d->form == MT_FORM_PACK) return count_pieces(out, d);
  return find_raster(&r, out, d);
}

int64_t mt_tile_count (const mt_desc *d) {
  int64_t n = 0;
  return count_tiles(&n, d) ? n : 0;
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
    if (!take(&mode[2], &mode[i], i, d->vec)) return false;
    r[i].length = mode[i].axis[0].extent;
  }
  extend_both(r, mode, d->vec);
  return is_long(&r[0], bytes, why) && is_long(&r[1], bytes, why);
}

static bool make_tiles (mt_launch *l, mt_axes mode[3], mt_form form, char *why) {
  mt_desc probe = l->desc;
  int64_t n;
  probe.form = form;
  mt_run r[2] = {{.side = MT_SRC, .tile = tile_of(&probe, MT_SRC)},
                 {.side = MT_DST, .tile = tile_of(&probe, MT_DST)}};
  if (!find_runs(r, mode, &probe, why)) return false;
  if (is_aligned(l, mode) ? form == MT_FORM_SHEAR && !may_tear(l, mode)
                          : form == MT_FORM_TILE)
    return false;
  probe.threads = r[0].length;
  probe.values = r[1].length;
  probe.rests /= probe.threads * probe.values;
  if (!count_tiles(&n, &probe)) {
    snprintf(why, MT_REASON, "more than 2^31 tiles");
    return false;
  }
  l->desc.form = form;
  return find_raster(&l->desc.raster, &n, &probe);
}

/* The short axis, first on the packed side, and the long one, first on the other. */
static bool make_packed (mt_launch *l, mt_axes mode[3], int packed) {
  int64_t vec = l->desc.vec;
  if (!take(&mode[2], &mode[0], packed, vec)) return false;
  mt_axis c = mode[0].axis[0];
  if (c.extent > MT_PACK_MOST || !take(&mode[2], &mode[1], 1 - packed, vec)) return false;
  mt_axis w = mode[1].axis[0];
  if (c.stride[1 - packed] == vec || w.stride[packed] != c.extent * vec ||
      w.extent > INT32_MAX / 2 ||
      c.extent * w.extent * vec * l->desc.elem < MT_SMALLPIECE ||
      !is_pack_aligned(l, mode, packed))
    return false;
  l->desc.form = MT_FORM_PACK;
  return true;
}

bool mt_tile_make (mt_launch *l, mt_axes mode[3], char *why) {
  return make_tiles(l, mode, MT_FORM_TILE, why);
}

bool mt_shear_make (mt_launch *l, mt_axes mode[3], char *why) {
  return make_tiles(l, mode, MT_FORM_SHEAR, why);
}

bool mt_pack_make (mt_launch *l, mt_axes mode[3], char *why) {
  const mt_axes all = mode[2];
  (void)why;
  for (int side = 0; side < 2; side++) {
    mode[0].n = mode[1].n = 0;
    mode[2] = all;
    if (make_packed(l, mode, side)) return true;
  }
  return false;
}

/* ---------------------------------------------------------------- checking */

/* Axes [first, first + n) are a run of the side. */
static bool is_run (const mt_desc *d, int side, uint32_t first, uint32_t n) {
  int64_t stride = d->vec;
  for (uint32_t i = first; i < first + n; i++) {
    if (d->axis[i].stride[side] != stride ||
        mt_mulo(stride, d->axis[i].extent, &stride))
      return false;
  }
  return n > 0;
}

static mt_status check_pack (const mt_launch *l, mt_err *err) {
  const mt_desc *d = &l->desc;
  int64_t vec = d->vec, packed = d->axis[0].stride[MT_SRC] == vec ? MT_SRC : MT_DST;
  mt_axes mode[3];
  MT_CHECK(d->nthr == 1 && d->nval == 1 && d->threads <= MT_PACK_MOST, err,
           "a packed copy has one short axis and one long one");
  const mt_axis *c = &d->axis[0], *w = &d->axis[1];
  MT_CHECK(c->stride[packed] == vec && w->stride[packed] == c->extent * vec &&
           w->stride[1 - packed] == vec && c->stride[1 - packed] != vec, err,
           "the axes are no packed run");
  mt_axes_get(mode, d);
  MT_CHECK(is_pack_aligned(l, mode, (int)packed), err,
           "a row does not begin at a multiple of 16 bytes");
  return MT_OK;
}

static mt_status check_box (const mt_launch *l, mt_err *err) {
  const mt_desc *d = &l->desc;
  mt_axes mode[3];
  mt_axes_get(mode, d);
  MT_CHECK(begins(l, MT_SRC, 16) && begins(l, MT_DST, 16) &&
           divides(&mode[2], MT_SRC, d->elem, 16) &&
           divides(&mode[2], MT_DST, d->elem, 16), err,
           "a box does not begin at a multiple of 16 bytes");
  return mt_turn_check(d, err);
}

mt_status mt_check_tile (const mt_launch *l, mt_err *err) {
  const mt_desc *d = &l->desc;
  mt_axes mode[3];
  mt_raster raster;
  int64_t n;
  MT_CHECK(d->nbound == 0, err, "a tiled copy has no bounds");
  MT_CHECK(d->threads <= INT32_MAX / 2 && d->values <= INT32_MAX / 2, err,
           "runs of %lld and %lld accesses", (long long)d->threads, (long long)d->values);
  MT_CHECK(count_tiles(&n, d), err, "more than 2^31 tiles");
  if (d->form == MT_FORM_PACK) return check_pack(l, err);
  if (d->form == MT_FORM_BOX) return check_box(l, err);
  MT_CHECK(is_run(d, MT_SRC, 0, d->nthr), err, "the thread axes are no run of src");
  MT_CHECK(is_run(d, MT_DST, d->nthr, d->nval), err, "the value axes are no run of dst");
  find_raster(&raster, &n, d);
  MT_CHECK(memcmp(&raster, &d->raster, sizeof raster) == 0, err, "a wrong raster");
  mt_axes_get(mode, d);
  MT_CHECK(d->form == MT_FORM_SHEAR || is_aligned(l, mode), err,
           "a row does not begin at a multiple of 16 bytes");
  return MT_OK;
}
