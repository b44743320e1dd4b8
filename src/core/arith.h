/*
** arith.h - private: checked arithmetic, over the integers and over F2.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_CORE_ARITH_H
#define MT_CORE_ARITH_H

#include <stdbool.h>
#include <stdint.h>

/* True on overflow, like the builtins. */
#define mt_addo(a, b, out) __builtin_add_overflow((int64_t)(a), (int64_t)(b), (out))
#define mt_subo(a, b, out) __builtin_sub_overflow((int64_t)(a), (int64_t)(b), (out))
#define mt_mulo(a, b, out) __builtin_mul_overflow((int64_t)(a), (int64_t)(b), (out))

/* a / b, rounded up; b > 0. */
static inline int64_t mt_div_up (int64_t a, int64_t b) { return a / b + (a % b > 0); }
static inline uint64_t mt_magnitude (int64_t d) {
  return d < 0 ? 0 - (uint64_t)d : (uint64_t)d;
}
/* The lowest bit of x that is set, 0 for 0. Of INT64_MIN it is INT64_MIN, for 2^63. */
static inline int64_t mt_lowest_bit (int64_t x) {
  return (int64_t)((uint64_t)x & (0 - (uint64_t)x));
}
/* Never negative; of a and 0 the magnitude of a. */
static inline int64_t mt_gcd_of (int64_t a, int64_t b) {
  uint64_t x = mt_magnitude(a), y = mt_magnitude(b);
  for (uint64_t r; y != 0; x = y, y = r) r = x % y;
  return (int64_t)x;
}

static inline bool mt_is_power (int64_t n) { return n > 0 && (n & (n - 1)) == 0; }
/* Bits that n >= 0 needs; 0 for 0. */
static inline int mt_bits (int64_t n) {
  return n > 0 ? 64 - __builtin_clzll((unsigned long long)n) : 0;
}

/* F2: the bits of a number are the coefficients of a polynomial; they stay below 2^62. */
enum { MT_F2BITS = 62 };
/* *out = a x b, the carry-less product; true if it needs more than MT_F2BITS, or one of
** the two is negative. */
bool mt_f2_mulo (int64_t a, int64_t b, int64_t *out);

#endif
