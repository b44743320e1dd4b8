/*
** mt_skew.c - how a skewed box turns in shared memory: runs, rows, pitches.
** SPDX-License-Identifier: MIT
**
** The axes that are in no run of the source follow it in the order of the destination.
** Each of their pitches leaves what lies below it, and the parts of a vector before and
** behind it, to itself.
*/
#include "mt_banks.h"
#include "mt_check.h"
#include "mt_skew.h"

enum { MT_VECTOR = 16, MT_MOSTGAP = 7, MT_STRETCH = 32 };

static uint32_t unit_of (const mt_desc *d) { return d->vec * d->elem; }

static int64_t stride_of (const mt_desc *d, uint32_t axis, int side) {
  return d->axis[axis].stride[side] * (int64_t)d->elem;
}

/* The thread axis at place k of a side's chain. */
static uint32_t chained (const mt_desc *d, int side, uint32_t k) {
  return side == MT_SRC ? k : d->skew.order[k];
}

/* The bound along an axis, counted from 1; 0: none. */
static uint32_t bound_of (const mt_desc *d, uint32_t axis) {
  for (uint32_t k = 0; k < d->nbound; k++)
    if (d->axis[axis].step[k] != 0) return k + 1;
  return 0;
}

/* ---------------------------------------------------------------- chains */

/* The first axes along the side that are one run; one that is bounded is the last. */
static uint32_t chain_of (const mt_desc *d, int side) {
  int64_t stride = unit_of(d);
  uint32_t k = 0;
  for (; k < d->nthr && k < MT_MAXTURN; k++) {
    uint32_t axis = chained(d, side, k);
    if (k > 0 && bound_of(d, chained(d, side, k - 1)) != 0) break;
    if (stride_of(d, axis, side) != stride) break;
    if (mt_mulo(stride, d->axis[axis].extent, &stride)) stride = -1;
  }
  return k;
}

/* One bit for each axis of the chain. */
static uint32_t axes_of (const mt_desc *d, int side, uint32_t n) {
  uint32_t set = 0;
  for (uint32_t k = 0; k < n; k++) set |= 1u << chained(d, side, k);
  return set;
}

/* The units of the axes of the chain that are not in `without`. */
static mt_span span_of (const mt_desc *d, int side, uint32_t n, uint32_t without) {
  mt_span s = {1, 1, 0};
  for (uint32_t k = 0; k < n; k++) {
    uint32_t axis = chained(d, side, k);
    if (without >> axis & 1) continue;
    if (k + 1 < n) s.units *= (uint32_t)d->axis[axis].extent;
    else s.count = (uint32_t)d->axis[axis].extent, s.bound = bound_of(d, axis);
  }
  return s;
}

/* The axis i of the rest goes on where the thread axis ends: n indices are n strides. */
static bool goes_on (const mt_desc *d, uint32_t i, uint32_t axis, int64_t n) {
  for (int side = 0; side < 2; side++) {
    int64_t by;
    if (mt_mulo(d->axis[axis].stride[side], n, &by) || d->axis[i].stride[side] != by)
      return false;
  }
  return true;
}

/* A bound counts the last axis of the run or of the row, by one, and leaves a part of
** each box. */
static bool is_bound (const mt_desc *d, uint32_t k, uint32_t nrun, uint32_t nrow) {
  int64_t last = 0;
  uint32_t axis = d->nthr, counted = 0;
  if (d->lane_step[k] != 0 || d->bound[k] > INT32_MAX) return false;
  for (uint32_t i = 0; i < d->nthr; i++) {
    bool ends = i == nrun - 1 || i == d->skew.order[nrow - 1];
    if (d->axis[i].step[k] == 0) continue;
    if (!ends || d->axis[i].step[k] != 1) return false;
    axis = i, counted++;
  }
  if (counted != 1) return false;
  for (uint32_t i = d->nthr; i < d->nthr + d->nrest; i++) {
    if (d->axis[i].step[k] && !goes_on(d, i, axis, d->axis[i].step[k])) return false;
    last += (d->axis[i].extent - 1) * d->axis[i].step[k];
  }
  return last < d->bound[k];
}

/* Indices of an axis in shared memory: of the last one of the row also those ahead. */
static uint32_t held (const mt_desc *d, uint32_t axis) {
  uint32_t bound = bound_of(d, axis);
  bool last = bound != 0 && bound == d->skew.row.bound;
  return (uint32_t)d->axis[axis].extent + (last ? d->skew.ahead : 0);
}

/* ---------------------------------------------------------------- walks */

