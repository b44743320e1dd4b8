/*
** copy_gather.c - units from anywhere: vectors of the destination, put together from
** vectors of the source by shuffles of bytes.
** SPDX-License-Identifier: MIT
**
** A box is a piece of the destination's run, the same at each of its places. For each of
** its vectors of 16 bytes there are windows: 16 bytes of the source anywhere, and a mask
** that says which byte of them goes where; what no byte goes to is 0, and the windows of
** a vector are put upon each other:
**
**   source      r0 g0 b0 r1 g1 b1 ...      one window
**   mask         2  1  0  5  4  3 ...
**   vector      b0 g0 r0 b1 g1 r1 ...
**
** The last vector of a box ends with it, and so begins within the one before. Windows lie
** between the first and the last byte that the box reads: nothing else is touched. Where
** many windows would be needed, and without such shuffles, units go one by one.
*/
#include "cpu/copy_gather.h"
#include "core/error.h"

/* ---------------------------------------------------------------- planning */

static int64_t size_of (int64_t d) { return d < 0 ? -d : d; }
static bool is_power (int64_t n) { return (n & (n - 1)) == 0; }

static mt_cpu_axis take (mt_cpu_job *job, int i) {
  mt_cpu_axis a = job->outer[i];
  memmove(job->outer + i, job->outer + i + 1, (size_t)(--job->n - i) * sizeof a);
  return a;
}

/* The axis that continues a run of so many bytes; -1: there is none. */
static int find_next (const mt_cpu_job *job, int64_t bytes) {
  for (int i = 0; i < job->n; i++)
    if (job->outer[i].dst == bytes) return i;
  return -1;
}

/* Whole axes of the run, and then the axis a, of which a box has some indices. */
static bool take_run (mt_cpu_job *job) {
  mt_cpu_boxes *x = &job->boxes;
  int64_t bytes = x->unit;
  for (int i = find_next(job, bytes); i >= 0 && x->ninner < MT_CPU_INNER;) {
    mt_cpu_axis a = take(job, i);
    int64_t most = bytes < MT_BOX ? MT_BOX / bytes : 1;
    i = a.extent < most ? find_next(job, bytes * a.extent) : -1;
    if (i < 0) {
      job->tile.a = a;
      job->tile.unit = bytes;
      x->step = a.extent / ((a.extent - 1) / most + 1);
      return bytes * x->step >= 16 && bytes * x->step <= MT_MOSTBOX;
    }
    x->inner[x->ninner++] = a;
    bytes *= a.extent;
  }
  return false;
}

/* Axis i of a box, the last one cut. */
static mt_cpu_axis axis_of (const mt_cpu_job *job, int i) {
  mt_cpu_axis a = i < job->boxes.ninner ? job->boxes.inner[i] : job->tile.a;
  if (i == job->boxes.ninner) a.extent = job->boxes.step;
  return a;
}

/* Bytes of the source that lie together in a box, about. */
static int64_t piece_of (const mt_cpu_job *job) {
  int64_t piece = job->boxes.unit;
  bool used[MT_CPU_INNER + 1] = {false};
  for (int round = 0; round <= job->boxes.ninner; round++)
    for (int i = 0; i <= job->boxes.ninner; i++) {
      mt_cpu_axis a = axis_of(job, i);
      if (used[i] || size_of(a.src) > piece) continue;
      piece += size_of(a.src) * (a.extent - 1);
      used[i] = true;
    }
  return piece;
}

static int nearest (const mt_cpu_job *job) {
  int best = -1;
  for (int i = 0; i < job->n; i++)
    if (job->outer[i].src != 0 &&
        (best < 0 || size_of(job->outer[i].src) < size_of(job->outer[best].src)))
      best = i;
  return best;
}

/* Rows: axes along which the same lines of the source are read. */
static void take_rows (mt_cpu_job *job) {
  mt_cpu_boxes *x = &job->boxes;
  int64_t piece = piece_of(job), rows = 1;
  for (int i = nearest(job); i >= 0 && piece < 4 * MT_LINE && x->nrow < MT_CPU_INNER;
       i = nearest(job)) {
    int64_t d = size_of(job->outer[i].src), n = job->outer[i].extent;
    if (d >= (piece > MT_LINE ? piece : MT_LINE) || rows * n > MT_CPU_ROWS) return;
    x->row[x->nrow++] = take(job, i);
    rows *= n, piece += d * (n - 1);
  }
}

