/*
** staged_rows.c - in which order the rows of a tile are written: neighbours of the
** destination together.
** SPDX-License-Identifier: MIT
**
** desc/staged_desc.h has the names.
*/
#include "copy/algo.h"
#include "copy/gather.h"
#include "desc/divisor.h"

enum {
  MT_GAPNEAR = 32,    /* bytes: a sector */
  MT_GAPPED = 1024,   /* bytes of a row whose lines are asked for, at most */
  MT_FEWLANES = 256,  /* lanes that write together, at least */
  MT_MOSTLANES = 2048 /* and at most */
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
                    row <= (pitch % MT_GAPNEAR == 0 ? 2 * MT_GAPNEAR : MT_GAPPED);
  return gaps ? (uint32_t)pitch : 0;
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

/* Of `most` rows along an axis as many as keep most threads busy: a part of them that
** divides `most`, or any if it is the last axis. */
static int64_t part_of (int64_t most, int64_t units, bool last) {
  int64_t best = most;
  for (int64_t n = 1; n < most && n * units <= MT_MOSTLANES; n++)
    if (n * units >= MT_FEWLANES && (last || (uint32_t)most % (uint32_t)n == 0) &&
        (best * units > MT_MOSTLANES || busy_of(n * units) >= busy_of(best * units)))
      best = n;
  return best;
}

/* Rows that lanes of a block write together: of the nearest axis, and of those behind it
** while they are few. */
static int64_t together_of (const mt_staged *s, const mt_desc *d, uint32_t i) {
  const uint32_t end = d->nthr + d->nval;
  int64_t rows = 1;
  for (; i < end && rows * s->tile.units < MT_FEWLANES; i++)
    rows *= part_of(extent_of(s, d, i), rows * s->tile.units, i + 1 == end);
  return rows;
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
    each = alone ? together_of(s, d, nearest) : extent_of(s, d, nearest);
  }
  s->turn = mt_divisor_of(turn), s->each = mt_divisor_of(each);
  s->lanes = mt_divisor_of(each * s->tile.units);
  s->firsts = (uint32_t)(turn * mt_div_up(s->tile.rows, turn * each));
  return !alone || (s->firsts <= MT_GATHER_ROWS && each <= MT_GATHER_ROWS);
}

uint32_t mt_staged_row (const mt_staged *s, uint32_t n) {
  const uint32_t turn = s->turn.extent;
  const uint32_t each = s->alone.extent ? s->each.extent : s->tile.rows / turn;
  const uint32_t k = n / each;
  return k % turn + turn * (n % each + each * (k / turn));
}
