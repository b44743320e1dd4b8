/*
** hopper.c - products by TMA and wgmma: what they take, which row, what it is given.
** SPDX-License-Identifier: MIT
*/
#include <math.h>

#include "gemm/hopper.h"
#include "gemm/matrix.h"
#include "core/arith.h"

enum { MAJOR_K, MAJOR_MN };
/* What an epilogue of more than 192 columns reads, by its ending. */
#define READS_MT_STORES MT_SIDE_NONE
#define READS_MT_FINISHES MT_SIDE_NONE
#define READS_MT_FINISHES_SIDES MT_SIDE_READ
#define READS_MT_FINISHES_MAPPED MT_SIDE_MAP
#define READS_MT_STORES_ROWS MT_SIDE_NONE
#define MT_HOPPER_ROW(ending, form, name, a, b, c, n, stages, cluster, major_a, major_b) \
  {{MT_##a, MT_##b, MT_##c},                                                             \
   n,                                                                                    \
   stages,                                                                               \
   cluster,                                                                              \
   {MAJOR_##major_a == MAJOR_MN, MAJOR_##major_b == MAJOR_MN},                           \
   (ending) != MT_STORES && (ending) != MT_STORES_ROWS,                                  \
   READS_##ending,                                                                       \
   MT_FORM_##form,                                                                       \
   (ending) == MT_STORES_ROWS},
#define MT_HOPPER_KERNEL(...) MT_HOPPER_ROW(MT_STORES, ANY, __VA_ARGS__)
#define MT_HOPPER_EPILOGUE(...) MT_HOPPER_ROW(MT_FINISHES, __VA_ARGS__)
#define MT_HOPPER_SIDES(...) MT_HOPPER_ROW(MT_FINISHES_SIDES, ANY, __VA_ARGS__)
#define MT_HOPPER_MAPPED(...) MT_HOPPER_ROW(MT_FINISHES_MAPPED, __VA_ARGS__)
#define MT_HOPPER_BY_ROWS(...) MT_HOPPER_ROW(MT_STORES_ROWS, ANY, __VA_ARGS__)
const mt_hopper_row mt_hopper_rows[] = {
#include "kernels/gemm/hopper.def"
};
const size_t mt_nhopper_rows = sizeof mt_hopper_rows / sizeof mt_hopper_rows[0];

/* ---------------------------------------------------------------- maps */

enum { ALIGN = 16 }; /* bytes, of bases and strides of a map */

/* Bytes from one index of the mode to the next. */
static bool find_pitch (uint64_t *out, const mt_matrix *x, int mode, int64_t inner,
                        const mt_reason *r) {
  const int64_t size = (int64_t)mt_dtype_size(x->dtype);
  const bool one = mode < 2 ? x->extent[mode] == 1 : x->batch == 1 || x->stride[2] == 0;
  int64_t bytes = x->stride[mode] * size;
  if (one) bytes = (inner * size + ALIGN - 1) / ALIGN * ALIGN;
  if (bytes <= 0 || bytes % ALIGN != 0 || bytes >= INT64_C(1) << 40)
    return mt_refuse(r,
                     "mode %d of %s has a stride of %lld bytes: TMA takes multiples of "
                     "%d",
                     mode + 1, x->name, (long long)bytes, ALIGN);
  *out = (uint64_t)bytes;
  return true;
}

/* The map whose axis 0 is the mode `inner`, in boxes of 128 bytes by `rows`. */
static bool make_map (mt_tma_box *out, const mt_matrix *x, int inner, uint32_t rows,
                      const mt_reason *r) {
  const size_t size = mt_dtype_size(x->dtype);
  const bool shared = x->stride[2] == 0;
  if (!mt_is_run(x, inner))
    return mt_refuse(r, "mode %d of %s is not contiguous", inner + 1, x->name);
  if ((uintptr_t)x->base % ALIGN != 0)
    return mt_refuse(r, "%s begins at no multiple of %d bytes", x->name, ALIGN);
  if (x->extent[0] > INT32_MAX || x->extent[1] > INT32_MAX || x->batch > INT32_MAX)
    return mt_refuse(r, "%s has an extent beyond 2^31", x->name);
  *out = (mt_tma_box){.dtype = x->dtype, .base = x->base};
  out->extent[0] = (uint64_t)x->extent[inner];
  out->extent[1] = (uint64_t)x->extent[1 - inner];
  out->extent[2] = shared ? 1 : (uint64_t)x->batch;
  out->box[0] = (uint32_t)(MT_SLAB / size);
  out->box[1] = rows;
  out->box[2] = 1;
  return find_pitch(&out->stride[0], x, 1 - inner, x->extent[inner], r) &&
         find_pitch(&out->stride[1], x, 2, x->extent[0] * x->extent[1], r);
}

/* A of (M,K) or B of (N,K): rows of K, or, of a type of 16 bits, of M or N. */
static bool make_operand (mt_tma_box *out, bool *mn, const mt_matrix *x,
                          const mt_reason *r) {
  const bool wide = mt_dtype_size(x->dtype) != 2;
  *mn = !mt_is_run(x, 1);
  if (*mn && wide)
    return mt_refuse(r, "K of %s is not contiguous, which %s wants", x->name,
                     mt_dtype_name(x->dtype));
  return make_map(out, x, *mn ? 0 : 1, MT_SLAB / 2, r);
}

/* ---------------------------------------------------------------- shapes */

enum { GROUP = 16 }; /* rows of tiles whose columns are walked together */

/* Clusters of so many blocks that run at a time: larger ones do not fill every group of
** multiprocessors. */
static int at_once (int cores, int blocks) {
  const int n = cores / blocks;
  return blocks > 2 ? n - (n + 7) / 8 : n;
}

/* What a box has of the operand's last rows, which are read by eights: a swizzle repeats
** after as many. */
static void shape_edges (mt_hopper *h, const mt_hopper_row *row) {
  enum { EACH = 8 };
  mt_hopper_launch *l = &h->launch;
  l->edges = l->terms == 1;
  for (int i = 0; i < 2; i++) {
    const int32_t last = l->size[i] % (int32_t)h->map[i].box[1];
    l->edge[i] = l->edges && !row->mn[i] ? (last + EACH - 1) / EACH * EACH : 0;
  }
}

/* The row's own part of the launch, with K in so many parts. */
static bool shape (mt_hopper *h, const mt_hopper_row *row, int64_t k, int64_t batch,
                   int parts, int cores) {
  mt_hopper_launch *l = &h->launch;
  const int64_t depth = MT_SLAB / (int64_t)mt_dtype_size(row->type[MT_A]);
  const int64_t m = mt_div_up(l->size[0], MT_TILE_M * row->cluster);
  const int64_t n = mt_div_up(l->size[1], row->n);
  if (m > INT32_MAX / n || m * n > INT32_MAX / batch) return false;
  l->slabs = (int32_t)mt_div_up(k, depth) * l->terms;
  l->tiles_m = (int32_t)m;
  l->tiles_n = (int32_t)n;
  l->tiles = (int32_t)(m * n * batch);
  l->group = GROUP / row->cluster;
  l->parts = parts;
  h->map[MT_A].box[1] = row->mn[0] ? (uint32_t)depth : MT_TILE_M;
  h->map[MT_B].box[1] = row->mn[1] ? (uint32_t)depth : (uint32_t)(row->n / row->cluster);
  for (int i = 0; i < 2; i++) h->rest_map[i].box[1] = h->map[i].box[1];
  shape_edges(h, row);
  h->shared = MT_HOPPER_SHARED(row->n, row->stages, row->cluster);
  h->cluster = (uint32_t)(row->cluster * parts);
  const int clusters = at_once(cores, (int)h->cluster);
  h->blocks = (uint32_t)(l->tiles < clusters ? l->tiles : clusters) * h->cluster;
  return parts <= l->slabs;
}

/* ---------------------------------------------------------------- prediction */

/* Microseconds of a launch; of a slab where half of the multiprocessors are busy at most,
** 1 + full (b - 1/2) times as long where a part b of them is; of the rest of a
** tile; of the sums that blocks of a cluster send, for each time that they are twice as
** many. By the width of the tile; of a cluster the widest first. Of 8 bits products take
** half as long: what the L2 gives counts. Fitted on an H200 to all ways of 250 products,
** of random sizes and of those that people have (bench/small.lua). */
static const struct cost {
  int n, cluster;
  double launch, slab, full, tile, part;
} costs_of_words[] = {{256, 2, 3.87, 0.607, 0.25, 0.63, 0},
                      {256, 1, 2.95, 0.595, 0.40, 0.50, 0},
                      {192, 1, 2.00, 0.489, 0.13, 1.43, 0},
                      {128, 2, 2.58, 0.314, 0.26, 1.21, 0},
                      {128, 1, 2.60, 0.351, 0.23, 1.11, 1.25},
                      {64, 1, 2.70, 0.261, 0.15, 0.83, 0.48},
                      {16, 1, 2.65, 0.271, 0.10, 0.81, 0.41}};
static const struct cost costs_of_bytes[] = {{256, 2, 2.85, 0.606, 0.28, 1.60, 0},
                                             {256, 1, 1.67, 0.639, 0.19, 2.15, 0},
                                             {192, 1, 1.38, 0.485, 0.31, 2.35, 0},
                                             {128, 2, 2.19, 0.322, 0.23, 1.70, 0},
                                             {128, 1, 2.82, 0.357, 0.22, 1.37, 1.15},
                                             {64, 1, 2.49, 0.250, 0.15, 1.10, 0.62},
                                             {16, 1, 2.68, 0.269, 0.19, 0.96, 0.41}};
enum { NCOSTS = sizeof costs_of_words / sizeof *costs_of_words };
_Static_assert(NCOSTS == sizeof costs_of_bytes / sizeof *costs_of_bytes,
               "each width has both costs");
/* Bytes a microsecond: of what is packed; of what goes to wide tiles; of what streams by,
** of which a second tile finds a part in the L2. */
static const double memory_speed = 4.2e6, wide_speed = 3.75e6, stream_speed = 4.1e6;
static const double again_cost = 0.6;
static const double both_cost = 0.03;  /* of memory and products beside each other */
static const double pack_cost = 2.5;   /* of a launch besides what it moves */
static const double rows_cost = 0.025; /* of a column of a tile, by rows of D */
static const double far_cost = 0.26;   /* the same, where columns of D lie apart */
/* Of an activation and a side by a map where each block has one tile: what runs once is
** fetched first. 2048^3 of bf16 with gelu took 5 us less by a kernel that reads. */
static const double once_cost = 5;

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

/* Those of memory. */
static double moving (const mt_hopper *h, const mt_hopper_row *row,
                      const mt_matrix x[MT_PARTS]) {
  const double bytes = bytes_of(x);
  if (row->n > 16) return bytes / wide_speed;
  return bytes * (1 + again_cost * (h->launch.tiles_n - 1)) / stream_speed;
}

static double predict (const mt_hopper *h, const mt_hopper_row *row,
                       const mt_matrix x[MT_PARTS], int cores) {
  const struct cost c = cost_of(row);
  const mt_hopper_launch *l = &h->launch;
  const int64_t waves = mt_div_up(l->tiles, at_once(cores, (int)h->cluster));
  const double busy = (double)l->tiles * h->cluster / ((double)waves * cores);
  const double slab = c.slab * (1 + c.full * fmax(0, busy - 0.5));
  double tile = (double)mt_div_up(l->slabs, l->parts) * slab + c.tile +
                c.part * log2((double)l->parts);
  const bool far = l->stride[1] != 1 && MT_HOPPER_STORES(row->n);
  if (l->direct) tile += (far ? far_cost : rows_cost) * row->n;
  if (row->side == MT_SIDE_MAP && waves == 1 && l->finish.form.form != MT_FORM_LINEAR)
    tile += once_cost;
  const double products = (double)waves * tile, moves = moving(h, row, x);
  const double more = fmax(products, moves), less = fmin(products, moves);
  return c.launch + more + both_cost * less * less / more + packing(h, x);
}

/* ---------------------------------------------------------------- launches */

static void make_result (mt_hopper *h, const mt_matrix *c, const mt_gemm_launch *p) {
  mt_hopper_launch *l = &h->launch;
  char unused[160] = "";
  l->alpha = p->alpha;
  l->beta = p->beta;
  l->c = c->base;
  for (int i = 0; i < 3; i++) l->stride[i] = c->stride[i];
  for (int i = 0; i < 2; i++) l->size[i] = (int32_t)c->extent[i];
  l->dtype = (int32_t)c->dtype;
  h->has_map =
      make_map(&h->map[MT_C], c, 1, MT_WARP_ROWS, &(mt_reason){unused, sizeof unused});
}

/* Whether C or the residual may be read by a map. */
static void make_side (mt_hopper *h, const mt_matrix *c) {
  const mt_finishing_side *s = &h->launch.finish.side[MT_RESIDUAL];
  const bool reads = h->launch.beta != 0;
  char unused[160] = "";
  mt_matrix x = *c;
  h->has_side = h->has_map && mt_dtype_size(c->dtype) == 2 && reads == (s->base == NULL);
  if (reads || !h->has_side) return;
  x.dtype = (mt_dtype)s->dtype;
  x.base = (char *)(uintptr_t)s->base;
  for (int i = 0; i < 3; i++) x.stride[i] = s->stride[i];
  h->launch.side_step = s->stride[2] != 0;
  h->has_side = mt_dtype_size(x.dtype) == 2 &&
                make_map(&h->side_map, &x, 1, MT_WARP_ROWS, &(mt_reason){unused, 160});
}

/* Whether neighbours of a row lie together, in places that one access takes. */
static bool has_pairs (const void *base, int32_t dtype, const int64_t stride[3]) {
  const int64_t size = (int64_t)mt_dtype_size((mt_dtype)dtype);
  return size <= 4 && stride[1] == 1 && stride[0] % 2 == 0 && stride[2] % 2 == 0 &&
         (uintptr_t)base % (size_t)(2 * size) == 0;
}

/* Whether the epilogue finds what it reads where sums are: a bias of rows or of columns;
** C or the residual, by pairs of columns. */
static bool finishes_in_place (const mt_hopper_launch *l) {
  const mt_finishing_side *bias = &l->finish.side[MT_BIAS];
  const mt_finishing_side *other = &l->finish.side[MT_RESIDUAL];
  if (bias->base && bias->stride[0] != 0 && bias->stride[1] != 0) return false;
  if (l->beta == 0 && other->base == NULL) return true;
  if (l->size[1] % 2 != 0 || (l->beta != 0 && other->base)) return false;
  return l->beta != 0 ? has_pairs(l->c, l->dtype, l->stride) :
                        has_pairs(other->base, other->dtype, other->stride);
}

/* Whether D is written by rows, not by its map, which kernels without an epilogue do only
** where nothing of C is read. */
static bool goes_by_rows (const mt_hopper *h, const mt_hopper_row *row) {
  const mt_hopper_launch *l = &h->launch;
  if (!h->has_map || !MT_HOPPER_STORES(row->n)) return true;
  if (row->finishes) return !finishes_in_place(l);
  return l->beta != 0 || (l->dtype == MT_f32 && (double)(float)l->alpha != l->alpha);
}

/* A map steps forward only. */
static bool runs_forward (const mt_matrix *x, const mt_reason *r) {
  for (int i = 0; i < 3; i++)
    if (x->stride[i] < 0)
      return mt_refuse(r, "mode %d of %s runs backwards", i + 1, x->name);
  return true;
}

/* Whether TMA takes the tensor as it is: A and B by a map, C in some way. */
static bool suits (const mt_matrix *x, const mt_reason *r) {
  mt_tma_box box;
  bool mn;
  return runs_forward(x, r) && (x->part == MT_C || make_operand(&box, &mn, x, r));
}

/* The tensor as rows of its second mode in memory of their own, which begins at 0; those
** of each batch, unless all have the same. */
static void copy_rows (mt_matrix *x, const mt_gemm_launch *l) {
  const int64_t each = MT_SLAB / (int64_t)mt_dtype_size(x->dtype);
  const int64_t rows = l->desc.size[x->part == MT_B ? MT_N : MT_M];
  const int64_t columns = l->desc.size[x->part == MT_C ? MT_N : MT_K];
  x->base = NULL;
  x->stride[0] = mt_div_up(columns, each) * each;
  x->stride[1] = 1;
  x->stride[2] = l->desc.part[x->part].ndigit[2] ? rows * x->stride[0] : 0;
}

/* What is a matrix with rows is packed with the other operand, what is none is copied. */
static void pack (mt_hopper *h, mt_matrix *x, bool matrix, const mt_gemm_launch *l) {
  const bool first = mt_dtype_size(x->dtype) == 2;
  if (!matrix || x->part == MT_C || !mt_pack_matrix(&h->pack.operand[x->part], x, first))
    copy_rows(x, l);
  h->pitch[x->part] = x->stride[0] == 1 ? x->stride[1] : x->stride[0];
}

/* A row with an epilogue takes any of its results. */
static bool has_types (const mt_hopper_row *row, mt_dtype a, mt_dtype b, mt_dtype c) {
  const bool any = row->finishes && (c == MT_f16 || c == MT_bf16 || c == MT_f32);
  return row->type[MT_A] == a && row->type[MT_B] == b && (any || row->type[MT_C] == c);
}

/* Whether C or a residual is read. */
static bool has_side (const mt_gemm_launch *l) {
  return l->beta != 0 || l->beside_base[MT_RESIDUAL] != NULL;
}

/* What has an epilogue goes through a row with one; what reads C of 16 bits, for which
** floats are enough, may. */
static bool fits (const mt_hopper *h, const mt_hopper_row *row,
                  const mt_matrix x[MT_PARTS], const bool mn[2],
                  const mt_gemm_launch *l) {
  const bool must = l->finishes != 0;
  const bool may = must || (l->beta != 0 && mt_dtype_size(x[MT_C].dtype) == 2);
  const int form = h->launch.finish.form.form;
  if (row->finishes && !mt_hopper_ends(row, has_side(l), form)) return false;
  if (row->side == MT_SIDE_MAP && !h->has_side) return false;
  return (row->finishes ? may : !must) &&
         has_types(row, x[MT_A].dtype, x[MT_B].dtype, x[MT_C].dtype) &&
         row->mn[0] == mn[0] && row->mn[1] == mn[1];
}

static bool has_row (const mt_part part[MT_PARTS], bool finishes) {
  for (const mt_hopper_row *r = mt_hopper_rows; r < mt_hopper_rows + mt_nhopper_rows; r++)
    if (r->finishes == finishes &&
        has_types(r, (mt_dtype)part[MT_A].dtype, (mt_dtype)part[MT_B].dtype,
                  (mt_dtype)part[MT_C].dtype))
      return true;
  return false;
}

/* The matrices of the product; what is none that TMA takes is packed. */
static bool read_product (mt_hopper *h, mt_matrix x[MT_PARTS], const mt_gemm_launch *l,
                          const mt_reason *r) {
  if (!has_row(l->desc.part, l->finishes))
    return mt_refuse(r, "no row has these types%s",
                     l->finishes ? " and an epilogue" : "");
  if (l->desc.part[MT_C].dtype == MT_i32 && (l->alpha != 1 || l->beta != 0))
    return mt_refuse(r, "integers are not scaled");
  if (l->desc.part[MT_A].dtype == MT_f32 && l->precision == MT_PRECISION_FULL)
    return mt_refuse(r, "f32 is read as tf32 with precision = \"tf32\" or \"3xtf32\"");
  for (int part = 0; part < MT_PARTS; part++) {
    const mt_reason line = {h->why[part], sizeof h->why[part]};
    const bool matrix = mt_read_matrix(&x[part], l, part, &line);
    if (!matrix || !suits(&x[part], &line)) pack(h, &x[part], matrix, l);
  }
  if (!mt_has_elements(x, l, r)) return false;
  if (x[MT_C].stride[1] != 1 && x[MT_C].stride[0] == 1) mt_turn_product(x);
  return true;
}

/* The best so far, of the row; among all, or of one row and so many parts. */
typedef struct choice {
  mt_hopper *h;
  int row, only, parts; /* -1: none yet, any; 0: any */
} choice;

static void try_row (choice *best, mt_hopper *h, int i, const mt_matrix x[MT_PARTS],
                     const mt_gemm_launch *l, int cores) {
  const mt_hopper_row *row = &mt_hopper_rows[i];
  const int most = MT_HOPPER_SPLITS(row->n, row->cluster) ? MT_HOPPER_MOST_PARTS : 1;
  h->row = row;
  h->launch.direct = goes_by_rows(h, row);
  if (MT_HOPPER_ONE_WAY(row->n) && h->launch.direct != row->by_rows) return;
  for (int parts = 1; parts <= most; parts *= 2) {
    if (best->parts != 0 && best->parts != parts) continue;
    if (!shape(h, row, l->desc.size[MT_K], l->desc.size[MT_L], parts, cores)) continue;
    h->us = predict(h, row, x, cores);
    if (best->row >= 0 && h->us >= best->h->us) continue;
    *best->h = *h;
    best->row = i;
  }
}

/* Rows of the operand's map, in memory of their own, which begins at 0. */
static bool make_rest (mt_hopper *h, int i) {
  enum { EACH = MT_SLAB / sizeof(float) };
  const mt_tma_box *from = &h->map[i];
  const int64_t pitch = mt_div_up((int64_t)from->extent[0], EACH) * EACH;
  mt_tma_box *to = &h->rest_map[i];
  *to = *from;
  to->base = NULL;
  to->stride[0] = (uint64_t)pitch * sizeof(float);
  to->stride[1] = to->stride[0] * from->extent[1];
  h->rest[i] = (mt_rest_launch){.columns = (uint32_t)from->extent[0],
                                .rows = (uint32_t)from->extent[1],
                                .all = (uint32_t)(from->extent[1] * from->extent[2]),
                                .from_pitch = (int64_t)(from->stride[0] / sizeof(float)),
                                .from_batch = (int64_t)(from->stride[1] / sizeof(float)),
                                .to_pitch = pitch};
  return from->extent[1] * from->extent[2] <= INT32_MAX;
}

/* All rows for the matrices, this way round. */
static void try_rows (choice *best, mt_hopper *h, const mt_matrix x[MT_PARTS],
                      const mt_gemm_launch *l, int cores, const mt_reason *r) {
  bool mn[2];
  for (int i = 0; i < 2; i++)
    if (!make_operand(&h->map[i], &mn[i], &x[i], r)) return;
  for (int i = 0; i < MT_PARTS; i++) h->part[i] = x[i].part;
  h->launch.terms = l->precision == MT_PRECISION_3XTF32 ? 3 : 1;
  for (int i = 0; i < 2 && h->launch.terms == 3; i++)
    if (!make_rest(h, i)) {
      mt_refuse(r, "%s has more than 2^31 rows", x[i].name);
      return;
    }
  if (!mt_read_finish(&h->launch.finish, l, x[MT_A].part == MT_B, r)) return;
  make_result(h, &x[MT_C], l);
  make_side(h, &x[MT_C]);
  h->launch.a_step = x[MT_A].stride[2] != 0;
  h->launch.b_step = x[MT_B].stride[2] != 0;
  mt_refuse(r, "no row has these types and majors");
  for (int i = 0; i < (int)mt_nhopper_rows; i++)
    if ((best->only < 0 || best->only == i) && fits(h, &mt_hopper_rows[i], x, mn, l))
      try_row(best, h, i, x, l, cores);
}

/* The operands as they are, and changed. */
static int search (choice *best, const mt_gemm_launch *l, int cores, const mt_reason *r) {
  char unused[160] = "";
  mt_matrix x[MT_PARTS];
  mt_hopper h = {.blocks = 0};
  if (!read_product(&h, x, l, r)) return -1;
  h.pack_row = mt_pack_shape(&h.pack, cores);
  try_rows(best, &h, x, l, cores, r);
  mt_turn_product(x);
  try_rows(best, &h, x, l, cores, &(mt_reason){unused, sizeof unused});
  return best->row;
}

int mt_hopper_choose (mt_hopper *out, const mt_gemm_launch *l, int cores, char *why,
                      size_t size) {
  choice best = {.h = out, .row = -1, .only = -1};
  return search(&best, l, cores, &(mt_reason){why, size});
}

bool mt_hopper_take (mt_hopper *out, int row, int parts, const mt_gemm_launch *l,
                     int cores) {
  char unused[160] = "";
  choice best = {.h = out, .row = -1, .only = row, .parts = parts};
  return search(&best, l, cores, &(mt_reason){unused, sizeof unused}) >= 0;
}
