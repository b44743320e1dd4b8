/*
** solve.h - private: small linear equations over integers in ranges.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_CORE_SOLVE_H
#define MT_CORE_SOLVE_H

#include "core/error.h"

enum { MT_MAXTERMS = 52, MT_SOLVE_STEPS = 1 << 16 };

/* sum of v[i] * d[i], lo[i] <= v[i] <= hi[i], d[i] > 0. */
typedef struct mt_equation {
  int n;
  int64_t d[MT_MAXTERMS], lo[MT_MAXTERMS], hi[MT_MAXTERMS];
  int64_t v[MT_MAXTERMS]; /* the solution */
} mt_equation;

typedef enum mt_solution { MT_NONE, MT_FOUND, MT_UNDECIDED } mt_solution;

/* Whether the sum can be `target`; with `other`, in another way than by v = 0, of ranges
** that are symmetric. A depth-first search of at most MT_SOLVE_STEPS steps, largest d
** first; what cannot be reached, or not for reasons of divisibility, is not entered. */
mt_solution mt_solve (mt_equation *e, int64_t target, bool other);

#endif
