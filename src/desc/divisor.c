/*
** divisor.c - division by a number that is known: a product and a shift.
** SPDX-License-Identifier: MIT
*/
#include "desc/divisor.h"

void mt_axis_divisor (mt_axis *a) {
  uint32_t log = 0;
  a->mul = a->shift = 0;
  if (a->extent <= 1 || a->extent > INT32_MAX) return;
  while (((int64_t)1 << log) < a->extent) log++;
  uint64_t power = (uint64_t)1 << (31 + log), n = (uint64_t)a->extent;
  a->mul = (uint32_t)(power / n + (power % n != 0));
  a->shift = log - 1;
}

mt_divisor mt_divisor_of (uint32_t extent) {
  mt_axis a = {.extent = extent};
  mt_axis_divisor(&a);
  return (mt_divisor){extent, a.mul, a.shift};
}