/* All of a box and its rows are reached by 32 bits. */
static bool is_near (const mt_cpu_job *job) {
  int64_t sum = 0;
  for (int i = 0; i <= job->boxes.ninner; i++) {
    mt_cpu_axis a = axis_of(job, i);
    if (size_of(a.src) > INT32_MAX / 2 / a.extent) return false;
    sum += size_of(a.src) * a.extent;
  }
  return sum < INT32_MAX / 2;
}

/* ---------------------------------------------------------------- windows */

static void find_units (mt_cpu_gather *g, const mt_cpu_job *job) {
  g->units = 1;
  for (int i = 0; i <= job->boxes.ninner; i++) {
    mt_cpu_axis a = axis_of(job, i);
    for (int64_t k = a.extent - 1; k >= 0; k--)
      for (int64_t n = 0; n < g->units; n++)
        g->at[k * g->units + n] = (int32_t)(g->at[n] + k * a.src);
    g->units *= a.extent;
  }
}

static void find_rows (mt_cpu_gather *g, const mt_cpu_job *job) {
  g->rows = 1;
  for (int i = 0; i < job->boxes.nrow; i++) {
    const mt_cpu_axis *a = &job->boxes.row[i];
    for (int64_t k = a->extent - 1; k >= 0; k--)
      for (int64_t n = 0; n < g->rows; n++) {
        g->row[k * g->rows + n][0] = g->row[n][0] + k * a->src;
        g->row[k * g->rows + n][1] = g->row[n][1] + k * a->dst;
      }
    g->rows *= a->extent;
  }
}

/* Bytes of a unit that are of a vector: where they lie, where they go. */
typedef struct part {
  int32_t src, to, bytes;
} part;

/* The parts of the vector at byte b: how many. */
static int find_parts (part p[16], const mt_cpu_gather *g, int64_t b) {
  int64_t unit = b / g->unit, skip = b % g->unit;
  int n = 0;
  for (int32_t to = 0; to < 16; n++, unit++, skip = 0) {
    int64_t bytes = g->unit - skip < 16 - to ? g->unit - skip : 16 - to;
    p[n] = (part){(int32_t)(g->at[unit] + skip), to, (int32_t)bytes};
    to += (int32_t)bytes;
  }
  return n;
}

/* What a window has of the parts: the rest of them stays, how many. */
static int take_parts (window *w, part *p, int n) {
  int left = 0;
  memset(w->mask, 0x80, sizeof w->mask);
  for (int i = 0; i < n; i++) {
    part x = p[i];
    for (int32_t d = x.src - w->src; x.bytes > 0 && d < 16; d++) {
      w->mask[x.to++] = (uint8_t)d;
      x.src++, x.bytes--;
    }
    if (x.bytes > 0) p[left++] = x;
  }
  return left;
}

/* The windows of the vector at byte b, between low and high: how many; more than `most`:
** they are not all there. */
static int64_t find_windows (window *w, const mt_cpu_gather *g, int64_t b, int32_t low,
                             int32_t high, int64_t most) {
  part p[16];
  int left = find_parts(p, g, b);
  int64_t n = 0;
  for (; left != 0; n++) {
    if (n == most) return most + 1;
    int32_t src = p[0].src;
    for (int i = 1; i < left; i++)
      if (p[i].src < src) src = p[i].src;
    w[n].src = src < high - 16 ? src : high - 16;
    if (w[n].src < low) return most + 1;
    left = take_parts(&w[n], p, left);
  }
  return n;
}

/* A window more costs about as much as a unit that goes alone; units of 3, 5, 6 bytes go
** slower, those of 8 faster. */
static int64_t most_windows (const mt_cpu_gather *g) {
  if (g->unit == 8) return 1;
  int64_t most = 16 / g->unit * 3 / 4 + (is_power(g->unit) ? 1 : 3);
  return most < MT_WINDOWS ? most : MT_WINDOWS;
}

