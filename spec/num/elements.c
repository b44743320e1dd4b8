/*
** elements.c - elements of tensors as numbers, and numbers as elements.
** SPDX-License-Identifier: MIT
*/
#include "num_test.h"

void test_elements (uint64_t seed) { (void)seed; }
void test_bounds (uint64_t seed) { (void)seed; }
