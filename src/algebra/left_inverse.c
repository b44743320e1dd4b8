/*
** left_inverse.c - the layout that finds the index of an offset.
** SPDX-License-Identifier: MIT
**
** Let A's modes that move be s_i : d_i, and p_i the product of the extents before mode i.
** L is made of digits: extents P_1/P_0, P_2/P_1, ... for a chain 1 = P_0 | P_1 | ... |
** P_m, and strides e_j. Each d_i has digits t_ij in the chain: d_i = sum of t_ij * P_j.
** If no digit but the last carries,
**   (1) sum over i of (s_i - 1) * t_ij <= P_j+1 / P_j - 1,
** then L(A(c)) is linear in the coordinate c, and L(A(c)) is its index if
**   (2) p_i = sum over j of t_ij * e_j for all i.
** The chain of all strides comes first; then any chain of strides and their common
** divisors. Behind it, for at most 512 values, every chain (algebra/left_search.c).
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "algebra/composed.h"
#include "algebra/f2.h"
#include "algebra/linear.h"
#include "algebra/coord_space.h"
#include "algebra/left_search.h"

enum { MAXLINKS = 16, BUDGET = 1 << 14 };

/* ---- one chain */

static int64_t digit (const mt_digits *x, int i, int j) {
  int64_t q = x->m[i].d / x->p[j];
  return j + 1 < x->links ? q % (x->p[j + 1] / x->p[j]) : q;
}

/* (1). The extent of the last digit is what it reaches. */
static bool no_carry (mt_digits *x) {
  int64_t t, sum;
  for (int j = 0; j < x->links; j++) {
    sum = 0;
    for (int i = 0; i < x->n; i++)
      if (mt_mulo(x->m[i].s - 1, digit(x, i, j), &t) || mt_addo(sum, t, &sum))
        return false;
    if (j + 1 < x->links && sum > x->p[j + 1] / x->p[j] - 1) return false;
    if (mt_addo(sum, 1, &x->last)) return false;
  }
  return true;
}

/* The equation (2) of mode i. 0: it holds; 1: it gave an unknown its value; 2: it has
** several; -1: it cannot hold. */
static int solve_one (mt_digits *x, int i, bool *known) {
  int64_t rest = x->m[i].p, t, unknown = 0;
  int at = 0, many = 0;
  for (int j = 0; j < x->links; j++) {
    int64_t c = digit(x, i, j);
    if (c == 0) continue;
    if (!known[j]) {
      unknown = c;
      at = j;
      many++;
    } else if (mt_mulo(c, x->e[j], &t) || mt_subo(rest, t, &rest)) {
      return -1;
    }
  }
  if (many == 0) return rest == 0 ? 0 : -1;
  if (many > 1) return 2;
  if (rest % unknown != 0) return -1;
  x->e[at] = rest / unknown;
  known[at] = true;
  return 1;
}

/* (2), as far as equations have one unknown at a time; digits that none asks for get
** 0. */
static bool solve (mt_digits *x) {
  bool known[MT_MAXNODES] = {false};
  bool more = true;
  memset(x->e, 0, sizeof x->e);
  while (more) {
    bool open = false;
    more = false;
    for (int i = 0; i < x->n; i++) {
      int r = solve_one(x, i, known);
      if (r < 0) return false;
      more = more || r == 1;
      open = open || r == 2;
    }
    if (!more && open) return false;
  }
  return true;
}

static bool fits (mt_digits *x) { return no_carry(x) && solve(x); }

/* ---- chains */

/* Puts v among link[0] < link[1] < ... */
static int insert (int64_t *link, int n, int64_t v) {
  int k = n;
  if (v == 1) return n;
  for (int i = 0; i < n; i++)
    if (link[i] == v) return n;
  if (n == MAXLINKS) return n;
  for (; k > 0 && link[k - 1] > v; k--) link[k] = link[k - 1];
  link[k] = v;
  return n + 1;
}

