/*
** divisor.h - private: the divisors of desc/divisor_desc.h.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_DESC_DIVISOR_H
#define MT_DESC_DIVISOR_H

#include "desc/divisor_desc.h"

/* mul and shift are 0 if the extent is 1, or 2^31 and more, which has no divisor. */
mt_divisor mt_divisor_of (int64_t extent);

#endif
