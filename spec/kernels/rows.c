/*
** rows.c - random copies of rows that begin anywhere.
** SPDX-License-Identifier: MIT
*/
#include "kernels_test.h"

static mt_divisor divisor_of (int64_t n) {
  mt_axis a = {.extent = n};
  set_divisor(&a);
  return (mt_divisor){(uint32_t)a.extent, a.mul, a.shift};
}

/* Rows that lie so many on begin alike, modulo `bytes`. */
static int64_t alike (const mt_desc *d, int64_t bytes) {
  int64_t strip = 1;
  while (strip < d->values && strip * d->axis[1].stride[MT_DST] * d->elem % bytes != 0)
    strip++;
  return strip;
}

/* A row is repeated by the value axis, which is there. */
static void set_groups (mt_desc *d) {
  const int64_t n = d->values;
  const int64_t v = 16 / ((int64_t)d->vec * d->elem), all = n * d->threads;
  int64_t strip = alike(d, 16);
  for (int64_t bytes = 32; bytes <= 128 && MT_ROWS_PERIODIC(d); bytes *= 2)
    if (alike(d, bytes) <= n / 8) strip = alike(d, bytes);
  const int64_t rows = (n + strip - 1) / strip;
  int64_t along = d->raster.along.extent, across = strip * ((rows + 7) / 8);
  if (MT_ROWS_PERIODIC(d)) {
    along = strip == n ? (all + 2 * v - 2) / v : strip * d->threads / v;
    across = (all + v - 1 + 8 * along * v - 1) / (8 * along * v);
  }
  d->raster.strip = divisor_of(strip), d->raster.across = divisor_of(across);
  d->raster.along = divisor_of(along);
}

/* The row is repeated n times in the destination, behind all that is there; or behind
** itself, and what is there behind that. */
static void repeat (mt_launch *l, int64_t n, int64_t pitch) {
  mt_desc *d = &l->desc;
  const bool follows = below(2);
  memmove(d->axis + 2, d->axis + 1, d->nrest * sizeof d->axis[0]);
  memset(&d->axis[1], 0, sizeof d->axis[1]);
  if (follows) {
    const int64_t more = d->vec * below(2) * below(40);
    pitch = d->threads * d->vec;
    set_axis(d, 3, d->axis[3].extent, d->axis[3].stride[MT_SRC], n * pitch + more);
    set_axis(d, 2, d->axis[2].extent, d->axis[2].stride[MT_SRC],
             (n * pitch + more) * d->axis[3].extent);
  }
  set_axis(d, 1, n, 0, pitch);
  d->nval = 1, d->values = n;
  set_groups(d);
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
  d->raster.along = divisor_of((run + 2 * v - 2) / v);
  if (below(2) == 0) return;
  const int64_t most = below(2) ? 5 : n[0] * n[1] < 6 && below(2) ? 400 : 40;
  repeat(l, 1 + below((int)most), pitch[1] * n[1] * n[0] + vec * below(4));
}
