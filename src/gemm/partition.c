/*
** partition.c - products as descriptors: the partition's half.
** SPDX-License-Identifier: MIT
**
** The coordinate layout of a tile, partitioned: its strides are the ordinates.
*/
#include "moontile/algebra.h"
#include "core/build.h"
#include "desc/divisor.h"
#include "gemm/gemm.h"
#include "atom/mma_number.h"
#include "copy/copy.h"

static const char *const part_name[] = {"A", "B", "C"};

/* The product's modes of the ordinates of an operand. */
static const uint8_t mode_of[MT_PARTS][2] = {{MT_M, MT_K}, {MT_N, MT_K}, {MT_M, MT_N}};

/* Modes of thr_vmnk; a digit of a thread's number that none of them moves is idle. */
enum { MT_THRV, MT_THRK = 3, MT_THRS, MT_IDLE = -1 };

/* An axis while it is found: what index i of it adds. */
typedef struct mt_stride2 {
  int64_t extent, step[2];
} mt_stride2;
typedef struct mt_strides {
  int n;
  mt_stride2 axis[MT_MAXNODES];
} mt_strides;

/* A digit of a thread's number: `stride` threads apart, and in its mode of thr_vmnk
** indices `place` apart. */
typedef struct mt_thread_digit {
  int mode;
  int64_t extent, stride, place;
} mt_thread_digit;
typedef struct mt_threads {
  int n;
  int64_t size;
  mt_thread_digit digit[MT_MAXNODES];
} mt_threads;

/* ---------------------------------------------------------------- axes */

/* One more axis; it continues the last one, if it can. */
static void add_axis (mt_strides *s, int64_t extent, int64_t x, int64_t y) {
  mt_stride2 *last = s->axis + (s->n > 0 ? s->n - 1 : 0);
  if (extent == 1) return;
  if (s->n > 0 && last->extent * last->step[0] == x && last->extent * last->step[1] == y)
    last->extent *= extent;
  else s->axis[s->n++] = (mt_stride2){extent, {x, y}};
}

static void add_term (int64_t step[2], const mt_node *t, int64_t value) {
  if (value != 0 && t->ring == MT_BASIS && t->path[7] == 1 && t->path[0] < 2)
    step[t->path[0]] += value;
}

/* The axes of a layout of coordinates. */
static void add_layout (mt_strides *s, const mt_node *a) {
  for (const mt_node *p = a; p < mt_next(a); p++) {
    int64_t step[2] = {0, 0};
    if (p->tag == MT_LEAF) add_term(step, p, p->stride);
    if (p->tag == MT_SUM)
      for (const mt_node *c = mt_child(p); c < mt_next(p); c++)
        add_term(step, c, c->shape);
    if (p->tag == MT_LEAF || p->tag == MT_SUM) add_axis(s, p->shape, step[0], step[1]);
  }
}

static mt_status too_many (const mt_tiled_mma *mma, const char *what, int most,
                           mt_err *err) {
  return mt_failn(err, MT_ETOOBIG,
                  "gemm: the %s of %s as %N with the permutation %N "
                  "need more than %d axes",
                  what, mma->atom.op.name, mma->atoms.node, mma->permutation.node, most);
}

static void put_axes (mt_step *to, const mt_strides *s) {
  for (int i = 0; i < s->n; i++) {
    mt_divisor by = mt_divisor_of(s->axis[i].extent);
    to[i] = (mt_step){by.extent,
                      {(uint32_t)s->axis[i].step[0], (uint32_t)s->axis[i].step[1]},
                      by.mul,
                      by.shift};
  }
}

/* ---------------------------------------------------------------- threads */

static void insert_digit (mt_threads *t, const mt_thread_digit *d) {
  int i = t->n++;
  for (; i > 0 && t->digit[i - 1].stride > d->stride; i--) t->digit[i] = t->digit[i - 1];
  t->digit[i] = *d;
}

