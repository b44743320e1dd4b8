/*
** rows.c - the precompiled kernels as the values that they are.
** SPDX-License-Identifier: MIT
**
** A row of kernels/gemm/hopper.def or ampere.def is a template's arguments; what they
** mean is said here once more, by the layouts: the stages as they are filled, who
** multiplies what. The way out of a tile is the template's own: in pieces of a warp.
*/
#include <stdio.h>

#include "moontile/algebra.h"
#include "gemm/ampere.h"
#include "gemm/hopper.h"
#include "gemm/matrix.h"
#include "types/dtype.h"
#include "kernel/kernel.h"

/* ---------------------------------------------------------------- the lists */

const char *mt_gemm_row_name (int i) {
#define MT_HOPPER_KERNEL(name, ...) #name,
#define MT_AMPERE_KERNEL(name, ...) #name,
#define MT_AMPERE_EPILOGUE(name, ...) #name,
  static const char *const names[] = {
#include "kernels/gemm/hopper.def"
#include "kernels/gemm/ampere.def"
  };
  return i >= 0 && (size_t)i < sizeof names / sizeof *names ? names[i] : NULL;
}

static bool is_hopper (int i) { return (size_t)i < mt_nhopper_rows; }
static const mt_ampere_row *ampere_row (int i) {
  return &mt_ampere_rows[(size_t)i - mt_nhopper_rows];
}

bool mt_gemm_row_ends (int i, const mt_gemm_spec *k) {
  const bool finishes = mt_gemm_finishes(k);
  if (!is_hopper(i)) return ampere_row(i)->finishes == finishes;
  const mt_hopper_row *row = &mt_hopper_rows[i];
  if (!row->finishes || !finishes) return row->finishes == finishes;
  return mt_hopper_ends(row, k->ending.beta != 0 || k->ending.residual,
                        mt_form_of((uint32_t)k->ending.activation).form);
}

bool mt_gemm_row_is_twin (int i) {
  const mt_hopper_row *row = &mt_hopper_rows[is_hopper(i) ? i : 0];
  return is_hopper(i) && (row->by_rows || row->turned || row->side == MT_SIDE_READ);
}

mt_dtype mt_gemm_row_type (int i, int part) {
  return is_hopper(i) ? mt_hopper_rows[i].type[part] : ampere_row(i)->type[part];
}

/* Of mma.sync those whose operands come by ldmatrix as they lie. */
int mt_gemm_row_arch (int i) {
  if (is_hopper(i)) return 90;
  const mt_ampere_row *r = ampere_row(i);
  bool halves = r->type[0] == MT_f16 || r->type[0] == MT_bf16;
  bool bytes = r->type[0] == MT_i8 || r->type[0] == MT_u8;
  bool lines = r->major[0] != MT_MAJOR_ANY && r->major[1] != MT_MAJOR_ANY;
  return (halves || bytes) && lines ? 80 : 0;
}

/* ---------------------------------------------------------------- TMA and wgmma */

/* The instruction of a type, but for its N. */
static const struct atom {
  mt_dtype type;
  const char *behind;
} atoms[] = {{MT_bf16, "x16_F32BF16BF16_SS"},       {MT_f16, "x16_F32F16F16_SS"},
             {MT_e4m3, "x32_F32E4M3E4M3_SS_TN"},    {MT_e5m2, "x32_F32E5M2E5M2_SS_TN"},
             {MT_i8, "x32_S32S8S8_SS_TN_SATURATE"}, {MT_u8, "x32_S32U8U8_SS_TN_SATURATE"},
             {MT_f32, "x8_F32TF32TF32_SS_TN"}};

static mt_status make_mma (mt_gemm_spec *k, const mt_hopper_row *row, mt_err *err) {
  static const char two[] = "(2,1,1):(1,0,0)";
  char name[MT_ATOM_NAME];
  mt_layout groups;
  const struct atom *a = atoms, *end = atoms + sizeof atoms / sizeof *atoms;
  while (a < end && a->type != row->type[MT_A]) a++;
  if (a == end)
    return mt_fail(err, MT_EUNSUPPORTED, "kernels: no instruction is known for %s",
                   mt_dtype_name(row->type[MT_A]));
  snprintf(name, sizeof name, "SM90_64x%d%s", (int)row->n, a->behind);
  MT_TRY(mt_parse(&groups, two, strlen(two), err));
  return mt_make_tiled_mma(&k->mma, name, groups.node, NULL, err);
}

/* A stage: rows of 128 bytes, under each other along K before the next along M or N. */
static mt_status make_stage (mt_gemm_spec *k, const mt_hopper_row *row, int x,
                             mt_err *err) {
  mt_layout atom, shape, order;
  static const int64_t turned[] = {2, 1};
  const int64_t extent[] = {k->tile[x], k->tile[2]};
  const char *name =
      row->mn[x] ? "GMMA::Layout_MN_SW128_Atom" : "GMMA::Layout_K_SW128_Atom";
  MT_TRY(mt_smem_atom(&atom, name, 8 * (int)mt_dtype_size(row->type[x]), err));
  MT_TRY(mt_ints(&shape, 2, extent, err));
  MT_TRY(mt_ints(&order, 2, turned, err));
  MT_TRY(mt_tile_to_shape(&k->way[x].smem, atom.node, shape.node,
                          row->mn[x] ? order.node : NULL, err));
  k->way[x].given = MT_GIVEN_SMEM | MT_GIVEN_FILL;
  k->way[x].fill = MT_FILL_TMA;
  return MT_OK;
}

