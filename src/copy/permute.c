/*
** permute.c - copies whose runs share axes or are short: boxes of both runs.
** SPDX-License-Identifier: MIT
**
** A run of a side is the list of axes that are contiguous there together: the first has
** stride `vec`, each other one the stride where those before it end. A box holds a prefix
** of either run: all of its first axes, and a divisor of the next. What it holds of a run
** is a row of that side: contiguous, of 64 bytes and more, whole vectors of 16 bytes.
**
**   source        a: 10, b: 24, c: 5 contiguous    prefix: a, 8 of b    rows of 80 units
**   destination   b, c, a contiguous               prefix: 8 of b       rows of 8 units
**   the box       a = 10, b = 8
**
** All pairs of prefixes are tried. The one with the least estimated cost is taken.
*/
#include <math.h>

#include "copy/algo.h"
#include "copy/banks.h"
#include "copy/run.h"
#include "copy/permute_smem.h"
#include "desc/permute_desc.h"

enum {
  MT_LEASTBOX = 1024, /* bytes: below, a block has too little to do */
  MT_LEASTROW = 64,   /* bytes: below, memory wastes more than a box gives */
  MT_LONGROW = 1024,  /* bytes: longer rows are not faster */
  MT_FASTROW = 128,   /* bytes: of rows on both sides that need no box */
  MT_MAXPREFIXES = 96,
  MT_MAXCUT = 512
};

typedef struct candidate {
  const mt_axes *all;
  const mt_launch *l;
  int64_t unit; /* bytes */
  mt_run run[2];
  mt_prefix prefix[2][MT_MAXPREFIXES];
  int nprefix[2];
  int64_t extent[MT_LISTSIZE]; /* of each axis in the box: 1 if it is not */
  int64_t held[MT_LISTSIZE];   /* what the source's prefix has of it */
  int64_t row[2];              /* bytes */
  uint64_t odd[2];             /* axes whose stride is no multiple of 16 bytes, as bits */
  int64_t bytes;
  int axes; /* of the box */
} candidate;

/* ---------------------------------------------------------------- prefixes */

/* The divisors of e up to `most`, in order; returns how many of them are noted. */
static int divisors_of (uint16_t *list, int64_t e, int64_t most) {
  uint16_t large[MT_MAXCUT];
  int n = 0, m = 0;
  for (int64_t f = 1; f * f <= e && f <= most; f++) {
    if (e % f != 0) continue;
    list[n++] = (uint16_t)f;
    if (e / f > f && e / f <= most) large[m++] = (uint16_t)(e / f);
  }
  while (m > 0) list[n++] = large[--m];
  return n;
}

static void add_prefix (candidate *c, int side, int n, int64_t cut) {
  if (c->nprefix[side] < MT_MAXPREFIXES)
    c->prefix[side][c->nprefix[side]++] = (mt_prefix){n, cut};
}

/* All prefixes that a box has room for: divisors of an axis up to MT_MAXCUT, and all of
** it. Each holds those before it. */
static void find_prefixes (candidate *c, int side) {
  int64_t most = MT_PERMUTE_BYTES / c->unit;
  uint16_t list[MT_MAXCUT];
  c->nprefix[side] = 0;
  for (int i = 0; i < c->run[side].n && most > 1; i++) {
    const int64_t e = c->all->axis[c->run[side].axis[i]].extent;
    const int n = divisors_of(list, e, most < MT_MAXCUT ? most : MT_MAXCUT);
    for (int k = 1; k < n; k++) add_prefix(c, side, i + 1, list[k]);
    if (e > MT_MAXCUT && e <= most) add_prefix(c, side, i + 1, e);
    most /= e;
  }
}

/* ---------------------------------------------------------------- boxes */

/* The row of the side, as long as the box holds whole axes of the run. False if it is too
** short, or if rows do not begin at multiples of 16 bytes: an axis beside it then has a
** stride that is none. */
static bool find_row (candidate *c, int side) {
  uint64_t in = 0;
  int64_t n = c->unit;
  for (int i = 0; i < c->run[side].n; i++) {
    int axis = c->run[side].axis[i];
    if (c->extent[axis] == 1) break;
    in |= (uint64_t)1 << axis;
    n *= c->extent[axis];
    if (c->extent[axis] < c->all->axis[axis].extent) break;
  }
  c->row[side] = n;
  return n >= MT_LEASTROW && n % 16 == 0 && (c->odd[side] & ~in) == 0;
}

/* The box with a prefix of the source, and more of it with one of the destination. */
static void hold (candidate *c, const mt_prefix *src) {
  for (int i = 0; i < c->all->n; i++) c->held[i] = 1;
  mt_run_hold(c->held, c->all, &c->run[MT_SRC], src);
}

