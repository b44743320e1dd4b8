/*
** copy_turn.c - tiles whose sides run along different axes, through a local buffer.
** SPDX-License-Identifier: MIT
**
** A tile has a run of the destination, and at each of its elements a run of the source:
**
**   source       along b; W rows of W elements are W vectors
**   registers    these are transposed
**   buffer       along a, W rows
**   destination  rows of the buffer, along a
**
** Where every second element of the source is of the run, all are turned, and every
** second row of the buffer is written.
**
** A run may have several axes, if each goes on where the one before it ends: tables say
** where its elements lie on the other side. Its last axis is the tile's, of which a tile
** has some indices.
*/
#include "cpu/copy.h"
#include "core/error.h"
#include "core/simd.h"

/* A row of the buffer holds the tile's elements along a, and a line more: powers of two
** alias. */
enum {
  MT_BUFFER = 40 << 10,
  MT_SHORTROWS = 32 << 10, /* of it, that tiles with few rows or short ones take */
  MT_LINE = 64,
  MT_AHEAD = 64, /* rows of the source */
  MT_CELLS = 256 /* elements of a run, where the other is no vector */
};

static int64_t pitch_of (int64_t bytes) { return ((bytes + 63) & -64) + 64; }

/* ---------------------------------------------------------------- moving */

/* W elements of W rows, from `by` on, become W rows `to` bytes apart. */
#define MT_BLOCK(bits, W)                                                                \
  static inline void block_##bits(char *d, int64_t to, const char *const *row,           \
                                  int64_t by) {                                          \
    mt_v##bits x[W];                                                                     \
    MT_UNROLL for (int i = 0; i < W; i++) memcpy(&x[i], row[i] + by, 16);                \
    mt_turn_##bits(x);                                                                   \
    MT_UNROLL for (int i = 0; i < W; i++) memcpy(d + i * to, &x[i], 16);                 \
  }

/* Asks for n bytes of W rows some way on, or of the tile beside this one, which is next:
** a few bytes of many rows are nothing that a processor foresees. A macro, as gcc drops
** calls that do nothing but ask. */
#define MT_ASK(src, at, i, na, n, W)                                                     \
  {                                                                                      \
    const int64_t on = i + (na < 2 * MT_AHEAD ? na / 2 : MT_AHEAD);                      \
    const int64_t some = on < na ? on : on - na, beside = on < na ? 0 : (n);             \
    for (int64_t j = 0; j < (n); j += MT_LINE)                                           \
      for (int64_t k = some; k < some + W && k < na; k++)                                \
        mt_prefetch(src + at[k] + beside + j);                                           \
  }

/* na, nb >= W; the last blocks overlap the ones before. Rows of the buffer are `pitch`
** apart. */
#define MT_PACK(bits, W)                                                                 \
  static void pack_##bits(char *buf, int64_t pitch, const char *src, const int64_t *at,  \
                          int64_t na, int64_t nb) {                                      \
    for (int64_t i = 0; i < na; i += W) {                                                \
      MT_ASK(src, at, i, na, nb *(16 / W), W)                                            \
      if (i > na - W) i = na - W;                                                        \
      const char *row[W];                                                                \
      MT_UNROLL for (int k = 0; k < W; k++) row[k] = src + at[i + k];                    \
      for (int64_t j = 0; j < nb; j += W) {                                              \
        if (j > nb - W) j = nb - W;                                                      \
        block_##bits(buf + j * pitch + i * (16 / W), pitch, row, j * (16 / W));          \
      }                                                                                  \
    }                                                                                    \
  }

#ifdef MT_SIMD
MT_BLOCK(8, 16)
MT_BLOCK(16, 8)
MT_BLOCK(32, 4)
MT_BLOCK(64, 2)
MT_PACK(8, 16)
MT_PACK(16, 8)
MT_PACK(32, 4)
MT_PACK(64, 2)
static void pack_128 (char *buf, int64_t pitch, const char *src, const int64_t *at,
                      int64_t na, int64_t nb) {
  for (int64_t i = 0; i < na; i++)
    for (int64_t j = 0; j < nb; j++)
      memcpy(buf + j * pitch + i * 16, src + at[i] + j * 16, 16);
}
#endif

/* Units of `bytes`: how a tile is packed; two tiles, where rows of the destination are
** whole lines, and where they are not, so that longer rows pay. Measured. */
typedef void mt_pack (char *buf, int64_t pitch, const char *src, const int64_t *at,
                      int64_t na, int64_t nb);
