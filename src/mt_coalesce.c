/*
** mt_coalesce.c - the shortest layout with the same values.
** SPDX-License-Identifier: MIT
*/
#include "mt_build.h"

/* Appends s : stride of d, as part of the mode before it if they are one. */
static void append (mt_flat *f, int64_t s, const mt_node *d) {
  int k = f->n - 1;
  if (k >= 0 && mt_same_scaled(f->d[k], f->s[k], d)) {
    f->s[k] *= s;      /* stays below the size of the layout, which was checked */
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

void mt_flatten_extended (mt_flat *f, const mt_node *a) {
  f->n = 0;
  for (const mt_node *p = mt_leaf(a, a), *next; p < mt_next(a); p = next) {
    next = mt_leaf(a, mt_after(p));
    if (p->shape > 1 || next == mt_next(a)) append(f, p->shape, p);
  }
  static const mt_node one = {.tag = MT_LEAF, .span = 1, .shape = 1};
  if (f->n == 0) append(f, 1, &one);
}

void mt_emit_flat (mt_build *b, const mt_flat *f) {
  if (f->n == 0) mt_add_leaf(b, 1, 0);
  if (f->n > 1) mt_open(b, MT_MODES);
  for (int r = 0; r < f->n; r++) mt_add_scaled(b, f->s[r], f->d[r], 1);
  if (f->n > 1) mt_close(b);
}

void mt_emit_coalesce (mt_build *b, const mt_node *a) {
  mt_flat f;
  if (a->shape == 0) {
    mt_add_leaf(b, 0, 0);
    return;
  }
  mt_flatten_coalesced(&f, a);
  mt_emit_flat(b, &f);
}

/* A tuple goes by mode, modes that it does not reach stay; `_` leaves a mode as it is. */
static void by_profile (mt_build *b, const mt_node *a, const mt_node *profile) {
  if (profile->tag == MT_WILD) {
    mt_add(b, a);
  } else if (!mt_is_branch(profile)) {
    mt_emit_coalesce(b, a);
  } else if (profile->arity > mt_rank(a)) {
    mt_build_fail(b, MT_ERANK, "coalesce: profile %N has %d modes, %N has %d", profile,
                  (int)profile->arity, a, mt_rank(a));
  } else {
    const mt_node *m = mt_first_mode(a), *end = mt_next(a);
    mt_open(b, MT_MODES);
    for (const mt_node *p = mt_child(profile); p < mt_next(profile);
         p = mt_next(p), m = mt_next(m))
      by_profile(b, m, p);
    for (; m < end; m = mt_next(m)) mt_add(b, m);
    mt_close(b);
  }
}

mt_status mt_coalesce (mt_layout *out, const mt_node *a, const mt_node *profile,
                       mt_err *err) {
  mt_build b;
  MT_CHECK(mt_is_layout(a), err, "coalesce: a layout expected");
  mt_begin(&b, out, "coalesce", err);
  mt_open_root(&b, a);
  if (profile) by_profile(&b, mt_inner(a), profile);
  else mt_emit_coalesce(&b, mt_inner(a));
  return mt_end(&b);
}
