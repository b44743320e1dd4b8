/*
** main.c - runs the tests of the arithmetic of instructions: moontile_atom_test [seed].
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>
#include <time.h>

#include "num_test.h"

int checks, failures;

int main (int argc, char **argv) {
  uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
  printf("seed %llu\n", (unsigned long long)seed);
  test_elements(seed);
  test_numbers();
  test_operations(seed);
  test_bounds(seed);
  test_own(seed);
  printf("%d checks, %d failures\n", checks, failures);
  return failures != 0;
}
