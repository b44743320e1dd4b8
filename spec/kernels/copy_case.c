/*
** copy_case.c - a random copy by a kernel on the host: what it writes is what the
** reference executor writes.
** SPDX-License-Identifier: MIT
**
** Descriptors are drawn, not planned: axes of any number in each mode, strides of any
** order and sign, broadcasts, holes, bounds through vectors, grids smaller than the work.
*/
#include <stdio.h>
#include <stdlib.h>

#include "kernels_test.h"
#include "copy/algo.h"
#include "copy/check.h"
#include "plan/device.h"
#include "copy/copy.h"
#include "copy/ref.h"
#include "copy/permute_smem.h"
#include "desc/interleave_desc.h"
#include "desc/swizzle.h"

enum { MOST = 20000, MARGIN = 64, POISON = 0xEE };

/* ---------------------------------------------------------------- drawing a launch */

/* As desc/copy_desc.h has it. */
void set_divisor (mt_axis *a) {
  int log = 0;
  if (a->extent == 1) return;
  while (((int64_t)1 << log) < a->extent) log++;
  uint64_t power = (uint64_t)1 << (31 + log), n = (uint64_t)a->extent;
  a->mul = (uint32_t)((power + n - 1) / n);
  a->shift = (uint32_t)(log - 1);
}

static int64_t draw_axes (mt_axis *a, uint32_t count, int64_t *total) {
  int64_t size = 1;
  for (uint32_t i = 0; i < count; i++) {
    a[i].extent = 1 + below(below(3) ? 5 : *total < 64 ? 40 : 9);
    if (*total * a[i].extent > MOST) a[i].extent = 1;
    *total *= a[i].extent, size *= a[i].extent;
    set_divisor(&a[i]);
  }
  return size;
}

/* Few accesses at each index of an axis: a thread has several turns of some indices. */
static void draw_pixels (mt_desc *d) {
  d->nthr = d->nval = 0, d->nrest = 2;
  d->axis[0].extent = 2 + below(3), d->axis[1].extent = 1 + below(3000);
  for (int i = 0; i < 2; i++) set_divisor(&d->axis[i]);
  d->threads = d->values = 1;
  d->rests = d->axis[0].extent * d->axis[1].extent;
}

static void draw_modes (mt_desc *d) {
  int64_t total = 1;
  if (d->algo == MT_ALGO_STRIDED && below(6) == 0) return draw_pixels(d);
  if (d->algo == MT_ALGO_DESCRIBED) {
    bool plain = below(3) == 0;
    d->nthr = (uint32_t)(plain ? 1 + below(2) : below(4));
    d->nval = (uint32_t)(plain ? 0 : below(4));
    d->nrest = (uint32_t)(plain ? 1 + below(3) : below(4));
  } else d->nrest = (uint32_t)below(6);
  d->threads = draw_axes(d->axis, d->nthr, &total);
  d->values = draw_axes(d->axis + d->nthr, d->nval, &total);
  d->rests = draw_axes(d->axis + d->nthr + d->nval, d->nrest, &total);
}

/* One side: compact in a random order, with holes; some axes run backwards. */
static void draw_side (mt_launch *l, int side, int n) {
  mt_desc *d = &l->desc;
  int64_t stride = d->vec;
  int order[MT_MAXAXIS];
  for (int i = 0; i < n; i++) order[i] = i;
  for (int i = n - 1; i > 0; i--) {
    int j = below(i + 1), t = order[i];
    order[i] = order[j], order[j] = t;
  }
  for (int i = 0; i < n; i++) {
    d->axis[order[i]].stride[side] = stride;
    stride *= d->axis[order[i]].extent;
    if (below(4) == 0) stride += d->vec * below(3);
  }
  if (side == MT_SRC && n > 0 && below(3) == 0) d->axis[below(n)].stride[side] = 0;
  for (mt_axis *a = d->axis; a < d->axis + n; a++) {
    if (below(6) != 0) continue;
    l->offset[side] += (a->extent - 1) * a->stride[side];
    a->stride[side] = -a->stride[side];
  }
  l->offset[side] += d->vec * below(4);
}

