/*
** bits.c - random copies that permute the bits of an index.
** SPDX-License-Identifier: MIT
**
** The thread axes are a box of axes of two indices. The first ones are a vector of the
** destination, any are one of the source; the others lie behind it in any order,
** forwards and backwards, or not at all.
*/
#include "kernels_test.h"
#include "copy/bits.h"

static void shuffle (int *order, int n) {
  for (int i = n - 1; i > 0; i--) {
    int j = below(i + 1), t = order[i];
    order[i] = order[j], order[j] = t;
  }
}

/* Units of 16 bytes. */
static int64_t whole_vectors (const mt_desc *d, int64_t n) {
  const int64_t v = 16 / d->elem;
  return (n + v - 1) / v * v;
}

/* The axes in this order: compact as long as they make a vector, then maybe apart. */
static void draw_side (mt_launch *l, int side, const int *order, int n) {
  mt_desc *d = &l->desc;
  int64_t stride = d->vec;
  for (int i = 0; i < n; i++) {
    mt_axis *a = &d->axis[order[i]];
    const bool within = stride * d->elem < 16;
    if (!within) {
      stride = whole_vectors(d, stride);
      if (below(4) == 0) stride += whole_vectors(d, 1) * below(4);
    }
    a->stride[side] = stride;
    stride *= a->extent;
    if (side == MT_SRC && !within && below(8) == 0) a->stride[side] = 0;
    if (below(4) != 0 || (side == MT_DST && within)) continue;
    l->offset[side] += (a->extent - 1) * a->stride[side];
    a->stride[side] *= -1;
  }
  l->offset[side] += whole_vectors(d, 1) * below(5);
}

static bool draw_once (mt_launch *l) {
  mt_desc *d = &l->desc;
  const int unit = (int)(d->vec * d->elem);
  int order[MT_MAXAXIS], v = 0, most = 0;
  memset(d->axis, 0, sizeof d->axis);
  memset(l->offset, 0, sizeof l->offset);
  while (unit << v < 16) v++;
  while (unit << most < MT_BITS_SHARED) most++;
  d->nthr = (uint32_t)(v + below(most - v + 1));
  d->nrest = (uint32_t)below(4);
  d->threads = (int64_t)1 << d->nthr, d->values = d->rests = 1;
  const int n = (int)(d->nthr + d->nrest);
  for (int i = 0; i < n; i++) {
    const bool odd = below(3) == 0;
    d->axis[i].extent = i < (int)d->nthr ? 2 : odd ? 1 + below(5) : 1 << below(3);
    set_divisor(&d->axis[i]);
    if (i >= (int)d->nthr) d->rests *= d->axis[i].extent;
    order[i] = i;
  }
  shuffle(order + v, n - v);
  for (int i = v; i < n; i++) /* the vector of the destination comes first */
    if (below(4) == 0 && order[i] < (int)d->nthr) {
      int t = order[i];
      order[i] = order[v], order[v] = t;
    }
  draw_side(l, MT_DST, order, n);
  for (int i = 0; i < n; i++) order[i] = i;
  shuffle(order, below(3) ? (int)d->nthr : n);
  draw_side(l, MT_SRC, order, n);
  return mt_bits_find(&d->bits, l);
}

void draw_bits (mt_launch *l) {
  while (!draw_once(l)) continue;
}
