/*
** axes.c - lists of flat axes: refining, merging, ordering.
** SPDX-License-Identifier: MIT
*/
#include "desc/axes.h"
#include "desc/divisor.h"

static int64_t *field (mt_axis *a, int f) {
  return f < MT_STEP ? &a->stride[f] : &a->step[f - MT_STEP];
}

static bool scaled (int64_t n, int64_t d, int64_t e) {
  int64_t next;
  return !mt_mulo(n, d, &next) && next == e;
}

static bool continues (const mt_axis *a, const mt_axis *b) {
  for (int o = 0; o < 2; o++)
    if (!scaled(a->extent, a->stride[o], b->stride[o])) return false;
  for (int k = 0; k < MT_MAXBOUND; k++)
    if (!scaled(a->extent, a->step[k], b->step[k])) return false;
  return true;
}

void mt_axes_merge (mt_axes *a) {
  int n = 0;
  for (int i = 0; i < a->n; i++) {
    if (a->axis[i].extent == 1) continue;
    if (n > 0 && continues(&a->axis[n - 1], &a->axis[i]))
      a->axis[n - 1].extent *= a->axis[i].extent;
    else a->axis[n++] = a->axis[i];
  }
  a->n = n;
}

void mt_axes_of (mt_axes *a, const mt_node *mode, int f) {
  a->n = 0;
  for (const mt_node *p = mode; p < mt_next(mode); p++) {
    if (p->tag != MT_LEAF || p->shape == 1) continue;
    assert(a->n < MT_LISTSIZE);
    mt_axis *x = &a->axis[a->n++];
    memset(x, 0, sizeof *x);
    x->extent = p->shape;
    *field(x, f) = p->stride;
  }
  mt_axes_merge(a);
}

/* Axis i becomes two, the first of extent n. */
static void cut (mt_axes *a, int i, int64_t n) {
  assert(a->n < MT_LISTSIZE);
  memmove(a->axis + i + 1, a->axis + i, (size_t)(a->n++ - i) * sizeof a->axis[0]);
  mt_axis *rest = &a->axis[i + 1];
  a->axis[i].extent = n;
  rest->extent /= n;
  for (int o = 0; o < 2; o++) rest->stride[o] *= n;
  for (int k = 0; k < MT_MAXBOUND; k++) rest->step[k] *= n;
}

/* The axis n:d goes over the axes from i on; returns the next one, -1 if it ends inside
** an axis that it does not divide. */
static int refine_axis (mt_axes *a, int i, int64_t n, int64_t d, int f) {
  while (n > 1) {
    if (i == a->n) return -1;
    mt_axis *x = &a->axis[i];
    if (x->extent > n) {
      if (x->extent % n != 0) return -1;
      cut(a, i, n);
    }
    if (n % x->extent != 0) return -1;
    *field(x, f) = d;
    n /= x->extent;
    if (n > 1) d *= x->extent;
    i++;
  }
  return i;
}

bool mt_axes_refine (mt_axes *a, const mt_node *mode, int f) {
  mt_axes b;
  int i = 0;
  mt_axes_of(&b, mode, f);
  for (int j = 0; j < b.n && i >= 0; j++)
    i = refine_axis(a, i, b.axis[j].extent, *field(&b.axis[j], f), f);
  return i == a->n;
}

void mt_axes_append (mt_axes *a, const mt_axes *b) {
  assert(a->n + b->n <= MT_LISTSIZE);
  memcpy(a->axis + a->n, b->axis, (size_t)b->n * sizeof b->axis[0]);
  a->n += b->n;
}

void mt_axes_copy (mt_axes *to, const mt_axes *from) {
  to->n = from->n;
  memcpy(to->axis, from->axis, (size_t)from->n * sizeof from->axis[0]);
}

static bool comes_first (const mt_axis *a, const mt_axis *b) {
  uint64_t x = mt_magnitude(a->stride[MT_DST]), y = mt_magnitude(b->stride[MT_DST]);
  if (x != y) return x < y;
  return mt_magnitude(a->stride[MT_SRC]) < mt_magnitude(b->stride[MT_SRC]);
}

