/*
** build.c - building values node by node; strides of any ring.
** SPDX-License-Identifier: MIT
*/
#include "core/build.h"

#define COLD __attribute__((noinline, cold))

int mt_leaves (const mt_node **leaf, const mt_node *t) {
  int n = 0;
  t = mt_inner(t);
  for (const mt_node *p = mt_leaf(t, t); p < mt_next(t); p = mt_leaf(t, mt_after(p)))
    leaf[n++] = p;
  return n;
}

const mt_node *mt_base_of (const mt_node *t) {
  while (mt_is_composed(t)) t = mt_under(t);
  return mt_inner(t);
}

/* The layout whose strides the values of a composed layout have. A swizzle makes of
** values others of their kind. */
static MT_APART const mt_node *last_layout (const mt_node *t) {
  while (mt_is_composed(t))
    t = mt_outer(t)->tag == MT_SWIZZLE ? mt_under(t) : mt_outer(t);
  return t;
}

bool mt_has_values_below_0 (const mt_node *f) {
  if (f->tag == MT_SWIZZLE && f->arity == 0) return true;
  return (f->tag == MT_LEAF || f->tag == MT_MODES) && mt_is_integral(f);
}

bool mt_has_numbers (const mt_node *t) {
  if (!mt_is_function(t)) return false;
  t = last_layout(t);
  for (const mt_node *p = t; p < mt_next(t); p++)
    if (p->tag == MT_SUM || (p->tag == MT_LEAF && p->ring == MT_BASIS)) return false;
  return true;
}

bool mt_is_integral (const mt_node *t) {
  if (mt_is_composed(t)) t = last_layout(t);
  t = mt_inner(t);
  for (const mt_node *p = t, *end = mt_next(t); p < end; p++)
    if (p->tag == MT_SUM || (p->tag == MT_LEAF && p->ring != MT_Z)) return false;
  return true;
}

/* ---- strides */

int mt_compare_paths (const mt_node *a, const mt_node *b) {
  int na = a->path[MT_MAXPATH], nb = b->path[MT_MAXPATH];
  for (int i = 1; i <= na && i <= nb; i++)
    if (a->path[na - i] != b->path[nb - i])
      return a->path[na - i] < b->path[nb - i] ? -1 : 1;
  return na - nb;
}

static MT_APART bool same_f2 (const mt_node *a, int64_t s, const mt_node *b) {
  int64_t d;
  return mt_is_power(s) && !mt_f2_mulo(s, a->stride, &d) && d == b->stride &&
         mt_same_path(a, b);
}

bool mt_same_scaled (const mt_node *a, int64_t s, const mt_node *b) {
  int64_t d;
  if (a->tag != b->tag || a->arity != b->arity) return false;
  if (a->ring == MT_F2 && a->stride != 0) return same_f2(a, s, b);
  if (a->tag != MT_SUM) {
    if (mt_mulo(a->stride, s, &d) || d != b->stride) return false;
    return d == 0 || mt_same_path(a, b);
  }
  const mt_node *y = mt_child(b);
  for (const mt_node *x = mt_child(a); x < mt_next(a); x++, y++)
    if (mt_mulo(x->shape, s, &d) || d != y->shape || !mt_same_path(x, y)) return false;
  return true;
}

/* ---- the builder */

void mt_begin (mt_build *b, mt_layout *out, const char *op, mt_err *err) {
  b->out = out;
  b->err = err;
  b->op = op;
  b->status = MT_OK;
  b->derived = b->trial = false;
  b->n = b->level = b->depth = 0;
}

void mt_failed (mt_build *b, mt_status s) {
  if (b->status == MT_OK) b->status = s;
}

/* What fails is told apart: then the ways that do not have no frame of their own. */
static COLD void too_many (mt_build *b) {
  b->status = mt_fail(b->err, MT_ETOOBIG, "%s: more than %d nodes", b->op, MT_MAXNODES);
}

