/*
** check.c - the validator of products: sound, inside the buffers, written once.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "copy/check.h"
#include "desc/divisor.h"
#include "gemm/gemm.h"
#include "atom/mma_number.h"
#include "copy/copy.h"
#include "core/solve.h"
#include "algebra/swizzle.h"

static const char *const part_name[] = {"A", "B", "C"};
static const uint8_t mode_of[MT_PARTS][3] = {{MT_M, MT_K, MT_L},
                                             {MT_N, MT_K, MT_L},
                                             {MT_M, MT_N, MT_L}};

/* ---------------------------------------------------------------- tensors */

static bool wrong_divisor (int64_t extent, uint32_t mul, uint32_t shift, bool large) {
  mt_divisor by = {0};
  if (!large) by = mt_divisor_of(extent);
  return by.mul != mul || by.shift != shift;
}

/* The digits of a mode are enough for what is real, and none is too many; a batch that A
** and B have not has none. */
static mt_status check_digits (const mt_gemm_desc *d, int part, int i, const mt_digit *g,
                               mt_err *err) {
  uint32_t n = d->part[part].ndigit[i];
  int64_t size = mt_gemm_real_of(d, part, i), product = 1, less = 0;
  if (n == 0 && (size <= 1 || (i == 2 && part != MT_C))) return MT_OK;
  for (uint32_t j = 0; j < n; j++) {
    MT_CHECK(g[j].extent > 1, err, "%s: a digit without extent", part_name[part]);
    MT_CHECK(!wrong_divisor(g[j].extent, g[j].mul, g[j].shift, size > INT32_MAX), err,
             "%s: a digit with a wrong divisor", part_name[part]);
    less = product;
    if (mt_mulo(product, g[j].extent, &product)) product = -1;
  }
  MT_CHECK(product >= size && product - less < size, err,
           "%s: the digits of mode %d do not "
           "have its size",
           part_name[part], i + 1);
  return MT_OK;
}

static bool sound_swizzle (const mt_part *p) {
  int64_t y = p->swizzle;
  mt_swizzle w;
  if (p->shift < -31 || p->shift > 31) return false;
  return y == 0 ||
         mt_swizzle_from_masks(&w, y, p->shift < 0 ? y << -p->shift : y >> p->shift);
}

static mt_status check_real (const mt_gemm_desc *d, int part, mt_err *err) {
  for (int i = 0; i < 2; i++) {
    int64_t real = d->part[part].real[i], size = d->size[mode_of[part][i]];
    MT_CHECK(real >= 0 && real <= size && (real == size || (part != MT_C && i == 0)), err,
             "%s: %lld of %lld ordinates of mode %d are real", part_name[part],
             (long long)real, (long long)size, i + 1);
  }
  return MT_OK;
}

static mt_status check_tensor (const mt_gemm_launch *l, int part, mt_err *err) {
  const mt_part *p = &l->desc.part[part];
  const mt_digit *g = p->digit;
  mt_reach r = {false, l->offset[part], l->offset[part]};
  uint64_t n = (uint64_t)p->ndigit[0] + p->ndigit[1] + p->ndigit[2];
  bool over = false;
  MT_CHECK(p->dtype < MT_NDTYPE && n <= MT_MAXDIGIT && sound_swizzle(p), err,
           "%s: unknown type, swizzle, or too many digits", part_name[part]);
  MT_TRY(check_real(&l->desc, part, err));
  for (int i = 0; i < 3; g += p->ndigit[i++])
    MT_TRY(check_digits(&l->desc, part, i, g, err));
  for (g = p->digit; g < p->digit + n; g++)
    over = over || mt_reach_widen(&r, g->extent, g->stride);
  if (over || r.low < -(INT64_MAX >> 6) || r.high > INT64_MAX >> 6)
    return mt_fail(err, MT_EOVERFLOW, "gemm: an offset of %s leaves 64 bits",
                   part_name[part]);
  return MT_OK;
}

/* ---------------------------------------------------------------- partitions */

/* Extents of n axes make up `size`; what they add is summed. */
static bool sound_axes (const mt_step *a, uint32_t n, uint64_t size, uint64_t sum[2]) {
  uint64_t product = 1;
  for (uint32_t i = 0; i < n; i++) {
    if (a[i].extent < 2 || product > size ||
        wrong_divisor(a[i].extent, a[i].mul, a[i].shift, false))
      return false;
    product *= a[i].extent;
    for (int o = 0; o < 2; o++) sum[o] += (uint64_t)(a[i].extent - 1) * a[i].step[o];
  }
  return product == size;
}

