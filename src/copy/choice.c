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
static void say_slower (mt_vector_limits *why, const mt_cost *tiles, const mt_cost *best,
                        double always) {
  snprintf(why->tile, sizeof why->tile,
           "%.0f %% of its tiles would be used: %.1f us "
           "predicted, %.1f us without",
           100 * tiles->used, tiles->us + always, best->us + always);
}

/* What is found so far, and what is said of tiles. */
typedef struct choice {
  mt_launch flat, *best;
  mt_cost least, tiles; /* us of tiles < 0: none */
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
  if (us != x->least.us) return us < x->least.us;
  return x->algo != MT_ALGO_STRIDED && (algo == MT_ALGO_STRIDED || algo < x->algo);
}

static void note (choice *x, const mt_launch *l, mt_algorithm algo) {
  mt_cost cost;
  mt_cost_apart(&cost, l, NULL);
  if (is_tiles(algo) && (x->tiles.us < 0 || cost.us < x->tiles.us))
    x->tiles = cost, x->why->unaligned = algo == MT_ALGO_TRANSPOSE_UNALIGNED;
  if (is_better(x, cost.us, algo)) *x->best = *l, x->least = cost, x->algo = algo;
}

static void try_algo (choice *x, mt_algorithm algo) {
  char reason[MT_REASON];
  mt_launch l;
  const mt_search search = {.us = x->all ? INFINITY : x->least.us, .all = x->all};
  if (algo == MT_ALGO_STRIDED) {
    note(x, &x->flat, algo);
    return;
  }
  l = x->flat;
  if (mt_algo_make(&l, algo, &search, reason)) note(x, &l, algo);
  else if (algo == MT_ALGO_TRANSPOSE)
    snprintf(x->why->tile, sizeof x->why->tile, "%s", reason);
}

/* What is left of `late`, the one that could be the fastest first, while any could be
** faster than what was found: by MT_WORTH, where it wants a search. */
static void try_late (choice *x) {
  double least[MT_LATE];
  for (int i = 0; i < MT_LATE; i++) least[i] = mt_algo_least(&x->flat, late[i]);
  for (int n = 0; n < MT_LATE; n++) {
    int next = 0;
    for (int i = 1; i < MT_LATE; i++)
      if (least[i] < least[next]) next = i;
    const double worth = late[next] == MT_ALGO_STRIDED ? 1 : MT_WORTH;
    if (!x->all && mt_is_above(least[next], x->least.us * worth)) return;
    least[next] = INFINITY;
    try_algo(x, late[next]);
  }
}

void mt_cheapest_of (mt_launch *wide, mt_vector_limits *why, bool all) {
  choice x = {.flat = *wide, .best = wide, .why = why, .all = all, .algo = MT_NALGO};
  x.least.us = INFINITY, x.tiles.us = -1;
  for (int i = 0; i < MT_SOON; i++) try_algo(&x, soon[i]);
  try_late(&x);
  if (x.tiles.us > x.least.us) say_slower(why, &x.tiles, &x.least, mt_cost_always(wide));
}

void mt_cheapest (mt_launch *wide, mt_vector_limits *why) {
  mt_cheapest_of(wide, why, false);
}
