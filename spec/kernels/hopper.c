/*
** hopper.c - random products by each row of hopper.def, its kernels emulated.
** SPDX-License-Identifier: MIT
**
** usage: moontile_hopper_test [TIMES [SEED [ROW]]]
*/
#include "hopper_case.h"

#define MT_HOPPER_KERNEL(name, ...) #name,
static const char *const names[] = {
#include "kernels/gemm/hopper.def"
};

static bool run (void *row, const mt_hopper_launch *l, emulated_run *r) {
  return emulate_hopper(*(const size_t *)row, l, r);
}

static void by_row (size_t row, uint64_t seed) {
  hopper_case c;
  char text[256];
  begin_case(seed);
  draw_case(&c, &mt_hopper_rows[row]);
  const bool good = one_case(&c, run, &row);
  format_case(text, sizeof text, &c);
  CHECK(good, "%s: %s\n  %s\n  again: moontile_hopper_test 1 %llu %s", names[row], text,
        c.run.report, (unsigned long long)seed, names[row]);
}

int main (int argc, char **argv) {
  const long times = argc > 1 ? atol(argv[1]) : cases_of(1);
  const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
  long all = 0;
  for (size_t row = 0; row < mt_nhopper_rows; row++)
    for (long i = 0; i < times; i++) {
      if (argc > 3 && strcmp(argv[3], names[row]) != 0) continue;
      by_row(row, argc > 3 ? seed + (uint64_t)i : seed + (uint64_t)i * 1000 + row);
      all++;
    }
  printf("%ld products by TMA and wgmma, %d failures\n", all, failures);
  return failures > 0 || all == 0;
}