/* The last index of an axis that alone does not lead outside: idle threads do. */
static int64_t last_inside (const mt_step *a, const int64_t size[2]) {
  int64_t last = (int64_t)a->extent - 1;
  for (int o = 0; o < 2; o++)
    if (a->step[o] && last > (size[o] - 1) / a->step[o])
      last = (size[o] - 1) / a->step[o];
  return last;
}

/* What is inside the tensor is inside the tile. */
static bool stays_in_tile (const mt_gemm_desc *d, int part, const uint64_t inner[3]) {
  const mt_part *p = &d->part[part];
  const uint8_t *mode = mode_of[part];
  const int64_t size[2] = {d->size[mode[0]], d->size[mode[1]]};
  uint64_t sum[2] = {inner[mode[0]], inner[mode[1]]};
  if (size[0] == 0 || size[1] == 0) return true;
  for (const mt_step *a = p->axis; a < p->axis + p->nthr + p->nval; a++)
    for (int o = 0; o < 2; o++) sum[o] += (uint64_t)last_inside(a, size) * a->step[o];
  return sum[0] < d->tile[mode[0]] && sum[1] < d->tile[mode[1]];
}

static mt_status check_part (const mt_gemm_desc *d, int part, const uint64_t inner[3],
                             mt_err *err) {
  const mt_part *p = &d->part[part];
  uint64_t sum[2] = {0, 0};
  MT_CHECK(p->nthr <= MT_MAXSTEP && p->nval <= MT_MAXSTEP - p->nthr &&
               sound_axes(p->axis, p->nthr, d->threads, sum) &&
               sound_axes(p->axis + p->nthr, p->nval, p->values, sum),
           err, "%s: the axes of threads and values do not make up their numbers",
           part_name[part]);
  MT_CHECK(stays_in_tile(d, part, inner), err, "%s: a value lies outside of its tile",
           part_name[part]);
  for (int o = 0; o < 2; o++) {
    int mode = mode_of[part][o];
    int64_t last = (d->tiles[mode] ? d->tiles[mode] - 1 : 0) * d->tile[mode];
    if (sum[o] > INT32_MAX || sum[o] + inner[mode] + (uint64_t)last > INT32_MAX)
      return mt_fail(err, MT_EUNSUPPORTED,
                     "gemm: an ordinate of %s along mode %d "
                     "reaches 2^31: mode of %lld, tiles of %lld",
                     part_name[part], mode + 1, (long long)d->size[mode],
                     (long long)d->tile[mode]);
  }
  return MT_OK;
}

static uint32_t index_of (const mt_step *a, uint32_t n, uint32_t i, int o) {
  uint32_t sum = 0;
  for (; n > 0; n--, a++) {
    sum += (n > 1 ? i % a->extent : i) * a->step[o];
    i /= a->extent;
  }
  return sum;
}

/* thread - (what its number adds) + (what any number adds) is a thread of that number. */
static mt_status check_kthreads (const mt_gemm_desc *d, mt_err *err) {
  const mt_step *add = d->kaxis + d->nkthr;
  uint64_t sum[2] = {0, 0};
  if (d->kthreads == 1 && d->nkthr == 0 && d->nkadd == 0) return MT_OK;
  MT_CHECK(d->kthreads > 1 && d->nkthr <= MT_MAXINNER &&
               d->nkadd <= MT_MAXINNER - d->nkthr &&
               sound_axes(d->kaxis, d->nkthr, d->threads, sum) &&
               sound_axes(add, d->nkadd, d->kthreads, sum),
           err, "the axes of the threads along K do not make up their number");
  for (uint32_t t = 0; t < d->threads; t++) {
    uint32_t j = index_of(d->kaxis, d->nkthr, t, 0);
    uint32_t own = index_of(d->kaxis, d->nkthr, t, 1);
    MT_CHECK(j < d->kthreads && own <= t && index_of(add, d->nkadd, j, 0) == own, err,
             "thread %d is not where its number along K puts it", (int)t);
  }
  return MT_OK;
}

