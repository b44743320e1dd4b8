/*
** said.h - private to the binding: values that texts say, where a layout is taken.
** SPDX-License-Identifier: MIT
*/
#ifndef MT_BINDING_SAID_H
#define MT_BINDING_SAID_H

#include "binding/lmt.h"

/* The kind of flags that the node of a userdata needs. */
static inline int lmt_kindof (const mt_node *t) {
  if (t->tag == MT_COMPOSED) return LMT_COMPOSED;
  if (lmt_islayout(t)) return LMT_LAYOUTS;
  if (t->tag == MT_INT && t->ring == MT_F2) return LMT_BASIS | LMT_F2;
  return t->tag == MT_WILD ? LMT_WILD : t->tag == MT_SWIZZLE ? LMT_SWIZZLES : LMT_BASIS;
}

/* CuTe's names of orders, in the module on the top, each the text of itself. */
void lmt_openorders (lua_State *L);
/* The text of the string at `i`. */
const char *lmt_stringat (lua_State *L, int i, size_t *n);
/* Raises that the text cannot be read. */
int lmt_unread (lua_State *L, const char *text, mt_err *err);
/* The integers from 2 on stand for the `?` in the text at 1, from left to right. */
void lmt_fillmarks (lua_State *L);
/* The value that the string at `i` says, in `buf`; NULL: it says none of these kinds, or
** a number, which is given as one. Raises if the text has more in it than a word, and
** cannot be read. */
const mt_node *lmt_said (lua_State *L, int i, int kinds, mt_layout *buf);
/* The layout that the string at `i` says takes its place; NULL: it says none. */
const mt_node *lmt_saidlayout (lua_State *L, int i, int kinds);

#endif
