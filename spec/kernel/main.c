/*
** main.c - kernels: the order of their stages, and what goes wrong where a law is broken:
** moontile_kernel_test [seed].
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>
#include <time.h>

#include "kernel_test.h"

int checks, failures;

int main (int argc, char **argv) {
  uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
  printf("seed %llu\n", (unsigned long long)seed);
  test_order();
  test_faults(seed);
  printf("%d checks, %d failures\n", checks, failures);
  return failures != 0;
}
