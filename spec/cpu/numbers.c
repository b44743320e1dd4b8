/*
** numbers.c - conversions of the processor's own product against those of one element.
** SPDX-License-Identifier: MIT
*/
#include <math.h>

#include "gemm_test.h"

static bool same (double a, double b) {
  return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

/* Every value of a type of at most 16 bits, and random ones of the others. */
static void test_widening (mt_dtype d) {
  mt_cpu_convert *wide = mt_cpu_widener(d, MT_ACC_F64);
  mt_cpu_convert *f = mt_cpu_widener(d, MT_ACC_F32);
  for (uint32_t i = 0; i < 65536; i++) {
    uint64_t bits = mt_dtype_size(d) > 2 ? next64() : i;
    double got;
    float single;
    mt_number n = mt_load_element(d, &bits);
    double want = n.isint ? (double)n.i : n.f;
    if (d == MT_u64) want = (double)bits;
    wide(&got, &bits, 1);
    f(&single, &bits, 1);
    CHECK(same(got, want), "%s %llx: %g, not %g", mt_dtype_name(d),
          (unsigned long long)bits, got, want);
    CHECK(same(single, (float)want), "%s %llx: %g, not %g", mt_dtype_name(d),
          (unsigned long long)bits, (double)single, want);
  }
}

/* Halfway cases are frequent among floats with few bits. */
static void test_narrowing (mt_dtype d) {
  mt_cpu_convert *narrow = mt_cpu_narrower(MT_ACC_F32, d);
  for (int i = 0; i < 300000; i++) {
    uint32_t bits = (uint32_t)next64() & (pick(2) ? 0xffffffff : 0xfffff000);
    uint64_t got = 0, want = 0;
    float f;
    memcpy(&f, &bits, sizeof f);
    mt_number n = {.f = (double)f};
    narrow(&got, &f, 1);
    MUST(mt_store_element(d, &want, n, err));
    CHECK(got == want || isnan(f), "%s of %a: %llx, not %llx", mt_dtype_name(d),
          (double)f, (unsigned long long)got, (unsigned long long)want);
    CHECK(!isnan(f) || isnan(mt_load_element(d, &got).f), "%s: a NaN is lost",
          mt_dtype_name(d));
  }
}

void test_numbers (void) {
  for (int d = 0; d < MT_NDTYPE; d++) {
    if (mt_cpu_widener((mt_dtype)d, MT_ACC_F64)) test_widening((mt_dtype)d);
    else failed(__FILE__, __LINE__, "%s is not read", mt_dtype_name((mt_dtype)d));
    if (mt_cpu_narrower(MT_ACC_F32, (mt_dtype)d)) test_narrowing((mt_dtype)d);
  }
}
