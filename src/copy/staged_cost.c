/*
** staged_cost.c - what copies by way of shared memory cost: instructions, bank conflicts.
** SPDX-License-Identifier: MIT
*/
#include <math.h>

#include "copy/algo.h"
#include "copy/banks.h"
#include "copy/gather.h"

enum {
  MT_STAGED_ROOM = 16 << 10, /* bytes of shared memory that leave the L1 enough */
  MT_STAGED_BLOCKS = 6,      /* of a multiprocessor, if they have room */
  MT_STAGED_MULTI = 132,     /* multiprocessors of an H200 */
  MT_STAGED_ALL = 228 << 10  /* bytes of all of them, a KiB more of each */
};

/* Wavefronts, of those without a conflict, from which on words may be rotated. */
static const double MT_MANYWAVES = 1.25;

/* A coordinate of some axes, and where it lies in shared memory. */
typedef struct place {
  uint32_t at, digit[MT_MAXAXIS];
} place;

/* Index n of `count` axes from `first` on; the last one goes on beyond its extent. */
static void go_to (place *x, const mt_desc *d, uint32_t first, uint32_t count,
                   uint32_t n) {
  x->at = x->digit[0] = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t e = i + 1 < count ? (uint32_t)d->axis[first + i].extent : UINT32_MAX;
    x->digit[i] = n % e;
    x->at += x->digit[i] * (uint32_t)d->staged.stride[first + i];
    n /= e;
  }
}

/* The next index of axis i and those behind it. */
static void go_on (place *x, const mt_desc *d, uint32_t first, uint32_t count,
                   uint32_t i) {
  for (; i < count; i++) {
    const uint32_t stride = (uint32_t)d->staged.stride[first + i];
    const uint32_t e = (uint32_t)d->axis[first + i].extent;
    x->at += stride;
    if (++x->digit[i] < e || i + 1 == count) return;
    x->at -= stride * e;
    x->digit[i] = 0;
  }
}

/* Where n units of a row lie from x on, which goes on behind them. */
static inline void go_along (uint32_t *at, place *x, const mt_desc *d, uint32_t n) {
  const mt_staged *s = &d->staged;
  const uint32_t stride = d->nthr > 0 ? (uint32_t)s->stride[0] : 0;
  const uint32_t e = d->nthr > 1 ? (uint32_t)d->axis[0].extent : UINT32_MAX;
  while (n > 0) {
    const uint32_t left = e - x->digit[0], some = n < left ? n : left;
    for (uint32_t i = 0; i < some; i++) at[i] = x->at + i * stride;
    for (uint32_t i = 0; s->twist > 0 && i < some; i++)
      at[i] += (uint32_t)mt_staged_twist(s, (int32_t)(x->digit[0] + i));
    at += some, n -= some;
    x->at += some * stride, x->digit[0] += some;
    if (x->digit[0] < e) continue;
    x->at -= e * stride, x->digit[0] = 0;
    go_on(x, d, 0, d->nthr, 1);
  }
}

/* Of rows whose units are written one by one a word is a unit. */
static bool is_alone (const mt_desc *d) { return d->staged.alone.extent != 0; }
static uint32_t units_of_word (const mt_desc *d) {
  return is_alone(d) ? 1 : MT_GATHER_UNITS(d->vec * d->elem);
}
/* Threads that have words of a row. */
static uint32_t threads_of_row (const mt_desc *d) {
  return is_alone(d) ? d->gather.units : d->staged.step.extent;
}

/* Where threads [from, from + 32) of a tile read first, for words of v units that are
** rotated by rotate_log. Returns how many threads there are. */
static inline uint32_t find_reads (uint32_t at[MT_LANES], const mt_desc *d, uint32_t from,
                                   uint32_t v, uint32_t rotate_log) {
  const uint32_t step = threads_of_row(d), all = step * d->gather.rows;
  const uint32_t n = from + 32 < all ? 32 : all - from;
  const bool turns = d->staged.turn.extent > 1 || is_alone(d);
  uint32_t of[4 * MT_LANES];
  place unit, row;
  go_to(&unit, d, 0, d->nthr, from % step * v);
  go_to(&row, d, d->nthr, d->nval, mt_staged_row(&d->staged, from / step));
  for (uint32_t i = 0, left = step - from % step; i < n; left = step) {
    const uint32_t some = left < n - i ? left : n - i;
    go_along(of, &unit, d, some * v);
    for (uint32_t j = 0; j < some; j++)
      at[i + j] =
          d->staged.first + row.at + of[j * v + ((i + j) >> rotate_log & (v - 1))];
    i += some;
    go_to(&unit, d, 0, d->nthr, 0);
    if (!turns) go_on(&row, d, d->nthr, d->nval, 0);
    else go_to(&row, d, d->nthr, d->nval, mt_staged_row(&d->staged, (from + i) / step));
  }
  return n;
}

