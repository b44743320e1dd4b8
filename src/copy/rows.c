/*
** rows.c - copies of rows that are a run of both sides, forwards or backwards, and begin
** anywhere.
** SPDX-License-Identifier: MIT
*/
#include "copy/algo.h"
#include "desc/divisor.h"
#include "desc/transpose_desc.h"

enum { MT_SHORTROW = 24 }; /* bytes: below, a vector of 16 is mostly empty */

/* A row of n accesses has vectors of 16 bytes, the first and the last not whole. */
static bool find_raster (mt_raster *r, int64_t *vectors, const mt_desc *d) {
  int64_t v = 16 / ((int64_t)d->vec * d->elem), each = (d->threads + 2 * v - 2) / v;
  memset(r, 0, sizeof *r);
  if (each > INT32_MAX || mt_mulo(each, d->rests, vectors) || *vectors > INT32_MAX)
    return false;
  r->along = mt_divisor_of(each);
  return true;
}

/* Vectors of 16 bytes. */
static int64_t vectors_of (const mt_desc *d) { return d->raster.along.extent * d->rests; }

/* A run of both sides; of the source it may be one backwards. */
static bool is_run (const mt_axis *a, int64_t vec) {
  int64_t s = a->stride[MT_SRC];
  return (s == vec || s == -vec) && a->stride[MT_DST] == vec;
}

/* The axis that is a run of both sides becomes the thread axis. */
static bool rows_make (mt_launch *l, mt_axes mode[3], char *why) {
  mt_desc probe = l->desc;
  int64_t vec = probe.vec, bytes = vec * probe.elem, n;
  mt_axes *rest = &mode[2];
  int i = 0;
  (void)why;
  while (i < rest->n && !is_run(&rest->axis[i], vec)) i++;
  if (i == rest->n || bytes >= 16 || rest->axis[i].extent * bytes < MT_SHORTROW)
    return false;
  probe.threads = rest->axis[i].extent;
  probe.rests /= probe.threads;
  if (!find_raster(&l->desc.raster, &n, &probe)) return false;
  l->desc.algo = MT_ALGO_ROWS;
  mode[0].axis[0] = rest->axis[i];
  mode[0].n = 1;
  memmove(rest->axis + i, rest->axis + i + 1,
          (size_t)(--rest->n - i) * sizeof rest->axis[0]);
  return true;
}

static mt_status rows_check (const mt_launch *l, mt_err *err) {
  const mt_desc *d = &l->desc;
  mt_raster raster;
  int64_t n;
  MT_CHECK(d->nbound == 0 && d->nthr == 1 && d->nval == 0, err,
           "a copy of rows has one thread axis and no bounds");
  MT_CHECK(is_run(&d->axis[0], d->vec), err, "the thread axis is no run of both sides");
  MT_CHECK(find_raster(&raster, &n, d) && memcmp(&raster, &d->raster, sizeof raster) == 0,
           err, "a wrong raster");
  return MT_OK;
}

/* The sectors of the rows of a side; rows that adjoin the next ones are longer. */
static double row_traffic (const mt_launch *l, int side) {
  const mt_desc *d = &l->desc;
  int64_t length = d->threads;
  uint32_t i = 1;
  for (; i <= d->nrest && d->axis[i].stride[side] == length * d->vec; i++)
    length *= d->axis[i].extent;
  return mt_in_pieces(l, side, length, mt_axis_bits(0, i));
}

/* Both ends of a row go by elements. */
static void rows_cost (mt_cost *c, const mt_launch *l) {
  const mt_desc *d = &l->desc;
  int64_t unit = (int64_t)d->vec * d->elem, vectors = vectors_of(d);
  c->traffic = row_traffic(l, MT_SRC) + row_traffic(l, MT_DST);
  c->used = (double)(d->threads * d->rests * unit) / (double)(16 * vectors);
  c->least = (double)vectors * (d->nrest + 1) * mt_h200.axis +
             (double)(d->rests * (16 / unit - 1)) * mt_h200.element;
  double made = (double)vectors * (mt_h200.row_vector + mt_h200.row_unit / (double)unit);
  if (c->least < made) c->least = made;
}

static mt_grid rows_grid (const mt_kernel *k, const mt_desc *d) {
  return mt_grid_of(k, mt_blocks_of(vectors_of(d), (int64_t)k->threads * k->unroll));
}

const mt_algo mt_algo_rows =
    {.name = "rows",
     .needs = "is for rows that are a run of both sides and begin anywhere",
     .make = rows_make,
     .check = rows_check,
     .cost = rows_cost,
     .grid = rows_grid,
     .thread = "row"};
