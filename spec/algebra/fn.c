/*
** fn.c - layouts as functions, from their nodes alone.
** SPDX-License-Identifier: MIT
*/
#include "property.h"

int leaves_of (const mt_node **leaf, const mt_node *a) {
  int n = 0;
  for (const mt_node *p = a; p < mt_next(a); p += p->tag == MT_SUM ? p->span : 1)
    if (p->tag == MT_LEAF || p->tag == MT_SUM) leaf[n++] = p;
  return n;
}

static bool on_path (const mt_node *p, const mt_node *path) {
  if (path == NULL) return p->ring == MT_Z;
  return p->ring == path->ring && memcmp(p->path, path->path, sizeof p->path) == 0;
}

/* The part of a leaf's stride on a path. */
static int64_t part (const mt_node *p, const mt_node *path) {
  int64_t d = 0;
  if (p->tag == MT_LEAF) return on_path(p, path) ? p->stride : 0;
  for (const mt_node *c = mt_child(p); c < mt_next(p); c++)
    if (on_path(c, path)) d += c->shape;
  return d;
}

void fn_of (fn *f, const mt_node *a, const mt_node *path) {
  const mt_node *leaf[MT_MAXNODES];
  memset(f, 0, offsetof(fn, s));
  f->composed = a->tag == MT_COMPOSED;
  if (f->composed) mt_copy_value(&f->whole, a);
  while (a->tag == MT_COMPOSED) a = mt_next(mt_child(a));
  f->swizzled = a->tag == MT_SWIZZLE;
  if (f->swizzled) {
    f->b = (int)(a->shape & 255);
    f->m = (int)(a->shape >> 8 & 255);
    f->sh = (int8_t)(a->shape >> 16 & 255);
    f->offset = a->stride;
    a = mt_child(a);
  }
  f->n = leaves_of(leaf, a);
  f->f2 = false;
  for (int i = 0; i < f->n; i++) {
    f->s[i] = leaf[i]->shape;
    f->f2 = f->f2 || (path == NULL && leaf[i]->ring == MT_F2);
    f->d[i] =
        path == NULL && leaf[i]->ring == MT_F2 ? leaf[i]->stride : part(leaf[i], path);
  }
}

/* By bits: bit M+k is flipped by bit M+k+S (S < 0: bit M-S+k by bit M+k). */
static int64_t swizzle (const fn *f, int64_t i) {
  int64_t r = i;
  for (int k = 0; k < f->b; k++) {
    int from = f->sh >= 0 ? f->m + k + f->sh : f->m + k;
    int to = f->sh >= 0 ? f->m + k : f->m + k - f->sh;
    if (i >> from & 1) r ^= INT64_C(1) << to;
  }
  return r;
}

static int64_t carryless (int64_t a, int64_t b) {
  int64_t sum = 0;
  for (int j = 0; j < 31; j++)
    if (a >> j & 1) sum ^= b << j;
  return sum;
}

static int64_t f2_value (const fn *f, int64_t i) {
  int64_t sum = 0;
  for (int k = 0; k < f->n; k++) {
    if (f->s[k] == 0) continue;
    sum ^= carryless(k == f->n - 1 ? i : i % f->s[k], f->d[k]);
    i /= f->s[k];
  }
  return sum;
}

/* f(offset + A(i)), link by link. */
static int64_t composed_at (const mt_node *t, int64_t i) {
  fn w;
  if (t->tag != MT_COMPOSED) return value_of(t, i);
  const mt_node *f = mt_child(t);
  int64_t v = composed_at(mt_next(f), i);
  v = t->ring == MT_F2 ? v ^ t->stride : v + t->stride;
  if (f->tag != MT_SWIZZLE || f->arity > 0) return value_of(f, v);
  w.b = (int)(f->shape & 255);
  w.m = (int)(f->shape >> 8 & 255);
  w.sh = (int8_t)(f->shape >> 16 & 255);
  return swizzle(&w, v);
}

/* Below 0 each digit has the sign of i. */
int64_t fn_at (const fn *f, int64_t i) {
  if (f->composed) return composed_at(f->whole.node, i);
  if (f->f2) return f2_value(f, i);
  int64_t sum = f->swizzled ? f->offset : 0;
  for (int k = 0; k + 1 < f->n; k++) {
    if (f->s[k] == 0) continue;
    sum += i % f->s[k] * f->d[k];
    i /= f->s[k];
  }
  if (f->n > 0) sum += i * f->d[f->n - 1];
  return f->swizzled ? swizzle(f, sum) : sum;
}

