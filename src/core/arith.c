/*
** arith.c - the product of polynomials over the field of two elements.
** SPDX-License-Identifier: MIT
*/
#include "core/arith.h"

bool mt_f2_mulo (int64_t a, int64_t b, int64_t *out) {
  int64_t sum = 0;
  if (a < 0 || b < 0) return true;
  if (a != 0 && b != 0 && mt_bits(a) + mt_bits(b) - 1 > MT_F2BITS) return true;
  for (; a > 0; a >>= 1, b <<= 1)
    if (a & 1) sum ^= b;
  *out = sum;
  return false;
}
