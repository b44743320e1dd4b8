/*
** peer.h - the parts of moontile_bench, a Lua module: what the benchmarks compare with.
** SPDX-License-Identifier: MIT
*/
#ifndef PEER_H
#define PEER_H

#include <lauxlib.h>
#include <lua.h>

#include "moontile/plan.h"

/* Seconds of a clock that only goes forward. */
double peer_now (void);

void peer_new_class (lua_State *L, const char *name, const luaL_Reg *functions);

/* Each adds its functions to the table on the top of the stack. */
void peer_open_cuda (lua_State *L);   /* cuda ([ordinal [, libcuda]]) */
void peer_open_core (lua_State *L);   /* core (operation, a [, b]) */
void peer_open_memcpy (lua_State *L); /* memcpy (bytes, threads), processors () */
void peer_open_plan (lua_State *L);   /* planner (device [, libcuda]) */
void peer_open_model (lua_State *L);  /* constants (), constant (k [, value]) */

/* The ways in which a copy can be done, and a list of what each is. */
int peer_push_ways (lua_State *L, const mt_plan *p);

#endif
