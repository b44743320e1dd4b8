/*
** linear.c - layouts as maps of bits: read, written, composed.
** SPDX-License-Identifier: MIT
**
** An offset o and a step d, added, are xored with v = (o + d) xor o. Steps whose v share
** no bits add up to their xor, whatever the bits of o: that is necessary, too. The other
** way round, v beside o is the step v - 2 * (o & v).
*/
#include "moontile/lattice.h"
#include "moontile/swizzle.h"
#include "algebra/linear.h"
#include "algebra/f2.h"
#include "algebra/swizzle.h"
#include "core/arith.h"

/* ---- reading */

typedef struct reader {
  mt_linear *x;
  mt_swizzle w;
  int64_t offset, taken;
} reader;

static bool start (reader *r, mt_linear *x, const mt_node *a) {
  bool swizzled = mt_is_swizzled(a);
  r->x = x;
  r->w = swizzled ? mt_swizzle_of(a) : (mt_swizzle){0, 0, 0};
  r->offset = swizzled ? a->stride : 0;
  r->taken = 0;
  x->n = 0;
  if (r->offset < 0 || mt_bits(r->offset) > MT_F2BITS) return false;
  x->c = mt_swizzle_apply(r->w, r->offset);
  return true;
}

/* The image of the step t * stride(d). */
static bool step_of (int64_t *v, const reader *r, const mt_node *d, int64_t t) {
  if (d->tag != MT_LEAF || d->ring == MT_BASIS) return false;
  if (d->ring == MT_F2) return !mt_f2_mulo(t, d->stride, v);
  if (mt_mulo(d->stride, t, v) || mt_addo(r->offset, *v, v)) return false;
  if (*v < 0 || mt_bits(*v) > MT_F2BITS) return false;
  *v ^= r->offset;
  return true;
}

/* `bits` more bits, whose steps are 1, 2, 4, ... times the stride of d. */
static bool take (reader *r, const mt_node *d, int bits) {
  int64_t v;
  if (r->x->n + bits > MT_F2BITS) return false;
  for (int k = 0; k < bits; k++) {
    if (!step_of(&v, r, d, INT64_C(1) << k)) return false;
    if (d->ring != MT_F2 && (r->taken & v)) return false;
    r->taken |= v;
    r->x->of[r->x->n++] = mt_swizzle_apply(r->w, v);
  }
  return true;
}

static int64_t image (const mt_linear *x, int64_t v) {
  int64_t sum = 0;
  for (; v != 0; v &= v - 1) sum ^= x->of[__builtin_ctzll((uint64_t)v)];
  return sum;
}

static int64_t all_bits (const mt_linear *x) {
  int64_t all = x->c;
  for (int j = 0; j < x->n; j++) all |= x->of[j];
  return all;
}

/* y after x. */
static void map_through (mt_linear *x, const mt_linear *y) {
  x->c = y->c ^ image(y, x->c);
  for (int j = 0; j < x->n; j++) x->of[j] = image(y, x->of[j]);
}

/* The offset of t is above all that is known of bits, or on bits that no value has; one
** over a layout without a root is read with that layout. */
static bool add_offset (mt_linear *x, const mt_node *t) {
  if (t->stride < 0 || (t->ring != MT_F2 && (all_bits(x) & t->stride))) return false;
  x->c ^= t->stride;
  return true;
}

/* x under the function of t. */
static MT_APART bool apply_link (mt_linear *x, const mt_node *t) {
  mt_linear y;
  const mt_node *f = mt_outer(t);
  int bits = mt_bits(all_bits(x));
  if (bits > MT_F2BITS || f->tag == MT_LIST) return false;
  if (f->tag != MT_SWIZZLE) {
    if (!mt_linear_of(&y, f, bits)) return false;
    map_through(x, &y);
    return true;
  }
  x->c = mt_swizzle_apply(mt_swizzle_of(f), x->c);
  for (int j = 0; j < x->n; j++) x->of[j] = mt_swizzle_apply(mt_swizzle_of(f), x->of[j]);
  return true;
}

