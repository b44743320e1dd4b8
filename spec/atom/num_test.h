/*
** num_test.h - the little that the tests of the arithmetic of instructions share.
** SPDX-License-Identifier: MIT
*/
#ifndef NUM_TEST_H
#define NUM_TEST_H

#include <math.h>

#include "counted.h"
#include "atom/mma_number.h"

/* Equal, or both no numbers; zeros of one sign. */
static inline bool alike (double a, double b) {
  return a == b ? signbit(a) == signbit(b) : a != a && b != b;
}

/* What x is rounded to in a float with m bits of fraction, the least normal number
** 2^least, the largest number `most`. */
static inline double nearest_float (long double x, int m, int least, double most) {
  if (x != x || isinf(x) || x == 0) return (double)x;
  int e = ilogbl(x), q = (e < least ? least : e) - m;
  double r = (double)ldexpl(rintl(ldexpl(x, -q)), q);
  return fabs(r) > most ? copysign(INFINITY, r) : r;
}

void test_elements (uint64_t seed);
void test_numbers (void);
void test_operations (uint64_t seed);
void test_bounds (uint64_t seed);
void test_own (uint64_t seed);

#endif
