/*
** hopper.c - random products by each row of hopper.def, its kernels emulated; and by the
** rows and launches that the library chooses.
** SPDX-License-Identifier: MIT
**
** usage: moontile_hopper_test [TIMES [SEED [ROW]]]
*/
#include "hopper_case.h"
#include "desc/epilogue_desc.h"
#include "gemm/matrix.h"
#include "moontile/gmma.h"
#include "near_end.h"

enum { CHOSEN = 40, MOST_DRAWN = 100000 };

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

static bool by_choice (uint64_t seed) {
  hopper_case c;
  char text[256];
  bool ran;
  begin_case(seed);
  draw_case(&c, &mt_hopper_rows[pick((int)mt_nhopper_rows)]);
  const bool good = chosen_case(&c, &ran);
  format_case(text, sizeof text, &c);
  CHECK(good, "as chosen: %s\n  %s", text, c.run.report);
  return ran;
}

/* A descriptor of every mode reads what the library says that it reads. */
static void descriptors_of (mt_gmma_mode mode, mt_gmma_major major, uint32_t size) {
  static const uint64_t code[] = {0, 3, 2, 1};
  const uint64_t lbo = 64 * (1 + (uint64_t)pick(8)), sbo = 64 * (1 + (uint64_t)pick(8));
  const mt_gmma_desc d = {.mode = mode,
                          .major = major,
                          .bits = 8 * (int)size,
                          .mn = 64,
                          .k = 32 / size,
                          .tiles = 1,
                          .lbo = (int64_t)lbo,
                          .sbo = (int64_t)sbo};
  const uint64_t bits = code[mode] << 62 | sbo << 32 | lbo << 16;
  for (uint32_t i = 0; i < 64; i++)
    for (uint32_t j = 0; j < 32 / size; j++) {
      const uint32_t at = emulate_operand(bits, major == MT_GMMA_MN, i, j, size);
      CHECK(at == mt_gmma_at(&d, i, j) * size, "%s %s of %u bytes: (%u,%u) is at %u",
            mt_gmma_mode_name(mode), mt_gmma_major_name(major), size, i, j, at);
    }
}

static void descriptors (void) {
  begin_case(1);
  for (int mode = 0; mode < MT_NGMMA_MODE; mode++) {
    for (uint32_t size = 1; size <= 4; size *= 2)
      descriptors_of((mt_gmma_mode)mode, MT_GMMA_K, size);
    descriptors_of((mt_gmma_mode)mode, MT_GMMA_MN, 2);
  }
}

/* Activations of special numbers, and of many between -110 and 110. */
static void activation_of (uint32_t a, float x) {
  const mt_activation_form f = mt_form_of(a);
  const double got = emulate_activation(&f, x), want = mt_activate_f64(a, (double)x);
  CHECK((isnan(want) && isnan(got)) || mt_near_end(a, MT_f32, got, want),
        "activation %u of %g is %g, not %g", a, (double)x, got, want);
}
static void activations (void) {
  static const float special[] = {0.0f,    -0.0f, INFINITY, -INFINITY, NAN,   1e-30f,
                                  -1e-30f, 1e30f, -1e30f,   1e-42f,    3e38f, -3e38f};
  begin_case(2);
  for (uint32_t a = 0; a < MT_NACTIVATION; a++) {
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
      activation_of(a, special[i]);
    for (int i = 0; i < 2000; i++)
      activation_of(a, (float)(pick(1 << 20) - (1 << 19)) * 0x1p-12f *
                           (pick(2) ? 0.875f : 0.03f));
  }
}

int main (int argc, char **argv) {
  const long times = argc > 1 ? atol(argv[1]) : cases_of(1);
  const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
  long all = 0, chosen = 0;
  descriptors();
  activations();
  for (size_t row = 0; row < mt_nhopper_rows; row++)
    for (long i = 0; i < times; i++) {
      if (argc > 3 && strcmp(argv[3], names[row]) != 0) continue;
      by_row(row, argc > 3 ? seed + (uint64_t)i : seed + (uint64_t)i * 1000 + row);
      all++;
    }
  for (uint64_t i = 0; argc <= 3 && chosen < CHOSEN * times && i < MOST_DRAWN; i++)
    chosen += by_choice(seed + i);
  printf("%ld products by TMA and wgmma, %ld as the library chooses, %d failures\n", all,
         chosen, failures);
  return failures > 0 || all == 0 || (argc <= 3 && chosen == 0);
}
