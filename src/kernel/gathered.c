/*
** gathered.c - kernels of composed operands: what a kernel reads and writes are compact
** tensors, to and from which these are copied by lists of offsets.
** SPDX-License-Identifier: MIT
*/
#include "core/build.h"
#include "kernel/laws.h"
#include "plan/gathered.h"

unsigned mt_kernel_columns (const mt_gemm_spec *k) {
  unsigned columns = 0;
  for (int x = 0; x < 2; x++)
    if (mt_gmma_major_of(k->way[x].smem.node) == MT_GMMA_MN) columns |= 1u << x;
  return columns;
}

mt_status mt_stand_in (mt_gemm_proof *p, const mt_gemm_spec *k,
                       const mt_tensor *const t[MT_KERNEL_TENSORS], mt_err *err) {
  const unsigned columns = mt_kernel_columns(k);
  int64_t bytes;
  for (int i = 0; i < MT_KERNEL_TENSORS; i++) {
    p->in[i] = t[i];
    if (!mt_is_gathered(t, i)) continue;
    MT_TRY(mt_compact_operand(&p->compact[i], &bytes, t[i], columns >> i & 1, err));
    p->stand_in[i] = *t[i];
    p->stand_in[i].layout = p->compact[i].node;
    p->stand_in[i].offset = 0;
    p->in[i] = &p->stand_in[i];
  }
  return MT_OK;
}

static mt_status run_gathered (mt_gathered *g, const mt_gemm_spec *k,
                               const mt_tensor *const in[MT_KERNEL_TENSORS],
                               uint64_t seed, void *room, mt_err *err) {
  MT_TRY(mt_gathered_read(g, NULL, err));
  MT_TRY(mt_run_gemm(k, in, seed, room, err));
  return mt_gathered_write(g, NULL, err);
}

mt_status mt_run_gemm_on (mt_device *d, const mt_gemm_spec *k,
                          const mt_tensor *const t[MT_KERNEL_TENSORS], uint64_t seed,
                          void *room, size_t memory, mt_err *err) {
  const mt_tensor *in[MT_KERNEL_TENSORS];
  mt_gathered *g = NULL;
  if (!mt_needs_gathering(t)) return mt_run_gemm(k, t, seed, room, err);
  const mt_gather_options o = {k->ending.beta != 0, memory, mt_kernel_columns(k)};
  mt_status s = mt_gather_tensors(&g, in, d, t, &o, err);
  if (s == MT_OK) s = run_gathered(g, k, in, seed, room, err);
  if (g) mt_gathered_free(g);
  return s;
}
