/*
** compose.c - R(i) = A(B(i)): the rule, and the walk over B.
** SPDX-License-Identifier: MIT
**
** A is coalesced to modes s_0, s_1, ... on its extended domain: the last has no bound.
** P_r is the product of the extents before r. A leaf n:d of B is exact in A's digits if
** it can be cut so:
**   r is the mode with P_r <= d < P_r*s_r (the last, if d is beyond all);
**   P_r divides d; t = d/P_r;
**   if (n-1)*t <= s_r - 1, or r is the last mode, the leaf is one piece n : t*d_r;
**   else t divides s_r and m = s_r/t divides n: a piece m : t*d_r, then n/m with step 1
**   in mode r+1.
** Leaves add up if no digit carries: for each r but the last the sum of (m-1)*t over all
** pieces in r is at most s_r - 1. Given the first, the second is necessary and
** sufficient.
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "algebra/by_mode.h"
#include "algebra/composed.h"
#include "algebra/f2.h"
#include "algebra/linear.h"
#include "algebra/zip.h"

static mt_reason refuse (mt_refusal *w, mt_reason reason, int k, int r) {
  w->reason = reason;
  w->k = k;
  w->r = r;
  return reason;
}

/* The leaf k of the group, of one value: 1 : A(d), or 1:0 where A(d) is no single
** stride. */
static mt_reason single (mt_pieces *q, const mt_meet *g, int k) {
  const mt_flat *f = &g->f;
  const mt_node *axis = NULL;
  int64_t i = g->d[k], sum = 0, digit, v;
  bool one = i >= 0;
  if (mt_flat_is_f2(f)) return mt_f2_single(q, g, k);
  for (int r = 0; r < f->n && one; r++) {
    bool last = r == f->n - 1;
    digit = last ? i : i % f->s[r];
    if (!last) i /= f->s[r];
    if (digit == 0 || mt_zero_stride(f->d[r])) continue;
    one = f->d[r]->tag == MT_LEAF && (axis == NULL || mt_same_path(axis, f->d[r])) &&
          !mt_mulo(digit, f->d[r]->stride, &v) && !mt_addo(sum, v, &sum);
    if (one) axis = f->d[r];
  }
  if (!one || axis == NULL || sum == 0)
    return mt_add_piece(q, g->leaf[k], 1, 0, NULL, 0) ? MT_FITS : MT_MANY;
  if (axis->ring == MT_Z)
    return mt_add_piece(q, g->leaf[k], 1, sum, NULL, 0) ? MT_FITS : MT_MANY;
  if (q->used == MT_MAXNODES) return MT_MANY;
  mt_node *p = &q->sums.node[q->used++];
  *p = *axis;
  p->stride = sum;
  return mt_add_piece(q, g->leaf[k], 1, 1, p, 0) ? MT_FITS : MT_MANY;
}

static mt_reason cut (mt_pieces *q, const mt_meet *g, int k, mt_refusal *w) {
  const mt_flat *f = &g->f;
  int64_t n = g->s[k], t = g->d[k];
  int r = 0, last = f->n - 1, leaf = g->leaf[k];
  if (n == 1) return single(q, g, k);
  if (n == 0) return mt_add_piece(q, leaf, 0, 0, NULL, 0) ? MT_FITS : MT_MANY;
  if (t < 0 && last > 0) return refuse(w, MT_NEGATIVE, k, 0);
  for (; r < last && t >= f->s[r]; t /= f->s[r++])
    if (t % f->s[r] != 0) return refuse(w, MT_CROSSES, k, r);
  for (; r < last && n - 1 > (f->s[r] - 1) / t; t = 1, r++) {
    int64_t m = f->s[r] / t;
    if (f->s[r] % t != 0) return refuse(w, MT_CROSSES, k, r);
    if (n % m != 0) return refuse(w, MT_UNEVEN, k, r);
    if (!mt_add_piece(q, leaf, m, t, f->d[r], r)) return refuse(w, MT_MANY, k, r);
    n /= m;
  }
  return mt_add_piece(q, leaf, n, t, f->d[r], r) ? MT_FITS : refuse(w, MT_MANY, k, r);
}