static mt_status check_tiles (const mt_gemm_desc *d, uint64_t inner[3], mt_err *err) {
  const mt_step *a = d->inner_axis;
  uint32_t n = 0;
  for (int i = 0; i < 3; a += d->ninner[i++]) {
    uint64_t sum[2] = {0, 0};
    n += d->ninner[i];
    MT_CHECK(d->ninner[i] <= MT_MAXINNER && n <= MT_MAXINNER && d->tile[i] > 0 &&
                 d->inner[i] > 0 && sound_axes(a, d->ninner[i], d->inner[i], sum) &&
                 d->tiles[i] == d->size[i] / d->tile[i] + (d->size[i] % d->tile[i] != 0),
             err, "tiles of mode %d do not make up its size", i + 1);
    inner[i] = sum[0];
  }
  return MT_OK;
}

/* The atom is one, of this shape and as many values. */
static mt_status check_atom (const mt_gemm_desc *d, const mt_mma_atom *own, mt_err *err) {
  mt_mma_atom atom;
  MT_CHECK(mt_gemm_atom(&atom, d, own), err, "there is no atom %lld", (long long)d->atom);
  const mt_node *tv[] = {atom.a.node, atom.b.node, atom.c.node};
  MT_CHECK(atom.op.m == d->atom_shape[MT_M] && atom.op.n == d->atom_shape[MT_N] &&
               atom.op.k == d->atom_shape[MT_K],
           err, "%s has another shape", atom.op.name);
  for (int part = 0; part < MT_PARTS; part++)
    MT_CHECK(mt_size(mt_mode(tv[part], 1)) == d->part[part].values, err,
             "%s has another number of values of %s", atom.op.name, part_name[part]);
  return MT_OK;
}

static mt_status check_partition (const mt_gemm_desc *d, const mt_mma_atom *own,
                                  mt_err *err) {
  uint64_t inner[3];
  MT_TRY(check_atom(d, own, err));
  MT_CHECK(d->threads > 0 && d->threads <= MT_MAXTHREADS, err, "%d threads",
           (int)d->threads);
  MT_TRY(check_tiles(d, inner, err));
  for (int part = 0; part < MT_PARTS; part++) MT_TRY(check_part(d, part, inner, err));
  return check_kthreads(d, err);
}

mt_status mt_gemm_check_shape (const mt_gemm_launch *l, const mt_mma_atom *own,
                               mt_err *err) {
  const mt_gemm_desc *d = &l->desc;
  MT_CHECK(d->op == MT_OP_GEMM &&
               (d->algo == MT_ALGO_DESCRIBED || d->algo == MT_ALGO_STRIDED),
           err, "unknown operation or form");
  for (int i = 0; i < MT_GEMM_MODES; i++)
    MT_CHECK(d->size[i] >= 0, err, "a negative size of mode %d", i + 1);
  for (int part = 0; part < MT_PARTS; part++) MT_TRY(check_tensor(l, part, err));
  return d->algo == MT_ALGO_DESCRIBED ? check_partition(d, own, err) : MT_OK;
}

/* ---------------------------------------------------------------- range */

/* "(3,0)", "(3,0,1)": the ordinates of the element with index v[i] on digit i. */
enum { MT_ELEMENTTEXT = 80 };
static const char *say_element (char *buf, const mt_gemm_desc *d, int part,
                                const int64_t *v) {
  const mt_part *p = &d->part[part];
  const mt_digit *g = p->digit;
  int64_t x[3] = {0, 0, 0};
  for (int i = 0; i < 3; i++) {
    int64_t place = 1;
    for (uint32_t j = 0; j < p->ndigit[i]; j++, g++, v++) {
      x[i] += *v * place;
      place *= g->extent;
    }
  }
  int n = snprintf(buf, MT_ELEMENTTEXT, "(%lld,%lld", (long long)x[0], (long long)x[1]);
  if (d->size[MT_L] > 1) snprintf(buf + n, 24, ",%lld)", (long long)x[2]);
  else strcpy(buf + n, ")");
  return buf;
}

