/*
** order.c - integer tuples: by elements, lexicographic, colexicographic.
** SPDX-License-Identifier: MIT
*/
#include "moontile/tuple.h"
#include "tuple/tuple.h"

/* Two integers or two tuples; tuples of layouts and such are refused before. */
static mt_status same_kind (const mt_pair *p, const mt_node *x, const mt_node *y) {
  return x->tag == y->tag ? MT_OK : mt_ranks_differ(p, x, y);
}

/* Each integer of x below its partner in y, or not above it; y may have more modes. */
static mt_status below (bool *out, const mt_pair *p, const mt_node *x, const mt_node *y,
                        bool or_equal) {
  MT_TRY(same_kind(p, x, y));
  *out = x->tag == MT_INT ? x->shape < y->shape || (or_equal && x->shape == y->shape) :
                            x->arity <= y->arity;
  if (x->tag == MT_INT) return MT_OK;
  for (const mt_node *c = mt_child(x), *d = mt_child(y); *out && c < mt_next(x);
       c = mt_next(c), d = mt_next(d))
    MT_TRY(below(out, p, c, d, or_equal));
  return MT_OK;
}

/* *sign of x - y by the first difference, from the first mode on or from the last. Of two
** tuples where one is the other's beginning (end), the shorter comes before. */
static mt_status compare (int *sign, const mt_pair *p, const mt_node *x, const mt_node *y,
                          bool from_last) {
  MT_TRY(same_kind(p, x, y));
  *sign = (x->shape > y->shape) - (x->shape < y->shape);
  if (x->tag == MT_INT) return MT_OK;
  *sign = 0;
  int n = x->arity, m = y->arity;
  for (int i = 0; *sign == 0 && i < n && i < m; i++)
    MT_TRY(compare(sign, p, mt_mode(x, from_last ? n - 1 - i : i),
                   mt_mode(y, from_last ? m - 1 - i : i), from_last));
  if (*sign == 0) *sign = (n > m) - (n < m);
  return MT_OK;
}

static mt_status begin (mt_pair *p, const char *op, const mt_node *a, const mt_node *b,
                        mt_err *err) {
  *p = (mt_pair){op, a, b, err};
  MT_TRY(mt_want_integers(op, a, err));
  return mt_want_integers(op, b, err);
}

/* name          left right or equal */
#define ELEMENTS(X)                                                                      \
  X(elem_less, a, b, false)                                                              \
  X(elem_leq, a, b, true)                                                                \
  X(elem_gtr, b, a, false)                                                               \
  X(elem_geq, b, a, true)

#define ELEMENT(name, left, right, or_equal)                                             \
  mt_status mt_##name(bool *out, const mt_node *a, const mt_node *b, mt_err *err) {      \
    mt_pair p;                                                                           \
    MT_TRY(begin(&p, #name, left, right, err));                                          \
    return below(out, &p, left, right, or_equal);                                        \
  }
ELEMENTS(ELEMENT)

/* name          from_last answer */
#define ORDERS(X)                                                                        \
  X(lex_less, false, sign < 0)                                                           \
  X(lex_leq, false, sign <= 0)                                                           \
  X(lex_gtr, false, sign > 0)                                                            \
  X(lex_geq, false, sign >= 0)                                                           \
  X(colex_less, true, sign < 0)                                                          \
  X(colex_leq, true, sign <= 0)                                                          \
  X(colex_gtr, true, sign > 0)                                                           \
  X(colex_geq, true, sign >= 0)

#define ORDER(name, from_last, answer)                                                   \
  mt_status mt_##name(bool *out, const mt_node *a, const mt_node *b, mt_err *err) {      \
    mt_pair p;                                                                           \
    int sign;                                                                            \
    MT_TRY(begin(&p, #name, a, b, err));                                                 \
    MT_TRY(compare(&sign, &p, a, b, from_last));                                         \
    *out = answer;                                                                       \
    return MT_OK;                                                                        \
  }
ORDERS(ORDER)
