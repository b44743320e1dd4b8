/*
** near.c - the precompiled kernels beside a described one, and what they differ in.
** SPDX-License-Identifier: MIT
*/
#include <math.h>

#include "moontile/algebra.h"
#include "kernel/kernel.h"

const char *mt_kernel_field_name (mt_kernel_field f) {
#define MT_KERNEL_ROW(field, name) name,
  static const char *const names[] = {MT_KERNEL_FIELDS(MT_KERNEL_ROW)};
#undef MT_KERNEL_ROW
  return (unsigned)f < MT_NFIELD ? names[f] : "?";
}

/* ---------------------------------------------------------------- layouts */

/* Whether both are one function; of what cannot be told: no. */
static bool one_function (const mt_node *a, const mt_node *b) {
  mt_err unused = MT_NOERR;
  bool same = false;
  if (mt_equal(a, b)) return true;
  return mt_equivalent(&same, NULL, a, b, &unused) == MT_OK && same;
}

/* The (thread,value) layout of an operand of the MMA's own tile. */
static bool operand_of (mt_layout *out, const mt_tiled_mma *m, mt_mma_part x) {
  static const int mode[][2] = {{0, 2}, {1, 2}, {0, 1}}; /* of M, N, K: by mt_mma_part */
  const int64_t extent[] = {m->tile[mode[x][0]], m->tile[mode[x][1]]};
  mt_layout shape, tile;
  mt_err unused = MT_NOERR;
  return mt_ints(&shape, 2, extent, &unused) == MT_OK &&
         mt_layout_left(&tile, shape.node, &unused) == MT_OK &&
         mt_mma_tv(out, m, x, tile.node, &unused) == MT_OK;
}

static bool same_operand (const mt_tiled_mma *a, const mt_tiled_mma *b, mt_mma_part x) {
  mt_layout of_a, of_b;
  return operand_of(&of_a, a, x) && operand_of(&of_b, b, x) &&
         one_function(of_a.node, of_b.node);
}

static bool same_mma (const mt_tiled_mma *a, const mt_tiled_mma *b) {
  if (strcmp(a->atom.op.name, b->atom.op.name) != 0) return false;
  for (int i = 0; i < 3; i++)
    if (a->tile[i] != b->tile[i]) return false;
  return same_operand(a, b, MT_PART_A) && same_operand(a, b, MT_PART_B) &&
         same_operand(a, b, MT_PART_C);
}

/* Elements of a stage, and where the next one begins if both have one. */
static bool same_stage (const mt_gemm_spec *a, const mt_gemm_spec *b, int x) {
  const bool next = a->stages > 1 && b->stages > 1;
  const int64_t n = mt_side_size(a, x) + next;
  mt_err unused = MT_NOERR;
  for (int64_t i = 0; i < n; i++) {
    int64_t in_a, in_b;
    if (mt_at(&in_a, a->way[x].smem.node, i, &unused) ||
        mt_at(&in_b, b->way[x].smem.node, i, &unused) || in_a != in_b)
      return false;
  }
  return true;
}

/* Both none, or of one atom and of the same threads and values. */
static bool same_copy (const mt_tiled_copy *a, const mt_tiled_copy *b) {
  if (a->bits == 0 || b->bits == 0) return a->bits == b->bits;
  return a->bits == b->bits && strcmp(a->atom.name, b->atom.name) == 0 &&
         mt_equal(a->tiler.node, b->tiler.node) &&
         one_function(a->layout_tv.node, b->layout_tv.node);
}

static bool same_fill (const mt_gemm_spec *a, const mt_gemm_spec *b, int x) {
  const mt_operand_way *v = &a->way[x], *w = &b->way[x];
  if (v->fill != w->fill) return false;
  if (v->fill == MT_FILL_TMA) return (v->multicast > 1) == (w->multicast > 1);
  return same_copy(&v->copy, &w->copy);
}

/* ---------------------------------------------------------------- differences */

