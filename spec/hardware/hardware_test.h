/*
** hardware_test.h - what the tests of wgmma's and TMA's rules share.
** SPDX-License-Identifier: MIT
*/
#ifndef HARDWARE_TEST_H
#define HARDWARE_TEST_H

#include "counted.h"
#include "moontile.h"

/* 0 .. n-1 */
static inline int pick (uint64_t *state, int n) {
  return (int)(splitmix64(state) % (uint64_t)n);
}

void test_gmma (uint64_t seed);
void test_tma (uint64_t seed);

#endif
