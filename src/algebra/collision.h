/*
** collision.h - private: two elements of a function at one place.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_ALGEBRA_COLLISION_H
#define MT_ALGEBRA_COLLISION_H

#include "core/build.h"

enum { MT_IMAGEBITS = 1 << 16 };

/* Which values a function of numbers takes. */
typedef struct mt_image {
  int64_t lo, end;                  /* one more than the largest */
  uint64_t seen[MT_IMAGEBITS / 64]; /* of value - lo */
} mt_image;

static inline bool mt_image_has (const mt_image *x, int64_t v) {
  if (v < x->lo || v >= x->end) return false;
  v -= x->lo;
  return (x->seen[v / 64] >> v % 64 & 1) != 0;
}

/* The values of t, one by one. The first two indices of one value, *i < *j; *i is -1 if
** there are none. Errors: MT_EUNSUPPORTED (they lie 2^16 or more apart). */
mt_status mt_image_of (mt_image *out, int64_t *i, int64_t *j, const char *op,
                       const mt_node *t, mt_err *err);

#endif