/* One piece in a mode never carries: cut() saw to that. */
static mt_reason carries (const mt_pieces *q, const mt_meet *g, mt_refusal *w) {
  int64_t sum[MT_MAXNODES];
  uint64_t met = 0;
  _Static_assert(MT_MAXNODES <= 64, "a bit of `met` for each mode of A");
  for (int k = 0; k < g->n; k++) {
    const mt_piece *p = q->p + q->first[g->leaf[k]], *end = p + q->count[g->leaf[k]];
    for (; p < end; p++) {
      uint64_t bit = UINT64_C(1) << p->r;
      if (p->m <= 1 || p->r == g->f.n - 1) continue;
      if (!(met & bit)) sum[p->r] = 0;
      sum[p->r] += (p->m - 1) * p->t; /* both terms stay below s_r */
      if (sum[p->r] > g->f.s[p->r] - 1) return refuse(w, MT_CARRIES, -1, p->r);
      met |= bit;
    }
  }
  return MT_FITS;
}

mt_reason mt_compose_rule (mt_pieces *q, const mt_meet *g, mt_refusal *w) {
  for (int k = 0; k < g->n; k++) {
    mt_reason reason = cut(q, g, k, w);
    if (reason != MT_FITS) return reason;
  }
  return carries(q, g, w);
}

/* ---- the walk over B */

/* The mode of A at an index path, innermost first. */
static const mt_node *mode_at (mt_build *b, const mt_node *a, const mt_node *path) {
  const mt_node *m = a;
  for (int i = path->path[MT_MAXPATH] - 1; i >= 0; i--) {
    const mt_node *c = mt_is_branch(m) ? mt_mode(m, path->path[i]) : NULL;
    if (c == NULL) {
      mt_node d = *path;
      d.tag = MT_INT;
      d.shape = d.stride;
      mt_build_fail(b, MT_ERANK, "%s: B has the stride %N, A has no such mode: %N", b->op,
                    &d, a);
      return NULL;
    }
    m = c;
  }
  return m;
}

/* The leaves of B from k on that share the path of leaf k and are in no group yet. */
static void gather (mt_meet *g, const mt_pieces *q, const mt_node **leaf, int n, int k) {
  g->n = 0;
  for (int j = k; j < n; j++) {
    if (q->count[j] > 0 || leaf[j]->stride == 0 || !mt_same_path(leaf[j], leaf[k]))
      continue;
    g->s[g->n] = leaf[j]->shape;
    g->d[g->n] = leaf[j]->stride;
    g->leaf[g->n++] = j;
  }
}

/* Indices below 0 have no digits over F2. */
static void need_positive (mt_build *b, const mt_meet *g, const mt_node *t) {
  for (int k = 0; k < g->n; k++)
    if (g->d[k] < 0 && g->s[k] > 1)
      mt_build_fail(b, MT_EUNSUPPORTED,
                    "%s: B = %N has a negative stride, A = %N is over F2", b->op, t,
                    g->a);
}

/* The rule gives no answer; by the definition there may be one. */
static MT_APART void search (mt_build *b, mt_pieces *q, const mt_meet *g,
                             const mt_node *t, const mt_refusal *rule) {
  mt_layout is, would;
  mt_refusal w = *rule;
  w.is = &is;
  w.would = &would;
  if (!(mt_flat_is_f2(&g->f) ? mt_f2_exact : mt_compose_exact)(q, g, &w))
    mt_compose_refuse(b, g, t, &w);
}

/* The pieces from n on, and their strides from `used` on, are taken back. */
static void take_back (mt_pieces *q, const mt_meet *g, int n, int used) {
  q->n = n;
  q->used = used;
  for (int k = 0; k < g->n; k++) q->count[g->leaf[k]] = 0;
}

static MT_APART void compose_group (mt_build *b, mt_pieces *q, const mt_meet *g,
                                    const mt_node *t);

/* Of an index below 0 the digits are those of its magnitude, each with the sign: A(-i) =
** -A(i). So the pieces are those of the group with its signs changed. False: it has no
** pieces. */
static MT_APART bool compose_back (mt_build *b, mt_pieces *q, const mt_meet *g,
                                   const mt_node *t) {
  mt_build quiet = *b;
  mt_meet on = *g;
  MT_NEWERR(err);
  int n = q->n, used = q->used;
  for (int k = 0; k < g->n; k++)
    if ((g->s[k] > 1 && g->d[k] > 0) || mt_subo(0, g->d[k], &on.d[k])) return false;
  quiet.err = &err;
  quiet.trial = true;
  compose_group(&quiet, q, &on, t);
  for (int i = n; i < q->n && quiet.status == MT_OK; i++) q->p[i].t = -q->p[i].t;
  if (quiet.status == MT_OK) return true;
  take_back(q, g, n, used);
  return false;
}

