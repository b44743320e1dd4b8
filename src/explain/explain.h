/*
** explain.h - private: telling a derivation, line by line.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_EXPLAIN_EXPLAIN_H
#define MT_EXPLAIN_EXPLAIN_H

#include "algebra/f2.h"
#include "core/strbuf.h"

/* The text so far. */
typedef struct mt_derivation {
  mt_strbuf text;
  int indent;
  const char *left, *right; /* names of what is composed */
} mt_derivation;

/* A line; directives as in mt_failn. */
void mt_tell (mt_derivation *x, const char *format, ...);
/* The line "name = value", whole. */
void mt_tell_value (mt_derivation *x, const char *name, const mt_node *v);
/* The lines of a failure. */
void mt_tell_failure (mt_derivation *x, const mt_err *err);

/* How A o B comes about, without its result; true if it has one. */
bool mt_tell_composition (mt_derivation *x, const mt_node *a, const mt_node *t);

/* What the operands are that are composed, link by link; of an operation that does not
** go by their strides also its law: then true. */
bool mt_tell_functions (mt_derivation *x, const char *op, const mt_node *a,
                        const mt_node *b);

/* Whether a stands for b, mode by mode; the result too. */
void mt_tell_compatible (mt_derivation *x, const mt_node *a, const mt_node *b);
void mt_tell_weakly_congruent (mt_derivation *x, const mt_node *a, const mt_node *b);
void mt_tell_congruent (mt_derivation *x, const mt_node *a, const mt_node *b);
/* What a swizzle does to an integer. */
void mt_tell_swizzle (mt_derivation *x, const mt_node *a, const mt_node *none);

#endif
