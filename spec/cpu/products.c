/*
** products.c - random products against their definition: sizes, types, layouts, factors.
** SPDX-License-Identifier: MIT
*/
#include <float.h>
#include <math.h>

#include "gemm_test.h"

/* ---------------------------------------------------------------- the definition */

static const void *element (const operand *o, int64_t i, int64_t j, int64_t l) {
  int64_t at = 0;
  MUST(mt_at(&at, o->t.layout, i + o->size[0] * (j + o->size[1] * l), err));
  at = (at + o->t.offset) * (int64_t)mt_dtype_size(o->t.dtype);
  return (const char *)o->t.data + at;
}

static bool is_float (mt_dtype d) { return mt_cpu_widener(d, MT_ACC_U64) == NULL; }

static double number (mt_dtype d, const void *p) {
  mt_number n = mt_load_element(d, p);
  return n.isint ? d == MT_u64 ? (double)(uint64_t)n.i : (double)n.i : n.f;
}

/* An operand as numbers, x fastest; i: the bits of integers. */
__extension__ typedef __int128 wide;
typedef struct numbers {
  double *f;
  uint64_t *i;
  bool sign;
} numbers;

static wide integer (const numbers *v, int64_t at) {
  return v->sign ? (wide)(int64_t)v->i[at] : (wide)v->i[at];
}

static numbers numbers_of (const operand *o) {
  int64_t n = o->size[0] * o->size[1] * o->size[2], at = 0;
  numbers v = {malloc((size_t)n * 8 + 1), malloc((size_t)n * 8 + 1),
               o->t.dtype != MT_u64};
  if (v.f == NULL || v.i == NULL) abort();
  for (int64_t l = 0; l < o->size[2]; l++)
    for (int64_t j = 0; j < o->size[1]; j++)
      for (int64_t i = 0; i < o->size[0]; i++, at++) {
        const void *p = element(o, i, j, l);
        v.f[at] = number(o->t.dtype, p);
        v.i[at] = (uint64_t)mt_load_element(o->t.dtype, p).i;
      }
  return v;
}

static void free_numbers (numbers v) { free(v.f), free(v.i); }

static double epsilon (mt_dtype d) {
  return d == MT_f64  ? DBL_EPSILON :
         d == MT_f32  ? (double)FLT_EPSILON :
         d == MT_f16  ? 0x1p-10 :
         d == MT_bf16 ? 0x1p-7 :
         d == MT_e4m3 ? 0x1p-3 :
                        0x1p-2;
}

/* Beyond it the nearest value may be infinity. */
static double largest (mt_dtype d) {
  return d == MT_e4m3 ? 447 : d == MT_e5m2 ? 57000 : d == MT_f16 ? 65000 : INFINITY;
}

/* The error that sums of this kind may have. */
static double bound_of (const trial *x, double sum, double want) {
  double eps =
      epsilon(x->a == MT_f64 || x->b == MT_f64 || x->c == MT_f64 ? MT_f64 : MT_f32);
  return eps * (double)(x->size[MT_K] + 4) * sum + epsilon(x->c) * fabs(want) +
         (x->c == MT_e4m3 ? 0x1p-10 :
          x->c == MT_e5m2 ? 0x1p-17 :
                            0x1p-25);
}

/* One element of C: as floats, and as the integer high 2^32 + low; the sum of the
** magnitudes. */
typedef struct total {
  double f, size;
  wide high, low;
} total;

static total sum_of (const trial *x, const numbers *a, const numbers *b, int64_t i,
                     int64_t j, int64_t l) {
  total s = {0, 0, 0, 0};
  for (int64_t k = 0; k < x->size[MT_K]; k++) {
    int64_t p = i + x->size[MT_M] * (k + x->size[MT_K] * l);
    int64_t q = j + x->size[MT_N] * (k + x->size[MT_K] * l);
    s.f += a->f[p] * b->f[q];
    s.size += fabs(x->alpha * a->f[p] * b->f[q]);
    s.high += integer(a, p) * (integer(b, q) >> 32);
    s.low += integer(a, p) * (wide)(uint32_t)b->i[q];
  }
  return s;
}

