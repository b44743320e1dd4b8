/*
** operations.c - each class of instruction beside one that is written out.
** SPDX-License-Identifier: MIT
*/
#include "types/convert.h"
#include "num_test.h"

enum { MOST_MK = 256 * 64, MOST_MN = 256 * 256 };
static double A[MOST_MK], B[MOST_MK], C[MOST_MN], D[MOST_MN];

static bool is_integer (mt_element e) { return e <= MT_ELEMENT_s64; }

/* ---------------------------------------------------------------- by hand */

static double rounded (mt_element e, long double x) {
  if (e == MT_ELEMENT_f16) return nearest_float(x, 10, -14, 65504);
  if (e == MT_ELEMENT_bf16) return nearest_float(x, 7, -126, 0x1.fep127);
  return e == MT_ELEMENT_f32 ? (double)(float)x : (double)x;
}

/* One element of D where nothing but the last step is rounded. */
static double by_hand (const mt_mma_op *op, int64_t m, int64_t n) {
  mt_element type = op->operand[MT_OPERAND_C].element;
  bool bits = op->operand[MT_OPERAND_A].element == MT_ELEMENT_u1;
  long double x = C[m + op->m * n];
  for (int64_t k = 0; k < op->k; k++) {
    double a = A[m + op->m * k], b = B[n + op->n * k];
    if (bits) x += strstr(op->name, "XOR") ? (int)a ^ (int)b : (int)a & (int)b;
    else x += (long double)a * b;
  }
  if (!is_integer(type)) return rounded(type, x);
  int64_t i = (int64_t)x;
  if (!strstr(op->name, "SATURATE")) return (double)(int32_t)(uint32_t)i;
  return (double)(i > INT32_MAX ? INT32_MAX : i < INT32_MIN ? INT32_MIN : i);
}

static void compare (const mt_mma_op *op) {
  memcpy(D, C, sizeof(double) * (size_t)(op->m * op->n));
  mt_mma_op_run(op, A, B, D);
  for (int64_t n = 0; n < op->n; n++)
    for (int64_t m = 0; m < op->m; m++) {
      double want = by_hand(op, m, n), got = D[m + op->m * n];
      CHECK(got == want || (got != got && want != want), "%s at %d,%d: %a, not %a",
            op->name, (int)m, (int)n, got, want);
    }
}

/* ---------------------------------------------------------------- operands */

/* Numbers with few bits: no sum of their products is rounded on its way. */
static double simple (mt_element e, uint64_t *seed) {
  if (is_integer(e)) return mt_round_number(e, (double)(splitmix64(seed) & 0xffff));
  double v = (double)(int)(splitmix64(seed) % 9 - 4);
  return mt_round_number(e, splitmix64(seed) % 4 ? v : v / 2);
}

static double simple_c (mt_element e, uint64_t *seed) {
  double far = is_integer(e) && splitmix64(seed) % 2 ? 0x1p31 - 4096 : 0;
  double v = (double)(int64_t)(splitmix64(seed) % 8192) - 4096;
  return mt_round_number(e, v < 0 ? v - far : v + far);
}

static void fill (const mt_mma_op *op, uint64_t *seed) {
  mt_element a = mt_mma_op_element(op, MT_OPERAND_A);
  mt_element b = mt_mma_op_element(op, MT_OPERAND_B);
  for (int64_t i = 0; i < op->m * op->k; i++) A[i] = simple(a, seed);
  for (int64_t i = 0; i < op->n * op->k; i++) B[i] = simple(b, seed);
  for (int64_t i = 0; i < op->m * op->n; i++)
    C[i] = simple_c(op->operand[MT_OPERAND_C].element, seed);
}

/* Every instruction of warps; of the larger ones a few. */
static void test_all (uint64_t seed) {
  mt_mma_op op;
  mt_err err = MT_NOERR;
  mt_atom_cursor c = {0};
  int run = 0, refused = 0;
  while (mt_mma_atom_next(&op, &c)) {
    if (mt_mma_op_check(&op, &err)) {
      refused++;
      continue;
    }
    if (op.m * op.n > 128 && splitmix64(&seed) % 512) continue;
    for (int i = 0; i < (op.m * op.n > 128 ? 1 : 4); i++) {
      fill(&op, &seed);
      compare(&op);
    }
    run++;
  }
  CHECK(run > 120 && refused > 60, "%d atoms ran, %d were refused", run, refused);
}

/* ---------------------------------------------------------------- single cases */

