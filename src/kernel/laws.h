/*
** laws.h - private: the laws of a kernel, one function each.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_KERNEL_LAWS_H
#define MT_KERNEL_LAWS_H

#include "kernel/kernel.h"

/* What is proven. t: the tensors as the kernel has them, or NULL; given: those that were
** given, of which some may be composed. */
typedef struct mt_claim_of_kernel {
  const mt_gemm_spec *k;
  const mt_tensor *const *t, *const *given;
  mt_gemm_proof *p;
} mt_kernel_claim;

/* MT_OK: the law holds, and a line about it is in p->said; else err says why it does not.
** */
typedef mt_status mt_law_proof (const mt_kernel_claim *c, char *said, mt_err *err);
mt_law_proof mt_prove_cover, mt_prove_in, mt_prove_room, mt_prove_fit, mt_prove_once,
    mt_prove_out, mt_prove_order, mt_prove_hardware;

enum { MT_SAID = sizeof(((mt_gemm_proof *)0)->said[0]) };

/* The first line of a verdict that is none, as an error of the operand `name`. */
mt_status mt_refute (mt_err *err, const char *name, const mt_verdict *v,
                     const char *advice);
/* p->in: the tensors, compact ones in the place of those that are composed. */
mt_status mt_stand_in (mt_gemm_proof *p, const mt_gemm_spec *k,
                       const mt_tensor *const t[MT_KERNEL_TENSORS], mt_err *err);
/* Registers of a thread: what the kernel needs, and what it may have. */
void mt_count_registers (mt_gemm_proof *p, const mt_gemm_spec *k);
/* The figures of a kernel that has been proven. */
mt_status mt_count_costs (const mt_kernel_claim *c, mt_err *err);

#endif
