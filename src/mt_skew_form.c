/*
** mt_skew_form.c - copies whose rows begin anywhere: boxes of runs of both sides.
** SPDX-License-Identifier: MIT
**
** A box holds a head of the chain of each side: whole axes, and a piece of the next. The
** pieces of an axis are of one length; the last of them may be shorter: a bound counts
** along the axis. Which heads: by an estimate of their cost.
*/
#include "mt_chain.h"
#include "mt_plan.h"
#include "mt_skew.h"

enum {
  MT_LEASTHEAD = 32, MT_MOSTHEAD = 32768, /* bytes of a run, of a row */
  MT_FASTHEAD = 512,                      /* bytes: rows of both sides that need no box */
  MT_FILL = 660,                          /* boxes that a large GPU has at once */
  MT_MAXSKEWHEADS = 96
};

typedef struct mt_basket {
  const mt_axes *all;
  int64_t unit, total;                    /* bytes of an access, of the copy */
  mt_chain chain[2];
  mt_head head[2][MT_MAXSKEWHEADS];
  int nhead[2];
  int64_t extent[MT_LISTSIZE];            /* of each axis in the box: 1 if it is not */
  int64_t row[2];                         /* bytes of a run, of a row */
  bool ahead;                             /* rows that end in a vector are read on */
  int64_t bytes;
} mt_basket;

/* ---------------------------------------------------------------- heads */

/* Pieces as equal as they can be. */
static int64_t even (int64_t extent, int64_t piece) {
  int64_t pieces = (extent + piece - 1) / piece;
  return (extent + pieces - 1) / pieces;
}

static void find_heads (mt_basket *b, int side) {
  int64_t inner = b->unit;
  int *n = &b->nhead[side];
  *n = 0;
  for (int i = 0; i < b->chain[side].n && inner <= MT_MOSTHEAD; i++) {
    int64_t e = b->all->axis[b->chain[side].axis[i]].extent;
    int64_t most = MT_MOSTHEAD / inner, c = e < most ? e : most;
    for (; c > 1 && *n < MT_MAXSKEWHEADS; c = c * 4 / 5) {
      c = even(e, c);
      if (c * inner < MT_LEASTHEAD) break;
      b->head[side][(*n)++] = (mt_head){i + 1, c};
    }
    if (mt_mulo(inner, e, &inner)) return;
  }
}

static void find_row (mt_basket *b, int side) {
  b->row[side] = b->unit;
  for (int i = 0; i < b->chain[side].n; i++) {
    int axis = b->chain[side].axis[i];
    b->row[side] *= b->extent[axis];
    if (b->extent[axis] < b->all->axis[axis].extent) return;
  }
}

/* The axis of the chain of a side where the box ends; -1: it holds all of them. One of
** which it holds a single index may be it. */
static int end_of (const mt_basket *b, int side) {
  for (int i = 0; i < b->chain[side].n; i++) {
    int axis = b->chain[side].axis[i];
    if (b->extent[axis] < b->all->axis[axis].extent) return axis;
  }
  return -1;
}

static int end_of_row (const mt_basket *b) { return end_of(b, MT_DST); }

/* What reading on adds to a box: runs, and bytes of each. */
static int64_t more_runs (const mt_basket *b) { return 16 / b->unit - 1; }

static int64_t more_bytes (const mt_basket *b) {
  int axis = end_of_row(b);
  return axis >= 0 && b->extent[axis] > 1 && axis == end_of(b, MT_SRC)
           ? b->row[MT_SRC] / b->extent[axis] : 0;
}

/* Reading on takes a quarter of the box at most: else the parts of vectors cost less. */
static bool reads_on (const mt_basket *b) {
  int64_t runs = b->bytes / b->row[MT_SRC], more = more_bytes(b);
  return more > 0 ? more * 4 <= b->row[MT_SRC] : more_runs(b) * 4 <= runs;
}

/* Shared memory that the box takes, about. */
static int64_t room_of (const mt_basket *b) {
  int64_t runs = b->bytes / b->row[MT_SRC], run = b->row[MT_SRC] + 32;
  if (reads_on(b)) runs += more_bytes(b) ? 0 : more_runs(b), run += more_bytes(b);
  return runs * run + 64;
}

/* The box of these heads; false if it has no room. */
static bool fill (mt_basket *b, const mt_head *src, const mt_head *dst) {
  b->bytes = b->unit;
  for (int i = 0; i < b->all->n; i++) b->extent[i] = 1;
  mt_chain_hold(b->extent, b->all, &b->chain[MT_SRC], src);
  mt_chain_hold(b->extent, b->all, &b->chain[MT_DST], dst);
  for (int i = 0; i < b->all->n; i++) {
    b->bytes *= b->extent[i];
    if (b->bytes > MT_SKEW_SHARED) return false;
  }
  find_row(b, MT_SRC);
  find_row(b, MT_DST);
  return room_of(b) <= MT_SKEW_SHARED;
}

