/*
** overhang.c - what views run past the end of, and the bounds of views.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "algebra/composed.h"
#include "algebra/tiles.h"
#include "tile/bounds.h"
#include "core/build.h"

/* ---------------------------------------------------------------- parts that overhang */

/* The parts of a layout that a tiler sees as one function each, as far as it leaves
** them. */
typedef struct mt_parts {
  int n;
  const mt_node *part[MT_MAXNODES];
} mt_parts;

/* Each of them once. */
static void add_part (mt_parts *x, const mt_node *part) {
  for (int i = 0; i < x->n; i++)
    if (x->part[i] == part) return;
  x->part[x->n++] = part;
}

static MT_APART bool divides_by_layout (int64_t n, const mt_node *t) {
  MT_NEWERR(err);
  mt_layout all;
  const mt_node run = mt_leaf_of(n, 1);
  return mt_logical_divide(&all, &run, t, &err) == MT_OK && mt_size(all.node) == n;
}

/* Whether the tile t, one function, divides n elements. */
static bool divides_evenly (int64_t n, const mt_node *t) {
  if (t->tag == MT_INT || (t->tag == MT_LEAF && t->stride == 1 && t->ring == MT_Z))
    return t->shape > 0 && n % t->shape == 0;
  return divides_by_layout(n, t);
}

/* The mode that a basis element names. */
static const mt_node *named (const mt_node *a, const mt_node *p) {
  for (int i = p->path[MT_MAXPATH]; a != NULL && i-- > 0;)
    a = p->path[i] < mt_rank(a) ? mt_mode(a, p->path[i]) : NULL;
  return a;
}

/* Strides of basis elements step in the modes that they name: how far, is not asked. */
static void add_named (mt_parts *x, const mt_node *a, const mt_node *t) {
  for (const mt_node *p = t; p < mt_next(t); p++) {
    const mt_node *part = p->ring == MT_BASIS ? named(a, p) : NULL;
    if (part) add_part(x, part);
  }
}

static mt_status add_composed (mt_parts *x, const mt_node *a, const mt_node *t,
                               mt_err *err) {
  int64_t low = 0, end;
  bool run = t->tag == MT_LEAF && t->stride == 1 && t->ring == MT_Z;
  if (run || t->tag == MT_INT) end = t->shape;
  else if (!mt_is_integral(t)) return add_named(x, a, t), MT_OK;
  else if (mt_footprint(&low, &end, t, err) != MT_OK) return err->status;
  if (low < 0)
    return mt_failn(err, MT_EINEXACT,
                    "%N begins %lld elements before the tensor's own\n"
                    "T:view(layout, offset) names any elements of its memory",
                    t, (long long)-low);
  if (end > mt_size(a)) add_part(x, a);
  return MT_OK;
}

static mt_status find_parts (mt_parts *x, const mt_node *a, const mt_node *t,
                             bool divides, mt_err *err) {
  if (t->tag == MT_WILD) return MT_OK;
  if (t->tag != MT_TILER && t->tag != MT_TUPLE) {
    if (!divides) return add_composed(x, a, t, err);
    if (mt_is_axes(t)) add_named(x, a, t);
    else if (!divides_evenly(mt_size(a), t)) add_part(x, a);
    return MT_OK;
  }
  int i = 0, n = mt_rank(a);
  for (const mt_node *c = mt_child(t); c < mt_next(t) && i < n; c = mt_next(c))
    MT_TRY(find_parts(x, mt_mode(a, i++), c, divides, err));
  return MT_OK;
}

/* The index in `part`, the first mode fastest, 0 elsewhere; an extent of 1 steps too,
** since what is past its end does. */
static void number (mt_layout *out, const mt_node *a, const mt_node *part) {
  int64_t step = 1;
  mt_copy_value(out, a);
  for (int i = 0; i < (int)a->span; i++) {
    mt_node *p = &out->node[i];
    if (p->tag != MT_LEAF) continue;
    p->stride = 0;
    if (a + i < part || a + i >= mt_next(part)) continue;
    p->stride = step;
    step *= p->shape;
  }
}

mt_status mt_overhang (mt_ordinate *out, mt_layout *buf, int *k, const mt_node *a,
                       const mt_node *tiler, bool divides, mt_err *err) {
  mt_parts x;
  int i = *k;
  x.n = 0;
  a = mt_base(a);
  *k = -1;
  if (mt_size(a) == 0) return MT_OK;
  MT_TRY(find_parts(&x, a, tiler, divides, err));
  if (i >= x.n) return MT_OK;
  number(buf, a, x.part[i]);
  *out = (mt_ordinate){buf->node, 0, mt_size(x.part[i])};
  *k = i + 1;
  return MT_OK;
}

/* ---------------------------------------------------------------- bounds of a view */

