/*
** kernel_test.h - what the tests of kernels share.
** SPDX-License-Identifier: MIT
*/
#ifndef KERNEL_TEST_H
#define KERNEL_TEST_H

#include "counted.h"
#include "moontile.h"

/* A kernel of this instruction, tile and schedule, all else found; false: not made. */
bool make_kernel (mt_gemm_spec *k, const char *atom, const char *atoms,
                  const int64_t tile[3], int64_t stages, mt_schedule schedule);

void test_order (void);
void test_faults (uint64_t seed);

#endif
