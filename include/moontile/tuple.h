/*
** tuple.h - integer tuples, and what tuples and layouts have in common.
** SPDX-License-Identifier: MIT
**
** The conventions of moontile.h hold here too.
**
** An integer tuple is an integer or a tuple of integer tuples. Where an operation is
** about extents it takes a layout in the place of a tuple and means its shape; where it
** is about modes it takes both, and the modes of a layout make a layout. Errors of all
** of them: MT_ERANK (two trees part; the text says where), MT_EINVAL (something in a
** tuple that is no integer), MT_EOVERFLOW, MT_ETOOBIG.
*/
#ifndef MOONTILE_TUPLE_H
#define MOONTILE_TUPLE_H

#include "moontile/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- one number */

/* Of all integers in t, at any depth. max and min of a tuple without integers: MT_ERANK;
** its sum and its gcd are 0. The gcd is never negative. */
MT_API mt_status mt_sum (int64_t *out, const mt_node *t, mt_err *err);
MT_API mt_status mt_max (int64_t *out, const mt_node *t, mt_err *err);
MT_API mt_status mt_min (int64_t *out, const mt_node *t, mt_err *err);
MT_API mt_status mt_gcd (int64_t *out, const mt_node *t, mt_err *err);
/* The sum of a[k] * b[k] over the integers of congruent a and b. */
MT_API mt_status mt_inner_product (int64_t *out, const mt_node *a, const mt_node *b,
                                   mt_err *err);

/* ---------------------------------------------------------------- products */

/* The product of each mode of t, a tuple or a layout: (1) rank(R) = rank(t), depth(R) =
** 1, (2) R[i] = size(t[i]). An integer n gives (n). */
MT_API mt_status mt_product_each (mt_layout *out, const mt_node *t, mt_err *err);
/* (1) R is congruent with the guide; (2) each integer of R is the product of what t has
** there. */
MT_API mt_status mt_product_like (mt_layout *out, const mt_node *t, const mt_node *guide,
                                  mt_err *err);
/* a * b, each integer of a times the product of what b has there, congruent with a. */
MT_API mt_status mt_elem_scale (mt_layout *out, const mt_node *a, const mt_node *b,
                                mt_err *err);
/* a + b and a - b, integer by integer: coordinates. A tuple with fewer modes counts as
** one with zeros behind, 0 as a tuple of zeros. Errors: MT_ERANK (an integer that is not
** 0 and a tuple), MT_EOVERFLOW. */
MT_API mt_status mt_coord_add (mt_layout *out, const mt_node *a, const mt_node *b,
                               mt_err *err);
MT_API mt_status mt_coord_sub (mt_layout *out, const mt_node *a, const mt_node *b,
                               mt_err *err);

/* ---------------------------------------------------------------- predicates */

/* Whether b is a with some integers replaced by tuples: a partial order, (1) congruent(a,
** b) iff both a <= b and b <= a. Tuples and layouts. */
MT_API bool mt_weakly_congruent (const mt_node *a, const mt_node *b);
/* The same where each integer of a is the product of what replaces it: (1) size(a) =
** size(b), (2) every coordinate of a is one of b, for the same index. 24 is compatible
** with (24), (24) not with 24. */
MT_API bool mt_compatible (const mt_node *a, const mt_node *b);
/* The same where each integer of a divides the product of what replaces it: tiles of a
** fill b. */
MT_API bool mt_weakly_compatible (const mt_node *a, const mt_node *b);
/* MT_OK if they are; else MT_ERANK, and the error says where they part. */
MT_API mt_status mt_check_compatible (const mt_node *a, const mt_node *b, mt_err *err);
typedef enum mt_relation {
  MT_CONGRUENT,
  MT_WEAKLY_CONGRUENT,
  MT_COMPATIBLE,
  MT_WEAKLY_COMPATIBLE
} mt_relation;
MT_API mt_status mt_check_relation (mt_relation r, const mt_node *a, const mt_node *b,
                                    mt_err *err);
/* Whether no tile of the tiler t hangs over the shape a: a[i] for each mode t[i] of a
** tuple (false if it has more modes than a); else size(a) = size(t) * size(ceil_div(a,
** t)). */
MT_API mt_status mt_evenly_divides (bool *out, const mt_node *a, const mt_node *t,
                                    mt_err *err);

/* ---------------------------------------------------------------- division */

/* How many t cover a, rounded up. Integers: (1) the least R with R * t >= a. A tuple by
** an integer, mode by mode: (2) R[0] = ceil_div(a[0], t), and the modes behind are
** divided by ceil_div(t, size(a[0])). An integer by a tuple: by its product. Tuples: by
** mode, what t does not reach stays. By a layout: the shape of its complement in a, that
** is, of the rest of a divide where a is cut mode by mode. Errors: MT_ERANGE (a divisor
** below 1), MT_EINJECTIVE. */
MT_API mt_status mt_ceil_div (mt_layout *out, const mt_node *a, const mt_node *t,
                              mt_err *err);
