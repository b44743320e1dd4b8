/*
** find_swizzle.c - how to lay shared memory out: all swizzles and paddings that make
** sense, by their wavefronts.
** SPDX-License-Identifier: MIT
*/
#include <stdlib.h>

#include "moontile/algebra.h"
#include "analysis/warp_access.h"
#include "algebra/swizzle.h"

/* The search: candidates so far, and what they are measured against. */
typedef struct search {
  const mt_swizzle_query *q;
  mt_warp_access write, read;        /* with the bytes of the plain layout */
  mt_layout plain_write, plain_read; /* smem o write, smem o read */
  int64_t size;                      /* bytes of the plain layout */
  mt_candidate *list;
  int n;
  bool counting; /* candidates, before they are measured */
  mt_stint stint;
} search;

/* ---------------------------------------------------------------- layouts */

/* Strides from `run` on jump over `pad` elements more for each run; false: one of them is
** no multiple of run, or what is below reaches over it. */
static bool pad_strides (mt_layout *out, const mt_node *a, int64_t run, int64_t pad) {
  int64_t reach = 0, more;
  mt_copy_value(out, a);
  for (mt_node *p = out->node; p < out->node + out->node->span; p++) {
    if (p->tag != MT_LEAF || p->shape <= 1 || p->stride == 0) continue;
    if (p->stride < 0) return false;
    if (p->stride < run) {
      if (mt_mulo(p->shape - 1, p->stride, &more) || mt_addo(reach, more, &reach))
        return false;
      continue;
    }
    if (p->stride % run != 0 || mt_mulo(p->stride / run, pad, &more) ||
        mt_addo(p->stride, more, &p->stride))
      return false;
  }
  return reach < run;
}

mt_status mt_candidate_layout (mt_layout *out, const mt_node *smem, const mt_candidate *c,
                               mt_err *err) {
  MT_CHECK(mt_is_layout(smem) && mt_is_integral(smem) && !mt_is_swizzled(smem), err,
           "find_swizzle: smem: a layout without a swizzle expected");
  if (c->pad > 0) {
    if (c->run > 0 && pad_strides(out, smem, c->run, c->pad)) return MT_OK;
    return mt_failn(err, MT_EINVAL, "find_swizzle: %N has no runs of %lld to pad", smem,
                    (long long)c->run);
  }
  MT_CHECK(c->b == 0 || mt_swizzle_valid(c->b, c->m, c->s), err,
           "find_swizzle: no swizzle has these bits");
  return mt_swizzled(out, "find_swizzle", (mt_swizzle){c->b, c->m, c->s}, 0, smem, err);
}

/* ---------------------------------------------------------------- measuring */

/* Wavefronts of one side under the layout of a candidate; no side: none. */
static mt_status measure_side (int64_t *out, const mt_node *tv, const mt_node *plain,
                               const mt_warp_access *how, const mt_node *smem,
                               const mt_candidate *c, mt_err *err) {
  mt_layout a;
  mt_banks banks;
  *out = 0;
  if (tv == NULL) return MT_OK;
  if (c->pad > 0) MT_TRY(mt_composition(&a, smem, tv, err));
  else
    MT_TRY(
        mt_swizzled(&a, "find_swizzle", (mt_swizzle){c->b, c->m, c->s}, 0, plain, err));
  MT_TRY(mt_bank_conflicts(&banks, a.node, how, err));
  *out = banks.wavefronts;
  return MT_OK;
}

static mt_status measure (search *f, mt_candidate *c, mt_err *err) {
  const mt_swizzle_query *q = f->q;
  mt_layout smem;
  int64_t size, lo;
  MT_TRY(mt_candidate_layout(&smem, q->smem, c, err));
  MT_TRY(mt_footprint(&lo, &size, smem.node, err));
  c->extra = size * (f->write.bits / 8) - f->size;
  MT_TRY(measure_side(&c->write, q->write, f->plain_write.node, &f->write, smem.node, c,
                      err));
  return measure_side(&c->read, q->read, f->plain_read.node, &f->read, smem.node, c, err);
}

/* A candidate that cannot be measured, since it breaks accesses apart, is none. */
static mt_status try_candidate (search *f, mt_candidate c, mt_err *err) {
  MT_TRYERR(tried, err);
  if (f->counting) f->stint.total++;
  if (f->counting || f->n == MT_MAXCANDIDATES) return MT_OK;
  mt_status s = measure(f, &c, &tried);
  f->stint.done++;
  if (s == MT_OK) f->list[f->n++] = c;
  if (s == MT_ESTOPPED) return mt_fail(err, s, "%s", tried.text);
  return mt_stopped(err, "find_swizzle") ? MT_ESTOPPED : MT_OK;
}

/* ---------------------------------------------------------------- candidates */

static int log2_up (int64_t n) {
  int bits = 0;
  while (bits < 62 && INT64_C(1) << bits < n) bits++;
  return bits;
}