int64_t fn_size (const fn *f) {
  int64_t n = 1;
  for (int k = 0; k < f->n; k++) n *= f->s[k];
  return n;
}

int64_t value_of (const mt_node *a, int64_t i) {
  fn f;
  fn_of(&f, a, NULL);
  return fn_at(&f, i);
}

static int add_path (const mt_node **path, int n, const mt_node *p) {
  if (p->ring != MT_BASIS) return n;
  for (int i = 0; i < n; i++)
    if (on_path(p, path[i])) return n;
  path[n] = p;
  return n + 1;
}

int paths_of (const mt_node **path, const mt_node *a) {
  int n = 0;
  for (const mt_node *p = a; p < mt_next(a); p++) n = add_path(path, n, p);
  return n;
}

int64_t least (const mt_node *a) {
  fn f;
  int64_t sum = 0;
  fn_of(&f, a, NULL);
  for (int k = 0; k < f.n; k++)
    if (f.d[k] < 0 && f.s[k] > 0) sum += (f.s[k] - 1) * f.d[k];
  return sum;
}

static bool composes (const mt_node *r, const mt_node *a, const mt_node *b,
                      const mt_node *path) {
  fn fr, fa, fb;
  fn_of(&fr, r, path);
  fn_of(&fa, a, path);
  fn_of(&fb, b, NULL);
  int64_t n = fn_size(&fb);
  if (fn_size(&fr) != n) return false;
  for (int64_t i = 0; i < n; i++)
    if (fn_at(&fr, i) != fn_at(&fa, fn_at(&fb, i))) return false;
  return true;
}

bool is_composition (const mt_node *r, const mt_node *a, const mt_node *b) {
  const mt_node *path[MT_MAXNODES];
  int n = paths_of(path, a);
  for (int k = 0; k < n; k++)
    if (!composes(r, a, b, path[k])) return false;
  return composes(r, a, b, NULL);
}

bool refines (const mt_node *r, const mt_node *b) {
  while (r->tag == MT_COMPOSED) r = mt_next(mt_child(r));
  if (r->tag == MT_SWIZZLE && r->arity > 0) r = mt_child(r);
  if (b->tag != MT_MODES) return r->shape == b->shape;
  if (r->tag != MT_MODES || r->arity != b->arity) return false;
  const mt_node *m = mt_child(r);
  for (const mt_node *c = mt_child(b); c < mt_next(b); c = mt_next(c), m = mt_next(m))
    if (!refines(m, c)) return false;
  return true;
}

/* v[0 .. n-1] as a shape:stride, any factorisation. */
static bool factors (const int64_t *v, int64_t step, int64_t n) {
  if (n <= 1) return true;
  for (int64_t m = 2; m <= n; m++) {
    bool ok = n % m == 0;
    for (int64_t c = 0; c < n && ok; c++)
      ok = v[c * step] == v[(c % m == 0 ? 0 : c % m) * step] + v[(c - c % m) * step];
    for (int64_t c = 0; c < m && ok; c++) ok = v[c * step] == c * v[step];
    if (ok && factors(v, step * m, n / m)) return true;
  }
  return false;
}

bool has_composition (const mt_node *a, const mt_node *b) {
  static int64_t v[MAXSIZE];
  fn fa, fb;
  fn_of(&fa, a, NULL);
  fn_of(&fb, b, NULL);
  int64_t size = fn_size(&fb), part[MT_MAXNODES];
  if (size > MAXSIZE || size == 0) return size == 0;
  for (int k = 0; k < fb.n; k++) {
    for (int64_t c = 0; c < fb.s[k]; c++) v[c] = fn_at(&fa, c * fb.d[k]);
    if (!factors(v, 1, fb.s[k])) return false;
  }
  for (int64_t i = 0; i < size; i++) {
    int64_t sum = 0, rest = i, at = 0;
    for (int k = 0; k < fb.n; k++) {
      part[k] = rest % fb.s[k];
      rest /= fb.s[k];
      sum += fn_at(&fa, part[k] * fb.d[k]);
      at += part[k] * fb.d[k];
    }
    if (fn_at(&fa, at) != sum) return false;
  }
  return true;
}
