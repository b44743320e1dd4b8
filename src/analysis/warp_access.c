/*
** warp_access.c - a layout of (thread, value) as the accesses of warps: how wide, how
** many, and which of them cost the same.
** SPDX-License-Identifier: MIT
*/
#include "analysis/warp_access.h"

/* ---------------------------------------------------------------- kinds */

#define MT_WARP_ACCESS_TEXT(kind, name, reads) name,
static const char *const names[] = {MT_WARP_ACCESSES(MT_WARP_ACCESS_TEXT)};
#undef MT_WARP_ACCESS_TEXT

const char *mt_warp_access_name (mt_warp_access_kind k) {
  return (unsigned)k < MT_NWARPACCESS ? names[k] : "unknown";
}

mt_status mt_warp_access_find (mt_warp_access_kind *out, const char *name, mt_err *err) {
  for (int k = 0; k < MT_NWARPACCESS; k++) {
    if (strcmp(name, names[k]) != 0) continue;
    *out = (mt_warp_access_kind)k;
    return MT_OK;
  }
#define MT_WARP_ACCESS_LIST(kind, name, reads) " " name
  return mt_fail(err, MT_EINVAL,
                 "no access is a \"%.32s\"; there are:" MT_WARP_ACCESSES(
                     MT_WARP_ACCESS_LIST),
                 name);
#undef MT_WARP_ACCESS_LIST
}

static bool of_matrices (const mt_warp_access *how) {
  return how->kind == MT_LDMATRIX || how->kind == MT_STMATRIX;
}

/* ---------------------------------------------------------------- what is asked */

static bool is_power_up_to (int n, int most) {
  return n >= 1 && n <= most && (n & (n - 1)) == 0;
}

static mt_status check_how (mt_warps *w, const char *op, mt_err *err) {
  mt_warp_access *how = &w->how;
  MT_CHECK((unsigned)how->kind < MT_NWARPACCESS, err, "%s: no such kind of access", op);
  MT_CHECK(how->bits >= 8 && is_power_up_to(how->bits, 128), err,
           "%s: elements of %d bits; 8, 16, 32, 64 and 128 have addresses", op,
           how->bits);
  w->elem = how->bits / 8;
  if (of_matrices(how) && how->bytes == 0) how->bytes = 16;
  MT_CHECK(how->bytes == 0 || is_power_up_to(how->bytes, 16), err,
           "%s: %d bytes at once; 1, 2, 4, 8 and 16 are possible", op, how->bytes);
  MT_CHECK(how->bytes == 0 || how->bytes >= w->elem, err,
           "%s: %d bytes at once are less than an element of %d", op, how->bytes,
           (int)w->elem);
  MT_CHECK(!of_matrices(how) || how->bytes == 16, err,
           "%s: the rows of %s have 16 bytes, not %d", op, mt_warp_access_name(how->kind),
           how->bytes);
  return MT_OK;
}

/* All threads of a warp have their row, or the first 8 of each matrix. */
static mt_status count_matrices (mt_warps *w, const char *op, mt_err *err) {
  mt_warp_access *how = &w->how;
  int64_t least = w->threads % MT_WARP;
  if (!of_matrices(how)) {
    how->matrices = 0;
    return MT_OK;
  }
  if (least == 0) least = MT_WARP;
  if (how->matrices == 0) how->matrices = (int)(least / 8);
  MT_CHECK(is_power_up_to(how->matrices, 4), err,
           "%s: %s of %d matrices; 1, 2 and 4 are "
           "possible, with 8 threads each",
           op, mt_warp_access_name(how->kind), how->matrices);
  MT_CHECK(how->matrices * 8 <= least, err,
           "%s: %s of %d matrices needs %d threads, "
           "there are %lld",
           op, mt_warp_access_name(how->kind), how->matrices, how->matrices * 8,
           (long long)least);
  return MT_OK;
}

/* ---------------------------------------------------------------- the layout */

static mt_status check_layout (const char *op, const mt_node *a, mt_err *err) {
  MT_CHECK(mt_is_function(a), err, "%s: a layout expected", op);
  if (!mt_is_integral(a) || !mt_is_integral(mt_base(a)))
    return mt_failn(err, MT_EINVAL, "%s: the strides of %N are no integers", op, a);
  if (mt_size(a) < 1) return mt_failn(err, MT_EINVAL, "%s: %N is empty", op, a);
  return MT_OK;
}