static mt_status fail_range (const mt_gemm_launch *l, int part, const mt_reach *r,
                             int64_t have, mt_err *err) {
  const mt_part *p = &l->desc.part[part];
  int64_t v[MT_MAXDIGIT], at = r->low < 0 ? r->low : r->high;
  char text[MT_ELEMENTTEXT];
  if (p->swizzle)
    return mt_fail(err, MT_ERANGE,
                   "gemm: an element of %s lies at offset %lld under its "
                   "swizzle; from its first element on the buffer has 0 to %lld",
                   part_name[part], (long long)at, (long long)have - 1);
  for (int i = 0; i < MT_MAXDIGIT; i++)
    v[i] = (p->digit[i].stride > 0) == (r->low >= 0) ? p->digit[i].extent - 1 : 0;
  return mt_fail(err, MT_ERANGE,
                 "gemm: element %s of %s lies at offset %lld; its buffer "
                 "has elements 0 to %lld",
                 say_element(text, &l->desc, part, v), part_name[part], (long long)at,
                 (long long)have - 1);
}

static mt_status check_range (const mt_gemm_launch *l, int part, const mt_reach *r,
                              size_t bytes, mt_err *err) {
  size_t elem = mt_dtype_size((mt_dtype)l->desc.part[part].dtype);
  int64_t have = (int64_t)((bytes < INT64_MAX ? bytes : INT64_MAX) / elem);
  uintptr_t base = (uintptr_t)l->base[part];
  MT_CHECK(base != 0, err, "gemm: %s has no memory", part_name[part]);
  MT_CHECK(base <= UINTPTR_MAX - bytes, err,
           "gemm: the buffer of %s runs over the end of the address space",
           part_name[part]);
  if (r->low < 0 || r->high >= have) return fail_range(l, part, r, have, err);
  if (base % elem == 0) return MT_OK;
  return mt_fail(err, MT_EALIGN,
                 "gemm: the buffer of %s is not aligned to its elements "
                 "of %d bytes",
                 part_name[part], (int)elem);
}

/* ---------------------------------------------------------------- written once */

static mt_status fail_injective (const mt_gemm_launch *l, const mt_equation *e,
                                 mt_err *err) {
  const mt_part *p = &l->desc.part[MT_C];
  int64_t x[MT_MAXDIGIT] = {0}, y[MT_MAXDIGIT] = {0}, sign = 0;
  char one[MT_ELEMENTTEXT], other[MT_ELEMENTTEXT];
  for (int i = e->n - 1; i >= 0; i--) {
    int64_t v = p->digit[i].stride < 0 ? -e->v[i] : e->v[i];
    if (sign == 0) sign = v < 0 ? -1 : v; /* y comes behind x */
    if (sign < 0) v = -v;
    *(v > 0 ? &y[i] : &x[i]) = v > 0 ? v : -v;
  }
  return mt_fail(err, MT_EINJECTIVE,
                 "gemm: elements %s and %s of C are one place in "
                 "memory\nan element of C is written once: give each its own place",
                 say_element(one, &l->desc, MT_C, x),
                 say_element(other, &l->desc, MT_C, y));
}

/* Where not all that the digits count is real. */
static mt_status check_pieces (const mt_gemm_launch *l, mt_err *err) {
  mt_launch all;
  bool met;
  mt_mma_elements(&all, l, MT_C);
  if (mt_check_once(&all, &met, err) == MT_OK) return MT_OK;
  mt_explain(err, "\ngemm: an element of C is written once: give each its own place");
  return err->status;
}

/* A swizzle is a bijection: the plain layout decides. */
static mt_status check_injective (const mt_gemm_launch *l, mt_err *err) {
  const mt_part *p = &l->desc.part[MT_C];
  mt_equation e = {.n = (int)(p->ndigit[0] + p->ndigit[1] + p->ndigit[2])};
  int still = -1;
  if (!mt_gemm_is_box(&l->desc, MT_C)) return check_pieces(l, err);
  for (int i = 0; i < e.n; i++) {
    int64_t d = p->digit[i].stride;
    e.d[i] = d < 0 ? -d : d;
    e.hi[i] = p->digit[i].extent - 1;
    e.lo[i] = -e.hi[i];
    if (d == 0) still = i;
  }
  if (still >= 0) {
    e.v[still] = 1;
    return fail_injective(l, &e, err);
  }
  mt_solution found = mt_solve(&e, 0, true);
  if (found == MT_NONE) return MT_OK;
  if (found == MT_FOUND) return fail_injective(l, &e, err);
  return mt_fail(err, MT_EINJECTIVE,
                 "gemm: that no element of C is written twice could "
                 "not be decided in %d steps",
                 (int)MT_SOLVE_STEPS);
}

