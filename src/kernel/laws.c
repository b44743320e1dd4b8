/*
** laws.c - the laws of a kernel about elements: what covers, fits and is written.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "moontile/algebra.h"
#include "core/solve.h"
#include "gemm/gemm.h"
#include "types/dtype.h"
#include "kernel/laws.h"
#include "kernel/order.h"

#define MT_SAY(said, ...) snprintf((said), MT_SAID, __VA_ARGS__)

mt_status mt_refute (mt_err *err, const char *name, const mt_verdict *v,
                     const char *advice) {
  static const char head[] = "no proof: ";
  char text[640];
  mt_verdict_format(text, sizeof text, v);
  const char *first = text;
  if (strncmp(text, head, strlen(head)) == 0) first += strlen(head);
  bool whole = v->problem == MT_NOT_CANONICAL;
  int n = whole ? (int)strlen(v->reason) : (int)strcspn(first, "\n");
  mt_fail(err, MT_EINEXACT, "%s: %.*s", name, n, whole ? v->reason : first);
  if (*advice) mt_explain(err, "\n%s", advice);
  return MT_EINEXACT;
}

/* ---------------------------------------------------------------- cover */

static mt_status check_types (const mt_kernel_claim *c, mt_err *err) {
  for (int x = 0; x < 2; x++)
    if (c->t[x]->dtype != c->k->type[x])
      return mt_fail(err, MT_EINEXACT,
                     "%s is %s, the kernel's %s reads %s\nconvert it, or take another "
                     "atom",
                     mt_side_name[x], mt_dtype_name(c->t[x]->dtype),
                     c->k->mma.atom.op.name, mt_dtype_name(c->k->type[x]));
  return mt_check_result(c->k, c->t[2]->dtype, err);
}

