/*
** slice.c - slices of layouts, swizzled or not.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "core/build.h"

mt_status mt_slice (mt_layout *out, int64_t *offset, const mt_node *c, const mt_node *a,
                    mt_err *err) {
  MT_CHECK(mt_is_layout(a), err, "slice: a layout expected");
  if (mt_is_swizzled(a)) return mt_swizzle_slice(out, offset, c, a, err);
  return mt_plain_slice(out, offset, c, a, err);
}
