/*
** layout.h - values: layouts, integer tuples, tilers; built, asked, evaluated.
** SPDX-License-Identifier: MIT
*/
#ifndef MOONTILE_LAYOUT_H
#define MOONTILE_LAYOUT_H

#include "moontile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- values */

/* The kinds of nodes. A value is one node, followed by its children, in preorder.
**   integer tuples  MT_INT: the integer in `shape`. MT_TUPLE: a tuple of values.
**   layouts         MT_LEAF: extent `shape` >= 0, stride `stride`. MT_MODES: modes;
**                   `shape` is the product of the extents. MT_SUM: a leaf with extent
**                   `shape` whose stride is the sum of its children, MT_INT nodes of
**                   ring MT_BASIS. In a tuple: shape -1.
**   tilers          MT_TILER: by mode; each child a layout, a tiler or the wildcard.
**   wildcard        MT_WILD: `_`, in tuples and tilers.
**   swizzles        MT_SWIZZLE: Sw<B,M,S>; `shape` is B | M << 8 | (S & 255) << 16,
**                   `stride` an offset; its child, if it has one, a layout:
**                   Sw<B,M,S> o offset o layout.
**   composed        MT_COMPOSED: f o offset o A, the function i -> f(offset + A(i)),
**                   where no simpler value is that. Its children: f, a swizzle or a
**                   layout without one, and A, a layout, swizzled, composed or neither;
**                   `shape` is the size of A, `stride` the offset, of ring MT_F2 if it
**                   is added by xor. A function that takes one says so.
**   lists           MT_LIST: an f of composed layouts that has `shape` values, which lie
**                   where `stride` points, in the memory of who made it (mt_make_list).
**                   The low path[0] bits of an index stay as they are: the bits above
**                   them are the number of a value, which takes their place. path[1]: 1,
**                   what undoes it is the list behind; 2, the list before; 0, neither. */
typedef enum mt_tag {
  MT_INT,
  MT_TUPLE,
  MT_LEAF,
  MT_MODES,
  MT_SUM,
  MT_TILER,
  MT_WILD,
  MT_SWIZZLE,
  MT_COMPOSED,
  MT_LIST
} mt_tag;

/* The algebra that a stride (of an MT_INT: the value) lives in. MT_BASIS: value@path.
** MT_F2: bits, added by xor (moontile/lattice.h). */
typedef enum mt_ring { MT_Z, MT_BASIS, MT_F2 } mt_ring;

typedef struct mt_node {
  uint8_t tag;    /* mt_tag */
  uint8_t ring;   /* mt_ring */
  uint16_t arity; /* children */
  uint32_t span;  /* nodes of this subtree, itself included */
  int64_t shape;
  int64_t stride;
  uint8_t path[8]; /* MT_BASIS: innermost index first, as printed; path[7]: how many */
} mt_node;

typedef struct mt_layout {
  mt_node node[MT_MAXNODES];
} mt_layout; /* also holds tuples, tilers and swizzles */

/* Walking a value:
**   for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c)) ... */
static inline const mt_node *mt_child (const mt_node *t) { return t + 1; }
static inline const mt_node *mt_next (const mt_node *t) { return t + t->span; }

/* Copies the value `t` (a whole or a mode) into `out`. Cannot fail. */
MT_API void mt_copy_value (mt_layout *out, const mt_node *t);

/* An integer as a value; a tuple of `n` integers. n <= MT_MAXNODES - 1, else
** MT_ETOOBIG. */
MT_API void mt_int (mt_layout *out, int64_t value);
MT_API mt_status mt_ints (mt_layout *out, int n, const int64_t *values, mt_err *err);

/* ---------------------------------------------------------------- text */

/* Reads `len` bytes of text: integers (4, _4, -1), tuples (4,(2,3)), basis elements
** (2@1@0, 2@0+2@1), layouts ((4,(2,2)):(2,(1,8)), shape:LayoutLeft,
** shape:LayoutRight), tilers ((2:1,(2,4):(1,8)), with _), swizzles (Sw<3,4,3>,
** S<3,4,3>) and swizzled layouts (Sw<3,4,3> o 0 o (8,64):(64,1)), composed ones
** (4:2 o 3 o Sw<1,0,1> o 0 o 4:1; an offset of 0 may be left out). Blanks are allowed
** between tokens. Errors: MT_ESYNTAX with the position, MT_ETOOBIG, MT_EOVERFLOW. A
** tuple of which any member holds a layout is a tiler, and the integers in it mean
** n:1. mt_format is its inverse. */
MT_API mt_status mt_parse (mt_layout *out, const char *text, size_t len, mt_err *err);

