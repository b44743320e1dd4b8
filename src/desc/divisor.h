/*
** divisor.h - private: division by a number that is known, as desc/divisor_desc.h has it.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_DESC_DIVISOR_H
#define MT_DESC_DIVISOR_H

#include "desc/copy_desc.h"

mt_divisor mt_divisor_of (uint32_t extent);
/* Sets the divisor of the axis's extent; 0 / 0 if that is 1 or 2^31 and more. */
void mt_axis_divisor (mt_axis *a);

#endif
