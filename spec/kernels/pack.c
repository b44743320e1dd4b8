/*
** pack.c - random operands, packed by the kernels of pack.def: every byte is where it
** belongs, no byte is written twice, nothing else is read or written.
** SPDX-License-Identifier: MIT
**
** usage: moontile_pack_test [CASES [SEED]]
*/
#include <stdlib.h>

#include "common/cases.h"
#include "gemm/matrix.h"
#include "gemm/pack.h"
#include "pack_test.h"

enum { MARGIN = 256, POISON = 0xEE };

/* An operand: its elements, and where they go. */
typedef struct side {
  mt_matrix x, packed;
  char *source, *target, *written;
  size_t bytes; /* of the target */
} side;

static side sides[2];

bool emulate_pack_write (void *p, size_t bytes) {
  for (int i = 0; i < 2; i++) {
    const side *s = &sides[i];
    const char *at = p;
    if (s->target == NULL || at < s->target + MARGIN) continue;
    if (at + bytes > s->target + MARGIN + s->bytes) continue;
    for (size_t k = 0; k < bytes; k++)
      if (s->written[at - s->target - MARGIN + (ptrdiff_t)k]++) return false;
    return (uintptr_t)p % bytes == 0;
  }
  return false;
}

/* ---------------------------------------------------------------- drawing */

static const mt_dtype types[] = {MT_i8, MT_bf16, MT_f16, MT_f32, MT_f64};

/* Strides of any signs, rows that begin anywhere; one mode lies together. */
static void draw_matrix (mt_matrix *x) {
  *x = (mt_matrix){.name = "A", .dtype = types[pick(5)]};
  const int inner = pick(3) ? 1 : 0;
  x->extent[inner] = 1 + pick(pick(3) ? 80 : 700);
  x->extent[1 - inner] = 1 + pick(40);
  x->batch = pick(3) ? 1 : 1 + pick(4);
  const int64_t pitch = x->extent[inner] + (pick(2) ? pick(20) : 0);
  const int64_t all = pitch * x->extent[1 - inner] + (pick(2) ? pick(20) : 0);
  x->stride[inner] = 1;
  x->stride[1 - inner] = pick(5) == 0 ? -pitch : pitch;
  x->stride[2] = pick(4) == 0 ? 0 : pick(5) == 0 ? -all : all;
  if (pick(12) == 0) x->stride[1 - inner] = 0;
  for (int i = 0; i < 2; i++)
    if (x->extent[i] == 1) x->stride[i] = 0;
  if (x->batch == 1) x->stride[2] = 0;
}

static int64_t offset (const mt_matrix *x, int64_t i, int64_t j, int64_t l) {
  return (i * x->stride[0] + j * x->stride[1] + l * x->stride[2]) *
         (int64_t)mt_dtype_size(x->dtype);
}

/* Memory for it, which begins at any multiple of its elements' size. */
static void place_source (side *s) {
  mt_matrix *x = &s->x;
  const int64_t size = (int64_t)mt_dtype_size(x->dtype);
  int64_t low = 0, high = 0;
  for (int i = 0; i < 3; i++) {
    const int64_t last = ((i < 2 ? x->extent[i] : x->batch) - 1) * x->stride[i] * size;
    low += last < 0 ? last : 0;
    high += last < 0 ? 0 : last;
  }
  const size_t bytes = (size_t)(high - low + size) + 2 * MARGIN;
  s->source = malloc(bytes);
  if (s->source == NULL) abort();
  for (size_t i = 0; i < bytes; i++) s->source[i] = (char)next64();
  x->base = s->source + 64 + pick(16) * size - low;
}

static void place_target (side *s, mt_pack_operand *o) {
  s->bytes = mt_pack_bytes(o);
  s->target = aligned_alloc(64, s->bytes + 2 * MARGIN);
  s->written = calloc(s->bytes, 1);
  if (s->target == NULL || s->written == NULL) abort();
  memset(s->target, POISON, s->bytes + 2 * MARGIN);
  o->to = s->target + MARGIN;
}

