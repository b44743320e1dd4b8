/*
** check_shape.c - whether a descriptor is one: what the validator presumes.
** SPDX-License-Identifier: MIT
*/
#include "copy/algo.h"
#include "copy/check.h"
#include "desc/axes.h"
#include "desc/cast_desc.h"
#include "desc/swizzle.h"

static const char *const side_name[] = {"src", "dst"};

static bool is_power (uint32_t n) { return n != 0 && (n & (n - 1)) == 0; }

static mt_status check_mode (const mt_desc *d, const char *name, uint32_t first,
                             uint32_t count, int64_t size, mt_err *err) {
  int64_t n = 1;
  for (uint32_t i = first; i < first + count; i++) {
    mt_axis a = d->axis[i];
    MT_CHECK(a.extent >= 0, err, "%s axis %d has a negative extent", name,
             (int)(i - first) + 1);
    mt_axis_divisor(&a);
    MT_CHECK(a.mul == d->axis[i].mul && a.shift == d->axis[i].shift, err,
             "%s axis %d has a wrong divisor", name, (int)(i - first) + 1);
    if (mt_mulo(n, a.extent, &n))
      return mt_fail(err, MT_EOVERFLOW, "the size of the %s mode leaves 64 bits", name);
  }
  MT_CHECK(n == size, err, "the %s mode has size %lld, not %lld", name, (long long)n,
           (long long)size);
  return MT_OK;
}

static mt_status check_cast (const mt_desc *d, mt_err *err) {
  uint32_t src = MT_CAST_SRC(d->cast), dst = MT_CAST_DST(d->cast), most;
  MT_CHECK(src < MT_NDTYPE && dst < MT_NDTYPE && src != dst &&
               d->cast == MT_CAST_ROUNDED(MT_CAST(src, dst), MT_CAST_ROUNDING(d->cast)),
           err, "a conversion between unknown types");
  MT_CHECK(d->elem == mt_dtype_size(src) && d->to == mt_dtype_size(dst), err,
           "elements of %d and %d bytes", (int)d->elem, (int)d->to);
  most = 16 / (d->elem > d->to ? d->elem : d->to);
  MT_CHECK(d->vec == 1 || (d->vec == most && d->algo == MT_ALGO_STRIDED), err,
           "accesses of %d elements", (int)d->vec);
  MT_CHECK(mt_algo_is(d->algo, MT_CONVERTS) &&
               (d->algo == MT_ALGO_DESCRIBED || d->nbound == 0),
           err, "a algo that does not convert");
  return MT_OK;
}

static mt_status check_counts (const mt_desc *d, mt_err *err) {
  MT_CHECK(d->op == MT_OP_COPY && d->algo < MT_NALGO, err, "unknown operation or form");
  MT_CHECK(is_power(d->elem) && d->elem <= 16 && is_power(d->vec) &&
               d->vec <= 16 / d->elem,
           err, "accesses of %d elements of %d bytes", (int)d->vec, (int)d->elem);
  MT_CHECK(d->nthr <= MT_MAXAXIS && d->nval <= MT_MAXAXIS && d->nrest <= MT_MAXAXIS &&
               d->nthr + d->nval + d->nrest <= MT_MAXAXIS && d->nbound <= MT_MAXBOUND,
           err, "too many axes or bounds");
  MT_TRY(check_mode(d, "thread", 0, d->nthr, d->threads, err));
  MT_TRY(check_mode(d, "value", d->nthr, d->nval, d->values, err));
  MT_TRY(check_mode(d, "rest", d->nthr + d->nval, d->nrest, d->rests, err));
  MT_CHECK(d->threads <= INT32_MAX, err, "%lld threads", (long long)d->threads);
  MT_CHECK(mt_desc_swizzle_sound(d->swizzle[MT_SRC]) &&
               mt_desc_swizzle_sound(d->swizzle[MT_DST]) &&
               (mt_algo_is(d->algo, MT_SWIZZLED) || !mt_desc_is_swizzled(d)),
           err, "a swizzle that is none, or of tiles");
  return d->cast == 0 ? MT_OK : check_cast(d, err);
}

/* sum += (extent - 1) * |step|; true on overflow. */
static bool reach (int64_t *sum, int64_t extent, int64_t step) {
  int64_t t;
  if (extent <= 1) return false;
  return step == INT64_MIN || mt_mulo(extent - 1, step < 0 ? -step : step, &t) ||
         mt_addo(*sum, t, sum);
}

static mt_status check_bounds (const mt_desc *d, mt_err *err) {
  for (uint32_t k = 0; k < d->nbound; k++) {
    int64_t sum = 0;
    bool over = reach(&sum, d->vec, d->lane_step[k]);
    MT_CHECK(d->lane_step[k] >= 0, err, "a bound with a negative step");
    for (uint32_t i = 0; i < d->nthr + d->nval + d->nrest; i++) {
      MT_CHECK(d->axis[i].step[k] >= 0, err, "a bound with a negative step");
      over = over || reach(&sum, d->axis[i].extent, d->axis[i].step[k]);
    }
    if (over)
      return mt_fail(err, MT_EOVERFLOW, "an ordinate of bound %d leaves 64 bits", (int)k);
  }
  return MT_OK;
}

static mt_status check_offsets (const mt_launch *l, int side, mt_err *err) {
  const mt_desc *d = &l->desc;
  int64_t sum = l->offset[side] < 0 ? -(l->offset[side] + 1) : l->offset[side], bytes;
  bool over = reach(&sum, (int64_t)d->vec + 1, 1);
  for (uint32_t i = 0; i < d->nthr + d->nval + d->nrest; i++)
    over = over || reach(&sum, d->axis[i].extent, d->axis[i].stride[side]);
  sum |= mt_desc_swizzle_block(d->swizzle[side]);
  MT_CHECK(d->swizzle[side].mask || l->origin[side] == 0, err,
           "%s: an origin without a "
           "swizzle",
           side_name[side]);
  over = over || mt_addo(sum, 1, &sum) || l->origin[side] == INT64_MIN ||
         mt_addo(sum, l->origin[side] < 0 ? -l->origin[side] : l->origin[side], &sum);
  if (over || mt_mulo(sum, MT_ELEM(d, side), &bytes) || mt_addo(bytes, 64, &bytes))
    return mt_fail(err, MT_EOVERFLOW, "%s: an offset leaves 64 bits", side_name[side]);
  return MT_OK;
}

mt_status mt_check_shape (const mt_launch *l, mt_err *err) {
  MT_TRY(check_counts(&l->desc, err));
  MT_TRY(check_bounds(&l->desc, err));
  MT_TRY(check_offsets(l, MT_SRC, err));
  MT_TRY(check_offsets(l, MT_DST, err));
  return mt_algo_of(l->desc.algo)->check(l, err);
}
