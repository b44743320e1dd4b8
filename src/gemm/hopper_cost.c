/*
** hopper_cost.c - products by TMA and wgmma: how long a launch of a row takes.
** SPDX-License-Identifier: MIT
*/
#include <math.h>

#include "core/arith.h"
#include "gemm/hopper.h"
#include "gemm/hopper_cost.h"

/* Clusters of so many blocks that run at a time: larger ones do not fill every group of
** multiprocessors. The driver of an H200 says 66 of 2 blocks, 30 of 4, 15 of 8. */
int mt_hopper_at_once (int cores, int blocks) {
  const int n = cores / blocks;
  return blocks > 2 ? n - (n + 10) / 14 : n;
}

/* Microseconds of a launch; of a slab where half of the multiprocessors are busy at most,
** 1 + full (b - 1/2) times as long where a part b of them is; of the rest of a
** tile; of the sums that blocks of a cluster send, for each time that they are twice as
** many. By the width of the tile; of a cluster the widest first. Of 8 bits products take
** half as long: what the L2 gives counts. Of all ways of 270 products on an H200, random
** ones and those that people have (bench/small.lua), the cheapest by these takes 1.007 of
** the time of the fastest, 1.02 of 8 bits: they were fitted to that and to the times. */
static const struct cost {
  int n, cluster;
  double launch, slab, full, tile, part;
} costs_of_words[] =
    {{256, 2, 4.04, 0.601, 0.20, 0.49, 0},   {256, 1, 2.38, 0.599, 0.36, 0.13, 0},
     {192, 2, 2.10, 0.450, 0.20, 1.90, 0},   {192, 1, 1.72, 0.479, 0.24, 1.13, 0},
     {160, 2, 2.14, 0.365, 0.20, 1.94, 0},   {160, 1, 2.90, 0.400, 0.23, 1.30, 1.48},
     {128, 2, 2.54, 0.319, 0.18, 1.22, 0},   {128, 1, 1.83, 0.339, 0.29, 1.26, 1.38},
     {64, 1, 2.49, 0.207, 0.51, 0.54, 0.75}, {16, 1, 1.89, 0.311, 0.56, 0.64, 0.44}};
static const struct cost costs_of_bytes[] =
    {{256, 2, 3.05, 0.600, 0.08, 1.78, 0},   {256, 1, 1.68, 0.620, 0.08, 2.16, 0},
     {192, 2, 3.10, 0.450, 0.36, 1.60, 0},   {192, 1, 2.30, 0.468, 0.22, 1.56, 0},
     {160, 2, 3.12, 0.366, 0.36, 1.37, 0},   {160, 1, 2.29, 0.390, 0.29, 1.56, 1.34},
     {128, 2, 2.74, 0.326, 0.08, 1.35, 0},   {128, 1, 1.76, 0.315, 0.34, 1.76, 1.05},
     {64, 1, 2.66, 0.184, 0.28, 0.72, 0.98}, {16, 1, 2.12, 0.256, 0.09, 0.98, 0.62}};
enum { NCOSTS = sizeof costs_of_words / sizeof *costs_of_words };
_Static_assert(NCOSTS == sizeof costs_of_bytes / sizeof *costs_of_bytes,
               "each width has both costs");
/* Bytes a microsecond: of what is packed; of what goes to wide tiles; of what streams by,
** of which a second tile finds a part in the L2. */
static const double memory_speed = 4.2e6, wide_speed = 3.75e6, stream_speed = 4.1e6;
static const double again_cost = 0.6;
static const double both_cost = 0.03; /* of memory and products beside each other */
static const double pack_cost = 2.5;  /* of a launch besides what it moves */
/* Of a column of a tile that is not stored by a map: by rows; by words, where rows are
** aligned to half a word, or to words; where a map would do it while the next tile is
** multiplied; by rows whose columns lie apart. 442x8724x72 of bf16 took 8.2 us by a map,
** 9.9 and 10.2 by words, 13.6 by halves, 12.4 to 15.1 by rows. */
static const double rows_cost = 0.025, halves_cost = 0.012, words_cost = 0.004;
static const double late_cost = 0.005, far_cost = 0.26;
/* Of sums that are given by way of memory; where a group has no row of its own these come
** at its end, and another waits. */
static const double share_cost = 3.5, wait_cost = 6;
/* Of an activation and a side by a map where each block has one tile: what runs once is
** fetched first. 2048^3 of bf16 with gelu took 5 us less by a kernel that reads. */
static const double once_cost = 5;