static void push (mt_hop *to, uint16_t *n, const mt_hop *h) {
  mt_hop *last = &to[*n - (*n > 0)];
  if (h->extent == 1) return;
  if (*n > 0 && last->shared * last->extent == h->shared &&
      last->global * (int64_t)last->extent == h->global)
    last->extent *= h->extent;
  else
    to[(*n)++] = *h;
}

/* The axes of the side's chain that are not in `without`; `global`: of the other side. */
static void build_walk (mt_hop *to, uint16_t *n, const mt_desc *d, int side,
                        uint32_t count, uint32_t without) {
  *n = 0;
  for (uint32_t k = 0; k < count; k++) {
    uint32_t axis = chained(d, side, k);
    if (without >> axis & 1) continue;
    mt_hop h = {.extent = held(d, axis), .shared = d->skew.pitch[axis],
                .global = stride_of(d, axis, 1 - side)};
    push(to, n, &h);
  }
  for (uint16_t i = 0; i + 1 < *n; i++) {
    mt_axis a = {.extent = to[i].extent};
    mt_divisor(&a);
    to[i].mul = a.mul, to[i].shift = a.shift;
  }
}

static mt_each divisor_of (uint32_t n) {
  mt_axis a = {.extent = n};
  mt_divisor(&a);
  return (mt_each){n, a.mul, a.shift};
}

static uint32_t most_of (mt_span s) { return s.units * s.count; }

/* The axes of the row, those merged that are one in shared memory; the last takes what
** the others leave. False if there are too many, or two that end within a vector. */
static bool build_line (mt_desc *d, uint32_t nrow) {
  mt_line *l = d->skew.line;
  int32_t n = 0, *jump = d->skew.jump, end = 0;
  for (uint32_t k = 0; k < nrow; k++) {
    uint32_t axis = d->skew.order[k], e = held(d, axis);
    uint32_t pitch = d->skew.pitch[axis];
    if (n > 0 && l[n - 1].pitch * l[n - 1].extent == pitch) l[n - 1].extent *= e;
    else if (n == MT_MAXLINE) return false;
    else l[n++] = (mt_line){.extent = e, .pitch = pitch};
  }
  for (; n < MT_MAXLINE; n++) l[n].extent = 1;
  for (int i = 0; i < MT_MAXLINE; i++) {
    mt_each e = divisor_of(l[i].extent);
    l[i].mul = e.mul, l[i].shift = e.shift;
    end += (int32_t)((l[i].extent - 1) * l[i].pitch);
    jump[i] = (i + 1 < MT_MAXLINE ? (int32_t)l[i + 1].pitch : 0) - end -
              (int32_t)l[0].pitch;
  }
  jump[MT_MAXLINE] = jump[2] + (int32_t)((l[2].extent - 1) * l[2].pitch);
  uint32_t v = MT_VECTOR / unit_of(d);
  for (uint32_t i = 0; i < 32; i += l[0].extent) d->skew.ends |= (uint32_t)1 << i;
  return l[0].extent >= v || l[0].extent * l[1].extent >= v;
}

/* Windows of so many bytes that a span touches wherever it begins. */
static uint32_t windows_of (const mt_desc *d, mt_span s, uint32_t bytes) {
  uint32_t v = bytes / unit_of(d);
  return (most_of(s) + 2 * v - 2) / v;
}

/* Instructions of a thread, about: to find a run, a row; to move a vector. */
enum { MT_FINDRUN = 50, MT_FETCH = 12, MT_FINDROW = 90 };

/* Threads of one run: those that take the fewest instructions. */
static void build_lanes (mt_desc *d) {
  uint32_t vectors = windows_of(d, d->skew.run, 4 * MT_VECTOR) * 4;
  uint32_t runs = most_of(d->skew.runs) + d->skew.ahead_runs;
  uint32_t best = UINT32_MAX, take = 1, least = vectors < 8 ? vectors : 8;
  for (uint32_t passes = 1; passes <= vectors; passes++) {
    uint32_t lanes = (vectors + passes - 1) / passes, teams = MT_SKEW_THREADS / lanes;
    if (lanes < least) break;
    if (teams == 0) continue;
    uint32_t cost = (runs + teams - 1) / teams * (MT_FINDRUN + MT_FETCH * passes);
    if (cost < best) best = cost, take = lanes;
  }
  d->skew.lanes = divisor_of(take);
  d->skew.teams = (uint16_t)(MT_SKEW_THREADS / take);
}

