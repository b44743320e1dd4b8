/*
** views.c - random shapes and layouts of them.
** SPDX-License-Identifier: MIT
*/
#include "exec_test.h"
#include "text.h"

/* Extents that leave at most `room` elements. */
static int64_t extent (int64_t *room) {
  static const int likely[] = {1, 2, 2,  3,  4,  4,  5,  6,  7, 8,
                               8, 9, 12, 16, 17, 24, 32, 33, 64};
  int64_t n = likely[pick(sizeof likely / sizeof likely[0])];
  if (n > *room) n = between(1, *room);
  *room /= n;
  return n;
}

static void put_mode (text *t, int64_t *room, int depth) {
  int n = depth < 2 && pick(4) == 0 ? 1 + pick(3) : 0;
  if (n == 0) {
    put_int(t, extent(room));
    return;
  }
  put(t, "(");
  for (int i = 0; i < n; i++) {
    if (i) put(t, ",");
    put_mode(t, room, depth + 1);
  }
  put(t, ")");
}

void random_shape (mt_layout *out, int64_t size) {
  text t = {"", 0};
  int rank = 1 + pick(4);
  put(&t, "(");
  for (int i = 0; i < rank; i++) {
    if (i) put(&t, ",");
    put_mode(&t, &size, 0);
  }
  put(&t, ")");
  *out = parse(t.s);
}

/* ---------------------------------------------------------------- strides */

/* Permuted and padded: each stride passes all offsets that the ones before it reach. */
static void injective_strides (int64_t *d, const int64_t *s, int n) {
  int order[MT_MAXNODES];
  int64_t reach = 1 + (pick(4) == 0 ? pick(3) : 0);
  for (int i = 0; i < n; i++) order[i] = i;
  for (int i = n - 1, plain = pick(4); plain && i > 0; i--) {
    int j = plain == 1 ? n - 1 - i : pick(i + 1), k = order[i];
    if (plain == 1 && j >= i) break;
    order[i] = order[j];
    order[j] = k;
  }
  for (int i = 0; i < n; i++) {
    d[order[i]] = pick(8) == 0 ? -reach : reach;
    reach *= s[order[i]];
    if (pick(6) == 0) reach += between(0, 5);
  }
}

static void any_strides (int64_t *d, const int64_t *s, int n) {
  injective_strides(d, s, n);
  for (int i = 0; i < n; i++) {
    if (pick(4) == 0) d[i] = 0;
    else if (pick(6) == 0) d[i] = between(-9, 9);
  }
}

static void put_strides (text *t, const mt_node *s, const int64_t **d) {
  if (s->tag == MT_INT) {
    put_int(t, *(*d)++);
    return;
  }
  put(t, "(");
  for (const mt_node *c = mt_child(s); c < mt_next(s); c = mt_next(c)) {
    if (c > mt_child(s)) put(t, ",");
    put_strides(t, c, d);
  }
  put(t, ")");
}

void random_view (view *out, const mt_node *shape, bool injective) {
  int64_t s[MT_MAXNODES] = {0}, d[MT_MAXNODES], low = 0, high = 0;
  const int64_t *next = d;
  int n = 0;
  text t = {"", 0};
  for (const mt_node *p = shape; p < mt_next(shape); p++)
    if (p->tag == MT_INT) s[n++] = p->shape;
  if (injective) injective_strides(d, s, n);
  else any_strides(d, s, n);
  for (int i = 0; i < n; i++) *(d[i] < 0 ? &low : &high) += (s[i] - 1) * d[i];
  put_strides(&t, shape, &next);
  mt_layout strides = parse(t.s);
  MUST(mt_make_layout(&out->layout, shape, strides.node, err));
  out->offset = -low + (pick(3) == 0 ? pick(5) : 0);
  out->size = out->offset + high + 1 + (pick(4) == 0 ? pick(3) : 0);
}
