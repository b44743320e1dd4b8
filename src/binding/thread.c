/*
** thread.c - one thread of a tiled copy or of a tiled MMA.
** SPDX-License-Identifier: MIT
*/
#include "binding/thread.h"

#include "binding/listed.h"

static int64_t check_thread (lua_State *L, int i, int64_t threads) {
  lua_Integer thr = luaL_checkinteger(L, i);
  if (thr < 0 || thr >= threads)
    luaL_error(L, "%s: thread %I of %I: 0 to %I are there",
               lmt_calledas(L, "get_thread_slice", "get_slice"), (LUAI_UACINT)thr,
               (LUAI_UACINT)threads, (LUAI_UACINT)(threads - 1));
  return thr;
}

int lmt_pushthread (lua_State *L, const char *class, const void *tiled, int64_t threads) {
  int64_t thr = check_thread(L, 2, threads);
  lmt_thread *t = lua_newuserdatauv(L, sizeof *t, 1);
  *t = (lmt_thread){tiled, thr};
  luaL_setmetatable(L, class);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  return 1;
}

int lmt_pushthreadtext (lua_State *L, const lmt_thread *t, const char *what,
                        const char *atom) {
  lua_pushfstring(L, "thread %I of a tiled %s with %s", (LUAI_UACINT)t->thr, what, atom);
  return 1;
}