/* What C has for it: the nearest. */
static uint64_t nearest (mt_dtype c, wide high, wide low) {
  const unsigned bits = 8 * (unsigned)mt_dtype_size(c);
  const wide most = ((wide)1 << (bits - (c < MT_u8))) - 1, least = c < MT_u8 ? ~most : 0;
  const wide far = (wide)1 << 40;
  high += low >> 32;
  if (high >= far) return (uint64_t)most;
  if (high < -far) return (uint64_t)least;
  wide v = high * ((wide)1 << 32) + (wide)(uint32_t)low;
  return (uint64_t)(v < least ? least : v > most ? most : v);
}

static void compare_element (const trial *x, total s, const numbers *c,
                             const numbers *got, int64_t at, const char *what) {
  wide alpha = (wide)x->alpha, beta = (wide)x->beta;
  uint64_t exact = is_float(x->c) ? 0 :
                                    nearest(x->c, alpha * s.high,
                                            alpha * s.low + beta * integer(c, at));
  double want = x->alpha * s.f;
  if (x->beta != 0) {
    want += x->beta * c->f[at];
    s.size += fabs(x->beta * c->f[at]);
  }
  if (!is_float(x->c))
    CHECK(exact == got->i[at], "%s at %lld: %llx, not %llx", what, (long long)at,
          (unsigned long long)got->i[at], (unsigned long long)exact);
  else
    CHECK(fabs(want - got->f[at]) <= bound_of(x, s.size, want) ||
              fabs(want) > largest(x->c),
          "%s at %lld: %g, not %g", what, (long long)at, got->f[at], want);
}

static void compare (const trial *x, const numbers *a, const numbers *b, const numbers *c,
                     const numbers *got, const char *what) {
  int64_t at = 0;
  for (int64_t l = 0; l < x->size[MT_L]; l++)
    for (int64_t j = 0; j < x->size[MT_N]; j++)
      for (int64_t i = 0; i < x->size[MT_M]; i++, at++)
        compare_element(x, sum_of(x, a, b, i, j, l), c, got, at, what);
}

/* ---------------------------------------------------------------- running */

long by_blas;

static void run (mt_device *d, const trial *x, const operand *o) {
  mt_gemm_launch l;
  mt_cpu_gemm *g = NULL;
  mt_refusals why = {0};
  MUST(mt_gemm_tensors(&l, &o[0].t, &o[1].t, &o[2].t, x->alpha, x->beta, err));
  MUST(mt_cpu_gemm_new(&g, d, &l, &why, err));
  if (g == NULL) return;
  MUST(mt_cpu_gemm_run(g, &l, d->impl, err));
  by_blas += strcmp(mt_cpu_gemm_name(g), "gemm_blas") == 0;
  mt_cpu_gemm_free(d, g);
}

/* With beta 0 what C has does not count, not even NaNs. */
static void spoil (const trial *x, operand *c) {
  if (x->beta == 0 && is_float(x->c)) memset(c->t.data, 0xff, c->t.bytes);
}

