/*
** cases.c - checks, seeds and random numbers.
** SPDX-License-Identifier: MIT
*/
#include <stdarg.h>

#include "cases.h"
#include "splitmix64.h"

static uint64_t state, case_seed;
int failures;

void failed (const char *file, int line, const char *format, ...) {
  va_list ap;
  const char *name = strrchr(file, '/');
  if (++failures > 20) return;
  printf("%s:%d: seed %llu: ", name ? name + 1 : file, line,
         (unsigned long long)case_seed);
  va_start(ap, format);
  vprintf(format, ap);
  va_end(ap);
  printf("\n");
}

void begin_case (uint64_t seed) { state = case_seed = seed; }

uint64_t next64 (void) { return splitmix64(&state); }

int pick (int n) { return (int)(next64() % (uint64_t)n); }

int64_t between (int64_t lo, int64_t hi) {
  return lo + (int64_t)(next64() % (uint64_t)(hi - lo + 1));
}

mt_layout parse (const char *text) {
  mt_layout out;
  MUST(mt_parse(&out, text, strlen(text), err));
  return out;
}
