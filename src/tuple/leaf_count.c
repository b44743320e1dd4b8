/*
** leaf_count.c - how many leaves a value has.
** SPDX-License-Identifier: MIT
*/
#include "moontile/tuple.h"
#include "tuple/tuple.h"

mt_status mt_leaf_count (int64_t *out, const mt_node *a, mt_err *err) {
  const mt_node *leaf[MT_MAXNODES];
  (void)err;
  *out = mt_leaves(leaf, a);
  return MT_OK;
}
