/*
** staged.c - copies of units that lie anywhere in the source, by way of shared memory.
** SPDX-License-Identifier: MIT
**
** The tiles are those of gather.c. What is found here is how the source of a tile is cut
** into pieces, and where each lies in shared memory. The axes of a tile go by the size of
** their strides in the source: those that stay within what is there, or touch it, make
** the piece; the others number pieces, in levels.
*/
#include "copy/algo.h"
#include "copy/gather.h"
#include "desc/axes.h"
#include "desc/divisor.h"

enum {
  MT_NEAR = 32,        /* bytes apart that a piece goes on over: a sector */
  MT_STAGED_FEW = 24,  /* words that a warp writes together: fewer are few */
  MT_STAGED_LONG = 32, /* all that it writes together */
  MT_SHEARED = 128,    /* bytes of a row that is sheared, at least */
  MT_WIDEALONE = 80    /* bytes of a row whose words are written one by one, at most */
};

/* ---------------------------------------------------------------- pieces */

/* An axis of a tile: its number, indices, those before 0, bytes of the source. */
typedef struct part {
  uint32_t axis;
  bool first; /* of thread axes */
  int64_t extent, before, stride;
} part;

static int64_t size_of (const part *p) { return (int64_t)mt_magnitude(p->stride); }

/* Words that begin before a tile's first unit have units of the tile before; and from
** where such a unit would be, those of a thread's next words are found. */
static int64_t indices_before (const mt_staged *s) {
  const mt_gather *g = &s->tile;
  const bool steps = s->step.extent < g->words.extent;
  if (g->along.extent == 1 && !steps) return 0;
  return mt_div_up((int64_t)g->ahead + g->phases - 1, g->units / g->cut[0]);
}

/* By the size of their strides. */
static int find_parts (part *p, const mt_staged *s, const mt_desc *d) {
  const mt_gather *g = &s->tile;
  int n = 0;
  for (uint32_t i = 0; i < d->nthr + d->nval; i++) {
    const bool thr = i < d->nthr, last = i + 1 == d->nthr || i + 1 == d->nthr + d->nval;
    part x = {.axis = i,
              .first = thr && i == 0,
              .extent = last ? g->cut[!thr] : d->axis[i].extent,
              .stride = d->axis[i].stride[MT_SRC] * d->elem};
    if (thr && last) x.before = indices_before(s), x.extent += x.before;
    if (x.stride == 0 || x.extent <= 1) continue;
    int j = n++;
    for (; j > 0 && size_of(&p[j - 1]) > size_of(&x); j--) p[j] = p[j - 1];
    p[j] = x;
  }
  return n;
}

/* Bytes of shared memory from the first to the last of what is there. */
static int64_t span_of (const mt_staged *s) {
  int64_t n = s->length;
  for (uint32_t i = 0; i < s->levels; i++)
    n += (int64_t)(s->level[i].extent - 1) * s->level[i].shared;
  if (s->twist > 0)
    n += (int64_t)((s->level[s->twist - 1].extent - 1) >> s->twist_log) * 16;
  return n;
}

/* The stride in shared memory behind `span` bytes: vectors of what follows are others;
** an odd number of vectors, so that columns meet other banks. */
static int64_t stride_behind (int64_t span, int64_t stride, bool aligned) {
  int64_t from = aligned ? mt_div_up(span, 16) * 16 : span + 30;
  from += (stride - from) & 15;
  return from / 16 % 2 ? from : from + 16;
}

/* Different banks, as 16 bytes, that eight threads meet which lie so many bytes apart. */
static int slots_of (int64_t bytes) {
  unsigned seen = 0;
  for (int i = 0; i < 8; i++) seen |= 1u << (i * bytes / 16 & 7);
  return __builtin_popcount(seen);
}

/* The level that was added last, of the first thread axis, is twisted if threads that
** read a word of units each meet more banks so. */
static void add_twist (mt_staged *s, const part *p, int64_t v) {
  const int64_t apart = v * s->level[s->levels - 1].shared;
  if (!p->first || p->extent < 2 * v || v == 1 || apart % 4 != 0 ||
      slots_of(apart) >= slots_of(apart + 16))
    return;
  s->twist = s->levels, s->twist_log = v == 2 ? 1 : 2;
  s->twist_from = (int32_t)(p->stride > 0 ? p->before : p->extent - 1 - p->before);
}

