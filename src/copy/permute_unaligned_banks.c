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

enum { MT_SAMPLES = 3 }; /* warps, and units of a vector, that are asked */

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

static uint32_t place_of (const mt_permute_unaligned *k, uint32_t v, uint32_t p) {
  const mt_looked at = mt_permute_unaligned_look(k, p);
  return at.run * k->pitch + at.run / v * k->gap + at.inside + (at.low & 15);
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

/* Wavefronts of the read of unit n modulo V by a warp whose first task is `from`. */
static uint32_t read_of (const mt_desc *d, uint32_t from, uint32_t n) {
  const mt_permute_unaligned *k = &d->unaligned;
  const mt_unaligned_tasks *t = &k->tasks[k->halo != 0];
  const uint32_t unit = d->vec * d->elem, v = 16 / unit;
  uint32_t at[MT_LANES], lanes = 0, vector;
  for (uint32_t task = from; task < from + MT_LANES && task < t->all; task++) {
    const group g = group_of(k, task_of(&vector, k, t, task));
    const int32_t lead = (int32_t)((uint32_t)g.dst & (k->align - 1)) / (int32_t)unit;
    const int32_t first = (int32_t)(v * vector) - lead;
    if (first < 0 || first >= (int32_t)k->length) continue;
    const uint32_t p = (uint32_t)first + ((n - (uint32_t)first) & (v - 1));
    at[lanes++] = g.at + place_of(k, v, p);
  }
  return lanes == 0 ? 1 : mt_banks_wavefronts(at, lanes, unit);
}

double mt_permute_unaligned_wavefronts (const mt_desc *d) {
  const mt_permute_unaligned *k = &d->unaligned;
  const uint32_t v = 16 / (d->vec * d->elem),
                 warps = k->tasks[k->halo != 0].all / MT_LANES;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < MT_SAMPLES; i++)
    for (uint32_t j = 0; j < MT_SAMPLES; j++)
      sum += read_of(d, warps * i / MT_SAMPLES * MT_LANES, 5 * j % v);
  return sum / (double)(MT_SAMPLES * MT_SAMPLES);
}