/* Pixels of bytes that follow one another in the destination, or backwards, out of a few
** bytes of the source each, in any order. */
static void draw_words (mt_launch *l) {
  mt_desc *d = &l->desc;
  const int64_t count = d->axis[0].extent, step = 2 + below(3),
                most = (step - 1) / (count - 1);
  const int64_t by = below(2) ? most : -most;
  d->axis[0].stride[MT_SRC] = by, d->axis[1].stride[MT_SRC] = step;
  d->axis[0].stride[MT_DST] = below(3) ? 1 : -1, d->axis[1].stride[MT_DST] = count;
  l->offset[MT_SRC] = (by < 0 ? -by * (count - 1) : 0) + below(6);
  l->offset[MT_DST] = below(3) ? 4 * below(5) : below(5);
  if (d->axis[0].stride[MT_DST] < 0) l->offset[MT_DST] += count;
}

/* A coordinate over some of the axes, maybe over the elements of an access; cut short. */
static void draw_bound (mt_desc *d, uint32_t k, int n) {
  int64_t step = 1;
  if (below(2)) d->lane_step[k] = 1, step = d->vec;
  for (mt_axis *a = d->axis; a < d->axis + n; a++)
    if (below(2)) a->step[k] = step, step *= a->extent;
  d->bound[k] = step > 1 && below(3) ? 1 + below((int)step) : step;
}

/* Tiles: runs of both sides, of a few axes; outer axes behind them. */

void set_axis (mt_desc *d, uint32_t i, int64_t extent, int64_t src, int64_t dst) {
  mt_axis *a = &d->axis[i];
  a->extent = extent, a->stride[MT_SRC] = src, a->stride[MT_DST] = dst;
  set_divisor(a);
}

/* `length` as a product of one to three extents. */
static uint32_t split (int64_t *extent, int length) {
  uint32_t n = 0;
  for (int f = 2 + below(5); n < 2 && length % f == 0 && below(2); f = 2 + below(5))
    extent[n++] = f, length /= f;
  extent[n++] = length;
  return n;
}

/* Elements that make a pitch a multiple of 16 bytes. */
static int64_t aligned_pitch (const mt_desc *d, int side, int64_t pitch) {
  int64_t v = 16 / MT_ELEM(d, side);
  return (pitch + v - 1) / v * v;
}

/* The axes of one run cross those of the other: behind a run of the side, in an order of
** chance, its pitches. */
static void draw_tiles (mt_launch *l) {
  mt_desc *d = &l->desc;
  bool unaligned = d->algo == MT_ALGO_TRANSPOSE_UNALIGNED;
  int64_t s[3], e[3], vec = d->vec, run[2] = {1 + below(140), 1 + below(140)};
  if (below(unaligned ? 3 : 8) == 0) run[below(2)] += 160;
  if (unaligned && d->cast && below(4) == 0) run[0] += 160, run[1] += 160;
  if (below(3) == 0) run[below(2)] = 1 + below(40);
  int64_t src = run[0] * vec, dst = run[1] * vec, stride;
  d->nthr = split(s, (int)run[0]), d->nval = split(e, (int)run[1]);
  d->threads = run[0], d->values = run[1], d->rests = 1 + below(3);
  stride = vec;
  for (uint32_t i = 0; i < d->nthr; i++) {
    dst += vec * below(unaligned ? 5 : 1);
    if (!unaligned) dst = aligned_pitch(d, MT_DST, dst);
    set_axis(d, i, s[i], stride, dst);
    stride *= s[i], dst *= s[i];
  }
  stride = vec;
  for (uint32_t i = 0; i < d->nval; i++) {
    src += vec * below(unaligned ? 5 : 1);
    if (!unaligned) src = aligned_pitch(d, MT_SRC, src);
    set_axis(d, d->nthr + i, e[i], src, stride);
    stride *= e[i], src *= e[i];
  }
  d->nrest = d->rests > 1;
  if (d->nrest) set_axis(d, d->nthr + d->nval, d->rests, below(4) ? src : 0, dst);
  for (int side = 0; side < 2; side++)
    l->offset[side] = unaligned ? vec * below(40) : aligned_pitch(d, side, 1) * below(4);
}

