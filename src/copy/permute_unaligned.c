/*
** permute_unaligned.c - copies whose rows begin anywhere: boxes of runs of both sides.
** SPDX-License-Identifier: MIT
**
** A run of a side is the list of axes that are contiguous there together. A box holds a
** prefix of either run: all of its first axes, and a piece of the next, which need not
** divide it:
**   pieces of 37 by 8:   8 8 8 8 5      the last overhangs, a bound counts along the axis
** so they are made as equal as they can be. What the box holds of the source's run is
** loaded as runs, what it holds of the destination's is written as rows.
**
** All pairs of prefixes are tried. The one with the least estimated cost is taken: the
** estimate counts instructions, requests to the caches, ends of rows, boxes at a time.
*/
#include <math.h>

#include "copy/algo.h"
#include "copy/order.h"
#include "copy/run.h"
#include "copy/permute_unaligned_smem.h"
#include "desc/permute_unaligned_desc.h"

enum {
  MT_LEASTPREFIX = 32,
  MT_MOSTPREFIX = 32768, /* bytes of a run, of a row */
  MT_LONGROW = 2048,     /* bytes: a row whose ends cost nothing */
  MT_FASTPREFIX = 512,   /* bytes: rows of both sides that need no box */
  MT_FILL = 660,         /* boxes that a large GPU has at once */
  /* instructions of all threads of a block, whatever it moves */
  MT_BLOCK = 12500 + 80 * MT_PERMUTE_UNALIGNED_THREADS,
  MT_MAXUNALIGNEDPREFIXES = 96,
  MT_TRIES = 4 /* boxes that are made, until one has room */
};

typedef struct candidate {
  const mt_axes *all;
  int64_t elem, unit, total; /* bytes of an element, an access, the copy */
  mt_run runs[2];
  mt_prefix prefix[2][MT_MAXUNALIGNEDPREFIXES];
  int nprefix[2];
  int64_t extent[MT_LISTSIZE]; /* of each axis in the box: 1 if it is not */
  int64_t held[MT_LISTSIZE];   /* the same, of what the source's prefix holds */
  int64_t row[2];              /* bytes of the prefix of each run */
  int64_t run, length;         /* bytes of a run, of a row or its segments */
  int rows;                    /* the axis of the run that numbers rows; -1: none does */
  bool halo;                   /* as in mt_permute_unaligned; what the box may have */
  int64_t bytes, smem;         /* of shared memory, about */
} candidate;

/* A box by its prefixes. */
typedef struct best {
  int64_t cost;
  int src, dst;
} best;

/* ---------------------------------------------------------------- prefixes */

/* The length of pieces up to `piece` that are as equal as they can be. */
static int64_t even (int64_t extent, int64_t piece) {
  int64_t pieces = mt_div_up(extent, piece);
  return mt_div_up(extent, pieces);
}

static void turn_around (mt_prefix *x, int n) {
  for (int i = 0; i < n / 2; i++) {
    const mt_prefix first = x[i];
    x[i] = x[n - 1 - i], x[n - 1 - i] = first;
  }
}

/* Prefixes of 32 bytes to 32 KiB, each of which holds those before it: of an axis a piece
** is about five fourths of the one before. */
static void find_prefixes (candidate *b, int side) {
  int64_t inner = b->unit;
  int *n = &b->nprefix[side];
  *n = 0;
  for (int i = 0; i < b->runs[side].n && inner <= MT_MOSTPREFIX; i++) {
    int64_t e = b->all->axis[b->runs[side].axis[i]].extent;
    int64_t most = MT_MOSTPREFIX / inner, c = e < most ? e : most;
    const int first = *n;
    for (; c > 1 && *n < MT_MAXUNALIGNEDPREFIXES; c = c * 4 / 5) {
      c = even(e, c);
      if (c * inner < MT_LEASTPREFIX) break;
      b->prefix[side][(*n)++] = (mt_prefix){i + 1, c};
    }
    turn_around(&b->prefix[side][first], *n - first);
    if (mt_mulo(inner, e, &inner)) return;
  }
}

static void find_row (candidate *b, int side) {
  b->row[side] = b->unit;
  for (int i = 0; i < b->runs[side].n; i++) {
    int axis = b->runs[side].axis[i];
    b->row[side] *= b->extent[axis];
    if (b->extent[axis] < b->all->axis[axis].extent) return;
  }
}

