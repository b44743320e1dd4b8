/*
** tma.c - the boxes of a copy by TMA, and the rules that they have to keep.
** SPDX-License-Identifier: MIT
**
** The inverse of the layout in shared memory says which coordinate of the tile comes
** next. As coordinates of the tensor, its modes are the dimensions of the box, from the
** innermost on, up to the first that begins in the middle of a dimension.
*/
#include <stdarg.h>

#include "moontile/algebra.h"
#include "moontile/tma.h"
#include "core/build.h"
#include "core/strbuf.h"

const char *mt_tma_swizzle_name (int swizzle) {
  static const char *const names[] = {"none", "32B", "64B", "128B"};
  return swizzle >= 0 && swizzle < 4 ? names[swizzle] : "?";
}

/* ---------------------------------------------------------------- dimensions */

/* The leaf of the tensor's layout that a basis element names. */
static const mt_node *leaf_at (const mt_node *g, const mt_node *basis) {
  for (int i = basis->path[7]; i-- > 0;) g = mt_mode(g, basis->path[i]);
  return g;
}

static mt_status add_dim (mt_tma *t, const mt_node *leaf, int64_t box, mt_err *err) {
  if (t->rank == MT_TMA_DIMS)
    return mt_fail(err, MT_ETOOBIG, "tma: the tensor has more than %d dimensions",
                   (int)MT_TMA_DIMS);
  t->dim[t->rank] = leaf->shape;
  if (mt_mulo(leaf->stride, t->bits / 8, &t->stride[t->rank]))
    return mt_fail(err, MT_EOVERFLOW, "tma: a stride leaves 64 bits");
  t->box[t->rank++] = box;
  return MT_OK;
}

/* The leaves that are dimensions, in their order; the first `box` are the box's. */
typedef struct taken {
  int n, box;
  const mt_node *leaf[MT_TMA_DIMS];
} taken;

static bool has (const taken *x, const mt_node *leaf) {
  for (int i = 0; i < x->n; i++)
    if (x->leaf[i] == leaf) return true;
  return false;
}

/* run: element of shared memory -> coordinate of the tensor. */
static mt_status take_box (mt_tma *t, taken *x, const mt_node *g, const mt_node *run,
                           mt_err *err) {
  for (const mt_node *p = mt_leaf(run, run); p < mt_next(run);
       p = mt_leaf(run, mt_after(p))) {
    if (p->shape == 1) continue;
    if (p->tag != MT_LEAF || p->ring != MT_BASIS || p->stride != 1) break;
    const mt_node *leaf = leaf_at(g, p);
    if (leaf == NULL || leaf->tag != MT_LEAF || has(x, leaf)) break;
    MT_TRY(add_dim(t, leaf, p->shape, err));
    x->leaf[x->n++] = leaf;
  }
  x->box = x->n;
  if (x->n > 0) return MT_OK;
  return mt_failn(
      err, MT_EINEXACT,
      "tma: no dimension of the tensor %N runs from element to element of the "
      "tile in shared memory\nlay the tile out along one",
      g);
}

static mt_status take_others (mt_tma *t, taken *x, const mt_node *g, mt_err *err) {
  for (const mt_node *p = mt_leaf(g, g); p < mt_next(g); p = mt_leaf(g, mt_after(p))) {
    if (p->stride == 0 || has(x, p)) continue;
    MT_TRY(add_dim(t, p, 1, err));
    x->leaf[x->n++] = p;
  }
  return MT_OK;
}

/* Which leaf of the tensor is which dimension. */
static void name_axes (mt_tma *t, const taken *x, const mt_node *g) {
  const mt_node *leaf[MT_MAXNODES];
  int n = mt_leaves(leaf, g);
  for (int i = 0; i < n; i++) {
    t->axis[i] = -1;
    for (int k = 0; k < x->n; k++)
      if (x->leaf[k] == leaf[i]) t->axis[i] = (int8_t)k;
  }
}

/* Each CTA fetches a part of the last dimensions. */
static void divide (mt_tma *t, int dims) {
  int64_t left = t->multicast;
  for (int i = dims - 1; left > 1 && i >= 0; i--) {
    int64_t more = (left + t->box[i] - 1) / t->box[i];
    t->box[i] = (t->box[i] + left - 1) / left;
    left = more;
  }
}

/* ---------------------------------------------------------------- rules */

