/*
** witness.c - an element of a copy, named for people.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "desc/swizzle.h"
#include "copy/witness.h"

static void add_digit (mt_witness *w, const mt_desc *d, int i, int64_t digit,
                       int64_t stride) {
  int64_t place = 1, *mode = &w->rest;
  uint32_t axis = (uint32_t)i, first = d->nthr + d->nval;
  w->offset += digit * stride;
  if (i == MT_LANE) {
    w->value += digit;
    return;
  }
  if (axis < d->nthr) mode = &w->thread, first = 0;
  else if (axis < first) mode = &w->value, first = d->nthr, place = d->vec;
  for (uint32_t j = first; j < axis; j++) place *= d->axis[j].extent;
  *mode += digit * place;
}

mt_witness mt_witness_of (const mt_launch *l, const mt_domain *b, int side,
                          const int64_t *v) {
  mt_witness w = {0, 0, 0, 0};
  for (int j = 0; j < b->n; j++) {
    int64_t n = v[j] + b->axis[j].from;
    for (int p = b->axis[j].first, last = p + b->axis[j].count - 1; p <= last; p++) {
      int i = b->part[p];
      const mt_axis *a = i == MT_LANE ? NULL : &l->desc.axis[i];
      int64_t e = a ? a->extent : (int64_t)l->desc.vec, digit = p < last ? n % e : n;
      add_digit(&w, &l->desc, i, digit, a ? a->stride[side] : 1);
      n /= e;
    }
  }
  w.offset = mt_element_of(l, side, w.offset);
  return w;
}

const char *mt_witness_text (char *buf, const mt_desc *d, const mt_witness *w) {
  if (d->algo == MT_ALGO_STRIDED)
    snprintf(buf, MT_WITNESS_TEXT, "element %lld",
             (long long)(w->rest * d->vec + w->value));
  else
    snprintf(buf, MT_WITNESS_TEXT, "value %lld of thread %lld in block %lld",
             (long long)w->value, (long long)w->thread, (long long)w->rest);
  return buf;
}

const char *mt_witnesses_text (char *buf, const mt_desc *d, const mt_witness *a,
                               const mt_witness *b) {
  char x[MT_WITNESS_TEXT], y[MT_WITNESS_TEXT];
  if (d->algo == MT_ALGO_STRIDED)
    snprintf(buf, 2 * MT_WITNESS_TEXT + 8, "elements %lld and %lld",
             (long long)(a->rest * d->vec + a->value),
             (long long)(b->rest * d->vec + b->value));
  else if (a->rest == 0 && b->rest == 0 && a->thread == b->thread)
    snprintf(buf, 2 * MT_WITNESS_TEXT + 8, "values %lld and %lld of thread %lld",
             (long long)a->value, (long long)b->value, (long long)a->thread);
  else
    snprintf(buf, 2 * MT_WITNESS_TEXT + 8, "%s and %s", mt_witness_text(x, d, a),
             mt_witness_text(y, d, b));
  return buf;
}
