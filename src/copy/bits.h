/*
** bits.h - private: boxes of axes of two indices.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_BITS_H
#define MT_COPY_BITS_H

#include <stdbool.h>

#include "desc/axes.h"

/* The box of the thread axes, as desc/bits_desc.h says; axes and sides are there. False:
** they are none, and *b is undefined. */
bool mt_bits_find (mt_bits_box *b, const mt_launch *l);

#endif
