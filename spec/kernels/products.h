/*
** products.h - emulated products: what their kernels ask of the test.
** SPDX-License-Identifier: MIT
*/
#ifndef PRODUCTS_H
#define PRODUCTS_H

#include <stdbool.h>

#include "desc/pipeline_desc.h"

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

/* The same of a described kernel over its instruction. Aborts where it writes outside of
** its shared memory. */
void emulate_pipeline (const char *name, unsigned blocks, const mt_pipeline_launch *l,
                       emulated_instruction *how);

/* Of the build with mutants: mutant i and its kernel; which one emulate_pipeline runs. */
bool emulated_pipeline_mutant (int i, const char **name, const char **kernel);
extern const char *emulated_mutant;

/* Element i of floats; v as element i. */
double emulate_read (uint32_t dtype, const char *base, int64_t i);
void emulate_write (uint32_t dtype, char *base, int64_t i, double v);

#ifdef __cplusplus
}
#endif
#endif
