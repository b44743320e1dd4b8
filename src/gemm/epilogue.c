/*
** epilogue.c - epilogues of products: their tensors as descriptors, proven; one element.
** SPDX-License-Identifier: MIT
**
** Bias and residual become operands of the modes (M,N,L), as C is: what is the same
** everywhere along a mode has stride 0 there.
*/
#include "moontile/epilogue.h"
#include "core/build.h"
#include "desc/epilogue_desc.h"
#include "gemm/gemm.h"
#include "types/dtype.h"

static const char *const names[] = {"bias", "residual"};

/* ---------------------------------------------------------------- types */

bool mt_epilogue_takes (mt_dtype d) {
  return d == MT_f16 || d == MT_bf16 || d == MT_f32 || d == MT_f64;
}

static mt_status check_types (const mt_epilogue *e, const mt_tensor *c, mt_err *err) {
  const mt_tensor *const x[] = {e->bias, e->residual};
  if ((unsigned)e->activation >= MT_NACTIVATION || (unsigned)e->along > MT_ALONG_COLUMN)
    return mt_fail(err, MT_EINVAL,
                   "gemm: there is no activation %d, or no way %d of a bias",
                   (int)e->activation, (int)e->along);
  if (!mt_epilogue_takes(c->dtype))
    return mt_fail(err, MT_EUNSUPPORTED,
                   "gemm: C is %s: bias, activation and residual go with f16, bf16, f32 "
                   "and f64\nmake C one of them, and copy it to %s",
                   mt_dtype_name(c->dtype), mt_dtype_name(c->dtype));
  for (int i = 0; i < MT_BESIDES; i++)
    if (x[i] && !mt_epilogue_takes(x[i]->dtype))
      return mt_fail(
          err, MT_EUNSUPPORTED,
          "gemm: %s is %s: f16, bf16, f32 or f64 expected\ncopy it to a tensor "
          "of one of them",
          names[i],
          (unsigned)x[i]->dtype < MT_NDTYPE ? mt_dtype_name(x[i]->dtype) : "of no type");
  return MT_OK;
}

/* ---------------------------------------------------------------- shapes */

/* The sizes of the modes of C; its rank. */
static int sizes_of (int64_t size[3], const mt_tensor *c) {
  const mt_node *a = mt_inner(c->layout);
  size[2] = 1;
  for (int i = 0; i < mt_rank(a); i++) size[i] = mt_size(mt_mode(a, i));
  return mt_rank(a);
}

static mt_status find_along (mt_along *out, const mt_epilogue *e, const int64_t size[3],
                             mt_err *err) {
  const int64_t m = size[0], n = size[1], have = mt_size(e->bias->layout);
  *out = e->along;
  if (e->along == MT_ALONG_AUTO) {
    if (m == n && have == n && n > 1)
      return mt_fail(err, MT_ERANK,
                     "gemm: bias has %lld elements, as many as C has rows and columns\n"
                     "say which: bias = { row = T }, an element for each column, or "
                     "bias = { column = T }, one for each row",
                     (long long)have);
    *out = have == m && have != n ? MT_ALONG_COLUMN : MT_ALONG_ROW;
  }
  if (have == (*out == MT_ALONG_ROW ? n : m)) return MT_OK;
  return mt_fail(err, MT_ERANK,
                 "gemm: bias has %lld elements, C is %lld by %lld: a row has %lld, a "
                 "column %lld",
                 (long long)have, (long long)m, (long long)n, (long long)n, (long long)m);
}

/* A mode of the size of C's, or of size 1, as C has it. */
static mt_status add_mode (mt_build *b, const mt_node *mode, int64_t size) {
  if (mode && mt_size(mode) == size) mt_add(b, mode);
  else mt_add_leaf(b, size, 0);
  return MT_OK;
}

