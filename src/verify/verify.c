/*
** verify.c - proofs that a partition covers a tensor: the claim, the tile repeated.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "moontile/algebra.h"
#include "core/build.h"
#include "verify/verify.h"

const char *mt_problem_text (mt_problem p) {
#define MT_PROBLEM_ROW(name, text) text,
  static const char *const texts[] = {MT_PROBLEMS(MT_PROBLEM_ROW)};
#undef MT_PROBLEM_ROW
  return (unsigned)p < MT_NPROBLEM ? texts[p] : "?";
}

/* ---------------------------------------------------------------- the claim */

/* More than steps: swizzled, over F2, composed. */
static bool is_function (const mt_node *tv) {
  return tv->tag >= MT_SWIZZLE || !mt_is_integral(tv);
}

static mt_status check_tv (const mt_claim *c, mt_err *err) {
  const mt_node *tv = c->tv;
  if (!mt_is_function(tv) || !mt_has_numbers(tv))
    return mt_failn(err, MT_EINVAL,
                    "%s: tv: a layout (thread,value) -> place expected, "
                    "got %N",
                    c->op, tv);
  if (mt_rank(mt_base(tv)) != 2)
    return mt_failn(err, MT_ERANK, "%s: tv %N has rank %d; (thread,value) has rank 2",
                    c->op, tv, mt_rank(mt_base(tv)));
  if (mt_size(tv) == 0) return mt_failn(err, MT_EINVAL, "%s: tv %N is empty", c->op, tv);
  return MT_OK;
}

/* An extent, or a layout of numbers, that is not empty. */
static bool is_tile (const mt_node *t) {
  if (t->tag == MT_INT) return t->ring == MT_Z && t->shape > 0;
  return (t->tag == MT_LEAF || t->tag == MT_MODES) && mt_is_integral(t) && mt_size(t) > 0;
}

/* `places` receives how many a tile has. */
static mt_status check_tiler (int64_t *places, const mt_claim *c, mt_err *err) {
  const mt_node *t = c->tiler;
  bool ok = t->tag == MT_TUPLE || t->tag == MT_TILER;
  *places = 1;
  for (int i = 0; ok && i < mt_rank(t); i++) {
    ok = is_tile(mt_mode(t, i));
    if (ok && mt_mulo(*places, mt_size(mt_mode(t, i)), places))
      return mt_failn(err, MT_EOVERFLOW, "%s: the size of the tile %N leaves 64 bits",
                      c->op, t);
  }
  if (ok) return MT_OK;
  return mt_failn(err, MT_EINVAL,
                  "%s: tiler: for each mode an extent above 0, or a "
                  "layout, expected, got %N",
                  c->op, t);
}

static mt_status check_tensor (const mt_claim *c, const mt_tensor *t, mt_err *err) {
  const mt_node *a = t->layout;
  if (!mt_is_function(a) || !mt_is_integral(a))
    return mt_failn(err, MT_EINVAL, "%s: a layout of offsets expected, got %N", c->op, a);
  if (mt_rank(mt_base(a)) < mt_rank(c->tiler))
    return mt_failn(err, MT_ERANK, "%s: the tile %N has %d modes, the tensor %N has %d",
                    c->op, c->tiler, mt_rank(c->tiler), a, mt_rank(mt_base(a)));
  return MT_OK;
}

/* ---------------------------------------------------------------- the tile, repeated */

/* Offsets 0 .. size-1, each once. */
static bool is_compact (const mt_node *t) {
  mt_layout inverse;
  mt_err err = MT_NOERR;
  return mt_right_inverse(&inverse, t, &err) == MT_OK &&
         mt_size(inverse.node) == mt_size(t);
}

static bool before_mode (const mt_node *t) {
  for (const mt_node *p = t; p < mt_next(t); p++)
    if (p->tag == MT_LEAF && p->shape > 1 && p->stride < 0) return true;
  return false;
}

