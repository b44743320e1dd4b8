/*
** permute_unaligned_cost.c - what copies in boxes whose rows begin anywhere cost.
** SPDX-License-Identifier: MIT
*/
#include <math.h>

#include "copy/algo.h"
#include "copy/order.h"
#include "copy/permute_unaligned_smem.h"
#include "desc/permute_unaligned_desc.h"

enum { MT_LONGAXIS = 512 }; /* bytes of a row's first axis along which a warp reads */

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

/* Instructions of a warp to write so many vectors of a row: it looks the places up for a
** group of rows, if they are no pieces, and collects the units of a vector of each. */
static double task_takes (const mt_desc *d, double rows, bool listed) {
  const mt_model *m = &mt_h200;
  const int64_t unit = mt_unit_of(d, MT_SRC);
  if (listed) rows *= 1 + m->box_unaligned_listed;
  if (d->unaligned.piece.extent != 0)
    return m->box_unaligned_pieces + rows * m->box_unaligned_copy;
  return mt_by_width(m->box_unaligned_find, unit) +
         rows * mt_by_width(m->box_unaligned_collect, unit);
}

double mt_permute_unaligned_tasks_take (const mt_desc *d) {
  const mt_permute_unaligned *s = &d->unaligned;
  return mt_unaligned_most_tasks(s)->all * task_takes(d, s->group_rows, s->slots != 0);
}

/* Rows that a block finds; of a list segments, each a row of its own. */
static double rows_of (const mt_permute_unaligned *s) {
  return (double)s->nrows * (s->slots != 0 ? MT_UNALIGNED_SEGMENTS(*s) : 1);
}

static double vectors_of (const mt_desc *d) {
  return (double)(d->threads * mt_unit_of(d, MT_SRC)) / 16;
}

double mt_permute_unaligned_lists_take (const mt_desc *d) {
  return vectors_of(d) / MT_MOSTEACH * task_takes(d, MT_MOSTEACH, true);
}

/* Those of a box times 32, so for its threads: what all of its warps do once; runs,
** places, rows that it finds; tasks. */
static double box_takes (const mt_desc *d, double used) {
  const mt_model *m = &mt_h200;
  const mt_permute_unaligned *s = &d->unaligned;
  const double threads = mt_unaligned_threads(d, s->slots != 0);
  const double once =
      threads * (m->box_unaligned_block + d->nrest * m->box_unaligned_axis);
  const double found = s->held_runs * m->box_unaligned_find_run +
                       (double)s->places * s->nlookup * m->box_unaligned_place +
                       rows_of(s) * m->box_unaligned_find_row;
  if (s->linear)
    return once + found +
           vectors_of(d) * used * (task_takes(d, 1, false) + m->box_unaligned_linear);
  return once + found + used * mt_permute_unaligned_tasks_take(d);
}

/* Units that all boxes read from shared memory. */
static double reads_of (const mt_desc *d, double used) {
  const mt_permute_unaligned *s = &d->unaligned;
  const double vectors =
      s->linear ? vectors_of(d) : (double)mt_unaligned_most_tasks(s)->all * s->group_rows;
  return (double)d->rests * vectors * used * 16 / (double)mt_unit_of(d, MT_SRC);
}

/* Microseconds of these, where places lie equally far apart. */
static double reads_take (const mt_desc *d, double used) {
  const mt_lookup_axis *first = &d->unaligned.lookup[0];
  if ((int64_t)first->by.extent * mt_unit_of(d, MT_SRC) < MT_LONGAXIS) return 0;
  return reads_of(d, used) * (double)bank_conflicts(d) * mt_h200.box_unaligned_read;
}

/* Microseconds that those take more which meet in banks, where places lie anyhow. */
static double conflicts_take (const mt_desc *d, double used) {
  const double more = (double)d->unaligned.waves / MT_UNALIGNED_WAVE - 1;
  if (more <= 0) return 0;
  return reads_of(d, used) / MT_LANES * more * mt_h200.box_unaligned_wave;
}

/* Microseconds of all wavefronts, which a multiprocessor has one by one, whatever else
** goes on. */
static double wavefronts_take (const mt_desc *d, double used) {
  const double waves = (double)d->unaligned.waves / MT_UNALIGNED_WAVE;
  return reads_of(d, used) / MT_LANES * waves * mt_h200.box_unaligned_wavefront;
}

/* What moves takes longer than at best: small units; ends of runs; halos; what overhangs;
** boxes of which there are three at a time, not four. Instructions take their time beside
** it, but for a part of what is shorter. */
void mt_permute_unaligned_cost (mt_cost *c, const mt_launch *l) {
  const mt_model *m = &mt_h200;
  const mt_desc *d = &l->desc;
  const mt_permute_unaligned *s = &d->unaligned;
  const int64_t bytes = mt_unit_of(d, MT_SRC);
  double unit = (double)bytes, part[2] = {1, 1};
  const double run = together(d, span_length(&s->run, d, &part[0]) * unit);
  const double row = span_length(&s->row, d, &part[1]) * unit;
  c->used = part[0] * (s->run.bound == s->row.bound ? 1 : part[1]);
  c->traffic = (double)mt_accesses(d) * c->used * mt_both_units(d);
  c->slow = mt_by_width(m->box_unaligned_unit, bytes) + m->box_unaligned_run / run +
            (s->halo ? m->box_unaligned_halo / row : 0) +
            m->box_unaligned_used * (1 / c->used - 1) + mt_order_cost(d) +
            (s->size > MT_PERMUTE_UNALIGNED_FOUR ? m->box_unaligned_full : 0);
  const double instructions =
      (double)d->rests * box_takes(d, c->used) * m->box_unaligned_instruction;
  const double issue =
      fmax(instructions, reads_take(d, c->used)) + conflicts_take(d, c->used);
  mt_cost_issue(c, MT_ALGO_PERMUTE_UNALIGNED, fmax(issue, wavefronts_take(d, c->used)),
                m->box_unaligned_both);
  c->least += m->box_unaligned_least;
}

/* A box of very long runs whose tasks have as many rows as any, none of whose lanes
** idles. */
void mt_permute_unaligned_least (mt_cost *c, const mt_launch *l) {
  const mt_model *m = &mt_h200;
  const mt_desc *d = &l->desc;
  const int64_t bytes = mt_unit_of(d, MT_SRC);
  const double vectors = (double)mt_accesses(d) * (double)bytes / 16;
  const double task = mt_by_width(m->box_unaligned_find, bytes) / MT_MOSTEACH +
                      mt_by_width(m->box_unaligned_collect, bytes);
  const double piece = m->box_unaligned_pieces / MT_MOSTEACH + m->box_unaligned_copy;
  c->slow = mt_by_width(m->box_unaligned_unit, bytes);
  c->least =
      m->box_unaligned_least + vectors * fmin(task, piece) * m->box_unaligned_instruction;
}
