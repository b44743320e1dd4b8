/*
** algo.c - the algorithms that copy, by their algorithms; flat copies made into others.
** SPDX-License-Identifier: MIT
*/
#include <math.h>
#include <stdio.h>

#include "copy/algo.h"
#include "copy/kernel_choice.h"
#include "copy/run.h"
#include "desc/swizzle.h"

static const struct {
  const mt_algo *algo;
  uint32_t what;
} rows[MT_NALGO] = {
#define MT_ALGO(name, lower, threads, unroll, what) {&mt_algo_##lower, what},
#include "desc/algos.def"
};

const mt_algo *mt_algo_of (uint32_t algo) { return rows[algo].algo; }
uint32_t mt_algo_is (uint32_t algo, uint32_t what) { return rows[algo].what & what; }

mt_status mt_check_runs (const mt_desc *d, mt_err *err) {
  MT_CHECK(d->nbound == 0, err, "a tiled copy has no bounds");
  MT_CHECK(d->threads <= INT32_MAX / 2 && d->values <= INT32_MAX / 2, err,
           "runs of %lld and %lld accesses", (long long)d->threads, (long long)d->values);
  return MT_OK;
}

/* What converts has tiles alone, of single elements. */
static bool may_convert (const mt_desc *d, mt_algorithm algo, char *why) {
  if (mt_algo_is(algo, MT_CONVERTS))
    return d->vec == 1 && mt_kernel_casts(d, algo, false);
  snprintf(why, MT_REASON, "moves elements as they are: this copy converts them");
  return false;
}

bool mt_algo_make (mt_launch *l, mt_algorithm algo, const mt_search *search, char *why) {
  static const mt_search any = {.us = INFINITY};
  mt_axes mode[3];
  why[0] = 0;
  if (mt_desc_is_swizzled(&l->desc) || l->desc.nbound > 0) {
    snprintf(why, MT_REASON, "%s",
             l->desc.nbound > 0 ? "bounds cut through the axes" : "a side is swizzled");
    return false;
  }
  if (l->desc.cast && !may_convert(&l->desc, algo, why)) return false;
  mt_axes_get(mode, &l->desc);
  if (mt_algo_is(algo, MT_BACKWARDS))
    mt_run_turn(&mode[2], l->offset, l->desc.vec, l->desc.elem);
  return mt_algo_of(algo)->make(l, mode, search ? search : &any, why) &&
         mt_axes_store(&l->desc, mode);
}
