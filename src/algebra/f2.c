/*
** f2.c - values over F2, and composition of layouts whose strides they are.
** SPDX-License-Identifier: MIT
**
** The digits of an index in A are cut and added as integers (algebra/compose.c); only
** their product with a stride is carry-less. So the rule for integers holds if in each
** mode of A the digit, a sum of steps, is also their xor.
*/
#include "algebra/f2.h"

/* Values of up to DIGITS digits; one with more of them counts for several. */
enum { DIGITS = 16, BUDGET = 1 << 16 };

bool mt_is_f2 (const mt_node *a) {
  const mt_node *leaf[MT_MAXNODES];
  int n = mt_leaves(leaf, a);
  for (int k = 0; k < n; k++)
    if (leaf[k]->ring == MT_F2) return true;
  return false;
}

bool mt_flat_is_f2 (const mt_flat *f) {
  for (int r = 0; r < f->n; r++)
    if (f->d[r]->ring == MT_F2) return true;
  return false;
}

bool mt_f2_value (int64_t *out, const mt_flat *f, int64_t i) {
  int64_t sum = 0, v;
  for (int r = 0; r < f->n; r++) {
    bool last = r == f->n - 1;
    if (mt_f2_mulo(last ? i : i % f->s[r], f->d[r]->stride, &v)) return false;
    sum ^= v;
    if (!last) i /= f->s[r];
  }
  *out = sum;
  return true;
}

const mt_node *mt_f2_stride (mt_pieces *q, int64_t v) {
  if (q->used == MT_MAXNODES) return NULL;
  mt_node *p = &q->sums.node[q->used++];
  memset(p, 0, sizeof *p);
  p->tag = MT_LEAF;
  p->ring = MT_F2;
  p->span = 1;
  p->shape = 1;
  p->stride = v;
  return p;
}

/* ---- the rule */

/* The steps of the pieces in mode r share no bits. */
static bool apart (const mt_pieces *q, const mt_meet *g, int r) {
  int64_t taken = 0;
  for (int k = 0; k < g->n; k++) {
    const mt_piece *p = q->p + q->first[g->leaf[k]], *end = p + q->count[g->leaf[k]];
    for (; p < end; p++) {
      if (p->r != r || p->d == NULL) continue;
      for (int64_t c = 1, step = p->t; c <= p->m - 1; c *= 2, step *= 2) {
        if ((taken & step) != 0 || mt_bits(step) > MT_F2BITS - 1) return false;
        taken |= step;
      }
    }
  }
  return true;
}

bool mt_f2_fits (const mt_pieces *q, const mt_meet *g, mt_refusal *w) {
  if (!mt_flat_is_f2(&g->f)) return true;
  for (int r = 0; r < g->f.n; r++) {
    if (mt_zero_stride(g->f.d[r]) || apart(q, g, r)) continue;
    w->reason = MT_SHARES;
    w->k = -1;
    w->r = r;
    return false;
  }
  return true;
}

mt_reason mt_f2_single (mt_pieces *q, const mt_meet *g, int k) {
  int64_t v = 0;
  if (g->d[k] >= 0 && !mt_f2_value(&v, &g->f, g->d[k])) v = 0;
  const mt_node *d = mt_f2_stride(q, v);
  return d && mt_add_piece(q, g->leaf[k], 1, 1, d, 0) ? MT_FITS : MT_MANY;
}

/* ---- the definition */

typedef struct sequence {
  const mt_flat *f;
  int64_t d; /* c -> A(c*d) */
  int *budget;
} sequence;

static bool at (int64_t *out, const sequence *x, int64_t c) {
  int64_t i;
  *x->budget -= 1 + x->f->n / DIGITS;
  return *x->budget >= 0 && !mt_mulo(c, x->d, &i) && mt_f2_value(out, x->f, i);
}

/* The longest run from 0 on, at most n, with the value c x A(step) at c*step. */
static int64_t run_length (const sequence *x, int64_t n, int64_t step, int64_t e) {
  int64_t v, want, c = 1;
  while (c < n && at(&v, x, c * step) && !mt_f2_mulo(c, e, &want) && v == want) c++;
  return c;
}

/* n values, `step` apart, as modes of leaf: the longest run first, then shorter ones. */
static bool factor (mt_pieces *q, const sequence *x, int leaf, int64_t n, int64_t step) {
  int64_t e;
  if (n == 1) return true;
  if (!at(&e, x, step)) return false;
  for (int64_t m = run_length(x, n, step, e); m > 1; m--) {
    if (n % m != 0) continue;
    int pieces = q->n, used = q->used, count = q->count[leaf];
    const mt_node *d = mt_f2_stride(q, e);
    if (d && mt_add_piece(q, leaf, m, 1, d, 0) && factor(q, x, leaf, n / m, step * m))
      return true;
    q->n = pieces;
    q->used = used;
    q->count[leaf] = count;
  }
  return false;
}

/* What the modes of leaf give at its coordinate c. */
static bool leaf_value (int64_t *sum, const mt_pieces *q, int leaf, int64_t c) {
  int64_t v;
  for (int i = 0; i < q->count[leaf]; i++) {
    const mt_piece *p = &q->p[q->first[leaf] + i];
    if (mt_f2_mulo(c % p->m, p->d ? p->d->stride : 0, &v)) return false;
    *sum ^= v;
    c /= p->m;
  }
  return true;
}

static void as_value (mt_layout *out, int64_t v) {
  mt_int(out, v);
  out->node[0].ring = MT_F2;
}

/* R(i) = A(B(i)) for all coordinates of the group. */
static bool verify (const mt_pieces *q, const mt_meet *g, int64_t size, mt_refusal *w) {
  for (int64_t i = 0; i < size; i++) {
    int64_t index = 0, rest = i, d, is, would = 0;
    for (int k = 0; k < g->n; k++) {
      int64_t c = rest % g->s[k];
      rest /= g->s[k];
      if (mt_mulo(c, g->d[k], &d) || mt_addo(index, d, &index)) return false;
      if (!leaf_value(&would, q, g->leaf[k], c)) return false;
    }
    if (!mt_f2_value(&is, &g->f, index)) return false;
    if (is == would) continue;
    w->witness = true;
    w->leaf = g->n > 1 ? -1 : 0;
    w->at = i;
    if (w->is) as_value(w->is, is);
    if (w->would) as_value(w->would, would);
    return false;
  }
  return true;
}

bool mt_f2_exact (mt_pieces *q, const mt_meet *g, mt_refusal *w) {
  int64_t size = 1, most = BUDGET / (1 + (g->f.n > g->n ? g->f.n : g->n) / DIGITS);
  int budget = BUDGET;
  bool exact = w->reason != MT_NEGATIVE;
  for (int k = 0; k < g->n && exact; k++) {
    sequence x = {&g->f, g->d[k], &budget};
    exact = !mt_mulo(size, g->s[k], &size) && size <= most;
    if (exact && g->s[k] == 1) exact = mt_f2_single(q, g, k) == MT_FITS;
    else if (exact) exact = factor(q, &x, g->leaf[k], g->s[k], 1);
  }
  exact = exact && verify(q, g, size, w);
  w->bounded =
      !exact && !w->witness && w->reason != MT_NEGATIVE && (size > most || budget < 0);
  return exact;
}
