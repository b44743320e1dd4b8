/*
** main.c - runs the tests of the processor's own product. MOONTILE_CASES and
** MOONTILE_SEED choose how many random cases, and which; MOONTILE_TEST_BLAS is the path
** of a BLAS.
** SPDX-License-Identifier: MIT
*/
#include <stdarg.h>
#include <time.h>

#include "gemm_test.h"

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

int64_t between (int64_t lo, int64_t hi) {
  return lo + (int64_t)(next64() % (uint64_t)(hi - lo + 1));
}

int main (void) {
  const char *cases = getenv("MOONTILE_CASES"), *seed = getenv("MOONTILE_SEED");
  const char *blas = getenv("MOONTILE_TEST_BLAS");
  const char *library = blas ? blas : "libblas.so.3";
  long n = cases && *cases ? atol(cases) / 2500 + 1 : 2000;
  uint64_t base = seed && *seed ? strtoull(seed, NULL, 10) :
      (uint64_t)time(NULL) * 1000003;
  mt_device *device[DEVICES];
  printf("seed %llu, %ld cases\n", (unsigned long long)base, n);
  begin_case(base);
  for (int i = 0; i < DEVICES; i++) {
    mt_device_options options = {.threads = i + 1, .libblas = i < BLAS ? "" : library};
    MUST(mt_device_open(&device[i], "cpu", &options, err));
  }
  test_numbers();
  test_products(device, n);
  for (int i = 0; i < DEVICES; i++) mt_device_close(device[i]);
  printf("%ld by %s\n", by_blas, library);
  printf("%d failures\n", failures);
  return failures != 0;
}