/* The same where (1) each quotient is exact, or the divisor a multiple of what it
** divides, which leaves 1; tuples have equal ranks. Errors: MT_EINEXACT. */
MT_API mt_status mt_shape_div (mt_layout *out, const mt_node *a, const mt_node *b,
                               mt_err *err);
/* Each integer of a rounded up to a multiple of its partner in b: (1) R % b = 0, (2) a <=
** R < a + b. What b does not reach stays. Errors: MT_ERANGE (b below 1). */
MT_API mt_status mt_round_up (mt_layout *out, const mt_node *a, const mt_node *b,
                              mt_err *err);
/* b, with 1 for every integer that is paired with a 0 of a (all of a tuple that is). b
** NULL: a. */
MT_API mt_status mt_filter_zeros_tuple (mt_layout *out, const mt_node *a,
                                        const mt_node *b, mt_err *err);

/* ---------------------------------------------------------------- order */

/* Element by element: every integer of a below (not above, ...) its partner in b. The
** left side of less and leq, the right side of gtr and geq, may have fewer modes; if it
** has more: false. (1) less and gtr, leq and geq are converse; (2) less implies leq; (3)
** a leq b and b leq a iff a = b. */
MT_API mt_status mt_elem_less (bool *out, const mt_node *a, const mt_node *b,
                               mt_err *err);
MT_API mt_status mt_elem_leq (bool *out, const mt_node *a, const mt_node *b, mt_err *err);
MT_API mt_status mt_elem_gtr (bool *out, const mt_node *a, const mt_node *b, mt_err *err);
MT_API mt_status mt_elem_geq (bool *out, const mt_node *a, const mt_node *b, mt_err *err);
/* By the first mode that differs; a beginning comes before what it begins. (1) A total
** order; (2) leq = not gtr, geq = not less. */
MT_API mt_status mt_lex_less (bool *out, const mt_node *a, const mt_node *b, mt_err *err);
MT_API mt_status mt_lex_leq (bool *out, const mt_node *a, const mt_node *b, mt_err *err);
MT_API mt_status mt_lex_gtr (bool *out, const mt_node *a, const mt_node *b, mt_err *err);
MT_API mt_status mt_lex_geq (bool *out, const mt_node *a, const mt_node *b, mt_err *err);
/* By the last mode that differs, likewise: (1) for coordinates inside a shape the order
** of indices. */
MT_API mt_status mt_colex_less (bool *out, const mt_node *a, const mt_node *b,
                                mt_err *err);
MT_API mt_status mt_colex_leq (bool *out, const mt_node *a, const mt_node *b,
                               mt_err *err);
MT_API mt_status mt_colex_gtr (bool *out, const mt_node *a, const mt_node *b,
                               mt_err *err);
MT_API mt_status mt_colex_geq (bool *out, const mt_node *a, const mt_node *b,
                               mt_err *err);

/* ---------------------------------------------------------------- strides */

/* The strides of a compact layout of `shape`, the leftmost (rightmost) extent fastest,
** from `start` on: an integer, or a tuple with a start for each mode; NULL: 1. (1)
** Congruent with shape; (2) an extent of 1 gets 0; (3) from 1: the strides of
** mt_layout_left (mt_layout_right). */
MT_API mt_status mt_compact_col_major (mt_layout *out, const mt_node *shape,
                                       const mt_node *start, mt_err *err);
MT_API mt_status mt_compact_row_major (mt_layout *out, const mt_node *shape,
                                       const mt_node *start, mt_err *err);
/* The products of what comes before each integer (behind it), times `start`: the same
** without (2). */
MT_API mt_status mt_prefix_product (mt_layout *out, const mt_node *shape,
                                    const mt_node *start, mt_err *err);
MT_API mt_status mt_suffix_product (mt_layout *out, const mt_node *shape,
                                    const mt_node *start, mt_err *err);
/* Compact strides with the part of the smallest order number fastest. `order` is weakly
** congruent with shape; parts with one number go from left to right. (1) shape:R is a
** bijection onto 0 .. size-1; (2) what has a smaller number has smaller strides. */
MT_API mt_status mt_compact_order (mt_layout *out, const mt_node *shape,
                                   const mt_node *order, mt_err *err);

/* ---------------------------------------------------------------- coordinates */

/* The coordinate in `shape` of an index: an integer, `_` (0), a sum of basis elements
** (1@0 + 7@1: 1 in mode 0, 7 in mode 1), or a tuple of such for the modes. stride NULL:
** as mt_idx2crd, the last mode has no bound. Else: (1) R lies inside shape, (2)
** (shape:stride)(R) = i; an integer stride is where a compact column-major one starts.
** Errors: MT_ERANGE (there is none), MT_EUNSUPPORTED (not decided in 65536 steps). */
MT_API mt_status mt_idx2crd_stride (mt_layout *out, const mt_node *i,
                                    const mt_node *shape, const mt_node *stride,
                                    mt_err *err);
/* Where A takes the value i: (1) A(R) = i, (2) R lies inside A. Congruent with A; an
** integer for each mode (of rank 1: an integer); one index. If A takes it more than once,
** R is one of the places. Integer strides, swizzled or not. Errors: MT_ERANGE (A does not
** take it), MT_EUNSUPPORTED. */
MT_API mt_status mt_get_hier_coord (mt_layout *out, const mt_node *a, int64_t i,
                                    mt_err *err);
