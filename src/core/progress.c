/*
** progress.c - how far a call that takes long has come.
** SPDX-License-Identifier: MIT
**
** Stints lie in one another, in the frames of the functions that do them: the inner one
** is a step of the outer one. What is told is the outermost one.
*/
#include "core/error.h"

void mt_stint_begin (mt_stint *s, const char *op, const char *unit, double total,
                     mt_err *err) {
  *s = (mt_stint){.op = op, .unit = unit, .total = total};
  if (err->watch == NULL) return;
  s->outer = err->watch->stint;
  err->watch->stint = s;
}

void mt_stint_end (const mt_stint *s, mt_err *err) {
  mt_watch *w = err->watch;
  if (w == NULL) return;
  w->stint = s->outer;
  if (w->stint != NULL || !w->told) return;
  w->told = false;
  w->report(w->ud, NULL);
}

/* How much of a stint is done, of which `part` of the step at hand is. */
static double done_of (const mt_stint *s, double part) {
  double done = s->done + s->step * part;
  return done < s->total ? done : s->total;
}

void mt_stint_tell (const mt_err *err) {
  mt_watch *w = err->watch;
  const mt_stint *s = w != NULL ? w->stint : NULL;
  if (s == NULL) return;
  double part = 0;
  for (; s->outer != NULL; s = s->outer)
    part = s->total > 0 ? done_of(s, part) / s->total : 0;
  mt_progress p = {s->op, s->unit, done_of(s, part), s->total};
  w->told = true;
  w->report(w->ud, &p);
}
