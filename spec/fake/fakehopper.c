/*
** fakehopper.c - kernels of TMA and wgmma without a GPU: each tile by its maps, slab by slab.
** SPDX-License-Identifier: MIT
**
** The walk over tiles is the kernels': by blocks of clusters, in groups of rows. What a map
** has not is read as 0 and not written. Sums are those of doubles, rounded once; integers
** saturate.
*/
#include "fakecuda.h"

enum { TYPE_BYTES = 0, TYPE_I32 = 3, TYPE_F16 = 6, TYPE_F32 = 7, TYPE_BF16 = 9 };

size_t fake_map_size (int type) {
  if (type == TYPE_BYTES) return 1;
  return type == TYPE_F16 || type == TYPE_BF16 ? 2 : 4;
}

FAKECUDA_API CUresult cuTensorMapEncodeTiled (
    CUtensorMap *out, CUtensorMapDataType type, uint32_t rank, void *base,
    const uint64_t *extent, const uint64_t *stride, const uint32_t *box,
    const uint32_t *step, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion promote, CUtensorMapFloatOOBfill fill);

/* The rules of maps, as the driver has them; the map is what it was made of. */
FAKECUDA_API CUresult cuTensorMapEncodeTiled (
    CUtensorMap *out, CUtensorMapDataType type, uint32_t rank, void *base,
    const uint64_t *extent, const uint64_t *stride, const uint32_t *box,
    const uint32_t *step, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion promote, CUtensorMapFloatOOBfill fill) {
  CUresult r = fake_call(FAKE_cuTensorMapEncodeTiled);
  if (r == 0) r = fake_ready();
  if (r != 0) return r;
  NEED((uintptr_t)out % 64 == 0 && rank == 3 && (uintptr_t)base % 16 == 0, 1);
  NEED(interleave == 0 && fill == 0 && swizzle == MT_CU_SWIZZLE_128, 1);
  NEED(promote >= 0 && promote <= 3, 1);
  fake_map m = {.type = type, .base = (CUdeviceptr)(uintptr_t)base};
  for (unsigned i = 0; i < 3; i++) {
    NEED(extent[i] > 0 && extent[i] <= UINT64_C(1) << 32 && step[i] == 1, 1);
    NEED(box[i] > 0 && box[i] <= 256, 1);
    m.extent[i] = extent[i];
    m.box[i] = box[i];
  }
  for (unsigned i = 0; i < 2; i++) {
    NEED(stride[i] % 16 == 0 && stride[i] < UINT64_C(1) << 40, 1);
    m.stride[i] = stride[i];
  }
  NEED(box[0] * fake_map_size(type) == 128, 1);
  memset(out, 0, sizeof *out);
  memcpy(out, &m, sizeof m);
  return 0;
}

static const mt_hopper_row *row_of (const mt_kernel *k) {
  return &mt_hopper_rows[k - (mt_cuda_kernels + mt_ncuda_kernels - mt_nhopper_rows)];
}

uint32_t fake_hopper_room (const mt_kernel *k) {
  const mt_hopper_row *row = row_of(k);
  return MT_HOPPER_SHARED(row->n, row->stages);
}

typedef struct tensor_map {
  fake_map m;
  char *at;
  size_t room;
} tensor_map;

static bool open_map (tensor_map *out, const mt_tma_map *map, int device) {
  memcpy(&out->m, map, sizeof out->m);
  out->at = fake_host(out->m.base, device, 0, &out->room);
  return out->at != NULL;
}

/* The element at coordinates x, y, z, the innermost first; NULL: outside of the map. */
static char *element (const tensor_map *t, int64_t x, int64_t y, int64_t z, bool *bad) {
  const fake_map *m = &t->m;
  const size_t size = fake_map_size(m->type);
  if ((uint64_t)x >= m->extent[0] || (uint64_t)y >= m->extent[1] ||
      (uint64_t)z >= m->extent[2])
    return NULL;
  const uint64_t at =
      (uint64_t)x * size + (uint64_t)y * m->stride[0] + (uint64_t)z * m->stride[1];
  *bad |= at + size > t->room;
  return *bad ? NULL : t->at + at;
}

