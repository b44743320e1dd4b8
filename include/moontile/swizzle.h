/*
** swizzle.h - swizzles and swizzled layouts.
** SPDX-License-Identifier: MIT
**
** The conventions of moontile.h hold here too.
**
** Sw<B,M,S> maps an integer to itself with B of its bits flipped where B others are set:
**   Sw(i) = i ^ ((i & Y) >> S)
** Y are the B bits from M + max(S,0) on, Z = Y >> S the B bits from M + max(-S,0) on; |S|
** >= B, so that Y and Z are disjoint. A swizzle is its own inverse, linear over xor, and
** the identity if B is 0. B, M >= 0 and B + M + |S| <= 62.
**
** Sw<B,M,S> o offset o L is the function i -> Sw(offset + L(i)), L with integer strides.
** The functions of layouts take it where it is said; where modes are moved, divided,
** multiplied or composed on the right, the swizzle and the offset stay what they are and
** L is worked on. Sw o 0 o L is L if B is 0.
*/
#ifndef MOONTILE_SWIZZLE_H
#define MOONTILE_SWIZZLE_H

#include "moontile/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- swizzles */

/* Sw<bits,base,shift> as a value. Errors: MT_EINVAL (bits or base below 0, |shift| below
** bits, the three reach beyond 62 bits). */
MT_API mt_status mt_swizzle_bits (mt_layout *out, int64_t bits, int64_t base,
                                  int64_t shift, mt_err *err);
/* The swizzle with these masks Y and Z; of 0 and 0 the identity Sw<0,0,0>. Errors:
** MT_EINVAL (Y and Z are not two runs of as many bits, or they overlap). */
MT_API mt_status mt_make_swizzle (mt_layout *out, int64_t y, int64_t z, mt_err *err);
/* out = w(i). Errors: MT_EINVAL (w is no swizzle). */
MT_API mt_status mt_swizzle_at (int64_t *out, const mt_node *w, int64_t i, mt_err *err);
/* w o n:1 with n = B + M + |S|, as CuTe makes a layout of a swizzle. */
MT_API mt_status mt_swizzle_layout (mt_layout *out, const mt_node *w, mt_err *err);

/* w o t, which is mt_composition with a swizzle on the left; what has no other value, of
** a layout t, is composed (mt_make_composed_layout). t a swizzle: (1) R(i) = w(t(i)) for
** all i, R a swizzle; w and t must have one shift and masks whose difference is one run
** each, or one of them is the identity. t a layout: w o 0 o t. t swizzled: (w o its
** swizzle) o offset o L. Errors: MT_EINEXACT (no swizzle is w o t), MT_EINVAL (t has no
** integer strides). */
MT_API mt_status mt_swizzle_composition (mt_layout *out, const mt_node *w,
                                         const mt_node *t, mt_err *err);
/* A o t for a layout A, swizzled or not, and t a swizzle or a swizzled layout, which is
** mt_composition with these: (1) R(i) = A(t(i)), for 0 <= i < size(A) if t is a swizzle,
** else for 0 <= i < size(t). R is Sw' o L', where Sw' is the swizzle of the masks A(Y)
** and A(Z). Errors: MT_EINEXACT (A does not keep the bits of the swizzle apart, with a
** witness), MT_EUNSUPPORTED (more than 2^16 values, fewer of a layout of more than 16
** nodes, would have to be compared, or two swizzles with an offset between them). */
MT_API mt_status mt_layout_swizzle_composition (mt_layout *out, const mt_node *a,
                                                const mt_node *t, mt_err *err);

/* ---------------------------------------------------------------- swizzled layouts */

/* (1) R(i) = offset + A(i): a layout and where it begins as one value, Sw o offset' o L;
** without a swizzle Sw<0,0,0> o offset o A. A swizzled layout takes an offset that its
** swizzle passes: Sw(x) + offset = Sw(x + offset) for all x; else R is composed.
** Errors: MT_EINVAL (no integer strides), MT_EOVERFLOW. */
MT_API mt_status mt_with_offset (mt_layout *out, const mt_node *a, int64_t offset,
                                 mt_err *err);
/* CuTe's make_composed_layout: (1) R(i) = f(offset + A(i)) for 0 <= i < size(A), f a
** swizzle or a layout: what mt_composition has for it, else the simplest value that is
** found (by bits, or by at most 2^14 values), else f o offset o A as it is, also over the
** integers, where mt_composition refuses. The base of a composed layout is what is
** applied first: it has the modes, and slices, divides and compositions on the right work
** on it, beneath what is above. Below 0 a layout over Z has f(-i) = -f(i). Errors:
** MT_EINEXACT (f is over F2, or a list, and is asked below 0), MT_EUNSUPPORTED (A is over
** F2, and an extent of f no power of two: it has no digits), MT_EINVAL (A has no
** integers, or the offset is beside values over F2), MT_ETOOBIG. */
MT_API mt_status mt_make_composed_layout (mt_layout *out, const mt_node *f,
                                          int64_t offset, const mt_node *a, mt_err *err);