/* Stretches of equal length: those that take the fewest instructions. */
static void build_tasks (mt_desc *d) {
  mt_skew *s = &d->skew;
  uint32_t wide = MT_SKEW_WIDE(unit_of(d));
  uint32_t windows = windows_of(d, s->row, wide * MT_VECTOR), rows = most_of(s->rows);
  uint32_t each = 50 + 80 / unit_of(d), best = UINT32_MAX;
  for (uint32_t n = 1; n <= windows && n <= MT_STRETCH; n++) {
    uint32_t tasks = wide * rows * ((windows + n - 1) / n);
    uint32_t rounds = (tasks + MT_SKEW_THREADS - 1) / MT_SKEW_THREADS;
    uint32_t cost = rounds * (MT_FINDROW + n * each);
    if (cost < best) best = cost, s->stretch = n, s->tasks = tasks;
  }
  s->all_rows = divisor_of(rows);
}

static void build_reach (mt_desc *d) {
  int64_t *reach = d->skew.reach;
  reach[0] = 0, reach[1] = unit_of(d);
  for (uint32_t k = 0; k < d->nthr; k++) {
    int64_t by = ((int64_t)held(d, k) - 1) * stride_of(d, k, MT_SRC);
    reach[by > 0] += by;
  }
}

/* Pitches: those of the run its strides, the others what they must be modulo 16 and far
** enough; all in shared memory. */
static bool check_pitches (const mt_desc *d, uint32_t nrun) {
  int64_t span = (int64_t)unit_of(d);
  for (uint32_t k = 0; k < d->nthr; k++) {
    int64_t pitch = d->skew.pitch[k], stride = stride_of(d, k, MT_SRC);
    bool good = k < nrun ? pitch == stride
                         : (pitch - stride) % MT_VECTOR == 0 &&
                           pitch >= span + MT_VECTOR - 1;
    if (!good) return false;
    span += ((int64_t)held(d, k) - 1) * pitch;
    if (span > MT_SKEW_SHARED - 2 * MT_VECTOR) return false;
  }
  return true;
}

/* The indices behind a box that hold the rest of a vector. */
static uint32_t ahead_of (const mt_desc *d) {
  uint32_t v = MT_VECTOR / unit_of(d), units = d->skew.row.units;
  return (v - 1 + units - 1) / units;
}

static void build_spans (mt_desc *d, uint32_t nrun, uint32_t nrow) {
  mt_skew *s = &d->skew;
  uint32_t v = MT_VECTOR / unit_of(d);
  s->run = span_of(d, MT_SRC, nrun, 0);
  s->runs = span_of(d, MT_DST, nrow, axes_of(d, MT_SRC, nrun));
  s->row = span_of(d, MT_DST, nrow, 0);
  s->rows = span_of(d, MT_SRC, nrun, axes_of(d, MT_DST, nrow));
  s->ahead_runs = s->ahead ? v - 1 : 0;
}

bool mt_skew_build (mt_desc *d) {
  mt_skew *s = &d->skew;
  uint32_t nrun = chain_of(d, MT_SRC), nrow = chain_of(d, MT_DST);
  uint32_t in_run = axes_of(d, MT_SRC, nrun), in_row = axes_of(d, MT_DST, nrow);
  if (nrun == 0 || nrow == 0 || (in_run | in_row) != (1u << d->nthr) - 1) return false;
  for (uint32_t k = 0; k < d->nbound; k++)
    if (!is_bound(d, k, nrun, nrow)) return false;
  build_spans(d, nrun, nrow);
  if (s->ahead != 0 && (s->row.bound == 0 || s->ahead != ahead_of(d))) return false;
  if (!check_pitches(d, nrun)) return false;
  build_walk(s->load, &s->nload, d, MT_DST, nrow, in_run);
  build_walk(s->store, &s->nstore, d, MT_SRC, nrun, in_row);
  if (!build_line(d, nrow)) return false;
  build_lanes(d);
  build_tasks(d);
  build_reach(d);
  return true;
}

/* ---------------------------------------------------------------- banks */

/* How far it lies in the destination, modulo 2^32. */
static uint32_t far_at (const mt_hop *h, uint32_t count, uint32_t n) {
  uint64_t at = 0;
  for (uint32_t i = 0; i < count; i++) {
    at += (i + 1 < count ? n % h[i].extent : n) * (uint64_t)h[i].global;
    n /= h[i].extent;
  }
  return (uint32_t)at;
}

