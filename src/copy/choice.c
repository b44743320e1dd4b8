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

/* What is found so far, and what is said of tiles. */
typedef struct choice {
  mt_launch flat, *best;
  mt_cost least, tiles; /* us < 0: none */
  mt_vector_limits *why;
} choice;

static bool is_tiles (int algo) {
  return algo == MT_ALGO_TRANSPOSE || algo == MT_ALGO_TRANSPOSE_UNALIGNED;
}

/* Algorithms that could not be faster than what was found are not made: boxes take
** long. */
static void try_algo (choice *x, int algo) {
  char reason[MT_REASON];
  mt_launch l;
  mt_cost cost;
  if (mt_algo_of((uint32_t)algo)->make == NULL) return;
  if (x->least.us >= 0 && mt_algo_least(&x->flat, (mt_algorithm)algo) >= x->least.us)
    return;
  l = x->flat;
  if (!mt_algo_make(&l, (mt_algorithm)algo, reason)) {
    if (algo == MT_ALGO_TRANSPOSE)
      snprintf(x->why->tile, sizeof x->why->tile, "%s", reason);
    return;
  }
  mt_cost_of(&cost, &l, NULL);
  if (is_tiles(algo))
    x->tiles = cost, x->why->unaligned = algo == MT_ALGO_TRANSPOSE_UNALIGNED;
  if (x->least.us < 0 || cost.us < x->least.us) *x->best = l, x->least = cost;
}

/* Accesses one by one: of two that take as long they are taken. */
static void try_flat (choice *x) {
  mt_cost cost;
  if (x->least.us >= 0 && mt_algo_least(&x->flat, MT_ALGO_STRIDED) > x->least.us) return;
  mt_cost_of(&cost, &x->flat, NULL);
  if (x->least.us < 0 || cost.us <= x->least.us) *x->best = x->flat, x->least = cost;
}

/* Tiles first: texts of plans say what they would take. */
void mt_cheapest (mt_launch *wide, mt_vector_limits *why) {
  choice x = {.flat = *wide, .best = wide, .why = why};
  x.least.us = x.tiles.us = -1;
  for (int algo = 0; algo < MT_NALGO; algo++)
    if (is_tiles(algo)) try_algo(&x, algo);
  try_flat(&x);
  for (int algo = 0; algo < MT_NALGO; algo++)
    if (!is_tiles(algo)) try_algo(&x, algo);
  if (x.tiles.us > x.least.us) say_slower(why, &x.tiles, &x.least);
}
