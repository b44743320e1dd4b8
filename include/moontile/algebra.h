/*
** algebra.h - the algebra of layouts: composition, divides, products, inverses, recasts.
** SPDX-License-Identifier: MIT
**
** The conventions of moontile.h hold here too. A swizzle, where a function takes it,
** stays as it is, and the law is that of the layout under it.
*/
#ifndef MOONTILE_ALGEBRA_H
#define MOONTILE_ALGEBRA_H

#include "moontile/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------- slices, composition, divides, products */

/* The modes where c has `_`, as a layout; `offset` (may be NULL): where the slice
** begins. A slice of a swizzled layout may be a plain one (mt_swizzle_slice); of a
** coordinate layout the offset is no integer (`offset` 0): mt_eval(c) is where the
** slice begins. */
MT_API mt_status mt_slice (mt_layout *out, int64_t *offset, const mt_node *c,
                           const mt_node *a, mt_err *err);
/* R = A o B: (1) R(i) = A(B(i)) for 0 <= i < size(B), (2) shape(B) is compatible with
** shape(R). B may run past size(A): the last mode of A has no bound. `b` is a layout,
** or a tiler: by mode; modes of A that the tiler does not reach are dropped. B's
** strides may be basis elements: each then steps in the mode of A that it names. Where
** digits do not meet, an answer is searched for by the definition: at most 2^16 values of
** A are compared, fewer if it has more than 32 digits. Where A or B is swizzled, over F2
** or composed and nothing simpler has these values, R is composed
** (mt_make_composed_layout). Where B goes below 0, A(-i) = -A(i): each digit has the sign
** of the index, as in CuTe. Errors: MT_EINEXACT with a witness, MT_ERANK. */
MT_API mt_status mt_composition (mt_layout *out, const mt_node *a, const mt_node *b,
                                 mt_err *err);
/* The offsets that A skips: (1) disjoint from A but for 0, (2) ordered, strides
** positive, (3) if it fills, (A, R) has every offset of a range of at least `bound`,
** each once. `fills` (may be NULL): whether it does; it does if A's strides, in order,
** divide. Stride-0 modes are passed over. An A without elements skips all: R is bound:1,
** and does not fill. Of an A under swizzles only it is that of what they stand before:
** the swizzles of (base, R) have the offsets. Errors: MT_EINJECTIVE (two elements of A
** share an offset), MT_EINEXACT (modes of A interleave: nothing fills what it skips; the
** text has the stride at which copies of A do not meet, if that was found within 2^16
** steps). */
MT_API mt_status mt_complement (mt_layout *out, bool *fills, const mt_node *a,
                                int64_t bound, mt_err *err);
/* ((tile), (rest)) per mode: A o (T, complement(T, size(A))). Larger than A only if
** the tile overhangs the end of A's last mode (by mode: of that mode); never smaller.
** `t` is a layout or a tiler; modes that the tiler does not reach are kept. Zipped:
** ((tiles),(rests)); tiled: ((tiles), rest, rest, ...); flat: (tile, ..., rest, ...).
** T may have basis elements as strides, which name modes of A: along each of them its
** complement up to the size of that mode; modes that it does not name are a rest, whole.
** T, if it is not by mode, may be swizzled, over F2 or composed, with values from 0 on
** below 2^16: T* is what they leave, R is A o (T, T*). Errors: MT_EINEXACT,
** MT_EINJECTIVE, MT_ERANK, MT_EUNSUPPORTED. */
MT_API mt_status mt_logical_divide (mt_layout *out, const mt_node *a, const mt_node *t,
                                    mt_err *err);
MT_API mt_status mt_zipped_divide (mt_layout *out, const mt_node *a, const mt_node *t,
                                   mt_err *err);
MT_API mt_status mt_tiled_divide (mt_layout *out, const mt_node *a, const mt_node *t,
                                  mt_err *err);
MT_API mt_status mt_flat_divide (mt_layout *out, const mt_node *a, const mt_node *t,
                                 mt_err *err);
