/*
** gemm_sum.h - private: sums of products of integers: exact, and what C makes of them.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_CPU_GEMM_SUM_H
#define MT_CPU_GEMM_SUM_H

#include "cpu/gemm_side.h"

bool mt_cpu_has_sign (mt_dtype d);
/* The largest magnitude that an integer of this type has. */
double mt_cpu_most (mt_dtype d);
/* The largest magnitude among n elements that lie together. */
uint64_t mt_cpu_magnitude (mt_dtype d, const void *p, int64_t n);

/* The quickest sums that are exact while the magnitudes of the products add up to no more
** than `reach`. */
mt_acc mt_cpu_exact (double reach);
/* The inner loop of MT_ACC_WIDE, for operands that have a sign or not. */
const mt_micro *mt_micro_wide (bool a, bool b);

/* How sums become elements of C, an integer type. */
typedef struct mt_cpu_scale {
  mt_acc acc;
  mt_dtype c;
  int64_t alpha, beta;
  bool quick; /* 64 bits hold all that is on the way */
} mt_cpu_scale;
mt_cpu_scale mt_cpu_scale_of (mt_acc acc, mt_dtype c, double alpha, double beta,
                              double reach);
/* out = alpha sum + beta old, exact, then saturated; out and old are of C's type. n is at
** most that of a tile. */
void mt_cpu_scale_sums (const mt_cpu_scale *s, void *out, const void *sums,
                        const void *old, int64_t n);

#endif
