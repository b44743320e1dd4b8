/*
** complement.c - the offsets that a layout skips.
** SPDX-License-Identifier: MIT
**
** Modes of stride 0 are broadcasts and passed over; a negative stride counts as its
** magnitude: with a constant added to the offsets it is the same set of differences.
*/
#include "moontile/algebra.h"
#include "algebra/tiles.h"

typedef struct mode {
  int64_t s, d;
  const mt_node *leaf;
} mode;

/* The modes of a that move, in the order of their strides. */
static int sorted_modes (mode *m, const mt_node *a) {
  int n = 0;
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a); p = mt_leaf(a, mt_after(p))) {
    int64_t d = p->stride;
    int k = n;
    if (p->shape <= 1 || d == 0) continue;
    if (d < 0) d = -d;
    for (; k > 0 && m[k - 1].d > d; k--) m[k] = m[k - 1];
    m[k].s = p->shape;
    m[k].d = d;
    m[k].leaf = p;
    n++;
  }
  return n;
}

/* ---- modes that reach into each other
**
** Two elements share an offset where sum of x_i * d_i = 0 with |x_i| < s_i, not all 0. Of
** the largest stride on, x_i is chosen such that the modes below can still make up for
** the sum, and only sums that their strides divide go on. If there are no such x_i, A is
** injective, and still no layout fills what it skips: two layouts that fill a range are
** the digits of one numbering, by turns, and digits do not interleave. */

enum { BUDGET = 1 << 16 };

typedef struct meeting {
  const mode *m;
  int n, budget;
  int64_t reach[MT_MAXNODES + 1]; /* k: the largest sum of the modes below k */
  int64_t gcd[MT_MAXNODES + 1];   /* k: of their strides */
  int64_t x[MT_MAXNODES];
} meeting;

/* False: the sums leave what can be searched. */
static bool prepare (meeting *w, const mode *m, int n) {
  int64_t t;
  w->m = m;
  w->n = n;
  w->budget = BUDGET;
  w->reach[0] = w->gcd[0] = 0;
  for (int k = 0; k < n; k++) {
    if (mt_mulo(m[k].s - 1, m[k].d, &t) || mt_addo(t, w->reach[k], &w->reach[k + 1]))
      return false;
    w->gcd[k + 1] = mt_gcd_of(w->gcd[k], m[k].d);
  }
  return w->reach[n] <= INT64_MAX / 4;
}

static int64_t div_down (int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* Whether the modes below k, some of which moves if none above did, make up for p. Below
** 0: not known. */
static int make_up (meeting *w, int k, int64_t p, bool moved) {
  if (--w->budget < 0) return -1;
  if (k == 0) return moved;
  if (p % w->gcd[k] != 0) return 0;
  const mode *m = &w->m[k - 1];
  int64_t room = w->reach[k - 1], most = m->s - 1;
  int64_t lo = -div_down(room + p, m->d), hi = div_down(room - p, m->d);
  if (lo < -most) lo = -most;
  if (lo < 0 && !moved) lo = 0;
  if (hi > most) hi = most;
  for (int64_t x = lo; x <= hi; x++) {
    w->x[k - 1] = x;
    int r = make_up(w, k - 1, p + x * m->d, moved || x > 0);
    if (r != 0) return r;
  }
  return 0;
}

/* The two indices of a that x stands for. */
static void indices_of (int64_t *i, int64_t *j, const meeting *w, const mt_node *a) {
  int64_t step = 1;
  *i = *j = 0;
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a); p = mt_leaf(a, mt_after(p))) {
    for (int k = 0; k < w->n; k++) {
      int64_t x = p->stride < 0 ? -w->x[k] : w->x[k];
      if (w->m[k].leaf == p && x > 0) *j += x * step;
      if (w->m[k].leaf == p && x < 0) *i -= x * step;
    }
    step *= p->shape;
  }
  if (*i > *j) {
    step = *i;
    *i = *j;
    *j = step;
  }
}

static void tell_collision (mt_build *b, const meeting *w, const mt_node *a) {
  int64_t i, j, offset;
  mt_err err = MT_NOERR;
  indices_of(&i, &j, w, a);
  if (mt_at(&offset, a, i, &err) == MT_OK)
    mt_explain(b->err, "; A(%lld) = A(%lld) = %lld", (long long)i, (long long)j,
               (long long)offset);
}

