/*
** listed.c - functions of coordinates by the list of their values.
** SPDX-License-Identifier: MIT
*/
#include "core/build.h"

mt_status mt_make_list (mt_layout *out, const mt_node *shape, const int64_t *values,
                        mt_err *err) {
  mt_layout left;
  mt_build b;
  MT_TRY(mt_layout_left(&left, shape, err));
  int64_t n = mt_size(left.node);
  if (n < 1) return mt_failn(err, MT_EINVAL, "make_list: the shape %N is empty", shape);
  mt_begin(&b, out, "make_list", err);
  mt_open(&b, MT_COMPOSED);
  mt_open(&b, MT_LIST);
  out->node[1].shape = n;
  out->node[1].stride = (int64_t)(intptr_t)values;
  mt_close(&b);
  mt_add(&b, left.node);
  return mt_end(&b);
}