/* (A, C o B) with C = complement(A, size(A) * cosize(B)): copies of A, no two of which
** meet. B may go below 0 if A has no gaps, or if its copies still do not meet. B may be
** swizzled, over F2 or composed: R(x, y) = A(x) + C(B(y)), over the coordinates of both.
** Of a swizzled A, or one under swizzles only: the product under these. Of a composed A
** with links that are layouts C is the complement of its values, and B is a layout over
** Z. */
MT_API mt_status mt_logical_product (mt_layout *out, const mt_node *a, const mt_node *b,
                                     mt_err *err);
/* ((A0,B0),(A1,B1),...); raked: ((B0,A0),(B1,A1),...). */
MT_API mt_status mt_blocked_product (mt_layout *out, const mt_node *a, const mt_node *b,
                                     mt_err *err);
MT_API mt_status mt_raked_product (mt_layout *out, const mt_node *a, const mt_node *b,
                                   mt_err *err);
/* A(R(i)) = i for 0 <= i < size(R), R made of whole modes of A coalesced: those with
** the strides 1, s0, s0*s1, ... in their order. */
MT_API mt_status mt_right_inverse (mt_layout *out, const mt_node *a, mt_err *err);

/* ---------------------------------------------------------------- building */

/* The compact layout of a shape (a tuple or a layout) whose part with the smallest order
** number is fastest. `order` is weakly congruent with the shape: the part under one
** number runs from left to right, and so do parts with one number. NULL: from left to
** right. (1) A bijection onto 0 .. size-1; (2) of two parts that move the one with the
** smaller number has the smaller strides; (3) modes of extent 1 have stride 0. Errors:
** MT_ERANK, MT_EINVAL, MT_EOVERFLOW. */
MT_API mt_status mt_make_ordered_layout (mt_layout *out, const mt_node *shape,
                                         const mt_node *order, mt_err *err);
/* Compact memory for the values of a partition. Mode 1 of A, the values of an atom, comes
** first, compact from left to right, its broadcasts (stride 0) staying broadcasts; the
** other modes follow in the order of their strides, negative ones first, ties from left
** to right, as modes of their own. Of rank 1, and of a shape: mt_layout_left. Without a
** swizzle. (1) Equal extents, in mode 1 and from mode 2 on, where a single one is
** wrapped; (2) a bijection onto 0 .. n-1 of all coordinates but those of the broadcasts
** of mode 1. Errors: MT_EINVAL (strides are no integers). */
MT_API mt_status mt_make_fragment_like (mt_layout *out, const mt_node *a, mt_err *err);
/* A tiler as a layout of coordinates: mode k of it on axis k, an extent n as n:1, a
** layout with its own strides: (4,2:3) is (4,2):(1@0,3@1). (1) composition(A, R) is
** composition(A, t), as one function. A layout is itself, an extent n:1. Errors:
** MT_EINVAL (`_`), MT_ETOOBIG. */
MT_API mt_status mt_tiler_to_layout (mt_layout *out, const mt_node *t, mt_err *err);
/* `_` o t, `_` the identity of a domain without bounds: as mt_tiler_to_layout, where `_`
** in the tiler is 1:1. mt_composition with `_` on the left is this. */
MT_API mt_status mt_identity_composition (mt_layout *out, const mt_node *t, mt_err *err);
/* A o (shape:left): (1) R(i) = A(i) for 0 <= i < size(shape), (2) the shape is compatible
** with shape(R). Errors: those of mt_composition. */
MT_API mt_status mt_with_shape (mt_layout *out, const mt_node *a, const mt_node *shape,
                                mt_err *err);

/* ------------------------------------------------------------- the values of a layout */

/* The cosize along each axis; an integer for integer strides. (1) Without negative
** strides the smallest coordinate that is above all values, elementwise; (2) coshape(A) =
** cosize(A) for integer strides; 0 where A is empty. coprofile: its tree, with zeros. */
MT_API mt_status mt_coshape (mt_layout *out, const mt_node *a, mt_err *err);
MT_API mt_status mt_coprofile (mt_layout *out, const mt_node *a, mt_err *err);