/* The map of what is under t, with its offset: by n bits, or by the modes if n < 0. */
static MT_APART bool linear_under (mt_linear *x, const mt_node *t, int n) {
  mt_layout room;
  MT_NEWERR(err);
  const mt_node *u = mt_under(t);
  bool plain = u->tag < MT_SWIZZLE && t->ring != MT_F2;
  if (plain && mt_swizzled(&room, "", (mt_swizzle){0, 0, 0}, t->stride, u, &err) != MT_OK)
    return false;
  if (plain) u = room.node;
  if (!(n < 0 ? mt_linear_modes(x, u) : mt_linear_of(x, u, n))) return false;
  return plain || add_offset(x, t);
}

bool mt_linear_of (mt_linear *out, const mt_node *a, int n) {
  reader r;
  mt_flat f;
  if (mt_is_composed(a)) return linear_under(out, a, n) && apply_link(out, a);
  if (mt_size(a) == 0 || !start(&r, out, a)) return false;
  mt_flatten_extended(&f, mt_inner(a));
  for (int k = 0; k < f.n && out->n < n; k++) {
    int bits = mt_bits(f.s[k]) - 1, left = n - out->n;
    if (k == f.n - 1 || bits > left) bits = left;
    else if (!mt_is_power(f.s[k])) return false;
    if (!take(&r, f.d[k], bits)) return false;
  }
  return out->n == n;
}

bool mt_linear_whole (mt_linear *out, const mt_node *a) {
  int64_t n = mt_size(a);
  return mt_is_power(n) && mt_linear_of(out, a, mt_bits(n) - 1);
}

bool mt_linear_modes (mt_linear *out, const mt_node *t) {
  const mt_node *leaf[MT_MAXNODES];
  reader r;
  if (mt_is_composed(t)) return linear_under(out, t, -1) && apply_link(out, t);
  int n = mt_leaves(leaf, t);
  if (!start(&r, out, t)) return false;
  for (int k = 0; k < n; k++)
    if (!take(&r, leaf[k], leaf[k]->shape > 0 ? mt_bits(leaf[k]->shape - 1) : 0))
      return false;
  return true;
}

/* ---- writing */

static bool apart (const mt_linear *x, mt_swizzle w) {
  int64_t taken = 0, v;
  for (int j = 0; j < x->n; taken |= v, j++)
    if ((v = mt_swizzle_apply(w, x->of[j])) & taken) return false;
  return true;
}

static bool parts (mt_swizzle *w, const mt_linear *x, int b, int m, int s) {
  *w = (mt_swizzle){b, m, s};
  return apart(x, *w);
}

/* The least swizzle under which the images share no bits: of few bits, S > 0 first. */
static bool find_swizzle (mt_swizzle *w, const mt_linear *x) {
  int64_t all = 0;
  for (int j = 0; j < x->n; j++) all |= x->of[j];
  if (parts(w, x, 0, 0, 0)) return true;
  for (int b = 1, top = mt_bits(all); 2 * b <= top; b++)
    for (int m = 0; m + 2 * b <= top; m++)
      for (int s = b; m + s + b <= top; s++)
        if (parts(w, x, b, m, s) || parts(w, x, b, m, -s)) return true;
  return false;
}

typedef struct writer {
  mt_build *b;
  const mt_linear *x;
  bool f2;
  mt_swizzle w;
  int64_t offset;
  int at; /* bits written */
} writer;

/* The stride of bit j of x. */
static int64_t stride_of (const writer *p, int j) {
  if (p->f2) return p->x->of[j];
  int64_t v = mt_swizzle_apply(p->w, p->x->of[j]);
  return v - 2 * (p->offset & v);
}

static void add_mode (mt_build *b, const writer *p, int64_t s, int64_t d) {
  mt_node n = {.tag = MT_LEAF, .ring = p->f2 ? MT_F2 : MT_Z, .span = 1, .shape = 1};
  n.stride = d;
  mt_add_scaled(b, s, &n, 1);
}

