/*
** mt_forms.c - the forms of copies: how each is made of a flat one, what memory moves for
** it, how fast it is.
** SPDX-License-Identifier: MIT
**
** Figures are those of an H200 (bench/RESULTS.md). What is counted: sectors of 32 bytes
** that are touched, and what a form does beside moving them.
*/
#include <stdio.h>

#include "mt_choice.h"
#include "mt_flip.h"
#include "mt_turn.h"

enum { MT_SAMPLES = 4 };        /* warps that are looked at */

/* Microseconds of a launch; bytes of a microsecond. */
#define MT_LAUNCH_US 2.2
#define MT_SKEW_US 1.2            /* a block that makes its tables */
#define MT_SPEED 4.3e6

/* Microseconds: of an axis of an access that has a place of its own; of an end of a row,
** for each element that is written alone. */
#define MT_AXIS_US 1.7e-6
#define MT_END_US 1.1e-5

/* Flat copies: sectors beyond those that are wanted meet in the caches, which are faster
** than memory by this factor; ends of rows, in bytes that would take as long; what
** accesses below 16 bytes reach. */
#define MT_CACHED 0.86
#define MT_ROWEND 6.0
#define MT_NARROW 0.94

/* From which part of its tiles on a copy is as fast as with whole ones. */
#define MT_USED 0.85

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

static uint64_t address (const mt_launch *l, int side, int64_t at) {
  return (uint64_t)(uintptr_t)l->base[side] +
         (uint64_t)mt_element_of(l, side, at) * MT_ELEM(&l->desc, side);
}

/* Bytes of an access on a side, on the wider one, on both. */
static int64_t unit_of (const mt_desc *d, int side) {
  return (int64_t)d->vec * MT_ELEM(d, side);
}

static int64_t wide_unit (const mt_desc *d) {
  int64_t src = unit_of(d, MT_SRC), dst = unit_of(d, MT_DST);
  return src > dst ? src : dst;
}

static double both_units (const mt_desc *d) {
  return (double)(unit_of(d, MT_SRC) + unit_of(d, MT_DST));
}

static int64_t accesses (const mt_desc *d) {
  int64_t n;
  bool over = mt_mulo(d->threads, d->values, &n) || mt_mulo(n, d->rests, &n);
  return over ? INT64_MAX : n;
}

/* What warps touch of a side: sectors, and runs of them. */
typedef struct mt_touched { int64_t sectors, runs; } mt_touched;

/* Sectors of a warp's accesses on one side, in order. */
typedef struct mt_seen {
  int n;
  uint64_t at[MT_WARP];
} mt_seen;

/* Mostly they come in order. */
static void add_sector (mt_seen *x, uint64_t s) {
  int i = x->n;
  while (i > 0 && x->at[i - 1] > s) i--;
  if (i > 0 && x->at[i - 1] == s) return;
  memmove(x->at + i + 1, x->at + i, (size_t)(x->n++ - i) * sizeof x->at[0]);
  x->at[i] = s;
}

/* The warp's accesses from `first` on. */
static void touch (mt_touched t[2], const mt_launch *l, int64_t first, int lanes) {
  mt_seen seen[2];
  mt_cursor c;
  seen[0].n = seen[1].n = 0;
  go_to(&c, &l->desc, first);
  for (int i = 0; i < lanes; i++, step(&c, &l->desc))
    for (int side = 0; side < 2; side++)
      add_sector(&seen[side], address(l, side, c.at[side]) / MT_SECTORBYTES);
  for (int side = 0; side < 2; side++) {
    const mt_seen *x = &seen[side];
    t[side].sectors += x->n;
    for (int i = 0; i < x->n; i++) t[side].runs += i == 0 || x->at[i] - x->at[i - 1] > 1;
  }
}

