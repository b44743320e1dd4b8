/*
** terminal.c - what the console in Lua knows of its terminal: lines, width, colours.
** SPDX-License-Identifier: MIT
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <lauxlib.h>

#include "console/interrupt.h"
#include "console/terminal.h"

/* read(prompt): a line without its end; nil: there are no more; false: Ctrl-C came. */
static int l_read (lua_State *L) {
  char *line = NULL;
  size_t room = 0;
  fputs(luaL_checkstring(L, 1), stdout);
  fflush(stdout);
  con_listen();
  ssize_t n = getline(&line, &room, stdin);
  if (n > 0 && line[n - 1] == '\n') n--;
  if (n >= 0) lua_pushlstring(L, line, (size_t)n);
  else if (con_interrupted()) lua_pushboolean(L, 0);
  else lua_pushnil(L);
  free(line);
  clearerr(stdin);
  return 1;
}

/* columns(): how wide the terminal is, or nil: the output is none. */
static int l_columns (lua_State *L) {
  struct winsize size;
  if (!isatty(STDOUT_FILENO)) return 0;
  bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  lua_pushinteger(L, known ? size.ws_col : 80);
  return 1;
}

/* As https://no-color.org has it. */
static bool has_colours (void) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  if (no != NULL && *no != '\0') return false;
  return isatty(STDOUT_FILENO) && term != NULL && strcmp(term, "dumb") != 0;
}

void con_pushterminal (lua_State *L, bool settings) {
  static const luaL_Reg functions[] = {
    { "read", l_read }, { "columns", l_columns }, { NULL, NULL }
  };
  luaL_newlib(L, functions);
  lua_pushboolean(L, has_colours());
  lua_setfield(L, -2, "colours");
  lua_pushboolean(L, settings);
  lua_setfield(L, -2, "settings");
}