static void find_digits (mt_threads *t, const mt_node *thr_vmnk) {
  for (int mode = 0; mode < MT_THRS; mode++) {
    const mt_node *m = mt_mode(thr_vmnk, mode);
    int64_t place = 1;
    for (const mt_node *p = m; p < mt_next(m); p++) {
      mt_thread_digit d = {mode, p->shape, p->stride, place};
      if (p->tag != MT_LEAF || p->shape == 1) continue;
      insert_digit(t, &d);
      place *= p->shape;
    }
  }
}

static mt_status no_digits (const mt_tiled_mma *mma, mt_err *err) {
  return mt_failn(err, MT_EUNSUPPORTED,
                  "gemm: %s as %N numbers its threads %N: these "
                  "are no digits of a thread's number\ngive the atoms compact strides",
                  mma->atom.op.name, mma->atoms.node, mma->thr_vmnk.node);
}

/* Between the digits that thr_vmnk has lie those of idle threads. */
static MT_APART mt_status find_threads (mt_threads *t, const mt_tiled_mma *mma,
                                        mt_err *err) {
  mt_threads used = {.n = 0};
  find_digits(&used, mma->thr_vmnk.node);
  t->n = 0;
  t->size = 1;
  for (int i = 0; i < used.n; i++) {
    const mt_thread_digit *d = &used.digit[i];
    if (d->stride <= 0 || d->stride % t->size != 0) return no_digits(mma, err);
    if (d->stride > t->size)
      t->digit[t->n++] = (mt_thread_digit){MT_IDLE, d->stride / t->size, t->size, 0};
    t->digit[t->n++] = *d;
    t->size = d->stride * d->extent;
    if (t->size > MT_MAXTHREADS) break;
  }
  if (t->size <= MT_MAXTHREADS) return MT_OK;
  return mt_failn(err, MT_EUNSUPPORTED,
                  "gemm: %s as %N has %lld threads, a block has at "
                  "most %d",
                  mma->atom.op.name, mma->atoms.node, (long long)mt_tiled_mma_size(mma),
                  (int)MT_MAXTHREADS);
}

/* The threads that share elements of C and split K. */
static MT_APART mt_status put_kthreads (mt_gemm_desc *d, const mt_threads *t,
                                        const mt_tiled_mma *mma, mt_err *err) {
  mt_strides split = {.n = 0}, add = {.n = 0};
  const mt_node *k = mt_mode(mma->thr_vmnk.node, MT_THRK);
  d->kthreads = (uint32_t)mt_size(k);
  if (d->kthreads == 1) return MT_OK;
  for (int i = 0; i < t->n; i++) {
    const mt_thread_digit *g = &t->digit[i];
    bool here = g->mode == MT_THRK;
    add_axis(&split, g->extent, here ? g->place : 0, here ? g->stride : 0);
  }
  for (const mt_node *p = k; p < mt_next(k); p++)
    if (p->tag == MT_LEAF) add_axis(&add, p->shape, p->stride, 0);
  if (split.n + add.n > MT_MAXINNER)
    return too_many(mma, "threads along K", MT_MAXINNER, err);
  d->nkthr = (uint32_t)split.n;
  d->nkadd = (uint32_t)add.n;
  put_axes(d->kaxis, &split);
  put_axes(d->kaxis + split.n, &add);
  return MT_OK;
}

/* ---------------------------------------------------------------- operands */

/* ((ThrV,(ThrX,ThrY)),(FrgV,(RestX,RestY))) of the coordinates of a tile. */
static MT_APART mt_status partition_tile (mt_layout *out, const mt_tiled_mma *mma,
                                          int part, mt_err *err) {
  mt_layout shape, tile;
  const int64_t s[2] = {mma->tile[mode_of[part][0]], mma->tile[mode_of[part][1]]};
  MT_TRY(mt_ints(&shape, 2, s, err));
  MT_TRY(mt_make_identity_layout(&tile, shape.node, err));
  return mt_mma_thrfrg(out, mma, (mt_mma_part)part, tile.node, err);
}

