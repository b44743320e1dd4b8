/*
** mt_box.c - bounds that can be proven away: descriptors as boxes.
** SPDX-License-Identifier: MIT
*/
#include "mt_box.h"

/* The digits of one bound while they merge: a box axis and its step. */
typedef struct mt_digits {
  int n;
  mt_box_axis axis[MT_MAXBOX];
  int64_t step[MT_MAXBOX];
} mt_digits;

static int64_t extent_of (const mt_desc *d, int i) {
  return i == MT_LANE ? (int64_t)d->vec : d->axis[i].extent;
}
static int64_t stride_of (const mt_desc *d, int i, int side) {
  return i == MT_LANE ? 1 : d->axis[i].stride[side];
}
static int64_t step_of (const mt_desc *d, int i, uint32_t k) {
  return i == MT_LANE ? d->lane_step[k] : d->axis[i].step[k];
}

/* The bound that the digits of axis i belong to: -1 if none, -2 if there are several. */
static int bound_of (const mt_desc *d, int i) {
  int found = -1;
  for (uint32_t k = 0; k < d->nbound; k++)
    if (step_of(d, i, k) != 0) found = found == -1 ? (int)k : -2;
  return found;
}

static mt_box_axis axis_of (const mt_desc *d, int i) {
  mt_box_axis a = {extent_of(d, i), {stride_of(d, i, 0), stride_of(d, i, 1)}, 0, 1};
  return a;
}

/* ---------------------------------------- the digits of a bound */

/* By step: axis i goes to its place, part[] with it. */
static void insert_digit (mt_digits *g, uint8_t *part, const mt_desc *d, int i,
                          uint32_t k) {
  int j = g->n++;
  for (; j > 0 && g->step[j - 1] > step_of(d, i, k); j--) {
    g->axis[j] = g->axis[j - 1];
    g->step[j] = g->step[j - 1];
    part[j] = part[j - 1];
  }
  g->axis[j] = axis_of(d, i);
  g->step[j] = step_of(d, i, k);
  part[j] = (uint8_t)i;
}

static bool continues (const mt_digits *g, int a, int b, unsigned sides) {
  int64_t n = g->axis[a].extent, next;
  if (mt_mulo(n, g->step[a], &next) || next != g->step[b]) return false;
  for (int o = 0; o < 2; o++)
    if ((sides >> o & 1) &&
        (mt_mulo(n, g->axis[a].stride[o], &next) || next != g->axis[b].stride[o]))
      return false;
  return true;
}

static void merge_digits (mt_digits *g, unsigned sides) {
  int top = 0;
  for (int j = 0; j < g->n; j++) g->axis[j].first = (uint8_t)j;
  for (int j = 1; j < g->n; j++) {
    if (continues(g, top, j, sides)) {
      g->axis[top].extent *= g->axis[j].extent;
      g->axis[top].count++;
    } else {
      top++;
      g->axis[top] = g->axis[j];
      g->step[top] = g->step[j];
    }
  }
  g->n = g->n ? top + 1 : 0;
}

/* Clips from the top; whether what remains is exactly the set below the bound. `below`:
** the largest ordinate that the digits below the topmost reach. */
static bool clip (mt_digits *g, int64_t bound) {
  int64_t below = 0;
  for (int j = 0; j < g->n; j++) below += (g->axis[j].extent - 1) * g->step[j];
  for (; g->n > 0; g->n--) {
    mt_box_axis *a = &g->axis[g->n - 1];
    int64_t p = g->step[g->n - 1], most = (bound - 1) / p;
    if (below < bound) return true;
    below -= (a->extent - 1) * p;
    if (most == 0) continue;
    if (a->extent > most + 1) a->extent = most + 1;
    return below < bound - most * p;
  }
  return true;
}

/* A digit that is not topmost and was not clipped still cannot pass the bound alone. */
static void clip_each (mt_digits *g, int64_t bound) {
  for (int j = 0; j < g->n; j++) {
    int64_t most = (bound - 1) / g->step[j];
    if (g->axis[j].extent > most + 1) g->axis[j].extent = most + 1;
  }
}

/* ---------------------------------------------------------------- the box */

static void add_axis (mt_box *b, const mt_box_axis *a, const uint8_t *part) {
  mt_box_axis *to = &b->axis[b->n];
  int first = b->n == 0 ? 0 : b->axis[b->n - 1].first + b->axis[b->n - 1].count;
  if (a->extent <= 1) return;
  *to = *a;
  to->first = (uint8_t)first;
  memcpy(b->part + first, part + a->first, a->count);
  b->n++;
}

static void add_bound (mt_box *b, const mt_desc *d, uint32_t k, unsigned sides) {
  mt_digits g = {.n = 0};
  uint8_t part[MT_MAXBOX];
  for (int i = 0; i <= MT_LANE; i++)
    if ((i == MT_LANE || i < (int)(d->nthr + d->nval + d->nrest)) &&
        extent_of(d, i) > 1 && bound_of(d, i) == (int)k)
      insert_digit(&g, part, d, i, k);
  merge_digits(&g, sides);
  if (!clip(&g, d->bound[k])) {
    b->exact = false;
    clip_each(&g, d->bound[k]);
  }
  for (int j = 0; j < g.n; j++) add_axis(b, &g.axis[j], part);
}

void mt_box_of (mt_box *b, const mt_desc *d, unsigned sides) {
  int n = (int)(d->nthr + d->nval + d->nrest);
  memset(b, 0, sizeof *b);
  b->exact = true;
  b->empty = d->threads == 0 || d->values == 0 || d->rests == 0;
  for (uint32_t k = 0; k < d->nbound; k++) b->empty = b->empty || d->bound[k] <= 0;
  if (b->empty) return;
  for (int i = 0; i <= MT_LANE; i++) {
    uint8_t part = (uint8_t)i;
    if ((i < MT_LANE && i >= n) || extent_of(d, i) <= 1) continue;
    int k = bound_of(d, i);
    mt_box_axis a = axis_of(d, i);
    if (k == -2) b->exact = false;
    if (k < 0) add_axis(b, &a, &part);
  }
  for (uint32_t k = 0; k < d->nbound; k++) add_bound(b, d, k, sides);
}
