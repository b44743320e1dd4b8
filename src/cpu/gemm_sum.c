/*
** gemm_sum.c - sums of products of integers: exact, and what C makes of them.
** SPDX-License-Identifier: MIT
**
** An element of C is the nearest that its type has to alpha A B + beta C. So the sums are
** exact: in 32 bits, in doubles, in 64 bits, whichever the largest products that there
** can be allow; else in 256 bits, which hold whatever 64-bit operands and factors of 53
** bits make in 2^63 steps.
*/
#include "types/convert.h"
#include "cpu/gemm_sum.h"

/* ---------------------------------------------------------------- 256 bits */

/* Two's complement, the lowest bits first. */
typedef struct mt_big {
  uint64_t limb[4];
} mt_big;

/* The 128 bits of a b. */
static uint64_t multiply (uint64_t *high, uint64_t a, uint64_t b) {
  uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
  uint64_t low = al * bl, m = ah * bl + (low >> 32), n = al * bh + (uint32_t)m;
  *high = ah * bh + (m >> 32) + (n >> 32);
  return n << 32 | (uint32_t)low;
}

/* x += v 2^(64 i). */
static void add_limb (mt_big *x, int i, uint64_t v) {
  for (; i < 4 && v != 0; i++) {
    x->limb[i] += v;
    v = x->limb[i] < v;
  }
}

/* x -= v 2^(64 i). */
static void take_limb (mt_big *x, int i, uint64_t v) {
  for (; i < 4 && v != 0; i++) {
    bool borrow = x->limb[i] < v;
    x->limb[i] -= v;
    v = borrow;
  }
}

/* x += a b 2^(64 i), minus that if so. */
static void add_product (mt_big *x, int i, uint64_t a, uint64_t b, bool minus) {
  uint64_t high, low = multiply(&high, a, b);
  (minus ? take_limb : add_limb)(x, i, low);
  if (i < 3) (minus ? take_limb : add_limb)(x, i + 1, high);
}

static bool is_minus (const mt_big *x) { return x->limb[3] >> 63; }

static mt_big negated (const mt_big *x) {
  mt_big y = {{0}};
  for (int i = 0; i < 4; i++) take_limb(&y, i, x->limb[i]);
  return y;
}

/* x += f v. */
static void add_scaled (mt_big *x, const mt_big *v, int64_t f) {
  bool minus = is_minus(v) != (f < 0);
  mt_big size = is_minus(v) ? negated(v) : *v;
  for (int i = 0; i < 4; i++) add_product(x, i, size.limb[i], mt_magnitude(f), minus);
}

/* Of the integer whose low bits these are. */
static mt_big big_of (uint64_t bits, bool minus) {
  uint64_t rest = minus ? ~UINT64_C(0) : 0;
  return (mt_big){{bits, rest, rest, rest}};
}

/* ---------------------------------------------------------------- types */

