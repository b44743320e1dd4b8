/*
** gather.c - copies of units that lie anywhere in the source: words of the destination,
** put together unit by unit.
** SPDX-License-Identifier: MIT
**
** Any pair of layouts is such a copy. What it costs depends on the tile: sectors of the
** source that a tile uses in part are read again by others. So a tile has, beside a piece
** of the destination's run, rows whose units are neighbours in the source:
**
**   source      a0 b0 c0 a1 b1 c1 a2 b2 c2 ...      a sector has units of three rows
**   tile        a0 a1 a2 ..., b0 b1 b2 ..., c0 c1 c2 ...
**
** Pieces of some lengths are tried, each with the rows that fit to it; the one with the
** least estimated cost is taken.
*/
#include "copy/algo.h"
#include "copy/gather.h"
#include "desc/axes.h"
#include "desc/divisor.h"
#include "desc/gather_desc.h"

enum {
  MT_GATHER_LIKELY = 2048, /* bytes of a run that are tried first */
  MT_GATHER_LEAST = 16384, /* bytes that keep the threads of a block busy */
  MT_GATHER_PIECE = 256,   /* bytes of the source that are far from being read in part */
  MT_GATHER_FILL = 792,    /* blocks that a large GPU has at once */
  MT_GATHER_SMALL = 528,   /* of bytes, which take more registers */
  MT_GATHER_EACH = 16      /* tiles of a block, at most */
};

static int64_t unit_of (const mt_desc *d) { return (int64_t)d->vec * d->elem; }
static int64_t word_units (const mt_desc *d) { return MT_GATHER_UNITS(unit_of(d)); }

/* ---------------------------------------------------------------- making */

/* A tile in the making: axes that are left, a piece of the run, rows. */
typedef struct candidate {
  mt_axes *mode; /* three */
  bool beside;   /* rows are neighbours of the destination only */
  uint32_t cut[2];
  int64_t unit, v, units, rows; /* bytes of a unit, units of a word; of a tile */
  int64_t piece;                /* bytes of the source that lie together, about */
} candidate;

static int64_t gcd (int64_t a, int64_t b) { return b == 0 ? a : gcd(b, a % b); }

/* Pieces of up to c indices of an axis, as equal as they can be, multiples of `step`: of
** one step at least. */
static int64_t even (int64_t extent, int64_t c, int64_t step) {
  if (c >= extent) return extent;
  int64_t most = c < step ? step : c - c % step;
  c = mt_div_up(mt_div_up(extent, mt_div_up(extent, most)), step) * step;
  c = c < most ? c : most;
  return c < extent ? c : extent;
}

static mt_axis take (mt_axes *from, int i) {
  mt_axis a = from->axis[i];
  memmove(from->axis + i, from->axis + i + 1,
          (size_t)(--from->n - i) * sizeof from->axis[0]);
  return a;
}

/* The axis of the destination that continues a run of so many elements; -1: none. */
static int find_next (const mt_axes *a, int64_t length) {
  for (int i = 0; i < a->n; i++)
    if (a->axis[i].stride[MT_DST] == length) return i;
  return -1;
}

/* Adds c indices of an axis to what lies together in the source. */
static void add_piece (candidate *x, int64_t stride, int64_t c) {
  if (stride <= (x->piece > 32 ? x->piece : 32)) x->piece += stride * (c - 1);
}

/* The first axes of the run, and a piece of the next: so many bytes. */
static void take_run (candidate *x, const mt_desc *d, int64_t most) {
  int i;
  x->cut[0] = 1;
  while ((i = find_next(&x->mode[2], x->units * (int64_t)d->vec)) >= 0) {
    int64_t e = x->mode[2].axis[i].extent, c = most / (x->units * x->unit), size;
    if (mt_mulo(d->vec * x->units, e, &size) || size > INT32_MAX / 2) return;
    if (c < 1) return;
    c = even(e, c, x->v / gcd(x->v, x->units));
    x->mode[0].axis[x->mode[0].n++] = take(&x->mode[2], i);
    x->cut[0] = (uint32_t)c;
    x->units *= c;
    if (c < e) return;
  }
}

