/*
** permute_unaligned.c - copies whose rows begin anywhere: boxes of runs of both sides.
** SPDX-License-Identifier: MIT
**
** A box holds a prefix of the run of each side: whole axes, and a piece of the next.
** The pieces of an axis are of one length; the last of them may be shorter: a bound
** counts along the axis. Which prefixes: by an estimate of their cost.
*/
#include "copy/algo.h"
#include "copy/run.h"
#include "copy/permute_unaligned_smem.h"
#include "desc/permute_unaligned_desc.h"

enum {
  MT_LEASTHEAD = 32,
  MT_MOSTHEAD = 32768, /* bytes of a run, of a row */
  MT_LONGROW = 2048, /* bytes: a row whose ends cost nothing */
  MT_FASTHEAD = 512, /* bytes: rows of both sides that need no box */
  MT_FILL = 660, /* boxes that a large GPU has at once */
  MT_BLOCK =
      12500 + 80 * MT_PERMUTE_UNALIGNED_THREADS, /* instructions of a block's threads */
  MT_MAXUNALIGNEDPREFIXES = 96,
  MT_TRIES = 4 /* boxes that seem to have room */
};

typedef struct candidate {
  const mt_axes *all;
  int64_t unit, total;                    /* bytes of an access, of the copy */
  mt_run run_of[2];
  mt_prefix prefix[2][MT_MAXUNALIGNEDPREFIXES];
  int nprefix[2];
  int64_t extent[MT_LISTSIZE];            /* of each axis in the box: 1 if it is not */
  int64_t row[2];                         /* bytes of the prefix of each run_of */
  int64_t run, length;                    /* bytes of a run, of a row or its segments */
  bool ahead;                             /* rows that end in a vector are read on */
  int64_t bytes, room;                    /* of shared memory, about */
} candidate;

/* ---------------------------------------------------------------- prefixes */

/* Pieces as equal as they can be. */
static int64_t even (int64_t extent, int64_t piece) {
  int64_t pieces = (extent + piece - 1) / piece;
  return (extent + pieces - 1) / pieces;
}

static void find_heads (candidate *b, int side) {
  int64_t inner = b->unit;
  int *n = &b->nprefix[side];
  *n = 0;
  for (int i = 0; i < b->run_of[side].n && inner <= MT_MOSTHEAD; i++) {
    int64_t e = b->all->axis[b->run_of[side].axis[i]].extent;
    int64_t most = MT_MOSTHEAD / inner, c = e < most ? e : most;
    for (; c > 1 && *n < MT_MAXUNALIGNEDPREFIXES; c = c * 4 / 5) {
      c = even(e, c);
      if (c * inner < MT_LEASTHEAD) break;
      b->prefix[side][(*n)++] = (mt_prefix){i + 1, c};
    }
    if (mt_mulo(inner, e, &inner)) return;
  }
}

static void find_row (candidate *b, int side) {
  b->row[side] = b->unit;
  for (int i = 0; i < b->run_of[side].n; i++) {
    int axis = b->run_of[side].axis[i];
    b->row[side] *= b->extent[axis];
    if (b->extent[axis] < b->all->axis[axis].extent) return;
  }
}

/* The axis of the run of a side where the box ends; -1: it holds all of them. One of
** which it holds a single index may be it. */
static int end_of (const candidate *b, int side) {
  for (int i = 0; i < b->run_of[side].n; i++) {
    int axis = b->run_of[side].axis[i];
    if (b->extent[axis] < b->all->axis[axis].extent) return axis;
  }
  return -1;
}

static int end_of_row (const candidate *b) { return end_of(b, MT_DST); }

/* What reading on adds to a box: runs, and bytes of each. */
static int64_t more_runs (const candidate *b) { return 32 / b->unit - 1; }

static int64_t more_bytes (const candidate *b) {
  int axis = end_of_row(b);
  return axis >= 0 && b->extent[axis] > 1 && axis == end_of(b, MT_SRC)
           ? b->row[MT_SRC] / b->extent[axis] : 0;
}

