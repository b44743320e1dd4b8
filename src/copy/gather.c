/*
** gather.c - copies of units that lie anywhere in the source: words of the destination,
** put together unit by unit.
** SPDX-License-Identifier: MIT
**
** Any pair of layouts is such a copy. Its tiles are found in gather_search.c.
*/
#include "copy/algo.h"
#include "copy/gather.h"
#include "desc/axes.h"
#include "desc/divisor.h"
#include "desc/gather_desc.h"

enum {
  MT_GATHER_FILL = 792,  /* blocks that a large GPU has at once */
  MT_GATHER_SMALL = 528, /* of bytes, which take more registers */
  MT_GATHER_EACH = 16    /* tiles of a block, at most */
};

static int64_t unit_of (const mt_desc *d) { return (int64_t)d->vec * d->elem; }
static int64_t word_units (const mt_desc *d) { return MT_GATHER_UNITS(unit_of(d)); }

/* ---------------------------------------------------------------- making */

static bool gather_make (mt_launch *l, mt_axes mode[3], const mt_search *limits,
                         char *why) {
  (void)why;
  return mt_gather_make(l, mode, MT_ALGO_GATHER, limits);
}

/* ---------------------------------------------------------------- checking */

mt_status mt_gather_check_run (const mt_desc *d, mt_err *err) {
  int64_t length = d->vec;
  MT_TRY(mt_check_runs(d, err));
  for (uint32_t i = 0; i < d->nthr; i++) {
    MT_CHECK(d->axis[i].stride[MT_DST] == length, err,
             "the thread axes are no run of the destination");
    length *= d->axis[i].extent;
  }
  return MT_OK;
}

static mt_status gather_check (const mt_launch *l, mt_err *err) {
  const mt_desc *d = &l->desc;
  mt_gather g;
  MT_TRY(mt_gather_check_run(d, err));
  MT_CHECK(d->threads > 0 && d->values > 0 &&
               mt_gather_find(&g, l, d->gather.cut, MT_GATHER_WORD(unit_of(d))) &&
               memcmp(&g, &d->gather, sizeof g) == 0,
           err, "wrong tiles of words");
  return MT_OK;
}

/* ---------------------------------------------------------------- cost */

/* Where unit n of a tile's row r lies in the source, in bytes. */
static int64_t place_of (const mt_desc *d, int64_t n, int64_t r) {
  int64_t at = 0;
  for (uint32_t i = 0; i < d->nthr + d->nval; i++) {
    bool thr = i < d->nthr, last = i + 1 == d->nthr || i + 1 == d->nthr + d->nval;
    int64_t *left = thr ? &n : &r, e = d->axis[i].extent;
    at += (last ? *left : *left % e) * d->axis[i].stride[MT_SRC];
    *left /= e;
  }
  return at * d->elem;
}

/* Lines of 128 bytes that the first units of 32 words lie in. */
static int lines_of (const mt_desc *d) {
  const int64_t v = word_units(d), words = d->gather.words.extent;
  int64_t seen[32];
  int n = 0;
  for (int64_t w = 0; w < 32 && w < words * d->gather.rows; w++) {
    int64_t line = (place_of(d, w % words * v, w / words) + ((int64_t)1 << 40)) / 128;
    int i = 0;
    while (i < n && seen[i] != line) i++;
    if (i == n) seen[n++] = line;
  }
  return n;
}

/* The words of spans, as far as some words of a tile show; 0: they have no spans. */
static int spans_of (const mt_launch *l) {
  const mt_desc *d = &l->desc;
  const int64_t low = (int64_t)(mt_address(l, MT_SRC, 0) & 3), n = d->gather.units / 4;
  int64_t most = 2;
  for (int64_t i = 0; d->gather.spans && i < (n < 16 ? n : 16); i++) {
    const int64_t k = n < 16 ? i : i * (n - 1) / 15;
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (int64_t u = 4 * k; u < 4 * k + 4; u++) {
      int64_t at = place_of(d, u, 0) + low;
      if (at < first) first = at;
      if (at > last) last = at;
    }
    int64_t words = (last - (first & ~(int64_t)3)) / 4 + 1;
    if (words > most) most = words;
  }
  return d->gather.spans && n > 0 && most <= 3 ? (int)most : 0;
}