/* Some warps, for all: returns of how many. */
static int64_t sample (mt_touched t[2], double *all, const mt_launch *l) {
  int64_t n = accesses(&l->desc), warps = (n - 1) / MT_WARP + 1, looked = 0;
  int64_t samples = warps < MT_SAMPLES ? warps : MT_SAMPLES;
  t[0] = t[1] = (mt_touched){0, 0};
  for (int64_t i = 0; i < samples; i++) {
    int64_t first = (samples == 1 ? 0 : (warps - 1) / (samples - 1) * i) * MT_WARP;
    int lanes = n - first < MT_WARP ? (int)(n - first) : MT_WARP;
    touch(t, l, first, lanes);
    looked += lanes;
  }
  *all = (double)n / (double)looked;
  return samples;
}

static double traffic_of (const mt_touched t[2], double all) {
  return all * (double)((t[0].sectors + t[1].sectors) * MT_SECTORBYTES);
}

static void tv_cost (mt_cost *c, const mt_launch *l) {
  mt_touched t[2];
  double all;
  sample(t, &all, l);
  c->traffic = traffic_of(t, all);
}

static void flat_cost (mt_cost *c, const mt_launch *l) {
  const mt_desc *d = &l->desc;
  mt_touched t[2];
  double all, n = (double)accesses(d), slow = 1;
  int64_t warps = sample(t, &all, l);
  c->traffic = traffic_of(t, all);
  for (int side = 0; side < 2; side++)
    if (t[side].runs > warps)
      slow += MT_ROWEND * (double)t[side].runs /
              (double)(t[side].sectors * MT_SECTORBYTES);
  if (wide_unit(d) < 16) slow /= MT_NARROW;
  c->slow = n * both_units(d) * slow / c->traffic;
  if (c->slow < MT_CACHED) c->slow = MT_CACHED;
  c->least = n * d->nrest * MT_AXIS_US;
}

/* ---------------------------------------------------------------- rows */

static int64_t min_of (int64_t a, int64_t b) { return a < b ? a : b; }

/* The axes [first, first + n), as bits. */
static uint32_t bits (uint32_t first, uint32_t n) { return ((1u << n) - 1) << first; }

/* The largest power of two, a sector at most, that divides where the rows of a side
** begin: the axes of `row` are its run. */
static int64_t grain (const mt_launch *l, int side, uint32_t row) {
  const mt_desc *d = &l->desc;
  uint64_t all = address(l, side, 0) | MT_SECTORBYTES;
  for (uint32_t i = 0; i < d->nthr + d->nval + d->nrest; i++)
    if (!(row >> i & 1)) all |= (uint64_t)d->axis[i].stride[side] * MT_ELEM(d, side);
  return (int64_t)(all & (0 - all));
}

/* All of a side in pieces of rows of so many accesses, which begin at multiples of its
** grain: the sectors of a piece, on the average. `row`: the axes of a row. */
static double in_pieces (const mt_launch *l, int side, int64_t length, uint32_t row) {
  const mt_desc *d = &l->desc;
  int64_t at = grain(l, side, row), bytes = length * unit_of(d, side);
  int64_t whole = (bytes + MT_SECTORBYTES - 1) / MT_SECTORBYTES * MT_SECTORBYTES;
  int64_t any = bytes + MT_SECTORBYTES - at;
  return (double)accesses(d) / (double)length * (double)(any > whole ? any : whole);
}

/* Rows of the destination that begin within a sector: what sectors that are written in
** two parts take longer. */
static double torn (const mt_launch *l, uint32_t row, double part) {
  return grain(l, MT_DST, row) < MT_SECTORBYTES ? part : 0;
}

/* What of the tiles along a run of n accesses is used. */
static double used (int64_t n, int64_t tile) {
  return (double)n / (double)((n + tile - 1) / tile * tile);
}

static void set_used (mt_cost *c, double part) {
  c->used = part;
  if (part < MT_USED) c->slow = MT_USED / part;
}

/* What the ends of a row of the destination take that begins anywhere: in bytes, by the
** logarithm of an access. */
static const double row_ends[] = {130, 80, 30, 30, 30};

