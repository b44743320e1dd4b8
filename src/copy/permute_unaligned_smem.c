/*
** permute_unaligned_smem.c - how an unaligned box turns in shared memory: runs, rows,
** tasks. SPDX-License-Identifier: MIT
**
** V runs one behind the other and a gap take an odd number of vectors more than a
** multiple of 128 bytes: threads that read neighbouring vectors meet other banks.
*/
#include "copy/banks.h"
#include "desc/divisor.h"
#include "copy/permute_unaligned_smem.h"
#include "desc/permute_unaligned_desc.h"

enum {
  MT_VECTOR = 16, MT_SECTOR = 32,       /* bytes */
  MT_SEGMENT = 64,                      /* bytes of a segment, at least */
  MT_FEWROWS = 4, MT_MOSTEACH = 8       /* rows of a class, of a task */
};

static uint32_t unit_of (const mt_desc *d) { return d->vec * d->elem; }

static int64_t stride_of (const mt_desc *d, uint32_t axis, int side) {
  return d->axis[axis].stride[side] * (int64_t)d->elem;
}

/* The thread axis at place k of a side's run. */
static uint32_t chained (const mt_desc *d, int side, uint32_t k) {
  return side == MT_SRC ? k : d->unaligned.order[k];
}

/* The bound along an axis, counted from 1; 0: none. */
static uint32_t bound_of (const mt_desc *d, uint32_t axis) {
  for (uint32_t k = 0; k < d->nbound; k++)
    if (d->axis[axis].step[k] != 0) return k + 1;
  return 0;
}

/* ---------------------------------------------------------------- runs */

/* The first axes along the side that are one run; one that is bounded is the last. */
static uint32_t chain_of (const mt_desc *d, int side) {
  int64_t stride = unit_of(d);
  uint32_t k = 0;
  for (; k < d->nthr && k < MT_PERMUTE_AXES; k++) {
    uint32_t axis = chained(d, side, k);
    if (k > 0 && bound_of(d, chained(d, side, k - 1)) != 0) break;
    if (stride_of(d, axis, side) != stride) break;
    if (mt_mulo(stride, d->axis[axis].extent, &stride)) stride = -1;
  }
  return k;
}

/* One bit for each axis of the run. */
static uint32_t axes_of (const mt_desc *d, int side, uint32_t n) {
  uint32_t set = 0;
  for (uint32_t k = 0; k < n; k++) set |= 1u << chained(d, side, k);
  return set;
}

/* The units of the axes of the run that are not in `without`. */
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
    bool ends = i == nrun - 1 || i == d->unaligned.order[nrow - 1];
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
  bool last = bound != 0 && bound == d->unaligned.row.bound;
  return (uint32_t)d->axis[axis].extent + (last ? d->unaligned.ahead : 0);
}

/* ---------------------------------------------------------------- runs */

static uint32_t most_of (mt_span s) { return s.units * s.count; }

/* The axes of a run: all of the source's run, or fewer, which are long enough, if the
** others are in the row. Only one that ends the row is bounded then. */
static uint32_t run_of (const mt_desc *d, uint32_t nrow) {
  uint32_t n = chain_of(d, MT_SRC), in_row = axes_of(d, MT_DST, nrow);
  int64_t bytes = unit_of(d);
  for (uint32_t k = 0; k + 1 < n; k++) {
    uint32_t others = ((1u << n) - 1) & ~((2u << k) - 1), last = n - 1;
    bytes *= d->axis[k].extent;
    bool bounded = bound_of(d, last) != 0 && d->unaligned.order[nrow - 1] != last;
    if (bytes >= MT_PERMUTE_UNALIGNED_RUN && (others & ~in_row) == 0 && !bounded)
      return k + 1;
  }
  return n;
}

/* ---------------------------------------------------------------- walks */

static void push (mt_walk_axis *to, uint16_t *n, const mt_walk_axis *h) {
  mt_walk_axis *last = &to[*n - (*n > 0)];
  if (h->by.extent == 1) return;
  if (*n > 0 && last->shared * last->by.extent == h->shared &&
      last->global * (int64_t)last->by.extent == h->global)
    last->by.extent *= h->by.extent;
  else
    to[(*n)++] = *h;
}