/* The leaves of a view, cut, and what each of them steps along the ordinates; parts[j]:
** of how many leaf j of the layout consists. */
typedef struct mt_table {
  int n, leaves;
  int64_t extent[MT_MAXNODES], stride[MT_MAXNODES];
  int64_t step[MT_MAXORDINATES][MT_MAXNODES];
  uint8_t parts[MT_MAXNODES];
} mt_table;

/* An ordinate while its leaves are cut: what is left of the one at hand. */
typedef struct mt_walk {
  const mt_node *layout, *next;
  int64_t extent, step;
} mt_walk;

static bool refill (mt_walk *w) {
  while (w->extent == 1) {
    const mt_node *p = mt_leaf(w->layout, w->next);
    if (p == mt_next(w->layout)) return false;
    w->extent = p->shape;
    w->step = p->stride;
    w->next = mt_after(p);
  }
  return true;
}

static void advance (mt_walk *w, int64_t by) {
  w->extent /= by;
  if (w->extent > 1) w->step *= by;
}

/* As much of a leaf as all ordinates step through evenly; 0: they cut across. */
static int64_t common (int64_t extent, mt_walk *w, int n) {
  int64_t m = extent;
  for (int k = 0; k < n; k++) {
    if (!refill(&w[k])) return 0;
    if (w[k].extent < m) m = w[k].extent;
  }
  for (int k = 0; k < n; k++)
    if (w[k].extent % m != 0) return 0;
  return extent % m == 0 ? m : 0;
}

static bool cut_leaf (mt_table *t, const mt_node *leaf, mt_walk *w, int n) {
  int64_t left = leaf->shape, d = leaf->stride, m;
  int first = t->n;
  do {
    if (t->n == MT_MAXNODES) return false;
    m = left == 1 ? 1 : common(left, w, n);
    if (m == 0) return false;
    t->extent[t->n] = m;
    t->stride[t->n] = d;
    for (int k = 0; k < n; k++) t->step[k][t->n] = m == 1 ? 0 : w[k].step;
    t->n++;
    left /= m;
    if (left > 1) d *= m;
    for (int k = 0; k < n && m > 1; k++) advance(&w[k], m);
  } while (left > 1);
  t->parts[t->leaves++] = (uint8_t)(t->n - first);
  return true;
}

static bool fill_table (mt_table *t, const mt_node *a, int n, const mt_ordinate *o) {
  mt_walk w[MT_MAXORDINATES];
  t->n = t->leaves = 0;
  for (int k = 0; k < n; k++) w[k] = (mt_walk){o[k].layout, o[k].layout, 1, 0};
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a); p = mt_leaf(a, mt_after(p)))
    if (!cut_leaf(t, p, w, n)) return false;
  return true;
}

static int64_t last_of (const mt_node *t) {
  int64_t lo, end;
  MT_NEWERR(err);
  if (!mt_is_more(t)) return mt_last_ordinate(t);
  return mt_number_range(&lo, &end, "", t, &err) == MT_OK ? end - 1 : INT64_MAX;
}

/* The ordinates that leave their extents; more than MT_MAXORDINATES: there are more.
** Below 0: one leaves 64 bits. */
static int leaving (mt_ordinate *out, int n, const mt_ordinate *o) {
  int left = 0;
  for (int k = 0; k < n && left <= MT_MAXORDINATES; k++) {
    int64_t last = last_of(o[k].layout), room;
    if (last == INT64_MAX || mt_addo(last, o[k].at, &last) ||
        mt_subo(o[k].extent, o[k].at, &room))
      return -1;
    if (last < o[k].extent) continue;
    if (left < MT_MAXORDINATES) out[left] = o[k];
    left++;
  }
  return left;
}

/* At most one of those that step alike: the lowest. */
static int choose (int *which, const mt_table *t, int n, const mt_ordinate *o) {
  int left = 0;
  for (int k = 0; k < n; k++) {
    int i = 0;
    while (i < left &&
           memcmp(t->step[which[i]], t->step[k], (size_t)t->n * sizeof(int64_t)) != 0)
      i++;
    bool lower = i == left || o[k].extent - o[k].at < o[which[i]].extent - o[which[i]].at;
    if (lower) which[i] = k;
    left += i == left;
  }
  return left;
}

/* Coordinate i of those that are left as a basis element: 1@i, as a term. */
static mt_node term_of (int i, int64_t step) {
  mt_node t = {.tag = MT_INT, .ring = MT_BASIS, .span = 1, .shape = step};
  t.path[0] = (uint8_t)i;
  t.path[MT_MAXPATH] = 1;
  return t;
}