typedef struct turner {
  int64_t bytes;
  mt_pack *pack;
  int64_t a[2], b[2];
} turner;

static const turner turners[] = {
#ifdef MT_SIMD
    {1, pack_8, {256, 512}, {128, 64}}, {2, pack_16, {256, 512}, {64, 32}},
    {4, pack_32, {64, 256}, {64, 32}},  {8, pack_64, {32, 128}, {32, 32}},
    {16, pack_128, {16, 64}, {16, 16}},
#endif
    {0, NULL, {0, 0}, {0, 0}}};

static const turner *turner_of (int64_t unit) {
  const turner *k = turners;
  while (k->bytes != 0 && k->bytes != unit) k++;
  return k->bytes ? k : NULL;
}

/* Elements that fill a vector, of either run. */
static int64_t least_of (int64_t unit) { return 16 / unit; }

/* Too few for vectors: one by one, along the longer run. */
#define MT_EACH(bytes)                                                                   \
  case bytes:                                                                            \
    for (int64_t i = 0; na < nb && i < na; i++)                                          \
      for (int64_t j = 0; j < nb; j++)                                                   \
        memcpy(dst + to[j] + i * (bytes), src + at[i] + j * far, bytes);                 \
    for (int64_t j = 0; na >= nb && j < nb; j++)                                         \
      for (int64_t i = 0; i < na; i++)                                                   \
        memcpy(dst + to[j] + i * (bytes), src + at[i] + j * far, bytes);                 \
    return;

static void move_each (const mt_cpu_tile *t, char *dst, const int64_t *to,
                       const char *src, const int64_t *at, int64_t na, int64_t nb) {
  const int64_t far = t->unit * (1 + t->gaps);
  switch (t->unit) {
    MT_EACH(1)
    MT_EACH(2)
    MT_EACH(4)
    MT_EACH(8)
    MT_EACH(16)
  }
}

/* Elements that lie equally far apart. */
static const int64_t *line_of (int64_t *at, int64_t step, int64_t n) {
  for (int64_t i = 0; i < n; i++) at[i] = i * step;
  return at;
}

/* Fewer runs than fill a vector: the last one is there again. */
static const int64_t *repeat_last (int64_t *to, const int64_t *at, int64_t n,
                                   int64_t least) {
  for (int64_t i = 0; i < least; i++) to[i] = at[i < n ? i : n - 1];
  return to;
}

static void turn (const mt_cpu_tile *t, const char *src, char *dst, int64_t na,
                  int64_t nb) {
  _Alignas(64) char buf[MT_BUFFER];
  int64_t line[2][MT_CPU_PLACES];
  const mt_cpu_places *k = t->places;
  const turner *how = turner_of(t->unit);
  if (k) na *= k->n[0], nb *= k->n[1];
  const int64_t *at = k ? k->at[0] : line_of(line[0], t->a.src, na);
  const int64_t *to = k ? k->at[1] : line_of(line[1], t->b.dst, nb);
  const int64_t least = least_of(t->unit), pitch = pitch_of(na * t->unit);
  const int64_t apart = 1 + t->gaps, rows = nb * apart - t->gaps;
  if (rows < least || na == 1) {
    move_each(t, dst, to, src, at, na, nb);
    return;
  }
  if (na < least) at = repeat_last(line[0], at, na, least);
  how->pack(buf, pitch, src, at, na < least ? least : na, rows);
  mt_cpu_put_rows(t, dst, to, buf, pitch * apart, na * t->unit, nb);
}

/* ---------------------------------------------------------------- tiles */

static int64_t min_of (int64_t a, int64_t b) { return a < b ? a : b; }

/* As many multiples of 16 elements along one side as the buffer has room for, where the
** other has so many. */
static int64_t rows_beside (int64_t unit, int64_t na) {
  return min_of(MT_SHORTROWS / pitch_of(na * unit) & -16, MT_CPU_PLACES);
}

static int64_t length_beside (int64_t unit, int64_t nb) {
  return min_of((MT_SHORTROWS / nb - 2 * MT_LINE) / unit & -16, MT_CPU_PLACES);
}

