/*
** gather_tiles.c - the geometry of tiles of words whose units lie anywhere.
** SPDX-License-Identifier: MIT
*/
#include "moontile/analysis.h"
#include "copy/gather.h"
#include "desc/axes.h"
#include "desc/divisor.h"
#include "desc/gather_desc.h"

/* Bytes of the source, between two reads of a line, that caches do not hold it for. */
enum { MT_GATHER_CACHES = 32 << 20 };

static int64_t unit_of (const mt_desc *d) { return (int64_t)d->vec * d->elem; }
static int64_t word_units (const mt_desc *d) { return MT_GATHER_UNITS(unit_of(d)); }

/* The last axis of a mode: what is cut. NULL: it has none. */
static const mt_axis *last_of (const mt_desc *d, int mode) {
  uint32_t n = mode == 0 ? d->nthr : d->nval;
  return n == 0 ? NULL : &d->axis[(mode == 0 ? 0 : d->nthr) + n - 1];
}

/* How far `cut` indices of a mode reach on a side, in bytes: below 2^31 or not. */
static bool is_near (const mt_desc *d, int mode, int side, int64_t cut) {
  const uint32_t first = mode == 0 ? 0 : d->nthr, n = mode == 0 ? d->nthr : d->nval;
  uint64_t sum = 0;
  for (uint32_t i = first; i < first + n; i++) {
    uint64_t s = mt_magnitude(d->axis[i].stride[side]) * d->elem;
    uint64_t e = (uint64_t)(i + 1 < first + n ? d->axis[i].extent : cut) + 4;
    if (s > INT32_MAX) return false;
    sum += s * e;
  }
  return sum <= INT32_MAX;
}

uint64_t mt_gather_steps (const mt_desc *d) {
  uint64_t all = 0;
  for (uint32_t i = d->nthr; i < d->nthr + d->nval + d->nrest; i++)
    all |= (uint64_t)d->axis[i].stride[MT_DST] * d->elem;
  return all;
}

/* All rows begin at multiples of so many bytes, a power of two. */
static bool is_aligned (const mt_launch *l, int64_t grain) {
  return mt_begins(l, MT_DST, (uint64_t)grain) &&
         mt_gather_steps(&l->desc) % (uint64_t)grain == 0;
}

bool mt_staged_shears_rows (const mt_launch *l) {
  return mt_staged_shears(&l->desc) && !is_aligned(l, MT_SECTORBYTES);
}

/* Units are bytes, rows begin with words, and all of them, and all tiles, at the same
** address modulo 4 in the source. */
static bool has_spans (const mt_desc *d, const uint32_t cut[2], bool aligned) {
  if (unit_of(d) != 1 || !aligned) return false;
  for (uint32_t i = d->nthr; i < d->nthr + d->nval + d->nrest; i++)
    if (d->axis[i].stride[MT_SRC] % 4 != 0) return false;
  const mt_axis *last = last_of(d, 0);
  return last == NULL || cut[0] == last->extent ||
         last->stride[MT_SRC] % 4 * (cut[0] % 4) % 4 == 0;
}

/* How far the units of a tile lie before and behind its first one, in bytes. */
static void find_reach (int64_t reach[2], const mt_desc *d, const uint32_t cut[2]) {
  reach[0] = 0, reach[1] = unit_of(d);
  for (uint32_t i = 0; i < d->nthr + d->nval; i++) {
    bool thr = i < d->nthr, last = i + 1 == d->nthr || i + 1 == d->nthr + d->nval;
    int64_t e = last ? cut[!thr] : d->axis[i].extent;
    int64_t far = (e - 1) * d->axis[i].stride[MT_SRC] * d->elem;
    reach[far > 0] += far;
  }
}

/* Tiles along an axis of which `cut` are taken; `more`: units behind its end. */
static int64_t tiles_of (const mt_axis *a, int64_t size, int64_t cut, int64_t more) {
  return a == NULL || cut >= a->extent ? 1 :
                                         mt_div_up(size + more, size / a->extent * cut);
}

