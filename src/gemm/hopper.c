/*
** hopper.c - products by TMA and wgmma: what they take, which row, what it is given.
** SPDX-License-Identifier: MIT
*/
#include <float.h>

#include "gemm/hopper.h"
#include "gemm/matrix.h"

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
  if (!mt_is_contiguous(x, inner))
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
  *mn = !mt_is_contiguous(x, 1);
  if (*mn && wide)
    return mt_refuse(r, "K of %s is not contiguous, which %s wants", x->name,
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
static void make_result (mt_hopper *h, const mt_matrix *c, const mt_gemm_launch *p) {
  mt_hopper_launch *l = &h->launch;
  char unused[160];
  l->alpha = p->alpha;
  l->beta = p->beta;
  l->c = c->base;
  for (int i = 0; i < 3; i++) l->stride[i] = c->stride[i];
  for (int i = 0; i < 2; i++) l->size[i] = (int32_t)c->extent[i];
  l->direct =
      p->beta != 0 || (double)(float)p->alpha != p->alpha ||
      !make_map(&h->map[MT_C], c, 1, MT_GROUP_ROWS, &(mt_reason){unused, sizeof unused});
}

static bool fits (const mt_hopper_row *row, const mt_matrix x[MT_PARTS],
                  const bool mn[2]) {
  for (int part = 0; part < MT_PARTS; part++)
    if (row->type[part] != x[part].dtype) return false;
  return row->mn[0] == mn[0] && row->mn[1] == mn[1];
}

/* A map steps forward only. */
static bool runs_forward (const mt_matrix *x, const mt_reason *r) {
  for (int i = 0; i < 3; i++)
    if (x->stride[i] < 0)
      return mt_refuse(r, "mode %d of %s runs backwards", i + 1, x->name);
  return true;
}

static bool read_product (mt_matrix x[MT_PARTS], const mt_gemm_launch *l,
                          const mt_reason *r) {
  if (!mt_read_product(x, l, r)) return false;
  for (int part = 0; part < MT_PARTS; part++)
    if (!runs_forward(&x[part], r)) return false;
  if (x[MT_C].dtype == MT_i32 && (l->alpha != 1 || l->beta != 0))
    return mt_refuse(r, "integers are not scaled");
  if (x[MT_C].stride[1] != 1 && x[MT_C].stride[0] == 1) mt_turn_product(x);
  return true;
}

int mt_hopper_choose (mt_hopper *out, const mt_gemm_launch *l, int cores, char *why,
                      size_t size) {
  const mt_reason r = {why, size};
  mt_matrix x[MT_PARTS];
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
  mt_refuse(&r, "no row has these types");
  for (size_t i = 0; i < mt_nhopper_rows; i++) {
    const mt_hopper_row *row = &mt_hopper_rows[i];
    const int64_t k = l->desc.size[MT_K], batch = l->desc.size[MT_L];
    if (!fits(row, x, mn) || !shape(&h, row, k, batch, cores)) continue;
    const double us = predict(&h, row, cores);
    if (us < least) least = us, best = (int)i, *out = h, out->row = row, out->us = us;
  }
  return best;
}