/* Reading on takes a quarter of the box at most: else the parts of vectors cost less, as
** they do in long rows. */
static bool reads_on (const candidate *b) {
  int64_t runs = b->bytes / b->row[MT_SRC], more = more_bytes(b);
  if (b->row[MT_DST] >= MT_LONGROW) return false;
  return more > 0 ? more * 4 <= b->row[MT_SRC] : more_runs(b) * 4 <= runs;
}

/* An axis of the box is in its row. */
static bool is_row (const candidate *b, int axis) {
  const mt_run *dst = &b->run_of[MT_DST];
  for (int k = 0; k < dst->n; k++) {
    if (dst->axis[k] == axis) return true;
    if (b->extent[dst->axis[k]] < b->all->axis[dst->axis[k]].extent) return false;
  }
  return false;
}

/* The box's axes of the source's run from place i on are in its row. */
static bool in_row (const candidate *b, int i) {
  const mt_run *src = &b->run_of[MT_SRC];
  for (; i < src->n && b->extent[src->axis[i]] > 1; i++) {
    int axis = src->axis[i];
    if (!is_row(b, axis)) return false;
    if (b->extent[axis] < b->all->axis[axis].extent) return axis == end_of_row(b);
  }
  return true;
}

/* Bytes of a run: it needs no axes of the row if it is long enough without. */
static int64_t run_of (const candidate *b) {
  int64_t bytes = b->unit;
  for (int i = 0; i < b->run_of[MT_SRC].n && bytes < b->row[MT_SRC]; i++) {
    bytes *= b->extent[b->run_of[MT_SRC].axis[i]];
    if (bytes >= MT_PERMUTE_UNALIGNED_RUN && in_row(b, i + 1)) break;
  }
  return bytes;
}

static bool in_run (const candidate *b, int axis) {
  int64_t bytes = b->unit;
  for (int i = 0; i < b->run_of[MT_SRC].n && bytes < b->run; i++) {
    if (b->run_of[MT_SRC].axis[i] == axis) return true;
    bytes *= b->extent[b->run_of[MT_SRC].axis[i]];
  }
  return false;
}

/* Bytes of a row, or of a segment of it: its last axis makes segments if it is in the
** run. */
static int64_t length_of (const candidate *b) {
  const mt_run *dst = &b->run_of[MT_DST];
  int last = dst->axis[0];
  for (int i = 0; i < dst->n; i++) {
    if (b->extent[dst->axis[i]] > 1) last = dst->axis[i];
    if (b->extent[dst->axis[i]] < b->all->axis[dst->axis[i]].extent) break;
  }
  return b->row[MT_DST] / (in_run(b, last) ? b->extent[last] : 1);
}

/* False if the shared memory that the box takes is more than there is. */
static bool has_room (candidate *b) {
  int64_t run = b->run, runs = b->bytes / run, v = 16 / b->unit;
  int64_t places = b->length / b->unit + 5 * v;
  if (reads_on(b)) {
    if (more_bytes(b) > 0 && run == b->row[MT_SRC]) run += more_bytes(b);
    else runs += 2 * v - 1;
  }
  int64_t bytes = (run + 31 - b->unit) / 16 * 16 * runs + runs / v * 16;
  int64_t parts = 16 * (b->bytes / b->length / 4 + 16);
  int64_t tables = 2 * places + 4 * runs + parts + 48;
  b->room = bytes + tables;
  return bytes <= MT_PERMUTE_UNALIGNED_BOX && b->room <= MT_PERMUTE_UNALIGNED_SHARED;
}

/* The box of these prefixes; false if it has no room. */
static bool fill (candidate *b, const mt_prefix *src, const mt_prefix *dst) {
  b->bytes = b->unit;
  for (int i = 0; i < b->all->n; i++) b->extent[i] = 1;
  mt_run_hold(b->extent, b->all, &b->run_of[MT_SRC], src);
  mt_run_hold(b->extent, b->all, &b->run_of[MT_DST], dst);
  for (int i = 0; i < b->all->n; i++) {
    b->bytes *= b->extent[i];
    if (b->bytes > MT_PERMUTE_UNALIGNED_BOX) return false;
  }
  find_row(b, MT_SRC);
  find_row(b, MT_DST);
  b->run = run_of(b);
  b->length = length_of(b);
  return has_room(b);
}

