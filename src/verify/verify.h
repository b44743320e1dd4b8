/*
** verify.h - private: the pieces of a proof.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_VERIFY_VERIFY_H
#define MT_VERIFY_VERIFY_H

#include "moontile/verify.h"
#include "core/error.h"

/* What is to be proven. tv: (thread,value) -> place; access: the same as memory sees it,
** where an atom moves values between threads. */
typedef struct mt_claim {
  const char *op; /* for texts */
  const mt_node *tv, *access, *tiler;
  bool written;
  bool shared;   /* several threads may have a place */
  bool copies;   /* vectors count */
  int bits;      /* of an element; 0: unknown */
  int64_t asked; /* elements of an access; 0: any number */
} mt_claim;

/* The first problem stays. */
static inline void mt_doubt (mt_verdict *v, mt_problem p) {
  if (v->problem == MT_PROVEN) v->problem = p;
}

/* Everything about the claim: what the public functions do. */
mt_status mt_verify (mt_verdict *v, const mt_claim *c, const mt_tensor *t, mt_err *err);
/* Law (1) of one tile with so many places: broadcast, or owners and index. */
void mt_verify_tile (mt_verdict *v, const mt_claim *c, int64_t places);
/* The same where tv is no layout with strides: place by place, at most 2^18. */
mt_status mt_verify_function (mt_verdict *v, const mt_claim *c, int64_t places,
                              mt_err *err);
/* Laws (4), (5). */
mt_status mt_verify_memory (mt_verdict *v, const mt_tensor *t, mt_err *err);
/* Law (6). What stands in the way is in `v`. */
mt_status mt_verify_vector (mt_verdict *v, const mt_claim *c, const mt_tensor *t,
                            mt_err *err);
/* The same, with the elements that an access has, where a function says who has what. */
mt_status mt_verify_vector_function (mt_verdict *v, const mt_claim *c, const mt_tensor *t,
                                     mt_err *err);

#endif
