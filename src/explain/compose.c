/*
** compose.c - composition, told step by step.
** SPDX-License-Identifier: MIT
**
** The numbers are those of the rule and of the definition themselves: pieces and refusals
** come from mt_compose_rule, mt_compose_exact and their kin.
*/
#include <stdio.h>

#include "explain/explain.h"

enum { SHOWN = 8 }; /* values of a sequence */

/* The stride of a piece as a leaf m : t * d, in text. */
static void piece_layout (mt_layout *out, const mt_piece *p) {
  mt_build b;
  MT_NEWERR(err);
  mt_begin(&b, out, "", &err);
  mt_add_scaled(&b, p->m, p->d, p->t);
  if (mt_end(&b) != MT_OK) mt_int(out, p->m);
}

/* "(i / 4) mod 6": the digit of an index i in mode r, whose steps are P apart; the
** last has no bound. */
static void digit (char *text, size_t size, const mt_flat *f, int r, int64_t step) {
  char mod[32] = "", index[40] = "i";
  if (r < f->n - 1) snprintf(mod, sizeof mod, " mod %lld", (long long)f->s[r]);
  if (step > 1)
    snprintf(index, sizeof index, mod[0] ? "(i / %lld)" : "i / %lld", (long long)step);
  snprintf(text, size, "%s%s", index, mod);
}

/* A as the rule sees it. */
static void tell_modes (mt_derivation *x, const mt_meet *g) {
  char text[80];
  mt_layout flat;
  mt_build b;
  MT_NEWERR(err);
  int64_t step = 1;
  mt_begin(&b, &flat, "", &err);
  mt_emit_flat(&b, &g->f);
  if (mt_end(&b) != MT_OK) return;
  mt_tell(x, "%s coalesced: %N; its last mode has no bound", x->left, flat.node);
  for (int r = 0; r < g->f.n; r++) {
    const mt_node *m = g->f.n == 1 ? flat.node : mt_mode(flat.node, r);
    digit(text, sizeof text, &g->f, r, step);
    mt_tell(x, "  mode %d is %N; of an index i it takes the digit %s", r + 1, m, text);
    if (mt_mulo(step, g->f.s[r], &step)) step = 0;
  }
}

/* The steps of leaf k in the modes of A; those before a refusal. */
static void tell_leaf (mt_derivation *x, const mt_pieces *q, const mt_meet *g, int k) {
  int leaf = g->leaf[k];
  mt_layout m;
  mt_tell(x, "%lld:%lld", (long long)g->s[k], (long long)g->d[k]);
  for (int i = 0; i < q->count[leaf]; i++) {
    const mt_piece *p = &q->p[q->first[leaf] + i];
    piece_layout(&m, p);
    if (g->s[k] <= 1)
      mt_tell(x, "  of one value, %s(%lld): %N", x->left, (long long)g->d[k], m.node);
    else
      mt_tell(x, "  %lld values in mode %d, %lld apart: %N", (long long)p->m, p->r + 1,
              (long long)p->t, m.node);
  }
}

/* Where leaf k cannot be cut: its step t in mode r, and the values n that are left of
** it. */
static void tell_cut (mt_derivation *x, const mt_pieces *q, const mt_meet *g,
                      const mt_refusal *w) {
  int k = w->k, r = w->r, leaf = g->leaf[k];
  int64_t t = g->d[k], n = g->s[k], s = g->f.s[r];
  for (int i = 0; i < r; i++) t /= g->f.s[i];
  for (int i = 0; i < q->count[leaf]; i++) n /= q->p[q->first[leaf] + i].m;
  if (q->count[leaf] > 0) t = 1;
  if (w->reason == MT_NEGATIVE)
    mt_tell(
        x,
        "  (1) fails: the step is negative, and %s has more than one mode; below 0 it "
        "is -A(-i)",
        x->left);
  else if (w->reason == MT_UNEVEN)
    mt_tell(x, "  (1) fails: mode %d ends after %lld values, which does not divide %lld",
            r + 1, (long long)(s / t), (long long)n);
  else if (t >= s)
    mt_tell(x, "  (1) fails: the step is %lld in mode %d, no multiple of its extent %lld",
            (long long)t, r + 1, (long long)s);
  else
    mt_tell(
        x,
        "  (1) fails: the step is %lld in mode %d, which does not divide its extent %lld",
        (long long)t, r + 1, (long long)s);
}

