/*
** instead.h - what is said where a value of another kind was expected.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_BINDING_INSTEAD_H
#define MT_BINDING_INSTEAD_H

#include "binding/lmt.h"

/* What may have been meant by a value at i where a layout stands, or where it is called;
** NULL: nothing. */
const char *lmt_instead (lua_State *L, int i, bool called);
/* The same behind an error, "; ..." or ""; of texts, too, where those of layouts are
** read. Pushes what it depends on. */
const char *lmt_hint (lua_State *L, int i, bool layouts);
/* The name of the class of the value at i, or of its type. Pushes what it depends on. */
const char *lmt_kindname (lua_State *L, int i);
/* Raises that a layout is expected at i, or the name of a dtype. */
int lmt_nolayout (lua_State *L, int i);
int lmt_nodtype (lua_State *L, int i);

#endif
