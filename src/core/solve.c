/*
** solve.c - a bounded search: whether a sum of axes can be a number.
** SPDX-License-Identifier: MIT
*/
#include "core/solve.h"

/* By d: term[0] has the smallest. What the terms before i sum to lies in low[i] ..
** high[i] and is a multiple of gcd[i] (0: there are none). */
typedef struct mt_search {
  mt_equation *e;
  int term[MT_MAXTERMS];
  int64_t low[MT_MAXTERMS + 1], high[MT_MAXTERMS + 1], gcd[MT_MAXTERMS + 1];
  int steps;
} mt_search;

static int64_t floor_div (int64_t a, int64_t b) { return a / b - (a % b < 0); }
static int64_t max_of (int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t min_of (int64_t a, int64_t b) { return a < b ? a : b; }

static void sort_terms (mt_search *s) {
  const mt_equation *e = s->e;
  for (int i = 0; i < e->n; i++) {
    int j = i;
    for (; j > 0 && e->d[s->term[j - 1]] > e->d[i]; j--) s->term[j] = s->term[j - 1];
    s->term[j] = i;
  }
}

/* False if a sum does not fit: then nothing is known. */
static bool sum_terms (mt_search *s, int64_t target) {
  const mt_equation *e = s->e;
  int64_t t, room;
  for (int i = 0; i < e->n; i++) {
    int k = s->term[i];
    if (mt_mulo(e->lo[k], e->d[k], &t) || mt_addo(s->low[i], t, &s->low[i + 1]))
      return false;
    if (mt_mulo(e->hi[k], e->d[k], &t) || mt_addo(s->high[i], t, &s->high[i + 1]))
      return false;
    s->gcd[i + 1] = mt_gcd_of(e->d[k], s->gcd[i]);
  }
  /* Every difference that the search forms lies within twice the whole range of the
  ** target. */
  if (mt_subo(s->high[e->n], s->low[e->n], &room) || mt_mulo(room, 2, &room))
    return false;
  return !mt_addo(room, max_of(target, 0), &t) && !mt_subo(-room, max_of(-target, 0), &t);
}

/* The first v in [from, to] with (rest - v * d) a multiple of g; `period` receives the
** distance to the next. False: there is none, or the steps are spent. */
static bool congruent_from (mt_search *s, int64_t *from, int64_t to, int64_t *period,
                            int64_t rest, int64_t d, int64_t g) {
  *period = 1;
  if (g <= 1) return *from <= to;
  *period = g / mt_gcd_of(d, g);
  for (int64_t v = *from; v <= to && v < *from + *period; v++) {
    if (++s->steps > MT_SOLVE_STEPS) return false;
    if ((rest - v * d) % g == 0) {
      *from = v;
      return true;
    }
  }
  return false;
}

/* Terms below i are to sum to `rest`; `zero`: all terms from i on are 0. */
static mt_solution descend (mt_search *s, int i, int64_t rest, bool zero) {
  mt_equation *e = s->e;
  if (++s->steps > MT_SOLVE_STEPS) return MT_UNDECIDED;
  if (i == 0) return rest == 0 && !zero ? MT_FOUND : MT_NONE;
  int k = s->term[i - 1];
  int64_t d = e->d[k], period, g = s->gcd[i - 1];
  int64_t v = max_of(e->lo[k], mt_div_up(rest - s->high[i - 1], d));
  int64_t to = min_of(e->hi[k], floor_div(rest - s->low[i - 1], d));
  if (zero) v = max_of(v, 0);
  if (!congruent_from(s, &v, to, &period, rest, d, g))
    return s->steps > MT_SOLVE_STEPS ? MT_UNDECIDED : MT_NONE;
  for (; v <= to; v += period) {
    e->v[k] = v;
    mt_solution found = descend(s, i - 1, rest - v * d, zero && v == 0);
    if (found != MT_NONE) return found;
  }
  return MT_NONE;
}

mt_solution mt_solve (mt_equation *e, int64_t target, bool other) {
  mt_search s = {.e = e};
  assert(e->n <= MT_MAXTERMS);
  sort_terms(&s);
  if (target == INT64_MIN || !sum_terms(&s, target)) return MT_UNDECIDED;
  return descend(&s, e->n, target, other);
}
