/*
** mt_choice.c - what copies cost: sectors that warps touch, tiles that are filled; the
** cheapest way.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "mt_choice.h"

enum {
  MT_SAMPLES = 8,               /* warps that are looked at */
  MT_MOSTWASTE = 16             /* sectors that lie near each other meet in the caches:
                                ** no more than so many times what is wanted is moved */
};

/* Microseconds of a launch; bytes of a microsecond; from which part of its tiles on a copy
** is as fast as with whole ones. */
#define MT_LAUNCH_US 3.0
#define MT_SPEED 4.2e6
#define MT_USED 0.75

/* What of that speed a form reaches with whole tiles. */
static const double speed_of[MT_NFORM] = {
  [MT_FORM_TV] = 1.0,
  [MT_FORM_FLAT] = 1.0,
  [MT_FORM_TILE] = 0.97,
  [MT_FORM_SHEAR] = 0.84,
  [MT_FORM_PACK] = 1.0
};

/* ---------------------------------------------------------------- accesses of a warp */

/* An index of all axes, the first fastest, and its offsets. */
typedef struct mt_cursor {
  uint32_t n;
  int64_t digit[MT_MAXAXIS], at[2];
} mt_cursor;

static void go_to (mt_cursor *c, const mt_desc *d, int64_t index) {
  c->n = d->nthr + d->nval + d->nrest;
  c->at[MT_SRC] = c->at[MT_DST] = 0;
  for (uint32_t i = 0; i < c->n; i++) {
    const mt_axis *a = &d->axis[i];
    c->digit[i] = index % a->extent;
    index /= a->extent;
    for (int side = 0; side < 2; side++) c->at[side] += c->digit[i] * a->stride[side];
  }
}

static void step (mt_cursor *c, const mt_desc *d) {
  for (uint32_t i = 0; i < c->n; i++) {
    const mt_axis *a = &d->axis[i];
    bool more = ++c->digit[i] < a->extent;
    int64_t by = more ? 1 : 1 - a->extent;
    for (int side = 0; side < 2; side++) c->at[side] += by * a->stride[side];
    if (more) return;
    c->digit[i] = 0;
  }
}

static uint64_t address (const mt_launch *l, int side) {
  return (uint64_t)(uintptr_t)l->base[side] +
         (uint64_t)l->offset[side] * l->desc.elem;
}

static int64_t accesses (const mt_desc *d) {
  int64_t n;
  bool over = mt_mulo(d->threads, d->values, &n) || mt_mulo(n, d->rests, &n);
  return over ? INT64_MAX : n;
}

/* Sectors of both sides that the warp's accesses from `first` on touch. */
static void touch (int64_t sectors[2], const mt_launch *l, int64_t first, int n) {
  uint64_t seen[2][MT_WARP];
  mt_cursor c;
  sectors[0] = sectors[1] = 0;
  go_to(&c, &l->desc, first);
  for (int i = 0; i < n; i++, step(&c, &l->desc))
    for (int side = 0; side < 2; side++) {
      uint64_t s = (address(l, side) + (uint64_t)c.at[side] * l->desc.elem) / MT_SECTORBYTES;
      int64_t k = sectors[side];
      while (k > 0 && seen[side][k - 1] != s) k--;
      if (k == 0) seen[side][sectors[side]++] = s;
    }
}

/* FLAT, TV: what some warps touch, for all. */
static double sampled (const mt_launch *l) {
  int64_t all = accesses(&l->desc), warps = (all - 1) / MT_WARP + 1;
  int64_t samples = warps < MT_SAMPLES ? warps : MT_SAMPLES, looked = 0, sectors[2];
  int64_t unit = (int64_t)l->desc.vec * l->desc.elem;
  double bytes[2] = {0, 0}, sum = 0;
  for (int64_t i = 0; i < samples; i++) {
    int64_t first = (samples == 1 ? 0 : (warps - 1) / (samples - 1) * i) * MT_WARP;
    int n = all - first < MT_WARP ? (int)(all - first) : MT_WARP;
    touch(sectors, l, first, n);
    looked += n;
    for (int side = 0; side < 2; side++)
      bytes[side] += (double)(sectors[side] * MT_SECTORBYTES);
  }
  for (int side = 0; side < 2; side++) {
    double most = (double)(looked * unit * MT_MOSTWASTE);
    sum += (bytes[side] < most ? bytes[side] : most) * ((double)all / (double)looked);
  }
  return sum;
}

/* ---------------------------------------------------------------- rows of tiles */

static int64_t min_of (int64_t a, int64_t b) { return a < b ? a : b; }

/* The largest power of two, a sector at most, that divides where the rows of a side begin:
** axes [first, first + n) are its run. */
static int64_t grain (const mt_launch *l, int side, uint32_t first, uint32_t n) {
  const mt_desc *d = &l->desc;
  uint64_t all = address(l, side) | MT_SECTORBYTES;
  for (uint32_t i = 0; i < d->nthr + d->nval + d->nrest; i++)
    if (i < first || i >= first + n) all |= (uint64_t)d->axis[i].stride[side] * d->elem;
  return (int64_t)(all & (0 - all));
}

/* All in pieces of rows of so many accesses, which begin at multiples of `at` bytes: the
** sectors of a piece, on the average. */
static double in_pieces (const mt_desc *d, int64_t length, int64_t at) {
  int64_t unit = (int64_t)d->vec * d->elem, bytes = length * unit;
  int64_t whole = (bytes + MT_SECTORBYTES - 1) / MT_SECTORBYTES * MT_SECTORBYTES;
  int64_t any = bytes + MT_SECTORBYTES - at;
  return (double)accesses(d) / (double)length * (double)(any > whole ? any : whole);
}

