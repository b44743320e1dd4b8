/*
** copy_job.c - from a descriptor to loops over tiles: what the CPU executor does with a
** launch.
** SPDX-License-Identifier: MIT
**
** The order of the axes is free here: the real elements are a box (desc/domain.h), its
** axes sorted and merged, and what lies together on both sides is one unit.
*/
#include "desc/axes.h"
#include "desc/domain.h"
#include "cpu/copy.h"
#include "desc/swizzle.h"
#include "core/simd.h"

enum {
  MT_SMALLRUN = 32,       /* runs below are units, others rows of bytes */
  MT_SHORTFILL = 40,      /* bytes below which an element is not repeated by itself, */
  MT_LEASTFILL = 16,      /* unless nothing else does it */
  MT_LONGRUN = 64,        /* bytes of runs, or 16 units, that are worth a buffer */
  MT_SHORTRUN = 4,        /* the same, of which elements are moved one by one */
  MT_ROWTILE = 128 << 10, /* bytes of a tile of rows */
  MT_ASKTILE = 32 << 10,  /* of one of boxes that asks for lines ahead */
  MT_LEASTTILE = 2048,    /* bytes of a tile of rows, if it can be */
  MT_FEWLINES = 1024,     /* of the source that are near while some more are read */
  MT_NEARSTEP = 32,       /* bytes between two units of a line that is worth keeping */
  MT_NEARLINES = 512,     /* that are near */
  MT_MOSTROWS = 64,       /* rows of an index of a tile's axis */
  MT_ANYTILE = 64,        /* indices of a tile along each axis */
  MT_PIECE = 256 << 10,   /* bytes that are worth a thread's while */
  MT_STREAMED = 2 << 20   /* bytes of a destination that fits no cache */
};

static const char *const row_names[] = {
#define MT_CPU_KERNEL(name, how) #name,
#include "cpu/copy.def"
};

/* ---------------------------------------------------------------- axes */

/* The box as axes with strides in elements, turned, sorted and merged; `offset` in
** elements. */
static void order_axes (mt_axes *x, int64_t offset[2], const mt_domain *b) {
  memset(x, 0, sizeof *x);
  x->n = b->n;
  for (int i = 0; i < b->n; i++) {
    x->axis[i].extent = b->axis[i].extent;
    memcpy(x->axis[i].stride, b->axis[i].stride, sizeof x->axis[i].stride);
  }
  mt_axes_turn(x, offset);
  mt_axes_sort(x);
  mt_axes_merge(x);
}

/* Takes the run of elements that lie together on both sides out of the list: its
** bytes. */
static int64_t take_run (mt_axes *x, int64_t elem) {
  for (int i = 0; i < x->n; i++) {
    if (x->axis[i].stride[MT_SRC] != 1 || x->axis[i].stride[MT_DST] != 1) continue;
    int64_t n = x->axis[i].extent;
    memmove(x->axis + i, x->axis + i + 1, (size_t)(--x->n - i) * sizeof x->axis[0]);
    return n * elem;
  }
  return elem;
}

/* The axis with the smallest stride in the source, broadcasts aside. */
static int source_axis (const mt_cpu_axis *a, int n) {
  int best = -1;
  for (int i = 0; i < n; i++) {
    int64_t d = a[i].src < 0 ? -a[i].src : a[i].src;
    if (d == 0) continue;
    if (best < 0 || d < (a[best].src < 0 ? -a[best].src : a[best].src)) best = i;
  }
  return best;
}

static mt_cpu_axis take_axis (mt_cpu_job *job, int i) {
  mt_cpu_axis a = {1, 0, 0};
  if (i < 0 || i >= job->n) return a;
  a = job->outer[i];
  memmove(job->outer + i, job->outer + i + 1, (size_t)(--job->n - i) * sizeof a);
  return a;
}

/* ---------------------------------------- the rows of cpu/copy.def */

static int64_t min_of (int64_t a, int64_t b) { return a < b ? a : b; }

