/*
** divisor.c - division by a number that is known: a product and a shift.
** SPDX-License-Identifier: MIT
*/
#include "desc/divisor.h"

mt_divisor mt_divisor_of (int64_t extent) {
  mt_divisor by = {.extent = (uint32_t)extent};
  uint32_t log = 0;
  if (extent <= 1 || extent > INT32_MAX) return by;
  while (((int64_t)1 << log) < extent) log++;
  uint64_t power = (uint64_t)1 << (31 + log), n = (uint64_t)extent;
  by.mul = (uint32_t)(power / n + (power % n != 0));
  by.shift = log - 1;
  return by;
}
