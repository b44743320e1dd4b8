/*
** edit.c - lines that can be edited, by libedit if it is installed.
** SPDX-License-Identifier: MIT
**
** libedit is opened at run time: nothing needs it to be there. Of its two interfaces this
** is the one that readline has too. MOONTILE_LIBEDIT names another library; empty: none.
*/
#include <dlfcn.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lauxlib.h>

#include "console/edit.h"
#include "console/paste.h"

/* ---------------------------------------------------------------- libedit */

/* of a function: what it returns, its name, what it takes; of a variable: type, name */
#define LIBEDIT(FUNCTION, VARIABLE)                                                      \
  FUNCTION(char *, readline, (const char *prompt))                                       \
  FUNCTION(int, add_history, (const char *line))                                         \
  FUNCTION(int, rl_initialize, (void))                                                   \
  FUNCTION(void, rl_resize_terminal, (void))                                             \
  FUNCTION(int, rl_forced_update_display, (void))                                        \
  VARIABLE(const char *, rl_readline_name)                                               \
  VARIABLE(const char *, rl_basic_word_break_characters)                                 \
  VARIABLE(char *, rl_line_buffer)                                                       \
  VARIABLE(int, rl_completion_append_character)                                          \
  VARIABLE(int, rl_completion_query_items)                                               \
  VARIABLE(int, rl_attempted_completion_over)                                            \
  VARIABLE(completer, rl_attempted_completion_function)                                  \
  VARIABLE(getter, rl_getc_function)

typedef char **(*completer)(const char *text, int start, int end);
typedef int (*getter)(FILE *file);

#define POINT_FUNCTION(type, name, takes) type(*name) takes;
#define POINT_VARIABLE(type, name) type *name;
static struct libedit {
  bool tried, there;
  LIBEDIT(POINT_FUNCTION, POINT_VARIABLE)
} edit;

/* Who asks for a line: for the completer, which has no argument for it. */
static struct asker {
  lua_State *L;
  int complete;
} asker;

static bool find_symbol (void *library, const char *name, void *pointer) {
  void *symbol = dlsym(library, name);
  memcpy(pointer, &symbol, sizeof symbol);
  return symbol != NULL;
}

static bool find_symbols (void *library) {
#define FIND_FUNCTION(type, name, takes) find_symbol(library, #name, &edit.name) &&
#define FIND_VARIABLE(type, name) find_symbol(library, #name, &edit.name) &&
  return LIBEDIT(FIND_FUNCTION, FIND_VARIABLE) true;
}

/* ---------------------------------------------------------------- completion */

/* The bytes of the line up to character `end`; what is not ASCII has several. */
static size_t bytes_until (const char *line, int end) {
  size_t n = 0;
  for (int i = 0; i < end && line[n] != '\0'; i++) {
    n++;
    while ((line[n] & 0xC0) == 0x80) n++;
  }
  return n;
}

static size_t common (const char *a, const char *b) {
  size_t n = 0;
  while (a[n] != '\0' && a[n] == b[n]) n++;
  return n;
}

/* The candidate on the top of the stack, to replace the `word` bytes that libedit takes
** for the word, the last of which begin at `start` of the line; pops it. */
static char *candidate (lua_State *L, const char *line, size_t cursor, size_t word,
                        size_t start) {
  size_t at = cursor - word, skip = 0, n = 0, length;
  const char *text = lua_tolstring(L, -1, &length);
  if (start > at) n = start - at;
  else skip = at - start;
  if (skip > length) skip = length;
  char *made = malloc(n + length - skip + 1);
  if (made != NULL) {
    memcpy(made, line + at, n);
    memcpy(made + n, text + skip, length - skip + 1);
  }
  lua_pop(L, 1);
  return made;
}

