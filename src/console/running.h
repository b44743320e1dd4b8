/*
** running.h - who runs, and how to end it in the middle.
** SPDX-License-Identifier: MIT
**
** For one state of the process: a handler of a signal knows no other.
*/
#ifndef CON_RUNNING_H
#define CON_RUNNING_H

#include <stdbool.h>

#include <lua.h>

/* From the one to the other run_interrupt raises an error in what runs in L, in whatever
** coroutine that is: at the next instruction, or where a call of the library asks. What
** catches it gets it again, unless it comes just once. run_begin forgets what came
** before. */
void run_begin (lua_State *L, bool just_once);
void run_end (lua_State *L);
/* From a handler of a signal, on the thread that called run_begin. */
void run_interrupt (void);
/* In between: until the next run_begin it only sets what run_interrupted tells. */
void run_listen (void);
/* Whether it was called since the last run_begin or run_listen. */
bool run_interrupted (void);

/* Takes the place of coroutine.resume and coroutine.wrap by functions that know who runs.
*/
void run_open_coroutines (lua_State *L);

#endif