/* Rows: a is the bytes of a run, b an axis of many; short axes before that are in each of
** its indices, so that rows are moved in the order of the destination. */
static void plan_rows (mt_cpu_job *job, int64_t run) {
  mt_cpu_runs *x = &job->runs;
  int64_t rows = 1;
  job->row = MT_ROW_cpu_rows;
  while (job->n > 1 && rows * run < MT_LEASTTILE &&
         rows * job->outer[0].extent <= MT_MOSTROWS && x->n[0] < MT_CPU_INNER) {
    rows *= job->outer[0].extent;
    x->axis[0][x->n[0]++] = take_axis(job, 0);
  }
  job->move = mt_cpu_row_mover(run, rows, MT_LONGROW);
  job->tile.a = (mt_cpu_axis){run, 1, 1};
  job->tile.b = take_axis(job, 0);
  job->ta = min_of(run, MT_ROWTILE);
  job->tb = MT_ROWTILE / (job->ta * rows);
}

static bool plan_transpose (mt_cpu_job *job, int64_t least, int64_t gaps,
                            mt_refusals *why) {
  if (!mt_cpu_plan_turn(job, least, gaps, row_names[MT_ROW_cpu_transpose], why))
    return false;
  job->row = MT_ROW_cpu_transpose;
  return true;
}

/* An element is repeated to so many bytes, or it is all that there is. */
static bool plan_fill (mt_cpu_job *job, int64_t least, mt_refusals *why) {
  const mt_cpu_axis *a = &job->outer[0];
  mt_cpu_move *move = mt_cpu_filler(job->tile.unit);
  if (a->src != 0 || a->dst != job->tile.unit || move == NULL ||
      (a->extent * job->tile.unit < least && job->n > 1)) {
    mt_refusals_add(why, row_names[MT_ROW_cpu_fill],
                    "no element is repeated along the "
                    "destination");
    return false;
  }
  job->row = MT_ROW_cpu_fill;
  job->move = move;
  job->tile.a = take_axis(job, 0);
  job->tile.b = take_axis(job, 0);
  job->ta = MT_ROWTILE / job->tile.unit;
  job->tb = MT_ROWTILE / (job->tile.unit * min_of(job->ta, job->tile.a.extent));
  return true;
}

/* Tiles of whole boxes, of about so many bytes; of short runs several. */
static void size_boxes (mt_cpu_job *job, int64_t bytes) {
  const int64_t step = job->boxes.step;
  int64_t rows = 1;
  for (int i = 0; i < job->boxes.nrow; i++) rows *= job->boxes.row[i].extent;
  job->ta = bytes / rows / (step * job->tile.unit) * step;
  if (job->ta < step) job->ta = step;
  job->tb = bytes / (rows * job->tile.unit * min_of(job->ta, job->tile.a.extent));
  if (job->tb < 1) job->tb = 1;
}

/* The axes of the job are boxes. */
static void plan_gather (mt_cpu_job *job) {
  job->row = MT_ROW_cpu_gather;
  job->move = mt_cpu_gather_move;
  job->tile.b = take_axis(job, 0);
  size_boxes(job, MT_ROWTILE);
}

static void plan_any (mt_cpu_job *job, mt_cpu_row row, mt_cpu_move *move) {
  int b = source_axis(job->outer, job->n);
  job->row = row;
  job->move = move;
  if (b > 0) {
    job->tile.b = take_axis(job, b);
    job->tile.a = take_axis(job, 0);
    job->ta = job->tb = MT_ANYTILE;
    if (row == MT_ROW_cpu_cast) mt_cpu_turns(&job->tile, &job->move, &job->ta, &job->tb);
  } else {
    job->tile.a = take_axis(job, 0);
    job->tile.b = take_axis(job, 0);
    job->ta = MT_ANYTILE * MT_ANYTILE;
    job->tb = job->ta / min_of(job->ta, job->tile.a.extent);
  }
}

static void add_axes (mt_cpu_job *job, const mt_axes *x, const mt_desc *d) {
  job->n = x->n;
  for (int i = 0; i < x->n; i++) {
    mt_cpu_axis a = {x->axis[i].extent, x->axis[i].stride[MT_SRC] * (int64_t)d->elem,
                     x->axis[i].stride[MT_DST] * (int64_t)MT_ELEM(d, MT_DST)};
    job->outer[i] = a;
  }
}

/* A copy that converts: units are elements. */
static void plan_cast (mt_cpu_job *job, const mt_axes *x, const mt_desc *d) {
  add_axes(job, x, d);
  job->tile.unit = d->elem > d->to ? d->elem : d->to;
  plan_any(job, MT_ROW_cpu_cast, mt_cpu_caster(&job->tile, d->cast));
}