/* The thread mode of an operand that belongs to a mode of thr_vmnk; NULL: threads along
** it have the same. */
static const mt_node *thread_mode (const mt_node *thr, int part, int mode) {
  static const int8_t which[MT_PARTS][MT_THRS] = {{0, 1, 0, 2},
                                                  {0, 0, 1, 2},
                                                  {0, 1, 2, 0}};
  int w = which[part][mode];
  if (mode == MT_THRV) return mt_mode(thr, 0);
  return w ? mt_mode(mt_mode(thr, 1), w - 1) : NULL;
}

/* An idle thread is one whose ordinates lie outside. */
static mt_status add_threads (mt_strides *s, const mt_gemm_desc *d, const mt_threads *t,
                              const mt_node *thr, int part, mt_err *err) {
  for (int i = 0; i < t->n; i++) {
    const mt_thread_digit *g = &t->digit[i];
    const mt_node *mode = g->mode == MT_IDLE ? NULL : thread_mode(thr, part, g->mode);
    mt_layout take, got;
    if (mode == NULL) {
      add_axis(s, g->extent, g->mode == MT_IDLE ? d->size[mode_of[part][0]] : 0, 0);
      continue;
    }
    mt_node leaf = {.tag = MT_LEAF, .span = 1, .shape = g->extent, .stride = g->place};
    take.node[0] = leaf;
    MT_TRY(mt_composition(&got, mode, take.node, err));
    add_layout(s, got.node);
  }
  return MT_OK;
}

static MT_APART mt_status put_part (mt_gemm_desc *d, const mt_tiled_mma *mma,
                                    const mt_threads *t, const mt_node *tv, int part,
                                    mt_err *err) {
  mt_part *p = &d->part[part];
  mt_strides thr = {.n = 0}, val = {.n = 0};
  const mt_node *frg = mt_mode(mt_mode(tv, 1), 0);
  MT_TRY(add_threads(&thr, d, t, mt_mode(tv, 0), part, err));
  add_layout(&val, frg);
  if (thr.n + val.n > MT_MAXSTEP) {
    char what[] = "threads and values of A";
    what[sizeof what - 2] = part_name[part][0];
    return too_many(mma, what, MT_MAXSTEP, err);
  }
  p->nthr = (uint32_t)thr.n;
  p->nval = (uint32_t)val.n;
  p->values = (uint32_t)mt_size(frg);
  put_axes(p->axis, &thr);
  put_axes(p->axis + thr.n, &val);
  return MT_OK;
}

/* ---------------------------------------------------------------- inner positions */

/* The axes of the atoms of a thread along a mode, as operand `part` has them. */
static void inner_axes (mt_strides *s, const mt_node *tv, int part, int mode) {
  int which = mode_of[part][0] == mode ? 0 : 1;
  s->n = 0;
  add_layout(s, mt_mode(mt_mode(mt_mode(tv, 1), 1), which));
  for (int i = 0; which == 1 && i < s->n; i++) s->axis[i].step[0] = s->axis[i].step[1];
  for (int i = 0; i < s->n; i++) s->axis[i].step[1] = 0;
}

static bool same_axes (const mt_strides *a, const mt_strides *b) {
  return a->n == b->n && memcmp(a->axis, b->axis, (size_t)a->n * sizeof a->axis[0]) == 0;
}

/* Both operands with a mode have the same atoms along it. */
static MT_APART mt_status put_inner (mt_gemm_desc *d, const mt_tiled_mma *mma,
                                     const mt_layout tv[MT_PARTS], mt_err *err) {
  static const uint8_t has[3][2] = {{MT_C, MT_A}, {MT_C, MT_B}, {MT_A, MT_B}};
  uint32_t n = 0;
  for (int mode = 0; mode < 3; mode++) {
    mt_strides s, other;
    inner_axes(&s, tv[has[mode][0]].node, has[mode][0], mode);
    inner_axes(&other, tv[has[mode][1]].node, has[mode][1], mode);
    MT_CHECK(same_axes(&s, &other), err, "gemm: %s and %s have other atoms along mode %d",
             part_name[has[mode][0]], part_name[has[mode][1]], mode + 1);
    if (n + (uint32_t)s.n > MT_MAXINNER)
      return too_many(mma, "atoms of a thread", MT_MAXINNER, err);
    put_axes(d->inner_axis + n, &s);
    n += d->ninner[mode] = (uint32_t)s.n;
    d->inner[mode] = 1;
    for (int i = 0; i < s.n; i++) d->inner[mode] *= (uint32_t)s.axis[i].extent;
  }
  return MT_OK;
}

