/*
** gather.c - random copies of units that lie anywhere in the source.
** SPDX-License-Identifier: MIT
**
** The thread axes are a run of the destination. The source has them in any order,
** forwards and backwards, apart, upon each other, or not at all.
*/
#include "kernels_test.h"
#include "copy/gather.h"
#include "desc/divisor.h"

static void shuffle (int order[MT_MAXAXIS], int n) {
  for (int i = 0; i < n; i++) order[i] = i;
  for (int i = n - 1; i > 0; i--) {
    int j = below(i + 1), t = order[i];
    order[i] = order[j], order[j] = t;
  }
}

static int64_t draw_mode (mt_desc *d, uint32_t first, uint32_t n, int64_t *total) {
  int64_t size = 1;
  for (uint32_t i = first; i < first + n; i++) {
    int64_t e = below(3) ? 1 + below(6) : 1 + below(below(3) ? 40 : 700);
    if (below(4) == 0) e = 2;
    if (*total * e > 20000) e = 1;
    d->axis[i].extent = e;
    set_divisor(&d->axis[i]);
    size *= e, *total *= e;
  }
  return size;
}

/* Other axes lie behind the run in any order, with gaps: words or units of them. */
static void draw_target (mt_launch *l) {
  mt_desc *d = &l->desc;
  const int n = (int)(d->nthr + d->nval + d->nrest);
  const int64_t gap = below(2) ? d->vec : 16 / d->elem;
  int order[MT_MAXAXIS];
  int64_t stride = d->vec;
  for (uint32_t i = 0; i < d->nthr; i++) {
    d->axis[i].stride[MT_DST] = stride;
    stride *= d->axis[i].extent;
  }
  if (gap > d->vec) stride = (stride + gap - 1) / gap * gap;
  shuffle(order, n - (int)d->nthr);
  for (int i = 0; i < n - (int)d->nthr; i++) {
    mt_axis *a = &d->axis[(int)d->nthr + order[i]];
    if (below(3) == 0) stride += gap * below(3);
    a->stride[MT_DST] = stride;
    stride *= a->extent;
    if (below(6) != 0) continue;
    l->offset[MT_DST] += (a->extent - 1) * a->stride[MT_DST];
    a->stride[MT_DST] *= -1;
  }
  l->offset[MT_DST] += gap * below(20);
}

/* The thread axes nearly as in the destination: pixels, windows, what is repeated. Others
** begin at multiples of 4. */
static void draw_near_source (mt_launch *l) {
  mt_desc *d = &l->desc;
  int64_t stride = d->vec;
  for (mt_axis *a = d->axis; a < d->axis + d->nthr + d->nval + d->nrest; a++) {
    if (a >= d->axis + d->nthr) stride = (stride + 3) / 4 * 4;
    a->stride[MT_SRC] = below(6) == 0 ? 0 : stride;
    if (below(6) != 0) stride = stride * a->extent + (below(3) ? 0 : d->vec);
    if (below(3) != 0) continue;
    l->offset[MT_SRC] += (a->extent - 1) * a->stride[MT_SRC];
    a->stride[MT_SRC] *= -1;
  }
  l->offset[MT_SRC] += d->vec * below(20);
}

static void draw_source (mt_launch *l) {
  mt_desc *d = &l->desc;
  const int n = (int)(d->nthr + d->nval + d->nrest);
  const bool overlaps = below(4) == 0;
  int order[MT_MAXAXIS];
  int64_t stride = d->vec;
  shuffle(order, n);
  for (int i = 0; i < n; i++) {
    mt_axis *a = &d->axis[order[i]];
    a->stride[MT_SRC] = below(8) == 0 ? 0 : stride;
    if (overlaps) stride += d->vec * below(3);
    else stride = stride * a->extent + d->vec * (below(3) ? 0 : below(4));
    if (below(6) == 0) stride = (stride * d->elem + 15) / 16 * 16 / d->elem;
    if (below(3) != 0) continue;
    l->offset[MT_SRC] += (a->extent - 1) * a->stride[MT_SRC];
    a->stride[MT_SRC] *= -1;
  }
  l->offset[MT_SRC] += d->vec * below(20);
}

/* A cut of the last axis of a mode; 1 if there is none. Often of whole sectors. */
static uint32_t draw_cut (const mt_desc *d, uint32_t first, uint32_t n) {
  const int64_t e = n == 0 ? 1 : d->axis[first + n - 1].extent;
  const int64_t sector = 32 / ((int64_t)d->vec * d->elem);
  int64_t cut = below(3) == 0 ? e : 1 + below((int)e);
  if (below(2) != 0 && cut > sector) cut -= cut % sector;
  return (uint32_t)cut;
}

static bool draw_once (mt_launch *l) {
  mt_desc *d = &l->desc;
  int64_t total = 1;
  memset(d->axis, 0, sizeof d->axis);
  memset(l->offset, 0, sizeof l->offset);
  d->nthr = (uint32_t)below(5), d->nval = (uint32_t)below(4);
  d->nrest = (uint32_t)below(3);
  d->threads = draw_mode(d, 0, d->nthr, &total);
  d->values = draw_mode(d, d->nthr, d->nval, &total);
  d->rests = draw_mode(d, d->nthr + d->nval, d->nrest, &total);
  draw_target(l);
  if (below(3)) draw_source(l);
  else draw_near_source(l);
  uint32_t cut[] = {draw_cut(d, 0, d->nthr), draw_cut(d, d->nthr, d->nval)};
  if (d->algo == MT_ALGO_STAGED) return mt_staged_find(&d->staged, l, cut);
  return mt_gather_find(&d->gather, l, cut, MT_GATHER_WORD((int64_t)d->vec * d->elem));
}

void draw_gather (mt_launch *l) {
  while (!draw_once(l)) continue;
}

void draw_staged (mt_launch *l, bool rotated) {
  draw_gather(l);
  if (rotated) l->desc.staged.rotate_log = (uint32_t)below(5);
}

void draw_first (mt_desc *d) {
  const uint32_t from = d->nthr + d->nval;
  int64_t n = 1;
  for (uint32_t i = from; i < from + d->nrest && below(3) != 0; i++)
    n *= d->axis[i].extent;
  d->gather.first = mt_divisor_of(n);
}
