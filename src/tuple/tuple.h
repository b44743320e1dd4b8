/*
** tuple.h - private: what the operations on integer tuples share.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_TUPLE_TUPLE_H
#define MT_TUPLE_TUPLE_H

#include "core/build.h"

/* Two values that are walked together: the whole of each, for texts, where they are A and
** B. */
typedef struct mt_pair {
  const char *op;
  const mt_node *a, *b;
  mt_err *err;
} mt_pair;

/* An integer of Z; integers and tuples of them; those and layouts: what has extents. */
static inline bool mt_is_integer (const mt_node *t) {
  return t->tag == MT_INT && t->ring == MT_Z;
}
bool mt_is_integers (const mt_node *t);
bool mt_is_extents (const mt_node *t);

/* Fail with MT_EINVAL unless t is such. */
mt_status mt_want_integers (const char *op, const mt_node *t, mt_err *err);
mt_status mt_want_extents (const char *op, const mt_node *t, mt_err *err);

/* Fails with MT_ERANK: x, a part of A, and y, a part of B, have not the ranks that they
** should. */
mt_status mt_ranks_differ (const mt_pair *p, const mt_node *x, const mt_node *y);
/* Appends "; A = ..., B = ..." to a text about a part x of A, unless x is the whole. */
void mt_tell_wholes (const mt_pair *p, const mt_node *x);

/* Walks two integer tuples together, and builds as f says. */
typedef void mt_walk (mt_build *b, const mt_pair *p, const mt_node *x, const mt_node *y);
mt_status mt_walk_both (mt_layout *out, const char *op, mt_walk *f, const mt_node *a,
                        const mt_node *b, mt_err *err);

/* The product of the integers, or of the extents, of t: 0 if one is 0. False: it leaves
** 64 bits. */
bool mt_product_of (int64_t *out, const mt_node *t);

/* The branch that holds modes of t, or what t would be a mode of. */
static inline mt_tag mt_branch_of (const mt_node *t) {
  if (mt_is_branch(t)) return (mt_tag)t->tag;
  return mt_is_layout(t) ? MT_MODES : MT_TUPLE;
}

#endif
