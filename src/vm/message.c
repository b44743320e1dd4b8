/*
** message.c - errors of scripts, for who wrote them: what, the line, who called.
** SPDX-License-Identifier: MIT
*/
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "binding/lmt.h"
#include "vm/vm.h"

enum { MOST_CHUNKS = 16, MOST_CALLERS = 4, LONGEST_LINE = 120 };

typedef struct vm_chunk {
  struct vm_chunk *next;
  size_t size, room;
  const char *name, *text;
  char data[];
} vm_chunk;

/* ---------------------------------------------------------------- texts of chunks */

static vm_chunk **find (mt_vm *v, const char *name) {
  vm_chunk **c = &v->chunks;
  while (*c && strcmp((*c)->name, name) != 0) c = &(*c)->next;
  return c;
}

static void drop (mt_vm *v, vm_chunk **c) {
  vm_chunk *gone = *c;
  *c = gone->next;
  vm_allocate(v, gone, gone->room, 0);
}

void vm_remember (mt_vm *v, const char *name, const char *text, size_t size) {
  vm_chunk **c = find(v, name);
  int n = 0;
  if (*c) drop(v, c);
  for (c = &v->chunks; *c && ++n < MOST_CHUNKS;) c = &(*c)->next;
  if (*c) drop(v, c);
  size_t length = strlen(name) + 1, room = sizeof(vm_chunk) + length + size;
  vm_chunk *made = vm_allocate(v, NULL, 0, room);
  if (made == NULL) return;
  *made = (vm_chunk){v->chunks, size, room, made->data, made->data + length};
  memcpy(made->data, name, length);
  memcpy(made->data + length, text, size);
  v->chunks = made;
}

void vm_forget (mt_vm *v) {
  while (v->chunks) drop(v, &v->chunks);
}

/* ---------------------------------------------------------------- writing */

