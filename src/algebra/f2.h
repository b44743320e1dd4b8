/*
** f2.h - private: strides over F2, where addition is xor and scaling the carry-less
** product.
** SPDX-License-Identifier: MIT
**
** F2 values are polynomials over the field of two elements, their bits the coefficients;
** they stay below 2^62. The product c x d of an integer and a stride is that of the
** polynomials. A sum of integers is their xor exactly if they share no bits: that is what
** ties the two rings together.
*/
#ifndef MT_ALGEBRA_F2_H
#define MT_ALGEBRA_F2_H

#include "core/build.h"
#include "algebra/compose.h"

/* Any of its strides is of this ring. */
bool mt_is_f2 (const mt_node *a);
bool mt_flat_is_f2 (const mt_flat *f);

/* *out = A(i) of a flattened A over F2, i >= 0, the last mode without a bound; false
** if it leaves MT_F2BITS. */
bool mt_f2_value (int64_t *out, const mt_flat *f, int64_t i);

/* A stride v of this ring as a leaf, kept in q; NULL if there is no room. */
const mt_node *mt_f2_stride (mt_pieces *q, int64_t v);

/* The parts of composition for an A over F2 (for others: true, MT_FITS). Pieces of the
** rule are exact if in each mode r of A the numbers 2^j * t, for 2^j < m, of all its
** pieces m:t share no bits. */
bool mt_f2_fits (const mt_pieces *q, const mt_meet *g, mt_refusal *w);
mt_reason mt_f2_single (mt_pieces *q, const mt_meet *g, int k);
bool mt_f2_exact (mt_pieces *q, const mt_meet *g, mt_refusal *w);

/* The highest bits of the values of s:d are `next` and those after it, the others lie
** below. */
bool mt_f2_continues (int next, int64_t s, int64_t d);
mt_status mt_f2_right_inverse (mt_layout *out, const mt_node *a, mt_err *err);
mt_status mt_f2_left_inverse (mt_layout *out, const mt_node *a, mt_err *err);
/* The smallest power of two above all values. */
int64_t mt_f2_coshape (const mt_node *a);
mt_status mt_f2_layout_add (mt_layout *out, const mt_node *a, const mt_node *b,
                            mt_err *err);

#endif
