/*
** ampere.c - random products by each row of ampere.def: sums of integers are exact.
** SPDX-License-Identifier: MIT
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ampere_test.h"
#include "desc/epilogue_desc.h"
#include "gemm/gemm.h"
#include "kernels_test.h"
#include "near_end.h"
#include "types/convert.h"
#include "types/dtype.h"

enum { MARGIN = 1 << 14, POISON = 0xEE };

/* A matrix with a batch: strides in elements, the memory from the first element to the
** last, in a buffer with margins. */
typedef struct drawn {
  mt_dtype dtype;
  int64_t extent[3], stride[3], low, high; /* low: of the least element, from base */
  char *buffer, *base;
} drawn;

static int64_t size_of (const drawn *d) { return (int64_t)mt_dtype_size(d->dtype); }

/* One mode together, or apart; pitches of whole lines, or of any number of elements. */
static void draw_strides (drawn *d, bool lines) {
  const int inner = below(2), unit = lines ? 16 : 1, step = below(6) ? 1 : 1 + below(3);
  const int64_t pitch = (d->extent[inner] * step + below(9) + unit - 1) / unit * unit;
  d->stride[inner] = step;
  d->stride[1 - inner] = !lines && below(8) == 0 ? -pitch : pitch;
  d->stride[2] = pitch * d->extent[1 - inner] + below(9) * unit;
  if (below(8) == 0) d->stride[2] = 0;
}

static void draw (drawn *d, mt_dtype dtype, int64_t x, int64_t y, int64_t l, bool lines) {
  *d = (drawn){.dtype = dtype, .extent = {x, y, l}};
  draw_strides(d, lines);
  for (int i = 0; i < 3; i++) {
    const int64_t last = (d->extent[i] - 1) * d->stride[i];
    if (last < 0) d->low += last;
    else d->high += last;
  }
  const int64_t off = lines ? 0 : below(8) * size_of(d);
  const size_t bytes = (size_t)((d->high - d->low + 1) * size_of(d) + off + 2 * MARGIN);
  d->buffer = aligned_alloc(64, (bytes + 63) / 64 * 64);
  d->base = d->buffer + MARGIN + off - d->low * size_of(d);
  if (d->buffer) memset(d->buffer, POISON, bytes);
}

static char *element (const drawn *d, int64_t x, int64_t y, int64_t l) {
  return d->base + (x * d->stride[0] + y * d->stride[1] + l * d->stride[2]) * size_of(d);
}

static void put (const drawn *d, char *at, double v) {
  mt_err err = MT_NOERR;
  mt_number n = mt_is_float_type(d->dtype) ? (mt_number){.f = v} :
                                             (mt_number){.isint = true, .i = (int64_t)v};
  if (mt_store_element(d->dtype, at, n, &err) != MT_OK) abort();
}

static double get (const drawn *d, const char *at) {
  mt_number n = mt_load_element(d->dtype, at);
  return n.isint ? (double)n.i : n.f;
}

static void fill (const drawn *d, int most) {
  const bool sign = d->dtype != MT_u8;
  for (int64_t l = 0; l < d->extent[2]; l++)
    for (int64_t y = 0; y < d->extent[1]; y++)
      for (int64_t x = 0; x < d->extent[0]; x++)
        put(d, element(d, x, y, l), below(sign ? 2 * most + 1 : most + 1) - most * sign);
}

/* ---------------------------------------------------------------- the launch */

static void put_part (mt_part *p, const drawn *d) {
  p->dtype = d->dtype;
  mt_digit *digit = p->digit;
  for (int i = 0; i < 3; i++)
    if (d->extent[i] > 1) {
      p->ndigit[i] = 1;
      *digit++ = (mt_digit){.extent = d->extent[i], .stride = d->stride[i]};
    }
  for (int i = 0; i < 2; i++) p->real[i] = d->extent[i];
}

static void make_launch (mt_gemm_launch *l, const drawn x[MT_PARTS]) {
  memset(l, 0, sizeof *l);
  const int64_t size[] = {x[0].extent[0], x[1].extent[0], x[0].extent[1], x[0].extent[2]};
  memcpy(l->desc.size, size, sizeof size);
  l->alpha = below(3) ? 1 : below(5) - 2;
  l->beta = below(3) ? 0 : below(5) - 2;
  if (l->alpha == 0) l->alpha = 3;
  for (int i = 0; i < MT_PARTS; i++) {
    put_part(&l->desc.part[i], &x[i]);
    l->base[i] = x[i].base;
  }
}

/* ---------------------------------------------------------------- epilogues */

