/*
** swizzle_slice.c - slices of swizzled layouts.
** SPDX-License-Identifier: MIT
**
** A = Sw o offset o L, v the offset of L where the slice begins, T what is left of L: the
** slice is j -> Sw(offset + v + T(j)). A swizzle is linear over xor, and only the bits of
** Y and Z matter to it. If T, v and the offset lie on bits apart from each other, the
** bits of v outside of Y and Z go out; if moreover T never has a bit of Y and the bit of
** Z that it flips, each bit of T changes the result by a constant, which may be negative:
** the strides of a plain layout.
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "algebra/swizzle.h"

/* A mode s:d of L that is sliced away, or one that is left. */
typedef struct mode {
  int64_t s, d;
} mode;
typedef struct modes {
  int n;
  mode m[MT_MAXNODES];
} modes;

typedef struct slice {
  const mt_node *c, *a;
  mt_err *err;
  mt_swizzle w;
  int64_t yz; /* Y | Z */
  modes cut, left;
  mt_layout rest; /* T */
  int64_t v, before, inner,
      outer; /* before: A's offset; inner: under the swizzle; outer: out */
} slice;

/* ---- what is sliced away, what is left */

static void add_leaves (modes *x, const mt_node *a) {
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a); p = mt_leaf(a, mt_after(p)))
    x->m[x->n++] = (mode){p->shape, p->stride};
}

/* The trees of c and a agree as far as c goes. */
static void sort_modes (slice *x, const mt_node *c, const mt_node *a) {
  if (c->tag != MT_TUPLE) {
    add_leaves(c->tag == MT_WILD ? &x->left : &x->cut, a);
    return;
  }
  const mt_node *m = mt_first_mode(a);
  for (const mt_node *k = mt_child(c); k < mt_next(c); k = mt_next(k), m = mt_next(m))
    sort_modes(x, k, m);
}

static bool all_wild (const mt_node *c) {
  for (const mt_node *p = c; p < mt_next(c); p++)
    if (p->tag == MT_INT) return false;
  return true;
}

static bool goes_back (const modes *x) {
  for (int k = 0; k < x->n; k++)
    if (x->m[k].d < 0) return true;
  return false;
}

/* ---- digits: a swizzle reads an offset in the radix 2^M, 2^B, 2^(|S|-B), 2^B, the
** rest */

enum { DIGITS = 5, MAXBITS = 24 };

/* Modes s:d, coalesced; the last has no bound. */
typedef struct digits {
  int n;
  int64_t s[MT_MAXNODES], d[MT_MAXNODES];
} digits;

static void add_digit (digits *g, int64_t s, int64_t d) {
  int last = g->n - 1;
  if (last >= 0 && g->s[last] * g->d[last] == d) {
    g->s[last] *= s;
    return;
  }
  g->s[g->n] = s;
  g->d[g->n++] = d;
}

/* The bits of Y and Z, or the others: what an offset has of them. */
static void projection (digits *g, mt_swizzle w, bool in_yz) {
  int e = mt_swizzle_distance(w), width[DIGITS] = {w.m, w.b, e - w.b, w.b, 0}, at = 0;
  g->n = 0;
  for (int k = 0; k < DIGITS; at += width[k++])
    if (width[k] > 0 || k + 1 == DIGITS)
      add_digit(g, INT64_C(1) << width[k],
                ((k & 1) == 1) == in_yz ? INT64_C(1) << at : 0);
}

typedef bool piece (void *ud, int64_t s, int64_t d);

/* Cuts s:d at the ends of the digits, like composition, and calls f with each piece. A
** step goes over whole digits or stays in one; an extent fills the steps that a digit has
** (a last one that is too short counts), or divides by them. */
static bool cut_mode (const digits *g, mode m, piece *f, void *ud) {
  int64_t s = m.s, d = m.d, t;
  int pieces = 0;
  if (d == 0) return f(ud, s, 0);
  for (int k = 0; k + 1 < g->n; d = mt_div_up(d, g->s[k++])) {
    int64_t room = mt_div_up(g->s[k], d), n = room < s ? room : s;
    if (d % g->s[k] != 0 && d >= g->s[k]) return false;
    if (room == 1 || s == 1) continue;
    if (s % n != 0 || mt_mulo(d, g->d[k], &t) || !f(ud, n, t)) return false;
    s /= n;
    pieces++;
  }
  if (s == 1 && pieces > 0) return true;
  return !mt_mulo(d, g->d[g->n - 1], &t) && f(ud, s, t);
}

