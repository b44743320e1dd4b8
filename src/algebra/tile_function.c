/*
** tile_function.c - tiles that are swizzled, over F2 or composed, with what they leave.
** SPDX-License-Identifier: MIT
**
** A set of integers that, with copies of it at the values of a layout, fills a range is
** the set of the values of a layout, the strides of which ascend: two that fill a range
** are the digits of one numbering, by turns. Its first mode is the run of equal steps
** from 0 on; the next begins with the least value behind that, and so on.
*/
#include "moontile/algebra.h"
#include "moontile/swizzle.h"
#include "algebra/composed.h"
#include "algebra/tiles.h"

enum { RANGE = 1 << 16 };

typedef struct image {
  const mt_node *t;
  int64_t end; /* one more than the largest value */
  uint64_t seen[RANGE / 64];
} image;

static bool has (const image *x, int64_t v) {
  return v < x->end && (x->seen[v / 64] >> v % 64 & 1) != 0;
}

/* The index before i at which t is v, too. */
static int64_t index_of (const mt_node *t, int64_t v, int64_t i) {
  int64_t w;
  MT_NEWERR(err);
  for (int64_t j = 0; j < i; j++)
    if (mt_number_at(&w, t, j, &err) == MT_OK && w == v) return j;
  return -1;
}

static mt_status gather (image *x, const char *op, const mt_node *t, mt_err *err) {
  int64_t lo, v;
  x->t = t;
  MT_TRY(mt_number_range(&lo, &x->end, op, t, err));
  if (lo != 0 || x->end > RANGE)
    return mt_failn(err, lo != 0 ? MT_EINEXACT : MT_EUNSUPPORTED,
                    "%s: the values of the tile %N are %lld .. %lld: they have to begin "
                    "with 0 and to be below %d",
                    op, t, (long long)lo, (long long)x->end - 1, (int)RANGE);
  memset(x->seen, 0, sizeof x->seen);
  for (int64_t i = 0; i < mt_size(t); i++) {
    MT_TRY(mt_number_at(&v, t, i, err));
    if (has(x, v))
      return mt_failn(err, MT_EINJECTIVE,
                      "%s: the tile %N has elements twice: T(%lld) = T(%lld) = %lld", op,
                      t, (long long)index_of(t, v, i), (long long)i, (long long)v);
    x->seen[v / 64] |= UINT64_C(1) << v % 64;
  }
  return MT_OK;
}

/* The least value from v on. */
static int64_t next_value (const image *x, int64_t v) {
  while (v < x->end && !has(x, v)) v++;
  return v;
}

static mt_status no_layout (const char *op, const image *x, int64_t v, mt_err *err) {
  return mt_failn(err, MT_EINEXACT,
                  "%s: nothing fills what the tile %N skips\n"
                  "  its values, in order, are those of no layout: %lld is %s of them",
                  op, x->t, (long long)v, has(x, v) ? "one" : "none");
}

/* The layout of ascending strides that has the values of x. */
static mt_status as_layout (mt_layout *out, const char *op, const image *x, mt_err *err) {
  mt_build b;
  int64_t n = mt_size(x->t), last = 0, v;
  mt_begin(&b, out, op, err);
  mt_open(&b, MT_MODES);
  for (int64_t left = n; left > 1 && b.status == MT_OK;) {
    int64_t d = next_value(x, last + 1), c = 2;
    while (c < left && has(x, d * c)) c++;
    if (left % c != 0) return no_layout(op, x, d * c, err);
    mt_add_leaf(&b, c, d);
    last += (c - 1) * d;
    left /= c;
  }
  MT_TRY(mt_end(&b));
  for (int64_t i = 0; i < n; i++) {
    MT_TRY(mt_at(&v, out->node, i, err));
    if (!has(x, v)) return no_layout(op, x, v, err);
  }
  return MT_OK;
}

mt_status mt_tile_of_function (mt_layout *out, const char *op, const mt_node *t,
                               int64_t bound, mt_err *err) {
  image x;
  mt_layout values, rest, pair;
  bool fills;
  if (!mt_has_numbers(t))
    return mt_failn(err, MT_EINVAL, "%s: the values of the tile %N are no integers", op,
                    t);
  if (mt_size(t) == 0) return mt_failn(err, MT_EINVAL, "%s: the tile %N is empty", op, t);
  MT_TRY(gather(&x, op, t, err));
  MT_TRY(as_layout(&values, op, &x, err));
  MT_TRY(mt_renamed(op, mt_complement(&rest, &fills, values.node, bound, err), err));
  if (!fills)
    return mt_failn(err, MT_EINEXACT,
                    "%s: the tile %N and its complement %N leave gaps: they miss "
                    "offsets below %lld",
                    op, t, rest.node, (long long)bound);
  MT_TRY(mt_beside(&pair, op, rest.node, NULL, t, err));
  return mt_swap_modes(out, op, pair.node, err);
}