/* The vectors of a box; of a source that runs backwards the last one first. */
static void find_vectors (mt_cpu_gather *g) {
  const bool backwards = g->at[g->units - 1] < g->at[0];
  g->vectors = (g->bytes + 15) / 16;
  for (int64_t i = 0; i < g->vectors; i++) {
    int64_t at = 16 * (backwards ? g->vectors - 1 - i : i);
    g->to[i] = (int32_t)(at + 16 < g->bytes ? at : g->bytes - 16);
  }
}

/* Whether the units of the vectors at bytes a and b lie alike; *far: how much behind. */
static bool lie_alike (const mt_cpu_gather *g, int64_t a, int64_t b, int32_t *far) {
  const int32_t *x = g->at + a / g->unit, *y = g->at + b / g->unit;
  const int64_t n = (a % g->unit + 15) / g->unit + 1;
  *far = y[0] - x[0];
  if (a % g->unit != b % g->unit) return false;
  for (int64_t i = 1; i < n; i++)
    if (y[i] - x[i] != *far) return false;
  return true;
}

/* The n windows of a vector, so far away; false: one would end behind high, or begin
** before low. */
static bool move_windows (window *to, const window *from, int64_t n, int32_t far,
                          int32_t low, int32_t high) {
  for (int64_t i = 0; i < n; i++) {
    to[i] = from[i];
    to[i].src += far;
    if (to[i].src > high - 16 || to[i].src < low) return false;
  }
  return true;
}

/* A vector gets `most` windows: those that it lacks have no byte. */
static void fill_windows (window *w, int64_t n, int64_t most) {
  for (; n < most; n++) {
    w[n].src = w[0].src;
    memset(w[n].mask, 0x80, sizeof w[n].mask);
  }
}

/* The first and the last byte that a box reads, and 1 more. */
static void find_ends (const mt_cpu_gather *g, int32_t *low, int32_t *high) {
  *low = INT32_MAX, *high = INT32_MIN;
  for (int64_t i = 0; i < g->units; i++) {
    if (g->at[i] < *low) *low = g->at[i];
    if (g->at[i] > *high) *high = g->at[i];
  }
  *high += (int32_t)g->unit;
}

/* Those of vector v in *w; *like, a vector before it whose windows begin with bytes that
** are wanted, may have them already. How many; more than `most`: too many. */
static int64_t next_windows (window *w, const mt_cpu_gather *g, int64_t v, int64_t *like,
                             int64_t most, const int32_t end[2]) {
  int32_t far;
  if (*like >= 0 && lie_alike(g, g->to[*like], g->to[v], &far) &&
      move_windows(w, g->list + *like * MT_WINDOWS, g->count[*like], far, end[0], end[1]))
    return g->count[*like];
  int64_t n = find_windows(w, g, g->to[v], end[0], end[1], most);
  bool cut = false;
  for (int64_t i = 0; i < n && n <= most; i++) cut |= w[i].src == end[1] - 16;
  if (!cut) *like = v;
  return n;
}

/* Those of all vectors; g->windows stays 0 where they are too many. */
static void make_windows (mt_cpu_gather *g) {
  const int64_t limit = most_windows(g);
  int32_t end[2];
  int64_t most = 0, like = -1;
  find_ends(g, &end[0], &end[1]);
  for (int64_t v = 0; v < g->vectors; v++) {
    int64_t n = next_windows(g->list + v * MT_WINDOWS, g, v, &like, limit, end);
    if (n > limit) return;
    if (n > most) most = n;
    g->count[v] = (uint8_t)n;
  }
  for (int64_t v = 0; v < g->vectors; v++) {
    window *w = g->list + v * most;
    memmove(w, g->list + v * MT_WINDOWS, (size_t)g->count[v] * sizeof *w);
    fill_windows(w, g->count[v], most);
  }
  g->windows = most;
}

#ifdef MT_SHUFFLE
static bool has_shuffles (void) { return __builtin_cpu_supports("ssse3"); }
#else
static bool has_shuffles (void) { return false; }
#endif

size_t mt_cpu_gather_size (void) { return sizeof(mt_cpu_gather); }

