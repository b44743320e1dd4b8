/*
** rules.c - the law of a kernel about the hardware: what its instructions want.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "moontile/algebra.h"
#include "types/dtype.h"
#include "kernel/laws.h"

enum {
  MOST_THREADS = 1024,
  MOST_CLUSTER = 8,
  FILE_OF_REGISTERS = 65536,
  MOST_REGISTERS = 255,
  PRODUCER_REGISTERS = 40, /* of each thread, as setmaxnreg gives them away */
  OTHERS = 24              /* registers for addresses and counters */
};

/* ---------------------------------------------------------------- instructions */

static mt_status check_arch (const mt_gemm_spec *k, mt_err *err) {
  int need = mt_needed_arch(k);
  if (need <= k->arch) return MT_OK;
  return mt_fail(
      err, MT_EINEXACT,
      "arch is %d, an instruction of the kernel came with sm_%d: the MMA %s is of "
      "%s, A is filled by %s, B by %s\n"
      "arch = %d, or leave it out; or an older atom, filled by \"threads\"",
      k->arch, need, k->mma.atom.op.name, k->mma.atom.op.arch,
      mt_fill_name(k->way[0].fill), mt_fill_name(k->way[1].fill), need);
}

static mt_status check_threads (const mt_gemm_spec *k, mt_err *err) {
  int64_t n = mt_gemm_threads(k), m = mt_tiled_mma_threads(&k->mma);
  if (n > MOST_THREADS)
    return mt_fail(err, MT_EINEXACT,
                   "%lld threads: a block has %d at most\n"
                   "take fewer atoms, and a smaller tile or more of it for each",
                   (long long)n, (int)MOST_THREADS);
  for (int x = 0; x < 2; x++) {
    if (!mt_side_copied(k, x)) continue;
    int64_t copy = mt_tiled_copy_size(&k->way[x].copy);
    if (copy > m)
      return mt_fail(err, MT_EINEXACT,
                     "g2s.%s has %lld threads, the MMA has %lld\n"
                     "make thr of the copy as many, or give the MMA more atoms",
                     mt_side_name[x], (long long)copy, (long long)m);
  }
  return MT_OK;
}

/* cp.async copies 4, 8 or 16 bytes. */
static mt_status check_async (const mt_gemm_spec *k, int x, mt_err *err) {
  const mt_tiled_copy *c = &k->way[x].copy;
  if (k->way[x].fill != MT_FILL_CP_ASYNC) return MT_OK;
  if (c->atom_bits == 32 || c->atom_bits == 64 || c->atom_bits == 128) return MT_OK;
  return mt_fail(err, MT_EINEXACT,
                 "g2s.%s: cp.async copies 4, 8 or 16 bytes, %s has %d\n"
                 "atom = \"SM80_CP_ASYNC_CACHEALWAYS<uint128_t>\"",
                 mt_side_name[x], c->atom.name, c->atom_bits / 8);
}

/* Accesses of the copy's width are whole and aligned: of a side in this memory. */
static mt_status check_access (const mt_kernel_claim *c, const mt_tiled_copy *copy,
                               mt_copy_side side, const mt_tensor *t, const char *name,
                               mt_err *err) {
  mt_verdict *v = &c->p->verdict;
  MT_TRY(mt_verify_copy(v, copy, side, t, err));
  if (v->problem != MT_NARROW) return MT_OK;
  return mt_refute(err, name, v,
                   "take a narrower atom, or a layout that keeps them together");
}

