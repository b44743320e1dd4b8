/*
** lattice.h - shapes as a lattice, sums of layouts, XOR strides.
** SPDX-License-Identifier: MIT
**
** The conventions of moontile.h hold here too.
*/
#ifndef MOONTILE_LATTICE_H
#define MOONTILE_LATTICE_H

#include "moontile/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- shapes as a lattice
**
** S is at most T, compatible(S, T), if an integer of S stands for a subtree of T of that
** size and tuples agree in rank, mode by mode: T refines S. A shape is a tuple of
** integers, or a layout. */

/* The least shape that refines both: (1) compatible(S, R) and compatible(T, R), (2)
** compatible(R, U) for every other U that refines both. Errors: MT_EINVAL (no shape),
** MT_ERANK (there is none). */
MT_API mt_status mt_common_refinement (mt_layout *out, const mt_node *s, const mt_node *t,
                                       mt_err *err);
/* The greatest shape that both refine: (1) compatible(R, S) and compatible(R, T), (2)
** compatible(U, R) for every other such U. There is one if the sizes agree. Errors:
** MT_EINVAL, MT_ERANK. */
MT_API mt_status mt_common_coarsening (mt_layout *out, const mt_node *s, const mt_node *t,
                                       mt_err *err);
/* The layout G of the indices that both shapes cut alike: its modes f:d are ordered,
** (1) each d * f divides the next d, (2) f:d lies within one mode of S, at a step that
** divides it, and within one of T; (3) a step p:d with p prime of which (2) holds lies
** in a mode of G. So every layout with shape S or T can be composed with G by the
** rule. Rank 1 at least: (1):(0) if nothing is common. Errors: MT_EINVAL (no shape, an
** extent of 0), MT_EOVERFLOW. */
MT_API mt_status mt_greatest_common_domain (mt_layout *out, const mt_node *s,
                                            const mt_node *t, mt_err *err);

/* ---------------------------------------------------------------- sums */

/* The layout R, coalesced, with (1) R(i) = A(i) + B(i) for 0 <= i < size(A), (2) size(R)
** = size(A). Over the integers and basis elements the answer is complete: (3) if it is
** MT_EINEXACT, no layout of any shape has (1). Over F2 the sum is xor, and modes are cut
** at powers of two only. Errors: MT_ERANK (the sizes differ), MT_EINEXACT, MT_EINVAL
** (strides of different kinds), MT_EOVERFLOW, MT_EUNSUPPORTED (swizzled). */
MT_API mt_status mt_layout_add (mt_layout *out, const mt_node *a, const mt_node *b,
                                mt_err *err);

/* ---------------------------------------------------------------- XOR strides
**
** F9 is the value 9 over F2, an MT_INT or MT_LEAF of ring MT_F2: values add by xor, and a
** coordinate times a stride is the carry-less product, that of polynomials whose
** coefficients are the bits: (4,2):(F1,F5) has the values F0 F1 F2 F3 F5 F4 F7 F6. They
** are below 2^62. An F2 value is also a coordinate, where the extents, the last aside,
** are powers of two: its bits are the digits.
**   coalesce: s:d and the mode after it are one if s is a power of two and s x d is the
**     stride of that;
**   composition, with F2 strides on the left: as over the integers, where digits of A are
**     cut so that sums of steps are their xor; else by the definition; else MT_EINEXACT;
**   right_inverse: (1) A(R(i)) = i for i < size(R), i as an F2 value; it follows modes
**     whose values have the next free bits as their highest, others only below these; (2)
**     size(R) = size(A) if A is a bijection;
**   left_inverse: (1) A(L(A(i))) = A(i); there always is one;
**   the inverses want extents that are powers of two, the last aside: MT_EUNSUPPORTED.
** What is not defined over F2 (complement, cosize, products, ...) says so.
**
** A layout over F2, and any other whose extents are powers of two and whose steps share
** no bits, under a swizzle and an offset or not, is a map of bits: A(x) = A(0) xor the
** images of the bits of x. Compositions of such layouts, F2 or not on either side, and
** their inverses are answered by the bits where laws of strides and swizzles have no
** answer: a plain layout where the images share no bits, else Sw o offset o L where a
** swizzle parts them, else, of operands over F2 and if it is 0 at 0, a layout over F2;
** what has no such value is composed (moontile/swizzle.h). */

/* out = a + b, of F2 values: their xor. An integer 0 counts as F0. Errors: MT_EINVAL. */
MT_API mt_status mt_f2_add (mt_layout *out, const mt_node *a, const mt_node *b,
                            mt_err *err);

/* The F2 layout G of a swizzle: (1) compatible(A, G), (2) Sw(offset + A(i)) =
** Sw(offset) xor G(i). The extents of A are powers of two and its steps share no bits.
** Errors: MT_EINEXACT, MT_EINVAL. */
MT_API mt_status mt_swizzle_to_f2 (mt_layout *out, const mt_node *swizzle, int64_t offset,
                                   const mt_node *a, mt_err *err);

/* A layout as a matrix over F2, its columns as words: (1) A(x) = *constant xor column[j]
** of all bits j of x, for x below 2^*columns = size(A); (2) *rows bits hold all values.
** `column` has room for 62. Errors: MT_EINEXACT (A is no such map). */
MT_API mt_status mt_to_f2_matrix (int *rows, int *columns, int64_t *column,
                                  int64_t *constant, const mt_node *a, mt_err *err);
/* The layout of these columns and this value at 0, with the extents of `shape`, powers of
** two whose product is 2^n, or of one mode (NULL): plain, swizzled or over F2. Errors:
** MT_EINVAL (a column below 0 or beyond 62 bits, other extents), MT_EINEXACT. */
MT_API mt_status mt_from_f2_matrix (mt_layout *out, int n, const int64_t *column,
                                    int64_t constant, const mt_node *shape, mt_err *err);

#ifdef __cplusplus
}
#endif
#endif
