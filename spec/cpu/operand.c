/*
** operand.c - random tensors: modes cut into axes, strides in any order.
** SPDX-License-Identifier: MIT
*/
#include "gemm_test.h"

enum { MAXAXES = 12 };

typedef struct axes {
  int n, of[3];
  int64_t extent[MAXAXES], stride[MAXAXES];
} axes;

/* A size as up to four axes. */
static void cut (axes *x, int mode, int64_t size, bool whole) {
  for (int i = 0; i < 3 && size > 1 && !whole; i++) {
    int64_t f = between(2, 6);
    if (pick(2) || size % f) continue;
    x->extent[x->n++] = f;
    x->of[mode]++;
    size /= f;
  }
  x->extent[x->n++] = size;
  x->of[mode]++;
}

/* In a random order, each stride beyond what is there; not `own`: also less, or 0. */
static void stride (axes *x, bool own) {
  int order[MAXAXES];
  int64_t at = 1, gap = pick(3) == 0;
  bool plain = pick(2);
  for (int i = 0; i < x->n; i++) order[i] = i;
  for (int i = x->n - 1; i > 0; i--) {
    int j = pick(i + 1), t = order[i];
    order[i] = order[j], order[j] = t;
  }
  if (pick(2))
    for (int i = 0; i < x->n; i++) order[i] = pick(2) ? i : order[i];
  bool used[MAXAXES] = {0};
  for (int i = 0; i < x->n; i++) {
    int a = order[i];
    while (used[a]) a = (a + 1) % x->n;
    used[a] = true;
    x->stride[a] = !plain && pick(5) == 0 ? -at : at;
    if (!own && !plain && pick(5) == 0) x->stride[a] = pick(2) ? 0 : between(0, 3);
    at += (x->extent[a] - 1) * at + gap * pick(3);
  }
}

/* Rows or columns that lie together, one behind the other or with gaps. */
static void pitch (axes *x) {
  int first = pick(2);
  int64_t columns = x->extent[first], rows = x->extent[1 - first];
  x->stride[first] = 1;
  x->stride[1 - first] = columns + pick(2) * pick(5);
  x->stride[2] = x->stride[1 - first] * rows;
}

static void print_modes (char *text, size_t size, const axes *x, const int64_t *v) {
  size_t n = 0;
  int at = 0;
  for (int m = 0; m < 3; m++) {
    n += (size_t)snprintf(text + n, size - n, "%s", m ? ",(" : "((");
    for (int i = 0; i < x->of[m]; i++)
      n += (size_t)snprintf(text + n, size - n, "%s%lld", i ? "," : "",
                            (long long)v[at++]);
    n += (size_t)snprintf(text + n, size - n, ")");
  }
  snprintf(text + n, size - n, ")");
}

static void random_bytes (operand *o) {
  int64_t n = (int64_t)(o->t.bytes / mt_dtype_size(o->t.dtype));
  bool small = pick(2), sign = o->t.dtype < MT_u8;
  int drop = pick(2) ? 0 : pick(8 * (int)mt_dtype_size(o->t.dtype));
  for (int64_t i = 0; i < n; i++) {
    char *p = (char *)o->t.data + i * (int64_t)mt_dtype_size(o->t.dtype);
    uint64_t bits = next64() << (64 - 8 * mt_dtype_size(o->t.dtype));
    bits = sign ? (uint64_t)((int64_t)bits >> drop) : bits >> drop;
    bits >>= 64 - 8 * mt_dtype_size(o->t.dtype);
    mt_number v = {.f = (double)between(-1000, 1000) / 256};
    if (small) v.f = (double)between(-4, 4);
    if (mt_cpu_widener(o->t.dtype, MT_ACC_U64) == NULL)
      MUST(mt_store_element(o->t.dtype, p, v, err));
    else memcpy(p, &bits, mt_dtype_size(o->t.dtype));
    if (o->t.dtype == MT_bool) *p = (char)(bits & 1);
  }
}

void random_operand (operand *o, mt_dtype d, int64_t x, int64_t y, int64_t batch,
                     bool own, bool matrix) {
  char shape[300], strides[300], swizzle[40] = "";
  int64_t lo, hi;
  axes a = {0};
  o->size[0] = x, o->size[1] = y, o->size[2] = batch;
  matrix |= pick(3) == 0;
  bool wild = !matrix && pick(8) == 0;
  for (int m = 0; m < 3; m++) cut(&a, m, o->size[m], matrix);
  if (matrix) pitch(&a);
  else stride(&a, own);
  for (int i = 0; wild && i < a.n; i++) a.stride[i] = llabs(a.stride[i]);
  if (wild)
    snprintf(swizzle, sizeof swizzle, "Sw<%d,%d,%d> o %d o ", pick(3) + 1, pick(3),
             pick(2) ? 3 : -3, pick(20));
  print_modes(shape, sizeof shape, &a, a.extent);
  print_modes(strides, sizeof strides, &a, a.stride);
  snprintf(o->text, sizeof o->text, "%s%s:%s", swizzle, shape, strides);
  MUST(mt_parse(&o->layout, o->text, strlen(o->text), err));
  MUST(mt_footprint(&lo, &hi, o->layout.node, err));
  if (lo > 0) lo = 0;
  o->t = (mt_tensor){.layout = o->layout.node, .dtype = d, .offset = -lo};
  o->t.bytes = (size_t)(hi - lo) * mt_dtype_size(d);
  o->t.data = malloc(o->t.bytes + !o->t.bytes);
  if (o->t.data == NULL) abort();
  random_bytes(o);
}

void free_operand (operand *o) { free(o->t.data); }
