/*
** progress.c - how far calls have come: who is told, and stints of our own Lua files.
** SPDX-License-Identifier: MIT
**
** A stint in Lua is a userdata: the calls that are made while it is open are its steps.
** It is closed by <close>, or when it is collected, maybe in the middle of a call.
*/
#include "binding/lmt.h"

#define LMT_STINT "moontile.Stint"

typedef struct stint {
  mt_stint s;
  lmt_state *state;
  bool open;
} stint;

void mt_lua_report (lua_State *L, mt_report *report, void *ud) {
  lmt_state *s = lmt_needstate(L);
  lua_pop(L, 1);
  s->watch.report = report;
  s->watch.ud = ud;
}

void lmt_listenhere (lua_State *L, mt_err *err) {
  lmt_state *s = lmt_pushstate(L);
  lua_pop(L, 1);
  lmt_listen(err, s);
}

/* ---------------------------------------------------------------- stints of Lua */

static void take_out (mt_stint **chain, const mt_stint *s) {
  while (*chain != NULL && *chain != s) chain = &(*chain)->outer;
  if (*chain == s) *chain = s->outer;
}

/* In the middle of a call the chain of the watch ends with ours. */
static int stint_close (lua_State *L) {
  stint *box = luaL_checkudata(L, 1, LMT_STINT);
  lmt_state *s = box->state;
  if (!box->open) return 0;
  box->open = false;
  take_out(&s->stint, &box->s);
  if (s->asking) return take_out(&s->watch.stint, &box->s), 0;
  s->watch.stint = s->stint;
  if (s->stint != NULL || !s->watch.told) return 0;
  s->watch.told = false;
  if (s->watch.report != NULL) s->watch.report(s->watch.ud, NULL);
  return 0;
}

/* stint(op, total): in samples; of a text that lives as long as the module. */
static int l_stint (lua_State *L) {
  lmt_state *s = lmt_pushstate(L);
  stint *box = lua_newuserdatauv(L, sizeof *box, 1);
  *box = (stint){.state = s};
  luaL_setmetatable(L, LMT_STINT);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  if (s->watch.report == NULL || s->asking) return 1;
  box->s.op = luaL_checkstring(L, 1);
  box->s.unit = "samples";
  box->s.total = luaL_checknumber(L, 2);
  box->s.outer = s->stint;
  box->open = true;
  s->stint = &box->s;
  return 1;
}

/* step(stint): what was being done is done; the next sample begins. */
static int stint_step (lua_State *L) {
  stint *box = luaL_checkudata(L, 1, LMT_STINT);
  box->s.done += box->s.step;
  box->s.step = 1;
  return 0;
}

/* ---------------------------------------------------------------- registration */

#define ROWS_PROGRESS
#include "binding/rows.h"

void lmt_open_progress (lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", stint_close},
                                  {"__close", stint_close},
                                  {NULL, NULL}};
  lmt_setmeta(L, LMT_STINT, meta);
  lmt_addrows(L, rows);
}