/* Fewer threads of a warp meet in a bank if the indices of the first thread axis are
** pieces, twisted. Eight in turn along it do not meet then; but those at different
** indices of the others do, unless all of these begin with words. */
static bool pieces_part (const part *p, int64_t v) {
  const int64_t extent = p->extent - p->before, most = 32 * v;
  const int64_t lanes = extent < most ? extent : most;
  return lanes * 8 > (extent % v == 0 ? lanes : most) * slots_of(v * size_of(p));
}

/* The first thread axis goes through what is one piece by whole vectors, so that a few
** banks have all units that threads read at a time: each index is a piece of its own. */
static bool is_column (const mt_staged *s, const part *p, int64_t v) {
  const int64_t stride = size_of(p);
  return p->first && p->extent >= 16 && stride % 16 == 0 && s->length <= stride &&
         slots_of(v * stride) < 4 && pieces_part(p, v);
}

/* A level is twisted, and stays so: pieces that another axis has of it again are few, or
** none. */
static bool keeps_twist (const mt_staged *s, const part *p) {
  const mt_staged_level *v = &s->level[s->levels - 1];
  return s->twist == s->levels && (p->extent <= 2 || size_of(p) / v->src >= v->extent);
}

/* The stride of an axis in shared memory, 0: there is no room for it. */
static int64_t add_part (mt_staged *s, const part *p, bool aligned, int64_t units) {
  const int64_t stride = size_of(p);
  mt_staged_level *v = &s->level[s->levels];
  if (s->levels == 0 && stride <= (s->length > MT_NEAR ? s->length : MT_NEAR) &&
      !is_column(s, p, units)) {
    int64_t length = s->length + stride * (p->extent - 1);
    s->length = (uint32_t)(length < MT_STAGED_SHARED ? length : MT_STAGED_SHARED);
    return stride;
  }
  if (s->levels > 0 && stride % v[-1].src == 0 && stride / v[-1].src <= v[-1].extent &&
      !keeps_twist(s, p)) {
    int64_t times = stride / v[-1].src, extent = v[-1].extent + times * (p->extent - 1);
    if (extent > MT_STAGED_PIECES) return 0;
    if (s->twist == s->levels) s->twist = s->twist_log = 0, s->twist_from = 0;
    v[-1].extent = (uint32_t)extent;
    return times * v[-1].shared;
  }
  const int64_t shared = stride_behind(span_of(s), stride, aligned);
  if (s->levels == MT_STAGED_LEVELS || shared > MT_STAGED_SHARED ||
      p->extent > MT_STAGED_PIECES)
    return 0;
  *v = (mt_staged_level){.extent = (uint32_t)p->extent,
                         .src = (int32_t)stride,
                         .shared = (int32_t)shared};
  s->levels++;
  add_twist(s, p, units);
  return shared;
}