static bool any (void *ud, int64_t s, int64_t d) {
  (void)ud, (void)s, (void)d;
  return true;
}

/* s*d is 0 or a power of two. */
static bool power (void *ud, int64_t s, int64_t d) {
  (void)ud;
  return s == 0 || d == 0 || ((s & (s - 1)) == 0 && (d & (d - 1)) == 0);
}

static bool add_last (void *ud, int64_t s, int64_t d) {
  int64_t *sum = ud, v;
  return !mt_mulo(s - 1, d, &v) && !mt_addo(*sum, v, sum);
}

static MT_APART mt_status no_cut (const slice *x, const mode *m, const char *what) {
  mt_layout room;
  return mt_failn(x->err, MT_EINEXACT,
                  "slice: %N of %N: the mode %lld:%lld, which %s, does "
                  "not split into the digits of %N\n  a power of two as its extent and "
                  "as its stride would do; evaluation at a coordinate always does",
                  x->c, x->a, (long long)m->s, (long long)m->d, what,
                  mt_swizzle_text(&room, x->w));
}

/* Cuts all of x; fails with the first that does not split. */
static mt_status cut_modes (const slice *x, const modes *all, const char *what,
                            const digits *g, piece *f, void *ud) {
  for (const mode *m = all->m; m < all->m + all->n; m++)
    if (!cut_mode(g, *m, f, ud)) return no_cut(x, m, what);
  return MT_OK;
}

/* ---- T on bits of its own */

/* The bits that s:d may have. */
static int64_t bits_of (mode m) {
  int64_t top = m.s > 1 ? (m.s - 1) * m.d : 0;
  if (top == 0) return 0;
  return (int64_t)((UINT64_MAX >> __builtin_clzll((uint64_t)top)) &
                   -(uint64_t)(m.d & -m.d));
}

/* The bits that T may have; false if its modes share some. */
static bool own_bits (int64_t *bits, const modes *x) {
  *bits = 0;
  for (int k = 0; k < x->n; k++) {
    int64_t b = bits_of(x->m[k]);
    if (b & *bits) return false;
    *bits |= b;
  }
  return true;
}

static bool collides (mt_swizzle w, int64_t bits) {
  return (bits & ~mt_swizzle_apply(w, bits)) != 0;
}

/* outer + r(j) = Sw(before + v + T(j)), by the bits or by all values. */
static MT_APART bool is_slice (const slice *x, const mt_node *r, bool plain) {
  int64_t bits, start, n = mt_size(r);
  MT_NEWERR(err);
  mt_layout whole;
  bool apart = own_bits(&bits, &x->left);
  if (apart && !((x->before | x->v) & bits) && !(x->before & x->v) &&
      !(plain && collides(x->w, bits)))
    return true;
  if (n > mt_swizzle_steps(r) || mt_addo(x->before, x->v, &start)) return false;
  if (mt_swizzled(&whole, "slice", x->w, start, x->rest.node, &err) != MT_OK)
    return false;
  for (int64_t j = 0; j < n; j++) {
    int64_t is, would;
    if (mt_at(&is, whole.node, j, &err) || mt_at(&would, r, j, &err)) return false;
    if (mt_addo(would, x->outer, &would) || is != would) return false;
  }
  return true;
}

/* ---- the forms */

/* The swizzle stays, with the bits of Y and Z where the slice begins in its offset. */
static MT_APART bool stays (mt_layout *out, int64_t *offset, const slice *x) {
  MT_NEWERR(err);
  *offset = x->outer;
  return mt_swizzled(out, "slice", x->w, x->inner, x->rest.node, &err) == MT_OK &&
         is_slice(x, out->node, false);
}

/* What a bit of the field of Y (or of Z) adds to the result. */
static int64_t step (const slice *x, int64_t y, int64_t z, bool of_y) {
  if (of_y) return x->inner & z ? y - z : y + z;
  return x->inner & y ? -z : z;
}

static void emit_field (mt_build *b, const slice *x, bool of_y) {
  int64_t y = mt_swizzle_y(x->w), z = mt_swizzle_z(x->w);
  for (int64_t k = y & -y, l = z & -z; k & y; k *= 2, l *= 2)
    mt_add_leaf(b, 2, step(x, k, l, of_y));
}

