/*
** progress.h - a line on the terminal that says how far a call is that takes long.
** SPDX-License-Identifier: MIT
*/
#ifndef CON_PROGRESS_H
#define CON_PROGRESS_H

#include <lua.h>

/* Calls of the state show how far they are, if stderr is a terminal that can. */
void con_show_progress (lua_State *L);

#endif
