/*
** pipelines.c - random described kernels: a proven one computes what its tiled MMA does.
** SPDX-License-Identifier: MIT
**
** Tiles, stages, how far ahead, layouts of stages with a swizzle or without, copies of any
** width are drawn; what the laws do not take is left out.
*/
#include <stdio.h>
#include <stdlib.h>

#include "kernel/pipeline.h"
#include "kernels_test.h"
#include "pipelines.h"

/* A stage by rows or columns, padded or not, or under a swizzle. */
static bool draw_stage (mt_gemm_spec *k, int x) {
  mt_err err = MT_NOERR;
  char text[128];
  const int rows = (int)k->tile[x], depth = (int)k->tile[2], pad = 8 * below(2);
  const char *way[] = {"(%d,%d):(%d,1)", "(%d,%d):(1,%d)", "Sw<2,3,3> o (%d,%d):(%d,1)",
                       "Sw<1,4,3> o (%d,%d):(1,%d)"};
  const int which = below(5), pitch = which % 2 == 0 ? depth : rows;
  if (which == 4 || (mt_side_direct(k, x) && below(8))) return true;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  snprintf(text, sizeof text, way[which], rows, depth, pitch + (which < 2 ? pad : 0));
#pragma GCC diagnostic pop
  k->way[x].given |= MT_GIVEN_SMEM;
  return mt_parse(&k->way[x].smem, text, strlen(text), &err) == MT_OK;
}

static bool draw_kernel (mt_gemm_spec *k, const mt_gemm_launch *l,
                         const mt_tiled_mma *mma) {
  static mt_candidate list[MT_MAXCANDIDATES];
  mt_err err = MT_NOERR;
  *k = (mt_gemm_spec){.mma = *mma, .cluster = {1, 1}, .raster = below(2)};
  k->ending.alpha = 1;
  k->given = MT_GIVEN_TILE;
  for (int i = 0; i < 3; i++) k->tile[i] = mma->tile[i] * (1 + (below(3) == 0));
  if (below(4)) k->given |= MT_GIVEN_STAGES, k->stages = 1 + below(4);
  if (below(3) == 0) k->given |= MT_GIVEN_AHEAD, k->ahead = below(4);
  for (int x = 0; x < 2; x++) {
    k->type[x] = (mt_dtype)l->desc.part[x].dtype;
    if (below(2)) k->way[x].given |= MT_GIVEN_FILL, k->way[x].fill = (mt_fill)below(3);
    if (!draw_stage(k, x)) return false;
  }
  return mt_complete_gemm(k, list, &err) == MT_OK;
}

static bool is_proven (const mt_gemm_spec *k) {
  static mt_gemm_proof proof;
  mt_err err = MT_NOERR;
  return mt_verify_gemm(&proof, k, NULL, &err) == MT_OK && proof.ok;
}

static void tell (const mt_gemm_spec *k, const mt_pipeline *p) {
  char text[2][200];
  for (int x = 0; x < 2; x++) mt_format(text[x], sizeof text[x], k->way[x].smem.node);
  fprintf(stderr, "tile %dx%dx%d, %d stages, %d ahead, async %d, %d, smem %s and %s\n",
          (int)k->tile[0], (int)k->tile[1], (int)k->tile[2], (int)p->stages,
          (int)p->ahead, (int)p->side[0].async, (int)p->side[1].async, text[0], text[1]);
}

bool one_pipeline (const char *name, unsigned blocks, const mt_gemm_launch *l,
                   const mt_tiled_mma *mma, emulated_instruction *how) {
  static mt_gemm_spec k;
  mt_err err = MT_NOERR;
  mt_pipeline_tables t;
  mt_pipeline_launch all = {.gemm = *l};
  if (!draw_kernel(&k, l, mma) || !is_proven(&k)) return false;
  char *room = aligned_alloc(64, (mt_pipeline_room(&k) + 63) / 64 * 64);
  if (room == NULL) abort();
  bool good = mt_pipeline_of(&t, &k, room, &err) == MT_OK &&
              mt_gemm_pipeline(&all, &t, &err) == MT_OK;
  if (!good) fprintf(stderr, "%s: %s\n", name, err.text);
  if (good) emulate_pipeline(name, blocks, &all, how);
  if (good && getenv("MOONTILE_TELL")) tell(&k, &all.pipe);
  free(room);
  return good;
}

bool pipelines (long cases) {
  long all = 0, tries = 0;
  for (const mt_kernel *k = mt_cuda_kernels; k < mt_cuda_kernels + mt_ncuda_kernels; k++)
    for (long i = 0, each = 0; k->op == MT_OP_GEMM && i < cases; tries++) {
      const uint64_t seed = seed_now();
      bool ran = false, good = described_product(k, &ran);
      if (!good || each++ > 200 * cases + 2000) {
        fprintf(stderr, "pipeline_%s: case %ld, seed 0x%llx\n", k->name, i,
                (unsigned long long)seed);
        return false;
      }
      i += ran, all += ran;
    }
  printf("kernels: %ld described products of %ld drawn\n", all, tries);
  return true;
}
