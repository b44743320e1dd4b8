/*
** modes.c - the tree of a layout or a tuple: modes taken, grouped, flattened, sliced.
** SPDX-License-Identifier: MIT
**
** A mode of a swizzled layout stays under the same swizzle, one of a composed layout
** under what is composed with it.
*/
#include "core/build.h"

/* The branch that holds modes of t. */
static mt_tag branch_of (const mt_node *t) {
  if (mt_is_branch(t)) return (mt_tag)t->tag;
  return mt_is_leaf(t) && t->shape >= 0 ? MT_MODES : MT_TUPLE;
}

static mt_status no_mode (mt_err *err, const char *op, int i, const mt_node *t) {
  return mt_failn(err, MT_ERANGE, "%s: there is no mode %d in %N, its rank is %d", op,
                  i + 1, t, mt_rank(t));
}

mt_status mt_get (mt_layout *out, const mt_node *t, int n, const int *path, mt_err *err) {
  mt_build b;
  const mt_node *m = mt_base(t);
  for (int i = 0; i < n; i++) {
    const mt_node *c = mt_mode(m, path[i]);
    if (c == NULL) return no_mode(err, "get", path[i], m);
    m = c;
  }
  mt_begin(&b, out, "get", err);
  mt_open_root(&b, t);
  mt_add(&b, m);
  return mt_end(&b);
}

static void emit_flat (mt_build *b, const mt_node *t) {
  if (!mt_is_branch(t)) mt_add(b, t);
  else
    for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c)) emit_flat(b, c);
}

mt_status mt_flatten (mt_layout *out, const mt_node *t, mt_err *err) {
  mt_build b;
  const mt_node *in = mt_base(t);
  mt_begin(&b, out, "flatten", err);
  mt_open_root(&b, t);
  if (mt_is_branch(in)) mt_open(&b, (mt_tag)in->tag);
  emit_flat(&b, in);
  return mt_end(&b);
}

mt_status mt_group (mt_layout *out, const mt_node *t, int first, int last, mt_err *err) {
  mt_build b;
  const mt_node *in = mt_base(t);
  int rank = mt_rank(t), i = 0;
  if (first < 0 || last > rank || first > last)
    return mt_failn(err, MT_ERANGE, "group: modes %d to %d of %N, whose rank is %d",
                    first + 1, last, t, rank);
  mt_begin(&b, out, "group", err);
  mt_open_root(&b, t);
  mt_open(&b, branch_of(in));
  const mt_node *c = mt_first_mode(in);
  for (; i < first; i++, c = mt_next(c)) mt_add(&b, c);
  if (first < last) mt_open(&b, branch_of(in));
  for (; i < last; i++, c = mt_next(c)) mt_add(&b, c);
  if (first < last) mt_close(&b);
  for (; i < rank; i++, c = mt_next(c)) mt_add(&b, c);
  return mt_end(&b);
}

mt_status mt_select (mt_layout *out, const mt_node *t, int n, const int *modes,
                     mt_err *err) {
  mt_build b;
  const mt_node *in = mt_base(t);
  mt_begin(&b, out, "select", err);
  mt_open_root(&b, t);
  mt_open(&b, branch_of(in));
  for (int i = 0; i < n; i++) {
    const mt_node *m = mt_mode(in, modes[i]);
    if (m == NULL) return no_mode(err, "select", modes[i], t);
    mt_add(&b, m);
  }
  return mt_end(&b);
}

/* ---- slices */

/* Adds the parts of a under `_`; both trees agree as far as c goes. */
static mt_status emit_slice (mt_build *b, const mt_node *c, const mt_node *a) {
  if (c->tag == MT_WILD) mt_add(b, a);
  if (c->tag != MT_TUPLE) return MT_OK;
  if (c->arity != mt_rank(a))
    return mt_failn(b->err, MT_ERANK, "slice: coordinate %N has %d modes, %N has %d", c,
                    (int)c->arity, a, mt_rank(a));
  const mt_node *m = mt_first_mode(a);
  for (const mt_node *k = mt_child(c); k < mt_next(c); k = mt_next(k), m = mt_next(m))
    MT_TRY(emit_slice(b, k, m));
  return MT_OK;
}

/* The offset that c selects, without a swizzle; 0 for coordinate layouts. */
static mt_status slice_offset (int64_t *out, const mt_node *c, const mt_node *in,
                               mt_err *err) {
  mt_layout at;
  *out = 0;
  if (mt_is_integral(in)) return mt_crd2idx(out, c, in, err);
  return mt_eval(&at, c, in, err);
}

mt_status mt_plain_slice (mt_layout *out, int64_t *offset, const mt_node *c,
                          const mt_node *a, mt_err *err) {
  mt_build b;
  int64_t at;
  mt_begin(&b, out, "slice", err);
  if (c->tag != MT_WILD) mt_open(&b, MT_MODES);
  MT_TRY(emit_slice(&b, c, a));
  MT_TRY(slice_offset(&at, c, a, err));
  if (offset) *offset = at;
  return mt_end(&b);
}
