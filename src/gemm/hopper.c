/*
** hopper.c - products by TMA and wgmma: what they take, which row, what it is given.
** SPDX-License-Identifier: MIT
*/
#include "gemm/hopper.h"
#include "gemm/hopper_cost.h"
#include "gemm/matrix.h"
#include "core/arith.h"

enum { MAJOR_K, MAJOR_MN };
/* What an epilogue of more than 192 columns reads, by its ending. */
#define READS_MT_STORES MT_SIDE_NONE
#define READS_MT_FINISHES MT_SIDE_NONE
#define READS_MT_FINISHES_SIDES MT_SIDE_READ
#define READS_MT_FINISHES_MAPPED MT_SIDE_MAP
#define READS_MT_STORES_ROWS MT_SIDE_NONE
#define READS_MT_STORES_TURNED MT_SIDE_NONE
#define READS_MT_FINISHES_TURNED MT_SIDE_NONE
#define MT_HOPPER_ROW(ending, form, name, a, b, c, n, stages, cluster, major_a, major_b) \
  {{MT_##a, MT_##b, MT_##c},                                                             \
   n,                                                                                    \
   stages,                                                                               \
   cluster,                                                                              \
   {MAJOR_##major_a == MAJOR_MN, MAJOR_##major_b == MAJOR_MN},                           \
   (ending) != MT_STORES && (ending) != MT_STORES_ROWS && (ending) != MT_STORES_TURNED,  \
   READS_##ending,                                                                       \
   MT_FORM_##form,                                                                       \
   (ending) == MT_STORES_ROWS,                                                           \
   MT_HOPPER_TURNED(ending)},
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

/* What a box has of the operand's last rows, which are read by eights: a swizzle repeats
** after as many. */
static void shape_edges (mt_hopper *h, const mt_hopper_row *row) {
  enum { EACH = 8 };
  mt_hopper_launch *l = &h->launch;
  l->edges = l->terms == 1 &&
             (l->size[0] % (MT_TILE_M * row->cluster) != 0 || l->size[1] % row->n != 0);
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
  h->shared = MT_HOPPER_SHARED(row->n, row->stages, row->cluster, row->turned);
  h->cluster = (uint32_t)(row->cluster * parts);
  return mt_hopper_share(h, false, cores) && parts <= l->slabs;
}

/* ---------------------------------------------------------------- stream-K */

bool mt_hopper_share (mt_hopper *h, bool streams, int cores) {
  mt_hopper_launch *l = &h->launch;
  const int64_t clusters = mt_hopper_at_once(cores, (int)h->cluster);
  const bool may = MT_HOPPER_STREAM_K(h->row->cluster, h->row->turned);
  const int64_t each = may ? l->tiles_n : 1, rows = l->tiles / each;
  const int64_t groups = clusters / each, all = streams ? rows * l->slabs : rows;
  const int64_t blocks = (all < groups ? all : groups) * each * h->cluster;
  if (groups == 0 || (streams && (!may || rows * l->slabs > INT32_MAX ||
                                  blocks > MT_HOPPER_MOST_BLOCKS || rows % groups == 0)))
    return false;
  l->streams = streams;
  h->blocks = (uint32_t)blocks;
  return true;
}

size_t mt_hopper_memory (const mt_hopper *h) {
  const size_t sums = MT_TILE_M * (size_t)h->row->n * sizeof(float);
  return h->launch.streams ? MT_HOPPER_FLAGS + h->blocks * sums : 0;
}

/* ---------------------------------------------------------------- launches */

/* Bytes that all rows of D are aligned to, 8 at most. */
static int32_t width_of_d (const mt_hopper_launch *l) {
  const int64_t size = (int64_t)mt_dtype_size((mt_dtype)l->dtype);
  const uint64_t all = (uint64_t)(uintptr_t)l->c | (uint64_t)(l->stride[0] * size) |
                       (uint64_t)(l->stride[2] * size) | 8;
  return (int32_t)(all & (0 - all));
}

static void make_result (mt_hopper *h, const mt_matrix *c, const mt_gemm_launch *p) {
  mt_hopper_launch *l = &h->launch;
  char unused[160] = "";
  l->alpha = p->alpha;
  l->beta = p->beta;
  l->c = c->base;
  for (int i = 0; i < 3; i++) l->stride[i] = c->stride[i];
  for (int i = 0; i < 2; i++) l->size[i] = (int32_t)c->extent[i];
  l->dtype = (int32_t)c->dtype;
  const mt_reason line = {unused, sizeof unused};
  h->has_d[0] = make_map(&h->d_map[0], c, 1, MT_WARP_ROWS, &line);
  h->has_d[1] = mt_dtype_size(c->dtype) == 2 &&
                make_map(&h->d_map[1], c, 0, MT_TURNED_COLUMNS, &line);
  h->d_map[1].box[0] = MT_WARP_ROWS;
  l->d_width = width_of_d(l);
}

/* Whether C or the residual may be read by a map, as D is stored by one. */
static void make_side (mt_hopper *h, const mt_matrix *c) {
  static const uint32_t lines[2] = {MT_WARP_ROWS, MT_TURNED_COLUMNS};
  const mt_finishing_side *s = &h->launch.finish.side[MT_RESIDUAL];
  const bool reads = h->launch.beta != 0;
  char unused[160] = "";
  mt_matrix x = *c;
  for (int turned = 0; turned < 2; turned++)
    h->has_side[turned] =
        h->has_d[turned] && mt_dtype_size(c->dtype) == 2 && reads == (s->base == NULL);
  if (reads || s->base == NULL) return;
  x.dtype = (mt_dtype)s->dtype;
  x.base = (char *)(uintptr_t)s->base;
  for (int i = 0; i < 3; i++) x.stride[i] = s->stride[i];
  h->launch.side_step = s->stride[2] != 0;
  for (int turned = 0; turned < 2; turned++) {
    mt_tma_box *box = &h->side_d[turned];
    h->has_side[turned] &=
        mt_dtype_size(x.dtype) == 2 &&
        make_map(box, &x, 1 - turned, lines[turned], &(mt_reason){unused, 160});
    if (turned) box->box[0] = MT_WARP_ROWS;
  }
}

/* Whether neighbours of a row lie together, in places that one access takes. */
static bool has_pairs (const void *base, int32_t dtype, const int64_t stride[3]) {
  const int64_t size = (int64_t)mt_dtype_size((mt_dtype)dtype);
  return size <= 4 && stride[1] == 1 && stride[0] % 2 == 0 && stride[2] % 2 == 0 &&
         (uintptr_t)base % (size_t)(2 * size) == 0;
}

/* Whether the epilogue finds what it reads where sums are: a bias of rows or of columns;
** C or the residual, by pairs of columns, or, turned, by a map. */
static bool finishes_in_place (const mt_hopper *h, const mt_hopper_row *row) {
  const mt_hopper_launch *l = &h->launch;
  const mt_finishing_side *bias = &l->finish.side[MT_BIAS];
  const mt_finishing_side *other = &l->finish.side[MT_RESIDUAL];
  if (bias->base && bias->stride[0] != 0 && bias->stride[1] != 0) return false;
  if (l->beta == 0 && other->base == NULL) return true;
  if (row->turned) return h->has_side[1];
  if (l->size[1] % 2 != 0 || (l->beta != 0 && other->base)) return false;
  return l->beta != 0 ? has_pairs(l->c, l->dtype, l->stride) :
                        has_pairs(other->base, other->dtype, other->stride);
}

/* How D is written: kernels without an epilogue do it by its map, or by words, only where
** nothing of C is read. */
static int way_of_d (const mt_hopper *h, const mt_hopper_row *row) {
  const mt_hopper_launch *l = &h->launch;
  if (!MT_HOPPER_STORES(row->n)) return MT_BY_ROWS;
  if (row->finishes)
    return h->has_d[row->turned] && finishes_in_place(h, row) ? MT_BY_MAP : MT_BY_ROWS;
  if (l->beta != 0 || (l->dtype == MT_f32 && (double)(float)l->alpha != l->alpha))
    return MT_BY_ROWS;
  if (h->has_d[row->turned]) return MT_BY_MAP;
  /* Half a word at the ends of all rows costs tiles of 64 columns more than it saves. */
  if (l->d_width < 4 && row->n <= 64) return MT_BY_ROWS;
  return l->stride[1] == 1 && !row->turned ? MT_BY_WORDS : MT_BY_ROWS;
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
  if (row->side == MT_SIDE_MAP && !h->has_side[0]) return false;
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

static void keep_better (choice *best, mt_hopper *h, int row, const mt_matrix x[MT_PARTS],
                         int cores) {
  h->us = mt_hopper_predict(h, h->row, x, cores);
  if (best->row >= 0 && h->us >= best->h->us) return;
  *best->h = *h;
  best->row = row;
}

static void try_row (choice *best, mt_hopper *h, int i, const mt_matrix x[MT_PARTS],
                     const mt_gemm_launch *l, int cores) {
  const mt_hopper_row *row = &mt_hopper_rows[i];
  const int most =
      MT_HOPPER_SPLITS(row->n, row->cluster, row->turned) ? MT_HOPPER_MOST_PARTS : 1;
  h->row = row;
  h->map[MT_C] = h->d_map[row->turned], h->side_map = h->side_d[row->turned];
  h->launch.direct = way_of_d(h, row);
  if ((MT_HOPPER_ONE_WAY(row->n) || row->turned) &&
      (h->launch.direct != MT_BY_MAP) != row->by_rows)
    return;
  for (int parts = 1; parts <= most; parts *= 2) {
    if (best->parts != 0 && best->parts != parts) continue;
    if (!shape(h, row, l->desc.size[MT_K], l->desc.size[MT_L], parts, cores)) continue;
    keep_better(best, h, i, x, cores);
    if (mt_hopper_share(h, true, cores)) keep_better(best, h, i, x, cores);
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
