/*
** real.c - what is real of ragged operands of a product.
** SPDX-License-Identifier: MIT
*/
#include "tile/bounds.h"
#include "core/build.h"
#include "desc/axes.h"
#include "gemm/gemm.h"

static const char *const part_name[] = {"A", "B", "C"};
static const uint8_t mode_of[MT_PARTS][3] = {{MT_M, MT_K, MT_L},
                                             {MT_N, MT_K, MT_L},
                                             {MT_M, MT_N, MT_L}};

/* ---------------------------------------------------------------- beginnings */

/* An ordinate along one mode: its leaves but those of one index, the first fastest;
** below: the largest value of the leaves before. */
typedef struct mt_ladder {
  int n;
  int64_t extent[MT_MAXNODES], step[MT_MAXNODES], place[MT_MAXNODES], below[MT_MAXNODES];
} mt_ladder;

static void climb (mt_ladder *s, const mt_node *mode) {
  int64_t place = 1, below = 0;
  s->n = 0;
  for (const mt_node *p = mode; p < mt_next(mode); p++) {
    if (p->tag != MT_LEAF || p->shape == 1) continue;
    s->extent[s->n] = p->shape;
    s->step[s->n] = p->stride;
    s->place[s->n] = place;
    s->below[s->n++] = below;
    place *= p->shape;
    below += (p->shape - 1) * p->stride;
  }
}

/* How many indices from 0 on have an ordinate below `bound`; -1: not only such. */
static int64_t beginning (const mt_node *mode, int64_t bound) {
  mt_ladder s;
  int64_t n = 0;
  if (bound <= 0) return 0;
  climb(&s, mode);
  for (int j = s.n - 1; j >= 0; j--) {
    int64_t step = s.step[j], room = bound - 1 - s.below[j], whole = 0;
    if (step == 0) {
      if (room < 0) return -1;
      return n + s.place[j] * s.extent[j];
    }
    if (room >= 0) whole = room / step + 1;
    if (whole >= s.extent[j]) return n + s.place[j] * s.extent[j];
    n += s.place[j] * whole;
    bound -= whole * step;
    if (bound <= 0) return n;
    if (whole + 1 < s.extent[j] && bound > step) return -1;
  }
  return n + 1;
}

static bool moves (const mt_node *mode) {
  for (const mt_node *p = mode; p < mt_next(mode); p++)
    if (p->tag == MT_LEAF && p->shape > 1 && p->stride != 0) return true;
  return false;
}

/* The mode that an ordinate counts along; -1: along several. */
static int mode_moved (const mt_node *crd) {
  int found = 0, n = 0;
  for (int i = 0; i < mt_rank(crd); i++)
    if (moves(mt_mode(crd, i))) found = i, n++;
  return n > 1 ? -1 : found;
}

static mt_status no_box (const mt_tensor *t, int part, mt_err *err) {
  return mt_failn(err, MT_EUNSUPPORTED,
                  "gemm: what is real of %s %N is not the beginning of each of its modes:"
                  " its coordinates are %N\ncopy it into a tensor of zeros of its own "
                  "shape, and multiply that",
                  part_name[part], t->layout, t->bounds->coord);
}

/* How much of each mode is real. */
static mt_status real_of (int64_t real[3], const mt_tensor *t, int part, mt_err *err) {
  const mt_node *a = mt_inner(t->layout);
  for (int i = 0; i < 3; i++) real[i] = i < mt_rank(a) ? mt_size(mt_mode(a, i)) : 1;
  if (mt_size(a) == 0) return MT_OK;
  for (int k = 0; k < mt_ordinates(t); k++) {
    mt_layout crd;
    int64_t bound;
    MT_TRY(mt_renamed("gemm", mt_bound_of(&crd, &bound, t, k, err), err));
    if (mt_last_ordinate(crd.node) < bound) continue;
    int i = mode_moved(crd.node);
    int64_t n = bound <= 0 ? 0 : i < 0 ? -1 : beginning(mt_mode(crd.node, i), bound);
    if (n < 0) return no_box(t, part, err);
    if (i < 0) i = 0;
    if (n < real[i]) real[i] = n;
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- operands */

static int64_t min_of (int64_t a, int64_t b) { return a < b ? a : b; }

mt_status mt_gemm_real (mt_gemm_desc *d, const mt_tensor *const t[MT_PARTS],
                        mt_err *err) {
  int64_t real[MT_PARTS][3];
  for (int part = 0; part < MT_PARTS; part++)
    MT_TRY(real_of(real[part], t[part], part, err));
  d->size[MT_M] = real[MT_C][0];
  d->size[MT_N] = real[MT_C][1];
  d->size[MT_K] = min_of(d->size[MT_K], min_of(real[MT_A][1], real[MT_B][1]));
  if (mt_rank(mt_inner(t[MT_C]->layout)) == 3) d->size[MT_L] = real[MT_C][2];
  for (int part = 0; part < MT_PARTS; part++) {
    bool batch = mt_rank(mt_inner(t[part]->layout)) == 3;
    if (batch && real[part][2] < d->size[MT_L])
      return mt_fail(err, MT_EUNSUPPORTED,
                     "gemm: %lld of the batch of %s are real, %lld of that of C\ncopy it "
                     "into a tensor of zeros of its own shape, and multiply that",
                     (long long)real[part][2], part_name[part], (long long)d->size[MT_L]);
    for (int i = 0; i < 2; i++)
      d->part[part].real[i] = min_of(real[part][i], d->size[mode_of[part][i]]);
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- elements */

/* The digits of a mode run on beyond what is real: then it has a bound. */
static void add_mode (mt_desc *d, const mt_digit *g, uint32_t n, int64_t real) {
  int64_t place = 1;
  for (uint32_t j = 0; j < n; j++, g++) {
    mt_axis *a = &d->axis[d->nrest++];
    a->extent = g->extent;
    a->stride[MT_DST] = g->stride;
    a->step[d->nbound] = place;
    mt_axis_divisor(a);
    place *= g->extent;
    d->rests *= g->extent;
  }
  if (place > real) {
    d->bound[d->nbound++] = real;
    return;
  }
  for (uint32_t i = 0; i < d->nrest; i++) d->axis[i].step[d->nbound] = 0;
}

void mt_mma_elements (mt_launch *out, const mt_gemm_launch *l, int part) {
  const mt_part *p = &l->desc.part[part];
  const mt_digit *g = p->digit;
  mt_desc *d = &out->desc;
  memset(out, 0, sizeof *out);
  d->op = MT_OP_COPY;
  d->algo = MT_ALGO_STRIDED;
  d->elem = (uint32_t)mt_dtype_size((mt_dtype)p->dtype);
  d->vec = 1;
  d->threads = d->values = d->rests = 1;
  for (int i = 0; i < 3; g += p->ndigit[i++])
    add_mode(d, g, p->ndigit[i], i < 2 ? p->real[i] : l->desc.size[MT_L]);
  out->offset[MT_DST] = l->offset[part];
  d->swizzle[MT_DST] = (mt_desc_swizzle){p->swizzle, p->swizzle ? p->shift : 0};
}
