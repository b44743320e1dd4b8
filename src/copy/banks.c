/*
** banks.c - what boxes in shared memory have in common: places, banks, orders.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "copy/banks.h"

enum { MT_LINE = 128 }; /* bytes that all banks give in a wavefront */

void mt_banks_places (uint32_t *at, uint32_t n, const mt_walk_axis *axis, uint32_t count,
                      uint32_t each) {
  uint32_t digit[2 * MT_PERMUTE_AXES] = {0}, place = 0;
  for (uint32_t k = 0; k < n; k++) {
    at[k] = place;
    for (uint32_t i = 0, more = each; i < count && more > 0; i++) {
      const uint32_t extent = axis[i].by.extent;
      digit[i] += more, place += more * axis[i].shared;
      if (i + 1 == count || digit[i] < extent) break;
      more = digit[i] / extent;
      digit[i] -= more * extent, place -= more * extent * axis[i].shared;
    }
  }
}

/* Banks are as wide as an access, 4 bytes at least: a part of the warp is served at once,
** as many lanes as there are banks. */
static uint32_t wide_of (uint32_t bytes) { return bytes > 4 ? bytes : 4; }

/* The most different words that are read from one bank: those of a bank are a list. */
static uint32_t most_of (const uint32_t *at, uint32_t n, uint32_t wide) {
  const uint32_t log = (uint32_t)__builtin_ctz(wide), banks = MT_LINE >> log;
  uint8_t first[MT_LANES], next[MT_LANES], count[MT_LANES];
  uint32_t most = n > 0, seen = 0;
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t word = at[i] >> log, bank = word & (banks - 1);
    uint32_t k = MT_LANES;
    if (seen >> bank & 1) {
      k = first[bank];
      while (k < MT_LANES && at[k] >> log != word) k = next[k];
      if (k < MT_LANES) continue;
      if (++count[bank] > most) most = count[bank];
      k = first[bank];
    } else count[bank] = 1;
    seen |= 1u << bank, next[i] = (uint8_t)k, first[bank] = (uint8_t)i;
  }
  return most;
}

uint32_t mt_banks_wavefronts (const uint32_t at[MT_LANES], uint32_t n, uint32_t bytes) {
  const uint32_t wide = wide_of(bytes), lanes = MT_LINE / wide;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < n; i += lanes)
    sum += most_of(at + i, n - i < lanes ? n - i : lanes, wide);
  return sum;
}

uint32_t mt_banks_least (uint32_t n, uint32_t bytes) {
  const uint32_t lanes = MT_LINE / wide_of(bytes);
  return ((n < MT_LANES ? n : MT_LANES) + lanes - 1) / lanes;
}

bool mt_banks_order (const uint8_t order[MT_PERMUTE_AXES], uint32_t n) {
  unsigned seen = 0;
  for (uint32_t k = 0; k < MT_PERMUTE_AXES; k++) {
    if (k < n ? order[k] >= n : order[k] != 0) return false;
    if (k < n) seen |= 1u << order[k];
  }
  return seen == (1u << n) - 1;
}