/* Lines so far apart that a cache keeps: those of large powers of two are in few sets. */
static int64_t ways_of (int64_t stride) {
  enum { MT_WAYS = 8, MT_WAY = 4096 };
  int64_t power = stride & -stride;
  return power >= MT_WAY ? MT_WAYS : MT_WAYS * (MT_WAY / (power > 64 ? power : 64));
}

/* Whether the destination comes back to a line of the source before `most` others: axes,
** in its order, as far as the one that steps so many bytes. */
static bool is_back_soon (const mt_cpu_job *job, int64_t bytes, int64_t most) {
  int n = 0;
  while (n < job->n && job->outer[n].src != bytes && -job->outer[n].src != bytes) n++;
  if (n == job->n) return false;
  mt_cpu_footprint p;
  mt_cpu_footprint_of_axes(&p, job->tile.unit, job->outer, n);
  int64_t lines = p.run / 64 + 1;
  for (int i = 0; i < p.n && lines <= most; i++) {
    if (p.axis[i].extent > ways_of(p.axis[i].stride)) return false;
    lines *= p.axis[i].extent;
  }
  return lines <= most;
}

/* By every second unit of the source, where its lines do not stay near. */
static bool plan_gapped (mt_cpu_job *job, mt_refusals *why) {
  if (is_back_soon(job, 2 * job->tile.unit, MT_NEARLINES)) return false;
  return plan_transpose(job, MT_LONGRUN, 1, why);
}

/* Short axes of short runs are in each index of the tile's: how many runs. */
static int64_t take_rows (mt_cpu_job *job) {
  mt_cpu_boxes *x = &job->boxes;
  const int64_t run = job->tile.a.extent * job->tile.unit;
  int64_t rows = 1;
  while (job->n > 1 && rows * run < MT_LEASTTILE && x->nrow < MT_CPU_INNER &&
         rows * job->outer[0].extent <= MT_CPU_ROWS) {
    rows *= job->outer[0].extent;
    x->row[x->nrow++] = take_axis(job, 0);
  }
  return rows;
}

/* The shortest step in the source, a line at most: units are read of each line. */
static int64_t least_step (const mt_cpu_job *job) {
  int64_t least = MT_NEARSTEP;
  for (int i = 0; i < job->n; i++) {
    const int64_t d = job->outer[i].src < 0 ? -job->outer[i].src : job->outer[i].src;
    if (d != 0 && d < least) least = d;
  }
  return least;
}

/* Units that are read from lines that stay near: they need no turning, if tiles are not
** too small. */
static bool plan_near (mt_cpu_job *job) {
  mt_cpu_job boxes = *job;
  if (!is_back_soon(job, least_step(job), MT_FEWLINES)) return false;
  if (mt_cpu_plan_gather(&boxes, true) == MT_BOXED_NOT) return false;
  const int64_t rows = take_rows(&boxes);
  plan_gather(&boxes);
  const mt_cpu_tile *t = &boxes.tile;
  if (min_of(boxes.ta, t->a.extent) * min_of(boxes.tb, t->b.extent) * t->unit * rows <
      MT_LEASTTILE)
    return false;
  *job = boxes;
  return true;
}

/* Units that are neither repeated nor of two long runs: boxes by shuffles of several
** units, else runs of vectors, boxes by other shuffles, long ones one by one, runs one by
** one, short boxes, loops. */
static void plan_units (mt_cpu_job *job, mt_refusals *why) {
  const int64_t unit = job->tile.unit, vector = unit > 1 ? 8 * unit : 16;
  mt_refusals no = {0}; /* runs were refused before */
  mt_cpu_job boxes = *job;
  const mt_cpu_boxed how = mt_cpu_plan_gather(&boxes, false);
  const bool alone = how == MT_BOXED_ALONE;
  const bool is_long = alone && boxes.boxes.step * boxes.tile.unit >= MT_LONGRUN;
  if (how != MT_BOXED_SHUFFLED) {
    if (plan_transpose(job, vector, 0, &no)) return;
    if (plan_gapped(job, &no)) return;
    job->tile.gaps = 0;
    if (!is_long && how != MT_BOXED_TORN &&
        (plan_near(job) || plan_transpose(job, MT_SHORTRUN, 0, &no)))
      return;
    job->tile.gaps = 0;
  }
  if (how != MT_BOXED_NOT) {
    *job = boxes;
    plan_gather(job);
    return;
  }
  mt_refusals_add(why, row_names[MT_ROW_cpu_gather],
                  "no run of 16 bytes of the destination whose units lie near in the "
                  "source");
  if (plan_fill(job, MT_LEASTFILL, &no)) return;
  plan_any(job, MT_ROW_cpu_any, mt_cpu_mover(unit));
}

