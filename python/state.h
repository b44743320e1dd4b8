/*
** state.h - private to the shim: its state.
** SPDX-License-Identifier: MIT
*/
#ifndef MOONTILE_SHIM_STATE_H
#define MOONTILE_SHIM_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <lauxlib.h>
#include <lua.h>

#include "shim.h"

/* Something to be done by the next call: a reference to give back, of an export that is
** over also the pin. */
typedef struct note {
  struct note *next;
  mtpy_state *state;
  int64_t ref;
  bool pinned;
} note;

struct mtpy_state {
  lua_State *L;
  _Atomic(note *) notes;
  pthread_mutex_t lock;     /* of the call at hand */
  _Atomic(uint64_t) caller; /* whose it is; 0: there is none */
  bool lost;                /* a child, whose parent was in the middle of a call */
  mtpy_value *list;         /* the results: `count` of them, room for `room` */
  int64_t count, room;
  int answer; /* of Lua: what the strings of the results lie in */
  /* of the call at hand */
  int what, given;
  bool quick; /* a launch that waits for nothing */
  const char *name;
  const mtpy_value *at, *end;
  int64_t ref, stream;
  void *managed;
  bool versioned;
};

/* ---------------------------------------------------- values (values.c); these raise */

/* Pushes the argument at s->at, which moves behind it. */
void mtpy_push (lua_State *L, mtpy_state *s);
/* A new table for the strings of the results. */
void mtpy_begin_answer (lua_State *L, mtpy_state *s);
/* The results are the values at first .. top, as one sequence. */
void mtpy_read_results (lua_State *L, mtpy_state *s, int first);

/* ---- these do not */

/* The results as one block, with their strings; NULL: no memory. */
mtpy_value *mtpy_pack (const mtpy_state *s);
/* An answer that is an error. */
mtpy_value *mtpy_fail (const char *text, size_t n);

/* -------------------------------------------------------------- signals (signals.c) */

/* Between the two Ctrl-C raises an error in what runs in L, if the main thread calls. The
** second does nothing where the first was not called. */
void mtpy_listen (lua_State *L);
void mtpy_unlisten (lua_State *L);

#endif
