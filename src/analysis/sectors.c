/*
** sectors.c - the sectors and lines of memory that the accesses of warps touch.
** SPDX-License-Identifier: MIT
*/
#include "analysis/warp_access.h"

/* Sorts; returns how many different values of x / bytes there are. All are >= 0. */
static int distinct (int64_t *x, int n, int bytes) {
  int different = 0;
  for (int i = 1; i < n; i++) {
    int64_t v = x[i];
    int k = i;
    for (; k > 0 && x[k - 1] > v; k--) x[k] = x[k - 1];
    x[k] = v;
  }
  for (int i = 0; i < n; i++) different += i == 0 || x[i] / bytes != x[i - 1] / bytes;
  return different;
}

/* Addresses all >= 0 and the same modulo a line: whole lines are added. */
static void lift (int64_t *address, int n) {
  int64_t least = 0;
  for (int i = 0; i < n; i++)
    if (address[i] < least) least = address[i];
  int64_t lines = (MT_LINEBYTES - 1 - least) / MT_LINEBYTES;
  for (int i = 0; i < n; i++) address[i] += lines * MT_LINEBYTES;
}

/* What one access touches: an access of a thread lies within a sector. */
typedef struct touched {
  int64_t sectors, lines, useful, ideal;
} touched;

static touched touch (int64_t *address, int n, int bytes) {
  touched t;
  lift(address, n);
  t.useful = (int64_t)distinct(address, n, bytes) * bytes;
  t.sectors = distinct(address, n, MT_SECTORBYTES);
  t.lines = distinct(address, n, MT_LINEBYTES);
  t.ideal = (t.useful + MT_SECTORBYTES - 1) / MT_SECTORBYTES;
  return t;
}

static bool is_worse (const mt_sectors *out, const touched *t, int64_t warp,
                      int64_t value) {
  int64_t excess = t->sectors - t->ideal, worst = out->worst - out->worst_ideal;
  if (out->accesses == 0 || excess != worst) return out->accesses == 0 || excess > worst;
  return warp == out->warp && value < out->value;
}

static mt_status add_access (mt_sectors *out, const touched *t, int64_t times,
                             mt_err *err) {
  int64_t sum[] = {out->sectors, out->ideal, out->lines, out->useful}, more;
  const int64_t each[] = {t->sectors, t->ideal, t->lines, t->useful};
  for (int i = 0; i < 4; i++)
    if (mt_mulo(each[i], times, &more) || mt_addo(sum[i], more, &sum[i]))
      return mt_fail(err, MT_EOVERFLOW, "coalescing: the bytes leave 64 bits");
  out->accesses += times;
  out->sectors = sum[0];
  out->ideal = sum[1];
  out->lines = sum[2];
  out->useful = sum[3];
  return MT_OK;
}

static mt_status count_warp (mt_sectors *out, const mt_warps *w, int64_t warp,
                             mt_err *err) {
  int64_t start[MT_WARP], address[MT_WARP];
  int n = mt_warp_threads(start, w, warp);
  for (int k = 0; k < w->places; k++) {
    mt_place p = mt_warp_place(w, k);
    if (p.count == 0) continue;
    for (int i = 0; i < n; i++)
      address[i] = mt_warp_element(w, start[i] + p.step) * w->elem;
    touched t = touch(address, n, w->how.bytes);
    if (is_worse(out, &t, warp, p.first * w->width)) {
      out->warp = warp;
      out->value = p.first * w->width;
      out->worst = t.sectors;
      out->worst_ideal = t.ideal;
    }
    MT_TRY(add_access(out, &t, p.count, err));
  }
  return MT_OK;
}

static mt_status count_warps (mt_sectors *out, const mt_warps *w, mt_stint *stint,
                              mt_err *err) {
  for (int64_t warp = 0, spent = 0; warp < w->warps; warp++) {
    MT_TRY(count_warp(out, w, warp, err));
    stint->done++;
    if (mt_stopped_after(&spent, w->places * MT_ACCESSNS, err, "coalescing"))
      return MT_ESTOPPED;
  }
  return MT_OK;
}

mt_status mt_coalescing (mt_sectors *out, const mt_node *a, const mt_warp_access *how,
                         mt_err *err) {
  mt_warps w;
  MT_CHECK(how->kind == MT_READ || how->kind == MT_WRITE, err,
           "coalescing: %s reaches "
           "shared memory only",
           mt_warp_access_name(how->kind));
  MT_TRY(mt_warps_of(&w, "coalescing", a, how, err));
  memset(out, 0, sizeof *out);
  out->how = w.how;
  out->warps = w.warps;
  mt_stint stint;
  mt_stint_begin(&stint, "coalescing", "warps", (double)w.warps, err);
  mt_status s = count_warps(out, &w, &stint, err);
  mt_stint_end(&stint, err);
  return s;
}
