/*
** fragment.c - what a thread keeps of its part of an operand: registers, descriptors.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "moontile/tile.h"
#include "core/build.h"

enum { DESCRIPTOR = 128 }; /* bits that the strides of descriptors count */

static int bits_of (const mt_tiled_mma *mma, mt_mma_part x) {
  static const int operand[] = {MT_OPERAND_A, MT_OPERAND_B, MT_OPERAND_C};
  return mt_element_bits(mma->atom.op.operand[operand[x]].element);
}

bool mt_mma_by_descriptor (const mt_tiled_mma *mma, mt_mma_part x) {
  static const int operand[] = {MT_OPERAND_A, MT_OPERAND_B, MT_OPERAND_C};
  return mma->atom.op.operand[operand[x]].source == MT_SMEM_DESC;
}

/* (1,RestX,RestY,...): one descriptor for all that an instruction reads. */
static mt_status descriptors (mt_layout *out, const mt_tiled_mma *mma, mt_mma_part x,
                              const mt_node *part, mt_err *err) {
  mt_layout wide;
  mt_build b;
  mt_begin(&b, out, "make_fragment", err);
  mt_open(&b, MT_MODES);
  mt_add_leaf(&b, 1, 0);
  for (int i = 1; i < mt_rank(part) && b.status == MT_OK; i++) {
    const mt_node *m = mt_mode(part, i);
    mt_failed(&b, mt_upcast(&wide, m, DESCRIPTOR / bits_of(mma, x), err));
    if (b.status == MT_OK) mt_add(&b, wide.node);
  }
  return mt_end(&b);
}

mt_status mt_mma_fragment (mt_layout *out, const mt_tiled_mma *mma, mt_mma_part x,
                           const mt_node *part, mt_err *err) {
  mt_layout shape;
  part = mt_base(part);
  MT_CHECK(mt_is_layout(part), err, "make_fragment: a layout expected");
  if (mt_rank(part) < 3)
    return mt_failn(
        err, MT_ERANK,
        "make_fragment: a part has the modes (V,M,K), (V,N,K) or (V,M,N), and "
        "more: %N has %d",
        part, mt_rank(part));
  if (mt_mma_by_descriptor(mma, x)) return descriptors(out, mma, x, part, err);
  if (x != MT_PART_C) return mt_make_fragment_like(out, part, err);
  MT_TRY(mt_shape(&shape, part, err));
  return mt_layout_left(out, shape.node, err);
}