static void plan_box (mt_cpu_job *job, const mt_axes *x, int64_t run, const mt_desc *d,
                      mt_refusals *why) {
  add_axes(job, x, d);
  job->tile.unit = run;
  if (run >= MT_SMALLRUN || x->n == 0) {
    plan_rows(job, run);
    job->tile.unit = 1;
    return;
  }
  mt_refusals_add(why, row_names[MT_ROW_cpu_rows],
                  "%lld bytes lie together on both sides, "
                  "rows have at least %d",
                  (long long)run, (int)MT_SMALLRUN);
  const int64_t least = min_of(MT_LONGRUN, 16 * job->tile.unit);
  if (plan_fill(job, MT_SHORTFILL, why) || (run == 8 && plan_near(job))) return;
  if (!plan_transpose(job, least, 0, why)) plan_units(job, why);
}

/* ---------------------------------------------------------------- planning */

/* Of a whole tile of so many bytes: rows are moved, and filled, as one. */
static int64_t moves_of (const mt_cpu_job *job, int64_t bytes) {
  const int64_t row = min_of(job->ta, job->tile.a.extent) * job->tile.unit;
  switch (job->row) {
    case MT_ROW_cpu_rows:
    case MT_ROW_cpu_fill: return bytes / row;
    case MT_ROW_cpu_gather: return min_of(job->tb, job->tile.b.extent);
    default: return bytes / job->tile.unit;
  }
}

static void count_tiles (mt_cpu_job *job, int threads) {
  const mt_cpu_tile *t = &job->tile;
  int64_t bytes = t->unit * min_of(job->ta, t->a.extent) * min_of(job->tb, t->b.extent);
  for (int i = 0; i < job->boxes.nrow; i++) bytes *= job->boxes.row[i].extent;
  for (int run = 0; run < 2; run++)
    for (int i = 0; i < job->runs.n[run]; i++) bytes *= job->runs.axis[run][i].extent;
  job->along[0] = (t->b.extent - 1) / job->tb + 1;
  job->along[1] = (t->a.extent - 1) / job->ta + 1;
  job->tiles = job->along[0] * job->along[1];
  for (int i = 0; i < job->n; i++) job->tiles *= job->outer[i].extent;
  job->piece = job->tiles / (threads * 8) + 1;
  if (job->piece < MT_PIECE / bytes) job->piece = MT_PIECE / bytes;
  job->ns = bytes / 8 + 4 * moves_of(job, bytes);
}

/* Bytes that boxes write together, one after another. */
static int64_t run_of (const mt_cpu_job *job) {
  const mt_cpu_tile *t = &job->tile;
  int64_t run = t->a.extent * t->unit;
  if (job->boxes.nrow > 0 || (job->along[1] > 1 && t->b.extent > 1)) return run;
  if (t->b.extent > 1 && t->b.dst != run) return run;
  run *= t->b.extent;
  for (int i = 0; i < job->n && job->outer[i].dst == run; i++)
    run *= job->outer[i].extent;
  return run;
}

/* Tiles of boxes are smaller where groups of them ask for their lines. */
static void plan_asking (mt_cpu_job *job, int threads) {
  mt_cpu_job small = *job;
  size_boxes(&small, MT_ASKTILE);
  count_tiles(&small, threads);
  if (!mt_cpu_is_foreseen(&small)) mt_cpu_plan_asking(&small);
  if (small.group > 0) *job = small;
  job->tile.run = run_of(job);
}