static void say (mt_vm *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say (mt_vm *v, const char *format, ...) {
  size_t n = strlen(v->message);
  va_list args;
  va_start(args, format);
  vsnprintf(v->message + n, sizeof v->message - n, format, args);
  va_end(args);
}

/* The bytes of the character of UTF-8 at s; 0: it is none. */
static int character (const unsigned char *s) {
  int n = *s < 0x80 ? 1 : *s < 0xC2 ? 0 : *s < 0xE0 ? 2 : *s < 0xF0 ? 3 : 4;
  if (*s > 0xF4) return 0;
  for (int i = 1; i < n; i++)
    if ((s[i] & 0xC0) != 0x80) return 0;
  return n;
}

/* What acts on a terminal, or is no text, becomes ?: the message goes to people. */
static void clean (mt_vm *v) {
  for (char *s = v->message; *s != '\0';) {
    int n = character((const unsigned char *)s);
    bool acts = ((unsigned char)*s < ' ' && *s != '\n' && *s != '\t') || *s == '\177';
    if (n == 0 || acts) *s = '?';
    s += n > 0 ? n : 1;
  }
}

/* The line of the text of this name without the blanks before it; NULL: it is not known.
 */
static const char *line_of (mt_vm *v, const char *name, int line, size_t *size) {
  const vm_chunk *c = *find(v, name);
  if (c == NULL || line < 1) return NULL;
  const char *at = c->text, *end = c->text + c->size;
  for (int n = 1; n < line && at < end; at++)
    if (*at == '\n') n++;
  while (at < end && (*at == ' ' || *at == '\t')) at++;
  for (*size = 0; at + *size < end && at[*size] != '\n' && at[*size] != '\r';) ++*size;
  return *size > 0 ? at : NULL;
}

/* "  3 | local a = b", if the text is known. */
static void show_line (mt_vm *v, const char *name, int line) {
  size_t size;
  const char *at = line_of(v, name, line, &size);
  if (at == NULL) return;
  bool all = size <= LONGEST_LINE;
  say(v, "\n  %d | %.*s%s", line, all ? (int)size : LONGEST_LINE, at, all ? "" : " ...");
}

/* ---------------------------------------------------------------- where */

/* The next level from `level` on that is of a known chunk; false: there is none. */
static bool next_known (lua_State *L, mt_vm *v, int *level, lua_Debug *where) {
  for (; lua_getstack(L, *level, where); ++*level) {
    lua_getinfo(L, "Sl", where);
    if (where->currentline > 0 && *find(v, where->short_src)) return ++*level, true;
  }
  return false;
}

/* "NAME:LINE:" at the beginning of a text: the line, or 0. */
static int own_line (const vm_chunk *c, const char *text) {
  int line = 0;
  size_t n = strlen(c->name);
  if (strncmp(text, c->name, n) != 0 || text[n] != ':') return 0;
  return sscanf(text + n, ":%d:", &line) == 1 ? line : 0;
}

static int find_own_line (const mt_vm *v, const char *text, const char **name) {
  int line = 0;
  for (const vm_chunk *c = v->chunks; c && line == 0; c = c->next)
    if ((line = own_line(c, text)) > 0) *name = c->name;
  return line;
}

/* The text behind "NAME:LINE: " of a known chunk; NULL: it does not begin so. */
static const char *behind (const mt_vm *v, const char *text) {
  for (const vm_chunk *c = v->chunks; c; c = c->next) {
    size_t n = strlen(c->name);
    if (strncmp(text, c->name, n) != 0 || text[n] != ':') continue;
    size_t digits = strspn(text + n + 1, "0123456789");
    const char *end = text + n + 1 + digits;
    if (digits > 0 && end[0] == ':' && end[1] == ' ') return end + 2;
  }
  return NULL;
}

/* Where an error happened, without who passed it on: coroutine.wrap says where it is. */
static const char *innermost (const mt_vm *v, const char *text) {
  const char *next = behind(v, text);
  for (int n = 0; n < MOST_CALLERS && next && behind(v, next); n++) {
    text = next;
    next = behind(v, text);
  }
  return text;
}

static void show_callers (lua_State *L, mt_vm *v, int level) {
  lua_Debug where;
  for (int n = 0; n < MOST_CALLERS && next_known(L, v, &level, &where); n++) {
    say(v, "\ncalled from %s:%d", where.short_src, where.currentline);
    show_line(v, where.short_src, where.currentline);
  }
}

/* ---------------------------------------------------------------- advice */

/* Of Lua's own names: what a program may have left out. */
static bool is_lua (const char *name) {
  static const char *const names[] = {"io",     "os",        "debug",    "package",
                                      "dofile", "load",      "loadfile", "loadstring",
                                      "string", "table",     "math",     "utf8",
                                      "bit32",  "coroutine", "unpack",   NULL};
  const char *const *n = names;
  while (*n && strcmp(*n, name) != 0) n++;
  return *n != NULL;
}

const char *vm_nearest (lua_State *L, const char *name, bool called) {
  lmt_near near = {NULL, strlen(name) > 4 ? 3 : 2};
  lua_pushglobaltable(L);
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    if (called && (!lua_isfunction(L, -1) || lua_iscfunction(L, -1))) continue;
    if (lua_type(L, -2) == LUA_TSTRING) lmt_nearer(&near, name, lua_tostring(L, -2));
  }
  lua_pop(L, 1);
  return near.name;
}

/* Of "... (global 'NAME')". */
static void advise (lua_State *L, mt_vm *v, const char *text) {
  char name[64];
  const char *at = strstr(text, "(global '");
  if (at == NULL || sscanf(at, "(global '%63[^']'", name) != 1) return;
  const char *near = is_lua(name) ? NULL : vm_nearest(L, name, false);
  const char *word = vm_word(name, v->state != NULL);
  if (is_lua(name)) say(v, "\nscripts of this program have no %s", name);
  else if (word) say(v, "\nthere is no %s here: %s", name, word);
  else if (near) say(v, "\nthere is no %s; near it: %s", name, near);
}

/* Of what means something else in other languages. */
static void advise_meaning (mt_vm *v, const char *text) {
  static const char *const rows[][2] =
      {{"a table value (for iterator",
        "for i, x in ipairs(t) do, for key, x in pairs(t) do"},
       {"nil value (field 'integer index')",
        "the table has nothing there; its first element is t[1]"},
       {"nil value (field '?')",
        "the table has nothing there; its first element is t[1]"},
       {"attempt to add a 'string'", "texts are joined by .."}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strstr(text, rows[i][0])) {
      say(v, "\n%s", rows[i][1]);
      return;
    }
}

