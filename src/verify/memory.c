/*
** memory.c - proofs of a tensor in memory: one place for each element, and how
** wide an access may be.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "moontile/algebra.h"
#include "algebra/collision.h"
#include "desc/axes.h"
#include "tile/bounds.h"
#include "copy/check.h"
#include "desc/swizzle.h"
#include "copy/copy.h"
#include "core/build.h"
#include "core/solve.h"
#include "verify/verify.h"

/* ---------------------------------------------------------------- one place each */

/* A coordinate in the tree of the shape; index[k] in mode k of those of extent > 1. */
static mt_status coordinate (mt_layout *out, const mt_node *a, const int64_t *index,
                             mt_err *err) {
  MT_TRY(mt_shape(out, a, err));
  for (mt_node *p = out->node; p < mt_next(out->node); p++)
    if (p->tag == MT_INT) p->shape = p->shape > 1 ? *index++ : 0;
  return MT_OK;
}

/* From the difference y - x along the |stride|s, turned so that x is first. */
static MT_APART mt_status one_place (mt_verdict *v, const mt_node *a,
                                     const mt_node *const *leaf, const mt_equation *e,
                                     mt_err *err) {
  int64_t x[MT_MAXTERMS], y[MT_MAXTERMS], sign = 0;
  for (int k = e->n; k-- > 0;) {
    int64_t d = leaf[k]->stride < 0 ? -e->v[k] : e->v[k];
    if (sign == 0) sign = (d > 0) - (d < 0);
    d *= sign;
    y[k] = d > 0 ? d : 0;
    x[k] = y[k] - d;
  }
  v->injective = 0;
  MT_TRY(coordinate(&v->x, mt_inner(a), x, err));
  MT_TRY(coordinate(&v->y, mt_inner(a), y, err));
  return mt_crd2idx(&v->offset, v->x.node, a, err);
}

/* Values of links have no equation: they are looked at one by one. */
static MT_APART mt_status prove_looked_up (mt_verdict *v, const mt_node *a, mt_err *err) {
  mt_image image;
  int64_t i, j;
  MT_TRYERR(quiet, err);
  v->injective = -1;
  if (mt_image_of(&image, &i, &j, "verify", a, &quiet) != MT_OK) return MT_OK;
  v->injective = i < 0;
  if (i < 0) return MT_OK;
  MT_TRY(mt_idx2crd(&v->x, i, mt_base(a), err));
  MT_TRY(mt_idx2crd(&v->y, j, mt_base(a), err));
  return mt_number_at(&v->offset, a, i, err);
}

/* A swizzle is one to one: it is left out. */
static MT_APART mt_status prove_places (mt_verdict *v, const mt_node *a, mt_err *err) {
  const mt_node *leaf[MT_MAXTERMS], *in = mt_inner(a);
  mt_equation e = {.n = 0};
  if (mt_is_composed(a)) return prove_looked_up(v, a, err);
  v->injective = -1;
  for (const mt_node *p = in; p < mt_next(in); p++) {
    if (p->tag != MT_LEAF || p->shape == 1) continue;
    if (e.n == MT_MAXTERMS || p->stride == INT64_MIN) return MT_OK;
    leaf[e.n] = p;
    e.d[e.n] = p->stride < 0 ? -p->stride : p->stride;
    e.hi[e.n] = p->shape - 1;
    e.lo[e.n] = -e.hi[e.n];
    e.v[e.n++] = 0;
  }
  for (int k = 0; k < e.n; k++) {
    if (e.d[k] != 0) continue;
    e.v[k] = 1;
    return one_place(v, a, leaf, &e, err);
  }
  mt_solution found = mt_solve(&e, 0, true);
  if (found == MT_FOUND) return one_place(v, a, leaf, &e, err);
  if (found == MT_NONE) v->injective = 1;
  return MT_OK;
}

/* ---- of a ragged tensor */

/* What is real, piece by piece. */
typedef struct mt_count {
  const mt_launch *l;
  int64_t real, low, high;
  bool failed;
} mt_count;