/* Bytes of the source from the first tile of an index of rest to the last. */
static double span_of (const mt_desc *d, const mt_gather *g) {
  double span = 0;
  for (int mode = 0; mode < 2; mode++) {
    const mt_axis *a = last_of(d, mode);
    if (a == NULL || g->cut[mode] >= a->extent) continue;
    span += (double)mt_magnitude(a->stride[MT_SRC]) * d->elem * (double)a->extent;
  }
  return span;
}

/* Indices of rest that come before those of tiles: of its first axes those that go on
** within lines of the source, where caches do not have these any more once all tiles of
** an index were read. */
static int64_t first_of (const mt_desc *d, const mt_gather *g) {
  const uint32_t from = d->nthr + d->nval;
  int64_t n = 1;
  if (span_of(d, g) < MT_GATHER_CACHES) return 1;
  for (uint32_t i = from; i < from + d->nrest; i++) {
    if (mt_magnitude(d->axis[i].stride[MT_SRC]) * d->elem >= MT_LINEBYTES) break;
    n *= d->axis[i].extent;
  }
  return n;
}

/* Rows of a tile, at most. */
static uint32_t most_rows (const mt_gather *g, const mt_desc *d) {
  const bool alone = d->algo == MT_ALGO_STAGED && mt_staged_is_alone(g, word_units(d));
  return alone ? MT_STAGED_ROWS : MT_GATHER_ROWS;
}

/* There is room for the table of units: that of STAGED has those of a thread's first word
** only, and is counted with all else that a block has there. */
static bool has_table (const mt_desc *d, int64_t units, int64_t phases) {
  return d->algo == MT_ALGO_STAGED || units * 4 * phases <= MT_GATHER_TABLE;
}

bool mt_gather_find (mt_gather *g, const mt_launch *l, const uint32_t cut[2],
                     int64_t grain) {
  const mt_desc *d = &l->desc;
  const int64_t v = word_units(d), size[2] = {d->threads, d->values};
  const int64_t phases = is_aligned(l, v * unit_of(d)) ? 1 : v;
  const int64_t group = is_aligned(l, grain) ? v : grain / unit_of(d);
  const int64_t more = group - v + phases - 1;
  int64_t has[2], tiles[2], words, all;
  memset(g, 0, sizeof *g);
  for (int mode = 0; mode < 2; mode++) {
    const mt_axis *a = last_of(d, mode);
    if (cut[mode] < 1 || (a ? cut[mode] > a->extent : cut[mode] != 1)) return false;
    if (!is_near(d, mode, MT_SRC, cut[mode]) || !is_near(d, mode, MT_DST, cut[mode]))
      return false;
    g->cut[mode] = cut[mode];
    has[mode] = a ? size[mode] / a->extent * cut[mode] : 1;
    tiles[mode] = tiles_of(a, size[mode], cut[mode], mode == 0 ? more : 0);
  }
  words = mt_div_up(tiles[0] > 1 ? has[0] : has[0] + more, v);
  if ((tiles[0] > 1 && has[0] % group != 0) || has[1] > MT_STAGED_ROWS ||
      !has_table(d, words * v, phases) || mt_mulo(tiles[0], tiles[1], &all) ||
      mt_mulo(all, d->rests, &all) || all > INT32_MAX)
    return false;
  g->units = (uint32_t)has[0], g->rows = (uint32_t)has[1];
  g->phases = (uint32_t)phases, g->ahead = (uint32_t)(group - v);
  g->tiles = (uint32_t)all;
  g->table = (uint32_t)mt_div_up(words * v * 4 * phases, 16) * 16;
  g->words = mt_divisor_of(words);
  g->spans = has_spans(d, cut, phases == 1);
  find_reach(g->reach, d, cut);
  g->along = mt_divisor_of(tiles[0]), g->across = mt_divisor_of(tiles[1]);
  g->first = mt_divisor_of(first_of(d, g));
  return g->rows <= most_rows(g, d);
}
