/*
** loops.c - views on the CPU by all of its loops, near and past the caches, which else only
** large ones go: what each element is, and what lies between them stays.
** SPDX-License-Identifier: MIT
*/
#include "exec_test.h"
#include "cpu/copy_gather.h"
#include "text.h"

enum { MOST = 6, ELEMENTS = 40000 };

/* Axes in the order of the destination; strides and offsets are in elements. */
typedef struct sides {
  int n;
  int64_t extent[MOST], stride[2][MOST], offset[2], size[2];
} sides;

static void draw_extents (sides *x) {
  static const int likely[] = {2,  2,  3,  3,  4,  5,  7,  8,   9,   11,  13,
                               16, 17, 24, 32, 45, 64, 70, 100, 259, 900, 3001};
  int64_t room = ELEMENTS;
  x->n = 1 + pick(MOST);
  for (int i = 0; i < x->n; i++) {
    int64_t e = likely[pick(sizeof likely / sizeof likely[0])];
    x->extent[i] = e <= room ? e : room;
    room /= x->extent[i];
  }
}

/* Axes in some order, some of them twice as far apart, padded, backwards; of the source
** some repeat the same elements, or those of the axis before. */
static void draw_strides (sides *x, int side, bool mixed) {
  int order[MOST];
  int64_t at = 1;
  for (int i = 0; i < x->n; i++) order[i] = i;
  for (int i = x->n - 1; i > 0 && mixed; i--) {
    const int j = pick(i + 1), k = order[i];
    order[i] = order[j], order[j] = k;
  }
  for (int i = 0; i < x->n; i++) {
    int64_t *d = &x->stride[side][order[i]];
    if (pick(mixed ? 6 : 12) == 0) at *= 1 + pick(3);
    *d = side == MT_SRC && pick(12) == 0 ? 0 : at;
    if (*d != 0 && (side == MT_DST || pick(12))) at *= x->extent[order[i]];
    if (pick(8) == 0) at += pick(20);
    if (pick(5) == 0) *d = -*d;
  }
}

static void place (sides *x, int side) {
  int64_t low = 0, high = 0;
  for (int i = 0; i < x->n; i++) {
    const int64_t d = x->stride[side][i] * (x->extent[i] - 1);
    if (d < 0) low += d;
    else high += d;
  }
  x->offset[side] = -low;
  x->size[side] = high - low + 1;
}

static mt_layout layout_of (const sides *x, int side) {
  text t = {"", 0};
  put(&t, "(");
  for (int i = 0; i < x->n; i++) put(&t, i ? "," : ""), put_int(&t, x->extent[i]);
  put(&t, "):(");
  for (int i = 0; i < x->n; i++) put(&t, i ? "," : ""), put_int(&t, x->stride[side][i]);
  put(&t, ")");
  return parse(t.s);
}

static void naive (const sides *x, memory out, memory in, size_t from, size_t to,
                   mt_dtype type, mt_dtype as) {
  int64_t index[MOST] = {0};
  for (;;) {
    int64_t at[2] = {x->offset[0], x->offset[1]};
    int i = 0;
    for (int k = 0; k < x->n; k++)
      for (int side = 0; side < 2; side++) at[side] += index[k] * x->stride[side][k];
    unsigned char *p = out.p + (size_t)at[MT_DST] * to;
    const unsigned char *q = in.p + (size_t)at[MT_SRC] * from;
    if (type == as) memcpy(p, q, to);
    else mt_cast_element(as, p, type, q);
    while (i < x->n && ++index[i] == x->extent[i]) index[i++] = 0;
    if (i == x->n) return;
  }
}

/* ---------------------------------------------------------------- lines asked for */

static long groups;

/* Lines, by their numbers from `first` on, of bytes at these offsets of the source; far:
** some are beyond. */
typedef struct lines {
  int64_t phase, first, n;
  unsigned char *has;
  bool far;
} lines;

static unsigned char *line_at (lines *x, int64_t offset) {
  const int64_t i = ((offset + x->phase) >> 6) - x->first;
  if (i < 0 || i >= x->n) return NULL;
  return x->has + i;
}

/* Units at every index of axes. */
static void note_units (lines *x, const mt_cpu_axis *axis, int n, int64_t at,
                        int64_t unit) {
  if (n == 0) {
    unsigned char *first = line_at(x, at), *last = line_at(x, at + unit - 1);
    if (first && last) *first |= 1, *last |= 1;
    else x->far = true;
    return;
  }
  for (int64_t i = 0; i < axis[n - 1].extent; i++)
    note_units(x, axis, n - 1, at + i * axis[n - 1].src, unit);
}

