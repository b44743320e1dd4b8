/*
** proof.c - all laws of a kernel, what it costs, and both in words.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "moontile/algebra.h"
#include "core/strbuf.h"
#include "kernel/laws.h"
#include "types/dtype.h"

/* ---------------------------------------------------------------- cost */

static mt_status count_banks (mt_access_cost *out, const mt_node *a,
                              const mt_warp_access *how, mt_err *err) {
  mt_banks b;
  MT_TRYERR(none, err);
  mt_status s = mt_bank_conflicts(&b, a, how, &none); /* too many to count: not counted */
  if (s == MT_OK) *out = (mt_access_cost){b.wavefronts, b.ideal};
  if (s == MT_ESTOPPED) *err = none;
  return s == MT_ESTOPPED ? s : MT_OK;
}

static mt_status count_copy (mt_access_cost *out, const mt_tiled_copy *c,
                             mt_copy_side side, const mt_node *stage, mt_err *err) {
  mt_layout part;
  mt_warp_access how = mt_access_of(c, side);
  MT_TRY(mt_copy_tidfrg(&part, c, side, stage, err));
  return count_banks(out, part.node, &how, err);
}

/* Of a stage: what fills it, what reads it. The units that read for wgmma and write for
** TMA have their own paths. */
static mt_status count_side (const mt_kernel_claim *c, int x, mt_err *err) {
  static const int modes[] = {0, 1};
  const mt_gemm_spec *k = c->k;
  const mt_operand_way *w = &k->way[x];
  mt_layout stage, part;
  MT_TRY(mt_select(&stage, w->smem.node, 2, modes, err));
  if (mt_side_copied(k, x))
    MT_TRY(count_copy(&c->p->write[x], &w->copy, MT_COPY_D, stage.node, err));
  if (w->s2r.bits) return count_copy(&c->p->read[x], &w->s2r, MT_COPY_S, stage.node, err);
  if (mt_side_direct(k, x)) return MT_OK;
  mt_warp_access how = {.kind = MT_READ, .bits = mt_side_bits(k, x)};
  how.bytes = how.bits / 8;
  MT_TRY(mt_mma_tv(&part, &k->mma, x == 0 ? MT_PART_A : MT_PART_B, stage.node, err));
  return count_banks(&c->p->read[x], part.node, &how, err);
}

/* Of the first tile of the tensor; none of one that is smaller than that. */
static mt_status count_sectors (const mt_kernel_claim *c, int x, mt_err *err) {
  mt_layout shape, tile, part;
  mt_sectors n;
  const mt_gemm_spec *k = c->k;
  const mt_node *a = c->given[x]->layout;
  const int64_t extent[] = {k->tile[x], k->tile[2]};
  if (!mt_side_copied(k, x) || mt_base(a) != a) return MT_OK;
  for (int i = 0; i < 2; i++)
    if (mt_size(mt_mode(a, i)) < extent[i]) return MT_OK;
  MT_TRYERR(none, err);
  mt_warp_access how = mt_access_of(&k->way[x].copy, MT_COPY_S);
  MT_TRY(mt_ints(&shape, 2, extent, err));
  mt_status s = mt_composition(&tile, a, shape.node, &none);
  if (s == MT_OK) s = mt_copy_tidfrg(&part, &k->way[x].copy, MT_COPY_S, tile.node, &none);
  if (s == MT_OK) s = mt_coalescing(&n, part.node, &how, &none);
  if (s == MT_OK) c->p->sectors[x] = (mt_access_cost){n.sectors, n.ideal};
  if (s == MT_ESTOPPED) *err = none;
  return s == MT_ESTOPPED ? s : MT_OK;
}

mt_status mt_count_costs (const mt_kernel_claim *c, mt_err *err) {
  for (int x = 0; x < 2; x++) {
    MT_TRY(count_side(c, x, err));
    if (c->t) MT_TRY(count_sectors(c, x, err));
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- all of them */

mt_status mt_verify_gemm (mt_gemm_proof *out, const mt_gemm_spec *k,
                          const mt_tensor *const t[MT_KERNEL_TENSORS], mt_err *err) {
  static mt_law_proof *const proofs[MT_NLAW] = {mt_prove_cover, mt_prove_in,
                                                mt_prove_room,  mt_prove_fit,
                                                mt_prove_once,  mt_prove_out,
                                                mt_prove_order, mt_prove_hardware};
  memset(out, 0, sizeof *out);
  if (t) MT_TRY(mt_stand_in(out, k, t, err));
  const mt_kernel_claim c = {k, t ? out->in : NULL, t, out};
  for (int law = 0; law < MT_NLAW; law++) {
    mt_status s = proofs[law](&c, out->said[law], err);
    if (s == MT_ESTOPPED) return s;
    if (s == MT_OK) continue;
    out->broken = (mt_law)law;
    snprintf(out->reason, sizeof out->reason, "%s", err->text);
    mt_forgive(err);
    return MT_OK;
  }
  out->ok = true;
  return mt_count_costs(&c, err);
}

/* ---------------------------------------------------------------- text */

static void put_cost (mt_strbuf *b, const char *what, const mt_access_cost c[2]) {
  for (int x = 0; x < 2; x++)
    if (c[x].n)
      mt_putf(b, "\n%s of %s: %lld, %lld would do", what, mt_side_name[x],
              (long long)c[x].n, (long long)c[x].ideal);
}

size_t mt_gemm_proof_format (char *buf, size_t size, const mt_gemm_proof *p,
                             const mt_gemm_spec *k) {
  mt_strbuf b = {buf, size, 0};
  if (size > 0) buf[0] = 0;
  if (!p->ok) {
    mt_putf(&b, "no proof, %s: %s", mt_law_name(p->broken), p->reason);
    return b.n;
  }
  mt_putf(&b, "proof: %lldx%lldx%lld by %s", (long long)k->tile[0], (long long)k->tile[1],
          (long long)k->tile[2], k->mma.atom.op.name);
  for (int law = 0; law < MT_NLAW; law++)
    mt_putf(&b, "\n%s: %s", mt_law_name((mt_law)law), p->said[law]);
  put_cost(&b, "wavefronts that fill a stage", p->write);
  put_cost(&b, "wavefronts that read a stage", p->read);
  put_cost(&b, "sectors of a tile", p->sectors);
  return b.n;
}