static bool same_tile (const mt_gemm_spec *a, const mt_gemm_spec *b) {
  return memcmp(a->tile, b->tile, sizeof a->tile) == 0;
}

/* What follows from the tile, of A or B. */
static unsigned side_differs (const mt_gemm_spec *a, const mt_gemm_spec *b, int x) {
  unsigned d = 0;
  if (!same_stage(a, b, x)) d |= 1u << (MT_FIELD_SMEM_A + x);
  if (!same_fill(a, b, x)) d |= 1u << (MT_FIELD_G2S_A + x);
  if (!same_copy(&a->way[x].s2r, &b->way[x].s2r)) d |= 1u << (MT_FIELD_S2R_A + x);
  return d;
}

unsigned mt_gemm_differs (const mt_gemm_spec *a, const mt_gemm_spec *b) {
  unsigned d = 0;
  if (!same_mma(&a->mma, &b->mma)) d |= 1u << MT_FIELD_MMA;
  if (a->stages != b->stages) d |= 1u << MT_FIELD_STAGES;
  if (a->stages - a->ahead != b->stages - b->ahead) d |= 1u << MT_FIELD_AHEAD;
  if (a->schedule != b->schedule) d |= 1u << MT_FIELD_SCHEDULE;
  if (a->raster != b->raster) d |= 1u << MT_FIELD_RASTER;
  if (memcmp(a->cluster, b->cluster, sizeof a->cluster) != 0) d |= 1u << MT_FIELD_CLUSTER;
  if (a->staged != b->staged || (a->staged && !one_function(a->d.node, b->d.node)))
    d |= 1u << MT_FIELD_SMEM_D;
  if (!same_tile(a, b)) return d | 1u << MT_FIELD_TILE;
  return d | side_differs(a, b, 0) | side_differs(a, b, 1);
}

/* ---------------------------------------------------------------- the nearest */

static double doublings (int64_t a, int64_t b) {
  return fabs(log2((double)a) - log2((double)b));
}

static double far_apart (const mt_gemm_spec *a, const mt_gemm_spec *b) {
  double far = doublings(a->stages, b->stages);
  for (int i = 0; i < 3; i++) far += doublings(a->tile[i], b->tile[i]);
  return far;
}

static bool is_nearer (const mt_near_row *a, const mt_near_row *b) {
  const int of_a = __builtin_popcount(a->differs), of_b = __builtin_popcount(b->differs);
  return of_a != of_b ? of_a < of_b : a->far < b->far;
}

/* Puts the row where it belongs; the last one goes if there is no room. Returns how many
** there are. */
static int insert (mt_near_row *out, int room, int n, mt_near_row row) {
  int i = n;
  while (i > 0 && is_nearer(&row, &out[i - 1])) i--;
  if (i == room) return n;
  if (n < room) n++;
  for (int k = n - 1; k > i; k--) out[k] = out[k - 1];
  out[i] = row;
  return n;
}

/* Whether a value says what row i is, of the types that k reads, which ends as k does. */
static bool is_comparable (const mt_gemm_spec *k, int i) {
  return mt_gemm_row_arch(i) != 0 && mt_gemm_row_ends(i, k) &&
         mt_gemm_row_type(i, 0) == k->type[0] && mt_gemm_row_type(i, 1) == k->type[1];
}

int mt_gemm_near (mt_near_row *out, int room, const mt_gemm_spec *k,
                  mt_gemm_spec *scratch, mt_candidate list[MT_MAXCANDIDATES]) {
  int n = 0;
  for (int i = 0; mt_gemm_row_name(i) != NULL; i++) {
    mt_err unused = MT_NOERR;
    if (!is_comparable(k, i) || mt_gemm_row(scratch, i, list, &unused) != MT_OK) continue;
    const unsigned differs = mt_gemm_differs(k, scratch);
    if (differs != 0 && mt_gemm_row_is_twin(i)) continue;
    n = insert(out, room, n, (mt_near_row){i, differs, far_apart(k, scratch)});
  }
  return n;
}
