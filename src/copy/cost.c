/*
** cost.c - what a copy costs on a GPU: what all algorithms count alike.
** SPDX-License-Identifier: MIT
*/
#include <math.h>

#include "moontile/analysis.h"
#include "copy/algo.h"
#include "copy/kernel_choice.h"
#include "desc/cast_desc.h"
#include "desc/swizzle.h"

MT_MODEL_CONST mt_model mt_h200 = {
#define MT_COST(name, value, unit) .name = value,
#define MT_COST_BY(name, unit, ...) .name = {__VA_ARGS__},
#include "copy/cost_h200.def"
    .of = {
#define MT_SPEED(name, speed, cast, any, again, gap)                                     \
  [MT_ALGO_##name] = {speed, cast, any, again, gap},
#include "copy/cost_h200.def"
    }};

/* Axes of a side of one stride. */
typedef struct mt_reach {
  int64_t stride, extent;
} mt_reach;

uint64_t mt_address (const mt_launch *l, int side, int64_t at) {
  return (uint64_t)(uintptr_t)l->base[side] +
         (uint64_t)mt_element_of(l, side, at) * MT_ELEM(&l->desc, side);
}

int64_t mt_unit_of (const mt_desc *d, int side) {
  return (int64_t)d->vec * MT_ELEM(d, side);
}

int64_t mt_wide_unit (const mt_desc *d) {
  int64_t src = mt_unit_of(d, MT_SRC), dst = mt_unit_of(d, MT_DST);
  return src > dst ? src : dst;
}

double mt_both_units (const mt_desc *d) {
  return (double)(mt_unit_of(d, MT_SRC) + mt_unit_of(d, MT_DST));
}

int64_t mt_accesses (const mt_desc *d) {
  int64_t n;
  bool over = mt_mulo(d->threads, d->values, &n) || mt_mulo(n, d->rests, &n);
  return over ? INT64_MAX : n;
}

double mt_by_width (const double table[MT_WIDTHS], int64_t bytes) {
  return table[__builtin_ctz((unsigned)bytes)];
}

/* ---------------------------------------------------------------- rows */

/* The largest power of two, a sector at most, that divides where the rows of a side
** begin: the axes of `row` are its run. */
static int64_t grain (const mt_launch *l, int side, uint32_t row) {
  const mt_desc *d = &l->desc;
  uint64_t all = mt_address(l, side, 0) | MT_SECTORBYTES;
  for (uint32_t i = 0; i < d->nthr + d->nval + d->nrest; i++)
    if (!(row >> i & 1)) all |= (uint64_t)d->axis[i].stride[side] * MT_ELEM(d, side);
  return (int64_t)(all & (0 - all));
}

double mt_in_pieces (const mt_launch *l, int side, int64_t length, uint32_t row) {
  const mt_desc *d = &l->desc;
  int64_t at = grain(l, side, row), bytes = length * mt_unit_of(d, side);
  int64_t whole = (bytes + MT_SECTORBYTES - 1) / MT_SECTORBYTES * MT_SECTORBYTES;
  int64_t any = bytes + MT_SECTORBYTES - at;
  return (double)mt_accesses(d) / (double)length * (double)(any > whole ? any : whole);
}

mt_cut mt_cut_of (int64_t bytes, int64_t at, int64_t size) {
  const int64_t most = (bytes + at - 1) / at * at, least = bytes / at * at;
  const int64_t whole = least + at > size ? least + at - size : 0;
  return (mt_cut){(double)(most + size - at) / (double)size,
                  (double)whole / (double)size};
}

double mt_part_used (int64_t n, int64_t tile) {
  return (double)n / (double)((n + tile - 1) / tile * tile);
}

void mt_set_used (mt_cost *c, double part) {
  c->used = part;
  if (part < mt_h200.used) c->slow = mt_h200.used / part;
}

void mt_cost_issue (mt_cost *c, mt_algorithm algo, double issue, double both) {
  const double moves = c->traffic * c->slow / (mt_h200.memory * mt_h200.of[algo].speed);
  if (issue <= moves) c->slow *= 1 + both * issue * issue / (moves * moves);
  c->least = issue <= moves ? issue : issue + both * moves * moves / issue;
}

/* ---------------------------------------------------------------- what there is */

/* Adds an axis of a side to those that are there, by stride; of one stride they reach
** along the same elements. */
static int add_reach (mt_reach *x, int n, int64_t stride, int64_t extent) {
  int i = n;
  for (int k = 0; k < n; k++)
    if (x[k].stride == stride) {
      x[k].extent += extent - 1;
      return n;
    }
  for (; i > 0 && x[i - 1].stride > stride; i--) x[i] = x[i - 1];
  x[i] = (mt_reach){stride, extent};
  return n + 1;
}

static int reaches_of (mt_reach *x, const mt_desc *d, int side) {
  int n = 0;
  for (uint32_t i = 0; i < d->nthr + d->nval + d->nrest; i++) {
    const mt_axis *a = &d->axis[i];
    const uint64_t s = mt_magnitude(a->stride[side]);
    if (s != 0 && s <= INT64_MAX && a->extent > 1)
      n = add_reach(x, n, (int64_t)s, a->extent);
  }
  return n;
}

/* The elements of the destination that lie together: its run. Of the axes, which are by
** stride, the first *i make it; one that overhangs reaches into the next. */
static double run_of (const mt_reach *x, int n, const mt_desc *d, int *i) {
  double run = d->vec;
  for (*i = 0; *i < n && (double)x[*i].stride <= run; ++*i)
    run = (double)x[*i].stride * (double)x[*i].extent;
  return run;
}

/* Lines that the runs of the destination have in part, but for those whose sectors are
** whole, which are not read before; where little lies between runs, both ends of that are
** in one line. */
static double lines_in_part (const mt_launch *l) {
  const mt_desc *d = &l->desc;
  mt_reach x[MT_MAXAXIS];
  int i;
  const int n = reaches_of(x, d, MT_DST);
  const double elem = MT_ELEM(d, MT_DST), run = run_of(x, n, d, &i);
  if (i == n || run * elem > INT32_MAX) return 0;
  uint64_t at = mt_address(l, MT_DST, 0) | MT_LINEBYTES;
  for (int k = i; k < n; k++) at |= (uint64_t)x[k].stride * MT_ELEM(d, MT_DST);
  const int64_t bytes = (int64_t)(run * elem);
  if ((at | (uint64_t)bytes) % MT_SECTORBYTES == 0) return 0;
  const mt_cut cut = mt_cut_of(bytes, (int64_t)(at & (0 - at)), MT_LINEBYTES);
  const double runs = (double)mt_accesses(d) * d->vec / run;
  double lines = cut.touched, span = run * elem, held = 1;
  for (; i < n; i++) {
    span += (double)x[i].stride * elem * (double)(x[i].extent - 1);
    held *= (double)x[i].extent;
    const double most = (span / MT_LINEBYTES + 1) / held;
    if (lines > most) lines = most;
  }
  return runs * (lines - cut.whole);
}

/* Microseconds that the algorithm takes more for these lines than any takes. */
static double gaps_take (const mt_launch *l) {
  const mt_desc *d = &l->desc;
  const double gap = mt_h200.of[d->algo].gap;
  double reach = d->vec;
  for (uint32_t i = 0; i < d->nthr + d->nval + d->nrest; i++)
    reach +=
        (double)mt_magnitude(d->axis[i].stride[MT_DST]) * (double)(d->axis[i].extent - 1);
  if (gap == 0 || reach <= (double)mt_accesses(d) * d->vec || mt_desc_is_swizzled(d))
    return 0;
  return lines_in_part(l) * gap / mt_h200.memory;
}

double mt_part_torn (const mt_launch *l, int64_t length) {
  const mt_desc *d = &l->desc;
  mt_reach x[MT_MAXAXIS];
  const int n = reaches_of(x, d, MT_DST);
  const double bytes = (double)length * (double)mt_unit_of(d, MT_DST);
  double run = (double)mt_unit_of(d, MT_DST);
  for (int i = 0; i < n; i++) {
    const double stride = (double)x[i].stride * MT_ELEM(d, MT_DST);
    if (stride >= run + MT_SECTORBYTES) break;
    run += stride * (double)(x[i].extent - 1);
  }
  return bytes < run ? 1 - bytes / run : 0;
}

double mt_torn (const mt_launch *l, uint32_t row, int64_t length, double part) {
  return grain(l, MT_DST, row) < MT_SECTORBYTES ? part * mt_part_torn(l, length) : 0;
}

/* Pieces of a side that lie equally far apart: the last ones that were counted. */
typedef struct apart {
  int64_t stride;
  double extent;
} apart;

/* So many pieces, and those of another axis. Its indices that lie at multiples of the
** stride of the last ones, and begin before these end, are among them, or follow them. */
static double add_pieces (apart *last, double pieces, mt_reach x) {
  const double extent = (double)x.extent, before = last->extent;
  const double end = (double)last->stride * before, stride = (double)x.stride;
  if (stride < end && x.stride % last->stride == 0) {
    last->extent += (double)(x.stride / last->stride) * (extent - 1);
    return pieces / before * last->extent;
  }
  if (stride == end) last->extent *= extent;
  else *last = (apart){x.stride, extent};
  return pieces * extent;
}

double mt_source_bytes (const mt_desc *d) {
  mt_reach x[MT_MAXAXIS];
  apart last = {0, 0};
  const int n = reaches_of(x, d, MT_SRC);
  double piece = (double)mt_unit_of(d, MT_SRC), pieces = 1;
  for (int i = 0; i < n; i++) {
    const double stride = (double)x[i].stride * MT_ELEM(d, MT_SRC);
    if (stride < piece + MT_SECTORBYTES) piece += stride * (double)(x[i].extent - 1);
    else pieces = add_pieces(&last, pieces, x[i]);
  }
  return pieces * ceil(piece / MT_SECTORBYTES) * MT_SECTORBYTES;
}

/* ---------------------------------------------------------------- what is read again */

/* Elements that are read, without those that bounds leave out. */
static double all_reads (const mt_desc *d) {
  double n = (double)mt_accesses(d) * d->vec;
  for (uint32_t k = 0; k < d->nbound; k++) {
    double reach = 1;
    for (uint32_t i = 0; i < d->nthr + d->nval + d->nrest; i++)
      reach += (double)(d->axis[i].extent - 1) * (double)d->axis[i].step[k];
    if (reach > (double)d->bound[k]) n *= (double)d->bound[k] / reach;
  }
  return n;
}

/* The part of the reads that are of elements which were not read before. */
static double read_once (const mt_desc *d) {
  mt_reach x[MT_MAXAXIS];
  const int n = reaches_of(x, d, MT_SRC);
  double piece = d->vec, pieces = 1;
  for (int i = 0; i < n; i++) {
    if ((double)x[i].stride <= piece)
      piece += (double)x[i].stride * (double)(x[i].extent - 1);
    else pieces *= (double)x[i].extent;
  }
  const double part = piece * pieces / all_reads(d);
  return part < 1 ? part : 1;
}

/* Elements that the source has at least, as a part of those that are read. An axis goes
** on to elements that those before it do not reach, or each index of it has one more. */
static double distinct_of (const mt_desc *d) {
  mt_reach x[MT_MAXAXIS];
  const int n = reaches_of(x, d, MT_SRC);
  double reach = d->vec, all = reach;
  for (int i = 0; i < n; i++) {
    const double more = (double)(x[i].extent - 1), stride = (double)x[i].stride;
    if (stride >= reach) all *= more + 1;
    else all += more;
    reach += stride * more;
  }
  const double part = all / ((double)mt_accesses(d) * d->vec);
  return part < 1 ? part : 1;
}

/* The part of the time that is left, if `once` of what is read was not read before. */
static double left_of (const mt_desc *d, mt_algorithm algo,
                       double (*once)(const mt_desc *d)) {
  const double again = mt_h200.of[algo].again;
  if (again == 0 || mt_accesses(d) == 0) return 1;
  return 1 - again * (double)mt_unit_of(d, MT_SRC) / mt_both_units(d) * (1 - once(d));
}

/* ---------------------------------------------------------------- time */

/* By this kernel, NULL: by the first that can. */
static double microseconds (const mt_desc *d, mt_algorithm algo, const mt_cost *c,
                            double left, const mt_kernel *k) {
  const mt_speed *f = &mt_h200.of[algo];
  double us =
      c->traffic * c->slow * left / (mt_h200.memory * (d->cast ? f->cast : f->speed));
  if (us < c->least) us = c->least;
  if (d->cast && ((k && mt_cast_is_any(k->cast)) || !mt_kernel_casts(d, algo, true)))
    us += (double)mt_accesses(d) * d->vec * f->any;
  return mt_h200.launch + us;
}

void mt_cost_apart (mt_cost *c, const mt_launch *l, const mt_kernel *k) {
  const mt_algorithm algo = (mt_algorithm)l->desc.algo;
  *c = (mt_cost){.used = 1, .slow = 1};
  if (mt_accesses(&l->desc) != 0) mt_algo_of(algo)->cost(c, l);
  c->us = microseconds(&l->desc, algo, c, left_of(&l->desc, algo, read_once), k) +
          gaps_take(l);
}

double mt_cost_always (const mt_launch *l) {
  if (mt_accesses(&l->desc) == 0 || mt_desc_is_swizzled(&l->desc)) return 0;
  return lines_in_part(l) * mt_h200.in_part / mt_h200.memory;
}

void mt_cost_of (mt_cost *c, const mt_launch *l, const mt_kernel *k) {
  mt_cost_apart(c, l, k);
  c->us += mt_cost_always(l);
}

double mt_cost_us (const mt_cost *c, const mt_launch *l) {
  const mt_algorithm algo = (mt_algorithm)l->desc.algo;
  return microseconds(&l->desc, algo, c, left_of(&l->desc, algo, read_once), NULL) +
         gaps_take(l);
}

/* Tiles cut axes, so that what they read again is counted otherwise: but never as less
** than there is. */
double mt_cost_least (const mt_cost *c, const mt_launch *l, mt_algorithm algo) {
  return microseconds(&l->desc, algo, c, left_of(&l->desc, algo, distinct_of), NULL);
}

double mt_algo_least (const mt_launch *l, mt_algorithm algo) {
  const mt_desc *d = &l->desc;
  const double n = (double)mt_accesses(d), src = (double)mt_unit_of(d, MT_SRC);
  const double read = mt_h200.of[algo].again == 0 ? src * distinct_of(d) : src;
  mt_cost c = {.traffic = n * (read + (double)mt_unit_of(d, MT_DST)), .slow = 1};
  if (n != 0 && mt_algo_of(algo)->least) mt_algo_of(algo)->least(&c, l);
  return mt_cost_least(&c, l, algo);
}
