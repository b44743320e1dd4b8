/*
** main.c - runs the tests of the processor's own product. MOONTILE_TIMES and
** MOONTILE_SEED choose how many random cases, and which; MOONTILE_TEST_BLAS is the path
** of a BLAS.
** SPDX-License-Identifier: MIT
*/
#include <time.h>

#include "gemm_test.h"

int main (void) {
  const char *seed = getenv("MOONTILE_SEED");
  const char *blas = getenv("MOONTILE_TEST_BLAS");
  const char *library = blas ? blas : "libblas.so.3";
  long n = cases_of(1000);
  uint64_t base =
      seed && *seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL) * 1000003;
  mt_device *device[DEVICES];
  printf("seed %llu, %ld cases\n", (unsigned long long)base, n);
  begin_case(base);
  for (int i = 0; i < DEVICES; i++) {
    mt_device_options options = {.size = sizeof(mt_device_options),
                                 .threads = i + 1,
                                 .libblas = i < BLAS ? "" : library};
    MUST(mt_device_open(&device[i], "cpu", &options, err));
  }
  test_numbers();
  test_products(device, n);
  for (int i = 0; i < DEVICES; i++) mt_device_close(device[i]);
  printf("%ld by %s\n", by_blas, library);
  printf("%d failures\n", failures);
  return failures != 0;
}