/* Elements of a tile along both runs, of so many that there are; whether the rows of the
** destination are whole lines. */
static void find_tile (int64_t tile[2], const turner *how, const int64_t all[2],
                       bool lines) {
  tile[0] = how->a[!lines], tile[1] = how->b[!lines];
  if (min_of(all[0], all[1]) < least_of(how->bytes)) {
    tile[0] = min_of(all[0], MT_CELLS), tile[1] = min_of(all[1], MT_CELLS);
    return;
  }
  if (all[0] < tile[0]) {
    const int64_t n = rows_beside(how->bytes, all[0]);
    if (n > tile[1]) tile[1] = n;
  } else if (all[1] < tile[1]) {
    const int64_t n = length_beside(how->bytes, all[1]);
    if (n > tile[0]) tile[0] = n;
  }
}

mt_cpu_move *mt_cpu_turner (int64_t unit, int64_t pitch, int64_t na, int64_t nb,
                            int64_t *ta, int64_t *tb) {
  const turner *how = turner_of(unit);
  int64_t tile[2];
  if (how == NULL) return NULL;
  find_tile(tile, how, (const int64_t[]){na, nb}, pitch % MT_LINE == 0);
  *ta = min_of(tile[0], na), *tb = min_of(tile[1], nb);
  return turn;
}

/* ---------------------------------------------------------------- runs */

static int64_t size_of (int64_t d) { return d < 0 ? -d : d; }

static int64_t stride_of (const mt_cpu_axis *a, int run) {
  return run == 0 ? a->dst : size_of(a->src);
}

/* The runs in the making: which axes they have, in turn, and elements. */
typedef struct runs {
  bool used[MT_MAXOUTER];
  int n[2], axis[2][MT_CPU_INNER];
  int64_t all[2];
} runs;

/* The axis that continues a run; -1: none that is not of the other one. */
static int next_of (const mt_cpu_job *job, const runs *r, int run) {
  const int64_t unit = job->tile.unit * (run == 0 ? 1 : 1 + job->tile.gaps);
  for (int i = 0; i < job->n && r->n[run] < MT_CPU_INNER; i++)
    if (!r->used[i] && stride_of(&job->outer[i], run) == r->all[run] * unit) return i;
  return -1;
}

/* Whether elements of the source lie together along an axis. */
static bool has_neighbours (const mt_cpu_job *job) {
  for (int i = 0; i < job->n; i++)
    if (stride_of(&job->outer[i], 1) == job->tile.unit) return true;
  return false;
}

/* The shorter one goes on first, until each is longer than any tile. False: one has less
** bytes than it has to. */
static bool find_runs (runs *r, const mt_cpu_job *job, int64_t least) {
  *r = (runs){.all = {1, 1}};
  for (;;) {
    int run = r->all[1] < r->all[0], i = next_of(job, r, run);
    if (i < 0) run = 1 - run, i = next_of(job, r, run);
    if (i < 0 || r->all[run] >= MT_CPU_PLACES) break;
    r->used[i] = true;
    r->axis[run][r->n[run]++] = i;
    r->all[run] *= job->outer[i].extent;
  }
  const int64_t unit = job->tile.unit, shorter = min_of(r->all[0], r->all[1]);
  const int64_t longer = r->all[0] + r->all[1] - shorter;
  return r->n[0] > 0 && r->n[1] > 0 && shorter * unit >= least && longer * unit >= 16;
}

/* Axes of the source's run that go backwards are turned round. */
static void turn_axes (mt_cpu_job *job, const runs *r) {
  for (int i = 0; i < r->n[1]; i++) {
    mt_cpu_axis *a = &job->outer[r->axis[1][i]];
    if (a->src > 0) continue;
    job->src += (a->extent - 1) * a->src;
    job->dst += (a->extent - 1) * a->dst;
    a->src = -a->src, a->dst = -a->dst;
  }
}

/* Whether what lies beside the destination's run is whole lines apart. */
static bool has_lines (const mt_cpu_job *job, const runs *r) {
  uint64_t all = (uint64_t)(uintptr_t)job->dst;
  for (int i = 0; i < r->n[1]; i++) all |= (uint64_t)job->outer[r->axis[1][i]].dst;
  return all % MT_LINE == 0;
}

/* Pieces of c indices of an axis at most, as equal as they can be, of lines if there are
** several in one. */
static int64_t even (int64_t extent, int64_t c) {
  enum { MT_MANY = 64 };
  if (c >= extent) return extent;
  const int64_t pieces = (extent - 1) / c + 1, n = (extent - 1) / pieces + 1;
  const int64_t many = (n + MT_MANY - 1) & -MT_MANY;
  return many <= c ? many : n;
}

