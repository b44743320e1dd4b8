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
/* Pushes the position of the nearest line of Lua: operators of texts, which are Lua's
** own, stand between it and ours. */
const char *lmt_pushwhere (lua_State *L);
/* f of the text of a layout at 1 and what is at 2, with such a position in its errors. */
int lmt_oftext (lua_State *L, lua_CFunction f);
/* "; copy takes [tiled_copy,] src, dst", of the function at hand; "" if it has another
** name. Pushes what it depends on. */
const char *lmt_takes (lua_State *L);
/* The fields, a NULL behind the last, that tables of a class may have: where one is not
** set it is nil, any other name is an error. */
void lmt_setfields (lua_State *L, const char *name, const char *const *fields);
/* Raises that t has no modes i to j, both included. */
int lmt_nomodes (lua_State *L, const char *op, const mt_node *t, lua_Integer i,
                 lua_Integer j);
/* Raises that a layout is expected at i, a tensor, or the name of a dtype. */
int lmt_nolayout (lua_State *L, int i);
int lmt_notensor (lua_State *L, int i);
int lmt_nodtype (lua_State *L, int i);

#endif
