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
#include "algebra/collision.h"
#include "algebra/composed.h"
#include "algebra/tiles.h"

static mt_status gather (mt_image *x, const char *op, const mt_node *t, mt_err *err) {
  int64_t i, j, v;
  MT_TRY(mt_image_of(x, &i, &j, op, t, err));
  if (x->lo != 0)
    return mt_failn(err, MT_EINEXACT,
                    "%s: the values of %N are %lld .. %lld: a tile, or a block, begins "
                    "with 0",
                    op, t, (long long)x->lo, (long long)x->end - 1);
  if (i < 0) return MT_OK;
  MT_TRY(mt_number_at(&v, t, i, err));
  return mt_failn(err, MT_EINJECTIVE,
                  "%s: %N has elements twice: T(%lld) = T(%lld) = %lld", op, t,
                  (long long)i, (long long)j, (long long)v);
}

/* The least value from v on. */
static int64_t next_value (const mt_image *x, int64_t v) {
  while (v < x->end && !mt_image_has(x, v)) v++;
  return v;
}

static mt_status no_layout (const char *op, const mt_node *t, bool taken, int64_t v,
                            mt_err *err) {
  return mt_failn(err, MT_EINEXACT,
                  "%s: nothing fills what %N skips\n"
                  "  its values, in order, are those of no layout: %lld is %s of them",
                  op, t, (long long)v, taken ? "one" : "none");
}

/* The layout of ascending strides that has the values of x. */
static mt_status as_layout (mt_layout *out, const char *op, const mt_image *x,
                            const mt_node *t, mt_err *err) {
  mt_build b;
  int64_t n = mt_size(t), last = 0, v;
  mt_begin(&b, out, op, err);
  mt_open(&b, MT_MODES);
  for (int64_t left = n; left > 1 && b.status == MT_OK;) {
    int64_t d = next_value(x, last + 1), c = 2;
    while (c < left && mt_image_has(x, d * c)) c++;
    if (left % c != 0) return no_layout(op, t, mt_image_has(x, d * c), d * c, err);
    mt_add_leaf(&b, c, d);
    last += (c - 1) * d;
    left /= c;
  }
  MT_TRY(mt_end(&b));
  for (int64_t i = 0; i < n; i++) {
    MT_TRY(mt_at(&v, out->node, i, err));
    if (!mt_image_has(x, v)) return no_layout(op, t, false, v, err);
  }
  return MT_OK;
}

/* The links of t over its base and the rest beside it. False: that is not (T, T*). */
static bool under_links (mt_layout *out, const char *op, const mt_node *t,
                         const mt_node *rest) {
  enum { MAXVALUES = 1 << 14 };
  mt_build b;
  MT_NEWERR(err);
  int64_t n = mt_size(t), at, x, y;
  if (mt_size(rest) > MAXVALUES / n || !mt_is_integral(mt_base(t))) return false;
  mt_begin(&b, out, op, &err);
  mt_open_root(&b, t);
  mt_open(&b, MT_MODES);
  mt_add(&b, mt_base(t));
  mt_add(&b, rest);
  if (mt_end(&b) != MT_OK) return false;
  for (int64_t i = 0; i < n * mt_size(rest); i++)
    if (mt_number_at(&at, out->node, i, &err) || mt_number_at(&x, t, i % n, &err) ||
        mt_at(&y, rest, i / n, &err) || at != x + y)
      return false;
  return true;
}

mt_status mt_values_of (mt_layout *out, const char *op, const mt_node *t, mt_err *err) {
  mt_image x;
  if (!mt_has_numbers(t))
    return mt_failn(err, MT_EINVAL, "%s: the values of %N are no integers", op, t);
  if (mt_size(t) == 0) return mt_failn(err, MT_EINVAL, "%s: %N is empty", op, t);
  MT_TRY(gather(&x, op, t, err));
  return as_layout(out, op, &x, t, err);
}

bool mt_has_layout_links (const mt_node *a) {
  for (; mt_is_composed(a); a = mt_under(a))
    if (mt_outer(a)->tag != MT_SWIZZLE) return true;
  return false;
}

mt_status mt_complemented (const mt_node **out, mt_layout *room, const mt_node *a,
                           mt_err *err) {
  *out = mt_base(a);
  if (!mt_has_layout_links(a)) return MT_OK;
  *out = room->node;
  return mt_values_of(room, "complement", a, err);
}

mt_status mt_tile_of_function (mt_layout *out, const char *op, const mt_node *t,
                               int64_t bound, mt_err *err) {
  mt_layout values, rest, pair;
  bool fills;
  MT_TRY(mt_values_of(&values, op, t, err));
  MT_TRY(mt_renamed(op, mt_complement(&rest, &fills, values.node, bound, err), err));
  if (!fills)
    return mt_failn(err, MT_EINEXACT,
                    "%s: the tile %N and its complement %N leave gaps: they miss "
                    "offsets below %lld",
                    op, t, rest.node, (long long)bound);
  if (mt_is_integral(t) && under_links(out, op, t, rest.node)) return MT_OK;
  MT_TRY(mt_beside(&pair, op, rest.node, NULL, t, err));
  return mt_swap_modes(out, op, pair.node, err);
}