static bool count_piece (void *ud, const mt_domain *b) {
  mt_count *x = ud;
  int64_t n = 1, low, high;
  for (int j = 0; j < b->n; j++) n *= b->axis[j].extent;
  x->failed = x->failed || !mt_domain_range(&low, &high, x->l, b, MT_DST);
  if (x->failed) return false;
  if (x->real == 0 || low < x->low) x->low = low;
  if (x->real == 0 || high > x->high) x->high = high;
  x->real += n;
  return true;
}

/* Found one to one where all elements are, or those that are real. */
static MT_APART mt_status prove_real (mt_verdict *v, const mt_launch *l, mt_err *err) {
  bool met = false;
  MT_TRYERR(why, err);
  if (v->injective == 1 || mt_check_once(l, &met, &why) == MT_OK) {
    v->injective = 1;
    return MT_OK;
  }
  v->injective = met ? 0 : -1;
  snprintf(v->reason, sizeof v->reason, "%.500s", why.text);
  if (v->written) mt_doubt(v, met ? MT_ONE_PLACE : MT_OPEN);
  return MT_OK;
}

static MT_APART mt_status ragged_memory (mt_verdict *v, const mt_tensor *t, mt_err *err) {
  mt_launch l;
  int modes[MT_MAXBOUND];
  MT_TRY(mt_describe(&l, modes, NULL, t, t, err));
  mt_count x = {.l = &l};
  v->real = 0;
  if (l.desc.rests == 0) return MT_OK;
  if (mt_pieces(&l.desc, count_piece, &x)) {
    v->real = x.real;
    v->lowest = x.low - t->offset;
    v->highest = x.high - t->offset;
  } else {
    v->real = -1;
    MT_TRY(mt_footprint(&v->lowest, &v->highest, t->layout, err));
    v->highest--;
  }
  MT_TRY(prove_places(v, t->layout, err));
  return prove_real(v, &l, err);
}

mt_status mt_verify_memory (mt_verdict *v, const mt_tensor *t, mt_err *err) {
  bool ragged;
  v->lowest = 0;
  v->highest = -1;
  v->injective = 1;
  v->real = v->elements;
  if (v->elements == 0) return MT_OK;
  MT_TRY(mt_is_ragged(&ragged, t, err));
  if (ragged) return ragged_memory(v, t, err);
  MT_TRY(mt_footprint(&v->lowest, &v->highest, t->layout, err));
  v->highest--;
  MT_TRY(prove_places(v, t->layout, err));
  if (v->written && v->injective != 1)
    mt_doubt(v, v->injective == 0 ? MT_ONE_PLACE : MT_OPEN);
  return MT_OK;
}

/* ---------------------------------------------------------------- wide accesses */

/* The partition in memory: axes of thread, value and rest, with steps of the bounds, so
** that a run never goes past one. */
typedef struct mt_in_memory {
  const mt_tensor *t;
  mt_axes mode[3];
  int64_t offset[2]; /* of the first element */
  int bits;
} mt_in_memory;

static MT_APART mt_status partition (mt_layout *out, const mt_claim *c, const mt_node *a,
                                     mt_err *err) {
  mt_layout divided, tile;
  MT_TRY(mt_zipped_divide(&divided, a, c->tiler, err)); /* ((Tile),(Rest)) */
  MT_TRY(mt_composition(&tile, mt_mode(divided.node, 0), c->access, err));
  const mt_node *modes[] = {mt_mode(tile.node, 0), mt_mode(tile.node, 1),
                            mt_mode(divided.node, 1)};
  return mt_concat(out, 3, modes, err); /* (Thr,Val,(Rest)) */
}

/* Mode by mode coalesced: the same function, in the form that divides most easily. */
static MT_APART mt_status simplify (mt_layout *out, const mt_node *a, mt_err *err) {
  mt_layout profile;
  int64_t one[MT_MAXNODES];
  int n = mt_rank(a);
  for (int i = 0; i < n; i++) one[i] = 1;
  MT_TRY(mt_ints(&profile, n, one, err));
  return mt_coalesce(out, a, mt_is_branch(a) ? profile.node : NULL, err);
}

