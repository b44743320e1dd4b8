/*
** tile.c - proofs of one tile: each place has its owners.
** SPDX-License-Identifier: MIT
**
** Modes of positive strides map one to one onto 0 .. T-1 exactly if, in the order of the
** strides, each stride is the product of the extents before it, and T is that of all. For
** what is below a stride, and only that, is left to the modes before it: the first stride
** that is smaller names a place with two owners, the first that is larger one with none.
*/
#include "core/build.h"
#include "verify/verify.h"

/* A mode of tv: extent n > 1, stride d; an index of it adds `place` to the number of the
** thread (mode 0) or of the value (mode 1). */
typedef struct mt_link {
  int64_t n, d, place;
  int mode;
} mt_link;

typedef struct mt_links {
  int n;
  mt_link link[MT_MAXNODES];
} mt_links;

static void add_links (mt_links *c, const mt_node *mode, int number) {
  int64_t place = 1;
  for (const mt_node *p = mt_leaf(mode, mode); p < mt_next(mode);
       p = mt_leaf(mode, mt_after(p))) {
    if (p->shape == 1) continue;
    c->link[c->n++] = (mt_link){p->shape, p->stride, place, number};
    place *= p->shape;
  }
}

static void add_index (mt_owner *o, const mt_link *l, int64_t index) {
  if (l->mode == 0) o->thread += index * l->place;
  else o->value += index * l->place;
}

static mt_owner first_of (const mt_link *l) {
  mt_owner o = {0, 0};
  add_index(&o, l, 1);
  return o;
}

/* Who has the place, by the first k links, which lie without a gap. */
static mt_owner owner_of (const mt_links *c, int k, int64_t place) {
  mt_owner o = {0, 0};
  while (k-- > 0) {
    add_index(&o, &c->link[k], place / c->link[k].d);
    place %= c->link[k].d;
  }
  return o;
}

/* ---------------------------------------------------------------- what is wrong */

static void wrong (mt_verdict *v, mt_problem p, int64_t index) {
  mt_doubt(v, p);
  v->index = index;
}

static void twice (mt_verdict *v, int64_t index, mt_owner a, mt_owner b) {
  bool ordered = a.thread < b.thread || (a.thread == b.thread && a.value < b.value);
  wrong(v, MT_TWICE, index);
  v->owners = 2;
  v->owner[0] = ordered ? a : b;
  v->owner[1] = ordered ? b : a;
}

static void outside (mt_verdict *v, int64_t index, mt_owner a) {
  wrong(v, MT_OUTSIDE, index);
  v->owners = 1;
  v->owner[0] = a;
}

/* ---------------------------------------------------------------- the proof */

/* Threads with stride 0 share what they have, where they may; other such modes are two
** owners of place 0. */
static bool take_broadcasts (mt_verdict *v, mt_links *c, bool shared) {
  int n = 0;
  for (int i = 0; i < c->n; i++) {
    const mt_link *l = &c->link[i];
    if (l->d != 0) {
      c->link[n++] = *l;
    } else if (shared && l->mode == 0) {
      v->broadcast *= l->n;
    } else {
      twice(v, 0, (mt_owner){0, 0}, first_of(l));
      return false;
    }
  }
  c->n = n;
  return true;
}

/* Strides below 0 lead below place 0. */
static bool ascends (mt_verdict *v, const mt_links *c) {
  mt_owner o = {0, 0};
  int64_t lowest = 0;
  for (const mt_link *l = c->link; l < c->link + c->n; l++) {
    if (l->d > 0) continue;
    add_index(&o, l, l->n - 1);
    lowest += (l->n - 1) * l->d;
  }
  if (lowest < 0) outside(v, lowest, o);
  return lowest == 0;
}

static void sort (mt_links *c) {
  for (int i = 1; i < c->n; i++) {
    mt_link l = c->link[i];
    int j = i;
    for (; j > 0 && c->link[j - 1].d > l.d; j--) c->link[j] = c->link[j - 1];
    c->link[j] = l;
  }
}

/* The first k links have the places 0 .. next-1, once each. */
static void follow (mt_verdict *v, const mt_links *c, int64_t places) {
  int64_t next = 1;
  int k = 0;
  while (k < c->n && c->link[k].d == next) next *= c->link[k++].n;
  int64_t d = k < c->n ? c->link[k].d : INT64_MAX;
  if (d < next && d < places) twice(v, d, owner_of(c, k, d), first_of(&c->link[k]));
  else if (next > places) outside(v, places, owner_of(c, k, places));
  else if (next < places) wrong(v, MT_GAP, next);
  else if (k < c->n) outside(v, d, first_of(&c->link[k]));
  else v->covers = true;
}

void mt_verify_tile (mt_verdict *v, const mt_claim *claim, int64_t places) {
  mt_links c = {.n = 0};
  v->threads = mt_size(mt_mode(claim->tv, 0));
  v->values = mt_size(mt_mode(claim->tv, 1));
  v->broadcast = 1;
  add_links(&c, mt_mode(claim->tv, 0), 0);
  add_links(&c, mt_mode(claim->tv, 1), 1);
  if (!take_broadcasts(v, &c, claim->shared) || !ascends(v, &c)) return;
  sort(&c);
  follow(v, &c, places);
}