/* Rows of a tile along this axis lie far apart. */
static bool is_far (const mt_desc *d, uint32_t axis, int side) {
  enum { MT_FAR = 24576 };
  int64_t stride = d->axis[axis].stride[side];
  return (stride < 0 ? -stride : stride) * MT_ELEM(d, side) >= MT_FAR;
}

/* Of sheared tiles what is empty along the source takes two thirds of the time. Aligned
** ones of small units take longer where rows of both sides lie far apart. */
static void tile_cost (mt_cost *c, const mt_launch *l) {
  const mt_desc *d = &l->desc;
  int64_t tile[2] = {mt_tile_length(d, MT_SRC), mt_tile_length(d, MT_DST)};
  double s = used(d->threads, tile[0]), t = used(d->values, tile[1]);
  bool sheared = d->form == MT_FORM_SHEAR && d->cast == 0;
  c->traffic = in_pieces(l, MT_SRC, min_of(d->threads, tile[0]), bits(0, d->nthr)) +
               in_pieces(l, MT_DST, min_of(d->values, tile[1]), bits(d->nthr, d->nval));
  set_used(c, (sheared ? (1 + 2 * s) / 3 : s) * t);
  c->used = s * t;
  if (d->form == MT_FORM_TILE) {
    double bytes = (double)(min_of(d->values, tile[1]) * unit_of(d, MT_DST));
    c->slow += torn(l, bits(d->nthr, d->nval), 25 / bytes);
    if (wide_unit(d) < 4 && is_far(d, 0, MT_DST) && is_far(d, d->nthr, MT_SRC))
      c->slow += 0.12;
    return;
  }
  c->slow += row_ends[__builtin_ctz((unsigned)wide_unit(d))] /
             (double)(d->values * unit_of(d, MT_DST));
  if (d->nrest > 0) c->slow += 0.03;
  if (d->nthr + d->nval > 2) c->slow += 0.15;
}

/* A piece is whole on the packed side, rows of it lie on the other. Small units cost more
** where rows are too many to be woven in registers. */
static void pack_cost (mt_cost *c, const mt_launch *l) {
  const mt_desc *d = &l->desc;
  int64_t tile = mt_tile_length(d, MT_SRC), piece = min_of(d->values, tile);
  int side = d->axis[0].stride[MT_SRC] == d->vec ? MT_SRC : MT_DST;
  c->traffic = in_pieces(l, side, piece * d->threads, bits(0, 2)) +
               in_pieces(l, 1 - side, piece, bits(1, 1));
  set_used(c, used(d->values, tile));
  if (unit_of(d, MT_SRC) >= 4) return;
  c->slow += 0.009 * (double)d->threads;
  if (d->threads > MT_PACK_FEW) c->slow += unit_of(d, MT_SRC) == 1 ? 0.38 : 0.1;
}

/* Accesses of a box's row on a side, and its axes. */
static int64_t box_row (uint32_t *row, const mt_desc *d, int side) {
  int64_t stride = d->vec;
  *row = 0;
  for (uint32_t k = 0; k < d->nthr; k++) {
    uint32_t i = side == MT_SRC ? k : d->turn.order[k];
    if (d->axis[i].stride[side] != stride) break;
    stride *= d->axis[i].extent;
    *row |= 1u << i;
  }
  return stride / d->vec;
}

/* At best rows of 1 KiB in boxes of 16 KiB. What others cost more: the beginning and the
** end of a block, or fewer blocks at a time; ends of rows, and vectors of the destination
** that are put together of more than one group. */
static void box_cost (mt_cost *c, const mt_launch *l) {
  enum { MT_LONGROW = 1024 };
  const mt_desc *d = &l->desc;
  int64_t unit = (int64_t)d->vec * d->elem, threads = mt_turn_threads(d);
  double bytes = (double)(d->threads * unit);
  c->slow += bytes > MT_BOX_USUAL ? 0.04 : 128 / bytes - 128.0 / MT_BOX_USUAL;
  for (int side = 0; side < 2; side++) {
    uint32_t row;
    int64_t length = box_row(&row, d, side);
    c->traffic += in_pieces(l, side, length, row);
    if (side == MT_DST) c->slow += torn(l, row, 0.06);
    c->slow += 16.0 / (double)min_of(length * unit, MT_LONGROW) - 16.0 / MT_LONGROW;
  }
  c->slow += 0.035 * (double)((16 / unit / d->turn.group - 1) * d->turn.nstore) /
             d->turn.wide;
  c->used = used(d->turn.vectors, threads);
}