/* The candidates in the list at the top as libedit wants them: first what they have in
** common, then each, then NULL. */
static char **matches_of (lua_State *L, const char *line, size_t cursor, size_t word,
                          size_t start) {
  size_t n = lua_rawlen(L, -1), found = 0;
  char **matches = n > 0 && start <= cursor ? calloc(n + 2, sizeof *matches) : NULL;
  if (matches == NULL) return NULL;
  for (size_t i = 1; i <= n; i++) {
    char *text = NULL;
    if (lua_rawgeti(L, -1, (lua_Integer)i) == LUA_TSTRING)
      text = candidate(L, line, cursor, word, start);
    else lua_pop(L, 1);
    if (text != NULL) matches[++found] = text;
  }
  size_t same = found > 0 ? strlen(matches[1]) : 0;
  for (size_t i = 2; i <= found; i++) {
    size_t c = common(matches[1], matches[i]);
    if (c < same) same = c;
  }
  if (found > 0) matches[0] = strndup(matches[1], same);
  if (matches[0] != NULL) return matches;
  for (size_t i = 1; i <= found; i++) free(matches[i]);
  free(matches);
  return NULL;
}

static char **complete (const char *word, int first, int end) {
  (void)first;
  lua_State *L = asker.L;
  char **matches = NULL;
  int top = lua_gettop(L);
  *edit.rl_attempted_completion_over = 1;
  if (!lua_checkstack(L, 8)) return NULL;
  const char *line = *edit.rl_line_buffer;
  size_t cursor = bytes_until(line, end), length = strlen(word);
  lua_pushvalue(L, asker.complete);
  lua_pushlstring(L, line, cursor);
  if (lua_pcall(L, 1, 2, 0) == LUA_OK && lua_istable(L, -2) && lua_isinteger(L, -1)) {
    size_t start = (size_t)lua_tointeger(L, -1) - 1;
    lua_pop(L, 1);
    if (length <= cursor) matches = matches_of(L, line, cursor, length, start);
  }
  lua_settop(L, top);
  return matches;
}

/* ---------------------------------------------------------------- lines */

static int character (FILE *file) {
  (void)file;
  return con_character();
}

/* What libedit is told before it begins. It writes characters of the locale: without one
** that has more than ASCII, of UTF-8. */
static void set_up (void) {
  setlocale(LC_CTYPE, "");
  if (MB_CUR_MAX == 1) setlocale(LC_CTYPE, "C.UTF-8");
  *edit.rl_readline_name = "moontile";
  *edit.rl_basic_word_break_characters = " \t\n\"\\'`@$><=;|&{([])}+-*/%^~#,.:?!";
  *edit.rl_completion_append_character = '\0';
  *edit.rl_completion_query_items = 100000;
  *edit.rl_attempted_completion_function = complete;
  *edit.rl_getc_function = character;
}

/* Asks the terminal to say what is pasted; one that does not know that ignores it. */
static void bracket_paste (bool on) {
  const char *term = getenv("TERM");
  if (term == NULL || strcmp(term, "dumb") == 0) return;
  fputs(on ? "\033[?2004h" : "\033[?2004l", stdout);
  fflush(stdout);
}

/* The shell has written of itself, and the terminal is as it was left. */
static void draw_again (void) {
  bracket_paste(true);
  edit.rl_forced_update_display();
}

static bool open_library (const char *name) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return false;
  if (find_symbols(library)) {
    set_up();
    con_redraw_with(draw_again);
    return edit.rl_initialize() == 0;
  }
  dlclose(library);
  return false;
}

static bool open_libedit (void) {
  const char *chosen = getenv("MOONTILE_LIBEDIT");
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return false;
  if (chosen != NULL) return *chosen != '\0' && open_library(chosen);
  return open_library("libedit.so.2") || open_library("libedit.so.0");
}

bool con_edits (void) {
  if (!edit.tried) edit.there = open_libedit();
  edit.tried = true;
  return edit.there;
}

char *con_edit (lua_State *L, const char *prompt, int complete_at) {
  asker = (struct asker){L, lua_absindex(L, complete_at)};
  fflush(stdout);
  edit.rl_resize_terminal();
  con_drawn();
  bracket_paste(true);
  char *line = edit.readline(prompt);
  bracket_paste(false);
  if (line == NULL) con_forget();
  return line;
}

void con_remember (const char *line) {
  if (con_edits()) edit.add_history(line);
}
