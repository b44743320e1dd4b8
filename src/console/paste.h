/*
** paste.h - characters from the terminal; what is pasted is made harmless.
** SPDX-License-Identifier: MIT
*/
#ifndef CON_PASTE_H
#define CON_PASTE_H

#include <stdbool.h>

/* Waits for stdin: true: there is something to read, or its end; false: Ctrl-C came, now
** or since run_listen. */
bool con_await (void);
/* The next character, a wide one; -1: the input has ended, or Ctrl-C came. A terminal in
** bracketed-paste mode says what is pasted: tabs of that are spaces, line ends are line
** ends, other control characters are left out. */
int con_character (void);
/* What draws the line anew when the program goes on after Ctrl-Z. */
typedef void con_redraw (void);
void con_redraw_with (con_redraw *f);
/* The line will be drawn by itself. */
void con_drawn (void);
/* Forgets what has been read and not been asked for yet. */
void con_forget (void);

#endif
