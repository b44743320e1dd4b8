/*
** permute_unaligned_cost.c - what copies in boxes whose rows begin anywhere cost.
** SPDX-License-Identifier: MIT
*/
#include <math.h>

#include "copy/algo.h"
#include "copy/order.h"
#include "copy/permute_unaligned_smem.h"
#include "desc/permute_unaligned_desc.h"

/* The mean number of units of a span. *used receives what part of its pieces is real. */
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

/* Ways of the bank conflict of rows whose places are equally far apart in a run. */
static int64_t bank_conflicts (const mt_desc *d) {
  const mt_permute_unaligned *s = &d->unaligned;
  if (s->piece.extent != 0 || s->lookup[0].run != 0) return 1;
  return mt_permute_unaligned_ways(mt_unit_of(d, MT_SRC), s->lookup[0].inside);
}

/* Bytes that lie together in the source: a run, of so many bytes in the mean, and what of
** the row continues it. */
static double together (const mt_desc *d, double run) {
  int64_t bytes = mt_unit_of(d, MT_SRC);
  for (uint32_t k = 0; k < d->nthr; k++) {
    if (d->axis[k].stride[MT_SRC] * (int64_t)d->elem != bytes) break;
    bytes *= d->axis[k].extent;
  }
  const int64_t held = (int64_t)d->unaligned.run.units * d->unaligned.run.count;
  return bytes > held * mt_unit_of(d, MT_SRC) ? (double)bytes : run;
}

/* Microseconds of finding the places of all boxes: each finds its own. */
static double places_take (const mt_desc *d) {
  return (double)mt_accesses(d) / (double)d->threads * d->unaligned.places *
         mt_h200.box_unaligned_place;
}

/* Tasks of most boxes: with a halo, of those whose rows began before. */
static uint32_t most_tasks (const mt_permute_unaligned *s) {
  return s->tasks[s->halo != 0].all;
}

/* Vectors that tasks have for each of a box: the last window of a row is longer
** than what is left of it. */
static double lanes_of (const mt_desc *d) {
  const mt_permute_unaligned *s = &d->unaligned;
  const double vectors = (double)(d->threads * mt_unit_of(d, MT_SRC)) / 16;
  const double lanes = (double)most_tasks(s) * s->group_rows / vectors;
  return s->linear || lanes < 1 ? 1 : lanes;
}

/* Threads that a task takes: in the last round some have none. */
static double rounds_of (const mt_permute_unaligned *s) {
  const double threads = MT_PERMUTE_UNALIGNED_THREADS;
  return ceil((double)most_tasks(s) / threads) * threads / (double)most_tasks(s);
}

/* What takes longer than at best: small units, which are read one by one; looks into the
** table, which the rows of a group share; ends of runs; halos; what overhangs; bank
** conflicts; threads and lanes without a vector; the places of long rows. Rows of pieces
** take less. */
void mt_permute_unaligned_cost (mt_cost *c, const mt_launch *l) {
  const mt_model *m = &mt_h200;
  const mt_desc *d = &l->desc;
  const mt_permute_unaligned *s = &d->unaligned;
  int64_t bytes = mt_unit_of(d, MT_SRC);
  double unit = (double)bytes, part[2] = {1, 1};
  double run = together(d, span_length(&s->run, d, &part[0]) * unit);
  double row = span_length(&s->row, d, &part[1]) * unit;
  const double boxes = (double)d->rests;
  double shared = s->linear ? m->box_unaligned_windows : s->group_rows;
  c->used = part[0] * (s->run.bound == s->row.bound ? 1 : part[1]);
  c->traffic = (double)mt_accesses(d) * c->used * mt_both_units(d);
  c->slow = mt_by_width(m->box_unaligned_unit, bytes) +
            mt_by_width(m->box_unaligned_find, bytes) / shared +
            m->box_unaligned_run / run + (s->halo ? m->box_unaligned_halo / row : 0) +
            m->box_unaligned_used * (1 / c->used - 1) +
            m->box_unaligned_bank * (double)(bank_conflicts(d) - 1) +
            mt_by_width(m->box_unaligned_lane, bytes) * (lanes_of(d) - 1) +
            m->box_unaligned_round * (rounds_of(s) - 1) + mt_order_cost(d) -
            (s->piece.extent ? mt_by_width(m->box_unaligned_piece, bytes) : 0) +
            (places_take(d) * m->memory + boxes * m->box_unaligned_begin) / c->traffic;
  c->least = m->box_unaligned_block + boxes * m->box_unaligned_box;
}

/* A box of rows of pieces, none of whose lanes idles, and of very long runs. */
void mt_permute_unaligned_least (mt_cost *c, const mt_launch *l) {
  const int64_t bytes = mt_unit_of(&l->desc, MT_SRC);
  c->slow = mt_by_width(mt_h200.box_unaligned_unit, bytes) -
            mt_by_width(mt_h200.box_unaligned_piece, bytes);
  c->least = mt_h200.box_unaligned_block;
}
