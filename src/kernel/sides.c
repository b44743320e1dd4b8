/*
** sides.c - what is asked of A and B by every part of a kernel: extents, bytes, accesses.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"
#include "types/dtype.h"

const char *const mt_side_name[2] = {"A", "B"};

enum {
  BARRIERS = 16, /* bytes of the two barriers of a stage */
  LINE = 16,     /* of the widest access */
  BOX = 128      /* where what TMA fills may begin */
};

#define MT_KERNEL_ROW(value, name) name,
const char *mt_fill_name (mt_fill f) {
  static const char *const names[] = {MT_FILLS(MT_KERNEL_ROW)};
  return (unsigned)f < MT_NFILL ? names[f] : "?";
}
const char *mt_schedule_name (mt_schedule s) {
  static const char *const names[] = {MT_SCHEDULES(MT_KERNEL_ROW)};
  return (unsigned)s < MT_NSCHEDULE ? names[s] : "?";
}
const char *mt_law_name (mt_law l) {
  static const char *const names[] = {MT_LAWS(MT_KERNEL_ROW)};
  return (unsigned)l < MT_NLAW ? names[l] : "?";
}
#undef MT_KERNEL_ROW

int mt_side_bits (const mt_gemm_spec *k, int x) {
  return 8 * (int)mt_dtype_size(k->type[x]);
}

mt_status mt_side_index (mt_layout *out, const mt_gemm_spec *k, int x, mt_err *err) {
  mt_layout shape;
  const int64_t extent[] = {k->tile[x], k->tile[2]};
  MT_TRY(mt_ints(&shape, 2, extent, err));
  return mt_layout_left(out, shape.node, err);
}

mt_status mt_side_desc (mt_gmma_desc *out, const mt_gemm_spec *k, int x, mt_err *err) {
  const mt_mma_op *op = &k->mma.atom.op;
  const mt_node *a = k->way[x].smem.node;
  int bits = mt_side_bits(k, x);
  mt_gmma_major major = mt_gmma_major_asked(op->major[x], a, bits);
  return mt_gmma_operand(out, a, bits, x == 0 ? op->m : op->n, op->k, major, err);
}

/* ---------------------------------------------------------------- bytes */

static mt_status bytes_of (int64_t *out, const mt_node *a, int bits, mt_err *err) {
  int64_t low;
  MT_TRY(mt_footprint(&low, out, a, err));
  if (low < 0)
    return mt_failn(err, MT_EINVAL, "%N begins %lld elements before shared memory", a,
                    (long long)-low);
  if (mt_mulo(*out, bits / 8, out) || *out > INT32_MAX)
    return mt_failn(err, MT_EOVERFLOW, "%N is larger than any shared memory", a);
  return MT_OK;
}

mt_status mt_side_bytes (int64_t *out, const mt_gemm_spec *k, int x, mt_err *err) {
  return bytes_of(out, k->way[x].smem.node, mt_side_bits(k, x), err);
}

/* The period of a swizzle, so that it acts on addresses as on offsets. */
static int64_t align_of (const mt_gemm_spec *k, int x) {
  const mt_node *a = k->way[x].smem.node;
  mt_swizzle w = mt_swizzle_of(a);
  int64_t align = k->way[x].fill == MT_FILL_TMA ? BOX : LINE, period = 0;
  if (mt_is_swizzled(a) && w.b > 0)
    period = (INT64_C(1) << (w.b + w.m + abs(w.s))) * mt_side_bits(k, x) / 8;
  return period > align ? period : align;
}

int64_t mt_second_side (const mt_gemm_spec *k, int64_t first) {
  int64_t align = align_of(k, 1);
  return (first + align - 1) / align * align;
}

/* A, B, the barriers, and the tile on its way out: that takes the place of the stages
** when all have been read, unless other tiles are in them. */
mt_status mt_shared_bytes (int64_t *out, const mt_gemm_spec *k, int bits_of_c,
                           mt_err *err) {
  int64_t a, b, d = 0;
  MT_TRY(mt_side_bytes(&a, k, 0, err));
  MT_TRY(mt_side_bytes(&b, k, 1, err));
  if (k->staged) MT_TRY(bytes_of(&d, k->d.node, bits_of_c, err));
  bool tma = !mt_side_copied(k, 0) || !mt_side_copied(k, 1);
  bool alone = k->schedule == MT_MULTISTAGE;
  *out = mt_second_side(k, a) + b;
  if (alone && d > *out) *out = d;
  if (!alone) *out += d;
  if (tma) *out += k->stages * BARRIERS;
  return MT_OK;
}

int64_t mt_gemm_threads (const mt_gemm_spec *k) {
  int64_t n = mt_tiled_mma_threads(&k->mma);
  enum { PRODUCER = 128 };
  if (k->schedule == MT_MULTISTAGE) return n;
  return PRODUCER + (k->schedule == MT_PINGPONG ? 2 * n : n);
}

/* ---------------------------------------------------------------- architectures */

int mt_arch_number (const char *arch) {
  return arch && strncmp(arch, "sm", 2) == 0 ? (int)strtol(arch + 2, NULL, 10) : 0;
}

int64_t mt_arch_shared (int arch) {
  static const struct {
    int arch;
    int64_t bytes;
  } limits[] = {{120, 101376}, {100, 232448}, {90, 232448}, {86, 101376},
                {80, 166912},  {75, 65536},   {70, 98304},  {0, 49152}};
  int i = 0;
  while (arch < limits[i].arch) i++;
  return arch == 87 ? 166912 : limits[i].bytes;
}

int mt_needed_arch (const mt_gemm_spec *k) {
  int arch = mt_arch_number(k->mma.atom.op.arch);
  for (int x = 0; x < 2; x++) {
    const mt_operand_way *w = &k->way[x];
    int copy = w->fill == MT_FILL_TMA ? 90 : mt_arch_number(w->copy.atom.arch);
    int s2r = w->s2r.bits ? mt_arch_number(w->s2r.atom.arch) : 0;
    if (copy > arch) arch = copy;
    if (s2r > arch) arch = s2r;
  }
  return k->cluster[0] * k->cluster[1] > 1 && arch < 90 ? 90 : arch;
}

/* ---------------------------------------------------------------- accesses */

/* Matrices of an atom that moves 8 x 8 blocks, by its name, ..._U32x4_LDSM_N: 4 bytes of
** a thread each; 0: it moves none. */
static int matrices_of (const mt_copy_atom *a, const char *what) {
  const char *name = a->name, *end = strstr(name, what), *p = end;
  if (a->own || end == NULL) return 0;
  while (p > name && *p != 'x') p--;
  int n = (int)strtol(p + 1, NULL, 10);
  return strstr(name, "_U16x") ? n / 2 : strstr(name, "_U8x") ? n / 4 : n;
}

mt_warp_access mt_access_of (const mt_tiled_copy *c, mt_copy_side side) {
  bool reads = side == MT_COPY_S;
  mt_warp_access how = {.kind = reads ? MT_READ : MT_WRITE, .bits = c->bits};
  int n = matrices_of(&c->atom, reads ? "LDSM" : "STSM");
  if (n > 0) {
    how.kind = reads ? MT_LDMATRIX : MT_STMATRIX;
    how.matrices = n;
  } else if (c->atom_bits >= 8 && c->atom_bits <= 128) {
    how.bytes = c->atom_bits / 8;
  }
  return how;
}