/* The smallest and the largest offset before the swizzle stay where bytes and all that
** is added to them fit. */
static mt_status check_range (const mt_warps *w, const char *op, mt_err *err) {
  const int64_t limit = INT64_C(1) << 56;
  const mt_node *in = mt_base(w->a);
  int64_t lo, hi;
  if (w->links) {
    MT_TRY(mt_renamed(op, mt_footprint(&lo, &hi, w->a, err), err));
    if (lo <= -limit || hi >= limit) in = w->a;
  }
  if (mt_footprint(&lo, &hi, in, err) == MT_OK && lo > -limit && hi < limit &&
      w->offset > -limit && w->offset < limit && w->how.offset > -limit &&
      w->how.offset < limit)
    return MT_OK;
  return mt_failn(err, MT_EOVERFLOW, "%s: the addresses of %N leave 56 bits", op, w->a);
}

/* Mode 0, and all other modes as one, coalesced. */
static mt_status split (mt_warps *w, const char *op, mt_err *err) {
  const mt_node *in = mt_base(w->a), *thr = mt_mode(in, 0);
  MT_CHECK(thr, err, "%s: a layout without modes has no threads", op);
  memcpy(w->thr, thr, thr->span * sizeof *thr);
  w->threads = mt_size(thr);
  w->warps = (w->threads - 1) / MT_WARP + 1;
  mt_flat *f = &w->steps;
  f->n = 0;
  if (!mt_is_branch(in)) return MT_OK;
  mt_copy_value(&w->room, in);
  mt_node *first = w->room.node + 1; /* the threads: an extent of 1 is no value */
  for (mt_node *p = first; p < first + first->span; p++) p->shape = 1;
  mt_flatten_coalesced(f, w->room.node);
  return MT_OK;
}

/* ---------------------------------------------------------------- the width */

static bool all_multiples (const mt_node *t, int64_t n) {
  for (const mt_node *p = t; p < mt_next(t); p++)
    if (p->tag == MT_LEAF && p->shape > 1 && p->stride % n != 0) return false;
  return true;
}

static int64_t value_at (const mt_warps *w, int64_t v) {
  int64_t x = 0;
  for (int i = 0; i < w->steps.n; i++) {
    x += v % w->steps.s[i] * w->steps.d[i]->stride;
    v /= w->steps.s[i];
  }
  return x;
}

/* The same under links: all that is there. */
static MT_APART bool fits_linked (const mt_warps *w, int64_t n) {
  int64_t values = mt_size(w->a) / w->threads, base = 0;
  MT_NEWERR(err);
  if (values % n != 0) return false;
  for (int64_t t = 0; t < w->threads; t++) {
    if (mt_at(&base, w->thr, t, &err) != MT_OK) return false;
    for (int64_t v = 0, first = 0; v < values; v++) {
      int64_t at = mt_warp_element(w, base + value_at(w, v));
      if (v % n == 0) first = at;
      if (first % n != 0 || at != first + v % n) return false;
    }
  }
  return true;
}

/* Whether n values, in order, are one aligned run of n elements, for all threads. A
** swizzle keeps runs of 2^M; n is a power of two. */
static bool fits (const mt_warps *w, int64_t n) {
  const mt_flat *f = &w->steps;
  if (n == 1) return true;
  if (w->links) return fits_linked(w, n);
  if (w->swizzled && w->w.b > 0 && (INT64_C(1) << w->w.m) < n) return false;
  if (w->offset % n != 0 || w->how.offset % n != 0) return false;
  if (!all_multiples(w->thr, n)) return false;
  if (f->n == 0) return false;
  if (f->d[0]->stride != 1 || f->s[0] % n != 0) return false;
  for (int i = 1; i < f->n; i++)
    if (f->d[i]->stride % n != 0) return false;
  return true;
}

