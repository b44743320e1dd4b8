/*
** domain.h - private: the real coordinates of a descriptor as a box of axes without
** bounds.
** SPDX-License-Identifier: MIT
**
** The axes with a step of bound k are the digits of ordinate k. Digits whose strides
** continue one another are one axis; where the topmost step divides the bound, the
** ordinates below the bound are exactly the first bound/step indices of that axis, and
** the bound is gone.
*/
#ifndef MT_DESC_DOMAIN_H
#define MT_DESC_DOMAIN_H

#include "core/error.h"
#include "desc/copy_desc.h"

enum { MT_LANE = MT_MAXAXIS, MT_MAXDOMAIN = MT_MAXAXIS + 1 };

typedef struct mt_domain_axis {
  int64_t extent, stride[2];
  int64_t from; /* index 0 is this one of the descriptor's axis */
  /* its digits: part[first .. first + count), fastest first */
  uint8_t first, count;
} mt_domain_axis;

typedef struct mt_domain {
  int n;
  bool exact;       /* else: larger than the set of the real coordinates */
  bool empty;       /* there are no coordinates */
  int64_t start[2]; /* what the axes' first indices add to the offsets */
  mt_domain_axis axis[MT_MAXDOMAIN];
  /* axes of the descriptor; MT_LANE: elements of an access */
  uint8_t part[MT_MAXDOMAIN];
} mt_domain;

/* The real elements as seen from the sides with a bit in `sides` (1 << MT_SRC | 1 <<
** MT_DST): axes merge where the strides of those sides do. The descriptor is sound
** (mt_check_shape). */
void mt_domain_of (mt_domain *out, const mt_desc *d, unsigned sides);

/* The real coordinates as boxes: any two are disjoint, together they are all. f is called
** with each of them, until it returns false. mt_pieces does so, too, without having been
** to all of them, where there are more than MT_MOSTPIECES. The descriptor is sound. */
enum { MT_MOSTPIECES = 64 };
typedef bool mt_piece_fn (void *ud, const mt_domain *piece);
bool mt_pieces (const mt_desc *d, mt_piece_fn *f, void *ud);

/* swizzle(offset + the sums of the axes) of a side lie in *low .. *high, counted from the
** buffer's begin, reached both. False if that was not found. */
bool mt_domain_range (int64_t *low, int64_t *high, const mt_launch *l, const mt_domain *b,
                      int side);

#endif