static mt_status check_copies (const mt_kernel_claim *c, int x, mt_err *err) {
  const mt_operand_way *w = &c->k->way[x];
  const mt_tensor stage = {.layout = w->smem.node};
  char name[48];
  MT_TRY(check_async(c->k, x, err));
  snprintf(name, sizeof name, "g2s.%s into shared memory", mt_side_name[x]);
  if (mt_side_copied(c->k, x))
    MT_TRY(check_access(c, &w->copy, MT_COPY_D, &stage, name, err));
  snprintf(name, sizeof name, "s2r.%s", mt_side_name[x]);
  if (w->s2r.bits) MT_TRY(check_access(c, &w->s2r, MT_COPY_S, &stage, name, err));
  snprintf(name, sizeof name, "g2s.%s from %s", mt_side_name[x], mt_side_name[x]);
  if (c->t && mt_side_copied(c->k, x))
    MT_TRY(check_access(c, &w->copy, MT_COPY_S, c->t[x], name, err));
  return MT_OK;
}

/* ---------------------------------------------------------------- wgmma, TMA */

static mt_status check_wgmma (const mt_gemm_spec *k, int x, mt_err *err) {
  mt_gmma_desc d;
  mt_err why = {.status = MT_OK, .stop = err->stop, .stop_ud = err->stop_ud};
  if (!mt_side_direct(k, x) || mt_side_desc(&d, k, x, &why) == MT_OK) return MT_OK;
  if (why.status == MT_ESTOPPED) return *err = why, MT_ESTOPPED;
  return mt_fail(err, MT_EINEXACT, "smem.%s: %s", mt_side_name[x], why.text);
}

/* A tensor whose rows are as TMA wants them, with the major of shared memory: where there
** is none yet. */
static mt_status any_tensor (mt_layout *out, const mt_gemm_spec *k, int x, mt_err *err) {
  bool kmajor = mt_gmma_major_of(k->way[x].smem.node) == MT_GMMA_K;
  mt_layout shape, stride;
  const int64_t extent[] = {k->tile[x], k->tile[2]};
  const int64_t step[] = {kmajor ? 4096 : 1, kmajor ? 1 : 4096};
  MT_TRY(mt_ints(&shape, 2, extent, err));
  MT_TRY(mt_ints(&stride, 2, step, err));
  return mt_make_layout(out, shape.node, stride.node, err);
}

static mt_status check_tma (const mt_kernel_claim *c, int x, mt_err *err) {
  static const int modes[] = {0, 1};
  const mt_gemm_spec *k = c->k;
  const mt_operand_way *w = &k->way[x];
  mt_layout any, stage, shape;
  mt_tma box;
  const int64_t tile[] = {k->tile[x], k->tile[2]};
  if (w->fill != MT_FILL_TMA) return MT_OK;
  mt_tensor t = {.layout = any.node};
  if (c->t) t = *c->t[x];
  if (c->t && mt_size(t.layout) == 0) return MT_OK; /* nothing is fetched */
  else MT_TRY(any_tensor(&any, k, x, err));
  MT_TRY(mt_ints(&shape, 2, tile, err));
  MT_TRY(mt_select(&stage, w->smem.node, 2, modes, err));
  MT_TRY(mt_make_tma(&box, &t, mt_side_bits(k, x), stage.node, shape.node, w->multicast,
                     err));
  if (box.why[0] == 0) return MT_OK;
  return mt_fail(err, MT_EINEXACT,
                 "g2s.%s: TMA: %s\ng2s = { %s = \"cp.async\" } copies it by threads",
                 mt_side_name[x], box.why, mt_side_name[x]);
}

