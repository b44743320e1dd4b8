/*
** hopper_case.h - one random product by TMA and wgmma, emulated.
** SPDX-License-Identifier: MIT
*/
#ifndef HOPPER_CASE_H
#define HOPPER_CASE_H

#include "common/cases.h"
#include "gemm/hopper.h"
#include "hopper_test.h"

static const double NO_FLOAT = 0.3; /* a factor */

/* What is drawn of a product, by the row of the kernel that computes it. */
typedef struct hopper_case {
  const mt_hopper_row *row;
  bool streams; /* stream-K */
  int m, n, k, batch;
  int terms, parts, clusters;
  int direct; /* how D is written */
  double alpha, beta;
  mt_dtype type; /* of C */
  uint32_t activation;
  struct tensor *side; /* bias and residual; NULL: no epilogue */
  emulated_run run;
} hopper_case;

void draw_case (hopper_case *c, const mt_hopper_row *row);
bool may_read (const mt_hopper_row *row);
size_t format_case (char *buf, size_t size, const hopper_case *c);

/* Computes it by the kernel, `run`, on fresh operands; false: the run said what is wrong,
** or the result is, and c->run.report has it. */
typedef bool run_kernel (void *kernel, const mt_hopper_launch *l, emulated_run *r);
bool one_case (hopper_case *c, run_kernel *run, void *kernel);

/* The same of a product of the row's types by whichever row and launch the library chooses
** for it; *ran is false where that takes memory to bring tensors into another form. */
bool chosen_case (hopper_case *c, bool *ran);

#endif