/* Whether (1) no two elements of A have one offset; of a layout of coordinates, one
** coordinate. (2) A has every offset between its least and its largest. (3) Both: its n
** elements have n successive offsets, one each. An empty A has all three. Of integer
** strides (2) is decided for any size, (1) by a search of equations. Errors:
** MT_EUNSUPPORTED (not decided: the search was too long, and A has more than 2^20
** elements or its offsets a wider range than 2^16), MT_EINVAL (2, 3: strides are
** coordinates). */
MT_API mt_status mt_is_injective (bool *out, const mt_node *a, mt_err *err);
MT_API mt_status mt_is_surjective (bool *out, const mt_node *a, mt_err *err);
MT_API mt_status mt_is_bijective (bool *out, const mt_node *a, mt_err *err);
/* Why not: two elements of A that (1) meet, A(i) = A(j), i < j; an offset that A leaves
** out, the first (2) between its least and its largest. i = -1, *found false: there is
** none. Errors: MT_EUNSUPPORTED (not found in 2^20 steps), MT_EINVAL (first_gap: strides
** are coordinates). */
MT_API mt_status mt_collision (int64_t *i, int64_t *j, const mt_node *a, mt_err *err);
MT_API mt_status mt_first_gap (bool *found, int64_t *offset, const mt_node *a,
                               mt_err *err);
/* The largest n <= size(A) with (1) A(i) = A(0) + i for 0 <= i < n. is_contiguous:
** whether that is size(A). Errors: MT_EINVAL (strides are coordinates), MT_EUNSUPPORTED
** (swizzled or over F2: n is more than 2^20). */
MT_API mt_status mt_contiguity (int64_t *out, const mt_node *a, mt_err *err);
MT_API mt_status mt_is_contiguous (bool *out, const mt_node *a, mt_err *err);
/* Whether A and B are one function: (1) size(A) = size(B) and (2) A(i) = B(i) for
** 0 <= i < size(A). `at` (may be NULL) receives the least i where (2) fails; -1: there is
** none, or (1) fails. Shapes may differ. Values over F2 are compared as integers. Errors:
** MT_EUNSUPPORTED (swizzled in two ways or over F2: 2^20 values agree, and there are
** more). */
MT_API mt_status mt_equivalent (bool *out, int64_t *at, const mt_node *a,
                                const mt_node *b, mt_err *err);

/* ----------------------------------------------------------- complements and inverses */

/* mt_complement in any space, up to a bound that is an integer or a shape; NULL: up to
** the end of A (its coshape). A shape is divided by the reach of A mode by mode: (3,8) by
** 2 leaves (2,8) blocks. Of a layout of coordinates each axis has its own complement, and
** R is in the tree of these axes; the bound is then a tuple with a part for each. Laws of
** mt_complement, (1) along each axis. */
MT_API mt_status mt_complement_shape (mt_layout *out, bool *fills, const mt_node *a,
                                      const mt_node *bound, mt_err *err);
/* L with (1) A(L(A(i))) = A(i) for 0 <= i < size(A), (2) L(A(i)) = i if A is injective,
** and always the smallest such index. Of a layout of coordinates L takes these: it is in
** the tree of the axes. Modes of stride 0 are passed over; where none moves, L is n:0 for
** the n elements of A. Errors: MT_EINJECTIVE (with two indices), MT_EINEXACT (A has
** negative strides, or no L was found), MT_EUNSUPPORTED (a stride is a sum). */
MT_API mt_status mt_left_inverse (mt_layout *out, const mt_node *a, mt_err *err);
/* Where stride 0 makes A repeat: (1) A(R(i)) = A(0) for 0 <= i < size(R), (2) size(R) *
** size(filter(A)) = size(A), (3) injective. */
MT_API mt_status mt_nullspace (mt_layout *out, const mt_node *a, mt_err *err);

/* ---------------------------------------------------------------- runs of neighbours */

