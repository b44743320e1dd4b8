/*
** listed.h - private to the binding: lists of values, and what keeps them alive.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_BINDING_LISTED_H
#define MT_BINDING_LISTED_H

#include "binding/lmt.h"

/* A value with a list of values in it (MT_LIST), which lies in memory of the state. */
bool lmt_findlist (const mt_node *t); /* of a composed one */
static inline bool lmt_haslist (const mt_node *t) {
  return t->tag >= MT_COMPOSED && lmt_findlist(t);
}
/* Pushes what these have to keep alive, before what is to have them is made: later it may
** be gone. nil: there is none. Then what is at `i` keeps it (binding/listed.c). */
void lmt_pushlists (lua_State *L, int count, const mt_node *const *t);
void lmt_keeplists (lua_State *L, int i, int lists);
/* After "NAME" of what is at 1 has failed, or found less than all: pushes its inverse of
** that name, which is listed, or raises; false: that has no root, or this is no inverse,
** or it would have no more elements than what was found. */
bool lmt_undolisted (lua_State *L, const char *name, const mt_node *found);
/* Pushes what Lua makes of the n arguments at `at`, value by value
** (lua/moontile/by_values.lua). */
int lmt_byvalues (lua_State *L, const char *name, int n, const int *at);
/* a, which numbers threads, values, atoms or places; of more than steps, where no inverse
** of it is found, a list with its values, which has one: it is pushed, and written to
** buf. */
const mt_node *lmt_tonumbering (lua_State *L, const mt_node *a, mt_layout *buf);
/* What is at `i` keeps the lists of these, which others have that are on the stack. */
void lmt_keepall (lua_State *L, int i, int count, const mt_node *const *t);
/* The alias by which the function that runs was called, or its name: what errors say. */
const char *lmt_calledas (lua_State *L, const char *alias, const char *name);
/* Calls one of our own functions in Lua with n arguments, for one result: it raises at
** the caller's line. */
void lmt_callplaced (lua_State *L, int n);
/* Pushes a block of these nodes, which keeps the lists that they point to. */
void lmt_pushkept (lua_State *L, const mt_node *t);

void lmt_open_listed (lua_State *L);

#endif