static mt_divisor divisor_of (int64_t n) {
  mt_axis a = {.extent = n};
  set_divisor(&a);
  return (mt_divisor){(uint32_t)n, a.mul, a.shift};
}

static void set_raster (mt_desc *d) {
  bool unaligned = d->algo == MT_ALGO_TRANSPOSE_UNALIGNED;
  int64_t bytes = MT_ELEM(d, MT_DST) * d->vec;
  int64_t more = !unaligned ? 0 :
                 d->cast    ? 16 / bytes :
                              MT_TRANSPOSE_UNALIGNED_BEFORE(bytes);
  int64_t tile = unaligned ? MT_TRANSPOSE_UNALIGNED_D(bytes) : MT_TRANSPOSE_D(bytes);
  int64_t across = unaligned ? MT_TRANSPOSE_UNALIGNED_S(bytes) : MT_TRANSPOSE_S(bytes);
  if (d->cast) {
    uint32_t src = d->elem, dst = d->to;
    tile = unaligned ? MT_CAST_TRANSPOSE_UNALIGNED_D(src, dst) :
                       MT_CAST_TRANSPOSE_D(src, dst);
    across = unaligned ? MT_CAST_TRANSPOSE_UNALIGNED_S(src, dst) :
                         MT_CAST_TRANSPOSE_S(src, dst);
  } else if (mt_tile_is_large(d)) {
    tile = MT_LARGE_D(bytes), across = MT_LARGE_S(bytes);
  }
  int64_t ns = (d->threads + across - 1) / across;
  int64_t nd = (d->values + more + tile - 1) / tile, strip = ns;
  mt_raster *r = &d->raster;
  while (strip > 8) strip = (ns + (ns + 7) / 8 - 1) / ((ns + 7) / 8);
  if (unaligned && nd >= 8) strip = 1;
  r->strip = divisor_of(strip);
  r->along = divisor_of(nd);
  r->across = divisor_of((ns + strip - 1) / strip);
}

static void draw_pack (mt_launch *l) {
  mt_desc *d = &l->desc;
  int packed = below(2);
  int64_t vec = d->vec,
          n = 2 + below((below(2) ? MT_INTERLEAVE_FEW : MT_INTERLEAVE_MOST) - 1);
  int64_t w = 2 + below(below(4) ? 300 : below(2) ? 3000 / (int)n : 20000 / (int)n);
  int64_t pitch = aligned_pitch(d, MT_SRC, (w + below(9)) * vec), stride[2];
  int64_t rest = aligned_pitch(d, MT_SRC, n * pitch);
  if (pitch == vec) pitch = aligned_pitch(d, MT_SRC, vec + 1);
  stride[packed] = vec, stride[1 - packed] = pitch;
  set_axis(d, 0, n, stride[MT_SRC], stride[MT_DST]);
  stride[packed] = n * vec, stride[1 - packed] = vec;
  set_axis(d, 1, w, stride[MT_SRC], stride[MT_DST]);
  d->nthr = d->nval = 1;
  d->threads = n, d->values = w, d->rests = 1 + below(3);
  d->nrest = d->rests > 1;
  if (d->nrest) set_axis(d, 2, d->rests, rest, rest);
}

/* Boxes: both sides have a run of their first axes, in whole vectors; behind it strides
** are multiples of a vector, some of them negative. */

/* The axes that are needed to make whole vectors of n units; more than `n`: there are
** none. */
static int whole (const mt_desc *d, const uint8_t *order, int n) {
  int64_t units = 16 / (d->vec * d->elem), size = 1;
  for (int i = 0; i < n; i++)
    if ((size *= d->axis[order[i]].extent) % units == 0) return i + 1;
  return n + 1;
}

