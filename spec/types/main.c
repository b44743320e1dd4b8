/*
** main.c - runs the tests of data types and .npy headers: moontile_npy_test [seed].
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>
#include <time.h>

#include "npy_test.h"

int checks, failures;

int main (int argc, char **argv) {
  uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
  printf("seed %llu\n", (unsigned long long)seed);
  test_dtypes(seed);
  test_headers(seed);
  test_writer();
  test_safetensors(seed);
  printf("%d checks, %d failures\n", checks, failures);
  return failures != 0;
}
