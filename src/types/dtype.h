/*
** dtype.h - private: what the data types are.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_TYPES_DTYPE_H
#define MT_TYPES_DTYPE_H

#include "moontile/types.h"

/* MT_KIND_BOOL, _INT, _UINT, _FLOAT (types/convert.h). */
int mt_dtype_kind (mt_dtype d);
bool mt_is_float_type (mt_dtype d);
/* Of a contraction's operand, as moontile/dtypes.def has them. */
int mt_dtype_rank (mt_dtype d);
mt_dtype mt_dtype_sum (mt_dtype d);

#endif
