/*
** mma_arith.c - what an MMA instruction computes, and how far from the truth it may be.
** SPDX-License-Identifier: MIT
*/
#include <math.h>

#include "atom/atom.h"
#include "types/float.h"
#include "atom/mma_number.h"
#include "core/simd.h"

/* ---------------------------------------------------------------- kinds */

static mt_element type_of (const mt_mma_op *op, int operand) {
  return op->operand[operand].element;
}

static bool is_float (mt_element e) {
  return e >= MT_ELEMENT_e2m1 && e <= MT_ELEMENT_f64;
}

/* The name of a table's atom says what it does; another's says nothing. */
static bool says (const mt_mma_op *op, const char *word) {
  return !op->own && strstr(op->name, word) != NULL;
}

/* Where containers of 8 or 4 bits are floats, the name says which: <A,B,C>. */
mt_element mt_mma_op_element (const mt_mma_op *op, int operand) {
  mt_element e = type_of(op, operand);
  if (op->own || is_float(e) || !is_float(type_of(op, MT_OPERAND_C))) return e;
  const char *type = strchr(op->name, '<');
  if (type == NULL) return e;
  if (operand == MT_OPERAND_B) type = strchr(type, ',');
  return mt_spelled_element(type + 1, strcspn(type + 1, ","));
}

/* Integers whose products a double holds, or that are summed modulo 2^32. */
static bool is_small_integer (mt_element e) {
  return e <= MT_ELEMENT_s32 && e != MT_ELEMENT_u64 && e != MT_ELEMENT_u128 &&
         e != MT_ELEMENT_u256;
}

static bool is_accumulator (mt_element e) {
  return e == MT_ELEMENT_f16 || e == MT_ELEMENT_bf16 || e == MT_ELEMENT_f32 ||
         e == MT_ELEMENT_f64 || e == MT_ELEMENT_s32;
}

/* An atom of any types: those that the sums below know. */
static mt_status check_own (const mt_mma_op *op, mt_err *err) {
  mt_element c = type_of(op, MT_OPERAND_C);
  if (!is_accumulator(c))
    return mt_fail(err, MT_EUNSUPPORTED,
                   "mma: %s cannot be run: C is %s\n"
                   "  products are summed as f16, bf16, f32, f64 or s32",
                   op->name, mt_element_name(c));
  for (int i = MT_OPERAND_A; i <= MT_OPERAND_B; i++) {
    mt_element e = type_of(op, i);
    if (is_small_integer(e) || (is_float(e) && is_float(c))) continue;
    return mt_fail(err, MT_EUNSUPPORTED,
                   "mma: %s cannot be run: %s is %s, C is %s\n"
                   "  integers of up to 32 bits are multiplied, and floats into floats",
                   op->name, i == MT_OPERAND_A ? "A" : "B", mt_element_name(e),
                   mt_element_name(c));
  }
  return MT_OK;
}

mt_status mt_mma_op_check (const mt_mma_op *op, mt_err *err) {
  const char *why = NULL;
  if (op->own) return check_own(op, err);
  if (op->operand[MT_OPERAND_A].sparse != 1 || op->operand[MT_OPERAND_B].sparse != 1)
    why = "half of the values of an operand are not stored";
  else if (says(op, "BLOCKSCALED")) why = "its operands have scales";
  else if (!is_float(type_of(op, MT_OPERAND_C)) &&
           type_of(op, MT_OPERAND_C) != MT_ELEMENT_s32)
    why = "no dtype has complex numbers";
  if (why == NULL) return MT_OK;
  return mt_fail(err, MT_EUNSUPPORTED,
                 "mma: %s cannot be run: %s\n"
                 "  atoms of real numbers run, dense and without scales",
                 op->name, why);
}

/* ---------------------------------------------------------------- sums of products */

