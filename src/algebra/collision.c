/*
** collision.c - the values of a function, and two of its elements at one place.
** SPDX-License-Identifier: MIT
*/
#include "algebra/collision.h"
#include "algebra/composed.h"

/* The first index of the value v, which there is. */
static mt_status index_of (int64_t *i, const mt_node *t, int64_t v, mt_err *err) {
  int64_t w;
  for (*i = 0;; ++*i) {
    MT_TRY(mt_number_at(&w, t, *i, err));
    if (w == v) return MT_OK;
  }
}

mt_status mt_image_of (mt_image *out, int64_t *i, int64_t *j, const char *op,
                       const mt_node *t, mt_err *err) {
  int64_t v;
  *i = *j = -1;
  MT_TRY(mt_number_range(&out->lo, &out->end, op, t, err));
  if ((uint64_t)out->end - (uint64_t)out->lo > MT_IMAGEBITS)
    return mt_failn(err, MT_EUNSUPPORTED,
                    "%s: the values of %N are %lld .. %lld: at most %d lie apart where "
                    "they are looked at one by one",
                    op, t, (long long)out->lo, (long long)out->end - 1,
                    (int)MT_IMAGEBITS);
  memset(out->seen, 0, sizeof out->seen);
  for (int64_t k = 0; k < mt_size(t) && *i < 0; k++) {
    MT_TRY(mt_number_at(&v, t, k, err));
    if (mt_image_has(out, v)) {
      *j = k;
      MT_TRY(index_of(i, t, v, err));
    }
    out->seen[(v - out->lo) / 64] |= UINT64_C(1) << (v - out->lo) % 64;
  }
  return MT_OK;
}
