/*
** terminal.h - what the console in Lua knows of its terminal.
** SPDX-License-Identifier: MIT
*/
#ifndef CON_TERMINAL_H
#define CON_TERMINAL_H

#include <stdbool.h>

#include <lua.h>

/* Pushes the table that lua/moontile/console.lua wants. settings: whether the file of the
** user's settings is to be run. */
void con_pushterminal (lua_State *L, bool settings);

#endif
