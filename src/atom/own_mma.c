/*
** own_mma.c - MMA atoms that a user describes.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "atom/own.h"

static const char mma_atom[] = "mma_atom";

static mt_status check_shape (const mt_mma_op *op, mt_err *err) {
  static const char modes[] = "MNK";
  const int64_t shape[] = {op->m, op->n, op->k};
  for (int i = 0; i < 3; i++)
    if (shape[i] < 1 || shape[i] > 1 << 20)
      return mt_fail(err, MT_EINVAL, "mma_atom: shape: %c is %lld: 1 to 2^20 expected",
                     modes[i], (long long)shape[i]);
  return MT_OK;
}

static mt_status check_elements (const mt_mma_op *op, mt_err *err) {
  for (int i = 0; i < MT_OPERANDS; i++)
    MT_CHECK((unsigned)op->operand[i].element < MT_NELEMENT, err,
             "mma_atom: an operand of no element");
  if (op->operand[MT_OPERAND_C].element == op->operand[MT_OPERAND_D].element)
    return MT_OK;
  return mt_fail(err, MT_EINVAL,
                 "mma_atom: D is %s, C is %s: C is what the products are added to, both "
                 "have one type\n  leave D out",
                 mt_element_name(op->operand[MT_OPERAND_D].element),
                 mt_element_name(op->operand[MT_OPERAND_C].element));
}

/* "own_16x8x8_f32f16f16f32": the order of CuTe's names. */
static void default_name (mt_mma_op *op) {
  const mt_operand *o = op->operand;
  snprintf(op->name, sizeof op->name, "own_%lldx%lldx%lld_%s%s%s%s", (long long)op->m,
           (long long)op->n, (long long)op->k, mt_element_name(o[MT_OPERAND_D].element),
           mt_element_name(o[MT_OPERAND_A].element),
           mt_element_name(o[MT_OPERAND_B].element),
           mt_element_name(o[MT_OPERAND_C].element));
}

static mt_status prove (const mt_mma_atom *a, int64_t threads, mt_err *err) {
  const mt_mma_op *op = &a->op;
  const mt_own_tv claims[] = {
      {mma_atom, "A", a->a.node, threads, {op->m, op->k}, true},
      {mma_atom, "B", a->b.node, threads, {op->n, op->k}, true},
      {mma_atom, "C", a->c.node, threads, {op->m, op->n}, false},
  };
  for (int i = 0; i < 3; i++) MT_TRY(mt_own_prove(&claims[i], err));
  return MT_OK;
}

mt_status mt_mma_atom_make (mt_mma_atom *out, const mt_mma_op *op, const mt_node *thr_id,
                            const mt_node *a, const mt_node *b, const mt_node *c,
                            mt_err *err) {
  int64_t threads;
  memset(out, 0, sizeof *out);
  out->op = *op;
  out->op.arch = "own";
  out->op.own = true;
  for (int i = 0; i < MT_OPERANDS; i++) {
    out->op.operand[i].sparse = 1;
    out->op.operand[i].source = MT_REG;
  }
  MT_TRY(check_shape(op, err));
  MT_TRY(check_elements(op, err));
  if (op->name[0] == 0) default_name(&out->op);
  else MT_TRY(mt_own_name(out->op.name, mma_atom, op->name, err));
  MT_TRY(mt_own_count(&threads, mma_atom, "C", c, err));
  mt_copy_value(&out->a, a);
  mt_copy_value(&out->b, b);
  mt_copy_value(&out->c, c);
  MT_TRY(mt_own_threads(&out->thr_id, mma_atom, thr_id, threads, err));
  return prove(out, threads, err);
}
