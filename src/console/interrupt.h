/*
** interrupt.h - Ctrl-C ends what runs.
** SPDX-License-Identifier: MIT
*/
#ifndef CON_INTERRUPT_H
#define CON_INTERRUPT_H

#include "console/running.h"

/* What a second Ctrl-C does: kills the program, as in lua; or no more than the first, as
** in the console, where errors of an interruption that are caught come again, until the
** call has ended. */
typedef enum con_second { CON_KILLS, CON_HARMLESS } con_second;

/* lua_pcall with a traceback; Ctrl-C raises an error meanwhile. */
int con_call (lua_State *L, int nargs, int nresults, con_second second);

/* In a call, behind run_listen: as from its beginning. */
void con_work (lua_State *L);

#endif