/* ---------------------------------------------------------------- tiles */

static mt_status put_tiles (mt_gemm_desc *d, const mt_tiled_mma *mma, mt_err *err) {
  int64_t shape[3] = {mma->atom.op.m, mma->atom.op.n, mma->atom.op.k}, units;
  for (int i = 0; i < 3; i++) {
    if (mma->tile[i] > INT32_MAX / 2 || d->size[i] > INT32_MAX / 8)
      return mt_fail(err, MT_EUNSUPPORTED,
                     "gemm: %lld of mode %d in tiles of %lld: a "
                     "partition counts below 2^28",
                     (long long)d->size[i], i + 1, (long long)mma->tile[i]);
    d->atom_shape[i] = (uint32_t)shape[i];
    d->tile[i] = (uint32_t)mma->tile[i];
    d->tiles[i] = d->size[i] / mma->tile[i] + (d->size[i] % mma->tile[i] != 0);
  }
  if (mt_mulo(d->tiles[MT_M] * d->inner[MT_M], d->tiles[MT_N] * d->inner[MT_N], &units) ||
      mt_mulo(units, d->size[MT_L], &units))
    return mt_fail(err, MT_EOVERFLOW, "gemm: the number of atoms leaves 64 bits");
  return MT_OK;
}

/* Each element of C in a tile is one value of one thread, but for those along K. */
static mt_status check_c (const mt_gemm_desc *d, const mt_tiled_mma *mma, mt_err *err) {
  int64_t threads = mt_tiled_mma_size(mma) / d->kthreads;
  int64_t have = threads * d->part[MT_C].values * d->inner[MT_M] * d->inner[MT_N];
  if (have == (int64_t)d->tile[MT_M] * d->tile[MT_N]) return MT_OK;
  return mt_fail(err, MT_EUNSUPPORTED,
                 "gemm: %s has %lld values of C for %lld elements: "
                 "several threads hold one",
                 mma->atom.op.name, (long long)have,
                 (long long)d->tile[MT_M] * d->tile[MT_N]);
}

bool mt_gemm_atom (mt_mma_atom *out, const mt_gemm_desc *d, const mt_mma_atom *own) {
  if (d->atom != MT_OWN_ATOM) return mt_mma_atom_by_number(out, d->atom);
  if (own) *out = *own;
  return own != NULL;
}

static MT_APART mt_status by_steps (mt_gemm_launch *l, const mt_tiled_mma *mma,
                                    mt_err *err) {
  mt_tiled_mma steps;
  MT_TRY(mt_tiled_mma_by_steps(&steps, mma, err));
  return mt_gemm_describe(l, &steps, err);
}

mt_status mt_gemm_describe (mt_gemm_launch *l, const mt_tiled_mma *mma, mt_err *err) {
  mt_gemm_desc *d = &l->desc;
  mt_threads t;
  mt_layout tv[MT_PARTS];
  if (mt_tiled_mma_by_function(mma)) return by_steps(l, mma, err);
  d->atom = MT_OWN_ATOM;
  if (!mma->atom.op.own) MT_TRY(mt_mma_atom_number(&d->atom, mma->atom.op.name, err));
  MT_TRY(find_threads(&t, mma, err));
  d->algo = MT_ALGO_DESCRIBED;
  d->threads = (uint32_t)t.size;
  for (int part = 0; part < MT_PARTS; part++) {
    MT_TRY(partition_tile(&tv[part], mma, part, err));
    MT_TRY(put_part(d, mma, &t, tv[part].node, part, err));
  }
  MT_TRY(put_inner(d, mma, tv, err));
  MT_TRY(put_kthreads(d, &t, mma, err));
  MT_TRY(put_tiles(d, mma, err));
  return check_c(d, mma, err);
}