/* The axis of the run not seen that has the smallest stride in the source; -1: none. */
static int next_piece (const mt_axes *a, const mt_desc *d, const bool *seen) {
  int best = -1;
  for (int i = 0; i < a->n; i++)
    if (!seen[i] && (best < 0 || mt_gather_stride(d, &a->axis[i], MT_SRC) <
                                     mt_gather_stride(d, &a->axis[best], MT_SRC)))
      best = i;
  return best;
}

/* What the run has of the source. */
static void find_piece (candidate *x, const mt_desc *d) {
  bool seen[MT_LISTSIZE] = {false};
  const mt_axes *run = &x->mode[0];
  int i;
  x->piece = x->unit;
  while ((i = next_piece(run, d, seen)) >= 0) {
    seen[i] = true;
    add_piece(x, mt_gather_stride(d, &run->axis[i], MT_SRC),
              i + 1 == run->n ? x->cut[0] : run->axis[i].extent);
  }
}

/* The axis that is left with the smallest stride on a side. */
static int nearest (const mt_axes *a, int side) {
  int best = -1;
  for (int i = 0; i < a->n; i++)
    if (best < 0 ||
        mt_magnitude(a->axis[i].stride[side]) < mt_magnitude(a->axis[best].stride[side]))
      best = i;
  return best;
}

/* Up to c indices of the axis number rows. True: all of them do. */
static bool take_rows (candidate *x, const mt_desc *d, int i, int64_t c) {
  const int64_t e = x->mode[2].axis[i].extent;
  if (c < 2 || e > INT32_MAX / 2 / x->rows) return false;
  c = even(e, c, 1);
  add_piece(x, mt_gather_stride(d, &x->mode[2].axis[i], MT_SRC), c);
  x->mode[1].axis[x->mode[1].n++] = take(&x->mode[2], i);
  x->cut[1] = (uint32_t)c;
  x->rows *= c;
  return c == e;
}

static int64_t left_of (const candidate *x, int64_t bytes) {
  int64_t words = mt_div_up(x->units, x->v) * (x->unit < 4 ? 4 : x->unit);
  int64_t rows = bytes / words < MT_GATHER_ROWS ? bytes / words : MT_GATHER_ROWS;
  return rows / x->rows;
}

/* Rows that lie among one another in the source; then, if there are few, neighbours of
** the destination. */
static void find_rows (candidate *x, const mt_desc *d) {
  x->cut[1] = 1;
  for (bool whole = !x->beside; whole && x->mode[2].n > 0;) {
    int i = nearest(&x->mode[2], MT_SRC);
    int64_t s = mt_gather_stride(d, &x->mode[2].axis[i], MT_SRC),
            near = x->piece > 32 ? x->piece : 32;
    if (s > near || (s == near && near >= MT_GATHER_PIECE)) break;
    whole = take_rows(x, d, i, left_of(x, MT_GATHER_TILE));
    if (!whole) return;
  }
  while (x->mode[2].n > 0 &&
         take_rows(x, d, nearest(&x->mode[2], MT_DST), left_of(x, MT_GATHER_LEAST)))
    continue;
}

/* Tiles in the making: bytes of the run, whether rows are neighbours of the destination
** only. */
typedef struct kind {
  int64_t most;
  bool beside;
} kind;

static void begin_tiles (candidate *x, const mt_desc *d, const mt_axes *all, kind of) {
  x->mode[0].n = x->mode[1].n = 0;
  mt_axes_copy(&x->mode[2], all);
  x->unit = unit_of(d), x->v = word_units(d), x->units = x->rows = 1;
  x->beside = of.beside;
  take_run(x, d, of.most);
}

/* The run is short, and goes on nowhere: neighbours of the destination may share sectors
** with it. */
static bool is_short (const candidate *x, const mt_desc *d) {
  return x->units * x->unit < MT_GATHER_PIECE &&
         find_next(&x->mode[2], x->units * (int64_t)d->vec) < 0 &&
         (x->mode[0].n == 0 || x->cut[0] == x->mode[0].axis[x->mode[0].n - 1].extent);
}

/* The run that a tile has: the same run makes the same tile. */
typedef struct run {
  int axes;
  uint32_t cut;
  int64_t units;
} run;

