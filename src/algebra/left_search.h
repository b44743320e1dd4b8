/*
** left_search.h - private: the digits that a left inverse is made of, and all ways to
** choose them.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_ALGEBRA_LEFT_SEARCH_H
#define MT_ALGEBRA_LEFT_SEARCH_H

#include "core/build.h"

/* A mode of A that moves; p: the product of the extents before it. */
typedef struct mt_moving {
  int64_t s, d, p;
} mt_moving;

typedef struct mt_digits {
  int n; /* modes of A that move, in the order of their strides */
  mt_moving m[MT_MAXNODES];
  int links;
  int64_t p[MT_MAXNODES];       /* P_0 = 1, P_1, ..., each a multiple of the one before */
  int64_t e[MT_MAXNODES], last; /* strides; the extent of the last digit */
  int budget;
} mt_digits;

/* Digits and strides with L(A(c)) = the index of c for all coordinates c, of as few
** digits as there are: every chain of P is tried, its strides are solved for. False:
** there are none, or x->budget is below 0. */
bool mt_left_search (mt_digits *x);

#endif