/* Bias and residual of small integers, in any types; strides may be 0. A residual that is
** not drawn is C, now and then. */
static void draw_epilogue (mt_gemm_launch *l, drawn side[MT_BESIDES], const drawn *c) {
  static const mt_dtype floats[] = {MT_f32, MT_f16, MT_bf16, MT_f64};
  l->finishes = 1;
  l->activation = (uint32_t)below(MT_NACTIVATION);
  for (int i = 0; i < MT_BESIDES; i++) {
    const bool is_c = i == MT_RESIDUAL && below(3) == 0;
    drawn *d = &side[i];
    if (!is_c && below(3) == 0) continue;
    draw(d, floats[below(4)], c->extent[0], c->extent[1], c->extent[2], below(2));
    for (int k = 0; k < 3; k++)
      if (below(3) == 0) d->stride[k] = 0;
    fill(d, 3);
    const drawn *from = is_c ? c : d;
    mt_part p = {.dtype = MT_f32};
    put_part(&p, from);
    l->beside[i].dtype = p.dtype;
    memcpy(l->beside[i].ndigit, p.ndigit, sizeof p.ndigit);
    memcpy(l->beside[i].digit, p.digit, sizeof p.digit);
    l->beside_base[i] = from->base;
  }
}

/* What C becomes, in order of m, n, l; C may be written in any order. */
static double *expect (const mt_gemm_launch *l, const drawn x[MT_PARTS]) {
  const int64_t *s = l->desc.size;
  double *out = malloc((size_t)(s[0] * s[1] * s[3]) * sizeof *out), *to = out;
  for (int64_t b = 0; b < s[3]; b++)
    for (int64_t n = 0; n < s[1]; n++)
      for (int64_t m = 0; m < s[0]; m++) {
        double sum = 0, old = 0;
        char held[8];
        for (int64_t k = 0; k < s[2]; k++)
          sum +=
              get(&x[0], element(&x[0], m, k, b)) * get(&x[1], element(&x[1], n, k, b));
        if (l->beta != 0) old = l->beta * get(&x[2], element(&x[2], m, n, b));
        double v = l->alpha * sum + old;
        const int64_t at[3] = {m, n, b};
        if (l->finishes)
          v = mt_finish_sum(l->activation, x[2].dtype == MT_f64, v,
                            mt_beside_value(l, MT_BIAS, at),
                            mt_beside_value(l, MT_RESIDUAL, at));
        put(&x[2], held, v);
        *to++ = get(&x[2], held);
      }
  return out;
}

static bool is_right (emulated_block *b, const mt_gemm_launch *l, const drawn *c,
                      const double *want) {
  const int64_t *s = l->desc.size;
  for (int64_t i = 0; i < s[3]; i++)
    for (int64_t n = 0; n < s[1]; n++)
      for (int64_t m = 0; m < s[0]; m++, want++) {
        const double got = get(c, element(c, m, n, i));
        if (mt_near_end(l->finishes ? l->activation : 0, (mt_dtype)c->dtype, got, *want))
          continue;
        snprintf(b->report, sizeof b->report, "C(%d,%d,%d) is %g, not %g", (int)m, (int)n,
                 (int)i, got, *want);
        return false;
      }
  return true;
}

/* No byte of C's buffer that is not C's was written. */
static bool is_untouched (emulated_block *b, const drawn *c) {
  for (int64_t i = 0; i < c->extent[2]; i++)
    for (int64_t n = 0; n < c->extent[1]; n++)
      for (int64_t m = 0; m < c->extent[0]; m++)
        memset(element(c, m, n, i), POISON, (size_t)size_of(c));
  const char *end = c->base + (c->high + 1) * size_of(c) + MARGIN;
  for (const char *p = c->buffer; p < end; p++)
    if (*p != (char)POISON) {
      snprintf(b->report, sizeof b->report, "memory beside C was written");
      return false;
    }
  return true;
}

static void set_up (emulated_block *b, const mt_ampere *a, const drawn x[MT_PARTS],
                    bool turned) {
  *b = (emulated_block){.threads = mt_ampere_threads(a->row), .shared = a->shared};
  b->order = (emulated_turn)below(NTURN);
  b->seed = seed_now();
  for (int i = 0; i < 2; i++) {
    const drawn *d = &x[turned ? 1 - i : i];
    b->source[i].low = d->base + d->low * size_of(d);
    b->source[i].high = d->base + (d->high + 1) * size_of(d);
  }
}

static mt_dtype draw_result (const mt_ampere_row *r) {
  static const mt_dtype floats[] = {MT_f32, MT_f16, MT_bf16, MT_f64};
  if (r->sum == MT_i32) return MT_i32;
  return below(2) ? r->sum : floats[below(4)];
}

/* Stream-K by a few blocks, now and then, and its memory. */
static void share_tiles (mt_ampere *a) {
  mt_ampere_share(a, below(3) ? 1 + below(below(2) ? 4 * a->launch.tiles : 4) : 0);
  a->launch.work = calloc(1, mt_ampere_memory(a) + 1);
}

