/*
** ampere_test.h - emulated products by cp.async: what their kernels ask of the test.
** SPDX-License-Identifier: MIT
*/
#ifndef AMPERE_TEST_H
#define AMPERE_TEST_H

#include <stddef.h>
#include "gemm/ampere_desc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What may be read of an operand. */
typedef struct emulated_memory {
  const char *low, *high;
} emulated_memory;

/* Runs row `row` of ampere.def. */
void emulate_ampere (size_t row, unsigned threads, size_t shared,
                     const mt_ampere_launch *l, const emulated_memory source[2]);

/* Two 8-bit floats of x as f16. */
uint32_t emulate_halves (int e5m2, uint32_t x, int upper);

#ifdef __cplusplus
}
#endif
#endif
