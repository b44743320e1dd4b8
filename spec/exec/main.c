/*
** main.c - runs the tests from partition to execution. MOONTILE_CASES and MOONTILE_SEED
** choose how many random cases, and which.
** SPDX-License-Identifier: MIT
*/
#include <stdarg.h>
#include <time.h>

#include "exec_test.h"

long base_cases = 30000;
uint64_t base_seed;
static uint64_t state, case_seed;
static int failures;

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

uint64_t next64 (void) {
  uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

int pick (int n) { return (int)(next64() % (uint64_t)n); }
int64_t between (int64_t lo, int64_t hi) {
  return lo + (int64_t)(next64() % (uint64_t)(hi - lo + 1));
}

mt_layout parse (const char *text) {
  mt_layout out;
  MUST(mt_parse(&out, text, strlen(text), err));
  return out;
}

const char *text_of (const mt_node *t) {
  static char buf[4][1024];
  static int n;
  n = (n + 1) % 4;
  mt_format(buf[n], sizeof buf[n], t);
  return buf[n];
}

memory exact_memory (size_t bytes, size_t align) {
  memory m = {NULL, bytes};
  m.p = malloc(bytes + align);       /* `align` 0, or the block ends late */
  if (m.p == NULL) abort();
  return m;
}

void random_bytes (memory m) {
  for (size_t i = 0; i < m.bytes; i++) m.p[i] = (unsigned char)(next64() >> 40);
}

void free_memory (memory m) { free(m.p); }

int main (void) {
  const char *cases = getenv("MOONTILE_CASES"), *seed = getenv("MOONTILE_SEED");
  static const struct { const char *name; void (*run) (void); } tests[] = {
    {"tile", test_tile}, {"desc", test_desc}, {"check", test_check}, {"moves",
                                                                      test_moves},
    {"copy", test_copy}, {"plan", test_plan}, {"device", test_device},
    {"cast", test_cast}, {"mma", test_mma}, {"verify", test_verify},
  };
  if (cases && *cases) base_cases = atol(cases) / 50 + 1;
  base_seed = seed && *seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL) * 1000003;
  printf("seed %llu, %ld cases\n", (unsigned long long)base_seed, base_cases);
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
    begin_case(0);
    tests[i].run();
    printf("%s: done, %d failures so far\n", tests[i].name, failures);
    fflush(stdout);
  }
  return failures != 0;
}
