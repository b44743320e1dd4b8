/*
** mt_kernel.c - the tables of kernels, the choice among their rows, and why not.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "mt_flip.h"
#include "mt_kernel.h"
#include "mt_plan.h"
#include "mt_turn.h"

#define MT_COPY_KERNEL(name, form, bytes, threads, unroll)                               \
  {#name, MT_OP_COPY, MT_FORM_##form, bytes, threads, unroll, 0, NULL, false, 0},
#define MT_SWIZZLE_KERNEL(name, form, bytes, threads, unroll)                            \
  {#name, MT_OP_COPY, MT_FORM_##form, bytes, threads, unroll, 0, NULL, true, 0},
#define MT_CAST_KERNEL(name, form, src, dst)                                             \
  {#name, MT_OP_COPY, MT_FORM_##form, 0, MT_FORM_##form == MT_FORM_TV ? 1024 : 256,      \
   MT_CAST_UNROLL, 0, NULL,                                                              \
   MT_CAST(MT_##src, MT_##dst) == MT_CAST_ANY && MT_FORM_##form < MT_FORM_TILE,          \
   MT_CAST(MT_##src, MT_##dst)},
#define MT_MMA_KERNEL(name, arch, atom)                                                  \
  {#name, MT_OP_MMA, MT_FORM_TV, 0, 1024, 1, arch, atom, false, 0},
const mt_kernel mt_cuda_kernels[] = {
#include "../kernels/kernels.def"
};
const size_t mt_ncuda_kernels = sizeof mt_cuda_kernels / sizeof mt_cuda_kernels[0];

#define MT_CPU_KERNEL(name, how)                                                         \
  {#name, MT_OP_COPY, MT_FORM_FLAT, 0, 1, 1, 0, NULL, true, MT_CAST_ALL},
#define MT_CPU_PRODUCT(name, form, how)                                                  \
  {#name, MT_OP_MMA, MT_FORM_##form, 0, 1, 1, 0, "*", false, 0},
const mt_kernel mt_cpu_kernels[] = {
#include "mt_cpu.def"
};
const size_t mt_ncpu_kernels = sizeof mt_cpu_kernels / sizeof mt_cpu_kernels[0];

void mt_why_add (mt_why *w, const char *name, const char *format, ...) {
  char line[256];
  va_list ap;
  int n = snprintf(line, sizeof line, "%s: ", name);
  va_start(ap, format);
  vsnprintf(line + n, sizeof line - (size_t)n, format, ap);
  va_end(ap);
  size_t length = strlen(line);
  if (w->length + length + 2 > sizeof w->text) return;
  memcpy(w->text + w->length, line, length);
  w->length += length;
  w->text[w->length++] = '\n';
  w->text[w->length] = 0;
}

/* ---------------------------------------------------------------- fitting */

enum { MT_MAXGRID = 0x7fffffff };

static bool converts (const mt_kernel *k, uint32_t cast) {
  return k->cast == cast || k->cast == MT_CAST_ALL ||
         (k->cast == MT_CAST_ANY && cast != 0);
}

/* Rows of another operation, form, width, conversion or size of tiles, or of plain sides
** if they are swizzled, are not alternatives: they go without a word. */
static bool same_kind (const mt_kernel *k, const mt_desc *d) {
  bool flips = mt_has_flips(d);
  if (k->op != d->op || k->form != d->form || !converts(k, d->cast)) return false;
  if (k->bytes == 0) return k->swizzled || !flips;
  if (k->form == MT_FORM_TILE && k->unroll != 1 + mt_tile_is_large(d)) return false;
  return k->bytes == d->elem * d->vec && k->swizzled == flips;
}

bool mt_kernel_casts (const mt_desc *d, uint32_t form, bool own) {
  mt_desc other = *d;
  other.form = form;
  for (const mt_kernel *k = mt_cuda_kernels; k < mt_cuda_kernels + mt_ncuda_kernels; k++)
    if (same_kind(k, &other) && (!own || k->cast == d->cast)) return true;
  return false;
}

static bool fits (const mt_kernel *k, const mt_desc *d, mt_why *why) {
  if (d->form == MT_FORM_TV && d->threads > k->threads) {
    mt_why_add(why, k->name, "%lld threads, a block has at most %d",
               (long long)d->threads, (int)k->threads);
    return false;
  }
  if (d->form == MT_FORM_FLAT && k->bytes == 16 && k->unroll == 1 && d->nrest > 2) {
    mt_why_add(why, k->name, "%d axes: one access of a thread is for two at most",
               (int)d->nrest);
    return false;
  }
  if (d->values > MT_MAXGRID) {
    mt_why_add(why, k->name, "%lld accesses of one thread, at most %d",
               (long long)d->values, (int)MT_MAXGRID);
    return false;
  }
  return true;
}

/* More blocks than a grid may have: the kernel goes round, a grid at a time. */
static uint32_t blocks_of (int64_t rests, int64_t each) {
  int64_t n = rests / each + (rests % each != 0);
  return (uint32_t)(n < MT_MAXGRID ? n : MT_MAXGRID);
}

static mt_grid grid_of (const mt_kernel *k, const mt_desc *d) {
  mt_grid g = {0, k->threads};
  if (d->form == MT_FORM_ROWS) {
    g.blocks = blocks_of(mt_rows_vectors(d), (int64_t)k->threads * k->unroll);
    return g;
  }
  if (d->form >= MT_FORM_TILE) {
    g.blocks = (uint32_t)mt_tile_count(d);
    if (d->form == MT_FORM_BOX) g.threads = mt_turn_threads(d);
    return g;
  }
  g.threads = d->form == MT_FORM_TV ? (uint32_t)d->threads : k->threads;
  g.blocks = blocks_of(d->rests,
                       d->form == MT_FORM_TV ? 1 : (int64_t)k->threads * k->unroll);
  return g;
}

const mt_kernel *mt_kernel_choose (const mt_kernel *rows, size_t n, const mt_desc *d,
                                   mt_grid *grid, mt_why *why) {
  for (const mt_kernel *k = rows; k < rows + n; k++) {
    if (!same_kind(k, d) || !fits(k, d, why)) continue;
    *grid = grid_of(k, d);
    return k;
  }
  return NULL;
}

/* ---------------------------------------------------------------- products */

/* Whether the pattern is the text; after a `*` the rest of it may begin anywhere. */
static bool matches (const char *pattern, const char *text) {
  const char *star = NULL, *from = NULL;
  while (*text) {
    if (*pattern == '*') star = ++pattern, from = text;
    else if (*pattern == *text) pattern++, text++;
    else if (star) pattern = star, text = ++from;
    else return false;
  }
  while (*pattern == '*') pattern++;
  return *pattern == 0;
}

bool mt_kernel_executes (const mt_kernel *k, const char *atom, int arch) {
  enum { MT_ONLY = 900 };                    /* above: of this architecture alone */
  bool here = k->arch >= MT_ONLY ? k->arch / 10 == arch : k->arch <= arch;
  return k->op == MT_OP_MMA && here && matches(k->atom, atom);
}