/* Names the first thread and values that are no aligned run. */
static mt_status name_misfit (const mt_warps *w, const char *op, int64_t values,
                              mt_err *err) {
  enum { WITNESSED = 4096 };
  int64_t base;
  for (int64_t i = 0; i < WITNESSED && i / w->threads < values; i++) {
    int64_t t = i % w->threads, v = i / w->threads;
    MT_TRY(mt_at(&base, w->thr, t, err));
    int64_t at = mt_warp_element(w, base + value_at(w, v)), before;
    if (v % w->width == 0 && at % w->width != 0)
      return mt_failn(err, MT_EALIGN,
                      "%s: %d bytes at once do not fit %N: thread %lld "
                      "has value %lld at element %lld of %d bytes, not aligned",
                      op, w->how.bytes, w->a, (long long)t, (long long)v, (long long)at,
                      (int)w->elem);
    if (v % w->width == 0) continue;
    before = mt_warp_element(w, base + value_at(w, v - 1));
    if (at != before + 1)
      return mt_failn(err, MT_EALIGN,
                      "%s: %d bytes at once do not fit %N: thread %lld "
                      "has value %lld at element %lld, value %lld at %lld",
                      op, w->how.bytes, w->a, (long long)t, (long long)(v - 1),
                      (long long)before, (long long)v, (long long)at);
  }
  return mt_failn(err, MT_EALIGN, "%s: %d bytes at once do not fit the values of %N", op,
                  w->how.bytes, w->a);
}

static mt_status misfit (const mt_warps *w, const char *op, mt_err *err) {
  int64_t values = mt_size(w->a) / w->threads, n = w->width;
  if (w->steps.n > 0 && values % n != 0)
    mt_failn(err, MT_EALIGN,
             "%s: %d bytes at once do not fit %N: a thread has %lld "
             "value%s of %d byte%s",
             op, w->how.bytes, w->a, (long long)values, values == 1 ? "" : "s",
             (int)w->elem, w->elem == 1 ? "" : "s");
  else name_misfit(w, op, values, err);
  if (of_matrices(&w->how)) return err->status;
  while (!fits(w, n)) n /= 2;
  mt_explain(err, "\n  %d at once fit", (int)(n * w->elem));
  return err->status;
}

static MT_APART bool begins_linked (const mt_warps *w, int64_t n) {
  int64_t base;
  MT_NEWERR(err);
  for (int64_t t = 0; t < w->threads; t++)
    if (mt_at(&base, w->thr, t, &err) != MT_OK || mt_warp_element(w, base) % n != 0)
      return false;
  return true;
}

/* A layout of threads alone says where each begins: its values are a run from there. */
static bool begins (const mt_warps *w, int64_t n) {
  if (w->steps.n > 0 || w->how.bytes <= w->elem) return false;
  if (w->links) return begins_linked(w, n);
  if (w->swizzled && w->w.b > 0 && (INT64_C(1) << w->w.m) < n) return false;
  return w->offset % n == 0 && w->how.offset % n == 0 && all_multiples(w->thr, n);
}

/* Settles bytes; steps then goes from access to access. */
static mt_status choose_width (mt_warps *w, const char *op, mt_err *err) {
  int64_t n = w->how.bytes / w->elem;
  if (n == 0)
    for (n = 16 / w->elem; !fits(w, n);) n /= 2;
  w->width = n;
  if (w->how.bytes == 0) w->how.bytes = (int)(n * w->elem);
  if (begins(w, n)) return MT_OK;
  if (!fits(w, n)) return misfit(w, op, err);
  return MT_OK;
}

int64_t mt_warp_step (const mt_warps *w, int64_t i) {
  return value_at(w, w->steps.n > 0 ? i * w->width : 0);
}

/* ---------------------------------------------------------------- places */

/* Steps that differ by this cost the same. */
static int64_t period_of (const mt_warps *w) {
  if (w->links) return INT64_MAX;
  int64_t lines = MT_LINEBYTES / w->elem;
  int64_t bits = w->w.b + w->w.m + (w->w.s < 0 ? -w->w.s : w->w.s);
  if (!w->swizzled || w->w.b == 0) return lines;
  return lines > INT64_C(1) << bits ? lines : INT64_C(1) << bits;
}

/* Accesses whose steps have the same residue: how many, the first of them. */
typedef struct residues {
  int64_t count[MT_RESIDUES], first[MT_RESIDUES];
} residues;

