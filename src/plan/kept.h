/*
** kept.h - private: the tensors of a product, which its plan keeps to be planned anew.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_PLAN_KEPT_H
#define MT_PLAN_KEPT_H

#include "plan/device.h"

/* Keeps descriptions, layouts and bounds, not the memory behind. Errors: MT_ENOMEM. */
mt_status mt_keep_tensors (mt_plan *p, const mt_tensor *const t[MT_PARTS], mt_err *err);
/* What was kept. */
void mt_kept_tensors (const mt_tensor *out[MT_PARTS], const mt_plan *p);
void mt_forget_tensors (mt_plan *p);

#endif
