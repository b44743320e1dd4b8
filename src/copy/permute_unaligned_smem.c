/*
** permute_unaligned_smem.c - the geometry of a box whose rows begin anywhere: runs, rows,
** tables.
** SPDX-License-Identifier: MIT
**
** desc/permute_unaligned_desc.h has the picture and the names. Bank conflicts: threads of
** neighbouring vectors of a row read the places n, n + V, n + 2 V, ... at a time, often
** in the runs r, r + V, r + 2 V, ... V runs with their gap take an odd number of vectors:
** so eight threads read in different banks. Places in one run, a multiple of 4 bytes
** apart, would not: such runs are short. Where rows have several axes a longer pitch may
** do better, or longer windows (permute_unaligned_banks.c).
*/
#include "copy/banks.h"
#include "desc/divisor.h"
#include "copy/permute_unaligned_smem.h"
#include "desc/permute_unaligned_desc.h"

enum {
  MT_LONGRUN = 96,   /* bytes of a run */
  MT_ROW = 8,        /* bytes of a row in a list */
  MT_READ = 2,       /* instructions that a wavefront of a read takes as long as */
  MT_MANYWAYS = 4,   /* of a bank conflict */
  MT_MOREPITCH = 112 /* bytes of a pitch */
};

static uint32_t unit_of (const mt_desc *d) { return d->vec * d->elem; }

static int64_t stride_of (const mt_desc *d, uint32_t axis, int side) {
  return d->axis[axis].stride[side] * (int64_t)d->elem;
}

/* The thread axis at place k along a side. */
static uint32_t axis_at (const mt_desc *d, int side, uint32_t k) {
  return side == MT_SRC ? k : d->unaligned.order[k];
}

/* The bound along an axis, counted from 1; 0: none. */
static uint32_t bound_of (const mt_desc *d, uint32_t axis) {
  for (uint32_t k = 0; k < d->nbound; k++)
    if (d->axis[axis].step[k] != 0) return k + 1;
  return 0;
}

/* ---------------------------------------------------------------- runs */

/* How many of the first axes along the side are contiguous. One that is bounded is the
** last. */
static uint32_t run_length (const mt_desc *d, int side) {
  int64_t stride = unit_of(d);
  uint32_t k = 0;
  for (; k < d->nthr && k < MT_PERMUTE_AXES; k++) {
    uint32_t axis = axis_at(d, side, k);
    if (k > 0 && bound_of(d, axis_at(d, side, k - 1)) != 0) break;
    if (stride_of(d, axis, side) != stride) break;
    if (mt_mulo(stride, d->axis[axis].extent, &stride)) stride = -1;
  }
  return k;
}

/* The first n axes along the side, a bit each. */
static uint32_t axes_of (const mt_desc *d, int side, uint32_t n) {
  uint32_t set = 0;
  for (uint32_t k = 0; k < n; k++) set |= 1u << axis_at(d, side, k);
  return set;
}

/* The units of the first n axes along the side, but for those in `without`. */
static mt_span span_of (const mt_desc *d, int side, uint32_t n, uint32_t without) {
  mt_span s = {1, 1, 0};
  for (uint32_t k = 0; k < n; k++) {
    uint32_t axis = axis_at(d, side, k);
    if (without >> axis & 1) continue;
    if (k + 1 < n) s.units *= (uint32_t)d->axis[axis].extent;
    else s.count = (uint32_t)d->axis[axis].extent, s.bound = bound_of(d, axis);
  }
  return s;
}

/* Axis i of the rest continues the thread axis: an index of it is n of these. */
static bool continues (const mt_desc *d, uint32_t i, uint32_t axis, int64_t n) {
  for (int side = 0; side < 2; side++) {
    int64_t by;
    if (mt_mulo(d->axis[axis].stride[side], n, &by) || d->axis[i].stride[side] != by)
      return false;
  }
  return true;
}

/* Bound k is one of a box: it counts along the last axis of the run or of the row, by
** one, and along axes of the rest that continue it; and every box has a unit below it. */
static bool is_box_bound (const mt_desc *d, uint32_t k, uint32_t nrun, uint32_t nrow) {
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
    if (d->axis[i].step[k] && !continues(d, i, axis, d->axis[i].step[k])) return false;
    last += (d->axis[i].extent - 1) * d->axis[i].step[k];
  }
  return last < d->bound[k];
}