/* The lowest byte of every piece, in every tile, is a multiple of 16. */
static bool is_aligned (const mt_launch *l, const uint32_t cut[2], const part *p, int n) {
  const mt_desc *d = &l->desc;
  const uint32_t first = d->nthr + d->nval;
  int64_t length = mt_unit_of(d, MT_SRC);
  if (!mt_begins(l, MT_SRC, 16)) return false;
  for (uint32_t i = first; i < first + d->nrest; i++)
    if (d->axis[i].stride[MT_SRC] * d->elem % 16 != 0) return false;
  for (int mode = 0; mode < 2; mode++) {
    uint32_t end = mode == 0 ? d->nthr : first;
    int64_t step = end == 0 ? 0 : d->axis[end - 1].stride[MT_SRC] * d->elem;
    if (step % 16 * cut[mode] % 16 != 0) return false;
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
static bool find_pieces (mt_staged *s, const part *p, int n, const mt_desc *d,
                         bool aligned) {
  const int64_t v = MT_GATHER_UNITS((int64_t)d->vec * d->elem);
  int64_t low = 0, first = 0, before = 0, pieces = 1;
  for (int i = 0; i < n; i++) {
    const int64_t shared = add_part(s, &p[i], aligned, v);
    const int64_t below = p[i].stride > 0 ? p[i].before : p[i].extent - 1 - p[i].before;
    if (shared == 0) return false;
    s->stride[p[i].axis] = (int32_t)(p[i].stride > 0 ? shared : -shared);
    low -= below * size_of(&p[i]), first += below * shared;
    if (p[i].axis < d->nthr) before += below * shared;
    if (span_of(s) > MT_STAGED_SHARED) return false;
  }
  for (uint32_t i = 0; i < s->levels; i++) {
    mt_staged_level *x = &s->level[i];
    if ((pieces *= x->extent) > MT_STAGED_PIECES) return false;
    x->mul = ((1U << MT_STAGED_LEVELSHIFT) + x->extent - 1) / x->extent;
  }
  s->before = (uint32_t)before;
  s->pieces = (uint32_t)pieces, s->low = (int32_t)low, s->first = (uint32_t)first;
  return true;
}

/* ---------------------------------------------------------------- steps */

/* Indices of thread axis i in a tile. */
static int64_t extent_of (const mt_desc *d, const mt_gather *g, uint32_t i) {
  return i + 1 == d->nthr ? g->cut[0] : d->axis[i].extent;
}

/* The largest common divisor of a number and a power of two. */
static int64_t common (int64_t n, int64_t two) {
  const int64_t low = n & -n;
  return low < two ? low : two;
}

/* The fewest words from `least` on, at most `most`, a multiple of `by`, whose units are
** `inner` times a number that divides `extent`; any number if that is 0. v, by: powers of
** two. 0: there are none nearby. */
static int64_t fewest (int64_t least, int64_t most, int64_t v, int64_t inner,
                       int64_t extent, int64_t by) {
  const int64_t words = inner / common(inner, v);
  const int64_t each = words / common(words, by) * by;
  int64_t step = mt_div_up(least, each) * each;
  if (extent == 0) return step <= most ? step : 0;
  const int64_t more = each * v / inner;
  int64_t n = step / each * more;
  for (int i = 0; n <= extent && i < 32 && step <= most; i++, step += each, n += more)
    if ((uint32_t)extent % (uint32_t)n == 0) return step;
  return 0;
}

/* Units that lie that many words apart in a row are as far from one another everywhere if
** no index of an axis but the last is carried. `by`: words that neighbouring threads
** write, of which there is a whole number. The fewest from `least` on; without such a
** step it is the row. */
static int64_t step_by (const mt_desc *d, const mt_gather *g, int64_t least, int64_t by) {
  const int64_t unit = (int64_t)d->vec * d->elem;
  const int64_t v = MT_GATHER_UNITS(unit), words = g->words.extent;
  const bool begins = g->phases == 1 && g->ahead == 0;
  int64_t best = words, inner = 1;
  for (uint32_t i = 0; i < d->nthr && inner <= words * v; i++) {
    const bool last = i + 1 == d->nthr;
    const int64_t e = extent_of(d, g, i);
    int64_t step = last || begins ? fewest(least, best, v, inner, last ? 0 : e, by) : 0;
    if (step != 0) best = step;
    inner *= e;
  }
  return best;
}

/* Where rows begin, as far as strides tell: the largest power of two, at most a
** sector. */
static int64_t rows_begin (const mt_desc *d, const mt_gather *g) {
  uint64_t all = mt_gather_steps(d) | MT_NEAR;
  if (g->along.extent > 1)
    all |= (uint64_t)d->axis[d->nthr - 1].stride[MT_DST] * d->elem * g->cut[0];
  return common((int64_t)all, MT_NEAR);
}

/* Wavefronts of a warp that reads one unit of each of its words, about. Words of a row
** lie equally far apart: they meet in few banks if that is a multiple of many bytes. Rows
** that are neighbours in the source have theirs beside one another. */
static double waves_of_step (const mt_desc *d, int64_t step) {
  const int64_t unit = (int64_t)d->vec * d->elem;
  const int64_t apart = d->axis[0].stride[MT_SRC] * d->elem * MT_GATHER_UNITS(unit);
  int64_t banks = 32;
  while (banks > 1 && apart % (256 / banks) == 0) banks /= 2;
  const double lanes = step < 32 ? (double)step : 32;
  return lanes > (double)banks ? lanes / (double)banks : 1;
}

/* What a row takes whose words lie so far apart, which begins at multiples of so many
** bytes: a warp writes few words together, both ends of which may be parts of sectors;
** threads find their words, and make them, some of nothing; the table has a step of
** them. */
static double step_takes (const mt_desc *d, const mt_gather *g, int64_t step,
                          int64_t begin) {
  const mt_model *m = &mt_h200;
  const int64_t unit = (int64_t)d->vec * d->elem, words = g->words.extent;
  const int64_t times = mt_div_up(words, step), made = mt_staged_made(times, unit);
  const double at = (double)common(step * MT_GATHER_WORD(unit), begin);
  const double lanes = step < 32 ? (double)step : 32;
  const double stores = (double)words / lanes + (step > 32 ? (double)times : 0);
  const double wide = unit > 4 ? (double)unit / 4 : 1, v = MT_GATHER_UNITS(unit);
  const double waves = (v * waves_of_step(d, step) + 1) * wide;
  const double table = v * (d->nthr * m->staged_place + g->phases * m->staged_entry);
  return stores * 2 * (1 - at / MT_NEAR) * m->gather_store / m->memory +
         (double)step * ((m->staged_group + table / g->rows) * m->staged_instruction +
                         (double)made * waves / 32 * m->staged_wave);
}

/* As few words as threads may have, or more, if that is faster: of rows that begin with
** sectors whole ones too; of rows that are sheared always. */
static int64_t step_of (const mt_desc *d, const mt_gather *g, int64_t unit) {
  const int64_t sector = mt_div_up(MT_NEAR, MT_GATHER_WORD(unit));
  int64_t least = mt_div_up(g->words.extent, MT_STAGED_WORDS(unit));
  if (least < sector) least = sector;
  if (g->ahead > 0) return step_by(d, g, least, sector);
  const int64_t begin = rows_begin(d, g), by = begin == MT_NEAR ? sector : 1;
  int64_t best = step_by(d, g, least, 1);
  if (best > MT_STAGED_FEW && best % by == 0) return best;
  double us = step_takes(d, g, best, begin);
  int64_t n = best % by == 0 ? 2 * least : least; /* tried once, however many they are */
  for (; n == least || n <= MT_STAGED_LONG; n *= 2) {
    const int64_t more = step_by(d, g, n, by);
    const double takes = more == best ? us : step_takes(d, g, more, begin);
    if (takes < us) best = more, us = takes;
    if (best > MT_STAGED_FEW) break;
  }
  return best;
}

/* How far unit n of a row lies behind unit 0 in shared memory. */
static int64_t unit_at (const mt_staged *s, const mt_desc *d, int64_t n) {
  int64_t at = -mt_staged_twist(s, 0);
  for (uint32_t i = 0; i < d->nthr; i++) {
    const int64_t e = i + 1 < d->nthr ? d->axis[i].extent : INT64_MAX;
    at += n % e * s->stride[i];
    if (i == 0) at += mt_staged_twist(s, (int32_t)(n % e));
    n /= e;
  }
  return at;
}

static void find_skips (mt_staged *s, const mt_desc *d, int64_t v) {
  for (uint32_t j = 1; j < MT_STAGED_MOST && j * s->step.extent < s->tile.words.extent;
       j++)
    s->skip[j] = (int32_t)unit_at(s, d, (int64_t)j * s->step.extent * v);
}

/* Of the source: as far as 32 bits count, which is further than anything lies. */
static int32_t reach_of (const mt_staged *s) {
  int64_t n = s->length - 1;
  for (uint32_t i = 0; i < s->levels; i++)
    n += (int64_t)(s->level[i].extent - 1) * s->level[i].src;
  return n < INT32_MAX ? (int32_t)n : INT32_MAX;
}

/* Where what lies in shared memory. */
static bool find_places (mt_staged *s, int64_t v, bool aligned) {
  const mt_gather *g = &s->tile;
  const int64_t units = ((int64_t)s->step.extent * v + g->ahead) * g->phases;
  const uint64_t pitch = (s->length + (aligned ? 15 : 30)) / 16 * 16;
  s->pitch = (uint32_t)pitch, s->pitch_mul = (uint32_t)((UINT32_MAX + pitch) / pitch);
  s->reach = reach_of(s);
  s->tile.table = (uint32_t)(mt_div_up(2 * units, 16) * 16);
  s->pieces_at = s->tile.table + (uint32_t)mt_div_up(8 * mt_staged_entries(s), 16) * 16;
  s->tile_at = s->pieces_at + (uint32_t)mt_div_up(8 * s->pieces, 16) * 16;
  s->data_at = s->tile_at + MT_STAGED_TILE;
  s->size = s->data_at + (uint32_t)mt_div_up(span_of(s) + 15, 16) * 16;
  return s->size <= MT_STAGED_SHARED && s->pieces * pitch * pitch <= UINT32_MAX;
}

/* Rows of such tiles are so long that words before them are few, and threads have as many
** words about as they had. */
static bool is_worth (const mt_gather *g, const mt_desc *d, int64_t step,
                      int64_t before) {
  const int64_t unit = (int64_t)d->vec * d->elem, words = g->words.extent;
  const bool sectors = step * MT_GATHER_WORD(unit) % MT_NEAR == 0 || step == words;
  return g->ahead > 0 && g->units * unit >= MT_SHEARED && sectors &&
         (step <= before || step <= MT_SHEARED / 2) &&
         mt_div_up(words, step) * step <= words + words / 8;
}

/* Tiles of few units of 4 or 8 bytes, with gaps between rows: units are words, and are
** written one by one as well. */
static bool is_wide_alone (const mt_staged *s, int64_t unit) {
  return s->gaps != 0 && unit >= 4 && unit < 16 && s->tile.along.extent == 1 &&
         s->tile.units * unit <= MT_WIDEALONE;
}

/* The tile, and a thread's step: sheared, if rows begin within sectors, and that is worth
** it; all of a row whose units are written one by one. */
static bool find_tile (mt_staged *s, const mt_launch *l, const uint32_t cut[2],
                       int64_t unit) {
  const mt_desc *d = &l->desc;
  mt_gather sheared;
  if (!mt_gather_find(&s->tile, l, cut, MT_GATHER_WORD(unit))) return false;
  if (mt_staged_is_alone(&s->tile, MT_GATHER_UNITS(unit)) || is_wide_alone(s, unit)) {
    s->alone = mt_divisor_of(s->tile.units);
    s->step = s->tile.words;
    return true;
  }
  const bool can = mt_staged_shears_rows(l) && mt_gather_find(&sheared, l, cut, MT_NEAR);
  const int64_t any = step_of(d, &s->tile, unit);
  const int64_t step = can ? step_of(d, &sheared, unit) : 0;
  const bool worth = can && is_worth(&sheared, d, step, any);
  if (worth) s->tile = sheared;
  s->step = mt_divisor_of(worth ? step : any);
  return true;
}

bool mt_staged_find (mt_staged *s, const mt_launch *l, const uint32_t cut[2]) {
  const mt_desc *d = &l->desc;
  const int64_t unit = (int64_t)d->vec * d->elem, v = MT_GATHER_UNITS(unit);
  part p[MT_MAXAXIS];
  memset(s, 0, sizeof *s);
  s->gaps = mt_staged_gaps(d), s->rotate_log = MT_STAGED_STRAIGHT;
  if (!find_tile(s, l, cut, unit)) return false;
  s->length = (uint32_t)unit;
  s->times = (uint32_t)mt_div_up(s->tile.words.extent, s->step.extent);
  s->even = s->times * s->step.extent == s->tile.words.extent && s->times % 4 == 0;
  if (!mt_staged_rows(s, d)) return false;
  const int n = find_parts(p, s, d);
  const bool aligned = is_aligned(l, cut, p, n);
  if (!find_pieces(s, p, n, d, aligned)) return false;
  find_skips(s, d, v);
  return find_places(s, v, aligned);
}

/* ---------------------------------------------------------------- busy threads */

/* Words that threads make for all tiles of a copy: all threads of a block, some of them
** for nothing. */
static double all_words (const mt_staged *s) {
  const mt_gather *g = &s->tile;
  const int64_t step = s->step.extent, groups = step * g->rows;
  return (double)g->along.extent * g->across.extent *
         (double)mt_div_up(groups, MT_GATHER_THREADS) *
         (double)mt_div_up(g->words.extent, step);
}

static void try_cut (mt_launch *l, int64_t cut0, int64_t cut1) {
  const uint32_t cut[] = {(uint32_t)cut0, (uint32_t)cut1};
  mt_staged s;
  if (cut0 < 1 || cut1 < 1 || !mt_staged_find(&s, l, cut) ||
      s.tile.ahead != l->desc.gather.ahead)
    return;
  if (all_words(&s) < all_words(&l->desc.staged)) l->desc.staged = s;
}

/* Nearly all words that threads make are those of tiles. */
static bool is_busy (const mt_desc *d) {
  const mt_gather *g = &d->gather;
  const double words = (double)g->words.extent * g->rows;
  return words * g->along.extent * g->across.extent >
         0.96 * MT_GATHER_THREADS * all_words(&d->staged);
}

/* Rows of as many words as all threads write, in whole sectors; then fewer rows. */
void mt_staged_busy (mt_launch *l) {
  const mt_desc *d = &l->desc;
  const mt_gather *g = &d->gather;
  if (d->staged.alone.extent != 0 || is_busy(d)) return;
  const int64_t unit = (int64_t)d->vec * d->elem, v = MT_GATHER_UNITS(unit);
  const int64_t inner = g->units / g->cut[0], words = inner / mt_gcd_of(inner, v);
  const int64_t sector = mt_div_up(MT_NEAR, MT_GATHER_WORD(unit));
  const int64_t each = words / mt_gcd_of(words, sector) * sector;
  const int64_t most = MT_GATHER_THREADS / each * each * MT_STAGED_WORDS(unit) * v -
                       (g->phases - 1) - g->ahead;
  const int64_t by = mt_gather_group(g, v) / mt_gcd_of(mt_gather_group(g, v), inner);
  if (g->rows == 1 && g->units > most) try_cut(l, most / inner / by * by, g->cut[1]);
  const int64_t groups = (int64_t)d->staged.step.extent * g->rows;
  const int64_t fit = groups / MT_GATHER_THREADS * MT_GATHER_THREADS;
  if (fit != groups) try_cut(l, g->cut[0], g->cut[1] * fit / groups);
}

/* ---------------------------------------------------------------- making, checking */

static bool staged_make (mt_launch *l, mt_axes mode[3], const mt_search *search,
                         char *why) {
  (void)why;
  return mt_gather_make(l, mode, MT_ALGO_STAGED, search);
}

static mt_status staged_check (const mt_launch *l, mt_err *err) {
  const mt_desc *d = &l->desc;
  mt_staged s;
  MT_TRY(mt_gather_check_run(d, err));
  MT_CHECK(d->staged.rotate_log <= MT_STAGED_STRAIGHT, err, "wrong rotation of words");
  MT_CHECK(d->threads > 0 && d->values > 0 && mt_staged_find(&s, l, d->gather.cut), err,
           "no tiles of pieces");
  s.rotate_log = d->staged.rotate_log;
  MT_CHECK(memcmp(&s, &d->staged, sizeof s) == 0, err, "wrong tiles of pieces");
  return MT_OK;
}

/* ---------------------------------------------------------------- kernels */

/* Words are rotated, or not. */
static bool staged_suits (const mt_kernel *k, const mt_desc *d) {
  return k->bytes == 0 ||
         (k->unroll == 1) == (d->staged.rotate_log != MT_STAGED_STRAIGHT);
}

static mt_grid staged_grid (const mt_kernel *k, const mt_desc *d) {
  return mt_grid_of(k, d->gather.tiles);
}

static uint32_t staged_shared (const mt_desc *d) { return d->staged.size; }

const mt_algo mt_algo_staged = {.name = "staged",
                                .needs = "is for tiles whose source fits shared memory",
                                .make = staged_make,
                                .check = staged_check,
                                .cost = mt_staged_cost,
                                .least = mt_staged_least,
                                .suits = staged_suits,
                                .grid = staged_grid,
                                .shared = staged_shared,
                                .most_shared = MT_STAGED_SHARED,
                                .thread = "run of dst",
                                .value = "rows"};
