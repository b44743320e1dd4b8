/*
** domain.c - bounds that can be proven away: descriptors as boxes.
** SPDX-License-Identifier: MIT
*/
#include "desc/domain.h"

/* The digits of one bound while they merge: a box axis and its step. */
typedef struct mt_digits {
  int n;
  mt_domain_axis axis[MT_MAXDOMAIN];
  int64_t step[MT_MAXDOMAIN];
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

static mt_domain_axis axis_of (const mt_desc *d, int i) {
  mt_domain_axis a = {extent_of(d, i), {stride_of(d, i, 0), stride_of(d, i, 1)}, 0, 0, 1};
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
    mt_domain_axis *a = &g->axis[g->n - 1];
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

static void add_axis (mt_domain *b, const mt_domain_axis *a, const uint8_t *part) {
  mt_domain_axis *to = &b->axis[b->n];
  int first = b->n == 0 ? 0 : b->axis[b->n - 1].first + b->axis[b->n - 1].count;
  if (a->extent <= 1) return;
  *to = *a;
  to->first = (uint8_t)first;
  memcpy(b->part + first, part + a->first, a->count);
  b->n++;
}

static void add_bound (mt_domain *b, const mt_desc *d, uint32_t k, unsigned sides) {
  mt_digits g = {.n = 0};
  uint8_t part[MT_MAXDOMAIN];
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

void mt_domain_of (mt_domain *b, const mt_desc *d, unsigned sides) {
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
    mt_domain_axis a = axis_of(d, i);
    if (k == -2) b->exact = false;
    if (k < 0) add_axis(b, &a, &part);
  }
  for (uint32_t k = 0; k < d->nbound; k++) add_bound(b, d, k, sides);
}

/* ---------------------------------------------------------------- pieces */

/* Indices from[i] .. from[i] + n[i] - 1 of each axis; MT_LANE is the last one. */
typedef struct mt_cut {
  int64_t from[MT_MAXDOMAIN], n[MT_MAXDOMAIN];
} mt_cut;

typedef struct mt_cutter {
  const mt_desc *d;
  int pieces;
  mt_piece_fn *f;
  void *ud;
} mt_cutter;

static bool has_axis (const mt_desc *d, int i) {
  return i == MT_LANE || i < (int)(d->nthr + d->nval + d->nrest);
}

static int64_t first_ordinate (const mt_desc *d, const mt_cut *c, uint32_t k) {
  int64_t sum = 0;
  for (int i = 0; i <= MT_LANE; i++)
    if (has_axis(d, i)) sum += c->from[i] * step_of(d, i, k);
  return sum;
}

/* No axis alone passes a bound; false: nothing is left. */
static bool tighten (mt_cut *c, const mt_desc *d) {
  for (uint32_t k = 0; k < d->nbound; k++) {
    int64_t room = d->bound[k] - 1 - first_ordinate(d, c, k);
    if (room < 0) return false;
    for (int i = 0; i <= MT_LANE; i++) {
      int64_t step = has_axis(d, i) ? step_of(d, i, k) : 0;
      if (step > 0 && c->n[i] > room / step + 1) c->n[i] = room / step + 1;
    }
  }
  return true;
}

/* The axis of the largest step along which bound k is passed, and how many of its indices
** pass it never; -1: it is not passed. */
static int find_passed (int64_t *whole, const mt_desc *d, const mt_cut *c, uint32_t k) {
  int64_t last = first_ordinate(d, c, k), step = 0;
  int axis = -1;
  for (int i = 0; i <= MT_LANE; i++) {
    if (!has_axis(d, i) || c->n[i] == 1) continue;
    last += (c->n[i] - 1) * step_of(d, i, k);
    if (step_of(d, i, k) > step) axis = i, step = step_of(d, i, k);
  }
  if (last < d->bound[k]) return -1;
  int64_t beside = last - (c->n[axis] - 1) * step;
  *whole = beside < d->bound[k] ? (d->bound[k] - 1 - beside) / step + 1 : 0;
  return axis;
}

static bool emit_piece (mt_cutter *x, const mt_cut *c) {
  mt_domain b;
  if (++x->pieces > MT_MOSTPIECES) return false;
  memset(&b, 0, sizeof b);
  b.exact = true;
  for (int i = 0; i <= MT_LANE; i++) {
    if (!has_axis(x->d, i) || (c->n[i] == 1 && c->from[i] == 0)) continue;
    mt_domain_axis *a = &b.axis[b.n];
    *a = axis_of(x->d, i);
    a->extent = c->n[i];
    a->from = c->from[i];
    a->first = (uint8_t)b.n;
    b.part[b.n++] = (uint8_t)i;
    for (int o = 0; o < 2; o++) b.start[o] += a->from * a->stride[o];
  }
  return x->f(x->ud, &b);
}

/* What passes no bound is a piece; else the indices of one axis that never do, and each
** of the others by itself. */
static bool cut (mt_cutter *x, mt_cut c) {
  int64_t whole = 0, n;
  int axis = -1;
  if (!tighten(&c, x->d)) return true;
  for (uint32_t k = 0; k < x->d->nbound && axis < 0; k++)
    axis = find_passed(&whole, x->d, &c, k);
  if (axis < 0) return emit_piece(x, &c);
  mt_cut part = c;
  n = c.n[axis];
  part.n[axis] = whole;
  if (whole > 0 && !cut(x, part)) return false;
  part.n[axis] = 1;
  for (part.from[axis] += whole; whole < n; whole++, part.from[axis]++)
    if (!cut(x, part)) return false;
  return true;
}

bool mt_pieces (const mt_desc *d, mt_piece_fn *f, void *ud) {
  mt_cutter x = {d, 0, f, ud};
  mt_cut c;
  memset(&c, 0, sizeof c);
  for (int i = 0; i <= MT_LANE; i++) {
    c.n[i] = has_axis(d, i) ? extent_of(d, i) : 1;
    if (c.n[i] == 0) return true;
  }
  return cut(&x, c);
}