static mt_status check_shape (const mt_tensor *x, int which, const int64_t size[3],
                              int rank, const mt_tensor *c, mt_err *err) {
  const mt_node *a = mt_inner(x->layout);
  bool fits = mt_rank(a) == 2 || mt_rank(a) == rank;
  for (int i = 0; fits && i < mt_rank(a); i++) {
    const int64_t n = mt_size(mt_mode(a, i));
    fits = n == size[i] || n == 1;
  }
  if (fits) return MT_OK;
  return mt_failn(
      err, MT_ERANK,
      "gemm: %s %N does not fit C %N\nit has the modes of C, each of its size "
      "or of size 1%s",
      names[which], x->layout, c->layout,
      which == MT_BIAS ? ", or is a vector of the size of a row or a column" : "");
}

/* Whether it has all modes of C already. */
static bool is_whole (const mt_node *a, const int64_t size[3], int rank) {
  bool whole = mt_rank(a) == rank;
  for (int i = 0; whole && i < rank; i++) whole = mt_size(mt_mode(a, i)) == size[i];
  return whole;
}

static mt_status check_plain (const mt_tensor *x, int which, mt_err *err) {
  if (x->bounds)
    return mt_failn(err, MT_EUNSUPPORTED,
                    "gemm: %s %N is ragged, and has not the shape of C\ngive it that, or "
                    "copy it into a tensor of its own",
                    names[which], x->layout);
  if (!mt_is_swizzled(x->layout)) return MT_OK;
  return mt_failn(err, MT_EUNSUPPORTED,
                  "gemm: %s %N is swizzled, and has not the shape of C\ngive it that, or "
                  "copy it into a tensor of its own",
                  names[which], x->layout);
}

static mt_status has_no_strides (const mt_tensor *x, int which, mt_err *err) {
  return mt_failn(err, MT_EUNSUPPORTED,
                  "gemm: %s %N is composed, and has no strides\ncopy it into a tensor of "
                  "its own first",
                  names[which], x->layout);
}

/* The tensor with the modes of C. */
static mt_status spread (mt_layout *out, const mt_tensor *x, int which,
                         const mt_epilogue *e, const mt_tensor *c, mt_err *err) {
  int64_t size[3];
  mt_build b;
  mt_along along = MT_ALONG_AUTO;
  const int rank = sizes_of(size, c);
  const mt_node *a = mt_inner(x->layout);
  if (mt_is_composed(x->layout)) return has_no_strides(x, which, err);
  const bool vector = which == MT_BIAS && mt_rank(a) == 1;
  if (vector) MT_TRY(find_along(&along, e, size, err));
  else MT_TRY(check_shape(x, which, size, rank, c, err));
  if (!vector && which == MT_BIAS && e->along != MT_ALONG_AUTO)
    return mt_failn(err, MT_ERANK, "gemm: bias %N is no vector: bias = T takes it",
                    x->layout);
  if (!vector && is_whole(a, size, rank)) return mt_copy_value(out, x->layout), MT_OK;
  MT_TRY(check_plain(x, which, err));
  mt_begin(&b, out, "gemm", err);
  mt_open(&b, MT_MODES);
  for (int i = 0; i < rank; i++) {
    const bool along_i = i == (along == MT_ALONG_ROW);
    const mt_node *mode = !vector          ? (i < mt_rank(a) ? mt_mode(a, i) : NULL) :
                          along_i && i < 2 ? mt_mode(a, 0) :
                                             NULL;
    add_mode(&b, mode, size[i]);
  }
  mt_close(&b);
  return mt_end(&b);
}

/* ---------------------------------------------------------------- descriptors */

