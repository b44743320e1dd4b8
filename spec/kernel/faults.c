/*
** faults.c - kernels executed although a law is broken: the result is wrong, so that the
** execution would show what a proof had overlooked; and right ones are right.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>
#include <string.h>

#include "kernel_test.h"

enum { M = 70, N = 40, K = 152, SEEDS = 40 };

static mt_gemm_spec kernel;
static mt_gemm_proof proof;
static mt_candidate list[MT_MAXCANDIDATES];
static float a[M * K], b[N * K], c[M * N], want[M * N];

bool make_kernel (mt_gemm_spec *k, const char *atom, const char *atoms,
                  const int64_t tile[3], int64_t stages, mt_schedule schedule) {
  mt_err err = MT_NOERR;
  mt_layout groups;
  memset(k, 0, sizeof *k);
  mt_status s = mt_parse(&groups, atoms, strlen(atoms), &err);
  if (s == MT_OK) s = mt_make_tiled_mma(&k->mma, atom, groups.node, NULL, &err);
  memcpy(k->tile, tile, sizeof k->tile);
  k->given = MT_GIVEN_TILE | MT_GIVEN_STAGES;
  k->stages = stages;
  k->schedule = schedule;
  k->cluster[0] = k->cluster[1] = 1;
  k->ending.alpha = 1;
  if (s == MT_OK) s = mt_complete_gemm(k, list, &err);
  CHECK(s == MT_OK, "%s", err.text);
  return s == MT_OK;
}

static void fill (uint64_t seed) {
  for (int i = 0; i < M * K; i++) a[i] = (float)(int)(splitmix64(&seed) % 7) - 3;
  for (int i = 0; i < N * K; i++) b[i] = (float)(int)(splitmix64(&seed) % 7) - 3;
  for (int m = 0; m < M; m++)
    for (int n = 0; n < N; n++) {
      float sum = 0;
      for (int k = 0; k < K; k++) sum += a[m * K + k] * b[n * K + k];
      want[m * N + n] = sum;
    }
}

static mt_tensor matrix (mt_layout *room, float *data, int64_t rows, int64_t columns) {
  mt_layout shape;
  mt_err err = MT_NOERR;
  const int64_t extent[] = {rows, columns};
  mt_ints(&shape, 2, extent, &err);
  mt_layout_right(room, shape.node, &err);
  return (mt_tensor){.layout = room->node,
                     .dtype = MT_f32,
                     .data = data,
                     .bytes = (size_t)(rows * columns) * sizeof *data};
}

/* How many of the runs with different seeds give what they should. */
static int right_runs (const mt_gemm_spec *k, mt_law *broken) {
  mt_layout room[3];
  mt_err err = MT_NOERR;
  const mt_tensor t[] = {matrix(&room[0], a, M, K), matrix(&room[1], b, N, K),
                         matrix(&room[2], c, M, N)};
  const mt_tensor *const all[MT_KERNEL_TENSORS] = {&t[0], &t[1], &t[2]};
  int right = 0;
  *broken = MT_NLAW;
  CHECK(mt_verify_gemm(&proof, k, all, &err) == MT_OK, "%s", err.text);
  if (!proof.ok) *broken = proof.broken;
  char *memory = malloc(mt_gemm_room_for(k) + 64);
  for (uint64_t seed = 1; seed <= SEEDS && memory; seed++) {
    char *at = memory + 64 - (uintptr_t)memory % 64;
    memset(c, 0, sizeof c);
    mt_status s = mt_run_gemm(k, all, seed, at, &err);
    right += s == MT_OK && memcmp(c, want, sizeof c) == 0;
  }
  free(memory);
  return right;
}

static void expect (const char *name, mt_law law, bool all) {
  mt_law broken;
  int right = right_runs(&kernel, &broken);
  CHECK(broken == law, "%s: %s, %s", name, mt_law_name(broken), proof.reason);
  if (law == MT_NLAW) CHECK(right == SEEDS, "%s: %d of %d right", name, right, SEEDS);
  else if (all) CHECK(right == 0, "%s: %d of %d right", name, right, SEEDS);
  else CHECK(right < SEEDS, "%s: all %d are right", name, right);
}

static const char tf32[] = "SM80_16x8x8_F32TF32TF32F32_TN";
static const char wgmma[] = "SM90_64x32x8_F32TF32TF32_SS_TN";
static const int64_t small[] = {32, 16, 16}, large[] = {64, 32, 32};

static bool make (int which, mt_schedule schedule) {
  static const char four[] = "(2,2,1):(1,2,0)", one[] = "1:0";
  if (which == 0) return make_kernel(&kernel, tf32, four, small, 3, schedule);
  return make_kernel(&kernel, wgmma, one, large, 3, schedule);
}

/* One element of a layout moved: stride number `leaf` of A's. */
static void move_stride (int leaf, int64_t by) {
  mt_node *p = kernel.way[0].smem.node;
  for (; leaf >= 0; p++)
    if (p->tag == MT_LEAF && p->shape > 1 && leaf-- == 0) p->stride += by;
}

void test_faults (uint64_t seed) {
  fill(seed);
  if (make(0, MT_MULTISTAGE)) {
    expect("four warps", MT_NLAW, true);
    kernel.ahead = 3;
    expect("filled too far ahead", MT_LAW_ORDER, false);
    kernel.ahead = 2;
    move_stride(0, -4);
    expect("rows that overlap", MT_LAW_ROOM, true);
  }
  if (make(0, MT_MULTISTAGE)) {
    move_stride(2, -64);
    expect("stages that overlap", MT_LAW_ROOM, false);
  }
  if (make(0, MT_MULTISTAGE)) {
    mt_err err = MT_NOERR;
    mt_make_tiled_copy_mma(&kernel.way[0].s2r, "UniversalCopy<uint32_t>", 32, &kernel.mma,
                           MT_PART_B, &err);
    expect("fragments of B for A", MT_LAW_FIT, true);
  }
  for (int s = MT_COOPERATIVE; s <= MT_PINGPONG; s++) {
    if (!make(1, (mt_schedule)s)) continue;
    expect("a producer", MT_NLAW, true);
    kernel.ahead = 4;
    expect("a producer too far ahead", MT_LAW_ORDER, false);
    kernel.ahead = 3;
    kernel.way[0].smem.node[0].shape += 1 << 8; /* the M of the swizzle */
    expect("a swizzle that wgmma has not", MT_LAW_HARDWARE, true);
  }
}
