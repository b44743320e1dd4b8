/*
** gemm_test.h - tests of the processor's own product: operands and trials.
** SPDX-License-Identifier: MIT
*/
#ifndef GEMM_TEST_H
#define GEMM_TEST_H

#include "cases.h"
#include "cpu/gemm.h"
#include "cpu/gemm_side.h"
#include "gemm/gemm.h"

/* A tensor of random numbers whose modes have these extents, each cut into random axes
** whose strides have any order, sign and gap; `own`: no two elements are one; `matrix`: each
** is one axis, one of them lies together. Memory of exactly the size that it reaches. */
typedef struct operand {
  mt_tensor t;
  mt_layout layout;
  char text[700];
  int64_t size[3];
} operand;
void random_operand (operand *o, mt_dtype d, int64_t x, int64_t y, int64_t batch,
                     bool own, bool matrix);
void free_operand (operand *o);

/* Sizes, types and factors of a product. */
typedef struct trial {
  mt_dtype a, b, c;
  int64_t size[MT_GEMM_MODES];
  double alpha, beta;
  bool matrices;
} trial;
/* Devices with pools of 1, 2 and 3 threads, and one that calls a BLAS. */
enum { ONE, TWO, THREE, BLAS, DEVICES };
/* Runs it on all of them: (1) the same bits whatever the number of threads, (2) what the
** definition gives, within the error of its sums. */
void try_product (mt_device *const device[DEVICES], const trial *x);
/* Products that a BLAS did. */
extern long by_blas;

void test_numbers (void);
void test_products (mt_device *const device[DEVICES], long cases);

#endif
