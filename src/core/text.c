/*
** text.c - the text form of values: the notation of the papers and of CuTe's print.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "core/build.h"

typedef struct sink {
  char *p;
  size_t size, n;      /* n counts what would have been written */
} sink;

static void put (sink *k, const char *s) {
  for (; *s; s++, k->n++)
    if (k->n + 1 < k->size) k->p[k->n] = *s;
}

static void put_int (sink *k, int64_t v) {
  char s[24];
  snprintf(s, sizeof s, "%lld", (long long)v);
  put(k, s);
}

static void put_scalar (sink *k, const mt_node *p, int64_t v) {
  if (p->ring == MT_F2) put(k, "F");
  put_int(k, v);
  if (p->ring != MT_BASIS) return;
  for (int i = 0; i < p->path[MT_MAXPATH]; i++) {
    put(k, "@");
    put_int(k, p->path[i]);
  }
}

static void put_sum (sink *k, const mt_node *t) {
  for (const mt_node *c = mt_child(t); c < mt_next(t); c++) {
    if (c > mt_child(t)) put(k, "+");
    put_scalar(k, c, c->shape);
  }
}

typedef void (*put_fn) (sink *k, const mt_node *t);

static void put_children (sink *k, const mt_node *t, put_fn f) {
  put(k, "(");
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c)) {
    if (c > mt_child(t)) put(k, ",");
    f(k, c);
  }
  put(k, ")");
}

static void put_shapes (sink *k, const mt_node *t) {
  if (t->tag == MT_MODES) put_children(k, t, put_shapes);
  else put_int(k, t->shape);
}

static void put_strides (sink *k, const mt_node *t) {
  if (t->tag == MT_MODES) put_children(k, t, put_strides);
  else if (t->tag == MT_SUM) put_sum(k, t);
  else put_scalar(k, t, t->stride);
}

static void put_swizzle (sink *k, const mt_node *t) {
  mt_swizzle w = mt_swizzle_of(t);
  char s[48];
  snprintf(s, sizeof s, "Sw<%d,%d,%d>", w.b, w.m, w.s);
  put(k, s);
  if (t->arity == 0) return;
  put(k, " o ");
  put_int(k, t->stride);
  put(k, " o ");
}

static void put_value (sink *k, const mt_node *t) {
  switch ((mt_tag)t->tag) {
    case MT_INT: put_scalar(k, t, t->shape); break;
    case MT_WILD: put(k, "_"); break;
    case MT_TUPLE:
    case MT_TILER: put_children(k, t, put_value); break;
    case MT_SWIZZLE:
      put_swizzle(k, t);
      if (t->arity) put_value(k, mt_child(t));
      break;
    case MT_SUM:
      if (t->shape < 0) {
        put_sum(k, t);
        break;
      } /* fall through */
    case MT_LEAF:
    case MT_MODES:
      put_shapes(k, t);
      put(k, ":");
      put_strides(k, t);
      break;
  }
}

size_t mt_format (char *buf, size_t size, const mt_node *t) {
  sink k = {buf, size, 0};
  put_value(&k, t);
  if (size > 0) buf[k.n < size ? k.n : size - 1] = 0;
  return k.n;
}