/* As C would be, in the place of C. */
static mt_status describe (mt_gemm_launch *l, const mt_tensor *const t[MT_PARTS],
                           const mt_epilogue *e, int which, mt_err *err) {
  mt_layout layout;
  mt_gemm_launch own;
  mt_tensor x = *(which == MT_BIAS ? e->bias : e->residual);
  MT_TRY(spread(&layout, &x, which, e, t[MT_C], err));
  MT_CHECK(x.data != NULL || mt_size(layout.node) == 0, err, "gemm: %s has no memory",
           names[which]);
  x.layout = layout.node;
  if (mt_gemm_tensors(&own, t[MT_A], t[MT_B], &x, 1, 0, err) != MT_OK) {
    mt_explain(err, "\nin the place of C here: %s", names[which]);
    return err->status;
  }
  const mt_part *p = &own.desc.part[MT_C];
  for (int i = 0; i < 2; i++)
    if (own.desc.size[i] < l->desc.size[i])
      return mt_fail(err, MT_ERANK,
                     "gemm: of mode %d of %s %lld are real, of C %lld: all that C has is "
                     "needed",
                     i + 1, names[which], (long long)own.desc.size[i],
                     (long long)l->desc.size[i]);
  mt_beside *s = &l->beside[which];
  *s = (mt_beside){.dtype = p->dtype, .swizzle = p->swizzle, .shift = p->shift};
  memcpy(s->ndigit, p->ndigit, sizeof s->ndigit);
  memcpy(s->digit, p->digit, sizeof s->digit);
  l->beside_base[which] = own.base[MT_C];
  l->beside_offset[which] = own.offset[MT_C];
  return MT_OK;
}

mt_status mt_gemm_epilogue (mt_gemm_launch *l, const mt_tensor *const t[MT_PARTS],
                            const mt_epilogue *e, mt_err *err) {
  const mt_tensor *const x[] = {e->bias, e->residual};
  if (e->bias == NULL && e->along != MT_ALONG_AUTO)
    return mt_fail(err, MT_EINVAL, "gemm: there is no bias that lies along a mode");
  if (e->activation == MT_ACTIVATION_NONE && !e->bias && !e->residual) return MT_OK;
  MT_TRY(check_types(e, t[MT_C], err));
  l->finishes = 1;
  l->activation = (uint32_t)e->activation;
  for (int i = 0; i < MT_BESIDES; i++)
    if (x[i]) MT_TRY(describe(l, t, e, i, err));
  return MT_OK;
}

size_t mt_beside_room (const mt_gemm_launch *l, int which, const mt_tensor *t) {
  if (t == NULL || t->data == NULL) return 0;
  return t->bytes - (size_t)((char *)l->beside_base[which] - (char *)t->data);
}

/* ---------------------------------------------------------------- proof */

/* A launch whose C it is. */
static void in_place_of_c (mt_gemm_launch *out, const mt_gemm_launch *l, int which) {
  const mt_beside *s = &l->beside[which];
  *out = *l;
  mt_part *p = &out->desc.part[MT_C];
  p->dtype = s->dtype;
  p->swizzle = s->swizzle;
  p->shift = s->shift;
  memcpy(p->ndigit, s->ndigit, sizeof p->ndigit);
  memcpy(p->digit, s->digit, sizeof p->digit);
  out->base[MT_C] = l->beside_base[which];
  out->offset[MT_C] = l->beside_offset[which];
}

bool mt_beside_is_c (const mt_gemm_launch *l, int which) {
  const mt_part *c = &l->desc.part[MT_C];
  const mt_beside *s = &l->beside[which];
  uint32_t n = 0;
  for (int i = 0; i < 3; i++) {
    if (s->ndigit[i] != c->ndigit[i]) return false;
    n += s->ndigit[i];
  }
  return l->beside_base[which] == l->base[MT_C] && s->dtype == c->dtype &&
         l->beside_offset[which] == l->offset[MT_C] && s->swizzle == c->swizzle &&
         s->shift == c->shift && memcmp(s->digit, c->digit, n * sizeof *s->digit) == 0;
}