/* ---------------------------------------------------------------- choosing */

/* In thousandths of the copy: ends of runs and rows, begin and end of a block, boxes that
** overhang, multiprocessors without one, places that are walked one by one. */
static int64_t cost_of (const mt_basket *b) {
  int64_t end = reads_on(b) || b->unit >= 4 ? 40000 : 100000 / b->unit;
  int64_t cost = 24000 / b->row[MT_SRC] + end / b->row[MT_DST] + 600000 / b->bytes;
  int64_t boxes = b->total / b->bytes;
  int first = b->chain[MT_DST].axis[0];
  for (int i = 0; i < b->all->n; i++) {
    int64_t e = b->all->axis[i].extent, n = (e + b->extent[i] - 1) / b->extent[i];
    cost += (n * b->extent[i] - e) * 400 / e;
  }
  if (boxes < MT_FILL) cost += 500 - 500 * boxes / MT_FILL;
  if (b->extent[first] * b->unit < 16) cost += 60;
  return cost;
}

static bool find_best (mt_basket *b) {
  int64_t best = INT64_MAX;
  const mt_head *at[2] = {NULL, NULL};
  for (int i = 0; i < b->nhead[MT_SRC]; i++)
    for (int j = 0; j < b->nhead[MT_DST]; j++) {
      if (!fill(b, &b->head[MT_SRC][i], &b->head[MT_DST][j])) continue;
      int64_t cost = cost_of(b);
      if (cost < best) best = cost, at[0] = &b->head[0][i], at[1] = &b->head[1][j];
    }
  return best < INT64_MAX && fill(b, at[0], at[1]);
}

/* ---------------------------------------------------------------- taking it */

/* Puts an axis of the box into the thread axes; its pieces into the rest. A bound counts
** along it where the last overhangs, and where a row ends. */
static void take_axis (mt_desc *d, mt_axes mode[3], const mt_basket *b, int i) {
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

static bool in_box (const mt_basket *b, int i) {
  return b->extent[i] > 1 || (b->ahead && i == end_of_row(b));
}

/* The axes of the box: those of the source's chain, then those of the destination's;
** order[]: the other way round. */
static void take_box (mt_desc *d, mt_axes mode[3], const mt_basket *b) {
  uint8_t place[MT_LISTSIZE];
  uint64_t taken = 0, named = 0;
  int k = 0;
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < b->chain[s].n; i++) {
      int axis = b->chain[s].axis[i];
      if (!in_box(b, axis) || (taken >> axis & 1)) continue;
      taken |= (uint64_t)1 << axis;
      place[axis] = (uint8_t)mode[0].n;
      take_axis(d, mode, b, axis);
    }
  for (int s = 1; s >= 0; s--)
    for (int i = 0; i < b->chain[s].n; i++) {
      int axis = b->chain[s].axis[i];
      if (!in_box(b, axis) || (named >> axis & 1)) continue;
      named |= (uint64_t)1 << axis;
      d->skew.order[k++] = place[axis];
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
static bool is_fast (const mt_basket *b) {
  int a = b->chain[MT_SRC].axis[0];
  return a == b->chain[MT_DST].axis[0] &&
         b->all->axis[a].extent * b->unit >= MT_FASTHEAD;
}

static bool make (mt_desc *d, mt_axes mode[3], const mt_basket *b) {
  mt_err err = MT_NOERR;
  mode[0].n = mode[1].n = mode[2].n = 0;
  take_box(d, mode, b);
  sort_rest(&mode[2]);
  return mode[0].n <= MT_MAXTURN && d->nbound <= MT_SKEW_BOUNDS &&
         mt_axes_put(d, mode, &err) == MT_OK && d->rests <= INT32_MAX &&
         mt_skew_choose(d, b->ahead);
}

bool mt_skew_make (mt_launch *l, mt_axes mode[3], char *why) {
  const mt_axes all = mode[2];
  const mt_desc flat = l->desc;
  mt_basket b = {.all = &all, .unit = (int64_t)flat.vec * flat.elem};
  (void)why;
  if (all.n > MT_LISTSIZE - MT_MAXTURN || mt_mulo(b.unit, flat.rests, &b.total))
    return false;
  for (int side = 0; side < 2; side++) {
    mt_chain_find(&b.chain[side], &all, side, flat.vec);
    if (b.chain[side].n == 0) return false;
    find_heads(&b, side);
  }
  if (is_fast(&b) || !find_best(&b)) return false;
  b.ahead = reads_on(&b);
  bool made = make(&l->desc, mode, &b);
  if (!made && b.ahead) {
    b.ahead = false;
    l->desc = flat;
    made = make(&l->desc, mode, &b);
  }
  l->desc.form = MT_FORM_SKEW;
  return made;
}
