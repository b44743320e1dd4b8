/*
** spec.c - completes a description: what it does not say is found, or said to be missing.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>
#include <stdlib.h>

#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "atom/mma_number.h"
#include "types/dtype.h"
#include "kernel/kernel.h"

enum { ROW = 128, MOST_STAGES = 4, MAX_STAGES = 16 }; /* bytes of K; stages */

/* ---------------------------------------------------------------- types and tiles */

/* The first dtype of the element's width that holds it, else the first that does. */
static mt_status find_type (mt_gemm_spec *k, int x, mt_err *err) {
  mt_element e = mt_side_operand(k, x)->element;
  int found = -1;
  for (int d = MT_NDTYPE - 1; d >= 0; d--)
    if (mt_dtype_holds((mt_dtype)d, e) &&
        (found < 0 || 8 * (int)mt_dtype_size((mt_dtype)d) <= mt_element_bits(e)))
      found = d;
  if (found < 0)
    return mt_fail(err, MT_EUNSUPPORTED,
                   "kernel: no tensor holds %s, which %s takes as %s", mt_element_name(e),
                   k->mma.atom.op.name, mt_side_name[x]);
  k->type[x] = (mt_dtype)found;
  return MT_OK;
}

static mt_status find_tile (mt_gemm_spec *k, mt_err *err) {
  static const char modes[] = "MNK";
  int bits = mt_side_bits(k, 0);
  if (!(k->given & MT_GIVEN_TILE)) {
    for (int i = 0; i < 3; i++) k->tile[i] = k->mma.tile[i];
    while (k->tile[2] * bits < 8 * ROW) k->tile[2] += k->mma.tile[2];
  }
  for (int i = 0; i < 3; i++)
    if (k->tile[i] < 1 || k->tile[i] > 1024)
      return mt_fail(err, MT_EINVAL, "kernel: tile: %lld along %c: 1 to 1024",
                     (long long)k->tile[i], modes[i]);
  return MT_OK;
}

/* ---------------------------------------------------------------- who fills */

static void find_fill (mt_gemm_spec *k, int x) {
  static const char prefix[] = "SM80_CP_ASYNC";
  mt_operand_way *w = &k->way[x];
  bool async =
      !w->copy.atom.own && strncmp(w->copy.atom.name, prefix, strlen(prefix)) == 0;
  if (w->given & MT_GIVEN_COPY) {
    w->fill = async ? MT_FILL_CP_ASYNC : MT_FILL_THREADS;
  } else if (!(w->given & MT_GIVEN_FILL)) {
    bool tma = mt_side_direct(k, x) || k->schedule != MT_MULTISTAGE;
    bool old = mt_arch_number(k->mma.atom.op.arch) < 80;
    w->fill = tma ? MT_FILL_TMA : old ? MT_FILL_THREADS : MT_FILL_CP_ASYNC;
  }
}

/* The mode of A or B whose neighbours lie together in shared memory. */
static int along_of (const mt_operand_way *w) {
  return (w->given & MT_GIVEN_SMEM) && mt_gmma_major_of(w->smem.node) == MT_GMMA_MN ? 0 :
                                                                                      1;
}

/* `thr` threads in rows of c, each with vec values along mode `along`. */
static mt_status make_copy (mt_tiled_copy *out, const char *atom, int bits, int64_t thr,
                            int64_t c, int64_t vec, int along, mt_err *err) {
  char text[2][96];
  mt_layout t, v;
  long long r = (long long)(thr / c), n = (long long)c, w = (long long)vec;
  if (along) {
    snprintf(text[0], sizeof text[0], "(%lld,%lld):(%lld,1)", r, n, n);
    snprintf(text[1], sizeof text[1], "(1,%lld):(0,1)", w);
  } else {
    snprintf(text[0], sizeof text[0], "(%lld,%lld):(1,%lld)", n, r, n);
    snprintf(text[1], sizeof text[1], "(%lld,1):(1,0)", w);
  }
  MT_TRY(mt_parse(&t, text[0], strlen(text[0]), err));
  MT_TRY(mt_parse(&v, text[1], strlen(text[1]), err));
  return mt_make_tiled_copy(out, atom, bits, t.node, v.node, err);
}

