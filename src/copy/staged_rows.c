/*
** staged_rows.c - in which order the rows of a tile are written: neighbours of the
** destination together.
** SPDX-License-Identifier: MIT
**
** desc/staged_desc.h has the names.
*/
#include "moontile/analysis.h"
#include "copy/algo.h"
#include "copy/gather.h"
#include "desc/divisor.h"

enum {
  MT_GAPPED = 1024,   /* bytes of a row whose lines are asked for, at most */
  MT_LEASTLANES = 64, /* lanes that write together: two warps */
  MT_FEWLANES = 256,  /* those of a block */
  MT_MOSTLANES = 2048,
  MT_FEWFIRSTS = 16 /* of each lane */
};

/* Bytes from a row to the nearest of the destination, of axes [first, end). */
static uint64_t pitch_of (const mt_desc *d, uint32_t first, uint32_t end) {
  uint64_t pitch = 0;
  for (uint32_t i = first; i < end; i++) {
    const uint64_t s = mt_magnitude(d->axis[i].stride[MT_DST]);
    if (pitch == 0 || s < pitch) pitch = s;
  }
  return pitch * d->elem;
}

/* Rows begin and end with sectors, if the first one does: none is written in part. */
static bool has_whole_sectors (const mt_desc *d) {
  const uint64_t row = (uint64_t)d->threads * d->vec * d->elem;
  return (mt_gather_steps(d) | row) % MT_SECTORBYTES == 0;
}

/* Short rows, between which the destination has elements that are not written: most of
** their lines are written in part. Lonely ones come to the L2 sooner without, and so do
** rows that have several sectors and only the last one in part. */
uint32_t mt_staged_gaps (const mt_desc *d) {
  const uint32_t end = d->nthr + d->nval + d->nrest;
  const double row = (double)d->threads * (double)d->vec * d->elem;
  const uint64_t pitch = pitch_of(d, d->nthr, end);
  double reach = d->vec;
  for (uint32_t i = 0; i < end; i++)
    reach +=
        (double)mt_magnitude(d->axis[i].stride[MT_DST]) * (double)(d->axis[i].extent - 1);
  const bool gaps = row * MT_LONELY >= (double)pitch &&
                    reach > (double)mt_accesses(d) * d->vec &&
                    row <= (pitch % MT_SECTORBYTES == 0 ? 2 * MT_SECTORBYTES : MT_GAPPED);
  return gaps && !has_whole_sectors(d) ? (uint32_t)pitch : 0;
}

/* Indices of a value axis in a tile. */
static int64_t extent_of (const mt_staged *s, const mt_desc *d, uint32_t i) {
  return i + 1 == d->nthr + d->nval ? s->tile.cut[1] : d->axis[i].extent;
}

/* The value axis whose rows are nearest in the destination. */
static uint32_t nearest_of (const mt_desc *d) {
  const uint64_t pitch = pitch_of(d, d->nthr, d->nthr + d->nval);
  uint32_t i = d->nthr;
  while (mt_magnitude(d->axis[i].stride[MT_DST]) * d->elem != pitch) i++;
  return i;
}

/* The part of a block's threads that has a row's unit, of so many lanes. */
static double busy_of (int64_t lanes) {
  const int64_t all = MT_GATHER_THREADS;
  const int64_t used = lanes < all ? all / lanes * lanes : lanes;
  return (double)used / (double)(mt_div_up(used, all) * all);
}

/* Lanes that write together: if there are many, a thread has few rows on its way. */
typedef struct lanes {
  int64_t few, most;
} lanes;

static lanes lanes_of (const mt_staged *s) {
  const int64_t all = (int64_t)s->tile.units * s->tile.rows / MT_FEWFIRSTS;
  const int64_t most = all < MT_LEASTLANES ? MT_LEASTLANES :
                       all > MT_MOSTLANES  ? MT_MOSTLANES :
                                             all;
  return (lanes){most < MT_FEWLANES ? most : MT_FEWLANES, most};
}