/* All flags are as they were: the next launch finds them so. */
static bool flags_are_down (emulated_block *b, const mt_ampere *a) {
  const size_t bytes = a->launch.streams ? MT_AMPERE_FLAGS : 0;
  for (size_t i = 0; i < bytes; i++)
    if (a->launch.work[i])
      return snprintf(b->report, sizeof b->report, "a flag is up"), false;
  return true;
}

/* The result of what was drawn, by the kernel. */
static bool computes (const mt_gemm_launch *l, const mt_ampere *a,
                      const drawn x[MT_PARTS], run_block_kernel *run, size_t kernel,
                      emulated_block *b) {
  double *want = expect(l, x);
  set_up(b, a, x, a->launch.operand[0].base != x[0].base);
  const bool good = run(kernel, &a->launch, b) && is_right(b, l, &x[2], want) &&
                    is_untouched(b, &x[2]) && flags_are_down(b, a);
  free(want);
  return good;
}

/* A small product, so that its sums are integers that every type has. */
bool one_ampere (const mt_ampere_row *r, run_block_kernel *run, size_t kernel, bool *ran,
                 emulated_block *b) {
  const bool may_lie_anywhere = r->major[0] == MT_MAJOR_ANY || r->type[0] == MT_f32;
  const bool lines = !may_lie_anywhere || below(3) == 0;
  const mt_dtype c = draw_result(r);
  const int most = c == MT_bf16 || c == MT_f16 ? 1 : 3;
  const int64_t m = 1 + below(r->m * 3 / 2), n = 1 + below(r->n * 3 / 2),
                l = 1 + below(mt_ampere_has_streams(r) ? 8 : 2);
  const int64_t k = 1 + below(below(2) ? r->k * 5 : r->k);
  drawn x[MT_PARTS], side[MT_BESIDES] = {{.buffer = NULL}};
  mt_gemm_launch launch;
  mt_ampere a;
  draw(&x[0], r->type[0], m, k, l, lines);
  draw(&x[1], r->type[1], n, k, l, lines);
  draw(&x[2], c, m, n, l, below(2));
  while (x[2].stride[2] == 0 && l > 1) {
    free(x[2].buffer);
    draw(&x[2], c, m, n, l, below(2));
  }
  make_launch(&launch, x);
  if (r->finishes) draw_epilogue(&launch, side, &x[2]);
  const int parts = mt_ampere_most_parts(r) > 1 ? 1 + below(2) : 1;
  *ran = mt_ampere_take(&a, r, parts, &launch, 132);
  for (int i = 0; *ran && i < MT_PARTS; i++) fill(&x[i], i == 2 ? 2 : most);
  if (*ran) share_tiles(&a);
  const bool good = !*ran || computes(&launch, &a, x, run, kernel, b);
  if (*ran) free(a.launch.work);
  for (int i = 0; i < MT_PARTS; i++) free(x[i].buffer);
  for (int i = 0; i < MT_BESIDES; i++) free(side[i].buffer);
  return good;
}

bool by_cp_async (long times) {
  long all = 0;
  emulated_block b;
  for (size_t row = 0; row < mt_nampere_rows; row++) {
    const long most = mt_ampere_has_streams(&mt_ampere_rows[row]) ? 4 * times : times;
    for (long i = 0; i < most;) {
      const uint64_t from = seed_now();
      bool ran = false;
      if (!one_ampere(&mt_ampere_rows[row], emulate_ampere, row, &ran, &b)) {
        fprintf(stderr, "%s\nrow %d, seed 0x%llx\n", b.report, (int)row,
                (unsigned long long)from);
        return false;
      }
      i += ran, all += ran;
    }
  }
  printf("kernels: %ld products by cp.async\n", all);
  return true;
}

/* All 8-bit floats are the same numbers as f16. */
bool halves_of_bytes (void) {
  for (int i = 0; i < 1024; i++) {
    const mt_dtype from = i / 512 ? MT_e5m2 : MT_e4m3;
    const unsigned char byte = (unsigned char)i;
    const int place = i / 256 % 2 ? 3 : 0;
    const uint32_t r = emulate_halves(i / 512, (uint32_t)byte << place * 8, place == 3);
    const uint16_t half = (uint16_t)(place == 3 ? r >> 16 : r);
    const double x = mt_load_element(from, &byte).f, y = mt_load_element(MT_f16, &half).f;
    if (x == y || (isnan(x) && isnan(y))) continue;
    return fprintf(stderr, "%s %d: %g is %g\n", mt_dtype_name(from), byte, x, y), false;
  }
  return true;
}
