/*
** rows.c - random copies of rows that begin anywhere.
** SPDX-License-Identifier: MIT
*/
#include "kernels_test.h"

/* The row is repeated n times in the destination, behind all that is there. */
static void repeat (mt_launch *l, int64_t n, int64_t pitch) {
  mt_desc *d = &l->desc;
  int64_t strip = 1;
  memmove(d->axis + 2, d->axis + 1, d->nrest * sizeof d->axis[0]);
  memset(&d->axis[1], 0, sizeof d->axis[1]);
  set_axis(d, 1, n, 0, pitch);
  d->nval = 1, d->values = n;
  while (strip < n && strip * pitch * d->elem % 16 != 0) strip++;
  const int64_t rows = (n + strip - 1) / strip;
  mt_axis by = {.extent = strip}, across = {.extent = strip * ((rows + 7) / 8)};
  set_divisor(&by), set_divisor(&across);
  d->raster.strip = (mt_divisor){(uint32_t)by.extent, by.mul, by.shift};
  d->raster.across = (mt_divisor){(uint32_t)across.extent, across.mul, across.shift};
}

/* Rows in an order of chance on each side, with gaps; some run backwards in the source. */
void draw_rows (mt_launch *l) {
  mt_desc *d = &l->desc;
  int64_t vec = d->vec, run = 1 + below(90), pitch[2] = {run * vec, run * vec};
  int64_t n[2] = {1 + below(12), 1 + below(12)}, v = 16 / (vec * d->elem);
  const bool backwards = below(3) == 0;
  set_axis(d, 0, run, backwards ? -vec : vec, vec);
  d->nthr = 1, d->nval = 0, d->nrest = 2;
  d->threads = run, d->values = 1, d->rests = n[0] * n[1];
  for (int side = 0; side < 2; side++) {
    pitch[side] += vec * below(4);
    l->offset[side] = vec * below(40);
  }
  if (backwards) l->offset[MT_SRC] += vec * (run - 1);
  set_axis(d, 1, n[0], pitch[0], pitch[1] * n[1]);
  set_axis(d, 2, n[1], below(5) ? pitch[0] * n[0] : 0, pitch[1]);
  mt_axis along = {.extent = (run + 2 * v - 2) / v};
  set_divisor(&along);
  d->raster.along = (mt_divisor){(uint32_t)along.extent, along.mul, along.shift};
  if (below(2))
    repeat(l, 1 + below(below(2) ? 40 : 5), pitch[1] * n[1] * n[0] + vec * below(4));
}