mt_status mt_prove_cover (const mt_kernel_claim *c, char *said, mt_err *err) {
  mt_gemm_launch l;
  const int64_t *tile = c->k->tile;
  int n = 0;
  if (c->t == NULL) {
    MT_SAY(said,
           "tiles of %lldx%lldx%lld, whatever M, N, K, L: what is outside is not real",
           (long long)tile[0], (long long)tile[1], (long long)tile[2]);
    return MT_OK;
  }
  MT_TRY(check_types(c, err));
  if (mt_gemm_tensors(&l, c->t[0], c->t[1], c->t[2], c->k->ending.alpha,
                      c->k->ending.beta, err) != MT_OK) {
    mt_explain(err, "\na kernel takes A (M,K), B (N,K), C (M,N), and L behind them");
    return err->status;
  }
  n = MT_SAY(said, "tiles of %lldx%lldx%lld cover %lldx%lldx%lldx%lld",
             (long long)tile[0], (long long)tile[1], (long long)tile[2],
             (long long)l.desc.size[0], (long long)l.desc.size[1],
             (long long)l.desc.size[2], (long long)l.desc.size[3]);
  for (int i = 0; i < 3; i++) {
    int64_t last = l.desc.size[i] % tile[i];
    if (last && n < MT_SAID)
      n += snprintf(said + n, (size_t)(MT_SAID - n),
                    "; the last along %c has %lld, the rest is predicated", "MNK"[i],
                    (long long)last);
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- in */

static mt_status prove_copy (const mt_kernel_claim *c, int x, mt_err *err) {
  const mt_gemm_spec *k = c->k;
  mt_verdict *v = &c->p->verdict;
  mt_layout index;
  char name[16];
  snprintf(name, sizeof name, "g2s.%s", mt_side_name[x]);
  MT_TRY(mt_side_index(&index, k, x, err));
  const mt_tensor stage = {.layout = index.node};
  if (k->way[x].copy.bits != mt_side_bits(k, x))
    return mt_fail(err, MT_EINEXACT,
                   "%s moves elements of %d bits, %s has %d\n"
                   "make the copy with bits = %d",
                   name, k->way[x].copy.bits, mt_side_name[x], mt_side_bits(k, x),
                   mt_side_bits(k, x));
  MT_TRY(mt_verify_copy(v, &k->way[x].copy, MT_COPY_D, &stage, err));
  if (!v->covers)
    return mt_refute(err, name, v,
                     "thr and val are to make up the tile, each place once");
  if (v->predicated == 0) return MT_OK;
  int mode = v->mode[0].reach > v->mode[0].extent ? 0 : 1;
  return mt_fail(err, MT_EINEXACT,
                 "%s: its tile has %lld elements along mode %d, which do not divide the "
                 "stage's %lld: element %lld would be written outside\nmake thr and val "
                 "smaller, or the tile a multiple",
                 name, (long long)v->mode[mode].tile, mode + 1,
                 (long long)v->mode[mode].extent, (long long)v->mode[mode].extent);
}

mt_status mt_prove_in (const mt_kernel_claim *c, char *said, mt_err *err) {
  for (int x = 0; x < 2; x++)
    if (mt_side_copied(c->k, x)) MT_TRY(prove_copy(c, x, err));
  MT_SAY(said, "each element of a stage is brought once, A by %s, B by %s",
         mt_fill_name(c->k->way[0].fill), mt_fill_name(c->k->way[1].fill));
  return MT_OK;
}

/* ---------------------------------------------------------------- room */

/* Two elements at one place, by their numbers; false: none were found. */
static bool find_meeting (int64_t at[2], const mt_node *a) {
  int64_t sign[MT_MAXTERMS], step[MT_MAXTERMS], n = 1;
  mt_equation e = {.n = 0};
  at[0] = at[1] = 0;
  for (const mt_node *p = a; p < mt_next(a); p++) {
    if (p->tag != MT_LEAF || p->shape == 1) continue;
    if (p->ring != MT_Z || p->stride == INT64_MIN || e.n == MT_MAXTERMS) return false;
    if (p->stride == 0) return at[1] = n, true;
    sign[e.n] = p->stride < 0 ? -1 : 1;
    step[e.n] = n;
    e.d[e.n] = sign[e.n] * p->stride;
    e.lo[e.n] = 1 - p->shape;
    e.hi[e.n++] = p->shape - 1;
    n *= p->shape;
  }
  if (mt_solve(&e, 0, true) != MT_FOUND) return false;
  for (int i = 0; i < e.n; i++) {
    const int64_t v = sign[i] * e.v[i];
    at[v > 0] += step[i] * (v < 0 ? -v : v);
  }
  if (at[0] > at[1]) {
    const int64_t first = at[1];
    at[1] = at[0], at[0] = first;
  }
  return true;
}

/* "element (3,0) of stage 1" */
static void say_element (mt_err *err, const mt_node *a, int64_t i) {
  const int64_t m = mt_size(mt_mode(a, 0)), all = m * mt_size(mt_mode(a, 1));
  mt_explain(err, "element (%lld,%lld)", (long long)(i % m), (long long)(i % all / m));
  if (mt_rank(a) == 3) mt_explain(err, " of stage %lld", (long long)(i / all));
}

/* No two elements of all stages at one place. */
static mt_status prove_places (const mt_node *a, const char *name, mt_err *err) {
  bool one;
  int64_t at[2];
  const mt_node *in = mt_inner(a);
  MT_TRY(mt_is_injective(&one, in, err));
  if (one) return MT_OK;
  if (mt_rank(in) < 2 || !find_meeting(at, in))
    return mt_failn(
        err, MT_EINEXACT,
        "%s: two elements of %N lie at one place\ntake strides that divide one "
        "another",
        name, a);
  const int64_t stage = mt_size(mt_mode(in, 0)) * mt_size(mt_mode(in, 1));
  mt_failn(err, MT_EINEXACT, "%s: in %N ", name, a);
  say_element(err, in, at[0]);
  mt_explain(err, " and ");
  say_element(err, in, at[1]);
  mt_explain(err, " lie at one place\n%s",
             at[0] / stage == at[1] / stage ?
                 "make the strides larger: each over all that the ones below it reach" :
                 "mode 3 steps from stage to stage: over all that a stage reaches");
  return MT_EINEXACT;
}

mt_status mt_prove_room (const mt_kernel_claim *c, char *said, mt_err *err) {
  const mt_gemm_spec *k = c->k;
  mt_gemm_proof *p = c->p;
  const bool given = k->given & MT_GIVEN_C;
  mt_dtype result = c->t ? c->t[2]->dtype : given ? k->ending.type : MT_f32;
  int bits = 8 * (int)mt_dtype_size(result);
  MT_TRY(prove_places(k->way[0].smem.node, "smem.A", err));
  MT_TRY(prove_places(k->way[1].smem.node, "smem.B", err));
  if (k->staged) MT_TRY(prove_places(k->d.node, "smem.D", err));
  MT_TRY(mt_shared_bytes(&p->shared, k, bits, err));
  p->limit = mt_arch_shared(k->arch);
  if (p->shared > p->limit)
    return mt_fail(
        err, MT_EINEXACT,
        "shared memory: %lld bytes, %lld more than the %lld that a block has on "
        "sm_%d\ntake fewer stages than %lld, or a smaller tile",
        (long long)p->shared, (long long)(p->shared - p->limit), (long long)p->limit,
        k->arch, (long long)k->stages);
  MT_SAY(said,
         "%lld of %lld bytes of shared memory, %lld stages, each element at a place "
         "of its own",
         (long long)p->shared, (long long)p->limit, (long long)k->stages);
  return MT_OK;
}

/* ---------------------------------------------------------------- fit */

/* Whether a mode of a tiler is the first n ordinates. */
static bool takes (const mt_node *t, int64_t n) {
  if (t->tag == MT_INT) return t->shape == n;
  return t->tag == MT_LEAF && t->shape == n && (n == 1 || t->stride == 1);
}

static mt_status prove_s2r (const mt_gemm_spec *k, int x, mt_err *err) {
  const mt_tiled_copy *s = &k->way[x].s2r;
  const int64_t tile[] = {k->mma.tile[x], k->mma.tile[2]};
  mt_layout index, shape, want;
  bool same;
  int64_t at;
  MT_TRY(mt_ints(&shape, 2, tile, err));
  if (mt_rank(s->tiler.node) != 2 || !takes(mt_mode(s->tiler.node, 0), tile[0]) ||
      !takes(mt_mode(s->tiler.node, 1), tile[1]))
    return mt_failn(err, MT_EINEXACT,
                    "s2r.%s brings tiles of %N, the MMA takes %N\n"
                    "tile.make_tiled_copy_%s(atom, mma) fits",
                    mt_side_name[x], s->tiler.node, shape.node, mt_side_name[x]);
  MT_TRY(mt_layout_left(&index, shape.node, err));
  MT_TRY(mt_mma_tv(&want, &k->mma, x == 0 ? MT_PART_A : MT_PART_B, index.node, err));
  MT_TRY(mt_equivalent(&same, &at, s->layout_tv.node, want.node, err));
  if (same) return MT_OK;
  int64_t threads = mt_size(mt_mode(mt_base(want.node), 0)), get = 0, need = 0;
  if (at >= 0) MT_TRY(mt_at(&get, s->layout_tv.node, at, err));
  if (at >= 0) MT_TRY(mt_at(&need, want.node, at, err));
  mt_fail(err, MT_EINEXACT,
          "s2r.%s: thread %lld gets element %lld of the tile as its value %lld, the MMA "
          "wants element %lld there",
          mt_side_name[x], (long long)(at < 0 ? 0 : at % threads), (long long)get,
          (long long)(at < 0 ? 0 : at / threads), (long long)need);
  mt_explain(err, "\ntile.make_tiled_copy_%s(atom, mma) fits", mt_side_name[x]);
  return MT_EINEXACT;
}

mt_status mt_prove_fit (const mt_kernel_claim *c, char *said, mt_err *err) {
  const char *how[2];
  for (int x = 0; x < 2; x++) {
    const mt_operand_way *w = &c->k->way[x];
    how[x] = mt_side_direct(c->k, x) ? "in shared memory" :
             w->s2r.bits             ? w->s2r.atom.name :
                                       "value by value";
    if (w->s2r.bits) MT_TRY(prove_s2r(c->k, x, err));
  }
  MT_SAY(said, "what the MMA wants is where it wants it: A %s, B %s", how[0], how[1]);
  return MT_OK;
}

/* ---------------------------------------------------------------- once, out */

static mt_status prove_part (const mt_kernel_claim *c, mt_mma_part part, mt_err *err) {
  static const int axes[][2] = {{0, 2}, {1, 2}, {0, 1}};
  static const char *const name[] = {"mma, A", "mma, B", "mma, C"};
  mt_layout shape, index;
  mt_tiled_mma *mma = (mt_tiled_mma *)(uintptr_t)&c->k->mma;
  const int64_t extent[] = {c->k->tile[axes[part][0]], c->k->tile[axes[part][1]]};
  MT_TRY(mt_ints(&shape, 2, extent, err));
  MT_TRY(mt_layout_left(&index, shape.node, err));
  const mt_tensor t = {.layout = index.node};
  MT_TRY(mt_verify_mma(&c->p->verdict, mma, part, &t, err));
  if (c->p->verdict.covers) return MT_OK;
  return mt_refute(err, name[part], &c->p->verdict, "");
}

mt_status mt_prove_once (const mt_kernel_claim *c, char *said, mt_err *err) {
  const mt_gemm_spec *k = c->k;
  for (int i = 0; i < 3; i++)
    if (k->tile[i] % k->mma.tile[i] != 0)
      return mt_fail(err, MT_EINEXACT,
                     "tile: %lld along %c is no multiple of the MMA's %lld: element %lld "
                     "would be multiplied outside\ntake %lld",
                     (long long)k->tile[i], "MNK"[i], (long long)k -> mma.tile[i],
                     (long long)k->tile[i],
                     (long long)((k->tile[i] / k->mma.tile[i] + 1) * k->mma.tile[i]));
  for (int part = 0; part < 3; part++) MT_TRY(prove_part(c, (mt_mma_part)part, err));
  MT_SAY(said, "each (m,n,k) of a tile is multiplied once, %lldx%lldx%lld at a time",
         (long long)k->mma.tile[0], (long long)k->mma.tile[1], (long long)k->mma.tile[2]);
  return MT_OK;
}

/* Bias and residual are of the shape of C, and hold all that C has. */
static mt_status prove_ending (const mt_kernel_claim *c, mt_err *err) {
  mt_gemm_launch l;
  const mt_gemm_spec *k = c->k;
  if (c->t == NULL)
    return k->given & MT_GIVEN_C ? mt_check_result(k, k->ending.type, err) : MT_OK;
  MT_TRY(mt_gemm_tensors(&l, c->t[0], c->t[1], c->t[2], 1, 0, err));
  return mt_put_ending(&l, k, c->t, err);
}

mt_status mt_prove_out (const mt_kernel_claim *c, char *said, mt_err *err) {
  const mt_gemm_spec *k = c->k;
  mt_verdict *v = &c->p->verdict;
  if (k->staged) {
    const mt_node *d = mt_inner(k->d.node);
    if (mt_rank(d) != 2 || mt_size(mt_mode(d, 0)) != k->tile[0] ||
        mt_size(mt_mode(d, 1)) != k->tile[1])
      return mt_failn(err, MT_EINEXACT,
                      "smem.D: a layout of (%lld,%lld) expected, got %N\n"
                      "layout({%lld, %lld}) is one; without smem.D registers go to C",
                      (long long)k->tile[0], (long long)k->tile[1], k->d.node,
                      (long long)k->tile[0], (long long)k->tile[1]);
  }
  if (c->t) {
    MT_TRY(mt_verify_mma(v, &k->mma, MT_PART_C, c->given[2], err));
    if (v->problem != MT_PROVEN)
      return mt_refute(err, "C", v, "give each element of C a place of its own");
  }
  MT_TRY(prove_ending(c, err));
  int n = MT_SAY(said, "each element of C is written once, %s%s",
                 k->staged ? "through shared memory" : "from registers",
                 k->ending.beta != 0 ? ", its old value read there" : "");
  mt_say_ending(said + n, MT_SAID - (size_t)n, k);
  return MT_OK;
}

/* ---------------------------------------------------------------- order */

mt_status mt_prove_order (const mt_kernel_claim *c, char *said, mt_err *err) {
  const mt_gemm_spec *k = c->k;
  if (k->schedule != MT_MULTISTAGE && (mt_side_copied(k, 0) || mt_side_copied(k, 1)))
    return mt_fail(err, MT_EINEXACT,
                   "schedule \"%s\" has a warp that fills, by TMA: %s is filled by all "
                   "threads\ng2s = { A = \"tma\", B = \"tma\" }, or schedule = "
                   "\"multistage\"",
                   mt_schedule_name(k->schedule), mt_side_copied(k, 0) ? "A" : "B");
  c->p->states = 0;
  MT_TRY(mt_order_prove(k, c->p->seen, &c->p->states, err));
  MT_SAY(said,
         "\"%s\", filled %lld ahead: no stage is filled before its last reader, none "
         "is read before; %lld states",
         mt_schedule_name(k->schedule), (long long)k->ahead, (long long)c->p->states);
  return MT_OK;
}