/* "1*3 + 2*1": the largest digit in mode r; 0 if nothing reaches it. */
static int64_t largest (char *text, size_t size, const mt_pieces *q, const mt_meet *g,
                        int r) {
  int64_t sum = 0;
  size_t n = 0;
  text[0] = 0;
  for (int k = 0; k < g->n; k++) {
    const mt_piece *p = q->p + q->first[g->leaf[k]], *end = p + q->count[g->leaf[k]];
    for (; p < end; p++) {
      if (p->r != r || p->m <= 1 || p->d == NULL) continue;
      sum += (p->m - 1) * p->t;
      if (n < size)
        n += (size_t)snprintf(text + n, size - n, "%s%lld*%lld", n ? " + " : "",
                              (long long)(p->m - 1), (long long)p->t);
    }
  }
  return sum;
}

static void tell_carries (mt_derivation *x, const mt_pieces *q, const mt_meet *g) {
  char text[256];
  mt_tell(x, "(2) no carry: the largest digit that all modes of %s make together",
          x->right);
  for (int r = 0; r < g->f.n; r++) {
    int64_t sum = largest(text, sizeof text, q, g, r);
    if (sum == 0) continue;
    if (r == g->f.n - 1)
      mt_tell(x, "  mode %d: %s = %lld, the last mode, no bound", r + 1, text,
              (long long)sum);
    else
      mt_tell(x, "  mode %d: %s = %lld, at most %lld%s", r + 1, text, (long long)sum,
              (long long)(g->f.s[r] - 1), sum > g->f.s[r] - 1 ? ": (2) fails" : "");
  }
}

/* ---- the definition */

static void put_values (char *text, size_t size, const mt_meet *g, int k) {
  size_t n = 0;
  text[0] = 0;
  for (int64_t c = 0; c < g->s[k] && c < SHOWN && n < size; c++) {
    mt_layout at, v;
    mt_err err = MT_NOERR;
    int64_t i;
    if (mt_mulo(c, g->d[k], &i)) return;
    mt_int(&at, i);
    if (mt_eval(&v, at.node, g->a, &err) != MT_OK) return;
    n += (size_t)snprintf(text + n, size - n, "%s", c ? ", " : "");
    if (n < size) n += mt_format(text + n, size - n, v.node);
  }
  if (g->s[k] > SHOWN && n < size) snprintf(text + n, size - n, ", ...");
}

/* The modes of a leaf as one layout. */
static void leaf_layout (mt_layout *out, const mt_pieces *q, int leaf) {
  mt_build b;
  MT_NEWERR(err);
  mt_int(out, 0);
  if (q->count[leaf] == 0) return;
  mt_begin(&b, out, "", &err);
  if (q->count[leaf] > 1) mt_open(&b, MT_MODES);
  for (int i = 0; i < q->count[leaf]; i++) {
    const mt_piece *p = &q->p[q->first[leaf] + i];
    mt_add_scaled(&b, p->m, p->d, p->t);
  }
  if (mt_end(&b) != MT_OK) mt_int(out, 0);
}

