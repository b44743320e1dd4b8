/*
** compose_exact.c - composition by its definition, where the rule has no answer.
** SPDX-License-Identifier: MIT
**
** A result R compatible with B has R(0) = 0 and is a sum over the leaves of B: leaf k can
** only be the sequence c -> A(c*d_k). Its shortest shape:stride form is found greedily:
** the run of equal steps from 0 on has to divide the extent; then the sequence of every
** run-th value. If each leaf has one and R(i) = A(B(i)) holds for all i, R is the answer;
** otherwise there is none. The budget is of 2^16 values of at most DIGITS digits each; a
** value with more of them, or on more axes, counts for several.
*/
#include "algebra/compose.h"

enum { MAXAXES = 8, DIGITS = 32, BUDGET = DIGITS << 16 };

/* Values of A as integer vectors: one axis per index path that its strides have. */
typedef struct vec {
  int64_t v[MAXAXES];
} vec;

typedef struct space {
  const mt_flat *f;
  int n, budget, cost;     /* cost: of a value, in digits */
  mt_node axis[MAXAXES];   /* MT_INT nodes, values 0 */
  vec stride[MT_MAXNODES]; /* of A's modes */
  vec piece[MT_MAXNODES];  /* of the pieces found */
} space;

static int axis_of (space *x, const mt_node *path) {
  int k = 0;
  while (k < x->n && !mt_same_path(&x->axis[k], path)) k++;
  if (k == MAXAXES) return -1;
  if (k == x->n) {
    x->axis[x->n] = *path;
    x->axis[x->n].tag = MT_INT;
    x->axis[x->n++].shape = 0;
  }
  return k;
}

static bool add_axis (space *x, vec *v, const mt_node *path, int64_t value) {
  int k = value ? axis_of(x, path) : 0;
  if (k >= 0 && value) v->v[k] = value;
  return k >= 0;
}

static bool make_space (space *x, const mt_flat *f) {
  memset(x, 0, sizeof *x);
  x->f = f;
  x->budget = BUDGET;
  x->cost = DIGITS;
  for (int r = 0; r < f->n; r++) {
    const mt_node *p = f->d[r];
    if (p->tag == MT_LEAF && !add_axis(x, &x->stride[r], p, p->stride)) return false;
    if (p->tag == MT_LEAF) continue;
    for (const mt_node *c = mt_child(p); c < mt_next(p); c++)
      if (!add_axis(x, &x->stride[r], c, c->shape)) return false;
  }
  if (f->n * (x->n + 1) / 2 > DIGITS) x->cost = f->n * (x->n + 1) / 2;
  return true;
}

/* *sum += digit * d */
static bool add (vec *sum, int n, int64_t digit, const vec *d) {
  int64_t v;
  for (int k = 0; k < n; k++)
    if (mt_mulo(digit, d->v[k], &v) || mt_addo(sum->v[k], v, &sum->v[k])) return false;
  return true;
}

/* Of an index below 0 each digit has its sign: A(-i) = -A(i). */
static bool value (vec *out, space *x, int64_t i) {
  const mt_flat *f = x->f;
  memset(out, 0, sizeof *out);
  if ((x->budget -= x->cost) < 0) return false;
  for (int r = 0; r < f->n - 1; r++) {
    if (!add(out, x->n, i % f->s[r], &x->stride[r])) return false;
    i /= f->s[r];
  }
  return add(out, x->n, i, &x->stride[f->n - 1]);
}

static bool same (const vec *a, const vec *b) { return memcmp(a, b, sizeof *a) == 0; }

/* v as a value: an integer, a basis element or their sum. */
static void as_value (mt_layout *out, const space *x, const vec *v) {
  int n = 0, only = 0;
  mt_node *sum = out->node;
  for (int k = 0; k < x->n; k++)
    if (v->v[k] != 0) n++, only = k;
  mt_int(out, 0);
  if (n == 1) {
    sum[0] = x->axis[only];
    sum[0].shape = v->v[only];
  }
  if (n < 2) return;
  sum[0].tag = MT_SUM;
  sum[0].shape = -1;
  for (int k = 0; k < x->n; k++) {
    if (v->v[k] == 0) continue;
    int i = ++sum[0].arity; /* insertion, in the order of the paths */
    for (; i > 1 && mt_compare_paths(&sum[i - 1], &x->axis[k]) > 0; i--)
      sum[i] = sum[i - 1];
    sum[i] = x->axis[k];
    sum[i].shape = v->v[k];
  }
  sum[0].span = (uint32_t)sum[0].arity + 1;
}