int draw_extents (mt_desc *d, int n) {
  int64_t most =
      (below(4) ? MT_PERMUTE_BYTES / 8 : MT_PERMUTE_BYTES) / (d->vec * d->elem);
  for (int i = 0; i < n; i++) {
    int64_t e = 2 + below(below(3) ? 7 : below(4) ? 40 : 500);
    if (below(2)) e = (int64_t)1 << (1 + below(5));
    if (e > most) return i;
    d->axis[i].extent = e, most /= e;
  }
  return n;
}

static int64_t draw_box_side (mt_launch *l, int side, const uint8_t *order, int n) {
  mt_desc *d = &l->desc;
  int run = whole(d, order, n) + below(2);
  int64_t stride = d->vec;
  for (int i = 0; i < n; i++) {
    mt_axis *a = &d->axis[order[i]];
    if (i >= run) stride += aligned_pitch(d, side, 1) * below(3);
    a->stride[side] = stride;
    stride *= a->extent;
    if (i < run || below(6) != 0) continue;
    l->offset[side] += (a->extent - 1) * a->stride[side];
    a->stride[side] = -a->stride[side];
  }
  return stride;
}

/* Any geometry that goes with the axes; false if this one does not. */
static bool draw_geometry (mt_desc *d) {
  uint32_t unit = d->vec * d->elem, at = unit;
  d->permute.group = (uint16_t)(1u << below(5)), d->permute.wide = 1;
  while (d->permute.group > 16 / unit) d->permute.group /= 2;
  if (unit < 4 && below(4)) d->permute.wide = (uint16_t)(4 / unit);
  if (below(3) == 0) d->permute.warp_row = (uint16_t)(1 << below(5));
  for (uint32_t k = 0; k < d->nthr; k++) {
    if (k > 0 && below(3) == 0) at += 16 * (uint32_t)below(4);
    if (at * (uint32_t)d->axis[k].extent > MT_PERMUTE_SHARED) return false;
    d->permute.pitch[k] = (uint16_t)at;
    at *= (uint32_t)d->axis[k].extent;
  }
  int64_t extent[MT_PERMUTE_AXES], part;
  int axis;
  for (uint32_t k = 0; k < d->nthr; k++) extent[k] = d->axis[d->permute.order[k]].extent;
  return mt_permute_group(&axis, &part, extent, (int)d->nthr, d->permute.group) ==
             d->permute.group &&
         mt_permute_build(d);
}

static void draw_rest (mt_launch *l, int64_t src, int64_t dst) {
  mt_desc *d = &l->desc;
  d->rests = 1;
  d->nrest = (uint32_t)below(3);
  for (uint32_t i = 0; i < d->nrest; i++) {
    int64_t e = 1 + below(3);
    set_axis(d, d->nthr + i, e, below(4) ? src : 0, dst);
    src *= e, dst *= e, d->rests *= e;
  }
}

static void draw_box (mt_launch *l) {
  mt_desc *d = &l->desc, tried;
  uint8_t plain[MT_PERMUTE_AXES], *order = d->permute.order;
  int n;
  do {
    n = draw_extents(d, 1 + below(6));
    for (int i = 0; i < n; i++) plain[i] = order[i] = (uint8_t)i;
    for (int i = n - 1; i > 0; i--) {
      int j = below(i + 1);
      uint8_t t = order[i];
      order[i] = order[j], order[j] = t;
    }
  } while (n == 0 || whole(d, plain, n) > n || whole(d, order, n) > n);
  memset(order + n, 0, (size_t)(MT_PERMUTE_AXES - n));
  d->nthr = (uint32_t)n, d->threads = 1, d->values = 1;
  for (int i = 0; i < n; i++) {
    set_divisor(&d->axis[i]);
    d->threads *= d->axis[i].extent;
  }
  int64_t src = draw_box_side(l, MT_SRC, plain, n);
  draw_rest(l, src, draw_box_side(l, MT_DST, order, n));
  for (int side = 0; side < 2; side++)
    l->offset[side] += aligned_pitch(d, side, 1) * below(4);
  for (int i = 0; i < 8; i++) {
    tried = *d;
    if (below(2) && draw_geometry(&tried)) {
      *d = tried;
      return;
    }
  }
  mt_permute_choose(d);
}