/* Those of tile n. */
static void note_tile (lines *x, const mt_cpu_job *job, int64_t n) {
  mt_cpu_axis axis[2 * MT_CPU_INNER + 2];
  const mt_cpu_axis *by[] = {&job->tile.b, &job->tile.a};
  const int64_t size[] = {job->tb, job->ta};
  int64_t at = 0;
  int k = 0;
  for (int i = 0; i < 2; i++) {
    const int64_t from = n % job->along[i] * size[i], left = by[i]->extent - from;
    axis[k] = *by[i];
    axis[k++].extent = left < size[i] ? left : size[i];
    at += from * by[i]->src;
    n /= job->along[i];
  }
  for (int i = 0; i < job->n; n /= job->outer[i++].extent)
    at += n % job->outer[i].extent * job->outer[i].src;
  for (int i = 0; i < job->boxes.ninner; i++) axis[k++] = job->boxes.inner[i];
  for (int i = 0; i < job->boxes.nrow; i++) axis[k++] = job->boxes.row[i];
  note_units(x, axis, k, at, job->boxes.unit);
}

/* What the first group reads is asked for, but for the ends of runs that are a few bytes
** of a line; so is nothing outside of the source. */
static void check_lines (const mt_cpu_job *job, const mt_cpu_gather *g) {
  enum { REACH = 1 << 18 };
  static unsigned char has[2 * REACH];
  lines x = {(int64_t)((uintptr_t)job->src & 63), -REACH, 2 * REACH, has, false};
  memset(has, 0, sizeof has);
  for (int64_t n = 0; n < job->group; n++) note_tile(&x, job, n);
  if (x.far) return;
  const unsigned char *first = memchr(has, 1, sizeof has), *last = has + sizeof has - 1;
  while (*last == 0) last--;
  for (int64_t i = 0; i < g->lines; i++) {
    unsigned char *line = line_at(&x, g->line[i]);
    CHECK(line >= first && line <= last, "line %lld is outside", (long long)i);
    *line |= 2;
  }
  bool all = true;
  for (int64_t i = 1; i < x.n; i++) all &= has[i] != 1 || has[i - 1] & 2;
  CHECK(all, "lines are not asked for");
}

/* Small views are foreseen: nothing would be asked for. */
static void ask_for_lines (mt_cpu_job *job) {
  mt_cpu_gather *g = (mt_cpu_gather *)(uintptr_t)job->tile.gather;
  mt_cpu_plan_asking(job);
  mt_cpu_gather_make(g, job);
  if (job->group == 0) return;
  groups++;
  check_lines(job, g);
}

static void run (mt_device *dev, const mt_tensor *s, const mt_tensor *d, bool past) {
  char about[4096];
  mt_plan *p;
  MUST(mt_plan_copy(&p, dev, NULL, s, d, err));
  mt_plan_format(about, sizeof about, p);
  mt_cpu_job *job = p->data;
  job->tile.stream = past;
  if (job->row == MT_ROW_cpu_gather && pick(2)) ask_for_lines(job);
  MUST(mt_plan_launch(p, NULL, err));
  mt_plan_free(p);
}

/* At addresses that the types need, and no more. */
static void check_view (mt_device *dev, mt_dtype type, mt_dtype as) {
  const size_t e = mt_dtype_size(type), f = mt_dtype_size(as);
  sides x;
  draw_extents(&x);
  draw_strides(&x, MT_SRC, true);
  draw_strides(&x, MT_DST, false);
  place(&x, MT_SRC), place(&x, MT_DST);
  const size_t skip = (size_t)pick(8) * f;
  memory in = exact_memory((size_t)x.size[MT_SRC] * e, 0);
  memory out = exact_memory((size_t)x.size[MT_DST] * f + skip, 0);
  memory want = exact_memory(out.bytes, 0), body = {want.p + skip, want.bytes - skip};
  random_bytes(in);
  random_bytes(out);
  memcpy(want.p, out.p, out.bytes);
  naive(&x, body, in, e, f, type, as);
  mt_layout src = layout_of(&x, MT_SRC), dst = layout_of(&x, MT_DST);
  mt_tensor s = {src.node, type, in.p, in.bytes, x.offset[MT_SRC], NULL};
  mt_tensor d = {dst.node, as, out.p + skip, out.bytes - skip, x.offset[MT_DST], NULL};
  run(dev, &s, &d, pick(3) != 0);
  CHECK(memcmp(out.p, want.p, out.bytes) == 0, "%s from %s to %s", mt_dtype_name(type),
        text_of(src.node), text_of(dst.node));
  free_memory(in);
  free_memory(out);
  free_memory(want);
}

void test_loops (void) {
  static const mt_dtype types[] = {MT_u8, MT_u16, MT_f32, MT_f64};
  mt_device *dev;
  MUST(mt_device_open(&dev, "cpu", NULL, err));
  for (long i = 0; i < base_cases / 4 + 100; i++) {
    begin_case(base_seed + 31337 + (uint64_t)i);
    const mt_dtype type = types[pick(4)];
    check_view(dev, type, pick(8) ? type : (mt_dtype)pick(MT_NDTYPE));
  }
  mt_device_close(dev);
  printf("  %ld copies ask for lines\n", groups);
}