static void say_untiled (mt_verdict *v, int k, const mt_node *t, const char *why) {
  mt_err text = MT_NOERR;
  mt_failn(&text, MT_EINEXACT, "mode %d: %N does not tile %lld elements: %s", k + 1, t,
           (long long)v->mode[k].extent, why);
  snprintf(v->reason, sizeof v->reason, "%.500s", text.text);
  mt_doubt(v, MT_NO_TILING);
  v->covers = false;
}

/* The tile and its repetitions do not meet: the first that is in none follows the run
** that begins at 0. */
static mt_status say_gaps (mt_verdict *v, int k, const mt_node *t, const mt_node *rest,
                           mt_err *err) {
  mt_layout all, inverse;
  char why[64];
  const mt_node *modes[] = {t, rest};
  MT_TRY(mt_concat(&all, 2, modes, err));
  MT_TRY(mt_right_inverse(&inverse, all.node, err));
  snprintf(why, sizeof why, "element %lld is in no tile",
           (long long)mt_size(inverse.node));
  say_untiled(v, k, t, why);
  return MT_OK;
}

/* Extents repeat without a gap. A layout does if it has a complement that fills. */
static mt_status tile_mode (mt_verdict *v, int k, const mt_node *t, mt_err *err) {
  mt_tiled_mode *m = &v->mode[k];
  mt_layout rest;
  mt_err cause = MT_NOERR;
  bool fills = true, compact = t->tag == MT_INT || is_compact(t);
  m->tile = mt_size(t);
  m->tiles = m->extent / m->tile + (m->extent % m->tile != 0);
  if (!compact && m->extent > 0) {
    if (before_mode(t)) say_untiled(v, k, t, "it begins before element 0");
    else if (mt_complement(&rest, &fills, t, m->extent, &cause) != MT_OK)
      say_untiled(v, k, t, cause.text);
    else if (!fills) MT_TRY(say_gaps(v, k, t, rest.node, err));
    else m->tiles = mt_size(rest.node);
  }
  m->last = compact ? m->extent - (m->tiles - 1) * m->tile : -1;
  if (mt_mulo(m->tiles, m->tile, &m->reach))
    return mt_fail(err, MT_EOVERFLOW, "verify: a mode in whole tiles leaves 64 bits");
  return MT_OK;
}

static mt_status repeat (mt_verdict *v, const mt_claim *c, const mt_node *a,
                         int64_t places, mt_err *err) {
  int64_t all;
  v->modes = mt_rank(c->tiler);
  v->elements = mt_size(a);
  v->tiles = 1;
  for (int k = 0; k < mt_rank(a); k++) {
    int64_t n = mt_size(mt_mode(a, k));
    if (k < v->modes) {
      v->mode[k].extent = n;
      MT_TRY(tile_mode(v, k, mt_mode(c->tiler, k), err));
      n = v->mode[k].tiles;
    }
    if (mt_mulo(v->tiles, n, &v->tiles))
      return mt_fail(err, MT_EOVERFLOW, "%s: the number of tiles leaves 64 bits", c->op);
  }
  if (mt_mulo(v->tiles, places, &all) || mt_mulo(all, v->broadcast, &all))
    return mt_fail(err, MT_EOVERFLOW, "%s: the number of values leaves 64 bits", c->op);
  if (v->covers) v->predicated = all - v->elements * v->broadcast;
  return MT_OK;
}

/* Place `index` as a coordinate of the first tile. */
static mt_status place_at (mt_verdict *v, const mt_claim *c, mt_err *err) {
  int64_t at[MT_MAXNODES], index = v->index;
  int n = mt_rank(c->tiler);
  for (int k = 0; k < n; k++) {
    const mt_node *t = mt_mode(c->tiler, k);
    int64_t size = mt_size(t);
    at[k] = index % size;
    if (t->tag != MT_INT) MT_TRY(mt_at(&at[k], t, at[k], err));
    index /= size;
  }
  return mt_ints(&v->at, n, at, err);
}

