/*
** function.c - proofs of one tile whose threads and values a function numbers: place by
** place.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>

#include "moontile/algebra.h"
#include "copy/copy.h"
#include "tile/bounds.h"
#include "tile/tile.h"
#include "verify/verify.h"

enum { WINDOW = 2048, MOST = 1 << 18 };

/* (thread,value) of a tile with so many places, read one after the other. */
typedef struct mt_reading {
  const mt_node *tv;
  int64_t threads, values, places, spent;
  mt_err *err;
} mt_reading;

static mt_status place_of (int64_t *at, mt_reading *r, int64_t thread, int64_t value) {
  if (mt_stopped_after(&r->spent, 200, r->err, "verify")) return MT_ESTOPPED;
  return mt_at(at, r->tv, thread + r->threads * value, r->err);
}

/* ---- who has a place */

/* The first two owners of the place, thread by thread; `alone`: in one thread. */
static mt_status owners_of (mt_verdict *v, mt_reading *r, int64_t place, bool alone) {
  int64_t at;
  v->owners = 0;
  for (int64_t t = 0; t < r->threads && v->owners < 2; t++) {
    if (alone) v->owners = 0;
    for (int64_t k = 0; k < r->values && v->owners < 2; k++) {
      MT_TRY(place_of(&at, r, t, k));
      if (at == place) v->owner[v->owners++] = (mt_owner){t, k};
    }
  }
  return MT_OK;
}

static mt_status wrong (mt_verdict *v, mt_reading *r, mt_problem p, int64_t place,
                        bool alone) {
  mt_doubt(v, p);
  v->index = place;
  return p == MT_GAP ? MT_OK : owners_of(v, r, place, alone);
}

/* How often each place from `from` on is had, and the last thread with it: *twice is the
** first that one thread has more than once. */
static mt_status count (uint32_t n[WINDOW], int64_t *twice, mt_reading *r, int64_t from) {
  int32_t last[WINDOW];
  int64_t at;
  *twice = INT64_MAX;
  memset(n, 0, WINDOW * sizeof *n);
  memset(last, -1, sizeof last);
  for (int64_t t = 0; t < r->threads; t++)
    for (int64_t k = 0; k < r->values; k++) {
      MT_TRY(place_of(&at, r, t, k));
      if ((at -= from) < 0 || at >= WINDOW) continue;
      if (last[at] == t && at + from < *twice) *twice = at + from;
      last[at] = (int32_t)t;
      n[at]++;
    }
  return MT_OK;
}

static mt_status prove_places (mt_verdict *v, mt_reading *r, bool shared) {
  uint32_t n[WINDOW];
  int64_t twice = INT64_MAX;
  for (int64_t p = 0; p < r->places; p++) {
    if (p % WINDOW == 0) MT_TRY(count(n, &twice, r, p));
    uint32_t owners = n[p % WINDOW];
    if (p == 0 && shared && owners > 0) v->broadcast = owners;
    if (owners == 0) return wrong(v, r, MT_GAP, p, false);
    if (p == twice) return wrong(v, r, MT_TWICE, p, true);
    if (owners > v->broadcast) return wrong(v, r, MT_TWICE, p, false);
    if (owners < v->broadcast) return wrong(v, r, MT_TWICE, 0, false);
  }
  v->covers = true;
  return MT_OK;
}

/* The first value that lies outside. */
static mt_status prove_inside (mt_verdict *v, mt_reading *r) {
  int64_t at;
  for (int64_t t = 0; t < r->threads; t++)
    for (int64_t k = 0; k < r->values; k++) {
      MT_TRY(place_of(&at, r, t, k));
      if (at >= 0 && at < r->places) continue;
      mt_doubt(v, MT_OUTSIDE);
      v->index = at;
      v->owners = 1;
      v->owner[0] = (mt_owner){t, k};
      return MT_OK;
    }
  return MT_OK;
}

static mt_status too_many (const mt_claim *c, mt_err *err) {
  return mt_failn(err, MT_EUNSUPPORTED,
                  "%s: tv %N has %lld values: of a function at most %d are looked at one "
                  "by one",
                  c->op, c->tv, (long long)mt_size(c->tv), (int)MOST);
}

mt_status mt_verify_function (mt_verdict *v, const mt_claim *c, int64_t places,
                              mt_err *err) {
  const mt_node *base = mt_base(c->tv);
  mt_reading r = {.tv = c->tv, .places = places, .err = err};
  v->threads = r.threads = mt_size(mt_mode(base, 0));
  v->values = r.values = mt_size(mt_mode(base, 1));
  v->broadcast = 1;
  if (mt_size(c->tv) > MOST || places > MOST) return too_many(c, err);
  MT_TRY(prove_inside(v, &r));
  return v->problem == MT_OUTSIDE ? MT_OK : prove_places(v, &r, c->shared);
}

/* ---- wide accesses */

/* (Thr,Val,(Rest)) of a layout of the tensor. */
static mt_status partition (mt_layout *out, const mt_claim *c, const mt_node *a,
                            mt_err *err) {
  mt_layout divided, under;
  MT_TRY(mt_zipped_divide(&divided, mt_base(a), c->tiler, err));
  MT_TRY(mt_places_first(&under, c->op, c->access, mt_mode(divided.node, 0),
                         mt_mode(divided.node, 1), false, err));
  return mt_partition_over(out, a, under.node, err);
}

