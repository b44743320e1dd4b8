/*
** choice.c - the cheapest algorithm of a copy.
** SPDX-License-Identifier: MIT
**
** Algorithms that are made soon come first. Those that look for tiles are made only if
** they could be faster than what was found: what they take at least says so.
*/
#include <math.h>
#include <stdio.h>

#include "copy/algo.h"
#include "copy/choice.h"

/* Why no tiles: they would be slower. `always`: microseconds that any way takes. */
static void say_slower (mt_vector_limits *why, const mt_cost *tiles, double best,
                        double always) {
  snprintf(why->tile, sizeof why->tile,
           "%.0f %% of its tiles would be used: %.1f us "
           "predicted, %.1f us without",
           100 * tiles->used, tiles->us + always, best + always);
}

/* What is found so far, and what is said of tiles. */
typedef struct choice {
  mt_launch flat, *best;
  mt_cost tiles; /* us < 0: none */
  double us;     /* the least so far */
  mt_vector_limits *why;
  mt_algorithm algo; /* of the least */
  bool all;
} choice;

/* In this order, but for those that are found by a search: of these the one that could be
** the fastest comes first. */
static const mt_algorithm soon[] = {MT_ALGO_TRANSPOSE, MT_ALGO_TRANSPOSE_UNALIGNED,
                                    MT_ALGO_ROWS, MT_ALGO_INTERLEAVE};
static const mt_algorithm late[] = {MT_ALGO_STRIDED,
                                    MT_ALGO_PERMUTE,
                                    MT_ALGO_STAGED,
                                    MT_ALGO_BITS,
                                    MT_ALGO_PERMUTE_UNALIGNED,
                                    MT_ALGO_GATHER};
enum { MT_SOON = sizeof soon / sizeof soon[0], MT_LATE = sizeof late / sizeof late[0] };

static bool is_tiles (mt_algorithm algo) {
  return algo == MT_ALGO_TRANSPOSE || algo == MT_ALGO_TRANSPOSE_UNALIGNED;
}

/* Of two that take as long, accesses one by one; then the first in desc/algos.def. */
static bool is_better (const choice *x, double us, mt_algorithm algo) {
  if (us != x->us) return us < x->us;
  return x->algo != MT_ALGO_STRIDED && (algo == MT_ALGO_STRIDED || algo < x->algo);
}

/* us: below 0 if that was not counted yet. */
static void note (choice *x, const mt_launch *l, mt_algorithm algo, double us) {
  mt_cost cost = {.us = us};
  if (us < 0) mt_cost_apart(&cost, l, NULL), us = cost.us;
  if (is_tiles(algo) && (x->tiles.us < 0 || us < x->tiles.us))
    x->tiles = cost, x->why->unaligned = algo == MT_ALGO_TRANSPOSE_UNALIGNED;
  if (is_better(x, us, algo)) *x->best = *l, x->us = us, x->algo = algo;
}

static void try_algo (choice *x, mt_algorithm algo) {
  char reason[MT_REASON];
  mt_launch l;
  double found = -1;
  const mt_search search = {x->all ? INFINITY : x->us, x->all, &found};
  if (algo == MT_ALGO_STRIDED) {
    note(x, &x->flat, algo, found);
    return;
  }
  l = x->flat;
  if (mt_algo_make(&l, algo, &search, reason)) note(x, &l, algo, found);
  else if (algo == MT_ALGO_TRANSPOSE)
    snprintf(x->why->tile, sizeof x->why->tile, "%s", reason);
}

/* What an algorithm may take at least, for it to be made: less than what was found; where
** it wants a search, so much less that it is worth that. */
static double worth_of (const choice *x, mt_algorithm algo) {
  return algo == MT_ALGO_STRIDED ? x->us : mt_worth(x->us);
}

/* What is left of `late`, the one that could be the fastest first, while any is worth
** it. */
static void try_late (choice *x) {
  double least[MT_LATE];
  for (int i = 0; i < MT_LATE; i++) least[i] = mt_algo_least(&x->flat, late[i]);
  for (int n = 0; n < MT_LATE; n++) {
    int next = 0;
    for (int i = 1; i < MT_LATE; i++)
      if (least[i] < least[next]) next = i;
    if (!x->all && mt_is_above(least[next], worth_of(x, late[next]))) return;
    least[next] = INFINITY;
    try_algo(x, late[next]);
  }
}

void mt_cheapest_of (mt_launch *wide, mt_vector_limits *why, bool all) {
  choice x = {.flat = *wide, .best = wide, .why = why, .all = all, .algo = MT_NALGO};
  x.us = INFINITY, x.tiles.us = -1;
  for (int i = 0; i < MT_SOON; i++) try_algo(&x, soon[i]);
  try_late(&x);
  if (x.tiles.us > x.us) say_slower(why, &x.tiles, x.us, mt_cost_always(wide));
}

void mt_cheapest (mt_launch *wide, mt_vector_limits *why) {
  mt_cheapest_of(wide, why, false);
}