/* The axis of the run of a side where the box ends; -1: it holds all of them. One of
** which it holds a single index may be it. */
static int end_of (const candidate *b, int side) {
  for (int i = 0; i < b->runs[side].n; i++) {
    int axis = b->runs[side].axis[i];
    if (b->extent[axis] < b->all->axis[axis].extent) return axis;
  }
  return -1;
}

static int end_of_row (const candidate *b) { return end_of(b, MT_DST); }

/* What a halo adds to a box: runs, or bytes to each run. */
static int64_t halo_runs (const candidate *b) { return 32 / b->unit - 1; }

static int64_t halo_bytes (const candidate *b) {
  int axis = end_of_row(b);
  return axis >= 0 && b->extent[axis] > 1 && axis == end_of(b, MT_SRC) ?
             b->row[MT_SRC] / b->extent[axis] :
             0;
}

/* A halo takes a quarter of the box at most, of bytes half of it: else it costs more than
** the parts of sectors that it saves. Long rows have no halo: they have few ends. */
static bool has_halo (const candidate *b) {
  int64_t runs = b->bytes / b->row[MT_SRC], more = halo_bytes(b),
          part = b->unit < 2 ? 2 : 4;
  if (b->row[MT_DST] >= MT_LONGROW) return false;
  return more > 0 ? more * part <= b->row[MT_SRC] : halo_runs(b) * part <= runs;
}

/* An axis of the box is in its row. */
static bool is_row (const candidate *b, int axis) {
  const mt_run *dst = &b->runs[MT_DST];
  for (int k = 0; k < dst->n; k++) {
    if (dst->axis[k] == axis) return true;
    if (b->extent[dst->axis[k]] < b->all->axis[dst->axis[k]].extent) return false;
  }
  return false;
}

/* All axes of the box in the source's run, from place i on, are in its row. */
static bool in_row (const candidate *b, int i) {
  const mt_run *src = &b->runs[MT_SRC];
  for (; i < src->n && b->extent[src->axis[i]] > 1; i++) {
    int axis = src->axis[i];
    if (!is_row(b, axis)) return false;
    if (b->extent[axis] < b->all->axis[axis].extent) return axis == end_of_row(b);
  }
  return true;
}

/* Axis i of the source's run is the first of the row. */
static bool is_first (const candidate *b, int i) {
  return i < b->runs[MT_SRC].n && b->runs[MT_SRC].axis[i] == b->runs[MT_DST].axis[0];
}

/* Bytes of a run: it needs no axes of the row if it is long enough without. */
static int64_t run_of (const candidate *b) {
  int64_t bytes = b->unit;
  for (int i = 0; i < b->runs[MT_SRC].n && bytes < b->row[MT_SRC]; i++) {
    bytes *= b->extent[b->runs[MT_SRC].axis[i]];
    if (mt_permute_unaligned_is_run(bytes, b->unit, is_first(b, i + 1)) &&
        in_row(b, i + 1))
      break;
  }
  return bytes;
}

static bool in_run (const candidate *b, int axis) {
  int64_t bytes = b->unit;
  for (int i = 0; i < b->runs[MT_SRC].n && bytes < b->run; i++) {
    if (b->runs[MT_SRC].axis[i] == axis) return true;
    bytes *= b->extent[b->runs[MT_SRC].axis[i]];
  }
  return false;
}

/* The first axis of the run that is not in the row: it numbers rows. -1: none is. */
static int axis_of_rows (const candidate *b) {
  const mt_run *src = &b->runs[MT_SRC];
  for (int i = 0; i < src->n && b->extent[src->axis[i]] > 1; i++)
    if (!is_row(b, src->axis[i])) return src->axis[i];
  return -1;
}

/* Bytes of a row, or of a segment of it: its last axis makes segments if it is in the
** run, and these share more than rows do. */
static int64_t length_of (const candidate *b) {
  const mt_run *dst = &b->runs[MT_DST];
  int last = dst->axis[0], rows = b->rows;
  for (int i = 0; i < dst->n; i++) {
    if (b->extent[dst->axis[i]] > 1) last = dst->axis[i];
    if (b->extent[dst->axis[i]] < b->all->axis[dst->axis[i]].extent) break;
  }
  const int64_t segments = b->extent[last], length = b->row[MT_DST] / segments;
  const int64_t step = rows < 0 ? 0 : b->all->axis[rows].stride[MT_DST] * b->elem;
  const bool cut =
      in_run(b, last) &&
      mt_permute_unaligned_cuts(segments, length, rows < 0 ? 1 : b->extent[rows], step);
  return cut ? length : b->row[MT_DST];
}