static inline mt_node *push (mt_build *b, mt_tag tag) {
  if (b->status != MT_OK) return NULL;
  if (b->n == MT_MAXNODES) return too_many(b), NULL;
  mt_node *p = &b->out->node[b->n++];
  memset(p, 0, sizeof *p);
  p->tag = (uint8_t)tag;
  p->span = 1;
  if (b->level > 0) b->out->node[b->open[b->level - 1]].arity++;
  return p;
}

static inline bool nests (const mt_node *t) { return mt_is_branch(t); }

static COLD void too_deep (mt_build *b) {
  b->status =
      mt_fail(b->err, MT_ETOOBIG, "%s: nested deeper than %d", b->op, MT_MAXDEPTH);
}

void mt_open (mt_build *b, mt_tag tag) {
  int at = b->n;
  mt_node *p = push(b, tag);
  if (p == NULL) return;
  if (b->level == MT_MAXOPEN || (nests(p) && b->depth == MT_MAXDEPTH)) {
    too_deep(b);
    return;
  }
  b->depth += nests(p);
  b->open[b->level++] = (uint8_t)at;
}

/* The product of the extents of the modes of t; 0 if one of them is. */
static inline bool product (int64_t *out, const mt_node *t) {
  int64_t n = 1;
  bool empty = false, over = false;
  for (const mt_node *c = mt_child(t), *end = mt_next(t); c < end; c = mt_next(c)) {
    if (c->shape == 0) empty = true;
    else over |= mt_mulo(n, c->shape, &n);
  }
  *out = empty ? 0 : n;
  return empty || !over;
}

static COLD void size_overflow (mt_build *b) {
  b->status = mt_fail(b->err, MT_EOVERFLOW, "%s: the size leaves 64 bits", b->op);
}

static inline mt_node *end_open (mt_build *b) {
  mt_node *t = &b->out->node[b->open[--b->level]];
  t->span = (uint32_t)(b->out->node + b->n - t);
  b->depth -= nests(t);
  return t;
}

void mt_close (mt_build *b) {
  if (b->status != MT_OK) return;
  mt_node *t = end_open(b);
  if (t->tag == MT_MODES && !product(&t->shape, t)) size_overflow(b);
  if (mt_is_composed(t)) t->shape = mt_base(t)->shape;
}

void mt_close_as (mt_build *b, int64_t shape) {
  if (b->status == MT_OK) end_open(b)->shape = shape;
}

/* A value has more nodes than levels. */
static bool fits_depth (const mt_build *b, const mt_node *t) {
  return b->depth + (int)t->span <= MT_MAXDEPTH || mt_is_leaf(t) ||
         b->depth + mt_depth(t) <= MT_MAXDEPTH;
}

void mt_add (mt_build *b, const mt_node *t) {
  if (b->status != MT_OK) return;
  if (!fits_depth(b, t)) {
    too_deep(b);
  } else if (b->n + (int)t->span > MT_MAXNODES) {
    too_many(b);
  } else {
    memcpy(b->out->node + b->n, t, t->span * sizeof *t);
    b->n += (int)t->span;
    if (b->level > 0) b->out->node[b->open[b->level - 1]].arity++;
  }
}

void mt_add_int (mt_build *b, int64_t value) {
  mt_node *p = push(b, MT_INT);
  if (p) p->shape = value;
}

void mt_add_wild (mt_build *b) { push(b, MT_WILD); }

static inline void add_leaf (mt_build *b, int64_t shape, int64_t stride) {
  mt_node *p = push(b, MT_LEAF);
  if (p == NULL) return;
  p->shape = shape;
  p->stride = stride;
}

void mt_add_leaf (mt_build *b, int64_t shape, int64_t stride) {
  add_leaf(b, shape, stride);
}

void mt_add_swizzle (mt_build *b, int bits, int base, int shift) {
  mt_node *p = push(b, MT_SWIZZLE);
  if (p) p->shape = mt_swizzle_pack(bits, base, shift);
}

