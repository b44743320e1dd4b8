/*
** choice.c - the cheapest form of a copy.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "copy/algo.h"
#include "copy/choice.h"

/* Why no tiles: they would be slower. */
static void say_slower (mt_narrow *why, const mt_cost *tiles, const mt_cost *best) {
  snprintf(why->tile, sizeof why->tile, "%.0f %% of its tiles would be used: %.1f us "
           "predicted, %.1f us without", 100 * tiles->used, tiles->us, best->us);
}

/* Forms that could not be faster than what was found are not made: boxes take long. */
static void find_other (mt_launch *best, mt_cost *least, mt_cost *tiles,
                        const mt_launch *flat, mt_narrow *why) {
  for (int form = 0; form < MT_NFORM; form++) {
    char reason[MT_REASON];
    mt_launch l = *flat;
    mt_cost cost;
    if (mt_algo_of((uint32_t)form)->make == NULL) continue;
    if (least->us >= 0 && mt_form_least(flat, (mt_form)form) >= least->us) continue;
    if (!mt_form_make(&l, (mt_form)form, reason)) {
      if (form == MT_FORM_TILE) snprintf(why->tile, sizeof why->tile, "%s", reason);
      continue;
    }
    mt_cost_of(&cost, &l, NULL);
    if (form == MT_FORM_TILE || form == MT_FORM_SHEAR)
      *tiles = cost, why->sheared = form == MT_FORM_SHEAR;
    if (least->us < 0 || cost.us < least->us) *best = l, *least = cost;
  }
}

void mt_cheapest (mt_launch *wide, mt_narrow *why) {
  const mt_launch flat = *wide;
  mt_cost tiles = {.us = -1}, least = {.us = -1}, cost;
  find_other(wide, &least, &tiles, &flat, why);
  if (least.us < 0) return;
  if (mt_form_least(&flat, MT_FORM_FLAT) <= least.us) {
    mt_cost_of(&cost, &flat, NULL);
    if (cost.us <= least.us) *wide = flat, least = cost;
  }
  if (tiles.us > least.us) say_slower(why, &tiles, &least);
}