/* Of the rows along an axis those that keep most threads busy, if they are enough; else
** as many as there may be. `units` of each lie together already. A number that divides
** them, or any if it is the last axis; all, if the lanes would be too few. */
static int64_t part_of (int64_t extent, int64_t units, lanes x, bool last) {
  int64_t best = 0, some = 1;
  for (int64_t n = 1; n <= extent && n * units <= x.most; n++) {
    if (!last && (uint32_t)extent % (uint32_t)n != 0) continue;
    if (n * units < x.few) some = n;
    else if (best == 0 || busy_of(n * units) >= busy_of(best * units)) best = n;
  }
  if (best == 0) best = some;
  return best * units < MT_LEASTLANES ? extent : best;
}

/* Rows that lanes of a block write together: of the nearest axis, and of those behind it
** while they are few. */
static int64_t together_of (const mt_staged *s, const mt_desc *d, uint32_t i) {
  const uint32_t end = d->nthr + d->nval;
  const lanes x = lanes_of(s);
  int64_t rows = 1, extent = 1, part = 1;
  for (; i < end && part == extent && rows * s->tile.units < x.few; i++) {
    extent = extent_of(s, d, i);
    part = part_of(extent, rows * s->tile.units, x, i + 1 == end);
    rows *= part;
  }
  return rows;
}

/* Rows that follow one another in the destination, from the nearest axis on. */
static int64_t follow_of (const mt_staged *s, const mt_desc *d) {
  const uint32_t end = d->nthr + d->nval;
  uint32_t i = nearest_of(d);
  int64_t rows = extent_of(s, d, i);
  while (++i < end) {
    const uint64_t by = mt_magnitude(d->axis[i].stride[MT_DST]) * d->elem;
    if (by > (uint64_t)rows * s->gaps + MT_SECTORBYTES) break;
    rows *= extent_of(s, d, i);
  }
  return rows;
}

/* Of how many rows one asks for lines: of those that begin in a sector, and follow one
** another. */
static uint32_t asks_of (const mt_staged *s, const mt_desc *d, int64_t each) {
  const int64_t rows = follow_of(s, d);
  uint32_t n = s->gaps < MT_SECTORBYTES ? MT_SECTORBYTES / s->gaps : 1;
  while (each > rows && (uint32_t)rows % n != 0) n--;
  return n;
}

uint32_t mt_staged_entries (const mt_staged *s) {
  return s->alone.extent != 0 ? s->firsts + s->each.extent : s->tile.rows;
}

bool mt_staged_rows (mt_staged *s, const mt_desc *d) {
  const bool alone = s->alone.extent != 0;
  int64_t turn = 1, each = 1;
  if (d->nval > 0 && (s->gaps != 0 || alone)) {
    const uint32_t nearest = nearest_of(d);
    for (uint32_t i = d->nthr; i < nearest; i++) turn *= d->axis[i].extent;
    if (alone) each = together_of(s, d, nearest);
  }
  s->turn = mt_divisor_of(turn), s->each = mt_divisor_of(each);
  s->lanes = mt_divisor_of(each * s->tile.units);
  s->asks = alone && s->gaps != 0 ? asks_of(s, d, each) : 1;
  s->askers = mt_divisor_of(mt_div_up(each, s->asks));
  s->firsts = (uint32_t)(turn * mt_div_up(s->tile.rows, turn * each));
  return !alone || (s->firsts <= MT_GATHER_ROWS && each <= MT_GATHER_ROWS);
}

uint32_t mt_staged_row (const mt_staged *s, uint32_t n) {
  const uint32_t turn = s->turn.extent;
  const uint32_t each = s->alone.extent ? s->each.extent : s->tile.rows / turn;
  const uint32_t k = n / each;
  return k % turn + turn * (n % each + each * (k / turn));
}