/* ring and path of src, without its value. */
static void set_path (mt_node *p, const mt_node *src) {
  p->ring = src->ring;
  memcpy(p->path, src->path, sizeof p->path);
}

static COLD void overflow (mt_build *b, const mt_node *src, int64_t t) {
  if (b->status != MT_OK) return;
  b->status =
      mt_failn(b->err, MT_EOVERFLOW, "%s: the stride of %N times %lld leaves 64 bits",
               b->op, src, (long long)t);
}

static void add_term (mt_build *b, const mt_node *term, int64_t value) {
  mt_node *p = push(b, MT_INT);
  if (p == NULL) return;
  set_path(p, term);
  p->shape = value;
}

/* The stride is a sum, a basis element, over F2, or too large. */
static MT_APART void add_scaled (mt_build *b, int64_t shape, const mt_node *src,
                                 int64_t t) {
  int64_t d;
  mt_node *p;
  if (src->tag == MT_SUM) {
    mt_open(b, MT_SUM);
    if (b->status == MT_OK) b->out->node[b->n - 1].shape = shape;
    for (const mt_node *c = mt_child(src); c < mt_next(src); c++) {
      if (mt_mulo(c->shape, t, &d)) overflow(b, src, t);
      else add_term(b, c, d);
    }
    mt_close(b);
  } else if (src->ring == MT_F2 ? mt_f2_mulo(t, src->stride, &d) :
                                  mt_mulo(src->stride, t, &d)) {
    overflow(b, src, t);
  } else if ((p = push(b, MT_LEAF)) != NULL) {
    p->shape = shape;
    p->stride = d;
    if (d != 0 || src->ring == MT_F2) set_path(p, src);
  }
}

void mt_add_scaled (mt_build *b, int64_t shape, const mt_node *src, int64_t t) {
  int64_t d = t;
  bool integer = src && src->tag == MT_LEAF && src->ring == MT_Z;
  if (src == NULL || (t == 0 && src->ring != MT_F2) ||
      (integer && !mt_mulo(src->stride, t, &d)))
    add_leaf(b, shape, d);
  else add_scaled(b, shape, src, t);
}

void mt_add_stride (mt_build *b, int64_t shape, const mt_node *v) {
  if (v->tag == MT_SUM) {
    mt_add_scaled(b, shape, v, 1);
  } else {
    mt_node leaf = *v;
    leaf.tag = MT_LEAF;
    leaf.stride = v->shape;
    mt_add_scaled(b, shape, &leaf, 1);
  }
}

void mt_add_stride_value (mt_build *b, const mt_node *leaf) {
  if (leaf->tag == MT_SUM) mt_add_scaled(b, -1, leaf, 1);
  else add_term(b, leaf, leaf->stride);
}

/* The root t without its layouts. */
static void open_node (mt_build *b, const mt_node *t) {
  mt_open(b, (mt_tag)t->tag);
  if (b->status != MT_OK) return;
  mt_node *p = b->out->node + b->n - 1;
  p->stride = t->stride;
  p->ring = t->ring;
  if (t->tag == MT_SWIZZLE) p->shape = t->shape;
}

void mt_open_root (mt_build *b, const mt_node *a) {
  for (; mt_is_composed(a); a = mt_under(a)) {
    open_node(b, a);
    mt_add(b, mt_outer(a));
  }
  if (mt_is_swizzled(a)) open_node(b, a);
}

/* ---- the check at the end */

/* sum + |d| * (s - 1); below 0: that leaves 64 bits. */
static inline int64_t reach (int64_t sum, int64_t s, int64_t d) {
  int64_t e;
  if (s <= 1) return sum;
  if (mt_mulo(d, s - 1, &e) || (e < 0 && mt_subo(0, e, &e)) || mt_addo(sum, e, &sum))
    return -1;
  return sum;
}