/* Adds the mode m : v to leaf; the stride is kept in q->sums. */
static MT_APART bool add_mode (mt_pieces *q, space *x, int leaf, int64_t m,
                               const vec *v) {
  mt_layout stride;
  mt_node *s = stride.node;
  as_value(&stride, x, v);
  if (q->n == MT_MAXNODES || q->used + (int)s->span > MT_MAXNODES) return false;
  if (s->tag == MT_INT) s->tag = MT_LEAF, s->stride = s->shape;
  s->shape = m;
  mt_node *at = &q->sums.node[q->used];
  memcpy(at, s, s->span * sizeof *at);
  q->used += (int)s->span;
  x->piece[q->n] = *v;
  return mt_add_piece(q, leaf, m, 1, at, 0);
}

static bool witness (mt_refusal *w, const space *x, int k, int64_t at, const vec *is,
                     const vec *would) {
  w->witness = true;
  w->leaf = k;
  w->at = at;
  if (w->is) as_value(w->is, x, is);
  if (w->would) as_value(w->would, x, would);
  return false;
}

/* Leaf k: the sequence A(0), A(d), A(2d), ... of s values. False without a witness:
** undecided. */
static bool factor (mt_pieces *q, space *x, const mt_meet *g, int k, mt_refusal *w) {
  int64_t n = g->s[k], step = g->d[k], base = 1, c, i;
  vec first, v, would;
  if (n <= 1) return add_mode(q, x, g->leaf[k], n, &(vec){{0}});
  for (; n > 1; n /= c, base *= c) {
    if (mt_mulo(step, base, &i) || !value(&first, x, i)) return false;
    for (c = 2; c < n; c++) {
      memset(&would, 0, sizeof would);
      if (mt_mulo(step, base * c, &i) || !value(&v, x, i)) return false;
      if (!add(&would, x->n, c, &first)) return false;
      if (!same(&v, &would)) break;
    }
    if (n % c != 0) return witness(w, x, k, base * c, &v, &would);
    if (!add_mode(q, x, g->leaf[k], c, &first)) return false;
  }
  return true;
}

/* The value of leaf k of the result at c. */
static bool leaf_value (vec *sum, const mt_pieces *q, const space *x, int leaf,
                        int64_t c) {
  for (int i = 0; i < q->count[leaf]; i++) {
    int j = q->first[leaf] + i;
    int64_t m = q->p[j].m;
    if (m > 0 && !add(sum, x->n, c % m, &x->piece[j])) return false;
    if (m > 0) c /= m;
  }
  return true;
}

/* R(i) = A(B(i)) for all coordinates of the group. */
static bool verify (const mt_pieces *q, space *x, const mt_meet *g, mt_refusal *w) {
  int64_t size = 1;
  for (int k = 0; k < g->n; k++)
    if (mt_mulo(size, g->s[k], &size)) return false;
  if (g->n > x->cost) x->cost = g->n;
  if (size > x->budget / x->cost) return false;
  for (int64_t i = 0; i < size; i++) {
    int64_t at = 0, rest = i, d;
    vec is, would = {{0}};
    for (int k = 0; k < g->n; k++) {
      int64_t c = rest % g->s[k];
      rest /= g->s[k];
      if (mt_mulo(c, g->d[k], &d) || mt_addo(at, d, &at)) return false;
      if (!leaf_value(&would, q, x, g->leaf[k], c)) return false;
    }
    if (!value(&is, x, at)) return false;
    if (!same(&is, &would)) return witness(w, x, g->n > 1 ? -1 : 0, i, &is, &would);
  }
  return true;
}

bool mt_compose_exact (mt_pieces *q, const mt_meet *g, mt_refusal *w) {
  space x;
  bool exact = make_space(&x, &g->f);
  for (int k = 0; k < g->n && exact; k++) exact = factor(q, &x, g, k, w);
  exact = exact && verify(q, &x, g, w);
  w->bounded = !exact && !w->witness;
  return exact;
}
