/*
** divisor_desc.h - division by a number that is known, shared with CUDA.
** SPDX-License-Identifier: MIT
**
** For 0 <= n < 2^31 and 1 < extent < 2^31
**   n / extent = ((uint64_t)n * mul >> 32) >> shift,
** where p = 31 + ceil(log2 extent), mul = ceil(2^p / extent), shift = p - 32.
** The GPU needs no division: a high product (__umulhi) and a shift.
*/
#ifndef MT_DESC_DIVISOR_DESC_H
#define MT_DESC_DIVISOR_DESC_H

#include <stdint.h>

/* mul and shift are 0 if the extent is 1: then n is the quotient. */
typedef struct mt_divisor {
  uint32_t extent, mul, shift;
} mt_divisor;

#endif
