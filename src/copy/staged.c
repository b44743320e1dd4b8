/*
** staged.c - copies of units that lie anywhere in the source, by way of shared memory.
** SPDX-License-Identifier: MIT
**
** The tiles are those of gather.c. What is found here is how the source of a tile is cut
** into pieces, and where each lies in shared memory. The axes of a tile go by the size of
** their strides in the source: those that stay within what is there, or touch it, make
** the piece; the others number pieces, in levels.
*/
#include <stdlib.h>

#include "copy/algo.h"
#include "copy/gather.h"
#include "desc/axes.h"
#include "desc/divisor.h"

enum {
  MT_STAGED_BLOCKS = 8,      /* of a multiprocessor, at most: by registers */
  MT_STAGED_EACH = 16,       /* tiles of a block, at most */
  MT_MULTIPROCESSORS = 132,  /* of the GPU that costs are of */
  MT_SM_SHARED = 227 * 1024, /* bytes of a multiprocessor for blocks */
  MT_NEAR = 32               /* bytes apart that a piece goes on over: a sector */
};

/* ---------------------------------------------------------------- pieces */

/* An axis of a tile: its number, indices, those before 0, bytes of the source. */
typedef struct part {
  uint32_t axis;
  int64_t extent, before, stride;
} part;

static int64_t size_of (const part *p) { return (int64_t)mt_magnitude(p->stride); }

static int by_size (const void *a, const void *b) {
  int64_t x = size_of(a), y = size_of(b);
  return (x > y) - (x < y);
}

/* Words that begin before a tile's first unit have units of the tile before; and from
** where such a unit would be, those of a thread's next words are found. */
static int64_t indices_before (const mt_staged *s, int64_t v) {
  const mt_gather *g = &s->tile;
  const bool steps = s->step.extent < g->words.extent;
  if (g->phases == 1 || (g->along.extent == 1 && !steps)) return 0;
  return mt_div_up(v - 1, g->units / g->cut[0]);
}

static int find_parts (part *p, const mt_staged *s, const mt_desc *d, int64_t v) {
  const mt_gather *g = &s->tile;
  int n = 0;
  for (uint32_t i = 0; i < d->nthr + d->nval; i++) {
    const bool thr = i < d->nthr, last = i + 1 == d->nthr || i + 1 == d->nthr + d->nval;
    part x = {.axis = i,
              .extent = last ? g->cut[!thr] : d->axis[i].extent,
              .stride = d->axis[i].stride[MT_SRC] * d->elem};
    if (thr && last) x.before = indices_before(s, v), x.extent += x.before;
    if (x.stride != 0 && x.extent > 1) p[n++] = x;
  }
  qsort(p, (size_t)n, sizeof *p, by_size);
  return n;
}

/* Bytes of shared memory from the first to the last of what is there. */
static int64_t span_of (const mt_staged *s) {
  int64_t n = s->length;
  for (uint32_t i = 0; i < s->levels; i++)
    n += (int64_t)(s->level[i].extent - 1) * s->level[i].shared;
  return n;
}

/* Bytes of the source from the lowest of a tile to behind the highest. */
static int64_t reach_of (const mt_staged *s) {
  int64_t n = s->length;
  for (uint32_t i = 0; i < s->levels; i++)
    n += (int64_t)(s->level[i].extent - 1) * s->level[i].src;
  return n;
}

/* The stride in shared memory behind `span` bytes: vectors of what follows are others;
** an odd number of vectors, so that columns meet other banks. */
static int64_t stride_behind (int64_t span, int64_t stride, bool aligned) {
  int64_t from = aligned ? mt_div_up(span, 16) * 16 : span + 30;
  from += (stride - from) & 15;
  return from / 16 % 2 ? from : from + 16;
}

/* The stride of an axis in shared memory, 0: there is no room for it. */
static int64_t add_part (mt_staged *s, const part *p, bool aligned) {
  const int64_t stride = size_of(p);
  mt_staged_level *v = &s->level[s->levels];
  if (s->levels == 0 && stride <= (s->length > MT_NEAR ? s->length : MT_NEAR)) {
    int64_t length = s->length + stride * (p->extent - 1);
    s->length = (uint32_t)(length < MT_STAGED_SHARED ? length : MT_STAGED_SHARED);
    return stride;
  }
  if (s->levels > 0 && stride % v[-1].src == 0 && stride / v[-1].src <= v[-1].extent) {
    int64_t times = stride / v[-1].src, extent = v[-1].extent + times * (p->extent - 1);
    if (extent > MT_STAGED_PIECES) return 0;
    v[-1].extent = (uint32_t)extent;
    return times * v[-1].shared;
  }
  const int64_t shared = stride_behind(span_of(s), stride, aligned);
  if (s->levels == MT_STAGED_LEVELS || shared > MT_STAGED_SHARED ||
      p->extent > MT_STAGED_PIECES)
    return 0;
  *v = (mt_staged_level){(uint32_t)p->extent, (int32_t)stride, (int32_t)shared};
  s->levels++;
  return shared;
}

