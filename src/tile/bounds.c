/*
** bounds.c - the bounds of a tensor, one by one, as layouts of integers.
** SPDX-License-Identifier: MIT
*/
#include "tile/bounds.h"
#include "core/build.h"

/* The way to an integer of a tuple, the outermost index first. */
typedef struct mt_trail {
  int n;
  uint8_t at[MT_MAXPATH];
} mt_trail;

int mt_ordinates (const mt_tensor *t) {
  int n = 0;
  if (t->bounds == NULL || t->bounds->extent == NULL) return 0;
  const mt_node *e = t->bounds->extent;
  for (const mt_node *p = e; p < mt_next(e); p++) n += p->tag == MT_INT;
  return n;
}

/* Integer number *k of t, *k counts down; NULL: it is not in t. */
static const mt_node *integer_at (mt_trail *w, const mt_node *t, int *k) {
  uint8_t i = 0;
  if (t->tag == MT_INT) return (*k)-- == 0 ? t : NULL;
  if (t->tag != MT_TUPLE || w->n == MT_MAXPATH) return NULL;
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c)) {
    w->at[w->n++] = i++;
    const mt_node *found = integer_at(w, c, k);
    if (found) return found;
    w->n--;
  }
  return NULL;
}

/* The integer there; 0 is a tuple of zeros, (n) is n. False: there is none. */
static bool follow (int64_t *out, const mt_node *t, const mt_trail *w) {
  int i = 0;
  for (; i < w->n && t->tag == MT_TUPLE; i++) {
    const mt_node *c = mt_child(t);
    if (w->at[i] >= t->arity) return false;
    for (int j = 0; j < w->at[i]; j++) c = mt_next(c);
    t = c;
  }
  while (t->tag == MT_TUPLE && t->arity == 1) t = mt_child(t);
  *out = t->shape;
  if (t->tag != MT_INT || t->ring != MT_Z) return false;
  return i == w->n || t->shape == 0 || (w->n == 1 && w->at[0] == 0);
}

/* ---------------------------------------------------------------- strides */

/* Whether a stride steps along that way; the coordinate of a single mode is an integer,
** too. */
static bool leads (const mt_node *p, const mt_trail *w) {
  int n = p->path[MT_MAXPATH];
  if (p->ring == MT_Z || w->n == 0)
    return w->n <= 1 && (w->n == 0 || w->at[0] == 0) &&
           (p->ring == MT_Z || (n == 1 && p->path[0] == 0));
  if (n != w->n) return false;
  for (int i = 0; i < n; i++)
    if (p->path[n - 1 - i] != w->at[i]) return false;
  return true;
}

/* What a leaf of coordinates steps along that way. */
static int64_t step_of (const mt_node *leaf, const mt_trail *w) {
  if (leaf->tag == MT_LEAF) return leads(leaf, w) ? leaf->stride : 0;
  int64_t step = 0;
  for (const mt_node *c = mt_child(leaf); c < mt_next(leaf); c = mt_next(c))
    if (leads(c, w)) step += c->shape;
  return step;
}

static mt_status add_ordinates (mt_build *b, const mt_node *a, const mt_trail *w,
                                mt_err *err) {
  if (mt_is_leaf(a)) {
    int64_t step = step_of(a, w);
    MT_CHECK(a->ring != MT_F2 && step >= 0, err, "bounds: a coordinate that goes down");
    mt_add_leaf(b, a->shape, step);
    return MT_OK;
  }
  mt_open(b, MT_MODES);
  for (const mt_node *c = mt_child(a); c < mt_next(a); c = mt_next(c))
    MT_TRY(add_ordinates(b, c, w, err));
  mt_close(b);
  return MT_OK;
}

/* ---------------------------------------------------------------- bounds */

static mt_status check_modes (const mt_tensor *t, mt_err *err) {
  const mt_node *a = mt_base(t->layout), *x = t->bounds->coord;
  MT_CHECK(x != NULL && mt_is_layout(x) && !mt_is_swizzled(x), err,
           "bounds: no layout of coordinates");
  bool same = mt_rank(x) == mt_rank(a);
  for (int i = 0; same && i < mt_rank(a); i++)
    same = mt_size(mt_mode(x, i)) == mt_size(mt_mode(a, i));
  if (same) return MT_OK;
  return mt_failn(err, MT_EINVAL, "bounds: the coordinates %N have not the modes of %N",
                  x, a);
}

mt_status mt_ordinate_of (mt_ordinate *out, mt_layout *buf, const mt_tensor *t, int k,
                          mt_err *err) {
  const mt_bounds *x = t->bounds;
  mt_trail w = {0};
  mt_build b;
  MT_CHECK(k >= 0 && k < mt_ordinates(t), err, "bounds: there is no extent %d", k);
  MT_TRY(check_modes(t, err));
  const mt_node *extent = integer_at(&w, x->extent, &k);
  *out = (mt_ordinate){.layout = buf->node};
  MT_CHECK(extent != NULL && extent->ring == MT_Z, err,
           "bounds: an extent is no integer");
  MT_CHECK(x->base == NULL || follow(&out->at, x->base, &w), err,
           "bounds: the base has not the form of the extents");
  out->extent = extent->shape;
  mt_begin(&b, buf, "bounds", err);
  MT_TRY(add_ordinates(&b, x->coord, &w, err));
  return mt_end(&b);
}

mt_status mt_bound_of (mt_layout *ordinates, int64_t *bound, const mt_tensor *t, int k,
                       mt_err *err) {
  mt_ordinate o;
  MT_TRY(mt_ordinate_of(&o, ordinates, t, k, err));
  if (!mt_subo(o.extent, o.at, bound)) return MT_OK;
  return mt_fail(err, MT_EOVERFLOW, "bounds: a coordinate leaves 64 bits");
}

int64_t mt_last_ordinate (const mt_node *ordinates) {
  int64_t last = 0, t;
  for (const mt_node *p = ordinates; p < mt_next(ordinates); p++)
    if (p->tag == MT_LEAF && p->shape > 1 &&
        (mt_mulo(p->shape - 1, p->stride, &t) || mt_addo(last, t, &last)))
      return INT64_MAX;
  return last;
}

mt_status mt_is_ragged (bool *out, const mt_tensor *t, mt_err *err) {
  mt_layout ordinates;
  int64_t bound;
  *out = false;
  if (mt_size(t->layout) == 0) return MT_OK;
  for (int k = 0; k < mt_ordinates(t) && !*out; k++) {
    MT_TRY(mt_bound_of(&ordinates, &bound, t, k, err));
    *out = mt_last_ordinate(ordinates.node) >= bound;
  }
  return MT_OK;
}

size_t mt_bounds_format (char *buf, size_t size, const mt_bounds *b) {
  const char *const between[] = {"", " + ", " < "};
  const mt_node *const part[] = {b->coord, b->base, b->extent};
  size_t n = 0;
  for (int i = 0; i < 3; i++) {
    if (part[i] == NULL) continue;
    for (const char *c = between[i]; *c; c++, n++)
      if (n + 1 < size) buf[n] = *c;
    n += mt_format(n < size ? buf + n : NULL, n < size ? size - n : 0, part[i]);
  }
  if (size > 0) buf[n < size ? n : size - 1] = 0;
  return n;
}