/* The shared memory that the box takes, about: runs, tables. False if there is less. */
static bool fits_smem (candidate *b) {
  int64_t run = b->run, runs = b->bytes / run, v = 16 / b->unit;
  int64_t places = b->length / b->unit + 5 * v;
  if (b->halo) {
    if (halo_bytes(b) > 0 && run == b->row[MT_SRC]) run += halo_bytes(b);
    else runs += 2 * v - 1;
  }
  int64_t bytes = (run + 31 - b->unit) / 16 * 16 * runs + runs / v * 16;
  int64_t parts = 16 * (b->bytes / b->length / 4 + 16);
  int64_t tables = 2 * places + 4 * runs + parts + 48;
  b->smem = bytes + tables;
  return bytes <= MT_PERMUTE_UNALIGNED_BOX && b->smem <= MT_PERMUTE_UNALIGNED_SHARED;
}

/* The box with a prefix of the source, and more of it with one of the destination. */
static void hold (candidate *b, const mt_prefix *src) {
  for (int i = 0; i < b->all->n; i++) b->held[i] = 1;
  mt_run_hold(b->held, b->all, &b->runs[MT_SRC], src);
}

/* The smallest box with both; false if it is too large. */
static bool fill (candidate *b, const mt_prefix *dst) {
  b->bytes = b->unit;
  for (int i = 0; i < b->all->n; i++) b->extent[i] = b->held[i];
  mt_run_hold(b->extent, b->all, &b->runs[MT_DST], dst);
  for (int i = 0; i < b->all->n; i++) {
    b->bytes *= b->extent[i];
    if (b->bytes > MT_PERMUTE_UNALIGNED_BOX) return false;
  }
  return true;
}

/* It has room. */
static bool is_box (candidate *b) {
  find_row(b, MT_SRC);
  find_row(b, MT_DST);
  b->run = run_of(b);
  b->rows = axis_of_rows(b);
  b->length = length_of(b);
  b->halo = has_halo(b);
  return fits_smem(b);
}

/* ---------------------------------------------------------------- choosing */

/* Rows that share what a thread looks up: of those along the first axis of the walk
** `store`, segments or the indices of the first axis of the run that is not in the row,
** the ones that begin at the same address modulo 16. */
static double shared_of (const candidate *b, int64_t segments) {
  const int axis = b->rows;
  int64_t rows = segments, step = b->length;
  if (segments == 1 && axis < 0) return 1;
  if (segments == 1)
    rows = b->extent[axis], step = b->all->axis[axis].stride[MT_DST] * b->elem;
  return (double)rows / (double)mt_permute_unaligned_classes(step);
}

/* Instructions of a thread for a vector, about. What a block does but once, for its
** tables and for its rows, is shared by its vectors. */
static double instructions (const candidate *b) {
  double v = 16.0 / (double)b->unit, vectors = (double)b->bytes / 16;
  int64_t length = b->length, row = b->row[MT_DST];
  int first = b->runs[MT_DST].axis[0];
  bool pieces = first == b->runs[MT_SRC].axis[0] && b->extent[first] * b->unit >= 32;
  double rows = (double)(b->bytes / length), runs = (double)(b->bytes / b->run);
  double shared = shared_of(b, row / length);
  double lanes = 1 + 32 / (double)length;
  double places = pieces ? 0 : (double)(length / b->unit);
  shared = shared < 1 ? 1 : shared > 8 ? 8 : shared;
  return 33 * (1 + 16 / (double)b->run) +
         (MT_BLOCK + 45 * (places + runs) + 100 * rows / shared) / vectors +
         lanes * ((30 + 3 * v) / shared + (pieces ? 45 : 20 + 3 * v));
}

/* Lines of 128 bytes that caches are asked for, relative to the lines of the copy. Runs
** that follow one another in the source share theirs. */
static double requests (const candidate *b) { return 2 + 128 / (double)b->row[MT_SRC]; }

/* Ends of rows that are parts of vectors, for each byte: where the whole axes end, and,
** without a halo, where the box's row ends. */
static double ends (const candidate *b) {
  int64_t bytes = b->unit;
  for (int i = 0; i < b->runs[MT_DST].n; i++) {
    int axis = b->runs[MT_DST].axis[i];
    bytes *= b->all->axis[axis].extent;
    if (b->extent[axis] < b->all->axis[axis].extent) break;
  }
  return 0.5 / (double)bytes + (b->halo ? 0 : 1.1 / (double)b->row[MT_DST]);
}

