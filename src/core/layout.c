/*
** layout.c - building layouts and tuples, and asking for their properties.
** SPDX-License-Identifier: MIT
*/
#include "core/build.h"

/* ---- values */

void mt_copy_value (mt_layout *out, const mt_node *t) {
  memcpy(out->node, t, t->span * sizeof *t);
}

void mt_int (mt_layout *out, int64_t value) {
  memset(&out->node[0], 0, sizeof out->node[0]);
  out->node[0].tag = MT_INT;
  out->node[0].span = 1;
  out->node[0].shape = value;
}

mt_status mt_ints (mt_layout *out, int n, const int64_t *values, mt_err *err) {
  mt_build b;
  mt_begin(&b, out, "tuple", err);
  mt_open(&b, MT_TUPLE);
  for (int i = 0; i < n; i++) mt_add_int(&b, values[i]);
  return mt_end(&b);
}

/* ---- shape and stride together */

static void bad_shape (mt_build *b, const mt_node *shape) {
  if (b->status != MT_OK) return;
  if (shape->tag == MT_INT && shape->ring == MT_Z)
    b->status = mt_failn(b->err, MT_EINVAL, "%s: extent %N is negative", b->op, shape);
  else
    b->status =
        mt_failn(b->err, MT_EINVAL,
                 "%s: a shape holds integers and tuples of them, not %N", b->op, shape);
}

static bool is_extent (const mt_node *s) {
  return s->tag == MT_INT && s->ring == MT_Z && s->shape >= 0;
}

/* s : d, node by node. False where the trees part, or d is no stride. */
static bool join (mt_build *b, const mt_node *s, const mt_node *d) {
  if (s->tag != MT_TUPLE) {
    if (!is_extent(s)) bad_shape(b, s);
    else if (d->tag == MT_INT || (d->tag == MT_SUM && d->shape < 0))
      mt_add_stride(b, s->shape, d);
    else return false;
    return true;
  }
  if (d->tag != MT_TUPLE || d->arity != s->arity) return false;
  mt_open(b, MT_MODES);
  for (const mt_node *c = mt_child(s), *e = mt_child(d); c < mt_next(s);
       c = mt_next(c), e = mt_next(e))
    if (!join(b, c, e)) return false;
  mt_close(b);
  return true;
}

mt_status mt_make_layout (mt_layout *out, const mt_node *shape, const mt_node *stride,
                          mt_err *err) {
  mt_build b;
  if (stride == NULL) return mt_layout_left(out, shape, err);
  mt_begin(&b, out, "layout", err);
  if (!join(&b, shape, stride) && b.status == MT_OK)
    return mt_failn(err, MT_ERANK, "layout: stride %N is not congruent with shape %N",
                    stride, shape);
  return mt_end(&b);
}

/* ---- compact layouts */

/* Writes the tree of `shape` (a tuple or a layout) with the strides d of its leaves. */
static void with_strides (mt_build *b, const mt_node *shape, const int64_t *d, int *k) {
  if (shape->tag == MT_TUPLE || shape->tag == MT_MODES) {
    mt_open(b, MT_MODES);
    for (const mt_node *c = mt_child(shape); c < mt_next(shape); c = mt_next(c))
      with_strides(b, c, d, k);
    mt_close(b);
  } else if (!(mt_is_leaf(shape) && shape->shape >= 0) && !is_extent(shape)) {
    bad_shape(b, shape);
  } else {
    mt_add_leaf(b, shape->shape, d[(*k)++]);
  }
}

/* The extents of a shape (a tuple or a layout) in order; -1 for what is none. */
static int extents (int64_t *s, const mt_node *shape) {
  int n = 0;
  for (const mt_node *p = shape; p < mt_next(shape); p = mt_after(p))
    if (!mt_is_branch(p)) s[n++] = mt_is_leaf(p) || is_extent(p) ? p->shape : -1;
  return n;
}

/* Strides of a compact layout whose leaves run fastest in the given order of their
** indices. Size-1 leaves get 0. A product that overflows stays where it is: the size
** will tell. */
static void compact (int64_t *d, const int64_t *s, const int *order, int n) {
  int64_t run = 1;
  for (int i = 0; i < n; i++) {
    int k = order[i];
    d[k] = s[k] == 1 ? 0 : run;
    if (s[k] > 1 && mt_mulo(run, s[k], &run)) run = INT64_MAX;
  }
}