/* Writes the text form of any value into `buf`, like snprintf: never more than `size`
** bytes, always ended if size > 0; returns the length of the whole text. */
MT_API size_t mt_format (char *buf, size_t size, const mt_node *t);

/* ---------------------------------------------------------------- building */

/* shape:stride. `stride` congruent with `shape` (or an integer tuple with basis
** elements in it). `stride` NULL: compact, leftmost mode fastest. Errors: MT_ERANK
** (not congruent), MT_EINVAL (negative extent), MT_EOVERFLOW (the size or an offset
** leaves int64). */
MT_API mt_status mt_make_layout (mt_layout *out, const mt_node *shape,
                                 const mt_node *stride, mt_err *err);
/* Compact layouts of a shape: column-major, row-major. Size-1 modes get stride 0, as
** in CuTe. */
MT_API mt_status mt_layout_left (mt_layout *out, const mt_node *shape, mt_err *err);
MT_API mt_status mt_layout_right (mt_layout *out, const mt_node *shape, mt_err *err);
/* (A, B, ...): `n` layouts as the modes of one. */
MT_API mt_status mt_concat (mt_layout *out, int n, const mt_node *const *modes,
                            mt_err *err);
/* The shape with stride 1@k on mode k (1@i@k inside modes): a layout of coordinates. */
MT_API mt_status mt_make_identity_layout (mt_layout *out, const mt_node *shape,
                                          mt_err *err);
/* A layout of coordinates and where it begins: (1) R(i) = origin + A(i), as one value,
** (B_0,B_1,...):(1@0,1@1,...) o n o A', B_k above all coordinates of axis k. Errors:
** MT_EINVAL (A has no coordinates), MT_ERANK (their shape is not the origin's), MT_ERANGE
** (one is below 0), MT_EOVERFLOW, MT_ETOOBIG (16 axes at most). */
MT_API mt_status mt_with_origin (mt_layout *out, const mt_node *a, const mt_node *origin,
                                 mt_err *err);
/* The layout R with the shape of `a`, compact, in the order of the strides of `a`: (1)
** where a mode has a stride of larger magnitude than another, it has a larger stride
** in R; (2) where the magnitudes are equal, so are the strides; (3) stride 0 stays 0;
** (4) if no two magnitudes are equal, R is a bijection onto 0 .. n-1 of the modes that
** move. */
MT_API mt_status mt_make_layout_like (mt_layout *out, const mt_node *a, mt_err *err);

/* ---------------------------------------------------------------- queries */

MT_API int mt_rank (const mt_node *t);  /* modes; an integer or a leaf has 1 */
MT_API int mt_depth (const mt_node *t); /* an integer or a leaf has 0 */
MT_API const mt_node *mt_mode (const mt_node *t, int i); /* NULL: none, or swizzled */
/* A mode is asked as the whole is: mt_size(mt_mode(mt_mode(a, 0), 1)) is size<0,1>(A). */
/* A copy of a nested mode, t[path[0]][path[1]]...; of a swizzled layout under the same
** swizzle. */
MT_API mt_status mt_get (mt_layout *out, const mt_node *t, int n, const int *path,
                         mt_err *err);
MT_API bool mt_equal (const mt_node *a, const mt_node *b);
MT_API bool mt_congruent (const mt_node *a, const mt_node *b); /* same tree */
MT_API int64_t mt_size (const mt_node *t); /* product of the extents, checked */
/* The offsets of an integer or swizzled layout: (1) *lo is the least, *end one more than
** the largest; 0 and 0 if there are none. This is what memory for A is sized by: 8:-1
** has -7 and 1. Errors: MT_EINVAL (strides are not integers), MT_EOVERFLOW,
** MT_EUNSUPPORTED (under a swizzle: not found in 2^19 steps). */
MT_API mt_status mt_footprint (int64_t *lo, int64_t *end, const mt_node *a, mt_err *err);
/* How many offsets there are from the least to the largest, and 0 counts as one: without
** negative strides one more than the largest, A(size-1)+1 of a layout without a swizzle;
** else, as in CuTe, the sum of (s-1)*|d| over its s:d, plus 1: 4:-1 has 4. Errors: those
** of mt_footprint. */
MT_API mt_status mt_cosize (int64_t *out, const mt_node *a, mt_err *err);
MT_API mt_status mt_shape (mt_layout *out, const mt_node *a, mt_err *err);  /* a tuple */
MT_API mt_status mt_stride (mt_layout *out, const mt_node *a, mt_err *err); /* a tuple */

