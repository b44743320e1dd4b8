/*
** mt_rows_form.c - copies of rows that are a run of both sides and begin anywhere.
** SPDX-License-Identifier: MIT
*/
#include "mt_check.h"
#include "mt_plan.h"

enum { MT_SHORTROW = 24 };      /* bytes: below, a vector of 16 is mostly empty */

/* A row of n accesses has vectors of 16 bytes, the first and the last not whole. */
static bool find_raster (mt_raster *r, int64_t *vectors, const mt_desc *d) {
  int64_t v = 16 / ((int64_t)d->vec * d->elem), each = (d->threads + 2 * v - 2) / v;
  mt_axis a = {.extent = each};
  memset(r, 0, sizeof *r);
  if (each > INT32_MAX || mt_mulo(each, d->rests, vectors) || *vectors > INT32_MAX)
    return false;
  mt_divisor(&a);
  r->along = (uint32_t)each;
  r->along_mul = a.mul;
  r->along_shift = a.shift;
  return true;
}

int64_t mt_rows_vectors (const mt_desc *d) { return d->raster.along * d->rests; }

/* The axis that is a run of both sides becomes the thread axis. */
bool mt_rows_make (mt_launch *l, mt_axes mode[3], char *why) {
  mt_desc probe = l->desc;
  int64_t vec = probe.vec, bytes = vec * probe.elem, n;
  mt_axes *rest = &mode[2];
  int i = 0;
  (void)why;
  while (i < rest->n &&
         (rest->axis[i].stride[MT_SRC] != vec || rest->axis[i].stride[MT_DST] != vec))
    i++;
  if (i == rest->n || bytes >= 16 || rest->axis[i].extent * bytes < MT_SHORTROW)
    return false;
  probe.threads = rest->axis[i].extent;
  probe.rests /= probe.threads;
  if (!find_raster(&l->desc.raster, &n, &probe)) return false;
  l->desc.form = MT_FORM_ROWS;
  mode[0].axis[0] = rest->axis[i];
  mode[0].n = 1;
  memmove(rest->axis + i, rest->axis + i + 1,
          (size_t)(--rest->n - i) * sizeof rest->axis[0]);
  return true;
}

mt_status mt_check_rows (const mt_launch *l, mt_err *err) {
  const mt_desc *d = &l->desc;
  mt_raster raster;
  int64_t n;
  MT_CHECK(d->nbound == 0 && d->nthr == 1 && d->nval == 0, err,
           "a copy of rows has one thread axis and no bounds");
  MT_CHECK(d->axis[0].stride[MT_SRC] == (int64_t)d->vec &&
           d->axis[0].stride[MT_DST] == (int64_t)d->vec, err,
           "the thread axis is no run of both sides");
  MT_CHECK(find_raster(&raster, &n, d) &&
           memcmp(&raster, &d->raster, sizeof raster) == 0, err, "a wrong raster");
  return MT_OK;
}