/* The smallest box with both; false if it is too large. */
static bool fill (candidate *c, const mt_prefix *dst) {
  c->axes = 0;
  c->bytes = c->unit;
  for (int i = 0; i < c->all->n; i++) c->extent[i] = c->held[i];
  mt_run_hold(c->extent, c->all, &c->run[MT_DST], dst);
  for (int i = 0; i < c->all->n; i++) {
    c->axes += c->extent[i] > 1;
    c->bytes *= c->extent[i];
    if (c->bytes > MT_PERMUTE_BYTES) return false;
  }
  return true;
}

/* It is large enough, and has rows on both sides. */
static bool is_box (candidate *c) {
  return c->bytes >= MT_LEASTBOX && c->axes < MT_PERMUTE_AXES && find_row(c, MT_SRC) &&
         find_row(c, MT_DST);
}

/* ---------------------------------------------------------------- choosing */

/* The axes of the box as they lie on a side: those of its run first, the others by
** stride. */
static int order_of (int *order, const candidate *c, int side) {
  int n = 0;
  uint64_t in = 0;
  for (int i = 0; i < c->run[side].n; i++) {
    int axis = c->run[side].axis[i];
    if (c->extent[axis] == 1) continue;
    order[n++] = axis, in |= (uint64_t)1 << axis;
  }
  for (int first = n, i = 0; i < c->all->n; i++) {
    int j = n;
    if (c->extent[i] == 1 || (in >> i & 1)) continue;
    int64_t stride = c->all->axis[i].stride[side];
    for (; j > first; j--) {
      int64_t before = c->all->axis[order[j - 1]].stride[side];
      if ((before < 0 ? -before : before) <= (stride < 0 ? -stride : stride)) break;
      order[j] = order[j - 1];
    }
    order[j] = i, n++;
  }
  return n;
}

/* Costs are integers: a part of the copy's time, times 2000. */
static int64_t counted (double part) { return (int64_t)(2000 * part + 1e-9); }

/* What a box costs: the begin and end of a block, shared by its bytes; fewer blocks at a
** time, if it is large; the ends of rows on both sides, more so where they end within a
** sector of 32 bytes; vectors of several groups, each time that these are halved; threads
** that idle in the last round. */
static int64_t cost_of (const candidate *c) {
  const mt_model *m = &mt_h200;
  int64_t cost = counted(m->box_block / (double)c->bytes), extent[MT_PERMUTE_AXES], part;
  int order[MT_LISTSIZE], axis, n = order_of(order, c, MT_DST);
  if (c->bytes > MT_PERMUTE_USUAL) cost += counted(m->box_large);
  for (int side = 0; side < 2; side++) {
    int64_t row = c->row[side] < MT_LONGROW ? c->row[side] : MT_LONGROW;
    cost += counted(m->box_row / (double)row);
    if (c->row[side] % 32 != 0) cost += counted(m->box_any_torn);
  }
  for (int i = 0; i < n; i++) extent[i] = c->extent[order[i]];
  int64_t vectors = c->bytes / 16, places = (vectors + 255) / 256 * 256;
  int64_t group = mt_permute_group(&axis, &part, extent, n, 16 / c->unit);
  for (; group * c->unit < 16; group *= 2) cost += counted(m->box_any_group);
  return cost + counted(m->box_any_idle * (double)(places - vectors) / (double)places);
}

/* A prefix holds those before it: behind one that is too large all are. */
static bool find_best (candidate *c) {
  int64_t best = INT64_MAX;
  const mt_prefix *at[2] = {NULL, NULL};
  for (int i = 0; i < c->nprefix[MT_SRC]; i++) {
    hold(c, &c->prefix[MT_SRC][i]);
    for (int j = 0; j < c->nprefix[MT_DST]; j++) {
      if (!fill(c, &c->prefix[MT_DST][j])) break;
      if (!is_box(c)) continue;
      int64_t cost = cost_of(c);
      if (cost < best) best = cost, at[0] = &c->prefix[0][i], at[1] = &c->prefix[1][j];
    }
  }
  if (best == INT64_MAX) return false;
  hold(c, at[0]);
  return fill(c, at[1]) && is_box(c);
}

/* ---------------------------------------------------------------- cost */

/* Accesses of a box's row on a side, and its axes. */
static int64_t row_of (uint32_t *row, const mt_desc *d, int side) {
  int64_t stride = d->vec;
  *row = 0;
  for (uint32_t k = 0; k < d->nthr; k++) {
    uint32_t i = side == MT_SRC ? k : d->permute.order[k];
    if (d->axis[i].stride[side] != stride) break;
    stride *= d->axis[i].extent;
    *row |= 1u << i;
  }
  return stride / d->vec;
}

/* What the ends of rows of so many bytes take. */
static double ends_of (int64_t row) {
  const double part = mt_h200.box_row;
  return row < MT_LONGROW ? part / (double)row - part / MT_LONGROW : 0;
}

