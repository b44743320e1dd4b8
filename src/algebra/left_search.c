/*
** left_search.c - a left inverse, where there is one: every chain of digits.
** SPDX-License-Identifier: MIT
**
** A layout L is a chain 1 = P_0 | P_1 | ... and a stride e_j for each digit
**   t_j(x) = x / P_j mod P_j+1 / P_j, the last without the mod.
** L(x) = f for the values x of A, at their indices f, are linear equations in e, solved
** over the integers. Values with one quotient x / P_k part only in digits below k: if the
** equations of their differences have no solution, no chain that begins so has one.
*/
#include "algebra/left_search.h"

enum {
  LINKS = 16,
  POINTS = 512,
  STEPS = 1 << 21
}; /* steps: values, links of equations */

/* ---- linear equations over the integers */

/* e and all sums of multiples of the first m vectors b solve the equations so far. */
typedef struct solution {
  int n, m;
  int64_t e[LINKS], b[LINKS][LINKS];
} solution;

static void begin (solution *s, int n) {
  memset(s, 0, sizeof *s);
  s->n = s->m = n;
  for (int j = 0; j < n; j++) s->b[j][j] = 1;
}

/* *out += q * the product of a and b; true on overflow. */
static bool add_product (int64_t *out, int64_t q, int n, const int64_t *a,
                         const int64_t *b) {
  int64_t v;
  for (int j = 0; j < n; j++)
    if (mt_mulo(a[j], b[j], &v) || mt_mulo(q, v, &v) || mt_addo(*out, v, out))
      return true;
  return false;
}

/* a += q * b */
static bool add_vector (int n, int64_t *a, int64_t q, const int64_t *b) {
  int64_t v;
  for (int j = 0; j < n; j++)
    if (mt_mulo(q, b[j], &v) || mt_addo(a[j], v, &a[j])) return true;
  return false;
}

static int least (int m, const int64_t *g) {
  int at = -1;
  for (int i = 0; i < m; i++)
    if (g[i] != 0 && (at < 0 || mt_magnitude(g[i]) < mt_magnitude(g[at]))) at = i;
  return at;
}

/* Changes the vectors until at most one of the numbers g, their products with the
** equation, is not 0: its place, -1 if there is none, -2 on overflow. */
static int reduce (solution *s, int64_t *g) {
  for (;;) {
    int at = least(s->m, g), left = 0;
    for (int i = 0; at >= 0 && i < s->m; i++) {
      if (i == at || g[i] == 0) continue;
      int64_t q = g[i] / g[at];
      if (add_vector(s->n, s->b[i], -q, s->b[at])) return -2;
      g[i] -= q * g[at];
      left += g[i] != 0;
    }
    if (left == 0) return at;
  }
}

/* Adds the equation a * e = f; false: there is no solution. */
static bool require (solution *s, const int64_t *a, int64_t f) {
  int64_t g[LINKS] = {0}, r = f;
  if (add_product(&r, -1, s->n, a, s->e)) return false;
  for (int i = 0; i < s->m; i++)
    if (add_product(&g[i], 1, s->n, a, s->b[i])) return false;
  int at = reduce(s, g);
  if (at == -1) return r == 0;
  if (at < 0 || r % g[at] != 0 || add_vector(s->n, s->e, r / g[at], s->b[at]))
    return false;
  if (at != --s->m) memcpy(s->b[at], s->b[s->m], sizeof s->b[at]);
  return true;
}

/* ---- the values of A */

typedef struct point {
  int64_t x, f;
} point;

typedef struct search {
  mt_digits *x;
  int n, most; /* points; links of a chain */
  bool deeper; /* a chain had no room for more links */
  point at[POINTS];
} search;

/* All values, in their order; false if there are too many. */
static bool points_of (search *w) {
  const mt_digits *x = w->x;
  int64_t size = 1;
  for (int k = 0; k < x->n; k++)
    if ((size *= x->m[k].s < POINTS ? x->m[k].s : POINTS + 1) > POINTS) return false;
  for (w->n = 0; w->n < size; w->n++) {
    point v = {0, 0};
    int k = w->n;
    int64_t i = k;
    for (int r = 0; r < x->n; i /= x->m[r++].s) {
      int64_t c = i % x->m[r].s, t; /* the sums are offsets and indices of A */
      if (!mt_mulo(c, x->m[r].d, &t)) v.x += t;
      v.f += c * x->m[r].p;
    }
    for (; k > 0 && w->at[k - 1].x > v.x; k--) w->at[k] = w->at[k - 1];
    w->at[k] = v;
  }
  return true;
}

static void digits_of (int64_t *t, const mt_digits *x, int64_t v) {
  for (int j = 0; j < x->links; j++)
    t[j] = j + 1 < x->links ? v / x->p[j] % (x->p[j + 1] / x->p[j]) : v / x->p[j];
}

/* ---- chains */

/* The differences of values with one quotient by the last P. */
static bool may_go_on (const search *w) {
  int64_t t[LINKS], u[LINKS];
  solution s;
  mt_digits *x = w->x;
  begin(&s, x->links);
  for (int i = 1; i < w->n; i++) {
    const point *a = &w->at[i - 1], *b = &w->at[i];
    if (--x->budget < 0) return false;
    if (a->x / x->p[x->links - 1] != b->x / x->p[x->links - 1]) continue;
    x->budget -= x->links;
    digits_of(t, x, a->x);
    digits_of(u, x, b->x);
    for (int j = 0; j < x->links; j++) u[j] -= t[j];
    if (!require(&s, u, b->f - a->f)) return false;
  }
  return true;
}

static bool solves (const search *w) {
  int64_t t[LINKS];
  solution s;
  mt_digits *x = w->x;
  begin(&s, x->links);
  for (int i = 0; i < w->n; i++) {
    if ((x->budget -= x->links) < 0) return false;
    digits_of(t, x, w->at[i].x);
    if (!require(&s, t, w->at[i].f)) return false;
  }
  memcpy(x->e, s.e, sizeof s.e);
  x->last = w->at[w->n - 1].x / x->p[x->links - 1] + 1;
  return true;
}

/* The chain so far, or one that begins with it. */
static bool extend (search *w) {
  mt_digits *x = w->x;
  int64_t step = x->p[x->links - 1], q = step;
  if (!may_go_on(w)) return false;
  if (x->links == w->most) {
    w->deeper = true;
    return solves(w);
  }
  while (x->budget >= 0 && !mt_addo(q, step, &q) && q <= w->at[w->n - 1].x) {
    x->p[x->links++] = q;
    if (extend(w)) return true;
    x->links--;
  }
  return false;
}

bool mt_left_search (mt_digits *x) {
  search w = {.x = x, .deeper = true};
  x->budget = -1;
  if (!points_of(&w)) return false;
  x->budget = STEPS;
  x->p[0] = 1;
  for (w.most = 1; w.deeper && w.most <= LINKS && x->budget >= 0; w.most++) {
    w.deeper = false;
    x->links = 1;
    if (extend(&w)) return true;
  }
  return false;
}
