/*
** permute_unaligned_banks.c - banks of shared memory where rows of an unaligned box are
** read.
** SPDX-License-Identifier: MIT
**
** What kernels/copy/permute_unaligned.cuh does, for some of a block's reads: the lanes of
** a warp read the units of equal number modulo V of their vectors.
*/
#include "copy/banks.h"
#include "copy/permute_unaligned_smem.h"
#include "desc/permute_unaligned_desc.h"

/* A group of rows: what its first adds to places, and where it begins. */
typedef struct group {
  uint32_t at;
  int64_t dst;
} group;

static group group_of (const mt_permute_unaligned *k, uint32_t n) {
  const uint32_t classes = k->classes.extent, q = n / classes;
  const uint32_t chunk = q % k->chunks.extent;
  uint32_t left = q / k->chunks.extent;
  uint32_t from = n % classes + (chunk * k->group_rows << k->class_log);
  group g = {from * k->store[0].shared, from * k->store[0].global};
  for (uint32_t i = 1; i < k->nstore; i++) {
    const uint32_t e = k->store[i].by.extent, digit = i + 1 < k->nstore ? left % e : left;
    g.at += digit * k->store[i].shared;
    g.dst += digit * k->store[i].global;
    left /= e;
  }
  return g;
}

enum { MT_LISTEDGROUPS = 2048 }; /* as rows of 32 bytes fill a box */

static uint32_t classes_of (const mt_permute_unaligned *k) {
  return 1u << (k->step_log - k->list_log);
}

/* What the first rows of groups of a list add, whose rows are taken as they come: at[n]
** of chunk n / classes of class n mod classes, of as many as have room in it. */
static void find_listed (uint16_t *at, const mt_permute_unaligned *k) {
  const uint32_t classes = classes_of(k);
  const uint32_t rows = k->nrows * MT_UNALIGNED_SEGMENTS(*k);
  uint32_t count[MT_UNALIGNED_CLASSES] = {0}, digit[MT_PERMUTE_AXES] = {0};
  group g = {0, 0};
  memset(at, 0, MT_LISTEDGROUPS * sizeof *at);
  for (uint32_t n = 0; n < rows; n++) {
    const uint32_t c = (uint32_t)((uint64_t)g.dst >> k->list_log) & (classes - 1);
    const uint32_t chunk = count[c]++;
    if (chunk < k->chunks.extent && chunk * classes + c < MT_LISTEDGROUPS)
      at[chunk * classes + c] = (uint16_t)g.at;
    for (uint32_t i = 0; i < k->nstore; i++) {
      const mt_walk_axis *a = &k->store[i];
      g.at += a->shared, g.dst += a->global;
      if (++digit[i] < a->by.extent) break;
      g.at -= digit[i] * a->shared, g.dst -= digit[i] * a->global, digit[i] = 0;
    }
  }
}

/* Group n of it. */
static group listed_of (const mt_permute_unaligned *k, const uint16_t *at, uint32_t n) {
  const uint32_t classes = classes_of(k), c = k->list_order[n & (classes - 1)];
  const uint32_t i = n / classes * classes + c;
  return (group){i < MT_LISTEDGROUPS ? at[i] : 0, (int64_t)c << k->list_log};
}

/* Vector and group of task n of a box. */
static uint32_t task_of (uint32_t *vector, const mt_permute_unaligned *k,
                         const mt_unaligned_tasks *t, uint32_t n) {
  const bool whole = n < t->whole;
  const uint32_t m = whole ? n : n - t->whole, log = whole ? k->window_log : t->last_log;
  const uint32_t window = whole ? (m >> log) / k->groups.extent : 0;
  *vector = (whole ? window << log : t->last) + (m & ((1u << log) - 1));
  return (m >> log) - window * k->groups.extent;
}

/* Adds where a task reads the units of numbers 0, 5, 10 modulo V. */
static void add_task (mt_unaligned_reads *r, mt_unaligned_read *read, const mt_desc *d,
                      const uint16_t *listed, uint32_t task) {
  const mt_permute_unaligned *k = &d->unaligned;
  uint32_t vector;
  const uint32_t n = task_of(&vector, k, mt_unaligned_most_tasks(k), task);
  const group g = k->slots == 0 ? group_of(k, n) : listed_of(k, listed, n);
  const int32_t lead = (int32_t)((uint32_t)g.dst & (k->align - 1)) / (int32_t)r->unit;
  const int32_t first = (int32_t)(r->units * vector) - lead;
  if (first < 0 || first >= (int32_t)k->length) return;
  for (uint32_t j = 0; j < MT_UNALIGNED_SAMPLES; j++) {
    const uint32_t unit = (5 * j - (uint32_t)first) & (r->units - 1);
    const mt_looked at = mt_permute_unaligned_look(k, (uint32_t)first + unit);
    const uint32_t lane = read[j].lanes++;
    read[j].run[lane] = at.run;
    read[j].at[lane] = g.at + at.inside + (at.low & 15);
  }
}

void mt_permute_unaligned_reads (mt_unaligned_reads *r, const mt_desc *d) {
  const mt_permute_unaligned *k = &d->unaligned;
  const uint32_t all = mt_unaligned_most_tasks(k)->all, warps = all / MT_LANES;
  uint16_t listed[MT_LISTEDGROUPS];
  if (k->slots != 0) find_listed(listed, k);
  r->unit = d->vec * d->elem, r->units = 16 / r->unit;
  for (uint32_t i = 0; i < MT_UNALIGNED_SAMPLES; i++) {
    const uint32_t from = warps * i / MT_UNALIGNED_SAMPLES * MT_LANES;
    mt_unaligned_read *read = &r->read[i * MT_UNALIGNED_SAMPLES];
    for (uint32_t j = 0; j < MT_UNALIGNED_SAMPLES; j++) read[j].lanes = 0;
    for (uint32_t task = from; task < from + MT_LANES && task < all; task++)
      add_task(r, read, d, listed, task);
  }
}

double mt_permute_unaligned_waves (const mt_unaligned_reads *r, uint32_t pitch,
                                   uint32_t gap) {
  const uint32_t n = MT_UNALIGNED_SAMPLES * MT_UNALIGNED_SAMPLES;
  uint32_t at[MT_LANES], sum = 0;
  for (const mt_unaligned_read *x = r->read; x < r->read + n; x++) {
    for (uint32_t i = 0; i < x->lanes; i++)
      at[i] = x->run[i] * pitch + x->run[i] / r->units * gap + x->at[i];
    sum += x->lanes == 0 ? 1 : mt_banks_wavefronts(at, x->lanes, r->unit);
  }
  return sum / (double)n;
}