static mt_status build_compact (mt_layout *out, const mt_node *shape, const int64_t *d,
                                mt_err *err) {
  mt_build b;
  int k = 0;
  mt_begin(&b, out, "layout", err);
  with_strides(&b, shape, d, &k);
  return mt_end(&b);
}

static mt_status compact_layout (mt_layout *out, const mt_node *shape, bool right,
                                 mt_err *err) {
  int64_t s[MT_MAXNODES], d[MT_MAXNODES];
  int order[MT_MAXNODES];
  shape = mt_inner(shape);
  int n = extents(s, shape);
  for (int i = 0; i < n; i++) order[i] = right ? n - 1 - i : i;
  compact(d, s, order, n);
  return build_compact(out, shape, d, err);
}

mt_status mt_layout_left (mt_layout *out, const mt_node *shape, mt_err *err) {
  return compact_layout(out, shape, false, err);
}

mt_status mt_layout_right (mt_layout *out, const mt_node *shape, mt_err *err) {
  return compact_layout(out, shape, true, err);
}

static uint64_t step_of (const mt_node *leaf) { return mt_magnitude(leaf->stride); }

mt_status mt_make_layout_like (mt_layout *out, const mt_node *a, mt_err *err) {
  const mt_node *leaf[MT_MAXNODES];
  int64_t s[MT_MAXNODES], d[MT_MAXNODES];
  int order[MT_MAXNODES], k = 0, n;
  MT_CHECK(mt_is_function(a), err, "make_layout_like: a layout expected");
  a = mt_base(a);
  n = mt_leaves(leaf, a);
  MT_CHECK(mt_is_integral(a), err, "make_layout_like: integer strides expected");
  for (int i = 0; i < n; i++) { /* insertion, by magnitude */
    int j = k;
    d[i] = 0;
    s[i] = leaf[i]->shape;
    if (leaf[i]->stride == 0) continue;
    while (j > 0 && step_of(leaf[order[j - 1]]) > step_of(leaf[i])) j--;
    memmove(order + j + 1, order + j, (size_t)(k++ - j) * sizeof *order);
    order[j] = i;
  }
  compact(d, s, order, k);
  for (int i = 0, first = 0; i < k; i++) { /* equal magnitudes begin as one */
    if (step_of(leaf[order[i]]) != step_of(leaf[order[first]]) || s[order[first]] == 1)
      first = i;
    if (s[order[i]] != 1) d[order[i]] = d[order[first]];
  }
  return build_compact(out, a, d, err);
}

/* 1@i.. on every leaf; path holds the indices from the outermost on. */
static void identity (mt_build *b, const mt_node *shape, const uint8_t *path, int depth) {
  mt_node d = {.tag = MT_INT, .ring = MT_BASIS, .span = 1, .shape = 1};
  uint8_t inner[MT_MAXPATH];
  if (shape->tag != MT_TUPLE && shape->tag != MT_MODES) {
    for (int i = 0; i < depth; i++) d.path[i] = path[depth - 1 - i];
    d.path[MT_MAXPATH] = (uint8_t)depth;
    if (depth == 0) d.ring = MT_Z;
    if (!mt_is_leaf(shape) && !is_extent(shape)) bad_shape(b, shape);
    else mt_add_stride(b, shape->shape, &d);
    return;
  }
  if (depth == MT_MAXPATH) {
    if (b->status == MT_OK)
      b->status =
          mt_failn(b->err, MT_ETOOBIG, "%s: nested deeper than %d", b->op, MT_MAXPATH);
    return;
  }
  memcpy(inner, path, (size_t)depth);
  inner[depth] = 0;
  mt_open(b, MT_MODES);
  for (const mt_node *c = mt_child(shape); c < mt_next(shape);
       c = mt_next(c), inner[depth]++)
    identity(b, c, inner, depth + 1);
  mt_close(b);
}

mt_status mt_make_identity_layout (mt_layout *out, const mt_node *shape, mt_err *err) {
  mt_build b;
  uint8_t path[MT_MAXPATH] = {0};
  mt_begin(&b, out, "make_identity_layout", err);
  identity(&b, mt_inner(shape), path, 0);
  return mt_end(&b);
}