void try_product (mt_device *const device[DEVICES], const trial *x) {
  operand o[3];
  char what[2400], *before, *first;
  random_operand(&o[0], x->a, x->size[MT_M], x->size[MT_K], x->size[MT_L], false,
                 x->matrices);
  random_operand(&o[1], x->b, x->size[MT_N], x->size[MT_K], x->size[MT_L], false,
                 x->matrices);
  random_operand(&o[2], x->c, x->size[MT_M], x->size[MT_N], x->size[MT_L], true,
                 x->matrices);
  snprintf(what, sizeof what, "%s %s, %s %s, %s %s, %g, %g", mt_dtype_name(x->a),
           o[0].text, mt_dtype_name(x->b), o[1].text, mt_dtype_name(x->c), o[2].text,
           x->alpha, x->beta);
  spoil(x, &o[2]);
  before = malloc(o[2].t.bytes + 1), first = malloc(o[2].t.bytes + 1);
  if (before == NULL || first == NULL) abort();
  memcpy(before, o[2].t.data, o[2].t.bytes);
  numbers a = numbers_of(&o[0]), b = numbers_of(&o[1]), c = numbers_of(&o[2]);
  for (int i = 0; i < DEVICES; i++) {
    memcpy(o[2].t.data, before, o[2].t.bytes);
    run(device[i], x, o);
    if (i == 0) memcpy(first, o[2].t.data, o[2].t.bytes);
    CHECK(i == BLAS || memcmp(first, o[2].t.data, o[2].t.bytes) == 0,
          "%s: other bits with %d threads", what, i + 1);
    if (i != ONE && i != BLAS) continue;
    numbers got = numbers_of(&o[2]);
    compare(x, &a, &b, &c, &got, what);
    free_numbers(got);
  }
  free_numbers(a), free_numbers(b), free_numbers(c);
  free(before), free(first);
  for (int i = 0; i < 3; i++) free_operand(&o[i]);
}

/* ---------------------------------------------------------------- cases */

static void choose_types (trial *x) {
  static const mt_dtype floats[] = {MT_f32, MT_f64,  MT_f16, MT_bf16,
                                    MT_f32, MT_e4m3, MT_e5m2};
  x->c = pick(4) ? floats[pick(7)] : (mt_dtype)(MT_i8 + pick(MT_u64 - MT_i8 + 1));
  x->a = x->b = x->c;
  if (is_float(x->c) && pick(2)) x->a = floats[pick(7)], x->b = floats[pick(7)];
  if (is_float(x->c) && pick(8) == 0) x->a = MT_i8;
  if (!is_float(x->c) && pick(3)) x->a = (mt_dtype)(pick(MT_u64 + 1));
  if (!is_float(x->c) && pick(3)) x->b = (mt_dtype)(pick(MT_u64 + 1));
}

static int64_t size_of (int kind) {
  return kind == 0 ? between(1, 8) : kind == 1 ? between(1, 70) : kind == 2 ? 12 : 48;
}

static void random_trial (trial *x) {
  static const double factors[] = {1, 1, 0, 2, -1, 3};
  choose_types(x);
  x->size[MT_M] = size_of(pick(4)), x->size[MT_N] = size_of(pick(4));
  x->size[MT_K] = pick(12) ? size_of(pick(4)) : pick(2) ? between(300, 900) : 0;
  x->size[MT_L] = pick(3) ? 1 : between(1, 5);
  if (pick(60) == 0) x->size[pick(4)] = 0;
  x->alpha = factors[pick(6)], x->beta = factors[2 * pick(3)];
  if (is_float(x->c) && pick(4) == 0) x->alpha = 0.3, x->beta = pick(2) ? -1.7 : 0;
}

/* Rows and columns that lie together: what is read and added up where it lies, also over
** more than one block of K. */
static void matrices (mt_device *const device[DEVICES], long cases) {
  static const mt_dtype types[] = {MT_f32, MT_f32,  MT_f64, MT_i32,
                                   MT_u64, MT_bf16, MT_i8};
  for (long i = 0; i < cases; i++) {
    const mt_dtype t = types[pick(7)];
    trial x = {t, t, t,   {between(1, 110), between(1, 70), between(1, 800), 1},
               1, 0, true};
    if (pick(3) == 0)
      x.size[MT_M] = 16 * between(1, 7), x.size[MT_N] = 8 * between(1, 12);
    if (pick(3) == 0) x.size[pick(2)] = between(1, 9);
    if (pick(8) == 0) x.size[MT_L] = 3;
    if (pick(8) == 0) x.beta = 1;
    try_product(device, &x);
  }
}