/* A swizzle that keeps accesses together; the offset under it may be below 0. */
static void draw_flip (mt_launch *l, int side) {
  mt_desc *d = &l->desc;
  int base = below(5), bits = 1 + below(4), by = bits + below(4);
  while (1u << base < d->vec) base++;
  bool down = below(3) != 0;
  d->swizzle[side].mask = (((int64_t)1 << bits) - 1) << (base + (down ? by : 0));
  d->swizzle[side].shift = down ? by : -by;
  l->origin[side] = d->vec * below(9);
  if (below(3) == 0) {
    int64_t blocks = (1 + below(5)) * ((int64_t)1 << (base + bits + by));
    l->offset[side] -= blocks, l->origin[side] += blocks;
  }
}

/* One of the types that a row's type stands for. */
static int draw_type (int of) {
  int type;
  do type = below(MT_NDTYPE);
  while (of != MT_any && (int)mt_dtype_size((mt_dtype)type) != 1 << (of - MT_any1));
  return type;
}

/* Of a row for many types two of them. */
static void draw_cast (mt_desc *d, const mt_kernel *k) {
  int from = MT_CAST_SRC(k->cast), to = MT_CAST_DST(k->cast);
  if (from >= MT_any1) {
    const int rounded = to == MT_rounded, types[] = {from, to};
    from = draw_type(types[0]);
    do to = draw_type(rounded ? MT_any : types[1]);
    while (to == from);
    d->cast = MT_CAST_ROUNDED(MT_CAST(from, to), rounded ? 1 + below(3) : 0);
  } else d->cast = MT_CAST(from, to);
  d->elem = (uint32_t)mt_dtype_size((mt_dtype)from);
  d->to = (uint32_t)mt_dtype_size((mt_dtype)to);
  d->vec = 16 / (d->elem > d->to ? d->elem : d->to);
  if (d->algo != MT_ALGO_STRIDED || below(2)) d->vec = 1;
}

static void draw (mt_launch *l, const mt_kernel *k) {
  mt_desc *d = &l->desc;
  memset(l, 0, sizeof *l);
  d->op = k->op, d->algo = k->algo;
  if (k->cast) {
    draw_cast(d, k);
  } else {
    do d->elem = 1u << below(5);
    while (d->elem > k->bytes);
    d->vec = k->bytes / d->elem;
  }
  if (d->algo == MT_ALGO_INTERLEAVE) return draw_pack(l);
  if (d->algo == MT_ALGO_ROWS) return draw_rows(l);
  if (d->algo == MT_ALGO_PERMUTE) return draw_box(l);
  if (d->algo == MT_ALGO_PERMUTE_UNALIGNED) return draw_unaligned(l, k->unroll == 2);
  if (d->algo == MT_ALGO_GATHER) return draw_gather(l);
  if (d->algo == MT_ALGO_STAGED) return draw_staged(l, k->unroll == 1);
  if (d->algo == MT_ALGO_BITS) return draw_bits(l);
  if (mt_algo_is(d->algo, MT_TILED)) {
    draw_tiles(l);
    return set_raster(d);
  }
  draw_modes(d);
  int n = (int)(d->nthr + d->nval + d->nrest);
  draw_side(l, MT_SRC, n);
  draw_side(l, MT_DST, n);
  if (k->bytes == 1 && !k->swizzled && n == 2 && d->nrest == 2 && d->axis[0].extent > 1 &&
      d->axis[0].extent <= 4 && below(2))
    draw_words(l);
  if (k->cast == 0 || d->algo == MT_ALGO_DESCRIBED)
    d->nbound = (uint32_t)(below(2) ? 0 : 1 + below(MT_MAXBOUND));
  for (uint32_t i = 0; i < d->nbound; i++) draw_bound(d, i, n);
  int both = !k->swizzled ? 0 : k->cast ? below(4) : 1 + below(3);
  for (int side = 0; side < 2; side++)
    if (both >> side & 1) draw_flip(l, side);
}

