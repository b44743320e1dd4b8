/*
** gather.h - private: the tiles of copies whose units lie anywhere.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_GATHER_H
#define MT_COPY_GATHER_H

#include <stdbool.h>

#include "desc/copy_desc.h"

/* The geometry of tiles with so many indices of the last thread axis and of the last
** value axis, 1 where there is none. Axes, sizes and the destination are there.
** False: tiles would be too large, or would not begin with words, and *g is undefined. */
bool mt_gather_find (mt_gather *g, const mt_launch *l, const uint32_t cut[2]);

#endif
