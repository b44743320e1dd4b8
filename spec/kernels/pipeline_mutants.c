/*
** pipeline_mutants.c - literal pipelines with a mistake each: all are found.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "kernels_test.h"
#include "products.h"

enum { MOST_DRAWN = 2000 };

static uint64_t state = 1;

static uint64_t next64 (void) {
  uint64_t z = (state += UINT64_C(0x9E3779B97F4A7C15));
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

int below (int n) { return (int)(next64() % (uint64_t)n); }
uint64_t seed_now (void) { return state; }

static const mt_kernel *row_of (const char *name) {
  const mt_kernel *k = mt_cuda_kernels;
  while (strcmp(k->name, name) != 0) k++;
  return k;
}

/* Random described products until one is wrong. */
static bool is_found (const char *name, const char *kernel) {
  emulated_mutant = name;
  for (int i = 1, tries = 0; i < MOST_DRAWN; i++) {
    bool ran = false;
    const bool good = described_product(row_of(kernel), &ran);
    tries += ran || !good;
    if (good) continue;
    printf("%-32s %2d\n", name, tries);
    return true;
  }
  printf("%s is not found\n", name);
  return false;
}

int main (void) {
  const char *name, *kernel;
  int left = 0, n = 0;
  for (; emulated_pipeline_mutant(n, &name, &kernel); n++)
    left += !is_found(name, kernel);
  printf("%d mutants, %d not found\n", n, left);
  return left > 0 || n == 0;
}
