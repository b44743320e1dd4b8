/*
** kernels_test.h - tests of kernels on the host: what their files share.
** SPDX-License-Identifier: MIT
*/
#ifndef KERNELS_TEST_H
#define KERNELS_TEST_H

#include "mt_kernel.h"

int below (int n);                                  /* random: 0 .. n-1 */

/* A random product by this row; *ran is false if what was drawn is none. */
bool one_product (const mt_kernel *k, bool *ran);

/* Small floats are the numbers that the processor has for them, and back. */
bool small_floats (void);

#endif
