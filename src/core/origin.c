/*
** origin.c - layouts of coordinates that begin at a coordinate.
** SPDX-License-Identifier: MIT
**
** origin + A(c), as one value: each axis k gets an extent B_k above all its coordinates,
** and a coordinate x the number of x in the column-major order of (B_0,B_1,...). So
**   R = (B_0,B_1,...):(1@0,1@1,...) o number(origin) o A',
** A' = A with numbers for its strides.
*/
#include "core/build.h"

enum { AXES = 16 };

/* An axis: its basis element, where the origin is, how far A goes on it, and the step of
** its numbers. */
typedef struct axis {
  mt_node basis;
  int64_t at, low, high, step;
} axis;

typedef struct space {
  const mt_node *origin, *a;
  mt_err *err;
  int n;
  axis axis[AXES];
} space;

static mt_status too_large (const space *s) {
  return mt_failn(s->err, MT_EOVERFLOW, "with_offset: %N + %N leaves 64 bits", s->origin,
                  s->a);
}

/* The axis of a basis element, a new one if there is none; NULL: there are too many. */
static axis *axis_of (space *s, const mt_node *basis) {
  for (int k = 0; k < s->n; k++)
    if (mt_same_path(&s->axis[k].basis, basis)) return &s->axis[k];
  if (s->n == AXES) return NULL;
  axis *x = &s->axis[s->n++];
  memset(x, 0, sizeof *x);
  x->basis = *basis;
  return x;
}

static mt_status many_axes (const space *s) {
  return mt_failn(s->err, MT_ETOOBIG, "with_offset: %N has more than %d axes", s->a,
                  (int)AXES);
}

/* The integers of the origin: their places are axes. `e` has the path to o. */
static mt_status take_origin (space *s, const mt_node *o, const mt_node *e) {
  if (!mt_is_branch(o)) {
    axis *x = axis_of(s, e);
    if (x == NULL) return many_axes(s);
    if (o->tag != MT_INT || o->ring != MT_Z)
      return mt_failn(s->err, MT_EINVAL, "with_offset: %N is no coordinate", s->origin);
    x->at = o->shape;
    return MT_OK;
  }
  int depth = e->path[MT_MAXPATH], i = 0;
  if (depth == MT_MAXPATH) return many_axes(s);
  for (const mt_node *c = mt_child(o); c < mt_next(o); c = mt_next(c), i++) {
    mt_node deeper = *e; /* the path begins with the innermost index */
    memmove(deeper.path + 1, e->path, (size_t)depth);
    deeper.path[0] = (uint8_t)i;
    deeper.path[MT_MAXPATH] = (uint8_t)(depth + 1);
    MT_TRY(take_origin(s, c, &deeper));
  }
  return MT_OK;
}

/* What a leaf of `extent` elements adds: v on the axis of `basis`. */
static mt_status take_term (space *s, int64_t extent, const mt_node *basis, int64_t v) {
  int64_t far;
  axis *x = axis_of(s, basis);
  if (x == NULL) return many_axes(s);
  if (extent < 1) return MT_OK;
  if (mt_mulo(v, extent - 1, &far)) return too_large(s);
  int64_t *end = far < 0 ? &x->low : &x->high;
  return mt_addo(*end, far, end) ? too_large(s) : MT_OK;
}

static mt_status take_leaf (space *s, const mt_node *p) {
  if (p->tag == MT_SUM) {
    for (const mt_node *c = mt_child(p); c < mt_next(p); c = mt_next(c))
      MT_TRY(take_term(s, p->shape, c, c->shape));
    return MT_OK;
  }
  if (p->ring == MT_BASIS) return take_term(s, p->shape, p, p->stride);
  if (p->ring == MT_Z && (p->stride == 0 || p->shape == 1)) return MT_OK;
  return mt_failn(s->err, MT_EINVAL,
                  "with_offset: %N has no coordinates, it takes an integer", s->a);
}

/* Whether one axis is a part of another: (x,y) and an integer at one place. */
static bool is_within (const mt_node *x, const mt_node *y) {
  int n = x->path[MT_MAXPATH], m = y->path[MT_MAXPATH];
  return n < m && memcmp(x->path, y->path + (m - n), (size_t)n) == 0;
}

