/*
** copy_demote.c - lines that a GPU reads or writes next leave the processor's own caches.
** SPDX-License-Identifier: MIT
**
** Pieces between the host and a GPU pass through few slots of memory. What a thread has
** written there, or read, is in the cache of its own processor, and there a GPU finds it
** at less than half of its speed. Past all caches it is in memory, where a GPU has to
** wait behind the threads. In the cache that all processors share it meets nobody:
** x86 has an instruction by which a line goes there.
*/
#include "cpu/copy.h"
#include "plan/stage.h"

enum {
  MT_LINE = 64,
  MT_WORTH = 1 << 20,  /* bytes of a piece that is packed so: of less, past the caches */
  MT_SPREAD = 4 << 20, /* of one that is in no cache when it is written anew */
  MT_PASTROW = 256     /* of rows of many threads, which wait for memory as it is */
};

/* ---------------------------------------------------------------- the processor */

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

/* CLDEMOTE, which assemblers may not know. */
static inline void demote_line (const char *p) {
  __asm__ volatile(".byte 0x0f, 0x1c, 0x07" : : "D"(p) : "memory");
}

bool mt_cpu_demotes (void) {
  enum { MT_FEATURES = 7, MT_CLDEMOTE = 1 << 25 };
  unsigned a, b, c, d;
  return __get_cpuid_count(MT_FEATURES, 0, &a, &b, &c, &d) && (c & MT_CLDEMOTE) != 0;
}
#else
static inline void demote_line (const char *p) { (void)p; }
bool mt_cpu_demotes (void) { return false; }
#endif

/* ---------------------------------------------------------------- where a tile lies */

/* An axis of the tile that has `extent` indices there, by the size of its stride. */
static void add_axis (mt_cpu_footprint *p, int64_t extent, int64_t stride) {
  if (extent <= 1 || stride == 0) return;
  if (stride < 0) {
    p->first += (extent - 1) * stride;
    stride = -stride;
  }
  for (int i = 0; i < p->n; i++)
    if (p->axis[i].stride == stride) {
      p->axis[i].extent += extent - 1;
      return;
    }
  int i = p->n++;
  for (; i > 0 && p->axis[i - 1].stride > stride; i--) p->axis[i] = p->axis[i - 1];
  p->axis[i].extent = extent;
  p->axis[i].stride = stride;
}

/* Axes whose steps leave no gap that is larger than what lies there, or no line out, are
** one run. */
static void join_axes (mt_cpu_footprint *p) {
  int i = 0, n = p->n;
  for (; i < n && p->axis[i].stride <= (p->run > MT_LINE / 2 ? 2 * p->run : MT_LINE); i++)
    p->run += (p->axis[i].extent - 1) * p->axis[i].stride;
  p->n = 0;
  for (; i < n; i++) p->axis[p->n++] = p->axis[i];
}

static int64_t stride_of (const mt_cpu_axis *a, int side) {
  return side == MT_SRC ? a->src : a->dst;
}

void mt_cpu_footprint_of_axes (mt_cpu_footprint *p, int64_t run, const mt_cpu_axis *axis,
                               int n) {
  *p = (mt_cpu_footprint){.run = run};
  for (int i = 0; i < n; i++) add_axis(p, axis[i].extent, axis[i].src);
  join_axes(p);
}

void mt_cpu_footprint_of (mt_cpu_footprint *p, const mt_cpu_job *job, int side,
                          int64_t na, int64_t nb, int outer) {
  const mt_cpu_boxes *x = &job->boxes;
  const bool inner = side == MT_SRC && x->unit > 0;
  *p = (mt_cpu_footprint){.run = inner ? x->unit : job->tile.unit};
  add_axis(p, na, stride_of(&job->tile.a, side));
  add_axis(p, nb, stride_of(&job->tile.b, side));
  for (int i = 0; inner && i < x->ninner; i++)
    add_axis(p, x->inner[i].extent, x->inner[i].src);
  for (int i = 0; i < x->nrow; i++)
    add_axis(p, x->row[i].extent, stride_of(&x->row[i], side));
  for (int run = 0; run < 2; run++)
    for (int i = 0; i < job->runs.n[run]; i++)
      add_axis(p, job->runs.axis[run][i].extent,
               stride_of(&job->runs.axis[run][i], side));
  for (int i = 0; i < outer; i++)
    add_axis(p, job->outer[i].extent, stride_of(&job->outer[i], side));
  join_axes(p);
}

/* ---------------------------------------------------------------- demoting */

static void demote_run (const char *at, int64_t n) {
  const char *end = at + n;
  for (at -= (uintptr_t)at % MT_LINE; at < end; at += MT_LINE) demote_line(at);
}

/* The runs at every index of the axes below n. */
static void demote_axes (const mt_cpu_footprint *p, int n, const char *at) {
  if (n == 0) {
    demote_run(at, p->run);
    return;
  }
  for (int64_t i = 0; i < p->axis[n - 1].extent; i++)
    demote_axes(p, n - 1, at + i * p->axis[n - 1].stride);
}

void mt_cpu_demote (const mt_cpu_job *job, const char *const tile[2], int64_t na,
                    int64_t nb) {
  mt_cpu_footprint p;
  for (int side = 0; side < 2; side++) {
    if (!(job->demoted >> side & 1)) continue;
    mt_cpu_footprint_of(&p, job, side, na, nb, 0);
    demote_axes(&p, p.n, tile[side] + p.first);
  }
}

/* ---------------------------------------------------------------- which way */

/* Measured, with 16 processors that have 2 MiB each of a cache of their own: past the
** caches pieces go up at .75 of what a GPU takes, by the shared one at .91; with eight
** threads these are as fast as memory, and lines that are demoted cost them more. */
static bool is_worth (const mt_cpu_job *job, unsigned slots, int threads) {
  if (threads <= MT_STAGE_FEW) return false;
  const bool up = slots >> MT_DST & 1;
  return (up ? job->bytes >= MT_WORTH : job->bytes < MT_SPREAD) && mt_cpu_demotes();
}

void mt_cpu_aim (mt_cpu_job *job, unsigned slots, int threads) {
  const bool up = slots >> MT_DST & 1;
  job->demoted = is_worth(job, slots, threads) ? slots : 0;
  job->tile.stream = !(up && job->demoted);
  job->tile.asks = threads > MT_STAGE_FEW;
  if (job->move && job->tile.asks && job->row == MT_ROW_cpu_rows)
    job->move = mt_cpu_row_mover(job->tile.a.extent, 1 + job->runs.n[0], MT_PASTROW);
}