/* The lowest byte of every piece, in every tile, is a multiple of 16. */
static bool is_aligned (const mt_launch *l, const part *p, int n, int64_t unit) {
  const mt_desc *d = &l->desc;
  const uint32_t first = d->nthr + d->nval;
  int64_t length = unit;
  if (!mt_begins(l, MT_SRC, 16)) return false;
  for (uint32_t i = first; i < first + d->nrest; i++)
    if (d->axis[i].stride[MT_SRC] * d->elem % 16 != 0) return false;
  for (int mode = 0; mode < 2; mode++) {
    uint32_t end = mode == 0 ? d->nthr : first;
    int64_t step = end == 0 ? 0 : d->axis[end - 1].stride[MT_SRC] * d->elem;
    if (step % 16 * d->gather.cut[mode] % 16 != 0) return false;
  }
  for (int i = 0; i < n; i++) {
    const int64_t s = size_of(&p[i]);
    const bool within = s <= (length > MT_NEAR ? length : MT_NEAR);
    if (within) length += s * (p[i].extent - 1);
    if (s % 16 == 0) continue;
    if (!within || p[i].stride < 0 || p[i].before > 0) return false;
  }
  return true;
}

/* The pieces of a tile, whose first axes are thread axes. False: too many, or they take
** too much. */
static bool find_pieces (mt_staged *s, const part *p, int n, uint32_t thr, bool aligned) {
  int64_t low = 0, first = 0, before = 0, pieces = 1;
  for (int i = 0; i < n; i++) {
    const int64_t shared = add_part(s, &p[i], aligned);
    const int64_t below = p[i].stride > 0 ? p[i].before : p[i].extent - 1 - p[i].before;
    if (shared == 0) return false;
    s->stride[p[i].axis] = (int32_t)(p[i].stride > 0 ? shared : -shared);
    low -= below * size_of(&p[i]), first += below * shared;
    if (p[i].axis < thr) before += below * shared;
    if (span_of(s) > MT_STAGED_SHARED) return false;
  }
  for (uint32_t i = 0; i < s->levels; i++)
    if ((pieces *= s->level[i].extent) > MT_STAGED_PIECES) return false;
  s->before = (uint32_t)before;
  s->pieces = (uint32_t)pieces, s->low = (int32_t)low, s->first = (uint32_t)first;
  s->reach = (int32_t)reach_of(s);
  return true;
}

/* ---------------------------------------------------------------- steps */

/* Indices of thread axis i in a tile. */
static int64_t extent_of (const mt_desc *d, const mt_gather *g, uint32_t i) {
  return i + 1 == d->nthr ? g->cut[0] : d->axis[i].extent;
}

/* The fewest words from `least` on, at most `most`, whose units are `inner` times a
** number that divides `extent`; any number if that is 0. 0: there are none nearby. */
static int64_t fewest (int64_t least, int64_t most, int64_t v, int64_t inner,
                       int64_t extent) {
  const int64_t each = inner / mt_gcd_of(inner, v); /* words */
  int64_t step = mt_div_up(least, each) * each;
  for (int i = 0; extent != 0 && i < 32 && step <= most; i++, step += each)
    if (extent % (step * v / inner) == 0) return step;
  return extent == 0 && step <= most ? step : 0;
}

/* Units that lie that many words apart in a row are as far from one another everywhere if
** no index of an axis but the last is carried; neighbouring threads write sectors. */
static int64_t step_of (const mt_desc *d, const mt_gather *g, int64_t unit) {
  const int64_t v = MT_GATHER_UNITS(unit), words = g->words.extent;
  const int64_t sector = mt_div_up(MT_NEAR, MT_GATHER_WORD(unit));
  int64_t least = mt_div_up(words, MT_STAGED_WORDS(unit)), best = words, inner = 1;
  if (least < sector) least = sector;
  for (uint32_t i = 0; i < d->nthr && inner <= words * v; i++) {
    const bool last = i + 1 == d->nthr;
    const int64_t e = extent_of(d, g, i);
    int64_t step =
        last || g->phases == 1 ? fewest(least, best, v, inner, last ? 0 : e) : 0;
    if (step != 0) best = step;
    inner *= e;
  }
  return best;
}