/* Of the ordinates of a mode, or of what is ragged. */
static MT_APART mt_status add_bound (mt_in_memory *x, const mt_claim *c,
                                     const mt_node *crd, int f, mt_err *err) {
  mt_layout part;
  if (f == MT_STEP + MT_MAXBOUND)
    return mt_fail(err, MT_ETOOBIG,
                   "more than %d bounds: of what the tile overhangs and "
                   "of the tensor itself",
                   (int)MT_MAXBOUND);
  MT_TRY(partition(&part, c, crd, err));
  for (int i = 0; i < 3; i++)
    if (!mt_axes_refine(&x->mode[i], mt_mode(part.node, i), f))
      return mt_failn(err, MT_EINEXACT,
                      "the coordinates %N and the offsets have no "
                      "common refinement",
                      crd);
  return MT_OK;
}

static MT_APART mt_status add_own (mt_in_memory *x, const mt_claim *c, int *bounds,
                                   mt_err *err) {
  for (int k = 0; k < mt_ordinates(x->t); k++) {
    mt_layout crd, simple;
    int64_t bound;
    MT_TRY(mt_bound_of(&crd, &bound, x->t, k, err));
    if (mt_last_ordinate(crd.node) < bound) continue;
    MT_TRY(simplify(&simple, crd.node, err));
    MT_TRY(add_bound(x, c, simple.node, MT_STEP + (*bounds)++, err));
  }
  return MT_OK;
}

static MT_APART mt_status shelve (mt_in_memory *x, const mt_verdict *v, const mt_claim *c,
                                  mt_err *err) {
  mt_layout a, part;
  int bounds = 0;
  MT_TRY(simplify(&a, mt_inner(x->t->layout), err));
  MT_TRY(partition(&part, c, a.node, err));
  for (int i = 0; i < 3; i++) {
    mt_axes_of(&x->mode[i], mt_mode(part.node, i), MT_SRC);
    for (int k = 0; k < x->mode[i].n; k++)
      x->mode[i].axis[k].stride[MT_DST] = x->mode[i].axis[k].stride[MT_SRC];
  }
  for (int k = 0; k < v->modes; k++) {
    if (v->mode[k].reach == v->mode[k].extent) continue;
    MT_TRY(mt_ordinates_of(&part, a.node, k, err));
    MT_TRY(add_bound(x, c, part.node, MT_STEP + bounds++, err));
  }
  MT_TRY(add_own(x, c, &bounds, err));
  for (int i = 0; i < 3; i++) {
    if (i > 0) mt_axes_turn(&x->mode[i], x->offset);
    if (i > 0) mt_axes_sort(&x->mode[i]);
    mt_axes_merge(&x->mode[i]);
  }
  return MT_OK;
}

/* ---- whether, and why not */

#define MT_BECAUSE(why, ...)                                                             \
  (snprintf((why), sizeof(((mt_verdict *)0)->why), __VA_ARGS__))

static const mt_axis *find_run (const mt_in_memory *x) {
  for (int i = 0; i < x->mode[1].n; i++)
    if (x->mode[1].axis[i].stride[MT_SRC] == 1) return &x->mode[1].axis[i];
  return NULL;
}

static bool no_run (const mt_in_memory *x, char *why) {
  if (x->mode[1].n == 0) MT_BECAUSE(why, "a thread has one element");
  else
    MT_BECAUSE(why, "the nearest values of a thread are %lld apart",
               (long long)x->mode[1].axis[0].stride[MT_SRC]);
  return false;
}

