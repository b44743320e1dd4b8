/*
** banks.c - what boxes in shared memory have in common: places, banks, orders.
** SPDX-License-Identifier: MIT
*/
#include "copy/banks.h"

enum { MT_LINE = 128 }; /* bytes that all banks give in a wavefront */

uint32_t mt_banks_place (const mt_walk_axis *axis, uint32_t count, uint32_t n) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < count; i++) {
    at += (i + 1 < count ? n % axis[i].by.extent : n) * axis[i].shared;
    n /= axis[i].by.extent;
  }
  return at;
}

/* The sum, over the parts of the warp that are served at once, of the most different
** words that are read from one bank; banks as wide as an access, 4 bytes at least. */
uint32_t mt_banks_wavefronts (const uint32_t at[MT_LANES], uint32_t n, uint32_t bytes) {
  uint32_t sum = 0, unit = bytes > 4 ? bytes : 4, lanes = MT_LINE / unit;
  for (uint32_t first = 0; first < MT_LANES; first += lanes) {
    uint32_t seen[MT_LANES], in[MT_LANES] = {0}, count = 0, most = 0;
    for (uint32_t i = first; i < first + lanes && i < n; i++) {
      uint32_t word = at[i] / unit, j = 0;
      while (j < count && seen[j] != word) j++;
      if (j < count) continue;
      seen[count++] = word;
      if (++in[word % lanes] > most) most = in[word % lanes];
    }
    sum += most;
  }
  return sum;
}

bool mt_banks_order (const uint8_t order[MT_PERMUTE_AXES], uint32_t n) {
  unsigned seen = 0;
  for (uint32_t k = 0; k < MT_PERMUTE_AXES; k++) {
    if (k < n ? order[k] >= n : order[k] != 0) return false;
    if (k < n) seen |= 1u << order[k];
  }
  return seen == (1u << n) - 1;
}
