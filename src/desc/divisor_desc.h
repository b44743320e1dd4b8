/*
** divisor_desc.h - division by a number that is known, shared with CUDA.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_DESC_DIVISOR_DESC_H
#define MT_DESC_DIVISOR_DESC_H

#include <stdint.h>

/* Division of n < 2^31 by `extent`: q = (extent == 1) ? n : ((uint64_t)n * mul >> 32) >>
** shift. p = 31 + ceil(log2 extent), mul = ceil(2^p / extent), shift = p - 32; both are 0
** if the extent is 1. */
typedef struct mt_divisor {
  uint32_t extent, mul, shift;
} mt_divisor;

#endif
