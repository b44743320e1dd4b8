/*
** fakehopper.c - kernels of TMA and wgmma without a GPU: each tile by its maps, slab by slab.
** SPDX-License-Identifier: MIT
**
** The walk over tiles is the kernels': by blocks of clusters, in groups of rows. What a map
** has not is read as 0 and not written. Sums are those of doubles, rounded once; integers
** saturate.
*/
#include <math.h>

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
  GUARD;
  CUresult r = fake_call(FAKE_cuTensorMapEncodeTiled);
  if (r == 0) r = fake_ready();
  if (r != 0) return r;
  NEED((uintptr_t)out % 64 == 0 && rank == 3 && (uintptr_t)base % 16 == 0, 1);
  NEED(interleave == 0 && fill == 0 &&
           (swizzle == MT_CU_SWIZZLE_128 || swizzle == MT_CU_SWIZZLE_32),
       1);
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
  NEED(box[0] * fake_map_size(type) == (swizzle == MT_CU_SWIZZLE_32 ? 32u : 128u), 1);
  memset(out, 0, sizeof *out);
  memcpy(out, &m, sizeof m);
  return 0;
}

/* The kernel of what tf32 leaves out: the row behind those of products. */
bool fake_is_rest (const mt_kernel *k) {
  return k == mt_cuda_kernels + mt_ncuda_kernels - 1;
}

static const mt_hopper_row *row_of (const mt_kernel *k) {
  return &mt_hopper_rows[k - (mt_cuda_kernels + mt_ncuda_kernels - 1 - mt_nhopper_rows)];
}

uint32_t fake_hopper_room (const mt_kernel *k) {
  if (fake_is_rest(k)) return 0;
  const mt_hopper_row *row = row_of(k);
  return MT_HOPPER_SHARED(row->n, row->stages, row->cluster, row->turned);
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
  tensor_map of[2], rest[2], d;
  char *c; /* of `direct` */
  size_t room;
  int device;
  bool bad;
} job;

/* What the instruction reads of a number. */
static double as_read (double x, mt_dtype d) {
  float f = (float)x;
  uint32_t bits;
  if (d != MT_f32) return x;
  memcpy(&bits, &f, sizeof bits);
  bits &= 0xffffe000u;
  memcpy(&f, &bits, sizeof f);
  return f;
}

/* Row i of operand o at depth k: a number. */
static double operand (job *j, int o, bool rest, int64_t i, int64_t k, int64_t batch) {
  const tensor_map *t = rest ? &j->rest[o] : &j->of[o];
  const bool mn = j->row->mn[o];
  const char *p = element(t, mn ? i : k, mn ? k : i, batch, &j->bad);
  if (p == NULL) return 0;
  mt_number v = mt_load_element(j->row->type[o], p);
  return as_read(v.isint ? (double)v.i : v.f, j->row->type[o]);
}

static mt_dtype result_type (const job *j) {
  return j->row->finishes ? (mt_dtype)j->l->dtype : j->row->type[MT_C];
}

static char *result (job *j, int64_t m, int64_t n, int64_t batch) {
  const mt_hopper_launch *l = j->l;
  const bool turned = j->row->turned;
  if (!l->direct) return element(&j->d, turned ? m : n, turned ? n : m, batch, &j->bad);
  const int64_t size = (int64_t)mt_dtype_size(result_type(j));
  const int64_t at = (m * l->stride[0] + n * l->stride[1] + batch * l->stride[2]) * size;
  if (m >= l->size[0] || n >= l->size[1]) return NULL;
  j->bad |= at < 0 || (size_t)(at + size) > j->room;
  return j->bad ? NULL : j->c + at;
}

static void finish (job *j, char *p, double sum, const int64_t at[3]) {
  const mt_dtype d = result_type(j);
  mt_err err = MT_NOERR;
  if (d == MT_i32) {
    const double most = INT32_MAX, least = INT32_MIN;
    const int32_t held = (int32_t)(sum > most ? most : sum < least ? least : sum);
    memcpy(p, &held, sizeof held);
    return;
  }
  mt_number old = j->l->beta != 0 ? mt_load_element(d, p) : (mt_number){.f = 0};
  mt_number v = {.f = j->l->alpha * sum + (j->l->beta != 0 ? j->l->beta * old.f : 0)};
  if (j->row->finishes) v.f = fake_ending(&j->l->finish, d, v.f, at, j->device, &j->bad);
  if (mt_store_element(d, p, v, &err) != MT_OK) j->bad = true;
}