static mt_status check_axes (const space *s) {
  for (int k = 0; k < s->n; k++)
    for (int l = 0; l < s->n; l++)
      if (is_within(&s->axis[k].basis, &s->axis[l].basis))
        return mt_failn(s->err, MT_ERANK,
                        "with_offset: %N and the coordinates of %N have not one shape",
                        s->origin, s->a);
  return MT_OK;
}

/* Where A begins: the number of the origin. */
static mt_status number_axes (int64_t *number, space *s) {
  int64_t step = 1, part;
  *number = 0;
  for (int k = 0; k < s->n; k++) {
    axis *x = &s->axis[k];
    if (mt_addo(x->high, x->at, &x->high) || mt_addo(x->low, x->at, &x->low) ||
        mt_addo(x->high, 1, &x->high))
      return too_large(s);
    if (x->low < 0)
      return mt_failn(s->err, MT_ERANGE, "with_offset: %N + %N goes below 0", s->origin,
                      s->a);
    x->step = step;
    if (mt_mulo(step, x->at, &part) || mt_addo(*number, part, number) ||
        mt_mulo(step, x->high, &step))
      return too_large(s);
  }
  return MT_OK;
}

/* (B_0,B_1,...):(1@0,1@1,...) */
static void add_axes (mt_build *b, const space *s) {
  mt_open(b, MT_MODES);
  for (int k = 0; k < s->n; k++) {
    mt_node leaf = s->axis[k].basis;
    leaf.tag = MT_LEAF;
    leaf.ring = MT_BASIS;
    leaf.shape = s->axis[k].high;
    leaf.stride = 1;
    mt_add(b, &leaf);
  }
  mt_close(b);
}

/* *d += v on the axis of `basis`, as numbers; true if that leaves 64 bits. */
static bool add_number (int64_t *d, space *s, int64_t v, const mt_node *basis) {
  int64_t far;
  return mt_mulo(v, axis_of(s, basis)->step, &far) || mt_addo(*d, far, d);
}

/* The stride of a leaf as a number. Where two elements are a stride apart it is less than
** all numbers that there are. Else nothing moves by it: one that leaves 64 bits is 0. */
static int64_t stride_of (space *s, const mt_node *p) {
  int64_t d = 0;
  bool over = false;
  if (p->tag == MT_SUM)
    for (const mt_node *c = mt_child(p); c < mt_next(p); c = mt_next(c))
      over |= add_number(&d, s, c->shape, c);
  else if (p->ring == MT_BASIS) over = add_number(&d, s, p->stride, p);
  return over ? 0 : d;
}

static void add_numbers (mt_build *b, space *s, const mt_node *t) {
  if (t->tag != MT_MODES) {
    mt_add_leaf(b, t->shape, stride_of(s, t));
    return;
  }
  mt_open(b, MT_MODES);
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
    add_numbers(b, s, c);
  mt_close(b);
}

mt_status mt_with_origin (mt_layout *out, const mt_node *a, const mt_node *origin,
                          mt_err *err) {
  space s = {.origin = origin, .a = a, .err = err};
  mt_node e = {.tag = MT_INT, .span = 1, .ring = MT_BASIS, .shape = 1};
  int64_t number;
  mt_build b;
  if (!mt_is_layout(a) || mt_is_swizzled(a))
    return mt_failn(err, MT_EINVAL, "with_offset: %N has no coordinates", a);
  MT_TRY(take_origin(&s, origin, &e));
  for (const mt_node *p = mt_leaf(a, a); p < mt_next(a); p = mt_leaf(a, mt_after(p)))
    MT_TRY(take_leaf(&s, p));
  MT_TRY(check_axes(&s));
  MT_TRY(number_axes(&number, &s));
  if (number == 0) return mt_copy_value(out, a), MT_OK;
  mt_begin(&b, out, "with_offset", err);
  mt_open(&b, MT_COMPOSED);
  if (b.status == MT_OK) out->node[b.n - 1].stride = number;
  add_axes(&b, &s);
  add_numbers(&b, &s, a);
  mt_close(&b);
  return mt_end(&b);
}
