/*
** order.c - all interleavings of the roles, depth first: the path is the trace.
** SPDX-License-Identifier: MIT
**
** The schedule is periodic in its stages: if nothing goes wrong in the first three
** rounds, with any number of k-tiles that ends within them, nothing does.
*/
#include "kernel/order.h"

#include <stdio.h>

#include "kernel/kernel.h"

enum { CHOICES = 2 * MT_MAXROLES, DEPTH = 512, SHOWN = 8, WIDE = 10 };

/* The path: the state of each place, the choice that comes next there, and the one that
** led away from it. */
typedef struct walk {
  const mt_pipe *p;
  uint64_t *seen;
  int64_t states;
  int depth;
  uint64_t state[DEPTH];
  int8_t next[DEPTH], choice[DEPTH];
  mt_err *err;
} walk;

/* ---------------------------------------------------------------- states */

/* Never 0. Actions and landings are below 2^WIDE. */
static uint64_t pack (const mt_pipe *p, const mt_pipe_state *s) {
  uint64_t key = 1;
  for (int r = 0; r < p->roles; r++) key = key << WIDE | (uint64_t)s->at[r];
  for (int r = 0; r < p->fillers; r++) key = key << WIDE | (uint64_t)s->landed[r];
  return key;
}

static mt_pipe_state unpack (const mt_pipe *p, uint64_t key) {
  mt_pipe_state s = {{0}, {0}};
  for (int r = p->fillers; r-- > 0; key >>= WIDE)
    s.landed[r] = (int64_t)(key & ((1 << WIDE) - 1));
  for (int r = p->roles; r-- > 0; key >>= WIDE)
    s.at[r] = (int64_t)(key & ((1 << WIDE) - 1));
  return s;
}

/* Waits that are over, and what only helps others, are done at once: whatever can go
** wrong later can go wrong without them, since nothing ever ends what they wait for. */
static bool is_quiet (mt_action a) {
  return a != MT_DO_ISSUE && a != MT_DO_SYNC && a != MT_DO_USE && a != MT_DO_LAND;
}

static void settle (const mt_pipe *p, mt_pipe_state *s) {
  mt_step_done d;
  bool moved = true;
  while (moved) {
    moved = false;
    for (int r = 0; r < p->roles; r++) {
      if (!mt_pipe_can(&d, p, s, r) || !is_quiet(d.action)) continue;
      mt_pipe_do(p, s, r);
      moved = true;
    }
  }
}

typedef enum found { NEW, OLD, FULL } found;
static found remember (walk *w, uint64_t key) {
  uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 40;
  if (w->states > MT_ORDER_STATES * 3 / 4) return FULL;
  for (;; at++) {
    uint64_t *slot = &w->seen[at % MT_ORDER_STATES];
    if (*slot == key) return OLD;
    if (*slot != 0) continue;
    *slot = key;
    w->states++;
    return NEW;
  }
}

/* ---------------------------------------------------------------- what is wrong */

static void say_step (mt_err *err, const mt_pipe *p, const mt_step_done *d) {
  const char *what = d->action == MT_DO_LAND  ? "has landed" :
                     d->action == MT_DO_ISSUE ? "is being filled" :
                     d->action == MT_DO_SYNC  ? "comes after the barrier" :
                                                "is read";
  mt_explain(err, "\n  %s: k-tile %lld %s", mt_pipe_role(p, d->role), (long long)d->tile,
             what);
}

/* The last steps of the path. */
static mt_status say_trace (walk *w) {
  if (w->depth == 0) return MT_EINEXACT;
  mt_explain(w->err, "\nthe last steps:");
  for (int i = w->depth > SHOWN ? w->depth - SHOWN : 0; i < w->depth; i++) {
    mt_step_done d;
    mt_pipe_state s = unpack(w->p, w->state[i]);
    mt_pipe_can(&d, w->p, &s, w->choice[i]);
    say_step(w->err, w->p, &d);
  }
  return MT_EINEXACT;
}

static mt_status early (walk *w, const mt_step_done *d, int reader) {
  const mt_pipe *p = w->p;
  mt_fail(w->err, MT_EINEXACT,
          "%s fill%s stage %lld with k-tile %lld before %s read%s k-tile %lld there: "
          "ahead = %lld, stages = %lld",
          mt_pipe_role(p, d->role), p->schedule == MT_MULTISTAGE ? "" : "s",
          (long long)(d->tile % p->stages), (long long)d->tile, mt_pipe_role(p, reader),
          p->schedule == MT_MULTISTAGE ? "" : "s", (long long)(d->tile - p->stages),
          (long long)p->ahead, (long long)p->stages);
  mt_explain(w->err, "\nahead = %lld is as far as it goes, or take a stage more",
             (long long)(p->stages - (p->schedule == MT_MULTISTAGE)));
  return say_trace(w);
}