/* How far unit n of a row lies behind unit 0 in shared memory. */
static int64_t unit_at (const mt_staged *s, const mt_desc *d, int64_t n) {
  int64_t at = 0;
  for (uint32_t i = 0; i < d->nthr; i++) {
    const int64_t e = i + 1 < d->nthr ? d->axis[i].extent : INT64_MAX;
    at += n % e * s->stride[i];
    n /= e;
  }
  return at;
}

static void find_skips (mt_staged *s, const mt_desc *d, int64_t v) {
  for (uint32_t j = 1; j < 4 && j * s->step.extent < s->tile.words.extent; j++)
    s->skip[j] = (int32_t)unit_at(s, d, (int64_t)j * s->step.extent * v);
}

/* Where what lies in shared memory. */
static bool find_places (mt_staged *s, int64_t v, bool aligned) {
  const mt_gather *g = &s->tile;
  const int64_t units = (int64_t)s->step.extent * v * g->phases;
  s->vectors = mt_divisor_of(((int64_t)s->length + (aligned ? 15 : 30)) / 16);
  s->tile.table = (uint32_t)(mt_div_up(2 * units, 16) * 16);
  s->pieces_at = s->tile.table + (uint32_t)mt_div_up(8 * g->rows, 16) * 16;
  s->data_at = s->pieces_at + (uint32_t)mt_div_up(8 * s->pieces, 16) * 16;
  s->size = s->data_at + (uint32_t)mt_div_up(span_of(s) + 15, 16) * 16;
  return s->size <= MT_STAGED_SHARED;
}

bool mt_staged_find (mt_staged *s, const mt_launch *l, const uint32_t cut[2]) {
  const mt_desc *d = &l->desc;
  const int64_t unit = (int64_t)d->vec * d->elem, v = MT_GATHER_UNITS(unit);
  mt_launch tiled;
  part p[MT_MAXAXIS];
  memset(s, 0, sizeof *s);
  if (!mt_gather_find(&s->tile, l, cut)) return false;
  tiled = *l;
  tiled.desc.gather = s->tile;
  s->length = (uint32_t)unit;
  s->step = mt_divisor_of(step_of(d, &s->tile, unit));
  const int n = find_parts(p, s, &tiled.desc, v);
  const bool aligned = is_aligned(&tiled, p, n, unit);
  if (!find_pieces(s, p, n, d->nthr, aligned)) return false;
  find_skips(s, d, v);
  return find_places(s, v, aligned);
}

/* ---------------------------------------------------------------- making, checking */

static bool staged_make (mt_launch *l, mt_axes mode[3], char *why) {
  (void)why;
  return mt_gather_make(l, mode, MT_ALGO_STAGED);
}

static mt_status staged_check (const mt_launch *l, mt_err *err) {
  const mt_desc *d = &l->desc;
  mt_staged s;
  MT_TRY(mt_gather_check_run(d, err));
  MT_CHECK(d->threads > 0 && d->values > 0 && mt_staged_find(&s, l, d->gather.cut) &&
               memcmp(&s, &d->staged, sizeof s) == 0,
           err, "wrong tiles of pieces");
  return MT_OK;
}

/* ---------------------------------------------------------------- cost */

/* Where unit n of a tile's row r lies in shared memory. */
static uint32_t staged_at (const mt_desc *d, uint32_t n, uint32_t r) {
  uint32_t at = d->staged.first;
  for (uint32_t i = 0; i < d->nthr + d->nval; i++) {
    bool thr = i < d->nthr, last = i + 1 == d->nthr || i + 1 == d->nthr + d->nval;
    uint32_t *left = thr ? &n : &r, e = (uint32_t)d->axis[i].extent;
    at += (last ? *left : *left % e) * (uint32_t)d->staged.stride[i];
    *left = last ? 0 : *left / e;
  }
  return at;
}

