/*
** elements.c - elements of tensors as numbers, and numbers as elements.
** SPDX-License-Identifier: MIT
*/
#include "num_test.h"

/* ---------------------------------------------------------------- floats */

/* Each float: bits of its fraction, exponent of its least normal number, its largest
** number, what infinity becomes. */
static const struct small_float {
  mt_element e;
  int m, least;
  double most, infinity;
} FLOATS[] = {
    {MT_ELEMENT_e2m1, 1, 0, 6, 6},
    {MT_ELEMENT_e3m2, 2, -2, 28, 28},
    {MT_ELEMENT_e2m3, 3, 0, 7.5, 7.5},
    {MT_ELEMENT_e4m3, 3, -6, 448, NAN},
    {MT_ELEMENT_e5m2, 2, -14, 57344, INFINITY},
    {MT_ELEMENT_f16, 10, -14, 65504, INFINITY},
    {MT_ELEMENT_bf16, 7, -126, 0x1.fep127, INFINITY},
    {MT_ELEMENT_f32, 23, -126, 0x1.fffffep127, INFINITY},
};
enum { NFLOATS = sizeof FLOATS / sizeof *FLOATS };

static double as_float (const struct small_float *f, double x) {
  double r = nearest_float(x, f->m, f->least, f->most);
  return isinf(r) ? copysign(f->infinity, r) : r;
}

static void check_float (const struct small_float *f, double x) {
  double got = mt_round_number(f->e, x), want = as_float(f, x);
  CHECK(alike(got, want), "%s of %a: %a, not %a", mt_element_name(f->e), x, got, want);
}

/* Any double; numbers near those of the element; ties of it. */
static void test_rounding (const struct small_float *f, uint64_t seed) {
  for (int i = 0; i < 100000; i++) {
    uint64_t bits = splitmix64(&seed);
    double x;
    memcpy(&x, &bits, sizeof x);
    if (x == x) check_float(f, x);
    unsigned span = (unsigned)(ilogb(f->most) - f->least + f->m + 6);
    int e = f->least - f->m - 3 + (int)(splitmix64(&seed) % span);
    check_float(f, ldexp((double)(int64_t)bits, e - 63));
    check_float(f, ldexp(1 + (double)(bits % (4u << f->m)) / (double)(2u << f->m), e));
  }
  check_float(f, INFINITY);
  check_float(f, -INFINITY);
  check_float(f, 0.0);
  check_float(f, -0.0);
  double nan = mt_round_number(f->e, NAN);
  CHECK(f->e <= MT_ELEMENT_e2m3 ? nan == f->most : nan != nan, "%s of NaN: %a",
        mt_element_name(f->e), nan);
}

static void test_tf32 (uint64_t seed) {
  for (int i = 0; i < 100000; i++) {
    uint32_t bits = (uint32_t)splitmix64(&seed), kept = bits & ~0x1fffu;
    float x, want;
    memcpy(&x, &bits, 4);
    memcpy(&want, &kept, 4);
    double got = mt_get_number(MT_f32, MT_ELEMENT_tf32, &bits);
    CHECK(x != x ? got != got : alike(got, want), "tf32 of %a: %a, not %a", x, got, want);
  }
  CHECK(mt_round_number(MT_ELEMENT_tf32, 1 + 0x1.8p-10) == 1 + 0x1p-10, "cut off");
}

/* ---------------------------------------------------------------- codes in u8 */

/* The positive codes of the floats that have no dtype of their own. */
static const double E2M1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
static const double E2M3[] = {0, .125,  .25,  .375,  .5,  .625,  .75,  .875,
                              1, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875,
                              2, 2.25,  2.5,  2.75,  3,   3.25,  3.5,  3.75,
                              4, 4.5,   5,    5.5,   6,   6.5,   7,    7.5};