static bool is_same (run *last, const candidate *x) {
  const run now = {x->mode[0].n, x->cut[0], x->units}, before = *last;
  *last = now;
  return now.axes == before.axes && now.cut == before.cut && now.units == before.units;
}

/* The copy in them: whatever tiles l has are gone. */
static bool make_tiles (mt_launch *l, candidate *x, mt_algorithm algo) {
  mt_desc *d = &l->desc;
  find_piece(x, d);
  find_rows(x, d);
  d->algo = algo;
  if (!mt_axes_store(d, x->mode) || d->threads > INT32_MAX / 2 ||
      d->values > INT32_MAX / 2)
    return false;
  if (algo != MT_ALGO_STAGED) return mt_gather_find(&d->gather, l, x->cut);
  if (!mt_staged_find(&d->staged, l, x->cut)) return false;
  mt_staged_busy(l);
  x->units = d->gather.units;
  return true;
}

/* Microseconds of the copy in its tiles; those above `limit` need not be known. */
static double take_us (const mt_launch *l, double limit, const mt_search *search) {
  mt_cost cost;
  if (l->desc.algo == MT_ALGO_STAGED && !search->all) return mt_staged_us(l, limit);
  mt_cost_apart(&cost, l, NULL);
  return cost.us;
}

/* A search for tiles: the best that were found, and those that l has. */
typedef struct search {
  mt_launch *l;
  mt_algorithm algo;
  const mt_axes *all;
  const mt_search *limits;
  kind best, made; /* most 0: none, or the axes are no more those of `made` */
  double least;
} search;

/* Of two that take as long the shorter run, then rows that lie among one another in the
** source. */
static bool is_better (const search *s, double us, kind of) {
  const kind *b = &s->best;
  if (us != s->least || b->most == 0) return us <= s->least;
  return of.most < b->most || (of.most == b->most && b->beside && !of.beside);
}

/* Makes such tiles, which were begun. */
static void try_tiles (search *s, candidate *x, kind of) {
  if (!make_tiles(s->l, x, s->algo)) return;
  s->made = of;
  const double us = take_us(s->l, s->least, s->limits);
  if (is_better(s, us, of)) s->least = us, s->best = of;
}

/* Tiles with so many bytes of a run, if that is another run than the one before. */
static void try_run (search *s, candidate *x, int64_t most, run *before) {
  const mt_desc *d = &s->l->desc;
  if (most < unit_of(d)) return;
  s->made.most = 0;
  begin_tiles(x, d, s->all, (kind){most, false});
  if (is_same(before, x)) return;
  const bool both = is_short(x, d);
  try_tiles(s, x, (kind){most, false});
  if (!both) return;
  s->made.most = 0;
  begin_tiles(x, d, s->all, (kind){most, true});
  try_tiles(s, x, (kind){most, true});
}

/* Runs of 32 bytes to all of a tile; first those that are likely the best, so that bank
** conflicts of few others need to be counted. */
bool mt_gather_make (mt_launch *l, mt_axes mode[3], mt_algorithm algo,
                     const mt_search *limits) {
  mt_axes all;
  candidate x = {.mode = mode};
  search s = {l, algo, &all, limits, {0, false}, {0, false}, limits->us};
  run last = {0}, first;
  mt_axes_copy(&all, &mode[2]);
  try_run(&s, &x, MT_GATHER_LIKELY, &last);
  first = last;
  for (int64_t most = MT_GATHER_LIKELY / 2; most >= 32; most /= 2)
    try_run(&s, &x, most, &last);
  for (int64_t most = 2 * MT_GATHER_LIKELY; most <= MT_GATHER_TILE; most *= 2)
    try_run(&s, &x, most, &first);
  if (s.best.most == 0) return false;
  if (s.made.most == s.best.most && s.made.beside == s.best.beside) return true;
  begin_tiles(&x, &l->desc, &all, s.best);
  return make_tiles(l, &x, algo);
}

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
  MT_CHECK(d->threads > 0 && d->values > 0 && mt_gather_find(&g, l, d->gather.cut) &&
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
  c->traffic = mt_gather_moves(l, g->words.extent);
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
