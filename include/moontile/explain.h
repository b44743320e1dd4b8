/*
** explain.h - derivations of the algebra in words.
** SPDX-License-Identifier: MIT
*/
#ifndef MOONTILE_EXPLAIN_H
#define MOONTILE_EXPLAIN_H

#include "moontile/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How op(a, b) comes about, step by step, in text form: (1) the first line says what is
** asked, (2) the last is "R = ...", the result, or, where there is none, the last lines
** are the error's text. op is the name of an operation: coalesce, composition,
** complement, the divides, the products, right_inverse, left_inverse; compatible,
** weakly_congruent, congruent, of shapes or layouts, whose result is true or false;
** swizzle, of a swizzle or a swizzled layout; partition, of (thread,value) -> place of a
** tile, whose result is place -> thread + threads * value. `b` is NULL for those of one
** operand; of complement it is the bound, or NULL for cosize(a), of partition the size of
** the tile, or NULL. Writes like snprintf; `len`: of the whole text.
** Errors: MT_EINVAL (no such operation, or not its operands). */
MT_API mt_status mt_explanation (size_t *len, char *buf, size_t size, const char *op,
                                 const mt_node *a, const mt_node *b, mt_err *err);

#ifdef __cplusplus
}
#endif

#endif
