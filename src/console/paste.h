/*
** paste.h - characters from the terminal; what is pasted is made harmless.
** SPDX-License-Identifier: MIT
*/
#ifndef CON_PASTE_H
#define CON_PASTE_H

/* The next character, a wide one; -1: the input has ended, or Ctrl-C came. A terminal in
** bracketed-paste mode says what is pasted: tabs of that are spaces, line ends are line
** ends, other control characters are left out. */
int con_character (void);
/* Forgets what has been read and not been asked for yet. */
void con_forget (void);

#endif