static bool tell_definition (mt_derivation *x, mt_pieces *q, const mt_meet *g,
                             mt_refusal *w) {
  char text[512];
  mt_layout m;
  q->n = q->used = 0;
  memset(q->count, 0, sizeof q->count);
  bool exact = (mt_flat_is_f2(&g->f) ? mt_f2_exact : mt_compose_exact)(q, g, w);
  mt_tell(x,
          "by the definition: the values of %s along each mode of %s have to be a layout",
          x->left, x->right);
  for (int k = 0; k < g->n; k++) {
    int leaf = g->leaf[k];
    put_values(text, sizeof text, g, k);
    leaf_layout(&m, q, leaf);
    bool whole = q->count[leaf] > 0 && mt_size(m.node) == g->s[k];
    mt_tell(x,
            whole ? "  %lld:%lld has %s: it could only be %N" :
                    "  %lld:%lld has %s: no layout",
            (long long)g->s[k], (long long)g->d[k], text, m.node);
    if (!whole) break;
  }
  if (exact) mt_tell(x, "  this is %s(%s(i)) for every i", x->left, x->right);
  return exact;
}

/* ---- groups of B's leaves */

static MT_APART bool tell_group (mt_derivation *x, const mt_meet *g) {
  mt_pieces q;
  mt_refusal w;
  memset(&w, 0, sizeof w);
  q.n = q.used = 0;
  memset(q.count, 0, sizeof q.count);
  tell_modes(x, g);
  mt_tell(x, "(1) digits: each mode of %s is cut where modes of %s end", x->right,
          x->left);
  mt_reason reason = mt_compose_rule(&q, g, &w);
  bool fits = reason == MT_FITS && mt_f2_fits(&q, g, &w);
  bool cut = reason == MT_FITS || reason == MT_CARRIES;
  x->indent += 2;
  for (int k = 0; k < g->n && (cut || k <= w.k); k++) tell_leaf(x, &q, g, k);
  if (!cut && reason != MT_MANY) tell_cut(x, &q, g, &w);
  x->indent -= 2;
  if (cut) tell_carries(x, &q, g);
  if (reason == MT_FITS && !fits)
    mt_tell(x, "(3) over F2 fails: in mode %d the steps share bits, their sum is no xor",
            w.r + 1);
  return fits || (reason != MT_MANY && tell_definition(x, &q, g, &w));
}

/* The leaves of B whose strides have the path of leaf k, in the mode of A that it
** names. */
static bool gather (mt_meet *g, const mt_node *a, const mt_node **leaf, int n, int k) {
  const mt_node *path = leaf[k];
  g->a = a;
  g->n = 0;
  for (int i = path->path[MT_MAXPATH] - 1; i >= 0 && g->a; i--)
    g->a = mt_is_branch(g->a) ? mt_mode(g->a, path->path[i]) : NULL;
  if (g->a == NULL || path->tag == MT_SUM || (path->ring == MT_F2 && path->stride != 0))
    return false;
  for (int j = 0; j < n; j++) {
    if (leaf[j]->tag == MT_SUM || leaf[j]->stride == 0) continue;
    if (!mt_same_path(leaf[j], path)) continue;
    if (j < k) return false; /* was told with an earlier leaf */
    g->s[g->n] = leaf[j]->shape;
    g->d[g->n] = leaf[j]->stride;
    g->leaf[g->n++] = j;
  }
  mt_flatten_extended(&g->f, g->a);
  return true;
}

bool mt_tell_composition (mt_derivation *x, const mt_node *a, const mt_node *t) {
  const mt_node *leaf[MT_MAXNODES];
  mt_meet g;
  bool all = true;
  int n = mt_leaves(leaf, t);
  for (int k = 0; k < n; k++) {
    mt_layout d;
    if (leaf[k]->tag == MT_LEAF && leaf[k]->stride == 0) {
      mt_tell(x, "%lld:0 stays as it is: %s(0) = 0", (long long)leaf[k]->shape, x->left);
    } else if (gather(&g, a, leaf, n, k)) {
      mt_copy_value(&d, leaf[k]);
      d.node[0].tag = MT_INT;
      d.node[0].shape = 1;
      if (leaf[k]->ring == MT_BASIS)
        mt_tell(x, "the steps of %s along %N go through the mode %N of %s", x->right,
                d.node, g.a, x->left);
      all = tell_group(x, &g) && all;
    }
  }
  return all;
}