/* Lines of 128 bytes a microsecond that a multiprocessor gets where rows of a slab begin
** inside of one, and touch two: 1024x4096x14344 of bf16 took .61 us a slab of 256 rows of
** such operands, .90 of 384; seven other products 680 to 790. Memory gives the more of
** them, a part of what is read besides. */
static const double lines_speed = 740, torn_cost = 0.25;

static double bytes_of_one (const mt_matrix *x) {
  return (double)mt_dtype_size(x->dtype) * (double)x->extent[0] * (double)x->extent[1] *
         (x->stride[2] == 0 ? 1 : (double)x->batch);
}

/* Bytes that memory gives or takes at least. */
static double bytes_of (const mt_matrix x[MT_PARTS]) {
  double bytes = 0;
  for (int part = 0; part < MT_PARTS; part++) bytes += bytes_of_one(&x[part]);
  return bytes;
}

/* Microseconds of what comes before the kernel and after it. */
static double packing (const mt_hopper *h, const mt_matrix x[MT_PARTS]) {
  double us = mt_packs(&h->pack) ? pack_cost : 0;
  for (int i = 0; i < MT_PARTS; i++) {
    const int part = x[i].part;
    const bool together = part != MT_C && h->pack.operand[part].all != 0;
    const int times = (h->pitch[part] != 0) + (i < 2 && h->launch.terms == 3);
    const double each = 2 * bytes_of_one(&x[i]) / memory_speed + pack_cost;
    us += times * each * (i == 2 && h->launch.beta != 0 ? 2 : 1);
    if (together) us -= pack_cost;
  }
  return us;
}

static double between (double x, double y, double share) { return x + (y - x) * share; }

/* Those of a tile: of a width that was not measured between its neighbours, so that a new
** row needs no more than its line. */
static struct cost cost_of (const mt_hopper_row *row) {
  const int n = row->n, cluster = row->cluster;
  const bool bytes = mt_dtype_size(row->type[MT_A]) == 1;
  const struct cost *const costs = bytes ? costs_of_bytes : costs_of_words;
  const struct cost *wider = NULL, *c = costs, *end = costs + NCOSTS;
  for (; c < end; c++) {
    if (c->cluster != cluster) continue;
    if (c->n == n || (c->n < n && wider == NULL)) return *c;
    if (c->n < n) break;
    wider = c;
  }
  if (c == end) return wider ? *wider : costs[0];
  const double share = (double)(wider->n - n) / (wider->n - c->n);
  return (struct cost){n,
                       cluster,
                       between(wider->launch, c->launch, share),
                       between(wider->slab, c->slab, share),
                       between(wider->full, c->full, share),
                       between(wider->tile, c->tile, share),
                       between(wider->part, c->part, share)};
}

/* Lines that 128 bytes of a row of the operand touch, in the mean of rows. */
static double lines_of_row (const mt_tma_box *map) {
  const int64_t apart = mt_gcd_of((int64_t)(map->stride[0] % MT_SLAB), MT_SLAB);
  if ((uintptr_t)map->base % (uint64_t)apart != 0) return 2;
  return 2 - (double)apart / MT_SLAB;
}