/* Ways of the bank conflict of a row whose places are equally far apart in a run. */
static double ways_of (const candidate *b) {
  const int first = b->runs[MT_DST].axis[0];
  int64_t inside = b->unit;
  if (!in_run(b, first)) return 1;
  for (int i = 0; b->runs[MT_SRC].axis[i] != first; i++)
    inside *= b->extent[b->runs[MT_SRC].axis[i]];
  if (inside == b->unit) return 1;
  const double ways = (double)mt_permute_unaligned_ways(b->unit, inside);
  return fmin(ways, (double)mt_div_up(b->extent[first] * b->unit, 16));
}

/* The cost of a box, in sixteenths of a thousandth of the copy's time: its instructions,
** requests, ends; more for its bytes, since large boxes begin and end together; for three
** blocks at a time instead of four; for what overhangs; for multiprocessors without a
** block. */
static int64_t cost_of (const candidate *b) {
  const mt_model *m = &mt_h200;
  const double reads = m->box_unaligned_way * ways_of(b) / (double)b->unit;
  double cost = fmax(m->box_unaligned_each * instructions(b), reads) +
                m->box_unaligned_request * requests(b) +
                m->box_unaligned_byte * (double)b->bytes +
                m->box_unaligned_ends * ends(b) +
                (b->bytes >= MT_PERMUTE_UNALIGNED_LARGE ? m->box_unaligned_large :
                 b->smem > MT_PERMUTE_UNALIGNED_FOUR    ? m->box_unaligned_three :
                                                          0);
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

/* Puts a box among the cheapest, which have different costs: of one cost the first. */
static void add_best (best *x, const best *y) {
  int i = 0;
  while (i < MT_TRIES && x[i].cost < y->cost) i++;
  if (i == MT_TRIES || x[i].cost == y->cost) return;
  memmove(x + i + 1, x + i, (size_t)(MT_TRIES - 1 - i) * sizeof *x);
  x[i] = *y;
}

/* The cheapest boxes; those that are not there cost INT64_MAX. Behind a prefix that is
** too large all are. */
static void find_best (best x[MT_TRIES], candidate *b) {
  best y;
  for (int i = 0; i < MT_TRIES; i++) x[i].cost = INT64_MAX;
  for (y.src = 0; y.src < b->nprefix[MT_SRC]; y.src++) {
    hold(b, &b->prefix[MT_SRC][y.src]);
    for (y.dst = 0; y.dst < b->nprefix[MT_DST]; y.dst++) {
      if (!fill(b, &b->prefix[MT_DST][y.dst])) break;
      if (!is_box(b)) continue;
      y.cost = cost_of(b);
      add_best(x, &y);
    }
  }
}

/* ---------------------------------------------------------------- taking it */

/* Puts a piece of an axis into the thread axes, and the axis that counts the pieces into
** the rest. A bound counts along both if the last piece overhangs, and, with a halo,
** along the axis that ends the row. */
static void take_axis (mt_desc *d, mt_axes mode[3], const candidate *b, int i) {
  mt_axis a = b->all->axis[i], rest = a;
  int64_t c = b->extent[i], pieces = mt_div_up(a.extent, c);
  a.extent = c;
  rest.extent = pieces;
  for (int o = 0; o < 2; o++) rest.stride[o] *= c;
  bool ends = b->halo && i == end_of_row(b);
  if (ends || pieces * c != b->all->axis[i].extent) {
    uint32_t k = d->nbound++;
    a.step[k] = 1, rest.step[k] = c;
    d->bound[k] = b->all->axis[i].extent;
  }
  if (c > 1 || ends) mode[0].axis[mode[0].n++] = a;
  if (pieces > 1) mode[2].axis[mode[2].n++] = rest;
}

static bool in_box (const candidate *b, int i) {
  return b->extent[i] > 1 || (b->halo && i == end_of_row(b));
}

/* The thread axes: those of the source's run, then the others of the destination's. In
** order[] those of the destination's run come first. False: they are too many. */
static bool take_box (mt_desc *d, mt_axes mode[3], const candidate *b) {
  uint8_t place[MT_LISTSIZE];
  uint64_t taken = 0, named = 0;
  int k = 0;
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < b->runs[s].n; i++) {
      int axis = b->runs[s].axis[i];
      if (!in_box(b, axis) || (taken >> axis & 1)) continue;
      taken |= (uint64_t)1 << axis;
      place[axis] = (uint8_t)mode[0].n;
      take_axis(d, mode, b, axis);
    }
  for (int s = 1; s >= 0; s--)
    for (int i = 0; i < b->runs[s].n; i++) {
      int axis = b->runs[s].axis[i];
      if (!in_box(b, axis) || (named >> axis & 1)) continue;
      named |= (uint64_t)1 << axis;
      if (k == MT_PERMUTE_AXES) return false;
      d->unaligned.order[k++] = place[axis];
    }
  for (int i = 0; i < b->all->n; i++)
    if (!(taken >> i & 1)) mode[2].axis[mode[2].n++] = b->all->axis[i];
  return true;
}