static const double E3M2[] = {0,  .0625, .125, .1875, .25, .3125, .375, .4375,
                              .5, .625,  .75,  .875,  1,   1.25,  1.5,  1.75,
                              2,  2.5,   3,    3.5,   4,   5,     6,    7,
                              8,  10,    12,   14,    16,  20,    24,   28};

static void check_codes (mt_element e, const double *values, int n) {
  for (int b = 0; b < 256; b++) { /* bits beyond the code do not count */
    unsigned char byte = (unsigned char)b;
    double want = b & n ? -values[b % n] : values[b % n];
    double got = mt_get_number(MT_u8, e, &byte);
    CHECK(alike(got, want), "%s %02x: %a, not %a", mt_element_name(e), b, got, want);
  }
}

static void test_bytes (void) {
  check_codes(MT_ELEMENT_e2m1, E2M1, 8);
  check_codes(MT_ELEMENT_e2m3, E2M3, 32);
  check_codes(MT_ELEMENT_e3m2, E3M2, 32);
  for (int b = 0; b < 256; b++) {
    unsigned char byte = (unsigned char)b;
    const void *p = &byte;
    int low = b & 15, s4 = low < 8 ? low : low - 16;
    CHECK(mt_get_number(MT_u8, MT_ELEMENT_u8, p) == b, "u8 %d", b);
    CHECK(mt_get_number(MT_i8, MT_ELEMENT_s8, p) == (b < 128 ? b : b - 256), "s8 %d", b);
    CHECK(mt_get_number(MT_i8, MT_ELEMENT_u4, p) == low, "u4 in i8 %d", b);
    CHECK(mt_get_number(MT_u8, MT_ELEMENT_u4, p) == low, "u4 in u8 %d", b);
    CHECK(mt_get_number(MT_i8, MT_ELEMENT_s4, p) == s4, "s4 in i8 %d", b);
    CHECK(mt_get_number(MT_u8, MT_ELEMENT_s4, p) == s4, "s4 in u8 %d", b);
    CHECK(mt_get_number(MT_u8, MT_ELEMENT_u1, p) == (b & 1), "u1 %d", b);
    CHECK(mt_get_number(MT_bool, MT_ELEMENT_u1, p) == (b != 0), "bool %d", b);
  }
}

/* ---------------------------------------------------------------- tensors */

/* What a tensor holds of v is what mt_store_element makes of it, where that takes it, and
** comes back. */
static void check_tensor (mt_dtype d, mt_element own, double v) {
  unsigned char a[8] = {0}, b[8] = {0};
  mt_err err = MT_NOERR;
  mt_number n = {false, 0, v};
  mt_put_number(d, a, v);
  if (mt_store_element(d, b, n, &err)) return;
  CHECK(memcmp(a, b, 8) == 0, "%s from %a", mt_dtype_name(d), v);
  n = mt_load_element(d, b);
  double want = d == MT_u64 ? (double)(uint64_t)n.i : n.isint ? (double)n.i : n.f;
  CHECK(alike(mt_get_number(d, own, b), want), "%s from %a", mt_dtype_name(d), v);
}

static void test_tensors (uint64_t seed) {
  static const mt_element own[MT_NDTYPE] = {
      [MT_bool] = MT_ELEMENT_u1, [MT_i8] = MT_ELEMENT_s8,     [MT_i16] = MT_ELEMENT_s16,
      [MT_i32] = MT_ELEMENT_s32, [MT_i64] = MT_ELEMENT_s64,   [MT_u8] = MT_ELEMENT_u8,
      [MT_u16] = MT_ELEMENT_u16, [MT_u32] = MT_ELEMENT_u32,   [MT_u64] = MT_ELEMENT_u64,
      [MT_f16] = MT_ELEMENT_f16, [MT_bf16] = MT_ELEMENT_bf16, [MT_f32] = MT_ELEMENT_f32,
      [MT_f64] = MT_ELEMENT_f64, [MT_e4m3] = MT_ELEMENT_e4m3, [MT_e5m2] = MT_ELEMENT_e5m2,
  };
  for (int d = 0; d < MT_NDTYPE; d++) {
    CHECK(mt_dtype_holds((mt_dtype)d, own[d]), "dtype %d holds its own", d);
    for (int i = 0; i < 20000; i++) {
      int64_t bits = (int64_t)splitmix64(&seed);
      double v = (double)(bits >> splitmix64(&seed) % 64);
      check_tensor((mt_dtype)d, own[d], v);
      check_tensor((mt_dtype)d, own[d], ldexp(v, (int)(splitmix64(&seed) % 128) - 100));
    }
  }
}

