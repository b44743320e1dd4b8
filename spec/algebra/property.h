/*
** property.h - random layouts against the definitions, by brute force.
** SPDX-License-Identifier: MIT
**
** Nothing here calls the library to judge it: functions are evaluated from their nodes
** (fn).
*/
#ifndef PROPERTY_H
#define PROPERTY_H

#include <stdio.h>
#include <string.h>

#include "moontile.h"
#include "pen.h"

/* HAD: refused, but there is an answer. */
typedef enum outcome { RIGHT, REFUSED, HAD, WRONG } outcome;

enum { OPERANDS = 3, MAXSIZE = 4096 };

/* A case: where its numbers come from, and what to print if it is wrong. */
typedef struct ctx {
  uint64_t state;
  const char *op, *why;
  int n;
  mt_layout operand[OPERANDS];
  mt_err err;
} ctx;

/* ---- random numbers and values (random.c) */

uint64_t random64 (ctx *x);
int pick (ctx *x, int n); /* 0 .. n-1 */
int64_t between (ctx *x, int64_t lo, int64_t hi);
bool chance (ctx *x, int n); /* one in n */

typedef enum strides { ANY_STRIDES, COMPACT, NATURAL } strides;
/* A layout with at most `size` elements; ranks 0 to 4, depths to 3. */
void random_layout (ctx *x, mt_layout *out, int64_t size, strides how);
/* One whose offsets are likely to be cut well by the modes of a. */
void random_right (ctx *x, mt_layout *out, const mt_node *a, int64_t size);
/* A tiler by mode for a: extents, layouts, `_`, nested where a is. */
void random_tiler (ctx *x, mt_layout *out, const mt_node *a, bool wild);
/* A coordinate inside a: integers, tuples, mixed; with `_` now and then if wild. */
void random_coord (ctx *x, mt_layout *out, const mt_node *a, bool wild);
/* The tree of t with strides 1@k. */
void identity_of (mt_layout *out, const mt_node *t);
/* The tree of t, its strides multiples of a few basis elements: often they just do not
** merge. */
void basis_of (ctx *x, mt_layout *out, const mt_node *t);
/* Under a random swizzle. */
void swizzled_of (ctx *x, mt_layout *out, const mt_node *t);

/* Node by node. */
void pen_leaf (pen *p, int64_t s, int64_t d);
void pen_int (pen *p, int64_t v);
void pen_tag (pen *p, mt_tag tag);
void pen_copy (pen *p, const mt_node *t);
int pen_open (pen *p, mt_tag tag);
void pen_close (pen *p, int at, int arity);

/* A profile for a, by mode to this depth, with `_` now and then (algebra.c). */
void random_profile (ctx *x, pen *p, const mt_node *a, int depth);

/* ---- functions from nodes (fn.c) */

typedef struct fn {
  int n;
  int64_t s[MT_MAXNODES], d[MT_MAXNODES];
  bool swizzled, f2, composed;
  int b, m, sh;
  int64_t offset;
  mt_layout whole; /* composed: all of it; n, s are those of its base */
} fn;
/* The strides with this index path (NULL: the integers, or F2, whose values are numbers
** here); others count as 0. */
void fn_of (fn *f, const mt_node *a, const mt_node *path);
int64_t fn_at (const fn *f, int64_t i); /* the last leaf has no bound */
int64_t fn_size (const fn *f);
int64_t value_of (const mt_node *a, int64_t i);
/* The index paths of a's strides, as leaves; 0 if all are integers. */
int paths_of (const mt_node **path, const mt_node *a);
int leaves_of (const mt_node **leaf, const mt_node *a);
/* R(i) = A(B(i)) for all i below size(B), for every path; A(-i) = -A(i). */
bool is_composition (const mt_node *r, const mt_node *a, const mt_node *b);
/* The modes of b are refined in r, each in its place. */
bool refines (const mt_node *r, const mt_node *b);
/* Whether there is any shape:stride R compatible with B and R(i) = A(B(i)). */
bool has_composition (const mt_node *a, const mt_node *b);
int64_t least (const mt_node *a); /* the smallest value */

/* ---- running */

#define CASE(x, name, ...)                                                               \
  do {                                                                                   \
    const mt_node *ops_[] = {__VA_ARGS__};                                               \
    (x)->op = (name);                                                                    \
    (x)->n = (int)(sizeof ops_ / sizeof *ops_);                                          \
    for (int i_ = 0; i_ < (x)->n; i_++) mt_copy_value(&(x)->operand[i_], ops_[i_]);      \
  } while (0)