static mt_status check_cluster (const mt_gemm_spec *k, mt_err *err) {
  int64_t n = k->cluster[0] * k->cluster[1];
  if (n > MOST_CLUSTER)
    return mt_fail(err, MT_EINEXACT,
                   "cluster: %lldx%lld CTAs: at most %d\n"
                   "cluster = { 2, 1 } shares B, { 1, 2 } shares A",
                   (long long)k->cluster[0], (long long)k->cluster[1], (int)MOST_CLUSTER);
  for (int x = 0; x < 2; x++) {
    int64_t share = k->cluster[1 - x], m = k->way[x].multicast;
    if (m == 1 || m == share) continue;
    return mt_fail(err, MT_EINEXACT,
                   "g2s.%s: multicast to %lld CTAs: %lld of the cluster share %s, those "
                   "along %c",
                   mt_side_name[x], (long long)m, (long long)share, mt_side_name[x],
                   "NM"[x]);
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- registers */

/* Registers of `n` values a thread. */
static int64_t words (int64_t n, int bits) { return (n * bits + 31) / 32; }

/* Values of an operand that a thread has for one step of K, two steps in flight. */
static int64_t fragments (const mt_gemm_spec *k, int x) {
  static const int axes[] = {0, 1};
  const mt_node *tv = x == 0 ? k->mma.atom.a.node : k->mma.atom.b.node;
  int64_t atoms = k->tile[axes[x]] / k->mma.tile[axes[x]];
  int64_t inner = k->mma.tile[axes[x]] / mt_side_operand(k, x)->sparse;
  const mt_mma_op *op = &k->mma.atom.op;
  int64_t along = x == 0 ? op->m : op->n,
          threads = mt_size(mt_mode(mt_base(k->mma.thr_vmnk.node), x + 1));
  if (mt_side_direct(k, x)) return 0;
  return 2 * words(mt_size(mt_mode(mt_base(tv), 1)) * atoms * inner / (along * threads),
                   mt_side_bits(k, x));
}

/* Threads that share the sums of the tile; those that split K have sums of their own. */
static int64_t sharers (const mt_tiled_mma *mma) {
  return mt_tiled_mma_size(mma) / mt_size(mt_mode(mt_base(mma->thr_vmnk.node), 3));
}

void mt_count_registers (mt_gemm_proof *p, const mt_gemm_spec *k) {
  int bits = mt_element_bits(k->mma.atom.op.operand[MT_OPERAND_D].element);
  int64_t n = words(k->tile[0] * k->tile[1] / sharers(&k->mma), bits) + OTHERS;
  for (int x = 0; x < 2; x++) {
    n += fragments(k, x);
    if (k->way[x].fill == MT_FILL_THREADS)
      n += words(mt_side_size(k, x) / mt_tiled_copy_size(&k->way[x].copy),
                 mt_side_bits(k, x));
  }
  int64_t users = mt_gemm_threads(k), left = FILE_OF_REGISTERS;
  if (k->schedule != MT_MULTISTAGE) {
    users -= 128;
    left -= 128 * PRODUCER_REGISTERS;
  }
  p->threads = mt_gemm_threads(k);
  p->registers = n;
  p->most_registers = left / users / 8 * 8;
  if (p->most_registers > MOST_REGISTERS) p->most_registers = MOST_REGISTERS;
}

mt_status mt_prove_hardware (const mt_kernel_claim *c, char *said, mt_err *err) {
  const mt_gemm_spec *k = c->k;
  MT_TRY(check_arch(k, err));
  MT_TRY(check_threads(k, err));
  for (int x = 0; x < 2; x++) {
    MT_TRY(check_copies(c, x, err));
    MT_TRY(check_wgmma(k, x, err));
  }
  MT_TRY(check_cluster(k, err));
  for (int x = 0; x < 2; x++) MT_TRY(check_tma(c, x, err));
  mt_count_registers(c->p, k);
  if (c->p->registers > c->p->most_registers)
    return mt_fail(err, MT_EINEXACT,
                   "about %lld registers a thread: %lld is the most of %lld threads; "
                   "accumulators of %lldx%lld\ntake more threads, or a smaller tile",
                   (long long)c->p->registers, (long long)c->p->most_registers,
                   (long long)c->p->threads, (long long)k->tile[0],
                   (long long)k->tile[1]);
  snprintf(said, MT_SAID,
           "sm_%d: every access is aligned, every box and descriptor one; %lld threads, "
           "about %lld registers of %lld",
           k->arch, (long long)c->p->threads, (long long)c->p->registers,
           (long long)c->p->most_registers);
  return MT_OK;
}