/* Bits -> what each adds: 2^M, B bits, 2^(|S|-B), B bits, the rest. */
static mt_status bit_steps (mt_layout *out, const slice *x) {
  mt_build b;
  int e = mt_swizzle_distance(x->w), base = x->w.m, bits = x->w.b;
  mt_begin(&b, out, "slice", x->err);
  mt_open(&b, MT_MODES);
  mt_add_leaf(&b, INT64_C(1) << base, 1);
  emit_field(&b, x, x->w.s < 0);
  mt_add_leaf(&b, INT64_C(1) << (e - bits), INT64_C(1) << (base + bits));
  emit_field(&b, x, x->w.s > 0);
  mt_add_leaf(&b, 1, INT64_C(1) << (base + bits + e));
  return mt_end(&b);
}

static void digits_of (digits *g, const mt_node *steps) {
  mt_flat f;
  mt_flatten_extended(&f, steps);
  for (g->n = 0; g->n < f.n; g->n++) {
    g->s[g->n] = f.s[g->n];
    g->d[g->n] = f.d[g->n]->stride;
  }
}

/* A plain layout. *done is false if it would not be exact. */
static MT_APART mt_status dissolves (bool *done, mt_layout *out, int64_t *offset,
                                     slice *x) {
  mt_layout steps;
  digits g;
  MT_NEWERR(err);
  MT_TRY(bit_steps(&steps, x));
  digits_of(&g, steps.node);
  MT_TRY(cut_modes(x, &x->left, "is left", &g, any, NULL));
  if (mt_composition(out, steps.node, x->rest.node, &err) != MT_OK) return MT_OK;
  if (mt_addo(mt_swizzle_apply(x->w, x->inner), x->outer, &x->outer)) return MT_OK;
  *offset = x->outer;
  *done = is_slice(x, out->node, true);
  return MT_OK;
}

/* All of the offset under the swizzle. */
static mt_status keeps (mt_layout *out, int64_t *offset, const slice *x) {
  int64_t start;
  *offset = 0;
  if (mt_addo(x->before, x->v, &start))
    return mt_failn(x->err, MT_EOVERFLOW, "slice: an offset of %N leaves 64 bits", x->a);
  return mt_swizzled(out, "slice", x->w, start, x->rest.node, x->err);
}

/* Without bits a swizzle does nothing: the offset goes out. */
static mt_status without_swizzle (mt_layout *out, int64_t *offset, const slice *x) {
  if (mt_addo(x->before, x->v, offset))
    return mt_failn(x->err, MT_EOVERFLOW, "slice: an offset of %N leaves 64 bits", x->a);
  mt_copy_value(out, x->rest.node);
  return MT_OK;
}

static MT_APART mt_status slice_bits (mt_layout *out, int64_t *offset, slice *x) {
  digits in, others;
  int64_t last = 0; /* what T has of Y and Z at its last element */
  bool done = false;
  projection(&in, x->w, true);
  projection(&others, x->w, false);
  MT_TRY(cut_modes(x, &x->cut, "is sliced away", &others, any, NULL));
  MT_TRY(cut_modes(x, &x->cut, "is sliced away", &in, power, NULL));
  MT_TRY(cut_modes(x, &x->left, "is left", &in, add_last, &last));
  x->inner = x->before ^ (x->v & x->yz);
  x->outer = x->v & ~x->yz;
  if (collides(x->w, last)) done = stays(out, offset, x);
  else if (x->w.b <= MAXBITS) MT_TRY(dissolves(&done, out, offset, x));
  return done ? MT_OK : keeps(out, offset, x);
}

mt_status mt_swizzle_slice (mt_layout *out, int64_t *offset, const mt_node *c,
                            const mt_node *a, mt_err *err) {
  slice x;
  int64_t at;
  const mt_node *in = mt_inner(a);
  if (!mt_is_swizzled(a)) return mt_slice(out, offset, c, a, err);
  if (offset == NULL) offset = &at;
  x.c = c;
  x.a = a;
  x.err = err;
  x.w = mt_swizzle_of(a);
  x.yz = mt_swizzle_y(x.w) | mt_swizzle_z(x.w);
  x.before = a->stride;
  x.cut.n = x.left.n = 0;
  MT_TRY(mt_plain_slice(&x.rest, &x.v, c, in, err));
  sort_modes(&x, c, in);
  if (x.w.b == 0 && !all_wild(c)) return without_swizzle(out, offset, &x);
  if (all_wild(c) || mt_size(in) == 0 || x.before < 0 || goes_back(&x.cut) ||
      goes_back(&x.left))
    return keeps(out, offset, &x);
  return slice_bits(out, offset, &x);
}