mt_status mt_verify (mt_verdict *v, const mt_claim *c, const mt_tensor *t, mt_err *err) {
  int64_t places;
  memset(v, 0, sizeof *v);
  v->written = c->written;
  v->bits = c->bits;
  v->asked = c->asked;
  MT_TRY(check_tv(c, err));
  MT_TRY(check_tiler(&places, c, err));
  MT_TRY(check_tensor(c, t, err));
  MT_TRY(mt_shape(&v->shape, mt_base(t->layout), err));
  if (is_function(c->tv)) MT_TRY(mt_verify_function(v, c, places, err));
  else mt_verify_tile(v, c, places);
  if (v->problem == MT_TWICE || v->problem == MT_GAP) MT_TRY(place_at(v, c, err));
  MT_TRY(repeat(v, c, mt_base(t->layout), places, err));
  MT_TRY(mt_verify_memory(v, t, err));
  return c->copies ? mt_verify_vector(v, c, t, err) : MT_OK;
}

/* ---------------------------------------------------------------- partitions */

/* Threads alone have one value each. */
static mt_status with_values (mt_claim *c, mt_layout *room, mt_err *err) {
  static const mt_node one = {.tag = MT_LEAF, .span = 1, .shape = 1};
  if (!mt_is_function(c->tv) || mt_rank(mt_base(c->tv)) != 1) return MT_OK;
  mt_build b;
  mt_begin(&b, room, c->op, err);
  mt_open_root(&b, c->tv);
  mt_open(&b, MT_MODES);
  mt_add(&b, mt_mode(mt_base(c->tv), 0));
  mt_add(&b, &one);
  MT_TRY(mt_end(&b));
  c->tv = c->access = room->node;
  return MT_OK;
}

/* An extent alone, or a layout of one mode, is a tile with one mode. */
static mt_status with_mode (mt_claim *c, mt_layout *room, mt_err *err) {
  mt_build b;
  const mt_node *t = c->tiler;
  if (!is_tile(t) || mt_rank(t) != 1) return MT_OK;
  mt_begin(&b, room, c->op, err);
  mt_open(&b, t->tag == MT_INT ? MT_TUPLE : MT_TILER);
  mt_add(&b, mt_mode(t, 0));
  mt_close(&b);
  MT_TRY(mt_end(&b));
  c->tiler = room->node;
  return MT_OK;
}

mt_status mt_verify_tv (mt_verdict *out, const mt_node *tv, const mt_node *tiler,
                        mt_copy_side side, const mt_tensor *t, mt_err *err) {
  mt_layout two, one;
  bool written = side == MT_COPY_D;
  mt_claim c = {.op = "verify",
                .tv = tv,
                .access = tv,
                .tiler = tiler,
                .written = written,
                .shared = !written,
                .copies = true};
  MT_TRY(with_values(&c, &two, err));
  MT_TRY(with_mode(&c, &one, err));
  if (t->data) c.bits = 8 * (int)mt_dtype_size(t->dtype);
  return mt_verify(out, &c, t, err);
}

/* Values that a thread of the atom has side by side. */
static mt_status side_run (int64_t *out, const mt_tiled_copy *copy, mt_copy_side side,
                           mt_err *err) {
  mt_layout run;
  const mt_copy_atom *atom = &copy->atom;
  const mt_node *tv = side == MT_COPY_S ? atom->src.node : atom->dst.node;
  *out = 0;
  if (copy->atom_bits == 0) return MT_OK;
  MT_TRY(mt_coalesce(&run, mt_mode(tv, 1), NULL, err));
  const mt_node *first = mt_leaf(run.node, run.node);
  *out = first->stride == 1 ? first->shape : 1;
  return MT_OK;
}