void mt_axes_sort (mt_axes *a) {
  for (int i = 1; i < a->n; i++) {
    mt_axis x = a->axis[i];
    int j = i;
    for (; j > 0 && comes_first(&x, &a->axis[j - 1]); j--) a->axis[j] = a->axis[j - 1];
    a->axis[j] = x;
  }
}

static bool has_steps (const mt_axis *a) {
  for (int k = 0; k < MT_MAXBOUND; k++)
    if (a->step[k] != 0) return true;
  return false;
}

void mt_axis_turn (mt_axis *x, int64_t offset[2]) {
  for (int o = 0; o < 2; o++) {
    offset[o] += (x->extent - 1) * x->stride[o];
    x->stride[o] = -x->stride[o];
  }
}

void mt_axes_turn (mt_axes *a, int64_t offset[2]) {
  for (mt_axis *x = a->axis; x < a->axis + a->n; x++)
    if (x->stride[MT_DST] < 0 && !has_steps(x)) mt_axis_turn(x, offset);
}

/* ---------------------------------------------------------------- in descriptors */

void mt_axis_divisor (mt_axis *a) {
  mt_divisor by = mt_divisor_of(a->extent);
  a->mul = by.mul, a->shift = by.shift;
}

static int64_t put_mode (mt_desc *d, uint32_t first, const mt_axes *a) {
  int64_t size = 1;
  for (int i = 0; i < a->n; i++) {
    mt_axis *x = &d->axis[first + (uint32_t)i];
    *x = a->axis[i];
    mt_axis_divisor(x);
    size *= x->extent;
  }
  return size;
}

bool mt_axes_store (mt_desc *d, const mt_axes mode[3]) {
  if (mode[0].n + mode[1].n + mode[2].n > MT_MAXAXIS) return false;
  memset(d->axis, 0, sizeof d->axis);
  d->nthr = (uint32_t)mode[0].n;
  d->nval = (uint32_t)mode[1].n;
  d->nrest = (uint32_t)mode[2].n;
  d->threads = put_mode(d, 0, &mode[0]);
  d->values = put_mode(d, d->nthr, &mode[1]);
  d->rests = put_mode(d, d->nthr + d->nval, &mode[2]);
  return true;
}

mt_status mt_axes_put (mt_desc *d, const mt_axes mode[3], mt_err *err) {
  if (mt_axes_store(d, mode)) return MT_OK;
  return mt_fail(err, MT_ETOOBIG,
                 "copy: the layouts of both sides need %d axes, a "
                 "kernel has %d",
                 mode[0].n + mode[1].n + mode[2].n, (int)MT_MAXAXIS);
}

void mt_axes_get (mt_axes mode[3], const mt_desc *d) {
  const uint32_t n[] = {d->nthr, d->nval, d->nrest};
  const mt_axis *a = d->axis;
  for (int i = 0; i < 3; a += n[i++]) {
    mode[i].n = (int)n[i];
    memcpy(mode[i].axis, a, n[i] * sizeof *a);
  }
}

bool mt_axes_take (mt_axes *from, mt_axes *to, int side, int64_t stride) {
  for (int i = 0; i < from->n; i++) {
    if (from->axis[i].stride[side] != stride) continue;
    to->axis[to->n++] = from->axis[i];
    memmove(from->axis + i, from->axis + i + 1,
            (size_t)(--from->n - i) * sizeof from->axis[0]);
    return true;
  }
  return false;
}

bool mt_axes_divide (const mt_axes *a, int side, int64_t elem, int64_t by) {
  for (int i = 0; i < a->n; i++)
    if (a->axis[i].extent > 1 && a->axis[i].stride[side] * elem % by != 0) return false;
  return true;
}

bool mt_begins (const mt_launch *l, int side, uint64_t by) {
  uint64_t at = (uint64_t)(uintptr_t)l->base[side] +
                (uint64_t)l->offset[side] * MT_ELEM(&l->desc, side);
  return at % by == 0;
}
