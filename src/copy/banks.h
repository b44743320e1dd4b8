/*
** banks.h - private: what boxes in shared memory share: places, banks, orders.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_BANKS_H
#define MT_COPY_BANKS_H

#include "core/error.h"
#include "desc/permute_desc.h"

enum { MT_LANES = 32 };

/* Where indices 0, each, 2 each, ... along the axes of a walk lie in shared memory: n of
** them. */
void mt_banks_places (uint32_t *at, uint32_t n, const mt_walk_axis *axis, uint32_t count,
                      uint32_t each);

/* Wavefronts of a warp whose lane i < n reads `bytes` bytes at at[i]. Shared memory
** serves 4 bytes and less of the whole warp at once, 8 bytes of half of it, 16 of a
** quarter. */
uint32_t mt_banks_wavefronts (const uint32_t at[MT_LANES], uint32_t n, uint32_t bytes);

/* The fewest that n lanes can have. */
uint32_t mt_banks_least (uint32_t n, uint32_t bytes);

/* The first n are a permutation of 0 .. n-1, the others 0. */
bool mt_banks_order (const uint8_t order[MT_PERMUTE_AXES], uint32_t n);

#endif