/* The last hop takes what the others leave. */
static void divide_axes (mt_walk_axis *axis, uint16_t n) {
  for (uint16_t i = 0; i + 1 < n; i++) axis[i].by = mt_divisor_of(axis[i].by.extent);
}

/* The axes of the row that are in no run; the number of a run says where it is in shared
** memory. */
static void build_load (mt_desc *d, uint32_t nrow, uint32_t in_run) {
  mt_permute_unaligned *s = &d->unaligned;
  for (uint32_t k = 0; k < nrow; k++) {
    uint32_t axis = s->order[k];
    if (in_run >> axis & 1) continue;
    mt_walk_axis h = {.by.extent = held(d, axis), .global = stride_of(d, axis, MT_SRC)};
    push(s->load, &s->nload, &h);
  }
  divide_axes(s->load, s->nload);
}

/* The segments of a row, then the axes of the run that are in no row. */
static void build_store (mt_desc *d, uint32_t nrun, uint32_t in_row) {
  mt_permute_unaligned *s = &d->unaligned;
  uint16_t first = s->segment != 0, n = 0;
  if (first)
    s->store[0] = (mt_walk_axis){.by.extent = most_of(s->row) / s->segment,
                           .shared = s->line[s->nline - 1].inside,
                           .global = (int64_t)s->segment * unit_of(d)};
  for (uint32_t k = 0; k < nrun; k++) {
    if (in_row >> k & 1) continue;
    mt_walk_axis h = {.by.extent = (uint32_t)d->axis[k].extent,
                .shared = (uint32_t)stride_of(d, k, MT_SRC),
                .global = stride_of(d, k, MT_DST)};
    push(s->store + first, &n, &h);
  }
  s->nstore = first + n;
  divide_axes(s->store, s->nstore);
}

/* Two that are one. */
static bool joins (const mt_lookup_axis *a, const mt_lookup_axis *b) {
  return a->run * a->by.extent == b->run && a->inside * a->by.extent == b->inside &&
         (a->low * a->by.extent - b->low) % MT_VECTOR == 0;
}

static void build_line (mt_desc *d, uint32_t nrow, uint32_t in_run) {
  mt_lookup_axis *l = d->unaligned.line;
  uint32_t n = 0, runs = 1;
  for (uint32_t k = 0; k < nrow; k++) {
    uint32_t axis = d->unaligned.order[k], stride = (uint32_t)stride_of(d, axis, MT_SRC);
    mt_lookup_axis x = {.by.extent = held(d, axis)};
    if (x.by.extent == 1) continue;
    if (in_run >> axis & 1) x.inside = stride;
    else x.run = runs, x.low = stride % MT_VECTOR, runs *= x.by.extent;
    if (n > 0 && joins(&l[n - 1], &x)) l[n - 1].by.extent *= x.by.extent;
    else l[n++] = x;
  }
  for (uint32_t i = 0; i + 1 < n; i++) l[i].by = mt_divisor_of(l[i].by.extent);
  d->unaligned.nline = (uint16_t)n;
}

/* Segments and pieces of a row, from its lines. */
static void build_parts (mt_desc *d) {
  mt_permute_unaligned *s = &d->unaligned;
  uint32_t n = s->nline, unit = unit_of(d), v = MT_VECTOR / unit, length = 1;
  for (uint32_t i = 0; i + 1 < n; i++) length *= s->line[i].by.extent;
  bool cut = n > 1 && s->line[n - 1].run == 0 && length * unit >= MT_SEGMENT &&
             most_of(s->row) > length;
  s->segment = cut ? length : 0;
  s->length = cut ? length : most_of(s->row);
  if (n > 0 && s->line[0].inside == unit && s->line[0].by.extent >= 2 * v)
    s->piece = mt_divisor_of(s->line[0].by.extent);
}

/* ---------------------------------------------------------------- shared memory */