typedef struct job {
  const mt_hopper_row *row;
  const mt_hopper_launch *l;
  tensor_map a, b, d;
  char *c; /* of `direct` */
  size_t room;
  bool bad;
} job;

/* Row i of operand o at depth k: a number. */
static double operand (job *j, int o, int64_t i, int64_t k, int64_t batch) {
  const tensor_map *t = o ? &j->b : &j->a;
  const bool mn = j->row->mn[o];
  const char *p = element(t, mn ? i : k, mn ? k : i, batch, &j->bad);
  if (p == NULL) return 0;
  mt_number v = mt_load_element(j->row->type[o], p);
  return v.isint ? (double)v.i : v.f;
}

static char *result (job *j, int64_t m, int64_t n, int64_t batch) {
  const mt_hopper_launch *l = j->l;
  if (!l->direct) return element(&j->d, n, m, batch, &j->bad);
  const int64_t size = (int64_t)mt_dtype_size(j->row->type[MT_C]);
  const int64_t at = (m * l->stride[0] + n * l->stride[1] + batch * l->stride[2]) * size;
  if (m >= l->size[0] || n >= l->size[1]) return NULL;
  j->bad |= at < 0 || (size_t)(at + size) > j->room;
  return j->bad ? NULL : j->c + at;
}

static void finish (job *j, char *p, double sum) {
  const mt_dtype d = j->row->type[MT_C];
  mt_err err = MT_NOERR;
  if (d == MT_i32) {
    const double most = INT32_MAX, least = INT32_MIN;
    const int32_t held = (int32_t)(sum > most ? most : sum < least ? least : sum);
    memcpy(p, &held, sizeof held);
    return;
  }
  mt_number old = j->l->beta != 0 ? mt_load_element(d, p) : (mt_number){.f = 0};
  mt_number v = {.f = j->l->alpha * sum + (j->l->beta != 0 ? j->l->beta * old.f : 0)};
  if (mt_store_element(d, p, v, &err) != MT_OK) j->bad = true;
}

static void one (job *j, int64_t m, int64_t n, int64_t batch) {
  char *p = result(j, m, n, batch);
  const int64_t depth =
      (int64_t)j->l->slabs * MT_SLAB / (int64_t)mt_dtype_size(j->row->type[MT_A]);
  double sum = 0;
  for (int64_t k = 0; p && k < depth; k++)
    sum += operand(j, MT_A, m, k, batch * j->l->a_step) *
           operand(j, MT_B, n, k, batch * j->l->b_step);
  if (p && !j->bad) finish(j, p, sum);
}

/* The tile of a cluster. */
static void tile (job *j, int number) {
  const mt_hopper_launch *l = j->l;
  const int each = l->tiles_m * l->tiles_n, batch = number / each, t = number % each;
  const int first = t / (l->group * l->tiles_n) * l->group;
  const int rows = l->tiles_m - first < l->group ? l->tiles_m - first : l->group;
  const int in = t - first * l->tiles_n;
  const int height = MT_TILE_M * j->row->cluster, width = j->row->n;
  const int64_t m = (int64_t)(first + in % rows) * height,
                n = (int64_t)(in / rows) * width;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) one(j, m + y, n + x, batch);
}

mt_status fake_hopper (const mt_kernel *k, mt_grid grid, const mt_hopper_launch *l,
                       int device) {
  job j = {.row = row_of(k), .l = l};
  const int clusters = (int)grid.blocks / j.row->cluster;
  if (grid.threads != MT_HOPPER_THREADS || (int)grid.blocks % j.row->cluster != 0 ||
      !open_map(&j.a, &l->a, device) || !open_map(&j.b, &l->b, device))
    return MT_ERANGE;
  if (l->direct) j.c = fake_host((CUdeviceptr)(uintptr_t)l->c, device, 0, &j.room);
  else if (!open_map(&j.d, &l->d, device)) return MT_ERANGE;
  if (l->direct && j.c == NULL) return MT_ERANGE;
  for (int c = 0; c < clusters; c++)
    for (int t = c; t < l->tiles; t += clusters) tile(&j, t);
  return j.bad ? MT_ERANGE : MT_OK;
}