/* Microseconds of the instructions of all boxes: of so many threads each, and `more`. */
static double issue_of (const mt_desc *d, int64_t threads, double more) {
  const mt_model *m = &mt_h200;
  return (double)d->rests * m->box_instruction *
         ((double)threads * (m->box_begin + d->nrest * m->box_axis) + more);
}

/* The best are rows of 1 KiB in boxes of 16 KiB. Others cost more: for the begin and end
** of a block, or for fewer blocks at a time; for the ends of rows. */
static void count_rows (mt_cost *c, const mt_launch *l) {
  const mt_model *m = &mt_h200;
  const mt_desc *d = &l->desc;
  const int64_t unit = (int64_t)d->vec * d->elem;
  const double bytes = (double)(d->threads * unit);
  c->slow += bytes > MT_PERMUTE_USUAL ?
                 m->box_large :
                 m->box_block / bytes - m->box_block / MT_PERMUTE_USUAL;
  for (int side = 0; side < 2; side++) {
    uint32_t row;
    int64_t length = row_of(&row, d, side);
    c->traffic += mt_in_pieces(l, side, length, row);
    if (side == MT_DST)
      c->slow += mt_torn(l, row, length, m->box_torn / (double)(length * unit));
    c->slow += ends_of(length * unit);
  }
  c->least = issue_of(d, MT_LANES, 0); /* of a warp, at least */
}

/* Instructions take their time beside that, but for a part of what is shorter: those for
** vectors that are read, and for the groups of those that are written. So does shared
** memory. */
static void box_cost (mt_cost *c, const mt_launch *l) {
  const mt_model *m = &mt_h200;
  const mt_desc *d = &l->desc;
  const mt_permute *p = &d->permute;
  const int64_t unit = (int64_t)d->vec * d->elem, threads = mt_permute_threads(d);
  const double groups = (double)(16 / unit / p->group) / p->wide;
  const double vector = p->nload * m->box_load + groups * p->nstore * m->box_store;
  const double waves = (double)d->rests * p->vectors * mt_permute_waves(d) * m->box_wave;
  count_rows(c, l);
  c->used = mt_part_used(p->vectors, threads);
  mt_cost_issue(c, MT_ALGO_PERMUTE,
                fmax(issue_of(d, threads, p->vectors * vector), waves), m->box_both);
}

/* ---------------------------------------------------------------- taking it */

/* The first n indices of an axis; the axis that counts such pieces. */
static mt_axis part_of (const mt_axis *a, int64_t n) {
  mt_axis x = *a;
  x.extent = n;
  return x;
}

static mt_axis behind (const mt_axis *a, int64_t n) {
  mt_axis x = *a;
  x.extent /= n;
  for (int o = 0; o < 2; o++) x.stride[o] *= n;
  return x;
}

/* The thread axes in the order of the source, order[] as the destination has them. An
** axis in which a group ends becomes two: so there may be padding between groups. */
static void take_box (mt_axes mode[3], uint8_t *order, const candidate *c) {
  int src[MT_LISTSIZE], dst[MT_LISTSIZE], cut, n = order_of(src, c, MT_SRC), m = 0;
  int64_t extent[MT_PERMUTE_AXES], part;
  uint8_t place[MT_LISTSIZE];
  order_of(dst, c, MT_DST);
  for (int i = 0; i < n; i++) extent[i] = c->extent[dst[i]];
  mt_permute_group(&cut, &part, extent, n, 16 / c->unit);
  cut = part > 1 && part < extent[cut] ? dst[cut] : -1;
  for (int i = 0; i < n; i++) {
    mt_axis a = part_of(&c->all->axis[src[i]], c->extent[src[i]]);
    place[src[i]] = (uint8_t)m;
    if (src[i] == cut) mode[0].axis[m++] = part_of(&a, part), a = behind(&a, part);
    mode[0].axis[m++] = a;
  }
  mode[0].n = m;
  for (int i = 0, k = 0; i < n; i++) {
    order[k++] = place[dst[i]];
    if (dst[i] == cut) order[k++] = (uint8_t)(place[dst[i]] + 1);
  }
}

/* What the box does not hold, in an order that suits the destination. */
static void take_rest (mt_axes *rest, const candidate *c) {
  for (int i = 0; i < c->all->n; i++)
    if (c->extent[i] < c->all->axis[i].extent)
      rest->axis[rest->n++] = behind(&c->all->axis[i], c->extent[i]);
  mt_axes_sort(rest);
  mt_axes_merge(rest);
}

/* Rows on both sides along one axis that are long enough as they are. */
static bool is_fast (const candidate *c) {
  int a = c->run[MT_SRC].axis[0];
  return a == c->run[MT_DST].axis[0] && c->all->axis[a].extent * c->unit >= MT_FASTROW;
}

