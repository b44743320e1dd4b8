/*
** random.c - random values, built node by node.
** SPDX-License-Identifier: MIT
*/
#include "property.h"
#include "splitmix64.h"

uint64_t random64 (ctx *x) { return splitmix64(&x->state); }
int pick (ctx *x, int n) { return (int)(random64(x) % (uint64_t)n); }
bool chance (ctx *x, int n) { return pick(x, n) == 0; }
int64_t between (ctx *x, int64_t lo, int64_t hi) {
  return lo + (int64_t)(random64(x) % (uint64_t)(hi - lo + 1));
}

/* ---- node by node */

void pen_leaf (pen *p, int64_t s, int64_t d) {
  mt_node *t = pen_push(p, MT_LEAF);
  t->shape = s;
  t->stride = d;
}

void pen_int (pen *p, int64_t v) { pen_push(p, MT_INT)->shape = v; }
void pen_tag (pen *p, mt_tag tag) { pen_push(p, tag); }

void pen_copy (pen *p, const mt_node *t) {
  memcpy(&p->out->node[p->n], t, t->span * sizeof *t);
  p->n += (int)t->span;
}

int pen_open (pen *p, mt_tag tag) {
  pen_push(p, tag);
  return p->n - 1;
}

void pen_close (pen *p, int at, int arity) {
  mt_node *t = &p->out->node[at];
  t->arity = (uint16_t)arity;
  t->span = (uint32_t)(p->n - at);
  if (t->tag != MT_MODES) return;
  t->shape = 1;
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c))
    t->shape *= c->shape;
}

/* ---- layouts */

typedef struct forest {
  ctx *x;
  pen p;
  int64_t left;
  int leaves;
} forest;

static void grow (forest *f, int depth) {
  ctx *x = f->x;
  if (depth == 0 || f->leaves >= 8 || !chance(x, 3)) {
    int64_t s = chance(x, 400) ? 0 : between(x, 1, 6);
    if (s > f->left) s = 1;
    if (s > 0) f->left /= s;
    f->leaves++;
    pen_leaf(&f->p, s, 0);
    return;
  }
  int n = chance(x, 30) ? 0 : 1 + pick(x, 3), at = pen_open(&f->p, MT_MODES);
  for (int i = 0; i < n; i++) grow(f, depth - 1);
  pen_close(&f->p, at, n);
}

static void shuffle (ctx *x, int *order, int n) {
  for (int i = 0; i < n; i++) order[i] = i;
  for (int i = n - 1; i > 0; i--) {
    int j = pick(x, i + 1), t = order[i];
    order[i] = order[j];
    order[j] = t;
  }
}

/* Compact in some order, with gaps now and then. */
static void compact (ctx *x, mt_node **leaf, int n, bool natural, bool gaps) {
  int order[MT_MAXNODES];
  int64_t run = 1;
  shuffle(x, order, n);
  for (int i = 0; i < n; i++) {
    mt_node *p = leaf[natural ? i : order[i]];
    p->stride = run;
    run *= p->shape > 0 ? p->shape : 1;
    if (gaps && chance(x, 3))
      run = chance(x, 2) ? run * between(x, 1, 3) : run + pick(x, 4);
  }
}

static int own_leaves (mt_node **leaf, mt_layout *l) {
  int n = 0;
  for (mt_node *p = l->node; p < l->node + l->node[0].span; p++)
    if (p->tag == MT_LEAF) leaf[n++] = p;
  return n;
}

void random_layout (ctx *x, mt_layout *out, int64_t size, strides how) {
  forest f = {x, {out, 0}, size, 0};
  mt_node *leaf[MT_MAXNODES];
  int rank = chance(x, 60) ? 0 : 1 + pick(x, 4), kind = pick(x, 6);
  if (chance(x, 4)) {
    grow(&f, 0);
  } else {
    int at = pen_open(&f.p, MT_MODES);
    for (int i = 0; i < rank; i++) grow(&f, 2);
    pen_close(&f.p, at, rank);
  }
  int n = own_leaves(leaf, out);
  if (how == NATURAL) {
    compact(x, leaf, n, true, false);
  } else if (how == COMPACT || kind < 3) {
    compact(x, leaf, n, kind == 0, kind == 1 || kind == 3);
  } else {
    for (int i = 0; i < n; i++)
      leaf[i]->stride =
          kind == 3 ? between(x, -12, 20) : between(x, 0, kind == 4 ? 8 : 40);
  }
  for (int i = 0; i < n && how == ANY_STRIDES; i++)
    if (chance(x, 12)) leaf[i]->stride = 0;
}

/* A product of leading extents of a, perhaps of a part of the next. */
static int64_t cut (ctx *x, const mt_node *a) {
  const mt_node *leaf[MT_MAXNODES];
  int n = leaves_of(leaf, a), k = n ? pick(x, n + 1) : 0;
  int64_t d = 1;
  for (int i = 0; i < k; i++) d *= leaf[i]->shape > 0 ? leaf[i]->shape : 1;
  if (k < n && leaf[k]->shape > 1 && chance(x, 2)) {
    int64_t t = between(x, 1, leaf[k]->shape);
    if (leaf[k]->shape % t == 0) d *= t;
  }
  return d;
}

