/*
** divisor.c - division by a number that is known: a product and a shift.
** SPDX-License-Identifier: MIT
*/
#include "desc/divisor.h"

mt_divisor mt_divisor_of (int64_t extent) {
  mt_divisor by = {.extent = (uint32_t)extent};
  if (extent <= 1 || extent > INT32_MAX) return by;
  const uint32_t log = 64 - (uint32_t)__builtin_clzll((uint64_t)extent - 1);
  const uint64_t power = (uint64_t)1 << (31 + log), n = (uint64_t)extent;
  const uint64_t whole = n == (uint64_t)1 << log ? (uint64_t)1 << 31 : power / n;
  by.mul = (uint32_t)(whole + (whole * n != power));
  by.shift = log - 1;
  return by;
}
