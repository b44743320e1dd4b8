/*
** coalesce.c - layouts in fewer modes: coalesce, its forms for the extended domain,
** filter.
** SPDX-License-Identifier: MIT
*/
#include "core/build.h"

/* Appends s : stride of d, as part of the mode before it if they are one. (Twice the size
** of a layout, which the extended domain may want, can leave 64 bits.) */
static void append (mt_flat *f, int64_t s, const mt_node *d) {
  int k = f->n - 1;
  int64_t n;
  if (k >= 0 && mt_same_scaled(f->d[k], f->s[k], d) && !mt_mulo(f->s[k], s, &n)) {
    f->s[k] = n;
    return;
  }
  f->s[f->n] = s;
  f->d[f->n++] = d;
}

void mt_flatten_coalesced (mt_flat *f, const mt_node *a) {
  f->n = 0;
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a); p = mt_leaf(a, mt_after(p)))
    if (p->shape != 1) append(f, p->shape, p);
}

/* On the extended domain; a last mode of extent 1 gets the extent `one`. */
static void flatten_extended (mt_flat *f, const mt_node *a, int64_t one) {
  static const mt_node none = {.tag = MT_LEAF, .span = 1, .shape = 1};
  f->n = 0;
  for (const mt_node *p = mt_leaf(a, a), *next; p < mt_next(a); p = next) {
    next = mt_leaf(a, mt_after(p));
    if (p->shape > 1) append(f, p->shape, p);
    else if (next == mt_next(a)) append(f, p->shape == 1 ? one : p->shape, p);
  }
  if (f->n == 0) append(f, one, &none);
}

void mt_flatten_extended (mt_flat *f, const mt_node *a) { flatten_extended(f, a, 1); }

void mt_emit_flat (mt_build *b, const mt_flat *f) {
  if (f->n == 0) mt_add_leaf(b, 1, 0);
  if (f->n > 1) mt_open(b, MT_MODES);
  for (int r = 0; r < f->n; r++) mt_add_scaled(b, f->s[r], f->d[r], 1);
  if (f->n > 1) mt_close(b);
}

/* ---- what becomes of a mode */

/* One mode of extent 0 or 1, its stride the zero of a's algebra. */
static void emit_point (mt_build *b, const mt_node *a) {
  const mt_node *p = mt_leaf(a, a);
  if (p < mt_next(a) && p->ring == MT_F2) mt_add_scaled(b, a->shape, p, 0);
  else mt_add_leaf(b, a->shape, 0);
}

void mt_emit_coalesce (mt_build *b, const mt_node *a) {
  mt_flat f;
  f.n = 0;
  if (a->shape > 0) mt_flatten_coalesced(&f, a);
  if (f.n > 0) mt_emit_flat(b, &f);
  else emit_point(b, a);
}

/* The last mode has no bound, whatever its extent: 0 keeps an empty layout empty. */
static void emit_extended (mt_build *b, const mt_node *a, int64_t one) {
  mt_flat f;
  flatten_extended(&f, a, one);
  if (a->shape == 0) f.s[f.n - 1] = 0;
  mt_emit_flat(b, &f);
}

static void emit_coalesce_x (mt_build *b, const mt_node *a) { emit_extended(b, a, 2); }
static void emit_coalesce_z (mt_build *b, const mt_node *a) { emit_extended(b, a, 1); }

static void emit_filter (mt_build *b, const mt_node *a) {
  mt_flat f;
  f.n = 0;
  if (a->shape == 0) {
    emit_point(b, a);
    return;
  }
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a); p = mt_leaf(a, mt_after(p)))
    if (p->shape != 1 && !mt_zero_stride(p)) append(&f, p->shape, p);
  mt_emit_flat(b, &f);
}

/* ---- by profile */

static bool reaches (mt_build *b, const mt_node *a, const mt_node *profile) {
  if (profile->arity > mt_rank(a))
    mt_build_fail(b, MT_ERANK, "%s: profile %N has %d modes, %N has %d", b->op, profile,
                  (int)profile->arity, a, mt_rank(a));
  return b->status == MT_OK;
}

