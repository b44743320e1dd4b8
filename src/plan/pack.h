/*
** pack.h - private: tensors of a product that its kernel takes in another form.
** SPDX-License-Identifier: MIT
**
**   A, B ---- one launch, or ---->  memory of the plan's own  ----> kernel
**             copies, before
**   C    <--- a copy, after ------  memory of the plan's own  <---- kernel
**
** Operands with rows are packed by one launch (gemm/pack.h). The copies of what has none,
** and of C, are plans of their own, on the plan's device; launches of a plan follow each
** other, so that one memory is enough.
*/
#ifndef MT_PLAN_PACK_H
#define MT_PLAN_PACK_H

#include "plan/device.h"

/* Bytes that the tensors with a pitch take as rows, p->hopper.pitch says which, and what
** tf32 leaves out. */
mt_status mt_pack_size (size_t *out, const mt_plan *p, mt_err *err);
/* Takes the memory, plans the copies, and gives maps and result of the kernel their
** addresses. On failure nothing is held. Errors: those of copies and of memory. */
mt_status mt_pack (mt_plan *p, const mt_tensor *const t[MT_PARTS], mt_err *err);
/* Gives maps and result of another kernel, which takes the same in another form, their
** addresses in the memory. */
mt_status mt_pack_place (mt_plan *p, mt_err *err);
void mt_unpack (mt_plan *p); /* gives back what mt_pack took */

#endif