mt_status mt_concat (mt_layout *out, int n, const mt_node *const *modes, mt_err *err) {
  mt_build b;
  mt_begin(&b, out, "make_layout", err);
  mt_open(&b, MT_MODES);
  for (int i = 0; i < n; i++) {
    if (!mt_is_layout(modes[i]) || mt_is_swizzled(modes[i]))
      return mt_failn(err, MT_EINVAL, "make_layout: mode %d is %N, not a plain layout",
                      i + 1, modes[i]);
    mt_add(&b, modes[i]);
  }
  return mt_end(&b);
}

/* ---- queries */

int mt_rank (const mt_node *t) {
  t = mt_base(t);
  return mt_is_branch(t) ? t->arity : 1;
}

int mt_depth (const mt_node *t) {
  int deepest = 0;
  t = mt_base(t);
  if (!mt_is_branch(t)) return 0;
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c)) {
    int d = mt_depth(c);
    if (d > deepest) deepest = d;
  }
  return deepest + 1;
}

const mt_node *mt_mode (const mt_node *t, int i) {
  if (i < 0 || i >= mt_rank(t) || mt_is_swizzled(t) || mt_is_composed(t)) return NULL;
  t = mt_first_mode(t);
  while (i-- > 0) t = mt_next(t);
  return t;
}

/* Both are lists of the same values. */
static bool same_list (const mt_node *x, const mt_node *y) {
  return x->tag == MT_LIST && y->tag == MT_LIST && x->shape == y->shape &&
         x->path[0] == y->path[0] &&
         memcmp(mt_list_values(x), mt_list_values(y),
                (size_t)x->shape * sizeof(int64_t)) == 0;
}

bool mt_equal (const mt_node *a, const mt_node *b) {
  if (a->span != b->span) return false;
  for (uint32_t i = 0; i < a->span; i++) {
    const mt_node *x = a + i, *y = b + i;
    if (x->tag != y->tag || x->arity != y->arity) return false;
    if (same_list(x, y)) continue;
    if (x->stride != y->stride || !mt_same_path(x, y)) return false;
    if (!(x->tag == MT_TUPLE || x->tag == MT_TILER) && x->shape != y->shape) return false;
  }
  return true;
}

bool mt_congruent (const mt_node *a, const mt_node *b) {
  a = mt_base(a);
  b = mt_base(b);
  if (mt_is_branch(a) != mt_is_branch(b)) return false;
  if (!mt_is_branch(a)) return true;
  if (a->arity != b->arity) return false;
  const mt_node *y = mt_child(b);
  for (const mt_node *x = mt_child(a); x < mt_next(a); x = mt_next(x), y = mt_next(y))
    if (!mt_congruent(x, y)) return false;
  return true;
}

int64_t mt_size (const mt_node *t) {
  int64_t n = 1;
  t = mt_inner(t);
  if (t->tag == MT_WILD || t->tag == MT_SWIZZLE) return -1;
  if (t->tag != MT_TUPLE && t->tag != MT_TILER) return t->shape;
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c)) {
    int64_t s = mt_size(c);
    if (s == 0) return 0;
    if (s < 0 || n < 0 || mt_mulo(n, s, &n)) n = -1;
  }
  return n;
}

static void emit_shape (mt_build *b, const mt_node *a) {
  if (!mt_is_branch(a)) {
    mt_add_int(b, a->shape);
    return;
  }
  mt_open(b, MT_TUPLE);
  for (const mt_node *c = mt_child(a); c < mt_next(a); c = mt_next(c)) emit_shape(b, c);
  mt_close(b);
}

mt_status mt_shape (mt_layout *out, const mt_node *a, mt_err *err) {
  mt_build b;
  mt_begin(&b, out, "shape", err);
  MT_CHECK(mt_is_function(a), err, "shape: a layout expected");
  emit_shape(&b, mt_base(a));
  return mt_end(&b);
}

static void emit_stride (mt_build *b, const mt_node *a) {
  if (!mt_is_branch(a)) {
    mt_add_stride_value(b, a);
    return;
  }
  mt_open(b, MT_TUPLE);
  for (const mt_node *c = mt_child(a); c < mt_next(a); c = mt_next(c)) emit_stride(b, c);
  mt_close(b);
}

mt_status mt_stride (mt_layout *out, const mt_node *a, mt_err *err) {
  mt_build b;
  mt_begin(&b, out, "stride", err);
  MT_CHECK(mt_is_layout(a), err, "stride: a layout expected");
  emit_stride(&b, mt_inner(a));
  return mt_end(&b);
}
