/*
** ref.c - the reference executor: a launch as a GPU would run it, access by access.
** SPDX-License-Identifier: MIT
**
** Blocks, threads and values are those of desc/copy_desc.h; nothing is known but the
** descriptor.
*/
#include "moontile/types.h"
#include "types/convert.h"
#include "desc/cast_desc.h"
#include "desc/swizzle.h"
#include "copy/ref.h"

/* An access in the making: who makes it, and where. */
typedef struct mt_access {
  const mt_launch *l;
  const size_t *bytes; /* NULL: unverified */
  int64_t rest, thread, value;
  int64_t at[2], ordinate[MT_MAXBOUND];
  int64_t spent; /* nanoseconds since it was asked whether to end */
  mt_stint stint;
  mt_err *err;
} mt_access;

static int64_t divide (const mt_axis *a, int64_t n, bool fast) {
  if (a->extent == 1) return n;
  if (!fast || a->mul == 0) return n / a->extent;
  return (int64_t)(((uint64_t)n * a->mul >> 32) >> a->shift);
}

/* Adds index n of the mode with these axes and this size. */
static void walk (mt_access *x, uint32_t first, uint32_t count, int64_t size, int64_t n) {
  const mt_desc *d = &x->l->desc;
  for (const mt_axis *a = d->axis + first; a < d->axis + first + count; a++) {
    int64_t q = a + 1 < d->axis + first + count ? divide(a, n, size <= INT32_MAX) : 0;
    int64_t digit = n - q * a->extent;
    for (int o = 0; o < 2; o++) x->at[o] += digit * a->stride[o];
    for (uint32_t k = 0; k < d->nbound; k++) x->ordinate[k] += digit * a->step[k];
    n = q;
  }
}

static bool is_real (const mt_access *x, uint32_t lane) {
  const mt_desc *d = &x->l->desc;
  for (uint32_t k = 0; k < d->nbound; k++)
    if (x->ordinate[k] + (int64_t)lane * d->lane_step[k] >= d->bound[k]) return false;
  return true;
}

static char *address (const mt_access *x, int side, uint32_t lane) {
  int64_t e = mt_element_of(x->l, side, x->at[side] + (int64_t)lane);
  return (char *)x->l->base[side] + e * (int64_t)MT_ELEM(&x->l->desc, side);
}

/* That `count` elements from `lane` on lie in the buffer and are one aligned access. */
static mt_status verify (const mt_access *x, int side, uint32_t lane, uint32_t count) {
  static const char *const names[] = {"src", "dst"};
  uint32_t elem = MT_ELEM(&x->l->desc, side);
  int64_t first = mt_element_of(x->l, side, x->at[side] + (int64_t)lane);
  int64_t have = (int64_t)(x->bytes[side] / elem);
  if (first < 0 || first > have - (int64_t)count)
    return mt_fail(x->err, MT_ERANGE,
                   "%s: block %lld, thread %lld, value %lld reaches "
                   "elements %lld to %lld of a buffer of %lld",
                   names[side], (long long)x->rest, (long long)x->thread,
                   (long long)x->value, (long long)first,
                   (long long)first + (long long)count - 1, (long long)have);
  if ((uintptr_t)address(x, side, lane) % (count * elem) != 0)
    return mt_fail(x->err, MT_EALIGN,
                   "%s: block %lld, thread %lld, value %lld: an "
                   "access of %d bytes to element %lld is misaligned",
                   names[side], (long long)x->rest, (long long)x->thread,
                   (long long)x->value, (int)(count * elem), (long long)first);
  return MT_OK;
}

static void convert (const mt_access *x, uint32_t lane, uint32_t count) {
  const mt_desc *d = &x->l->desc;
  mt_dtype from = (mt_dtype)MT_CAST_SRC(d->cast), to = (mt_dtype)MT_CAST_DST(d->cast);
  for (; count > 0; count--, lane++)
    mt_cast_rounded(to, address(x, MT_DST, lane), from, address(x, MT_SRC, lane),
                    MT_CAST_ROUNDING(d->cast));
}

static mt_status move (const mt_access *x, uint32_t lane, uint32_t count) {
  if (x->bytes) {
    MT_TRY(verify(x, MT_SRC, lane, count));
    MT_TRY(verify(x, MT_DST, lane, count));
  }
  if (x->l->desc.cast) convert(x, lane, count);
  else
    memmove(address(x, MT_DST, lane), address(x, MT_SRC, lane),
            (size_t)count * x->l->desc.elem);
  return MT_OK;
}

