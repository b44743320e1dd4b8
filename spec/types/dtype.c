/*
** dtype.c - tests of mt_dtype.c: each type's range, and every 8- and 16-bit float against
** a reference that works on doubles.
** SPDX-License-Identifier: MIT
*/
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "npy_test.h"

static mt_number integer (int64_t i) {
  mt_number v = {true, i, 0};
  return v;
}
static mt_number real (double f) {
  mt_number v = {false, 0, f};
  return v;
}

/* ---------------------------------------------------------------- small floats */

/* The values of a float with e exponent and m fraction bits, by its non-negative bit
** patterns; the last one is where the next number would be: half way to it is where
** infinity begins, or NaN if there is no infinity. */
typedef struct ladder {
  mt_dtype d;
  int m, n, sign;
  bool infinite;
  double *value;
} ladder;

static ladder make_ladder (mt_dtype d, int e, int m, bool infinite) {
  int sign = 1 << (e + m);
  ladder l = {d, m, infinite ? ((1 << e) - 1) << m : sign - 1, sign, infinite, NULL};
  int bias = (1 << (e - 1)) - 1;
  l.value = malloc(sizeof(double) * (size_t)(l.n + 1));
  for (int bits = 0; bits <= l.n; bits++) {
    int x = bits >> m, f = bits & ((1 << m) - 1);
    l.value[bits] = x ? ldexp(1.0 + ldexp(f, -m), x - bias) : ldexp(f, 1 - bias - m);
  }
  return l;
}

/* The bit pattern nearest to x >= 0, ties to even. */
static uint16_t nearest (const ladder *l, long double x) {
  if (x >= l->value[l->n]) return (uint16_t)l->n;
  int lo = 0, hi = l->n;
  while (hi - lo > 1) {
    int mid = (lo + hi) / 2;
    if (l->value[mid] <= x) lo = mid;
    else hi = mid;
  }
  long double half = ((long double)l->value[lo] + l->value[hi]) / 2;
  return (uint16_t)(x < half || (x == half && lo % 2 == 0) ? lo : hi);
}

static uint16_t stored (const ladder *l, mt_number v) {
  mt_err err = MT_NOERR;
  unsigned char b[2] = {0, 0};
  CHECK(mt_store_element(l->d, b, v, &err) == MT_OK, "%s", err.text);
  return (uint16_t)(b[0] | b[1] << 8);
}

static double loaded (const ladder *l, unsigned bits) {
  unsigned char b[2] = {(unsigned char)bits, (unsigned char)(bits >> 8)};
  mt_number v = mt_load_element(l->d, b);
  CHECK(!v.isint, "a float reads as a float");
  return v.f;
}

static void check_store (const ladder *l, double x) {
  int want = nearest(l, fabs(x)) | (signbit(x) ? l->sign : 0);
  int got = stored(l, real(x));
  CHECK(got == want, "%s from %a: %04x, not %04x", mt_dtype_name(l->d), x, got, want);
}

static void check_patterns (const ladder *l) {
  for (unsigned bits = 0; bits < 2u * (unsigned)l->sign; bits++) {
    int magnitude = (int)bits & (l->sign - 1);
    double f = loaded(l, bits), want = magnitude <= l->n ? l->value[magnitude] : 0;
    if (magnitude >= l->n + l->infinite) CHECK(isnan(f), "%04x is not a number", bits);
    else if (magnitude == l->n) CHECK(isinf(f), "%04x is infinite", bits);
    else CHECK(fabs(f) == want, "%04x: %a, not %a", bits, f, want);
    CHECK(!signbit(f) == !((int)bits & l->sign), "the sign of %04x", bits);
    CHECK(stored(l, real(f)) == bits, "%s: %04x comes back as %04x", mt_dtype_name(l->d),
          bits, stored(l, real(f)));
  }
}

/* Each value, each half way to the next, and the doubles beside them. */
static void check_ties (const ladder *l) {
  for (int i = 0; i < l->n; i++) {
    double half = (l->value[i] + l->value[i + 1]) / 2;
    double v = l->value[i];
    double x[] = {v,    nextafter(v, INFINITY),    nextafter(v, 0),
                  half, nextafter(half, INFINITY), nextafter(half, 0)};
    for (size_t k = 0; k < sizeof x / sizeof *x; k++) {
      check_store(l, x[k]);
      check_store(l, -x[k]);
    }
  }
}

static void check_random (const ladder *l, uint64_t seed) {
  for (int i = 0; i < 500000; i++) {
    uint64_t bits = splitmix64(&seed);
    double x;
    memcpy(&x, &bits, sizeof x);
    if (!isnan(x)) check_store(l, x);
    x = ldexp((double)(int64_t)splitmix64(&seed), (int)(splitmix64(&seed) % 64) - 80);
    check_store(l, x);
#if LDBL_MANT_DIG >= 64
    int64_t n = (int64_t)splitmix64(&seed) >> splitmix64(&seed) % 64;
    if (i % 2) n = n & ~0xfffffffffffll;
    if (i % 4 == 1) n |= 1;
    int want = nearest(l, fabsl((long double)n)) | (n < 0 ? l->sign : 0);
    CHECK(stored(l, integer(n)) == want, "%s from %lld", mt_dtype_name(l->d),
          (long long)n);
#endif
  }
}