/* Accesses as wide as can be; rows of threads as long as the tile. */
static mt_status find_copy (mt_gemm_spec *k, int x, mt_err *err) {
  mt_operand_way *w = &k->way[x];
  bool async = w->fill == MT_FILL_CP_ASYNC;
  int bits = mt_side_bits(k, x), along = along_of(w);
  const int64_t extent[] = {k->tile[x], k->tile[2]};
  int64_t threads = mt_tiled_mma_threads(&k->mma), wide = extent[along];
  for (int width = 128; width >= bits && width >= (async ? 32 : 8); width /= 2)
    for (int64_t vec = width / bits, c = wide / vec; c > 0; c--) {
      char atom[64];
      if (wide % (c * vec) || threads % c || extent[1 - along] % (threads / c)) continue;
      snprintf(atom, sizeof atom, "%s<uint%d_t>",
               async ? "SM80_CP_ASYNC_CACHEALWAYS" : "UniversalCopy", width);
      return make_copy(&w->copy, atom, bits, threads, c, vec, along, err);
    }
  return mt_fail(
      err, MT_EINEXACT,
      "kernel: g2s.%s: %lld threads do not divide a tile of %lld by %lld "
      "elements of %d bits%s\ndescribe one: g2s = { %s = tile.tiled_copy{...} }",
      mt_side_name[x], (long long)threads, (long long)extent[0], (long long)extent[1],
      bits, async ? " by 4, 8 or 16 bytes each" : "", mt_side_name[x]);
}

/* ---------------------------------------------------------------- shared memory */

/* As wgmma and TMA have it, the widest swizzle whose row divides the tile's. */
static mt_status find_canonical (mt_layout *out, const mt_gemm_spec *k, int x,
                                 mt_err *err) {
  static const char *const names[] = {"INTER", "SW32", "SW64", "SW128"};
  const int64_t extent[] = {k->tile[x], k->tile[2]};
  mt_layout atom, shape;
  char name[64];
  int bits = mt_side_bits(k, x), mode = 3;
  while (mode > 0 && extent[1] * bits % (128 << mode) != 0) mode--;
  snprintf(name, sizeof name, "GMMA::Layout_K_%s_Atom", names[mode]);
  MT_TRY(mt_smem_atom(&atom, name, bits, err));
  MT_TRY(mt_ints(&shape, 2, extent, err));
  if (extent[0] % 8 == 0 && extent[1] * bits % 128 == 0)
    return mt_tile_to_shape(out, atom.node, shape.node, NULL, err);
  return mt_fail(
      err, MT_EINEXACT,
      "kernel: smem.%s: the tile of %s is %lld by %lld elements; wgmma and TMA "
      "have it in blocks of 8 by %d, which do not divide it\n"
      "take a tile that they divide, or say: smem = { %s = layout }",
      mt_side_name[x], mt_side_name[x], (long long)extent[0], (long long)extent[1],
      128 / bits, mt_side_name[x]);
}

/* The reads of the MMA itself: (thread, values) -> index. */
static mt_status mma_reads (mt_layout *out, const mt_gemm_spec *k, int x,
                            const mt_node *index, mt_err *err) {
  return mt_mma_tv(out, &k->mma, x == 0 ? MT_PART_A : MT_PART_B, index, err);
}

/* The fewest wavefronts of what fills and reads it. */
static mt_status find_smem (mt_layout *out, const mt_gemm_spec *k, int x,
                            mt_candidate *list, mt_err *err) {
  const mt_operand_way *w = &k->way[x];
  mt_layout index, shape, plain, write, read;
  int n;
  MT_TRY(mt_side_index(&index, k, x, err));
  MT_TRY(mt_shape(&shape, index.node, err));
  MT_TRY(mt_layout_right(&plain, shape.node, err));
  mt_swizzle_query q = {.smem = plain.node, .write = write.node, .read = read.node};
  q.write_how = mt_access_of(&w->copy, MT_COPY_D);
  q.read_how = (mt_warp_access){.kind = MT_READ, .bits = mt_side_bits(k, x)};
  q.read_how.bytes = q.read_how.bits / 8;
  MT_TRY(mt_copy_tidfrg(&write, &w->copy, MT_COPY_D, index.node, err));
  if (w->s2r.bits) {
    q.read_how = mt_access_of(&w->s2r, MT_COPY_S);
    MT_TRY(mt_copy_tidfrg(&read, &w->s2r, MT_COPY_S, index.node, err));
  } else {
    MT_TRY(mma_reads(&read, k, x, index.node, err));
  }
  MT_TRY(mt_find_swizzle(list, &n, &q, err));
  return mt_candidate_layout(out, plain.node, &list[0], err);
}

