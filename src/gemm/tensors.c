/*
** tensors.c - products as descriptors: the tensors' half.
** SPDX-License-Identifier: MIT
*/
#include <math.h>
#include <stdio.h>

#include "desc/divisor.h"
#include "types/dtype.h"
#include "gemm/gemm.h"
#include "algebra/swizzle.h"

static const char *const part_name[] = {"A", "B", "C"};
static const char *const part_shape[] = {"(M,K)", "(N,K)", "(M,N)"};
static const char *const mode_name[] = {"M", "N", "K", "L"};

/* The product's mode that mode i of an operand is. */
static const uint8_t mode_of[MT_PARTS][3] = {{MT_M, MT_K, MT_L},
                                             {MT_N, MT_K, MT_L},
                                             {MT_M, MT_N, MT_L}};

/* ---------------------------------------------------------------- tensors */

static mt_status check_tensor (const mt_tensor *t, int part, mt_err *err) {
  const mt_node *a = t->layout;
  MT_CHECK((unsigned)t->dtype < MT_NDTYPE, err, "gemm: %s has no data type",
           part_name[part]);
  if (mt_is_composed(a))
    return mt_failn(
        err, MT_EUNSUPPORTED,
        "gemm: %s %N is composed, and has no strides\ncopy it into a tensor of "
        "its own first: tile.copy(%s, tile.tensor(%s:dtype(), "
        "tile.layout(%s:shape()), %s:device()))",
        part_name[part], a, part_name[part], part_name[part], part_name[part],
        part_name[part]);
  for (const mt_node *p = a; p < mt_next(a); p++) {
    if (p->tag == MT_MODES || (p->tag == MT_LEAF && p->ring == MT_Z) ||
        (p == a && p->tag == MT_SWIZZLE && p->arity == 1))
      continue;
    return mt_failn(err, MT_EINVAL, "gemm: %s has no layout of offsets: %N",
                    part_name[part], a);
  }
  int n = mt_rank(mt_inner(a));
  if (n == 2 || n == 3) return MT_OK;
  return mt_failn(err, MT_ERANK,
                  "gemm: %s %N has rank %d, it is %s and may have a last "
                  "mode for the batch\ngroup its modes to 2 or 3",
                  part_name[part], a, n, part_shape[part]);
}

/* ---------------------------------------------------------------- sizes */

/* The operand that said first how large a mode is. */
typedef struct mt_sizes {
  const mt_tensor *t[MT_PARTS];
  int part[MT_GEMM_MODES], mode[MT_GEMM_MODES]; /* part -1: nobody yet */
} mt_sizes;

static mt_status differ (const mt_sizes *s, int part, int i, int64_t size, int64_t other,
                         mt_err *err) {
  int mode = mode_of[part][i], first = s->part[mode];
  return mt_failn(err, MT_ERANK,
                  "gemm: %s is mode %d of %s and mode %d of %s: %lld and "
                  "%lld\n%s is %N\n%s is %N",
                  mode_name[mode], s->mode[mode] + 1, part_name[first], i + 1,
                  part_name[part], (long long)other, (long long)size, part_name[first],
                  s->t[first]->layout, part_name[part], s->t[part]->layout);
}

static mt_status add_sizes (mt_gemm_desc *d, mt_sizes *s, int part, mt_err *err) {
  const mt_node *a = mt_inner(s->t[part]->layout);
  for (int i = 0; i < mt_rank(a); i++) {
    int mode = mode_of[part][i];
    int64_t size = mt_size(mt_mode(a, i));
    if (s->part[mode] >= 0 && d->size[mode] != size)
      return differ(s, part, i, size, d->size[mode], err);
    if (s->part[mode] >= 0) continue;
    d->size[mode] = size;
    s->part[mode] = part;
    s->mode[mode] = i;
  }
  return MT_OK;
}

static mt_status find_sizes (mt_gemm_desc *d, const mt_tensor *const t[MT_PARTS],
                             mt_err *err) {
  mt_sizes s = {{t[MT_A], t[MT_B], t[MT_C]}, {-1, -1, -1, -1}, {0}};
  d->size[MT_L] = 1;
  for (int part = 0; part < MT_PARTS; part++) MT_TRY(add_sizes(d, &s, part, err));
  if (mt_rank(mt_inner(t[MT_C]->layout)) == 2 && d->size[MT_L] != 1)
    return mt_failn(err, MT_ERANK,
                    "gemm: %s has a batch of %lld, C %N has none\ngive C "
                    "a third mode of that size, or sum over the batch: group it with K",
                    part_name[s.part[MT_L]], (long long)d->size[MT_L], t[MT_C]->layout);
  return MT_OK;
}

/* ---------------------------------------------------------------- digits */