/* ---------------------------------------------------------------- evaluation */

/* out = A(i), i >= 0 a linear index, also beyond size(A). Integer strides, swizzled or
** not. */
MT_API mt_status mt_at (int64_t *out, const mt_node *a, int64_t i, mt_err *err);
/* out = A(c), c an integer or a tuple: 1-D, R-D, hierarchical or mixed; `_` counts as
** 0. `a` may be a shape: out is the index of c. Errors: MT_ERANK, MT_ERANGE (a
** negative coordinate). */
MT_API mt_status mt_crd2idx (int64_t *out, const mt_node *c, const mt_node *a,
                             mt_err *err);
/* The same for any ring: an integer, or a coordinate tuple with its zeros filled in. */
MT_API mt_status mt_eval (mt_layout *out, const mt_node *c, const mt_node *a,
                          mt_err *err);
/* The natural coordinate of index i in a shape (a tuple or a layout); the last mode
** does not wrap. */
MT_API mt_status mt_idx2crd (mt_layout *out, int64_t i, const mt_node *shape,
                             mt_err *err);

/* ---------------------------------------------------------------- structure */

/* The same without nesting: (1) depth(R) <= 1, (2) the leaves of t in their order. */
MT_API mt_status mt_flatten (mt_layout *out, const mt_node *t, mt_err *err);
/* Modes [first, last) become one mode. */
MT_API mt_status mt_group (mt_layout *out, const mt_node *t, int first, int last,
                           mt_err *err);
MT_API mt_status mt_select (mt_layout *out, const mt_node *t, int n, const int *modes,
                            mt_err *err);
/* R of depth <= 1 with (1) R(i) = A(i) for 0 <= i < size(A), (2) size(R) = size(A),
** (3) no two neighbouring modes that could be one. `profile` (may be NULL): by mode,
** where it has a tuple. */
MT_API mt_status mt_coalesce (mt_layout *out, const mt_node *a, const mt_node *profile,
                              mt_err *err);
/* R of depth <= 1 with (1) R(i) = A(i) for all i >= 0, also past the end. coalesce_z: (2)
** size(R) = size(A); a last mode of extent 1 stays. coalesce_x: such a mode gets extent
** 2, so that whatever follows may take its stride for granted. By `profile` as
** mt_coalesce. */
MT_API mt_status mt_coalesce_x (mt_layout *out, const mt_node *a, const mt_node *profile,
                                mt_err *err);
MT_API mt_status mt_coalesce_z (mt_layout *out, const mt_node *a, const mt_node *profile,
                                mt_err *err);
/* The same shape with extent 1 for (1) every leaf of stride 0, or with a profile: for
** what a 0 of it stands for. Strides stay. Errors: MT_ERANK (the profile has other ranks
** than A). */
MT_API mt_status mt_filter_zeros (mt_layout *out, const mt_node *a,
                                  const mt_node *profile, mt_err *err);
/* A without its broadcasts, coalesced: (1) the same values, (2) no stride is 0, unless it
** is 1:0. By `profile` as mt_coalesce. */
MT_API mt_status mt_filter (mt_layout *out, const mt_node *a, const mt_node *profile,
                            mt_err *err);

/* ---------------------------------------------------------------- any function */

/* The layout of a function of coordinates by the list of its values: (1) shape(R) is the
** shape, (2) R(i) = values[i] for 0 <= i < size(R); elsewhere it has none. The list is
** not copied: it stays where it is, and as it is, as long as R or anything made of R is
** used. mt_equal compares the values. Errors: MT_EINVAL (the shape is empty),
** MT_EOVERFLOW. */
MT_API mt_status mt_make_list (mt_layout *out, const mt_node *shape,
                               const int64_t *values, mt_err *err);
/* The same of a numbering: values are 0 .. n-1, each once, n the size of the shape, and
** `values` has room for 2 n: behind them come the places where they are, so that it has
** inverses. Errors: also MT_EINJECTIVE (a value twice, or one that is none of these; the
** room is spoiled). */
MT_API mt_status mt_make_numbering (mt_layout *out, const mt_node *shape, int64_t *values,
                                    mt_err *err);
/* The values of a node MT_LIST. */
static inline const int64_t *mt_list_values (const mt_node *t) {
  return (const int64_t *)(intptr_t)t->stride;
}

#ifdef __cplusplus
}
#endif

#endif
