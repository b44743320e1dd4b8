/*
** bijection.c - layouts that number threads, values or places: what they must be.
** SPDX-License-Identifier: MIT
*/
#include "moontile/algebra.h"
#include "algebra/collision.h"
#include "algebra/composed.h"
#include "algebra/f2.h"
#include "tile/tile.h"

enum { MT_WITNESSED = 4096 };

mt_status mt_number_layout (const char *op, const char *name, const mt_node *a,
                            mt_err *err) {
  if (!mt_is_function(a) || !mt_has_numbers(a))
    return mt_failn(err, MT_EINVAL,
                    "%s: %s is not a layout of numbers: %N\n"
                    "  one such as (4,8):(8,1), swizzled or composed ones, too, are",
                    op, name, a);
  if (mt_size(a) < 1) return mt_failn(err, MT_EINVAL, "%s: %s %N is empty", op, name, a);
  return MT_OK;
}

/* Where `a` fails to give its elements the numbers 0 .. size - 1, one each. */
static MT_APART mt_status no_numbering (const char *op, const char *name,
                                        const char *what, const mt_node *a, mt_err *err) {
  int16_t first[MT_WITNESSED];
  int64_t size = mt_size(a), at;
  memset(first, -1, sizeof first);
  for (int i = 0; i < size && i < MT_WITNESSED; i++) {
    MT_TRY(mt_number_at(&at, a, i, err));
    if (at < 0 || at >= size)
      return mt_failn(err, MT_EINEXACT,
                      "%s: %s %N gives element %d the %s number %lld; "
                      "its %lld elements need the numbers 0 to %lld",
                      op, name, a, i, what, (long long)at, (long long)size,
                      (long long)size - 1);
    if (at < MT_WITNESSED && first[at] >= 0)
      return mt_failn(err, MT_EINJECTIVE,
                      "%s: %s %N gives elements %d and %d the same "
                      "%s number %lld",
                      op, name, a, (int)first[at], i, what, (long long)at);
    if (at < MT_WITNESSED) first[at] = (int16_t)i;
  }
  return mt_failn(err, MT_EINEXACT, "%s: %s %N does not number its elements 0 to %lld",
                  op, name, a, (long long)size - 1);
}

/* A function has each number, one by one: what undoes it may be none that is found. */
static MT_APART bool has_each (const mt_node *a) {
  mt_image x;
  int64_t i, j;
  MT_NEWERR(err);
  return mt_image_of(&x, &i, &j, "", a, &err) == MT_OK && i < 0 && x.lo == 0 &&
         x.end == mt_size(a);
}

mt_status mt_numbers_all (const char *op, const char *name, const char *what,
                          const mt_node *a, mt_err *err) {
  mt_layout inverse;
  if (mt_right_inverse(&inverse, a, err) == MT_OK && mt_size(inverse.node) == mt_size(a))
    return MT_OK;
  if (mt_is_more(a) && has_each(a)) return mt_forgive(err), MT_OK;
  return no_numbering(op, name, what, a, err);
}

/* Without broadcasts, and with a complement: no two elements have one number. */
static MT_APART bool is_injective (const mt_node *a) {
  mt_layout rest;
  MT_NEWERR(err);
  if (a->tag >= MT_SWIZZLE || mt_is_f2(a)) return false;
  for (const mt_node *p = a; p < mt_next(a); p++)
    if (p->tag == MT_LEAF && p->shape > 1 && p->stride == 0) return false;
  return mt_complement(&rest, NULL, a, 1, &err) == MT_OK;
}

/* The first of the elements before k with the number that k has, k: there is none. Of the
** numbers before, `low` has a byte each. */
static mt_status find_number (int64_t *l, uint8_t *low, int64_t k, const mt_node *a,
                              mt_err *err) {
  int64_t number, other;
  MT_TRY(mt_number_at(&number, a, k, err));
  low[k] = (uint8_t)(number ^ number >> 8);
  for (*l = 0; *l < k; ++*l) {
    const uint8_t *p = memchr(low + *l, low[k], (size_t)(k - *l + 1));
    *l = p - low;
    MT_TRY(mt_number_at(&other, a, *l, err));
    if (other == number) break;
  }
  return MT_OK;
}

mt_status mt_same_number (int64_t *i, int64_t *j, const mt_node *a, mt_err *err) {
  uint8_t low[MT_WITNESSED];
  int64_t n = mt_size(a) < MT_WITNESSED ? mt_size(a) : MT_WITNESSED;
  *i = *j = -1;
  if (is_injective(a)) return MT_OK;
  for (int64_t k = 0, l; k < n; k++) {
    MT_TRY(find_number(&l, low, k, a, err));
    if (l < k) return *i = l, *j = k, MT_OK;
  }
  return MT_OK;
}