/* The sectors of the rows of a side; rows that adjoin the next ones are longer. */
static double row_traffic (const mt_launch *l, int side) {
  const mt_desc *d = &l->desc;
  int64_t length = d->threads;
  uint32_t i = 1;
  for (; i <= d->nrest && d->axis[i].stride[side] == length * d->vec; i++)
    length *= d->axis[i].extent;
  return in_pieces(l, side, length, bits(0, i));
}

/* Both ends of a row go by elements. */
static void rows_cost (mt_cost *c, const mt_launch *l) {
  const mt_desc *d = &l->desc;
  int64_t unit = (int64_t)d->vec * d->elem, vectors = mt_rows_vectors(d);
  c->traffic = row_traffic(l, MT_SRC) + row_traffic(l, MT_DST);
  c->used = (double)(d->threads * d->rests * unit) / (double)(16 * vectors);
  c->least = (double)vectors * (d->nrest + 1) * MT_AXIS_US +
             (double)(d->rests * (16 / unit - 1)) * MT_END_US;
}

/* Units of a row of the skewed box, of a run; what of the pieces of their last axis is
** real. */
static double span_length (const mt_span *s, const mt_desc *d, double *used) {
  double length = (double)s->units * s->count;
  if (s->bound == 0) return length;
  for (uint32_t i = d->nthr; i < d->nthr + d->nrest; i++) {
    const mt_axis *a = &d->axis[i];
    if (a->step[s->bound - 1] == 0) continue;
    *used = (double)d->bound[s->bound - 1] / (double)(a->extent * s->count);
  }
  return length * *used;
}

/* How often threads of a quarter of a warp meet a bank where they look up places of small
** units that lie equally far apart. */
static int64_t meetings (const mt_desc *d) {
  const mt_skew *s = &d->skew;
  int64_t unit = unit_of(d, MT_SRC), step = 16 / unit * s->line[0].inside, banks = 8;
  if (unit >= 4 || s->piece.extent != 0 || s->line[0].run != 0) return 1;
  while (banks > 1 && step % (128 / banks * 2) == 0) banks /= 2;
  return 8 / banks;
}

/* What takes longer than at best, fitted to 92 copies on an H200, 4 % off in the mean:
** small units, one by one, whose places are looked up for some rows at once; ends of
** runs; what is read on behind a row; pieces that are not whole. */
static void skew_cost (mt_cost *c, const mt_launch *l) {
  enum { MT_WINDOWS = 5 };              /* of a row that share what is looked up */
  static const double unit_part[] = {1.00, 0.98, 1.07, 1.07, 1.07};
  static const double find_part[] = {1.20, 0.51, 0, 0, 0};
  const mt_desc *d = &l->desc;
  const mt_skew *s = &d->skew;
  double unit = (double)unit_of(d, MT_SRC), part[2] = {1, 1};
  double run = span_length(&s->run, d, &part[0]) * unit;
  double row = span_length(&s->row, d, &part[1]) * unit;
  double shared = s->linear ? MT_WINDOWS : s->each;
  int log = __builtin_ctz((unsigned)unit);
  c->used = part[0] * (s->run.bound == s->row.bound ? 1 : part[1]);
  c->traffic = (double)accesses(d) * c->used * both_units(d);
  c->slow = unit_part[log] + find_part[log] / shared + 4.8 / run +
            (s->ahead ? 18.5 / row : 0) + 0.75 * (1 / c->used - 1) +
            0.1 * (double)(meetings(d) - 1);
  c->least = MT_SKEW_US;
}

