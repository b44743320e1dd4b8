/*
** copy_ask.c - lines of the source that are asked for ahead.
** SPDX-License-Identifier: MIT
**
** Boxes read a few bytes of many lines, which no processor foresees. But some tiles after
** one another, a group, read all of their lines to the end, and where the next group will
** read is known: its lines are asked for while this one is moved, some for each box.
*/
#include "cpu/copy.h"

enum {
  MT_LINE = 64,
  MT_MOSTLINES = 2048, /* of a group: they are near, as are those of the next */
  MT_LEASTWASTE = 2,   /* bytes of lines for each byte moved, at most, or the unit's */
  MT_REACH = INT32_MAX / 2,
  MT_CACHED = 8 << 20,   /* bytes of a source that stays in some cache */
  MT_STREAMS = 16,       /* that a processor follows, */
  MT_LONGSTREAM = 2048,  /* of so many bytes */
  MT_LONGWALK = 16 << 10 /* bytes of one whose steps skip no line, or one */
};

/* Tiles after one another: all of the axes that run fastest, so many. */
typedef struct group {
  int64_t na, nb, tiles, bytes;
  int outer;
} group;

static int64_t min_of (int64_t a, int64_t b) { return a < b ? a : b; }

/* The smallest one is a tile; false: there is no larger one. */
static bool next_group (group *x, const mt_cpu_job *job) {
  const mt_cpu_tile *t = &job->tile;
  if (x->nb < t->b.extent) {
    x->bytes = x->bytes / x->nb * t->b.extent;
    x->nb = t->b.extent;
    x->tiles = job->along[0];
  } else if (x->na < t->a.extent) {
    x->bytes = x->bytes / x->na * t->a.extent;
    x->na = t->a.extent;
    x->tiles = job->along[0] * job->along[1];
  } else {
    if (x->outer == job->n) return false;
    x->bytes *= job->outer[x->outer].extent;
    x->tiles *= job->outer[x->outer++].extent;
  }
  return true;
}

static group first_group (const mt_cpu_job *job) {
  const mt_cpu_tile *t = &job->tile;
  group x = {min_of(job->ta, t->a.extent), min_of(job->tb, t->b.extent), 1, 0, 0};
  x.bytes = x.na * x.nb * t->unit;
  for (int i = 0; i < job->boxes.nrow; i++) x.bytes *= job->boxes.row[i].extent;
  return x;
}

/* Asks of a run of so many bytes, which may begin anywhere in a line. */
static int64_t asks_of (int64_t run) {
  return (run - 1) / MT_LINE + 1 + ((run - 1) % MT_LINE >= MT_LINE / 4);
}

/* How many lines a group reads; more than MT_MOSTLINES: too many, or too far apart. */
static int64_t count_lines (mt_cpu_footprint *p, const mt_cpu_job *job, const group *x) {
  mt_cpu_footprint_of(p, job, MT_SRC, x->na, x->nb, x->outer);
  int64_t n = asks_of(p->run), reach = p->run;
  for (int i = 0; i < p->n; i++) {
    const int64_t extent = p->axis[i].extent;
    if (n > MT_MOSTLINES / extent || p->axis[i].stride > MT_REACH / extent ||
        reach > MT_REACH)
      return MT_MOSTLINES + 1;
    n *= extent;
    reach += extent * p->axis[i].stride;
  }
  return n;
}

/* The one that reads the fewest lines for what it moves. */
static bool best_group (group *best, int64_t *lines, const mt_cpu_job *job) {
  mt_cpu_footprint p;
  group x = first_group(job);
  double least =
      job->boxes.unit < MT_LEASTWASTE ? MT_LEASTWASTE : (double)job->boxes.unit;
  *lines = 0;
  do {
    const int64_t n = count_lines(&p, job, &x);
    if (n > MT_MOSTLINES) break;
    const double waste = (double)(n * MT_LINE) / (double)x.bytes;
    if (waste < 0.9 * least) least = waste, *best = x, *lines = n;
  } while (next_group(&x, job));
  return *lines > 0;
}