/* ---------------------------------------------------------------- choosing */

/* Rows one behind the other that share what a thread looks up: of segments, or of the
** first axis of the run that is not in the row. */
static double rows_of (const candidate *b, int64_t segments) {
  const mt_run *c = &b->run_of[MT_SRC];
  if (segments > 1) return (double)segments;
  for (int i = 0; i < c->n && b->extent[c->axis[i]] > 1; i++)
    if (!is_row(b, c->axis[i])) return (double)b->extent[c->axis[i]];
  return 1;
}

/* Instructions of a thread for a vector, about, all that a block does shared out. */
static double instructions (const candidate *b) {
  double v = 16.0 / (double)b->unit, vectors = (double)b->bytes / 16;
  int64_t length = b->length, row = b->row[MT_DST];
  int first = b->run_of[MT_DST].axis[0];
  bool pieces = first == b->run_of[MT_SRC].axis[0] && b->extent[first] * b->unit >= 32;
  double rows = (double)(b->bytes / length), runs = (double)(b->bytes / b->run);
  double shared = rows_of(b, row / length) / v;
  double lanes =
      1 + (length >= MT_PERMUTE_UNALIGNED_WIDEROW ? 72.0 : 40.0) / (double)length;
  double places = pieces ? 0 : (double)(length / b->unit);
  shared = shared < 1 ? 1 : shared > 8 ? 8 : shared;
  return 33 * (1 + 16 / (double)b->run) +
         (MT_BLOCK + 45 * (places + runs) + 100 * rows / shared) / vectors +
         lanes * ((30 + 3 * v) / shared + (pieces ? 45 : 20 + 3 * v));
}

/* Lines of 128 bytes that a cache is asked for, in parts of those that there are. */
static double requests (const candidate *b) {
  double run = (double)b->run, length = (double)b->length;
  return 1 + 128 / run + (length >= MT_PERMUTE_UNALIGNED_WIDEROW ? 64 / length : 1);
}

/* Rows that end in parts of vectors, for each byte: those at the end of an axis of which
** the box holds a piece, and those that are not read on. */
static double ends (const candidate *b) {
  int64_t bytes = b->unit;
  for (int i = 0; i < b->run_of[MT_DST].n; i++) {
    int axis = b->run_of[MT_DST].axis[i];
    bytes *= b->all->axis[axis].extent;
    if (b->extent[axis] < b->all->axis[axis].extent) break;
  }
  return 0.5 / (double)bytes + (reads_on(b) ? 0 : 1.1 / (double)b->row[MT_DST]);
}

/* In thousandths of the copy: boxes that overhang, of which there are three instead of
** four at a time, and multiprocessors without one too. Large boxes begin and end
** together. */
static int64_t cost_of (const candidate *b) {
  const mt_model *m = &mt_h200;
  double cost =
      m->box_unaligned_each * instructions(b) + m->box_unaligned_request * requests(b) +
      m->box_unaligned_byte * (double)b->bytes + m->box_unaligned_ends * ends(b) +
      (b->room > MT_PERMUTE_UNALIGNED_FOUR ? m->box_unaligned_three : 0);
  int64_t boxes = b->total / b->bytes;
  for (int i = 0; i < b->all->n; i++) {
    int64_t e = b->all->axis[i].extent, n = (e + b->extent[i] - 1) / b->extent[i];
    if (b->extent[i] > 1)
      cost += (double)(n * b->extent[i] - e) * m->box_unaligned_over / (double)e;
  }
  if (boxes < MT_FILL)
    cost += m->box_unaligned_few - m->box_unaligned_few * (double)boxes / MT_FILL;
  return (int64_t)(16 * cost);
}

/* The box of the least cost above `least`, which becomes its cost. */
static bool find_best (candidate *b, int64_t *least) {
  int64_t best = INT64_MAX;
  const mt_prefix *at[2] = {NULL, NULL};
  for (int i = 0; i < b->nprefix[MT_SRC]; i++)
    for (int j = 0; j < b->nprefix[MT_DST]; j++) {
      if (!fill(b, &b->prefix[MT_SRC][i], &b->prefix[MT_DST][j])) continue;
      int64_t cost = cost_of(b);
      if (cost > *least && cost < best)
        best = cost, at[0] = &b->prefix[0][i], at[1] = &b->prefix[1][j];
    }
  *least = best;
  return best < INT64_MAX && fill(b, at[0], at[1]);
}

