/*
** rows.c - the precompiled kernels of TMA and wgmma as the values that they are.
** SPDX-License-Identifier: MIT
**
** A row of kernels/gemm/hopper.def is a template's arguments; what they mean is said here
** once more, by the layouts: the stages as its boxes fill them, two warpgroups above each
** other, a producer. The way out of a tile is the template's own: in pieces of a warp.
*/
#include <stdio.h>

#include "moontile/algebra.h"
#include "gemm/hopper.h"
#include "types/dtype.h"
#include "kernel/kernel.h"

const char *mt_gemm_row_name (int i) {
#define MT_HOPPER_KERNEL(name, ...) #name,
  static const char *const names[] = {
#include "kernels/gemm/hopper.def"
  };
#undef MT_HOPPER_KERNEL
  return i >= 0 && (size_t)i < mt_nhopper_rows ? names[i] : NULL;
}

mt_dtype mt_gemm_row_type (int i, int part) { return mt_hopper_rows[i].type[part]; }

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

mt_status mt_gemm_row (mt_gemm_spec *k, int i, mt_candidate list[MT_MAXCANDIDATES],
                       mt_err *err) {
  const mt_hopper_row *row = &mt_hopper_rows[i];
  memset(k, 0, sizeof *k);
  MT_TRY(make_mma(k, row, err));
  k->given = MT_GIVEN_TILE | MT_GIVEN_STAGES;
  k->tile[0] = MT_TILE_M;
  k->tile[1] = row->n;
  k->tile[2] = MT_SLAB / (int64_t)mt_dtype_size(row->type[MT_A]);
  k->stages = row->stages;
  k->schedule = MT_COOPERATIVE;
  k->cluster[0] = row->cluster;
  k->cluster[1] = 1;
  k->way[1].multicast = row->cluster;
  k->alpha = 1;
  for (int x = 0; x < 2; x++) MT_TRY(make_stage(k, row, x, err));
  return mt_complete_gemm(k, list, err);
}