#define LAW(x, cond)                                                                     \
  do {                                                                                   \
    if (!(cond)) {                                                                       \
      (x)->why = #cond;                                                                  \
      return WRONG;                                                                      \
    }                                                                                    \
  } while (0)

/* name              share of the cases */
#define PROPERTIES(X)                                                                    \
  X(text, 6)                                                                             \
  X(noise, 4)                                                                            \
  X(build, 4)                                                                            \
  X(evaluate, 8)                                                                         \
  X(coordinates, 6)                                                                      \
  X(cosize, 6)                                                                           \
  X(structure, 6)                                                                        \
  X(slice, 6)                                                                            \
  X(tuple_numbers, 3)                                                                    \
  X(tuple_division, 3)                                                                   \
  X(tuple_order, 2)                                                                      \
  X(tuple_strides, 3)                                                                    \
  X(coord_of, 4)                                                                         \
  X(tuple_coords, 3)                                                                     \
  X(modes, 3)                                                                            \
  X(zip, 2)                                                                              \
  X(cut, 2)                                                                              \
  X(coalesce, 8)                                                                         \
  X(coalesce_by, 4)                                                                      \
  X(composition, 16)                                                                     \
  X(tiler, 6)                                                                            \
  X(rings, 4)                                                                            \
  X(basis, 6)                                                                            \
  X(complement, 8)                                                                       \
  X(divide, 8)                                                                           \
  X(divide_by_mode, 6)                                                                   \
  X(predication, 2)                                                                      \
  X(product, 6)                                                                          \
  X(zip_product, 4)                                                                      \
  X(right_inverse, 6)                                                                    \
  X(swizzled, 4)                                                                         \
  X(left_inverse, 6)                                                                     \
  X(axis_inverse, 3)                                                                     \
  X(extended, 4)                                                                         \
  X(filter, 4)                                                                           \
  X(filter_by, 3)                                                                        \
  X(ordered, 3)                                                                          \
  X(like, 2)                                                                             \
  X(fragment, 3)                                                                         \
  X(upcast, 4)                                                                           \
  X(downcast, 3)                                                                         \
  X(recast, 2)                                                                           \
  X(alignment, 3)                                                                        \
  X(common, 3)                                                                           \
  X(distribute, 2)                                                                       \
  X(product_forms, 4)                                                                    \
  X(tile_to_shape, 4)                                                                    \
  X(partition, 2)                                                                        \
  X(local_partition, 2)                                                                  \
  X(local_projection, 2)                                                                 \
  X(coordinate_parts, 3)                                                                 \
  X(coshape, 3)                                                                          \
  X(complement_shape, 3)                                                                 \
  X(complement_axes, 2)                                                                  \
  X(with_shape, 3)                                                                       \
  X(sums, 3)                                                                             \
  X(tiler_to_layout, 3)                                                                  \
  X(lattice, 4)                                                                          \
  X(common_domain, 3)                                                                    \
  X(layout_add, 6)                                                                       \
  X(f2, 8)                                                                               \
  X(explain, 2)                                                                          \
  X(swizzle, 3)                                                                          \
  X(swizzle_cast, 2)                                                                     \
  X(swizzle_up, 3)                                                                       \
  X(swizzle_right, 4)                                                                    \
  X(swizzle_inverse, 4)                                                                  \
  X(swizzle_slice, 6)                                                                    \
  X(swizzle_wide, 2)                                                                     \
  X(swizzle_common, 3)                                                                   \
  X(composed, 6)

#define PROPERTY(name, share) outcome property_##name(ctx *x);
PROPERTIES(PROPERTY)
#undef PROPERTY

/* Checks of one case, shared with the exhaustive part (exhaustive.c). */
outcome check_composition (ctx *x, const mt_node *a, const mt_node *b);
outcome check_coalesce (ctx *x, const mt_node *a);
outcome check_complement (ctx *x, const mt_node *a, int64_t bound);
outcome check_divide (ctx *x, const mt_node *a, const mt_node *t);
outcome check_product (ctx *x, const mt_node *a, const mt_node *b);
outcome check_right_inverse (ctx *x, const mt_node *a);
outcome check_left_inverse (ctx *x, const mt_node *a);
outcome check_slice (ctx *x, const mt_node *c, const mt_node *w, const mt_node *a);

typedef struct count {
  const char *name;
  int64_t cases[4];
  double seconds;
} count;
void report (const ctx *x, outcome o, count *c);
int64_t run_exhaustive (ctx *x);

#endif
