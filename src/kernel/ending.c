/*
** ending.c - what a kernel makes of a tile before it is stored: for a launch, proven.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "atom/mma_number.h"
#include "kernel/kernel.h"
#include "types/dtype.h"

static const char *const along[] = {"", "row", "column"}; /* by mt_along */

bool mt_gemm_finishes (const mt_gemm_spec *k) {
  const mt_gemm_ending *e = &k->ending;
  return e->bias != MT_ALONG_AUTO || e->activation != MT_ACTIVATION_NONE || e->residual;
}

/* ---------------------------------------------------------------- types */

static bool is_float (mt_element e) {
  return e == MT_ELEMENT_f16 || e == MT_ELEMENT_bf16 || e == MT_ELEMENT_f32 ||
         e == MT_ELEMENT_f64;
}

mt_status mt_check_result (const mt_gemm_spec *k, mt_dtype c, mt_err *err) {
  const mt_element sum = mt_mma_op_element(&k->mma.atom.op, MT_OPERAND_C);
  if ((k->given & MT_GIVEN_C) && c != k->ending.type)
    return mt_fail(
        err, MT_EINEXACT,
        "C is %s, the epilogue's dtype is %s\ngive such a C, or leave dtype out",
        mt_dtype_name(c), mt_dtype_name(k->ending.type));
  if (!mt_dtype_holds(c, sum) && !(is_float(sum) && mt_is_float_type(c)))
    return mt_fail(err, MT_EINEXACT,
                   "C is %s, %s has sums of %s\ntensors of %s hold them",
                   mt_dtype_name(c), k->mma.atom.op.name, mt_element_name(sum),
                   is_float(sum) ? "any float type" : mt_dtypes_of(sum));
  if (!mt_gemm_finishes(k) || mt_epilogue_takes(c)) return MT_OK;
  return mt_fail(err, MT_EINEXACT,
                 "C is %s: bias, activation and residual go with f16, bf16, f32 and f64\n"
                 "make C one of them, and copy it to %s",
                 mt_dtype_name(c), mt_dtype_name(c));
}

/* ---------------------------------------------------------------- launches */

static mt_status check_extra (const mt_gemm_spec *k, const mt_tensor *const t[],
                              mt_err *err) {
  const mt_gemm_ending *e = &k->ending;
  if (t[MT_KERNEL_BIAS] && e->bias == MT_ALONG_AUTO)
    return mt_fail(err, MT_EINVAL,
                   "gemm: there is a bias, the kernel adds none\n"
                   "describe it: epilogue = { bias = \"row\" }, or \"column\"");
  if (t[MT_KERNEL_RESIDUAL] && !e->residual)
    return mt_fail(err, MT_EINVAL,
                   "gemm: there is a residual, the kernel adds none\n"
                   "describe it: epilogue = { residual = true }");
  return MT_OK;
}

mt_status mt_put_ending (mt_gemm_launch *l, const mt_gemm_spec *k,
                         const mt_tensor *const t[MT_KERNEL_TENSORS], mt_err *err) {
  mt_epilogue e = {.activation = k->ending.activation,
                   .bias = t[MT_KERNEL_BIAS],
                   .residual = t[MT_KERNEL_RESIDUAL]};
  MT_TRY(check_extra(k, t, err));
  if (e.bias) e.along = k->ending.bias;
  return mt_gemm_epilogue(l, t, &e, err);
}

/* As its call in Lua. */
static mt_status missing (const char *name, const char *how, mt_err *err) {
  return mt_fail(err, MT_EINVAL,
                 "gemm: the kernel adds a %s%s, but there is none\n"
                 "tile.gemm(kernel, A, B, C, { %s = T })",
                 name, how, name);
}

mt_status mt_check_ending (const mt_gemm_launch *l, const mt_gemm_spec *k,
                           const mt_tensor *const t[MT_KERNEL_TENSORS], mt_err *err) {
  const mt_tensor *bias = t[MT_KERNEL_BIAS], *residual = t[MT_KERNEL_RESIDUAL];
  const size_t room[MT_BESIDES] = {mt_beside_room(l, MT_BIAS, bias),
                                   mt_beside_room(l, MT_RESIDUAL, residual)};
  if (!bias && k->ending.bias == MT_ALONG_ROW)
    return missing("bias", " along a row", err);
  if (!bias && k->ending.bias == MT_ALONG_COLUMN)
    return missing("bias", " along a column", err);
  if (!residual && k->ending.residual) return missing("residual", "", err);
  return mt_epilogue_check(l, room, err);
}

/* ---------------------------------------------------------------- text */

int mt_say_ending (char *out, size_t size, const mt_gemm_spec *k) {
  const mt_gemm_ending *e = &k->ending;
  const bool bias = e->bias != MT_ALONG_AUTO, active = e->activation;
  if (size > 0) out[0] = 0;
  if (!mt_gemm_finishes(k)) return 0;
  return snprintf(out, size, "; then %s%s%s%s%s%s", bias ? "a bias along a " : "",
                  along[e->bias], bias && (active || e->residual) ? ", " : "",
                  active ? mt_activation_name(e->activation) : "",
                  active && e->residual ? ", " : "", e->residual ? "a residual" : "");
}
