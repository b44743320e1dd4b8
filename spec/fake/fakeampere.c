/*
** fakeampere.c - kernels of cp.async and mma.sync without a GPU: each tile, slab by slab.
** SPDX-License-Identifier: MIT
**
** The walk over tiles is the kernels'. What is outside of an operand is 0; all that is
** read lies in its memory, as the launch says where that is. Sums are those of doubles,
** rounded once; integers saturate. What the launch says of alignment is looked at.
*/
#include "fakecuda.h"
#include "types/convert.h"

uint32_t fake_ampere_room (const mt_kernel *k) {
  return mt_ampere_shared(mt_cuda_ampere_row(k));
}

typedef struct job {
  const mt_ampere_row *row;
  const mt_ampere_launch *l;
  const char *low[2]; /* of A and B, on the host */
  char *c;
  size_t room; /* of C */
  int device;
  bool bad;
} job;

/* The memory of an operand is one buffer's. */
static bool open_operand (job *j, int part, int device) {
  const mt_ampere_operand *o = &j->l->operand[part];
  size_t room;
  j->low[part] = fake_host((CUdeviceptr)(uintptr_t)o->low, device,
                           (size_t)(o->high - o->low), &room);
  return j->low[part] != NULL;
}

/* Lines are aligned, and the elements of lines and windows lie together. */
static bool is_fair (const mt_ampere_launch *l, const mt_ampere_row *row, int part) {
  const mt_ampere_operand *o = &l->operand[part];
  const int64_t size = (int64_t)mt_dtype_size(row->type[part]);
  const bool along_k = o->way == MT_WAY_WINDOWS || row->major[part] == MT_MAJOR_K;
  const int64_t inner = along_k ? o->k : o->along, outer = along_k ? o->along : o->k;
  const bool one = along_k ? l->size[2] == 1 : o->extent == 1;
  if (o->way != MT_WAY_WINDOWS && o->way != MT_WAY_LINES) return true;
  if (!one && inner != size) return false;
  return o->way == MT_WAY_WINDOWS ||
         ((uintptr_t)o->base % 16 == 0 && outer % 16 == 0 && o->batch % 16 == 0);
}

/* Row i of an operand at depth k: a number. */
static double operand (job *j, int part, int64_t i, int64_t k, int64_t batch) {
  const mt_ampere_operand *o = &j->l->operand[part];
  const mt_dtype d = j->row->type[part];
  const int64_t at = i * o->along + k * o->k + batch * o->batch + (o->base - o->low);
  if (i >= o->extent || k >= j->l->size[2]) return 0;
  j->bad |= at < 0 || at + (int64_t)mt_dtype_size(d) > o->high - o->low;
  if (j->bad) return 0;
  mt_number v = mt_load_element(d, j->low[part] + at);
  return v.isint ? (double)v.i : v.f;
}

static void finish (job *j, char *p, double sum, const int64_t at[3]) {
  const mt_ampere_launch *l = j->l;
  const mt_dtype d = (mt_dtype)l->dtype;
  mt_err err = MT_NOERR;
  if (d == MT_i32) {
    const double most = INT32_MAX, least = INT32_MIN;
    const int32_t held = (int32_t)(sum > most ? most : sum < least ? least : sum);
    int32_t old, to;
    memcpy(&old, p, sizeof old);
    to = mt_cast_scaled(l->alpha, held, l->beta, l->beta != 0 ? old : 0);
    memcpy(p, &to, sizeof to);
    return;
  }
  mt_number old = l->beta != 0 ? mt_load_element(d, p) : (mt_number){.f = 0};
  mt_number v = {.f = l->alpha * sum + (l->beta != 0 ? l->beta * old.f : 0)};
  if (j->row->finishes) v.f = fake_ending(&l->finish, d, v.f, at, j->device, &j->bad);
  if (mt_store_element(d, p, v, &err) != MT_OK) j->bad = true;
}

static void one (job *j, int64_t m, int64_t n, int64_t batch) {
  const mt_ampere_launch *l = j->l;
  const int64_t size = (int64_t)mt_dtype_size((mt_dtype)l->dtype);
  double sum = 0;
  if (m >= l->size[0] || n >= l->size[1]) return;
  const int64_t at = m * l->stride[0] + n * l->stride[1] + batch * l->stride[2];
  j->bad |= at < 0 ? false : (size_t)((at + 1) * size) > j->room;
  const int64_t slabs = (int64_t)l->slabs * j->row->k; /* beyond K all is 0 */
  for (int64_t k = 0; k < slabs && k < l->size[2]; k++)
    sum += operand(j, MT_A, m, k, batch) * operand(j, MT_B, n, k, batch);
  const int64_t place[3] = {m, n, batch};
  if (!j->bad) finish(j, j->c + at * size, sum, place);
}

static void tile (job *j, int number) {
  const mt_ampere_launch *l = j->l;
  const int each = l->tiles_m * l->tiles_n, batch = number / each, t = number % each;
  const int first = t / (l->group * l->tiles_n) * l->group;
  const int rows = l->tiles_m - first < l->group ? l->tiles_m - first : l->group;
  const int in = t - first * l->tiles_n;
  const int64_t m = (int64_t)(first + in % rows) * j->row->m;
  const int64_t n = (int64_t)(in / rows) * j->row->n;
  for (int y = 0; y < j->row->m; y++)
    for (int x = 0; x < j->row->n; x++) one(j, m + y, n + x, batch);
}

/* Four results along N are one access. */
static bool is_wide (const mt_ampere_launch *l) {
  const size_t four = 4 * mt_dtype_size((mt_dtype)l->dtype);
  return l->plain && l->stride[1] == 1 && l->size[1] % 4 == 0 && l->stride[0] % 4 == 0 &&
         l->stride[2] % 4 == 0 && (uintptr_t)l->c % (four < 16 ? four : 16) == 0;
}

/* Memory of stream-K: all of it is the device's, and its flags are down. */
static bool has_memory (const mt_ampere *a, int device) {
  const size_t bytes = mt_ampere_memory(a);
  size_t room = 0;
  if (bytes == 0) return true;
  const char *work = fake_host((CUdeviceptr)(uintptr_t)a->launch.work, device, 0, &room);
  if (work == NULL || room < bytes) return false;
  for (size_t i = 0; i < MT_AMPERE_FLAGS; i++)
    if (work[i] != 0) return false;
  return true;
}

mt_status fake_ampere (const mt_kernel *k, mt_grid grid, const mt_ampere_launch *l,
                       int device) {
  job j = {.row = mt_cuda_ampere_row(k), .l = l, .device = device};
  const mt_ampere a = {.launch = *l, .row = j.row};
  j.c = fake_host((CUdeviceptr)(uintptr_t)l->c, device, 0, &j.room);
  if (grid.threads != mt_ampere_threads(j.row) || l->parts < 1 ||
      l->parts > mt_ampere_most_parts(j.row) || grid.blocks != mt_ampere_blocks(&a) ||
      !has_memory(&a, device) || !is_fair(l, j.row, MT_A) || !is_fair(l, j.row, MT_B) ||
      (l->wide && !is_wide(l)) ||
      (l->plain && (l->alpha != 1 || l->beta != 0 || j.row->finishes)))
    return MT_ERANGE;
  if (j.c == NULL || !open_operand(&j, MT_A, device) || !open_operand(&j, MT_B, device))
    return MT_ERANGE;
  for (int t = 0; t < l->tiles; t++) tile(&j, t);
  return j.bad ? MT_ERANGE : MT_OK;
}
