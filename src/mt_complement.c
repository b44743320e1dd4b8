/*
** mt_complement.c - the offsets that a layout skips.
** SPDX-License-Identifier: MIT
**
** Modes of stride 0 are broadcasts and passed over; a negative stride counts as its
** magnitude: with a constant added to the offsets it is the same set of differences.
*/
#include "mt_build.h"

enum { MAXWITNESS = 512 };

typedef struct mode { int64_t s, d; const mt_node *leaf; } mode;

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

/* Two indices of a with one offset, among the first MAXWITNESS. */
static bool same_offset (int64_t *i, int64_t *j, int64_t *offset, const mt_node *a) {
  int64_t x[MAXWITNESS], n = a->shape < MAXWITNESS ? a->shape : MAXWITNESS;
  mt_err err = MT_NOERR;
  for (*j = 0; *j < n; ++*j) {
    if (mt_at(&x[*j], a, *j, &err) != MT_OK) return false;
    for (*i = 0; *i < *j; ++*i)
      if (x[*i] == x[*j] && mt_size(a) > 0) {
        *offset = x[*i];
        return true;
      }
  }
  return false;
}

static bool is_broadcast (const mt_node *a) {
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a); p = mt_leaf(a, mt_after(p)))
    if (p->shape > 1 && p->stride == 0) return true;
  return false;
}

static void collide (mt_build *b, const mt_node *a, const mode *x, const mode *y) {
  int64_t i, j, offset;
  if (b->status != MT_OK) return;
  mt_build_fail(b, MT_EINJECTIVE,
                "%s: %N has no complement\n  its modes %lld:%lld and %lld:%lld "
                "overlap: %lld values at distance %lld reach past %lld",
                b->op, a, (long long)x->s, (long long)x->leaf->stride, (long long)y->s,
                (long long)y->leaf->stride, (long long)x->s, (long long)x->d,
                (long long)y->d);
  if (!is_broadcast(a) && same_offset(&i, &j, &offset, a))
    mt_explain(b->err, "; A(%lld) = A(%lld) = %lld", (long long)i, (long long)j,
               (long long)offset);
  if (y->d > 0 && x->d <= INT64_MAX / x->s)
    mt_explain(b->err, "\n  a stride of %lld or more on the second would do",
               (long long)(x->d * x->s));
}

typedef struct gaps { int n; int64_t s[MT_MAXNODES + 1], d[MT_MAXNODES + 1]; } gaps;

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
  int64_t run = 1;      /* offsets 0 .. run-1 belong to a and the gaps before */
  int64_t copies = 1, rest;
  bool whole = true;
  g.n = 0;
  if (a->shape == 0) mt_build_fail(b, MT_EINVAL, "%s: %N is empty", b->op, a);
  for (int i = 0; i < k && b->status == MT_OK; i++) {
    if (m[i].d < run) {
      collide(b, a, &m[i - 1], &m[i]);
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

mt_status mt_complement (mt_layout *out, bool *fills, const mt_node *a, int64_t bound,
                         mt_err *err) {
  mt_build b;
  MT_CHECK(mt_is_layout(a), err, "complement: a layout expected");
  a = mt_inner(a);
  if (!mt_is_integral(a))
    return mt_failn(err, MT_EINVAL, "complement: the strides of %N are no integers", a);
  if (bound < 0)
    return mt_fail(err, MT_ERANGE, "complement: the bound %lld is negative",
                   (long long)bound);
  mt_begin(&b, out, "complement", err);
  mt_emit_complement(&b, fills, a, bound, 0);
  return mt_end(&b);
}
