/*
** terminal.c - what the console in Lua knows of its terminal: lines, width, colours.
** SPDX-License-Identifier: MIT
*/
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>

#include "console/edit.h"
#include "console/interrupt.h"
#include "console/paste.h"
#include "console/terminal.h"

/* The next line of stdin, with its end; NULL: there are no more, or Ctrl-C came. A
** terminal has a whole line or none: it is waited for where no signal is overlooked, and
** nothing is read ahead of it. */
static char *read_plain (const char *prompt) {
  char *line = NULL;
  size_t room = 0;
  fputs(prompt, stdout);
  fflush(stdout);
  if (isatty(STDIN_FILENO)) {
    setvbuf(stdin, NULL, _IONBF, 0);
    if (!con_await()) return NULL;
  }
  ssize_t n = getline(&line, &room, stdin);
  clearerr(stdin);
  if (n >= 0) return line;
  free(line);
  return NULL;
}

/* read(prompt, complete): a line without its end; nil: there are no more; false: Ctrl-C
** came. A zero byte ends a line. */
static int l_read (lua_State *L) {
  const char *prompt = luaL_checkstring(L, 1);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  run_listen();
  char *line = con_edits() ? con_edit(L, prompt, 2) : read_plain(prompt);
  if (line != NULL) lua_pushlstring(L, line, strcspn(line, "\n"));
  else if (run_interrupted()) lua_pushboolean(L, 0);
  else lua_pushnil(L);
  con_work(L);
  free(line);
  return 1;
}

/* interrupted(): whether Ctrl-C came since the last line was read. */
static int l_interrupted (lua_State *L) {
  lua_pushboolean(L, run_interrupted());
  return 1;
}

/* remember(line) */
static int l_remember (lua_State *L) {
  con_remember(luaL_checkstring(L, 1));
  return 0;
}

/* make_folder(path): for the user alone, and those above it; whether it is there. */
static int l_make_folder (lua_State *L) {
  char path[4096];
  size_t n;
  const char *whole = luaL_checklstring(L, 1, &n);
  if (n >= sizeof path) return 0;
  for (size_t i = 1; i <= n; i++) {
    if (whole[i] != '/' && whole[i] != '\0') continue;
    memcpy(path, whole, i);
    path[i] = '\0';
    if (mkdir(path, 0700) != 0 && errno != EEXIST) return 0;
  }
  lua_pushboolean(L, 1);
  return 1;
}

static bool is_folder (const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* files(beginning): the paths that begin so, folders with a "/" behind. */
static int l_files (lua_State *L) {
  const char *beginning = luaL_checkstring(L, 1), *slash = strrchr(beginning, '/');
  const char *base = slash != NULL ? slash + 1 : beginning;
  lua_settop(L, 1);
  lua_pushlstring(L, beginning, (size_t)(base - beginning));
  const char *folder = lua_tostring(L, 2);
  lua_newtable(L);
  DIR *d = opendir(*folder != '\0' ? folder : ".");
  if (d == NULL) return 1;
  lua_Integer n = 0;
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    if (strncmp(e->d_name, base, strlen(base)) != 0) continue;
    if (e->d_name[0] == '.' && *base != '.') continue;
    const char *path = lua_pushfstring(L, "%s%s", folder, e->d_name);
    if (is_folder(path)) lua_pushliteral(L, "/"), lua_concat(L, 2);
    lua_rawseti(L, 3, ++n);
  }
  closedir(d);
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

/* now(): seconds since some time. */
static int l_now (lua_State *L) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  lua_pushnumber(L, (lua_Number)t.tv_sec + 1e-9 * (lua_Number)t.tv_nsec);
  return 1;
}

/* As https://no-color.org has it. */
static bool has_colours (void) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  if (no != NULL && *no != '\0') return false;
  bool shown = isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
  return shown && term != NULL && strcmp(term, "dumb") != 0;
}

void con_pushterminal (lua_State *L, bool settings) {
  static const luaL_Reg functions[] = {{"read", l_read},
                                       {"remember", l_remember},
                                       {"columns", l_columns},
                                       {"make_folder", l_make_folder},
                                       {"files", l_files},
                                       {"now", l_now},
                                       {"interrupted", l_interrupted},
                                       {NULL, NULL}};
  luaL_newlib(L, functions);
  lua_pushboolean(L, has_colours());
  lua_setfield(L, -2, "colours");
  lua_pushboolean(L, settings);
  lua_setfield(L, -2, "settings");
  lua_pushboolean(L, con_edits());
  lua_setfield(L, -2, "edits");
  lua_pushboolean(L, isatty(STDIN_FILENO) && !con_edits());
  lua_setfield(L, -2, "plain");
}