/* Bytes that are read at once, as words. */
static double wide_of (const mt_desc *d) {
  const uint32_t unit = d->vec * d->elem;
  return unit > 4 ? (double)unit / 4 : 1;
}

/* Wavefronts of shared memory for a word of each thread of a warp, without a conflict. */
static double least_waves (const mt_desc *d) {
  return ((double)units_of_word(d) + 1) * wide_of(d);
}

/* Those of the first warp of a tile, or of one in the middle: units of a word lie equally
** far from one another in most tiles, so that each meets as many banks as the first. */
static double waves_of_warp (const mt_desc *d, uint32_t middle, uint32_t rotate_log) {
  const uint32_t unit = d->vec * d->elem, v = units_of_word(d);
  const uint32_t groups = threads_of_row(d) * d->gather.rows;
  uint32_t at[MT_LANES];
  const uint32_t n = find_reads(at, d, groups / 64 * 32 * middle, v, rotate_log);
  return (double)(v * mt_banks_wavefronts(at, n, unit)) + wide_of(d);
}

/* How many threads along the first thread axis meet different banks, as a logarithm: the
** next ones meet those again. STRAIGHT: all of a warp do. */
static uint32_t rotate_log_of (const mt_desc *d) {
  enum { BANKS_LOG = 5 };
  const uint32_t v = units_of_word(d);
  const uint32_t bytes = d->nthr == 0 ? 0 : (uint32_t)d->staged.stride[0] * v;
  if (v == 1 || bytes % 4 != 0) return MT_STAGED_STRAIGHT;
  const uint32_t twos = (uint32_t)__builtin_ctz(bytes / 4 | 1u << BANKS_LOG);
  return twos == 0 ? MT_STAGED_STRAIGHT : BANKS_LOG - twos;
}

double mt_staged_rotate (mt_desc *d) {
  const double waves = waves_of_warp(d, 0, MT_STAGED_STRAIGHT);
  const uint32_t log = rotate_log_of(d);
  d->staged.rotate_log = MT_STAGED_STRAIGHT;
  if (log == MT_STAGED_STRAIGHT || waves < MT_MANYWAVES * least_waves(d)) return waves;
  const double rotated = waves_of_warp(d, 0, log);
  if (rotated >= waves) return waves;
  d->staged.rotate_log = log;
  return rotated;
}

/* On the average of both. */
static double waves_of (const mt_desc *d) {
  const uint32_t log = d->staged.rotate_log;
  return (waves_of_warp(d, 0, log) + waves_of_warp(d, 1, log)) / 2;
}

/* Words of a tile that rows have in part. */
static double parts_of (const mt_desc *d) {
  const mt_gather *g = &d->gather;
  const double v = MT_GATHER_UNITS(d->vec * d->elem);
  const double ends = (double)(g->phases > 1) + (d->threads % (int64_t)v != 0);
  return ends * g->rows / g->along.extent;
}

/* Rows of a tile on the average. */
static double rows_of (const mt_desc *d) {
  return (double)d->values / d->gather.across.extent;
}

/* Words of a thread, those of nothing too: some are on their way at once. */
static double times_of (const mt_desc *d) {
  return (double)mt_staged_made(d->staged.times, (int64_t)d->vec * d->elem);
}

/* Warps' instructions for the words of a tile, times 32: threads find them, and put them
** together out of units. */
static double write_of (const mt_desc *d) {
  const mt_model *m = &mt_h200;
  const double groups = (double)threads_of_row(d) * rows_of(d);
  const double rounds = ceil(groups / MT_GATHER_THREADS);
  if (is_alone(d)) {
    const uint32_t rows = MT_GATHER_THREADS / d->gather.units;
    return ceil(rows_of(d) / rows) * MT_GATHER_THREADS * m->staged_alone;
  }
  return rounds * MT_GATHER_THREADS * (m->staged_group + m->staged_word * times_of(d)) +
         parts_of(d) * m->staged_part;
}

/* Those for the tables of a tile, and to fetch it. */
static double begin_of (const mt_desc *d) {
  const mt_model *m = &mt_h200;
  const mt_staged *s = &d->staged;
  const double units =
      (double)s->step.extent * MT_GATHER_UNITS(d->vec * d->elem) + s->tile.ahead;
  return m->staged_block + d->nrest * m->staged_axis +
         units * (d->nthr * m->staged_place + s->tile.phases * m->staged_entry) +
         s->pieces * (s->levels + 1.0) * m->staged_piece +
         (double)s->pieces * (s->pitch / 16) * m->staged_vector;
}

/* The part of a block's threads that have words. */
static double busy_of (const mt_desc *d) {
  const mt_staged *s = &d->staged;
  const double threads =
      is_alone(d) ? s->lanes.extent : (double)s->step.extent * d->gather.rows;
  return threads < MT_GATHER_THREADS ? threads / MT_GATHER_THREADS : 1;
}