/* Those of memory. */
static double moving (const mt_hopper *h, const mt_hopper_row *row,
                      const mt_matrix x[MT_PARTS]) {
  double bytes = bytes_of(x);
  for (int i = 0; i < 2; i++)
    bytes += torn_cost * (lines_of_row(&h->map[i]) - 1) * bytes_of_one(&x[i]);
  if (row->n > 16) return bytes / wide_speed;
  return bytes * (1 + again_cost * (h->launch.tiles_n - 1)) / stream_speed;
}

/* Products and memory beside each other. */
static double beside (double products, double moves) {
  const double more = fmax(products, moves), less = fmin(products, moves);
  return more + both_cost * less * less / more;
}

/* Of a slab, those of rows that are there. */
static double lines_of_slab (const mt_hopper *h, const mt_hopper_row *row) {
  const mt_hopper_launch *l = &h->launch;
  const double m = (double)l->size[0] / l->tiles_m / row->cluster;
  const double n = (double)l->size[1] / l->tiles_n / row->cluster;
  return m * lines_of_row(&h->map[MT_A]) + n * lines_of_row(&h->map[MT_B]);
}

/* A slab where a part of the multiprocessors is busy. */
static double slab_of (const mt_hopper *h, const mt_hopper_row *row, struct cost c,
                       double busy) {
  const double us = c.slab * (1 + c.full * fmax(0, busy - 0.5));
  const bool inside = lines_of_row(&h->map[MT_A]) > 1 || lines_of_row(&h->map[MT_B]) > 1;
  return inside ? fmax(us, lines_of_slab(h, row) / lines_speed) : us;
}

/* By stream-K, where all blocks are busy. */
static double streaming (const mt_hopper *h, const mt_hopper_row *row,
                         const mt_matrix x[MT_PARTS], struct cost c) {
  const mt_hopper_launch *l = &h->launch;
  const int64_t groups = h->blocks / h->cluster / (uint32_t)l->tiles_n;
  const int64_t rows = l->tiles / l->tiles_n;
  const int64_t slabs = mt_div_up(rows * l->slabs, groups);
  const double slab = slab_of(h, row, c, 1);
  const double ends = (double)mt_div_up(rows, groups) * c.tile;
  const double shares = share_cost + (rows < groups ? wait_cost : 0);
  return beside((double)slabs * slab + ends, moving(h, row, x)) + shares;
}

/* Of a column of a tile, what storing it without a map costs. */
static double column_cost (const mt_hopper_row *row, const mt_hopper_launch *l) {
  const bool late = MT_HOPPER_ONE_WAY(row->n);
  if (l->direct == MT_BY_MAP) return 0;
  if (l->stride[1] != 1 && MT_HOPPER_STORES(row->n)) return far_cost;
  if (l->direct == MT_BY_ROWS) return rows_cost;
  return (l->d_width < 4 ? halves_cost : words_cost) + (late ? late_cost : 0);
}

double mt_hopper_predict (const mt_hopper *h, const mt_hopper_row *row,
                          const mt_matrix x[MT_PARTS], int cores) {
  const struct cost c = cost_of(row);
  const mt_hopper_launch *l = &h->launch;
  const int64_t at_once = mt_hopper_at_once(cores, (int)h->cluster);
  const bool groups = MT_HOPPER_STREAM_K(row->cluster, row->turned);
  const int64_t each = groups ? l->tiles_n : 1;
  const int64_t waves = mt_div_up(l->tiles / each, at_once / each);
  const double busy = (double)l->tiles * h->cluster / ((double)waves * cores);
  const double slab = slab_of(h, row, c, busy);
  if (l->streams) return c.launch + streaming(h, row, x, c) + packing(h, x);
  double tile = (double)mt_div_up(l->slabs, l->parts) * slab + c.tile +
                c.part * log2((double)l->parts);
  tile += column_cost(row, l) * row->n;
  if (row->side == MT_SIDE_MAP && waves == 1 && l->finish.form.form != MT_FORM_LINEAR)
    tile += once_cost;
  return c.launch + beside((double)waves * tile, moving(h, row, x)) + packing(h, x);
}
