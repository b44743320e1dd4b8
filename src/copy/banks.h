/*
** banks.h - private: what boxes in shared memory share: places, banks, orders.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_COPY_BANKS_H
#define MT_COPY_BANKS_H

#include "core/error.h"
#include "desc/permute_desc.h"

enum { MT_LANES = 32 };

/* Where index n along the hops lies in shared memory. */
uint32_t mt_banks_place (const mt_walk_axis *hop, uint32_t count, uint32_t n);

/* Turns that shared memory takes for a warp whose lane i < n reads `bytes` at at[i]: of 4
** bytes and less at once, of 8 by halves of the warp, of 16 by quarters. */
uint32_t mt_banks_turns (const uint32_t at[MT_LANES], uint32_t n, uint32_t bytes);

/* The first n are a permutation of 0 .. n-1, the others 0. */
bool mt_banks_order (const uint8_t order[MT_PERMUTE_AXES], uint32_t n);

#endif