/* Bytes of a run with the indices ahead. */
static int64_t run_bytes (const mt_desc *d, uint32_t nrun) {
  int64_t bytes = unit_of(d);
  for (uint32_t k = 0; k < nrun; k++) bytes *= held(d, k);
  return bytes;
}

/* Places that the table has; or pieces, of which one may follow the row. */
static uint32_t places_of (const mt_desc *d) {
  const mt_permute_unaligned *s = &d->unaligned;
  uint32_t more = MT_SECTOR / unit_of(d) - 1, row = most_of(s->row);
  if (s->piece.extent != 0) return (row + (s->ahead ? more : 0) + s->piece.extent - 1) /
                                   s->piece.extent;
  return s->length + (s->ahead || s->segment ? more : 0);
}

/* False if there is no room. */
static bool build_room (mt_desc *d, uint32_t nrun) {
  mt_permute_unaligned *s = &d->unaligned;
  uint32_t unit = unit_of(d), v = MT_VECTOR / unit;
  int64_t pitch = (run_bytes(d, nrun) + 2 * MT_VECTOR - 1 - unit) / MT_VECTOR * MT_VECTOR;
  int64_t runs = (int64_t)most_of(s->runs) + s->ahead_runs;
  int64_t gap = v * pitch / MT_VECTOR % 2 == 0 ? MT_VECTOR : 0;
  int64_t bytes = runs * pitch + (runs - 1) / v * gap, places = places_of(d);
  if (bytes > MT_PERMUTE_UNALIGNED_BOX) return false;
  int64_t plane = 2 * (places / v + 4), starts = (bytes + v * plane + 8 + 3) / 4 * 4;
  int64_t parts = (starts + 4 * runs + MT_VECTOR - 1) / MT_VECTOR * MT_VECTOR;
  int64_t all = parts + (int64_t)MT_VECTOR * s->all.extent;
  int64_t far = bytes + s->store[0].shared + MT_VECTOR;         /* behind a segment */
  all = ((all > far ? all : far) + 2 * MT_VECTOR - 1) / MT_VECTOR * MT_VECTOR;
  s->pitch = (uint32_t)pitch, s->gap = (uint32_t)gap, s->all_runs = (uint32_t)runs;
  s->plane = (uint32_t)plane;
  s->table = (uint32_t)bytes, s->places = (uint32_t)places;
  if (all > MT_PERMUTE_UNALIGNED_FOUR && all < MT_PERMUTE_UNALIGNED_THREE)
    all = MT_PERMUTE_UNALIGNED_THREE;
  s->starts = (uint32_t)starts, s->parts = (uint32_t)parts, s->shared = (uint32_t)all;
  s->vectors = mt_divisor_of(s->pitch / MT_VECTOR);
  return all <= MT_PERMUTE_UNALIGNED_SHARED;
}

/* ---------------------------------------------------------------- tasks */

/* Windows of so many bytes that so many units touch wherever they begin. */
static uint32_t windows_of (const mt_desc *d, uint32_t units, uint32_t bytes) {
  uint32_t v = bytes / unit_of(d);
  return (units + 2 * v - 2) / v;
}

/* Instructions of a thread, about: to find a row, and a place of a vector; to move a
** vector, and a unit of it. */
enum { MT_FINDROW = 60, MT_FINDPLACE = 4, MT_MOVE = 20, MT_COLLECT = 3 };

/* The logarithm of how many rows along the first hop lie between two of a class: as many
** as must, and more, so that neighbouring rows are those of neighbouring threads, if
** there are enough. */
static uint32_t period_of (const mt_desc *d, uint32_t rows) {
  uint32_t log = 0, unit = unit_of(d);
  int64_t step = d->unaligned.store[0].global;
  while (unit << log < MT_SECTOR &&
         ((step << log) % MT_VECTOR != 0 || rows >> (log + 1) >= MT_FEWROWS)) log++;
  return log;
}