/* Extends the chain by some of link[k], link[k + 1], ... The budget is of steps and of
** the digits of strides, 64 for a step. */
static bool extend (mt_digits *x, const int64_t *link, int n, int k) {
  if (--x->budget < 0) return false;
  if (k == n) {
    x->budget -= x->n * x->links / 64;
    return fits(x);
  }
  if (link[k] % x->p[x->links - 1] == 0) {
    x->p[x->links++] = link[k];
    if (extend(x, link, n, k + 1)) return true;
    x->links--;
  }
  return extend(x, link, n, k + 1);
}

static bool find_chain (mt_digits *x) {
  int64_t link[MAXLINKS];
  int n = 0;
  x->links = 0;
  x->p[x->links++] = 1;
  for (int i = 0; i < x->n; i++)
    if (x->m[i].d != x->p[x->links - 1] && x->m[i].d % x->p[x->links - 1] == 0)
      x->p[x->links++] = x->m[i].d;
  if (fits(x)) return true;
  for (int i = 0; i < x->n; i++) n = insert(link, n, x->m[i].d);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) n = insert(link, n, mt_gcd_of(link[i], link[j]));
  x->links = 1;
  x->budget = BUDGET;
  return extend(x, link, n, 0);
}

static bool find (mt_digits *x) { return find_chain(x) || mt_left_search(x); }

/* ---- refusals */

enum { MAXWITNESS = 256 };

/* Two indices with one value and different coordinates in modes that move. */
static bool collision (int64_t *i, int64_t *j, int64_t *v, const mt_digits *x) {
  int64_t at[MAXWITNESS];
  for (*j = 0; *j < MAXWITNESS; ++*j) {
    int64_t rest = *j;
    at[*j] = 0;
    for (int k = 0; k < x->n; k++) {
      at[*j] += rest % x->m[k].s * x->m[k].d;
      rest /= x->m[k].s;
    }
    if (rest > 0) return false;
    for (*i = 0; *i < *j; ++*i)
      if (at[*i] == at[*j]) {
        *v = at[*j];
        return true;
      }
  }
  return false;
}

/* The index in A of the k-th value that collision() counts. */
static int64_t index_of (const mt_digits *x, int64_t k) {
  int64_t i = 0;
  for (int j = 0; j < x->n; j++) {
    i += k % x->m[j].s * x->m[j].p;
    k /= x->m[j].s;
  }
  return i;
}

static void refuse (mt_build *b, const mt_digits *x, const mt_node *a) {
  int64_t i, j, v;
  for (int k = 0; k < x->n; k++)
    if (x->m[k].d < 0) {
      mt_build_fail(b, MT_EINEXACT,
                    "%s: %N has a negative stride: A(%lld) = %lld, and no layout "
                    "takes an offset below 0",
                    b->op, a, (long long)x->m[k].p, (long long)x->m[k].d);
      return;
    }
  if (collision(&i, &j, &v, x))
    mt_build_fail(b, MT_EINJECTIVE,
                  "%s: %N has none, it is not injective: A(%lld) = A(%lld) = %lld", b->op,
                  a, (long long)index_of(x, i), (long long)index_of(x, j), (long long)v);
  else if (x->budget < 0)
    mt_build_fail(b, MT_EINEXACT,
                  "%s: no layout L with L(A(i)) = i was found for A = %N: the search was "
                  "not finished\n  the digits of A's strides carry into each other; "
                  "strides that divide one another would do",
                  b->op, a);
  else
    mt_build_fail(
        b, MT_EINEXACT,
        "%s: no layout L has L(A(i)) = i for A = %N: every chain of digits was "
        "tried\n  the digits of A's strides carry into each other; strides that "
        "divide one another would do",
        b->op, a);
}

/* ---- the inverse of A along one axis; of n elements at one place it is n:0 */

typedef struct inverse {
  const mt_node *a;
  mt_flat f;
} inverse;