/* The swizzle of a swizzled layout, a swizzle itself, Sw<0,4,3> of a plain layout. */
MT_API mt_status mt_get_swizzle_portion (mt_layout *out, const mt_node *a, mt_err *err);
/* The layout under the swizzle, the base of a composed layout; a plain layout itself. */
MT_API mt_status mt_get_nonswizzle_portion (mt_layout *out, const mt_node *a,
                                            mt_err *err);

/* The swizzle and the offset of a over the plain layout t: Sw o offset o t; t if a is
** plain; all of a composed a that is above its base. */
MT_API mt_status mt_swizzle_over (mt_layout *out, const mt_node *a, const mt_node *t,
                                  mt_err *err);

/* max - min + 1 over the values, 0 of an empty layout. Errors: those of mt_footprint. */
MT_API mt_status mt_extent (int64_t *out, const mt_node *a, mt_err *err);

/* The slice of a swizzled layout, which is mt_slice of it: (1) offset + R(j) = A(c with j
** in the place of `_`) for all j. As CuTe, it is one of these:
**   c has nothing but `_`: the swizzle and its offset stay, the offset of the slice is 0;
**   what is left of A reaches a bit of Y and the bit of Z that it flips: the bits of Y
**     and Z where the slice begins go into the offset under the swizzle, the others are
**     the offset of the slice;
**   else R is a plain layout: the swizzle is constant on each bit, and goes into the
**     strides, some of which may be negative.
** Where these do not satisfy (1), all of the offset goes under the swizzle. Errors: those
** of mt_slice; MT_EINEXACT: a mode that is sliced away must reach whole digits of the
** swizzle (the extent times the stride of its part in Y and Z must be a power of two). */
MT_API mt_status mt_swizzle_slice (mt_layout *out, int64_t *offset, const mt_node *c,
                                   const mt_node *a, mt_err *err);

/* Inverses of Sw o 0 o L, which are mt_right_inverse and mt_left_inverse of it: R =
** inv(L) o Sw as Sw' o inv(L). (1) right: A(R(i)) = i for 0 <= i < size(R), A on its
** extended domain. (2) left: A(R(A(i))) = A(i) for all i. Errors: MT_EINEXACT (no swizzle
** Sw' does it, or (1), (2) would not hold, with a witness), MT_EUNSUPPORTED (an offset
** under the swizzle; more than 2^16 values to compare, fewer of more than 16 nodes).
** Where A is a map of bits (moontile/lattice.h), mt_right_inverse and mt_left_inverse
** answer by the bits what these refuse. */
MT_API mt_status mt_swizzle_right_inverse (mt_layout *out, const mt_node *a, mt_err *err);
MT_API mt_status mt_swizzle_left_inverse (mt_layout *out, const mt_node *a, mt_err *err);

/* A swizzle or a swizzled layout seen in elements n times as wide, n a power of two;
** mt_upcast of it. (1) w'(j) = w(n*j) / n, rounded down, for all j: base M goes down by
** log2(n), and where it would be below 0 the bits B go down instead. A swizzled layout:
** swizzle, offset and layout are upcast, (2) R(c') = A(c)/n rounded down, as in
** mt_upcast. Errors: MT_EINVAL (n), MT_EINEXACT (n does not divide the offset, less what
** negative strides reach back in an element; or the swizzle has S < 0 and parts what is
** in one element), those of mt_upcast. */
MT_API mt_status mt_swizzle_upcast (mt_layout *out, const mt_node *a, int64_t n,
                                    mt_err *err);
/* In elements n times as narrow, mt_downcast of it: (1) w'(n*i + k) = n*w(i) + k for 0 <=
** k < n. */
MT_API mt_status mt_swizzle_downcast (mt_layout *out, const mt_node *a, int64_t n,
                                      mt_err *err);

/* mt_max_alignment, mt_max_common_vector and mt_max_common_layout where a or b is
** swizzled. A run of 2^M elements that begins at a multiple of 2^M stays together under a
** swizzle. One swizzle on both sides, with one offset, counts as none. (1) the alignment
** divides 2^M, the offset and the alignment of L; (2) the vector is at most the vector of
** the plain parts and (with two swizzles, or one) 2^M of each and what divides the
** offsets; (3) the layout R is that of the plain parts, cut at the same bound. */
MT_API mt_status mt_swizzle_max_alignment (int64_t *out, const mt_node *a, mt_err *err);
MT_API mt_status mt_swizzle_max_common_vector (int64_t *out, const mt_node *a,
                                               const mt_node *b, mt_err *err);
MT_API mt_status mt_swizzle_max_common_layout (mt_layout *out, const mt_node *a,
                                               const mt_node *b, mt_err *err);

#ifdef __cplusplus
}
#endif
#endif