/* Vectors that neighbouring threads write: eight that a cache asks for at once, sixteen
** of longer rows; of short rows fewer, so that fewer are of no row. Returns how often
** they make a row, whose sectors need not begin where those of the first of its class
** do. */
static uint32_t build_windows (mt_desc *d) {
  mt_permute_unaligned *s = &d->unaligned;
  uint32_t bytes = s->length * unit_of(d);
  bool whole = bytes >= MT_PERMUTE_UNALIGNED_WIDEROW;
  bool turns = (s->store[0].global << s->period) % MT_SECTOR != 0;
  uint32_t length = s->length + (turns ? MT_VECTOR / unit_of(d) : 0);
  uint32_t sectors = windows_of(d, length, MT_SECTOR), parts = (sectors + 3) / 4;
  uint32_t vectors = unit_of(d) > 1 && bytes >= MT_PERMUTE_UNALIGNED_FARROW ? 16 : 8;
  s->grain = whole ? vectors * MT_VECTOR : MT_SECTOR;
  s->wide = mt_divisor_of(whole ? vectors : 2 * ((sectors + parts - 1) / parts));
  return whole ? windows_of(d, length, vectors * MT_VECTOR) : parts;
}

/* Places of small units that are equally far apart in a long row, few of which rows look
** up together: the windows of a row do. */
static bool is_linear (const mt_desc *d) {
  const mt_permute_unaligned *s = &d->unaligned;
  bool one = s->nline == (s->segment ? 2 : 1) && s->line[0].run == 0;
  return one && unit_of(d) < 4 && s->each < MT_FEWROWS && s->piece.extent == 0 &&
         s->length * unit_of(d) >= MT_PERMUTE_UNALIGNED_WIDEROW;
}

/* Rows of a task: those that take the fewest instructions, in all and of the slowest
** thread. */
static void build_tasks (mt_desc *d) {
  mt_permute_unaligned *s = &d->unaligned;
  uint32_t others = most_of(s->rows), lead = others;
  if (s->segment != 0 || s->nstore > 1) lead = s->store[0].by.extent;
  if (s->segment == 0) others /= lead;
  s->period = period_of(d, lead);
  uint32_t parts = build_windows(d);
  uint32_t apart = 1u << s->period, classes = lead < apart ? lead : apart;
  uint32_t many = (lead + apart - 1) >> s->period, v = MT_VECTOR / unit_of(d);
  uint64_t best = UINT64_MAX;
  for (uint32_t each = 1; each <= many && each <= MT_MOSTEACH; each++) {
    uint32_t chunks = (many + each - 1) / each, all = classes * chunks * others;
    uint32_t tasks = all * parts * s->wide.extent;
    uint64_t rounds =
        (tasks + MT_PERMUTE_UNALIGNED_THREADS - 1) / MT_PERMUTE_UNALIGNED_THREADS;
    uint64_t cost = (tasks + rounds * MT_PERMUTE_UNALIGNED_THREADS) *
                    (MT_FINDROW + v * MT_FINDPLACE + each * (MT_MOVE + v * MT_COLLECT));
    if (cost >= best) continue;
    best = cost;
    s->each = each, s->tasks = tasks;
    s->chunks = mt_divisor_of(chunks), s->all = mt_divisor_of(all);
  }
  if (is_linear(d)) {
    s->each = 1, s->linear = s->line[0].inside;
    s->chunks = mt_divisor_of(many), s->all = mt_divisor_of(classes * many * others);
    s->tasks = s->all.extent * s->wide.extent;
  }
  s->classes = mt_divisor_of(classes);
  s->lead = mt_divisor_of(s->segment ? 1 : lead);
  s->ends = others * s->lead.extent;
}

/* False if a box is too far spread for 32 bits. */
static bool build_reach (mt_desc *d) {
  int64_t *reach = d->unaligned.reach;
  reach[0] = 0, reach[1] = unit_of(d);
  for (uint32_t k = 0; k < d->nthr; k++) {
    int64_t by = ((int64_t)held(d, k) - 1) * stride_of(d, k, MT_SRC);
    reach[by > 0] += by;
  }
  int64_t most = (int64_t)INT32_MAX * unit_of(d);
  return -reach[0] <= most && reach[1] <= most;
}