/* A row of a side is within its run: no axis beside that moves it off multiples of 16
** bytes, and it is long enough. Returns its bytes at most; 0: there is none. */
static int64_t longest_row (const candidate *c, int side) {
  const mt_run *run = &c->run[side];
  uint64_t in = 0;
  int64_t n = c->unit;
  for (int i = 0; i < run->n; i++) {
    const int64_t e = c->all->axis[run->axis[i]].extent;
    in |= (uint64_t)1 << run->axis[i];
    n = n < MT_LONGROW ? n * (e < MT_LONGROW ? e : MT_LONGROW) : n;
  }
  return n >= MT_LEASTROW && (c->odd[side] & ~in) == 0 ? n : 0;
}

static void find_odd (candidate *c) {
  for (int i = 0; i < c->all->n; i++)
    for (int side = 0; side < 2; side++)
      if (c->all->axis[i].stride[side] * (int64_t)c->l->desc.elem % 16 != 0)
        c->odd[side] |= (uint64_t)1 << i;
}

/* Both sides have rows, and a box of the longest is fast enough. */
static bool has_rows (const candidate *c, const mt_search *search) {
  const int64_t src = longest_row(c, MT_SRC), dst = longest_row(c, MT_DST);
  const mt_desc *d = &c->l->desc;
  if (src == 0 || dst == 0) return false;
  const mt_cost least = {.traffic = (double)mt_accesses(d) * mt_both_units(d),
                         .slow = 1 + ends_of(src) + ends_of(dst)};
  return search->all ||
         !mt_is_above(mt_cost_least(&least, c->l, MT_ALGO_PERMUTE), search->us);
}

/* The copy in the box that was found. False: there is none that the search wants. */
static bool make_box (mt_launch *l, mt_axes mode[3], const candidate *c,
                      const mt_search *search) {
  mt_desc *d = &l->desc;
  mt_cost cost = {.slow = 1};
  mode[0].n = mode[1].n = mode[2].n = 0;
  take_box(mode, d->permute.order, c);
  take_rest(&mode[2], c);
  if (!mt_axes_store(d, mode) || d->rests > INT32_MAX) return false;
  count_rows(&cost, l);
  if (!search->all && mt_is_above(mt_cost_us(&cost, l), search->us)) return false;
  return mt_permute_choose(d);
}

static bool box_make (mt_launch *l, mt_axes mode[3], const mt_search *search, char *why) {
  mt_axes all;
  candidate c;
  c.l = l, c.unit = (int64_t)l->desc.vec * l->desc.elem;
  c.odd[0] = c.odd[1] = 0;
  (void)why;
  if (mode[2].n > MT_LISTSIZE - MT_PERMUTE_AXES) return false;
  for (int side = 0; side < 2; side++) {
    mt_run_find(&c.run[side], &mode[2], side, l->desc.vec);
    if (c.run[side].n == 0) return false;
  }
  mt_axes_copy(&all, &mode[2]);
  c.all = &all;
  l->desc.algo = MT_ALGO_PERMUTE;
  find_odd(&c);
  if (is_fast(&c) || !mt_begins(l, MT_SRC, 16) || !mt_begins(l, MT_DST, 16) ||
      !has_rows(&c, search))
    return false;
  for (int side = 0; side < 2; side++) find_prefixes(&c, side);
  return find_best(&c) && make_box(l, mode, &c, search);
}

static mt_status box_check (const mt_launch *l, mt_err *err) {
  const mt_desc *d = &l->desc;
  mt_axes mode[3];
  MT_TRY(mt_check_runs(d, err));
  MT_CHECK(d->rests <= INT32_MAX, err, "more than 2^31 tiles");
  mt_axes_get(mode, d);
  MT_CHECK(mt_begins(l, MT_SRC, 16) && mt_begins(l, MT_DST, 16) &&
               mt_axes_divide(&mode[2], MT_SRC, d->elem, 16) &&
               mt_axes_divide(&mode[2], MT_DST, d->elem, 16),
           err, "a box does not begin at a multiple of 16 bytes");
  return mt_permute_check(d, err);
}

/* ---------------------------------------------------------------- kernels */

static mt_grid box_grid (const mt_kernel *k, const mt_desc *d) {
  (void)k;
  return (mt_grid){(uint32_t)d->rests, mt_permute_threads(d)};
}

static uint32_t box_shared (const mt_desc *d) { return d->permute.size; }
static const uint8_t *box_order (const mt_desc *d) { return d->permute.order; }

const mt_algo mt_algo_permute =
    {.name = "permute",
     .needs = "is for short rows, of 64 bytes and more, at multiples of 16 bytes",
     .make = box_make,
     .check = box_check,
     .cost = box_cost,
     .grid = box_grid,
     .shared = box_shared,
     .thread = "box",
     .order = box_order};