static void one (job *j, int64_t m, int64_t n, int64_t batch) {
  char *p = result(j, m, n, batch);
  const int64_t depth =
      (int64_t)j->l->slabs * MT_SLAB / (int64_t)mt_dtype_size(j->row->type[MT_A]);
  const int terms = j->l->terms;
  double sum = 0;
  for (int64_t k = 0; p && k < depth; k++) {
    const int term = (int)(k / (depth / terms));
    const int64_t x = k % (depth / terms);
    sum += operand(j, MT_A, term == terms - 2, m, x, batch * j->l->a_step) *
           operand(j, MT_B, term == terms - 3, n, x, batch * j->l->b_step);
  }
  const int64_t at[3] = {m, n, batch};
  if (p && !j->bad) finish(j, p, sum, at);
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

/* Whether C or a residual is read as the row does. */
static bool reads_side (const mt_hopper_row *row, const mt_hopper_launch *l, int device) {
  const mt_finishing_side *s = &l->finish.side[MT_RESIDUAL];
  const bool reads = l->beta != 0 || s->base != NULL;
  tensor_map m;
  if (!row->finishes) return true;
  if (!mt_hopper_ends(row, reads, l->finish.form.form)) return false;
  if (!reads || (row->side != MT_SIDE_MAP && !row->turned)) return true;
  if (mt_dtype_size((mt_dtype)l->dtype) != 2 || (l->beta != 0 && s->base)) return false;
  return l->beta != 0 ||
         (open_map(&m, &l->side, device) && fake_map_size(m.m.type) == 2 &&
          m.m.base == (CUdeviceptr)(uintptr_t)s->base &&
          m.m.extent[0] == (uint64_t)l->size[!row->turned] &&
          m.m.extent[1] == (uint64_t)l->size[row->turned] &&
          (l->size[row->turned] == 1 ||
           m.m.stride[0] == (uint64_t)s->stride[row->turned] * 2));
}

/* The last rows of A and B, of which the fake reads all by the other map: boxes as high as
** the launch says, of the same tensor. */
static bool has_edges (const mt_hopper_row *row, const mt_hopper_launch *l, int device) {
  const int32_t rows[2] = {MT_TILE_M, row->n / row->cluster};
  const mt_tma_map *map[2] = {&l->a, &l->b};
  for (int i = 0; i < 2 && l->edges; i++) {
    const int32_t last = l->size[i] % rows[i];
    tensor_map all, some;
    if (row->mn[i] || last == 0) continue;
    if (l->edge[i] % 8 != 0 || l->edge[i] < last || l->edge[i] >= last + 8) return false;
    if (!open_map(&all, map[i], device) || !open_map(&some, &l->edge_map[i], device))
      return false;
    if (some.m.box[1] != (uint32_t)l->edge[i]) return false;
    some.m.box[1] = all.m.box[1];
    if (memcmp(&all.m, &some.m, sizeof all.m) != 0) return false;
  }
  return true;
}

/* The memory of stream-K: flags, which nobody has raised, and sums. */
static bool has_work (const mt_hopper_row *row, const mt_hopper_launch *l, mt_grid grid,
                      int device) {
  const size_t bytes =
      MT_HOPPER_FLAGS + (size_t)grid.blocks * MT_TILE_M * row->n * sizeof(float);
  size_t room = 0;
  if (!l->streams) return true;
  const char *work = fake_host((CUdeviceptr)(uintptr_t)l->work, device, 0, &room);
  if (!MT_HOPPER_STREAM_K(row->cluster, row->turned) || work == NULL || room < bytes)
    return false;
  for (int i = 0; i < MT_HOPPER_FLAGS; i++)
    if (work[i] != 0) return false;
  return (int64_t)l->tiles * l->slabs <= INT32_MAX &&
         grid.blocks <= MT_HOPPER_MOST_BLOCKS &&
         grid.blocks % (uint32_t)(l->tiles_n * row->cluster) == 0;
}

/* Rows of D lie together, aligned as the launch says; nothing of C is read. */
static bool goes_by_words (const job *j) {
  const mt_hopper_launch *l = j->l;
  const int64_t size = (int64_t)mt_dtype_size(result_type(j));
  return !j->row->finishes && l->beta == 0 && l->stride[1] == 1 && l->d_width >= size &&
         l->d_width <= 8 &&
         ((uintptr_t)l->c | (uint64_t)(l->stride[0] * size) |
          (uint64_t)(l->stride[2] * size)) %
                 (uint64_t)l->d_width ==
             0;
}

mt_status fake_hopper (const mt_kernel *k, mt_grid grid, int cluster,
                       const mt_hopper_launch *l, int device) {
  job j = {.row = row_of(k), .l = l, .device = device};
  const bool splits = MT_HOPPER_SPLITS(j.row->n, j.row->cluster, j.row->turned);
  const int blocks = j.row->cluster * l->parts, clusters = (int)grid.blocks / blocks;
  if (grid.threads != MT_HOPPER_THREADS || (int)grid.blocks % blocks != 0 ||
      blocks != cluster || l->parts < 1 || l->parts > (splits ? 8 : 1) ||
      (l->parts & (l->parts - 1)) != 0 || l->parts > l->slabs ||
      (!l->direct &&
       (!MT_HOPPER_STORES(j.row->n) || (l->beta != 0 && !j.row->finishes))) ||
      ((MT_HOPPER_ONE_WAY(j.row->n) || j.row->turned) &&
       (l->direct != MT_BY_MAP) != j.row->by_rows) ||
      (l->direct == MT_BY_WORDS && !goes_by_words(&j)) ||
      !has_work(j.row, l, grid, device) || !has_edges(j.row, l, device) ||
      !reads_side(j.row, l, device) || !open_map(&j.of[0], &l->a, device) ||
      !open_map(&j.of[1], &l->b, device))
    return MT_ERANGE;
  if (l->terms != 1 &&
      (l->terms != 3 || l->slabs % 3 != 0 || !open_map(&j.rest[0], &l->a_rest, device) ||
       !open_map(&j.rest[1], &l->b_rest, device)))
    return MT_ERANGE;
  if (l->direct) j.c = fake_host((CUdeviceptr)(uintptr_t)l->c, device, 0, &j.room);
  else if (!open_map(&j.d, &l->d, device) ||
           j.d.m.box[0] * fake_map_size(j.d.m.type) != (j.row->turned ? 32u : 128u))
    return MT_ERANGE;
  if (l->direct && j.c == NULL) return MT_ERANGE;
  for (int c = 0; c < clusters; c++)
    for (int t = c; t < l->tiles; t += clusters) tile(&j, t);
  return j.bad ? MT_ERANGE : MT_OK;
}

mt_status fake_rest (mt_grid grid, const mt_rest_launch *l, int device) {
  size_t from_room, to_room;
  const char *from = fake_host((CUdeviceptr)(uintptr_t)l->from, device, 0, &from_room);
  char *to = fake_host((CUdeviceptr)(uintptr_t)l->to, device, 0, &to_room);
  if (from == NULL || to == NULL || grid.blocks != l->all ||
      grid.threads != MT_REST_THREADS)
    return MT_ERANGE;
  for (uint32_t r = 0; r < l->all; r++)
    for (uint32_t i = 0; i < l->columns; i++) {
      const int64_t at = r / l->rows * l->from_batch + r % l->rows * l->from_pitch + i;
      const int64_t out = r * l->to_pitch + i;
      float x;
      if ((size_t)(at + 1) * sizeof x > from_room ||
          (size_t)(out + 1) * sizeof x > to_room)
        return MT_ERANGE;
      memcpy(&x, from + (size_t)at * sizeof x, sizeof x);
      x = isfinite(x) ? x - (float)as_read(x, MT_f32) : 0;
      memcpy(to + (size_t)out * sizeof x, &x, sizeof x);
    }
  return MT_OK;
}