void mt_cpu_gather_make (mt_cpu_gather *g, const mt_cpu_job *job) {
  memset(g, 0, offsetof(mt_cpu_gather, list));
  g->unit = job->boxes.unit, g->step = job->boxes.step;
  find_units(g, job);
  find_rows(g, job);
  g->bytes = g->units * g->unit;
  find_vectors(g);
  if (has_shuffles()) make_windows(g);
  g->lines = job->group ? mt_cpu_lines_of(g->line, MT_LINES, job) : 0;
}

/* Whether no axis outside of the boxes steps less far in the source than theirs do, by
** less than a line: lines would be met again and again. */
static bool is_local (const mt_cpu_job *job) {
  const mt_cpu_boxes *x = &job->boxes;
  const int i = nearest(job);
  if (i < 0 || size_of(job->outer[i].src) >= MT_LINE) return true;
  int64_t least = job->tile.a.src == 0 ? INT64_MAX : size_of(job->tile.a.src);
  for (int k = 0; k < x->ninner; k++)
    if (x->inner[k].src != 0 && size_of(x->inner[k].src) < least)
      least = size_of(x->inner[k].src);
  for (int k = 0; k < x->nrow; k++)
    if (size_of(x->row[k].src) < least) least = size_of(x->row[k].src);
  return least < size_of(job->outer[i].src);
}

/* Indices of the axis a that are a box of multiples of so many bytes: many, and where
** there are not many boxes so that few are left over; 0: there are too many in one. */
static int64_t step_of (const mt_cpu_axis *a, int64_t bytes, int64_t grain) {
  const int64_t most = MT_BOX / bytes;
  int64_t some = 1, best = 0;
  while (some * bytes % grain != 0) some++;
  if (a->extent > MT_MANYBOXES * most) return most / some * some;
  for (int64_t n = some; n <= most; n += some)
    if (best == 0 || (2 * n > most && a->extent % n <= a->extent % best)) best = n;
  return best;
}

/* Of whole lines, or vectors; 0: there are too few boxes. */
static int64_t whole_step (const mt_cpu_axis *a, int64_t bytes) {
  const int64_t lines = step_of(a, bytes, MT_LINE);
  if (a->extent * bytes < MT_TURN) return 0;
  return lines > 0 ? lines : step_of(a, bytes, MT_VECTOR);
}

/* Boxes that go past the caches are better whole vectors, of as many windows. */
static void make_vectors (mt_cpu_job *job, mt_cpu_gather *g) {
  const int64_t even = job->boxes.step, whole = whole_step(&job->tile.a, job->tile.unit);
  const int64_t windows = g->windows;
  const bool fast = windows > 0 ? windows <= MT_FEWWINDOWS : g->unit == 8;
  if (whole == 0 || job->boxes.nrow > 0 || !fast) return;
  job->boxes.step = whole;
  if (is_near(job)) mt_cpu_gather_make(g, job);
  if (!is_near(job) || g->windows != windows) job->boxes.step = even;
}

/* Whether windows have fewer than two units each. Boxes that follow one another along the
** source for long are as good as runs. */
static bool is_torn (const mt_cpu_job *job, int64_t windows) {
  const mt_cpu_axis *a = &job->tile.a;
  const int64_t unit = job->boxes.unit;
  const bool follow = size_of(a->src) == unit && a->extent * job->tile.unit >= MT_TURN;
  return !follow && unit < 8 && windows * 2 * unit > 16;
}

mt_cpu_boxed mt_cpu_plan_gather (mt_cpu_job *job, bool near) {
  mt_cpu_gather g;
  memset(&job->boxes, 0, sizeof job->boxes);
  job->boxes.unit = job->tile.unit;
  if (job->boxes.unit > 16 || !take_run(job) || !is_near(job)) return MT_BOXED_NOT;
  if (!near) take_rows(job);
  mt_cpu_gather_make(&g, job);
  const int64_t windows = g.windows;
  make_vectors(job, &g);
  if (windows == 0) return near || is_local(job) ? MT_BOXED_ALONE : MT_BOXED_NOT;
  return is_torn(job, windows) ? MT_BOXED_TORN : MT_BOXED_SHUFFLED;
}