/* Indices of an axis that are in shared memory: of the last one of the row, with the
** halo. */
static uint32_t held (const mt_desc *d, uint32_t axis) {
  uint32_t bound = bound_of(d, axis);
  bool last = bound != 0 && bound == d->unaligned.row.bound;
  return (uint32_t)d->axis[axis].extent + (last ? d->unaligned.halo : 0);
}

/* ---------------------------------------------------------------- runs */

static uint32_t units_of (mt_span s) { return s.units * s.count; }

int64_t mt_permute_unaligned_ways (int64_t unit, int64_t step) {
  int64_t banks = 8, by = 16 / unit * step;
  if (unit >= 4) return 1;
  while (banks > 1 && by % (128 / banks * 2) == 0) banks /= 2;
  return 8 / banks;
}

bool mt_permute_unaligned_is_run (int64_t bytes, int64_t unit, bool places) {
  return bytes >= MT_LONGRUN || (places && bytes >= MT_SECTOR &&
                                 mt_permute_unaligned_ways(unit, bytes) >= MT_MANYWAYS);
}

/* How many axes are the run. All that are contiguous in the source; or only the first of
** these, if they are long enough and the others are in the row. But all if the last is
** bounded and does not end the row. */
static uint32_t run_of (const mt_desc *d, uint32_t nrow) {
  uint32_t n = run_length(d, MT_SRC), in_row = axes_of(d, MT_DST, nrow);
  int64_t bytes = unit_of(d);
  for (uint32_t k = 0; k + 1 < n; k++) {
    uint32_t others = ((1u << n) - 1) & ~((2u << k) - 1), last = n - 1;
    bytes *= d->axis[k].extent;
    bool bounded = bound_of(d, last) != 0 && d->unaligned.order[nrow - 1] != last;
    if (mt_permute_unaligned_is_run(bytes, unit_of(d), d->unaligned.order[0] == k + 1) &&
        (others & ~in_row) == 0 && !bounded)
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
  else to[(*n)++] = *h;
}

/* The last axis takes what the others leave. */
static void divide_axes (mt_walk_axis *axis, uint16_t n) {
  for (uint16_t i = 0; i + 1 < n; i++) axis[i].by = mt_divisor_of(axis[i].by.extent);
}

/* Runs are numbered by the axes of the row that are not in the run. Where a run lies in
** shared memory follows from its number. */
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

/* Rows are numbered by their segments, then by the axes of the run that are in no row. An
** index of these lies some bytes on in every run. */
static void build_store (mt_desc *d, uint32_t nrun, uint32_t in_row) {
  mt_permute_unaligned *s = &d->unaligned;
  uint16_t first = s->segment != 0, n = 0;
  if (first)
    s->store[0] = (mt_walk_axis){.by.extent = units_of(s->row) / s->segment,
                                 .shared = s->lookup[s->nlookup - 1].inside,
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

/* b continues a: both are one axis. */
static bool joins (const mt_lookup_axis *a, const mt_lookup_axis *b) {
  return a->run * a->by.extent == b->run && a->inside * a->by.extent == b->inside &&
         (a->low * a->by.extent - b->low) % MT_VECTOR == 0;
}

/* Places are numbered by all axes of the row. An axis of the run moves within runs, any
** other one from run to run. */
static void build_lookup (mt_desc *d, uint32_t nrow, uint32_t in_run) {
  mt_lookup_axis *l = d->unaligned.lookup;
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
  d->unaligned.nlookup = (uint16_t)n;
}

/* The first axis of the run that is not in the row. */
static bool is_cut (const mt_desc *d, uint32_t nrun, uint32_t in_row, uint32_t length) {
  const int64_t segments = units_of(d->unaligned.row) / length;
  uint32_t k = 0;
  while (k < nrun && (in_row >> k & 1 || d->axis[k].extent == 1)) k++;
  return mt_permute_unaligned_cuts(segments, (int64_t)length * unit_of(d),
                                   k < nrun ? d->axis[k].extent : 1,
                                   k < nrun ? stride_of(d, k, MT_DST) : 0);
}

/* Segments: all axes of the look-up but the last, if that is in the run. Pieces: the
** first one, if it is contiguous in shared memory too. */
static void build_segments (mt_desc *d, uint32_t nrun, uint32_t in_row) {
  mt_permute_unaligned *s = &d->unaligned;
  uint32_t n = s->nlookup, unit = unit_of(d), v = MT_VECTOR / unit, length = 1;
  for (uint32_t i = 0; i + 1 < n; i++) length *= s->lookup[i].by.extent;
  bool cut = n > 1 && s->lookup[n - 1].run == 0 && is_cut(d, nrun, in_row, length);
  s->segment = cut ? length : 0;
  s->length = cut ? length : units_of(s->row);
  if (n > 0 && s->lookup[0].inside == unit && s->lookup[0].by.extent >= 2 * v)
    s->piece = mt_divisor_of(s->lookup[0].by.extent);
}

/* ---------------------------------------------------------------- shared memory */

static const double MT_FEWWAVES = 1.3; /* wavefronts of a read that are few */

/* Bytes of a run, with the halo. */
static int64_t run_bytes (const mt_desc *d, uint32_t nrun) {
  int64_t bytes = unit_of(d);
  for (uint32_t k = 0; k < nrun; k++) bytes *= held(d, k);
  return bytes;
}

/* Entries of the table: places, or pieces. What is read behind a row, the rest of a
** sector, has entries too. */
static uint32_t places_of (const mt_desc *d) {
  const mt_permute_unaligned *s = &d->unaligned;
  uint32_t more = MT_SECTOR / unit_of(d) - 1, row = units_of(s->row);
  if (s->piece.extent != 0)
    return (row + (s->halo ? more : 0) + s->piece.extent - 1) / s->piece.extent;
  return s->length + (s->halo || s->segment ? more : 0);
}

/* The table of groups, or the list of rows. */
static int64_t groups_bytes (const mt_permute_unaligned *s) {
  const int64_t classes = s->slots == 0 ? 0 : s->step >> s->list_log;
  return s->slots == 0 ? (int64_t)MT_VECTOR * s->groups.extent :
                         MT_ROW * classes * s->slots;
}

/* Where runs and tables lie, one behind the other. False if shared memory has no room. */
static bool lay_out (mt_desc *d, int64_t pitch, int64_t gap) {
  mt_permute_unaligned *s = &d->unaligned;
  uint32_t unit = unit_of(d), v = MT_VECTOR / unit;
  int64_t runs = (int64_t)units_of(s->runs) + s->halo_runs;
  int64_t bytes = runs * pitch + (runs - 1) / v * gap, places = places_of(d);
  if (bytes > MT_PERMUTE_UNALIGNED_BOX) return false;
  int64_t table = (places / v + 4) * MT_UNALIGNED_GROUP(v);
  int64_t starts = (bytes + table + 8 + 3) / 4 * 4;
  int64_t groups = (starts + 4 * runs + MT_VECTOR - 1) / MT_VECTOR * MT_VECTOR;
  int64_t all = groups + groups_bytes(s);
  int64_t far = bytes + s->store[0].shared + MT_VECTOR; /* behind a segment */
  all = ((all > far ? all : far) + 2 * MT_VECTOR - 1) / MT_VECTOR * MT_VECTOR;
  s->pitch = (uint32_t)pitch, s->gap = (uint32_t)gap, s->held_runs = (uint32_t)runs;
  s->places_at = (uint32_t)bytes, s->places = (uint32_t)places;
  if (all > MT_PERMUTE_UNALIGNED_FOUR && all < MT_PERMUTE_UNALIGNED_THREE)
    all = MT_PERMUTE_UNALIGNED_THREE;
  s->starts_at = (uint32_t)starts, s->groups_at = (uint32_t)groups;
  s->size = (uint32_t)all;
  s->pitch_mul = (uint32_t)((UINT32_MAX + (uint64_t)pitch) / (uint64_t)pitch);
  return all <= MT_PERMUTE_UNALIGNED_SHARED;
}

/* Small units that are read one by one from several runs. */
static bool has_places (const mt_desc *d) {
  const mt_permute_unaligned *s = &d->unaligned;
  return unit_of(d) < 4 && s->piece.extent == 0 && s->linear == 0 &&
         (s->nlookup > 1 || s->lookup[0].run != 0);
}

/* A longer pitch by which places meet in fewer banks, if as many blocks have room.
** Wavefronts of a read by it. */
static double spread (mt_desc *d, int64_t pitch, int64_t gap) {
  const bool four = d->unaligned.size <= MT_PERMUTE_UNALIGNED_FOUR;
  mt_unaligned_reads reads;
  mt_permute_unaligned_reads(&reads, d);
  double least = mt_permute_unaligned_waves(&reads, (uint32_t)pitch, (uint32_t)gap);
  int64_t best = pitch;
  for (int64_t p = pitch; p < pitch + MT_MOREPITCH && least > MT_FEWWAVES;) {
    p += MT_VECTOR;
    if (!lay_out(d, p, gap) || (four && d->unaligned.size > MT_PERMUTE_UNALIGNED_FOUR))
      break;
    const double waves = mt_permute_unaligned_waves(&reads, (uint32_t)p, (uint32_t)gap);
    if (waves < 0.95 * least) least = waves, best = p;
  }
  lay_out(d, best, gap);
  return least;
}

/* Windows of 32 vectors, if places that still meet in few banks do so less then: by the
** wavefronts of all tasks. Returns those of a read. */
static double widen (mt_desc *d, int64_t pitch, int64_t gap, double least) {
  const mt_permute_unaligned narrow = d->unaligned;
  if (least <= MT_FEWWAVES || narrow.slots != 0) return least;
  mt_permute_unaligned_tasks(d, MT_UNALIGNED_WIDE);
  if (d->unaligned.linear == 0 && lay_out(d, pitch, gap)) {
    const double waves = spread(d, pitch, gap);
    const uint32_t wide = mt_unaligned_most_tasks(&d->unaligned)->all;
    if (d->unaligned.size <= narrow.size &&
        waves * wide < 0.95 * least * mt_unaligned_most_tasks(&narrow)->all)
      return waves;
  }
  d->unaligned = narrow;
  return least;
}

/* What of the cost a list may have that is to do better than rows that are equally far
** apart: more, if only its rows begin alike in sectors; less, if only the others do. */
static double part_of (uint32_t align, uint32_t listed) {
  return listed > align ? 0.97 : listed < align ? 0.8 : 0.92;
}

/* Instructions of tasks, and what their reads of shared memory take beside them. */
static double tasks_cost (const mt_desc *d, int64_t pitch, int64_t gap) {
  const mt_permute_unaligned *s = &d->unaligned;
  mt_unaligned_reads reads;
  mt_permute_unaligned_reads(&reads, d);
  const double waves = mt_permute_unaligned_waves(&reads, (uint32_t)pitch, (uint32_t)gap);
  return mt_permute_unaligned_tasks_take(d) +
         MT_READ * waves * reads.units * s->group_rows * mt_unaligned_most_tasks(s)->all;
}

/* Lists rows, if that does better and has room. Most lists would not: by the fewest
** instructions that one may take, or by those that it takes. */
static void list_rows (mt_desc *d, int64_t pitch, int64_t gap) {
  mt_permute_unaligned *s = &d->unaligned;
  const double before = mt_permute_unaligned_tasks_take(d);
  if (mt_permute_unaligned_lists_take(d) >= part_of(s->align, MT_SECTOR) * before) return;
  const mt_desc apart = *d;
  if (mt_permute_unaligned_list(d)) {
    const double part = part_of(apart.unaligned.align, s->align);
    if (mt_permute_unaligned_tasks_take(d) < part * before && lay_out(d, pitch, gap) &&
        tasks_cost(d, pitch, gap) < part * tasks_cost(&apart, pitch, gap))
      return;
  }
  *s = apart.unaligned;
}

static bool build_size (mt_desc *d, uint32_t nrun) {
  const uint32_t unit = unit_of(d), v = MT_VECTOR / unit;
  int64_t pitch = (run_bytes(d, nrun) + 2 * MT_VECTOR - 1 - unit) / MT_VECTOR * MT_VECTOR;
  int64_t gap = v * pitch / MT_VECTOR % 2 == 0 ? MT_VECTOR : 0;
  if (!lay_out(d, pitch, gap)) return false;
  list_rows(d, pitch, gap);
  if (!has_places(d)) return true;
  d->unaligned.waves =
      (uint32_t)(MT_UNALIGNED_WAVE * widen(d, pitch, gap, spread(d, pitch, gap)));
  return true;
}

/* ---------------------------------------------------------------- the source */

/* Where runs begin. False if offsets in units leave 32 bits. */
static bool build_reach (mt_desc *d, uint32_t nrun, uint32_t nrow) {
  mt_permute_unaligned *s = &d->unaligned;
  int64_t box[2] = {0, run_bytes(d, nrun)};
  for (uint32_t k = nrun; k < d->nthr; k++) {
    int64_t step = stride_of(d, k, MT_SRC), by = ((int64_t)held(d, k) - 1) * step;
    box[by > 0] += by;
    if (k == axis_at(d, MT_DST, nrow - 1)) s->reach_step = step;
    else s->reach[by > 0] += by;
  }
  int64_t most = (int64_t)INT32_MAX * unit_of(d);
  return -box[0] <= most && box[1] <= most;
}

/* ---------------------------------------------------------------- building */

/* Indices of the halo: they hold the rest of a sector. */
static uint32_t halo_of (const mt_desc *d) {
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
  s->halo_runs = s->halo && s->runs.bound ? v - 1 : 0;
}

mt_looked mt_permute_unaligned_look (const mt_permute_unaligned *s, uint32_t p) {
  mt_looked at = {0, 0, 0};
  for (uint32_t i = 0; i < s->nlookup; i++) {
    const mt_lookup_axis *a = &s->lookup[i];
    const uint32_t digit = i + 1 < s->nlookup ? p % a->by.extent : p;
    at.run += digit * a->run, at.inside += digit * a->inside, at.low += digit * a->low;
    p /= a->by.extent;
  }
  return at;
}

/* Runs that are longer by the halo: those of the places behind a row that are the rest of
** a sector, which lie where the row's first ones do. */
static uint32_t long_runs_of (const mt_desc *d) {
  const mt_permute_unaligned *s = &d->unaligned;
  uint32_t n = 0;
  for (uint32_t p = 0; p + 1 < MT_SECTOR / unit_of(d); p++) {
    const uint32_t run = mt_permute_unaligned_look(s, p % s->row.units).run + 1;
    if (run > n) n = run;
  }
  return n;
}

bool mt_permute_unaligned_build (mt_desc *d) {
  mt_permute_unaligned *s = &d->unaligned;
  uint32_t nrow = run_length(d, MT_DST), nrun = nrow ? run_of(d, nrow) : 0;
  uint32_t in_run = axes_of(d, MT_SRC, nrun), in_row = axes_of(d, MT_DST, nrow);
  if (nrun == 0 || nrow == 0 || (in_run | in_row) != (1u << d->nthr) - 1) return false;
  for (uint32_t k = 0; k < d->nbound; k++)
    if (!is_box_bound(d, k, nrun, nrow)) return false;
  build_spans(d, nrun, nrow);
  if (s->halo != 0 && (s->row.bound == 0 || s->halo != halo_of(d))) return false;
  build_load(d, nrow, in_run);
  build_lookup(d, nrow, in_run);
  s->long_runs = long_runs_of(d);
  build_segments(d, nrun, in_row);
  build_store(d, nrun, in_row);
  mt_permute_unaligned_tasks(d, MT_UNALIGNED_WINDOW);
  if (!build_size(d, nrun)) return false;
  return build_reach(d, nrun, nrow);
}

bool mt_permute_unaligned_choose (mt_desc *d, bool halo) {
  uint32_t nrow = run_length(d, MT_DST);
  if (nrow == 0) return false;
  d->unaligned.halo = 0;
  build_spans(d, run_of(d, nrow), nrow);
  if (halo && d->unaligned.row.bound != 0) d->unaligned.halo = halo_of(d);
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
  x.unaligned.halo = d->unaligned.halo;
  MT_CHECK(mt_permute_unaligned_build(&x), err,
           "the axes of an unaligned box are no runs and rows");
  MT_CHECK(memcmp(&x.unaligned, &d->unaligned, sizeof x.unaligned) == 0, err,
           "the geometry of an unaligned box does not follow from its axes");
  return MT_OK;
}
