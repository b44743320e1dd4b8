/*
** reach.c - what operands of products reach in memory.
** SPDX-License-Identifier: MIT
*/
#include "core/build.h"
#include "desc/swizzle.h"
#include "gemm/gemm.h"
#include "algebra/swizzle.h"

int64_t mt_gemm_real_of (const mt_gemm_desc *d, int part, int i) {
  return i < 2 ? d->part[part].real[i] : d->size[MT_L];
}

bool mt_reach_widen (mt_reach *r, int64_t extent, int64_t stride) {
  int64_t t;
  if (stride == INT64_MIN || mt_mulo(extent - 1, stride, &t)) return true;
  return t < 0 ? mt_addo(r->low, t, &r->low) : mt_addo(r->high, t, &r->high);
}

static bool is_empty (const mt_gemm_desc *d, int part) {
  bool empty = false;
  for (int i = 0; i < MT_GEMM_MODES; i++) empty = empty || (i != MT_K && !d->size[i]);
  return empty || d->part[part].real[0] == 0 || (part != MT_C && d->size[MT_K] == 0);
}

bool mt_gemm_is_box (const mt_gemm_desc *d, int part) {
  const mt_part *p = &d->part[part];
  const mt_digit *g = p->digit;
  for (int i = 0; i < 3; i++) {
    int64_t product = 1;
    for (uint32_t j = 0; j < p->ndigit[i]; j++, g++) product *= g->extent;
    if (product > mt_gemm_real_of(d, part, i) && p->ndigit[i] > 0) return false;
  }
  return true;
}

/* What pieces of the elements reach. */
typedef struct mt_sweep {
  const mt_launch *l;
  int64_t low, high;
  bool any, failed;
} mt_sweep;

static bool sweep_piece (void *ud, const mt_domain *b) {
  mt_sweep *x = ud;
  int64_t low, high;
  x->failed = !mt_domain_range(&low, &high, x->l, b, MT_DST);
  if (x->failed) return false;
  if (!x->any || low < x->low) x->low = low;
  if (!x->any || high > x->high) x->high = high;
  x->any = true;
  return true;
}

/* Of digits that run on beyond what is real; false: it was not found. */
static bool pieces_reach (mt_reach *r, const mt_gemm_launch *l, int part) {
  mt_launch all;
  mt_mma_elements(&all, l, part);
  mt_sweep x = {.l = &all};
  if (!mt_pieces(&all.desc, sweep_piece, &x) || !x.any) return false;
  r->low = x.low;
  r->high = x.high;
  return true;
}

/* The digits as a layout under the swizzle: its range. */
static mt_status swizzled_reach (mt_reach *r, const mt_gemm_launch *l, int part,
                                 mt_err *err) {
  const mt_part *p = &l->desc.part[part];
  mt_layout a;
  mt_build b;
  mt_swizzle w;
  int64_t y = p->swizzle;
  mt_swizzle_from_masks(&w, y, p->shift < 0 ? y << -p->shift : y >> p->shift);
  mt_begin(&b, &a, "gemm", err);
  mt_open(&b, MT_SWIZZLE);
  mt_open(&b, MT_MODES);
  for (uint32_t i = 0; i < p->ndigit[0] + p->ndigit[1] + p->ndigit[2]; i++)
    mt_add_leaf(&b, p->digit[i].extent, p->digit[i].stride);
  mt_close(&b);
  mt_close(&b);
  a.node[0].shape = mt_swizzle_pack(w.b, w.m, w.s);
  a.node[0].stride = l->offset[part];
  MT_TRY(mt_end(&b));
  MT_TRY(mt_footprint(&r->low, &r->high, a.node, err));
  r->high--;
  return MT_OK;
}

mt_status mt_mma_reach_of (mt_reach *r, const mt_gemm_launch *l, int part, mt_err *err) {
  const mt_part *p = &l->desc.part[part];
  uint32_t n = p->ndigit[0] + p->ndigit[1] + p->ndigit[2];
  *r = (mt_reach){is_empty(&l->desc, part), l->offset[part], l->offset[part]};
  if (r->none) return MT_OK;
  if (!mt_gemm_is_box(&l->desc, part) && pieces_reach(r, l, part)) return MT_OK;
  if (p->swizzle) return swizzled_reach(r, l, part, err);
  for (uint32_t i = 0; i < n; i++)
    mt_reach_widen(r, p->digit[i].extent, p->digit[i].stride);
  return MT_OK;
}