/* ---------------------------------------------------------------- building */

/* The indices behind a box that hold the rest of a sector. */
static uint32_t ahead_of (const mt_desc *d) {
  uint32_t v = MT_SECTOR / unit_of(d), units = d->unaligned.row.units;
  return (v - 1 + units - 1) / units;
}

static void build_spans (mt_desc *d, uint32_t nrun, uint32_t nrow) {
  mt_permute_unaligned *s = &d->unaligned;
  uint32_t v = MT_SECTOR / unit_of(d);
  s->run = span_of(d, MT_SRC, nrun, 0);
  s->runs = span_of(d, MT_DST, nrow, axes_of(d, MT_SRC, nrun));
  s->row = span_of(d, MT_DST, nrow, 0);
  s->rows = span_of(d, MT_SRC, nrun, axes_of(d, MT_DST, nrow));
  s->ahead_runs = s->ahead && s->runs.bound ? v - 1 : 0;
}

bool mt_permute_unaligned_build (mt_desc *d) {
  mt_permute_unaligned *s = &d->unaligned;
  uint32_t nrow = chain_of(d, MT_DST), nrun = nrow ? run_of(d, nrow) : 0;
  uint32_t in_run = axes_of(d, MT_SRC, nrun), in_row = axes_of(d, MT_DST, nrow);
  if (nrun == 0 || nrow == 0 || (in_run | in_row) != (1u << d->nthr) - 1) return false;
  for (uint32_t k = 0; k < d->nbound; k++)
    if (!is_bound(d, k, nrun, nrow)) return false;
  build_spans(d, nrun, nrow);
  if (s->ahead != 0 && (s->row.bound == 0 || s->ahead != ahead_of(d))) return false;
  build_load(d, nrow, in_run);
  build_line(d, nrow, in_run);
  build_parts(d);
  build_store(d, nrun, in_row);
  build_tasks(d);
  if (!build_room(d, nrun)) return false;
  return build_reach(d);
}

bool mt_permute_unaligned_choose (mt_desc *d, bool ahead) {
  uint32_t nrow = chain_of(d, MT_DST);
  if (nrow == 0) return false;
  d->unaligned.ahead = 0;
  build_spans(d, run_of(d, nrow), nrow);
  if (ahead && d->unaligned.row.bound != 0) d->unaligned.ahead = ahead_of(d);
  return mt_permute_unaligned_build(d);
}

/* ---------------------------------------------------------------- checking */

mt_status mt_permute_unaligned_check (const mt_desc *d, mt_err *err) {
  mt_desc x = *d;
  MT_CHECK(
      d->nval == 0 && d->nthr >= 1 && d->nthr <= MT_PERMUTE_AXES &&
          d->nbound <= MT_PERMUTE_UNALIGNED_BOUNDS,
      err,
      "an unaligned box has 1 to %d thread axes, no value axes and at most %d bounds",
      (int)MT_PERMUTE_AXES, (int)MT_PERMUTE_UNALIGNED_BOUNDS);
  MT_CHECK(d->threads > 0 && d->threads <= MT_PERMUTE_UNALIGNED_BOX / unit_of(d), err,
           "a box of %lld accesses", (long long)d->threads);
  MT_CHECK(d->rests <= INT32_MAX, err, "more than 2^31 boxes");
  MT_CHECK(mt_banks_order(d->unaligned.order, d->nthr), err,
           "the order of a box is no permutation");
  memset(&x.unaligned, 0, sizeof x.unaligned);
  memcpy(x.unaligned.order, d->unaligned.order, sizeof x.unaligned.order);
  x.unaligned.ahead = d->unaligned.ahead;
  MT_CHECK(mt_permute_unaligned_build(&x), err,
           "the axes of an unaligned box are no runs and rows");
  MT_CHECK(memcmp(&x.unaligned, &d->unaligned, sizeof x.unaligned) == 0, err,
           "a box turns in another way than its axes");
  return MT_OK;
}
