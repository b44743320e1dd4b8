/*
** column.c - a toy: a block copies one column, a thread an access of it.
** SPDX-License-Identifier: MIT
*/
#include "copy/algo.h"

enum { MT_COLUMN_MOST = 256 };

/* The first axis becomes the thread axis. */
static bool column_make (mt_launch *l, mt_axes mode[3], char *why) {
  mt_axes *rest = &mode[2];
  (void)why;
  if (rest->n == 0 || rest->axis[0].extent > MT_COLUMN_MOST) return false;
  l->desc.algo = MT_ALGO_COLUMN;
  mode[0].axis[0] = rest->axis[0];
  mode[0].n = 1;
  memmove(rest->axis, rest->axis + 1, (size_t)--rest->n * sizeof rest->axis[0]);
  return true;
}

static mt_status column_check (const mt_launch *l, mt_err *err) {
  const mt_desc *d = &l->desc;
  MT_CHECK(d->nbound == 0 && d->nthr == 1 && d->nval == 0 && d->threads <= MT_COLUMN_MOST,
           err, "a copy of columns has one short thread axis and no bounds");
  return MT_OK;
}

/* Each access costs a sector. */
static void column_cost (mt_cost *c, const mt_launch *l) {
  c->traffic = 64.0 * (double)(l->desc.threads * l->desc.rests);
  c->used = 1;
  c->slow = 10;
}

static mt_grid column_grid (const mt_kernel *k, const mt_desc *d) {
  return mt_grid_of(k, mt_blocks_of(d->rests, 1));
}

const mt_algo mt_algo_column = {
  .name = "column", .needs = "is for columns of 256 accesses at most",
  .make = column_make, .check = column_check, .cost = column_cost, .grid = column_grid,
  .thread = "column"
};