/* Blocks along every mode: more rows, columns, steps, batches than one has. */
static void large (mt_device *const device[DEVICES]) {
  static const int64_t sizes[][MT_GEMM_MODES] = {{1100, 70, 30, 1},   {40, 2100, 33, 1},
                                                 {1050, 1060, 20, 1}, {5, 6, 20, 300},
                                                 {1, 5000, 7, 1},     {4500, 1, 9, 2},
                                                 {33, 65, 5000, 1},   {1, 1, 3000, 2},
                                                 {32, 4200, 400, 1},  {4200, 32, 400, 1}};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    trial x = {MT_f32, MT_f32, MT_f32, {0}, 1, (double)pick(2), pick(2)};
    memcpy(x.size, sizes[i], sizeof x.size);
    if (pick(3) == 0) x.a = MT_bf16, x.c = MT_f16;
    try_product(device, &x);
  }
}

/* The largest sums of 8-bit integers. */
static void extremes (mt_device *const device[DEVICES]) {
  static const mt_dtype types[] = {MT_u8, MT_i8, MT_bool};
  mt_layout left, c;
  enum { SIZE = 40, DEPTH = 700 };
  static unsigned char a[SIZE * DEPTH], b[SIZE * DEPTH];
  static int32_t sums[SIZE * SIZE];
  MUST(mt_parse(&left, "(40,700):(700,1)", 16, err));
  MUST(mt_parse(&c, "(40,40):(1,40)", 14, err));
  for (int i = 0; i < 9; i++) {
    int x = types[i / 3] == MT_u8 ? 255 : types[i / 3] == MT_i8 ? -128 : 1;
    int y = types[i % 3] == MT_u8 ? 255 : types[i % 3] == MT_i8 ? -128 : 1;
    operand o[3] = {{.t = {left.node, types[i / 3], a, sizeof a, 0, NULL}},
                    {.t = {left.node, types[i % 3], b, sizeof b, 0, NULL}},
                    {.t = {c.node, MT_i32, sums, sizeof sums, 0, NULL}}};
    trial t = {.alpha = 1};
    memset(a, x, sizeof a), memset(b, y, sizeof b);
    run(device[i % 3], &t, o);
    for (int j = 0; j < SIZE * SIZE; j++)
      CHECK(sums[j] == x * y * DEPTH, "%d by %d: %d", x, y, sums[j]);
  }
}

/* The ends of a type. */
static uint64_t end_of (mt_dtype d, bool high) {
  unsigned bits = 8 * (unsigned)mt_dtype_size(d), sign = d < MT_u8;
  uint64_t top = ~UINT64_C(0) >> (64 - bits + sign);
  return high ? top : sign ? ~top : 0;
}

