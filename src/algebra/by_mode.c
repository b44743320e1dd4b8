/*
** by_mode.c - tilers by mode that have functions in them.
** SPDX-License-Identifier: MIT
**
** R = A o J. J takes a coordinate of R to an index of A: all modes but one stay as they
** are, and of that one it takes the function F:
**
**   A = (A0, A1, A2), F in mode 1:   J(x,y,z) = x + s0 * F(y) + s0*s1 * z
**
** which is the sum of a layout and a function (mt_beside). So one function after another.
*/
#include "moontile/algebra.h"
#include "algebra/by_mode.h"
#include "algebra/composed.h"
#include "algebra/tiles.h"

static bool is_tiler (const mt_node *t) {
  return t->tag == MT_TILER || t->tag == MT_TUPLE;
}

bool mt_has_functions (const mt_node *t) {
  if (t->tag != MT_TILER) return false;
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
    if (mt_is_more(c) || mt_has_functions(c)) return true;
  return false;
}

/* ---- J */

/* The leaves of a outside of the mode `at`, each with its step among the indices; that of
** `at` is *step. */
static void emit_others (mt_build *b, const mt_node *a, const mt_node *at,
                         int64_t *step) {
  int64_t run = 1;
  mt_open(b, MT_MODES);
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a);) {
    bool in = p >= at && p < mt_next(at);
    if (in) *step = run;
    else mt_add_leaf(b, p->shape, run);
    run *= in ? mt_size(at) : p->shape;
    p = mt_leaf(a, in ? mt_next(at) : mt_after(p));
  }
  mt_close(b);
}

/* The tree of a, its leaves from `other` on, `at` as t. */
static void emit_tree (mt_build *b, const mt_node *a, const mt_node *at, const mt_node *t,
                       const mt_node **other) {
  if (a == at) {
    mt_add(b, t);
  } else if (mt_is_branch(a)) {
    mt_open(b, MT_MODES);
    for (const mt_node *c = mt_child(a); c < mt_next(a); c = mt_next(c))
      emit_tree(b, c, at, t, other);
    mt_close(b);
  } else {
    mt_add(b, *other);
    *other = mt_next(*other);
  }
}

/* The tree of a with t in the place of `at`. */
static void emit_changed (mt_build *b, const mt_node *a, const mt_node *at,
                          const mt_node *t) {
  if (a == at || !mt_is_branch(a)) {
    mt_add(b, a == at ? t : a);
    return;
  }
  mt_open(b, MT_MODES);
  for (const mt_node *c = mt_child(a); c < mt_next(a); c = mt_next(c))
    emit_changed(b, c, at, t);
  mt_close(b);
}

static mt_status want_inside (const char *op, const mt_node *f, const mt_node *at,
                              mt_err *err) {
  int64_t lo, end;
  MT_TRY(mt_number_range(&lo, &end, op, f, err));
  if (end <= mt_size(at)) return MT_OK;
  return mt_failn(err, MT_EINEXACT,
                  "%s: %N goes to %lld, past the end of the mode %N, which has %lld "
                  "elements",
                  op, f, (long long)end - 1, at, (long long)mt_size(at));
}

/* out = a, f taken in the mode `at` of its base. */
static mt_status take_in_mode (mt_layout *out, const char *op, const mt_node *a,
                               const mt_node *at, const mt_node *f, mt_err *err) {
  mt_layout others, joint, j;
  mt_build b;
  int64_t step = 1;
  const mt_node *base = mt_base(a);
  MT_TRY(want_inside(op, f, at, err));
  mt_begin(&b, &others, op, err);
  emit_others(&b, base, at, &step);
  MT_TRY(mt_end(&b));
  const mt_node c = mt_leaf_of(mt_size(at), step);
  MT_TRY(mt_beside(&joint, op, others.node, &c, f, err));
  const mt_node *both = mt_child(mt_base(joint.node)), *other = mt_first_mode(both);
  mt_begin(&b, &j, op, err);
  mt_open_root(&b, joint.node);
  emit_tree(&b, base, at, mt_next(both), &other);
  MT_TRY(mt_end(&b));
  return mt_renamed(op, mt_composition(out, a, j.node, err), err);
}

/* ---- each function of a tiler */

