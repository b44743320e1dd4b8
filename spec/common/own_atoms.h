/*
** own_atoms.h - random descriptions of atoms: digits of a tile, dealt to threads and values.
** SPDX-License-Identifier: MIT
*/
#ifndef OWN_ATOMS_H
#define OWN_ATOMS_H

#include "splitmix64.h"
#include "text.h"

enum { OWN_DIGITS = 24 };

/* Digits: extents and strides. */
typedef struct own_digits {
  int n;
  int64_t s[OWN_DIGITS], d[OWN_DIGITS];
} own_digits;

static inline int own_pick (uint64_t *seed, int n) {
  return (int)(splitmix64(seed) % (uint64_t)n);
}

/* The digits of n elements that lie `step` apart, cut at random. */
static inline void own_cut (own_digits *q, int64_t n, int64_t step, uint64_t *seed) {
  for (int64_t f = 2; f <= n; f++) {
    while (n % f == 0 && q->n < OWN_DIGITS / 2) {
      int64_t e = f;
      while (n / e % f == 0 && own_pick(seed, 2)) e *= f;
      q->s[q->n] = e, q->d[q->n++] = step;
      n /= e, step *= e;
    }
  }
  if (n > 1) q->s[q->n] = n, q->d[q->n++] = step;
}

static inline void own_shuffle (own_digits *q, uint64_t *seed) {
  for (int i = q->n - 1; i > 0; i--) {
    int j = own_pick(seed, i + 1);
    int64_t s = q->s[i], d = q->d[i];
    q->s[i] = q->s[j], q->d[i] = q->d[j];
    q->s[j] = s, q->d[j] = d;
  }
}

/* A tile of x times y dealt to `threads`, 0: to as many as it comes to; what is left of
** them shares: stride 0. Returns how many threads there are. */
static inline int64_t own_deal (own_digits *thr, own_digits *val, int64_t x, int64_t y,
                                int64_t threads, uint64_t *seed) {
  own_digits all = {.n = 0};
  int64_t n = 1;
  own_cut(&all, x, 1, seed);
  own_cut(&all, y, x, seed);
  own_shuffle(&all, seed);
  thr->n = val->n = 0;
  for (int i = 0; i < all.n; i++) {
    bool fits = threads ? threads / n % all.s[i] == 0 : n * all.s[i] <= 64;
    own_digits *to = fits && own_pick(seed, 3) ? thr : val;
    to->s[to->n] = all.s[i], to->d[to->n++] = all.d[i];
    if (to == thr) n *= all.s[i];
  }
  if (threads == 0 || n == threads) return n;
  thr->s[thr->n] = threads / n, thr->d[thr->n++] = 0;
  own_shuffle(thr, seed);
  return threads;
}

static inline void own_write_mode (text *t, const own_digits *q, const int64_t *v,
                                   int one) {
  put(t, "(");
  if (q->n == 0) put_int(t, one);
  for (int i = 0; i < q->n; i++) {
    if (i) put(t, ",");
    put_int(t, v[i]);
  }
  put(t, ")");
}

/* ((thread digits),(value digits)):strides */
static inline void own_write (text *t, const own_digits *thr, const own_digits *val) {
  t->n = 0;
  put(t, "(");
  own_write_mode(t, thr, thr->s, 1);
  put(t, ",");
  own_write_mode(t, val, val->s, 1);
  put(t, "):(");
  own_write_mode(t, thr, thr->d, 0);
  put(t, ",");
  own_write_mode(t, val, val->d, 0);
  put(t, ")");
}

/* An MMA atom: its shape and the texts of A, B and C. */
typedef struct own_mma {
  int64_t m, n, k, threads;
  own_digits thr[3], val[3];
  text text[3];
} own_mma;

static inline int64_t own_extent (uint64_t *seed) {
  static const int extents[] = {1, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16};
  return extents[own_pick(seed, (int)(sizeof extents / sizeof *extents))];
}

static inline void own_draw (own_mma *a, uint64_t *seed) {
  a->m = own_extent(seed), a->n = own_extent(seed), a->k = own_extent(seed);
  a->threads = own_deal(&a->thr[2], &a->val[2], a->m, a->n, 0, seed);
  own_deal(&a->thr[0], &a->val[0], a->m, a->k, a->threads, seed);
  own_deal(&a->thr[1], &a->val[1], a->n, a->k, a->threads, seed);
  for (int i = 0; i < 3; i++) own_write(&a->text[i], &a->thr[i], &a->val[i]);
}

#endif
