/*
** main.c - what wgmma and TMA take, against their formulas by brute force:
** moontile_hardware_test [seed].
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hardware_test.h"
#include "times.h"

int checks, failures;

int main (int argc, char **argv) {
  uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL);
  printf("seed %llu\n", (unsigned long long)seed);
  test_gmma(seed);
  test_tma(seed);
  printf("%d checks, %d failures\n", checks, failures);
  return failures != 0;
}