static bool broken (mt_tma *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool broken (mt_tma *t, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  vsnprintf(t->why, sizeof t->why, format, ap);
  va_end(ap);
  return false;
}

static bool sound_elements (mt_tma *t) {
  if (t->bits == 8 || t->bits == 16 || t->bits == 32 || t->bits == 64) return true;
  return broken(t, "elements have %d bits: TMA moves 8, 16, 32 and 64", t->bits);
}

static bool sound_dims (mt_tma *t) {
  if (t->stride[0] != t->bits / 8)
    return broken(
        t,
        "what runs in shared memory has a stride of %lld bytes in the tensor: it "
        "is to be contiguous there",
        (long long)t->stride[0]);
  for (int i = 0; i < t->rank; i++) {
    if (t->dim[i] < 1 || t->dim[i] > INT64_C(1) << 32)
      return broken(t, "dimension %d has the extent %lld: 1 to 2^32 are possible", i,
                    (long long)t->dim[i]);
    if (i == 0 || (t->stride[i] > 0 && t->stride[i] % MT_TMA_ALIGN == 0 &&
                   t->stride[i] < INT64_C(1) << 40))
      continue;
    return broken(t,
                  "dimension %d has a stride of %lld bytes: TMA takes multiples of %d, "
                  "above 0, below 2^40; pad the rows",
                  i, (long long)t->stride[i], (int)MT_TMA_ALIGN);
  }
  return true;
}

static bool sound_box (mt_tma *t) {
  int64_t inner = t->box[0] * t->bits / 8, span = t->swizzle ? 16 << t->swizzle : 0;
  for (int i = 0; i < t->rank; i++)
    if (t->box[i] > MT_TMA_MOSTBOX)
      return broken(t, "the box has %lld elements along dimension %d: at most %d; cut it",
                    (long long)t->box[i], i, (int)MT_TMA_MOSTBOX);
  if (inner % MT_TMA_ALIGN != 0)
    return broken(t, "the box is %lld bytes wide: TMA takes multiples of %d",
                  (long long)inner, (int)MT_TMA_ALIGN);
  if (span && inner > span)
    return broken(t, "the box is %lld bytes wide, the swizzle %s has %lld",
                  (long long)inner, mt_tma_swizzle_name(t->swizzle), (long long)span);
  if ((t->boxes > 1 || t->multicast > 1) && t->bytes % MT_TMA_SMEM != 0)
    return broken(t,
                  "a box has %lld bytes: the next would begin at no multiple of %d in "
                  "shared memory",
                  (long long)t->bytes, (int)MT_TMA_SMEM);
  return true;
}

static bool sound_base (mt_tma *t, const mt_tensor *x) {
  uint64_t at =
      (uint64_t)(uintptr_t)x->data + (uint64_t)x->offset * (uint64_t)t->bits / 8;
  if (x->data == NULL || at % MT_TMA_ALIGN == 0) return true;
  return broken(t, "the tensor begins %d bytes past a multiple of %d",
                (int)(at % MT_TMA_ALIGN), (int)MT_TMA_ALIGN);
}

/* Sw<B,4,3> of byte addresses. */
static bool sound_swizzle (mt_tma *t, const mt_node *smem) {
  mt_swizzle w = mt_swizzle_of(smem);
  int m = 0;
  if (!mt_is_swizzled(smem)) return true;
  while (128 / t->bits >> (m + 1)) m++;
  t->swizzle = w.b <= 3 ? w.b : 0;
  if (smem->stride == 0 && w.b <= 3 && (w.b == 0 || (w.m == m && w.s == 3))) return true;
  return broken(t,
                "shared memory has Sw<%d,%d,%d>%s: TMA has Sw<1,%d,3>, Sw<2,%d,3> and "
                "Sw<3,%d,3> for elements of %d bits",
                w.b, w.m, w.s, smem->stride ? " behind an offset" : "", m, m, m, t->bits);
}

/* ---------------------------------------------------------------- the whole */

static mt_status check (const mt_tensor *x, int bits, const mt_node *smem,
                        int64_t multicast, mt_err *err) {
  const mt_node *g = x->layout;
  if (!mt_is_layout(g) || !mt_is_integral(g) || mt_is_swizzled(g) || mt_size(g) == 0)
    return mt_failn(
        err, MT_EINVAL,
        "tma: tensor: a layout of offsets, not swizzled, not empty, expected, "
        "got %N",
        g);
  if (!mt_is_layout(smem) || !mt_is_integral(smem) || mt_size(smem) == 0)
    return mt_failn(err, MT_EINVAL,
                    "tma: smem: a layout of offsets, not empty, expected, got %N", smem);
  if (bits < 8 || bits > 128 || bits % 8 != 0)
    return mt_fail(err, MT_EINVAL, "tma: elements of %d bits", bits);
  if (multicast < 1 || multicast > 16)
    return mt_fail(err, MT_EINVAL, "tma: multicast is %lld: 1 to 16 CTAs",
                   (long long)multicast);
  return MT_OK;
}

/* Coordinate of the tile -> coordinate of the tensor. */
static mt_status tile_of (mt_layout *out, const mt_node *g, const mt_node *smem,
                          const mt_node *box, mt_err *err) {
  mt_layout identity, shape;
  const mt_node *in = mt_inner(smem);
  MT_TRY(mt_shape(&shape, g, err));
  MT_TRY(mt_make_identity_layout(&identity, shape.node, err));
  if (box == NULL) {
    int64_t extent[MT_MAXNODES];
    int n = mt_rank(in);
    for (int i = 0; i < n; i++) extent[i] = mt_size(mt_mode(in, i));
    MT_TRY(mt_ints(&shape, n, extent, err));
    box = shape.node;
  }
  if (mt_is_branch(box) && mt_rank(box) > mt_rank(g))
    return mt_failn(err, MT_ERANK, "tma: the tile %N has %d modes, the tensor %N has %d",
                    box, mt_rank(box), g, mt_rank(g));
  MT_TRY(mt_composition(out, identity.node, box, err));
  if (mt_size(out->node) == mt_size(in)) return MT_OK;
  return mt_failn(err, MT_EINVAL, "tma: the tile %N has %lld elements, smem %N has %lld",
                  box, (long long)mt_size(out->node), smem, (long long)mt_size(in));
}

mt_status mt_make_tma (mt_tma *out, const mt_tensor *x, int bits, const mt_node *smem,
                       const mt_node *box, int64_t multicast, mt_err *err) {
  mt_layout tile, inverse, run, flat;
  taken dims = {.n = 0};
  MT_TRY(check(x, bits, smem, multicast, err));
  *out = (mt_tma){.bits = bits, .multicast = multicast};
  MT_TRY(tile_of(&tile, x->layout, smem, box, err));
  MT_TRY(mt_right_inverse(&inverse, mt_inner(smem), err));
  MT_TRY(mt_composition(&run, tile.node, inverse.node, err));
  MT_TRY(mt_coalesce(&flat, run.node, NULL, err));
  MT_TRY(take_box(out, &dims, x->layout, flat.node, err));
  MT_TRY(take_others(out, &dims, x->layout, err));
  name_axes(out, &dims, x->layout);
  divide(out, dims.box);
  out->bytes = bits / 8;
  for (int i = 0; i < out->rank; i++) out->bytes *= out->box[i];
  out->boxes = mt_size(smem) * (bits / 8) / (out->bytes * multicast);
  bool swizzled = sound_swizzle(out, smem);
  out->align = out->swizzle ? 128 << out->swizzle : MT_TMA_SMEM;
  if (swizzled && sound_elements(out) && sound_dims(out) && sound_box(out))
    sound_base(out, x);
  return MT_OK;
}

mt_status mt_tma_coords (mt_layout *out, const mt_tma *t, const mt_node *g, mt_err *err) {
  int n = 0;
  if (!mt_is_layout(g) || !mt_is_integral(g) || mt_is_swizzled(g))
    return mt_failn(err, MT_EINVAL, "tma_coords: the tensor's layout expected, got %N",
                    g);
  mt_copy_value(out, g);
  mt_node *end = out->node + g->span;
  for (mt_node *p = out->node; p < end; p++) {
    if (p->tag != MT_LEAF) continue;
    int axis = t->axis[n++];
    p->stride = axis >= 0;
    p->ring = axis >= 0 ? MT_BASIS : MT_Z;
    if (axis < 0) continue;
    p->path[0] = (uint8_t)axis;
    p->path[7] = 1;
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- text */

static void put_list (mt_strbuf *b, const char *what, const int64_t *v, int first,
                      int n) {
  mt_putf(b, "%s (", what);
  for (int i = first; i < n; i++)
    mt_putf(b, "%s%lld", i > first ? "," : "", (long long)v[i]);
  mt_putf(b, ")");
}

size_t mt_tma_format (char *buf, size_t size, const mt_tma *t) {
  static const int64_t ones[MT_TMA_DIMS] = {1, 1, 1, 1, 1};
  mt_strbuf b = {buf, size, 0};
  if (size > 0) buf[0] = 0;
  if (t->why[0]) mt_putf(&b, "no TMA: %s\n", t->why);
  put_list(&b, "tensor map: dims", t->dim, 0, t->rank);
  put_list(&b, ", byte strides", t->stride, 1, t->rank);
  put_list(&b, ", box", t->box, 0, t->rank);
  put_list(&b, ", element strides", ones, 0, t->rank);
  mt_putf(&b, ", swizzle %s\n", mt_tma_swizzle_name(t->swizzle));
  mt_putf(&b, "boxes: %lld of %lld bytes", (long long)t->boxes, (long long)t->bytes);
  if (t->multicast > 1)
    mt_putf(&b, " a CTA, each for %lld CTAs", (long long)t->multicast);
  mt_putf(&b, "; shared memory aligned to %lld bytes", (long long)t->align);
  return b.n;
}