static mt_status make_hopper (mt_gemm_spec *k, const mt_hopper_row *row, mt_err *err) {
  MT_TRY(make_mma(k, row, err));
  k->tile[0] = MT_TILE_M;
  k->tile[1] = row->n;
  k->tile[2] = MT_SLAB / (int64_t)mt_dtype_size(row->type[MT_A]);
  k->stages = row->stages;
  k->schedule = MT_COOPERATIVE;
  k->cluster[0] = row->cluster;
  k->way[1].multicast = row->cluster;
  for (int x = 0; x < 2; x++) MT_TRY(make_stage(k, row, x, err));
  return MT_OK;
}

/* ---------------------------------------------------------------- cp.async, mma.sync */

/* A warp has a tile of its own, whose rows are together: atoms of all warps first, then
** the next ones of each. */
static mt_status make_warps (mt_gemm_spec *k, const mt_ampere_row *r, mt_err *err) {
  static const struct {
    mt_dtype a, b;
    const char *atom;
  } cores[] = {{MT_f16, MT_f16, "SM80_16x8x16_F32F16F16F32_TN"},
               {MT_bf16, MT_bf16, "SM80_16x8x16_F32BF16BF16F32_TN"},
               {MT_i8, MT_i8, "SM80_16x8x32_S32S8S8S32_TN_SATURATE"},
               {MT_i8, MT_u8, "SM80_16x8x32_S32S8U8S32_TN_SATURATE"},
               {MT_u8, MT_i8, "SM80_16x8x32_S32U8S8S32_TN_SATURATE"},
               {MT_u8, MT_u8, "SM80_16x8x32_S32U8U8S32_TN_SATURATE"}};
  const int n = sizeof cores / sizeof *cores, m = r->warps[0], w = r->warps[1];
  char text[96];
  mt_layout warps, permutation;
  int i = 0;
  while (i < n && (cores[i].a != r->type[0] || cores[i].b != r->type[1])) i++;
  if (i == n) return mt_fail(err, MT_EUNSUPPORTED, "kernels: no such instruction");
  snprintf(text, sizeof text, "(%d,%d,1):(%d,1,0)", m, w, w);
  MT_TRY(mt_parse(&warps, text, strlen(text), err));
  snprintf(text, sizeof text, "((16,%d,%d):(1,%d,16),(8,%d,%d):(1,%d,8),_)", m,
           r->m / m / 16, r->m / m, w, r->n / w / 8, r->n / w);
  MT_TRY(mt_parse(&permutation, text, strlen(text), err));
  return mt_make_tiled_mma(&k->mma, cores[i].atom, warps.node, permutation.node, err);
}

/* Rows of 64 or 128 bytes of K, or of M or N, whose chunks of 16 bytes trade places. */
static mt_status make_lines (mt_gemm_spec *k, const mt_ampere_row *r, int x,
                             mt_err *err) {
  int bits = 8 * (int)mt_dtype_size(r->type[x]), rows = (int)k->tile[x];
  mt_layout atom, shape;
  mt_operand_way *w = &k->way[x];
  const int64_t extent[] = {rows, r->k};
  char text[64];
  w->given = MT_GIVEN_SMEM | MT_GIVEN_FILL | MT_GIVEN_S2R;
  w->fill = MT_FILL_CP_ASYNC;
  if (r->major[x] == MT_MAJOR_MN) {
    snprintf(text, sizeof text, "Sw<3,3,4> o 0 o (%d,%d):(1,%d)", rows, (int)r->k, rows);
    return mt_parse(&w->smem, text, strlen(text), err);
  }
  snprintf(text, sizeof text, "GMMA::Layout_K_SW%d_Atom", r->k * bits / 8);
  MT_TRY(mt_smem_atom(&atom, text, bits, err));
  MT_TRY(mt_ints(&shape, 2, extent, err));
  return mt_tile_to_shape(&w->smem, atom.node, shape.node, NULL, err);
}

static mt_status make_ampere (mt_gemm_spec *k, const mt_ampere_row *r, mt_err *err) {
  MT_TRY(make_warps(k, r, err));
  k->tile[0] = r->m;
  k->tile[1] = r->n;
  k->tile[2] = r->k;
  k->stages = r->stages;
  for (int x = 0; x < 2; x++) {
    bool turned = r->major[x] == MT_MAJOR_MN;
    MT_TRY(make_lines(k, r, x, err));
    MT_TRY(mt_make_tiled_copy_mma(&k->way[x].s2r,
                                  turned ? "SM75_U16x8_LDSM_T" : "SM75_U32x4_LDSM_N",
                                  8 * (int)mt_dtype_size(r->type[x]), &k->mma,
                                  x == 0 ? MT_PART_A : MT_PART_B, err));
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- a row */

mt_status mt_gemm_row (mt_gemm_spec *k, int i, mt_candidate list[MT_MAXCANDIDATES],
                       mt_err *err) {
  memset(k, 0, sizeof *k);
  k->given = MT_GIVEN_TILE | MT_GIVEN_STAGES;
  k->cluster[0] = k->cluster[1] = 1;
  k->ending.alpha = 1;
  if (is_hopper(i)) MT_TRY(make_hopper(k, &mt_hopper_rows[i], err));
  else MT_TRY(make_ampere(k, ampere_row(i), err));
  return mt_complete_gemm(k, list, err);
}