/* Who has what is said of the atom's reference: src and dst of an atom have each place of
** ref. How wide an access is, by the side itself. */
mt_status mt_verify_copy (mt_verdict *out, const mt_tiled_copy *copy, mt_copy_side side,
                          const mt_tensor *t, mt_err *err) {
  mt_layout access;
  bool written = side == MT_COPY_D;
  mt_claim c = {.op = "verify",
                .tv = copy->layout_tv.node,
                .access = access.node,
                .tiler = copy->tiler.node,
                .written = written,
                .shared = !written,
                .copies = true,
                .bits = copy->bits};
  if (t->data && 8 * (int)mt_dtype_size(t->dtype) != copy->bits)
    return mt_fail(err, MT_EUNSUPPORTED,
                   "verify: the tiled copy moves elements of %d "
                   "bits, %s has %d",
                   copy->bits, mt_dtype_name(t->dtype), 8 * (int)mt_dtype_size(t->dtype));
  MT_TRY(mt_copy_tv(&access, copy, side, err));
  MT_TRY(side_run(&c.asked, copy, side, err));
  return mt_verify(out, &c, t, err);
}

/* Numbers that no thread has do nothing: they count neither as threads nor as owners. */
static void set_idle (mt_verdict *v, int64_t threads) {
  int64_t numbers = v->threads;
  v->threads = threads;
  v->idle = numbers - threads;
  v->predicated = v->predicated / (numbers / threads);
  v->broadcast = v->broadcast / (numbers / threads);
}

/* Law (7), of sm_90a: of what is not 16 bits wide K is contiguous. */
static MT_APART mt_status prove_wgmma (mt_verdict *v, const mt_mma_op *op, mt_mma_part x,
                                       const mt_node *a, mt_err *err) {
  const mt_operand *o = &op->operand[x == MT_PART_A ? MT_OPERAND_A : MT_OPERAND_B];
  int bits = mt_element_bits(o->element);
  MT_TRYERR(why, err);
  if (x == MT_PART_C || o->source != MT_SMEM_DESC || strcmp(op->arch, "sm90a") != 0)
    return MT_OK;
  mt_gmma_major major = mt_gmma_major_asked(op->major[x == MT_PART_A ? 0 : 1], a, bits);
  if (mt_size(a) == 0) return MT_OK;
  mt_status s = mt_gmma_operand(&v->wgmma, a, bits, x == MT_PART_A ? op->m : op->n, op->k,
                                major, &why);
  if (s == MT_OK) return MT_OK;
  v->wgmma.bits = 0;
  if (s == MT_ESTOPPED) return *err = why, s;
  snprintf(v->reason, sizeof v->reason, "%.500s", why.text);
  mt_doubt(v, MT_NOT_CANONICAL);
  return MT_OK;
}

/* Whoever has a number: the same is had. */
static MT_APART mt_status by_steps (mt_verdict *out, const mt_tiled_mma *mma,
                                    mt_mma_part x, const mt_tensor *t, mt_err *err) {
  mt_tiled_mma steps;
  MT_TRY(mt_tiled_mma_by_steps(&steps, mma, err));
  return mt_verify_mma(out, &steps, x, t, err);
}

mt_status mt_verify_mma (mt_verdict *out, const mt_tiled_mma *mma, mt_mma_part x,
                         const mt_tensor *t, mt_err *err) {
  static const int axes[][2] = {{0, 2}, {1, 2}, {0, 1}};
  mt_layout shape, tile, tv;
  MT_CHECK((unsigned)x <= MT_PART_C, err, "verify: no such operand");
  if (mt_tiled_mma_by_function(mma)) return by_steps(out, mma, x, t, err);
  const int64_t extent[] = {mma->tile[axes[x][0]], mma->tile[axes[x][1]]};
  MT_TRY(mt_ints(&shape, 2, extent, err));
  MT_TRY(mt_layout_left(&tile, shape.node, err));
  MT_TRY(mt_mma_tv(&tv, mma, x, tile.node, err)); /* (thread,(FrgV,Rest)) */
  const mt_claim c = {.op = "verify",
                      .tv = tv.node,
                      .tiler = shape.node,
                      .written = x == MT_PART_C,
                      .shared = true};
  MT_TRY(mt_verify(out, &c, t, err));
  set_idle(out, mt_tiled_mma_size(mma));
  return prove_wgmma(out, &mma->atom.op, x, t->layout, err);
}