/* The last tiles of a copy take as long as others, with less to do beside them: the part
** that they are, of so many tiles of which so many blocks are at once. */
static double last_of (double tiles, double blocks) {
  const double turns = tiles / (blocks * MT_STAGED_MULTI);
  return turns > 1 ? 1 / turns : 1;
}

/* Of tiles that leave the L1 little room; of fewer, larger ones than most copies have, or
** than a quarter of that of rows with gaps. */
static double full_of (const mt_desc *d) {
  const mt_model *m = &mt_h200;
  const bool gaps = d->staged.gaps != 0;
  const uint32_t size = d->staged.size, room = MT_STAGED_ALL / (size + 1024);
  const double blocks = room < MT_STAGED_BLOCKS ? room : MT_STAGED_BLOCKS;
  const double bytes = (double)mt_accesses(d) * d->vec * d->elem;
  const double most = bytes / MT_GATHER_TILE * (gaps ? 4 : 1);
  const double last = last_of(d->gather.tiles, blocks) - last_of(most, MT_STAGED_BLOCKS);
  const double more = size > MT_STAGED_ROOM ? size - MT_STAGED_ROOM : 0;
  return 1 + m->staged_usual + m->staged_full * more / MT_GATHER_TILE +
         (m->staged_tail + (gaps ? m->staged_gaps : 0)) * (last > 0 ? last : 0);
}

/* Microseconds of all tiles: of the instructions of all multiprocessors, threads that
** have no words take as long as others; of a wavefront for a word of each thread of a
** warp. And how many times as long all takes, as the GPU is full of such tiles. */
typedef struct effort {
  double instructions, wave, full;
} effort;

static effort effort_of (const mt_desc *d) {
  const double warps = ceil(threads_of_row(d) * rows_of(d) / 32);
  const double tiles = d->gather.tiles * (1 + mt_h200.staged_idle * (1 - busy_of(d)));
  return (effort){.instructions =
                      tiles * (write_of(d) + begin_of(d)) * mt_h200.staged_instruction,
                  .wave = tiles * warps * times_of(d) * mt_h200.staged_wave,
                  .full = full_of(d)};
}

/* Memory and instructions take their time at once, but for a part of the shorter one, the
** more so the longer it is. */
static double both_take (double issue, double traffic) {
  const double moves = traffic / (mt_h200.memory * mt_h200.of[MT_ALGO_STAGED].speed);
  const double less = issue < moves ? issue : moves, more = issue + moves - less;
  return more + mt_h200.staged_both * less * less / more;
}

static double traffic_of (const mt_launch *l) {
  return mt_gather_moves(l, l->desc.staged.step.extent, l->desc.gather.ahead > 0);
}

/* All of it, with so many wavefronts for a word of each thread of a warp. */
static double all_takes (const effort *e, double waves, double traffic) {
  return e->full * both_take(e->instructions + waves * e->wave, traffic);
}

void mt_staged_cost (mt_cost *c, const mt_launch *l) {
  const effort e = effort_of(&l->desc);
  c->traffic = traffic_of(l);
  c->least = all_takes(&e, waves_of(&l->desc), c->traffic);
}

/* With so much traffic and so many wavefronts. */
static double us_by (const mt_launch *l, const effort *e, double traffic, double waves) {
  const mt_cost c = {.traffic = traffic,
                     .slow = 1,
                     .least = all_takes(e, waves, traffic)};
  return mt_cost_us(&c, l);
}

double mt_staged_us (mt_launch *l, double limit) {
  const effort e = effort_of(&l->desc);
  const double traffic = traffic_of(l), least = least_waves(&l->desc);
  double us = us_by(l, &e, traffic, least);
  if (mt_is_above(us, limit)) return us;
  const double first = mt_staged_rotate(&l->desc);
  if (first > least) us = us_by(l, &e, traffic, (first + least) / 2);
  if (mt_is_above(us, limit)) return us;
  const double middle = waves_of_warp(&l->desc, 1, l->desc.staged.rotate_log);
  return first + middle > 2 * least ? us_by(l, &e, traffic, (first + middle) / 2) : us;
}

/* Tiles of four times MT_GATHER_TILE bytes, each byte of their source fetched once, words
** of rows that are whole, no thread idle, no bank met twice. */
void mt_staged_least (mt_cost *c, const mt_launch *l) {
  const mt_model *m = &mt_h200;
  const mt_desc *d = &l->desc;
  const double unit = (double)mt_unit_of(d, MT_SRC), n = (double)mt_accesses(d);
  const double v = MT_GATHER_UNITS((int64_t)unit), words = n / v;
  const double word =
      m->staged_word + m->staged_group / (double)MT_STAGED_WORDS((int64_t)unit);
  const double fetched = (c->traffic - n * unit) / 16 * m->staged_vector;
  const double begin = n * unit / (4 * MT_GATHER_TILE) * m->staged_block;
  const double issue = (words * word + fetched + begin) * m->staged_instruction +
                       words / 32 * least_waves(d) * m->staged_wave;
  c->least = (1 + m->staged_usual) * both_take(issue, c->traffic);
}