static void check_nan (const ladder *l) {
  const uint64_t nans[] = {0x7ff8000000000000u, 0x7ff0000000000001u, 0xfff8000000000000u,
                           0xfff0000000000001u, 0x7fffffffffffffffu};
  for (size_t i = 0; i < sizeof nans / sizeof *nans; i++) {
    mt_number v = real(0);
    memcpy(&v.f, &nans[i], sizeof v.f);
    unsigned bits = stored(l, v);
    CHECK(((int)bits & (l->sign - 1)) >= l->n + l->infinite, "%s: a NaN stays one: %04x",
          mt_dtype_name(l->d), bits);
    CHECK(((int)bits >= l->sign) == nans[i] >> 63, "a NaN keeps its sign");
  }
}

/* Eight codes from `code` on, and the same with the other sign. */
static void check_codes (mt_dtype d, int code, const double *values) {
  for (int i = 0; i < 16; i++) {
    unsigned char b = (unsigned char)((code + i % 8) | (i / 8 << 7));
    double want = values[i % 8], f = mt_load_element(d, &b).f;
    CHECK(isnan(want) ? isnan(f) : fabs(f) == want, "%s %02x: %a", mt_dtype_name(d), b,
          f);
    CHECK(!signbit(f) == (b < 0x80), "%s %02x: the sign", mt_dtype_name(d), b);
  }
}

static void check_code (mt_dtype d, double x, int code) {
  mt_err err = MT_NOERR;
  unsigned char b = 0;
  CHECK(mt_store_element(d, &b, real(x), &err) == MT_OK, "%s", err.text);
  bool nan = isnan(x) && (d == MT_e5m2 ? b % 128 > 0x7c : b % 128 == 0x7f);
  CHECK(b == code || (nan && (b ^ code) < 128), "%s from %a: %02x, not %02x",
        mt_dtype_name(d), x, b, code);
}

static void test_float8 (void) {
#define FLOAT8_8(d, code, ...) check_codes(MT_##d, code, (const double[8]){__VA_ARGS__});
#define FLOAT8_STORE(d, x, code) check_code(MT_##d, x, code);
#include "float8.def"
#undef FLOAT8_8
#undef FLOAT8_STORE
}

/* ---------------------------------------------------------------- 32 and 64 bits */

static void check_f32 (double x) {
  mt_err err = MT_NOERR;
  float want = (float)x, got;
  CHECK(mt_store_element(MT_f32, &got, real(x), &err) == MT_OK, "%s", err.text);
  CHECK(memcmp(&got, &want, 4) == 0, "f32 from %a: %a, not %a", x, got, want);
  CHECK(mt_load_element(MT_f32, &want).f == (double)want, "f32 %a", want);
}

static void test_f32 (uint64_t seed) {
  const double x[] = {0,
                      -0.0,
                      1,
                      FLT_MAX,
                      FLT_MIN,
                      0x1p-149,
                      0x1p-150,
                      0x1.8p-150,
                      0x1p-151,
                      0x1.ffffffp127,
                      0x1.fffffefffffffp127,
                      INFINITY,
                      -INFINITY,
                      DBL_MIN,
                      0x1p-1074,
                      DBL_MAX,
                      0x1.000001p0,
                      0x1.000003p0,
                      0x1.fffffffp-127};
  for (size_t i = 0; i < sizeof x / sizeof *x; i++) check_f32(x[i]);
  for (int i = 0; i < 500000; i++) {
    uint64_t bits = splitmix64(&seed);
    float f, got;
    double d;
    mt_err err = MT_NOERR;
    memcpy(&d, &bits, 8);
    if (!isnan(d)) check_f32(d);
    check_f32(ldexp((double)(int64_t)bits, (int)(splitmix64(&seed) % 320) - 220));
    int64_t n = (int64_t)splitmix64(&seed) >> splitmix64(&seed) % 64;
    mt_store_element(MT_f32, &got, integer(n), &err);
    CHECK(got == (float)n, "f32 from %lld", (long long)n);
    memcpy(&f, &bits, 4); /* any pattern comes back, NaNs too */
    mt_store_element(MT_f32, &got, mt_load_element(MT_f32, &f), &err);
    CHECK(memcmp(&got, &f, 4) == 0, "f32 pattern %08x", (unsigned)bits);
    mt_store_element(MT_f64, &d, mt_load_element(MT_f64, &bits), &err);
    CHECK(memcmp(&d, &bits, 8) == 0, "f64 pattern %llx", (unsigned long long)bits);
  }
}

/* ---------------------------------------------------------------- integers */

#define TWO63 9223372036854775808.0

