/*
** gemm_test.h - tests of the processor's own product: checks and random numbers.
** SPDX-License-Identifier: MIT
*/
#ifndef GEMM_TEST_H
#define GEMM_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "moontile.h"
#include "mt_cpu_gemm.h"
#include "mt_cpu_side.h"
#include "mt_mma.h"

/* Prints what does not hold, with the case's seed, and counts it. */
void failed (const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define CHECK(cond, ...)                                                                 \
  do { if (!(cond)) failed(__FILE__, __LINE__, __VA_ARGS__); } while (0)
/* The call returns OK. */
#define MUST(call)                                                                       \
  do {                                                                                   \
    mt_err must_ = MT_NOERR, *err = &must_;                                              \
    if ((call) != MT_OK) failed(__FILE__, __LINE__, "%s: %s", #call, must_.text);        \
  } while (0)

void begin_case (uint64_t seed);
uint64_t next64 (void);
int64_t between (int64_t lo, int64_t hi);
static inline int pick (int n) { return (int)between(0, n - 1); }

/* A tensor of random numbers whose modes have these extents, each cut into random axes
** whose strides have any order, sign and gap; `own`: no two elements are one. Memory of
** exactly the size that it reaches. */
typedef struct operand {
  mt_tensor t;
  mt_layout layout;
  char text[700];
  int64_t size[3];
} operand;
void random_operand (operand *o, mt_dtype d, int64_t x, int64_t y, int64_t batch,
                     bool own);
void free_operand (operand *o);

/* Sizes, types and factors of a product. */
typedef struct trial {
  mt_dtype a, b, c;
  int64_t size[MT_PRODUCT_MODES];
  double alpha, beta;
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