/* Inlined where the leaves are: most calls end at the rule. */
static inline MT_INLINE void put_group (mt_build *b, mt_pieces *q, const mt_meet *g,
                                        const mt_node *t) {
  mt_refusal w;
  int n = q->n, used = q->used;
  bool f2 = mt_flat_is_f2(&g->f);
  if (f2) need_positive(b, g, t);
  if (b->status != MT_OK) return;
  w.bounded = w.witness = false;
  w.is = w.would = NULL;
  mt_reason reason = mt_compose_rule(q, g, &w);
  if (reason == MT_FITS && (!f2 || mt_f2_fits(q, g, &w))) return;
  if (reason == MT_MANY) {
    mt_build_fail(b, MT_ETOOBIG, "%s: more than %d modes", b->op, MT_MAXNODES);
    return;
  }
  take_back(q, g, n, used);
  for (int k = 0; k < g->n && t->shape == 0; k++) /* an empty B: any strides will do */
    if (!mt_add_piece(q, g->leaf[k], g->s[k], 0, NULL, 0)) return;
  if (t->shape == 0) return;
  if (reason == MT_NEGATIVE && !f2 && compose_back(b, q, g, t)) return;
  if (b->trial) mt_failed(b, MT_EINEXACT);
  else search(b, q, g, t, &w);
}

static void compose_group (mt_build *b, mt_pieces *q, const mt_meet *g,
                           const mt_node *t) {
  put_group(b, q, g, t);
}

/* Each mode of the result has the size of the mode of B that it stands for. */
static void emit_pieces (mt_build *b, const mt_node *t, const mt_pieces *q, int *k) {
  if (mt_is_branch(t)) {
    mt_open(b, MT_MODES);
    for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
      emit_pieces(b, c, q, k);
    mt_close_as(b, t->shape);
    return;
  }
  const mt_piece *p = q->p + q->first[*k], *end = p + q->count[*k];
  bool many = q->count[(*k)++] > 1;
  if (many) mt_open(b, MT_MODES);
  for (; p < end; p++) mt_add_scaled(b, p->m, p->d, p->t);
  if (many) mt_close_as(b, t->shape);
}

static void compose_sums (mt_build *b, const mt_node *a, const mt_node *t) {
  if (mt_is_f2(a))
    mt_build_fail(b, MT_EUNSUPPORTED,
                  "%s: B = %N has a stride that is a sum, A = %N is over F2", b->op, t,
                  a);
  else mt_emit_composition_sums(b, a, t);
}

/* The leaves of t, none of them with a piece yet; -1 if one is a sum. */
static int begin (mt_pieces *q, const mt_node **leaf, const mt_node *t) {
  int n = 0;
  q->n = q->used = 0;
  for (const mt_node *p = t, *end = mt_next(t); p < end; p++) {
    if (p->tag == MT_SUM) return -1;
    if (p->tag != MT_LEAF) continue;
    q->count[n] = 0;
    leaf[n++] = p;
  }
  return n;
}

/* False, and nothing is done: t has strides that are sums. */
static MT_APART bool compose_leaves (mt_build *b, const mt_node *a, const mt_node *t) {
  const mt_node *leaf[MT_MAXNODES];
  mt_pieces q;
  mt_meet g;
  int n = begin(&q, leaf, t), next = 0;
  if (n < 0) return false;
  for (int k = 0; k < n && b->status == MT_OK; k++) {
    if (q.count[k] > 0) continue;
    if (leaf[k]->ring == MT_F2 && leaf[k]->stride != 0) {
      mt_build_fail(b, MT_EUNSUPPORTED,
                    "%s: B = %N has F2 strides, and A = %N is no map of bits there",
                    b->op, t, a);
    } else if (leaf[k]->stride == 0) {
      if (!mt_add_piece(&q, k, leaf[k]->shape, 0, NULL, 0))
        mt_build_fail(b, MT_ETOOBIG, "%s: more than %d modes", b->op, MT_MAXNODES);
    } else if ((g.a = mode_at(b, a, leaf[k])) != NULL) {
      gather(&g, &q, leaf, n, k);
      mt_flatten_extended(&g.f, g.a);
      put_group(b, &q, &g, t);
    }
  }
  if (b->status == MT_OK) emit_pieces(b, t, &q, &next);
  return true;
}

static inline void compose (mt_build *b, const mt_node *a, const mt_node *t) {
  if (!compose_leaves(b, a, t)) compose_sums(b, a, t);
}

