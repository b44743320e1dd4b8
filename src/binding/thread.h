/*
** thread.h - private to the binding: one thread of a tiled copy or of a tiled MMA.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_BINDING_THREAD_H
#define MT_BINDING_THREAD_H

#include "binding/lmt.h"

typedef struct lmt_thread {
  const void *tiled; /* its user value 1 */
  int64_t thr;
} lmt_thread;

/* x:get_slice(thr), thr from 0: pushes thread `thr` of what is at 1, which is `tiled` and
** has `threads` of them; returns 1. */
int lmt_pushthread (lua_State *L, const char *class, const void *tiled, int64_t threads);
/* Its text: "thread 3 of a tiled copy with ..."; returns 1. */
int lmt_pushthreadtext (lua_State *L, const lmt_thread *t, const char *what,
                        const char *atom);

static inline const lmt_thread *lmt_tothread (lua_State *L, const char *class) {
  return luaL_checkudata(L, 1, class);
}

#endif