/* n values of a thread from number `at` on, each a step of all threads: whether they are
** a run, at a multiple of n. */
static mt_status is_run (bool *run, const mt_node *part, int64_t at, int64_t step,
                         int64_t n, int64_t before, mt_err *err) {
  int64_t first, next;
  MT_TRY(mt_at(&first, part, at, err));
  *run = (first + before) % n == 0;
  for (int64_t k = 1; *run && k < n; k++) {
    MT_TRY(mt_at(&next, part, at + k * step, err));
    *run = next == first + k;
  }
  return MT_OK;
}

/* n values of a thread all lie below the bound, or none does. */
static mt_status is_whole (bool *whole, const mt_node *crd, int64_t bound, int64_t at,
                           int64_t step, int64_t n, mt_err *err) {
  int64_t x, below = 0;
  for (int64_t k = 0; k < n; k++) {
    MT_TRY(mt_at(&x, crd, at + k * step, err));
    below += x < bound;
  }
  *whole = below == 0 || below == n;
  return MT_OK;
}

#define MT_BECAUSE(v, ...) snprintf((v)->why, sizeof(v)->why, __VA_ARGS__)

typedef struct mt_looking {
  const mt_verdict *v;
  const mt_tensor *t;
  mt_layout part, crd[MT_MAXBOUND];
  int64_t bound[MT_MAXBOUND];
  int bounds;
} mt_looking;

static MT_APART mt_status prepare (mt_looking *x, const mt_claim *c, mt_err *err) {
  mt_layout ordinates;
  const mt_node *a = mt_base(x->t->layout);
  MT_TRY(partition(&x->part, c, x->t->layout, err));
  for (int k = 0; k < x->v->modes; k++) {
    if (x->v->mode[k].reach == x->v->mode[k].extent) continue;
    if (x->bounds == MT_MAXBOUND) return mt_fail(err, MT_ETOOBIG, "too many bounds");
    MT_TRY(mt_ordinates_of(&ordinates, a, k, err));
    MT_TRY(partition(&x->crd[x->bounds], c, ordinates.node, err));
    x->bound[x->bounds++] = x->v->mode[k].extent;
  }
  return MT_OK;
}

/* Whether all accesses are of n elements; *at: the first that is not. */
static mt_status all_wide (bool *wide, int64_t *at, const mt_looking *x, int64_t n,
                           mt_err *err) {
  const int64_t threads = x->v->threads, size = mt_size(x->part.node);
  const uint64_t elem = x->t->data ? mt_dtype_size(x->t->dtype) : 1;
  const int64_t before =
      (int64_t)((uintptr_t)x->t->data % ((uint64_t)n * elem) / elem) + x->t->offset;
  int64_t spent = 0;
  for (int64_t i = 0; i < size; i += threads * n)
    for (*at = i; *at < i + threads; ++*at) {
      if (mt_stopped_after(&spent, 500 * n, err, "verify")) return MT_ESTOPPED;
      MT_TRY(is_run(wide, x->part.node, *at, threads, n, before, err));
      for (int b = 0; *wide && b < x->bounds; b++)
        MT_TRY(is_whole(wide, x->crd[b].node, x->bound[b], *at, threads, n, err));
      if (!*wide) return MT_OK;
    }
  return *wide = true, MT_OK;
}

/* Elements that an access may have at most: those of the atom; of 16 bytes; all. */
static int64_t widest (const mt_verdict *v) {
  return v->asked ? v->asked : v->bits ? 128 / v->bits : v->values;
}

static MT_APART mt_status look (mt_verdict *v, mt_looking *x, const mt_claim *c,
                                mt_err *err) {
  int64_t at;
  bool wide = true;
  MT_TRY(prepare(x, c, err));
  for (int64_t n = 2; wide && n <= widest(v) && v->values % n == 0; n *= 2) {
    MT_TRY(all_wide(&wide, &at, x, n, err));
    if (wide) v->vector = n;
    else
      MT_BECAUSE(v, "%lld values of thread %lld do not lie together, aligned, and inside",
                 (long long)n, (long long)(at % v->threads));
  }
  return MT_OK;
}

mt_status mt_verify_vector_function (mt_verdict *v, const mt_claim *c, const mt_tensor *t,
                                     mt_err *err) {
  mt_looking x = {.v = v, .t = t};
  bool ragged;
  MT_TRY(mt_is_ragged(&ragged, t, err));
  if (ragged) MT_BECAUSE(v, "of a ragged tensor no accesses of a function are wide");
  else if (v->elements > MOST)
    MT_BECAUSE(v, "more than %d elements to look at", (int)MOST);
  else if (look(v, &x, c, err) != MT_OK) {
    if (err->status == MT_ESTOPPED) return MT_ESTOPPED;
    MT_BECAUSE(v, "%.150s", err->text);
    mt_forgive(err);
  }
  return MT_OK;
}