static const struct {
  bool sign;
  int bits;
} types[MT_NDTYPE] = {
#define MT_DTYPE(name, kind, bytes, ...)                                                 \
  {MT_KIND_##kind == MT_KIND_INT, MT_KIND_##kind == MT_KIND_BOOL ? 1 : 8 * bytes},
#include "moontile/dtypes.def"
};

bool mt_cpu_has_sign (mt_dtype d) { return types[d].sign; }

/* 2^b */
static double power (int b) {
  double p = 1;
  while (b-- > 0) p *= 2;
  return p;
}

double mt_cpu_most (mt_dtype d) {
  return types[d].sign ? power(types[d].bits - 1) : power(types[d].bits) - 1;
}

uint64_t mt_cpu_magnitude (mt_dtype d, const void *p, int64_t n) {
  enum { AT_ONCE = 256 };
  uint64_t v[AT_ONCE], most = 0;
  const char *from = p;
  mt_cpu_convert *widen = mt_cpu_widener(d, MT_ACC_U64);
  for (int64_t m; n > 0; n -= m, from += m * (int64_t)mt_dtype_size(d)) {
    m = n < AT_ONCE ? n : AT_ONCE;
    widen(v, from, m);
    for (int64_t i = 0; i < m; i++) {
      uint64_t x = types[d].sign && v[i] >> 63 ? 0 - v[i] : v[i];
      most = x > most ? x : most;
    }
  }
  return most;
}

/* Below the ends of a double's and of 64 bits by what `reach` may be rounded by. */
mt_acc mt_cpu_exact (double reach) {
  return reach < 0x1p31  ? MT_ACC_U32 :
         reach <= 0x1p52 ? MT_ACC_F64 :
         reach <= 0x1p62 ? MT_ACC_U64 :
                           MT_ACC_WIDE;
}

/* ---------------------------------------------------------------- the inner loop */

enum { M = 8, N = 4 };

static inline void step (mt_big *x, uint64_t a, bool asign, uint64_t b, bool bsign) {
  bool ma = asign && a >> 63, mb = bsign && b >> 63;
  add_product(x, 0, ma ? 0 - a : a, mb ? 0 - b : b, ma != mb);
}

/* The signs of A and B. */
#define MT_WIDE(name, asign, bsign)                                                      \
  static void name(const mt_steps *s) {                                                  \
    const uint64_t *a = s->a, *b = s->b;                                                 \
    for (int j = 0; j < s->columns; j++)                                                 \
      for (int i = 0; i < M; i++) {                                                      \
        mt_big *t = (mt_big *)s->tile + j * s->tile_step + i;                            \
        if (s->fresh) *t = (mt_big){{0}};                                                \
        for (int64_t k = 0; k < s->depth; k++)                                           \
          step(t, a[k * s->a_step + i], asign, b[k * N + j], bsign);                     \
      }                                                                                  \
  }
MT_WIDE(run_uu, false, false)
MT_WIDE(run_ui, false, true)
MT_WIDE(run_iu, true, false)
MT_WIDE(run_ii, true, true)

const mt_micro *mt_micro_wide (bool a, bool b) {
#define MT_WIDE_ROW(run)                                                                 \
  {                                                                                      \
    "wide", MT_ACC_WIDE, 8, M, N, 256, 1, {run, run}, {NULL, NULL}, NULL,                \
        sizeof(mt_big), false                                                            \
  }
  static const mt_micro rows[2][2] = {{MT_WIDE_ROW(run_uu), MT_WIDE_ROW(run_ui)},
                                      {MT_WIDE_ROW(run_iu), MT_WIDE_ROW(run_ii)}};
#undef MT_WIDE_ROW
  return &rows[a][b];
}

/* ---------------------------------------------------------------- to C */

mt_cpu_scale mt_cpu_scale_of (mt_acc acc, mt_dtype c, double alpha, double beta,
                              double reach) {
  double size = (alpha < 0 ? -alpha : alpha) * reach;
  size += (beta < 0 ? -beta : beta) * power(types[c].bits);
  bool quick = acc != MT_ACC_WIDE && size <= 0x1p62;
  return (mt_cpu_scale){acc, c, (int64_t)alpha, (int64_t)beta, quick};
}

/* The nearest that C has, as its low bits. */
static uint64_t into (const mt_big *x, mt_dtype c) {
  bool minus = is_minus(x), sign = types[c].sign;
  uint64_t top = ~UINT64_C(0) >> (64 - types[c].bits + sign); /* the largest */
  uint64_t rest = minus ? ~UINT64_C(0) : 0, low = x->limb[0];
  bool fits = x->limb[1] == rest && x->limb[2] == rest && x->limb[3] == rest;
  if (minus) return !sign ? 0 : fits && low >= ~top ? low : ~top;
  return fits && low <= top ? low : top;
}

static void to_sums (int64_t *out, const void *sums, mt_acc acc, int64_t n) {
  const int32_t *s = sums;
  const double *f = sums;
  if (acc == MT_ACC_U64) memcpy(out, sums, (size_t)n * sizeof *out);
  for (int64_t i = 0; i < n && acc == MT_ACC_U32; i++) out[i] = s[i];
  for (int64_t i = 0; i < n && acc == MT_ACC_F64; i++) out[i] = (int64_t)f[i];
}

void mt_cpu_scale_sums (const mt_cpu_scale *s, void *out, const void *sums,
                        const void *old, int64_t n) {
  int64_t v[MT_MAXTILE / sizeof(int32_t)], c[MT_MAXTILE / sizeof(int32_t)];
  const mt_big *wide = sums;
  if (old) mt_cpu_widener(s->c, MT_ACC_U64)(c, old, n);
  to_sums(v, sums, s->acc, n);
  for (int64_t i = 0; i < n && s->quick; i++)
    v[i] = s->alpha * v[i] + (old ? s->beta * c[i] : 0);
  for (int64_t i = 0; i < n && !s->quick; i++) {
    mt_big x = {{0}};
    mt_big t = s->acc == MT_ACC_WIDE ? wide[i] : big_of((uint64_t)v[i], v[i] < 0);
    add_scaled(&x, &t, s->alpha);
    t = big_of((uint64_t)c[i], types[s->c].sign && c[i] < 0);
    if (old) add_scaled(&x, &t, s->beta);
    v[i] = (int64_t)into(&x, s->c);
  }
  if (!s->quick && s->c == MT_u64) memcpy(out, v, (size_t)n * sizeof *v);
  else mt_cpu_narrower(MT_ACC_U64, s->c)(out, v, n);
}