/* K products of the ends of two types, and an end of C: every C is the nearest it has. */
static void end (mt_device *d, const trial *t, const bool high[3]) {
  enum { DEPTH = 4096 };
  static uint64_t a[DEPTH], b[DEPTH];
  uint64_t c = end_of(t->c, high[2]), x = end_of(t->a, high[0]),
           y = end_of(t->b, high[1]);
  uint64_t before = c;
  mt_layout row = {{{0}}}, one;
  MUST(mt_parse(&one, "(1,1):(0,0)", 11, err));
  MUST(mt_parse(&row, "(1,4096):(0,1)", 14, err));
  row.node[0].shape = row.node[2].shape = t->size[MT_K];
  operand o[3] = {{.t = {row.node, t->a, a, sizeof a, 0, NULL}},
                  {.t = {row.node, t->b, b, sizeof b, 0, NULL}},
                  {.t = {one.node, t->c, &c, sizeof c, 0, NULL}}};
  for (int64_t k = 0; k < t->size[MT_K]; k++) {
    memcpy((char *)a + k * (int64_t)mt_dtype_size(t->a), &x, mt_dtype_size(t->a));
    memcpy((char *)b + k * (int64_t)mt_dtype_size(t->b), &y, mt_dtype_size(t->b));
  }
  numbers vx = {.i = &x, .sign = t->a != MT_u64}, vy = {.i = &y, .sign = t->b != MT_u64};
  numbers vc = {.i = &before, .sign = t->c != MT_u64};
  wide alpha = (wide)t->alpha, beta = (wide)t->beta, most = (wide)1 << 68;
  wide high32 = t->size[MT_K] * integer(&vx, 0) * (integer(&vy, 0) >> 32);
  wide low32 = t->size[MT_K] * integer(&vx, 0) * (wide)(uint32_t)y;
  high32 += low32 >> 32, low32 = (wide)(uint32_t)low32;
  if (alpha * alpha > 9 && (high32 > most || high32 < -most)) /* beyond all of C */
    high32 = high32 > 0 ? most : -most;
  uint64_t want = nearest(t->c, alpha * high32, alpha * low32 + beta * integer(&vc, 0));
  uint64_t mask = end_of(MT_u64, true);
  run(d, t, o);
  mask >>= 64 - 8 * mt_dtype_size(t->c);
  CHECK(((want ^ c) & mask) == 0,
        "%lld of %s %llx, %s %llx to %s %llx by %g, %g: %llx, not %llx",
        (long long)t->size[MT_K], mt_dtype_name(t->a), (unsigned long long)x,
        mt_dtype_name(t->b), (unsigned long long)y, mt_dtype_name(t->c),
        (unsigned long long)before, t->alpha, t->beta, (unsigned long long)(c & mask),
        (unsigned long long)(want & mask));
}

static void ends (mt_device *d) {
  static const double factors[][2] =
      {{1, 0}, {1, 1}, {-1, 0}, {3, -2}, {-0x1p53, 0x1p53}, {1, -0x1p53}};
  static const int64_t depths[] = {1, 3, 4096};
  for (int i = 0; i < 8 * 8 * 8 * 8; i++)
    for (int f = 0; f < 6; f++) {
      const bool high[] = {i & 1, i & 2, i & 4};
      trial t = {(mt_dtype)(MT_i8 + i / 8 % 8),
                 (mt_dtype)(MT_i8 + i / 64 % 8),
                 (mt_dtype)(MT_i8 + i / 512),
                 {0},
                 factors[f][0],
                 factors[f][1],
                 false};
      t.size[MT_K] = depths[(i + f) % 3];
      end(d, &t, high);
    }
}

static void refused (mt_device *d) {
  mt_gemm_launch l = {.desc = {.size = {1, 1, 1, 1}}};
  mt_cpu_gemm *g;
  mt_refusals why = {0};
  mt_err err = MT_NOERR;
  l.desc.part[MT_A].dtype = MT_f16, l.desc.part[MT_C].dtype = MT_i32;
  CHECK(mt_cpu_gemm_new(&g, d, &l, &why, &err) == MT_EUNSUPPORTED && g == NULL, "floats");
  CHECK(strstr(err.text, "A is f16, B is bool, C is i32"), "%s", err.text);
  l.desc.part[MT_A].dtype = MT_i8, l.desc.part[MT_C].dtype = MT_bool;
  CHECK(mt_cpu_gemm_new(&g, d, &l, &why, &err) == MT_EUNSUPPORTED, "bool");
  CHECK(strstr(err.text, "C is bool"), "%s", err.text);
}

void test_products (mt_device *const device[DEVICES], long cases) {
  uint64_t base = next64();
  trial x;
  refused(device[ONE]);
  extremes(device);
  ends(device[ONE]);
  for (long i = 0; i < cases; i++) {
    begin_case(base + (uint64_t)i);
    random_trial(&x);
    try_product(device, &x);
  }
  begin_case(base);
  matrices(device, cases / 40);
  large(device);
}
