/*
** mt_inverse.c - layouts that undo layouts.
** SPDX-License-Identifier: MIT
*/
#include "mt_build.h"

typedef struct mode { int64_t s, d, index; } mode;

/* The modes that move, by ascending stride; index: the product of the extents before. */
static int sorted_modes (mode *m, const mt_node *a) {
  mt_flat f;
  int n = 0;
  int64_t index = 1;
  mt_flatten_coalesced(&f, a);
  for (int r = 0; r < f.n; r++) {
    int k = n;
    mode x = {f.s[r], f.d[r]->stride, index};
    index *= f.s[r];
    if (x.d == 0) continue;
    for (; k > 0 && m[k - 1].d > x.d; k--) m[k] = m[k - 1];
    m[k] = x;
    n++;
  }
  return n;
}

mt_status mt_right_inverse (mt_layout *out, const mt_node *a, mt_err *err) {
  mode m[MT_MAXNODES];
  mt_layout flat;
  mt_build b;
  int64_t next = 1;
  MT_CHECK(mt_is_layout(a), err, "right_inverse: a layout expected");
  if (mt_is_swizzled(a))
    return mt_failn(err, MT_EUNSUPPORTED, "right_inverse: of the swizzled layout %N", a);
  if (!mt_is_integral(a))
    return mt_failn(err, MT_EINVAL, "right_inverse: the strides of %N are no integers",
                    a);
  mt_begin(&b, &flat, "right_inverse", err);
  mt_open(&b, MT_MODES);
  int n = a->shape == 0 ? 0 : sorted_modes(m, a);
  for (int k = 0; k < n; k++) {
    if (m[k].d != next) continue;
    mt_add_leaf(&b, m[k].s, m[k].index);
    if (mt_mulo(next, m[k].s, &next)) break;
  }
  MT_TRY(mt_end(&b));
  return mt_coalesce(out, flat.node, NULL, err);
}