/* A leaf that steps along several coordinates has the sum of them. */
static void add_coordinate (mt_build *b, const mt_table *t, int j, const int *which,
                            int left) {
  mt_layout sum;
  uint16_t n = 0;
  memset(sum.node, 0, sizeof sum.node[0]);
  for (int i = 0; i < left; i++)
    if (t->step[which[i]][j] != 0) sum.node[++n] = term_of(i, t->step[which[i]][j]);
  sum.node[0].tag = MT_SUM;
  sum.node[0].arity = n;
  sum.node[0].span = n + 1u;
  sum.node[0].shape = -1;
  if (n == 0) mt_add_leaf(b, t->extent[j], 0);
  else mt_add_stride(b, t->extent[j], n == 1 ? &sum.node[1] : sum.node);
}

/* What is written of each leaf: its own stride, or (which) its coordinates. */
typedef struct mt_writer {
  mt_build b;
  const mt_table *t;
  const int *which;
  int left, leaf, at;
} mt_writer;

static void write_parts (mt_writer *w) {
  int n = w->t->parts[w->leaf++];
  if (n > 1) mt_open(&w->b, MT_MODES);
  for (int i = 0; i < n; i++, w->at++) {
    if (w->which) add_coordinate(&w->b, w->t, w->at, w->which, w->left);
    else mt_add_leaf(&w->b, w->t->extent[w->at], w->t->stride[w->at]);
  }
  if (n > 1) mt_close(&w->b);
}

static void write_tree (mt_writer *w, const mt_node *a) {
  if (mt_is_leaf(a)) {
    write_parts(w);
    return;
  }
  mt_open(&w->b, MT_MODES);
  for (const mt_node *c = mt_child(a); c < mt_next(a); c = mt_next(c)) write_tree(w, c);
  mt_close(&w->b);
}

/* A single leaf that was cut stays a single mode. */
static mt_status write (mt_layout *out, const mt_node *root, const mt_table *t,
                        const int *which, int left, mt_err *err) {
  mt_writer w = {.t = t, .which = which, .left = left};
  const mt_node *a = mt_base(root);
  mt_begin(&w.b, out, "bounds", err);
  if (which == NULL) mt_open_root(&w.b, root);
  bool wraps = mt_is_leaf(a) && t->parts[0] > 1;
  if (wraps) mt_open(&w.b, MT_MODES);
  write_tree(&w, a);
  if (wraps) mt_close(&w.b);
  return mt_end(&w.b);
}

static mt_status write_corners (mt_layout *base, mt_layout *extent, const int *which,
                                int left, const mt_ordinate *o, mt_err *err) {
  int64_t at[MT_MAXBOUNDS], end[MT_MAXBOUNDS];
  for (int i = 0; i < left; i++) {
    at[i] = o[which[i]].at;
    end[i] = o[which[i]].extent;
  }
  MT_TRY(mt_ints(base, left, at, err));
  return mt_ints(extent, left, end, err);
}

/* An ordinate that is no layout of strides is no bound of modes. */
static mt_status want_strides (int n, const mt_ordinate *o, const mt_node *layout,
                               mt_err *err) {
  for (int k = 0; k < n; k++)
    if (mt_is_more(o[k].layout))
      return mt_failn(err, MT_EUNSUPPORTED,
                      "%N: its coordinates go by %N, past the end %lld: no mode of it "
                      "has such a bound",
                      layout, o[k].layout, (long long)o[k].extent);
  return MT_OK;
}

mt_status mt_make_bounds (mt_layout *out, mt_layout *coord, mt_layout *base,
                          mt_layout *extent, int *left, const mt_node *layout, int n,
                          const mt_ordinate *o, mt_err *err) {
  mt_table t;
  mt_ordinate some[MT_MAXORDINATES];
  int which[MT_MAXORDINATES];
  *left = 0;
  mt_copy_value(out, layout);
  if (n == 0 || mt_size(layout) == 0) return MT_OK;
  n = leaving(some, n, o);
  o = some;
  if (n == 0) return MT_OK;
  if (n < 0)
    return mt_failn(err, MT_EOVERFLOW, "%N: one of its coordinates leaves 64 bits",
                    layout);
  if (n > MT_MAXORDINATES)
    return mt_failn(err, MT_ETOOBIG,
                    "%N would have more than %d bounds, a tensor has at "
                    "most %d",
                    layout, (int)MT_MAXORDINATES, (int)MT_MAXBOUNDS);
  MT_TRY(want_strides(n, o, layout, err));
  if (!fill_table(&t, mt_base(layout), n, o))
    return mt_failn(err, MT_EINEXACT,
                    "%N: its coordinates step where its modes do not "
                    "end",
                    layout);
  *left = choose(which, &t, n, o);
  if (*left == 0) return MT_OK;
  if (*left > MT_MAXBOUNDS)
    return mt_failn(err, MT_ETOOBIG, "%N would have %d bounds, a tensor has at most %d",
                    layout, *left, (int)MT_MAXBOUNDS);
  MT_TRY(write(out, layout, &t, NULL, 0, err));
  MT_TRY(write(coord, layout, &t, which, *left, err));
  return write_corners(base, extent, which, *left, o, err);
}
