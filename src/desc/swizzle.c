/*
** swizzle.c - swizzles in the descriptors of copies: sound, and what they keep together.
** SPDX-License-Identifier: MIT
*/
#include "desc/swizzle.h"
#include "algebra/swizzle.h"

static bool as_swizzle (mt_swizzle *w, mt_desc_swizzle f) {
  if (f.shift < -62 || f.shift > 62 || f.mask < 0) return false;
  if (f.shift < 0 && f.mask >> (62 + f.shift) != 0) return false;
  return mt_swizzle_from_masks(w, f.mask, mt_desc_swizzled(f, f.mask) ^ f.mask);
}

bool mt_desc_swizzle_sound (mt_desc_swizzle f) {
  mt_swizzle w;
  return f.mask == 0 ? f.shift == 0 : as_swizzle(&w, f);
}

int64_t mt_desc_swizzle_run (mt_desc_swizzle f) {
  mt_swizzle w;
  return f.mask != 0 && as_swizzle(&w, f) ? INT64_C(1) << w.m : INT64_MAX;
}

/* Bits of Z change, those above only decide how. */
int64_t mt_desc_swizzle_block (mt_desc_swizzle f) {
  mt_swizzle w;
  if (f.mask == 0 || !as_swizzle(&w, f)) return 0;
  return (INT64_C(1) << (w.m + w.b + (w.s < 0 ? -w.s : 0))) - 1;
}

bool mt_desc_swizzle_range (int64_t *low, int64_t *high, mt_desc_swizzle f,
                            int64_t offset, const mt_domain *b, int side) {
  mt_layout a;
  mt_build build;
  mt_swizzle w;
  mt_err err = MT_NOERR;
  if (!as_swizzle(&w, f)) return false;
  mt_begin(&build, &a, "copy", &err);
  mt_open(&build, MT_SWIZZLE);
  mt_open(&build, MT_MODES);
  for (int j = 0; j < b->n; j++)
    mt_add_leaf(&build, b->axis[j].extent, b->axis[j].stride[side]);
  mt_close(&build);
  mt_close(&build);
  a.node[0].shape = mt_swizzle_pack(w.b, w.m, w.s);
  a.node[0].stride = offset;
  if (mt_end(&build) != MT_OK || mt_footprint(low, high, a.node, &err) != MT_OK)
    return false;
  --*high;
  return true;
}

bool mt_domain_range (int64_t *low, int64_t *high, const mt_launch *l, const mt_domain *b,
                      int side) {
  const int64_t start = l->offset[side] + b->start[side];
  *low = *high = start;
  if (l->desc.swizzle[side].mask) {
    if (!mt_desc_swizzle_range(low, high, l->desc.swizzle[side], start, b, side))
      return false;
  } else {
    for (int j = 0; j < b->n; j++) {
      int64_t t = (b->axis[j].extent - 1) * b->axis[j].stride[side];
      *(t < 0 ? low : high) += t;
    }
  }
  *low += l->origin[side];
  *high += l->origin[side];
  return true;
}
