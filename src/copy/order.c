/*
** order.c - the order in which blocks go through what they do not hold.
** SPDX-License-Identifier: MIT
**
** Some hundred blocks run at a time, neighbours along the first axes of the rest. What
** they move is a window of either side. It takes longer
**   if the window consists of small pieces: a line that is moved in part now, and in part
**   later, is moved twice; memory opens its pages for little;
**   if the pieces of the destination lie in many pages of address translation.
** So of three orders that is taken whose window costs least (order_ in cost_h200.def).
*/
#include <math.h>

#include "moontile/analysis.h"
#include "copy/cost.h"
#include "copy/order.h"

enum {
  MT_WINDOW = 1056,  /* blocks of a window */
  MT_PIECE = 256,    /* bytes: smaller pieces cost no more */
  MT_PAGE = 2 << 20, /* bytes of a page of address translation */
  MT_MOSTPAGES = 64  /* of a window: more cost no more */
};

/* Axes of a window on a side, by the size of their strides. */
typedef struct window {
  int n;
  struct {
    uint64_t stride; /* bytes */
    double extent;
  } axis[2 * MT_MAXAXIS];
} window;

static void add_axis (window *w, uint64_t stride, double extent) {
  if (stride == 0 || extent <= 1 || w->n == 2 * MT_MAXAXIS) return;
  int j = w->n++;
  for (; j > 0 && w->axis[j - 1].stride > stride; j--) w->axis[j] = w->axis[j - 1];
  w->axis[j].stride = stride, w->axis[j].extent = extent;
}

static void find_window (window *w, const mt_axes mode[3], int side, int64_t elem) {
  double left = MT_WINDOW;
  w->n = 0;
  for (int m = 0; m < 3; m++)
    for (int i = 0; i < mode[m].n && left >= 1; i++) {
      const mt_axis *a = &mode[m].axis[i];
      const double e = (double)a->extent, some = m < 2 || e < left ? e : left;
      add_axis(w, mt_magnitude(a->stride[side]) * (uint64_t)elem, floor(some));
      if (m == 2) left /= e;
    }
}

/* Bytes that lie together, or less than a sector apart. */
static double piece_of (const window *w, int64_t elem) {
  double piece = (double)elem;
  for (int i = 0; i < w->n; i++) {
    const double stride = (double)w->axis[i].stride;
    if (stride <= piece + MT_SECTORBYTES) piece += stride * (w->axis[i].extent - 1);
  }
  return piece;
}

static double pages_of (const window *w) {
  double near = 0, far = 1;
  for (int i = 0; i < w->n; i++)
    if (w->axis[i].stride >= MT_PAGE) far *= w->axis[i].extent;
    else near += (double)w->axis[i].stride * (w->axis[i].extent - 1);
  return far * (1 + near / MT_PAGE);
}

/* What the windows cost, as parts of the time. */
static double cost_of (const mt_axes mode[3], int64_t elem) {
  const double part[2] = {mt_h200.order_src, mt_h200.order_dst};
  double cost = 0;
  for (int side = 0; side < 2; side++) {
    window w;
    find_window(&w, mode, side, elem);
    const double piece = piece_of(&w, elem), pages = pages_of(&w);
    cost += part[side] * (piece < MT_PIECE ? 1 : MT_PIECE / piece);
    if (side == MT_DST) cost += mt_h200.order_pages * log(fmin(pages, MT_MOSTPAGES));
  }
  return cost;
}

/* The orders: by strides of the destination, of the source, by the smaller of both. */
enum { BY_DST, BY_SRC, BY_EITHER, ORDERS };

static uint64_t key_of (const mt_axis *a, int order) {
  const uint64_t s = mt_magnitude(a->stride[MT_SRC]);
  const uint64_t d = mt_magnitude(a->stride[MT_DST]);
  if (order == BY_EITHER) return s != 0 && s < d ? s : d;
  return order == BY_SRC ? s : d;
}

static void sort (mt_axes *a, int order) {
  for (int i = 1; i < a->n; i++) {
    const mt_axis x = a->axis[i];
    const uint64_t key = key_of(&x, order);
    int j = i;
    for (; j > 0 && key_of(&a->axis[j - 1], order) > key; j--)
      a->axis[j] = a->axis[j - 1];
    a->axis[j] = x;
  }
}

double mt_order_cost (const mt_desc *d) {
  mt_axes mode[3];
  mt_axes_get(mode, d);
  return cost_of(mode, d->elem);
}

void mt_order_rest (mt_axes mode[3], int64_t elem) {
  double least = INFINITY;
  int best = 0, last = 0;
  for (int order = 0; order < ORDERS && mode[2].n > 1; order++) {
    sort(&mode[2], last = order);
    const double cost = cost_of(mode, elem);
    if (cost < least) least = cost, best = order;
  }
  if (best != last) sort(&mode[2], best);
}