/* Both runs begin with the same axis, which is long enough: rows of units of 4 bytes and
** more need no box. */
static bool is_fast (const candidate *b) {
  int a = b->runs[MT_SRC].axis[0];
  return a == b->runs[MT_DST].axis[0] && b->unit >= 4 &&
         b->all->axis[a].extent * b->unit >= MT_FASTPREFIX;
}

static bool make (mt_desc *d, mt_axes mode[3], const candidate *b) {
  mode[0].n = mode[1].n = mode[2].n = 0;
  if (!take_box(d, mode, b)) return false;
  mt_order_rest(mode, d->elem);
  return mode[0].n <= MT_PERMUTE_AXES && d->nbound <= MT_PERMUTE_UNALIGNED_BOUNDS &&
         mt_axes_store(d, mode) && d->rests <= INT32_MAX &&
         mt_permute_unaligned_choose(d, b->halo);
}

/* The copy in a box with a halo, or without where that has no room. */
static bool make_box (mt_desc *d, mt_axes mode[3], candidate *b, const mt_desc *flat,
                      const best *x) {
  hold(b, &b->prefix[MT_SRC][x->src]);
  if (!fill(b, &b->prefix[MT_DST][x->dst]) || !is_box(b)) return false;
  *d = *flat;
  if (make(d, mode, b)) return true;
  if (!b->halo) return false;
  b->halo = false;
  *d = *flat;
  return make(d, mode, b);
}

/* The cheapest box that has room. */
static bool make_best (mt_desc *d, mt_axes mode[3], candidate *b) {
  const mt_desc flat = *d;
  best x[MT_TRIES];
  find_best(x, b);
  for (int i = 0; i < MT_TRIES && x[i].cost < INT64_MAX; i++)
    if (make_box(d, mode, b, &flat, &x[i])) return true;
  return false;
}

static bool unaligned_make (mt_launch *l, mt_axes mode[3], const mt_search *search,
                            char *why) {
  const mt_axes all = mode[2];
  mt_desc *d = &l->desc;
  candidate b = {.all = &all, .elem = d->elem, .unit = (int64_t)d->vec * d->elem};
  (void)search, (void)why;
  if (all.n > MT_LISTSIZE - MT_PERMUTE_AXES || mt_mulo(b.unit, d->rests, &b.total))
    return false;
  for (int side = 0; side < 2; side++) {
    mt_run_find(&b.runs[side], &all, side, d->vec);
    if (b.runs[side].n == 0) return false;
    find_prefixes(&b, side);
  }
  if (is_fast(&b) || !make_best(d, mode, &b)) return false;
  d->algo = MT_ALGO_PERMUTE_UNALIGNED;
  return true;
}

static mt_status unaligned_check (const mt_launch *l, mt_err *err) {
  return mt_permute_unaligned_check(&l->desc, err);
}

/* ---------------------------------------------------------------- kernels */

/* Rows are listed, or not. */
static bool unaligned_suits (const mt_kernel *k, const mt_desc *d) {
  return k->bytes == 0 || k->unroll == (d->unaligned.slots != 0 ? 2 : 1);
}

static mt_grid unaligned_grid (const mt_kernel *k, const mt_desc *d) {
  mt_grid g = mt_grid_of(k, d->rests <= INT32_MAX ? d->rests : 0);
  g.threads = mt_unaligned_threads(d, d->unaligned.slots != 0);
  return g;
}

static uint32_t unaligned_shared (const mt_desc *d) { return d->unaligned.size; }
static const uint8_t *unaligned_order (const mt_desc *d) { return d->unaligned.order; }

const mt_algo mt_algo_permute_unaligned =
    {.name = "permute_unaligned",
     .needs = "is for runs of both sides, of 32 bytes and more",
     .make = unaligned_make,
     .check = unaligned_check,
     .cost = mt_permute_unaligned_cost,
     .least = mt_permute_unaligned_least,
     .suits = unaligned_suits,
     .grid = unaligned_grid,
     .shared = unaligned_shared,
     .most_shared = MT_PERMUTE_UNALIGNED_SHARED,
     .thread = "box",
     .bound = "piece",
     .order = unaligned_order};
