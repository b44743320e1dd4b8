/*
** text.c - verdicts for people.
** SPDX-License-Identifier: MIT
*/
#include "moontile/verify.h"
#include "core/say.h"

enum { MT_SHOWN = 200 };           /* longer tuples are cut */

static void say_value (mt_text *t, const mt_node *v) {
  char s[MT_SHOWN + 4];
  if (mt_format(s, MT_SHOWN + 1, v) > MT_SHOWN) strcpy(s + MT_SHOWN, "...");
  say(t, "%s", s);
}

static void say_count (mt_text *t, int64_t n, const char *one) {
  say(t, "%lld %s%s", (long long)n, one, n == 1 ? "" : "s");
}

/* ---------------------------------------------------------------- what stands where */

static void say_owner (mt_text *t, const mt_owner *o) {
  say(t, "value %lld of thread %lld", (long long)o->value, (long long)o->thread);
}

static void say_place (mt_text *t, const mt_verdict *v) {
  say(t, "element ");
  say_value(t, v->at.node);
  say(t, " of the tile (place %lld)", (long long)v->index);
}

static void say_proven (mt_text *t, const mt_verdict *v) {
  say(t, "proof: each element of ");
  say_value(t, v->shape.node);
  if (v->broadcast == 1) say(t, " exactly once");
  else say(t, " in exactly %lld threads", (long long)v->broadcast);
  if (v->broadcast > 1 && v->written) say(t, ", whose parts are added");
}

static void say_twice (mt_text *t, const mt_verdict *v) {
  say_place(t, v);
  say(t, " has two owners: ");
  say_owner(t, &v->owner[0]);
  say(t, " and ");
  say_owner(t, &v->owner[1]);
}

static void say_gap (mt_text *t, const mt_verdict *v) {
  say_place(t, v);
  say(t, " has no owner");
}

static void say_outside (mt_text *t, const mt_verdict *v) {
  say_owner(t, &v->owner[0]);
  say(t, " is at place %lld, outside of the tile", (long long)v->index);
}

static void say_reason (mt_text *t, const mt_verdict *v) { say(t, "%s", v->reason); }

/* Of such a tensor the reason says where elements lie. */
static bool is_ragged (const mt_verdict *v) { return v->real != v->elements; }

static void say_one_place (mt_text *t, const mt_verdict *v) {
  if (is_ragged(v)) {
    say_reason(t, v);
    return;
  }
  say_value(t, v->x.node);
  say(t, " and ");
  say_value(t, v->y.node);
  say(t, " of the tensor, which is written, are both at offset %lld",
      (long long)v->offset);
}

static void say_open (mt_text *t, const mt_verdict *v) {
  if (is_ragged(v)) say_reason(t, v);
  else
    say(t, "whether two elements of the tensor, which is written, are at one place was "
        "not decided in %d steps", 1 << 16);
}

static void say_narrow (mt_text *t, const mt_verdict *v) {
  say(t, "accesses of %lld elements, as the atom has them, are not whole: %s",
      (long long)v->asked, v->why);
}

/* problem                how it is said */
#define MT_SAYINGS(X)                                                                    \
  X(MT_PROVEN,            say_proven)                                                    \
  X(MT_TWICE,             say_twice)                                                     \
  X(MT_GAP,               say_gap)                                                       \
  X(MT_OUTSIDE,           say_outside)                                                   \
  X(MT_NO_TILING,         say_reason)                                                    \
  X(MT_ONE_PLACE,         say_one_place)                                                 \
  X(MT_OPEN,              say_open)                                                      \
  X(MT_NARROW,            say_narrow)

static void say_head (mt_text *t, const mt_verdict *v) {
#define MT_SAYING(problem, f) [problem] = f,
  static void (*const sayings[MT_NPROBLEM]) (mt_text *, const mt_verdict *) = {
    MT_SAYINGS(MT_SAYING)
  };
#undef MT_SAYING
  if (v->problem != MT_PROVEN) say(t, "no proof: ");
  sayings[v->problem](t, v);
}

/* ---------------------------------------------------------------- what was found */

static void say_tile (mt_text *t, const mt_verdict *v) {
  say(t, "\ntile: ");
  for (int k = 0; k < v->modes; k++)
    say(t, "%s%lld", k ? " x " : "", (long long)v->mode[k].tile);
  say(t, " by ");
  say_count(t, v->threads, "thread");
  say(t, " with ");
  say_count(t, v->values, "value");
  if (v->threads > 1) say(t, " each");
  if (v->idle) say(t, "; %lld thread numbers are left out", (long long)v->idle);
  say(t, "\ntiles: %lld", (long long)v->tiles);
  for (int k = 0; v->modes > 1 && k < v->modes; k++)
    say(t, "%s%lld", k ? " x " : " = ", (long long)v->mode[k].tiles);
  int64_t product = 1;
  for (int k = 0; k < v->modes; k++) product *= v->mode[k].tiles;
  if (product > 0 && v->tiles > product)
    say(t, "%s%lld, the modes without a tile", v->modes > 1 ? " x " : " = ",
        (long long)(v->tiles / product));
}

static void say_bounds (mt_text *t, const mt_verdict *v) {
  for (int k = 0; k < v->modes; k++) {
    const mt_tiled_mode *m = &v->mode[k];
    if (m->reach == m->extent) continue;
    say(t, "\nmode %d: %lld of %lld elements", k + 1, (long long)m->extent,
        (long long)m->reach);
    if (m->last >= 0)
      say(t, ", the last tile has %lld of %lld", (long long)m->last, (long long)m->tile);
  }
  if (v->predicated == 0) return;
  say(t, "\npredicated: %lld of ", (long long)v->predicated);
  say_count(t, v->predicated + v->broadcast * v->elements, "value");
}

static void say_real (mt_text *t, const mt_verdict *v) {
  if (v->real < 0 || !is_ragged(v)) return;
  say(t, "\nragged: %lld of %lld elements are real", (long long)v->real,
      (long long)v->elements);
}

static void say_memory (mt_text *t, const mt_verdict *v) {
  if (v->elements == 0 || v->real == 0) {
    say(t, "\nmemory: none, the tensor is empty");
    return;
  }
  say(t, "\nmemory: offsets %lld to %lld", (long long)v->lowest, (long long)v->highest);
  if (v->injective > 0) {
    say(t, ", each element at a place of its own");
  } else if (v->injective == 0) {
    say(t, ", ");
    say_value(t, v->x.node);
    say(t, " and ");
    say_value(t, v->y.node);
    say(t, " both at %lld", (long long)v->offset);
  }
}

static void say_vector (mt_text *t, const mt_verdict *v) {
  if (v->vector == 0) return;
  say(t, "\nvector: ");
  say_count(t, v->vector, "element");
  if (v->bits >= 8) say(t, ", %lld bytes", (long long)v->vector * v->bits / 8);
  if (v->vector > 1) say(t, ", contiguous and aligned");
  if (v->why[0] && v->problem != MT_NARROW) say(t, "; not more: %s", v->why);
}

size_t mt_verdict_format (char *buf, size_t size, const mt_verdict *v) {
  mt_text t = {buf, size, 0};
  if (size > 0) buf[0] = 0;
  say_head(&t, v);
  say_tile(&t, v);
  if (v->covers) say_bounds(&t, v);
  say_real(&t, v);
  say_memory(&t, v);
  say_vector(&t, v);
  return t.length;
}