/* ---------------------------------------------------------------- the forms */

const mt_form_row mt_forms[MT_NFORM] = {
  /*                 name         speed cast  any_us  make            cost       needs */
  [MT_FORM_TV]    = {"partition", 1.00, 1.00, 3.3e-6, NULL,           tv_cost,   ""},
  [MT_FORM_FLAT]  = {"flat",      1.00, 1.00, 3.3e-6, NULL,           flat_cost, ""},
  [MT_FORM_TILE]  = {"tile",      0.95, 0.95, 5.6e-6, mt_tile_make,   tile_cost,
                     "is for two runs whose rows begin at multiples of 16 bytes"},
  [MT_FORM_SHEAR] = {"shear",     0.95, 0.88, 5.6e-6, mt_shear_make,  tile_cost,
                     "is for two runs whose rows begin anywhere"},
  [MT_FORM_PACK]  = {"pack",      1.02, 0,    0,      mt_pack_make,   pack_cost,
                     "is for 2 to 31 rows that one side interleaves"},
  [MT_FORM_BOX]   = {"box",       1.03, 0,    0,      mt_box_make,    box_cost,
                     "is for short rows, of 64 bytes and more, at multiples of 16 bytes"},
  [MT_FORM_ROWS]  = {"rows",      0.92, 0,    0,      mt_rows_make,   rows_cost,
                     "is for rows that are a run of both sides and begin anywhere"},
  [MT_FORM_SKEW]  = {"skew",      0.95, 0,    0,      mt_skew_make,   skew_cost,
                     "is for runs of both sides, of 32 bytes and more"}
};

/* By this kernel, NULL: by the first that can. */
static double microseconds (const mt_desc *d, mt_form form, const mt_cost *c,
                            const mt_kernel *k) {
  const mt_form_row *f = &mt_forms[form];
  double us = c->traffic * c->slow / (MT_SPEED * (d->cast ? f->cast : f->speed));
  if (us < c->least) us = c->least;
  if (d->cast && ((k && k->cast == MT_CAST_ANY) || !mt_kernel_casts(d, form, true)))
    us += (double)accesses(d) * d->vec * f->any_us;
  return MT_LAUNCH_US + us;
}

void mt_cost_of (mt_cost *c, const mt_launch *l, const mt_kernel *k) {
  const mt_form form = (mt_form)l->desc.form;
  *c = (mt_cost){.used = 1, .slow = 1};
  if (accesses(&l->desc) != 0) mt_forms[form].cost(c, l);
  c->us = microseconds(&l->desc, form, c, k);
}

double mt_form_least (const mt_launch *l, mt_form form) {
  const mt_desc *d = &l->desc;
  mt_cost c = {.traffic = (double)accesses(d) * both_units(d),
               .slow = form == MT_FORM_FLAT && wide_unit(d) < 16 ? 1 / MT_NARROW : 1};
  return microseconds(d, form, &c, NULL);
}

/* What converts has tiles alone, of single elements. */
static bool may_convert (const mt_desc *d, mt_form form, char *why) {
  if (form == MT_FORM_TILE || form == MT_FORM_SHEAR)
    return d->vec == 1 && mt_kernel_casts(d, form, false);
  snprintf(why, MT_REASON, "moves elements as they are: this copy converts them");
  return false;
}

bool mt_form_make (mt_launch *l, mt_form form, char *why) {
  mt_launch out = *l;
  mt_axes mode[3];
  mt_err err = MT_NOERR;
  why[0] = 0;
  if (mt_has_flips(&l->desc)) {
    snprintf(why, MT_REASON, "a side is swizzled");
    return false;
  }
  if (l->desc.cast && !may_convert(&l->desc, form, why)) return false;
  mt_axes_get(mode, &l->desc);
  if (!mt_forms[form].make(&out, mode, why) ||
      mt_axes_put(&out.desc, mode, &err) != MT_OK)
    return false;
  *l = out;
  return true;
}