/* To a tensor integers saturate. */
static void test_saturating (void) {
  const struct {
    mt_dtype d;
    mt_element e;
    double v, want;
  } cases[] = {
      {MT_i8, MT_ELEMENT_s8, 127, 127},
      {MT_i8, MT_ELEMENT_s8, 128, 127},
      {MT_i8, MT_ELEMENT_s8, -128, -128},
      {MT_i8, MT_ELEMENT_s8, -129, -128},
      {MT_u8, MT_ELEMENT_u8, 256, 255},
      {MT_u8, MT_ELEMENT_u8, -1, 0},
      {MT_i32, MT_ELEMENT_s32, 0x1p31, 0x1p31 - 1},
      {MT_i32, MT_ELEMENT_s32, -0x1p31 - 1, -0x1p31},
      {MT_i32, MT_ELEMENT_s32, 0x1p40 + 3, 0x1p31 - 1},
      {MT_u32, MT_ELEMENT_u32, -1, 0},
      {MT_u32, MT_ELEMENT_u32, 0x1p32, 0x1p32 - 1},
      {MT_u64, MT_ELEMENT_u64, 0x1p63, 0x1p63},
      {MT_u64, MT_ELEMENT_u64, 0x1p64, 0x1p64},
      {MT_i64, MT_ELEMENT_s64, 0x1p63, 0x1p63},
      {MT_i64, MT_ELEMENT_s64, -0x1p64, -0x1p63},
      {MT_i32, MT_ELEMENT_s32, -0x1p100, -0x1p31},
      {MT_i32, MT_ELEMENT_s32, NAN, 0},
      {MT_i32, MT_ELEMENT_s32, INFINITY, 0x1p31 - 1},
      {MT_bool, MT_ELEMENT_u1, 2, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    unsigned char p[8];
    mt_put_number(cases[i].d, p, cases[i].v);
    double got = mt_get_number(cases[i].d, cases[i].e, p);
    CHECK(got == cases[i].want, "%s from %a: %a", mt_dtype_name(cases[i].d), cases[i].v,
          got);
  }
}

static void test_holders (void) {
  const struct {
    mt_element e;
    const char *words;
  } cases[] = {
      {MT_ELEMENT_u1, "u8 or bool"}, {MT_ELEMENT_s4, "i8 or u8"},
      {MT_ELEMENT_tf32, "f32"},      {MT_ELEMENT_e3m2, "u8"},
      {MT_ELEMENT_e4m3, "e4m3"},     {MT_ELEMENT_cf64, "no dtype"},
      {MT_ELEMENT_u128, "no dtype"}, {MT_NELEMENT, "no dtype"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *words = mt_dtypes_of(cases[i].e);
    CHECK(strcmp(words, cases[i].words) == 0, "%s", words);
    for (int d = 0; d <= MT_NDTYPE; d++) { /* the words name those that hold it */
      const char *at = d < MT_NDTYPE ? strstr(words, mt_dtype_name((mt_dtype)d)) : NULL;
      bool named = at && (at == words || at[-1] == ' ');
      CHECK(mt_dtype_holds((mt_dtype)d, cases[i].e) == named, "%s: %d", words, d);
    }
  }
}

void test_elements (uint64_t seed) {
  for (int i = 0; i < NFLOATS; i++) test_rounding(&FLOATS[i], seed);
  test_tf32(seed);
  test_bytes();
  test_tensors(seed);
  test_saturating();
  test_holders();
}
