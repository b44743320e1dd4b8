/*
** text.c - wavefronts, sectors and swizzles for people.
** SPDX-License-Identifier: MIT
*/
#include "moontile/analysis.h"
#include "core/say.h"

/* "12 things", "1 thing" */
static void say_count (mt_text *t, int64_t n, const char *thing) {
  say(t, "%lld %s%s", (long long)n, thing, n == 1 ? "" : thing[strlen(thing) - 1] == 's'
                                                            ? "es" : "s");
}

/* "  4 accesses of 16 bytes a thread in 2 warps" */
static void say_accesses (mt_text *t, const mt_warp_access *how, int64_t accesses,
                          int64_t warps) {
  say(t, "\n  ");
  say_count(t, accesses, "access");
  say(t, " of ");
  say_count(t, how->bytes, "byte");
  say(t, " a thread in ");
  say_count(t, warps, "warp");
}

/* "  worst: warp 0, value 0: 8 wavefronts" */
static void say_worst (mt_text *t, int64_t warp, int64_t value, int64_t worst,
                       const char *thing) {
  say(t, "\n  worst: warp %lld, value %lld: ", (long long)warp, (long long)value);
  say_count(t, worst, thing);
}

static void say_meeting (mt_text *t, const mt_banks *b) {
  say(t, "\n  in bank %d meet", b->bank);
  for (int i = 0; i < b->ways && i < 8; i++)
    say(t, "%s thread %lld (element %lld)", i ? "," : "", (long long)b->thread[i],
        (long long)b->at[i]);
  if (b->ways > 8) say(t, ", and %d more", b->ways - 8);
}

size_t mt_banks_format (char *buf, size_t size, const mt_banks *b) {
  mt_text t = {buf, size, 0};
  say(&t, "%s", mt_warp_access_name(b->how.kind));
  if (b->how.matrices) say(&t, " x%d", b->how.matrices);
  say(&t, ": ");
  say_count(&t, b->wavefronts, "wavefront");
  if (b->conflicts == 0) say(&t, ", no conflicts");
  else say(&t, " where %lld would do, %d ways", (long long)b->ideal, b->degree);
  say_accesses(&t, &b->how, b->accesses, b->warps);
  if (b->conflicts == 0) return t.length;
  say_worst(&t, b->warp, b->value, b->worst, "wavefront");
  say_meeting(&t, b);
  return t.length;
}

size_t mt_sectors_format (char *buf, size_t size, const mt_sectors *s) {
  mt_text t = {buf, size, 0};
  say(&t, "%s: ", mt_warp_access_name(s->how.kind));
  say_count(&t, s->sectors, "sector");
  if (s->sectors > s->ideal) say(&t, " where %lld would do", (long long)s->ideal);
  say(&t, ", ");
  say_count(&t, s->lines, "line");
  say(&t, ": %.1f %% of the bytes are used",
      100 * (double)s->useful / ((double)s->sectors * MT_SECTORBYTES));
  say_accesses(&t, &s->how, s->accesses, s->warps);
  if (s->sectors > s->ideal) say_worst(&t, s->warp, s->value, s->worst, "sector");
  return t.length;
}

/* ---------------------------------------------------------------- swizzles */

size_t mt_candidate_name (char *buf, size_t size, const mt_candidate *c) {
  mt_text t = {buf, size, 0};
  if (c->pad > 0) say(&t, "pad %lld + %lld", (long long)c->run, (long long)c->pad);
  else if (c->b > 0) say(&t, "Sw<%d,%d,%d>", c->b, c->m, c->s);
  else say(&t, "plain");
  return t.length;
}

static void say_candidate (mt_text *t, const mt_candidate *c) {
  char name[64];
  mt_candidate_name(name, sizeof name, c);
  say(t, "\n%-16s %10lld %10lld %10lld", name, (long long)c->write, (long long)c->read,
      (long long)c->extra);
}

size_t mt_candidates_format (char *buf, size_t size, const mt_candidate *list, int n) {
  enum { SHOWN = 8 };
  mt_text t = {buf, size, 0};
  int shown = n < SHOWN ? n : SHOWN;
  bool padding = false;
  say(&t, "%-16s %10s %10s %10s", "layout", "write", "read", "bytes more");
  for (int i = 0; i < shown; i++) say_candidate(&t, &list[i]);
  for (int i = 0; i < n; i++) {
    bool first = list[i].pad > 0 && !padding, plain = list[i].pad == 0 && list[i].b == 0;
    padding |= first;
    if (i < SHOWN || !(first || plain)) continue;
    say_candidate(&t, &list[i]);
    shown++;
  }
  if (n > shown) say(&t, "\nand %d more", n - shown);
  return t.length;
}