void random_right (ctx *x, mt_layout *out, const mt_node *a, int64_t size) {
  mt_node *leaf[MT_MAXNODES];
  random_layout(x, out, size, chance(x, 2) ? COMPACT : ANY_STRIDES);
  if (chance(x, 3)) return;
  int n = own_leaves(leaf, out);
  for (int i = 0; i < n; i++)
    if (!chance(x, 4)) leaf[i]->stride = cut(x, a);
}

static void tiler (ctx *x, pen *p, const mt_node *a, bool wild, int depth) {
  mt_layout t;
  int kind = pick(x, 8);
  if (wild && kind == 0) {
    pen_tag(p, MT_WILD);
  } else if (kind < 4 || p->n > 40) {
    pen_int(p, chance(x, 3) ? between(x, 1, 8) : cut(x, a) % 64 + (cut(x, a) % 64 == 0));
  } else if (kind < 6 && a->tag == MT_MODES && depth > 0) {
    int n = a->arity ? pick(x, a->arity) + 1 : 0, at = pen_open(p, MT_TILER);
    const mt_node *m = mt_child(a);
    for (int i = 0; i < n; i++, m = mt_next(m)) tiler(x, p, m, wild, depth - 1);
    pen_close(p, at, n);
  } else {
    random_right(x, &t, a, 24);
    if (p->n + (int)t.node[0].span > MT_MAXNODES - 8) pen_int(p, 2);
    else pen_copy(p, t.node);
  }
}

void random_tiler (ctx *x, mt_layout *out, const mt_node *a, bool wild) {
  pen p = {out, 0};
  int rank = a->tag == MT_MODES ? a->arity : 1, n = rank ? 1 + pick(x, rank) : 0;
  int at = pen_open(&p, MT_TILER);
  const mt_node *m = a->tag == MT_MODES ? mt_child(a) : a;
  if (chance(x, 50)) n++;
  for (int i = 0; i < n; i++) {
    tiler(x, &p, i < rank ? m : a, wild, 1);
    if (i < rank) m = mt_next(m);
  }
  pen_close(&p, at, n);
}

static void coord (ctx *x, pen *p, const mt_node *a, bool wild) {
  if (wild && chance(x, 3)) {
    pen_tag(p, MT_WILD);
  } else if (a->tag == MT_MODES && !chance(x, 4)) {
    int at = pen_open(p, MT_TUPLE);
    for (const mt_node *c = mt_child(a); c < mt_next(a); c = mt_next(c))
      coord(x, p, c, wild);
    pen_close(p, at, a->arity);
  } else {
    pen_int(p, between(x, 0, a->shape > 0 ? a->shape - 1 : 0));
  }
}

void random_coord (ctx *x, mt_layout *out, const mt_node *a, bool wild) {
  pen p = {out, 0};
  coord(x, &p, a, wild);
}

/* ---- other kinds */

static void basis (mt_node *t, uint8_t *path, int depth) {
  if (t->tag == MT_LEAF) {
    t->stride = 1;
    t->ring = depth > 0 ? MT_BASIS : MT_Z;
    for (int i = 0; i < depth && i < MT_MAXPATH; i++) t->path[i] = path[depth - 1 - i];
    t->path[MT_MAXPATH] = (uint8_t)depth;
    return;
  }
  path[depth] = 0;
  for (mt_node *c = t + 1; c < t + t->span; c += c->span, path[depth]++)
    basis(c, path, depth + 1);
}

void identity_of (mt_layout *out, const mt_node *t) {
  uint8_t path[8] = {0};
  mt_copy_value(out, t);
  basis(out->node, path, 0);
}

void basis_of (ctx *x, mt_layout *out, const mt_node *t) {
  static const uint8_t paths[4][8] = {{0, 0, 0, 0, 0, 0, 0, 1},
                                      {1, 0, 0, 0, 0, 0, 0, 1},
                                      {0, 2, 0, 0, 0, 0, 0, 2},
                                      {1, 2, 0, 0, 0, 0, 0, 2}};
  mt_node *leaf[MT_MAXNODES];
  int64_t run = 1;
  int n, axis = pick(x, 4);
  mt_copy_value(out, t);
  n = own_leaves(leaf, out);
  for (int i = 0; i < n; i++) {
    if (chance(x, 3)) axis = pick(x, 4);
    if (chance(x, 6)) run = between(x, 1, 6);
    leaf[i]->stride = chance(x, 12) ? 0 : run;
    leaf[i]->ring = leaf[i]->stride ? MT_BASIS : MT_Z;
    memcpy(leaf[i]->path, paths[axis], leaf[i]->stride ? 8 : 0);
    if (leaf[i]->shape > 0) run *= leaf[i]->shape;
  }
}

void swizzled_of (ctx *x, mt_layout *out, const mt_node *t) {
  int b = pick(x, 4), m = pick(x, 4), s = b + pick(x, 3);
  if (s > 0 && chance(x, 4)) s = -s;
  pen p = {out, 0};
  int at = pen_open(&p, MT_SWIZZLE);
  pen_copy(&p, t);
  pen_close(&p, at, 1);
  out->node[0].shape = b | m << 8 | (s & 255) << 16;
  out->node[0].stride = chance(x, 2) ? 0 : between(x, 0, 64);
}