/* ---------------------------------------------------------------- taking it */

/* Puts an axis of the box into the thread axes; its pieces into the rest. A bound counts
** along it where the last overhangs, and where a row ends. */
static void take_axis (mt_desc *d, mt_axes mode[3], const candidate *b, int i) {
  mt_axis a = b->all->axis[i], rest = a;
  int64_t c = b->extent[i], pieces = (a.extent + c - 1) / c;
  a.extent = c;
  rest.extent = pieces;
  for (int o = 0; o < 2; o++) rest.stride[o] *= c;
  bool ends = b->ahead && i == end_of_row(b);
  if (ends || pieces * c != b->all->axis[i].extent) {
    uint32_t k = d->nbound++;
    a.step[k] = 1, rest.step[k] = c;
    d->bound[k] = b->all->axis[i].extent;
  }
  if (c > 1 || ends) mode[0].axis[mode[0].n++] = a;
  if (pieces > 1) mode[2].axis[mode[2].n++] = rest;
}

static bool in_box (const candidate *b, int i) {
  return b->extent[i] > 1 || (b->ahead && i == end_of_row(b));
}

/* The axes of the box: those of the source's run, then those of the destination's;
** order[]: the other way round. */
static void take_box (mt_desc *d, mt_axes mode[3], const candidate *b) {
  uint8_t place[MT_LISTSIZE];
  uint64_t taken = 0, named = 0;
  int k = 0;
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < b->run_of[s].n; i++) {
      int axis = b->run_of[s].axis[i];
      if (!in_box(b, axis) || (taken >> axis & 1)) continue;
      taken |= (uint64_t)1 << axis;
      place[axis] = (uint8_t)mode[0].n;
      take_axis(d, mode, b, axis);
    }
  for (int s = 1; s >= 0; s--)
    for (int i = 0; i < b->run_of[s].n; i++) {
      int axis = b->run_of[s].axis[i];
      if (!in_box(b, axis) || (named >> axis & 1)) continue;
      named |= (uint64_t)1 << axis;
      d->unaligned.order[k++] = place[axis];
    }
  for (int i = 0; i < b->all->n; i++)
    if (!(taken >> i & 1)) mode[2].axis[mode[2].n++] = b->all->axis[i];
}

static int64_t least_stride (const mt_axis *a) {
  int64_t s = a->stride[0] < 0 ? -a->stride[0] : a->stride[0];
  int64_t d = a->stride[1] < 0 ? -a->stride[1] : a->stride[1];
  return s != 0 && s < d ? s : d;
}

/* What lies near on either side is near in time: boxes that share a sector meet in the
** cache. */
static void sort_rest (mt_axes *a) {
  for (int i = 1; i < a->n; i++) {
    mt_axis x = a->axis[i];
    int j = i;
    for (; j > 0 && least_stride(&a->axis[j - 1]) > least_stride(&x); j--)
      a->axis[j] = a->axis[j - 1];
    a->axis[j] = x;
  }
}

/* Rows along one axis that are long enough as they are. */
static bool is_fast (const candidate *b) {
  int a = b->run_of[MT_SRC].axis[0];
  return a == b->run_of[MT_DST].axis[0] &&
         b->all->axis[a].extent * b->unit >= MT_FASTHEAD;
}

static bool make (mt_desc *d, mt_axes mode[3], const candidate *b) {
  mt_err err = MT_NOERR;
  mode[0].n = mode[1].n = mode[2].n = 0;
  take_box(d, mode, b);
  sort_rest(&mode[2]);
  return mode[0].n <= MT_PERMUTE_AXES && d->nbound <= MT_PERMUTE_UNALIGNED_BOUNDS &&
         mt_axes_put(d, mode, &err) == MT_OK && d->rests <= INT32_MAX &&
         mt_permute_unaligned_choose(d, b->ahead);
}

