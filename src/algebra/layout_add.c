/*
** layout_add.c - the layout with the values A(i) + B(i).
** SPDX-License-Identifier: MIT
**
** On 0 <= i < N a coalesced layout s_0:d_0, s_1:d_1, ... is the sum of e_r * floor(i /
** P_r), P_r the product of the extents before r, e_0 = d_0, e_r = d_r - s_{r-1}*d_{r-1}
** != 0. The functions floor(i / p), 1 <= p < N, are linearly independent (each is 0 below
** p, not at p): a sum of layouts has the sums of their e, and it is a layout exactly if
** each p with e != 0 divides the next and the last divides N.
*/
#include "moontile/lattice.h"
#include "algebra/f2.h"

enum { MAXAXES = 16, MAXBENDS = 2 * MT_MAXNODES };

typedef struct vec {
  int64_t v[MAXAXES];
} vec;

/* Where a function bends: e * floor(i / p). */
typedef struct bend {
  int64_t p;
  vec e;
} bend;

typedef struct sum {
  const char *op;
  const mt_node *a, *b;
  mt_err *err;
  int axes, n;
  mt_node axis[MAXAXES]; /* MT_INT nodes, values 0, in the order of their paths */
  bend bends[MAXBENDS];  /* by ascending p */
} sum;

static mt_status overflow (const sum *x) {
  return mt_failn(x->err, MT_EOVERFLOW, "%s: a stride of %N + %N leaves 64 bits", x->op,
                  x->a, x->b);
}

/* ---- axes: one for integers, one for each index path */

static bool begins (const mt_node *a, const mt_node *b) {
  int na = a->path[MT_MAXPATH], nb = b->path[MT_MAXPATH];
  return na <= nb && memcmp(a->path, b->path + (nb - na), (size_t)na) == 0;
}

static mt_status add_axis (sum *x, const mt_node *path, int64_t value) {
  int i = 0;
  if (value == 0) return MT_OK;
  while (i < x->axes && mt_compare_paths(&x->axis[i], path) < 0) i++;
  if (i < x->axes && mt_compare_paths(&x->axis[i], path) == 0) return MT_OK;
  for (int k = 0; k < x->axes; k++)
    if (begins(&x->axis[k], path) || begins(path, &x->axis[k]))
      return mt_failn(x->err, MT_EINVAL,
                      "%s: the strides of %N and of %N lie in different spaces", x->op,
                      x->a, x->b);
  if (x->axes == MAXAXES)
    return mt_fail(x->err, MT_ETOOBIG, "%s: more than %d axes", x->op, MAXAXES);
  memmove(x->axis + i + 1, x->axis + i, (size_t)(x->axes - i) * sizeof *x->axis);
  x->axis[i] = *path;
  x->axis[i].tag = MT_INT;
  x->axis[i].shape = x->axis[i].stride = 0;
  x->axes++;
  return MT_OK;
}

static mt_status add_axes (sum *x, const mt_flat *f) {
  for (int r = 0; r < f->n; r++) {
    const mt_node *d = f->d[r];
    if (d->tag == MT_LEAF) MT_TRY(add_axis(x, d, d->stride));
    if (d->tag == MT_LEAF) continue;
    for (const mt_node *c = mt_child(d); c < mt_next(d); c++)
      MT_TRY(add_axis(x, c, c->shape));
  }
  return MT_OK;
}

/* The stride d on each axis. */
static void as_vec (vec *out, const sum *x, const mt_node *d) {
  for (int k = 0; k < x->axes; k++) {
    const mt_node *path = &x->axis[k];
    out->v[k] = d->tag == MT_LEAF && mt_same_path(d, path) ? d->stride : 0;
    if (d->tag != MT_SUM) continue;
    for (const mt_node *c = mt_child(d); c < mt_next(d); c++)
      if (mt_same_path(c, path)) out->v[k] = c->shape;
  }
}

/* ---- bends */

/* *y += t * d */
static bool add (const sum *x, vec *y, int64_t t, const vec *d) {
  int64_t v;
  for (int k = 0; k < x->axes; k++)
    if (mt_mulo(t, d->v[k], &v) || mt_addo(y->v[k], v, &y->v[k])) return false;
  return true;
}

static bool is_zero (const sum *x, const vec *y) {
  for (int k = 0; k < x->axes; k++)
    if (y->v[k] != 0) return false;
  return true;
}

static mt_status add_bend (sum *x, int64_t p, const vec *e) {
  int i = 0;
  while (i < x->n && x->bends[i].p < p) i++;
  if (i < x->n && x->bends[i].p == p)
    return add(x, &x->bends[i].e, 1, e) ? MT_OK : overflow(x);
  memmove(x->bends + i + 1, x->bends + i, (size_t)(x->n - i) * sizeof *x->bends);
  x->bends[i].p = p;
  x->bends[i].e = *e;
  x->n++;
  return MT_OK;
}

static mt_status add_bends (sum *x, const mt_flat *f) {
  vec d, before = {{0}};
  for (int64_t r = 0, p = 1, s = 0; r < f->n; s = f->s[r], p *= s, r++) {
    as_vec(&d, x, f->d[r]);
    vec e = d;
    if (!add(x, &e, -s, &before)) return overflow(x);
    MT_TRY(add_bend(x, p, &e));
    before = d;
  }
  return MT_OK;
}

