/*
** pipe.c - the programs of the roles, and what each may do next.
** SPDX-License-Identifier: MIT
**
** Programs are not stored: an action follows from its number.
**   all threads, ahead >= 1   issue 0 .. ahead-1; then for each t
**                             own t, sync, issue t + ahead, use t
**   all threads, ahead 0      for each t: sync, issue t, own t, sync, use t
**   producer                  for each t: freed t - ahead, issue t
**   consumer                  for each t: full t, use t, free t
*/
#include "kernel/pipe.h"

#include "kernel/kernel.h"

enum { LOOP = 4, ALONE = 5, PRODUCER = 2, CONSUMER = 3 }; /* actions for each tile */

mt_pipe mt_pipe_of (const mt_gemm_spec *k, int users, int64_t tiles) {
  mt_pipe p = {.schedule = k->schedule,
               .stages = k->stages,
               .ahead = k->ahead,
               .tiles = tiles,
               .works = 1};
  p.async = !(k->way[0].fill == MT_FILL_THREADS && k->way[1].fill == MT_FILL_THREADS);
  if (k->schedule == MT_MULTISTAGE) {
    bool one = k->way[0].fill == MT_FILL_TMA && k->way[1].fill == MT_FILL_TMA;
    p.roles = users;
    p.fillers = one ? 1 : users;
    return p;
  }
  if (k->schedule == MT_PINGPONG) p.works = users = 2;
  p.roles = 1 + users;
  p.fillers = 1;
  return p;
}

const char *mt_pipe_role (const mt_pipe *p, int role) {
  static const char *const all[] = {"the first warps", "the other warps", "others"};
  static const char *const some[] = {"the producer", "consumer 1", "consumer 2"};
  return (p->schedule == MT_MULTISTAGE ? all : some)[role];
}

/* ---------------------------------------------------------------- programs */

static int64_t all_tiles (const mt_pipe *p) { return p->tiles * p->works; }
static int64_t least (int64_t a, int64_t b) { return a < b ? a : b; }

/* The tile that a consumer begins with, and how many it uses. */
static int64_t first_of (const mt_pipe *p, int role) {
  return p->works == 2 ? (role - 1) * p->tiles : 0;
}

static mt_step_done loop_at (const mt_pipe *p, int64_t at) {
  static const mt_action body[LOOP] = {MT_DO_OWN, MT_DO_SYNC, MT_DO_ISSUE, MT_DO_USE};
  int64_t lead = least(p->ahead, p->tiles);
  mt_step_done s = {.action = MT_DO_ISSUE, .tile = at};
  if (at < lead) return s;
  s.tile = (at - lead) / LOOP;
  if (s.tile >= p->tiles) return (mt_step_done){.action = MT_DO_END};
  s.action = body[(at - lead) % LOOP];
  if (s.action != MT_DO_ISSUE) return s;
  s.tile += p->ahead;
  if (s.tile >= p->tiles) s.action = MT_DO_PASS;
  return s;
}

static mt_step_done alone_at (const mt_pipe *p, int64_t at) {
  static const mt_action body[ALONE] = {MT_DO_SYNC, MT_DO_ISSUE, MT_DO_OWN, MT_DO_SYNC,
                                        MT_DO_USE};
  mt_step_done s = {.action = body[at % ALONE], .tile = at / ALONE};
  if (s.tile >= p->tiles) s.action = MT_DO_END;
  return s;
}

static mt_step_done producer_at (const mt_pipe *p, int64_t at) {
  mt_step_done s = {.action = MT_DO_ISSUE, .tile = at / PRODUCER};
  if (s.tile >= all_tiles(p)) s.action = MT_DO_END;
  else if (at % PRODUCER == 0) {
    s.tile -= p->ahead;
    s.action = s.tile < 0 ? MT_DO_PASS : MT_DO_FREED;
  }
  return s;
}

static mt_step_done consumer_at (const mt_pipe *p, int role, int64_t at) {
  static const mt_action body[CONSUMER] = {MT_DO_FULL, MT_DO_USE, MT_DO_FREE};
  mt_step_done s = {.action = body[at % CONSUMER], .tile = at / CONSUMER};
  if (s.tile >= p->tiles) s.action = MT_DO_END;
  s.tile += first_of(p, role);
  return s;
}

mt_step_done mt_pipe_next (const mt_pipe *p, const mt_pipe_state *s, int role) {
  int64_t at = s->at[role];
  mt_step_done d;
  if (p->schedule != MT_MULTISTAGE)
    d = role == 0 ? producer_at(p, at) : consumer_at(p, role, at);
  else d = p->ahead == 0 ? alone_at(p, at) : loop_at(p, at);
  if (d.action == MT_DO_ISSUE && role >= p->fillers) d.action = MT_DO_PASS;
  if (d.action == MT_DO_OWN && p->fillers == 1) d.action = MT_DO_FULL;
  d.role = role;
  return d;
}