static bool unaligned_make (mt_launch *l, mt_axes mode[3], char *why) {
  const mt_axes all = mode[2];
  const mt_desc flat = l->desc;
  candidate b = {.all = &all, .unit = (int64_t)flat.vec * flat.elem};
  (void)why;
  if (all.n > MT_LISTSIZE - MT_PERMUTE_AXES || mt_mulo(b.unit, flat.rests, &b.total))
    return false;
  for (int side = 0; side < 2; side++) {
    mt_run_find(&b.run_of[side], &all, side, flat.vec);
    if (b.run_of[side].n == 0) return false;
    find_heads(&b, side);
  }
  if (is_fast(&b)) return false;
  int64_t cost = INT64_MIN;
  bool made = false;
  for (int tries = 0; !made && tries < MT_TRIES && find_best(&b, &cost); tries++) {
    b.ahead = reads_on(&b);
    l->desc = flat;
    made = make(&l->desc, mode, &b);
    if (made || !b.ahead) continue;
    b.ahead = false;
    l->desc = flat;
    made = make(&l->desc, mode, &b);
  }
  l->desc.algo = MT_ALGO_PERMUTE_UNALIGNED;
  return made;
}

static mt_status unaligned_check (const mt_launch *l, mt_err *err) {
  return mt_permute_unaligned_check(&l->desc, err);
}

/* ---------------------------------------------------------------- cost */

/* Units of a row of the unaligned box, of a run; what of the pieces of their last axis is
** real. */
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

/* How often threads of a quarter of a warp meet a bank where they look up places of small
** units that lie equally far apart. */
static int64_t meetings (const mt_desc *d) {
  const mt_permute_unaligned *s = &d->unaligned;
  int64_t unit = mt_unit_of(d, MT_SRC), step = 16 / unit * s->line[0].inside, banks = 8;
  if (unit >= 4 || s->piece.extent != 0 || s->line[0].run != 0) return 1;
  while (banks > 1 && step % (128 / banks * 2) == 0) banks /= 2;
  return 8 / banks;
}

/* What takes longer than at best: small units, one by one, whose places are looked up for
** some rows at once; ends of runs; what is read on behind a row; pieces that are not
** whole. */
static void unaligned_cost (mt_cost *c, const mt_launch *l) {
  const mt_model *m = &mt_h200;
  const mt_desc *d = &l->desc;
  const mt_permute_unaligned *s = &d->unaligned;
  int64_t bytes = mt_unit_of(d, MT_SRC);
  double unit = (double)bytes, part[2] = {1, 1};
  double run = span_length(&s->run, d, &part[0]) * unit;
  double row = span_length(&s->row, d, &part[1]) * unit;
  double shared = s->linear ? m->box_unaligned_windows : s->each;
  c->used = part[0] * (s->run.bound == s->row.bound ? 1 : part[1]);
  c->traffic = (double)mt_accesses(d) * c->used * mt_both_units(d);
  c->slow = mt_by_width(m->box_unaligned_unit, bytes) +
            mt_by_width(m->box_unaligned_find, bytes) / shared +
            m->box_unaligned_run / run + (s->ahead ? m->box_unaligned_ahead / row : 0) +
            m->box_unaligned_used * (1 / c->used - 1) +
            m->box_unaligned_bank * (double)(meetings(d) - 1);
  c->least = m->box_unaligned_block;
}

/* ---------------------------------------------------------------- kernels */

static mt_grid unaligned_grid (const mt_kernel *k, const mt_desc *d) {
  return mt_grid_of(k, d->rests <= INT32_MAX ? d->rests : 0);
}

static uint32_t unaligned_shared (const mt_desc *d) { return d->unaligned.shared; }
static const uint8_t *unaligned_order (const mt_desc *d) { return d->unaligned.order; }

const mt_algo mt_algo_permute_unaligned = {
    .name = "permute_unaligned",
    .needs = "is for runs of both sides, of 32 bytes and more",
    .make = unaligned_make,
    .check = unaligned_check,
    .cost = unaligned_cost,
    .grid = unaligned_grid,
    .shared = unaligned_shared,
    .most_shared = MT_PERMUTE_UNALIGNED_SHARED,
    .thread = "box",
    .bound = "piece",
    .order = unaligned_order};
