/*
** coroutine.h - coroutine.wrap where resuming is one's own: the VM's, the console's.
** SPDX-License-Identifier: MIT
*/
#ifndef BINDING_COROUTINE_H
#define BINDING_COROUTINE_H

#include <lua.h>

/* Resumes `co` with the n values on the top of L: how many results are on the top of L
** then, or -1: the error. */
typedef int lmt_resumer (lua_State *L, lua_State *co, int n);
/* Closes the variables of a coroutine that died: a status; its error is on the top of
** `co`. */
typedef int lmt_closer (lua_State *L, lua_State *co);

/* What coroutine.wrap gives for the function at 1: a closure of `call`, the upvalue 1 of
** which is the coroutine. */
int lmt_wrap (lua_State *L, lua_CFunction call);
/* What `call` does. */
int lmt_callwrapped (lua_State *L, lmt_resumer *resume, lmt_closer *close);

#endif