/* ---------------------------------------------------------------- results */

static bool is_right (const side *s) {
  const mt_matrix *x = &s->x, *y = &s->packed;
  const size_t size = mt_dtype_size(x->dtype);
  for (int64_t l = 0; l < x->batch; l++)
    for (int64_t i = 0; i < x->extent[0]; i++)
      for (int64_t j = 0; j < x->extent[1]; j++) {
        const char *at = s->target + MARGIN + offset(y, i, j, l);
        if (memcmp(at, x->base + offset(x, i, j, l), size) != 0) return false;
      }
  return true;
}

/* Where nothing was written there is what was there. */
static bool is_clean (const side *s) {
  for (size_t i = 0; i < s->bytes + 2 * MARGIN; i++) {
    const bool inside = i >= MARGIN && i < MARGIN + s->bytes;
    if (inside && s->written[i - MARGIN]) continue;
    if (s->target[i] != (char)POISON) return false;
  }
  return true;
}

static bool is_aligned (const mt_matrix *y, int64_t unit) {
  const int64_t size = (int64_t)mt_dtype_size(y->dtype);
  const int inner = y->stride[1] == 1 ? 1 : 0;
  return y->stride[inner] == 1 && y->stride[1 - inner] * size % unit == 0 &&
         y->stride[2] * size % unit == 0;
}

static void give_back (side *s) {
  free(s->source), free(s->target), free(s->written);
  *s = (side){.source = NULL};
}

/* Whether it has rows that stay rows: those of its second mode, or wide ones of its
** first, if these may be. */
static bool has_rows (const mt_matrix *x, bool first) {
  return mt_is_run(x, 1) || (first && mt_is_run(x, 0) && x->extent[0] >= 64);
}

static void one_case (uint64_t seed) {
  mt_pack_launch l = {.operand = {{.all = 0}}};
  begin_case(seed);
  for (int i = 0; i < 2; i++) {
    side *s = &sides[i];
    const bool first = pick(2);
    draw_matrix(&s->x);
    place_source(s);
    s->packed = s->x;
    if (pick(4) == 0) continue; /* it stays as it is */
    const bool packs = mt_pack_matrix(&l.operand[i], &s->packed, first);
    CHECK(packs == has_rows(&s->x, first), "rows of operand %d: %d", i, packs);
    if (packs) place_target(s, &l.operand[i]);
  }
  const size_t row = mt_pack_shape(&l, 1 + pick(3));
  CHECK(emulate_pack(row, &l), "%s: a bad access", mt_pack_rows[row].name);
  for (int i = 0; i < 2; i++) {
    if (sides[i].target) {
      CHECK(is_aligned(&sides[i].packed, 128), "operand %d: rows are not aligned", i);
      CHECK(is_right(&sides[i]), "operand %d: not its elements", i);
      CHECK(is_clean(&sides[i]), "operand %d: more was written", i);
    }
    give_back(&sides[i]);
  }
}

/* What is too large for one launch, or empty, is left as it is. */
static void limits (void) {
  static char memory[64];
  mt_pack_operand o;
  const mt_matrix any = {.name = "A", .dtype = MT_bf16, .base = memory, .batch = 1};
  mt_matrix x = any;
  begin_case(0);
  x.extent[0] = INT64_C(1) << 31, x.extent[1] = 8, x.stride[1] = 1;
  CHECK(!mt_pack_matrix(&o, &x, true) && x.base == memory, "2^31 rows");
  x.extent[0] = INT64_C(1) << 62;
  CHECK(!mt_pack_matrix(&o, &x, true), "2^62 rows");
  x.extent[0] = 0;
  CHECK(!mt_pack_matrix(&o, &x, true), "no rows");
}

int main (int argc, char **argv) {
  const long times = argc > 1 ? atol(argv[1]) : cases_of(2000);
  const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
  limits();
  for (long i = 0; i < times; i++) one_case(seed + (uint64_t)i);
  printf("%ld pairs of operands packed, %d failures\n", times, failures);
  return failures > 0;
}
