/*
** products.h - emulated products: what their kernels ask of the test.
** SPDX-License-Identifier: MIT
*/
#ifndef PRODUCTS_H
#define PRODUCTS_H

#include "desc/gemm_desc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The registers of the lanes that execute an instruction. */
typedef struct emulated_lanes {
  unsigned count;
  void *c[128];
  const void *a[128], *b[128];
  uint64_t b_matrix; /* of 128 lanes: the descriptor of B in shared memory */
} emulated_lanes;

/* Does what the instruction does; shared: where address 0 of shared memory is. */
typedef void emulated_instruction (const char *name, const emulated_lanes *l,
                                   const char *shared);

/* Runs the kernel of this name. */
void emulate_product (const char *name, unsigned blocks, const mt_gemm_launch *l,
                      emulated_instruction *how);

/* Element i of floats; v as element i. */
double emulate_read (uint32_t dtype, const char *base, int64_t i);
void emulate_write (uint32_t dtype, char *base, int64_t i, double v);

#ifdef __cplusplus
}
#endif
#endif