/* Whole axes of a run, and the one of which a tile has some indices: how many. */
static int64_t take_run (mt_cpu_job *job, const runs *r, int run, int64_t tile) {
  mt_cpu_runs *x = &job->runs;
  int64_t n = 1;
  for (int i = 0;; i++) {
    const mt_cpu_axis a = job->outer[r->axis[run][i]];
    const bool last = i + 1 == r->n[run] || n * a.extent * 2 > tile;
    if (!last) {
      x->axis[run][x->n[run]++] = a;
      n *= a.extent;
      continue;
    }
    *(run == 0 ? &job->tile.a : &job->tile.b) = a;
    return even(a.extent, tile / n > 1 ? tile / n : 1);
  }
}

/* What no run took stays outside of it. */
static void drop_axes (mt_cpu_job *job, const runs *r) {
  bool inside[MT_MAXOUTER] = {false};
  for (int run = 0; run < 2; run++)
    for (int i = 0; i <= job->runs.n[run]; i++) inside[r->axis[run][i]] = true;
  int n = 0;
  for (int i = 0; i < job->n; i++)
    if (!inside[i]) job->outer[n++] = job->outer[i];
  job->n = n;
}

/* The same where the run of the source has gaps: these are turned with it. */
static void find_gapped (int64_t tile[2], const turner *how, const mt_cpu_job *job,
                         const runs *r) {
  const int64_t apart = 1 + job->tile.gaps;
  find_tile(tile, how, (const int64_t[]){r->all[0], r->all[1] * apart},
            has_lines(job, r));
  tile[1] = tile[1] > apart ? tile[1] / apart : 1;
}

bool mt_cpu_plan_turn (mt_cpu_job *job, int64_t least, int64_t gaps, const char *name,
                       mt_refusals *why) {
  const turner *how = turner_of(job->tile.unit);
  runs r;
  int64_t tile[2];
  job->tile.gaps = gaps;
  if (how == NULL) {
    mt_refusals_add(why, name, "units of %lld bytes", (long long)job->tile.unit);
    return false;
  }
  if ((gaps > 0 && has_neighbours(job)) || !find_runs(&r, job, least)) {
    mt_refusals_add(why, name, "no two runs of %lld bytes, one of each side",
                    (long long)least);
    return false;
  }
  turn_axes(job, &r);
  find_gapped(tile, how, job, &r);
  job->runs = (mt_cpu_runs){.n = {0, 0}};
  job->ta = take_run(job, &r, 0, tile[0]);
  job->tb = take_run(job, &r, 1, tile[1]);
  drop_axes(job, &r);
  job->move = turn;
  return true;
}

/* ---------------------------------------------------------------- tables */

size_t mt_cpu_places_size (void) { return sizeof(mt_cpu_places); }

/* Where the elements of axes lie: side 0 the source. */
static int64_t fill (int64_t *at, const mt_cpu_axis *axis, int count, mt_cpu_axis last,
                     int64_t indices, int side) {
  int64_t n = 1;
  at[0] = 0;
  for (int i = 0; i <= count; i++) {
    const mt_cpu_axis a = i < count ? axis[i] : last;
    const int64_t step = side == 0 ? a.src : a.dst, e = i < count ? a.extent : indices;
    for (int64_t k = 1; k < e; k++)
      for (int64_t j = 0; j < n; j++) at[k * n + j] = at[j] + k * step;
    n *= e;
  }
  return n / indices;
}

void mt_cpu_row_places (mt_cpu_places *k, const mt_cpu_job *job) {
  const mt_cpu_runs *x = &job->runs;
  const mt_cpu_axis last = {1, 0, 0};
  k->n[0] = fill(k->at[0], x->axis[0], x->n[0], last, 1, 0);
  fill(k->at[1], x->axis[0], x->n[0], last, 1, 1);
}

void mt_cpu_turn_places (mt_cpu_places *k, const mt_cpu_job *job) {
  const mt_cpu_runs *x = &job->runs;
  k->n[0] = fill(k->at[0], x->axis[0], x->n[0], job->tile.a, job->ta, 0);
  k->n[1] = fill(k->at[1], x->axis[1], x->n[1], job->tile.b, job->tb, 1);
}
