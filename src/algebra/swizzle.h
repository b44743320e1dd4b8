/*
** swizzle.h - private: swizzles as values, and the swizzle at the root of a layout.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_ALGEBRA_SWIZZLE_H
#define MT_ALGEBRA_SWIZZLE_H

#include "core/build.h"

/* Values that are compared where no law decides; fewer of a layout of many nodes. */
enum { MT_SWIZZLE_STEPS = 1 << 16, MT_SWIZZLE_NODES = 16 };
static inline int mt_swizzle_steps (const mt_node *a) {
  return a->span <= MT_SWIZZLE_NODES ? MT_SWIZZLE_STEPS :
                                       MT_SWIZZLE_STEPS / (int)a->span * MT_SWIZZLE_NODES;
}

static inline bool mt_is_bare_swizzle (const mt_node *t) {
  return t->tag == MT_SWIZZLE && t->arity == 0;
}
static inline int mt_swizzle_distance (mt_swizzle w) { return w.s < 0 ? -w.s : w.s; }
/* Y, whose bits flip, and Z, whose bits are flipped. */
static inline int64_t mt_swizzle_y (mt_swizzle w) {
  return (int64_t)(((UINT64_C(1) << w.b) - 1) << (w.m + (w.s > 0 ? w.s : 0)));
}
static inline int64_t mt_swizzle_z (mt_swizzle w) {
  return (int64_t)(((UINT64_C(1) << w.b) - 1) << (w.m + (w.s < 0 ? -w.s : 0)));
}

/* B, M >= 0, |S| >= B, all bits below 2^62. */
bool mt_swizzle_valid (int64_t b, int64_t m, int64_t s);
/* The swizzle of two masks; false if there is none. */
bool mt_swizzle_from_masks (mt_swizzle *out, int64_t y, int64_t z);
/* v o w as one swizzle; false if there is none. */
bool mt_swizzle_merge (mt_swizzle *out, mt_swizzle v, mt_swizzle w);
/* The text form, in a buffer of the caller's. */
const mt_node *mt_swizzle_text (mt_layout *room, mt_swizzle w);

/* w o offset o a for a layout a without a swizzle; `a` itself if that is the same. */
mt_status mt_swizzled (mt_layout *out, const char *op, mt_swizzle w, int64_t offset,
                       const mt_node *a, mt_err *err);

/* Sw' with Sw'(a(i)) = a(w(i)) for 0 <= i < size(a), a on its extended domain: by the
** bits, or by at most mt_swizzle_steps(a) values. `a` has integer strides and no swizzle.
** Fails in the name of op. */
mt_status mt_swizzle_pass (mt_swizzle *out, const char *op, const mt_node *a,
                           mt_swizzle w, mt_err *err);

/* Of an upcast of `a` by n that is exact (algebra/recast.c): the bits that the place
** inside an element has, n a power of two; how far its negative strides reach back in an
** element. */
int64_t mt_upcast_bits (const mt_node *a, int64_t n);
int64_t mt_upcast_back (const mt_node *a, int64_t n);

#endif
