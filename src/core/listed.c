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

/* Whether n values are 0 .. n-1; their places are put behind them. */
static bool put_places (int64_t *values, int64_t n) {
  for (int64_t i = 0; i < n; i++) values[n + i] = -1;
  for (int64_t i = 0; i < n; i++) {
    if (values[i] < 0 || values[i] >= n || values[n + values[i]] >= 0) return false;
    values[n + values[i]] = i;
  }
  return true;
}

mt_status mt_make_numbering (mt_layout *out, const mt_node *shape, int64_t *values,
                             mt_err *err) {
  MT_TRY(mt_renamed("make_numbering", mt_make_list(out, shape, values, err), err));
  int64_t n = out->node[1].shape;
  if (!put_places(values, n))
    return mt_failn(err, MT_EINJECTIVE,
                    "make_numbering: the values of %N are not 0 to %lld, each once",
                    shape, (long long)n - 1);
  out->node[1].path[1] = 1;
  return MT_OK;
}