/* A o n:1 */
static void compose_count (mt_build *b, const mt_node *a, int64_t n) {
  const mt_node count = mt_leaf_of(n, 1);
  compose(b, a, &count);
}

static void by_mode (mt_build *b, const mt_node *a, const mt_node *t) {
  if (!mt_is_reached(b, a, t)) return;
  const mt_node *m = mt_first_mode(a);
  mt_open(b, MT_MODES);
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c), m = mt_next(m))
    mt_emit_composition(b, m, c);
  mt_close(b);
}

void mt_emit_composition (mt_build *b, const mt_node *a, const mt_node *t) {
  if (b->status != MT_OK) return;
  if (t->tag == MT_WILD) {
    mt_add(b, a);
  } else if (t->tag == MT_TUPLE || t->tag == MT_TILER) {
    by_mode(b, a, t);
  } else if (t->tag == MT_INT && t->ring == MT_Z && t->shape >= 0) {
    compose_count(b, a, t->shape);
  } else if (t->tag == MT_SWIZZLE) {
    mt_build_fail(b, MT_EUNSUPPORTED, "%s: with the swizzle %N on the right", b->op, t);
  } else if (!mt_is_layout(t)) {
    mt_build_fail(b, MT_EINVAL, "%s: %N is no layout and no tiler", b->op, t);
  } else {
    compose(b, a, t);
  }
}

static mt_status compose_layout (mt_layout *out, const mt_node *a, const mt_node *t,
                                 mt_err *err) {
  mt_build b;
  if (t->tag == MT_SWIZZLE) return mt_layout_swizzle_composition(out, a, t, err);
  mt_begin(&b, out, "composition", err);
  mt_open_root(&b, a);
  mt_emit_composition(&b, mt_inner(a), t);
  return mt_end(&b);
}

/* What the laws of strides and swizzles refused, by the bits. Plain layouts over the
** integers that are maps of bits were answered. */
static MT_APART mt_status compose_bits (mt_layout *out, const mt_node *a,
                                        const mt_node *t, mt_status s, mt_err *err) {
  mt_layout room;
  bool bits = mt_is_layout(a) && mt_is_layout(t) &&
              (mt_is_swizzled(a) || mt_is_swizzled(t) || mt_is_f2(a) || mt_is_f2(t));
  if (!bits || s == MT_ESTOPPED || !mt_linear_composition(&room, a, t)) return s;
  mt_forgive(err);
  mt_copy_value(out, room.node);
  return MT_OK;
}

/* One of them is composed: the other is composed with its base, or above it. */
static MT_APART mt_status compose_composed (mt_layout *out, const mt_node *a,
                                            const mt_node *t, mt_err *err) {
  mt_layout x;
  if (!mt_is_composed(a)) return mt_keep_composition(out, a, t, err);
  if (mt_may_keep(a, t, MT_EINEXACT)) {
    mt_status s = mt_composition(&x, mt_base(a), t, err);
    if (s == MT_EINEXACT || s == MT_EUNSUPPORTED)
      return mt_keep_composition(out, a, t, err);
    MT_TRY(s);
  } else {
    MT_TRY(compose_layout(&x, mt_base(a), t, err));
  }
  return mt_relink(out, "composition", a, NULL, x.node, err);
}

/* A tiler stands for its coordinates. */
static MT_APART mt_status compose_tiler (mt_layout *out, const mt_node *a,
                                         const mt_node *t, mt_err *err) {
  mt_layout room;
  MT_TRY(mt_renamed("composition", mt_tiler_to_layout(&room, a, err), err));
  return compose_layout(out, room.node, t, err);
}

mt_status mt_composition (mt_layout *out, const mt_node *a, const mt_node *t,
                          mt_err *err) {
  if (a->tag == MT_SWIZZLE && a->arity == 0)
    return mt_swizzle_composition(out, a, t, err);
  if (a->tag == MT_WILD) return mt_identity_composition(out, t, err);
  if (mt_is_function(a) && mt_has_functions(t))
    return mt_by_functions(out, "composition", MT_BY_COMPOSITION, mt_composition, a, t,
                           err);
  if (mt_is_composed(a) || mt_is_composed(t)) return compose_composed(out, a, t, err);
  if (!mt_is_layout(a)) return compose_tiler(out, a, t, err);
  mt_status s = compose_layout(out, a, t, err);
  if (s != MT_OK) s = compose_bits(out, a, t, s, err);
  return s != MT_OK && mt_may_keep(a, t, s) ? mt_keep_composition(out, a, t, err) : s;
}