static void check_integer (mt_dtype d, mt_number v, const char *bytes, const char *text) {
  mt_err err = MT_NOERR;
  size_t n = mt_dtype_size(d);
  unsigned char *p = malloc(n); /* exactly its size */
  mt_status s = mt_store_element(d, p, v, &err);
  if (text) {
    CHECK(s == MT_ERANGE && err.status == s, "%s: status %d", text, s);
    CHECK(strstr(err.text, text), "'%s' is not in '%s'", text, err.text);
  } else {
    CHECK(s == MT_OK && memcmp(p, bytes, n) == 0, "%s %lld %g", mt_dtype_name(d),
          (long long)v.i, v.f);
    mt_number back = mt_load_element(d, p);
    CHECK(back.isint &&
              (v.isint ? back.i == v.i :
                         (double)(uint64_t)back.i == v.f || (double)back.i == v.f),
          "%s comes back", mt_dtype_name(d));
  }
  free(p);
}

static void test_integers (uint64_t seed) {
#define DTYPE_INTEGER(d, v, bytes, text) check_integer(MT_##d, v, bytes, text);
#include "dtype.def"
#undef DTYPE_INTEGER
  for (int d = 0; d < MT_NDTYPE; d++) {
    for (int i = 0; i < 100000; i++) { /* any pattern comes back, at any address */
      unsigned char in[9], out[9];
      mt_err err = MT_NOERR;
      uint64_t bits = splitmix64(&seed);
      if (d == MT_bool) bits &= 1;
      memcpy(in + 1, &bits, 8);
      mt_store_element((mt_dtype)d, out + 1, mt_load_element((mt_dtype)d, in + 1), &err);
      CHECK(memcmp(in + 1, out + 1, mt_dtype_size((mt_dtype)d)) == 0, "%s pattern %llx",
            mt_dtype_name((mt_dtype)d), (unsigned long long)bits);
    }
  }
}

/* ---------------------------------------------------------------- names */

static void test_names (void) {
  mt_err err = MT_NOERR;
  mt_dtype found = MT_NDTYPE;
#define MT_DTYPE(name, kind, bytes, type, element, e, m, top, npy, ...)                  \
  CHECK(strcmp(mt_dtype_name(MT_##name), #name) == 0, "%s", #name);                      \
  CHECK(mt_dtype_size(MT_##name) == bytes && npy[2] - '0' == bytes, "%s", #name);        \
  CHECK(mt_dtype_find(&found, #name, &err) == MT_OK && found == MT_##name, "%s", #name);
#include "moontile/dtypes.def"
  static const struct {
    const char *name;
    mt_dtype d;
  } other[] = {{"half", MT_f16},
               {"half_t", MT_f16},
               {"float16", MT_f16},
               {"bfloat16_t", MT_bf16},
               {"float", MT_f32},
               {"float32", MT_f32},
               {"double", MT_f64},
               {"int8_t", MT_i8},
               {"uint64_t", MT_u64},
               {"float_e4m3_t", MT_e4m3},
               {"float8_e5m2", MT_e5m2},
               {"float_e5m2_t", MT_e5m2},
               {"float8_e4m3fn", MT_e4m3},
               {"bool", MT_bool},
               {"cutlass::half_t", MT_f16},
               {"torch.float16", MT_f16},
               {"fp16", MT_f16},
               {"cutlass.Float8E4M3FN", MT_e4m3},
               {"Int32", MT_i32},
               {"BFloat16", MT_bf16},
               {"cute::bfloat16_t", MT_bf16},
               {"np.float32", MT_f32},
               {"__half", MT_f16}};
  for (size_t i = 0; i < sizeof other / sizeof *other; i++)
    CHECK(mt_dtype_find(&found, other[i].name, &err) == MT_OK && found == other[i].d,
          "%s", other[i].name);
  CHECK(mt_dtype_find(&found, "_t", &err) == MT_EINVAL, "_t");
  CHECK(mt_dtype_find(&found, "", &err) == MT_EINVAL, "empty");
  CHECK(mt_dtype_find(&found, "i8_t", &err) == MT_EINVAL, "i8_t");
  CHECK(mt_dtype_find(&found, "float33", &err) == MT_EINVAL, "float33");
  CHECK(strcmp(err.text, "unknown dtype 'float33'\n  the dtypes are: bool i8 i16 i32 i64 "
                         "u8 u16 u32 u64 f16 bf16 f32 f64 e4m3 e5m2") == 0,
        "%s", err.text);
  CHECK(mt_dtype_find(&found, NULL, &err) == MT_EINVAL, "NULL");
  CHECK(strcmp(mt_dtype_name((mt_dtype)99), "?") == 0, "beyond");
  CHECK(mt_dtype_size((mt_dtype)-1) == 0, "beyond");
  CHECK(mt_store_element(MT_NDTYPE, &found, integer(0), &err) == MT_EINVAL, "beyond");
}

void test_dtypes (uint64_t seed) {
  test_names();
  test_integers(seed);
  ladder ladders[] = {make_ladder(MT_f16, 5, 10, true), make_ladder(MT_bf16, 8, 7, true),
                      make_ladder(MT_e4m3, 4, 3, false),
                      make_ladder(MT_e5m2, 5, 2, true)};
  test_float8();
  for (int i = 0; i < 4; i++) {
    check_patterns(&ladders[i]);
    check_ties(&ladders[i]);
    check_random(&ladders[i], seed);
    check_nan(&ladders[i]);
    free(ladders[i].value);
  }
  test_f32(seed);
}