static int32_t wrapped_fma (double a, double b, double c) {
  uint64_t p = (uint64_t)(int64_t)a * (uint64_t)(int64_t)b;
  return (int32_t)(uint32_t)(p + (uint64_t)(int64_t)c);
}

typedef void summation (const mt_mma_op *op, const double *restrict a,
                        const double *restrict b, double *restrict c);

/* For each n and W rows at a time: sum[i] = what `term` makes of it for x[i] of A, y of
** B, in order of k. W divides the rows. */
#define SUM_PANELS(W, term)                                                              \
  for (int64_t n = 0; n < op->n; n++)                                                    \
    for (int64_t m = 0; m < op->m; m += W) {                                             \
      double sum[W], *to = c + m + op->m * n;                                            \
      memcpy(sum, to, sizeof sum);                                                       \
      for (int64_t k = 0; k < op->k; k++) {                                              \
        const double *x = a + m + op->m * k, y = b[n + op->n * k];                       \
        MT_UNROLL for (int i = 0; i < W; i++) sum[i] = term;                             \
      }                                                                                  \
      memcpy(to, sum, sizeof sum);                                                       \
    }
#define SUMMATION(name, term)                                                            \
  static void name(const mt_mma_op *op, const double *restrict a,                        \
                   const double *restrict b, double *restrict c) {                       \
    if (op->m % 8 == 0) {                                                                \
      SUM_PANELS(8, term)                                                                \
    } else {                                                                             \
      SUM_PANELS(1, term)                                                                \
    }                                                                                    \
  }
SUMMATION(sum_products, sum[i] + x[i] * y)
SUMMATION(sum_fused, fma(x[i], y, sum[i]))
SUMMATION(sum_fused_f32, (double)fmaf((float)x[i], (float)y, (float)sum[i]))
SUMMATION(sum_s32, (double)wrapped_fma(x[i], y, sum[i]))
SUMMATION(sum_xor, sum[i] + (x[i] - y) * (x[i] - y)) /* of bits; their and: x y */

/* An f32 has each number of it. */
static bool fits_f32 (mt_element e) {
  return mt_element_bits(e) < 32 || e == MT_ELEMENT_f32 || e == MT_ELEMENT_tf32;
}

static summation *summation_of (const mt_mma_op *op) {
  const mt_element a = type_of(op, MT_OPERAND_A), b = type_of(op, MT_OPERAND_B);
  const mt_element c = type_of(op, MT_OPERAND_C);
  if (c == MT_ELEMENT_f64) return sum_fused;
  if ((a == MT_ELEMENT_f32 || b == MT_ELEMENT_f32) && fits_f32(a) && fits_f32(b))
    return sum_fused_f32;
  if (c == MT_ELEMENT_s32 && (mt_element_bits(a) == 32 || mt_element_bits(b) == 32))
    return sum_s32;
  return says(op, "XORPOPC") ? sum_xor : sum_products;
}

/* ---------------------------------------------------------------- to the type of C */

typedef void rounding (double *c, int64_t n);

static void to_f32 (double *c, int64_t n) {
  for (int64_t i = 0; i < n; i++) c[i] = (double)(float)c[i];
}

/* For b = 1.5 2^42 times the power of two below x, the last place of x + b is that of an
** f16 near x: the sum is rounded as the f16 is. Powers below 2^-14: subnormal; beyond
** 2^17: infinity anyway, as from 65520 on. */
static void to_f16 (double *c, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    double x = fabs(c[i]), p = mt_as_double(mt_double_as(x) & 0x7ffull << 52);
    p = p < 0x1p-14 ? 0x1p-14 : p > 0x1p17 ? 0x1p17 : p;
    double b = p * 0x1.8p42, r = x + b - b;
    c[i] = copysign(r > 65504 ? (double)INFINITY : r, c[i]);
  }
}

static void to_bf16 (double *c, int64_t n) {
  for (int64_t i = 0; i < n; i++) c[i] = mt_round_number(MT_ELEMENT_bf16, c[i]);
}