/* ---------------------------------------------------------------- running it */

static size_t bytes_of (const mt_launch *l, int side) {
  const mt_desc *d = &l->desc;
  int64_t last = l->offset[side] + d->vec;
  for (const mt_axis *a = d->axis; a < d->axis + d->nthr + d->nval + d->nrest; a++)
    if (a->stride[side] > 0) last += (a->extent - 1) * a->stride[side];
  if (d->swizzle[side].mask != 0)
    last = l->origin[side] + ((last - 1) | mt_desc_swizzle_block(d->swizzle[side])) + 1;
  return (size_t)last * MT_ELEM(d, side);
}

static unsigned char *buffer (size_t bytes, bool random) {
  unsigned char *p = aligned_alloc(256, (bytes + MARGIN + 255) / 256 * 256);
  if (p == NULL) abort();
  memset(p, POISON, bytes + MARGIN);
  for (size_t i = 0; random && i < bytes; i++) p[i] = (unsigned char)below(256);
  return p;
}

/* Bytes, accesses one by one: the source may begin anywhere. */
static bool begins_anywhere (const mt_desc *d) {
  return d->algo == MT_ALGO_STRIDED && d->vec * d->elem == 1;
}

static bool run (mt_launch *l, const mt_kernel *k, mt_grid grid, emulated *f) {
  mt_err err = MT_NOERR;
  size_t bytes[MT_MAXBASE] = {bytes_of(l, MT_SRC), bytes_of(l, MT_DST)};
  const size_t shift = begins_anywhere(&l->desc) ? (size_t)below(4) : 0;
  unsigned char *src = buffer(bytes[0] + shift, true);
  unsigned char *want = buffer(bytes[1], false), *got = buffer(bytes[1], false);
  l->base[MT_SRC] = src + shift, l->base[MT_DST] = want;
  for (int i = 0; i < 2; i++) l->size[i] = (int64_t)bytes[i];
  mt_status s = mt_ref_run(k, grid, l, bytes, &err);
  if (s != MT_OK) fprintf(stderr, "the reference: %s\n", err.text);
  l->base[MT_DST] = got;
  f(grid.blocks, grid.threads, l);
  bool same = s == MT_OK && memcmp(want, got, bytes[1] + MARGIN) == 0;
  free(src), free(want), free(got);
  return same;
}

bool one_copy (int row, emulated *const *tables, int count) {
  mt_launch l;
  mt_grid grid;
  mt_refusals why = {0};
  const mt_kernel *k = &mt_cuda_kernels[row];
  const mt_desc *d = &l.desc;
  mt_err err = MT_NOERR;
  draw(&l, k);
  if (mt_algo_is(k->algo, MT_TILED)) {
    if (mt_check_shape(&l, &err) != MT_OK) {
      fprintf(stderr, "%s: drawn wrong: %s\n", k->name, err.text);
      return false;
    }
  }
  if (d->algo == MT_ALGO_GATHER || d->algo == MT_ALGO_STAGED) draw_first(&l.desc);
  if (mt_kernel_choose(k, 1, d, &grid, &why) == NULL) return true;
  if (!mt_algo_is(k->algo, MT_TILED) && below(4) == 0)
    grid.blocks = 1 + (uint32_t)below((int)grid.blocks);
  bool same = true;
  for (int i = 0; same && i < count; i++) same = run(&l, k, grid, tables[i]);
  if (same) return true;
  fprintf(stderr, "%s: %d+%d+%d axes, %d bounds, %d x %d bytes, %d blocks of %d\n",
          k->name, (int)d->nthr, (int)d->nval, (int)d->nrest, (int)d->nbound, (int)d->vec,
          (int)d->elem, (int)grid.blocks, (int)grid.threads);
  return false;
}