/* Targets are the bits of an element that choose its bank; sources lie above. Elements of
** an access, and those of one word, stay together. */
static mt_status try_swizzles (search *f, mt_err *err) {
  enum { MOST = 20 };
  int elem = f->write.bits / 8, bytes = f->write.bytes;
  int64_t cosize = f->size / elem;
  if (f->read.bytes > bytes) bytes = f->read.bytes;
  if (bytes < MT_BANKBYTES) bytes = MT_BANKBYTES;
  int low = log2_up(bytes / elem), high = log2_up(MT_LINEBYTES / elem);
  int all = log2_up(cosize) < MOST ? log2_up(cosize) : MOST;
  for (int b = 1; b <= high - low; b++)
    for (int s = b; s <= all; s++)
      for (int m = low; m + b <= high && m + b + s <= all; m++)
        MT_TRY(try_candidate(f, (mt_candidate){.b = b, .m = m, .s = s}, err));
  return MT_OK;
}

/* Runs are what the strides jump over; each once. */
static mt_status try_paddings (search *f, mt_err *err) {
  int elem = f->write.bits / 8;
  const mt_node *smem = f->q->smem;
  for (const mt_node *p = mt_leaf(smem, smem); p < mt_next(smem);
       p = mt_leaf(smem, mt_after(p))) {
    const mt_node *same = mt_leaf(smem, smem);
    if (p->shape <= 1 || p->stride <= 1) continue;
    while (same < p && (same->stride != p->stride || same->shape <= 1))
      same = mt_leaf(smem, mt_after(same));
    if (same < p) continue;
    for (int64_t pad = 1; pad * elem <= MT_LINEBYTES; pad *= 2)
      MT_TRY(try_candidate(f, (mt_candidate){.run = p->stride, .pad = pad}, err));
  }
  return MT_OK;
}

static mt_status try_all (search *f, bool counting, mt_err *err) {
  f->counting = counting;
  MT_TRY(try_paddings(f, err));
  return try_swizzles(f, err);
}

/* The plain layout first. */
static mt_status try_in_turn (search *f, mt_err *err) {
  mt_candidate plain = {0};
  MT_TRY(try_all(f, true, err));
  f->stint.step = 1;
  MT_TRY(measure(f, &plain, err));
  f->stint.done = 1;
  f->list[f->n++] = plain;
  return try_all(f, false, err);
}

static int kind_of (const mt_candidate *c) { return c->pad > 0 ? 2 : c->b > 0 ? 1 : 0; }

static int compare (const void *x, const void *y) {
  const mt_candidate *a = x, *b = y;
  const int64_t less[][2] = {{a->write + a->read, b->write + b->read},
                             {a->extra, b->extra},
                             {kind_of(a), kind_of(b)},
                             {a->b, b->b},
                             {a->s, b->s},
                             {a->m, b->m},
                             {a->run, b->run},
                             {a->pad, b->pad}};
  for (size_t i = 0; i < sizeof less / sizeof less[0]; i++)
    if (less[i][0] != less[i][1]) return less[i][0] < less[i][1] ? -1 : 1;
  return 0;
}

/* ---------------------------------------------------------------- all */

/* smem o tv, and how the plain layout is accessed. */
static mt_status plain_side (mt_layout *out, mt_warp_access *how, const char *side,
                             const mt_node *smem, const mt_node *tv, mt_err *err) {
  mt_banks banks;
  if (tv == NULL) return MT_OK;
  MT_CHECK(mt_is_layout(tv) && !mt_is_swizzled(tv), err,
           "find_swizzle: %s: a layout of "
           "(thread,value) without a swizzle expected",
           side);
  MT_TRY(mt_composition(out, smem, tv, err));
  MT_TRY(mt_bank_conflicts(&banks, out->node, how, err));
  *how = banks.how;
  return MT_OK;
}

static mt_status find (search *f, const mt_swizzle_query *q, mt_err *err) {
  int64_t lo;
  MT_CHECK(q->write || q->read, err, "find_swizzle: write or read: a layout expected");
  MT_CHECK(q->write_how.bits == q->read_how.bits, err,
           "find_swizzle: elements of %d and "
           "of %d bits",
           q->write_how.bits, q->read_how.bits);
  MT_CHECK(mt_is_layout(q->smem) && mt_is_integral(q->smem) && !mt_is_swizzled(q->smem),
           err, "find_swizzle: smem: a layout without a swizzle expected");
  MT_TRY(plain_side(&f->plain_write, &f->write, "write", q->smem, q->write, err));
  MT_TRY(plain_side(&f->plain_read, &f->read, "read", q->smem, q->read, err));
  MT_TRY(mt_footprint(&lo, &f->size, q->smem, err));
  if (lo < 0 || mt_mulo(f->size, f->write.bits / 8, &f->size))
    return mt_failn(err, MT_EINVAL,
                    "find_swizzle: smem %N has negative offsets, or "
                    "leaves 64 bits",
                    q->smem);
  MT_TRY(try_in_turn(f, err));
  qsort(f->list, (size_t)f->n, sizeof *f->list, compare);
  return MT_OK;
}

/* Who is stopped is the search, not the measurement that it was at. */
mt_status mt_find_swizzle (mt_candidate *list, int *n, const mt_swizzle_query *q,
                           mt_err *err) {
  search f = {.q = q, .write = q->write_how, .read = q->read_how, .list = list};
  mt_stint_begin(&f.stint, "find_swizzle", "candidates", 1, err);
  mt_status s = find(&f, q, err);
  mt_stint_end(&f.stint, err);
  if (s == MT_OK) *n = f.n;
  if (s == MT_ESTOPPED) return mt_fail(err, s, "find_swizzle: %s", mt_status_text(s));
  return s;
}