bool mt_pipe_ended (const mt_pipe *p, const mt_pipe_state *s) {
  for (int r = 0; r < p->roles; r++)
    if (mt_pipe_next(p, s, r).action != MT_DO_END) return false;
  return true;
}

/* ---------------------------------------------------------------- how far they are */

/* Tiles whose fills the role has begun. */
static int64_t issued (const mt_pipe *p, const mt_pipe_state *s, int role) {
  int64_t at = s->at[role], lead = least(p->ahead, p->tiles);
  if (role >= p->fillers) return 0;
  if (p->schedule != MT_MULTISTAGE) return at / PRODUCER;
  if (p->ahead == 0) return (at + ALONE - 2) / ALONE;
  if (at <= lead) return at;
  return least(p->tiles, lead + (at - lead + 1) / LOOP);
}

/* Tiles that it has used, from its first one on. */
static int64_t used (const mt_pipe *p, const mt_pipe_state *s, int role) {
  int64_t at = s->at[role], lead = least(p->ahead, p->tiles);
  if (p->schedule != MT_MULTISTAGE) return role == 0 ? 0 : (at + CONSUMER - 2) / CONSUMER;
  if (p->ahead == 0) return at / ALONE;
  return at <= lead ? 0 : (at - lead) / LOOP;
}

/* Barriers that it has reached. */
static int64_t reached (const mt_pipe *p, const mt_pipe_state *s, int role) {
  int64_t at = s->at[role] + 1, lead = least(p->ahead, p->tiles);
  if (p->ahead == 0) return at / ALONE * 2 + (at % ALONE >= 1) + (at % ALONE >= 4);
  return at <= lead ? 0 : (at - lead) / LOOP + ((at - lead) % LOOP >= 2);
}

static int64_t freed (const mt_pipe_state *s, int role) { return s->at[role] / CONSUMER; }

bool mt_pipe_uses (const mt_pipe *p, int role, int64_t tile) {
  int64_t first = first_of(p, role);
  if (p->schedule != MT_MULTISTAGE && role == 0) return false;
  return tile >= first && tile < first + p->tiles;
}

bool mt_pipe_used (const mt_pipe *p, const mt_pipe_state *s, int role, int64_t tile) {
  return !mt_pipe_uses(p, role, tile) || used(p, s, role) > tile - first_of(p, role);
}

/* ---------------------------------------------------------------- what can be done */

bool mt_pipe_landed (const mt_pipe *p, const mt_pipe_state *s, int64_t tile) {
  for (int r = 0; r < p->fillers; r++)
    if (s->landed[r] <= tile) return false;
  return true;
}

static bool all_reached (const mt_pipe *p, const mt_pipe_state *s, int role) {
  for (int r = 0; r < p->roles; r++)
    if (reached(p, s, r) < reached(p, s, role)) return false;
  return true;
}

static bool all_freed (const mt_pipe *p, const mt_pipe_state *s, int64_t tile) {
  for (int r = 1; r < p->roles; r++)
    if (mt_pipe_uses(p, r, tile) && freed(s, r) <= tile - first_of(p, r)) return false;
  return true;
}

static bool can_act (const mt_pipe *p, const mt_pipe_state *s, const mt_step_done *d) {
  switch (d->action) {
    case MT_DO_END: return false;
    case MT_DO_OWN: return s->landed[d->role] > d->tile;
    case MT_DO_SYNC: return all_reached(p, s, d->role);
    case MT_DO_FULL: return mt_pipe_landed(p, s, d->tile);
    case MT_DO_FREED: return all_freed(p, s, d->tile);
    default: return true;
  }
}

bool mt_pipe_can (mt_step_done *out, const mt_pipe *p, const mt_pipe_state *s,
                  int choice) {
  int role = choice % MT_MAXROLES;
  if (role >= p->roles) return false;
  if (choice < MT_MAXROLES) {
    *out = mt_pipe_next(p, s, role);
    return can_act(p, s, out);
  }
  *out = (mt_step_done){MT_DO_LAND, role, s->landed[role]};
  return p->async && role < p->fillers && s->landed[role] < issued(p, s, role);
}

void mt_pipe_do (const mt_pipe *p, mt_pipe_state *s, int choice) {
  int role = choice % MT_MAXROLES;
  if (choice >= MT_MAXROLES) {
    s->landed[role]++;
    return;
  }
  mt_step_done d = mt_pipe_next(p, s, role);
  s->at[role]++;
  if (d.action == MT_DO_ISSUE && !p->async) s->landed[role]++;
}
