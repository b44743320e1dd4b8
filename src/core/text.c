/*
** text.c - the text form of values: the notation of the papers and of CuTe's print.
** SPDX-License-Identifier: MIT
*/
#include "core/build.h"
#include "core/strbuf.h"

static void put_int (mt_strbuf *k, int64_t v) {
  char s[24], *p = s + sizeof s - 1;
  uint64_t u = mt_magnitude(v);
  *p = '\0';
  do *--p = (char)('0' + u % 10);
  while (u /= 10);
  if (v < 0) *--p = '-';
  mt_put(k, p);
}

static void put_scalar (mt_strbuf *k, const mt_node *p, int64_t v) {
  if (p->ring == MT_F2) mt_put(k, "F");
  put_int(k, v);
  if (p->ring != MT_BASIS) return;
  for (int i = 0; i < p->path[MT_MAXPATH]; i++) {
    mt_put(k, "@");
    put_int(k, p->path[i]);
  }
}

static void put_sum (mt_strbuf *k, const mt_node *t) {
  for (const mt_node *c = mt_child(t); c < mt_next(t); c++) {
    if (c > mt_child(t)) mt_put(k, "+");
    put_scalar(k, c, c->shape);
  }
}

typedef void (*put_fn)(mt_strbuf *k, const mt_node *t);

static void put_children (mt_strbuf *k, const mt_node *t, put_fn f) {
  mt_put(k, "(");
  for (const mt_node *c = mt_child(t); c < mt_next(t); c = mt_next(c)) {
    if (c > mt_child(t)) mt_put(k, ",");
    f(k, c);
  }
  mt_put(k, ")");
}

static void put_shapes (mt_strbuf *k, const mt_node *t) {
  if (t->tag == MT_MODES) put_children(k, t, put_shapes);
  else put_int(k, t->shape);
}

static void put_strides (mt_strbuf *k, const mt_node *t) {
  if (t->tag == MT_MODES) put_children(k, t, put_strides);
  else if (t->tag == MT_SUM) put_sum(k, t);
  else put_scalar(k, t, t->stride);
}

static void put_swizzle (mt_strbuf *k, const mt_node *t) {
  mt_swizzle w = mt_swizzle_of(t);
  mt_put(k, "Sw<");
  put_int(k, w.b);
  mt_put(k, ",");
  put_int(k, w.m);
  mt_put(k, ",");
  put_int(k, w.s);
  mt_put(k, ">");
  if (t->arity == 0) return;
  mt_put(k, " o ");
  put_int(k, t->stride);
  mt_put(k, " o ");
}

static void put_value (mt_strbuf *k, const mt_node *t);

static void put_composed (mt_strbuf *k, const mt_node *t) {
  put_value(k, mt_outer(t));
  mt_put(k, t->ring == MT_F2 ? " o F" : " o ");
  put_int(k, t->stride);
  mt_put(k, " o ");
  put_value(k, mt_under(t));
}

/* All of a short list, the first of a long one. */
static void put_list (mt_strbuf *k, const mt_node *t) {
  enum { ALL = 16, SOME = 8 };
  int64_t n = t->shape > ALL ? SOME : t->shape;
  if (t->path[0] > 0) {
    mt_put(k, "(");
    put_int(k, INT64_C(1) << t->path[0]);
    mt_put(k, ",");
  }
  for (int64_t i = 0; i < n; i++) {
    mt_put(k, i == 0 ? "{" : ",");
    put_int(k, mt_list_values(t)[i]);
  }
  if (n < t->shape) {
    mt_put(k, ",... ");
    put_int(k, t->shape);
    mt_put(k, " values");
  }
  mt_put(k, t->path[0] > 0 ? "})" : "}");
}

static void put_value (mt_strbuf *k, const mt_node *t) {
  switch ((mt_tag)t->tag) {
    case MT_INT: put_scalar(k, t, t->shape); break;
    case MT_WILD: mt_put(k, "_"); break;
    case MT_TUPLE:
    case MT_TILER: put_children(k, t, put_value); break;
    case MT_SWIZZLE:
      put_swizzle(k, t);
      if (t->arity) put_value(k, mt_child(t));
      break;
    case MT_COMPOSED: put_composed(k, t); break;
    case MT_LIST: put_list(k, t); break;
    case MT_SUM:
      if (t->shape < 0) {
        put_sum(k, t);
        break;
      } /* fall through */
    case MT_LEAF:
    case MT_MODES:
      put_shapes(k, t);
      mt_put(k, ":");
      put_strides(k, t);
      break;
  }
}

size_t mt_format (char *buf, size_t size, const mt_node *t) {
  mt_strbuf k = {buf, size, 0};
  put_value(&k, t);
  return mt_put_end(&k);
}
