/*
** times.h - how many random cases a test runs: MOONTILE_TIMES as many as usual.
** SPDX-License-Identifier: MIT
*/
#ifndef TIMES_H
#define TIMES_H

#include <stdlib.h>

static inline long cases_of (long usual) {
  const char *times = getenv("MOONTILE_TIMES");
  double n = times && *times ? atof(times) * (double)usual : (double)usual;
  return n < 1 ? 1 : (long)n;
}

#endif
