/*
** ampere_test.h - emulated products by cp.async: what their kernels ask of the test.
** SPDX-License-Identifier: MIT
*/
#ifndef AMPERE_TEST_H
#define AMPERE_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include "gemm/ampere_desc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What may be read of an operand. */
typedef struct emulated_memory {
  const char *low, *high;
} emulated_memory;

/* Who goes on where threads can: one after the other, any, one warp as far as it gets. */
typedef enum emulated_turn { IN_TURN, ANY_ORDER, WARP_AHEAD, NTURN } emulated_turn;

/* How blocks run; `report` says what was wrong. */
typedef struct emulated_block {
  unsigned threads;
  size_t shared;
  emulated_memory source[2];
  emulated_turn order;
  uint64_t seed;
  char report[256];
} emulated_block;

/* Runs row `row` of ampere.def, or another kernel; false: the report says why. */
typedef bool run_block_kernel (size_t kernel, const mt_ampere_launch *l,
                               emulated_block *b);
bool emulate_ampere (size_t row, const mt_ampere_launch *l, emulated_block *b);

/* A kernel with one mistake: the row of ampere.def that it is, and what is said of it. */
typedef struct ampere_mutant {
  const char *name, *kernel, *told;
} ampere_mutant;
extern const ampere_mutant ampere_mutants[];
extern const size_t nampere_mutants;
bool emulate_ampere_mutant (size_t mutant, const mt_ampere_launch *l, emulated_block *b);

/* Two 8-bit floats of x as f16. */
uint32_t emulate_halves (int e5m2, uint32_t x, int upper);

#ifdef __cplusplus
}
#endif
#endif