/* Elements from one stage to the next: whole periods of the swizzle, whole 16 bytes, and
** what TMA fills begins at its period. */
static mt_status stage_step (int64_t *out, const mt_gemm_spec *k, int x, const mt_node *a,
                             mt_err *err) {
  int64_t low, unit = 128 / mt_side_bits(k, x);
  mt_swizzle w = mt_swizzle_of(a);
  bool swizzled = mt_is_swizzled(a) && w.b > 0;
  if (k->way[x].fill == MT_FILL_TMA) unit *= 8;
  if (swizzled && (INT64_C(1) << (w.b + w.m + abs(w.s))) > unit)
    unit = INT64_C(1) << (w.b + w.m + abs(w.s));
  if (unit < 1) unit = 1;
  MT_TRY(mt_footprint(&low, out, a, err));
  *out = (*out + unit - 1) / unit * unit;
  return MT_OK;
}

static mt_status add_stages (mt_layout *out, const mt_node *a, int64_t stages,
                             int64_t step, mt_err *err) {
  mt_build b;
  mt_begin(&b, out, "kernel", err);
  mt_open_root(&b, a);
  mt_open(&b, MT_MODES);
  mt_add(&b, mt_mode(mt_inner(a), 0));
  mt_add(&b, mt_mode(mt_inner(a), 1));
  mt_add_leaf(&b, stages, stages == 1 ? 0 : step);
  mt_close(&b);
  return mt_end(&b);
}

/* By rows of K, as what is found will be, but for its swizzle. */
static mt_status plain_stage (mt_layout *out, const mt_gemm_spec *k, int x, mt_err *err) {
  mt_layout index, shape;
  if (k->way[x].given & MT_GIVEN_SMEM)
    return mt_copy_value(out, k->way[x].smem.node), MT_OK;
  MT_TRY(mt_side_index(&index, k, x, err));
  MT_TRY(mt_shape(&shape, index.node, err));
  return mt_layout_right(out, shape.node, err);
}

/* One stage, (bX,bK), as described or found. */
static mt_status one_stage (mt_layout *out, mt_gemm_spec *k, int x, mt_candidate *list,
                            mt_err *err) {
  const mt_operand_way *w = &k->way[x];
  if (w->given & MT_GIVEN_SMEM) return mt_copy_value(out, w->smem.node), MT_OK;
  if (mt_side_direct(k, x) || w->fill == MT_FILL_TMA)
    return find_canonical(out, k, x, err);
  MT_TRYERR(none, err);
  mt_status s = find_smem(out, k, x, list, &none);
  if (s == MT_ESTOPPED) *err = none;
  if (s == MT_OK || s == MT_ESTOPPED) return s;
  return plain_stage(out, k, x, err); /* the laws say what is wrong with the accesses */
}

static mt_status check_smem (const mt_gemm_spec *k, int x, mt_err *err) {
  const mt_node *a = k->way[x].smem.node, *in = mt_inner(a);
  const int64_t extent[] = {k->tile[x], k->tile[2]};
  bool ok = mt_is_layout(a) && mt_is_integral(a);
  int n = ok ? mt_rank(in) : 0;
  for (int i = 0; ok && i < 2 && i < n; i++) ok = mt_size(mt_mode(in, i)) == extent[i];
  if (ok && (n == 2 || n == 3)) return MT_OK;
  return mt_failn(err, MT_EINVAL,
                  "kernel: smem.%s: a layout of (%lld,%lld), or of that and stages, "
                  "expected, got %N",
                  mt_side_name[x], (long long)extent[0], (long long)extent[1], a);
}

/* ---------------------------------------------------------------- fragments */

/* Whether the accesses are legal in a stage laid out so. */
static bool can_read (const mt_tiled_copy *c, const mt_node *stage) {
  mt_layout part;
  mt_banks banks;
  mt_err *err = &(mt_err){.status = MT_OK};
  mt_warp_access how = mt_access_of(c, MT_COPY_S);
  return mt_copy_tidfrg(&part, c, MT_COPY_S, stage, err) == MT_OK &&
         mt_bank_conflicts(&banks, part.node, &how, err) == MT_OK;
}

/* ldmatrix, as many matrices as can be, where the instruction wants two values of 16
** bits, or four of 8, side by side. */
static mt_status find_s2r (mt_gemm_spec *k, int x, const mt_node *stage, mt_err *err) {
  static const char *const names[] = {"SM75_U32x4_LDSM_N", "SM75_U32x2_LDSM_N",
                                      "SM75_U32x1_LDSM_N"};
  mt_operand_way *w = &k->way[x];
  int bits = mt_side_bits(k, x);
  if ((w->given & MT_GIVEN_S2R) || mt_side_direct(k, x)) return MT_OK;
  if (bits > 16 || mt_arch_number(k->mma.atom.op.arch) < 75) return MT_OK;
  if (mt_element_bits(mt_side_operand(k, x)->element) != bits) return MT_OK;
  for (int i = 0; i < 3; i++) {
    MT_TRYERR(none, err);
    mt_status s = mt_make_tiled_copy_mma(&w->s2r, names[i], bits, &k->mma,
                                         x == 0 ? MT_PART_A : MT_PART_B, &none);
    if (s == MT_ESTOPPED) return *err = none, s;
    if (s == MT_OK && can_read(&w->s2r, stage)) return MT_OK;
  }
  memset(&w->s2r, 0, sizeof w->s2r);
  return MT_OK;
}