static bool strides_divide (const mt_in_memory *x, const mt_axis *run, int64_t n,
                            char *why) {
  static const char *const names[] = {"thread", "value", "rest"};
  for (int i = 0; i < 3; i++)
    for (const mt_axis *a = x->mode[i].axis; a < x->mode[i].axis + x->mode[i].n; a++) {
      if (a == run || a->stride[MT_SRC] % n == 0) continue;
      MT_BECAUSE(why, "a %s axis has stride %lld, not a multiple of %lld elements",
                 names[i], (long long)a->stride[MT_SRC], (long long)n);
      return false;
    }
  return true;
}

static bool swizzle_keeps (const mt_in_memory *x, int64_t n, char *why) {
  const mt_node *a = x->t->layout;
  if (!mt_is_swizzled(a)) return true;
  mt_swizzle w = mt_swizzle_of(a);
  if (w.b > 0 && n > INT64_C(1) << w.m) {
    MT_BECAUSE(why, "the swizzle keeps %lld elements together", 1LL << w.m);
    return false;
  }
  if ((a->stride + x->offset[MT_SRC]) % n == 0) return true;
  MT_BECAUSE(why, "the offset under the swizzle is no multiple of %lld", (long long)n);
  return false;
}

static bool address_divides (const mt_in_memory *x, int64_t n, char *why) {
  const mt_tensor *t = x->t;
  uint64_t shift = mt_is_swizzled(t->layout) ? 0 : (uint64_t)x->offset[MT_SRC];
  uint64_t elem = t->data ? mt_dtype_size(t->dtype) : 1, width = (uint64_t)n * elem;
  uint64_t at = (uint64_t)(uintptr_t)t->data + ((uint64_t)t->offset + shift) * elem;
  if (at % width == 0) return true;
  MT_BECAUSE(why, "it begins %d %s past a multiple of %d", (int)(at % width),
             t->data ? "bytes" : "elements", (int)width);
  return false;
}

static bool can_be (const mt_in_memory *x, int64_t n, char *why) {
  const mt_axis *run = find_run(x);
  if (n <= 1) return true;
  if (run == NULL) return no_run(x, why);
  if (run->extent % n != 0) {
    MT_BECAUSE(why, "%lld elements lie together, not a multiple of %lld",
               (long long)run->extent, (long long)n);
    return false;
  }
  return strides_divide(x, run, n, why) && swizzle_keeps(x, n, why) &&
         address_divides(x, n, why);
}

/* Elements that an access may have at most: those of the atom; of 16 bytes; all. */
static int64_t widest (const mt_verdict *v) {
  int64_t n = 1, most = v->asked ? v->asked : v->bits ? 128 / v->bits : v->values;
  while (n <= most / 2) n *= 2;
  return n;
}

static void unplaced (mt_verdict *v, const mt_err *err) {
  char *why = v->why;
  MT_BECAUSE(why, "no layout says where the tile is in this tensor");
  if (v->reason[0]) return;
  snprintf(v->reason, sizeof v->reason, "%.500s", err->text);
}

static void by_axes (mt_verdict *v, const mt_claim *c, const mt_tensor *t) {
  mt_in_memory x = {.t = t};
  mt_err err = MT_NOERR;
  bool placed = shelve(&x, v, c, &err) == MT_OK;
  if (!placed) unplaced(v, &err);
  for (int64_t n = 2, most = widest(v); placed && n <= most; n *= 2) {
    if (!can_be(&x, n, v->why)) break;
    v->vector = n;
  }
}

mt_status mt_verify_vector (mt_verdict *v, const mt_claim *c, const mt_tensor *t,
                            mt_err *err) {
  char *why = v->why;
  if (!v->covers || v->elements == 0) return MT_OK;
  v->vector = 1;
  if (mt_is_composed(t->layout))
    MT_BECAUSE(why, "the layout is composed: each element is looked up");
  else if (c->access->tag >= MT_SWIZZLE || !mt_is_integral(c->access))
    MT_TRY(mt_verify_vector_function(v, c, t, err));
  else by_axes(v, c, t);
  if (v->vector < v->asked) mt_doubt(v, MT_NARROW);
  return MT_OK;
}