/* Without those that cancel out. */
static void drop_zeros (sum *x) {
  int n = 0;
  for (int k = 0; k < x->n; k++)
    if (!is_zero(x, &x->bends[k].e)) x->bends[n++] = x->bends[k];
  x->n = n;
}

/* ---- the result */

static void as_value (mt_layout *out, const sum *x, const vec *v) {
  mt_build b;
  MT_NEWERR(err);
  int terms = 0;
  mt_int(out, 0);
  for (int k = 0; k < x->axes; k++) {
    if (v->v[k] == 0) continue;
    if (terms++ == 0) out->node[0] = x->axis[k], out->node[0].shape = v->v[k];
  }
  if (terms < 2) return;
  mt_begin(&b, out, "", &err);
  mt_open(&b, MT_SUM);
  out->node[0].shape = -1;
  for (int k = 0; k < x->axes; k++) {
    mt_node term = x->axis[k];
    term.shape = v->v[k];
    if (term.shape != 0) mt_add(&b, &term);
  }
  mt_close(&b);
}

/* The value of f at i, which a layout could have only without the bend e. */
static MT_APART void show_witness (sum *x, const mt_flat *f, const mt_flat *g,
                                   const bend *last) {
  const mt_flat *both[2] = {f, g};
  vec is = {{0}}, would, d;
  mt_layout v, w;
  bool fine = true;
  for (int k = 0; k < 2; k++) {
    int64_t i = last->p;
    for (int r = 0; r < both[k]->n; i /= both[k]->s[r++]) {
      as_vec(&d, x, both[k]->d[r]);
      fine = fine && add(x, &is, i % both[k]->s[r], &d);
    }
  }
  would = is;
  fine = fine && add(x, &would, -1, &last->e);
  if (!fine) return;
  as_value(&v, x, &is);
  as_value(&w, x, &would);
  mt_explain(x->err, "; at i = %lld the sum is %N, a layout would have %N",
             (long long)last->p, v.node, w.node);
}

static mt_status refuse (sum *x, const mt_flat *f, const mt_flat *g, int64_t size,
                         int k) {
  mt_failn(x->err, MT_EINEXACT,
           "%s: no layout R has R(i) = A(i) + B(i) for A = %N, B = %N\n  the "
           "modes of R would have to end at i = %lld and at i = %lld, and %lld does not "
           "divide %lld",
           x->op, x->a, x->b, (long long)x->bends[k - 1].p,
           (long long)(k < x->n ? x->bends[k].p : size), (long long)x->bends[k - 1].p,
           (long long)(k < x->n ? x->bends[k].p : size));
  if (k < x->n) show_witness(x, f, g, &x->bends[k]);
  return x->err->status;
}

static MT_APART mt_status emit (mt_layout *out, const sum *x, int64_t size) {
  mt_build b;
  mt_layout v;
  vec d = {{0}}, next;
  mt_begin(&b, out, x->op, x->err);
  bool flat = x->n > 0 && x->bends[0].p > 1; /* the first mode has stride 0 */
  int modes = x->n + flat;
  if (modes > 1) mt_open(&b, MT_MODES);
  for (int64_t k = -flat, p = 1, q, s = 0; k < x->n; k++, p = q) {
    q = k + 1 < x->n ? x->bends[k + 1].p : size;
    next = k < 0 ? d : x->bends[k].e;
    if (!add(x, &next, s, &d)) return overflow(x);
    as_value(&v, x, &next);
    mt_add_stride(&b, q / p, v.node);
    d = next;
    s = q / p;
  }
  if (modes == 0) mt_add_leaf(&b, size, 0);
  return mt_end(&b);
}

static mt_status add_layouts (sum *x, mt_layout *out, int64_t size) {
  mt_flat f, g;
  mt_flatten_coalesced(&f, x->a);
  mt_flatten_coalesced(&g, x->b);
  if (size == 0) f.n = g.n = 0;
  MT_TRY(add_axes(x, &f));
  MT_TRY(add_axes(x, &g));
  MT_TRY(add_bends(x, &f));
  MT_TRY(add_bends(x, &g));
  drop_zeros(x);
  for (int k = 1; k <= x->n; k++)
    if ((k < x->n ? x->bends[k].p : size) % x->bends[k - 1].p != 0)
      return refuse(x, &f, &g, size, k);
  return emit(out, x, size);
}

mt_status mt_layout_add (mt_layout *out, const mt_node *a, const mt_node *b,
                         mt_err *err) {
  sum x;
  MT_CHECK(mt_is_layout(a) && mt_is_layout(b), err, "layout_add: layouts expected");
  if (mt_is_swizzled(a) || mt_is_swizzled(b))
    return mt_failn(err, MT_EUNSUPPORTED, "layout_add: of the swizzled layout %N",
                    mt_is_swizzled(a) ? a : b);
  if (mt_size(a) != mt_size(b))
    return mt_failn(err, MT_ERANK, "layout_add: %N has %lld elements, %N has %lld", a,
                    (long long)mt_size(a), b, (long long)mt_size(b));
  if (mt_is_f2(a) || mt_is_f2(b)) return mt_f2_layout_add(out, a, b, err);
  memset(&x, 0, offsetof(sum, bends));
  x.op = "layout_add";
  x.a = a;
  x.b = b;
  x.err = err;
  return add_layouts(&x, out, mt_size(a));
}
