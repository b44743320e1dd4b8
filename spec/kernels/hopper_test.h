/*
** hopper_test.h - emulated products by TMA and wgmma: what their kernels ask of the test.
** SPDX-License-Identifier: MIT
*/
#ifndef HOPPER_TEST_H
#define HOPPER_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include "gemm/hopper_desc.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
typedef const mt_hopper_launch &emulated_launch;
#else
typedef const mt_hopper_launch *emulated_launch;
#endif

/* When what goes on by itself is done: at once, when the program has to have waited for it,
** or in between. And which threads go first. */
typedef enum emulated_timing { EARLIEST, LATEST, BETWEEN, NTIMING } emulated_timing;
typedef enum emulated_order {
  ANY_ORDER,
  LOADER_FIRST,
  LOADER_LAST,
  NORDER
} emulated_order;

/* How a launch runs; `report` says what was wrong. */
typedef struct emulated_run {
  unsigned blocks, cluster, threads;
  size_t shared;
  bool edges; /* rows outside of A and B are not loaded, and do not count */
  emulated_timing timing;
  emulated_order order;
  uint64_t seed;
  char report[1024];
} emulated_run;

/* What a map of three axes is, the innermost first; lines of boxes lie under a swizzle as
** wide as they are, of 128 or 32 bytes. */
typedef struct emulated_map {
  char *base;
  uint64_t extent[3], stride[2];
  uint32_t box[3], size; /* of an element */
} emulated_map;
void emulate_map (mt_tma_map *out, const emulated_map *m);

/* Row `row` of hopper.def. */
bool emulate_hopper (size_t row, const mt_hopper_launch *l, emulated_run *r);
/* The byte of shared memory where wgmma reads element (i,j) of an operand (MN,K). */
uint32_t emulate_operand (uint64_t descriptor, bool mn, uint32_t i, uint32_t j,
                          uint32_t size);
/* An activation as kernels compute it. */
float emulate_activation (const mt_activation_form *f, float x);
/* What tf32 leaves out. */
void emulate_rest (const mt_rest_launch *l);

/* A kernel with one mistake: the row of hopper.def that it is, and what is said of it. */
typedef struct emulated_mutant {
  const char *name, *kernel, *told;
  void (*run)(emulated_launch p);
} emulated_mutant;
extern const emulated_mutant *const emulated_mutants;
extern const size_t emulated_nmutants;
bool emulate_mutant (const emulated_mutant *m, const mt_hopper_launch *l,
                     emulated_run *r);

#ifdef __cplusplus
}
#endif
#endif