static void take_modes (mt_digits *x, const inverse *w, const mt_node *axis) {
  int64_t p = 1;
  x->n = 0;
  for (int r = 0; r < w->f.n; r++) {
    const mt_node *d = w->f.d[r];
    mt_moving m = {w->f.s[r], d->stride, p};
    int k = x->n;
    p *= m.s; /* at most the size of A */
    if (m.d == 0 || (axis && !mt_same_path(d, axis))) continue;
    for (; k > 0 && x->m[k - 1].d > m.d; k--) x->m[k] = x->m[k - 1];
    x->m[k] = m;
    x->n++;
  }
}

static void emit_inverse (mt_build *b, const mt_node *axis, void *ud) {
  const inverse *w = ud;
  mt_digits x;
  mt_layout flat;
  mt_build digits;
  take_modes(&x, w, axis);
  if (x.n == 0 && !axis && w->a->shape > 0) {
    mt_add_leaf(b, mt_size(w->a), 0);
    return;
  }
  if (x.n > 0 && (x.m[0].d < 0 || !find(&x))) refuse(b, &x, w->a);
  if (b->status != MT_OK) return;
  mt_begin(&digits, &flat, b->op, b->err);
  mt_open(&digits, MT_MODES);
  for (int j = 0; j < x.links && x.n > 0; j++)
    mt_add_leaf(&digits, j + 1 < x.links ? x.p[j + 1] / x.p[j] : x.last, x.e[j]);
  mt_failed(b, mt_end(&digits));
  if (b->status == MT_OK) mt_emit_coalesce(b, flat.node);
}

static void nothing (mt_build *b, const mt_node *axis, void *ud) {
  (void)axis, (void)ud;
  mt_add_leaf(b, 1, 0);
}

static void absent_or_inverse (mt_build *b, const mt_node *axis, void *ud) {
  if (axis) emit_inverse(b, axis, ud);
  else nothing(b, axis, ud);
}

static mt_status invert_plain (mt_layout *out, const mt_node *a, mt_err *err) {
  mt_build b;
  mt_coord_space space;
  inverse w;
  mt_begin(&b, out, "left_inverse", err);
  mt_coord_space_of(&b, &space, a);
  w.a = a;
  w.f.n = 0;
  if (a->shape > 0) mt_flatten_coalesced(&w.f, a);
  for (int r = 0; r < w.f.n; r++)
    if (w.f.d[r]->tag == MT_SUM)
      return mt_failn(err, MT_EUNSUPPORTED, "left_inverse: %N has a stride that is a sum",
                      a);
  mt_emit_coord_space(&b, &space, MT_MODES, space.n ? absent_or_inverse : emit_inverse,
                      &w);
  return mt_end(&b);
}

/* What digits and the laws of swizzles refused, by the bits, or link by link. */
static MT_APART mt_status invert_bits (mt_layout *out, const mt_node *a, mt_status s,
                                       mt_err *err) {
  mt_layout room;
  if (s == MT_ESTOPPED) return s;
  if (!mt_linear_left_inverse(&room, a)) {
    MT_TRYERR(quiet, err);
    mt_err *why = mt_is_swizzled(a) && a->stride != 0 ? err : &quiet;
    if (why == err) mt_forgive(err);
    s = mt_is_swizzled(a) ? mt_composed_left_inverse(&room, a, why) : s;
    if (s != MT_OK) return why == err ? s : err->status;
  }
  mt_forgive(err);
  mt_copy_value(out, room.node);
  return MT_OK;
}

mt_status mt_left_inverse (mt_layout *out, const mt_node *a, mt_err *err) {
  mt_status s;
  if (mt_is_composed(a)) return mt_composed_left_inverse(out, a, err);
  MT_CHECK(mt_is_layout(a), err, "left_inverse: a layout expected");
  if (mt_is_swizzled(a)) s = mt_swizzle_left_inverse(out, a, err);
  else if (mt_is_f2(a)) s = mt_f2_left_inverse(out, a, err);
  else s = invert_plain(out, a, err);
  return s == MT_OK ? s : invert_bits(out, a, s, err);
}