static mt_mma_op find (const char *name) {
  mt_mma_atom atom;
  mt_err err = MT_NOERR;
  memset(&atom, 0, sizeof atom);
  CHECK(mt_mma_atom_find(&atom, name, &err) == MT_OK, "%s", err.text);
  return atom.op;
}

/* D(0,0) = a b + c with a at (0,0) and b at (0,0) and nothing else. */
static double one (const char *name, double a, double b, double c) {
  mt_mma_op op = find(name);
  memset(A, 0, sizeof A);
  memset(B, 0, sizeof B);
  memset(C, 0, sizeof C);
  A[0] = a, B[0] = b, C[0] = c;
  mt_mma_op_run(&op, A, B, C);
  return C[0];
}

#define F16 "SM80_16x8x16_F16F16F16F16_TN"
#define F32 "SM80_16x8x16_F32F16F16F32_TN"
#define S32 "SM80_16x8x32_S32S8S8S32_TN"

static void test_rounding (void) {
  const struct {
    const char *name;
    double a, b, c, d;
  } cases[] = {
      {F16, 1, 0x1p-11, 1, 1}, /* a tie: to even */
      {F16, 1, 0x1p-11, 1 + 0x1p-10, 1 + 0x1p-9},
      {F16, 1, 0x1.004p-11, 1, 1 + 0x1p-10},
      {F16, 0x1p-12, 0x1p-13, 0, 0}, /* half of the least */
      {F16, 0x1p-12, 0x1.8p-13, 0, 0x1p-24},
      {F16, 0x1p-12, 0x1p-13, 0x1p-24, 0x1p-23},
      {F16, 1, 16, 65504, INFINITY}, /* 65520 */
      {F16, 1, 15.9921875, 65504, 65504},
      {F16, -1, 16, -65504, -INFINITY},
      {F16, 1, 0x1p-24, -0x1p-24, 0},
      {F16, -0x1p-12, 0x1p-13, -0.0, -0.0},
      {F16, INFINITY, 1, 0, INFINITY},
      {F16, INFINITY, 0, 0, NAN},
      {F16, INFINITY, 1, -INFINITY, NAN},
      {F16, 65504, 65504, 0, INFINITY},
      {F32, 65504, 65504, 0, 4290774016.0},
      {F32, 1, 1, 0x1p24, 0x1p24},
      {F32, 1, 1, 0x1p24 + 2, 0x1p24 + 4},
      {F32, NAN, 1, 0, NAN},
      {S32, 127, 127, 0x1p31 - 1, -0x1p31 + 16128},
      {S32, -128, 127, -0x1p31, 0x1p31 - 16256},
      {S32 "_SATURATE", 127, 127, 0x1p31 - 1, 0x1p31 - 1},
      {S32 "_SATURATE", -128, 127, -0x1p31, -0x1p31},
      {"SM61_DP4A", -128, -128, 1, 16385},
      {"SM61_DP2A", -32768, -32768, 0x1p31 - 1, -0x1p30 - 1},
      {"SM80_8x8x4_F64F64F64F64_TN", 1 + 0x1p-30, 1 - 0x1p-30, -1, -0x1p-60},
      {"UniversalFMA<float>", 1 + 0x1p-23, 1 - 0x1p-23, -1, -0x1p-46},
      {"UniversalFMA<float>", 1 + 0x1p-12, 1 + 0x1p-12, 0x1p-60, 0x1.002002p0},
      {"UniversalFMA<double>", 1 + 0x1p-30, 1 - 0x1p-30, -1, -0x1p-60},
      {"UniversalFMA<double,float,float,double>", 1 + 0x1p-23, 1 - 0x1p-23, 0,
       1 - 0x1p-46},
      {"UniversalFMA<bfloat16_t>", 1, 0x1p-8, 1, 1},
      {"UniversalFMA<bfloat16_t>", 1, 0x1p-8, 1 + 0x1p-7, 1 + 0x1p-6},
      {"UniversalFMA<half_t>", 1, 0x1p-11, 1 + 0x1p-10, 1 + 0x1p-9},
      {"UniversalFMA<int32_t>", 0x1p31 - 1, 0x1p31 - 1, 5, 6},
      {"UniversalFMA<int32_t>", -0x1p31, 0x1p31 - 1, 0, -0x1p31},
      {"SM80_8x8x128_S32U1U1S32_TN_XORPOPC", 1, 1, 5, 5},
      {"SM80_8x8x128_S32U1U1S32_TN_XORPOPC", 1, 0, 5, 6},
      {"SM80_8x8x128_S32U1U1S32_TN_ANDPOPC", 1, 1, 5, 6},
      {"SM80_8x8x128_S32U1U1S32_TN_ANDPOPC", 1, 0, 5, 5},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double d = one(cases[i].name, cases[i].a, cases[i].b, cases[i].c);
    CHECK(alike(d, cases[i].d), "%s: %a %a + %a: %a, not %a", cases[i].name, cases[i].a,
          cases[i].b, cases[i].c, d, cases[i].d);
  }
}