/* Axes of C's partition, as far as they alone stay inside; what adds nothing belongs to
** threads along K. */
static bool add_steps (mt_equation *e, const mt_gemm_desc *d, const mt_step *a,
                       uint32_t n, const int which[2], uint64_t *shared) {
  for (uint32_t i = 0; i < n; i++) {
    mt_step s = a[i];
    for (int o = 0; o < 2; o++) s.step[o] = which[o] < 0 ? 0 : a[i].step[which[o]];
    int64_t last = last_inside(&s, d->size);
    if (last == 0) continue;
    if (s.step[0] == 0 && s.step[1] == 0) {
      *shared *= s.extent;
      continue;
    }
    e->d[e->n] = s.step[0] + (int64_t)s.step[1] * d->tile[MT_M];
    e->hi[e->n] = last;
    e->lo[e->n] = -last;
    e->n++;
  }
  return *shared <= d->kthreads;
}

/* Threads that split K have the same elements of C. */
static bool share_c (const mt_gemm_desc *d) {
  const mt_part *p = &d->part[MT_C];
  for (uint32_t t = 0; d->kthreads > 1 && t < d->threads; t++) {
    uint32_t first = t - index_of(d->kaxis, d->nkthr, t, 1);
    for (int o = 0; o < 2; o++)
      if (index_of(p->axis, p->nthr, t, o) != index_of(p->axis, p->nthr, first, o))
        return false;
  }
  return true;
}

/* No two values of a tile of C are one element, but those of threads along K. */
static mt_status check_cover (const mt_gemm_desc *d, mt_err *err) {
  static const int both[2] = {0, 1}, m[2] = {0, -1}, n[2] = {-1, 0};
  const mt_part *p = &d->part[MT_C];
  mt_equation e = {.n = 0};
  uint64_t shared = 1;
  bool alone =
      share_c(d) && add_steps(&e, d, p->axis, p->nthr + p->nval, both, &shared) &&
      add_steps(&e, d, d->inner_axis, d->ninner[MT_M], m, &shared) &&
      add_steps(&e, d, d->inner_axis + d->ninner[MT_M], d->ninner[MT_N], n, &shared);
  if (alone && mt_solve(&e, 0, true) == MT_NONE) return MT_OK;
  return mt_fail(err, MT_EINJECTIVE,
                 "gemm: that no two values of the partition are one "
                 "element of C could not be proven");
}

/* ---------------------------------------------------------------- overlap */

static mt_status check_overlap (const mt_gemm_launch *l, const mt_reach r[MT_PARTS],
                                mt_err *err) {
  uint64_t low[MT_PARTS], high[MT_PARTS];
  for (int part = 0; part < MT_PARTS; part++) {
    uint64_t elem = mt_dtype_size((mt_dtype)l->desc.part[part].dtype);
    low[part] = (uintptr_t)l->base[part] + (uint64_t)r[part].low * elem;
    high[part] = (uintptr_t)l->base[part] + (uint64_t)r[part].high * elem + elem - 1;
  }
  for (int part = 0; part < MT_C; part++) {
    if (r[part].none || high[part] < low[MT_C] || high[MT_C] < low[part]) continue;
    return mt_fail(err, MT_EOVERLAP,
                   "gemm: %s and C may overlap: %s reaches over %llu "
                   "bytes, C begins %lld bytes behind its beginning and reaches over "
                   "%llu\nmultiply into a tensor of its own",
                   part_name[part], part_name[part],
                   (unsigned long long)(high[part] - low[part] + 1),
                   (long long)(low[MT_C] - low[part]),
                   (unsigned long long)(high[MT_C] - low[MT_C] + 1));
  }
  return MT_OK;
}

mt_status mt_gemm_check (const mt_gemm_launch *l, const mt_mma_atom *own,
                         const size_t bytes[MT_PARTS], mt_err *err) {
  mt_reach r[MT_PARTS];
  MT_TRY(mt_gemm_check_shape(l, own, err));
  for (int part = 0; part < MT_PARTS; part++) {
    MT_TRY(mt_mma_reach_of(&r[part], l, part, err));
    if (!r[part].none) MT_TRY(check_range(l, part, &r[part], bytes[part], err));
  }
  if (r[MT_C].none) return MT_OK;
  MT_TRY(check_injective(l, err));
  if (l->desc.algo == MT_ALGO_DESCRIBED) MT_TRY(check_cover(&l->desc, err));
  return check_overlap(l, r, err);
}