/* Adds the digits 0 .. n-1 of stride d and of weight `run` to the places so far. Digits
** one period / gcd(d, period) apart meet. */
static void add_digit (mt_warps *w, const residues *from, int64_t n, int64_t d,
                       int64_t run, int64_t period) {
  int64_t cycle = 1, step = (d % period + period) % period;
  while (cycle < n && cycle * step % period != 0) cycle++;
  for (int64_t r = 0; r < period; r++) w->count[r] = 0, w->first[r] = INT64_MAX;
  for (int64_t r = 0; r < period; r++) {
    if (from->count[r] == 0) continue;
    for (int64_t c = 0; c < cycle && c < n; c++) {
      int64_t to = (r + c * step) % period;
      w->count[to] += from->count[r] * ((n - c + cycle - 1) / cycle);
      if (w->first[to] > from->first[r] + c * run)
        w->first[to] = from->first[r] + c * run;
    }
  }
}

/* By residues of the steps: the cost depends on the extents only through their number. */
static void count_places (mt_warps *w, int64_t period) {
  residues before;
  int64_t run = 1;
  for (int64_t r = 0; r < period; r++) w->count[r] = r == 0, w->first[r] = 0;
  for (int i = 0; i < w->steps.n; i++) {
    int64_t n = w->steps.s[i], d = w->steps.d[i]->stride;
    if (i == 0) n /= w->width, d *= w->width;
    memcpy(before.count, w->count, sizeof before.count);
    memcpy(before.first, w->first, sizeof before.first);
    add_digit(w, &before, n, d, run, period);
    run *= n;
  }
}

static mt_status find_places (mt_warps *w, const char *op, mt_err *err) {
  int64_t period = period_of(w), least;
  w->each = 1;
  for (int i = 0; i < w->steps.n; i++) w->each *= w->steps.s[i];
  if (w->steps.n > 0) w->each /= w->width;
  w->listed = w->each <= period || period > MT_RESIDUES;
  least = w->listed ? w->each : period;
  if (least > MT_MAXACCESSES || w->warps > MT_MAXACCESSES / least)
    return mt_failn(err, MT_EUNSUPPORTED,
                    "%s: %N has %lld different accesses in a "
                    "warp and %lld warps: more than %d in all\n  count a part of it: a "
                    "slice",
                    op, w->a, (long long)least, (long long)w->warps, (int)MT_MAXACCESSES);
  w->places = (int)least;
  if (!w->listed) count_places(w, period);
  return MT_OK;
}

/* ---------------------------------------------------------------- all of it */

mt_status mt_warps_of (mt_warps *out, const char *op, const mt_node *a,
                       const mt_warp_access *how, mt_err *err) {
  out->how = *how;
  out->a = a;
  MT_TRY(check_how(out, op, err));
  MT_TRY(check_layout(op, a, err));
  out->links = mt_is_composed(a) ? a : NULL;
  out->swizzled = mt_is_swizzled(a);
  out->offset = out->swizzled ? a->stride : 0;
  out->w = out->swizzled ? mt_swizzle_of(a) : (mt_swizzle){0, 0, 0};
  MT_TRY(check_range(out, op, err));
  MT_TRY(split(out, op, err));
  MT_TRY(count_matrices(out, op, err));
  MT_TRY(choose_width(out, op, err));
  return find_places(out, op, err);
}

int64_t mt_warp_linked (const mt_warps *w, int64_t x) {
  MT_NEWERR(err);
  int64_t v = x;
  mt_status s = mt_above_base(&v, w->links, &err);
  assert(s == MT_OK); /* the footprint was found */
  (void)s;
  return v + w->how.offset;
}

int mt_warp_threads (int64_t at[MT_WARP], const mt_warps *w, int64_t warp) {
  MT_NEWERR(err);
  int64_t first = warp * MT_WARP, left = w->threads - first;
  int n = w->how.matrices ? 8 * w->how.matrices : left < MT_WARP ? (int)left : MT_WARP;
  for (int i = 0; i < n; i++) {
    mt_status s = mt_at(&at[i], w->thr, first + i, &err);
    assert(s == MT_OK);
    (void)s;
  }
  return n;
}
