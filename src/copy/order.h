/*
** order.h - private: the order in which blocks go through what they do not hold.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_ORDER_H
#define MT_COPY_ORDER_H

#include "desc/axes.h"

/* Sorts the axes of the rest, mode[2], for blocks that hold all indices of mode[0] and
** mode[1], of elements of so many bytes. */
void mt_order_rest (mt_axes mode[3], int64_t elem);
/* What the order of a copy's blocks costs: a part of the time. */
double mt_order_cost (const mt_desc *d);

#endif
