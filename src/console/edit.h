/*
** edit.h - lines that can be edited, by libedit if it is installed.
** SPDX-License-Identifier: MIT
*/
#ifndef CON_EDIT_H
#define CON_EDIT_H

#include <stdbool.h>

#include <lua.h>

/* Whether lines can be edited: on a terminal, with libedit. */
bool con_edits (void);
/* A line, which is to be freed; NULL: there are no more, or Ctrl-C came. The function at
** stack index `complete` completes: of a text up to the cursor it returns the candidates
** for its end, and the place where that begins, from 1 on. */
char *con_edit (lua_State *L, const char *prompt, int complete);
/* A line that the arrow keys bring back. */
void con_remember (const char *line);

#endif
