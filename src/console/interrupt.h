/*
** interrupt.h - Ctrl-C ends what runs, in whatever coroutine that is.
** SPDX-License-Identifier: MIT
*/
#ifndef CON_INTERRUPT_H
#define CON_INTERRUPT_H

#include <stdbool.h>

#include <lua.h>

/* What a second Ctrl-C does: kills the program, as in lua; or no more than the first, as
** in the console, where errors of an interruption that are caught come again, until the
** call has ended. */
typedef enum con_second { CON_KILLS, CON_HARMLESS } con_second;

/* lua_pcall with a traceback; Ctrl-C raises an error meanwhile. */
int con_call (lua_State *L, int nargs, int nresults, con_second second);

/* In a call: until con_work Ctrl-C only sets what con_interrupted tells, and ends reads.
** Both forget what came before. */
void con_listen (void);
void con_work (lua_State *L);
/* Whether Ctrl-C came since the last call of con_call, con_listen or con_work. */
bool con_interrupted (void);

/* Takes the place of coroutine.resume and coroutine.wrap by functions that know who runs.
*/
void con_open_coroutines (lua_State *L);

#endif