/* The axes of the first `real` of a mode behind the `n` that are there; `n` moves. */
static mt_status add_digits (mt_gemm_launch *l, int *n, int i, const mt_node *mode,
                             int64_t real, int part, const mt_node *a, mt_err *err) {
  mt_part *p = &l->desc.part[part];
  mt_layout flat;
  int64_t left = real; /* so many of the last axis are needed */
  if (real <= 1) return MT_OK;
  MT_TRY(mt_coalesce(&flat, mode, NULL, err));
  for (const mt_node *q = flat.node; q < mt_next(flat.node) && left > 1; q++) {
    if (q->tag != MT_LEAF || q->shape == 1) continue;
    if (*n == MT_MAXDIGIT)
      return mt_failn(err, MT_ETOOBIG, "gemm: %s %N has more than %d axes",
                      part_name[part], a, (int)MT_MAXDIGIT);
    int64_t extent = q->shape < left ? q->shape : left;
    mt_divisor by = real <= INT32_MAX ? mt_divisor_of(extent) : (mt_divisor){0};
    left = mt_div_up(left, q->shape);
    p->digit[(*n)++] = (mt_digit){extent, q->stride, by.mul, by.shift};
    p->ndigit[i]++;
  }
  return MT_OK;
}

/* The swizzle, and the offsets before and behind it. */
static mt_status put_offset (mt_gemm_launch *l, const mt_tensor *t, int part,
                             mt_err *err) {
  const mt_node *a = t->layout;
  mt_part *p = &l->desc.part[part];
  int64_t size = (int64_t)mt_dtype_size(t->dtype);
  l->base[part] = t->data;
  l->offset[part] = t->offset;
  if (a->tag != MT_SWIZZLE || mt_size(a) == 0) return MT_OK;
  mt_swizzle w = mt_swizzle_of(a);
  int64_t mask = mt_swizzle_y(w);
  if (mask > UINT32_MAX)
    return mt_failn(err, MT_EUNSUPPORTED,
                    "gemm: the swizzle of %s %N moves bits beyond "
                    "the 32nd",
                    part_name[part], a);
  if (t->offset < 0 || t->offset > (int64_t)(t->bytes / (size_t)size))
    return mt_failn(err, MT_ERANGE,
                    "gemm: %s %N begins at element %lld of a buffer of "
                    "%lld: a swizzled operand begins inside its buffer",
                    part_name[part], a, (long long)t->offset,
                    (long long)(t->bytes / (size_t)size));
  p->swizzle = (uint32_t)mask;
  p->shift = w.s;
  if (t->data) l->base[part] = (char *)t->data + t->offset * size;
  l->offset[part] = a->stride;
  return MT_OK;
}

static mt_status put_part (mt_gemm_launch *l, const mt_tensor *t, int part, mt_err *err) {
  const mt_node *a = mt_inner(t->layout);
  mt_part *p = &l->desc.part[part];
  int n = 0;
  p->dtype = (uint32_t)t->dtype;
  MT_TRY(put_offset(l, t, part, err));
  for (int i = 0; i < mt_rank(a); i++) {
    int64_t size = l->desc.size[mode_of[part][i]];
    MT_TRY(add_digits(l, &n, i, mt_mode(a, i),
                      i < 2 && p->real[i] < size ? p->real[i] : size, part, t->layout,
                      err));
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- factors */

static mt_status check_factor (const char *name, double v, mt_dtype c, mt_err *err) {
  if (mt_is_float_type(c) || (fabs(v) <= 0x1p53 && v == floor(v))) return MT_OK;
  char text[32];
  snprintf(text, sizeof text, "%.14g", v);
  return mt_fail(err, MT_EINVAL,
                 "gemm: %s is %s, but C is %s: an integer of at most 53 "
                 "bits is needed",
                 name, text, mt_dtype_name(c));
}

mt_status mt_gemm_tensors (mt_gemm_launch *out, const mt_tensor *a, const mt_tensor *b,
                           const mt_tensor *c, double alpha, double beta, mt_err *err) {
  const mt_tensor *t[MT_PARTS] = {a, b, c};
  memset(out, 0, sizeof *out);
  out->desc.op = MT_OP_GEMM;
  out->desc.algo = MT_ALGO_STRIDED;
  out->alpha = alpha;
  out->beta = beta;
  for (int part = 0; part < MT_PARTS; part++) MT_TRY(check_tensor(t[part], part, err));
  MT_TRY(find_sizes(&out->desc, t, err));
  MT_TRY(mt_gemm_real(&out->desc, t, err));
  if (alpha == 0) out->desc.size[MT_K] = 0;
  for (int part = 0; part < MT_C; part++)
    out->desc.part[part].real[1] = out->desc.size[MT_K];
  for (int part = 0; part < MT_PARTS; part++) MT_TRY(put_part(out, t[part], part, err));
  MT_TRY(check_factor("alpha", alpha, c->dtype, err));
  return check_factor("beta", beta, c->dtype, err);
}

size_t mt_gemm_room (const mt_gemm_launch *l, int part, const mt_tensor *t) {
  return t->bytes - (size_t)((const char *)l->base[part] - (const char *)t->data);
}