static double tiled (const mt_launch *l) {
  const mt_desc *d = &l->desc;
  return in_pieces(d, min_of(d->threads, mt_tile_length(d, MT_SRC)),
                   grain(l, MT_SRC, 0, d->nthr)) +
         in_pieces(d, min_of(d->values, mt_tile_length(d, MT_DST)),
                   grain(l, MT_DST, d->nthr, d->nval));
}

/* PACK: a piece is whole on the packed side, rows of it lie on the other. */
static double packed (const mt_launch *l) {
  const mt_desc *d = &l->desc;
  int64_t piece = min_of(d->values, mt_tile_length(d, MT_SRC));
  int side = d->axis[0].stride[MT_SRC] == d->vec ? MT_SRC : MT_DST;
  return in_pieces(d, piece * d->threads, grain(l, side, 0, 2)) +
         in_pieces(d, piece, grain(l, 1 - side, 1, 1));
}

/* What of the tiles along a run of n accesses is used. */
static double used (int64_t n, int64_t tile) {
  return (double)n / (double)((n + tile - 1) / tile * tile);
}

/* ---------------------------------------------------------------- costs */

void mt_cost_of (mt_cost *out, const mt_launch *l) {
  const mt_desc *d = &l->desc;
  *out = (mt_cost){0, 1, MT_LAUNCH_US};
  if (accesses(d) == 0) return;
  if (d->form == MT_FORM_TILE || d->form == MT_FORM_SHEAR) {
    out->traffic = tiled(l);
    out->used = used(d->threads, mt_tile_length(d, MT_SRC)) *
                used(d->values, mt_tile_length(d, MT_DST));
  } else if (d->form == MT_FORM_PACK) {
    out->traffic = packed(l);
    out->used = used(d->values, mt_tile_length(d, MT_SRC));
  } else {
    out->traffic = sampled(l);
  }
  double speed = MT_SPEED * speed_of[d->form];
  if (out->used < MT_USED) speed *= out->used / MT_USED;
  out->us += out->traffic / speed;
}

/* ---------------------------------------------------------------- choosing */

static void say_slower (mt_narrow *why, const mt_cost *tiles, const mt_cost *flat) {
  snprintf(why->tile, sizeof why->tile, "%.0f %% of its tiles would be used: %.1f us "
           "predicted, %.1f us without", 100 * tiles->used, tiles->us, flat->us);
}

void mt_cheapest (mt_launch *wide, mt_narrow *why) {
  mt_launch best = *wide;
  mt_cost flat, least;
  bool known = false;
  for (int way = 0; way < MT_TILEWAYS; way++) {
    char reason[MT_REASON];
    mt_launch l = *wide;
    mt_cost cost;
    bool there = mt_tile_form(&l, way, reason);
    if (!there && reason[0]) snprintf(why->tile, sizeof why->tile, "%s", reason);
    if (!there) continue;
    if (!known) mt_cost_of(&flat, wide), least = flat, known = true;
    mt_cost_of(&cost, &l);
    if (cost.us < least.us) best = l, least = cost, why->tile[0] = 0;
    else if (least.us == flat.us) say_slower(why, &cost, &flat);
  }
  if (best.desc.form != MT_FORM_FLAT) why->tile[0] = 0;
  *wide = best;
}

/* ---------------------------------------------------------------- options */

static bool flat_by (mt_launch *l, uint32_t width) {
  mt_narrow why;
  mt_err err = MT_NOERR;
  return mt_widen_to(l, &why, NULL, width, &err) == MT_OK &&
         l->desc.vec * l->desc.elem == width;
}

/* The copy in this way; false if it cannot be done so. */
static bool make_way (mt_launch *l, int way) {
  char reason[MT_REASON];
  mt_narrow why;
  mt_err err = MT_NOERR;
  if (way < MT_MAXWIDTH) return flat_by(l, 1u << (MT_MAXWIDTH - 1) >> way);
  return l->desc.rests > 0 && mt_widen(l, &why, NULL, &err) == MT_OK &&
         mt_tile_form(l, way - MT_MAXWIDTH, reason);
}

static bool next_row (mt_option *o, const mt_plan *p) {
  const mt_backend *b = p->device->backend;
  const mt_kernel *first = o->kernel ? o->kernel + 1 : b->kernels;
  mt_why why = {{0}, 0};
  o->kernel = mt_kernel_choose(first, (size_t)(b->kernels + *b->nkernels - first),
                               &o->launch.desc, &o->grid, &why);
  return o->kernel != NULL;
}

static bool next_partitioned (mt_option *o, const mt_plan *p) {
  o->launch = p->launch;
  return next_row(o, p);
}

bool mt_option_next (mt_option *o, const mt_plan *p) {
  if (p->launch.desc.op != MT_OP_COPY || p->device->backend->prepare) return false;
  if (p->launch.desc.form == MT_FORM_TV) return next_partitioned(o, p);
  if (o->kernel && next_row(o, p)) return true;
  for (o->way += o->launch.desc.elem != 0; o->way < MT_WAYS; o->way++) {
    o->launch = p->first;
    if (make_way(&o->launch, o->way) && next_row(o, p)) return true;
  }
  return false;
}