/* Modes x and y of the n of a, where y begins before x is done. */
static void refuse (mt_build *b, const mt_node *a, const mode *m, int n, const mode *x,
                    const mode *y) {
  meeting w;
  if (b->status != MT_OK) return;
  int met = prepare(&w, m, n) ? make_up(&w, n, 0, false) : -1;
  if (met > 0) mt_build_fail(b, MT_EINJECTIVE, "%s: %N has no complement", b->op, a);
  else mt_build_fail(b, MT_EINEXACT, "%s: no layout fills what %N skips", b->op, a);
  mt_explain(b->err,
             "\n  its modes %lld:%lld and %lld:%lld %s: "
             "%lld values at distance %lld reach past %lld",
             (long long)x->s, (long long)x->leaf->stride, (long long)y->s,
             (long long)y->leaf->stride, met > 0 ? "overlap" : "interleave",
             (long long)x->s, (long long)x->d, (long long)y->d);
  if (met > 0) tell_collision(b, &w, a);
  if (met == 0)
    mt_explain(b->err, "\n  copies of it do not meet at a stride of %lld or more",
               (long long)w.reach[n] + 1);
  if (y->d > 0 && x->d <= INT64_MAX / x->s)
    mt_explain(b->err, "\n  a stride of %lld or more on the second would do",
               (long long)(x->d * x->s));
}

/* ---- the gaps */

typedef struct gaps {
  int n;
  int64_t s[MT_MAXNODES + 1], d[MT_MAXNODES + 1];
} gaps;

/* Appends s:d in ascending order of d; one mode with the one before it where they
** touch. */
static inline void append (gaps *g, int64_t s, int64_t d) {
  int k = g->n - 1;
  if (s == 1) return;
  if (k >= 0 && g->s[k] * g->d[k] == d && g->s[k] <= INT64_MAX / (s > 0 ? s : 1)) {
    g->s[k] *= s;
    return;
  }
  g->s[g->n] = s;
  g->d[g->n++] = d;
}

static void emit_gaps (mt_build *b, const gaps *g) {
  if (b->status != MT_OK) return;
  if (g->n == 0) mt_add_leaf(b, 1, 0);
  if (g->n > 1) mt_open(b, MT_MODES);
  for (int i = 0; i < g->n; i++) mt_add_leaf(b, g->s[i], g->d[i]);
  if (g->n > 1) mt_close(b);
}

void mt_emit_complement (mt_build *b, bool *fills, const mt_node *a, int64_t bound,
                         int64_t count) {
  mode m[MT_MAXNODES];
  gaps g;
  int k = sorted_modes(m, a);
  int64_t run = 1; /* offsets 0 .. run-1 belong to a and the gaps before */
  int64_t copies = 1, rest;
  bool whole = true;
  g.n = 0;
  if (a->shape == 0) mt_build_fail(b, MT_EINVAL, "%s: %N is empty", b->op, a);
  for (int i = 0; i < k && b->status == MT_OK; i++) {
    if (m[i].d < run) {
      refuse(b, a, m, k, &m[i - 1], &m[i]);
      return;
    }
    int64_t t = run == 1 ? m[i].d : m[i].d / run;
    append(&g, t, run);
    copies *= t;
    whole = whole && t * run == m[i].d;
    if (mt_mulo(m[i].s, m[i].d, &run)) {
      mt_build_fail(b, MT_EOVERFLOW, "%s: the range of %N leaves 64 bits", b->op, a);
      return;
    }
  }
  rest = mt_div_up(bound, run);
  if (count > 0 && rest < mt_div_up(count, copies)) rest = mt_div_up(count, copies);
  append(&g, rest, run);
  if (fills) *fills = whole;
  emit_gaps(b, &g);
}

void mt_emit_skipped (mt_build *b, bool *fills, const mt_node *a, int64_t bound) {
  if (a->shape != 0) {
    mt_emit_complement(b, fills, a, bound, 0);
  } else { /* no offset is taken, and no copy takes one */
    mt_add_leaf(b, bound, 1);
    if (fills) *fills = bound == 0;
  }
}

mt_status mt_complement (mt_layout *out, bool *fills, const mt_node *a, int64_t bound,
                         mt_err *err) {
  mt_build b;
  mt_layout room;
  MT_CHECK(mt_is_function(a), err, "complement: a layout expected");
  if (a->tag >= MT_SWIZZLE) MT_TRY(mt_complemented(&a, &room, a, err));
  if (!mt_is_integral(a))
    return mt_failn(err, MT_EINVAL, "complement: the strides of %N are no integers", a);
  if (bound < 0)
    return mt_fail(err, MT_ERANGE, "complement: the bound %lld is negative",
                   (long long)bound);
  mt_begin(&b, out, "complement", err);
  mt_emit_skipped(&b, fills, a, bound);
  return mt_end(&b);
}
