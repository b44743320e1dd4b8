/*
** text.c - wavefronts, sectors and swizzles for people.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "moontile/analysis.h"
#include "core/strbuf.h"

/* "12 things", "1 thing" */
static void put_count (mt_strbuf *t, int64_t n, const char *thing) {
  mt_putf(t, "%lld %s%s", (long long)n, thing,
          n == 1                          ? "" :
          thing[strlen(thing) - 1] == 's' ? "es" :
                                            "s");
}

/* "  4 accesses of 16 bytes a thread in 2 warps" */
static void put_accesses (mt_strbuf *t, const mt_warp_access *how, int64_t accesses,
                          int64_t warps) {
  mt_putf(t, "\n  ");
  put_count(t, accesses, "access");
  mt_putf(t, " of ");
  put_count(t, how->bytes, "byte");
  mt_putf(t, " a thread in ");
  put_count(t, warps, "warp");
}

/* "  worst: warp 0, value 0: 8 wavefronts" */
static void put_worst (mt_strbuf *t, int64_t warp, int64_t value, int64_t worst,
                       const char *thing) {
  mt_putf(t, "\n  worst: warp %lld, value %lld: ", (long long)warp, (long long)value);
  put_count(t, worst, thing);
}

static void put_meeting (mt_strbuf *t, const mt_banks *b) {
  mt_putf(t, "\n  in bank %d meet", b->bank);
  for (int i = 0; i < b->ways && i < 8; i++)
    mt_putf(t, "%s thread %lld (element %lld)", i ? "," : "", (long long)b->thread[i],
            (long long)b->at[i]);
  if (b->ways > 8) mt_putf(t, ", and %d more", b->ways - 8);
}

size_t mt_banks_format (char *buf, size_t size, const mt_banks *b) {
  mt_strbuf t = {buf, size, 0};
  mt_putf(&t, "%s", mt_warp_access_name(b->how.kind));
  if (b->how.matrices) mt_putf(&t, " x%d", b->how.matrices);
  mt_putf(&t, ": ");
  put_count(&t, b->wavefronts, "wavefront");
  if (b->conflicts == 0) mt_putf(&t, ", no conflicts");
  else mt_putf(&t, " where %lld would do, %d ways", (long long)b->ideal, b->degree);
  put_accesses(&t, &b->how, b->accesses, b->warps);
  if (b->conflicts == 0) return t.n;
  put_worst(&t, b->warp, b->value, b->worst, "wavefront");
  put_meeting(&t, b);
  return t.n;
}

size_t mt_sectors_format (char *buf, size_t size, const mt_sectors *s) {
  mt_strbuf t = {buf, size, 0};
  mt_putf(&t, "%s: ", mt_warp_access_name(s->how.kind));
  put_count(&t, s->sectors, "sector");
  if (s->sectors > s->ideal) mt_putf(&t, " where %lld would do", (long long)s->ideal);
  mt_putf(&t, ", ");
  put_count(&t, s->lines, "line");
  mt_putf(&t, ": %.1f %% of the bytes are used",
          100 * (double)s->useful / ((double)s->sectors * MT_SECTORBYTES));
  put_accesses(&t, &s->how, s->accesses, s->warps);
  if (s->sectors > s->ideal) put_worst(&t, s->warp, s->value, s->worst, "sector");
  return t.n;
}

/* ---------------------------------------------------------------- swizzles */

size_t mt_candidate_name (char *buf, size_t size, const mt_candidate *c) {
  mt_strbuf t = {buf, size, 0};
  if (c->pad > 0) mt_putf(&t, "pad %lld + %lld", (long long)c->run, (long long)c->pad);
  else if (c->b > 0) mt_putf(&t, "Sw<%d,%d,%d>", c->b, c->m, c->s);
  else mt_putf(&t, "plain");
  return t.n;
}

static void put_candidate (mt_strbuf *t, const mt_candidate *c) {
  char name[64];
  mt_candidate_name(name, sizeof name, c);
  mt_putf(t, "\n%-16s %10lld %10lld %10lld", name, (long long)c->write,
          (long long)c->read, (long long)c->extra);
}

size_t mt_candidates_format (char *buf, size_t size, const mt_candidate *list, int n) {
  enum { SHOWN = 8 };
  mt_strbuf t = {buf, size, 0};
  int shown = n < SHOWN ? n : SHOWN;
  bool padding = false;
  mt_putf(&t, "%-16s %10s %10s %10s", "layout", "write", "read", "bytes more");
  for (int i = 0; i < shown; i++) put_candidate(&t, &list[i]);
  for (int i = 0; i < n; i++) {
    bool first = list[i].pad > 0 && !padding, plain = list[i].pad == 0 && list[i].b == 0;
    padding |= first;
    if (i < SHOWN || !(first || plain)) continue;
    put_candidate(&t, &list[i]);
    shown++;
  }
  if (n > shown) mt_putf(&t, "\nand %d more", n - shown);
  return t.n;
}