static void to_s32 (double *c, int64_t n) {
  for (int64_t i = 0; i < n; i++) c[i] = (double)(int32_t)(uint32_t)(int64_t)c[i];
}

static void to_s32_saturated (double *c, int64_t n) {
  const double lo = -0x1p31, hi = 0x1p31 - 1;
  for (int64_t i = 0; i < n; i++) c[i] = c[i] < lo ? lo : c[i] > hi ? hi : c[i];
}

static void to_itself (double *c, int64_t n) { (void)c, (void)n; }

static rounding *rounding_of (const mt_mma_op *op) {
  switch (type_of(op, MT_OPERAND_C)) {
    case MT_ELEMENT_f64: return to_itself;
    case MT_ELEMENT_f32: return to_f32;
    case MT_ELEMENT_f16: return to_f16;
    case MT_ELEMENT_bf16: return to_bf16;
    default: return says(op, "SATURATE") ? to_s32_saturated : to_s32;
  }
}

void mt_mma_op_run (const mt_mma_op *op, const double *a, const double *b, double *c) {
  summation_of(op)(op, a, b, c);
  rounding_of(op)(c, op->m * op->n);
}

double mt_mma_op_sum (const mt_mma_op *op, double x, double y) {
  double sum = x + y;
  rounding_of(op)(&sum, 1);
  return sum;
}

/* ---------------------------------------------------------------- bounds */

/* What a tensor core of any generation may do to n products and c, as was measured of
** them ("Numerical behavior of NVIDIA tensor cores", 2021: Volta to Ampere; "FTTN:
** feature-targeted testing for numerical properties of GPU matrix accelerators", 2024:
** Hopper; DeepSeek-V3 technical report, 3.5.2: fp8 on Hopper): products are exact; n = 4,
** 8, 16 or 32 of them and c are aligned to the largest and cut off below F bits of
** fraction, F >= 23, for fp8 on Ada and Hopper F = 13; the sum is cut off to the type of
** C if that is f32, for fp8 to F bits again, and rounded to nearest if it is f16.
**   A group of n loses at most n + 2 units of 2^-F of the largest, K products in groups
**   of 4 or more (K + 2 K/4) 2^-F <= 2 K 2^-F; of 16 or more (fp8) 9/8 K 2^-F.
**   f16: half a unit of 2^-10 for each group of 4, besides; where the instruction has
**   fewer products, for each product.
**   Fused steps: half a unit in the last place of C for each product.
** Growth compounds: (1 + u)^n - 1 <= exp(n u) - 1. The least number of C's type is what
** a step may lose of numbers that are smaller than normal ones.
** of C     per product  per group of 4  least */
#define ACCUMULATORS(X)                                                                  \
  X(f16, 0x1p-22, 0x1p-11, 0x1p-24)                                                      \
  X(bf16, 0x1p-22, 0x1p-8, 0x1p-133)                                                     \
  X(f32, 0x1p-22, 0, 0x1p-149)                                                           \
  X(f64, 0x1p-52, 0, 0x1p-1074)

#define UNITS(name, product, group, least) [MT_ELEMENT_##name] = {product, group, least},
static const struct {
  double product, group, least;
} units[MT_NELEMENT] = {ACCUMULATORS(UNITS)};

double mt_mma_op_bound (const mt_mma_op *op, int64_t k, double sum) {
  mt_element c = type_of(op, MT_OPERAND_C);
  if (!is_float(c) || k < 0) return 0;
  bool core = op->k >= 4; /* more than a fused step */
  double n = (double)k + 2, unit = units[c].product, groups = core ? n / 4 + 1 : n;
  if (core && mt_element_bits(mt_mma_op_element(op, MT_OPERAND_A)) <= 8) unit = 0x1.4p-13;
  return sum * expm1(n * unit + groups * units[c].group) + n * units[c].least;
}