/* Where lane i of the first warp reads its unit number `unit`. */
static uint32_t place_of (const mt_desc *d, uint32_t i, uint32_t unit) {
  const mt_skew *s = &d->skew;
  uint32_t rows = s->all_rows.extent, bytes = unit_of(d), wide = MT_SKEW_WIDE(bytes);
  uint32_t row = i / wide % rows;
  uint32_t before = far_at(s->store, s->nstore, row) % (MT_VECTOR * wide);
  uint32_t window = i / wide / rows * s->stretch + 1;
  uint32_t p = ((window * wide + i % wide) * MT_VECTOR - before) / bytes + unit;
  p %= most_of(s->row);
  return mt_banks_place(s->store, s->nstore, row) +
         p % s->line[0].extent * s->line[0].pitch +
         p / s->line[0].extent % s->line[1].extent * s->line[1].pitch +
         p / s->line[0].extent / s->line[1].extent * s->line[2].pitch;
}

/* Turns that shared memory takes for unit `unit` of the first vectors of a warp. */
static uint32_t turns_of (const mt_desc *d, uint32_t unit) {
  uint32_t at[MT_LANES], n = d->skew.tasks < MT_LANES ? d->skew.tasks : MT_LANES;
  for (uint32_t i = 0; i < n; i++) at[i] = place_of(d, i, unit);
  return mt_banks_turns(at, n, unit_of(d));
}

/* ---------------------------------------------------------------- choosing */

static void set_pitches (mt_desc *d, uint32_t nrun, uint32_t gap) {
  int64_t span = (int64_t)unit_of(d), most = UINT16_MAX;
  for (uint32_t k = 0; k < d->nthr; k++) {
    int64_t stride = stride_of(d, k, MT_SRC), pitch = stride;
    if (k >= nrun) {
      int64_t rest = (stride % MT_VECTOR + MT_VECTOR) % MT_VECTOR;
      pitch = (span + 2 * MT_VECTOR - 2 - rest) / MT_VECTOR * MT_VECTOR + rest;
      if (k == nrun) pitch += MT_VECTOR * gap;
    }
    d->skew.pitch[k] = (uint16_t)(pitch < most ? pitch : most);
    span += ((int64_t)held(d, k) - 1) * (pitch < most ? pitch : most);
  }
}

bool mt_skew_choose (mt_desc *d, bool ahead) {
  uint32_t cost = UINT32_MAX, nrun = chain_of(d, MT_SRC), nrow = chain_of(d, MT_DST);
  d->skew.ahead = 0;
  build_spans(d, nrun, nrow);
  if (ahead && d->skew.row.bound != 0) d->skew.ahead = ahead_of(d);
  mt_desc best = *d;
  for (uint32_t gap = 0; gap <= (nrun < d->nthr ? MT_MOSTGAP : 0); gap++) {
    mt_desc x = *d;
    build_spans(&x, nrun, nrow);
    set_pitches(&x, nrun, gap);
    if (!mt_skew_build(&x)) continue;
    uint32_t c = turns_of(&x, 0) + turns_of(&x, MT_VECTOR / unit_of(d) / 2);
    if (c < cost) cost = c, best = x;
  }
  *d = best;
  return cost < UINT32_MAX;
}

/* ---------------------------------------------------------------- checking */

mt_status mt_skew_check (const mt_desc *d, mt_err *err) {
  mt_desc x = *d;
  MT_CHECK(d->nval == 0 && d->nthr >= 1 && d->nthr <= MT_MAXTURN &&
           d->nbound <= MT_SKEW_BOUNDS, err,
           "a skewed box has 1 to %d thread axes, no value axes and at most %d bounds",
           (int)MT_MAXTURN, (int)MT_SKEW_BOUNDS);
  MT_CHECK(d->threads > 0 && d->threads <= MT_SKEW_SHARED / unit_of(d), err,
           "a box of %lld accesses", (long long)d->threads);
  MT_CHECK(d->rests <= INT32_MAX, err, "more than 2^31 boxes");
  MT_CHECK(mt_banks_order(d->skew.order, d->nthr), err,
           "the order of a box is no permutation");
  memset(&x.skew, 0, sizeof x.skew);
  memcpy(x.skew.order, d->skew.order, sizeof x.skew.order);
  memcpy(x.skew.pitch, d->skew.pitch, sizeof x.skew.pitch);
  x.skew.ahead = d->skew.ahead;
  MT_CHECK(mt_skew_build(&x), err, "the axes of a skewed box are no runs and rows");
  MT_CHECK(memcmp(&x.skew, &d->skew, sizeof x.skew) == 0, err,
           "a box turns in another way than its axes");
  return MT_OK;
}
