/*
** text.c - verdicts for people.
** SPDX-License-Identifier: MIT
*/
#include <string.h>

#include "moontile/verify.h"
#include "core/strbuf.h"

enum { MT_SHOWN = 200 }; /* longer tuples are cut */

static void put_value (mt_strbuf *t, const mt_node *v) {
  char s[MT_SHOWN + 4];
  if (mt_format(s, MT_SHOWN + 1, v) > MT_SHOWN) strcpy(s + MT_SHOWN, "...");
  mt_putf(t, "%s", s);
}

static void put_count (mt_strbuf *t, int64_t n, const char *one) {
  mt_putf(t, "%lld %s%s", (long long)n, one, n == 1 ? "" : "s");
}

/* ---------------------------------------------------------------- what stands where */

static void put_owner (mt_strbuf *t, const mt_owner *o) {
  mt_putf(t, "value %lld of thread %lld", (long long)o->value, (long long)o->thread);
}

static void put_place (mt_strbuf *t, const mt_verdict *v) {
  mt_putf(t, "element ");
  put_value(t, v->at.node);
  mt_putf(t, " of the tile (place %lld)", (long long)v->index);
}

static void put_proven (mt_strbuf *t, const mt_verdict *v) {
  mt_putf(t, "proof: each element of ");
  put_value(t, v->shape.node);
  if (v->broadcast == 1) mt_putf(t, " exactly once");
  else mt_putf(t, " in exactly %lld threads", (long long)v->broadcast);
  if (v->broadcast > 1 && v->written) mt_putf(t, ", whose parts are added");
}

static void put_twice (mt_strbuf *t, const mt_verdict *v) {
  put_place(t, v);
  mt_putf(t, " has two owners: ");
  put_owner(t, &v->owner[0]);
  mt_putf(t, " and ");
  put_owner(t, &v->owner[1]);
}

static void put_gap (mt_strbuf *t, const mt_verdict *v) {
  put_place(t, v);
  mt_putf(t, " has no owner");
}

static void put_outside (mt_strbuf *t, const mt_verdict *v) {
  put_owner(t, &v->owner[0]);
  mt_putf(t, " is at place %lld, outside of the tile", (long long)v->index);
}

static void put_reason (mt_strbuf *t, const mt_verdict *v) {
  mt_putf(t, "%s", v->reason);
}

/* Of such a tensor the reason says where elements lie. */
static bool is_ragged (const mt_verdict *v) { return v->real != v->elements; }

static void put_one_place (mt_strbuf *t, const mt_verdict *v) {
  if (is_ragged(v)) {
    put_reason(t, v);
    return;
  }
  put_value(t, v->x.node);
  mt_putf(t, " and ");
  put_value(t, v->y.node);
  mt_putf(t, " of the tensor, which is written, are both at offset %lld",
          (long long)v->offset);
}

static void put_open (mt_strbuf *t, const mt_verdict *v) {
  if (is_ragged(v)) put_reason(t, v);
  else
    mt_putf(t,
            "whether two elements of the tensor, which is written, are at one place was "
            "not decided in %d steps",
            1 << 16);
}

static void put_narrow (mt_strbuf *t, const mt_verdict *v) {
  mt_putf(t, "accesses of %lld elements, as the atom has them, are not whole: %s",
          (long long)v->asked, v->why);
}

/* problem                how it is said */
#define MT_SAYINGS(X)                                                                    \
  X(MT_PROVEN, put_proven)                                                               \
  X(MT_TWICE, put_twice)                                                                 \
  X(MT_GAP, put_gap)                                                                     \
  X(MT_OUTSIDE, put_outside)                                                             \
  X(MT_NO_TILING, put_reason)                                                            \
  X(MT_ONE_PLACE, put_one_place)                                                         \
  X(MT_OPEN, put_open)                                                                   \
  X(MT_NARROW, put_narrow)                                                               \
  X(MT_NOT_CANONICAL, put_reason)

static void put_head (mt_strbuf *t, const mt_verdict *v) {
#define MT_SAYING(problem, f) [problem] = f,
  static void (*const writers[MT_NPROBLEM])(mt_strbuf *,
                                            const mt_verdict *) = {MT_SAYINGS(MT_SAYING)};
#undef MT_SAYING
  if (v->problem != MT_PROVEN) mt_putf(t, "no proof: ");
  writers[v->problem](t, v);
}