void mt_cpu_plan (mt_cpu_job *job, const mt_launch *l, int threads, mt_refusals *why) {
  mt_domain box;
  mt_axes x;
  int64_t offset[] = {l->offset[MT_SRC], l->offset[MT_DST]}, bytes = l->desc.elem;
  memset(job, 0, sizeof *job);
  mt_domain_of(&box, &l->desc, 1u << MT_SRC | 1u << MT_DST);
  if (box.empty) return;
  if (!box.exact || mt_desc_is_swizzled(&l->desc)) {
    job->row = MT_ROW_cpu_literal;
    mt_refusals_add(why, row_names[0], "%s",
                    box.exact ? "a side is swizzled" : "the bounds cut through the axes");
    return;
  }
  order_axes(&x, offset, &box);
  for (int i = 0; i < x.n; i++) bytes *= x.axis[i].extent;
  job->src = (const char *)l->base[MT_SRC] + offset[MT_SRC] * (int64_t)l->desc.elem;
  job->dst =
      (char *)l->base[MT_DST] + offset[MT_DST] * (int64_t)MT_ELEM(&l->desc, MT_DST);
  job->bytes = bytes;
  job->tile.stream = bytes >= MT_STREAMED;
  if (l->desc.cast) plan_cast(job, &x, &l->desc);
  else plan_box(job, &x, take_run(&x, l->desc.elem), &l->desc, why);
  count_tiles(job, threads);
  if (job->row == MT_ROW_cpu_gather) plan_asking(job, threads);
}

/* ---------------------------------------------------------------- running */

/* Where a tile lies: its number along b and a, its indices of the outer axes. */
typedef struct mt_place {
  int64_t along[2], index[MT_MAXOUTER];
  const char *src;
  char *dst;
} mt_place;

static void find_place (mt_place *p, const mt_cpu_job *job, int64_t n) {
  p->src = job->src;
  p->dst = job->dst;
  for (int i = 0; i < 2; i++) {
    p->along[i] = n % job->along[i];
    n /= job->along[i];
  }
  for (int i = 0; i < job->n; i++) {
    p->index[i] = n % job->outer[i].extent;
    n /= job->outer[i].extent;
    p->src += p->index[i] * job->outer[i].src;
    p->dst += p->index[i] * job->outer[i].dst;
  }
}

static void next_place (mt_place *p, const mt_cpu_job *job) {
  for (int i = 0; i < 2; i++) {
    if (++p->along[i] < job->along[i]) return;
    p->along[i] = 0;
  }
  for (int i = 0; i < job->n; i++) {
    const mt_cpu_axis *a = &job->outer[i];
    p->src += a->src;
    p->dst += a->dst;
    if (++p->index[i] < a->extent) return;
    p->index[i] = 0;
    p->src -= a->extent * a->src;
    p->dst -= a->extent * a->dst;
  }
}

/* Where the first group behind tile n begins; NULL: there is none. */
static const char *group_behind (const mt_cpu_job *job, int64_t n) {
  const int64_t next = n / job->group * job->group + job->group;
  mt_place p;
  if (next >= job->tiles) return NULL;
  find_place(&p, job, next);
  return p.src + p.along[0] * job->tb * job->tile.b.src +
         p.along[1] * job->ta * job->tile.a.src;
}

/* Before tile n is moved, one of a group's, or the first. */
static void take_hand (mt_cpu_hand *hand, const mt_cpu_job *job, int64_t n, bool first) {
  if (job->group == 0 || (!first && n % job->group != 0)) return;
  hand->ask = group_behind(job, n);
  hand->next = 0;
}

void mt_cpu_run (void *arg, int64_t first, int64_t last, mt_worker *w) {
  const mt_cpu_job *job = arg;
  const mt_cpu_axis *a = &job->tile.a, *b = &job->tile.b;
  const int64_t start = first;
  mt_cpu_tile tile = job->tile;
  mt_cpu_hand hand;
  mt_place p;
  hand.ask = NULL, hand.line = NULL;
  tile.hand = &hand;
  find_place(&p, job, first);
  for (; first < last; first++) {
    take_hand(&hand, job, first, first == start);
    int64_t j = p.along[0] * job->tb, i = p.along[1] * job->ta;
    int64_t na = min_of(job->ta, a->extent - i), nb = min_of(job->tb, b->extent - j);
    const char *src = p.src + i * a->src + j * b->src;
    char *dst = p.dst + i * a->dst + j * b->dst;
    job->move(&tile, src, dst, na, nb);
    if (job->demoted) mt_cpu_demote(job, (const char *const[]){src, dst}, na, nb);
    if (mt_worker_ends(w, job->ns)) break;
    next_place(&p, job);
  }
  if (job->row == MT_ROW_cpu_gather) mt_cpu_gather_end(&tile);
  if (job->tile.stream) mt_stream_end();
}
