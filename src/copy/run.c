/*
** run.c - the axes that continue one another on a side.
** SPDX-License-Identifier: MIT
*/
#include "copy/run.h"
#include "core/error.h"

static int find_stride (const mt_axes *a, int side, int64_t stride) {
  for (int i = 0; i < a->n; i++)
    if (a->axis[i].stride[side] == stride && a->axis[i].extent > 1) return i;
  return -1;
}

void mt_run_find (mt_run *out, const mt_axes *a, int side, int64_t vec) {
  int64_t stride = vec;
  for (out->n = 0; out->n < MT_PERMUTE_AXES;) {
    int i = find_stride(a, side, stride);
    if (i < 0) return;
    out->axis[out->n++] = i;
    if (mt_mulo(stride, a->axis[i].extent, &stride)) return;
  }
}

void mt_run_hold (int64_t *extent, const mt_axes *a, const mt_run *c,
                  const mt_prefix *h) {
  for (int i = 0; i < h->n; i++) {
    int axis = c->axis[i];
    int64_t e = i + 1 < h->n ? a->axis[axis].extent : h->cut;
    if (e > extent[axis]) extent[axis] = e;
  }
}
