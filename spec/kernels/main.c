/*
** main.c - random launches: what a kernel writes is what the reference executor writes.
** SPDX-License-Identifier: MIT
**
** usage: moontile_kernels_test [CASES [SEED [NAME]]]: of rows whose names contain NAME.
** Each row of products has one case for 4000 of copies, 1 at least.
*/
#include <stdio.h>
#include <stdlib.h>

#include "kernels_test.h"
#include "plan/device.h"

extern emulated *const emulate_near[], *const emulate_far[];

static uint64_t state;

int below (int n) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (int)(state % (uint64_t)n);
}

uint64_t seed_now (void) { return state; }

static bool one_case (int rows, const char *only) {
  int row;
  do row = below(rows);
  while (strstr(mt_cuda_kernels[row].name, only) == NULL);
  emulated *const tables[] = {emulate_near[row], emulate_far[row]};
  return one_copy(row, tables, 2);
}

static int copies (void) {
  int n = 0;
  while ((size_t)n < mt_ncuda_kernels && mt_cuda_kernels[n].op == MT_OP_COPY) n++;
  return n;
}

/* Each row of a product, `cases` times. */
static bool products (long cases) {
  long all = 0;
  for (const mt_kernel *k = mt_cuda_kernels; k < mt_cuda_kernels + mt_ncuda_kernels; k++)
    for (long i = 0, tries = 0; k->op == MT_OP_GEMM && i < cases; tries++) {
      uint64_t seed = state;
      bool ran = false, good = one_product(k, &ran);
      if (!good || tries > 20 * cases + 100) {
        fprintf(stderr, "%s: case %ld, seed 0x%llx\n", k->name, i,
                (unsigned long long)seed);
        return false;
      }
      i += ran, all += ran;
    }
  printf("kernels: %ld products\n", all);
  return true;
}

int main (int argc, char **argv) {
  long cases = argc > 1 ? atol(argv[1]) : 3000;
  state = argc > 2 ? strtoull(argv[2], NULL, 0) : 0x9E3779B97F4A7C15u;
  for (long i = 0; i < cases; i++) {
    uint64_t seed = state;
    if (one_case(copies(), argc > 3 ? argv[3] : "")) continue;
    fprintf(stderr, "case %ld: moontile_kernels_test 1 0x%llx\n", i,
            (unsigned long long)seed);
    return 1;
  }
  printf("kernels: %ld copies\n", cases);
  return conversions() && halves_of_bytes() &&
                 by_cp_async(cases / 8000 > 0 ? cases / 8000 : 1) && small_floats() &&
                 products(cases / 4000 > 0 ? cases / 4000 : 1) &&
                 pipelines(cases / 4000 > 0 ? cases / 4000 : 1) && small_blocks() &&
                 sums_of_threads() && own_kernel(cases / 50) ?
             0 :
             1;
}
