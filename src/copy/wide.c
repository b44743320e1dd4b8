/*
** wide.c - the accesses of a tiled copy whose threads and values a function numbers: as
** wide as its atom, or not.
** SPDX-License-Identifier: MIT
**
** What such a copy moves is moved without it; that its accesses can be had is looked at
** here. A tile begins at offsets that have strides, what is in it is read place by place:
** the values of an access follow each other, the first at a multiple of their number, and
** tiles are multiples of it apart. A swizzle keeps 2^M elements together, as in
** vectorize.c.
*/
#include <stdio.h>

#include "moontile/algebra.h"
#include "core/build.h"
#include "copy/copy.h"

static const char *const side_name[] = {"src", "dst"};

#define SAY(x, ...) snprintf((x)->why, MT_REASON, __VA_ARGS__)
#define BECAUSE(x, ...) (SAY(x, __VA_ARGS__), false)

/* (Thr,Val,Rest) of one side, and why its accesses are not of n elements. */
typedef struct mt_wide {
  const mt_tensor *t;
  const char *name;
  mt_layout part, rest;
  int64_t threads, values;
  char why[MT_REASON];
} mt_wide;

static mt_status begin (mt_wide *x, const mt_tiled_copy *copy, mt_copy_side side,
                        const mt_tensor *t, mt_err *err) {
  mt_layout divided;
  const mt_node *a = mt_inner(t->layout);
  x->t = t;
  x->name = side_name[side];
  x->threads = mt_tiled_copy_size(copy);
  x->values = mt_tiled_copy_values(copy);
  MT_TRY(mt_copy_tidfrg(&x->part, copy, side, a, err));
  MT_TRY(mt_zipped_divide(&divided, a, copy->tiler.node, err));
  mt_copy_value(&x->rest, mt_mode(divided.node, 1));
  return MT_OK;
}

static bool begins_well (mt_wide *x, int64_t n) {
  const mt_node *a = x->t->layout;
  const uint64_t elem = mt_dtype_size(x->t->dtype), width = (uint64_t)n * elem;
  uint64_t at = (uint64_t)(uintptr_t)x->t->data + (uint64_t)x->t->offset * elem;
  if (at % width)
    return BECAUSE(x, "%s begins %d bytes past a multiple of %d bytes", x->name,
                   (int)(at % width), (int)width);
  if (!mt_is_swizzled(a)) return true;
  const mt_swizzle w = mt_swizzle_of(a);
  if (w.b > 0 && n > INT64_C(1) << w.m)
    return BECAUSE(x, "the swizzle of %s keeps %lld element%s together", x->name,
                   1LL << w.m, w.m ? "s" : "");
  if (a->stride % n == 0) return true;
  return BECAUSE(
      x, "the offset under the swizzle of %s, %lld, is no multiple of %d elements",
      x->name, (long long)a->stride, (int)n);
}

static bool tiles_divide (mt_wide *x, int64_t n) {
  const mt_node *r = x->rest.node;
  for (const mt_node *p = r; p < mt_next(r); p++)
    if (p->tag == MT_LEAF && p->shape > 1 && p->stride % n)
      return BECAUSE(x, "tiles of %s are %lld apart, not a multiple of %d elements",
                     x->name, (long long)p->stride, (int)n);
  return true;
}

/* Values v to v + n - 1 of a thread. */
static mt_status is_run (bool *run, mt_wide *x, int64_t thread, int64_t v, int64_t n,
                         mt_err *err) {
  int64_t first, next;
  MT_TRY(mt_at(&first, x->part.node, thread + x->threads * v, err));
  *run = first % n == 0;
  if (!*run)
    SAY(x, "value %lld of thread %lld of %s is at %lld, no multiple of %d", (long long)v,
        (long long)thread, x->name, (long long)first, (int)n);
  for (int64_t k = 1; *run && k < n; k++) {
    MT_TRY(mt_at(&next, x->part.node, thread + x->threads * (v + k), err));
    *run = next == first + k;
    if (!*run)
      SAY(x, "values %lld and %lld of thread %lld of %s are at %lld and %lld",
          (long long)(v + k - 1), (long long)(v + k), (long long)thread, x->name,
          (long long)(first + k - 1), (long long)next);
  }
  return MT_OK;
}

static mt_status is_wide (bool *wide, mt_wide *x, int64_t n, mt_err *err) {
  int64_t spent = 0;
  *wide = begins_well(x, n) && tiles_divide(x, n);
  for (int64_t t = 0; *wide && t < x->threads; t++)
    for (int64_t v = 0; *wide && v < x->values; v += n) {
      if (mt_stopped_after(&spent, 200 * n, err, "copy")) return MT_ESTOPPED;
      MT_TRY(is_run(wide, x, t, v, n, err));
    }
  return MT_OK;
}

/* The widest that both sides have, in elements. */
static mt_status widest (int64_t *n, mt_wide side[2], mt_err *err) {
  bool wide = false;
  for (; *n > 1; *n /= 2) {
    for (int o = 0; o < 2 && (o == 0 || wide); o++)
      MT_TRY(is_wide(&wide, &side[o], *n, err));
    if (wide) return MT_OK;
  }
  return MT_OK;
}

mt_status mt_check_wide (const mt_tiled_copy *copy, const mt_tensor *src,
                         const mt_tensor *dst, mt_err *err) {
  mt_wide side[2];
  char why[MT_REASON];
  bool wide = true;
  const int64_t n = copy->bits ? copy->atom_bits / copy->bits : 1;
  if (n <= 1 || copy->atom.own || mt_size(src->layout) == 0) return MT_OK;
  if (mt_is_composed(src->layout) || mt_is_composed(dst->layout)) return MT_OK;
  MT_TRY(begin(&side[0], copy, MT_COPY_S, src, err));
  MT_TRY(begin(&side[1], copy, MT_COPY_D, dst, err));
  for (int o = 0; wide && o < 2; o++) {
    MT_TRY(is_wide(&wide, &side[o], n, err));
    if (!wide) memcpy(why, side[o].why, sizeof why);
  }
  if (wide) return MT_OK;
  int64_t can = n / 2;
  MT_TRY(widest(&can, side, err));
  return mt_fail(err, MT_EALIGN,
                 "copy: UniversalCopy<uint%d_t> moves %d elements at once, but %s\n"
                 "UniversalCopy<uint%d_t> would do, or AutoVectorizingCopy",
                 copy->atom_bits, (int)n, why, (int)(can < 1 ? 1 : can) * copy->bits);
}