/* The first and the last byte that it reaches. */
static void bytes_of (uint64_t out[2], const mt_gemm_launch *l, const mt_reach *r) {
  const uint64_t elem = mt_dtype_size((mt_dtype)l->desc.part[MT_C].dtype);
  out[0] = (uintptr_t)l->base[MT_C] + (uint64_t)r->low * elem;
  out[1] = (uintptr_t)l->base[MT_C] + (uint64_t)r->high * elem + elem - 1;
}

static mt_status check_range (const mt_gemm_launch *own, int which, const mt_reach *r,
                              size_t room, mt_err *err) {
  const size_t elem = mt_dtype_size((mt_dtype)own->desc.part[MT_C].dtype);
  const int64_t have = (int64_t)((room < INT64_MAX ? room : INT64_MAX) / elem);
  if (r->low < 0 || r->high >= have)
    return mt_fail(err, MT_ERANGE,
                   "gemm: %s reaches elements %lld to %lld; its buffer has 0 to %lld",
                   names[which], (long long)r->low, (long long)r->high,
                   (long long)have - 1);
  if ((uintptr_t)own->base[MT_C] % elem == 0) return MT_OK;
  return mt_fail(err, MT_EALIGN,
                 "gemm: the buffer of %s is not aligned to its elements of %d bytes",
                 names[which], (int)elem);
}

static mt_status check_one (const mt_gemm_launch *l, int which, size_t room,
                            mt_err *err) {
  mt_gemm_launch own;
  mt_reach r, of_c;
  uint64_t mine[2], of[2];
  in_place_of_c(&own, l, which);
  MT_TRY(mt_mma_reach_of(&of_c, l, MT_C, err));
  MT_TRY(mt_mma_reach_of(&r, &own, MT_C, err));
  if (r.none) return MT_OK;
  MT_TRY(check_range(&own, which, &r, room, err));
  bytes_of(mine, &own, &r);
  bytes_of(of, l, &of_c);
  if (of_c.none || mine[1] < of[0] || of[1] < mine[0] || mt_beside_is_c(l, which))
    return MT_OK;
  return mt_fail(
      err, MT_EOVERLAP,
      "gemm: %s and C may overlap, and are not one tensor: %s reaches over %llu "
      "bytes, C begins %lld bytes behind its beginning\ngive C itself, or a "
      "tensor apart from it",
      names[which], names[which], (unsigned long long)(mine[1] - mine[0] + 1),
      (long long)(of[0] - mine[0]));
}

mt_status mt_epilogue_check (const mt_gemm_launch *l, const size_t room[MT_BESIDES],
                             mt_err *err) {
  for (int i = 0; l->finishes && i < MT_BESIDES; i++)
    if (mt_has_beside(l, i)) MT_TRY(check_one(l, i, room[i], err));
  return MT_OK;
}

/* ---------------------------------------------------------------- one element */

static int64_t digits (const mt_digit *g, uint32_t n, int64_t x) {
  int64_t o = 0;
  for (uint32_t i = 0; i < n; i++, g++) {
    const int64_t q = i + 1 < n ? x / g->extent : 0;
    o += (x - q * g->extent) * g->stride;
    x = q;
  }
  return o;
}

int64_t mt_beside_element (const mt_gemm_launch *l, int which, const int64_t at[3]) {
  const mt_beside *s = &l->beside[which];
  const mt_digit *g = s->digit;
  int64_t o = l->beside_offset[which];
  for (int i = 0; i < 3; g += s->ndigit[i++]) o += digits(g, s->ndigit[i], at[i]);
  const int64_t bits = o & (int64_t)s->swizzle;
  return o ^ (s->shift >= 0 ? bits >> s->shift : bits << -s->shift);
}

double mt_beside_value (const mt_gemm_launch *l, int which, const int64_t at[3]) {
  if (!mt_has_beside(l, which)) return 0;
  const mt_dtype d = (mt_dtype)l->beside[which].dtype;
  const char *base = l->beside_base[which];
  return mt_load_element(d, base + mt_beside_element(l, which, at) *
                                       (int64_t)mt_dtype_size(d))
      .f;
}
