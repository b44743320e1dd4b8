/*
** strided.c - copies access by access: those of a described partition, and flat
** ones, whose accesses are numbered.
** SPDX-License-Identifier: MIT
**
** What memory moves for them is not known from runs of the sides: the accesses of some
** warps are looked at.
*/
#include "moontile/analysis.h"
#include "copy/algo.h"
#include "desc/swizzle.h"

enum {
  MT_SAMPLES = 4,     /* warps that are looked at */
  MT_TABLES = 1584,   /* blocks that fill a large GPU some times */
  MT_TABLE_GROUPS = 8 /* of accesses of a block that makes a table, at most */
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

/* What warps touch of a side: sectors, and runs of them. */
typedef struct mt_touched {
  int64_t sectors, runs;
} mt_touched;

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
      add_sector(&seen[side], mt_address(l, side, c.at[side]) / MT_SECTORBYTES);
  for (int side = 0; side < 2; side++) {
    const mt_seen *x = &seen[side];
    t[side].sectors += x->n;
    for (int i = 0; i < x->n; i++) t[side].runs += i == 0 || x->at[i] - x->at[i - 1] > 1;
  }
}

/* Some warps, for all: returns of how many. */
static int64_t sample (mt_touched t[2], double *all, const mt_launch *l) {
  int64_t n = mt_accesses(&l->desc), warps = (n - 1) / MT_WARP + 1, looked = 0;
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

/* ---------------------------------------------------------------- cost */

static void tv_cost (mt_cost *c, const mt_launch *l) {
  mt_touched t[2];
  double all;
  sample(t, &all, l);
  c->traffic = traffic_of(t, all);
}

/* A thread does all accesses of the first axis. */
static bool is_short (const mt_desc *d) {
  return d->nrest > 1 && MT_STRIDED_SHORT(d->axis[0].extent, 4) && !MT_STRIDED_ALONE(d);
}

/* Bytes of sectors that such accesses write in part. The nearer they are, the more of
** them are one store of a warp to a sector, and the less of it do they leave out. */
static double gaps_take (const mt_desc *d) {
  if (mt_wide_unit(d) >= 8 || !is_short(d) || !MT_STRIDED_APART(d)) return 0;
  const double pitch = (double)d->axis[1].stride[MT_DST] * MT_ELEM(d, MT_DST);
  const double part = pitch < MT_SECTORBYTES ? pitch / MT_SECTORBYTES : 1;
  return (double)mt_accesses(d) * part * part * mt_h200.strided_gap;
}

/* Pixels: pixels.cuh. */
static bool is_pixels (const mt_desc *d, int64_t unroll) {
  return d->cast == 0 && d->nbound == 0 && d->nrest == 2 && !mt_desc_is_swizzled(d) &&
         MT_STRIDED_SHORT(d->axis[0].extent, unroll) && !MT_STRIDED_ALONE(d);
}

/* Pixels that go by words. */
static bool is_words (const mt_desc *d) { return is_pixels(d, 4) && MT_STRIDED_WORDS(d); }

/* The same, where words begin at multiples of four. */
static bool goes_by_words (const mt_launch *l) {
  const mt_desc *d = &l->desc;
  if (!is_words(d)) return false;
  const int64_t far = d->axis[0].stride[MT_SRC] * (d->axis[0].extent - 1);
  const int64_t low = far < 0 ? far : 0, high = far < 0 ? 0 : far;
  const int64_t shift = (int64_t)(mt_address(l, MT_SRC, low) & 3);
  return high - low + shift < d->axis[1].stride[MT_SRC] &&
         (mt_address(l, MT_DST, 0) & 3) == 0;
}

/* Microseconds of the instructions: an access finds its own place, axis by axis. */
static double places_take (const mt_launch *l) {
  const mt_desc *d = &l->desc;
  const double n = (double)mt_accesses(d);
  if (goes_by_words(l)) return n / (double)d->axis[0].extent / 4 * mt_h200.strided_words;
  if (mt_wide_unit(d) < 8 && is_pixels(d, 4))
    return n / (double)d->axis[0].extent * mt_h200.strided_pixel;
  if (mt_wide_unit(d) < 8 && is_short(d))
    return n *
           ((mt_h200.access + (d->nrest - 1) * mt_h200.axis) / (double)d->axis[0].extent +
            mt_h200.strided_each);
  return n * (mt_h200.access + d->nrest * mt_h200.axis);
}

/* Bytes of sectors for an access on a side at least. Of a warp's accesses at least so
** many lie together along the first axis: all if it is a multiple of warps, else a half,
** or all of it. */
static double spread_of (const mt_desc *d, int side) {
  const mt_axis *a = &d->axis[0];
  const int64_t run = a->extent % MT_WARP == 0 ? MT_WARP :
                      a->extent < MT_WARP / 2  ? a->extent :
                                                 MT_WARP / 2;
  const double bytes = (double)mt_magnitude(a->stride[side]) * MT_ELEM(d, side);
  if (d->nrest == 0 || mt_desc_is_swizzled(d)) return 0;
  return bytes >= MT_SECTORBYTES ? (double)run :
                                   (double)(run - 1) * bytes / MT_SECTORBYTES;
}

static void flat_least (mt_cost *c, const mt_launch *l) {
  const mt_desc *d = &l->desc;
  const double spread =
      (double)mt_accesses(d) * (spread_of(d, MT_SRC) + spread_of(d, MT_DST));
  if (mt_wide_unit(d) < 16 && !goes_by_words(l)) c->slow /= mt_h200.narrow;
  if (c->slow * c->traffic < mt_h200.cached * spread)
    c->slow = mt_h200.cached * spread / c->traffic;
  c->least = places_take(l);
}

/* Memory and instructions take their time at once, but for a part of the shorter one, as
** of STAGED. */
static double both_take (const mt_cost *c) {
  const double moves = c->traffic * c->slow / mt_h200.memory;
  const double less = c->least < moves ? c->least : moves, more = c->least + moves - less;
  return more + mt_h200.staged_both * less * less / more;
}

/* Words of pixels: all sectors of both sides once. */
static void words_cost (mt_cost *c, const mt_launch *l) {
  const mt_desc *d = &l->desc;
  const double pixels = (double)d->axis[1].extent;
  c->traffic = pixels * (double)(d->axis[0].extent + d->axis[1].stride[MT_SRC]);
  c->least = places_take(l);
  c->least = both_take(c);
}

static void flat_cost (mt_cost *c, const mt_launch *l) {
  if (goes_by_words(l)) {
    words_cost(c, l);
    return;
  }
  const mt_desc *d = &l->desc;
  mt_touched t[2];
  double all, n = (double)mt_accesses(d), slow = 1;
  int64_t warps = sample(t, &all, l);
  c->traffic = traffic_of(t, all);
  for (int side = 0; side < 2; side++)
    if (t[side].runs > warps)
      slow += mt_h200.row_end * (double)t[side].runs /
              (double)(t[side].sectors * MT_SECTORBYTES);
  if (mt_wide_unit(d) < 16) slow /= mt_h200.narrow;
  c->slow = n * mt_both_units(d) * slow / c->traffic;
  if (c->slow < mt_h200.cached) c->slow = mt_h200.cached;
  c->slow += gaps_take(d) / c->traffic;
  c->least = places_take(l);
  if (mt_wide_unit(d) < 8 && is_pixels(d, 4)) c->least = both_take(c);
}

/* ---------------------------------------------------------------- checking, kernels */

static mt_status tv_check (const mt_launch *l, mt_err *err) {
  (void)l, (void)err;
  return MT_OK;
}

static mt_status flat_check (const mt_launch *l, mt_err *err) {
  MT_CHECK(l->desc.nthr == 0 && l->desc.nval == 0, err, "a flat copy has rest axes only");
  return MT_OK;
}

static bool has_values (const mt_kernel *k, const mt_desc *d, mt_refusals *why) {
  if (d->values <= MT_MAXGRID) return true;
  mt_refusals_add(why, k->name, "%lld accesses of one thread, at most %d",
                  (long long)d->values, (int)MT_MAXGRID);
  return false;
}

static bool tv_fits (const mt_kernel *k, const mt_desc *d, mt_refusals *why) {
  if (d->threads <= k->threads) return has_values(k, d, why);
  mt_refusals_add(why, k->name, "%lld threads, a block has at most %d",
                  (long long)d->threads, (int)k->threads);
  return false;
}

/* Of what is read again and again it is better to have more on its way. */
static bool is_again (const mt_desc *d) {
  double reach = d->vec;
  for (uint32_t i = 0; i < d->nrest; i++)
    reach +=
        (double)mt_magnitude(d->axis[i].stride[MT_SRC]) * (double)(d->axis[i].extent - 1);
  return reach < (double)d->rests * d->vec;
}

static bool flat_fits (const mt_kernel *k, const mt_desc *d, mt_refusals *why) {
  if (k->bytes != 16 || k->unroll != 1) return true;
  if (is_again(d)) {
    mt_refusals_add(why, k->name,
                    "what is read again is for several accesses of a thread");
    return false;
  }
  if (d->nrest <= 2) return true;
  mt_refusals_add(why, k->name, "%d axes: one access of a thread is for two at most",
                  (int)d->nrest);
  return false;
}

static mt_grid tv_grid (const mt_kernel *k, const mt_desc *d) {
  (void)k;
  return (mt_grid){mt_blocks_of(d->rests, 1), (uint32_t)d->threads};
}

/* Blocks have several turns of bytes' pixels, or of four of them, as far as the GPU stays
** full: what they find out first takes as long as some of them. */
static int64_t pixel_blocks (const mt_desc *d, int64_t bytes, int64_t threads) {
  const int64_t pixels = d->rests / d->axis[0].extent;
  const int64_t each = is_words(d) ? 4 * MT_STRIDED_GROUPS : MT_STRIDED_PIXELS(bytes);
  const int64_t blocks = mt_blocks_of(pixels, threads * each);
  if (bytes > 1) return blocks;
  return blocks < MT_PIXEL_TURNS * MT_TABLES ? blocks : mt_div_up(blocks, MT_PIXEL_TURNS);
}

/* Of elements of one byte each block makes a table of what they become: it has several
** groups of accesses then, as far as the GPU stays full. */
static mt_grid flat_grid (const mt_kernel *k, const mt_desc *d) {
  int64_t blocks = mt_blocks_of(d->rests, (int64_t)k->threads * k->unroll);
  if (k->bytes < 16 && k->cast == 0 && is_pixels(d, k->unroll))
    blocks = pixel_blocks(d, k->bytes, k->threads);
  if (k->cast == MT_CAST_ANY && d->elem == 1 && blocks > MT_TABLES) {
    int64_t each = mt_div_up(blocks, MT_TABLES);
    blocks = mt_div_up(blocks, each < MT_TABLE_GROUPS ? each : MT_TABLE_GROUPS);
  }
  return mt_grid_of(k, blocks);
}

const mt_algo mt_algo_described = {.name = "described",
                                   .needs = "",
                                   .check = tv_check,
                                   .cost = tv_cost,
                                   .fits = tv_fits,
                                   .grid = tv_grid,
                                   .thread = "thread",
                                   .value = "value"};

const mt_algo mt_algo_strided = {.name = "strided",
                                 .needs = "",
                                 .check = flat_check,
                                 .cost = flat_cost,
                                 .least = flat_least,
                                 .fits = flat_fits,
                                 .grid = flat_grid};
