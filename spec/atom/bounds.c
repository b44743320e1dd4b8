/*
** bounds.c - the bound holds for this processor, and for tensor cores as they are known.
** SPDX-License-Identifier: MIT
*/
#include "num_test.h"

enum { LONGEST = 512 };

/* Products in groups of n, each with c: aligned to the largest, cut off below f bits of
** fraction, summed; the sum cut off to m bits, or rounded to nearest if that is f16. */
typedef struct core {
  const char *name;
  int n, f, m;
  bool nearest;
} core;

static double cut (double x, int places) {
  return ldexp(trunc(ldexp(x, places)), -places);
}

static double by_core (const core *t, const double *x, int64_t k, double c) {
  for (int64_t i = 0; i < k; i += t->n) {
    int most = c == 0 ? -200 : ilogb(c);
    for (int j = 0; j < t->n; j++)
      if (x[i + j] != 0 && ilogb(x[i + j]) > most) most = ilogb(x[i + j]);
    double sum = cut(c, t->f - most);
    for (int j = 0; j < t->n; j++) sum += cut(x[i + j], t->f - most);
    if (t->nearest) c = nearest_float(sum, t->m, -14, 65504);
    else c = sum == 0 ? 0 : cut(sum, t->m - ilogb(sum));
  }
  return c;
}

/* The largest part of the bound that an error takes. */
static double check_core (const core *t, uint64_t *seed) {
  mt_mma_atom atom;
  mt_err err = MT_NOERR;
  double x[LONGEST], worst = 0;
  CHECK(mt_mma_atom_find(&atom, t->name, &err) == MT_OK, "%s", err.text);
  mt_element e = atom.op.operand[MT_OPERAND_A].element;
  for (int run = 0; run < 2000; run++) {
    int64_t k = 32 << splitmix64(seed) % 5;
    double c = 0, far = splitmix64(seed) % 2 ? 8 : 0.5;
    long double exact = 0, sum = 0;
    bool positive = run % 3 == 0;
    for (int64_t i = 0; i < k; i++) {
      double a = mt_round_number(e, far * ((double)(splitmix64(seed) % 4096) / 2048 - 1));
      double b = mt_round_number(e, (double)(splitmix64(seed) % 4096) / 2048 - 1);
      x[i] = positive ? fabs(a * b) : a * b;
      exact += x[i];
      sum += fabs(x[i]);
    }
    double bound = mt_mma_op_bound(&atom.op, k, (double)sum);
    double error = fabs((double)(by_core(t, x, k, c) - exact));
    CHECK(error <= bound, "%s, groups of %d, k %d: %g beyond %g", t->name, t->n, (int)k,
          error, bound);
    if (error / bound > worst) worst = error / bound;
  }
  return worst;
}

void test_bounds (uint64_t seed) {
  static const core cores[] = {
      {"SM70_8x8x4_F32F16F16F32_TN", 4, 23, 23, false},
      {"SM80_16x8x16_F32F16F16F32_TN", 8, 24, 23, false},
      {"SM80_16x8x16_F32BF16BF16F32_TN", 16, 25, 23, false},
      {"SM80_16x8x8_F32TF32TF32F32_TN", 4, 24, 23, false},
      {"SM80_16x8x16_F16F16F16F16_TN", 4, 23, 10, true},
      {"SM80_16x8x16_F16F16F16F16_TN", 16, 25, 10, true},
      {"SM89_16x8x32_F32E4M3E4M3F32_TN", 16, 13, 13, false},
      {"SM90_64x128x32_F32E5M2E5M2_SS_TN", 32, 13, 13, false},
      {"SM90_64x128x32_F16E4M3E4M3_SS_TN", 32, 13, 10, true},
  };
  for (size_t i = 0; i < sizeof cores / sizeof *cores; i++) {
    double worst = check_core(&cores[i], &seed);
    CHECK(worst > 0.001, "%s: a bound that says nothing: %g", cores[i].name, worst);
  }
  mt_mma_op integers = {.operand = {[MT_OPERAND_C] = {MT_ELEMENT_s32, 1, MT_REG}}};
  CHECK(mt_mma_op_bound(&integers, 1000, 1e9) == 0, "integers are exact");
}
