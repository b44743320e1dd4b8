/*
** compose_error.c - why a composition was refused: condition, witness, a tried way out.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "algebra/f2.h"

enum { REACH = 64, MAXWAYS = 3 };

/* Numbers that can be doubled and stepped from: others get no advice. */
static bool modest (int64_t x) { return x > INT32_MIN && x < INT64_C(1) << 60; }

/* ---- the condition */

/* Whether the modes of A, as the rule sees them, are others than A's own. */
static bool has_other_modes (const mt_meet *g) {
  const mt_node *leaf[MT_MAXNODES];
  return mt_leaves(leaf, g->a) != g->f.n || mt_depth(g->a) > 1;
}

/* "the end of A's mode 1 (extent 4)" */
static MT_APART void the_end (mt_err *e, const mt_meet *g, int r) {
  mt_layout flat;
  mt_build b;
  long long s = (long long)g->f.s[r];
  if (!has_other_modes(g)) {
    mt_explain(e, " the end of A's mode %d (extent %lld)", r + 1, s);
    return;
  }
  mt_begin(&b, &flat, "", e);
  mt_emit_flat(&b, &g->f);
  if (b.n == 0) mt_int(&flat, 0);
  mt_explain(e, " the end of mode %d (extent %lld) of A coalesced, %N", r + 1, s,
             flat.node);
}

static void condition (mt_err *e, const mt_meet *g, const mt_refusal *w) {
  int k = w->k < 0 ? 0 : w->k;
  long long n = (long long)g->s[k], d = (long long)g->d[k];
  if (w->reason == MT_CROSSES) mt_explain(e, "\n  B's stride %lld runs over", d);
  if (w->reason == MT_UNEVEN)
    mt_explain(e, "\n  B's mode %lld:%lld does not split at", n, d);
  if (w->reason == MT_CARRIES)
    mt_explain(e, "\n  the modes of B carry into each other at");
  if (w->reason == MT_SHARES)
    mt_explain(e, "\n  A's strides are F2, and the steps of B share bits: their sum is "
                  "no xor before");
  if (w->reason != MT_NEGATIVE) the_end(e, g, w->r);
  else
    mt_explain(
        e,
        "\n  B's stride %lld is negative and A coalesced has more than one mode: what "
        "lies before 0 is A(-i) = -A(i)",
        d);
}

/* ": A(B(2)) = 7, where a layout would give 12". A leaf k of several is met at its own
** coordinate. */
static void show_witness (mt_build *b, const mt_meet *g, const mt_node *t,
                          const mt_refusal *w) {
  if (!w->witness) {
    if (w->bounded)
      mt_explain(b->err, "; the definition was not tried to the end, B is too large");
    return;
  }
  if (w->leaf >= 0 && (g->n > 1 || mt_is_branch(t)))
    mt_explain(b->err, ": A(%lld) = %N, where a layout would give %N",
               (long long)(w->at * g->d[w->leaf]), w->is->node, w->would->node);
  else
    mt_explain(b->err, ": A(B(%lld)) = %N, where a layout would give %N",
               (long long)w->at, w->is->node, w->would->node);
}

/* ---- the way out */

static bool fits (const mt_meet *g) {
  mt_pieces q;
  mt_refusal w;
  q.n = q.used = 0;
  memset(q.count, 0, sizeof q.count);
  return mt_compose_rule(&q, g, &w) == MT_FITS && mt_f2_fits(&q, g, &w);
}

/* The first of at most REACH numbers from, from + step, ... > 0 that `slot` of g may
** be. */
static bool first_fit (int64_t *out, mt_meet *g, int64_t *slot, int64_t from,
                       int64_t step) {
  int64_t keep = *slot;
  bool found = false;
  for (int i = 0; i < REACH && from > 0 && modest(from) && !found; i++, from += step) {
    *slot = *out = from;
    found = fits(g);
  }
  *slot = keep;
  return found;
}

static void add_way (int64_t *ways, int *n, int64_t way) {
  for (int i = 0; i < *n; i++)
    if (ways[i] == way) return;
  ways[(*n)++] = way;
}

/* "6:2, 6:4 and 6:12 compose with this A": the nearest below, above, the nearest
** multiple. */
static MT_APART int other_modes (mt_build *b, const mt_meet *g, const mt_node *t,
                                 const mt_refusal *w) {
  mt_meet h = *g;
  int64_t ways[MAXWAYS], way;
  int n = 0;
  bool stride = w->reason == MT_CROSSES;
  if (w->k < 0 || (!stride && w->reason != MT_UNEVEN)) return 0;
  int64_t *slot = stride ? &h.d[w->k] : &h.s[w->k], x = *slot;
  if (!modest(x)) return 0;
  if (first_fit(&way, &h, slot, x - 1, -1) && way > (stride ? 0 : 1))
    add_way(ways, &n, way);
  if (first_fit(&way, &h, slot, x + 1, 1)) add_way(ways, &n, way);
  if (first_fit(&way, &h, slot, 2 * x, x)) add_way(ways, &n, way);
  if (n > 0) mt_explain(b->err, "\n  ");
  for (int i = 0; i < n; i++)
    mt_explain(b->err, "%s%lld:%lld",
               i == 0     ? "" :
               i == n - 1 ? " and " :
                            ", ",
               (long long)(stride ? g->s[w->k] : ways[i]),
               (long long)(stride ? ways[i] : g->d[w->k]));
  if (n > 0 && g->n == 1 && !mt_is_branch(t))
    mt_explain(b->err, " compose%s with this A", n == 1 ? "s" : "");
  else if (n > 0)
    mt_explain(b->err, " in place of B's %lld:%lld would do", (long long)g->s[w->k],
               (long long)g->d[w->k]);
  return n;
}

/* "so would 6:3 if mode 1 had extent 3": only where A's modes are those of the rule. */
static MT_APART void other_extent (mt_build *b, const mt_meet *g, const mt_refusal *w,
                                   int ways) {
  mt_meet h = *g;
  int64_t s = g->f.s[w->r], below = 0, above = 0;
  if (w->reason == MT_NEGATIVE || w->r >= g->f.n - 1 || !modest(s)) return;
  if (has_other_modes(g)) return;
  bool down = first_fit(&below, &h, &h.f.s[w->r], s - 1, -1) && below > 1;
  bool up = first_fit(&above, &h, &h.f.s[w->r], s + 1, 1);
  if (!down && !up) return;
  int64_t way = down && (!up || s - below <= above - s) ? below : above;
  mt_explain(b->err, ways ? "; so would " : "\n  A would compose with ");
  if (g->n == 1) mt_explain(b->err, "%lld:%lld", (long long)g->s[0], (long long)g->d[0]);
  else mt_explain(b->err, "this B");
  mt_explain(b->err, " if mode %d had extent %lld", w->r + 1, (long long)way);
}

void mt_compose_refuse (mt_build *b, const mt_meet *g, const mt_node *t,
                        const mt_refusal *w) {
  mt_build_fail(b, MT_EINEXACT, "%s: no layout R has R(i) = A(B(i)) for A = %N, B = %N",
                b->op, g->a, t);
  condition(b->err, g, w);
  show_witness(b, g, t, w);
  if (!b->derived) other_extent(b, g, w, other_modes(b, g, t, w));
}
