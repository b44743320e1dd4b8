/*
** gathered.h - private: products of composed operands, which are gathered into memory of
** their own before, and C scattered after.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_PLAN_GATHERED_H
#define MT_PLAN_GATHERED_H

#include "plan/device.h"

typedef struct mt_gathered mt_gathered;

/* Whether the product has a composed operand. */
bool mt_needs_gathering (const mt_tensor *const t[MT_PARTS]);
/* p->gathered: memory for the composed ones of t, at most `most` bytes of it (0: any),
** and the copies; in[] are the tensors of the product itself. C is read only if `reads`.
** Errors: those of a copy, MT_ENOMEM. */
mt_status mt_gather_tensors (const mt_tensor *in[MT_PARTS], mt_plan *p,
                             const mt_tensor *const t[MT_PARTS], bool reads, size_t most,
                             mt_err *err);
void mt_gathered_free (mt_plan *p);
size_t mt_gathered_bytes (const mt_gathered *g);
/* Runs `product` between the copies. */
mt_status mt_gathered_launch (mt_plan *p, mt_stream *s,
                              mt_status (*product)(mt_plan *p, mt_stream *s, mt_err *err),
                              mt_err *err);

#endif