static mt_status make (mt_access *x, int64_t rest, int64_t thread, int64_t value) {
  enum { MT_NS = 100 };
  const mt_desc *d = &x->l->desc;
  if (mt_stopped_after(&x->spent, MT_NS, x->err, "copy")) return MT_ESTOPPED;
  x->stint.done++;
  memset(x->at, 0, sizeof x->at);
  memset(x->ordinate, 0, sizeof x->ordinate);
  x->rest = rest, x->thread = thread, x->value = value;
  walk(x, 0, d->nthr, d->threads, thread);
  walk(x, d->nthr, d->nval, d->values, value);
  walk(x, d->nthr + d->nval, d->nrest, d->rests, rest);
  if (is_real(x, 0) && is_real(x, d->vec - 1)) return move(x, 0, d->vec);
  for (uint32_t lane = 0; lane < d->vec; lane++)
    if (is_real(x, lane)) MT_TRY(move(x, lane, 1));
  return MT_OK;
}

static mt_status run_tv (mt_access *x, mt_grid grid) {
  const mt_desc *d = &x->l->desc;
  for (int64_t b = 0; b < grid.blocks; b++)
    for (int64_t r = b; r < d->rests; r += grid.blocks)
      for (int64_t t = 0; t < grid.threads; t++)
        for (int64_t v = 0; v < d->values; v++) MT_TRY(make(x, r, t, v));
  return MT_OK;
}

static mt_status run_flat (mt_access *x, mt_grid grid, int64_t unroll) {
  const mt_desc *d = &x->l->desc;
  int64_t group = unroll * grid.threads;
  int64_t chunks = d->rests / group + (d->rests % group != 0);
  for (int64_t b = 0; b < grid.blocks; b++)
    for (int64_t c = b; c < chunks; c += grid.blocks)
      for (int64_t i = c * group; i < d->rests && i < (c + 1) * group; i++)
        MT_TRY(make(x, i, 0, 0));
  return MT_OK;
}

static mt_status run_tiles (mt_access *x) {
  const mt_desc *d = &x->l->desc;
  for (int64_t r = 0; r < d->rests; r++)
    for (int64_t t = 0; t < d->threads; t++)
      for (int64_t v = 0; v < d->values; v++) MT_TRY(make(x, r, t, v));
  return MT_OK;
}

static mt_status run (mt_access *x, mt_grid grid, int64_t unroll) {
  uint32_t algo = x->l->desc.algo;
  if (algo == MT_ALGO_DESCRIBED) return run_tv(x, grid);
  if (algo != MT_ALGO_STRIDED) return grid.blocks == 0 ? MT_OK : run_tiles(x);
  return grid.threads == 0 ? MT_OK : run_flat(x, grid, unroll);
}

mt_status mt_ref_run (const mt_kernel *k, mt_grid grid, const mt_launch *l,
                      const size_t *bytes, mt_err *err) {
  const mt_desc *d = &l->desc;
  mt_access x = {.l = l, .bytes = bytes, .err = err};
  MT_CHECK(k->op == d->op && k->algo == d->algo, err,
           "%s does not run a descriptor of algo %d", k->name, (int)d->algo);
  MT_CHECK(k->bytes == 0 || k->bytes == d->vec * d->elem, err,
           "%s makes accesses of %d bytes, the descriptor has %d", k->name, (int)k->bytes,
           (int)(d->vec * d->elem));
  MT_CHECK(k->bytes == 0 || k->swizzled == mt_desc_is_swizzled(d), err,
           "%s is for %s sides", k->name, k->swizzled ? "swizzled" : "plain");
  MT_CHECK(d->algo != MT_ALGO_DESCRIBED || grid.threads == d->threads, err,
           "%s: a grid of %d threads for %lld", k->name, (int)grid.threads,
           (long long)d->threads);
  mt_stint_begin(&x.stint, "copy", "accesses",
                 (double)d->rests * (double)d->threads * (double)d->values, err);
  mt_status s = run(&x, grid, k->unroll > 0 ? k->unroll : 1);
  mt_stint_end(&x.stint, err);
  return s;
}