static mt_status unfilled (walk *w, const mt_step_done *d) {
  mt_fail(w->err, MT_EINEXACT, "%s read k-tile %lld before it has landed",
          mt_pipe_role(w->p, d->role), (long long)d->tile);
  return say_trace(w);
}

static mt_status stuck (walk *w, const mt_pipe_state *s) {
  static const char *const words[] =
      {"", "", "for its own fills of", "at a barrier at", "for", "until others leave",
       "", ""};
  mt_fail(w->err, MT_EINEXACT,
          "with %lld k-tile%s nothing goes on:", (long long)w->p->tiles,
          w->p->tiles == 1 ? "" : "s");
  for (int r = 0; r < w->p->roles; r++) {
    mt_step_done d = mt_pipe_next(w->p, s, r);
    if (d.action == MT_DO_END) continue;
    mt_explain(w->err, "%s %s waits %s k-tile %lld", r ? "," : "", mt_pipe_role(w->p, r),
               words[d.action], (long long)d.tile);
  }
  mt_explain(w->err, "\nahead = %lld fits %lld stages",
             (long long)(w->p->stages - (w->p->schedule == MT_MULTISTAGE)),
             (long long)w->p->stages);
  return say_trace(w);
}

/* The laws of one action. */
static mt_status check (walk *w, const mt_pipe_state *s, const mt_step_done *d) {
  if (d->action == MT_DO_USE && !mt_pipe_landed(w->p, s, d->tile)) return unfilled(w, d);
  if (d->action != MT_DO_ISSUE || d->tile < w->p->stages) return MT_OK;
  for (int r = 0; r < w->p->roles; r++)
    if (!mt_pipe_used(w->p, s, r, d->tile - w->p->stages)) return early(w, d, r);
  return MT_OK;
}

/* ---------------------------------------------------------------- the walk */

/* Goes on by a choice, if that leads to a new state. */
static mt_status step (walk *w, const mt_pipe_state *here, int choice) {
  mt_step_done d;
  if (!mt_pipe_can(&d, w->p, here, choice)) return MT_OK;
  MT_TRY(check(w, here, &d));
  mt_pipe_state s = *here;
  mt_pipe_do(w->p, &s, choice);
  settle(w->p, &s);
  uint64_t key = pack(w->p, &s);
  found f = remember(w, key);
  if (f == FULL || w->depth + 2 == DEPTH)
    return mt_fail(w->err, MT_EUNSUPPORTED, "the order has more than %d states",
                   (int)MT_ORDER_STATES * 3 / 4);
  if (f == OLD) return MT_OK;
  w->choice[w->depth++] = (int8_t)choice;
  w->state[w->depth] = key;
  w->next[w->depth] = 0;
  return MT_OK;
}

static bool can_go_on (const walk *w, const mt_pipe_state *s) {
  mt_step_done d;
  for (int c = 0; c < CHOICES; c++)
    if (mt_pipe_can(&d, w->p, s, c)) return true;
  return mt_pipe_ended(w->p, s);
}

static mt_status walk_all (walk *w) {
  mt_pipe_state first = {{0}, {0}};
  settle(w->p, &first);
  w->state[0] = pack(w->p, &first);
  w->next[0] = 0;
  for (w->depth = 0; w->depth >= 0;) {
    int depth = w->depth;
    const mt_pipe_state s = unpack(w->p, w->state[depth]);
    if (w->next[depth] == 0 && !can_go_on(w, &s)) return stuck(w, &s);
    while (w->next[depth] < CHOICES && w->depth == depth)
      MT_TRY(step(w, &s, w->next[depth]++));
    if (w->depth == depth) w->depth--;
  }
  return MT_OK;
}

mt_status mt_pipe_prove (const mt_pipe *p, uint64_t seen[MT_ORDER_STATES],
                         int64_t *states, mt_err *err) {
  walk w = {.p = p, .seen = seen, .err = err};
  memset(seen, 0, MT_ORDER_STATES * sizeof *seen);
  mt_status s = walk_all(&w);
  *states += w.states;
  return s;
}

mt_status mt_order_prove (const mt_gemm_spec *k, uint64_t seen[MT_ORDER_STATES],
                          int64_t *states, mt_err *err) {
  enum { FEW = 4, SOME = 8 }; /* stages */
  int64_t most = (k->stages > FEW ? 2 : 3) * k->stages + 1;
  for (int64_t t = 1; t <= most; t++) {
    mt_pipe p = mt_pipe_of(k, 2, t);
    if (k->stages > FEW && t > 1 && t != k->stages && t != k->stages + 1 && t != most)
      continue;
    if (k->stages > SOME) p.async = false; /* fills land at once */
    MT_TRY(mt_pipe_prove(&p, seen, states, err));
  }
  return MT_OK;
}