/* Two sums of an instruction's, added up. */
static void test_sums (void) {
  const struct {
    const char *name;
    double x, y, sum;
  } cases[] = {
      {S32, 0x1p31 - 1, 1, -0x1p31},
      {S32, -0x1p31, -0x1p31, 0},
      {S32 "_SATURATE", 0x1p31 - 1, 1, 0x1p31 - 1},
      {S32 "_SATURATE", -0x1p31, -1, -0x1p31},
      {F16, 65504, 16, INFINITY},
      {F32, 1, 0x1p-24, 1},
      {"SM80_8x8x4_F64F64F64F64_TN", 1, 0x1p-24, 1 + 0x1p-24},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mt_mma_op op = find(cases[i].name);
    double sum = mt_mma_op_sum(&op, cases[i].x, cases[i].y);
    CHECK(alike(sum, cases[i].sum), "%s: %a + %a: %a", cases[i].name, cases[i].x,
          cases[i].y, sum);
  }
}

/* alpha x + beta c, saturated, against 128 bits. */
static void test_scaled (uint64_t seed) {
  __extension__ typedef __int128 wide;
  for (int i = 0; i < 1000000; i++) {
    double f[2];
    int32_t v[2];
    for (int j = 0; j < 2; j++) {
      int64_t r = (int64_t)splitmix64(&seed) >> (11 + splitmix64(&seed) % 53);
      f[j] = i % 64 == j ? 0x1p53 : i % 64 == 2 + j ? -0x1p53 : (double)r;
      v[j] = (int32_t)((int64_t)splitmix64(&seed) >> (32 + splitmix64(&seed) % 32));
      if (i % 5 == j) v[j] = i % 2 ? INT32_MIN : INT32_MAX;
    }
    wide sum = (wide)f[0] * v[0] + (wide)f[1] * v[1];
    int32_t want = sum < INT32_MIN ? INT32_MIN :
                   sum > INT32_MAX ? INT32_MAX :
                                     (int32_t)sum;
    int32_t got = mt_cast_scaled(f[0], v[0], f[1], v[1]);
    CHECK(got == want, "%g %d + %g %d: %d, not %d", f[0], (int)v[0], f[1], (int)v[1],
          (int)got, (int)want);
  }
}

static void test_refusals (void) {
  const struct {
    const char *name, *why;
  } cases[] = {
      {"SM80_8x8x4_C64C64C64C64_TN", "no dtype has complex numbers"},
      {"SM80_8x8x4_GC64C64C64GC64_TN", "no dtype has complex numbers"},
      {"SM120::BLOCKSCALED::SM120_16x8x32_TN_VS<float_e4m3_t,float_e4m3_t,float,"
       "float_ue8m0_t,32>",
       "its operands have scales"},
      {"SM120::SPARSE::SM120_SPARSE_16x8x64_TN<float_e4m3_t,float_e4m3_t,float>",
       "half of the values of an operand are not stored"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mt_err err = MT_NOERR;
    mt_mma_op op = find(cases[i].name);
    CHECK(mt_mma_op_check(&op, &err) == MT_EUNSUPPORTED, "%s", cases[i].name);
    CHECK(strstr(err.text, cases[i].why), "%s", err.text);
  }
}

static void test_containers (void) {
  mt_mma_op op = find("SM120_16x8x32_TN<float_e2m1_t,float_e3m2_t,half_t>");
  CHECK(mt_mma_op_element(&op, MT_OPERAND_A) == MT_ELEMENT_e2m1, "A");
  CHECK(mt_mma_op_element(&op, MT_OPERAND_B) == MT_ELEMENT_e3m2, "B");
  CHECK(mt_mma_op_element(&op, MT_OPERAND_C) == MT_ELEMENT_f16, "C");
  op = find("SM61_DP4A");
  CHECK(mt_mma_op_element(&op, MT_OPERAND_A) == MT_ELEMENT_s8, "A of DP4A");
}

void test_operations (uint64_t seed) {
  test_rounding();
  test_sums();
  test_scaled(seed);
  test_refusals();
  test_containers();
  test_all(seed);
}