/* An odd extent cannot be cut at bits: the strides of its bits have to double. */
static void add_odd (mt_build *b, const writer *p, int64_t s, int j, int bits) {
  int64_t d;
  for (int k = 1; k < bits; k++)
    if (mt_mulo(stride_of(p, j), INT64_C(1) << k, &d) || stride_of(p, j + k) != d)
      mt_build_fail(b, MT_EINEXACT, "%s: the extent %lld is not cut at bits", b->op,
                    (long long)s);
  add_mode(b, p, s, stride_of(p, j));
}

/* The next bits, as many as an extent s has. */
static MT_APART void add_leaf (writer *p, int64_t s) {
  mt_layout modes;
  mt_build b;
  int bits = s > 0 ? mt_bits(s - 1) : 0;
  if (bits == 0) {
    mt_add_leaf(p->b, s, 0);
    return;
  }
  mt_begin(&b, &modes, p->b->op, p->b->err);
  mt_open(&b, MT_MODES);
  for (int end = p->at + bits; p->at < end; p->at++, s /= 2) {
    if (s % 2 == 0) add_mode(&b, p, 2, stride_of(p, p->at));
    else if (s > 1) add_odd(&b, p, s, p->at, end - p->at);
    if (s % 2 == 0) continue;
    p->at = end;
    break;
  }
  mt_failed(p->b, mt_end(&b));
  if (p->b->status == MT_OK) mt_emit_coalesce(p->b, modes.node);
}

static void add_tree (writer *p, const mt_node *t) {
  if (p->b->status != MT_OK) return;
  if (!mt_is_branch(t)) {
    add_leaf(p, t->shape);
    return;
  }
  mt_open(p->b, MT_MODES);
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c)) add_tree(p, c);
  mt_close_as(p->b, t->shape);
}

mt_status mt_linear_layout (mt_layout *out, const char *op, const mt_linear *x,
                            const mt_node *t, bool f2, mt_err *err) {
  mt_build b;
  writer p = {.b = &b, .x = x, .f2 = f2};
  if (!f2) p.f2 = !find_swizzle(&p.w, x);
  if (p.f2 && x->c != 0)
    return mt_fail(err, MT_EINEXACT,
                   "%s: the value at 0 would be F%lld: a layout over F2 begins with F0",
                   op, (long long)x->c);
  p.offset = mt_swizzle_apply(p.w, x->c);
  mt_begin(&b, out, op, err);
  if (!p.f2 && (p.w.b > 0 || p.offset != 0)) {
    mt_open(&b, MT_SWIZZLE);
    out->node[0].shape = mt_swizzle_pack(p.w.b, p.w.m, p.w.s);
    out->node[0].stride = p.offset;
  }
  add_tree(&p, mt_inner(t));
  return mt_end(&b);
}

/* ---- composition */

bool mt_linear_composition (mt_layout *out, const mt_node *a, const mt_node *t) {
  mt_linear x, y;
  MT_NEWERR(err);
  if (!mt_linear_modes(&y, t) || !mt_linear_of(&x, a, mt_bits(all_bits(&y))))
    return false;
  map_through(&y, &x);
  return mt_linear_layout(out, "composition", &y, t, mt_is_f2(mt_inner(a)), &err) ==
             MT_OK &&
         (mt_is_f2(a) || mt_is_f2(t) || !mt_is_f2(out->node));
}

bool mt_linear_swizzle (mt_layout *out, mt_swizzle w, const mt_node *t) {
  mt_linear x;
  mt_layout room;
  MT_NEWERR(err);
  if (!mt_linear_modes(&x, t)) return false;
  x.c = mt_swizzle_apply(w, x.c);
  for (int j = 0; j < x.n; j++) x.of[j] = mt_swizzle_apply(w, x.of[j]);
  if (mt_linear_layout(&room, "composition", &x, t, mt_is_f2(mt_inner(t)), &err) != MT_OK)
    return false;
  mt_copy_value(out, room.node);
  return mt_is_f2(t) || !mt_is_f2(out->node);
}
