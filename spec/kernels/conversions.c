/*
** conversions.c - accesses of all pairs of types against types/convert.h.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>
#include <string.h>

#include "kernels_test.h"
#include "types/convert.h"

void emulate_conversion (int type, int into, uint32_t to[4], const uint32_t from[4]);

enum { RANDOM = 20000 };

static uint64_t random_bits (void) {
  uint64_t bits = 0;
  for (int i = 0; i < 8; i++) bits = bits << 8 | (uint64_t)below(256);
  return bits;
}

static uint64_t mask_of (int bytes) { return ~(uint64_t)0 >> (64 - 8 * bytes); }

static bool is_same (int from, int to, const uint64_t *x, int n) {
  const mt_cast_type s = mt_cast_type_of((uint32_t)from),
                     d = mt_cast_type_of((uint32_t)to);
  uint32_t in[4] = {0, 0, 0, 0}, out[4] = {0, 0, 0, 0};
  for (int i = 0; i < n; i++) memcpy((char *)in + i * s.bytes, &x[i], s.bytes);
  emulate_conversion(from, to, out, in);
  for (int i = 0; i < n; i++) {
    const uint64_t want = mt_cast_bits(x[i], s, d) & mask_of(d.bytes);
    uint64_t got = 0;
    memcpy(&got, (char *)out + i * d.bytes, d.bytes);
    if (got == want) continue;
    fprintf(stderr, "conversion %s to %s: 0x%llx becomes 0x%llx, not 0x%llx\n",
            mt_dtype_name((mt_dtype)from), mt_dtype_name((mt_dtype)to),
            (unsigned long long)x[i], (unsigned long long)got, (unsigned long long)want);
    return false;
  }
  return true;
}

/* Among others that are as they are, so that each of an access is the only one that is
** special; then in an access of its likes. */
static bool is_same_alone (int from, int to, uint64_t bits, int n) {
  uint64_t x[16] = {0};
  x[below(n)] = bits;
  return is_same(from, to, x, n);
}

static bool all_codes (int from, int to, int bytes, int n) {
  uint64_t x[16];
  for (uint32_t code = 0; code < 1u << 8 * bytes; code++) {
    x[code % (uint32_t)n] = code;
    if (!is_same_alone(from, to, code, n)) return false;
    if ((int)(code % (uint32_t)n) == n - 1 && !is_same(from, to, x, n)) return false;
  }
  return true;
}

/* A bit pattern whose upper half is any, and whose lower bits are near an end or the
** middle of those below some bit: ties of every narrower type, and their neighbours. */
static uint64_t near_tie (int bytes) {
  const uint64_t bit = (uint64_t)1 << below(8 * bytes);
  uint64_t x = random_bits() & ~(bit - 1);
  if (below(2)) x |= bit >> 1;
  x += (uint64_t)(below(5) - 2);
  return (below(4) ? x : bit + (uint64_t)(below(5) - 2)) ^ (below(2) ? 0 : ~(uint64_t)0);
}

/* An integer or a float near a power of two, or half-way between two of its likes. */
static uint64_t drawn (int from, int bytes) {
  const double two = 1ull << below(63), sign = below(2) ? -1 : 1;
  const double x = sign * (two + (below(5) - 2) * (below(2) ? 0.5 : two / 4096));
  const float f = (float)x;
  uint64_t bits = 0;
  if (below(2)) return near_tie(bytes) & mask_of(bytes);
  if (below(4) == 0) return random_bits() & mask_of(bytes);
  if (from == MT_f64) memcpy(&bits, &x, 8);
  else if (from == MT_f32) memcpy(&bits, &f, 4);
  else bits = (uint64_t)((int64_t)1 << below(8 * bytes)) + (uint64_t)(below(5) - 2);
  return bits & mask_of(bytes);
}

static bool drawn_codes (int from, int to, int bytes, int n) {
  uint64_t x[16];
  for (int i = 0; i < RANDOM; i++) {
    for (int k = 0; k < n; k++) x[k] = drawn(from, bytes);
    if (!is_same_alone(from, to, x[0], n) || !is_same(from, to, x, n)) return false;
  }
  return true;
}

bool conversions (void) {
  int pairs = 0;
  for (int from = 0; from < MT_NDTYPE; from++)
    for (int to = 0; to < MT_NDTYPE; to++) {
      const int s = (int)mt_dtype_size((mt_dtype)from),
                d = (int)mt_dtype_size((mt_dtype)to);
      const int n = 16 / (s > d ? s : d);
      if (from == to) continue;
      if (!(s <= 2 ? all_codes : drawn_codes)(from, to, s, n)) return false;
      pairs++;
    }
  printf("kernels: %d conversions\n", pairs);
  return true;
}
