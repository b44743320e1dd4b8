/*
** direct.c - conversions in one step: what they say is right is what one by one gives, and
** of ordinary numbers they say so.
** SPDX-License-Identifier: MIT
*/
#include "exec_test.h"
#include "cpu/copy.h"

/* An element of a whole number that all types have, or any bits. */
static void draw (unsigned char *p, mt_dtype d, bool ordinary) {
  const mt_number small = {true, pick(100), 0};
  if (ordinary) MUST(mt_store_element(d, p, small, err));
  else
    for (size_t i = 0; i < mt_dtype_size(d); i++) p[i] = (unsigned char)next64();
}

/* Of n elements some may have any bits. */
static void check_loop (mt_cast_direct *move, mt_dtype from, mt_dtype to, int64_t n,
                        int any) {
  const size_t e = mt_dtype_size(from), f = mt_dtype_size(to);
  memory src = exact_memory((size_t)n * e, 0), dst = exact_memory((size_t)n * f, 0);
  memory want = exact_memory(dst.bytes, 0);
  for (int64_t i = 0; i < n; i++) {
    draw(src.p + (size_t)i * e, from, true);
    if (any && pick(any) == 0) draw(src.p + (size_t)i * e, from, false);
    mt_cast_element(to, want.p + (size_t)i * f, from, src.p + (size_t)i * e);
  }
  const bool done = move((char *)dst.p, (const char *)src.p, n);
  CHECK(done || any, "%s to %s: ordinary numbers", mt_dtype_name(from),
        mt_dtype_name(to));
  CHECK(!done || memcmp(dst.p, want.p, dst.bytes) == 0, "%s to %s: %lld elements",
        mt_dtype_name(from), mt_dtype_name(to), (long long)n);
  free_memory(src);
  free_memory(dst);
  free_memory(want);
}

void test_direct (void) {
  int loops = 0;
  for (int from = 0; from < MT_NDTYPE; from++)
    for (int to = 0; to < MT_NDTYPE; to++) {
      mt_cast_direct *move = mt_cpu_direct((mt_dtype)from, (mt_dtype)to);
      loops += move != NULL;
      for (long i = 0; move && i < base_cases / 100 + 10; i++) {
        begin_case(base_seed + 99991 + (uint64_t)(i * 1000 + from * MT_NDTYPE + to));
        check_loop(move, (mt_dtype)from, (mt_dtype)to, between(1, 300),
                   pick(3) ? pick(2) * 50 : 1);
        check_loop(move, (mt_dtype)from, (mt_dtype)to, between(1, 3), 1);
      }
    }
  CHECK(loops == 0 || loops > 50, "%d loops", loops);
}