/* t with `_` in the place of functions. */
static void emit_rest (mt_build *b, const mt_node *t) {
  if (is_tiler(t)) {
    mt_open(b, (mt_tag)t->tag);
    for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c)) emit_rest(b, c);
    mt_close(b);
  } else if (mt_is_more(t)) {
    mt_add_wild(b);
  } else {
    mt_add(b, t);
  }
}

typedef struct path {
  int n, mode[MT_MAXDEPTH + 2];
} path;

static const mt_node *follow (const mt_node *a, const path *p) {
  for (int i = 0; i < p->n && a; i++)
    a = mt_is_branch(a) ? mt_mode(a, p->mode[i]) : p->mode[i] == 0 ? a : NULL;
  return a;
}

/* a, in the place of its mode `at` that mode and the places of its copies. */
static mt_status with_copies (mt_layout *out, const char *op, const mt_node *a,
                              const mt_node *at, const mt_node *t, mt_err *err) {
  mt_layout gaps, pair;
  mt_build b, p;
  mt_begin(&p, &gaps, op, err);
  mt_complement_for(&p, &gaps, at, t);
  MT_TRY(p.status);
  mt_begin(&p, &pair, op, err);
  mt_open(&p, MT_MODES);
  mt_add(&p, at);
  mt_add(&p, gaps.node);
  MT_TRY(mt_end(&p));
  mt_begin(&b, out, op, err);
  mt_open_root(&b, a);
  emit_changed(&b, mt_base(a), at, pair.node);
  return mt_end(&b);
}

typedef mt_status take (mt_layout *all, const char *op, const mt_node *at,
                        const mt_node *t, mt_err *err);

static mt_status take_copies (mt_layout *all, const char *op, const mt_node *at,
                              const mt_node *t, mt_err *err) {
  mt_layout r;
  MT_TRY(with_copies(&r, op, all->node, at, t, err));
  mt_copy_value(all, r.node);
  return MT_OK;
}

static mt_status take_function (mt_layout *all, const char *op, const mt_node *at,
                                const mt_node *t, mt_err *err) {
  mt_layout r;
  MT_TRY(take_in_mode(&r, op, all->node, at, t, err));
  mt_copy_value(all, r.node);
  return MT_OK;
}

static mt_status take_tile (mt_layout *all, const char *op, const mt_node *at,
                            const mt_node *t, mt_err *err) {
  mt_layout pair;
  MT_TRY(mt_tile_of_function(&pair, op, t, mt_size(at), err));
  return take_function(all, op, at, pair.node, err);
}

/* Of a mode with the places of its copies. */
static mt_status take_grid (mt_layout *all, const char *op, const mt_node *at,
                            const mt_node *t, mt_err *err) {
  return take_function(all, op, mt_mode(at, 1), t, err);
}

/* The functions of t, one by one, each of the mode at its path. */
static mt_status take_all (mt_layout *all, const char *op, take *f, const mt_node *t,
                           path *p, mt_err *err) {
  int i = 0;
  if (mt_is_more(t)) {
    const mt_node *at = follow(mt_base(all->node), p);
    if (at) return f(all, op, at, t, err);
    return mt_failn(err, MT_ERANK, "%s: %N has no such mode", op, all->node);
  }
  if (!is_tiler(t)) return MT_OK;
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c)) {
    p->mode[p->n++] = i++;
    MT_TRY(take_all(all, op, f, c, p, err));
    p->n--;
  }
  return MT_OK;
}

static take *const takes[] = {[MT_BY_DIVIDE] = take_tile,
                              [MT_BY_COMPOSITION] = take_function,
                              [MT_BY_PRODUCT] = take_grid};

mt_status mt_by_functions (mt_layout *out, const char *op, mt_mode_op how,
                           mt_mode_rule *rule, const mt_node *a, const mt_node *t,
                           mt_err *err) {
  mt_layout rest;
  mt_build b;
  path p = {0};
  mt_begin(&b, &rest, op, err);
  emit_rest(&b, t);
  MT_TRY(mt_end(&b));
  MT_TRY(mt_renamed(op, rule(out, a, rest.node, err), err));
  if (how == MT_BY_PRODUCT) MT_TRY(take_all(out, op, take_copies, t, &p, err));
  return take_all(out, op, takes[how], t, &p, err);
}
