/*
** choice.c - the cheapest algorithm of a copy.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "copy/algo.h"
#include "copy/choice.h"

/* Why no tiles: they would be slower. */
static void say_slower (mt_vector_limits *why, const mt_cost *tiles,
                        const mt_cost *best) {
  snprintf(why->tile, sizeof why->tile,
           "%.0f %% of its tiles would be used: %.1f us "
           "predicted, %.1f us without",
           100 * tiles->used, tiles->us, best->us);
}

/* Forms that could not be faster than what was found are not made: boxes take long. */
static void find_other (mt_launch *best, mt_cost *least, mt_cost *tiles,
                        const mt_launch *flat, mt_vector_limits *why) {
  for (int algo = 0; algo < MT_NALGO; algo++) {
    char reason[MT_REASON];
    mt_launch l = *flat;
    mt_cost cost;
    if (mt_algo_of((uint32_t)algo)->make == NULL) continue;
    if (least->us >= 0 && mt_algo_least(flat, (mt_algorithm)algo) >= least->us) continue;
    if (!mt_algo_make(&l, (mt_algorithm)algo, reason)) {
      if (algo == MT_ALGO_TRANSPOSE) snprintf(why->tile, sizeof why->tile, "%s", reason);
      continue;
    }
    mt_cost_of(&cost, &l, NULL);
    if (algo == MT_ALGO_TRANSPOSE || algo == MT_ALGO_TRANSPOSE_UNALIGNED)
      *tiles = cost, why->unaligned = algo == MT_ALGO_TRANSPOSE_UNALIGNED;
    if (least->us < 0 || cost.us < least->us) *best = l, *least = cost;
  }
}

void mt_cheapest (mt_launch *wide, mt_vector_limits *why) {
  const mt_launch flat = *wide;
  mt_cost tiles = {.us = -1}, least = {.us = -1}, cost;
  find_other(wide, &least, &tiles, &flat, why);
  if (least.us < 0) return;
  if (mt_algo_least(&flat, MT_ALGO_STRIDED) <= least.us) {
    mt_cost_of(&cost, &flat, NULL);
    if (cost.us <= least.us) *wide = flat, least = cost;
  }
  if (tiles.us > least.us) say_slower(why, &tiles, &least);
}
