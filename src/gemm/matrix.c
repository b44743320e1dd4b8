/*
** matrix.c - products of matrices, read from the descriptor of any product.
** SPDX-License-Identifier: MIT
*/
#include <stdarg.h>
#include <stdio.h>

#include <math.h>

#include "gemm/matrix.h"
#include "moontile/epilogue.h"
#include "core/error.h"

bool mt_refuse (const mt_reason *r, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  vsnprintf(r->text, r->size, format, ap);
  va_end(ap);
  return false;
}

static const char *const names[] = {"A", "B", "C"};

bool mt_read_matrix (mt_matrix *x, const mt_gemm_launch *l, int part,
                     const mt_reason *r) {
  const mt_part *p = &l->desc.part[part];
  const mt_digit *digit = p->digit;
  *x = (mt_matrix){.name = names[part], .part = part, .dtype = (mt_dtype)p->dtype};
  x->batch = l->desc.size[MT_L];
  for (int i = 0; i < 2; i++) x->extent[i] = p->real[i];
  if (p->swizzle) return mt_refuse(r, "%s is swizzled in memory", x->name);
  for (int i = 0; i < 3; i++) {
    if (p->ndigit[i] > 1)
      return mt_refuse(r, "mode %d of %s has %d axes: 1 is a matrix", i + 1, x->name,
                       (int)p->ndigit[i]);
    if (p->ndigit[i]) x->stride[i] = digit++->stride;
  }
  x->base = (char *)l->base[part] + l->offset[part] * (int64_t)mt_dtype_size(x->dtype);
  return true;
}

bool mt_has_elements (const mt_matrix x[MT_PARTS], const mt_gemm_launch *l,
                      const mt_reason *r) {
  for (int i = 0; i < MT_GEMM_MODES; i++)
    if (l->desc.size[i] < 1) return mt_refuse(r, "it is empty");
  for (int part = 0; part < MT_PARTS; part++)
    if (x[part].extent[0] < 1 || x[part].extent[1] < 1)
      return mt_refuse(r, "nothing of %s is real", x[part].name);
  if (x[MT_C].extent[0] > INT32_MAX || x[MT_C].extent[1] > INT32_MAX)
    return mt_refuse(r, "C has an extent beyond 2^31");
  return true;
}

bool mt_read_product (mt_matrix x[MT_PARTS], const mt_gemm_launch *l,
                      const mt_reason *r) {
  for (int part = 0; part < MT_PARTS; part++)
    if (!mt_read_matrix(&x[part], l, part, r)) return false;
  return mt_has_elements(x, l, r);
}

static mt_matrix transposed (mt_matrix x) {
  const mt_matrix y = x;
  for (int i = 0; i < 2; i++) {
    x.extent[i] = y.extent[1 - i];
    x.stride[i] = y.stride[1 - i];
  }
  return x;
}

void mt_turn_product (mt_matrix x[MT_PARTS]) {
  const mt_matrix a = x[MT_A];
  x[MT_A] = x[MT_B];
  x[MT_B] = a;
  x[MT_C] = transposed(x[MT_C]);
}

static bool read_side (mt_finishing_side *out, const mt_gemm_launch *l, int which,
                       bool turned, const mt_reason *r) {
  static const char *const sides[] = {"bias", "residual"};
  const mt_beside *s = &l->beside[which];
  const mt_digit *digit = s->digit;
  if (l->beside_base[which] == NULL) return true;
  if (s->swizzle) return mt_refuse(r, "%s is swizzled in memory", sides[which]);
  for (int i = 0; i < 3; i++) {
    if (s->ndigit[i] > 1)
      return mt_refuse(r, "mode %d of %s has %d axes: 1 is a matrix", i + 1, sides[which],
                       (int)s->ndigit[i]);
    if (s->ndigit[i]) out->stride[turned && i < 2 ? 1 - i : i] = digit++->stride;
  }
  out->dtype = (int32_t)s->dtype;
  out->base = (const char *)l->beside_base[which] +
              l->beside_offset[which] * (int64_t)mt_dtype_size((mt_dtype)s->dtype);
  return true;
}

/* Below `least` is the limit. 2.3022 = 2 sqrt(2 / pi) log2 e, and 0.10294 is 0.044715 of
** it; 1.4427 = log2 e. */
static const mt_activation_form forms[MT_NACTIVATION] = {
    [MT_ACTIVATION_NONE] = {MT_FORM_LINEAR, .least = -INFINITY},
    [MT_ACTIVATION_RELU] = {MT_FORM_LINEAR, .least = 0},
    [MT_ACTIVATION_GELU] = {MT_FORM_GELU, .least = -INFINITY},
    [MT_ACTIVATION_GELU_TANH] = {MT_FORM_GATE, .least = -9, .step = -2.30220819f,
                                 .cube = -0.102943240f},
    [MT_ACTIVATION_SILU] = {MT_FORM_SILU, .least = -100, .step = -1.44269504f},
    [MT_ACTIVATION_SIGMOID] = {MT_FORM_SILU, .least = -100, .step = -1.44269504f,
                               .times = 1},
    [MT_ACTIVATION_TANH] = {MT_FORM_SILU, .least = -100, .step = -2.88539008f, .times = 2,
                            .more = -1},
};

mt_activation_form mt_form_of (uint32_t activation) { return forms[activation]; }

bool mt_read_finish (mt_finishing *out, const mt_gemm_launch *l, bool turned,
                     const mt_reason *r) {
  const uint32_t activation = l->finishes ? l->activation : MT_ACTIVATION_NONE;
  *out = (mt_finishing){(int32_t)activation, mt_form_of(activation), {{0}}};
  for (int i = 0; l->finishes && i < MT_BESIDES; i++)
    if (!read_side(&out->side[i], l, i, turned, r)) return false;
  return true;
}