/* R with (1) A(R(i)) = B(R(i)) = i for 0 <= i < size(R): the run of offsets that A and B
** have in common, as far as the right inverse of B goes. max_common_vector: its size.
** Errors: MT_EINEXACT (A o right_inverse(B) is no layout). */
MT_API mt_status mt_max_common_layout (mt_layout *out, const mt_node *a, const mt_node *b,
                                       mt_err *err);
MT_API mt_status mt_max_common_vector (int64_t *out, const mt_node *a, const mt_node *b,
                                       mt_err *err);
/* n with (1) the values of A are whole runs kn .. kn+n-1: a divisor of the size of A's
** right inverse and of the strides of all other modes, the largest. */
MT_API mt_status mt_max_alignment (int64_t *out, const mt_node *a, mt_err *err);
/* At most n indices of a shape, taken greedily from its leading extents: (1) R is
** ordered, (2) its size divides n, (3) its extent in each mode of the shape divides that
** mode. */
MT_API mt_status mt_domain_distribute (mt_layout *out, const mt_node *shape, int64_t n,
                                       mt_err *err);

/* ---------------------------------------------------------------- products and tiles */

/* mt_logical_product in the forms of the divides: ((Blocks),(Grids)),
** ((Blocks),GridM,GridN,...), (BlockM,BlockN,...,GridM,GridN,...). */
MT_API mt_status mt_zipped_product (mt_layout *out, const mt_node *a, const mt_node *t,
                                    mt_err *err);
MT_API mt_status mt_tiled_product (mt_layout *out, const mt_node *a, const mt_node *t,
                                   mt_err *err);
MT_API mt_status mt_flat_product (mt_layout *out, const mt_node *a, const mt_node *t,
                                  mt_err *err);
/* A with a pair (tile, rest) wherever the tiler has a leaf: (R[0], R[1]), all tiles and
** all rests in the tree of the tiler; modes that it does not reach end R[1]. */
MT_API mt_status mt_tile_unzip (mt_layout *out, const mt_node *a, const mt_node *t,
                                mt_err *err);
/* The block A repeated until it has this shape: blocked_product(A, the compact layout of
** how often A fits into each mode, in this order). (1) Mode k of R is (A_k, grid) with
** the size of mode k of the shape, (2) no two copies meet. order: as
** mt_make_ordered_layout. Errors: MT_ERANK (A has more modes), MT_EINEXACT (A does not
** divide the shape). */
MT_API mt_status mt_tile_to_shape (mt_layout *out, const mt_node *a, const mt_node *shape,
                                   const mt_node *order, mt_err *err);

/* ---------------------------------------------------------- elements of another width */

/* A in elements n times as wide. A stride that n divides is divided; of a mode with
** stride d, d a divisor of n, n/|d| steps become one. (1) R(c') is the element of A(c),
** that is A(c)/n rounded down, c' being c divided by these steps; an A with negative
** strides begins at that place of its first element that it reaches back from. Errors:
** MT_EINEXACT (a stride is neither a multiple of n nor a divisor; or modes overlap, so
** that a step inside leaves the element). */
MT_API mt_status mt_upcast (mt_layout *out, const mt_node *a, int64_t n, mt_err *err);
/* A in elements n times as narrow: one mode s:1 becomes n*s:1, all other strides n times
** what they were. (1) R(c') = n*A(c) + x, where c' is c with n times its part in that
** mode, plus x, 0 <= x < n. Errors: MT_EINEXACT (no mode has stride 1). */
MT_API mt_status mt_downcast (mt_layout *out, const mt_node *a, int64_t n, mt_err *err);
/* Elements of `old_bits` as elements of `new_bits`: upcast by new/gcd, then downcast by
** old/gcd. (1) Where new_bits is a multiple: the elements that hold those of A, which may
** have bits besides A's; (2) else exactly A's bits. Errors: those of the two; MT_EINEXACT
** (neither width divides the other, and A does not fill the elements that both make: 2:1
** from 6 to 32 bits would be 96 bits of 12). */
MT_API mt_status mt_recast_layout (mt_layout *out, int64_t old_bits, int64_t new_bits,
                                   const mt_node *a, mt_err *err);

#ifdef __cplusplus
}
#endif
#endif