/* ---------------------------------------------------------------- what was found */

static void put_tile (mt_strbuf *t, const mt_verdict *v) {
  mt_putf(t, "\ntile: ");
  for (int k = 0; k < v->modes; k++)
    mt_putf(t, "%s%lld", k ? " x " : "", (long long)v->mode[k].tile);
  mt_putf(t, " by ");
  put_count(t, v->threads, "thread");
  mt_putf(t, " with ");
  put_count(t, v->values, "value");
  if (v->threads > 1) mt_putf(t, " each");
  if (v->idle) mt_putf(t, "; %lld thread numbers are left out", (long long)v->idle);
  mt_putf(t, "\ntiles: %lld", (long long)v->tiles);
  for (int k = 0; v->modes > 1 && k < v->modes; k++)
    mt_putf(t, "%s%lld", k ? " x " : " = ", (long long)v->mode[k].tiles);
  int64_t product = 1;
  for (int k = 0; k < v->modes; k++) product *= v->mode[k].tiles;
  if (product > 0 && v->tiles > product)
    mt_putf(t, "%s%lld, the modes without a tile", v->modes > 1 ? " x " : " = ",
            (long long)(v->tiles / product));
}

static void put_bounds (mt_strbuf *t, const mt_verdict *v) {
  for (int k = 0; k < v->modes; k++) {
    const mt_tiled_mode *m = &v->mode[k];
    if (m->reach == m->extent) continue;
    mt_putf(t, "\nmode %d: %lld of %lld elements", k + 1, (long long)m->extent,
            (long long)m->reach);
    if (m->last >= 0)
      mt_putf(t, ", the last tile has %lld of %lld", (long long)m->last,
              (long long)m->tile);
  }
  if (v->predicated == 0) return;
  mt_putf(t, "\npredicated: %lld of ", (long long)v->predicated);
  put_count(t, v->predicated + v->broadcast * v->elements, "value");
}

static void put_real (mt_strbuf *t, const mt_verdict *v) {
  if (v->real < 0 || !is_ragged(v)) return;
  mt_putf(t, "\nragged: %lld of %lld elements are real", (long long)v->real,
          (long long)v->elements);
}

static void put_memory (mt_strbuf *t, const mt_verdict *v) {
  if (v->elements == 0 || v->real == 0) {
    mt_putf(t, "\nmemory: none, the tensor is empty");
    return;
  }
  mt_putf(t, "\nmemory: offsets %lld to %lld", (long long)v->lowest,
          (long long)v->highest);
  if (v->injective > 0) {
    mt_putf(t, ", each element at a place of its own");
  } else if (v->injective == 0) {
    mt_putf(t, ", ");
    put_value(t, v->x.node);
    mt_putf(t, " and ");
    put_value(t, v->y.node);
    mt_putf(t, " both at %lld", (long long)v->offset);
  }
}

static void put_vector (mt_strbuf *t, const mt_verdict *v) {
  if (v->vector == 0) return;
  mt_putf(t, "\nvector: ");
  put_count(t, v->vector, "element");
  if (v->bits >= 8) mt_putf(t, ", %lld bytes", (long long)v->vector * v->bits / 8);
  if (v->vector > 1) mt_putf(t, ", contiguous and aligned");
  if (v->why[0] && v->problem != MT_NARROW) mt_putf(t, "; not more: %s", v->why);
}

static void put_wgmma (mt_strbuf *t, const mt_gmma_desc *d) {
  if (d->bits == 0) return;
  mt_putf(t, "\nwgmma: mode %s, major %s, LBO %lld, SBO %lld", mt_gmma_mode_name(d->mode),
          mt_gmma_major_name(d->major), (long long)d->lbo, (long long)d->sbo);
}

size_t mt_verdict_format (char *buf, size_t size, const mt_verdict *v) {
  mt_strbuf t = {buf, size, 0};
  if (size > 0) buf[0] = 0;
  put_head(&t, v);
  put_tile(&t, v);
  if (v->covers) put_bounds(&t, v);
  put_real(&t, v);
  put_memory(&t, v);
  put_vector(&t, v);
  put_wgmma(&t, &v->wgmma);
  return t.n;
}
