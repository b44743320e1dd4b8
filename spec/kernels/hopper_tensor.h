/*
** hopper_tensor.h - operands and results of products by TMA and wgmma, in memory of theirs.
** SPDX-License-Identifier: MIT
*/
#ifndef SPEC_HOPPER_TENSOR_H
#define SPEC_HOPPER_TENSOR_H

#include <stdlib.h>
#include <string.h>

#include "hopper_case.h"
#include "types/dtype.h"

enum { ALIGN = 16, MARGIN = 1 << 16, POISON = 0xFF };

/* A tensor in memory; strides are in elements. */
typedef struct tensor {
  mt_dtype dtype;
  int64_t extent[3], stride[3], low, high;
  char *buffer, *base;
} tensor;

static inline size_t size_of (const tensor *t) { return mt_dtype_size(t->dtype); }
static inline int64_t round_up (int64_t n, int64_t to) { return (n + to - 1) / to * to; }

static inline bool make_buffer (tensor *t) {
  for (int i = 0; i < 3; i++) {
    const int64_t last = (t->extent[i] - 1) * t->stride[i];
    if (last < 0) t->low += last;
    else t->high += last;
  }
  const int64_t each = (int64_t)size_of(t);
  const int64_t bytes = round_up((t->high - t->low + 1) * each + 2 * MARGIN, 64);
  t->buffer = aligned_alloc(64, (size_t)bytes);
  if (t->buffer == NULL) return false;
  memset(t->buffer, POISON, (size_t)bytes);
  t->base = t->buffer + MARGIN - t->low * each;
  return true;
}

/* What a map takes: `inner` together, strides and base of 16 bytes. */
static inline bool make_lines (tensor *t, int inner, bool shared) {
  const int64_t unit = ALIGN / (int64_t)size_of(t);
  const int64_t pitch = round_up(t->extent[inner] + pick(9), unit);
  t->stride[inner] = 1;
  t->stride[1 - inner] = pitch;
  t->stride[2] = shared ? 0 : round_up(pitch * t->extent[1 - inner] + pick(9), unit);
  return make_buffer(t);
}

/* Any strides that write each element once. */
static inline bool make_any (tensor *t) {
  const int inner = pick(2), step = 1 + pick(2), sign = pick(4) == 0 ? -1 : 1;
  const int64_t pitch = t->extent[inner] * step + pick(9);
  t->stride[inner] = step;
  t->stride[1 - inner] = sign * pitch;
  t->stride[2] = pitch * t->extent[1 - inner] + pick(9);
  return make_buffer(t);
}

/* Rows that lie together and begin anywhere. */
static inline bool make_rows (tensor *t) {
  const int64_t unit = 1 << pick(3);
  t->stride[0] = round_up(t->extent[1] + pick(9), unit);
  t->stride[1] = 1;
  t->stride[2] = round_up(t->stride[0] * t->extent[0] + pick(9), unit);
  t->high = ALIGN; /* room to begin later */
  if (!make_buffer(t)) return false;
  t->high -= ALIGN;
  if (pick(2)) t->base += pick(ALIGN / (int)unit) * unit * (int64_t)size_of(t);
  return true;
}

/* Bytes that all rows are aligned to, 8 at most. */
static inline int32_t width_of (const tensor *t) {
  int32_t width = 8;
  while (((uintptr_t)t->base | (uint64_t)t->stride[0] * size_of(t) |
          (uint64_t)t->stride[2] * size_of(t)) %
             (uint64_t)width !=
         0)
    width /= 2;
  return width;
}

static inline char *element (const tensor *t, int64_t x, int64_t y, int64_t l) {
  return t->base +
         (x * t->stride[0] + y * t->stride[1] + l * t->stride[2]) * (int64_t)size_of(t);
}

static inline void put (const tensor *t, char *at, double v) {
  mt_err err = MT_NOERR;
  mt_number n = mt_is_float_type(t->dtype) ? (mt_number){.f = v} :
                                             (mt_number){.isint = true, .i = (int64_t)v};
  if (mt_store_element(t->dtype, at, n, &err) != MT_OK) abort();
}

static inline double get (const tensor *t, const char *at) {
  mt_number n = mt_load_element(t->dtype, at);
  return n.isint ? (double)n.i : n.f;
}

#endif
