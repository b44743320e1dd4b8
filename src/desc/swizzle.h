/*
** swizzle.h - private: swizzles in the descriptors of copies.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_DESC_SWIZZLE_H
#define MT_DESC_SWIZZLE_H

#include "desc/domain.h"

static inline int64_t mt_desc_swizzled (mt_desc_swizzle f, int64_t o) {
  uint64_t u = (uint64_t)o, moved = u & (uint64_t)f.mask;
  return (int64_t)(u ^ (f.shift >= 0 ? moved >> f.shift : moved << -f.shift));
}

static inline bool mt_desc_is_swizzled (const mt_desc *d) {
  return (d->swizzle[MT_SRC].mask | d->swizzle[MT_DST].mask) != 0;
}

/* The element of the buffer that a side's sum over its axes means. */
static inline int64_t mt_element_of (const mt_launch *l, int side, int64_t at) {
  return l->origin[side] + mt_desc_swizzled(l->desc.swizzle[side], l->offset[side] + at);
}

/* A swizzle as desc/copy_desc.h has it, or none. */
bool mt_desc_swizzle_sound (mt_desc_swizzle f);
/* Runs of so many elements stay together; INT64_MAX of none. */
int64_t mt_desc_swizzle_run (mt_desc_swizzle f);
/* The low bits that make up the blocks which the swizzle maps onto themselves; 0 of
** none. */
int64_t mt_desc_swizzle_block (mt_desc_swizzle f);

/* swizzle(offset + the sums of the box's axes) of a side lie in *low .. *high, reached
** both. False if that was not found. */
bool mt_desc_swizzle_range (int64_t *low, int64_t *high, mt_desc_swizzle f,
                            int64_t offset, const mt_domain *b, int side);

#endif