MT_API mt_status mt_get_flat_coord (mt_layout *out, const mt_node *a, int64_t i,
                                    mt_err *err);
MT_API mt_status mt_get_1d_coord (int64_t *out, const mt_node *a, int64_t i, mt_err *err);
/* c, a coordinate of src, as one of dst: mode by mode where all three are tuples, whose
** ranks must agree; elsewhere (1) the coordinate with the same index. Where the modes
** that meet have one size, (1) holds for the whole. */
MT_API mt_status mt_crd2crd (mt_layout *out, const mt_node *c, const mt_node *src,
                             const mt_node *dst, mt_err *err);
/* The coordinate after c, colexicographically: (1) its index is one more. After the last
** the last integer is its extent, the others 0. Errors: MT_ERANGE (c is outside of
** shape). */
MT_API mt_status mt_increment (mt_layout *out, const mt_node *c, const mt_node *shape,
                               mt_err *err);
/* The parts of the tuple t that c has `_` for, as a flat tuple of them; c = `_`: t
** itself. Of layouts: mt_slice. */
MT_API mt_status mt_slice_tuple (mt_layout *out, const mt_node *c, const mt_node *t,
                                 mt_err *err);
/* The other parts, those that c has an integer for; c an integer: t itself. Tuples and
** layouts. */
MT_API mt_status mt_dice (mt_layout *out, const mt_node *c, const mt_node *t,
                          mt_err *err);

/* ---------------------------------------------------------------- modes */

/* What is put beside the modes of a tuple is an integer or a tuple, beside those of a
** layout a layout without a swizzle: else MT_EINVAL. Modes of a swizzled layout stay
** under its swizzle. */

/* t with x as its new last (first) mode; until it has n modes, more than once or not at
** all. x NULL: 1:0, for layouts. Errors: MT_ERANK (t has more than n modes). */
MT_API mt_status mt_append (mt_layout *out, const mt_node *t, const mt_node *x,
                            mt_err *err);
MT_API mt_status mt_append_n (mt_layout *out, const mt_node *t, int n, const mt_node *x,
                              mt_err *err);
MT_API mt_status mt_prepend (mt_layout *out, const mt_node *t, const mt_node *x,
                             mt_err *err);
MT_API mt_status mt_prepend_n (mt_layout *out, const mt_node *t, int n, const mt_node *x,
                               mt_err *err);
/* x becomes mode i; mode i becomes x; mode i goes. Errors: MT_ERANGE. */
MT_API mt_status mt_insert (mt_layout *out, const mt_node *t, int i, const mt_node *x,
                            mt_err *err);
MT_API mt_status mt_replace (mt_layout *out, const mt_node *t, int i, const mt_node *x,
                             mt_err *err);
MT_API mt_status mt_remove (mt_layout *out, const mt_node *t, int i, mt_err *err);
/* The modes from the last to the first, each as it is. */
MT_API mt_status mt_reverse (mt_layout *out, const mt_node *t, mt_err *err);
/* (t), unless it is a tuple or has modes already; what is in tuples of one. */
MT_API mt_status mt_wrap (mt_layout *out, const mt_node *t, mt_err *err);
MT_API mt_status mt_unwrap (mt_layout *out, const mt_node *t, mt_err *err);
/* The first (last) integer of a tuple, leaf of a layout. */
MT_API mt_status mt_front (mt_layout *out, const mt_node *t, mt_err *err);
MT_API mt_status mt_back (mt_layout *out, const mt_node *t, mt_err *err);
/* As mt_flatten, but never of depth 0. */
MT_API mt_status mt_flatten_to_tuple (mt_layout *out, const mt_node *t, mt_err *err);
/* (1) Congruent with the profile, (2) flatten(R) = t. t is flat. */
MT_API mt_status mt_unflatten (mt_layout *out, const mt_node *t, const mt_node *profile,
                               mt_err *err);
/* The transpose of (t[0], ..., t[n-1]), or of t[0] if n = 1: (1) R[j][i] = t[i][j].
** Integers count as a row: ((7,5)) of 7 and 5. */
MT_API mt_status mt_zip (mt_layout *out, int n, const mt_node *const *t, mt_err *err);
/* t has a pair wherever the guide has a leaf: (R[0], R[1]) with all firsts, all seconds,
** each in the tree of the guide; modes that it does not reach end R[1], or its mode that
** they are beside. */
MT_API mt_status mt_zip2_by (mt_layout *out, const mt_node *t, const mt_node *guide,
                             mt_err *err);
/* The tree of t with x at every leaf; (x, ..., x), n times, of which n = 1 is x. */
MT_API mt_status mt_repeat_like (mt_layout *out, const mt_node *t, const mt_node *x,
                                 mt_err *err);
MT_API mt_status mt_repeat (mt_layout *out, int n, const mt_node *x, mt_err *err);

#ifdef __cplusplus
}
#endif
#endif