double mt_gather_parts (const mt_desc *d) {
  const mt_gather *g = &d->gather;
  const double words = (double)g->words.extent * g->rows / 16;
  double ends = (double)(g->phases > 1) + (d->threads % word_units(d) != 0);
  ends *= (double)g->rows / g->along.extent;
  return ends < words ? ends : words;
}

/* Words that threads make for a tile: all of them UNROLL at a time, some for nothing. */
static double made_words (const mt_desc *d) {
  const int64_t each = MT_GATHER_THREADS * (unit_of(d) == 16 ? 2 : 4);
  return (double)(mt_div_up((int64_t)d->gather.words.extent * d->gather.rows, each) *
                  each);
}

/* Microseconds of the instructions and requests of all tiles. */
static double issue_of (const mt_launch *l, double tiles) {
  const mt_desc *d = &l->desc;
  const double warps = made_words(d) / 32;
  const int spans = spans_of(l);
  const double loads = spans ? spans : (double)word_units(d);
  const double units =
      (double)word_units(d) * (1 + (d->gather.phases - 1) * mt_h200.gather_phase);
  return tiles * (warps * (loads * lines_of(d) * mt_h200.gather_line +
                           units * mt_h200.gather_unit + mt_h200.gather_word) +
                  mt_gather_parts(d) * mt_h200.gather_part + mt_h200.gather_tile +
                  d->nrest * mt_h200.gather_axis);
}

static void gather_cost (mt_cost *c, const mt_launch *l) {
  const mt_desc *d = &l->desc;
  const mt_gather *g = &d->gather;
  const double tiles = (double)mt_accesses(d) / ((double)g->units * g->rows);
  const double issue = issue_of(l, tiles);
  c->traffic = mt_gather_moves(l, g->words.extent, false);
  c->used = (double)g->words.extent * g->rows / made_words(d);
  const double begin = (d->nthr + d->nval) * mt_h200.gather_table;
  c->slow += (begin + issue * mt_h200.gather_both) * mt_h200.memory / c->traffic;
  c->least = begin + issue;
}

/* Tables of one axis; words whose units lie in one line, of which no warp idles. */
static void gather_least (mt_cost *c, const mt_launch *l) {
  const mt_model *m = &mt_h200;
  const double v = (double)word_units(&l->desc);
  const double begin = l->desc.nrest > 0 ? m->gather_table : 0;
  const double loads = v < 2 ? v : 2;
  const double issue = (double)mt_accesses(&l->desc) / v / 32 *
                       (loads * m->gather_line + v * m->gather_unit + m->gather_word);
  c->slow += (begin + issue * m->gather_both) * m->memory / c->traffic;
  c->least = begin + issue;
}

/* ---------------------------------------------------------------- kernels */

/* Blocks that make their tables for several tiles, and fill the GPU some whole times. */
static mt_grid gather_grid (const mt_kernel *k, const mt_desc *d) {
  const int64_t fill = k->bytes == 1 ? MT_GATHER_SMALL : MT_GATHER_FILL;
  int64_t rounds = mt_div_up(d->gather.tiles, fill);
  int64_t each = rounds ? mt_div_up(rounds, mt_div_up(rounds, MT_GATHER_EACH)) : 1;
  return mt_grid_of(k, mt_div_up(d->gather.tiles, each));
}

static uint32_t gather_shared (const mt_desc *d) {
  return d->gather.table + 8 * d->gather.rows + 16;
}

const mt_algo mt_algo_gather = {.name = "gather",
                                .needs = "is for tiles of less than 2 GiB of either side",
                                .make = gather_make,
                                .check = gather_check,
                                .cost = gather_cost,
                                .least = gather_least,
                                .grid = gather_grid,
                                .shared = gather_shared,
                                .most_shared = MT_GATHER_SHARED,
                                .thread = "run of dst",
                                .value = "rows"};
