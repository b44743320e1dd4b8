/*
** permute_unaligned.c - random copies of boxes whose rows begin anywhere.
** SPDX-License-Identifier: MIT
*/
#include "kernels_test.h"
#include "copy/permute_unaligned_smem.h"

/* Unaligned boxes: the first `run` axes are a run of the source; the row of the
** destination has all others and some of these. The last axis of each may overhang. */

typedef struct mt_drawn {
  int n, run, row;                 /* axes; of the run; of the row: order[] begins so */
  bool along;                      /* the row is long, and goes along the run */
  bool pieced;                     /* it is long, and pieces of the run follow in it */
  int64_t pieces[MT_PERMUTE_AXES]; /* of each axis; more than 1: it may overhang */
} mt_drawn;

/* The axis that ends the row overhangs only if it ends the run too, or is not in it. */
static void draw_order (mt_desc *d, mt_drawn *x) {
  uint8_t *order = d->unaligned.order;
  int out = 0;
  uint8_t left[MT_PERMUTE_AXES];
  x->row = 0;
  if (x->pieced) {
    order[0] = 0, order[1] = 2, order[2] = 1;
    x->row = 2;
    return;
  }
  for (int i = 0; i < x->n; i++)
    if (i >= x->run || (x->along ? i > 0 && below(8) : below(3) == 0))
      order[x->row++] = (uint8_t)i;
    else left[out++] = (uint8_t)i;
  if (x->row == 0) order[x->row++] = left[--out];
  for (int i = x->row - 1; i > 0 && !(x->along && below(2)); i--) {
    int j = below(i + 1);
    uint8_t t = order[i];
    order[i] = order[j], order[j] = t;
  }
  memcpy(order + x->row, left, (size_t)out);
}

static void draw_pieces (const mt_desc *d, mt_drawn *x) {
  int a = x->run - 1, b = d->unaligned.order[x->row - 1];
  bool inside = false; /* the end of the run within the row */
  for (int i = 0; i + 1 < x->row; i++) inside |= d->unaligned.order[i] == a;
  for (int i = 0; i < x->n; i++) x->pieces[i] = 1;
  if (!inside && below(2)) x->pieces[a] = 1 + below(3);
  if (b >= x->run && below(2)) x->pieces[b] = 1 + below(3);
}

/* Strides of a side: its run, then the other axes in an order of chance; an axis of
** pieces comes last. */
static int64_t draw_unaligned_side (mt_launch *l, int side, const mt_drawn *x) {
  mt_desc *d = &l->desc;
  int64_t stride = d->vec;
  int run = side == MT_SRC ? x->run : x->row;
  uint32_t set = 0;
  for (int i = 0; i < run; i++) {
    int axis = side == MT_SRC ? i : d->unaligned.order[i];
    d->axis[axis].stride[side] = stride;
    stride *= d->axis[axis].extent * x->pieces[axis];
    set |= 1u << axis;
  }
  for (int late = 0; late < 2; late++)
    for (int i = 0; i < x->n; i++) {
      if ((set >> i & 1) || (x->pieces[i] > 1) != late) continue;
      stride += d->vec * below(4);
      d->axis[i].stride[side] = stride;
      stride *= d->axis[i].extent * x->pieces[i];
      if (x->pieces[i] == 1 && below(5) == 0) {
        l->offset[side] += (d->axis[i].extent - 1) * d->axis[i].stride[side];
        d->axis[i].stride[side] *= -1;
      }
    }
  return stride;
}

static void draw_bounds (mt_desc *d, const mt_drawn *x) {
  for (int i = 0; i < x->n; i++) {
    mt_axis *a = &d->axis[i];
    int64_t n = x->pieces[i], e = a->extent;
    if (n == 1) continue;
    uint32_t rest = d->nthr + d->nrest++, k = d->nbound;
    set_axis(d, rest, n, a->stride[MT_SRC] * e, a->stride[MT_DST] * e);
    d->rests *= n;
    if (below(3) == 0) continue;
    a->step[k] = 1, d->axis[rest].step[k] = e;
    d->bound[d->nbound++] = (n - 1) * e + 1 + below((int)e);
  }
}

/* Extents of a short axis, of a long one, and maybe of one or two more. */
static int draw_along (mt_desc *d) {
  const int n = 2 + below(3);
  d->axis[0].extent = 2 + below(5);
  d->axis[1].extent = 64 / d->elem + (below(3) ? 512 + below(700) : 0) / d->elem;
  for (int i = 2; i < n; i++) d->axis[i].extent = 2 + below(3);
  return n;
}

/* Those of a piece, of the rows, and of the pieces of a row. */
static int draw_pieced (mt_desc *d) {
  const int units = 512 / d->elem;
  d->axis[0].extent = 32 / d->elem + below(40);
  d->axis[1].extent = 1 + below(20);
  d->axis[2].extent = (units + below(units)) / d->axis[0].extent + 1;
  return 3;
}

/* Those of a large box, which has more threads. */
static int draw_large (mt_desc *d) {
  const int units = MT_PERMUTE_UNALIGNED_LARGE / d->elem;
  d->axis[0].extent = (100 + below(200)) / d->elem + 1;
  d->axis[1].extent = units / d->axis[0].extent + 1 + below(4);
  return 2;
}

static bool draw_unaligned_once (mt_launch *l) {
  mt_desc *d = &l->desc;
  mt_drawn x;
  memset(d->axis, 0, sizeof d->axis);
  memset(&d->unaligned, 0, sizeof d->unaligned);
  memset(l->offset, 0, sizeof l->offset);
  x.along = below(4) == 0, x.pieced = !x.along && below(4) == 0;
  x.n = x.along       ? draw_along(d) :
        x.pieced      ? draw_pieced(d) :
        below(8) == 0 ? draw_large(d) :
                        draw_extents(d, 1 + below(5));
  if (x.n == 0) return false;
  x.run = x.pieced ? 2 : x.along ? 2 + below(x.n - 1) : 1 + below(x.n);
  d->nthr = (uint32_t)x.n, d->threads = d->values = d->rests = 1;
  d->nbound = d->nrest = 0;
  for (int i = 0; i < x.n; i++) {
    set_divisor(&d->axis[i]);
    d->threads *= d->axis[i].extent;
  }
  draw_order(d, &x);
  draw_pieces(d, &x);
  int64_t src = draw_unaligned_side(l, MT_SRC, &x),
          dst = draw_unaligned_side(l, MT_DST, &x);
  draw_bounds(d, &x);
  if (below(2)) {
    int64_t e = 1 + below(3);
    set_axis(d, d->nthr + d->nrest++, e, below(4) ? src : 0, dst + d->vec * below(3));
    d->rests *= e;
  }
  for (int side = 0; side < 2; side++) l->offset[side] += d->vec * below(40);
  return mt_permute_unaligned_choose(d, below(3) != 0);
}

void draw_unaligned (mt_launch *l, bool listed) {
  while (!draw_unaligned_once(l) || (l->desc.unaligned.slots != 0) != listed) continue;
}