/* Axes of the source in the order of the destination: how many. */
static int axes_of (mt_cpu_axis *axis, const mt_cpu_job *job) {
  const mt_cpu_boxes *x = &job->boxes;
  int n = 0;
  for (int i = 0; i < x->ninner; i++) axis[n++] = x->inner[i];
  axis[n++] = job->tile.a;
  for (int i = 0; i < x->nrow; i++) axis[n++] = x->row[i];
  axis[n++] = job->tile.b;
  for (int i = 0; i < job->n; i++) axis[n++] = job->outer[i];
  return n;
}

static int64_t size_of (int64_t d) { return d < 0 ? -d : d; }

/* The one with the smallest steps. */
static int nearest_of (const mt_cpu_axis *axis, int n) {
  int best = 0;
  for (int i = 0; i < n; i++)
    if (axis[i].src != 0 && axis[i].extent > 1 &&
        (axis[best].src == 0 || axis[best].extent == 1 ||
         size_of(axis[i].src) < size_of(axis[best].src)))
      best = i;
  return best;
}

/* Bytes that are read one way from axis k on, as long as the next axis goes on. */
static int64_t one_way (const mt_cpu_axis *axis, int k, int n) {
  const bool back = axis[k].src < 0;
  int64_t run = 0;
  for (; k < n; k++) {
    const int64_t d = back ? -axis[k].src : axis[k].src;
    if (axis[k].extent == 1) continue;
    if (d < 0 || (run > 0 && d > run + MT_LINE)) break;
    run += d * (axis[k].extent - (run > 0));
  }
  return run;
}

/* Whether what is read first goes on by short steps for long. */
static bool is_walk (const mt_cpu_axis *a) {
  return size_of(a->src) <= 2 * MT_LINE && size_of(a->src) * a->extent >= MT_LONGWALK;
}

/* Whether a processor foresees what is read: it stays in a cache, is a long walk, or few
** streams that go on. */
bool mt_cpu_is_foreseen (const mt_cpu_job *job) {
  mt_cpu_axis axis[MT_MAXOUTER + 2 * MT_CPU_INNER + 2];
  mt_cpu_footprint p;
  const int n = axes_of(axis, job), k = nearest_of(axis, n);
  int64_t reach = 0, streams = 1;
  for (int i = 0; i < n; i++) reach += size_of(axis[i].src) * (axis[i].extent - 1);
  mt_cpu_footprint_of_axes(&p, job->boxes.unit, axis, k);
  for (int i = 0; i < p.n && streams <= MT_STREAMS; i++) streams *= p.axis[i].extent;
  const bool dense = size_of(axis[k].src) == job->boxes.unit;
  const int64_t least = dense ? MT_LONGSTREAM / 2 : MT_LONGSTREAM;
  return reach < MT_CACHED || is_walk(&axis[0]) ||
         (streams <= MT_STREAMS && one_way(axis, k, n) >= least);
}

void mt_cpu_plan_asking (mt_cpu_job *job) {
  const int64_t box = job->boxes.step * job->tile.unit;
  group best;
  int64_t lines;
  job->group = 0;
  if (!best_group(&best, &lines, job)) return;
  if (best.tiles >= job->tiles) return;
  const int64_t boxes = best.bytes / box;
  job->group = best.tiles;
  job->tile.asked = (lines - 1) / (boxes > 0 ? boxes : 1) + 1;
}

/* The runs of a footprint at every index of its axes below n, from `at` on. */
static int64_t fill (int32_t *to, int64_t most, const mt_cpu_footprint *p, int n,
                     int64_t at) {
  int64_t k = 0;
  if (n == 0) {
    const int64_t asks = asks_of(p->run);
    for (; k < asks && k < most; k++)
      to[k] = (int32_t)(at + min_of(k * MT_LINE, p->run - 1));
    return k;
  }
  for (int64_t i = 0; i < p->axis[n - 1].extent; i++)
    k += fill(to + k, most - k, p, n - 1, at + i * p->axis[n - 1].stride);
  return k;
}

int64_t mt_cpu_lines_of (int32_t *at, int64_t most, const mt_cpu_job *job) {
  mt_cpu_footprint p;
  group x = first_group(job);
  while (x.tiles < job->group && next_group(&x, job)) continue;
  mt_cpu_footprint_of(&p, job, MT_SRC, x.na, x.nb, x.outer);
  return fill(at, most, &p, p.n, p.first);
}