/* How often threads [from, from + 32) of a tile meet at a bank for unit i of their words:
** at the bank where most do; the same word is once. */
static int meetings_of (const mt_desc *d, uint32_t from, uint32_t i, uint32_t v) {
  const mt_gather *g = &d->gather;
  const uint32_t words = g->words.extent, all = words * g->rows;
  uint32_t seen[32], end = from + 32 < all ? from + 32 : all;
  int first[32], next[32], count[32] = {0}, most = 1, n = 0;
  memset(first, -1, sizeof first);
  for (uint32_t w = from; w < end; w++) {
    const uint32_t at = staged_at(d, w % words * v + i, w / words) >> 2, bank = at & 31;
    int k = first[bank];
    while (k >= 0 && seen[k] != at) k = next[k];
    if (k >= 0) continue;
    seen[n] = at, next[n] = first[bank], first[bank] = n++;
    if (++count[bank] > most) most = count[bank];
  }
  return most;
}

/* Wavefronts of shared memory for 32 words of a tile, on the average of two warps. */
static double waves_of (const mt_desc *d) {
  const uint32_t unit = d->vec * d->elem, v = MT_GATHER_UNITS(unit);
  const uint32_t words = d->gather.words.extent * d->gather.rows;
  const double wide = unit > 4 ? (double)unit / 4 : 1;
  double sum = 0;
  for (uint32_t i = 0; i < v; i++)
    sum += (double)(meetings_of(d, 0, i, v) + meetings_of(d, words / 2, i, v)) / 2;
  return sum * wide + (v == 4 ? 2 : 1) + (d->gather.rows > 1 ? 2 : 0) + wide;
}

static int64_t blocks_of (const mt_desc *d) {
  const int64_t room = MT_SM_SHARED / (d->staged.size + 1024);
  return room < MT_STAGED_BLOCKS ? room : MT_STAGED_BLOCKS;
}

/* What reads take longer since too few bytes of them are on their way. */
static double slow_of (const mt_desc *d, double read, double written) {
  const double flying = (double)blocks_of(d) * d->staged.pieces * d->staged.length;
  const double need = mt_h200.staged_flying * 2 * read / (read + written);
  return flying < need ? (1 + need / flying) / 2 : 1;
}

/* Microseconds of the instructions and requests of a tile. */
static double issue_of (const mt_desc *d) {
  const mt_staged *s = &d->staged;
  const double words = (double)s->tile.words.extent * s->tile.rows / 32;
  const double rows = d->nval > 1 ? s->tile.rows : d->nval * s->tile.rows / 16.0;
  const double torn = d->gather.phases > 1 ? mt_h200.staged_phase : 0;
  return words * (waves_of(d) * mt_h200.staged_wave + torn) +
         s->pieces * mt_h200.staged_piece + rows * mt_h200.staged_row +
         mt_gather_parts(d) * mt_h200.staged_part;
}

/* What is read, what is written and the instructions take their time in turn: a block
** does one of them at a time, and there are few blocks. */
static void staged_cost (mt_cost *c, const mt_launch *l) {
  const mt_desc *d = &l->desc;
  const mt_staged *s = &d->staged;
  const double tiles = (double)mt_accesses(d) / ((double)s->tile.units * s->tile.rows);
  const double read = mt_gather_moves(l, MT_SRC), written = mt_gather_moves(l, MT_DST);
  c->traffic = tiles * (read + written);
  c->slow = slow_of(d, read, written);
  c->least = (d->nthr + d->nval) * mt_h200.staged_table + tiles * issue_of(d) +
             c->traffic * c->slow / (mt_h200.memory * mt_h200.of[MT_ALGO_STAGED].speed);
}

/* ---------------------------------------------------------------- kernels */

/* Blocks that make their tables for several tiles, and fill the GPU some whole times. */
static mt_grid staged_grid (const mt_kernel *k, const mt_desc *d) {
  const int64_t fill = MT_MULTIPROCESSORS * blocks_of(d), tiles = d->gather.tiles;
  int64_t rounds = mt_div_up(tiles, fill);
  int64_t each = rounds ? mt_div_up(rounds, mt_div_up(rounds, MT_STAGED_EACH)) : 1;
  return mt_grid_of(k, mt_div_up(tiles, each));
}

static uint32_t staged_shared (const mt_desc *d) { return d->staged.size; }

const mt_algo mt_algo_staged = {.name = "staged",
                                .needs = "is for tiles whose source fits shared memory",
                                .make = staged_make,
                                .check = staged_check,
                                .cost = staged_cost,
                                .grid = staged_grid,
                                .shared = staged_shared,
                                .most_shared = MT_STAGED_SHARED,
                                .thread = "run of dst",
                                .value = "rows"};