/* A tuple goes by mode, modes that it does not reach stay; `_` leaves a mode as it is. */
static void by_profile (mt_build *b, const mt_node *a, const mt_node *profile,
                        void (*emit)(mt_build *b, const mt_node *a)) {
  if (profile->tag == MT_WILD) {
    mt_add(b, a);
  } else if (!mt_is_branch(profile)) {
    emit(b, a);
  } else if (reaches(b, a, profile)) {
    const mt_node *m = mt_first_mode(a), *end = mt_next(a);
    mt_open(b, MT_MODES);
    for (const mt_node *p = mt_child(profile); p < mt_next(profile);
         p = mt_next(p), m = mt_next(m))
      by_profile(b, m, p, emit);
    for (; m < end; m = mt_next(m)) mt_add(b, m);
    mt_close(b);
  }
}

static mt_status simplify (mt_layout *out, const char *op, const mt_node *a,
                           const mt_node *profile,
                           void (*emit)(mt_build *b, const mt_node *a), mt_err *err) {
  mt_build b;
  MT_CHECK(mt_is_function(a), err, "%s: a layout expected", op);
  mt_begin(&b, out, op, err);
  mt_open_root(&b, a);
  if (profile) by_profile(&b, mt_base(a), profile, emit);
  else emit(&b, mt_base(a));
  return mt_end(&b);
}

mt_status mt_coalesce (mt_layout *out, const mt_node *a, const mt_node *profile,
                       mt_err *err) {
  return simplify(out, "coalesce", a, profile, mt_emit_coalesce, err);
}

mt_status mt_coalesce_x (mt_layout *out, const mt_node *a, const mt_node *profile,
                         mt_err *err) {
  return simplify(out, "coalesce_x", a, profile, emit_coalesce_x, err);
}

mt_status mt_coalesce_z (mt_layout *out, const mt_node *a, const mt_node *profile,
                         mt_err *err) {
  return simplify(out, "coalesce_z", a, profile, emit_coalesce_z, err);
}

mt_status mt_filter (mt_layout *out, const mt_node *a, const mt_node *profile,
                     mt_err *err) {
  return simplify(out, "filter", a, profile, emit_filter, err);
}

/* ---- broadcasts */

/* All leaves of a with extent 1; an extent of 0 stays. */
static void emit_ones (mt_build *b, const mt_node *a) {
  if (!mt_is_branch(a)) {
    mt_add_scaled(b, a->shape == 0 ? 0 : 1, a, 1);
    return;
  }
  mt_open(b, MT_MODES);
  for (const mt_node *c = mt_child(a); c < mt_next(a); c = mt_next(c)) emit_ones(b, c);
  mt_close(b);
}

static void emit_filter_zeros (mt_build *b, const mt_node *a) {
  if (!mt_is_branch(a)) {
    if (mt_zero_stride(a)) emit_ones(b, a);
    else mt_add(b, a);
    return;
  }
  mt_open(b, MT_MODES);
  for (const mt_node *c = mt_child(a); c < mt_next(a); c = mt_next(c))
    emit_filter_zeros(b, c);
  mt_close(b);
}

static void zeros_of_profile (mt_build *b, const mt_node *a, const mt_node *profile) {
  if (!mt_is_branch(profile)) {
    if (profile->tag == MT_INT && profile->shape == 0) emit_ones(b, a);
    else mt_add(b, a);
  } else if (profile->arity != mt_rank(a) || !mt_is_branch(a)) {
    mt_build_fail(b, MT_ERANK, "%s: profile %N has %d modes, %N has %d", b->op, profile,
                  (int)profile->arity, a, mt_rank(a));
  } else {
    const mt_node *m = mt_child(a);
    mt_open(b, MT_MODES);
    for (const mt_node *p = mt_child(profile); p < mt_next(profile);
         p = mt_next(p), m = mt_next(m))
      zeros_of_profile(b, m, p);
    mt_close(b);
  }
}

mt_status mt_filter_zeros (mt_layout *out, const mt_node *a, const mt_node *profile,
                           mt_err *err) {
  mt_build b;
  MT_CHECK(mt_is_function(a), err, "filter_zeros: a layout expected");
  mt_begin(&b, out, "filter_zeros", err);
  mt_open_root(&b, a);
  if (profile) zeros_of_profile(&b, mt_base(a), profile);
  else emit_filter_zeros(&b, mt_base(a));
  return mt_end(&b);
}
