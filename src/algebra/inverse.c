/*
** inverse.c - layouts that undo layouts.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "algebra/composed.h"
#include "algebra/f2.h"
#include "algebra/linear.h"
#include "algebra/coord_space.h"

typedef struct mode {
  int64_t s, d, index;
} mode;

/* The modes that move along an axis (NULL: integer strides), by ascending stride; index:
** the product of the extents before. */
static int sorted_modes (mode *m, const mt_node *a, const mt_node *axis) {
  mt_flat f;
  int n = 0;
  int64_t index = 1;
  mt_flatten_coalesced(&f, a);
  for (int r = 0; r < f.n; r++) {
    int k = n;
    mode x = {f.s[r], f.d[r]->stride, index};
    index *= f.s[r];
    if (f.d[r]->tag == MT_SUM || x.d == 0 || (axis && !mt_same_path(f.d[r], axis)))
      continue;
    for (; k > 0 && m[k - 1].d > x.d; k--) m[k] = m[k - 1];
    m[k] = x;
    n++;
  }
  return n;
}

/* The modes with the strides 1, s, s*s', ... */
static void emit_chain (mt_build *b, const mt_node *a, const mt_node *axis) {
  mode m[MT_MAXNODES];
  mt_layout flat;
  mt_build chain;
  int64_t next = 1;
  mt_begin(&chain, &flat, b->op, b->err);
  mt_open(&chain, MT_MODES);
  int n = a->shape == 0 ? 0 : sorted_modes(m, a, axis);
  for (int k = 0; k < n; k++) {
    if (m[k].d != next) continue;
    mt_add_leaf(&chain, m[k].s, m[k].index);
    if (mt_mulo(next, m[k].s, &next)) break;
  }
  mt_failed(b, mt_end(&chain));
  if (b->status == MT_OK) mt_emit_coalesce(b, flat.node);
}

static void emit_axis (mt_build *b, const mt_node *axis, void *ud) {
  if (axis) emit_chain(b, ud, axis);
  else mt_add_leaf(b, 1, 0);
}

/* By the laws of swizzles and of F2, and by the bits where these answer nothing or
** less. */
static MT_APART mt_status invert_bits (mt_layout *out, const mt_node *a, mt_err *err) {
  mt_layout room;
  mt_status s = mt_is_swizzled(a) ? mt_swizzle_right_inverse(out, a, err) :
                                    mt_f2_right_inverse(out, a, err);
  if (s == MT_ESTOPPED) return s;
  if (s != MT_OK && mt_is_swizzled(a)) {
    mt_forgive(err);
    return mt_composed_right_inverse(out, a, err);
  }
  if (!mt_linear_right_inverse(&room, a, s == MT_OK ? mt_size(out->node) : 0)) return s;
  mt_forgive(err);
  mt_copy_value(out, room.node);
  return MT_OK;
}

mt_status mt_right_inverse (mt_layout *out, const mt_node *a, mt_err *err) {
  mt_build b;
  mt_coord_space space;
  if (mt_is_composed(a)) return mt_composed_right_inverse(out, a, err);
  MT_CHECK(mt_is_layout(a), err, "right_inverse: a layout expected");
  if (mt_is_swizzled(a) || mt_is_f2(a)) return invert_bits(out, a, err);
  mt_begin(&b, out, "right_inverse", err);
  mt_coord_space_of(&b, &space, a);
  if (space.n == 0) emit_chain(&b, a, NULL);
  else mt_emit_coord_space(&b, &space, MT_MODES, emit_axis, (void *)a);
  return mt_end(&b);
}

/* ---- where a layout is 0 */

mt_status mt_nullspace (mt_layout *out, const mt_node *a, mt_err *err) {
  const mt_node *leaf[MT_MAXNODES];
  mt_build b;
  int64_t index = 1;
  MT_CHECK(mt_is_layout(a), err, "nullspace: a layout expected");
  int n = mt_leaves(leaf, a), zeros = 0;
  for (int i = 0; i < n; i++) zeros += mt_zero_stride(leaf[i]);
  if (mt_size(a) == 0) zeros = 0;
  mt_begin(&b, out, "nullspace", err);
  if (zeros == 0) mt_add_leaf(&b, 1, 0);
  if (zeros > 1) mt_open(&b, MT_MODES);
  for (int i = 0; i < n && zeros > 0; i++) {
    int64_t s = leaf[i]->shape;
    if (mt_zero_stride(leaf[i])) mt_add_leaf(&b, s, s == 1 ? 0 : index);
    index *= s; /* at most the size of a */
  }
  return mt_end(&b);
}
