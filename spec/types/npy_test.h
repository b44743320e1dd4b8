/*
** npy_test.h - the little that the tests of data types and .npy headers share.
** SPDX-License-Identifier: MIT
*/
#ifndef NPY_TEST_H
#define NPY_TEST_H

#include <string.h>

#include "counted.h"
#include "moontile.h"

void test_dtypes (uint64_t seed);
void test_headers (uint64_t seed);
void test_writer (void);
void test_safetensors (uint64_t seed);

#endif