/* Of a value that is nil since a call said that there is none of it. */
static void advise_failed (lua_State *L, mt_vm *v, const char *text) {
  bool none = strstr(text, "a nil value") || strstr(text, "got nil");
  if (!none || strstr(text, "(global '") || v->state == NULL) return;
  lmt_pushstate(L);
  if (lua_getiuservalue(L, -1, LMT_FAILED) == LUA_TSTRING)
    say(v, "\nthe last call that returned nil said: %s", lua_tostring(L, -1));
  lua_pop(L, 2);
}

/* Of a line that is written as in other languages. */
static void advise_syntax (mt_vm *v, const char *text, const char *name, int line) {
  size_t size;
  char code[256];
  const char *at = line_of(v, name, line, &size);
  if (at == NULL) return;
  snprintf(code, sizeof code, "%.*s", size < sizeof code ? (int)size : 255, at);
  const char *advice = vm_writing(text, code);
  if (advice) say(v, "\n%s", advice);
}

/* Of a text that ends before its blocks do. */
static void advise_else_if (mt_vm *v, const char *text, const char *name) {
  static const char code[] = "else if";
  const size_t n = sizeof code - 1;
  const vm_chunk *c = *find(v, name);
  if (c == NULL || !strstr(text, "'end' expected") || !strstr(text, "near <eof>")) return;
  int line = 1;
  for (size_t i = 0; i + n < c->size; i++) {
    if (c->text[i] == '\n') line++;
    if (memcmp(c->text + i, code, n) != 0) continue;
    say(v, "\nline %d has else if, which needs an end of its own; elseif needs none",
        line);
    return;
  }
}

/* Of the error at 1: an address is no text for people. */
static const char *text_of (lua_State *L) {
  int type = lua_type(L, 1);
  if (type == LUA_TSTRING || type == LUA_TNUMBER ||
      luaL_getmetafield(L, 1, "__tostring") != LUA_TNIL)
    return luaL_tolstring(L, 1, NULL);
  return lua_pushfstring(L, "an error that is a %s, which has no text",
                         luaL_typename(L, 1));
}

/* What Lua's parser said, of a line of this chunk. */
static void advise_parsed (mt_vm *v, const char *text, const char *name, int line) {
  advise_syntax(v, text, name, line);
  advise_else_if(v, text, name);
}

int vm_explain (lua_State *L) {
  mt_vm *v = vm_of(L);
  lua_Debug where;
  const char *name = NULL;
  int level = 0;
  lua_settop(L, 1);
  if (!lua_checkstack(L, 8)) return 1;
  const char *said = v->over ? vm_reason(v->over) : text_of(L),
             *text = innermost(v, said);
  bool known = next_known(L, v, &level, &where);
  int line = find_own_line(v, text, &name);
  v->message[0] = '\0';
  if (line == 0 && known)
    say(v, "%s:%d: ", name = where.short_src, line = where.currentline);
  say(v, "%s", text);
  if (line > 0) show_line(v, name, line);
  if (!v->over) {
    advise(L, v, text);
    advise_meaning(v, text);
    advise_failed(L, v, text);
    if (!known && line > 0) advise_parsed(v, text, name, line);
  }
  if (known) show_callers(L, v, text == said || line == where.currentline ? level : 0);
  clean(v);
  lua_settop(L, 1);
  return 1;
}

void vm_notice (lua_State *L, mt_vm *v) {
  enum { LEVELS = 4 };
  lua_Debug where;
  for (int level = 0; level < LEVELS && lua_getstack(L, level, &where); level++) {
    lua_getinfo(L, "Sl", &where);
    const vm_chunk *c = *find(v, where.short_src);
    if (c == NULL || where.currentline < 1) continue;
    v->seen_in = c->name;
    v->seen_line = where.currentline;
    return;
  }
}

void vm_explain_memory (mt_vm *v, const char *name) {
  v->message[0] = '\0';
  say(v, "%s: more memory than the %zu bytes that it may have", name, v->o.memory);
  if (v->seen_in == NULL) return;
  say(v, "\nshortly before it was at %s:%d", v->seen_in, v->seen_line);
  show_line(v, v->seen_in, v->seen_line);
  clean(v);
}
