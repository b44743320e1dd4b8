/*
** pack.c - operands that are packed by rows: which, how, by how many blocks.
** SPDX-License-Identifier: MIT
*/
#include "gemm/pack.h"
#include "gemm/matrix.h"
#include "core/arith.h"
#include "desc/divisor.h"

#define MT_PACK_KERNEL(name, unroll) {#name, unroll},
const mt_pack_row mt_pack_rows[] = {
#include "kernels/gemm/pack.def"
};
const size_t mt_npack_rows = sizeof mt_pack_rows / sizeof mt_pack_rows[0];

enum {
  UNIT = 128,      /* bytes; packed rows begin at multiples of it */
  WIDE = 64,       /* elements of M or N from which their rows stay rows */
  RESIDENT = 2048, /* threads of a multiprocessor */
  MOST = 1 << 30   /* vectors */
};

/* From the first byte that is read to behind the last. */
static void find_memory (mt_pack_operand *o, const mt_matrix *x) {
  const int64_t size = (int64_t)mt_dtype_size(x->dtype);
  o->low = x->base;
  o->high = x->base + size;
  for (int i = 0; i < 3; i++) {
    const int64_t last = ((i < 2 ? x->extent[i] : x->batch) - 1) * x->stride[i] * size;
    if (last < 0) o->low += last;
    else o->high += last;
  }
}

/* The mode whose elements lie side by side; negative: there is none. */
static int find_inner (const mt_matrix *x, bool first) {
  if (mt_is_run(x, 1)) return 1;
  return first && mt_is_run(x, 0) && x->extent[0] >= WIDE ? 0 : -1;
}

/* Vectors of all rows; negative: too many. */
static int64_t count (const mt_matrix *x, int inner, int64_t batches) {
  const int64_t size = (int64_t)mt_dtype_size(x->dtype);
  int64_t n = mt_div_up(x->extent[inner] * size, MT_PACK_VECTOR);
  if (x->extent[inner] > MOST || mt_mulo(n, x->extent[1 - inner], &n) ||
      mt_mulo(n, batches, &n) || n > MOST)
    return -1;
  return n;
}

bool mt_pack_matrix (mt_pack_operand *out, mt_matrix *x, bool first) {
  const int64_t size = (int64_t)mt_dtype_size(x->dtype), each = UNIT / size;
  const int64_t batches = x->stride[2] == 0 ? 1 : x->batch;
  if (x->extent[0] < 1 || x->extent[1] < 1 || batches < 1) return false;
  const int inner = find_inner(x, first);
  const int64_t all = inner < 0 ? -1 : count(x, inner, batches);
  if (all < 0) return false;
  const int64_t rows = x->extent[1 - inner];
  const int64_t pitch = mt_div_up(x->extent[inner], each) * each;
  *out = (mt_pack_operand){.from = x->base,
                           .from_pitch = x->stride[1 - inner] * size,
                           .from_batch = x->stride[2] * size,
                           .to_pitch = pitch * size,
                           .bytes = x->extent[inner] * size,
                           .rows = mt_divisor_of(rows),
                           .all = (uint32_t)all};
  out->vectors = mt_divisor_of(mt_div_up(out->bytes, MT_PACK_VECTOR));
  find_memory(out, x);
  x->base = NULL;
  x->stride[inner] = 1;
  x->stride[1 - inner] = pitch;
  x->stride[2] = x->stride[2] == 0 ? 0 : rows * pitch;
  return true;
}

/* The first row that has all on its way at once; else the last. */
size_t mt_pack_shape (mt_pack_launch *l, int cores) {
  const int64_t all = (int64_t)l->operand[0].all + l->operand[1].all;
  size_t row = 0;
  while (row + 1 < mt_npack_rows &&
         all > (int64_t)cores * RESIDENT * mt_pack_rows[row].unroll)
    row++;
  const int64_t each = MT_PACK_THREADS * (int64_t)mt_pack_rows[row].unroll;
  for (int i = 0; i < 2; i++)
    l->operand[i].blocks = (uint32_t)mt_div_up(l->operand[i].all, each);
  return row;
}

size_t mt_pack_bytes (const mt_pack_operand *o) {
  return o->all == 0 ? 0 : (size_t)(o->all / o->vectors.extent) * (size_t)o->to_pitch;
}
