/*
** hopper.c - products by TMA and wgmma: what they take, which row, what it is given.
** SPDX-License-Identifier: MIT
*/
#include <float.h>
#include <stdarg.h>
#include <stdio.h>

#include "gemm/hopper.h"
#include "core/error.h"

enum { MAJOR_K, MAJOR_MN };
#define MT_HOPPER_KERNEL(name, a, b, c, n, stages, cluster, major_a, major_b)            \
  {{MT_##a, MT_##b, MT_##c},                                                             \
   n,                                                                                    \
   stages,                                                                               \
   cluster,                                                                              \
   {MAJOR_##major_a == MAJOR_MN, MAJOR_##major_b == MAJOR_MN}},
const mt_hopper_row mt_hopper_rows[] = {
#include "kernels/gemm/hopper.def"
};
const size_t mt_nhopper_rows = sizeof mt_hopper_rows / sizeof mt_hopper_rows[0];

/* Why a product is none for this family. */
typedef struct reason {
  char *text;
  size_t size;
} reason;

static bool refuse (const reason *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool refuse (const reason *r, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  vsnprintf(r->text, r->size, format, ap);
  va_end(ap);
  return false;
}

/* ---------------------------------------------------------------- operands */

/* An operand as a matrix with a batch: strides of its two modes and of the batch, 0 where
** the extent is 1. */
typedef struct matrix {
  const char *name;
  mt_dtype dtype;
  char *base;
  int64_t extent[2], stride[3], batch;
} matrix;

static const char *const names[] = {"A", "B", "C"};

static bool read_matrix (matrix *x, const mt_gemm_launch *l, int part, const reason *r) {
  const mt_part *p = &l->desc.part[part];
  const mt_digit *digit = p->digit;
  *x = (matrix){.name = names[part], .dtype = (mt_dtype)p->dtype};
  x->batch = l->desc.size[MT_L];
  if (p->swizzle) return refuse(r, "%s is swizzled in memory", x->name);
  for (int i = 0; i < 3; i++) {
    if (p->ndigit[i] > 1)
      return refuse(r, "mode %d of %s has %d axes: 1 is a matrix", i + 1, x->name,
                    (int)p->ndigit[i]);
    if (p->ndigit[i]) x->stride[i] = digit++->stride;
    if (x->stride[i] < 0)
      return refuse(r, "mode %d of %s runs backwards", i + 1, x->name);
  }
  for (int i = 0; i < 2; i++) x->extent[i] = p->real[i];
  x->base = (char *)l->base[part] + l->offset[part] * (int64_t)mt_dtype_size(x->dtype);
  return true;
}

/* The transpose, which is the same memory. */
static matrix transposed (matrix x) {
  const matrix y = x;
  for (int i = 0; i < 2; i++) {
    x.extent[i] = y.extent[1 - i];
    x.stride[i] = y.stride[1 - i];
  }
  return x;
}

/* ---------------------------------------------------------------- maps */

enum { ALIGN = 16 }; /* bytes, of bases and strides of a map */

static bool is_contiguous (const matrix *x, int mode) {
  return x->extent[mode] == 1 || x->stride[mode] == 1;
}

/* Bytes from one index of the mode to the next. */
static bool find_pitch (uint64_t *out, const matrix *x, int mode, int64_t inner,
                        const reason *r) {
  const int64_t size = (int64_t)mt_dtype_size(x->dtype);
  const bool one = mode < 2 ? x->extent[mode] == 1 : x->batch == 1 || x->stride[2] == 0;
  int64_t bytes = x->stride[mode] * size;
  if (one) bytes = (inner * size + ALIGN - 1) / ALIGN * ALIGN;
  if (bytes <= 0 || bytes % ALIGN != 0 || bytes >= INT64_C(1) << 40)
    return refuse(r,
                  "mode %d of %s has a stride of %lld bytes: TMA takes multiples of "
                  "%d",
                  mode + 1, x->name, (long long)bytes, ALIGN);
  *out = (uint64_t)bytes;
  return true;
}

/* The map whose axis 0 is the mode `inner`, in boxes of 128 bytes by `rows`. */
static bool make_map (mt_tma_box *out, const matrix *x, int inner, uint32_t rows,
                      const reason *r) {
  const size_t size = mt_dtype_size(x->dtype);
  const bool shared = x->stride[2] == 0;
  if (!is_contiguous(x, inner))
    return refuse(r, "mode %d of %s is not contiguous", inner + 1, x->name);
  if ((uintptr_t)x->base % ALIGN != 0)
    return refuse(r, "%s begins at no multiple of %d bytes", x->name, ALIGN);
  if (x->extent[0] > INT32_MAX || x->extent[1] > INT32_MAX || x->batch > INT32_MAX)
    return refuse(r, "%s has an extent beyond 2^31", x->name);
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
static bool make_operand (mt_tma_box *out, bool *mn, const matrix *x, const reason *r) {
  const bool wide = mt_dtype_size(x->dtype) != 2;
  *mn = !is_contiguous(x, 1);
  if (*mn && wide)
    return refuse(r, "K of %s is not contiguous, which %s wants", x->name,
                  mt_dtype_name(x->dtype));
  return make_map(out, x, *mn ? 0 : 1, MT_SLAB / 2, r);
}

/* ---------------------------------------------------------------- prediction */

/* Microseconds of a launch, of a slab and of the rest of a tile, by the width of the
** tile: fitted on an H200 from bf16 of 1024^3 (one, and 64 of them), 2048^3, 4096^3,
** 8192^3, 512 x 4096 x 4096 and 128 x 8192 x 8192. */
static const struct cost {
  int n, cluster;
  double launch, slab, tile;
} costs[] = {{256, 2, 3.4, 0.640, 1.8},
             {256, 1, 2.2, 0.655, 1.8},
             {128, 2, 3.8, 0.361, 0.8},
             {64, 1, 3.0, 0.294, 0.6}};

static double predict (const mt_hopper *h, const mt_hopper_row *row, int cores) {
  const struct cost *c = costs;
  while (c->n != row->n || c->cluster != row->cluster) c++;
  const int at_once = cores / row->cluster;
  const int waves = (h->launch.tiles + at_once - 1) / at_once;
  return c->launch + waves * (h->launch.slabs * c->slab + c->tile);
}

/* ---------------------------------------------------------------- launches */

enum { GROUP = 16 }; /* rows of tiles whose columns are walked together */

static int64_t parts (int64_t n, int64_t each) { return (n + each - 1) / each; }

/* The row's own part of the launch. */
static bool shape (mt_hopper *h, const mt_hopper_row *row, int64_t k, int64_t batch,
                   int cores) {
  mt_hopper_launch *l = &h->launch;
  const int64_t depth = MT_SLAB / (int64_t)mt_dtype_size(row->type[MT_A]);
  const int64_t m = parts(l->size[0], MT_TILE_M * row->cluster);
  const int64_t n = parts(l->size[1], row->n);
  if (m > INT32_MAX / n || m * n > INT32_MAX / batch) return false;
  l->slabs = (int32_t)parts(k, depth);
  l->tiles_m = (int32_t)m;
  l->tiles_n = (int32_t)n;
  l->tiles = (int32_t)(m * n * batch);
  l->group = GROUP / row->cluster;
  h->map[MT_A].box[1] = row->mn[0] ? (uint32_t)depth : MT_TILE_M;
  h->map[MT_B].box[1] = row->mn[1] ? (uint32_t)depth : (uint32_t)(row->n / row->cluster);
  h->shared = MT_HOPPER_SHARED(row->n, row->stages);
  const int blocks = cores / row->cluster;
  h->blocks = (uint32_t)((l->tiles < blocks ? l->tiles : blocks) * row->cluster);
  return true;
}

/* D by a map where it has one and nothing of C is read, else by elements. */
static void make_result (mt_hopper *h, const matrix *c, const mt_gemm_launch *p) {
  mt_hopper_launch *l = &h->launch;
  char unused[160];
  l->alpha = p->alpha;
  l->beta = p->beta;
  l->c = c->base;
  for (int i = 0; i < 3; i++) l->stride[i] = c->stride[i];
  for (int i = 0; i < 2; i++) l->size[i] = (int32_t)c->extent[i];
  l->direct =
      p->beta != 0 || (double)(float)p->alpha != p->alpha ||
      !make_map(&h->map[MT_C], c, 1, MT_GROUP_ROWS, &(reason){unused, sizeof unused});
}

static bool fits (const mt_hopper_row *row, const matrix x[MT_PARTS], const bool mn[2]) {
  for (int part = 0; part < MT_PARTS; part++)
    if (row->type[part] != x[part].dtype) return false;
  return row->mn[0] == mn[0] && row->mn[1] == mn[1];
}

static bool read_product (matrix x[MT_PARTS], const mt_gemm_launch *l, const reason *r) {
  for (int part = 0; part < MT_PARTS; part++)
    if (!read_matrix(&x[part], l, part, r)) return false;
  for (int i = 0; i < MT_GEMM_MODES; i++)
    if (l->desc.size[i] < 1) return refuse(r, "it is empty");
  for (int part = 0; part < MT_PARTS; part++)
    if (x[part].extent[0] < 1 || x[part].extent[1] < 1)
      return refuse(r, "nothing of %s is real", x[part].name);
  if (x[MT_C].extent[0] > INT32_MAX || x[MT_C].extent[1] > INT32_MAX)
    return refuse(r, "C has an extent beyond 2^31");
  if (x[MT_C].dtype == MT_i32 && (l->alpha != 1 || l->beta != 0))
    return refuse(r, "integers are not scaled");
  if (x[MT_C].stride[1] == 1 || x[MT_C].stride[0] != 1) return true;
  const matrix a = x[MT_A]; /* C' = B A' */
  x[MT_A] = x[MT_B];
  x[MT_B] = a;
  x[MT_C] = transposed(x[MT_C]);
  return true;
}

int mt_hopper_choose (mt_hopper *out, const mt_gemm_launch *l, int cores, char *why,
                      size_t size) {
  const reason r = {why, size};
  matrix x[MT_PARTS];
  mt_hopper h = {.blocks = 0};
  bool mn[2];
  double least = DBL_MAX;
  int best = -1;
  if (!read_product(x, l, &r)) return -1;
  for (int i = 0; i < 2; i++)
    if (!make_operand(&h.map[i], &mn[i], &x[i], &r)) return -1;
  make_result(&h, &x[MT_C], l);
  h.launch.a_step = x[MT_A].stride[2] != 0;
  h.launch.b_step = x[MT_B].stride[2] != 0;
  refuse(&r, "no row has these types");
  for (size_t i = 0; i < mt_nhopper_rows; i++) {
    const mt_hopper_row *row = &mt_hopper_rows[i];
    const int64_t k = l->desc.size[MT_K], batch = l->desc.size[MT_L];
    if (!fits(row, x, mn) || !shape(&h, row, k, batch, cores)) continue;
    const double us = predict(&h, row, cores);
    if (us < least) least = us, best = (int)i, *out = h, out->row = row;
  }
  return best;
}
