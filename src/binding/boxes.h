/*
** boxes.h - what Lua's buffers need for long texts.
** SPDX-License-Identifier: MIT
*/
#ifndef BINDING_BOXES_H
#define BINDING_BOXES_H

#include <lua.h>
#include <stdbool.h>

/* It is there from now on, whole, where memory lacked in the midst of it, too. */
void lmt_openboxes (lua_State *L);

#endif
