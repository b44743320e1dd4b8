/*
** mma_test.h - tests of products: refusals, places of elements.
** SPDX-License-Identifier: MIT
*/
#ifndef MMA_TEST_H
#define MMA_TEST_H

#include "cases.h"
#include "desc/gemm_desc.h"
#include "gemm/gemm.h"

/* The call returns this status and this text. */
void refused (const char *file, int line, mt_status got, const mt_err *err,
              mt_status want, const char *text);
#define REFUSED(call, status, words)                                                     \
  do {                                                                                   \
    mt_err refused_ = MT_NOERR, *err = &refused_;                                        \
    mt_status got_ = (call);                                                             \
    refused(__FILE__, __LINE__, got_, &refused_, (status), (words));                     \
  } while (0)

/* Where the element with these ordinates lies, from the descriptor alone. */
int64_t place (const mt_gemm_launch *l, int part, int64_t x, int64_t y, int64_t b);

void test_tensors (void);
void test_partition (void);
void test_check (void);
void test_run (void);

#endif