/* ---------------------------------------------------------------- the whole */

/* The stages that a layout of three modes has. */
static mt_status given_stages (mt_gemm_spec *k, int x, mt_err *err) {
  const mt_node *in = mt_inner(k->way[x].smem.node), *mode;
  if (!(k->way[x].given & MT_GIVEN_SMEM)) return MT_OK;
  MT_TRY(check_smem(k, x, err));
  mode = mt_rank(in) == 3 ? mt_mode(in, 2) : NULL;
  if (mode == NULL) return MT_OK;
  if ((k->given & MT_GIVEN_STAGES) && mt_size(mode) != k->stages)
    return mt_failn(err, MT_EINVAL,
                    "kernel: smem.%s %N has %lld stages, stages says %lld",
                    mt_side_name[x], k->way[x].smem.node, (long long)mt_size(mode),
                    (long long)k->stages);
  k->stages = mt_size(mode);
  k->given |= MT_GIVEN_STAGES;
  return MT_OK;
}

static mt_status find_stages (mt_gemm_spec *k, int64_t bytes, mt_err *err) {
  int arch = k->given & MT_GIVEN_ARCH ? k->arch : mt_needed_arch(k);
  bool sync = k->way[0].fill == MT_FILL_THREADS && k->way[1].fill == MT_FILL_THREADS;
  if (!(k->given & MT_GIVEN_STAGES)) {
    k->stages = sync ? 1 : MOST_STAGES;
    while (k->stages > 1 && k->stages * (bytes + 16) > mt_arch_shared(arch)) k->stages--;
  }
  if (!(k->given & MT_GIVEN_AHEAD))
    k->ahead = k->schedule == MT_MULTISTAGE ? k->stages - 1 : k->stages;
  if (k->stages < 1 || k->stages > MAX_STAGES)
    return mt_fail(err, MT_EINVAL, "kernel: stages is %lld: 1 to %d",
                   (long long)k->stages, (int)MAX_STAGES);
  if (k->ahead < 0 || k->ahead > 2 * MAX_STAGES)
    return mt_fail(err, MT_EINVAL, "kernel: ahead is %lld: 0 to %d", (long long)k->ahead,
                   2 * (int)MAX_STAGES);
  return MT_OK;
}

static MT_APART mt_status find_way (mt_gemm_spec *k, int x, mt_layout *stage,
                                    mt_candidate *list, mt_err *err) {
  mt_operand_way *w = &k->way[x];
  if (w->multicast < 1) w->multicast = 1;
  if (mt_side_copied(k, x) && !(w->given & MT_GIVEN_COPY)) MT_TRY(find_copy(k, x, err));
  MT_TRY(plain_stage(stage, k, x, err));
  MT_TRY(find_s2r(k, x, stage->node, err));
  return one_stage(stage, k, x, list, err);
}

mt_status mt_complete_gemm (mt_gemm_spec *k, mt_candidate list[MT_MAXCANDIDATES],
                            mt_err *err) {
  mt_layout stage[2];
  int64_t step[2], bytes = 0;
  for (int x = 0; x < 2; x++) MT_TRY(find_type(k, x, err));
  MT_TRY(find_tile(k, err));
  for (int x = 0; x < 2; x++) find_fill(k, x);
  for (int x = 0; x < 2; x++) MT_TRY(given_stages(k, x, err));
  for (int x = 0; x < 2; x++) {
    MT_TRY(find_way(k, x, &stage[x], list, err));
    MT_TRY(stage_step(&step[x], k, x, stage[x].node, err));
    bytes += step[x] * mt_side_bits(k, x) / 8;
  }
  MT_TRY(find_stages(k, bytes, err));
  for (int x = 0; x < 2; x++) {
    if (mt_rank(mt_inner(stage[x].node)) == 3) continue;
    MT_TRY(add_stages(&k->way[x].smem, stage[x].node, k->stages, step[x], err));
  }
  if (!(k->given & MT_GIVEN_ARCH)) k->arch = mt_needed_arch(k);
  return MT_OK;
}