/* The same of a leaf that is a sum or over F2. */
static MT_APART int64_t other_reach (int64_t sum, const mt_node *p) {
  int64_t v;
  if (p->ring == MT_F2)
    return p->shape > 1 && mt_f2_mulo(p->shape - 1, p->stride, &v) ? -1 : sum;
  for (const mt_node *c = mt_child(p); c < mt_next(p) && sum >= 0; c++)
    sum = reach(sum, p->shape, c->shape);
  return sum;
}

/* The strides of a layout are of one kind; zeros go with any. */
static MT_APART void check_kinds (mt_build *b, bool integer, bool basis, bool f2) {
  if (integer + basis + f2 > 1)
    b->status = mt_failn(b->err, MT_EINVAL, "%s: %s strides beside %s in %N", b->op,
                         integer ? "integer" : "F2",
                         basis ? "basis elements" : "F2 strides", b->out->node);
}

static COLD void offset_overflow (mt_build *b) {
  b->status = mt_fail(b->err, MT_EOVERFLOW, "%s: an offset leaves 64 bits", b->op);
}

static COLD void negative_extent (mt_build *b, const mt_node *t) {
  while (!mt_is_leaf(t) || t->shape >= 0) t = mt_after(t);
  b->status = mt_fail(b->err, MT_EINVAL, "%s: extent %lld is negative", b->op,
                      (long long)t->shape);
}

/* A layout of positive extents and integer strides, as most are, that is right. */
static inline bool is_plain (const mt_node *t) {
  int64_t size = 1, sum = 0, d;
  bool over = false;
  for (const mt_node *p = t, *end = mt_next(t); p < end; p++) {
    if (p->tag == MT_MODES) continue;
    if (p->tag != MT_LEAF || p->ring != MT_Z || p->shape < 1) return false;
    over |= mt_mulo(size, p->shape, &size);
    over |= mt_mulo(p->stride, p->shape - 1, &d);
    over |= d == INT64_MIN;
    over |= mt_addo(sum, (int64_t)mt_magnitude(d), &sum);
  }
  return !over;
}

/* No extent is negative. Sizes, of empty layouts too, and offsets stay in int64; no
** integer stride beside basis ones. */
static MT_APART void check_layout (mt_build *b, const mt_node *t) {
  int64_t size = 1, sum = 0, any = 0; /* any: negative where an extent is */
  bool integer = t->tag == MT_SWIZZLE, basis = false, f2 = false;
  if (t->tag == MT_SWIZZLE && (sum = reach(0, 2, t->stride)) < 0) sum = INT64_MAX;
  t = mt_inner(t);
  for (const mt_node *p = t, *end = mt_next(t); p < end; p = mt_after(p)) {
    if (!mt_is_leaf(p)) continue;
    any |= p->shape;
    if (p->shape > 0 && mt_mulo(size, p->shape, &size)) {
      size_overflow(b);
      return;
    }
    bool plain = p->tag == MT_LEAF && p->ring != MT_F2;
    sum = plain ? reach(sum, p->shape, p->stride) : other_reach(sum, p);
    if (sum < 0) {
      offset_overflow(b);
      return;
    }
    if (p->tag == MT_SUM || p->ring == MT_BASIS) basis = true;
    else if (p->ring == MT_F2) f2 = true;
    else if (p->stride != 0) integer = true;
  }
  if (any < 0) negative_extent(b, t);
  else if (basis || f2) check_kinds(b, integer, basis, f2);
}

mt_status mt_finish (mt_build *b) {
  while (b->status == MT_OK && b->level > 0) mt_close(b);
  assert(b->status != MT_OK || (b->n > 0 && b->out->node[0].span == (uint32_t)b->n));
  return b->status;
}

mt_status mt_end (mt_build *b) {
  if (mt_finish(b) != MT_OK || is_plain(b->out->node)) return b->status;
  const mt_node *t = b->out->node;
  for (; mt_is_composed(t) && b->status == MT_OK; t = mt_under(t))
    if (mt_is_layout(mt_outer(t))) check_layout(b, mt_outer(t));
  if (mt_is_layout(t) && b->status == MT_OK) check_layout(b, t);
  return b->status;
}
