/*
** ampere.c - products by cp.async and mma.sync: what they take, which row, what it is
** given.
** SPDX-License-Identifier: MIT
*/
#include <float.h>
#include <math.h>

#include "gemm/ampere.h"
#include "gemm/matrix.h"
#include "types/dtype.h"
#include "core/arith.h"
#include "core/error.h"

#define MT_AMPERE_ROW(finishes, name, core, a, b, sum, m, n, k, stages, warps_m,         \
                      warps_n, warps_k, major_a, major_b, speed)                         \
  {{MT_##a, MT_##b},                                                                     \
   MT_##sum,                                                                             \
   m,                                                                                    \
   n,                                                                                    \
   k,                                                                                    \
   stages,                                                                               \
   {warps_m, warps_n, warps_k},                                                          \
   {MT_MAJOR_##major_a, MT_MAJOR_##major_b},                                             \
   speed,                                                                                \
   finishes},
#define MT_AMPERE_KERNEL(...) MT_AMPERE_ROW(false, __VA_ARGS__)
#define MT_AMPERE_EPILOGUE(...) MT_AMPERE_ROW(true, __VA_ARGS__)
const mt_ampere_row mt_ampere_rows[] = {
#include "kernels/gemm/ampere.def"
};
const size_t mt_nampere_rows = sizeof mt_ampere_rows / sizeof mt_ampere_rows[0];

int mt_ampere_most_parts (const mt_ampere_row *r) {
  const uint32_t size = (uint32_t)mt_dtype_size(r->type[0]), n = mt_ampere_threads(r);
  const bool splits = MT_AMPERE_SPLITS(size, (uint32_t)r->m, r->n, r->k, r->stages, n);
  return splits ? MT_AMPERE_MOST_PARTS : 1;
}

uint32_t mt_ampere_shared (const mt_ampere_row *r) {
  const uint32_t size = (uint32_t)mt_dtype_size(r->type[0]);
  if (r->m == 1) return MT_AMPERE_ONE_ROW(r->n);
  const uint32_t ring = r->stages * MT_AMPERE_STAGE(size, r->m, r->n, r->k);
  const uint32_t sums =
      MT_AMPERE_PART(r->m, r->n, r->warps[0], (uint32_t)mt_dtype_size(r->sum));
  return ring > sums ? ring : sums;
}

/* ---------------------------------------------------------------- operands */

enum { LINE = 16, MOST = 1 << 27, GROUP = 8, FEW = 16 };

/* A mode's stride in bytes; 0 where there is nowhere to go. */
static int64_t pitch (const mt_matrix *x, int mode) {
  const int64_t steps = mode < 2 ? x->extent[mode] : x->batch;
  return steps == 1 ? 0 : x->stride[mode] * (int64_t)mt_dtype_size(x->dtype);
}

/* Whether this mode is made of lines of 16 bytes, aligned. */
static bool has_lines (const mt_matrix *x, int mode) {
  return mt_is_run(x, mode) && (uintptr_t)x->base % LINE == 0 &&
         pitch(x, 1 - mode) % LINE == 0 && pitch(x, 2) % LINE == 0;
}

static int64_t distance (int64_t n) { return n < 0 ? -n : n; }

/* Whether neighbours along K lie nearer than those along M or N. */
static bool is_along_k (const mt_matrix *x) {
  if (x->extent[0] == 1 || x->extent[1] == 1) return x->extent[0] == 1;
  return distance(pitch(x, 1)) <= distance(pitch(x, 0));
}

/* The same, and the last line of each is whole: copies of 4 and 8 bytes ask for no
** less. */
static bool has_whole_lines (const mt_matrix *x, int mode) {
  return has_lines(x, mode) &&
         x->extent[mode] * (int64_t)mt_dtype_size(x->dtype) % LINE == 0;
}

/* Of rows for any layout. */
static mt_ampere_way any_way (const mt_matrix *x) {
  if (mt_dtype_size(x->dtype) < 4)
    return mt_is_run(x, 1) ? MT_WAY_WINDOWS : MT_WAY_ALONG_MN;
  if (has_whole_lines(x, 0)) return MT_WAY_LINES;
  return is_along_k(x) ? MT_WAY_ALONG_K : MT_WAY_ALONG_MN;
}

/* Whether a row of this major takes the operand, and how: f32 along K by elements, along
** M or N by whole lines. */
static bool find_way (int32_t *out, const mt_matrix *x, int major) {
  const int mode = major == MT_MAJOR_K;
  const size_t size = mt_dtype_size(x->dtype);
  const bool lines = size == 8 ? has_whole_lines(x, mode) : has_lines(x, mode);
  *out = major == MT_MAJOR_ANY ? any_way(x) : MT_WAY_LINES;
  if (major == MT_MAJOR_ANY || (lines && size != 4)) return true;
  if (size == 4 && !mode) return has_whole_lines(x, 0);
  *out = mode ? MT_WAY_ALONG_K : MT_WAY_ALONG_MN;
  return size >= 4 && is_along_k(x) == mode;
}

/* A row for one of M reads neighbours along K, by lines if both have them, of which the
** last may be a part. */
static bool find_ways_of_one (mt_ampere_launch *l, const mt_matrix x[MT_PARTS]) {
  const bool lines = has_lines(&x[0], 1) && has_lines(&x[1], 1);
  for (int i = 0; i < 2; i++) l->operand[i].way = lines ? MT_WAY_LINES : MT_WAY_ALONG_K;
  return l->size[0] == 1 && is_along_k(&x[1]);
}

/* Of 8 bytes both come by lines, or both by elements. */
static bool find_ways (mt_ampere_launch *l, const mt_ampere_row *row,
                       const mt_matrix x[MT_PARTS]) {
  mt_ampere_operand *o = l->operand;
  if (row->m == 1) return find_ways_of_one(l, x);
  for (int i = 0; i < 2; i++)
    if (!find_way(&o[i].way, &x[i], row->major[i])) return false;
  if (mt_dtype_size(row->type[0]) != 8) return true;
  if (o[0].way == MT_WAY_LINES && o[1].way == MT_WAY_LINES) return true;
  if (MT_AMPERE_LINES_ALONE(8, row->n)) return false;
  for (int i = 0; i < 2; i++)
    o[i].way = row->major[i] == MT_MAJOR_K ? MT_WAY_ALONG_K : MT_WAY_ALONG_MN;
  return true;
}

static void put_operand (mt_ampere_operand *o, const mt_matrix *x) {
  *o = (mt_ampere_operand){.base = x->base, .extent = (int32_t)x->extent[0]};
  o->along = pitch(x, 0);
  o->k = pitch(x, 1);
  o->batch = pitch(x, 2);
  o->low = x->base;
  o->high = x->base + mt_dtype_size(x->dtype);
  for (int i = 0; i < 3; i++) {
    const int64_t last = ((i < 2 ? x->extent[i] : x->batch) - 1) * pitch(x, i);
    if (last < 0) o->low += last;
    else o->high += last;
  }
}

/* ---------------------------------------------------------------- results */

/* Four elements along N are one aligned access. */
static bool is_wide (const mt_matrix *c) {
  const size_t four = 4 * mt_dtype_size(c->dtype);
  return c->stride[1] == 1 && c->extent[1] % 4 == 0 &&
         (uintptr_t)c->base % (four < LINE ? four : LINE) == 0 && c->stride[0] % 4 == 0 &&
         c->stride[2] % 4 == 0;
}

/* Whether sums are stored as they are, by vectors. */
static bool stores_plain (mt_dtype sum, mt_dtype c) {
  return sum == c || (sum == MT_f32 && (c == MT_f16 || c == MT_bf16));
}

static void put_result (mt_ampere_launch *l, const mt_matrix *c, const mt_gemm_launch *p,
                        mt_dtype sum) {
  l->c = c->base;
  l->dtype = c->dtype;
  l->alpha = p->alpha;
  l->beta = p->beta;
  l->plain = !p->finishes && p->alpha == 1 && p->beta == 0 && stores_plain(sum, c->dtype);
  l->wide = l->plain && is_wide(c);
  for (int i = 0; i < 3; i++) l->stride[i] = c->stride[i];
}

/* ---------------------------------------------------------------- rows */

/* Sums of floats go to any float, of integers to i32. */
static bool has_types (const mt_ampere_row *r, const mt_matrix x[MT_PARTS],
                       bool finishes) {
  return r->finishes == finishes && r->type[0] == x[MT_A].dtype &&
         r->type[1] == x[MT_B].dtype &&
         (r->sum == MT_i32 ? x[MT_C].dtype == MT_i32 : mt_is_float_type(x[MT_C].dtype));
}

bool mt_ampere_has_streams (const mt_ampere_row *r) {
  const int size = (int)mt_dtype_size(r->type[0]), threads = (int)mt_ampere_threads(r);
  return MT_AMPERE_STREAMS(size, r->m, r->n, r->k, r->stages, threads, r->warps[2]);
}

static int64_t least (int64_t x, int64_t y) { return x < y ? x : y; }

static bool has_halves (const mt_ampere_row *r) {
  const int size = (int)mt_dtype_size(r->type[0]), threads = (int)mt_ampere_threads(r);
  return mt_ampere_has_streams(r) && MT_AMPERE_HALVES(size, r->m, r->n, threads);
}

/* Tiles of the last row and column that are halves, and what a half is. */
static void find_halves (mt_ampere *a) {
  mt_ampere_launch *l = &a->launch;
  const mt_ampere_row *r = a->row;
  l->half_m = l->half_n = 0;
  if (has_halves(r)) {
    l->half_m = l->size[0] - (l->tiles_m - 1) * r->m <= r->m / 2;
    l->half_n = l->size[1] - (l->tiles_n - 1) * r->n <= r->n / 2;
  }
  const int32_t each = l->half_m * l->tiles_n + l->half_n * (l->tiles_m - l->half_m);
  l->halves = each * (l->tiles / (l->tiles_m * l->tiles_n));
  l->half = (l->slabs + 1) / 2;
}

/* The row's own part of the launch, with K in so many parts. */
static bool shape (mt_ampere *a, const mt_ampere_row *row, int64_t batch, int parts) {
  mt_ampere_launch *l = &a->launch;
  const int64_t m = mt_div_up(l->size[0], row->m), n = mt_div_up(l->size[1], row->n);
  if (m > INT32_MAX / n || m * n > INT32_MAX / parts / batch) return false;
  l->slabs = (int32_t)mt_div_up(l->size[2], row->k);
  l->tiles_m = (int32_t)m;
  l->tiles_n = (int32_t)n;
  l->tiles = (int32_t)(m * n * batch);
  l->group = GROUP;
  l->parts = parts;
  a->row = row;
  a->shared = mt_ampere_shared(row);
  find_halves(a);
  return parts <= l->slabs;
}

/* ---------------------------------------------------------------- stream-K */

uint32_t mt_ampere_blocks (const mt_ampere *a) { return mt_ampere_blocks_of(&a->launch); }

/* Bytes of the sums of a tile. */
static size_t sums_of (const mt_ampere_row *r) {
  return mt_dtype_size(r->sum) * r->m * r->n;
}

size_t mt_ampere_memory (const mt_ampere *a) {
  const size_t sums = sums_of(a->row);
  const size_t blocks = (size_t)a->launch.streams;
  return blocks ? MT_AMPERE_FLAGS + blocks * sums : 0;
}

/* Of fewer tiles than half a round one round more: else many blocks have a tile. */
bool mt_ampere_share (mt_ampere *a, int64_t blocks) {
  mt_ampere_launch *l = &a->launch;
  l->streams = l->streamed = 0;
  if (blocks == 0 || l->parts > 1 || !mt_ampere_has_streams(a->row)) return false;
  const int64_t whole = l->tiles - l->halves;
  int64_t tiles = whole % blocks;
  if (2 * tiles + l->halves < blocks && whole > blocks) tiles += blocks;
  const int64_t all = tiles * l->slabs + (int64_t)l->halves * l->half;
  const int64_t streams = least(least(blocks, MT_AMPERE_MOST_STREAMS), all);
  if (tiles + l->halves == 0 || (l->halves == 0 && tiles % streams == 0)) return false;
  l->streams = (int32_t)streams;
  l->streamed = (int32_t)tiles;
  return true;
}

/* ---------------------------------------------------------------- time */

/* Microseconds of the sums of another part of K. */
static const double JOIN = 4.5;
/* Microseconds of stream-K: to begin; to pass the sums of a block through the L2, and to
** take those of a piece, of 64 KiB each; to turn to a piece. */
static const double GIVE = 3, PASS = 0.025, TAKE = 0.4, TURN = 0.3;
/* Of the time of a tile that of one of half the size. */
static const double HALF = 0.62;

/* Of f32, with 128 sums a thread. */
static bool is_twice (const mt_ampere_row *r) {
  return mt_dtype_size(r->type[0]) == 4 && r->m * r->n == 128 * (int)mt_ampere_threads(r);
}

/* Of its time what a block loses where a multiprocessor has no other one. Elements of 16
** bits that come one by one hold up small tiles: 68 products took 2.6 times as long. */
static double lost_alone (const mt_ampere_row *r, int64_t rounds) {
  const size_t size = mt_dtype_size(r->type[0]);
  if (size == 8) return r->n > 64 ? 0.15 : r->n == 64 ? 0.35 : rounds == 1 ? 0.6 : 0;
  if (size == 2 && r->major[0] == MT_MAJOR_ANY && r->n == 64 && rounds == 1) return 1.6;
  return is_twice(r) ? 0.10 : 0;
}

/* Of f32, blocks of two warps, of which a multiprocessor needs two to multiply with all
** of its units: rounds that fewer take as long as. */
static double least_rounds (const mt_ampere_row *r) {
  return mt_dtype_size(r->type[0]) == 4 && mt_ampere_threads(r) == 64 ? 2 : 1;
}

/* What a tile costs to begin and to end. Of f64 of 16 rows a multiprocessor has three. */
static double ends_of (const mt_ampere *a) {
  const mt_ampere_row *r = a->row;
  if (r->m == 1) return 0.3;
  if (mt_dtype_size(r->type[0]) == 8 && r->m == 16) return a->launch.wide ? 0.6 : 2;
  return a->launch.wide ? 3 : 10;
}

/* Microseconds: a launch, then of each multiprocessor its tiles one after another, each
** with what it costs to begin and to end: more where C is written by elements (18 us of a
** tile of two slabs, 3532 x 12225 x 80 of bf16 on an H200); less of those of one row, of
** which a multiprocessor has many at a time. */
static double predict (const mt_ampere *a, int cores) {
  const mt_ampere_row *r = a->row;
  const int parts = a->launch.parts;
  const double work = 2.0 * r->m * r->n * r->k * cores / r->speed * 1e-6;
  const double tiles = a->launch.tiles - (1 - HALF) * a->launch.halves;
  const int64_t rounds = (int64_t)ceil(tiles * parts / cores);
  const double alone = rounds % 2 != 0 ? lost_alone(r, rounds) : 0;
  const double slabs = (double)mt_div_up(a->launch.slabs, parts);
  return 3 + (fmax((double)rounds, least_rounds(r)) + alone) * slabs * work +
         (double)rounds * (ends_of(a) + (parts - 1) * JOIN);
}

/* The same of stream-K, where all blocks of a round have as much. Sums pass through the
** L2, and a block takes those of a tile one piece after another. Of f64 with a block for
** each multiprocessor some had two whole tiles besides, others none. */
static double predict_shared (const mt_ampere *a, int cores) {
  const mt_ampere_row *r = a->row;
  const mt_ampere_launch *l = &a->launch;
  const double work = 2.0 * r->m * r->n * r->k * cores / r->speed * 1e-6;
  const double rounds = (double)(l->tiles - l->halves - l->streamed) / cores;
  const double tiles = l->streamed + HALF * l->halves; /* that are shared */
  const double together = fmax((double)mt_div_up(l->streams, cores), least_rounds(r));
  const double shared = tiles / (double)l->streams * together;
  const double beside = mt_dtype_size(r->type[0]) == 8 ? rounds : 0;
  const double alone = together == 1 ? lost_alone(r, 1) * (shared + beside) : 0;
  const double pieces = (double)l->streams / (l->streamed + l->halves) + 1;
  const double ends = fmax(rounds + shared, 1) * (l->wide ? 3 : 10);
  return 3 + (rounds + shared + alone) * l->slabs * work + ends + GIVE +
         (l->streams * PASS + pieces * TAKE) * (double)sums_of(r) / 65536 + pieces * TURN;
}

/* By stream-K, where that takes less. */
static void choose_share (mt_ampere *a, int cores) {
  int64_t best = 0;
  a->us = predict(a, cores);
  const int64_t most = 2 * (int64_t)least_rounds(a->row) * cores;
  for (int64_t blocks = most; blocks >= 1; blocks /= 2) {
    if (!mt_ampere_share(a, blocks)) continue;
    const double us = predict_shared(a, cores);
    if (us < a->us) a->us = us, best = blocks;
  }
  mt_ampere_share(a, best);
}

static bool is_small (const mt_matrix x[MT_PARTS], const mt_gemm_launch *l,
                      const mt_reason *r) {
  for (int i = 0; i < 2; i++)
    if (x[MT_C].extent[i] > MOST || l->desc.size[MT_K] > MOST)
      return mt_refuse(r, "an extent is beyond 2^27");
  if (l->desc.size[MT_L] > INT32_MAX) return mt_refuse(r, "the batch is beyond 2^31");
  return true;
}

/* Types of rows for a few of M. */
static bool has_few (const mt_matrix x[MT_PARTS]) {
  return mt_dtype_size(x[MT_A].dtype) >= 4;
}

/* As the transpose: where C lies together along M, and where it is so narrow that rows
** for a few of M are fit, which there are of 4 and 8 bytes. */
static bool wants_turn (const mt_matrix x[MT_PARTS]) {
  const mt_matrix *c = &x[MT_C];
  if (c->stride[1] != 1 && c->stride[0] == 1) return c->extent[0] > FEW || !has_few(x);
  return c->extent[1] <= FEW && c->extent[0] > FEW && has_few(x);
}

/* What is the same for all rows. */
static bool begin (mt_ampere *a, mt_matrix x[MT_PARTS], const mt_gemm_launch *l,
                   const mt_reason *r) {
  *a = (mt_ampere){.us = DBL_MAX};
  if (!mt_read_product(x, l, r) || !is_small(x, l, r)) return false;
  if (wants_turn(x)) mt_turn_product(x);
  if (!mt_read_finish(&a->launch.finish, l, x[MT_A].part == MT_B, r)) return false;
  for (int i = 0; i < 2; i++) {
    put_operand(&a->launch.operand[i], &x[i]);
    a->launch.size[i] = (int32_t)x[MT_C].extent[i];
  }
  a->launch.size[2] = (int32_t)l->desc.size[MT_K];
  return true;
}

static bool take_row (mt_ampere *a, const mt_ampere_row *row, int parts,
                      const mt_matrix x[MT_PARTS], const mt_gemm_launch *l, int cores) {
  if (parts > mt_ampere_most_parts(row)) return false;
  if (!has_types(row, x, l->finishes)) return false;
  if (!find_ways(&a->launch, row, x)) return false;
  if (!shape(a, row, l->desc.size[MT_L], parts)) return false;
  put_result(&a->launch, &x[MT_C], l, row->sum);
  choose_share(a, cores);
  return true;
}

bool mt_ampere_take (mt_ampere *out, const mt_ampere_row *row, int parts,
                     const mt_gemm_launch *l, int cores) {
  char why[160] = "";
  mt_matrix x[MT_PARTS];
  return begin(out, x, l, &(mt_reason){why, sizeof why}) &&
         take_row(out, row, parts, x, l, cores);
}

int mt_ampere_choose (mt_ampere *out, const mt_gemm_launch *l, int cores, int most,
                      char *why, size_t size) {
  const mt_reason r = {why, size};
  mt_matrix x[MT_PARTS];
  mt_ampere a;
  int best = -1;
  if (!begin(&a, x, l, &r)) return -1;
  out->us = DBL_MAX;
  for (size_t i = 0; i < mt_nampere_rows; i++)
    for (int parts = 1; parts <= most; parts *= 2)
      if (take_row(&a, &mt_ampere_rows[i], parts, x, l, cores) && a.us < out->us)
        *out = a, best = (int)i;
  if (best < 0) mt_refuse(&r, "no row has these types");
  return best;
}
